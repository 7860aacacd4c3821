//! Whether images were prepared otherwise than the model wants them.

use super::{Examination, Transcript};
use crate::core::{Cx, Division, Result};

impl Transcript {
    /// Of an examination of images of which few are right as they stand: says where the model reads them far better in another preparation.
    pub(super) fn told_of_preparation(self, cx: &Cx, plan: &Examination) -> Result<Self> {
        if !plan.objective.failure.of_classes() || matches!(cx.division(), Division::Shard(_)) {
            return Ok(self);
        }
        let first = self.first_of_images();
        let read: Vec<(i64, i64)> =
            first.iter().map(|row| (i64::from(self.rows[*row].label), i64::from(self.rows[*row].before))).collect();
        Ok(match plan.model.reads_better_otherwise(cx, plan.data, &read)? {
            Some(caution) => self.with_word(cx, caution),
            None => self,
        })
    }
}
