//! A session that somebody talks with, line by line or cell by cell: what the prompt and notebooks have in common. Who shows what comes of
//! it is an [`Output`].

mod cell;
pub mod commands;
mod output;
mod saved;
mod talk;

pub use cell::{PROMPT, Stretch, describes_what_follows, pieces, stretches, without_prompts};
pub use output::Output;
pub use saved::{closed, ends_quietly, shown_statement};
pub use talk::{Dialogue, Next, ShownResult, start_up_file};
