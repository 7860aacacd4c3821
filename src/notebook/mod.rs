//! Notebooks: what a cell shows of a value, and notebook files made of scripts and back.

mod blocks;
mod cell;
mod file;
mod run;
mod shown;

pub use blocks::{Block, blocks};
pub use cell::{CellOutput, Told};
pub use file::{Notebook, language};
pub use run::{FailedCell, run};
pub use shown::{Bundle, WIDTH, bundle_of};
