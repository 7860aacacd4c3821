//! `search::`: how a failing change is looked for; and the methods of the transcript that an examination gives.

pub mod adam;
pub mod adef;
pub mod bayes;
pub mod bim;
pub mod nearest;
pub mod policy;
pub mod questions;
pub mod random;
pub mod random2;
pub mod sample;
pub mod square;
pub mod strongest;
pub mod sweep;
pub mod transcript;
