//! `viva` (from *viva voce*, the oral exam): a lab for examining deep image classifiers.
//!
//! What it examines with is a package of its own below it, [`viva_lab`]: `core optimiser maths data model generator render space search objective
//! train estimate audit plot people`, which knows nothing of scripts. On it stand
//!
//! | folder | what for |
//! | --- | --- |
//! | [`primitives`] | one file per function that a script can call |
//! | [`script`], [`term`], [`page`], [`sandbox`] | the only folder that knows Rhai; colours, pictures and progress in a terminal; pages for a browser; what holds a process that runs scripts |
//! | [`label`] | the page that people answer on |
//! | [`assist`] | what is offered and told while a text is typed |
//! | [`dialogue`] | a session line by line: what the prompt and notebooks have in common |
//! | [`notebook`] | notebook files and what a cell shows: pictures, tables, text |
//! | [`repl`], [`kernel`], [`lsp`], [`cli`] | the doors: the prompt, Jupyter's kernel, the language server of editors and the command line |
//!
//! An arrow between folders may only point up this table.

pub use viva_lab::{
    audit, core, data, estimate, generator, maths, model, objective, optimiser, people, plot, render, search, space,
    train,
};

pub mod assist;
pub mod cli;
pub mod dialogue;
pub mod kernel;
pub mod label;
pub mod lsp;
pub mod notebook;
pub mod page;
pub mod primitives;
pub mod repl;
pub mod sandbox;
pub mod script;
pub mod term;

/// What this build is made of; `build.rs` finds it out.
pub const BUILD: core::record::Build =
    core::record::Build { revision: env!("VIVA_REVISION"), compiled: env!("VIVA_BUILT") };
