//! The page that people answer on: `viva label DIR`. A server on this machine, one page that loads nothing from elsewhere, a log with one line
//! per answer that is on the disk before anybody hears that it was taken.

mod desk;
mod export;
mod log;
mod owner;
mod page;
mod seats;
mod server;

pub use desk::{Desk, Refusal};
pub use export::{EXPORTS, Export, export};
pub use server::{Address, Serving, serve};
