//! What a terminal shows, and what it tells a run: colours, pictures, the progress of long calls, Ctrl-C. Knows nothing of the
//! scripting language.

mod context;
mod picture;
mod progress;
mod style;

pub use context::{Leaving, context, default_device, start, stop_on_signals};
pub use picture::{half_blocks, show_figure};
pub use progress::Bar;
pub use style::{Paint, width};
