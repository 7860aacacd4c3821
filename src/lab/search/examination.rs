//! What an examination is of: everything that its rows depend on.

use std::rc::Rc;

use super::Search;
use super::measure::Measure;
use crate::core::{Error, Result};
use crate::data::Dataset;
use crate::model::Model;
use crate::objective::Objective;
use crate::space::Space;

/// Whether the density of every outcome is worked out as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Densities {
    /// Refuse data that do not hold what it needs.
    Required,
    /// Where the data hold what it needs; a warning says where they do not.
    WhereKnown,
}

impl Densities {
    /// How digests know it, which stays when it gets a better name.
    pub(super) fn identity(self) -> &'static str {
        match self {
            Self::Required => "Required",
            Self::WhereKnown => "WhereKnown",
        }
    }
}

/// What `examine` pairs: who is asked, about which images, what may change in them, how to look, and what counts.
pub struct Examination<'a> {
    pub model: &'a Model,
    pub data: &'a Dataset,
    pub space: Rc<dyn Space>,
    pub search: Rc<dyn Search>,
    pub objective: Objective,
    /// How strong changes may be, in the space's unit, ascending; every image is examined at each. None: as strong as the
    /// space allows.
    pub levels: Vec<f64>,
    /// After which steps a search along gradients notes where it is, ascending; none: after the last.
    pub steps: Vec<u32>,
    pub densities: Densities,
    /// What is measured of every row beside what each holds.
    pub measures: Vec<&'static Measure>,
    /// Images per call of the model; by default `Model::batch_size`.
    pub batch: Option<usize>,
    pub seed: u64,
}

impl Examination<'_> {
    /// Refuses an objective that the model's answers don't serve; the number of its classes.
    pub(super) fn check_objective(&self) -> Result<i64> {
        let classes = self.model.classes().unwrap_or_default();
        self.objective.check(classes, self.data.len())?;
        if !self.objective.failure.of_classes() && self.model.answers_shares() {
            let what = format!(
                "{} goes by scores above 0 and below it, and none of {} is below, as of probabilities: every label would count as there",
                self.objective.describe(),
                self.model.name
            );
            return Err(Error::argument(what).hint(
                "examine the network as it is before its sigmoid; of probabilities p, model::from(|x| { let p = f.logits(x).clamp(0.000001, 0.999999); (p / (1 - p)).ln() }, #{ classes: f.classes })",
            ));
        }
        if let Some(most) = self.model.shares_up_to().filter(|most| self.objective.lead >= *most) {
            return Err(Error::argument(format!(
                "{} can't fail: scores of {} are shares of {most}, and none leads another by {}",
                self.objective.describe(),
                self.model.name,
                self.objective.lead
            ))
            .hint(
                "a lead is in the model's scores: examine the network as it is before its softmax, or ask for less",
            ));
        }
        Ok(classes)
    }
}
