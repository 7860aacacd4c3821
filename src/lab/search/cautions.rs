//! Why the outcomes of an examination may not mean what they seem to, as far as the examination itself can tell.

use std::collections::BTreeMap;

use super::{Examination, Row, gradient_search};
use crate::core::Cautions;

/// What is noticed of the model, the data, and how both agree.
pub(super) fn cautions(plan: &Examination, rows: &[Row]) -> Cautions {
    let mut cautions = plan.model.cautions();
    cautions.extend(&plan.space.cautions(!plan.levels.is_empty()));
    plan.data.incomplete().into_iter().for_each(|caution| cautions.add(caution));
    plan.search.caution().into_iter().for_each(|caution| cautions.add(caution));
    agreement(plan, rows).into_iter().chain(stuck(plan, rows)).for_each(|caution| cautions.add(caution));
    cautions
}

/// Whether images are as they are because the search could not move them: of each aim and level the last step counts.
pub(super) fn stuck<'a>(plan: &Examination, rows: impl IntoIterator<Item = &'a Row>) -> Option<String> {
    let mut last = BTreeMap::new();
    for row in rows {
        last.insert((row.id, row.target, row.level.map(f64::to_bits)), row.stuck());
    }
    let stuck = last.values().filter(|stuck| **stuck).count();
    if stuck == 0 {
        return None;
    }
    let mut images: Vec<u32> = last.keys().map(|(id, ..)| *id).collect();
    images.dedup();
    let of = if images.len() == last.len() { "images" } else { "cases" };
    let (search, hint) = gradient_search(&*plan.search)?.stuck();
    Some(format!(
        "the gradient of {stuck} of {} {of} vanished: {search} could not move them on, which says nothing of what {} bears{hint}",
        last.len(),
        plan.model.name
    ))
}

/// Whether model and data seem to number their classes differently.
fn agreement(plan: &Examination, rows: &[Row]) -> Option<String> {
    let mut standing: Vec<(u32, bool)> = rows.iter().map(|row| (row.id, row.wrong_before())).collect();
    standing.sort_unstable();
    standing.dedup_by_key(|(id, _)| *id);
    let wrong = standing.iter().filter(|(_, wrong)| *wrong).count();
    plan.model.doubted_numbers(plan.data, wrong, standing.len())
}
