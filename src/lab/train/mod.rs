//! How models learn.

mod adversary;
mod classifier;
mod finetuning;
mod generator;
mod gradient_penalty;
mod images;
mod linear;
mod student;
mod unread;

pub use adversary::Adversary;
pub use classifier::{Settings, train};
pub use finetuning::{Amalgamation, Attack, Keepers, attack_loss, squashed};
pub use generator::{GanSettings, Watch, train_generator};
pub use gradient_penalty::{gradient_penalty, penalty_shares};
pub use linear::{Linear, LinearSettings, train_linear};
