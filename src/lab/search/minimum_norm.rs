//! What searches along gradients have in common that find how far each image has to go: one way gives all levels.

use super::Examination;
use super::gradient::{Place, check_balls};
use crate::core::{Error, Result};
use crate::space::Differentiable;

/// Refuses steps that are asked for, which each image goes by itself, and balls that are none. `name`: the search's.
pub(super) fn check(plan: &Examination, points: Option<&dyn Differentiable>, name: &str) -> Result<()> {
    if !plan.steps.is_empty() {
        return Err(Error::argument(format!(
            "examine: {name} finds how far each image has to go and has no `at_steps`"
        ))
        .hint("`magnitude` of the rows tells; one way gives all `levels`"));
    }
    check_balls(plan, points).map(drop)
}

/// One look for every level, or where the way ends.
pub(super) fn sights(plan: &Examination) -> Vec<Place> {
    match plan.levels.is_empty() {
        true => vec![Place { level: None, step: None }],
        false => plan.levels.iter().map(|&level| Place { level: Some(level), step: None }).collect(),
    }
}
