//! `space::`: what may change in an input.

pub mod translate;
