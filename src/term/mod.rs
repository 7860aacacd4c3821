//! What a terminal shows, and what it tells a run.

mod context;
mod progress;

pub use context::{colour_on, columns, context, default_device, start, stop_on_signals};
