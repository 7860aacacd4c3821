//! What was found of models that answer otherwise when they are asked the same again.

use super::parts::Outcomes;
use super::{Row, Transcript};
use crate::core::{Cx, Division, Result};
use crate::model::Model;

/// Rows that are asked about again, at most.
const MOST: usize = 256;

/// Rows that are asked about together.
const TOGETHER: usize = 32;

impl Transcript {
    /// Says that outcomes are the worst of so many askings, and what the model answers once more to what failed, where images are kept or drawn by
    /// settings: a search that goes its way again would find something else.
    pub(super) fn asked_again(mut self, cx: &Cx, model: &Model) -> Result<Self> {
        let Some(asked) = self.rows.iter().map(|row| row.queries).max().filter(|asked| *asked > 1) else {
            return Ok(self);
        };
        if self.of.steps_in_common {
            // Each row is what one step came to.
            return Ok(self);
        }
        let is_kept = |row: &Row| row.fooled() && !self.goes_again(row);
        let failing: Vec<usize> = (0..self.rows.len()).filter(|row| is_kept(&self.rows[*row])).take(MOST).collect();
        // A shard's models may not be here.
        let again = match cx.division() == Division::Whole && !failing.is_empty() {
            true => Some(self.right_again(cx, model, &failing)?),
            false => None,
        };
        let measured = again.map_or(String::new(), |right| {
            format!(": of {} that failed, {right} are right when they are asked about once more", failing.len())
        });
        let caution = format!(
            "{} draws, and outcomes are chosen among up to {asked} askings of an image, so that some fail by chance alone and accuracies bound nothing{measured}; \
             f.averaged(#{{ draws: 32 }}) goes by the mean of draws",
            model.name
        );
        if let Some(of) = std::rc::Rc::get_mut(&mut self.of) {
            of.cautions.add(caution);
        }
        Ok(self)
    }

    fn right_again(&self, cx: &Cx, model: &Model, failing: &[usize]) -> Result<usize> {
        let mut right = 0;
        for some in failing.chunks(TOGETHER) {
            cx.check()?;
            let some = self.select(some);
            let labels = some.rows.iter().map(|row: &Row| row.label);
            let answers = model.answers(&some.images(cx, true)?)?;
            right += labels.zip(answers).filter(|(label, answer)| i64::from(*label) == *answer).count();
        }
        Ok(right)
    }
}
