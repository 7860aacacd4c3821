//! Every combination of choices, one after the other: exhaustive search where each factor has finitely many values.

use super::proposals::Proposals;
use crate::core::{Error, ErrorKind, Result};
use crate::space::{Domain, Factor, Setting, When, factor};

/// More combinations per image than this are refused.
const MOST: usize = 1_000_000;
const MANY: &str = "search::random draws from any factors";

/// Goes through the combinations in the order of the lists; the last factor changes fastest.
pub struct Combinations {
    /// The numbers that each factor takes.
    choices: Vec<Vec<f64>>,
    next: usize,
    total: usize,
    conditions: Vec<Vec<When>>,
}

impl Combinations {
    /// `search` is the name that an error speaks of. Of a range, as many evenly spaced values are taken as `grid` says, one
    /// number for all factors or one for each.
    pub fn of(factors: &[Factor], grid: &[usize], search: &str) -> Result<Self> {
        let refused = |what: String, hint: &str| {
            Err(Error::new(ErrorKind::Pairing, format!("{search} goes through all combinations of choices, {what}"))
                .hint(hint.to_string()))
        };
        if grid.len() > 1 && grid.len() != factors.len() {
            let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
            return Err(Error::argument(format!("`grid` has {} numbers for {} factors", grid.len(), factors.len()))
                .hint(format!("one for all, or one each for {}", names.join(", "))));
        }
        let mut choices: Vec<Vec<f64>> = Vec::new();
        for (i, factor) in factors.iter().enumerate() {
            let points = grid.get(i).or(grid.first()).copied();
            choices.push(match (&factor.domain, points) {
                (Domain::Choices(choices), _) => (0..choices.len()).map(|choice| choice as f64).collect(),
                (Domain::Whole { min, max }, _) if i64::from(*max) - i64::from(*min) < MOST as i64 => {
                    (*min..=*max).map(f64::from).collect()
                }
                (Domain::Whole { .. }, _) => {
                    return refused(format!("and these are more than {MOST} per image"), MANY);
                }
                (Domain::Range { min, max }, Some(n)) => spaced(*min, *max, n),
                (Domain::Log { .. }, Some(n)) => {
                    spaced(0.0, 1.0, n).into_iter().map(|share| factor.axis().at_share(share)).collect()
                }
                (Domain::Range { .. } | Domain::Log { .. }, None) => {
                    return refused(
                        format!("but factor {:?} has a range", factor.name),
                        "`grid: 5` takes 5 values of every range; search::random draws from any factors",
                    );
                }
                (Domain::Chance, _) => {
                    return refused(
                        format!("but factor {:?} is chance", factor.name),
                        "search::random and search::sweep draw from any factors",
                    );
                }
            });
        }
        // What has values of its own is not thinned out. A smaller level leaves fewer.
        for ((factor, own), asked) in factors.iter().zip(&choices).zip(grid).filter(|_| grid.len() > 1) {
            let ranges = matches!(factor.domain, Domain::Range { .. } | Domain::Log { .. });
            if !ranges && own.len() > *asked {
                let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
                return Err(Error::argument(format!(
                    "`grid` asks for {asked} values of factor {:?}, which has {} of its own",
                    factor.name,
                    own.len()
                ))
                .hint(format!(
                    "all of its values are tried, for which {} stands; the numbers are for {}, in this order",
                    own.len(),
                    names.join(", ")
                )));
            }
        }
        let total = choices.iter().try_fold(1usize, |total, of| total.checked_mul(of.len()));
        match total.filter(|&total| total <= MOST) {
            Some(total) => Ok(Self { choices, next: 0, total, conditions: factor::conditions(factors) }),
            None => refused(format!("and these are more than {MOST} per image"), MANY),
        }
    }
}

/// `n` numbers from `min` to `max`, both included; the middle if it is one.
fn spaced(min: f64, max: f64, n: usize) -> Vec<f64> {
    match n {
        0 | 1 => vec![(min + max) / 2.0],
        _ if min == max => vec![min],
        n => (0..n).map(|i| min + (max - min) * i as f64 / (n - 1) as f64).collect(),
    }
}

/// Combinations held at a time.
const TOGETHER: usize = 64;

impl Combinations {
    /// The combination of a number; none where it differs from an earlier one only in what does not count there.
    fn setting(&self, mut number: usize) -> Option<Setting> {
        let mut setting: Setting = vec![0.0; self.choices.len()];
        let mut first = vec![false; self.choices.len()];
        for (place, choices) in self.choices.iter().enumerate().rev() {
            let choice = number % choices.len();
            number /= choices.len();
            (setting[place], first[place]) = (choices[choice], choice == 0);
        }
        factor::leave_out(&self.conditions, &mut setting);
        setting.iter().zip(first).all(|(x, first)| first || !x.is_nan()).then_some(setting)
    }
}

impl Proposals for Combinations {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        let mut settings = vec![];
        while settings.is_empty() && self.next < self.total {
            let from = self.next;
            self.next = (from + TOGETHER).min(self.total);
            settings.extend((from..self.next).filter_map(|number| self.setting(number)));
        }
        Ok(settings)
    }
}
