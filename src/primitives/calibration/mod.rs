//! `calibration::`: whether a model is right as often as it says.

pub mod measure;
