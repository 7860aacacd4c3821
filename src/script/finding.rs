//! What `viva check` tells of.

/// Something in a script that will not work.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// Whether a run ends here as surely as it comes here; otherwise it is a guess at what was meant.
    pub fails: bool,
    /// What is called that there is not, or not with so many arguments, as far as the text tells.
    pub called: Option<CalledName>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CalledName {
    /// A map may hold a closure of that name.
    Method(String),
    /// Of an imported file, whose importer may have one.
    Function(String),
}

impl Finding {
    /// What a run ends at.
    pub fn failing((line, column): (usize, usize), message: String) -> Self {
        Self { line, column, message, fails: true, called: None }
    }

    pub fn of(self, called: CalledName) -> Self {
        Self { called: Some(called), ..self }
    }

    /// What was hardly meant so.
    pub fn doubtful((line, column): (usize, usize), message: String) -> Self {
        Self { line, column, message, fails: false, called: None }
    }
}
