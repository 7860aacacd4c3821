//! Images that the attack left right since there was no gradient to go along.

use super::Check;
use super::attack::Attacked;
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};
use crate::search::gradient_search;

pub struct Moved;

impl Check for Moved {
    fn name(&self) -> &'static str {
        "gradients that vanish"
    }

    fn run(&self, _cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        if gradient_search(&*of.attack.search).is_none() {
            return Ok(Finding::not_asked("the search follows no gradient"));
        }
        let rows = of.transcript.iter().flat_map(|transcript| &transcript.rows);
        let mut stuck: Vec<u32> = rows.filter(|row| row.stuck()).map(|row| row.id).collect();
        stuck.dedup();
        let stuck = stuck.iter().filter(|id| !of.fooled.contains(&of.right[**id as usize])).count();
        let says = match stuck {
            0 => "each image that is left right had a gradient to go along".into(),
            n => format!("{} left right where the gradient was 0: nothing was tried there", images(n)),
        };
        Ok(Finding::new(Verdict::against(stuck, of.images()), (stuck, of.left().len()), says))
    }
}
