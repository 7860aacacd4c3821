//! What `viva` examines with, as a plain library that knows nothing of scripts.
//!
//! | folder | what for |
//! | --- | --- |
//! | [`core`] | values, tensors, errors, the context of a run and its record |
//! | [`optimiser`], [`maths`] | how gradients become steps; formulas on plain numbers: bounds and tests |
//! | [`data`], [`model`], [`generator`], [`render`] | what is shown, what is examined, what draws images and objects |
//! | [`space`] | what may change in an input |
//! | [`search`], [`objective`], [`train`] | how a failing change is looked for; what counts as failing; how models learn |
//! | [`estimate`], [`audit`], [`plot`] | outcomes to numbers, whether they are what they seem to be, and to pictures |
//! | [`people`] | what people are asked of images, and what their answers say |
//!
//! An arrow between folders may only point up this table.

pub mod audit;
pub mod core;
pub mod data;
pub mod estimate;
pub mod generator;
pub mod maths;
pub mod model;
pub mod objective;
pub mod optimiser;
pub mod people;
pub mod plot;
pub mod render;
pub mod search;
pub mod space;
pub mod train;
