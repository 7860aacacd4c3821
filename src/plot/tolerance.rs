//! The figures of Galloway, Golubeva and Taylor, "Adversarial Examples as an Input-Fault Tolerance Problem" (2018).

use super::figure::{Axis, Figure, Layer, Panel, Rule, Series};
use crate::core::{Cautions, Error, Result};
use crate::estimate::tolerance::{Curve, Interval, Point};

/// What a panel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Information,
    Accuracy,
    Margin,
}

impl Measure {
    fn label(self) -> &'static str {
        match self {
            Self::Information => "I(T; Y) (bits)",
            Self::Accuracy => "accuracy",
            Self::Margin => "mean softmax margin",
        }
    }

    fn of(self, point: &Point) -> Interval {
        match self {
            Self::Information => point.information,
            Self::Accuracy => point.accuracy,
            Self::Margin => point.margin,
        }
    }
}

/// Figures 1 and 3 to 5: measures against the strength of the fault, one panel each, with bootstrap bands. In dB the axis falls, so
/// that faults grow to the right everywhere. Where gradients vanished a line goes on dotted. A dashed line is H(Y), above which no curve can lie.
pub fn tolerance(curves: &[(String, &Curve)], measures: &[Measure], in_db: bool) -> Result<Figure> {
    let units: Vec<&str> = curves.iter().map(|(_, curve)| curve.unit).collect();
    if !in_db && units.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(Error::argument(format!("curves over different units: {}", units.join(", ")))
            .hint("x: \"snr\" compares faults that are added to the image"));
    }
    let x = match in_db {
        true => Axis { label: "signal-to-noise ratio (dB)".into(), reversed: true, ..Axis::default() },
        false => Axis { label: units.first().copied().unwrap_or_default().into(), ..Axis::default() },
    };
    let mut panels = vec![];
    for &measure in measures {
        let mut panel = Panel {
            x: x.clone(),
            y: Axis { label: measure.label().into(), min: Some(0.0), ..Axis::default() },
            ..Panel::default()
        };
        for (name, curve) in curves {
            let points: Vec<(f64, Interval)> =
                curve.places(in_db).into_iter().map(|(at, point)| (at, measure.of(point))).collect();
            let all = |of: fn(&Interval) -> f64| points.iter().map(|(_, interval)| of(interval)).collect::<Vec<f64>>();
            let line = Series::line(name.clone(), points.iter().map(|(at, _)| *at).collect(), all(|i| i.value));
            let from = curve.places(in_db).iter().position(|(_, point)| point.is_doubtful());
            let line = line.within(all(|i| i.lo), all(|i| i.hi)).doubtful_from(from, "gradients vanished");
            panel.layers.push(Layer::Series(line));
        }
        match measure {
            Measure::Information => {
                let bound = curves.iter().map(|(_, curve)| curve.bound).fold(0.0, f64::max);
                panel.layers.push(Layer::Rule(Rule { label: "H(Y)".into(), horizontal: true, at: bound }));
                panel.y.max = Some(bound * 1.04);
            }
            Measure::Accuracy | Measure::Margin => panel.y.max = Some(1.03),
        }
        panels.push(panel);
    }
    let columns = panels.len();
    let cautions: Cautions = curves.iter().flat_map(|(name, curve)| of_curve(name, curve)).collect();
    Figure::of(panels, columns).cautioned(&cautions).checked()
}

/// What must be said of a curve, with its name where there is one.
fn of_curve(name: &str, curve: &Curve) -> Vec<String> {
    let named = |caution: &str| if name.is_empty() { caution.to_string() } else { format!("{name}: {caution}") };
    curve.cautions.iter().map(named).collect()
}
