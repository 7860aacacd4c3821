//! What a terminal shows, and what it tells a run: colours, pictures, the progress of long calls, Ctrl-C. Knows nothing of the
//! scripting language.

mod context;
mod graphics;
mod picture;
mod plot;
mod progress;
mod screen;
mod style;

pub use context::{
    Leaving, TerminalMode, choose_device, context, leave, leave_at_once, start, stop_on_signals, tell_of_libtorch,
};
pub use graphics::{CHOICES, GraphicsProtocol};
pub use progress::Bar;
pub use screen::Screen;
pub use style::{Paint, duration, height, set_width, width};
