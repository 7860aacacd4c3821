//! The attack in a ball twice as large, in which everything that failed is still there.

use std::collections::BTreeSet;

use super::Check;
use super::attack::{Attacked, Trial};
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Error, Result};
use crate::search::Variation;

pub struct Farther;

/// What the attack makes fail of these rows in a ball of another radius, with steps to match; `None` where it has none.
pub(super) fn in_ball(cx: &Cx, of: &Attacked, radius: f64) -> Result<Option<BTreeSet<usize>>> {
    let Some(search) = of.attack.search.varied(Variation::Farther(radius / of.radius, of.norm)) else {
        return Ok(None);
    };
    let space = of.attack.space.ball(radius).ok_or_else(|| Error::internal("a ball without a radius"))?;
    let trial = Trial { model: of.attack.model, space, search, objective: of.attack.objective.clone() };
    of.tried(cx, &of.right, trial).map(Some)
}

pub(super) const NO_STEPS: &str = "the steps of the search are fixed";

impl Check for Farther {
    fn name(&self) -> &'static str {
        "a radius twice as large"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let Some(found) = in_ball(cx, of, 2.0 * of.radius)? else { return Ok(Finding::not_asked(NO_STEPS)) };
        let fewer = of.fooled.len().saturating_sub(found.len());
        let says = match fewer {
            0 => "at least as many fail".into(),
            n => format!("{} fewer fail, though all of the smaller ball is in the larger one", images(n)),
        };
        let finding = Finding::new(Verdict::against(fewer, of.images()), (fewer, of.right.len()), says);
        Ok(finding.left(of.accuracy(&found)))
    }
}
