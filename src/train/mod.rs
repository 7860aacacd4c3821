//! How models learn.

mod classifier;
mod optimiser;

pub use classifier::{Settings, train};
pub use optimiser::{Optimiser, Rule};
