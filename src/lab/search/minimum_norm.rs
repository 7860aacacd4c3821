//! What searches along gradients have in common that find how far each image has to go: one way gives all levels.

use super::Examination;
use super::gradient::{Cases, Place, check_balls, column};
use crate::core::{Error, Result, Tensor};
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

/// How many times as far as is asked about a way may lead before it comes back: scores beyond may be no numbers.
pub(super) const FARTHEST: f64 = 10.0;

/// How far it is asked about: the largest level, or the radius of the space; infinite where that is not said.
pub(super) fn asked(cases: &Cases) -> Result<f64> {
    let levels = cases.sights.iter().filter_map(|sight| sight.level);
    Ok(levels.chain(cases.differentiable()?.within()).reduce(f64::max).unwrap_or(f64::INFINITY))
}

/// What is nearest of the points that fail on each image's way, and where the way is now.
pub(super) struct NearestFound<'a> {
    pub best: &'a Tensor,
    /// Infinite where none was found.
    pub distance: &'a Tensor,
    pub now: &'a Tensor,
}

impl NearestFound<'_> {
    /// Where each image is left for a look: at the point that fails, if it is within the level, or the radius of the space; where none was
    /// found as far as its way went, which says how far was looked; and as it stands where what was found, or the way, lies beyond.
    pub fn left(&self, cases: &Cases, sight: usize) -> Result<Tensor> {
        let space = cases.differentiable()?;
        let found = self.distance.f_isfinite()?;
        let Some(most) = cases.sights[sight].level.or(space.within()) else {
            return Ok(self.best.f_where_self(&column(&found, self.now)?, self.now)?);
        };
        let here = space.magnitude(&cases.base, self.now)?;
        let looked = found.f_logical_not()?.f_logical_and(&here.f_le(most)?)?;
        let other = self.now.f_where_self(&column(&looked, self.now)?, &space.start(&cases.base)?)?;
        Ok(self.best.f_where_self(&column(&self.distance.f_le(most)?, &other)?, &other)?)
    }
}
