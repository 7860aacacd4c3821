//! A tolerance curve in a few numbers.

use super::{Curve, CurvePoint};
use crate::core::{Error, Result};

/// Numbers that stand for a whole curve.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    /// I(T; Y) and accuracy at the weakest fault.
    pub information: f64,
    pub accuracy: f64,
    /// The mean of I(T; Y) over the axis from `from` to `to`: the area below the curve by its width, in bits.
    pub area: f64,
    pub from: f64,
    pub to: f64,
    /// I(T; Y) at the weakest fault minus its least value.
    pub gap: f64,
    /// Where the accuracy falls to half of what it is at the weakest fault; NaN if it does not, or has before the first place.
    pub half: f64,
    /// The largest share of rows at a point that the search could not move on.
    pub stuck: f64,
    pub why_stuck: &'static str,
}

impl Summary {
    /// Whether the curve shows what the search could not do, not what the model bears.
    pub fn is_doubtful(&self) -> bool {
        self.stuck > super::stuck::FEW
    }
}

impl Curve {
    /// Whether it has no place in dB because every image was left as it stands.
    pub fn never_changed(&self, in_db: bool) -> bool {
        in_db && self.places(true).is_empty() && self.points.iter().any(|point| point.snr.is_infinite())
    }

    /// The curve in a few numbers, its area between `from` and `to` (by default all of it), beyond which it goes on level.
    pub fn summed_up(&self, in_db: bool, ends: Option<(f64, f64)>) -> Result<Summary> {
        let places = self.places(in_db);
        let own = match self.ends(in_db) {
            Some(ends) => ends,
            // In dB what never moved has no place, which is told by the share that was stuck.
            None if self.most_stuck() > super::stuck::FEW || self.never_changed(in_db) => (f64::NAN, f64::NAN),
            None => {
                return Err(Error::data("tolerance: no point of this curve has a place on the axis").hint(
                    match in_db {
                        true => "the signal-to-noise ratio was not measured here: use axis: \"level\"",
                        false => "use axis: \"snr\"",
                    },
                ));
            }
        };
        let (from, to) = ends.unwrap_or(own);
        let first = &self.points[0];
        let least = self.points.iter().map(|point| point.information.value).fold(f64::INFINITY, f64::min);
        Ok(Summary {
            information: first.information.value,
            accuracy: first.accuracy.value,
            area: mean_between(&places, from, to),
            from,
            to,
            gap: first.information.value - least,
            half: half(&places, first.accuracy.value / 2.0),
            stuck: self.most_stuck(),
            why_stuck: self.why_stuck(),
        })
    }
}

/// The mean height between two places of a curve that is joined by straight lines and goes on level beyond its ends.
fn mean_between(places: &[(f64, &CurvePoint)], from: f64, to: f64) -> f64 {
    let (lo, hi) = (from.min(to), from.max(to));
    let mut corners: Vec<(f64, f64)> = places.iter().map(|(at, point)| (*at, point.information.value)).collect();
    corners.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(&first), Some(&last)) = (corners.first(), corners.last()) else { return f64::NAN };
    if lo == hi {
        return corners.iter().rev().find(|(at, _)| *at <= lo).unwrap_or(&first).1;
    }
    // Level as far as the interval reaches beyond the curve.
    corners.insert(0, (first.0.min(lo), first.1));
    corners.push((last.0.max(hi), last.1));
    let area = corners.windows(2).map(|pair| {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let (a, b) = (x0.max(lo), x1.min(hi));
        if a >= b {
            return 0.0;
        }
        let height = |x: f64| y0 + (y1 - y0) * (x - x0) / (x1 - x0);
        (b - a) * (height(a) + height(b)) / 2.0
    });
    area.sum::<f64>() / (hi - lo)
}

/// Where the accuracy first falls to this height.
fn half(places: &[(f64, &CurvePoint)], height: f64) -> f64 {
    let crossing = places.windows(2).find(|pair| {
        let [a, b] = [pair[0].1.accuracy.value, pair[1].1.accuracy.value];
        a > height && b <= height
    });
    match crossing {
        Some([(x, a), (y, b)]) => {
            let (a, b) = (a.accuracy.value, b.accuracy.value);
            x + (y - x) * (a - height) / (a - b)
        }
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CurveAxis, Interval, Population, Settings, Subject};
    use super::*;
    use crate::core::{Cautions, Digest};
    use crate::maths::information::Estimator;

    fn made(points: &[(f64, f64, f64)]) -> Curve {
        let certain = |value: f64| Interval { value, lo: value, hi: value };
        let point = |&(snr, information, accuracy): &(f64, f64, f64)| CurvePoint {
            at: 1.0 / snr,
            snr,
            unchanged: 0.0,
            magnitude: 0.0,
            information: certain(information),
            accuracy: certain(accuracy),
            margin: Interval::NOWHERE,
            entropy: 0.0,
            rows: 1,
            stuck: 0.0,
            counts: vec![],
        };
        Curve {
            labels: 2,
            points: points.iter().map(point).collect(),
            axis: CurveAxis::Step,
            unit: "",
            additive: true,
            bound: 3.0,
            images: 1,
            clusters: None,
            classes: vec![],
            settings: Settings { estimator: Estimator::Plugin, replicates: 0, delta: 0.05, seed: 0 },
            estimator: "plug-in",
            cautions: Cautions::default(),
            population: Population::none(),
            of: Subject::of_nothing(),
            closures: false,
            samples: vec![],
            digest: Digest::of(b""),
            made_by: Digest::of(b""),
        }
    }

    /// A curve of straight lines whose numbers can be read off: it stands at 3 bits down to 30 dB, falls to 1 at 20 dB and rises to 2
    /// at 10 dB; the accuracy falls from 0.9 at 30 dB to 0.3 at 20 dB.
    #[test]
    fn summaries_of_a_curve_made_by_hand() {
        let curve =
            made(&[(f64::INFINITY, 3.0, 0.9), (40.0, 3.0, 0.9), (30.0, 3.0, 0.9), (20.0, 1.0, 0.3), (10.0, 2.0, 0.0)]);
        let whole = curve.summed_up(true, None).expect("a summary");
        assert_eq!((whole.from, whole.to, whole.information, whole.accuracy), (40.0, 10.0, 3.0, 0.9));
        // (10 x 3 + 10 x 2 + 10 x 1.5) / 30.
        assert!((whole.area - 65.0 / 30.0).abs() < 1e-12, "{}", whole.area);
        assert_eq!(whole.gap, 2.0);
        // 0.45 lies three quarters of the way from 0.9 to 0.3.
        assert!((whole.half - 22.5).abs() < 1e-12, "{}", whole.half);
        // From 25 dB, at 2 bits, to 15 dB, at 1.5, by way of 1.
        let part = curve.summed_up(true, Some((25.0, 15.0))).expect("a summary");
        assert!((part.area - (5.0 * 1.5 + 5.0 * 1.25) / 10.0).abs() < 1e-12, "{}", part.area);
        // Beyond its ends it goes on level.
        let beyond = curve.summed_up(true, Some((60.0, 0.0))).expect("a summary");
        assert!((beyond.area - (20.0 * 3.0 + 65.0 + 10.0 * 2.0) / 60.0).abs() < 1e-12, "{}", beyond.area);
        let never = made(&[(40.0, 1.0, 0.9), (10.0, 1.0, 0.8)]).summed_up(true, None).expect("a summary");
        assert!(never.half.is_nan());
    }
}
