//! A typed line in colours: what is known looks known, so that a misspelt name is seen before it runs.

use super::complete::LONGEST;
use crate::primitives::{NAMESPACES, PRIMITIVES};
use crate::script::scan::{Token, TokenKind, scan};
use crate::term::Paint;

/// The words of the language.
pub const KEYWORDS: [&str; 27] = [
    "let", "const", "fn", "private", "if", "else", "for", "while", "loop", "in", "return", "break", "continue",
    "switch", "import", "export", "as", "true", "false", "throw", "try", "catch", "do", "until", "this", "global",
    "is",
];

/// The line in colours; `at` is where the cursor stands if brackets there are to be shown with their partner.
pub fn coloured(line: &str, at: Option<usize>, paint: Paint) -> String {
    if !paint.enabled() || line.len() > LONGEST || line.trim_start().starts_with([':', '?']) {
        return line.to_string();
    }
    let tokens = scan(line);
    let pair = at.and_then(|at| partners(line, &tokens, at));
    let mut text = String::with_capacity(2 * line.len());
    let mut done = 0;
    for (place, token) in tokens.iter().enumerate() {
        text += &line[done..token.start];
        done = token.end;
        let word = token.text(line);
        if pair.is_some_and(|pair| pair.contains(&place)) {
            text += &paint.bracket(word);
            continue;
        }
        text += &match token.kind {
            TokenKind::Text => paint.string(word),
            TokenKind::Number => paint.number(word),
            TokenKind::Comment => paint.faint(word),
            TokenKind::Word if KEYWORDS.contains(&word) => paint.keyword(word),
            TokenKind::Word if known(line, &tokens, place) => paint.known(word),
            _ => word.to_string(),
        };
    }
    text += &line[done..];
    text
}

/// Whether the word at this place names a namespace, a function of it, a top-level function, or a method that is called.
fn known(line: &str, tokens: &[Token], place: usize) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |t| t.text(line));
    let word = text(place);
    let before = |back: usize| place.checked_sub(back).map_or("", text);
    match (before(1), text(place + 1)) {
        ("::", _) => PRIMITIVES.iter().any(|p| p.namespace() == Some(before(2)) && p.name() == word),
        (_, "::") => NAMESPACES.iter().any(|(name, _)| *name == word),
        (".", "(") => PRIMITIVES.iter().any(|p| p.receiver().is_some() && p.name() == word),
        (".", _) => false,
        (_, "(") => PRIMITIVES.iter().any(|p| p.path == word),
        _ => false,
    }
}

/// The bracket at or before the cursor and its partner.
fn partners(line: &str, tokens: &[Token], at: usize) -> Option<[usize; 2]> {
    let bracket = |t: &Token| matches!(t.kind, TokenKind::Open | TokenKind::Close);
    let place = tokens.iter().position(|t| bracket(t) && (t.start == at || t.end == at))?;
    let mut open: Vec<usize> = Vec::new();
    for (other, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open => open.push(other),
            TokenKind::Close => {
                let partner = open.pop()?;
                let fits = matches!(
                    (tokens[partner].text(line).chars().last(), token.text(line)),
                    (Some('('), ")") | (Some('['), "]") | (Some('{'), "}")
                );
                if partner == place || other == place {
                    return fits.then_some([partner, other]);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_no_character() {
        let paint = Paint::new(true);
        for line in ["let x = data::glyphs(#{ n: 5 }); // ten", "`a${b(\"c\")}` + f.nosuch(2)", "ä(ö", ")("] {
            for at in 0..=line.len() {
                let shown = coloured(line, Some(at), paint);
                let mut bare = String::new();
                let mut rest = shown.as_str();
                while let Some((before, after)) = rest.split_once('\u{1b}') {
                    bare += before;
                    rest = after.split_once('m').map_or("", |(_, rest)| rest);
                }
                assert_eq!(bare + rest, line);
            }
        }
        assert_eq!(coloured("let x = 1", None, Paint::new(false)), "let x = 1");
    }

    #[test]
    fn a_misspelt_name_stays_plain() {
        let paint = Paint::new(true);
        assert!(coloured("data::glyphs()", None, paint).contains(&paint.known("glyphs")));
        assert!(!coloured("data::glpyhs()", None, paint).contains(&paint.known("glpyhs")));
    }
}
