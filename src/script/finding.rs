//! What `viva check` tells of.

/// Something in a script that will not work.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// Whether a run ends here as surely as it comes here; otherwise it is a guess at what was meant.
    pub fails: bool,
}
