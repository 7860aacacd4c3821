//! How large a change has to be before a model fails, over all images that were changed: those that never failed needed more than what was
//! tried, so that a mean over those that did would be too small.

use std::collections::{BTreeMap, BTreeSet};

use super::population::left_out;
use super::tolerance::percent;
use super::tolerance::stuck::FEW;
use crate::core::{Error, Object, Result, number, significant};
use crate::maths::means::skewed;
use crate::maths::shares::few_groups;
use crate::maths::survival::{Between, ProductLimit, Size, paired_difference};
use crate::search::{Row, Transcript, why_stuck};

/// Sizes that differ by no larger a share of themselves are the same: they are sums in single precision.
const ROUNDED: f64 = 1e-5;

/// Images that were followed to so much of what others were were followed as far: by rounding and at the bounds of pixels balls end up to 0.7% earlier.
const AS_FAR: f64 = 0.99;

/// Sizes that differ by a smaller share may do so by how a search went: up to 8% were seen of one network with scores on two scales.
const NEAR: f64 = 0.1;

/// What is known of one model.
pub struct SmallestChange {
    /// Images that were right as they stood.
    pub seeds: usize,
    /// Those of them that failed.
    pub fooled: usize,
    /// The change that is enough for half, infinite where that is beyond what was tried.
    pub median: Between,
    /// The mean, where more than `until` counts as `until`.
    pub mean: Between,
    pub until: f64,
    /// The mean over those that failed alone.
    pub of_fooled: f64,
    /// Why the sizes may not be what they seem to.
    pub cautions: Vec<String>,
}

/// What is known of two, on the images that both were changed from.
pub struct Compared {
    pub seeds: usize,
    /// Images of one alone, which do not count.
    pub left_out: [usize; 2],
    /// Restricted means, and how much larger the second one is.
    pub means: [f64; 2],
    pub larger_by: Between,
    pub until: f64,
    /// Images that failed for one alone.
    pub only: [usize; 2],
    /// Images that took the second more, and those of which it is known which one took more.
    pub larger: usize,
    pub decided: usize,
    /// Images that took both the same.
    pub equal: usize,
    /// Why the sizes of one of them may not be what they seem to.
    pub cautions: [Vec<String>; 2],
    /// Why the interval of their difference may not hold.
    pub uneven: Option<String>,
}

/// An image and, of images without a name of their own, the target.
type Name = (usize, Option<i32>);

type NamedSizes = Vec<(Name, Size)>;

/// What the images of one transcript needed, and what is to be said of that.
struct Sizes {
    named: NamedSizes,
    said: Vec<String>,
    /// Images that did not fail because the search could not move them.
    stuck: BTreeSet<Name>,
    why: &'static str,
}

impl Sizes {
    /// What is to be said where of so many of these images nothing is known that a mean or a median of all is not known either.
    fn doubt(&self, of: &[Name]) -> Option<String> {
        let stuck = of.iter().filter(|name| self.stuck.contains(name)).count();
        (stuck as f64 > FEW * of.len() as f64).then(|| {
            format!(
                "{} on {stuck} of {} images, of which nothing is known: a mean or a median of all is ()",
                self.why,
                of.len()
            )
        })
    }
}

/// What images that were given up, and might need any size from there on, may bring an estimate to: none needs more, or none is ever brought to
/// fail. The product limit takes them for images like the others, which holds where all were followed as far, and not where it goes by the
/// image how far.
struct GivenUp {
    none_more: Vec<Size>,
    never: Vec<Size>,
}

impl GivenUp {
    fn of(sizes: &[Size], until: f64) -> Self {
        let given_up = |size: &Size| Self::is(size, until);
        let with = |other: &dyn Fn(&Size) -> Size| {
            sizes.iter().map(|size| if given_up(size) { other(size) } else { *size }).collect()
        };
        Self {
            none_more: with(&|size| Size { enough: true, ..*size }),
            never: with(&|size| Size { at: until, ..*size }),
        }
    }

    fn count(sizes: &[Size], until: f64) -> usize {
        sizes.iter().filter(|size| Self::is(size, until)).count()
    }

    fn is(size: &Size, until: f64) -> bool {
        !size.enough && size.at < until
    }

    /// The interval that holds whatever they need.
    fn around(&self, mut found: Between, of: impl Fn(&ProductLimit) -> Between) -> Between {
        if let (Some(least), Some(most)) = (ProductLimit::of(&self.none_more), ProductLimit::of(&self.never)) {
            // A bound that is not known makes that of both unknown.
            let (least, most) = (of(&least), of(&most));
            let held = |bound: f64, other: f64, of: fn(f64, f64) -> f64| {
                if bound.is_nan() || other.is_nan() { f64::NAN } else { of(bound, other) }
            };
            found.lo = held(found.lo, least.lo, f64::min);
            found.hi = held(found.hi, most.hi, f64::max);
        }
        found
    }

    /// The median with such an interval, beyond what was tried where it is if none of them is ever brought to fail.
    fn around_median(&self, limit: &ProductLimit, delta: f64) -> Between {
        let found = self.around(limit.median(delta), |limit| limit.median(delta));
        let beyond = ProductLimit::of(&self.never).is_some_and(|never| never.median(delta).value.is_infinite());
        Between { value: if beyond { f64::INFINITY } else { found.value }, ..found }
    }
}

/// What is to be said where `given_up` of `all` images were followed less far than others had to be.
fn said_of_given_up(given_up: usize, all: usize) -> Option<String> {
    (given_up > 0).then(|| {
        format!(
            "{given_up} of {all} images were given up at a smaller size than others were followed to: an estimate takes them for images like the others, \
             its interval holds whatever they need"
        )
    })
}

/// How far an image was tried that did not fail. A search for the least change leaves it as it stands where the point that it found lies
/// beyond the level, or the radius of the space, and else where its way ended; `None` where nothing bounds its look. Where its gradient
/// vanished, or nothing to begin at was found, it has looked nowhere. What keeps the worst point of those that it asks about has asked as far as it might.
fn tried(transcript: &Transcript, row: &Row) -> Option<f64> {
    let left_as_it_stands = transcript.of.finds_least && !row.vanished && row.magnitude == 0.0;
    match left_as_it_stands || transcript.keeps_worst() {
        true => row.level.or_else(|| transcript.reach()),
        false => Some(row.magnitude.into()),
    }
}

/// What is to be said of sizes where `left` images were not made to fail, of which nothing says how far `unbounded` were tried; `farthest`: the
/// largest size.
fn said_of_sizes(
    transcript: &Transcript,
    (fooled, left, unbounded): (usize, usize, usize),
    farthest: f64,
) -> Vec<String> {
    let search = &transcript.of.search;
    let mut said: Vec<String> = left_out(transcript).into_iter().collect();
    // Of several searches one may keep the worst point that it meets; DeepFool makes nothing smaller that fails.
    let least = transcript.of.finds_least && transcript.members().is_none() && !search.starts_with("deepfool(");
    if !least && fooled > 0 {
        said.push(format!(
            "sizes of images that failed are of the points where {search} ended, which may be larger than the least change that fails: these are \
             bounds from above, also where they are compared"
        ));
    } else if transcript.asks_for_least() && fooled > 0 {
        said.push(format!(
            "how near {search} came to the least change goes by its questions: with more of them sizes may be smaller"
        ));
    }
    if unbounded > 0 {
        said.push(format!(
            "{unbounded} images were not made to fail, and nothing says how far they were tried: they count as needing more than {}, the farthest that \
             any was moved",
            number(farthest)
        ));
    } else if left > 0 && !transcript.asks_everything() {
        said.push(format!(
            "{left} images were not made to fail by {search}: they count as needing more than it tried, up to {}, also where its steps or questions were \
             too few to tell; a search that fails proves nothing, so compare another one's",
            number(farthest)
        ));
    }
    said
}

/// What is known of every image that was right as it stood, and what is to be said of it; `names` are the images' names, by default their
/// places in the data.
fn sizes(transcript: &Transcript, names: Option<&[usize]>) -> Result<Sizes> {
    let known = |row: &&Row| row.may_be_fooled();
    let mut seen = BTreeSet::new();
    let size = |row: &Row| if row.fooled() { Some(row.magnitude.into()) } else { tried(transcript, row) };
    let moved = |row: &Row| size(row).unwrap_or(row.magnitude.into());
    let farthest = transcript.rows.iter().filter(known).map(moved).fold(0.0, f64::max);
    let unbounded = transcript.rows.iter().filter(known).filter(|row| size(row).is_none()).count();
    let images = |of: &dyn Fn(&Row) -> bool| {
        transcript.rows.iter().filter(|row| known(row) && of(row)).map(|row| row.id).collect::<BTreeSet<_>>().len()
    };
    let (fooled, left) = (images(&Row::fooled), images(&|row| !row.fooled() && !row.stuck()));
    let said = said_of_sizes(transcript, (fooled, left, unbounded), farthest);
    let mut named: NamedSizes = transcript
        .rows
        .iter()
        .filter(known)
        .map(|row| {
            if !seen.insert(row.id) {
                return Err(Error::argument("the transcript has several rows of one image, which say much the same: intervals take rows for independent")
                    .hint("keep one step and one level, `t.filter(|row| row.step == 100)`; of several targets, t.group(\"target\") has one transcript for each"));
            }
            if row.magnitude.is_nan() {
                return Err(Error::argument(format!("how large changes of {} are is not known", transcript.of.space))
                    .hint("pixels, deform, noise, affine, hue, render, factors with an `identity` and products of these say how large"));
            }
            if row.fooled() && row.magnitude == 0.0 {
                return Err(Error::data(format!(
                    "image {} is right as it stands and fails at a change of size 0, which {} does not leave as it is: sizes say nothing there",
                    row.id, transcript.of.space
                ))
                .hint("of space::render size 0 is the canonical view, or what the space has nearest to it: give `factors` that hold it"));
            }
            let name = names.map_or(Some(row.id as usize), |names| names.get(row.id as usize).copied());
            let name = name.ok_or_else(|| Error::internal("a seed without a place"))?;
            let size = Size { at: size(row).unwrap_or(farthest), enough: row.fooled() };
            Ok(((name, names.map_or(row.target, |_| None)), size))
        })
        .collect::<Result<_>>()?;
    let rows = transcript.rows.iter().filter(known);
    let stuck = rows.zip(&named).filter(|(row, _)| row.stuck()).map(|(_, (name, _))| *name).collect();
    // Of the same size as others but for rounding or the bounds of pixels, what did not fail needs more than what did.
    let last = named.iter().map(|(_, size)| size.at).fold(0.0, f64::max);
    for (_, size) in named.iter_mut().filter(|(_, size)| !size.enough && size.at >= AS_FAR * last) {
        size.at = last;
    }
    Ok(Sizes { named, said, stuck, why: why_stuck(&transcript.of.search) })
}

fn until(asked: Option<f64>, last: f64) -> Result<f64> {
    match asked {
        Some(until) if until > last => Err(Error::argument(format!(
            "nothing is known of changes up to {}: the largest that was tried is {}",
            number(until),
            number(last)
        ))
        .hint("leave `up_to` out, or let the search go farther")),
        _ => Ok(asked.unwrap_or(last)),
    }
}

fn none() -> Error {
    Error::data("no image was right as it stood, so nothing had to be changed")
}

pub fn smallest_change(transcript: &Transcript, asked: Option<f64>, delta: f64) -> Result<SmallestChange> {
    let found = sizes(transcript, None)?;
    let names: Vec<Name> = found.named.iter().map(|(name, _)| *name).collect();
    let doubt = found.doubt(&names);
    let known = doubt.is_none();
    let mut cautions = found.said;
    cautions.extend(doubt);
    let sizes: Vec<Size> = found.named.into_iter().map(|(_, size)| size).collect();
    let limit = ProductLimit::of(&sizes).ok_or_else(none)?;
    // Where all failed, a larger change would have been no more than enough.
    let last = if limit.is_complete() { f64::INFINITY } else { limit.last() };
    let until = until(asked.or(Some(limit.last())), last)?;
    let fooled: Vec<f64> = sizes.iter().filter(|size| size.enough).map(|size| size.at).collect();
    let counted: Vec<f64> = sizes.iter().map(|size| size.at.min(until)).collect();
    // Sizes that end with the search say so already.
    cautions.extend(skewed(&counted, "sizes").filter(|_| !fooled.is_empty()));
    cautions.extend(few_groups(sizes.len(), "images"));
    let given_up = GivenUp::of(&sizes, until);
    cautions.extend(said_of_given_up(GivenUp::count(&sizes, limit.last()), sizes.len()));
    let valued = |of: Between| if known { of } else { Between { value: f64::NAN, ..of } };
    let mean = given_up.around(limit.restricted_mean(until, delta), |limit| limit.restricted_mean(until, delta));
    // Where all failed and nothing was asked, it is the mean itself, which other images may bring above the largest size here.
    let most = if asked.is_none() && limit.is_complete() { f64::INFINITY } else { until };
    Ok(SmallestChange {
        seeds: sizes.len(),
        fooled: fooled.len(),
        median: valued(GivenUp::of(&sizes, limit.last()).around_median(&limit, delta)),
        mean: valued(Between { hi: if mean.hi.is_nan() { f64::NAN } else { mean.hi.min(most) }, ..mean }),
        until,
        of_fooled: fooled.iter().sum::<f64>() / fooled.len() as f64,
        cautions,
    })
}

/// Refuses outcomes whose images or changes are not the same.
fn check_alike(first: &Transcript, second: &Transcript, names: [Option<&[usize]>; 2]) -> Result<()> {
    let refused = |what: &str, a: String, b: String| {
        Err(Error::argument(format!("tolerance::compare_changes: the outcomes are of different {what}: {a} and {b}"))
            .hint("changes are compared image by image, in one space and by one objective"))
    };
    let (a, b) = (&first.of, &second.of);
    if names.map(|names| names.is_some()) == [true, false] || names.map(|names| names.is_some()) == [false, true] {
        return refused("kinds", "one of a data set's images".into(), "one of a generator's".into());
    }
    if names[0].is_none() && a.data.digest() != b.data.digest() {
        return refused("images", a.data.name.clone(), b.data.name.clone());
    }
    if a.space != b.space {
        return refused("spaces", a.space.clone(), b.space.clone());
    }
    match a.objective == b.objective || names[0].is_some() {
        true => Ok(()),
        false => refused("objectives", a.objective.describe(), b.objective.describe()),
    }
}

/// Of two transcripts of the same images; or of others, where each image's name is given.
pub fn compare(
    (first, second): (&Transcript, &Transcript),
    names: [Option<&[usize]>; 2],
    asked: Option<f64>,
    delta: f64,
) -> Result<Compared> {
    check_alike(first, second, names)?;
    let (own, others) = (sizes(first, names[0])?, sizes(second, names[1])?);
    let of_second: BTreeMap<Name, Size> = others.named.iter().copied().collect();
    let both = own.named.iter().filter(|(name, _)| of_second.contains_key(name));
    let names: Vec<Name> = both.map(|(name, _)| *name).collect();
    let doubts = [own.doubt(&names), others.doubt(&names)];
    let known = doubts.each_ref().map(Option::is_none);
    let left_out = [own.named.len() - names.len(), others.named.len() - names.len()];
    let pairs: Vec<(Size, Size)> =
        own.named.iter().filter_map(|(name, size)| Some((*size, *of_second.get(name)?))).collect();
    let mut cautions = [own.said, others.said];
    cautions.iter_mut().zip(doubts).for_each(|(cautions, doubt)| cautions.extend(doubt));
    let limit = |of: &dyn Fn(&(Size, Size)) -> Size| ProductLimit::of(&pairs.iter().map(of).collect::<Vec<_>>());
    let (a, b) = (limit(&|pair| pair.0).ok_or_else(none)?, limit(&|pair| pair.1).ok_or_else(none)?);
    let last = |limit: &ProductLimit| if limit.is_complete() { f64::INFINITY } else { limit.last() };
    let most = last(&a).min(last(&b));
    let until = until(asked.or(Some(most.min(a.last().max(b.last())))), most)?;
    let unknown = Between { value: f64::NAN, lo: f64::NAN, hi: f64::NAN };
    let means = [&a, &b].map(|limit| limit.restricted_mean(until, delta).value);
    let mut larger_by =
        paired_difference(&pairs, until, delta).unwrap_or(Between { value: means[1] - means[0], ..unknown });
    let of = [0, 1].map(|which| pairs.iter().map(|pair| [pair.0, pair.1][which]).collect::<Vec<_>>());
    let given_up = of.each_ref().map(|sizes| GivenUp::count(sizes, until));
    if given_up != [0, 0] {
        let [of_first, of_second] = of.each_ref().map(|sizes| GivenUp::of(sizes, until));
        let bound = |first: &[Size], second: &[Size]| {
            let pairs: Vec<(Size, Size)> = first.iter().copied().zip(second.iter().copied()).collect();
            paired_difference(&pairs, until, delta)
        };
        if let Some(least) = bound(&of_first.never, &of_second.none_more) {
            larger_by.lo = larger_by.lo.min(least.lo);
        }
        if let Some(most) = bound(&of_first.none_more, &of_second.never) {
            larger_by.hi = larger_by.hi.max(most.hi);
        }
    }
    for (cautions, given_up) in cautions.iter_mut().zip(given_up) {
        cautions.extend(said_of_given_up(given_up, pairs.len()));
    }
    // Searches of one model and of the same with other scores ended some hundredths apart.
    let small = larger_by.value.abs() < NEAR * means[0].max(means[1]);
    if small && (larger_by.lo > 0.0 || larger_by.hi < 0.0) && !first.asks_everything() {
        let said = format!(
            "a difference of less than {} of the sizes may be the search's, and with it that more images took one model more: how near it comes to the least change goes by its steps and by the scale of scores",
            percent(NEAR)
        );
        cautions.iter_mut().for_each(|cautions| cautions.push(said.clone()));
    }
    if known != [true, true] {
        larger_by.value = f64::NAN;
    }
    let some_failed = pairs.iter().any(|(a, b)| [a, b].iter().any(|size| size.enough && size.at <= until));
    if until > 0.0 && !some_failed {
        let said = format!(
            "of {} images none failed for either up to {}: which of the two takes more is not known",
            pairs.len(),
            significant(until, 4)
        );
        cautions.iter_mut().for_each(|cautions| cautions.push(said.clone()));
    }
    // Where all are the same for want of larger changes nothing is known of them.
    if until <= 0.0 || !some_failed {
        larger_by = unknown;
    }
    let means = [0, 1].map(|which| if known[which] && until > 0.0 { means[which] } else { f64::NAN });
    let count = |of: &dyn Fn(&Size, &Size) -> bool| pairs.iter().filter(|(a, b)| of(a, b)).count();
    // What was enough is less than what was not, where that went at least as far.
    let same = |a: &Size, b: &Size| a.at == b.at || (a.at - b.at).abs() <= ROUNDED * a.at.max(b.at);
    let more = |a: &Size, b: &Size| a.enough && if b.enough { b.at > a.at && !same(a, b) } else { b.at >= a.at };
    let larger = count(&|a, b| more(a, b));
    let equal = count(&|a, b| a.enough && b.enough && same(a, b));
    // What rounding alone sets apart would be all the unevenness that there is.
    let gap = |(a, b): &(Size, Size)| if same(a, b) { 0.0 } else { b.at.min(until) - a.at.min(until) };
    let gaps: Vec<f64> = pairs.iter().map(gap).collect();
    Ok(Compared {
        uneven: skewed(&gaps, "differences of sizes").filter(|_| some_failed),
        seeds: pairs.len(),
        left_out,
        means,
        larger_by,
        until,
        only: [count(&|a, b| a.enough && !b.enough), count(&|a, b| b.enough && !a.enough)],
        larger,
        decided: larger + count(&|a, b| more(b, a)),
        equal,
        cautions,
    })
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::core::random;

    /// A third of the images are given up on their way, and need twice as much as the others do on average: intervals hold the truth, those of
    /// the product limit alone do not.
    #[test]
    fn intervals_hold_what_given_up_images_need() {
        const TRIALS: u64 = 300;
        const UNTIL: f64 = 1.5;
        // Of x uniform in 0.5 .. 1.5 and, for a third, twice as much: the mean of min(x, UNTIL), and 2 / 3 (x - 1 / 2) + 1 / 6 (x - 1) = 1 / 2.
        let (mean, median) = (2.0 / 3.0 * 1.0 + 1.0 / 3.0 * 1.4375, 1.2);
        let mut held = [0; 3];
        for trial in 0..TRIALS {
            let mut rng = random(3, trial);
            let sizes: Vec<Size> = (0..90)
                .map(|i| {
                    let needed = rng.gen_range(0.5..1.5) * if i % 3 == 0 { 2.0 } else { 1.0 };
                    match i % 3 == 0 {
                        true => Size { at: rng.gen_range(0.1..0.6), enough: false },
                        false => Size { at: needed, enough: true },
                    }
                })
                .collect();
            let limit = ProductLimit::of(&sizes).expect("sizes");
            let given_up = GivenUp::of(&sizes, UNTIL);
            let of_mean = |limit: &ProductLimit| limit.restricted_mean(UNTIL, 0.05);
            let within = |of: Between, truth: f64| usize::from(of.lo <= truth && truth <= of.hi);
            held[0] += within(given_up.around(of_mean(&limit), of_mean), mean);
            held[1] += within(GivenUp::of(&sizes, limit.last()).around_median(&limit, 0.05), median);
            held[2] += within(of_mean(&limit), mean);
        }
        let shares = held.map(|held| held as f64 / TRIALS as f64);
        assert!(shares[0] >= 0.95 && shares[1] >= 0.95, "{shares:?}");
        assert!(shares[2] < 0.5, "the truth lies outside of what the product limit says alone: {shares:?}");
    }
}
