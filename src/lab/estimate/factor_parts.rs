//! A factor cut into parts: its choices one by one, a range in parts as wide as each other.

use crate::core::{Error, Result};
use crate::search::AskedQuestions;
use crate::space::Axis;

/// Into how many parts a factor goes where a range is to be cut into `bins`; none of chance, which has no order to show.
pub fn parts(axis: Axis, bins: usize) -> Option<usize> {
    match axis {
        Axis::Chance => None,
        Axis::Choices(n) => Some(n),
        Axis::Whole { min, max } => Some(bins.min((i64::from(max) - i64::from(min) + 1) as usize)),
        Axis::Range { .. } | Axis::Log { .. } => Some(bins),
    }
}

/// Refuses a factor that does not count at every setting that was asked.
pub fn check_counts(
    asked: &[&AskedQuestions],
    (width, place): (usize, usize),
    name: &str,
    estimate: &str,
) -> Result<()> {
    let counts = |asked: &&AskedQuestions| asked.settings.chunks_exact(width).all(|setting| !setting[place].is_nan());
    match asked.iter().all(counts) {
        true => Ok(()),
        false => Err(Error::data(format!(
            "{estimate}: {name:?} counts only `when` others are so, and a map over it would say nothing of the settings where it does not"
        ))
        .hint("examine the settings where it counts as a space of their own; robustness::weaknesses and marginal take such factors")),
    }
}

/// The part that a number of a setting is in.
pub fn part_of(axis: Axis, parts: usize, x: f64) -> usize {
    let part = match axis {
        Axis::Choices(_) => x as usize,
        Axis::Whole { min, max } => {
            let numbers = f64::from(max) - f64::from(min) + 1.0;
            ((x - f64::from(min)) / numbers * parts as f64) as usize
        }
        _ => (axis.share(x) * parts as f64) as usize,
    };
    part.min(parts - 1)
}

/// Where a part of a range begins and ends (of logarithmic ones in the logarithm); of whole numbers the first and the last of them.
pub fn ends(axis: Axis, parts: usize, part: usize) -> [f64; 2] {
    match axis {
        Axis::Whole { min, max } => {
            let numbers = f64::from(max) - f64::from(min) + 1.0;
            let first = |part: usize| f64::from(min) + (part as f64 / parts as f64 * numbers).ceil();
            [first(part), first(part + 1) - 1.0]
        }
        _ => [part, part + 1].map(|k| axis.at_share(k as f64 / parts as f64)),
    }
}

/// The share of a part under uniform sampling.
pub fn uniform(axis: Axis, parts: usize, part: usize) -> f64 {
    match axis {
        Axis::Whole { min, max } => {
            let [first, last] = ends(axis, parts, part);
            (last - first + 1.0) / (f64::from(max) - f64::from(min) + 1.0)
        }
        _ => 1.0 / parts as f64,
    }
}
