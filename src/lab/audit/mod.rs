//! Whether what an attack leaves right is right because the model tolerates the change, or because the attack failed (Carlini et al., "On
//! Evaluating Adversarial Robustness", 2019, Section 5; Croce et al., "RobustBench", 2021; Athalye, Carlini and Wagner 2018, Section 3.1):
//! what the attack should have found if it were as strong as it can be, check by check.

mod alone;
mod attack;
mod audited;
mod farther;
mod finding;
mod least_change;
mod longer;
mod moved;
mod order;
mod restarts;
mod rounded;
mod scaled;
mod score_only;
mod unlimited;

pub use attack::Attack;
pub use audited::Audit;
pub use finding::{Finding, Verdict};

use crate::core::{Cx, Result};
use crate::search::in_whole;
use attack::Attacked;
use scaled::Scale;

/// A question to an attack, or to the model that it was made on.
trait Check: Sync {
    /// In a few words, as a table has it.
    fn name(&self) -> &'static str;

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding>;
}

/// In the order in which they are asked: those that cost little first.
static CHECKS: [&dyn Check; 13] = [
    &order::SameAgain,
    &alone::Alone,
    &moved::Moved,
    &rounded::Rounded,
    &score_only::ScoreOnly,
    &least_change::LeastChange,
    &longer::Longer,
    &restarts::Restarts,
    &farther::Farther,
    &unlimited::Unlimited,
    &scaled::Scaled { by: Scale::Number(300.0), name: "scores times 300" },
    &scaled::Scaled { by: Scale::Number(1.0 / 300.0), name: "scores divided by 300" },
    &scaled::Scaled { by: Scale::Lead(5.0), name: "scores that lead by 5" },
];

/// Attacks a model and then asks of it, check by check, whether the attack found what there was. It takes about ten times as long as the
/// attack. Refuses spaces that are no balls.
pub fn audit(cx: &Cx, attack: Attack) -> Result<Audit> {
    let _in_whole = in_whole(cx, "the audit of an attack");
    let mut of = Attacked::begin(cx, attack)?;
    let mut findings = vec![];
    for check in CHECKS {
        let mut finding = check.run(cx, &mut of)?.asked_of_any();
        finding.check = check.name();
        findings.push(finding);
    }
    Ok(Audit::new(of, findings))
}
