//! Functions at the top level: settings of the run, and what every value can do.

pub mod arg;
pub mod help;
pub mod measures;
pub mod save;
pub mod settings;
pub mod short;
pub mod show;
