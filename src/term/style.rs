//! Colours with a meaning, left out where nobody can see them: `NO_COLOR` (no-color.org), a dumb terminal, a file or pipe.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
        self.with(Color::Fixed(136).bold(), text)
    }

    pub fn error(self, text: &str) -> String {
        self.with(Color::Red.normal(), text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    pub fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// What to try next.
    pub fn hint(self, text: &str) -> String {
        self.with(Color::Fixed(31).bold(), text)
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

/// How many colours a picture may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    None,
    /// The 256 of xterm.
    Indexed,
    /// 24 bits.
    True,
}

impl Colours {
    pub fn detect() -> Self {
        Self::decide(&super::graphics::variable)
    }

    fn decide(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let is = |name: &str, words: &[&str]| {
            variable(name).is_some_and(|value| words.iter().any(|word| value.to_lowercase().contains(word)))
        };
        if is("COLORTERM", &["truecolor", "24bit"])
            || is("TERM", &["kitty", "ghostty", "alacritty", "wezterm", "direct"])
            || is("TERM_PROGRAM", &["iterm", "wezterm", "ghostty", "vscode"])
        {
            Self::True
        } else if is("TERM", &["256", "xterm", "screen", "tmux", "rxvt"]) {
            Self::Indexed
        } else {
            Self::None
        }
    }

    /// The parameters of an escape that sets the foreground (38) or the background (48).
    pub fn of(self, ground: u8, [r, g, b]: [u8; 3]) -> String {
        if self == Self::True {
            format!("{ground};2;{r};{g};{b}")
        } else {
            format!("{ground};5;{}", indexed([r, g, b]))
        }
    }
}

/// The nearest of the 216 colours of xterm's cube and its 24 greys.
fn indexed(rgb: [u8; 3]) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let distance =
        |other: [u8; 3]| -> i32 { rgb.iter().zip(other).map(|(&a, b)| (i32::from(a) - i32::from(b)).pow(2)).sum() };
    let level = |v: u8| (0..6u8).min_by_key(|&i| v.abs_diff(LEVELS[usize::from(i)])).unwrap_or(0);
    let [r, g, b] = rgb.map(level);
    let cube = [r, g, b].map(|i| LEVELS[usize::from(i)]);
    let mean = rgb.iter().map(|&v| u32::from(v)).sum::<u32>() / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    if distance([8 + 10 * step; 3]) < distance(cube) { 232 + step } else { 16 + 36 * r + 6 * g + b }
}

/// A time with three digits and its unit.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 60.0 => return format!("{} min {:02} s", (s / 60.0) as u64, (s % 60.0) as u64),
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "µs"),
        s => (s * 1e9, "ns"),
    };
    let decimals = if value >= 100.0 { 0 } else { 1 + usize::from(value < 10.0) };
    format!("{value:.decimals$} {unit}")
}

/// Columns that are shown although no terminal says so; 0 where one is asked.
static COLUMNS: AtomicUsize = AtomicUsize::new(0);

/// From here on lines are this wide, whatever terminal this process was started from: what it says is shown elsewhere.
pub fn set_width(columns: usize) {
    COLUMNS.store(columns, Ordering::Relaxed);
}

/// Columns of the terminal, or 80 where there is none.
pub fn width() -> usize {
    let set = COLUMNS.load(Ordering::Relaxed);
    if set > 0 {
        return set;
    }
    terminal_size::terminal_size().map_or(80, |(columns, _)| usize::from(columns.0).max(20))
}

/// Lines of the terminal, or 24 where there is none.
pub fn height() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, lines)| usize::from(lines.0))
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
        assert_eq!(Paint::new(true).hint("no"), "\u{1b}[1;38;5;31mno\u{1b}[0m");
    }

    #[test]
    fn colours_are_told_from_the_environment_and_rounded_to_what_there_is() {
        let told = |name: &'static str, value: &'static str| {
            Colours::decide(&move |asked| (asked == name).then(|| value.to_string()))
        };
        assert_eq!(told("COLORTERM", "truecolor"), Colours::True);
        assert_eq!(told("TERM", "xterm-256color"), Colours::Indexed);
        assert_eq!(told("TERM", "linux"), Colours::None);
        assert_eq!([[0, 0, 0], [255, 255, 255], [128, 128, 128], [255, 0, 0]].map(indexed), [16, 231, 244, 196]);
    }

    #[test]
    fn times_have_three_digits() {
        let texts = [7e-9, 1.5e-5, 0.0123, 2.0, 12.34, 754.0].map(|s| duration(Duration::from_secs_f64(s)));
        assert_eq!(texts, ["7.00 ns", "15.0 µs", "12.3 ms", "2.00 s", "12.3 s", "12 min 34 s"]);
    }
}
