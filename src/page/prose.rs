//! Plain text as a page shows it: paragraphs, code words, the symbols of papers.

use maud::{Markup, html};

use super::clean;

/// Where a code word leads, if it has a page.
pub type Links<'a> = &'a dyn Fn(&str) -> Option<String>;

pub const NO_LINKS: Links<'static> = &|_| None;

/// A comment that was wrapped by hand: empty lines part paragraphs, indented lines are code, and a line that begins with
/// a word and a colon ("Data: ...") begins a line.
pub fn comment(text: &str, links: Links) -> Markup {
    let mut blocks: Vec<(bool, Vec<&str>)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let code = line.starts_with("    ");
        if line.trim().is_empty() {
            open = false;
            continue;
        }
        match blocks.last_mut() {
            Some((kind, lines)) if open && *kind == code => lines.push(line),
            _ => blocks.push((code, vec![line])),
        }
        open = true;
    }
    html! {
        @for (code, lines) in &blocks {
            @if *code {
                pre .code tabindex="0" { code { @for line in lines { (clean(line.trim_start())) "\n" } } }
            } @else {
                p {
                    @for (i, line) in lines.iter().enumerate() {
                        @if i > 0 { @if names_itself(line) { br; } @else { " " } }
                        (inline(line.trim(), links))
                    }
                }
            }
        }
    }
}

/// "Result: ..."
fn names_itself(line: &str) -> bool {
    let word = line.split(':').next().unwrap_or("");
    line.contains(": ") && word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphabetic)
}

/// A description: every line is a paragraph.
pub fn paragraphs(text: &str, links: Links) -> Markup {
    html! { @for line in text.lines().filter(|line| !line.trim().is_empty()) { p { (inline(line, links)) } } }
}

enum ProsePiece<'a> {
    Text(&'a str),
    Code(&'a str),
    /// `R_S`: a letter and its index.
    Symbol(&'a str, &'a str),
}

/// One paragraph: words between back-ticks, paths such as `plot::line` and options such as `--seed` are code, `R_S` is a
/// symbol.
pub fn inline(text: &str, links: Links) -> Markup {
    html! {
        @for (i, part) in text.split('`').enumerate() {
            // A back-tick without its partner is a sign like others.
            @if i % 2 == 1 && (i + 1 < text.split('`').count()) {
                (code(part, links))
            } @else {
                @if i % 2 == 1 { "`" }
                @for piece in pieces(part) {
                    @match piece {
                        ProsePiece::Text(text) => (clean(text)),
                        ProsePiece::Code(text) => (code(text, links)),
                        ProsePiece::Symbol(letter, index) => var { (letter) sub { (index) } },
                    }
                }
            }
        }
    }
}

fn code(text: &str, links: Links) -> Markup {
    html! {
        @match links(text) {
            Some(address) => a href=(address) { code { (clean(text)) } },
            None => code { (clean(text)) },
        }
    }
}

/// Words of plain text that are code or symbols by their looks.
fn pieces(text: &str) -> Vec<ProsePiece<'_>> {
    let mut found = Vec::new();
    let mut plain = 0;
    let mut at = 0;
    let word_sign = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '*' | '-' | '/' | '.');
    while let Some(c) = text[at..].chars().next() {
        if !word_sign(c) {
            at += c.len_utf8();
            continue;
        }
        let end = text[at..].find(|c| !word_sign(c)).map_or(text.len(), |n| at + n);
        let mut word = text[at..end].trim_end_matches(['.', ':', '-', '/']);
        let is_path = word.contains("::") || text[at + word.len()..].starts_with("()");
        if is_path && text[at + word.len()..].starts_with('(') {
            // A call keeps its arguments.
            if let Some(close) = text[at + word.len()..].find(')') {
                word = &text[at..at + word.len() + close + 1];
            }
        }
        let piece = match word.split_once('_') {
            Some((letter, index))
                if letter.chars().count() == 1
                    && (1..=3).contains(&index.chars().count())
                    && index.chars().all(char::is_alphanumeric) =>
            {
                Some(ProsePiece::Symbol(letter, index))
            }
            _ if is_path || word.starts_with("--") && word.len() > 2 => Some(ProsePiece::Code(word)),
            Some(_) if word.starts_with(char::is_alphanumeric) => Some(ProsePiece::Code(word)),
            _ => None,
        };
        let stop = at + word.len().max(c.len_utf8());
        if let Some(piece) = piece {
            found.push(ProsePiece::Text(&text[plain..at]));
            found.push(piece);
            plain = stop;
            at = stop;
        } else {
            at = end;
        }
    }
    found.push(ProsePiece::Text(&text[plain..]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_words_and_symbols_are_told_from_text() {
        let shown = |text| inline(text, NO_LINKS).into_string();
        assert_eq!(shown("use `a < b` or plot::line."), "use <code>a &lt; b</code> or <code>plot::line</code>.");
        assert_eq!(shown("R_S', h_g = 1"), "<var>R<sub>S</sub></var>', <var>h<sub>g</sub></var> = 1");
        assert_eq!(shown("put net::flatten() before"), "put <code>net::flatten()</code> before");
        assert_eq!(
            shown("`--seed` and --out, in 1/255 - or e.g. so"),
            "<code>--seed</code> and <code>--out</code>, in 1/255 - or e.g. so"
        );
        assert_eq!(shown("a ` alone"), "a ` alone");
        assert_eq!(shown("ü_ß ∑_i"), "<var>ü<sub>ß</sub></var> ∑_i");
    }

    #[test]
    fn a_comment_keeps_its_paragraphs_code_and_labels() {
        let shown = comment("One\ntwo.\n\n    viva run x\n\nData: none.\nResult: p.", NO_LINKS).into_string();
        assert_eq!(
            shown,
            "<p>One two.</p><pre class=\"code\" tabindex=\"0\"><code>viva run x\n</code></pre><p>Data: none.<br>Result: p.</p>"
        );
    }
}
