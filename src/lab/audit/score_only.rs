//! A search that asks for scores alone, on what the attack left right: where it finds more, gradients misled the attack.

use std::rc::Rc;

use super::Check;
use super::attack::{Attacked, Trial};
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};
use crate::objective::Misclassify;
use crate::search::Square;

pub struct ScoreOnly;

impl Check for ScoreOnly {
    fn name(&self) -> &'static str {
        "a search without gradients"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        if let Err(error) = Square::check(of.norm, of.attack.data.shape()) {
            return Ok(Finding::not_asked(error.message));
        }
        let (model, space, questions) = (of.attack.model, of.attack.space.clone(), of.attack.questions);
        let trial = Trial { model, space, search: Rc::new(Square::asking(questions)), objective: Misclassify.into() };
        let left = of.left();
        let found = of.tried(cx, &left, trial)?;
        of.fooled_by_any.extend(&found);
        let says = match found.len() {
            0 => format!("search::square finds nothing more in {questions} questions"),
            n => format!("search::square makes {} fail that the attack left right", images(n)),
        };
        let accuracy = of.accuracy(&of.fooled.union(&found).copied().collect());
        Ok(Finding::new(Verdict::against(found.len(), of.images()), (found.len(), left.len()), says).left(accuracy))
    }
}
