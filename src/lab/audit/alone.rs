//! Each image in a batch of its own.

use super::Check;
use super::attack::Attacked;
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};
use crate::model::Inputs;

pub struct Alone;

/// Images that are asked about one by one, at most.
const MOST: usize = 32;

/// The classes that the model answers to these rows, all of them asked together.
pub(super) fn answers(cx: &Cx, of: &Attacked, rows: &[usize]) -> Result<Vec<i64>> {
    of.attack.model.predictions(cx, &Inputs::Data(&of.attack.data.select(rows)?))
}

impl Check for Alone {
    fn name(&self) -> &'static str {
        "each in a batch of its own"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let rows: Vec<usize> = (0..of.images().min(MOST)).collect();
        if rows.len() < 2 {
            return Ok(Finding::not_asked("there is one image alone"));
        }
        let together = answers(cx, of, &rows)?;
        let mut alone = vec![];
        for row in &rows {
            alone.extend(answers(cx, of, &[*row])?);
        }
        let others = together.iter().zip(&alone).filter(|(a, b)| a != b).count();
        let verdict = if others == 0 { Verdict::Holds } else { Verdict::Fails };
        let says = match others {
            0 => "every answer is the same".into(),
            n => {
                let again = answers(cx, of, &rows)?;
                let why = match again != together || of.attack.model.draws() {
                    true => {
                        "the model answers otherwise when it is asked the same again, so that this says nothing of batches"
                    }
                    false => "what an image is answered depends on the others in its batch, or on how many there are",
                };
                format!("{} answered otherwise: {why}", images(n))
            }
        };
        Ok(Finding::new(verdict, (others, rows.len()), says))
    }
}
