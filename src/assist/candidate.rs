//! What completion offers.

/// More than this many offers help nobody, and the terminal's list has a limit of its own.
pub const MOST: usize = 300;

/// Something that may stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What takes the place of the typed beginning.
    pub text: String,
    /// How the list shows it.
    pub shown: String,
}

impl Completion {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { shown: text.clone(), text }
    }

    pub fn shown(mut self, shown: impl Into<String>) -> Self {
        self.shown = shown.into();
        self
    }
}
