//! What can be offered and told while a text is typed, at the prompt and in editors: completion and signatures. Nothing is run for it.

mod candidate;
mod colour;
mod complete;
mod cursor;
mod hint;
mod paths;

pub use candidate::Completion;
pub use colour::{KEYWORDS, coloured};
pub use complete::{LONGEST, complete, floor};
pub use cursor::{Callee, Cursor};
pub use hint::{Signature, called, signature, wide};
