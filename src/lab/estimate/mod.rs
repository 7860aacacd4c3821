//! Outcomes to numbers. An estimate reads transcripts, or votes, and never runs a model.

pub mod backing;
pub mod bias;
pub mod boundary;
pub mod calibration;
pub mod certificate;
pub mod clusters;
pub mod counterfactual;
pub mod early;
mod factor_parts;
mod found;
mod frechet;
mod image_quality;
pub mod independence;
pub mod level_set;
mod marginal;
mod methods;
pub mod n_model;
mod one_each;
pub mod plan;
pub mod population;
pub mod protocol;
pub mod registration;
pub mod replications;
pub mod risk;
pub mod sensitivity;
mod smallest_change;
pub mod subject;
pub mod tolerance;
pub mod verdict;
pub mod weaknesses;
pub mod worst_case;

pub use frechet::FrechetDistance;
pub use image_quality::inception_score;
pub use marginal::marginal;
pub use smallest_change::{Compared, SmallestChange, compare, smallest_change};
