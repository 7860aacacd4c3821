//! Outcomes to numbers. An estimate reads transcripts and never runs a model.

pub mod independence;
pub mod n_model;
pub mod replications;
pub mod risk;
pub mod tolerance;
