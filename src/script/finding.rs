//! What `viva check` tells of.

/// Something in a script that will not work.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub line: usize,
    pub column: usize,
    pub message: String,
}
