//! The attack on the same model with its scores multiplied, which changes no answer.

use tch::Kind;

use super::Check;
use super::attack::{Attacked, Trial};
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result, number};

pub struct Scaled {
    pub by: Scale,
    pub name: &'static str,
}

/// What scores are multiplied by.
pub enum Scale {
    Number(f64),
    /// Whatever brings the best score so far above the next one on average, in nats: a softmax then neither lacks the next class nor takes all for alike.
    Lead(f64),
}

/// Images whose leads are looked at, at most.
const ASKED: usize = 64;
/// A scale nearer to 1 is no other.
const NEAR: f64 = 1.5;

impl Scale {
    /// The number, or why there is none to try.
    fn of(&self, cx: &Cx, of: &Attacked) -> Result<std::result::Result<f64, &'static str>> {
        let lead = match self {
            Self::Number(by) => return Ok(Ok(*by)),
            Self::Lead(lead) => lead,
        };
        let n = of.right.len().min(ASKED);
        let rows: Vec<usize> = (0..n).map(|i| of.right[i * of.right.len() / n]).collect();
        let images = of.attack.data.images(&rows, cx.device())?;
        let best =
            tch::no_grad(|| of.attack.model.logits(&images))?.f_topk(2, 1, true, true)?.0.f_to_kind(Kind::Double)?;
        let own = best.f_select(1, 0)?.f_sub(&best.f_select(1, 1)?)?.f_mean(Kind::Double)?.f_double_value(&[])?;
        let by = lead / own;
        Ok(match by.is_finite() && by > 0.0 {
            false => Err("the best score leads by nothing, or by no finite number"),
            true if (1.0 / NEAR..NEAR).contains(&by) => Err("the best score leads by about as much already"),
            true => Ok(by),
        })
    }
}

impl Check for Scaled {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let by = match self.by.of(cx, of)? {
            Ok(by) => by,
            Err(why) => return Ok(Finding::not_asked(why)),
        };
        let model = of.attack.model.with_scores_scaled(by);
        let (space, search) = (of.attack.space.clone(), of.attack.search.clone());
        let found =
            of.tried(cx, &of.right, Trial { model: &model, space, search, objective: of.attack.objective.clone() })?;
        of.fooled_by_any.extend(&found);
        let (more, fewer) = (of.missed(&found).count(), of.fooled.difference(&found).count());
        let by = match self.by {
            Scale::Number(_) => String::new(),
            Scale::Lead(_) => format!(" (times {})", number(by)),
        };
        let says = match (more, fewer) {
            (0, 0) => format!("it finds the same{by}"),
            (0, fewer) => {
                format!(
                    "nothing more fails, and {} fewer{by}: what the attack finds goes by how large scores are",
                    images(fewer)
                )
            }
            (more, _) => format!("{} fail that the attack left right{by}: how large scores are hid them", images(more)),
        };
        // That it finds fewer is the attack's fault, but not on this model as it is.
        let finding = Finding::new(Verdict::against(more, of.images()), (more, of.right.len()), says);
        Ok(finding.left(of.accuracy(&found)))
    }
}
