//! Formulas on plain numbers: no tensors, no models.

pub mod bernstein;
pub mod betting;
pub mod calibration;
pub mod confidence_sequence;
pub mod contour;
pub mod gaussian_classifier;
pub mod gaussian_process;
pub mod holm;
pub mod information;
pub mod means;
pub mod power;
pub mod quartiles;
pub mod roc;
pub mod shares;
pub mod simulated_power;
pub mod smoothing;
pub mod survival;
pub mod variance_shares;
pub mod weakness;
