//! Why the outcomes of an examination may not mean what they seem to, as far as the examination itself can tell.

use std::collections::BTreeMap;

use super::{Examination, Row};
use crate::core::{Cautions, number};

/// What is noticed of the model, the data, and how both agree.
pub(super) fn cautions(plan: &Examination, rows: &[Row]) -> Cautions {
    let mut cautions = plan.model.cautions();
    agreement(plan, rows).into_iter().chain(stuck(plan, rows)).for_each(|caution| cautions.add(caution));
    cautions
}

/// Whether images are as they are because the search could not move them: of each aim and level the last step counts.
pub(super) fn stuck(plan: &Examination, rows: &[Row]) -> Option<String> {
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
    // Of scores that are far apart, a softmax is 0 or 1 in float32, and so is flat.
    let flat = plan.search.by_gradient().is_some() && plan.space.deform().is_none();
    let hint = if flat { "; search::adam follows the scores themselves, not their softmax" } else { "" };
    Some(format!(
        "the gradient of {stuck} of {} {of} vanished: {} could not move them on, which says nothing of what {} bears{hint}",
        last.len(),
        if plan.search.descent().is_some() { "search::adam" } else { "the search" },
        plan.model.name
    ))
}

/// On fewer images an error tells nothing of that kind.
const FEWEST: usize = 10;

/// Whether model and data seem to number their classes differently: the error is no better than that of guessing, or the numbers of
/// classes differ.
fn agreement(plan: &Examination, rows: &[Row]) -> Option<String> {
    let (answers, known) = (plan.model.classes()?, plan.data.classes().len() as i64);
    let mut standing: Vec<(u32, bool)> = rows.iter().map(|row| (row.id, row.wrong_before())).collect();
    standing.sort_unstable();
    standing.dedup_by_key(|(id, _)| *id);
    let error = standing.iter().filter(|(_, wrong)| *wrong).count() as f64 / standing.len() as f64;
    let guessing = 1.0 - 1.0 / known.min(answers).max(1) as f64;
    let (name, data) = (&plan.model.name, &plan.data.name);
    if standing.len() >= FEWEST && error >= guessing {
        return Some(format!(
            "the error of {name} on {data} is {}, no better than guessing: their classes may be numbered differently",
            number(error)
        ));
    }
    (answers != known).then(|| format!("{name} answers {answers} classes, {data} has {known}"))
}
