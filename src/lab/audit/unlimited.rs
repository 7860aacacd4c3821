//! The attack where every pixel may become anything: then each image can become one of another class, and none stays right.

use super::Check;
use super::attack::Attacked;
use super::farther::{NO_STEPS, in_ball};
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};

pub struct Unlimited;

impl Check for Unlimited {
    fn name(&self) -> &'static str {
        "no limit but the bounds"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let Some(bounds) = of.attack.space.bounds() else {
            return Ok(Finding::not_asked("pixels have no bounds: `bounds: [0, 1]` of the space gives them"));
        };
        if !of.answers_differ {
            return Ok(Finding::not_asked("the model answers all images the same class"));
        }
        let pixels = of.attack.data.shape().iter().product::<usize>() as f64;
        let largest = of.norm.farthest(bounds.width(), pixels);
        let Some(found) = in_ball(cx, of, largest.max(of.radius))? else { return Ok(Finding::not_asked(NO_STEPS)) };
        let left = of.right.len() - found.len();
        let says = match left {
            0 => "nothing is left right".into(),
            n => format!("{} left right, though any image lies within reach: the attack fails", images(n)),
        };
        let finding = Finding::new(Verdict::against(left, of.images()), (left, of.right.len()), says);
        Ok(finding.left(of.accuracy(&found)))
    }
}
