//! Whether more items, or judgements, of one set than of another say something: the interval of the difference from those of both shares
//! (Zou and Donner 2008, Equation 2), and the level at which it would end at 0.

use std::collections::BTreeSet;

use super::shares::GroupShare;
use super::two_way::Bounded;
use super::{Judgements, Wanted};
use crate::core::{Cautions, Cx, Result};
use crate::estimate::tolerance::Resampling;

/// Smaller levels can't be told from 0.
const LEAST: f64 = 1e-12;

/// What two shares differ by, which other workers and other items judged.
#[derive(Debug, Clone)]
pub struct SharesApart {
    pub first: GroupShare,
    pub second: GroupShare,
    /// Of the first, less that of the second.
    pub difference: Bounded,
    /// The probability, if the first is not larger, of a difference as large, 1e-12 at the least; not a number where one worker or one item judged either.
    pub p: f64,
    pub cautions: Cautions,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Items of which more than half of the judgements say so.
    Items,
    Judgements,
}

impl SharesApart {
    /// Both sets as a whole. Who judged both is taken for two.
    pub fn new(
        cx: &Cx,
        [first, second]: [&Judgements; 2],
        wanted: &Wanted,
        counted: Counted,
        how: &Resampling,
    ) -> Result<Self> {
        let whole = |judgements: &Judgements| {
            let found = match counted {
                Counted::Items => judgements.majority(cx, wanted, &[], how),
                Counted::Judgements => judgements.shares(cx, wanted, &[], how),
            };
            found.map(|mut groups| groups.swap_remove(0))
        };
        let names: BTreeSet<&String> = first.workers.iter().collect();
        let both = second.workers.iter().filter(|name| names.contains(name)).count();
        let (first, second) = (whole(first)?, whole(second)?);
        let mut cautions = Cautions::of_each([("first", &first.cautions), ("second", &second.cautions)].into_iter());
        if both > 0 {
            cautions.add(format!(
                "{both} workers judged both sets and count as others in each: p and interval hold where they lean the same way in both, and not where who says \
                 one thing of the first says the other of the second"
            ));
        }
        let apart = first.share.value - second.share.value;
        let known = first.knows_others() && second.knows_others();
        let ends = |delta: f64| {
            let (a, b) = (first.at(delta), second.at(delta));
            let below = (a.value - a.lo).hypot(b.hi - b.value);
            (apart - below, apart + (a.hi - a.value).hypot(b.value - b.lo))
        };
        let (lo, hi) = if known { ends(how.delta) } else { (-1.0, 1.0) };
        // At the level at which the interval ends at 0, half of what it misses lies on either side.
        let tail = |misses: &dyn Fn(f64) -> bool| {
            let (mut holds, mut ends) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = (holds + ends) / 2.0;
                if misses(middle) { ends = middle } else { holds = middle }
            }
            ((holds + ends) / 4.0).max(LEAST)
        };
        let p = if !known || !apart.is_finite() {
            f64::NAN
        } else if apart > 0.0 {
            tail(&|delta| ends(delta).0 > 0.0)
        } else {
            1.0 - tail(&|delta| ends(delta).1 < 0.0)
        };
        Ok(Self { difference: Bounded { value: apart, lo, hi }, p, first, second, cautions })
    }
}
