//! Points whose images are right because the search could not move them.

use super::{Curve, CurveAxis, CurvePoint};
use crate::core::number;
use crate::search::{Row, why_stuck};

/// Beyond this share of stuck rows a point is taken for an upper bound.
pub const FEW: f64 = 0.05;

pub(super) fn share(rows: &[&Row]) -> f64 {
    rows.iter().filter(|row| row.stuck()).count() as f64 / rows.len() as f64
}

pub(super) fn caution(points: &[CurvePoint], axis: CurveAxis, search: &str) -> Option<String> {
    let first = points.iter().find(|point| point.stuck > FEW)?;
    let most = points.iter().map(|point| point.stuck).fold(0.0, f64::max);
    let at = if axis == CurveAxis::Step { format!("{}", first.at) } else { number(first.at) };
    Some(format!(
        "from {} {at} on {} for more than {} of the rows, for up to {}: the accuracy is an upper bound there",
        axis.name(),
        why_stuck(search),
        percent(FEW),
        percent(most)
    ))
}

/// A share as people read it.
pub fn percent(share: f64) -> String {
    format!("{}%", (share * 1000.0).round() / 10.0)
}

impl CurvePoint {
    /// Whether too many of its rows are as they are because the search could not move them.
    pub fn is_doubtful(&self) -> bool {
        self.stuck > FEW
    }
}

impl Curve {
    /// Why the search could not move rows on, where that is so.
    pub fn why_stuck(&self) -> &'static str {
        why_stuck(&self.of[3])
    }

    /// The largest share of rows that the search could not move on, of all points.
    pub fn most_stuck(&self) -> f64 {
        self.points.iter().map(|point| point.stuck).fold(0.0, f64::max)
    }
}
