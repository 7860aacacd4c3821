//! `objective::`: what counts as failing.

pub mod misclassify;
