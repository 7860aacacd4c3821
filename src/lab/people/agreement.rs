//! How far judges agree: Krippendorff's alpha for names ("Computing Krippendorff's alpha-reliability", 2011), the share of pairs of judgements
//! of one item that agree, and Gwet's AC1 (2008), which does not collapse where nearly all say one thing.

use super::Judgements;
use super::judgements::Part;
use super::two_way::{Bounded, two_way};
use crate::core::{Cautions, Cx, Result};
use crate::estimate::tolerance::Resampling;
use crate::maths::shares::few_groups;

/// How far judges agree, with intervals for other workers and other items.
#[derive(Debug, Clone)]
pub struct Agreement {
    /// Not known where all judgements are one answer: there is nothing to disagree on by chance.
    pub alpha: Option<Bounded>,
    pub percent: Bounded,
    pub ac1: Bounded,
    /// Items with two judgements or more: others say nothing here.
    pub pairable: usize,
    pub cautions: Cautions,
}

/// The three of judgements that count as often as their workers and items do. Nobody agrees with himself, however often he was drawn.
struct Measured {
    alpha: Option<f64>,
    percent: f64,
    ac1: Option<f64>,
}

fn measured(part: &Part, words: usize, w: &[f64], v: &[f64]) -> Option<Measured> {
    let (mut sums, mut squares) = (vec![0.0; words], vec![0.0; words]);
    // Of alpha: coincidences of an answer with any, and with itself. Of the others: shares of agreeing pairs, and of answers.
    let (mut with_any, mut with_itself) = (vec![0.0; words], 0.0);
    let (mut agreeing, mut paired, mut prevalence, mut answered) = (0.0, 0.0, vec![0.0; words], 0.0);
    for rows in part.by_item() {
        let times = v[rows[0][1] as usize];
        if times == 0.0 {
            continue;
        }
        sums.fill(0.0);
        squares.fill(0.0);
        for &[worker, _, answer] in rows {
            sums[answer as usize] += w[worker as usize];
            squares[answer as usize] += w[worker as usize].powi(2);
        }
        let (sum, square) = (sums.iter().sum::<f64>(), squares.iter().sum::<f64>());
        if sum > 0.0 {
            answered += times;
            prevalence.iter_mut().zip(&sums).for_each(|(all, own)| *all += times * own / sum);
        }
        let pairs = sum * sum - square;
        if pairs <= 0.0 {
            continue;
        }
        let alike: f64 = sums.iter().zip(&squares).map(|(sum, square)| sum * sum - square).sum();
        agreeing += times * alike / pairs;
        paired += times;
        with_itself += times * sum * alike / pairs;
        for ((all, own), square) in with_any.iter_mut().zip(&sums).zip(&squares) {
            *all += times * sum * (own * sum - square) / pairs;
        }
    }
    if paired == 0.0 {
        return None;
    }
    let n: f64 = with_any.iter().sum();
    let expected = n * n - with_any.iter().map(|x| x * x).sum::<f64>();
    let percent = agreeing / paired;
    let chance = prevalence.iter().map(|all| all / answered).map(|p| p * (1.0 - p)).sum::<f64>() / (words as f64 - 1.0);
    Some(Measured {
        alpha: (expected > 1e-9 * n * n).then(|| 1.0 - (n - 1.0) * (n - with_itself) / expected),
        percent,
        ac1: (words > 1).then(|| (percent - chance) / (1.0 - chance)),
    })
}

/// How many items have a judgement other than the one that is commonest among all, where they are fewer than ten: in simulations the intervals
/// of alpha then hold the truth in as few as 64% of samples, and those of AC1 in 90 to 100%.
fn few_differ(part: &Part, words: usize) -> Option<usize> {
    const FEW: usize = 10;
    let mut counts = vec![0usize; words];
    part.rows.iter().for_each(|&[_, _, answer]| counts[answer as usize] += 1);
    let commonest = (0..words).max_by_key(|&word| counts[word])? as u32;
    let other = |rows: &&[[u32; 3]]| rows.len() > 1 && rows.iter().any(|&[_, _, answer]| answer != commonest);
    // Of few items that is said already.
    let pairable = part.by_item().filter(|rows| rows.len() > 1).count();
    Some(part.by_item().filter(other).count()).filter(|few| *few < FEW && pairable >= FEW)
}

impl Judgements {
    /// How far they agree.
    pub fn agreement(&self, cx: &Cx, how: &Resampling) -> Result<Agreement> {
        let (part, words) = (self.whole(), self.words.len());
        let once = |n: usize| vec![1.0; n];
        let value = measured(&part, words, &once(part.workers), &once(part.items));
        let Some(Measured { alpha, percent, ac1 }) = value else {
            return Err(crate::core::Error::data("no item was judged by two workers: nobody can agree")
                .hint("agreement needs an overlap of two at least"));
        };
        let interval = |value: f64, which: fn(Measured) -> Option<f64>| -> Result<Bounded> {
            let statistic = |w: &[f64], v: &[f64]| measured(&part, words, w, v).and_then(which);
            let spread = two_way(cx, (part.workers, part.items), how, statistic)?;
            Ok(spread.agreement(value, how.delta))
        };
        let mut cautions = self.cautions.clone();
        let pairable = part.by_item().filter(|rows| rows.len() > 1).count();
        if alpha.is_none() {
            cautions.add("all judgements are one answer: alpha is not defined");
        }
        if percent == 1.0 {
            cautions.add("no two judgements of an item differ: how much those of others would is not known, and no interval says it");
        }
        if percent == 0.0 && pairable > 0 {
            cautions.add("no two judgements of an item agree: how much those of others would is not known, and no interval says it");
        }
        if pairable < part.items {
            let single = part.items - pairable;
            cautions.add(format!("{single} of {} items have one judgement, which agrees with none", part.items));
        }
        few_groups(part.workers, "workers").into_iter().for_each(|caution| cautions.add(caution));
        if let Some(few) = few_differ(&part, words).filter(|_| alpha.is_some()) {
            cautions.add(format!(
                "{few} of {pairable} items alone have a judgement that is not the commonest one: alpha hangs on these, and its interval holds less often than \
                 it says; ac1 does not"
            ));
        }
        Ok(Agreement {
            alpha: alpha.map(|alpha| interval(alpha, |found| found.alpha)).transpose()?,
            percent: {
                let found = interval(percent, |found| Some(found.percent))?;
                Bounded { lo: found.lo.clamp(0.0, 1.0), hi: found.hi.clamp(0.0, 1.0), ..found }
            },
            ac1: match ac1 {
                // Where nothing agrees it varies by how common the answers are alone.
                Some(ac1) if percent == 0.0 => Bounded { value: ac1, lo: f64::NAN, hi: f64::NAN },
                Some(ac1) => interval(ac1, |found| found.ac1)?,
                None => Bounded { value: f64::NAN, lo: f64::NAN, hi: f64::NAN },
            },
            pairable,
            cautions,
        })
    }
}
