//! The power of tests of independence against the number of images, as a plan simulated it.

use super::figure::{Axis, Figure, Layer, Panel, ReferenceLine, Series};
use crate::core::{Error, Result};
use crate::estimate::plan::RiskPlan;
use crate::estimate::verdict::percent;
use crate::maths::simulated_power::Rate;

/// A line per test with 95% intervals of its rates, and dashed lines at the powers that were asked for.
pub fn power(plan: &RiskPlan) -> Result<Figure> {
    let mut layers = vec![];
    for (test, rates) in plan.rates().filter(|(_, rates)| !rates.is_empty()) {
        let (x, y): (Vec<f64>, Vec<f64>) = rates.iter().map(|rate| (rate.at, rate.share())).unzip();
        let (lo, hi): (Vec<f64>, Vec<f64>) = rates.iter().map(Rate::interval).unzip();
        layers.push(Layer::Series(Series::line(test.to_string(), x, y).within(lo, hi)));
    }
    if layers.is_empty() {
        return Err(Error::data("nothing of this plan was simulated, so there is no power to draw")
            .hint("samples would have been too large; the plan's `table` has a normal approximation"));
    }
    for &power in plan.powers() {
        let label = percent(power);
        layers.push(Layer::Rule(ReferenceLine { label, horizontal: true, at: power }));
    }
    let panel = Panel {
        x: Axis { label: format!("number of {}", plan.unit()), log: true, ..Axis::default() },
        y: Axis { label: "power".into(), min: Some(-0.03), max: Some(1.03), ..Axis::default() },
        layers,
        ..Panel::default()
    };
    Ok(Figure::new(panel)?.cautioned(plan.cautions()))
}
