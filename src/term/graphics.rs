//! How a terminal shows pictures, told from its environment: a query could hang over a slow line.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::core::Result;
use crate::plot::Picture;

/// A way to put a picture on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphicsProtocol {
    /// The kitty graphics protocol.
    Kitty,
    /// The inline images of iTerm2.
    Iterm,
    /// Two pixels per character.
    Half,
    Off,
}

/// The names that `:images` and `VIVA_IMAGES` take.
pub const CHOICES: [&str; 6] = ["auto", "on", "off", "half", "kitty", "iterm"];

impl GraphicsProtocol {
    pub fn name(self) -> &'static str {
        match self {
            Self::Kitty => "kitty",
            Self::Iterm => "iterm",
            Self::Half => "half",
            Self::Off => "off",
        }
    }

    /// What a choice by name means in this terminal; `None` for an unknown name.
    pub fn chosen(name: &str) -> Option<Self> {
        match name {
            "auto" | "on" => Some(Self::of_terminal(&variable)),
            "off" => Some(Self::Off),
            "half" => Some(Self::Half),
            "kitty" => Some(Self::Kitty),
            "iterm" => Some(Self::Iterm),
            _ => None,
        }
    }

    /// `VIVA_IMAGES`, or what the terminal can.
    pub fn detect() -> Self {
        variable("VIVA_IMAGES").and_then(|name| Self::chosen(&name)).unwrap_or_else(|| Self::of_terminal(&variable))
    }

    fn of_terminal(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        let program = variable("TERM_PROGRAM").unwrap_or_default();
        // A multiplexer swallows both protocols.
        let multiplexed = ["TMUX", "STY"].iter().any(|name| variable(name).is_some())
            || term.starts_with("tmux")
            || term.starts_with("screen");
        if multiplexed {
            return Self::Half;
        }
        // TERM comes along over SSH, and so does LC_TERMINAL; the others are there on the same machine.
        let kitty = term.contains("kitty") || term.contains("ghostty") || variable("KITTY_WINDOW_ID").is_some();
        if kitty || program == "ghostty" {
            return Self::Kitty;
        }
        let iterm = ["iTerm.app", "WezTerm", "mintty"].contains(&program.as_str())
            || variable("LC_TERMINAL").is_some_and(|name| name == "iTerm2");
        if iterm || term.contains("wezterm") { Self::Iterm } else { Self::Half }
    }

    /// The bytes that show a picture, for the two protocols; `columns` wide if that is given.
    pub fn escape(self, picture: &Picture, columns: Option<usize>) -> Result<Option<String>> {
        Ok(match self {
            Self::Kitty => Some(kitty(&picture.png()?, columns)),
            Self::Iterm => Some(iterm(&picture.png()?, columns)),
            Self::Half | Self::Off => None,
        })
    }
}

/// A variable of the environment that is set and not empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn kitty(png: &[u8], columns: Option<usize>) -> String {
    let encoded = STANDARD.encode(png);
    // The protocol takes 4096 bytes at a time. All of them are ASCII.
    let mut chunks = encoded.as_bytes().chunks(4096).peekable();
    let mut first = true;
    let mut text = String::new();
    while let Some(chunk) = chunks.next() {
        let more = u8::from(chunks.peek().is_some());
        let size = columns.map_or(String::new(), |columns| format!(",c={columns}"));
        // q=2: no answers, which would be read as typed.
        let keys = if first { format!("a=T,f=100,q=2{size},m={more}") } else { format!("m={more}") };
        text += &format!("\u{1b}_G{keys};{}\u{1b}\\", String::from_utf8_lossy(chunk));
        first = false;
    }
    text + "\n"
}

fn iterm(png: &[u8], columns: Option<usize>) -> String {
    let size = columns.map_or("auto".into(), |columns| columns.to_string());
    format!("\u{1b}]1337;File=inline=1;size={};width={size}:{}\u{7}\n", png.len(), STANDARD.encode(png))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)]) -> GraphicsProtocol {
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        GraphicsProtocol::of_terminal(&|name| {
            variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn terminals_are_told_apart_by_their_environment() {
        assert_eq!(told(&[("TERM", "xterm-kitty")]), GraphicsProtocol::Kitty);
        assert_eq!(told(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "ghostty")]), GraphicsProtocol::Kitty);
        assert_eq!(told(&[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2")]), GraphicsProtocol::Iterm);
        assert_eq!(told(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")]), GraphicsProtocol::Iterm);
        assert_eq!(told(&[("TERM", "xterm-256color")]), GraphicsProtocol::Half);
        assert_eq!(
            told(&[("TERM", "tmux-256color"), ("KITTY_WINDOW_ID", "1"), ("TMUX", "/tmp/x")]),
            GraphicsProtocol::Half
        );
        assert_eq!(told(&[("TERM", "screen"), ("LC_TERMINAL", "iTerm2")]), GraphicsProtocol::Half);
    }

    #[test]
    fn pictures_are_sent_in_chunks_that_join_to_the_png() {
        let mut state = 1u32;
        let noise = (0..3 * 80 * 80).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let picture = Picture::new(80, 80, noise.collect()).expect("a picture");
        let text = GraphicsProtocol::Kitty.escape(&picture, Some(40)).expect("PNG").expect("an escape");
        let mut data = String::new();
        for (i, part) in text.trim_end().split("\u{1b}\\").filter(|part| !part.is_empty()).enumerate() {
            let (keys, chunk) = part.strip_prefix("\u{1b}_G").and_then(|p| p.split_once(';')).expect("a chunk");
            assert_eq!(keys.contains("a=T") && keys.contains("c=40"), i == 0);
            assert!(chunk.len() <= 4096);
            data += chunk;
        }
        assert_eq!(STANDARD.decode(data).expect("base64"), picture.png().expect("PNG"));
        let text = GraphicsProtocol::Iterm.escape(&picture, None).expect("PNG").expect("an escape");
        assert!(text.starts_with("\u{1b}]1337;File=inline=1;") && text.ends_with("\u{7}\n"));
        assert!(GraphicsProtocol::Half.escape(&picture, None).expect("nothing").is_none());
    }
}
