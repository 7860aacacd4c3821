//! The attack from random points of the ball, on what it left right.

use super::Check;
use super::attack::Attacked;
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};
use crate::search::Variation;

pub struct Restarts;

const WAYS: u32 = 3;

impl Check for Restarts {
    fn name(&self) -> &'static str {
        "three random starts"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let Some(search) = of.attack.search.varied(Variation::Restarted(WAYS)) else {
            return Ok(Finding::not_asked("the search begins nowhere else"));
        };
        let left = of.left();
        let found = of.tried(cx, &left, of.with_search(search))?;
        of.fooled_by_any.extend(&found);
        let says = match found.len() {
            0 => "they find nothing more".into(),
            n => format!("they make {} fail that the attack left right", images(n)),
        };
        let accuracy = of.accuracy(&of.fooled.union(&found).copied().collect());
        Ok(Finding::new(Verdict::against(found.len(), of.images()), (found.len(), left.len()), says).left(accuracy))
    }
}
