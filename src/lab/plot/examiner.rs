//! The figures of Shu, Liu, Qiu and Yuille, "Identifying Model Weakness with Adversarial Examiner" (AAAI 2020).

use super::figure::{Axis, Figure, Layer, Panel, Series};
use crate::core::Result;
use crate::estimate::worst_case::{CurveStep, MeanInterval, StepMeasure, WorstCaseCurve, beside};

/// What a panel shows by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Examined {
    Accuracy,
    Loss,
}

/// Curves by the number of questions, one panel per measure: of each what it is of, or what is asked for; intervals as bands.
pub fn examiner(
    curves: &[(String, &WorstCaseCurve)],
    panels: &[Examined],
    measure: Option<StepMeasure>,
    log: bool,
) -> Result<Figure> {
    let panel = |&what: &Examined| {
        let label = match what {
            Examined::Accuracy => "accuracy",
            Examined::Loss => curves.first().map_or("loss", |(_, curve)| curve.loss),
        };
        let bounded = what == Examined::Accuracy;
        let mut panel = Panel {
            x: Axis { label: "questions to each object".into(), log, ..Axis::default() },
            y: Axis {
                label: label.into(),
                min: bounded.then_some(0.0),
                max: bounded.then_some(1.03),
                ..Axis::default()
            },
            ..Panel::default()
        };
        for (name, curve) in curves {
            let measure = measure.unwrap_or(curve.measure);
            let of = |step: &CurveStep| match what {
                Examined::Accuracy => step.accuracy(measure),
                Examined::Loss => step.loss(measure),
            };
            let all = |end: fn(MeanInterval) -> f64| curve.steps.iter().map(|step| end(of(step))).collect::<Vec<f64>>();
            let at = curve.steps.iter().map(|step| step.step as f64).collect();
            let line = Series::line(name.clone(), at, all(|i| i.value));
            panel.layers.push(Layer::Series(line.within(all(|i| i.lo), all(|i| i.hi))));
        }
        panel
    };
    let panels: Vec<Panel> = panels.iter().map(panel).collect();
    let columns = panels.len();
    Figure::of(panels, columns).cautioned(&beside(curves)).checked()
}
