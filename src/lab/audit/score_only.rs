//! A search that asks for scores alone, on what the attack left right: where it finds more, gradients misled the attack.

use std::rc::Rc;

use super::Check;
use super::attack::{Attacked, Trial};
use super::finding::Finding;
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
        let nothing = format!("search::square finds nothing more in {questions} questions");
        of.on_what_is_left(cx, trial, nothing, "search::square makes")
    }
}
