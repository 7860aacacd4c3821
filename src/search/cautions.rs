//! Why the outcomes of an examination may not mean what they seem to, as far as the examination itself can tell.

use super::{Examination, Row};
use crate::core::{Cautions, number};

/// What is noticed of the model, the data, and how both agree.
pub(super) fn cautions(plan: &Examination, rows: &[Row]) -> Cautions {
    let mut cautions = plan.model.cautions();
    if let Some(caution) = agreement(plan, rows) {
        cautions.add(caution);
    }
    cautions
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
