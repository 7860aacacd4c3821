//! A script cut into the cells of a notebook: comments that stand by themselves are for reading, the rest is cut at blank lines where a
//! statement ends.

use crate::script::scan::{Token, TokenKind, scan};

/// What is part of a statement although it stands behind one's end.
const GOES_ON: [&str; 4] = ["else", "catch", "while", "until"];

/// What a cell is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Without the marks of a comment, where it is one.
    pub text: String,
    pub is_comment: bool,
    /// What stands between it and the next one.
    pub after: String,
}

/// The blocks of a script, in its order: put behind each other, they are the script.
pub fn blocks(script: &str) -> Vec<Block> {
    let mut parts = joined(&cut(script), script);
    if let Some((comment, rest)) = parts.pop().map(trailing_comment) {
        parts.push(comment);
        parts.extend(rest);
    }
    parts.iter().map(|part| block(part)).collect()
}

/// The script's pieces, each with the blank lines behind it.
fn cut(script: &str) -> Vec<&str> {
    let tokens = scan(script);
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in script.split_inclusive('\n') {
        let end = at + line.len();
        let blank = line.trim().is_empty();
        let next_is_blank = script[end..].lines().next().is_none_or(|next| next.trim().is_empty());
        if blank && !next_is_blank && !script[start..at].trim().is_empty() && ends_here(script, &tokens, at) {
            found.push(&script[start..end]);
            start = end;
        }
        at = end;
    }
    if start < script.len() {
        found.push(&script[start..]);
    }
    found
}

/// Whether a statement ends before this byte, in no bracket and no string.
fn ends_here(script: &str, tokens: &[Token], at: usize) -> bool {
    let mut depth = 0;
    let mut last = None;
    for token in tokens.iter().take_while(|token| token.start < at) {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth -= 1,
            _ => {}
        }
        if token.end > at {
            return false;
        }
        if token.kind != TokenKind::Comment {
            last = Some(token.text(script));
        }
    }
    let next = tokens.iter().find(|token| token.start >= at && token.kind != TokenKind::Comment);
    let goes_on = next.is_some_and(|token| {
        token.kind == TokenKind::Mark && token.text(script) != "|" && token.text(script) != "||"
            || GOES_ON.contains(&token.text(script)) && last == Some("}")
    });
    depth == 0 && !goes_on && last.is_none_or(|text| text == ";" || text == "}")
}

/// Pieces that call functions of later ones are one cell with them: a script knows its functions from its first line on.
fn joined<'s>(pieces: &[&'s str], script: &'s str) -> Vec<&'s str> {
    let defined: Vec<Vec<String>> = pieces.iter().map(|piece| functions_of(piece)).collect();
    let words: Vec<Vec<&str>> = pieces
        .iter()
        .map(|piece| scan(piece).iter().filter(|t| t.kind == TokenKind::Word).map(|t| t.text(piece)).collect())
        .collect();
    let mut ends = Vec::new();
    let mut end = 0;
    for place in 0..pieces.len() {
        let needed = (place + 1..pieces.len()).rev();
        let last = needed.into_iter().find(|&later| {
            let runs = words[place].iter().any(|word| defined[later].iter().any(|name| name == word));
            runs && (defined[place].is_empty() || runs_something(pieces[place]))
        });
        end = end.max(last.unwrap_or(place));
        if end == place {
            ends.push(place);
        }
    }
    let mut found = Vec::new();
    let mut start = 0;
    let mut place = 0;
    for end in ends {
        let length: usize = pieces[place..=end].iter().map(|piece| piece.len()).sum();
        found.push(&script[start..start + length]);
        (start, place) = (start + length, end + 1);
    }
    found
}

/// The names of the functions that a piece defines.
fn functions_of(piece: &str) -> Vec<String> {
    let tokens = scan(piece);
    let defined = tokens.windows(2).filter(|pair| pair[0].kind == TokenKind::Word && pair[0].text(piece) == "fn");
    defined.map(|pair| pair[1].text(piece).to_string()).collect()
}

/// Whether there is more in it than functions, which call each other in any order.
fn runs_something(piece: &str) -> bool {
    let tokens: Vec<Token> = scan(piece).into_iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let mut depth = 0;
    let mut in_function = false;
    for token in &tokens {
        let text = token.text(piece);
        if depth == 0 && (text == "fn" || text == "private") {
            in_function = true;
        } else if depth == 0 && !in_function && !matches!(text, ";") {
            return true;
        }
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => {
                depth -= 1;
                if depth == 0 && text == "}" {
                    in_function = false;
                }
            }
            _ => {}
        }
    }
    false
}

/// The comment behind the last statement is a block of its own.
fn trailing_comment(piece: &str) -> (&str, Option<&str>) {
    let mut begins = piece.len();
    for line in piece.split_inclusive('\n').rev() {
        if !line.starts_with("//") && !line.trim().is_empty() {
            break;
        }
        begins -= line.len();
    }
    let (code, comment) = piece.split_at(begins);
    let is_comment = |text: &str| !text.trim().is_empty() && in_words(text.trim_end_matches('\n')).is_some();
    match !code.trim().is_empty() && is_comment(comment) {
        true => (code, Some(comment)),
        false => (piece, None),
    }
}

fn block(piece: &str) -> Block {
    let text = piece.trim_end_matches(['\n', '\r', ' ', '\t']);
    let after = piece[text.len()..].to_string();
    match in_words(text) {
        Some(words) => Block { text: words, is_comment: true, after },
        None => Block { text: text.into(), is_comment: false, after },
    }
}

/// The words of a text that is a comment line by line, and comes back from them.
fn in_words(text: &str) -> Option<String> {
    let word = |line: &str| match line.strip_prefix("//")? {
        "" => Some(String::new()),
        rest => rest.strip_prefix(' ').filter(|rest| rest.trim_end() == *rest && !rest.is_empty()).map(String::from),
    };
    let lines: Vec<String> = text.split('\n').map(word).collect::<Option<_>>()?;
    (!text.is_empty()).then(|| lines.join("\n"))
}

/// Words as a comment.
pub fn comment(words: &str) -> String {
    let line = |line: &str| match line.trim_end() {
        "" => "//".to_string(),
        line => format!("// {line}"),
    };
    words.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<(bool, String)> {
        let found = blocks(script);
        let back = |block: &Block| {
            let text = if block.is_comment { comment(&block.text) } else { block.text.clone() };
            text + block.after.as_str()
        };
        assert_eq!(found.iter().map(back).collect::<String>(), script);
        found.into_iter().map(|block| (block.is_comment, block.text)).collect()
    }

    #[test]
    fn statements_stay_whole_and_comments_are_read() {
        let script = "// What?\n//\n// So.\n\nlet a = #{\n\n  b: 1,\n};\nlet c = 2;\n\nfn f(x) {\n  x\n\n}\n\nif a {\n}\n\nelse {\n}\n\nf(`\n\n`)\n// Try: x\n// Try: y\n";
        let code = |text: &str| (false, text.to_string());
        assert_eq!(
            texts(script),
            [
                (true, "What?\n\nSo.".to_string()),
                code("let a = #{\n\n  b: 1,\n};\nlet c = 2;"),
                code("fn f(x) {\n  x\n\n}"),
                code("if a {\n}\n\nelse {\n}"),
                code("f(`\n\n`)"),
                (true, "Try: x\nTry: y".to_string()),
            ]
        );
    }

    #[test]
    fn what_calls_a_later_function_is_one_cell_with_it() {
        assert_eq!(texts("let a = f(1);\n\nlet b = 2;\n\nfn f(x) { x }\n\nb\n").len(), 2);
        assert_eq!(texts("fn g(x) { f(x) }\n\nfn f(x) { x }\n\ng(1)\n").len(), 3);
    }

    #[test]
    fn odd_texts_come_back() {
        for script in
            ["", "\n", "\n\n1", "//x\n\n// y \n\n1;\n\n\n\n2\n\n", "// a\r\n\r\n1\r\n", "\"", "/*\n\n", "`a\n\nb"]
        {
            texts(script);
        }
    }
}
