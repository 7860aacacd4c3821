//! Outcomes to numbers. An estimate reads transcripts and never runs a model.

mod image_quality;
pub mod independence;
mod marginal;
pub mod n_model;
pub mod protocol;
pub mod replications;
pub mod risk;
pub mod tolerance;
pub mod verdict;
pub mod worst_case;

pub use image_quality::{frechet_distance, inception_score};
pub use marginal::marginal;
