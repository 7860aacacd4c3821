//! Whether changes keep label and density: T on images that the model can't have seen, where its mean is 0 if they do.

use std::collections::BTreeMap;

use serde_json::json;

use super::clusters::Clusters;
use super::independence::order;
use super::verdict::{about, fields, percent};
use crate::core::{
    Cautions, Cx, Digest, Error, Object, Result, Table, Value, json_of_fields, number, significant, wrapped,
};
use crate::maths::bernstein::mean_variance;
use crate::maths::betting::{Bets, Sides};
use crate::search::{Density, Transcript};

/// Classes that have an interval of their own, at most.
const MOST_CLASSES: usize = 50;

/// What the images say of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Yes,
    No,
    CantTell,
}

impl Kept {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::CantTell => "can't tell",
        }
    }
}

/// A mean of T_i with its interval.
#[derive(Debug, Clone, Copy)]
pub struct BiasInterval {
    pub images: usize,
    pub mean: f64,
    pub lo: f64,
    pub hi: f64,
}

/// The bias of T on fresh images, and what it says of the changes.
pub struct RiskCalibration {
    pub all: BiasInterval,
    /// By class, all of them together at the level.
    classes: Vec<(String, BiasInterval)>,
    pub delta: f64,
    /// What a bias may be that does not matter.
    pub margin: f64,
    pub kept: Kept,
    /// How many images would tell, if the bias is what was found.
    needed: Option<u64>,
    pub model: (String, Digest),
    pub data: (String, Digest),
    pub space: String,
    pub search: String,
    identity: String,
    assumption: String,
    cautions: Cautions,
}

/// All means that a betting test at `delta` does not reject, from both sides. `t` in an order fixed before looking.
fn interval(cx: &Cx, t: &[f64], (lo, hi): (f64, f64), delta: f64) -> Result<BiasInterval> {
    let (mean, _) = mean_variance(t.iter().copied());
    // Whether the values speak for a mean beyond `middle`, on the side of `sign`.
    let beyond = |middle: f64, sign: f64| -> Result<bool> {
        cx.check()?;
        let ends = [sign * (lo - middle), sign * (hi - middle)];
        let range = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        if !(range.0 < 0.0 && 0.0 < range.1) {
            return Ok(true);
        }
        let moved: Vec<f64> = t.iter().map(|x| sign * (x - middle)).collect();
        Ok(Bets { range, delta: delta / 2.0, sides: Sides::One, planned: None }.rejects(&moved))
    };
    let end = |far: f64, sign: f64| -> Result<f64> {
        let (mut inside, mut outside) = (mean, far);
        for _ in 0..30 {
            let middle = (inside + outside) / 2.0;
            if beyond(middle, sign)? { outside = middle } else { inside = middle }
        }
        // Bets depend on the mean that they are against, so that a mean farther out may be let pass.
        for step in [0.05, 0.1, 0.2, 0.4, 0.8] {
            let farther = outside + step * (outside - mean);
            if (farther - far) * sign > 0.0 && !beyond(farther, sign)? {
                outside = farther;
            }
        }
        Ok(outside)
    };
    Ok(BiasInterval { images: t.len(), mean, lo: end(lo, 1.0)?, hi: end(hi, -1.0)? })
}

impl RiskCalibration {
    /// Of the T_i of an examination of images that the model has not seen.
    pub fn of(
        cx: &Cx,
        (transcript, density): (&Transcript, &Density),
        (t, clusters): (&[f64], Option<&Clusters>),
        (delta, margin): (f64, f64),
        (seed, cautions): (u64, Cautions),
    ) -> Result<Self> {
        if !t.iter().any(|t| *t > 0.0) {
            return Err(Error::data(format!(
                "no image of {} has a T_i above 0: no change misled the model, so nothing shows whether changes keep label and density",
                t.len()
            ))
            .hint("a larger radius, more images, or a weaker model"));
        }
        let (of, range) = (&transcript.of, (density.lo, density.hi));
        // Of these images, in an order fixed before looking, what is independent.
        let of_images = |images: &[usize], delta: f64| -> Result<BiasInterval> {
            let own: Vec<f64> = images.iter().map(|&i| t[i]).collect();
            let independent =
                clusters.map_or(own.clone(), |clusters| clusters.only(images.iter().copied()).means(&own));
            Ok(BiasInterval { images: images.len(), ..interval(cx, &independent, range, delta)? })
        };
        let places = order(t.len(), seed, 0);
        let all = of_images(&places, delta)?;
        let names = of.data.classes();
        let mut classes = vec![];
        let present: Vec<usize> =
            (0..names.len()).filter(|&class| transcript.rows.iter().any(|row| row.label as usize == class)).collect();
        if (2..=MOST_CLASSES).contains(&present.len()) {
            for &class in &present {
                let of_class = |i: &usize| transcript.rows[*i].label as usize == class;
                let own: Vec<usize> = places.iter().copied().filter(of_class).collect();
                classes.push((names[class].clone(), of_images(&own, delta / present.len() as f64)?));
            }
        }
        let kept = if -margin < all.lo && all.hi < margin {
            Kept::Yes
        } else if all.lo > 0.0 || all.hi < 0.0 {
            Kept::No
        } else {
            Kept::CantTell
        };
        let half = (all.hi - all.lo) / 2.0;
        let enough = |room: f64| (room > 0.0).then(|| t.len() as f64 * (half / room).powi(2));
        let needed = [enough(margin - all.mean.abs()), enough(all.mean.abs())]
            .into_iter()
            .flatten()
            .fold(f64::INFINITY, f64::min);
        let needed = needed.max(t.len() as f64 + 1.0);
        Ok(Self {
            all,
            classes,
            delta,
            margin,
            kept,
            needed: (kept == Kept::CantTell && needed < 1e12).then_some(needed.ceil() as u64),
            model: (of.model.0.clone(), of.model.1),
            data: (of.data.name.clone(), of.data.digest()),
            space: of.space.clone(),
            search: of.search.clone(),
            identity: of.identity.clone(),
            assumption: density.assumption.clone(),
            cautions,
        })
    }

    /// Refuses to speak for other changes, or another way to look.
    pub fn check(&self, identity: &str, (search, space): (&str, &str)) -> Result<()> {
        match identity == self.identity {
            true => Ok(()),
            false => Err(Error::argument(format!(
                "the calibration is of {} over {}, this test is of {search} over {space}",
                self.search, self.space
            ))
            .hint("calibrate the search and the space that the test has: a bias depends on both")),
        }
    }

    fn ends(&self) -> String {
        let level = percent(1.0 - self.delta);
        format!("{level} interval from {} to {}", significant(self.all.lo, 2), significant(self.all.hi, 2))
    }

    /// What was found, for a report that rests on it.
    pub fn sentence(&self) -> String {
        let answer = match self.kept {
            Kept::Yes => format!("within ±{}", number(self.margin)),
            Kept::No => "not 0: the changes do not keep label and density there".into(),
            Kept::CantTell => format!("not known to be within ±{}", number(self.margin)),
        };
        format!(
            "on {} images said to be fresh ({}, model {}), T has the bias {}, {}, which is {answer}",
            self.all.images,
            self.data.0,
            self.model.0,
            significant(self.all.mean, 2),
            self.ends()
        )
    }

    /// What a test that rests on it must be cautioned of.
    pub fn said_of(&self, model: &Digest, difference: f64) -> Cautions {
        let mut said = Cautions::default();
        for caution in self.cautions.iter() {
            said.add(format!("of the calibration that this rests on: {caution}"));
        }
        if self.kept != Kept::Yes {
            said.add(self.sentence());
        }
        if self.model.1 != *model {
            said.add(format!(
                "the bias of T was calibrated with another model ({}), and may depend on it",
                self.model.0
            ));
        }
        if (self.all.lo.min(0.0)..=self.all.hi.max(0.0)).contains(&difference) && difference != 0.0 {
            said.add(format!(
                "T = {} is no more than what the changes alone may do ({} on fresh images)",
                significant(difference, 2),
                self.ends()
            ));
        }
        said
    }

    fn verdict(&self) -> String {
        let margin = number(self.margin);
        let found = format!("the bias of T is {}, {}", significant(self.all.mean, 2), self.ends());
        let words = match self.kept {
            Kept::Yes if self.all.lo > 0.0 || self.all.hi < 0.0 => {
                format!("yes, up to ±{margin}: {found}, so there is a bias, and it is smaller than that")
            }
            Kept::Yes => format!("yes, up to ±{margin}: {found}"),
            Kept::No => format!(
                "no: {found}, which leaves out 0: the changes do not keep label and density of these images, or they are not fresh"
            ),
            Kept::CantTell => {
                let more = self.needed.map_or(String::new(), |n| {
                    format!("; about {} images would tell, if it is what was found", about(n))
                });
                format!("can't tell: {found}, which is neither within ±{margin} nor without 0{more}")
            }
        };
        self.cautions.lines().into_iter().chain([words]).collect::<Vec<_>>().join("; ")
    }

    fn by_class(&self) -> Vec<BTreeMap<String, Value>> {
        let row = |(name, of): &(String, BiasInterval)| {
            fields([
                ("class", Value::Str(name.clone())),
                ("images", Value::Int(of.images as i64)),
                ("bias", Value::Float(of.mean)),
                ("lo", Value::Float(of.lo)),
                ("hi", Value::Float(of.hi)),
            ])
        };
        self.classes.iter().map(row).collect()
    }
}

const FIELDS: [&str; 13] = [
    "m",
    "bias",
    "lo",
    "hi",
    "delta",
    "equivalence_margin",
    "kept",
    "verdict",
    "needed",
    "by_class",
    "space",
    "search",
    "cautions",
];

impl Object for RiskCalibration {
    fn kind(&self) -> &'static str {
        "RiskCalibration"
    }

    fn summary(&self) -> String {
        format!("do {} over {} keep label and density? {}", self.search, self.space, self.verdict())
    }

    fn details(&self, width: usize) -> String {
        let mut lines = vec![
            format!(
                "model {}, images {}, said to be fresh: {} over {}",
                self.model.0, self.data.0, self.search, self.space
            ),
            String::new(),
            self.verdict(),
        ];
        let biased: Vec<&str> =
            self.classes.iter().filter(|(_, of)| of.lo > 0.0 || of.hi < 0.0).map(|(name, _)| name.as_str()).collect();
        if !self.classes.is_empty() {
            lines.push(String::new());
            lines.push(match biased.is_empty() {
                true => format!(
                    "By class (all {} together at the level): none has a bias that leaves out 0.",
                    self.classes.len()
                ),
                false => format!(
                    "By class (all {} together at the level) the bias leaves out 0 in: {}.",
                    self.classes.len(),
                    biased.join(", ")
                ),
            });
        }
        lines.push(String::new());
        lines.push(format!("It asks whether this holds: {}.", self.assumption));
        lines.push("That the model has not seen the images is what the caller says; nothing here can know it.".into());
        wrapped(&lines.join("\n"), width)
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "m" => Value::Int(self.all.images as i64),
            "bias" => Value::Float(self.all.mean),
            "lo" => Value::Float(self.all.lo),
            "hi" => Value::Float(self.all.hi),
            "delta" => Value::Float(self.delta),
            "equivalence_margin" => Value::Float(self.margin),
            "kept" => Value::Str(self.kept.word().into()),
            "verdict" => Value::Str(self.verdict()),
            "needed" => self.needed.map_or(Value::Unit, |n| Value::Int(n as i64)),
            "by_class" => Value::Array(self.by_class().into_iter().map(Value::Map).collect()),
            "space" => Value::Str(self.space.clone()),
            "search" => Value::Str(self.search.clone()),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        Digest::of(self.json().to_string().as_bytes())
    }

    fn json(&self) -> serde_json::Value {
        let before = [
            ("model", json!(self.model.0)),
            ("model_hash", json!(self.model.1.hex())),
            ("data", json!(self.data.0)),
            ("data_hash", json!(self.data.1.hex())),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        json_of_fields(self, before)
    }

    /// One row per class.
    fn table(&self) -> Option<Table> {
        let rows = Value::Array(self.by_class().into_iter().map(Value::Map).collect());
        Some(self.cautions.beside(Table::from_rows(&rows)?))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json"]
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::core::random;

    /// Of values whose mean is known the interval holds it in 95% of samples at least, whatever their size; and it is not all there is.
    #[test]
    fn intervals_hold_the_mean() {
        let cx = Cx::default();
        for (law, (above, below, size)) in [(0.05, 0.1, 60), (0.1, 0.1, 60), (0.02, 0.01, 400)].into_iter().enumerate()
        {
            let (up, down) = (0.5, -0.25);
            let mean = above * up + below * down;
            let (mut held, mut wide) = (0, 0.0);
            let samples = 400;
            for sample in 0..samples {
                let mut random = random(7 + law as u64, sample);
                let mut draw = || match random.gen_range(0.0..1.0) {
                    x if x < above => up,
                    x if x < above + below => down,
                    _ => 0.0,
                };
                let t: Vec<f64> = (0..size).map(|_| draw()).collect();
                let found = interval(&cx, &t, (-0.99, 0.5), 0.05).expect("an interval");
                held += u32::from((found.lo..=found.hi).contains(&mean));
                wide += (found.hi - found.lo) / f64::from(samples as u32);
            }
            // Three standard deviations below 95% of 400.
            assert!(held >= 367, "law {law}: {held} of {samples} intervals hold {mean}");
            assert!(wide < 0.6, "law {law}: intervals are {wide} wide");
        }
    }
}
