//! `objective::`: what counts as failing.

pub mod each_wrong;
pub mod least_likely;
pub mod misclassify;
pub mod shift;
pub mod target;
