//! `risk::`: estimates of the error, and the tests that tell whether a model has seen its test set.

pub mod bernstein;
pub mod curve;
pub mod estimate;
pub mod pairwise_test;
pub mod report;

use crate::primitives::{Fallback, Kind, Param};

pub(super) const DELTA: Param =
    Param::new("delta", Kind::Float, "the level: the largest probability of rejecting an independent model")
        .range(1e-12, 1.0)
        .or(Fallback::Float(0.05));
