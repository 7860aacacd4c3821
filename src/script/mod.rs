//! The only folder that knows Rhai: it binds the primitives to the interpreter and explains the interpreter's errors.

mod arithmetic;
mod bind;
mod check;
mod diagnostic;
mod modules;
mod session;
mod value;

pub use check::{Finding, ScriptArgument, check, script_arguments};
pub use diagnostic::Diagnostic;
pub use modules::{functions, stdlib_names, stdlib_page, stdlib_text};
pub use session::Session;
