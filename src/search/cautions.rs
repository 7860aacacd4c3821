//! Why the outcomes of an examination may not mean what they seem to, as far as the examination itself can tell.

use super::{Examination, Row};
use crate::core::Cautions;

/// What is noticed of the model, the data, and how both agree.
pub(super) fn cautions(plan: &Examination, rows: &[Row]) -> Cautions {
    let mut cautions = plan.model.cautions();
    if let Some(caution) = agreement(plan, rows) {
        cautions.add(caution);
    }
    cautions
}

/// Whether model and data seem to number their classes differently.
fn agreement(plan: &Examination, rows: &[Row]) -> Option<String> {
    let mut standing: Vec<(u32, bool)> = rows.iter().map(|row| (row.id, row.wrong_before())).collect();
    standing.sort_unstable();
    standing.dedup_by_key(|(id, _)| *id);
    let wrong = standing.iter().filter(|(_, wrong)| *wrong).count();
    plan.model.doubted_numbers(plan.data, wrong, standing.len())
}
