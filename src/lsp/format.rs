//! Where the lines of a text begin and end: steps of brackets, and no spaces at the ends of lines. Tokens, comments, strings and the
//! lines themselves stay as they are.

use std::ops::Range;

use crate::script::scan::{Token, TokenKind, scan};

/// Columns of a step in.
const STEP: usize = 4;

/// Lines in more brackets would be longer than the text.
const DEEPEST: usize = 100;

/// A bracket that is open.
struct Opening {
    line: usize,
    /// Whether what follows is a step in from its line. What is laid out in another way keeps its place beside that line.
    steps: bool,
    /// Whether it lies in a string.
    quoted: bool,
}

/// Where a line begins now, and by how much that is further in than before.
#[derive(Clone, Copy)]
struct Begun {
    indent: usize,
    shift: isize,
}

/// Spaces in a line.
pub struct Change {
    /// From 0.
    pub line: usize,
    /// Bytes of the line that others take the place of.
    pub place: Range<usize>,
    pub spaces: String,
    /// Where the line begins in the text.
    pub start: usize,
}

/// What is to change, or why the text stays as it is.
pub fn changes(text: &str) -> Result<Vec<Change>, String> {
    let tokens = scan(text);
    let line_of = |byte: usize| text[..byte].matches('\n').count();
    balanced(text, &tokens)
        .map_err(|byte| format!("line {} has a bracket, string or comment without its other end", line_of(byte) + 1))?;
    let mut changes: Vec<Change> = Vec::new();
    let mut lines: Vec<Begun> = Vec::new();
    let mut open: Vec<Opening> = Vec::new();
    // The last token before this one that is no comment, and the place of the next one.
    let (mut before, mut next): (Option<Token>, usize) = (None, 0);
    // The last line that is not empty.
    let mut last = Begun { indent: 0, shift: 0 };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches(['\n', '\r', ' ', '\t']).len();
        let indent_end = start + (line.len() - line.trim_start_matches([' ', '\t']).len());
        let number = lines.len();
        let inside = next.checked_sub(1).map(|i| tokens[i]).filter(|token| token.end > start);
        let first = tokens.get(next).copied().filter(|token| token.start < start + line.len());
        let old = columns(&text[start..indent_end]);
        let by = |shift: isize| Begun { indent: old.saturating_add_signed(shift), shift };
        let mut hangs = false;
        let begun = match (inside, first) {
            (Some(_), _) | (None, None) => last,
            _ if open.iter().any(|opening| opening.quoted) => by(0),
            // Other spaces than those of the keyboard stay.
            (None, Some(first)) if first.start != indent_end => by(0),
            (None, Some(first)) => {
                hangs = first.kind != TokenKind::Close && !begins_statement(text, before, first);
                let wanted = match open.last() {
                    _ if hangs => None,
                    None => Some(0),
                    Some(opening) if !opening.steps => None,
                    Some(opening) => {
                        Some(lines[opening.line].indent + if first.kind == TokenKind::Close { 0 } else { STEP })
                    }
                };
                match (wanted, open.last()) {
                    (Some(indent), _) => Begun { indent, shift: indent as isize - old as isize },
                    (None, Some(opening)) if !hangs => by(lines[opening.line].shift),
                    _ => by(last.shift),
                }
            }
        };
        if let (None, Some(first)) = (inside, first)
            && first.start == indent_end
            && !open.iter().any(|opening| opening.quoted)
            && (begun.indent != old || text[start..indent_end].contains('\t'))
        {
            let place = 0..indent_end - start;
            changes.push(Change { line: number, place, spaces: " ".repeat(begun.indent), start });
        }
        while let Some(token) = tokens.get(next).filter(|token| token.start < start + line.len()) {
            next += 1;
            match token.kind {
                _ if opens(text, token) => {
                    let after = tokens[next..].iter().find(|token| token.kind != TokenKind::Comment);
                    let ends_line = after.is_none_or(|after| text[token.end..after.start].contains('\n'));
                    let quoted = token.text(text) == "${";
                    open.push(Opening { line: number, steps: ends_line && !hangs && inside.is_none(), quoted });
                    if open.len() > DEEPEST {
                        return Err(format!("line {} lies in more than {DEEPEST} brackets", number + 1));
                    }
                }
                TokenKind::Close => drop(open.pop()),
                _ => {}
            }
            if token.kind != TokenKind::Comment {
                before = Some(*token);
            }
        }
        // Spaces at the end of a comment or in a string are its own.
        let stop = start + line.trim_end_matches(['\n', '\r']).len();
        let quoted = open.iter().any(|opening| opening.quoted);
        if end < stop && !quoted && next.checked_sub(1).is_none_or(|i| tokens[i].end <= end.max(start)) {
            let place = end.max(start) - start..stop - start;
            changes.push(Change { line: number, place, spaces: String::new(), start });
        }
        if first.is_some() || inside.is_some() {
            last = begun;
        }
        lines.push(begun);
        start += line.len();
    }
    Ok(changes)
}

fn opens(text: &str, token: &Token) -> bool {
    token.kind == TokenKind::Open || token.text(text) == "?["
}

fn columns(spaces: &str) -> usize {
    spaces.chars().map(|c| if c == '\t' { STEP } else { 1 }).sum()
}

/// Whether every bracket, string and comment has its end, or where one lacks it.
fn balanced(text: &str, tokens: &[Token]) -> Result<(), usize> {
    let mut open: Vec<Token> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let whole = token.closed || (token.text(text).starts_with("//") && i + 1 == tokens.len());
        match token.kind {
            _ if opens(text, token) => open.push(*token),
            TokenKind::Close => {
                let matching = open.pop().and_then(|opening| opening.text(text).chars().last());
                if !matches!((matching, token.text(text)), (Some('('), ")") | (Some('['), "]") | (Some('{'), "}")) {
                    return Err(token.start);
                }
            }
            // A part of a string before `${` ends with the whole.
            _ if !whole && token.kind == TokenKind::Comment => return Err(token.start),
            TokenKind::Text if !token.closed && tokens.get(i + 1).is_none_or(|next| next.text(text) != "${") => {
                return Err(token.start);
            }
            _ => {}
        }
    }
    open.last().map_or(Ok(()), |token| Err(token.start))
}

/// Whether a line that begins with `first` is no further part of what stands before it.
fn begins_statement(text: &str, before: Option<Token>, first: Token) -> bool {
    let Some(before) = before else { return true };
    match (before.kind, before.text(text)) {
        _ if opens(text, &before) => true,
        (TokenKind::Mark, ";" | ",") => true,
        (TokenKind::Close, "}") => first.kind != TokenKind::Mark,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// The text with its changes.
    pub fn formatted(text: &str) -> Result<String, String> {
        let mut out = text.to_string();
        for change in changes(text)?.into_iter().rev() {
            out.replace_range(change.start + change.place.start..change.start + change.place.end, &change.spaces);
        }
        Ok(out)
    }

    fn tokens(text: &str) -> Vec<(TokenKind, String)> {
        scan(text).iter().map(|token| (token.kind, token.text(text).to_string())).collect()
    }

    /// Nothing but spaces at the ends of lines, and none in a string or comment: the tokens tell.
    fn checked(text: &str) -> String {
        let once = formatted(text).expect("it is balanced");
        assert_eq!(tokens(&once), tokens(text));
        assert_eq!(once.matches('\n').count(), text.matches('\n').count());
        assert_eq!(once.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(formatted(&once).expect("it is balanced"), once);
        once
    }

    #[test]
    fn lines_are_as_far_in_as_their_brackets() {
        let text = "fn f(x) {\nif x {  \n\t\t[\n1, // one  \n  2,\n]\n} else {\n`a  \n  b ${\n x\n}  \n`\n  }\n}\n\t\n  let y = #{\na: 1,\n  };\n";
        let wanted = "fn f(x) {\n    if x {\n        [\n            1, // one  \n            2,\n        ]\n    } else {\n        `a  \n  b ${\n x\n}  \n`\n    }\n}\n\nlet y = #{\n    a: 1,\n};\n";
        assert_eq!(checked(text), wanted);
    }

    #[test]
    fn what_is_laid_out_by_hand_keeps_its_shape() {
        for text in [
            "let a = f(1,\n          2);\n",
            "let a = b\n    .map(|x| {\n        x\n    })\n    .sum();\n",
            "let a = 1\n      + 2;\n",
            "if a\n    && b {\n    c\n}\n",
            "plot::line([\n    #{ y: 1 },\n], #{\n    title: `a\n   b`,\n    y: 1,\n});\n",
            "switch x {\n    1 => f(),\n    // why\n    _ => g(),\n}\n",
            "let a = x?[\n    0\n];\r\nlet b = \"\\\n  c\";\r\n",
            "/* a\n      b  \n */\nlet a = #\"\n   }  \n\"#;",
            "",
        ] {
            assert_eq!(checked(text), text);
        }
        // It is moved as a whole.
        assert_eq!(checked("{\nlet a = f(1,\n          2);\n}"), "{\n    let a = f(1,\n              2);\n}");
        assert_eq!(checked("let a = 1;  \r\n  let b = 2;\t\r\n"), "let a = 1;\r\nlet b = 2;\r\n");
    }

    #[test]
    fn what_is_not_whole_stays_as_it_is() {
        for text in ["f(\n", "  }\n", "(]", "let a = `\n  b", "/* a\n", "`${\n", &"[\n".repeat(1000)] {
            assert!(formatted(text).is_err(), "{text}");
        }
        assert!(formatted("let a = 1; // no newline at the end").is_ok());
    }

    #[test]
    fn scripts_that_viva_comes_with_are_laid_out_so() {
        fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    scripts(&path, found);
                } else if path.extension().is_some_and(|ending| ending == "rhai") {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        ["scripts", "stdlib", "examples", "docs/gallery"]
            .iter()
            .for_each(|folder| scripts(&root.join(folder), &mut found));
        assert!(found.len() >= 100, "{}", found.len());
        for path in found {
            let text = std::fs::read_to_string(&path).expect("a script");
            assert_eq!(checked(&text), text, "{}", path.display());
            // Whatever spaces its lines begin and end with, those of strings and comments apart.
            let ragged: Vec<String> = text.split('\n').enumerate().map(|(i, line)| " ".repeat(i % 7) + line).collect();
            let _ = checked(&ragged.join("\n"));
        }
    }
}
