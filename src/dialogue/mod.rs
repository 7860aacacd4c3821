//! A session that somebody talks with, line by line or cell by cell: what the prompt and notebooks have in common. Who shows what comes of
//! it is an [`Output`].

mod candidate;
mod cell;
pub mod commands;
mod complete;
mod cursor;
mod hint;
mod output;
mod paths;
mod saved;
mod talk;

pub use candidate::Completion;
pub use cell::{Stretch, pieces, stretches};
pub use complete::{LONGEST, complete};
pub use hint::{Signature, called, signature, wide};
pub use output::Output;
pub use saved::{closed, ends_quietly, shown_statement};
pub use talk::{Dialogue, Next, start_up_file};
