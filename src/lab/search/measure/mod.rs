//! What can be measured of an image where a search left it, beside what every row of a transcript holds: one file each, listed in
//! `MEASURES`. A measure follows from scores that the search has anyway, from the label, and from the image.

mod brier;
mod brightness;
mod confidence;
mod entropy;
mod nll;
mod probability;
mod rank;
mod top5;

use std::cell::OnceCell;

use tch::Kind;

use crate::core::{Error, Result, Tensor, Value, on_device, suggestion};
use crate::objective::Objective;

/// All measures, in the order in which they are told.
pub const MEASURES: &[&Measure] = &[
    &confidence::CONFIDENCE,
    &probability::PROBABILITY,
    &entropy::ENTROPY,
    &nll::NLL,
    &brier::BRIER,
    &top5::TOP5,
    &rank::RANK,
    &brightness::BRIGHTNESS,
];

/// A column that a transcript has where it is asked for.
pub struct Measure {
    /// As scripts ask for it and find it in rows.
    pub name: &'static str,
    pub holds: Holds,
    /// Empty where a number has none.
    pub unit: &'static str,
    /// One sentence.
    pub purpose: &'static str,
    /// Of models with fewer classes it says nothing.
    pub classes: i64,
    /// One number per image, finite wherever the scores are.
    pub of: fn(&SeenBatch) -> Result<Tensor>,
}

/// What the numbers of a measure stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    Number,
    Count,
    Truth,
}

impl Holds {
    pub fn words(self) -> &'static str {
        match self {
            Self::Number => "a float",
            Self::Count => "an int",
            Self::Truth => "a bool",
        }
    }

    /// A number as scripts see it.
    pub fn value(self, number: f32) -> Value {
        match self {
            Self::Number => Value::Float(number.into()),
            Self::Count => Value::Int(number as i64),
            Self::Truth => Value::Bool(number != 0.0),
        }
    }
}

/// Images of a batch where the search is, on the device.
pub struct SeenBatch<'a> {
    /// `N x K` float32.
    pub scores: Tensor,
    /// `N x 1` int64.
    pub labels: Tensor,
    logs: OnceCell<Tensor>,
    images: &'a dyn Fn() -> Result<Tensor>,
}

impl SeenBatch<'_> {
    /// The logarithms of the softmax, `N x K`.
    pub fn logs(&self) -> Result<&Tensor> {
        if self.logs.get().is_none() {
            // Only an empty cell is filled.
            let _ = self.logs.set(self.scores.f_log_softmax(1, None)?);
        }
        self.logs.get().ok_or_else(|| Error::internal("a softmax that was not worked out"))
    }

    /// The images, `N x C x H x W`: drawn anew where the search needs none.
    pub fn images(&self) -> Result<Tensor> {
        (self.images)()
    }

    /// Of each row of a tensor `N x K` the number of its label: `N`.
    pub fn own(&self, of: &Tensor) -> Result<Tensor> {
        Ok(of.f_gather(1, &self.labels, false)?.f_squeeze_dim(1)?)
    }
}

/// The measures of these names, each once; refuses others.
pub fn named<'n>(names: impl Iterator<Item = &'n str>) -> Result<Vec<&'static Measure>> {
    let mut found: Vec<&Measure> = vec![];
    for name in names {
        let Some(measure) = MEASURES.iter().find(|measure| measure.name == name) else {
            return Err(Error::argument(format!("examine: there is no measure {name:?}"))
                .hint(suggestion(name, MEASURES.iter().map(|measure| measure.name).collect::<Vec<_>>())));
        };
        if found.iter().any(|known| known.name == name) {
            return Err(Error::argument(format!("examine: `measures` has {name:?} twice")).hint("name each once"));
        }
        found.push(measure);
    }
    Ok(found)
}

/// Refuses measures that say nothing of this model or objective.
pub(super) fn check(measures: &[&Measure], objective: &Objective, classes: Option<i64>) -> Result<()> {
    if let (false, Some(measure)) = (objective.failure.of_classes(), measures.first()) {
        return Err(Error::argument(format!(
            "examine: measure {:?} is of one class among several, objective::{} of binary labels",
            measure.name,
            objective.describe()
        ))
        .hint("leave `measures` out"));
    }
    classes.map_or(Ok(()), |classes| enough(measures, classes))
}

/// Refuses measures that say nothing of so few classes.
fn enough(measures: &[&Measure], classes: i64) -> Result<()> {
    match measures.iter().find(|measure| classes < measure.classes) {
        Some(measure) => Err(Error::argument(format!(
            "examine: measure {:?} says nothing of a model of {classes} classes",
            measure.name
        ))
        .hint(format!("it is for {} classes and more", measure.classes))),
        None => Ok(()),
    }
}

/// What is measured at these scores: `M x N` float32 on their device; `None` where nothing is asked for.
pub(super) fn tensor(
    measures: &[&Measure],
    scores: &Tensor,
    labels: &[i64],
    images: &dyn Fn() -> Result<Tensor>,
) -> Result<Option<Tensor>> {
    if measures.is_empty() {
        return Ok(None);
    }
    // How many classes a closure knows may not be known before it answers.
    enough(measures, scores.size2()?.1)?;
    tch::no_grad(|| {
        let scores = scores.f_detach()?.f_to_kind(Kind::Float)?;
        let labels = on_device(&Tensor::f_from_slice(labels)?.f_reshape([-1, 1])?, scores.device())?;
        let seen = SeenBatch { scores, labels, logs: OnceCell::new(), images };
        let columns = measures
            .iter()
            .map(|measure| Ok((measure.of)(&seen)?.f_to_kind(Kind::Float)?))
            .collect::<Result<Vec<_>>>()?;
        Ok(Some(Tensor::f_stack(&columns, 0)?))
    })
}
