//! How a gradient becomes a step. Results rest on the order in which a rule's operations round, so a rule that is worked out in more
//! than one order says so, and what uses it names the one.

mod adam;
mod parameters;
mod rms_prop;

pub use adam::{AdamSteps, Climb};
pub use parameters::{Optimiser, Rule};
pub use rms_prop::Squares;
