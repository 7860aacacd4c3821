//! `objective::`: what counts as failing.

pub mod confident;
pub mod each_wrong;
pub mod labels;
pub mod least_likely;
pub mod loss;
pub mod misclassify;
pub mod shift;
pub mod target;
pub mod top;
