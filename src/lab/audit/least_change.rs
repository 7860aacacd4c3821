//! A search for the least change, whose way may leave the ball and come back, on what the attack left right: where it finds more, scores hide
//! inside of the ball what leads out of it.

use std::rc::Rc;

use super::Check;
use super::attack::Attacked;
use super::finding::Finding;
use crate::core::{Cx, ErrorKind, Result};
use crate::search::{Ddn, Fmn, Search};
use crate::space::Norm;

pub struct LeastChange;

const STEPS: u32 = 100;

impl Check for LeastChange {
    fn name(&self) -> &'static str {
        "a search that may go beyond the ball"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let (name, search): (_, Rc<dyn Search>) = match of.norm {
            Norm::L2 => ("ddn", Rc::new(Ddn { steps: STEPS, step: 1.0, gamma: 0.05, ball: 1.0 })),
            Norm::L1 | Norm::Linf => ("fmn", Rc::new(Fmn { steps: STEPS, step: 1.0, gamma: 0.05 })),
        };
        if !of.attack.model.differentiable() {
            return Ok(Finding::not_asked("the model has no gradients"));
        }
        if of.attack.search.describe() == search.describe() {
            return Ok(Finding::not_asked("the attack is that search"));
        }
        let trial = of.with_search(search);
        let nothing = format!("search::{name} finds nothing more in {STEPS} steps");
        match of.on_what_is_left(cx, trial, nothing, &format!("search::{name} makes")) {
            Err(error) if error.kind == ErrorKind::Pairing => Ok(Finding::not_asked(error.message)),
            finding => finding,
        }
    }
}
