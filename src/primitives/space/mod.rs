//! `space::`: what may change in an input.

pub mod factors;
pub mod flip;
pub mod polarity;
pub mod translate;
pub mod turn;
