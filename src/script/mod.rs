//! The only folder that knows Rhai: it binds the primitives to the interpreter and explains the interpreter's errors.

mod answers;
mod arithmetic;
mod bind;
mod borrowed_names;
mod bounds;
mod check;
mod code;
mod declare;
mod diagnostic;
mod explain;
mod finding;
mod glance;
mod habits;
mod keys;
mod kinds;
mod lower;
mod marks;
mod modules;
mod own_names;
mod remarks;
pub mod scan;
mod session;
mod value;

use bind::methods_of;
pub use check::{ScriptArgument, check, script_arguments};
pub use diagnostic::Diagnostic;
pub use finding::Finding;
pub use glance::{Accessor, Glance, ScriptFunction};
pub use modules::file_of;
pub use session::{Session, Variable};
pub use value::error_map;
