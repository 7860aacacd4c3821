//! A script with its lines numbered and lightly coloured. It colours what it knows and never refuses a text.

use maud::{Markup, html};

use super::clean;

const WORDS: [&str; 26] = [
    "let", "const", "fn", "private", "if", "else", "for", "in", "while", "loop", "do", "until", "break", "continue",
    "return", "throw", "try", "catch", "import", "export", "as", "switch", "true", "false", "this", "global",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Highlight {
    Plain,
    Comment,
    Text,
    Number,
    Word,
    /// The name of a namespace and of what is called in it.
    Call,
}

impl Highlight {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Comment => "c",
            Self::Text => "s",
            Self::Number => "n",
            Self::Word => "k",
            Self::Call => "f",
        }
    }
}

/// A whole script with line numbers, which are not copied along.
pub fn numbered(text: &str) -> Markup {
    html! { pre .code.numbered tabindex="0" { code { @for line in lines(&clean(text)) { span .line { (coloured(&line)) } "\n" } } } }
}

/// A few lines, such as an example.
pub fn plain(text: &str) -> Markup {
    html! {
        pre .code tabindex="0" { code {
            @for (i, line) in lines(&clean(text)).iter().enumerate() { @if i > 0 { "\n" } (coloured(line)) }
        } }
    }
}

fn coloured(line: &[(Highlight, &str)]) -> Markup {
    html! {
        @for (look, text) in line {
            @if *look == Highlight::Plain { (text) } @else { span class=(look.class()) { (text) } }
        }
    }
}

/// The pieces of every line.
fn lines(text: &str) -> Vec<Vec<(Highlight, &str)>> {
    let mut lines = vec![Vec::new()];
    for (look, piece) in pieces(text.trim_end_matches('\n')) {
        for (i, part) in piece.split('\n').enumerate() {
            if i > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut().filter(|_| !part.is_empty()) {
                line.push((look, part));
            }
        }
    }
    lines
}

fn pieces(text: &str) -> Vec<(Highlight, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (look, length) = piece(rest, first);
        let (now, later) = rest.split_at(length.clamp(first.len_utf8(), rest.len()));
        found.push((look, now));
        rest = later;
    }
    found
}

/// The look and length of the piece that a text begins with.
fn piece(text: &str, first: char) -> (Highlight, usize) {
    let until = |wanted: &dyn Fn(char) -> bool| text.find(|c| !wanted(c)).unwrap_or(text.len());
    match first {
        '/' if text.starts_with("//") => (Highlight::Comment, text.find('\n').unwrap_or(text.len())),
        '/' if text.starts_with("/*") => (Highlight::Comment, block_comment(text)),
        '"' | '\'' | '`' => (Highlight::Text, quoted(text, first)),
        c if c.is_ascii_digit() => {
            let mut length = until(&|c| c.is_ascii_alphanumeric() || c == '_');
            let after = &text[length..];
            if after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_digit()) {
                length +=
                    1 + after[1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len() - 1);
            }
            if text[..length].ends_with(['e', 'E']) && text[length..].starts_with(['-', '+']) {
                length += 1 + text[length + 1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - length - 1);
            }
            (Highlight::Number, length)
        }
        c if c.is_alphabetic() || c == '_' => {
            let length = until(&|c| c.is_alphanumeric() || c == '_');
            let (word, after) = text.split_at(length);
            if let Some(name) = after.strip_prefix("::") {
                let name = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
                return (Highlight::Call, length + 2 + name);
            }
            (if WORDS.contains(&word) { Highlight::Word } else { Highlight::Plain }, length)
        }
        _ => (Highlight::Plain, first.len_utf8()),
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Only text between back-ticks goes on over the end of its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut skip = false;
    for (at, c) in text.char_indices().skip(1) {
        if skip {
            skip = false;
        } else if c == '\\' && quote != '`' {
            skip = true;
        } else if c == quote {
            return at + 1;
        } else if c == '\n' && quote != '`' {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_out_whole() {
        for text in [
            "let x = 1.5e-3; // c\n\"a\\\"b\" `two\nlines ${x}` /* in /* in */ out */ plot::line(0..10)",
            "\"open",
            "`open\n",
            "/* open",
            "'",
            "ü::",
            "1.",
            "1e",
            "9..ß",
            "a::\u{10ffff}",
            "",
        ] {
            assert_eq!(pieces(text).iter().map(|(_, piece)| *piece).collect::<String>(), text);
        }
        let looks = pieces("let x = data::load(\"a\") // b");
        assert_eq!(looks[0], (Highlight::Word, "let"));
        assert!(looks.contains(&(Highlight::Call, "data::load")) && looks.contains(&(Highlight::Text, "\"a\"")));
        assert_eq!(looks.last(), Some(&(Highlight::Comment, "// b")));
    }

    #[test]
    fn lines_are_counted_as_the_text_counts_them() {
        assert_eq!(lines("a\n`b\nc`\n\nd\n").len(), 5);
        assert_eq!(numbered("<b>").into_string().matches("class=\"line\"").count(), 1);
        assert!(numbered("<b>").into_string().contains("&lt;b&gt;"));
    }
}
