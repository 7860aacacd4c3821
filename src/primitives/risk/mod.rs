//! `risk::`: estimates of the error, and the tests that tell whether a model has seen its test set.

pub mod bernstein;
pub mod betting_test;
pub mod calibrate;
pub mod curve;
pub mod estimate;
pub mod fisher_test;
pub mod holm;
pub mod interval_test;
pub mod n_model_test;
pub mod pairwise_test;
pub mod plan;
pub mod register;
pub mod report;
pub mod share;
mod ways;

use std::rc::Rc;

use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::estimate::backing::Backing;
use crate::estimate::protocol::{Protocol, Which};
use crate::estimate::registration::Fixed;
use crate::maths::betting::Sides;
use crate::primitives::{Args, Fallback, Kind, Param, Words};

pub(super) const DELTA: Param =
    Param::new("delta", Kind::Float, "the level: the largest probability of rejecting an independent model")
        .range(1e-12, 1.0)
        .or(Fallback::Float(0.05));

pub(super) const SIDES: Param = Param::new(
    "sides",
    Kind::Int,
    "of the betting test: 2 for any other mean of the T_i than 0; 1 only for a larger one, which is what overfitting leads to, \
     and must be declared before looking",
)
.range(1.0, 2.0)
.or(Fallback::Int(2));

pub(super) fn sides(args: &Args) -> Sides {
    if args.int("sides") == 1 { Sides::One } else { Sides::Two }
}

pub(super) static TESTS: Words<Which, 3> = {
    let [betting, pairwise, interval] = Which::ALL;
    Words::new([(betting.word(), betting), (pairwise.word(), pairwise), (interval.word(), interval)])
};

pub(super) const TEST: Param = Param::new(
    "test",
    TESTS.kind(),
    "the test that counts, to be fixed before looking: its p, rejection and verdict are the report's, the others stand beside it",
)
.or(Fallback::Str("betting"));

/// What the options fix beforehand.
pub(super) fn protocol(args: &Args) -> Protocol {
    Protocol { test: TESTS.of(args, "test"), delta: args.float("delta"), sides: sides(args) }
}

pub(super) const REGISTERED: Param = Param::new(
    "registered",
    Kind::Path,
    "a file of risk::register: the test is refused unless it is the registered one, and the report quotes the file",
)
.observing()
.or(Fallback::Absent("the report says nothing of a registration"));

pub(super) const CALIBRATED: Param = Param::new(
    "calibrated",
    Kind::Object("RiskCalibration"),
    "what risk::calibrate found of the same search over the same space: the report quotes the bias of T",
)
.observing()
.or(Fallback::Absent("the report takes for granted that the changes keep label and density"));

/// What both options say of a test, which is refused where they are of another one.
pub(super) fn backing(cx: &Cx, args: &Args, fixed: &Fixed) -> Result<Backing> {
    Backing::check(cx, args.optional_str("registered"), args.optional_object("calibrated"), fixed)
}

/// Numbers of one sample, or a tensor whose rows are many.
pub(super) const SAMPLES: Kind = Kind::Either(&[Kind::Tensor, Kind::Array]);

pub(super) enum RiskSamples {
    One(Vec<f64>),
    Rows(Rc<Tensor>),
}

impl RiskSamples {
    pub(super) fn of(args: &Args, name: &str) -> Result<Self> {
        match args.value(name) {
            Value::Tensor(tensor) if tensor.dim() != 1 => Ok(Self::Rows(tensor.clone())),
            value => match Kind::Numbers.accept(value) {
                Some(Value::Array(values)) => {
                    Ok(Self::One(values.iter().map(|v| if let Value::Float(x) = v { *x } else { f64::NAN }).collect()))
                }
                _ => Err(Error::argument(format!("`{name}` must hold numbers, got {}", value.summary()))
                    .hint("many samples at once are the rows of a tensor, such as tensor::from(arrays)")),
            },
        }
    }
}
