//! Outcomes to numbers. An estimate reads transcripts and never runs a model.

pub mod risk;
