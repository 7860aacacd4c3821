//! The figures of Galloway, Golubeva and Taylor, "Adversarial Examples as an Input-Fault Tolerance Problem" (2018).

use std::collections::BTreeSet;

use super::figure::{Axis, Figure, Layer, Panel, ReferenceLine, Series};
use crate::core::{Cautions, Error, Result, significant};
use crate::estimate::tolerance::{Curve, CurvePoint, Interval, OF_MARGINS, populations};

/// What a panel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelMeasure {
    Information,
    Accuracy,
    Margin,
}

impl PanelMeasure {
    fn label(self) -> &'static str {
        match self {
            Self::Information => "I(T; Y) (bits)",
            Self::Accuracy => "accuracy",
            Self::Margin => "mean softmax margin",
        }
    }

    fn of(self, point: &CurvePoint) -> Interval {
        match self {
            Self::Information => point.information,
            Self::Accuracy => point.accuracy,
            Self::Margin => point.margin,
        }
    }
}

/// A curve and how it is drawn.
pub struct DrawnCurve<'a> {
    pub name: String,
    /// What it is called together with those of models that were trained alike.
    pub alike: String,
    pub curve: &'a Curve,
    /// Its entry in the legend; empty where another's stands for it.
    pub label: String,
    /// Curves with the same one look alike.
    pub look: usize,
}

/// Figures 1 and 3 to 5: measures against the strength of the fault, one panel each, with the bands of their intervals. In dB the axis
/// falls, so that faults grow to the right everywhere. Where gradients vanished a line goes on dotted. A dashed line is H(Y), one for all
/// curves of the same images.
pub fn tolerance(drawn: &[DrawnCurve], measures: &[PanelMeasure], in_db: bool) -> Result<Figure> {
    let curves: &[(String, &Curve)] = &drawn.iter().map(|one| (one.name.clone(), one.curve)).collect::<Vec<_>>();
    let units: Vec<&str> = curves.iter().map(|(_, curve)| curve.unit).collect();
    if !in_db && units.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(Error::argument(format!("curves over different units: {}", units.join(", ")))
            .hint("x: \"snr\" compares faults that are added to the image"));
    }
    let x = match in_db {
        true => Axis { label: "SNR, 20 log10(1 + |x|/|δ|) (dB)".into(), reversed: true, ..Axis::default() },
        false => Axis { label: units.first().copied().unwrap_or_default().into(), ..Axis::default() },
    };
    let bounds = bounds(curves);
    let images_of = |look: usize| -> BTreeSet<usize> {
        drawn.iter().filter(|one| one.look == look).map(|one| one.curve.images).collect()
    };
    let mut panels = vec![];
    for &measure in measures {
        let mut panel = Panel {
            x: x.clone(),
            y: Axis { label: measure.label().into(), min: Some(0.0), ..Axis::default() },
            ..Panel::default()
        };
        // What has no place on the axis is told below.
        let seen = |one: &&DrawnCurve| !one.curve.places(in_db).is_empty();
        let none = !drawn.iter().any(|one| seen(&one));
        for DrawnCurve { curve, label, look, .. } in drawn.iter().filter(|one| none || seen(one)) {
            let points: Vec<(f64, Interval)> =
                curve.places(in_db).into_iter().map(|(at, point)| (at, measure.of(point))).collect();
            let all = |of: fn(&Interval) -> f64| points.iter().map(|(_, interval)| of(interval)).collect::<Vec<f64>>();
            let mut line = Series::line(
                named(label, &images_of(*look), bounds.len() > 1),
                points.iter().map(|(at, _)| *at).collect(),
                all(|i| i.value),
            );
            line.look.place = Some(*look);
            let from = curve.places(in_db).iter().position(|(_, point)| point.is_doubtful());
            let line = line.within(all(|i| i.lo), all(|i| i.hi)).doubtful_from(from, curve.why_stuck());
            panel.layers.push(Layer::Series(line));
        }
        match measure {
            PanelMeasure::Information => {
                let rule = |(label, at): &(String, f64)| {
                    Layer::Rule(ReferenceLine { label: label.clone(), horizontal: true, at: *at })
                };
                panel.layers.extend(bounds.iter().map(rule));
                let ends = curves.iter().flat_map(|(_, curve)| curve.points.iter().map(|point| point.information.hi));
                panel.y.max = Some(bounds.iter().map(|(_, at)| *at).chain(ends).fold(0.0, f64::max) * 1.04);
            }
            PanelMeasure::Accuracy | PanelMeasure::Margin => panel.y.max = Some(1.03),
        }
        panels.push(panel);
    }
    if in_db && drawn.iter().all(|one| one.curve.never_changed(true)) {
        return Err(Error::data("no curve has a place in dB: the searches left every image as it stands")
            .hint("axis: \"level\" draws them over the levels"));
    }
    let columns = panels.len();
    let of_margins = measures.iter().any(|measure| matches!(measure, PanelMeasure::Margin));
    let alike: Vec<(String, &Curve)> = drawn.iter().map(|one| (one.alike.clone(), one.curve)).collect();
    let told = populations(&alike, None);
    let told: Cautions = told.iter().filter(|said| of_margins || !said.contains(OF_MARGINS)).collect();
    let figure = Figure::of(panels, columns).cautioned(&told);
    if in_db { figure.cautioned(&unchanged(curves)).checked() } else { figure.checked() }
}

/// Curves that stand in dB where few of their images do: a search for the least change leaves those as they are that it can't make fail.
fn unchanged(curves: &[(String, &Curve)]) -> Cautions {
    const TOLD: f64 = 0.05;
    let other_units = curves.windows(2).any(|pair| pair[0].1.unit != pair[1].1.unit);
    let advice = if other_units { "" } else { "; `axis: \"level\"` sets searches side by side" };
    let mut cautions = Cautions::default();
    for (name, curve) in curves {
        if curve.never_changed(true) {
            let name = if name.is_empty() { "this curve" } else { name };
            cautions.add(format!("{name} has no place in dB: the search left every image as it stands{advice}"));
        }
        let most = curve.places(true).iter().map(|(_, point)| point.unchanged).fold(0.0, f64::max);
        if most > TOLD {
            cautions.add(format!(
                "in dB a point stands where the images are that a search changed, and up to {1}% of those of {0} were not changed{advice}",
                if name.is_empty() { "this curve" } else { name },
                significant(100.0 * most, 2)
            ));
        }
    }
    cautions
}

/// A curve's name, and where not all are of the same images of how many it is, and those that look alike.
fn named(name: &str, images: &BTreeSet<usize>, apart: bool) -> String {
    match (images.first(), images.last()) {
        (Some(least), Some(most)) if apart && !name.is_empty() && least < most => {
            format!("{name} ({least} to {most} images)")
        }
        (Some(least), _) if apart && !name.is_empty() => format!("{name} ({least} images)"),
        _ => name.to_string(),
    }
}

/// H(Y) of every population, and whose it is where there are several.
fn bounds(curves: &[(String, &Curve)]) -> Vec<(String, f64)> {
    let mut known: Vec<(&Curve, Vec<&str>)> = vec![];
    for (name, curve) in curves {
        let same = |(first, _): &&mut (&Curve, Vec<&str>)| {
            first.population.same_labels(&curve.population) && first.settings.estimator == curve.settings.estimator
        };
        match known.iter_mut().find(same) {
            Some((_, names)) => names.push(name),
            None => known.push((curve, vec![name])),
        }
    }
    let several = known.len() > 1;
    let label = |names: &[&str], bound: f64| match several {
        true => format!("H(Y) of {}: {bound:.2}", names.join(", ")),
        false => "H(Y)".to_string(),
    };
    known.iter().map(|(curve, names)| (label(names, curve.bound), curve.bound)).collect()
}
