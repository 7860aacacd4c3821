//! Every combination of choices, one after the other: exhaustive search where each factor has finitely many values.

use super::propose::Proposals;
use crate::core::{Error, ErrorKind, Result};
use crate::space::{Domain, Factor, Setting};

/// More combinations per image than this are refused.
const MOST: usize = 1_000_000;

/// Goes through the combinations in the order of the lists; the last factor changes fastest.
pub struct Combinations {
    counts: Vec<usize>,
    next: usize,
    total: usize,
}

impl Combinations {
    /// `search` is the name that an error speaks of.
    pub fn of(factors: &[Factor], search: &str) -> Result<Self> {
        let refused = |what: String| {
            let hint = "search::sample draws from any factors";
            Err(Error::new(ErrorKind::Pairing, format!("{search} goes through all combinations of choices, {what}"))
                .hint(hint))
        };
        let mut counts = Vec::new();
        for factor in factors {
            match &factor.domain {
                Domain::Choices(choices) => counts.push(choices.len()),
                Domain::Range { .. } => return refused(format!("but factor {:?} has a range", factor.name)),
            }
        }
        let total = counts.iter().try_fold(1usize, |total, &n| total.checked_mul(n)).filter(|&total| total <= MOST);
        match total {
            Some(total) => Ok(Self { counts, next: 0, total }),
            None => refused(format!("and these are more than {MOST} per image")),
        }
    }
}

/// Combinations held at a time.
const TOGETHER: usize = 64;

impl Proposals for Combinations {
    fn propose(&mut self) -> Vec<Setting> {
        let from = self.next;
        self.next = (from + TOGETHER).min(self.total);
        (from..self.next)
            .map(|mut number| {
                let mut setting: Setting = self
                    .counts
                    .iter()
                    .rev()
                    .map(|&n| {
                        let choice = number % n;
                        number /= n;
                        choice as f64
                    })
                    .collect();
                setting.reverse();
                setting
            })
            .collect()
    }
}
