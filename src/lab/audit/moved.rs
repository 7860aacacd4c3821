//! Images that the attack left right since there was no gradient to go along.

use super::Check;
use super::attack::Attacked;
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};
use crate::search::{Row, gradient_search};

pub struct Moved;

impl Check for Moved {
    fn name(&self) -> &'static str {
        "gradients that vanish"
    }

    fn run(&self, _cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        if gradient_search(&*of.attack.search).is_none() {
            return Ok(Finding::not_asked("the search follows no gradient"));
        }
        let still = |row: &&Row| row.stuck() && !row.wrong_before() && !of.fooled.contains(&(row.id as usize));
        let mut stuck: Vec<u32> = of.transcript.rows.iter().filter(still).map(|row| row.id).collect();
        stuck.dedup();
        let stuck = stuck.len();
        let says = match stuck {
            0 => "each image that is left right had a gradient to go along".into(),
            n => format!("{} left right where the gradient was 0: nothing was tried there", images(n)),
        };
        Ok(Finding::new(Verdict::against(stuck, of.images()), (stuck, of.left().len()), says))
    }
}
