//! Outcomes to numbers. An estimate reads transcripts and never runs a model.

mod image_quality;
pub mod independence;
pub mod n_model;
pub mod replications;
pub mod risk;
pub mod tolerance;

pub use image_quality::{frechet_distance, inception_score};
