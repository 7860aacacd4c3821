//! The same images in another order: an answer that changes is drawn, or depends on the others in its batch.

use super::attack::Attacked;
use super::finding::{Finding, Verdict, images};
use super::{Check, alone};
use crate::core::{Cx, Result};

pub struct SameAgain;

/// Images that are asked about again, at most.
const MOST: usize = 256;

impl Check for SameAgain {
    fn name(&self) -> &'static str {
        "asked again in another order"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let rows: Vec<usize> = (0..of.images().min(MOST)).collect();
        let backwards: Vec<usize> = rows.iter().rev().copied().collect();
        let first = alone::answers(cx, of, &rows)?;
        let mut second = alone::answers(cx, of, &backwards)?;
        second.reverse();
        let others = first.iter().zip(&second).filter(|(a, b)| a != b).count();
        let verdict = if others == 0 { Verdict::Holds } else { Verdict::Fails };
        let says = match others {
            0 => "every answer is the same".into(),
            n => format!(
                "{} answered otherwise: the model draws at random or mixes its batch, so its gradients are of one draw",
                images(n)
            ),
        };
        Ok(Finding::new(verdict, (others, rows.len()), says))
    }
}
