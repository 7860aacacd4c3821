//! The attack on the same model with its scores multiplied, which changes no answer.

use super::Check;
use super::attack::{Attacked, Trial};
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};

pub struct Scaled {
    pub by: f64,
    pub name: &'static str,
}

impl Check for Scaled {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let model = of.attack.model.with_scores_scaled(self.by);
        let (space, search) = (of.attack.space.clone(), of.attack.search.clone());
        let found =
            of.tried(cx, &of.right, Trial { model: &model, space, search, objective: of.attack.objective.clone() })?;
        of.fooled_by_any.extend(&found);
        let (more, fewer) = (of.missed(&found).count(), of.fooled.difference(&found).count());
        let says = match (more, fewer) {
            (0, 0) => "it finds the same".into(),
            (0, fewer) => format!("it finds {} fewer: what it finds goes by how large scores are", images(fewer)),
            (more, _) => format!("{} fail that the attack left right: how large scores are hid them", images(more)),
        };
        // That it finds fewer is the attack's fault, but not on this model as it is.
        let finding = Finding::new(Verdict::against(more, of.images()), (more, of.right.len()), says);
        Ok(finding.left(of.accuracy(&found)))
    }
}
