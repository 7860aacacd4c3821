//! `viva` (from *viva voce*, the oral exam): a lab for examining deep image classifiers.
//!
//! | folder | what for |
//! | --- | --- |
//! | [`core`] | values, tensors, errors, the context of a run and its record |
//! | [`maths`] | formulas on plain numbers: bounds and tests |
//! | [`data`], [`model`], [`generator`], [`render`] | what is shown, what is examined, what draws images and objects |
//! | [`space`] | what may change in an input |
//! | [`search`], [`objective`], [`train`] | how a failing change is looked for; what counts as failing; how models learn |
//! | [`estimate`], [`plot`] | outcomes to numbers and to pictures |
//! | [`primitives`] | one file per function that a script can call |
//! | `script`, `term`, `page`, `sandbox` | the only folder that knows Rhai; colours, pictures and progress in a terminal; pages for a browser; what holds a process that runs scripts |
//! | `repl`, `cli` | the two doors: the prompt and the command line |
//!
//! An arrow between folders may only point up this table.

#[cfg(feature = "script")]
pub mod cli;
pub mod core;
pub mod data;
pub mod estimate;
pub mod generator;
pub mod maths;
pub mod model;
pub mod objective;
#[cfg(feature = "script")]
pub mod page;
pub mod plot;
pub mod primitives;
pub mod render;
#[cfg(feature = "script")]
pub mod repl;
#[cfg(feature = "script")]
pub mod sandbox;
#[cfg(feature = "script")]
pub mod script;
pub mod search;
pub mod space;
#[cfg(feature = "script")]
pub mod term;
pub mod train;
