//! The attack from random points of the ball, on what it left right.

use super::Check;
use super::attack::Attacked;
use super::finding::Finding;
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
        let trial = of.with_search(search);
        of.on_what_is_left(cx, trial, "they find nothing more".into(), "they make")
    }
}
