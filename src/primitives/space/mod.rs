//! `space::`: what may change in an input.

pub mod factors;
pub mod translate;
