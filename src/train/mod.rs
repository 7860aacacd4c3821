//! How models learn.

mod classifier;
mod generator;
mod linear;
mod optimiser;

pub use classifier::{Settings, train};
pub use generator::{
    Amalgamation, Attack, GanSettings, Watch, attack_loss, gradient_penalty, squashed, train_generator,
};
pub use linear::{Linear, LinearSettings, train_linear};
pub use optimiser::{Optimiser, Rule};
