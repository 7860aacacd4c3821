//! A line as it is typed, cut into tokens: tolerant of everything that is not finished, linear in its length.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or keyword.
    Word,
    Number,
    /// A string, or what stands between the `${}` of one.
    Text,
    Comment,
    /// `(`, `[`, `{`, `#{`, `${`
    Open,
    /// `)`, `]`, `}`
    Close,
    /// Everything else: `::`, `.`, `,`, operators.
    Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    /// The quote of a string, else a space.
    pub quote: char,
    /// Whether a string or comment has its end.
    pub closed: bool,
}

impl Token {
    pub fn text<'t>(&self, line: &'t str) -> &'t str {
        &line[self.start..self.end]
    }

    /// Where a string's own words begin.
    pub fn content_start(&self, line: &str) -> usize {
        let quoted = line[self.start..].starts_with(self.quote);
        self.start + if quoted { self.quote.len_utf8() } else { 0 }
    }

    /// A string's own words.
    pub fn content<'t>(&self, line: &'t str) -> &'t str {
        let start = self.content_start(line);
        let text = &line[start..self.end.max(start)];
        if self.closed { text.strip_suffix(self.quote).unwrap_or(text) } else { text }
    }
}

/// Marks of more than one character, longer ones first.
const MARKS: [&str; 28] = [
    "..=", "**=", "<<=", ">>=", "::", "..", "?.", "?[", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "+=", "-=",
    "*=", "/=", "%=", "^=", "|=", "&=", "**", "<<", ">>", "->",
];

/// Cuts a text into tokens; spaces belong to none.
pub fn scan(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    // For each open `${`, how many braces are open inside it.
    let mut interpolations: Vec<usize> = Vec::new();
    while let Some(c) = line[at..].chars().next() {
        let start = at;
        let rest = &line[at..];
        let mut token = Token { kind: TokenKind::Mark, start, end: start, quote: ' ', closed: true };
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            token.kind = TokenKind::Comment;
            at += rest.find('\n').unwrap_or(rest.len());
            // A line comment ends with its line.
            token.closed = at < line.len();
        } else if rest.starts_with("/*") {
            token.kind = TokenKind::Comment;
            (at, token.closed) = block_comment(line, at);
        } else if let Some(end) = raw_string(rest) {
            token.kind = TokenKind::Text;
            token.quote = '#';
            (at, token.closed) = (at + end.unwrap_or(rest.len()), end.is_some());
        } else if c == '"' || c == '\'' {
            token.kind = TokenKind::Text;
            token.quote = c;
            (at, token.closed) = quoted(line, at + 1, c);
        } else if c == '`' {
            token.kind = TokenKind::Text;
            token.quote = c;
            let (end, closed, code) = back_ticks(line, at + 1);
            (at, token.closed) = (end, closed);
            if code {
                token.end = at;
                tokens.push(token);
                token = Token { kind: TokenKind::Open, start: at, end: at, quote: ' ', closed: true };
                at += 2;
                interpolations.push(0);
            }
        } else if c.is_ascii_digit() {
            token.kind = TokenKind::Number;
            at = number(line, at);
        } else if is_word(c) {
            token.kind = TokenKind::Word;
            at += rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        } else if rest.starts_with("#{") {
            token.kind = TokenKind::Open;
            at += 2;
            interpolations.last_mut().map(|braces| *braces += 1).unwrap_or_default();
        } else if matches!(c, '(' | '[' | '{') {
            token.kind = TokenKind::Open;
            at += 1;
            if let (Some(braces), '{') = (interpolations.last_mut(), c) {
                *braces += 1;
            }
        } else if matches!(c, ')' | ']' | '}') {
            token.kind = TokenKind::Close;
            at += 1;
            match interpolations.last_mut() {
                Some(0) if c == '}' => {
                    interpolations.pop();
                    token.end = at;
                    tokens.push(token);
                    // The string goes on behind the code.
                    token = Token { kind: TokenKind::Text, start: at, end: at, quote: '`', closed: true };
                    let (end, closed, code) = back_ticks(line, at);
                    (at, token.closed) = (end, closed);
                    if code {
                        token.end = at;
                        tokens.push(token);
                        token = Token { kind: TokenKind::Open, start: at, end: at, quote: ' ', closed: true };
                        at += 2;
                        interpolations.push(0);
                    }
                }
                Some(braces) if c == '}' => *braces -= 1,
                _ => {}
            }
        } else {
            at += MARKS.iter().find(|mark| rest.starts_with(*mark)).map_or(c.len_utf8(), |mark| mark.len());
        }
        token.end = at;
        tokens.push(token);
    }
    tokens
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a string between `#"` and `"#`, of any number of `#`, ends, if it is one that begins here.
fn raw_string(rest: &str) -> Option<Option<usize>> {
    let marks = rest.len() - rest.trim_start_matches('#').len();
    let content = rest[marks..].strip_prefix('"').filter(|_| marks > 0)?;
    let end = format!("\"{}", "#".repeat(marks));
    Some(content.find(&end).map(|at| marks + 1 + at + end.len()))
}

/// Where a block comment ends, and whether it does; comments nest.
fn block_comment(line: &str, start: usize) -> (usize, bool) {
    let bytes = line.as_bytes();
    let (mut at, mut depth) = (start + 2, 1);
    while at < bytes.len() {
        match &bytes[at..(at + 2).min(bytes.len())] {
            b"/*" => (at, depth) = (at + 2, depth + 1),
            b"*/" => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return (at, true);
        }
    }
    (line.len(), false)
}

/// Where a string that began before `start` ends, and whether it does. It ends at its line's end unless that is escaped.
fn quoted(line: &str, start: usize, quote: char) -> (usize, bool) {
    let mut escaped = false;
    for (i, c) in line[start..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return (start + i, true),
            c if c == quote => return (start + i + 1, true),
            _ => {}
        }
    }
    (line.len(), false)
}

/// Where a back-tick string ends, whether it does, and whether code follows there instead.
fn back_ticks(line: &str, start: usize) -> (usize, bool, bool) {
    let rest = &line[start..];
    let mut characters = rest.char_indices().peekable();
    while let Some((i, c)) = characters.next() {
        match (c, characters.peek()) {
            ('`', Some((_, '`'))) => drop(characters.next()),
            ('`', _) => return (start + i + 1, true, false),
            ('$', Some((_, '{'))) => return (start + i, true, true),
            _ => {}
        }
    }
    (line.len(), false, false)
}

/// Where a number ends: `1`, `2.5`, `1e-3`, `0xff`; the dots of `1..3` and `1.len` are not its own.
fn number(line: &str, start: usize) -> usize {
    let bytes = line.as_bytes();
    let mut at = start;
    let mut pointed = false;
    while let Some(&b) = bytes.get(at) {
        let exponent = at > start && matches!(bytes[at - 1], b'e' | b'E') && !line[start..].starts_with("0x");
        match b {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => at += 1,
            b'+' | b'-' if exponent => at += 1,
            b'.' if !pointed && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => (at, pointed) = (at + 1, true),
            _ => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens, each behind the first letter of its kind.
    fn cut(line: &str) -> String {
        let shown = scan(line).into_iter().map(|t| format!("{}{}", &format!("{:?}", t.kind)[..1], t.text(line)));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn code_is_cut_as_the_interpreter_cuts_it() {
        assert_eq!(
            cut("let x = data::f(1.5, #{ n: 1e-3 });"),
            "Wlet Wx M= Wdata M:: Wf O( N1.5 M, O#{ Wn M: N1e-3 C} C) M;"
        );
        assert_eq!(cut("0..10 a.len 1.len"), "N0 M.. N10 Wa M. Wlen N1 M. Wlen");
        assert_eq!(cut("`a${b + `c${d}`}e` + 1"), "T`a O${ Wb M+ T`c O${ Wd C} T` C} Te` M+ N1");
        assert_eq!(cut("`${ #{a: 1} }`"), "T` O${ O#{ Wa M: N1 C} C} T`");
        assert_eq!(cut("a /* b /* c */ d */ e // f\ng"), "Wa C/* b /* c */ d */ We C// f Wg");
    }

    #[test]
    fn what_is_open_stays_open() {
        for line in ["\"abc", "`abc", "/* abc", "\"a\\", "// abc", "`a${b}c", "'x"] {
            let last = *scan(line).last().expect("a token");
            assert!(!last.closed, "{line}");
        }
        let line = "`a${\"b";
        assert_eq!(scan(line).last().map(|t| t.content(line)), Some("b"));
        assert!(scan("\"abc\nlet").last().is_some_and(|t| t.kind == TokenKind::Word), "a string ends with its line");
    }

    #[test]
    fn every_byte_belongs_to_one_token_or_to_space() {
        for line in ["ä + \"ö\" # \u{301} 🙂.x", "#", "$", "}}}", "`${`${`", "\\", "1e", "0x", "\u{0}"] {
            let mut at = 0;
            for token in scan(line) {
                assert!(token.start >= at && token.end > token.start || token.kind == TokenKind::Text, "{line}");
                assert!(line[at..token.start].trim().is_empty(), "{line}");
                at = token.end;
            }
            assert!(line[at..].trim().is_empty(), "{line}");
        }
    }
}
