//! What `viva check` tells of.

/// Something in a script that will not work.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// Whether a run ends here as surely as it comes here; otherwise it is a guess at what was meant.
    pub fails: bool,
    /// The method that no type has, or none with so many arguments: a map may hold a closure of that name.
    pub method: Option<String>,
}

impl Finding {
    /// What a run ends at.
    pub fn failing((line, column): (usize, usize), message: String) -> Self {
        Self { line, column, message, fails: true, method: None }
    }

    /// What was hardly meant so.
    pub fn doubtful((line, column): (usize, usize), message: String) -> Self {
        Self { line, column, message, fails: false, method: None }
    }
}
