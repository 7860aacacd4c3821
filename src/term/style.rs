//! Colours with a meaning, left out where nobody can see them: `NO_COLOR` (no-color.org), a dumb terminal, a file or pipe.

use std::io::IsTerminal;

use nu_ansi_term::{Color, Style};

/// Colours text, or leaves it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    enabled: bool,
}

impl Paint {
    pub fn new(enabled: bool) -> Self {
        Self { enabled }
    }

    /// Colours if `stream` is a terminal that shows them and the user did not ask for none.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb") && cfg!(unix);
        Self::decide(stream.is_terminal(), set("NO_COLOR").is_some(), dumb)
    }

    fn decide(terminal: bool, refused: bool, dumb: bool) -> Self {
        Self { enabled: terminal && !refused && !dumb }
    }

    pub fn enabled(self) -> bool {
        self.enabled
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.enabled { style.paint(text).to_string() } else { text.into() }
    }

    pub fn warning(self, text: &str) -> String {
        self.with(Color::Yellow.bold(), text)
    }

    /// What to try next.
    pub fn hint(self, text: &str) -> String {
        self.with(Color::Cyan.bold(), text)
    }

    // The colours of a typed line stand out about equally well from black and from white.

    pub fn string(self, text: &str) -> String {
        self.with(Color::Fixed(28).normal(), text)
    }

    pub fn number(self, text: &str) -> String {
        self.with(Color::Fixed(130).normal(), text)
    }

    pub fn keyword(self, text: &str) -> String {
        self.with(Color::Fixed(133).normal(), text)
    }

    /// A name that viva knows.
    pub fn known(self, text: &str) -> String {
        self.with(Color::Fixed(32).normal(), text)
    }

    /// A bracket and its partner.
    pub fn bracket(self, text: &str) -> String {
        self.with(Color::Fixed(32).bold().underline(), text)
    }

    /// What is there to be overlooked.
    pub fn faint(self, text: &str) -> String {
        self.with(Color::Fixed(243).normal(), text)
    }

    /// The one thing among faint ones that counts now.
    pub fn current(self, text: &str) -> String {
        self.with(Color::Fixed(243).bold().underline(), text)
    }
}

/// Columns of the terminal, or 80 where there is none.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(80, |(columns, _)| usize::from(columns.0).max(20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_only_where_they_are_seen_and_wanted() {
        assert!(Paint::decide(true, false, false).enabled());
        for (terminal, refused, dumb) in [(false, false, false), (true, true, false), (true, false, true)] {
            assert_eq!(Paint::decide(terminal, refused, dumb).warning("no"), "no");
        }
        assert_eq!(Paint::new(true).hint("no"), "\u{1b}[1;36mno\u{1b}[0m");
    }
}
