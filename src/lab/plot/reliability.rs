//! Reliability diagrams (DeGroot and Fienberg, "The comparison and evaluation of forecasters", The Statistician 32, 1983; Guo et al. 2017,
//! Figure 1): how often a model is right by how sure it is, above the number of answers in every bin.

use super::figure::{Axis, Bars, Figure, Layer, Panel, Series, SeriesLook};
use crate::core::{Result, number};
use crate::estimate::calibration::{Calibration, populations};
use crate::maths::calibration::{Answer, Bin, Binning, bins};
use crate::maths::shares::wilson;

/// Results over the same axes: points at the mean confidence of each bin with Wilson's intervals, and below them how many answers it has.
pub fn reliability(results: &[(String, &Calibration)], log: bool) -> Result<Figure> {
    let axis = |label: &str| Axis { label: label.into(), min: Some(0.0), max: Some(1.0), ..Axis::default() };
    let mut shares = Panel { x: axis("confidence"), y: axis("share of right answers"), ..Panel::default() };
    let mut counts = Panel {
        x: axis("confidence"),
        y: Axis { label: "answers".into(), log, ..Axis::default() },
        ..Panel::default()
    };
    for (name, result) in results {
        let filled: Vec<&Bin> = result.bins.iter().filter(|bin| bin.count() > 0).collect();
        let all = |of: &dyn Fn(&Bin) -> f64| filled.iter().map(|bin| of(bin)).collect::<Vec<f64>>();
        let ends = |which: fn((f64, f64)) -> f64| all(&|bin| which(wilson(bin.right, bin.count())));
        let mut points = Series::line(labelled(name, result), all(&Bin::confidence), all(&Bin::accuracy));
        points = points.within(ends(|ends| ends.0), ends(|ends| ends.1));
        points.spread = super::Spread::Bars;
        points.markers = Some(true);
        shares.layers.push(Layer::Series(points));
        counts.layers.push(Layer::Bars(bars(result)));
    }
    let calibrated = Series::line("right as often as said", vec![0.0, 1.0], vec![0.0, 1.0]);
    shares.layers.push(Layer::Series(Series { markers: Some(false), ..calibrated }));
    Figure::of(vec![shares, counts], 1).cautioned(&populations(results)).checked()
}

/// A name with its calibration error, and what of it is by chance.
fn labelled(name: &str, result: &Calibration) -> String {
    let found = |field: &str| result.number(field).map_or("unknown".into(), |x| number((x * 1000.0).round() / 1000.0));
    let error = format!("ECE {} (by chance {})", found("ece"), found("ece_by_chance"));
    if name.is_empty() { error } else { format!("{name}: {error}") }
}

/// Answers by confidence, in parts of equal width whatever the bins are.
fn bars(result: &Calibration) -> Bars {
    let confidences = result.bins.iter().flat_map(|bin| &bin.confidences);
    let answers: Vec<Answer> = confidences.map(|confidence| Answer { confidence: *confidence, right: true }).collect();
    let parts = bins(&answers, result.settings.bins, Binning::Width);
    let edges = std::iter::once(0.0).chain(parts.iter().map(|part| part.hi)).collect();
    Bars {
        label: String::new(),
        look: SeriesLook::default(),
        edges,
        heights: parts.iter().map(|part| part.count() as f64).collect(),
    }
}
