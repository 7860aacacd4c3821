//! `search::`: how a failing change is looked for; and the methods of the transcript that an examination gives.

pub mod adam;
pub mod adef;
pub mod apgd;
pub mod average;
pub mod average_doubt;
pub mod bayes;
pub mod bim;
pub mod blind;
pub mod blind_or_stay;
pub mod carlini_wagner;
pub mod counterfactual;
pub mod deepfool;
pub mod evolution;
pub mod fmn;
pub mod hopskipjump;
pub mod nearest;
pub mod policy;
pub mod questions;
pub mod radial;
pub mod random;
pub mod square;
pub mod straddle;
pub mod strongest;
pub mod sweep;
pub mod transcript;
pub mod worst;
