//! How models learn.

mod classifier;
mod linear;
mod optimiser;

pub use classifier::{Settings, train};
pub use linear::{Linear, LinearSettings, train_linear};
pub use optimiser::{Optimiser, Rule};
