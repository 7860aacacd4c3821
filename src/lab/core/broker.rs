//! Who asks the person at the terminal for what scripts may not touch as they are.

use std::path::Path;

use super::Result;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

impl Access {
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// A process beside this one that is not held: it asks the person at the terminal, and writes what was allowed after this one
/// could no longer be given more.
pub trait Broker {
    /// Asks, unless that was answered before.
    fn may(&self, access: Access, path: &Path) -> Result<bool>;
    /// Writes a file whole or not at all, if that is allowed.
    fn write(&self, target: &Path, bytes: &[u8]) -> Result<()>;
    /// Removes the folders that were made for the run, as far as they are empty.
    fn remove_made(&self);
}
