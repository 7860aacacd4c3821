//! By how much one tolerance curve lies above another.

use super::figure::{Axis, Figure, Layer, Panel, ReferenceLine, Series};
use crate::core::Result;
use crate::estimate::tolerance::{Difference, Interval};

/// Differences of I(T; Y) and of the accuracy against the strength of the fault, one panel each, with the bands of their intervals, and
/// a line where there is none.
pub fn difference(of: &Difference) -> Result<Figure> {
    let [first, second] = of.names();
    let panel = |label: &str, intervals: &[Interval]| {
        let all = |end: fn(&Interval) -> f64| intervals.iter().map(end).collect::<Vec<f64>>();
        let line = Series::line(format!("{second} less {first}"), of.at.clone(), all(|i| i.value));
        Panel {
            x: Axis { label: of.unit.into(), ..Axis::default() },
            y: Axis { label: label.into(), ..Axis::default() },
            layers: vec![
                Layer::Series(line.within(all(|i| i.lo), all(|i| i.hi))),
                Layer::Rule(ReferenceLine { label: "no difference".into(), horizontal: true, at: 0.0 }),
            ],
            ..Panel::default()
        }
    };
    let panels =
        vec![panel("difference of I(T; Y) (bits)", &of.information), panel("difference of accuracy", &of.accuracy)];
    Figure::of(panels, 2).cautioned(&of.cautions).checked()
}
