//! `tolerance::`: how a model's predictions degrade as a fault of its input grows.

pub mod audit;
pub mod curve;
pub mod difference;
pub mod given_prediction;
pub mod measure;
pub mod smallest_change;
pub mod summary;

use std::rc::Rc;

use crate::core::{Error, Result, Value};
use crate::estimate::tolerance::{Curve, Settings};
use crate::primitives::info::estimator;
use crate::primitives::{Args, Fallback, Kind, Param, Words};

const REPLICATES: Param = Param::new(
    "replicates",
    Kind::Int,
    "samples of the bootstrap, and how often labels are shuffled; 0 for no intervals",
)
.range(0.0, 100_000.0)
.or(Fallback::Int(200));

const DELTA: Param =
    Param::new("delta", Kind::Float, "intervals are at the level 1 - delta").range(1e-6, 0.5).or(Fallback::Float(0.05));

fn settings(args: &Args) -> Settings {
    Settings {
        estimator: estimator(args),
        replicates: args.count("replicates"),
        delta: args.float("delta"),
        seed: args.seed(),
    }
}

/// A name, and the curves of models that were trained alike.
pub type NamedCurves = (String, Vec<Rc<Curve>>);

/// Named curves: a map, pairs, an array, or one curve alone. Several of one name, in an array, are of models that were trained alike.
pub fn named(value: &Value) -> Result<Vec<NamedCurves>> {
    let one = |value: &Value| -> Result<Rc<Curve>> {
        let found = value.downcast::<Curve>();
        found.ok_or_else(|| {
            Error::argument(format!("a curve must be a ToleranceCurve, got {}", value.kind()))
                .hint("tolerance::measure and tolerance::curve give them")
        })
    };
    let all: Vec<NamedCurves> = match (value.named(), value) {
        (Some(pairs), _) => {
            let several = |value: &Value| match value {
                Value::Array(values) if !values.is_empty() => values.iter().map(one).collect(),
                other => Ok(vec![one(other)?]),
            };
            pairs.into_iter().map(|(name, value)| Ok((name, several(value)?))).collect::<Result<_>>()?
        }
        (None, Value::Array(values)) => {
            values.iter().enumerate().map(|(i, value)| Ok((i.to_string(), vec![one(value)?]))).collect::<Result<_>>()?
        }
        (None, other) => vec![(String::new(), vec![one(other)?])],
    };
    if all.is_empty() {
        return Err(Error::argument("no curves").hint("#{ \"a name\": curve, .. }"));
    }
    Ok(all)
}

/// Whether the axis is in dB: as asked, or where all curves are of faults that are added to the image.
pub fn in_db<'a>(args: &Args, mut curves: impl Iterator<Item = &'a Curve>) -> bool {
    AXES.given(args, "axis").unwrap_or_else(|| curves.all(|curve| curve.additive))
}

/// Whether it is in dB.
static AXES: Words<bool, 2> = Words::new([("snr", true), ("level", false)]);

pub const AXIS: Param = Param::new("axis", AXES.kind(), "the signal-to-noise ratio in dB, or the levels or steps")
    .or(Fallback::Absent("snr where all faults are added to the image, else level"));

pub const CURVES: Param = Param::new(
    "curves",
    Kind::Any,
    "a ToleranceCurve, an array of them, or a map from a name to one, or to an array of those of models that were trained alike; pairs `[name, curve]` keep their order",
);
