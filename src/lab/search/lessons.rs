//! What an examination of other images teaches: the questions with which to begin.

use std::collections::{BTreeMap, BTreeSet};

use super::cube::Cube;
use super::questions::AskedQuestions;
use super::transcript::Transcript;
use crate::core::{Cx, Digest, Error, Object, Result, cut};
use crate::data::Dataset;
use crate::maths::gaussian_process::{GaussianProcess, Hope, Kernel, Learnt};
use crate::model::Model;
use crate::space::{Axis, Factor, When, factor};

/// Questions that are learnt from, at most, and images that they are of.
const POOLED: usize = 240;
const IMAGES: usize = 48;
/// Questions that are taught, at most.
const TAUGHT: usize = 10;
/// Points of every image, the worst ones, that may be taught.
const WORST: usize = 2;
/// What is nearer in every range is not taught beside another.
const APART: f64 = 0.05;

/// One process learns from all images with a label, each image's losses in units of its own, so that what it says of a setting is how bad
/// that is among other settings; where its images differ is noise to it. It then asks itself what it would ask first, as if each of these
/// had been answered by its mean.
#[derive(Clone, PartialEq)]
pub struct Lessons {
    names: Vec<String>,
    axes: Vec<Axis>,
    conditions: Vec<Vec<When>>,
    /// Points of the cube, the most promising first, by label; and of all images.
    by_label: BTreeMap<i64, Vec<Vec<f64>>>,
    of_all: Vec<Vec<f64>>,
    images: usize,
    /// What it was learnt of: the model, and the images by what tells them apart.
    model: Digest,
    seen: BTreeSet<u64>,
}

impl Lessons {
    /// # Errors
    /// If the transcript knows no questions, is of several levels, or has no rows.
    pub fn of(cx: &Cx, transcript: &Transcript) -> Result<Self> {
        let (questions, asked) = transcript.questions()?;
        if transcript.is_empty() {
            return Err(Error::argument("`learned`: no rows, so nothing to learn"));
        }
        if transcript.rows.iter().any(|row| row.level.is_some()) {
            return Err(Error::argument("`learned`: of several levels, whose factors have other ranges")
                .hint("examine other images without `levels` first"));
        }
        let cube = Cube::new(questions.axes.clone());
        super::proposals::check_varies(&cube.axes, "bayes")?;
        let mut images: BTreeMap<i64, Vec<&AskedQuestions>> = BTreeMap::new();
        for (row, asked) in transcript.rows.iter().zip(&asked) {
            images.entry(row.label.into()).or_default().push(asked);
        }
        let mut by_label = BTreeMap::new();
        for (label, asked) in &images {
            cx.check()?;
            by_label.insert(*label, taught(&cube, asked));
        }
        Ok(Self {
            names: questions.names.clone(),
            of_all: taught(&cube, &asked),
            by_label,
            images: transcript.rows.len(),
            model: transcript.of.model.1,
            seen: {
                let all = transcript.of.data.likenesses();
                transcript.rows.iter().filter_map(|row| all.get(row.id as usize).copied()).collect()
            },
            axes: cube.axes,
            conditions: questions.conditions.clone(),
        })
    }

    /// How many images it was learnt from.
    pub fn images(&self) -> usize {
        self.images
    }

    /// Of an image with this label; where none had it, of all.
    pub(super) fn first(&self, label: i64) -> &[Vec<f64>] {
        self.by_label.get(&label).unwrap_or(&self.of_all)
    }

    /// What is to be said where the same images of the same model were learnt from, or none with these labels was.
    pub(super) fn caution(&self, data: &Dataset, model: &Model) -> Option<String> {
        let known = data.likenesses().iter().filter(|one| self.seen.contains(one)).count();
        if known > 0 && model.digest() == self.model {
            return Some(format!(
                "search::bayes: `learned` is of the same model on {known} of the {} images: how few questions these take says nothing",
                data.len()
            ));
        }
        let labels = data.labels();
        let none = !labels.is_empty() && !labels.iter().any(|label| self.by_label.contains_key(label));
        none.then(|| {
            let learnt: Vec<String> = self.by_label.keys().map(i64::to_string).collect();
            format!(
                "search::bayes: `learned` is of images of other labels ({}), none of which is examined: what it begins with is what images of any class \
                 have in common",
                cut(&learnt.join(", "), 60)
            )
        })
    }

    /// Refuses to teach about other factors.
    pub(super) fn check(&self, factors: &[Factor]) -> Result<()> {
        let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
        if self.names != names {
            return Err(Error::argument(format!(
                "search::bayes: `learned` is of {}, here are {}",
                self.names.join(", "),
                names.join(", ")
            ))
            .hint("examine both in the same space"));
        }
        if self.conditions != factor::conditions(factors) {
            return Err(Error::argument(
                "search::bayes: `learned` is of factors that count `when` others are otherwise",
            )
            .hint("examine both in the same space"));
        }
        match factors.iter().zip(&self.axes).find(|(factor, axis)| factor.axis() != **axis) {
            Some((factor, _)) => {
                Err(Error::argument(format!("search::bayes: `learned` is of another range of {}", factor.name))
                    .hint("examine both in the same space, without `levels`"))
            }
            None => Ok(()),
        }
    }

    pub fn digest(&self) -> Digest {
        Digest::of(format!("{:?}{:?}{:?}{:?}", self.names, self.axes, self.by_label, self.of_all).as_bytes())
    }
}

impl std::fmt::Debug for Lessons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "of {} images, {:?}", self.images, self.digest())
    }
}

/// So many of them, evenly from all.
fn evenly(of: usize, many: usize) -> impl Iterator<Item = usize> {
    let many = many.min(of);
    (0..many).map(move |i| i * of / many)
}

/// Losses in units of their own: 0 is their middle and 1 their top, and how far the low ones lie below counts in its logarithm.
fn in_own_units(losses: &[f32]) -> Vec<f64> {
    let mut sorted: Vec<f64> = losses.iter().map(|&loss| loss.into()).collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(&top), middle) = (sorted.last(), sorted[sorted.len() / 2]) else { return vec![] };
    let spread = top - middle;
    let unit = |&loss: &f32| {
        let above = (f64::from(loss) - middle) / spread;
        if above < 0.0 { -(-above).ln_1p() } else { above }
    };
    if spread > 0.0 { losses.iter().map(unit).collect() } else { vec![0.0; losses.len()] }
}

fn taught(cube: &Cube, asked: &[&AskedQuestions]) -> Vec<Vec<f64>> {
    let groups = cube.groups();
    let length = 0.5 * (groups.len().max(1) as f64).sqrt();
    let lengths = vec![length; cube.len()];
    let mut process = GaussianProcess::new(Kernel::Matern52, groups, lengths, 0.1).learning(Learnt::USUAL);
    let width = cube.axes.len();
    let images: Vec<&&AskedQuestions> =
        evenly(asked.len(), IMAGES).map(|i| &asked[i]).filter(|asked| !asked.is_empty()).collect();
    let each = (POOLED / images.len().max(1)).max(4);
    let mut offered: Vec<Vec<f64>> = vec![];
    for asked in images {
        let point = |i: usize| cube.point(&asked.settings[i * width..][..width]);
        let units = in_own_units(&asked.losses);
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by(|&a, &b| units[b].total_cmp(&units[a]).then(a.cmp(&b)));
        // A third are its worst ones, the others are spread over what is left.
        let worst = (each / 3).max(1).min(order.len());
        let rest = &order[worst..];
        let chosen = order[..worst].iter().chain(evenly(rest.len(), each - worst).map(|i| &rest[i]));
        for &i in chosen {
            process.observe(&point(i), units[i]);
        }
        offered.extend(order.iter().take(WORST).map(|&i| point(i)));
    }
    let middle = std::f64::consts::SQRT_2 + (cube.varying() as f64).ln() / 2.0;
    process.fit(Some((middle, 3f64.sqrt())), &[0.3, 1.0], 16);
    let mut taught: Vec<Vec<f64>> = vec![];
    while taught.len() < TAUGHT {
        offered.retain(|point| !taught.iter().any(|other| cube.alike(point, other, APART)));
        let hope = |point: &Vec<f64>| process.hope_at(point, Hope::Bound(1.0));
        let Some(best) = offered.iter().max_by(|a, b| hope(a).total_cmp(&hope(b))).cloned() else { break };
        let (mean, _) = process.posterior(&best);
        process.observe(&best, mean);
        taught.push(best);
    }
    taught
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_count_among_those_of_their_image() {
        assert_eq!(in_own_units(&[3.0, 1.0, 5.0]), [0.0, -(2f64.ln()), 1.0]);
        assert_eq!(in_own_units(&[2.0, 2.0]), [0.0, 0.0]);
        assert_eq!(in_own_units(&[-1.0, -1.0, -1.0, 1.0]), [0.0, 0.0, 0.0, 1.0]);
    }
}
