//! Enough tensor arithmetic to write a model, an objective or a check as a closure.

pub mod choice;
pub mod choose;
pub mod create;
pub mod device;
pub mod elementwise;
pub mod mean_interval;
pub mod random;
pub mod reduce;
pub mod shape;

use crate::primitives::{Kind, Param};

/// The receiver of every tensor method.
const SELF: Param = Param::new("x", Kind::Tensor, "the tensor");
