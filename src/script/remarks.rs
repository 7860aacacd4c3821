//! What can be read and still is not what was meant.

use super::code::Code;
use super::scan::{TokenKind, scan};

/// Something that is probably meant otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// The byte it is about.
    pub at: usize,
    pub message: String,
}

/// Every `//` that stands between two operands, as Python divides integers, and begins a comment here. `known` are variables of
/// earlier lines.
pub fn slashes<'n>(text: &str, known: impl Iterator<Item = &'n str>) -> Vec<Remark> {
    if !text.contains("//") {
        return Vec::new();
    }
    let code = Code::new(text);
    let functions = code.functions();
    let mut names = code.names(0..code.tokens.len());
    names.extend(functions.iter().flat_map(|f| f.parameters.clone()).filter_map(|token| code.word(token)));
    names.extend(known.map(|name| name as &str));
    let all = scan(text);
    let mut remarks = Vec::new();
    for pair in all.windows(2) {
        let [before, comment] = pair else { continue };
        let words = comment.text(text);
        let own_line = text[before.end..comment.start].contains('\n');
        if comment.kind != TokenKind::Comment || own_line || words.starts_with("/*") || words.starts_with("///") {
            continue;
        }
        let Some(left) = code.tokens.iter().position(|t| t.end == before.end).and_then(|last| operand(&code, last))
        else {
            continue;
        };
        if let Some(right) = divisor(&words[2..], &names) {
            let message = format!(
                "`//` begins a comment, so that this is `{left}` alone; integers are divided by div({left}, {right}), and a comment \
                 that is meant stands behind `;` or on a line of its own"
            );
            remarks.push(Remark { at: comment.start, message });
        }
    }
    remarks
}

/// The operand that ends with this token.
fn operand<'t>(code: &Code<'t>, last: usize) -> Option<&'t str> {
    let mut at = last;
    let first = loop {
        let token = code.tokens.get(at)?;
        match token.kind {
            TokenKind::Number => break at,
            TokenKind::Word => {
                let behind = at.checked_sub(1);
                match behind.filter(|b| code.dot(*b) || code.is(*b, "::")) {
                    Some(mark) => at = mark.checked_sub(1)?,
                    None => {
                        break code.word(at).filter(|word| !super::code::NO_VARIABLES.contains(word)).map(|_| at)?;
                    }
                }
            }
            TokenKind::Close if !code.is(at, "}") => {
                let open = code.partner(at)?;
                let applied =
                    open.checked_sub(1).filter(|b| matches!(code.tokens[*b].kind, TokenKind::Word | TokenKind::Close));
                match applied.filter(|b| code.word(*b).is_none_or(|word| !super::code::NO_VARIABLES.contains(&word))) {
                    Some(callee) => at = callee,
                    None => break open,
                }
            }
            _ => return None,
        }
    };
    Some(&code.text[code.tokens[first].start..code.tokens[last].end])
}

/// The operand that a comment is, if it is nothing else: numbers, brackets, operators and variables that there are.
fn divisor(words: &str, names: &[&str]) -> Option<String> {
    let operand = words.trim().trim_end_matches([';', ',', ')', ']', '}', ' ']).trim();
    let balanced = |text: &str| text.matches(['(', '[']).count() == text.matches([')', ']']).count();
    // What closes a call of its own belongs to it.
    let closing = (0..=words.trim().len()).rev().filter(|end| words.trim().is_char_boundary(*end));
    let operand = match balanced(operand) {
        true => operand,
        false => closing.map(|end| &words.trim()[..end]).find(|part| balanced(part) && part.starts_with(operand))?,
    };
    let code = Code::new(operand);
    let mut value_before = false;
    for (at, token) in code.tokens.iter().enumerate() {
        let value = match token.kind {
            TokenKind::Number => true,
            TokenKind::Word => {
                let member = at > 0 && code.dot(at - 1);
                let called = code.is(at + 1, "(");
                let word = token.text(operand);
                if !member && !called && !names.contains(&word) {
                    return None;
                }
                true
            }
            TokenKind::Open if value_before && code.is(at, "{") => return None,
            TokenKind::Open | TokenKind::Mark => {
                value_before = false;
                continue;
            }
            TokenKind::Close => {
                value_before = true;
                continue;
            }
            TokenKind::Text | TokenKind::Comment => return None,
        };
        // Two values side by side are words.
        if value && value_before {
            return None;
        }
        value_before = value;
    }
    value_before.then(|| operand.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_that_is_an_operand_is_remarked_on_and_others_are_not() {
        let found = |text: &str| slashes(text, ["epochs"].into_iter()).len();
        for text in [
            "7 // 2",
            "let n = 7; n // 2",
            "let half = epochs // 2;",
            "let n = 3; f(n // (n + 1))",
            "xs.len() // 2",
            "(7 + 1) // 2 + 1",
            "fn half(n) { n // 2\n}",
            "let b = 2; [7 // b]",
            "let v = [7]; v[0] // v.len()",
        ] {
            assert_eq!(found(text), 1, "{text}");
        }
        for text in [
            "let x = 7; // two",
            "let x = 7; // 2",
            "f(a, // first\n b)",
            "[1, 2] // pairs",
            "if a { b } // 3",
            "// 2",
            "7 // seconds",
            "7 // in all: 2",
            "\"a\" // 2",
            "let x = 7 // a number\n ;",
            "/// 3\nfn f() { 1 }",
            "1 // 2 epochs",
            "`a // 2`",
            "7 /* 2 */",
            "\"https://a\"",
        ] {
            assert_eq!(found(text), 0, "{text}");
        }
    }
}
