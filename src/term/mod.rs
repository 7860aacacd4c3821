//! What a terminal shows: colours, pictures and the progress of long calls. Knows nothing of the scripting language.

mod picture;
#[cfg(feature = "script")]
mod progress;
mod style;

pub use picture::{half_blocks, show_figure};
#[cfg(feature = "script")]
pub use progress::Bar;
pub use style::{Paint, width};
