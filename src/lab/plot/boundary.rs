//! Where right and wrong part in two factors.

use super::figure::{Axis, Figure, Layer, Panel, Series, Shade};
use crate::core::{Result, significant};
use crate::estimate::boundary::{Boundary, BoundaryLine};

/// The line, the limits of where it is known, and the questions by how they were answered.
pub fn boundary(of: &Boundary) -> Result<Figure> {
    let axis = |k: usize| {
        let unit = if of.units[k].is_empty() { String::new() } else { format!(" ({})", of.units[k]) };
        let values = &of.values[k];
        let ends = [values[0], values[values.len() - 1]];
        let log = values.len() > 2 && (values[1] / values[0] - values[2] / values[1]).abs() < 1e-9 && values[0] > 0.0;
        Axis {
            label: format!("{}{unit}", of.factors[k]),
            log,
            min: Some(ends[0]),
            max: Some(ends[1]),
            ..Axis::default()
        }
    };
    let mut panel = Panel { x: axis(0), y: axis(1), ..Panel::default() };
    // A line that is nowhere keeps its place in the legend, so that colours mean the same in every figure.
    let joined = |label: String, lines: &[BoundaryLine]| {
        let label = if lines.is_empty() { format!("{label}: nowhere") } else { label };
        let gap = std::iter::once((f64::NAN, f64::NAN));
        let all: Vec<(f64, f64)> = lines.iter().flat_map(|line| line.iter().copied().chain(gap.clone())).collect();
        let (x, y) = if all.is_empty() { (vec![f64::NAN], vec![f64::NAN]) } else { all.into_iter().unzip() };
        Layer::Series(Series { markers: Some(false), ..Series::line(label, x, y) })
    };
    let percent = significant(100.0 * of.boundary, 2);
    let percent = percent.trim_end_matches(".0");
    panel.layers.push(joined(format!("{percent}% wrong, by the best guess"), &of.lines()));
    panel.layers.push(joined("limits of what is told (95%)".into(), &of.limits()));
    panel.layers.push(Layer::Shade(Shade {
        label: "wrong more often than that, by the best guess".into(),
        x: of.values[0].clone(),
        y: of.values[1].clone(),
        holds: of.above(),
    }));
    let asked = if of.chosen { " (some where the search chose to ask)" } else { "" };
    for (label, wrong) in [("answered rightly", false), ("answered wrongly", true)] {
        let (x, y): (Vec<f64>, Vec<f64>) =
            of.asked.iter().filter(|own| own.2 == wrong).map(|own| (own.0, own.1)).unzip();
        if !x.is_empty() {
            panel.layers.push(Layer::Series(Series::points(format!("{label}{asked}"), x, y)));
        }
    }
    Figure::of(vec![panel], 1).cautioned(&of.cautions).checked()
}
