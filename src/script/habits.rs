//! What someone who comes from Python meant, and how it is said here.

use std::ops::Range;

use super::borrowed_names::no_python;
use super::scan::{Token, TokenKind, scan};
use crate::primitives::NAMESPACES;

/// Tokens of a long line on either side that are looked at.
const FARTHEST: usize = 200;

/// A habit found in a text that can't be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Habit {
    /// What is wrong with it.
    pub what: String,
    /// How it is said here.
    pub hint: String,
    /// The bytes of the text that are meant.
    pub at: Range<usize>,
}

/// The tokens of a text around the place where reading it failed.
struct Lines<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    /// The token at the place.
    failed: usize,
    /// The byte where reading failed.
    at: usize,
    /// The tokens of its line; also of the line before, if it is the first of its line.
    near: Range<usize>,
}

/// The habit behind a syntax error at this byte of the text.
pub fn in_syntax<'t>(text: &'t str, at: usize) -> Option<Habit> {
    let mut tokens = scan(text);
    tokens.retain(|t| t.kind != TokenKind::Comment);
    let failed = tokens.iter().position(|t| t.end > at).unwrap_or(tokens.len().saturating_sub(1));
    let broken = |token: usize| text[tokens[token - 1].end..tokens[token].start].contains('\n');
    let mut start = failed;
    // A line's first token may be the end of what the line before forgot.
    for lines in 0..2 {
        while start > 0 && failed - start < FARTHEST && !broken(start) {
            start -= 1;
        }
        if lines == 0 && start == failed && start > 0 && failed < tokens.len() {
            start -= 1;
        } else {
            break;
        }
    }
    let mut end = (failed + 1).min(tokens.len());
    while end < tokens.len() && end - failed < FARTHEST && !broken(end) {
        end += 1;
    }
    let near = start..end;
    let lines = Lines { text, tokens, failed, at, near };
    let rules: [fn(&Lines<'t>, usize) -> Option<Habit>; 25] = [
        Lines::single_quotes,
        Lines::bare_point,
        Lines::format_string,
        Lines::comment,
        Lines::function,
        Lines::lambda,
        Lines::arrow,
        Lines::word,
        Lines::import_from,
        Lines::print,
        Lines::comprehension,
        Lines::spread,
        Lines::conditional,
        Lines::question,
        Lines::slice,
        Lines::options,
        Lines::one_colon,
        Lines::map,
        Lines::key,
        Lines::step,
        Lines::type_given,
        Lines::several_names,
        Lines::block,
        Lines::semicolon,
        Lines::open,
    ];
    rules.into_iter().find_map(|rule| lines.near.clone().find_map(|token| rule(&lines, token)))
}

impl Lines<'_> {
    fn word_at(&self, token: usize) -> &str {
        self.tokens.get(token).map_or("", |t| t.text(self.text))
    }

    fn kind(&self, token: usize) -> Option<TokenKind> {
        self.tokens.get(token).map(|t| t.kind)
    }

    fn is(&self, token: usize, text: &str) -> bool {
        self.kind(token) != Some(TokenKind::Text) && self.word_at(token) == text
    }

    fn before(&self, token: usize, text: &str) -> bool {
        token > 0 && self.is(token - 1, text)
    }

    /// The text of these tokens.
    fn span(&self, tokens: Range<usize>) -> &str {
        match (self.tokens.get(tokens.start), tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last))) {
            (Some(first), Some(last)) if first.start < last.end => &self.text[first.start..last.end],
            _ => "",
        }
    }

    fn habit(&self, tokens: Range<usize>, what: impl Into<String>, hint: impl Into<String>) -> Option<Habit> {
        let first = self.tokens.get(tokens.start)?;
        let last = self.tokens.get(tokens.end.max(tokens.start + 1) - 1)?;
        Some(Habit { what: what.into(), hint: hint.into(), at: first.start..last.end })
    }

    /// The first token from here on that has this text and stands in no inner bracket; at most the end of the lines.
    fn find(&self, from: usize, wanted: &[&str]) -> Option<usize> {
        let mut depth = 0;
        for token in from..self.near.end {
            if depth == 0 && wanted.iter().any(|text| self.is(token, text)) {
                return Some(token);
            }
            match self.kind(token) {
                Some(TokenKind::Open) => depth += 1,
                Some(TokenKind::Close) if depth == 0 => return None,
                Some(TokenKind::Close) => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// Where an expression that begins here ends: at a comma, a semicolon, a closing bracket, or its line's end.
    fn expression_end(&self, from: usize) -> usize {
        let mut depth = 0;
        for token in from..self.near.end {
            match self.kind(token) {
                Some(TokenKind::Open) => depth += 1,
                Some(TokenKind::Close) if depth == 0 => return token,
                Some(TokenKind::Close) => depth -= 1,
                _ if depth == 0 && [",", ";"].iter().any(|mark| self.is(token, mark)) => return token,
                _ => {}
            }
        }
        self.near.end.max(from)
    }

    /// The bracket that is open around a token.
    fn around(&self, token: usize) -> Option<usize> {
        let mut depth = 0;
        for at in (0..token).rev() {
            match self.kind(at) {
                Some(TokenKind::Close) => depth += 1,
                Some(TokenKind::Open) if depth == 0 => return Some(at),
                Some(TokenKind::Open) => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn single_quotes(&self, token: usize) -> Option<Habit> {
        let string = self.tokens.get(token).filter(|t| t.kind == TokenKind::Text && t.quote == '\'')?;
        let words = string.content(self.text);
        (words.chars().count() != 1 && !words.starts_with('\\')).then_some(())?;
        // Between double quotes a backslash begins a sign of its own, such as a line break.
        let plain = words.replace('\\', "/");
        let also = if plain == words { "" } else { "; a path has / between its folders on every system" };
        self.habit(token..token + 1, "a string stands in double quotes", format!("write \"{plain}\"{also}"))
    }

    fn bare_point(&self, token: usize) -> Option<Habit> {
        let digits = self.tokens.get(token + 1).filter(|t| t.kind == TokenKind::Number)?;
        let alone = token == 0
            || self.tokens[token - 1].end < self.tokens[token].start
            || self.kind(token - 1) == Some(TokenKind::Open);
        let after_sign =
            token > 0 && matches!(self.word_at(token - 1), "*" | "/" | "+" | "-" | "," | "=" | "(" | "[" | ":");
        (self.is(token, ".") && digits.start == self.tokens[token].end && (alone || after_sign)).then_some(())?;
        self.habit(token..token + 2, "a number begins with a digit", format!("write 0.{}", self.word_at(token + 1)))
    }

    fn format_string(&self, token: usize) -> Option<Habit> {
        let string =
            self.tokens.get(token + 1).filter(|t| t.kind == TokenKind::Text && t.start == self.tokens[token].end)?;
        ["f", "F", "rf", "r", "b"].contains(&self.word_at(token)).then_some(())?;
        let words = string.content(self.text);
        let hint = if self.word_at(token).eq_ignore_ascii_case("f") {
            format!("a string with values in it stands in back-ticks: `{}`", words.replace('{', "${"))
        } else {
            "strings have no letter in front; one in back-ticks takes every character as it is".into()
        };
        self.habit(token..token + 2, format!("no letter stands before a string: `{}`", self.word_at(token)), hint)
    }

    fn comment(&self, token: usize) -> Option<Habit> {
        let hash = self.is(token, "#") && self.tokens[token].start >= self.tokens[self.failed].start;
        let end = (token..self.near.end).last()? + 1;
        hash.then(|| self.habit(token..end, "`#` begins no comment", "a comment begins with //")).flatten()
    }

    fn function(&self, token: usize) -> Option<Habit> {
        let word = self.word_at(token);
        (["def", "function", "func"].contains(&word) && self.kind(token + 1) == Some(TokenKind::Word)).then_some(())?;
        let name = self.word_at(token + 1);
        let end = self.find(token + 2, &[":", "{", "->"]).unwrap_or(self.near.end);
        let parameters = self.span(token + 2..end);
        self.habit(
            token..token + 1,
            format!("`{word}` begins no function"),
            format!("a function is written fn {name}{parameters} {{ ... }}"),
        )
    }

    fn lambda(&self, token: usize) -> Option<Habit> {
        self.is(token, "lambda").then_some(())?;
        let colon = self.find(token + 1, &[":"])?;
        let end = self.expression_end(colon + 1);
        let (parameters, body) = (self.span(token + 1..colon), self.span(colon + 1..end));
        let hint = format!("a closure is written |{parameters}| {body}");
        self.habit(token..end, "`lambda` begins no closure", hint)
    }

    /// `x => x + 1`
    fn arrow(&self, token: usize) -> Option<Habit> {
        self.is(token, "=>").then_some(())?;
        if self.around(token).is_some_and(|open| self.is(open, "{")) {
            return None;
        }
        let closed = self.before(token, ")");
        let start = if closed { self.around(token - 1)? } else { token.checked_sub(1)? };
        let parameters = self.span(start..token).trim_matches(['(', ')']).to_string();
        let end = self.expression_end(token + 1);
        let hint = format!("a closure is written |{parameters}| {}", self.span(token + 1..end));
        self.habit(start..end, "`=>` makes no closure", hint)
    }

    /// Words that have another spelling here.
    fn word(&self, token: usize) -> Option<Habit> {
        if self.kind(token) != Some(TokenKind::Word)
            || self.before(token, ".")
            || self.is(token + 1, "(") && !self.is(token, "not")
        {
            return None;
        }
        let word = self.word_at(token);
        let left = token.checked_sub(1).map_or("", |t| self.word_at(t)).to_string();
        let right = self.word_at(token + 1).to_string();
        let (last, hint) = match word {
            "elif" | "elsif" | "elseif" => (token, "write else if".into()),
            "and" => (token, "write &&".into()),
            "or" => (token, "write ||".into()),
            "not" if right == "in" => (token + 1, format!("write !({left} in {})", self.word_at(token + 2))),
            "not" => (token, format!("write !{right}")),
            "is" if right == "not" => (token + 1, format!("write {left} != {}", here(self.word_at(token + 2)))),
            "is" => (token, format!("write {left} == {}", here(&right))),
            "null" | "nil" if token == self.failed => {
                (token, "write (): it is the value that says there is none".into())
            }
            "var" => (token, format!("write let {right}")),
            "class" | "struct" | "interface" => {
                (token, "there are no classes: a map such as #{ name: \"a\" } holds values together".into())
            }
            "pass" => (token, "an empty block is { }".into()),
            "del" => (token, "nothing needs deleting: give the name another value, such as ()".into()),
            "assert" => (token, "write if !(...) { throw \"...\" }".into()),
            "raise" => (token, "write throw \"...\"".into()),
            "except" => (token, "write try { ... } catch (e) { ... }".into()),
            "with" => (token, "values close by themselves: use them without `with`".into()),
            "yield" | "async" | "await" => (token, "functions give one value, at once".into()),
            "default" if left.is_empty() || ["{", ",", ";"].contains(&left.as_str()) && right == "=>" => {
                (token, "write _ => ...".into())
            }
            "default" | "match" | "use" | "new" | "export" | "shared" | "case" | "static" | "go" | "module"
            | "package" | "spawn" | "thread" | "sync" | "void" | "public" | "protected" | "super" | "goto" | "exit"
            | "macro"
                if token == self.failed =>
            {
                let what = format!("`{word}` is a word of the language's own");
                return self.habit(token..token + 1, what, format!("choose another name, such as {word}_"));
            }
            _ => return None,
        };
        self.habit(token..last + 1, format!("`{}` has no meaning here", self.span(token..last + 1)), hint)
    }

    fn import_from(&self, token: usize) -> Option<Habit> {
        (self.is(token, "from") && self.find(token, &["import"]).is_some()).then_some(())?;
        self.habit(token..self.near.end, "modules are imported by a path in quotes", no_python(self.word_at(token + 1)))
    }

    fn print(&self, token: usize) -> Option<Habit> {
        (self.is(token, "print") && !self.is(token + 1, "(")).then_some(())?;
        let end = self.expression_end(token + 1);
        let hint = format!("write print({})", self.span(token + 1..end));
        self.habit(token..end, "`print` is a function", hint)
    }

    fn comprehension(&self, token: usize) -> Option<Habit> {
        self.is(token, "for").then_some(())?;
        let open = self.around(token).filter(|open| self.is(*open, "[") || self.is(*open, "("))?;
        let name = self.word_at(token + 1);
        let from = (self.is(token + 2, "in")).then_some(token + 3)?;
        let end = self.find(from, &["if"]).unwrap_or_else(|| self.expression_end(from));
        let (body, over) = (self.span(open + 1..token), self.span(from..end));
        let hint = if over.starts_with("range(") || over.contains("..") {
            let over = if over.contains("..") { over.to_string() } else { span_of_range(over) };
            format!("write let made = []; for {name} in {over} {{ made.push({body}); }}")
        } else if self.is(end, "if") {
            let condition = self.span(end + 1..self.expression_end(end + 1));
            format!("write {over}.filter(|{name}| {condition}).map(|{name}| {body})")
        } else {
            format!("write {over}.map(|{name}| {body})")
        };
        self.habit(token..self.expression_end(token), "`for` stands in no array", hint)
    }

    fn spread(&self, token: usize) -> Option<Habit> {
        let stars = self.is(token, "*") || self.is(token, "**");
        let first = self.before(token, "(") || self.before(token, ",");
        (stars && first && self.kind(token + 1) == Some(TokenKind::Word)).then_some(())?;
        let name = self.word_at(token + 1);
        let hint = if self.is(token, "**") {
            format!("options travel as one map: pass {name} itself")
        } else {
            format!("many values travel as one array: pass {name} itself")
        };
        self.habit(token..token + 2, "arguments are not unpacked", hint)
    }

    /// `a if c else b`
    fn conditional(&self, token: usize) -> Option<Habit> {
        let behind_value = token > 0
            && self.near.contains(&(token - 1))
            && matches!(
                self.kind(token - 1),
                Some(TokenKind::Word | TokenKind::Number | TokenKind::Text | TokenKind::Close)
            )
            && !["else", "return", "}"].contains(&self.word_at(token - 1));
        (self.is(token, "if") && behind_value).then_some(())?;
        let start = (self.near.start..token)
            .rev()
            .find(|t| ["=", ",", ";", "return", "(", "[", "=>"].iter().any(|mark| self.is(*t, mark)))
            .map_or(self.near.start, |t| t + 1);
        let start = if self.before(token, ")") { start.min(self.around(token - 1)?) } else { start };
        let end = self.expression_end(token + 1);
        let hint = match self.find(token + 1, &["else"]) {
            Some(other) => format!(
                "write if {} {{ {} }} else {{ {} }}",
                self.span(token + 1..other),
                self.span(start..token),
                self.span(other + 1..end)
            ),
            None => format!("write if {} {{ {} }}", self.span(token + 1..end), self.span(start..token)),
        };
        self.habit(token..token + 1, "`if` comes before what it decides on", hint)
    }

    /// `c ? a : b`
    fn question(&self, token: usize) -> Option<Habit> {
        (self.is(token, "?") && token == self.failed).then_some(())?;
        let hint = match self.find(token, &[":"]) {
            Some(colon) => format!(
                "write if ... {{ {} }} else {{ {} }}",
                self.span(token + 1..colon),
                self.span(colon + 1..self.expression_end(colon + 1))
            ),
            None => "?name explains a name at the prompt".into(),
        };
        self.habit(token..token + 1, "`?` decides nothing", hint)
    }

    fn slice(&self, token: usize) -> Option<Habit> {
        (self.is(token, ":") || self.is(token, "::")).then_some(())?;
        let open = self.around(token).filter(|open| self.is(*open, "[") && *open > 0)?;
        matches!(self.kind(open - 1), Some(TokenKind::Word | TokenKind::Close | TokenKind::Text)).then_some(())?;
        let end = self.expression_end(token + 1);
        let (from, to) = (self.span(open + 1..token), self.span(token + 1..end));
        let named = matches!(self.kind(open - 1), Some(TokenKind::Word | TokenKind::Text));
        let of = if named { self.word_at(open - 1) } else { "x" };
        let from = if from.is_empty() { "0" } else { from };
        let end_of = format!("{of}.len()");
        let to = if to.is_empty() { &end_of } else { to };
        let skip = if from == "0" { String::new() } else { format!(".skip({from})") };
        let take = if from == "0" { to.to_string() } else { format!("{to} - {from}") };
        let hint = format!(
            "a part of an array is {of}.extract({from}..{to}), of a string {of}.sub_string({from}..{to}), of a tensor {of}.pick({from}..{to}), of a \
             data set {of}{skip}.take({take})"
        );
        self.habit(open..end + usize::from(self.is(end, "]")), "a part is not cut out with a colon", hint)
    }

    /// `f(x, n=5)`
    fn options(&self, token: usize) -> Option<Habit> {
        let pair = self.kind(token) == Some(TokenKind::Word) && (self.is(token + 1, "=") || self.is(token + 1, ":"));
        let first = self.before(token, "(") || self.before(token, ",");
        let open = self.around(token).filter(|open| pair && first && self.is(*open, "(") && *open > 0)?;
        let name_at = open - 1;
        (self.kind(name_at) == Some(TokenKind::Word)).then_some(())?;
        if name_at > 0 && self.is(name_at - 1, "fn") {
            return None;
        }
        let start = if name_at >= 2 && self.is(name_at - 1, "::") { name_at - 2 } else { name_at };
        let (mut plain, mut pairs) = (Vec::new(), Vec::new());
        let mut at = open + 1;
        while at < self.near.end {
            let end = self.expression_end(at);
            if self.is(at + 1, "=") || self.is(at + 1, ":") {
                pairs.push(format!("{}: {}", self.word_at(at), here(self.span(at + 2..end))));
            } else if end > at {
                plain.push(self.span(at..end).to_string());
            }
            if !self.is(end, ",") {
                break;
            }
            at = end + 1;
        }
        plain.push(format!("#{{ {} }}", pairs.join(", ")));
        let hint =
            format!("options stand in a map at the end: {}({})", self.span(start..name_at + 1), plain.join(", "));
        self.habit(token..token + 2, "arguments have no names", hint)
    }

    /// `data:load`
    fn one_colon(&self, token: usize) -> Option<Habit> {
        let word = self.word_at(token);
        let namespace = NAMESPACES.iter().any(|(name, _)| !name.is_empty() && *name == word);
        let joined = self.is(token + 1, ":") && self.kind(token + 2) == Some(TokenKind::Word);
        (namespace && joined && !self.before(token, ",") && !self.before(token, "#{")).then_some(())?;
        let hint = format!("write {word}::{}", self.word_at(token + 2));
        self.habit(token..token + 3, "a namespace is followed by two colons", hint)
    }

    /// `{"a": 1}`
    fn map(&self, token: usize) -> Option<Habit> {
        let key = matches!(self.kind(token + 1), Some(TokenKind::Word | TokenKind::Text));
        (self.is(token, "{") && key && self.is(token + 2, ":")).then_some(())?;
        let mut end = self.expression_end(token + 1);
        while end < self.near.end && self.is(end, ",") {
            end = self.expression_end(end + 1);
        }
        let hint =
            format!("a map begins with #: #{{{}}}", self.text[self.tokens[token].end..self.end_of(end)].trim_end());
        self.habit(token..token + 1, "`{` begins a block", hint)
    }

    /// Where the token before this one ends.
    fn end_of(&self, token: usize) -> usize {
        token.checked_sub(1).and_then(|t| self.tokens.get(t)).map_or(self.text.len(), |t| t.end)
    }

    /// `#{ a = 1 }`, `#{ a }`
    fn key(&self, token: usize) -> Option<Habit> {
        let first = self.before(token, "#{") || self.before(token, ",");
        let inside = self.around(token).is_some_and(|open| self.is(open, "#{"));
        let word = matches!(self.kind(token), Some(TokenKind::Word | TokenKind::Text));
        (first && inside && word && !self.is(token + 1, ":")).then_some(())?;
        let name = self.word_at(token);
        if self.is(token + 1, "=") {
            let value = self.span(token + 2..self.expression_end(token + 2));
            return self.habit(token..token + 2, "a key is followed by a colon", format!("write {name}: {value}"));
        }
        let what = format!("the key {name} has no value");
        self.habit(token..token + 1, what, format!("write {name}: {name} if a variable of that name holds it"))
    }

    /// `x: int`, `-> int`
    fn type_given(&self, token: usize) -> Option<Habit> {
        let behind_name = token > 0 && self.kind(token - 1) == Some(TokenKind::Word);
        let in_function = self.around(token).is_some_and(|open| open >= 2 && self.is(open - 2, "fn"));
        let in_let = token >= 2 && (self.is(token - 2, "let") || self.is(token - 2, "const"));
        let given = self.is(token, ":") && behind_name && (in_function || in_let) || self.is(token, "->");
        given.then(|| {
            self.habit(token..token + 2, "types are not written", "leave it out: every value knows its type")
        })?
    }

    /// `let (a, b) = ...`, `a, b = ...`
    fn several_names(&self, token: usize) -> Option<Habit> {
        let hint = "one name at a time: let a = both[0]; let b = both[1];";
        if self.is(token, "let") && (self.is(token + 1, "(") || self.is(token + 1, "[")) {
            return self.habit(token + 1..token + 2, "`let` takes one name", hint);
        }
        if self.is(token, "for") && self.is(token + 2, ",") {
            let (one, other) = (self.word_at(token + 1), self.word_at(token + 3));
            let hint = format!("with a counter it is for ({one}, {other}) in ...: the value first, then its place");
            return self.habit(token + 1..token + 4, "two names stand in parentheses", hint);
        }
        let names = self.kind(token) == Some(TokenKind::Word) && self.is(token + 1, ",") && self.is(token + 3, "=");
        let alone = token == self.near.start || self.before(token, ";");
        (names && alone).then(|| self.habit(token..token + 3, "`=` takes one name", hint))?
    }

    /// `x++`, `<>`, `:=`
    fn step(&self, token: usize) -> Option<Habit> {
        let twice = |mark: &str| {
            self.is(token, mark) && self.is(token + 1, mark) && self.tokens[token].end == self.tokens[token + 1].start
        };
        let name = token.checked_sub(1).map_or("x", |t| self.word_at(t));
        if twice("+") || twice("-") {
            let hint = format!("write {name} {}= 1", self.word_at(token));
            return self.habit(token..token + 2, "there is no such operator", hint);
        }
        if self.is(token, "<") && self.is(token + 1, ">") {
            return self.habit(token..token + 2, "there is no such operator", "write !=");
        }
        let go = self.is(token, ":") && self.is(token + 1, "=");
        go.then(|| self.habit(token..token + 2, "there is no such operator", format!("write let {name} = ...")))?
    }

    /// `for x in y:`, `if c: d`, `if (c) d`
    fn block(&self, token: usize) -> Option<Habit> {
        let word = self.word_at(token);
        ["for", "while", "if", "else", "try", "loop"].contains(&word).then_some(())?;
        let what = "a block stands in braces";
        if let Some(colon) = self.find(token + 1, &[":", "{"]).filter(|at| self.is(*at, ":")) {
            let head = self.span(token..colon);
            let (start, end) = (head.find("range("), head.rfind(')').map(|at| at + 1));
            let head = match (start, end) {
                (Some(start), Some(end)) if start < end => {
                    format!("{}{}{}", &head[..start], span_of_range(&head[start..end]), &head[end..])
                }
                _ => head.to_string(),
            };
            let body = self.span(colon + 1..self.expression_end(colon + 1));
            let body = if body.is_empty() { "..." } else { body };
            return self.habit(colon..colon + 1, what, format!("write {head} {{ {body} }}"));
        }
        (self.is(token, "if") && self.is(token + 1, "(") && self.find(token + 1, &["{"]).is_none()).then_some(())?;
        self.habit(self.failed..self.failed + 1, what, "write if ... { ... }")
    }

    /// What is never closed, where the text ends.
    fn open(&self, token: usize) -> Option<Habit> {
        if token != self.failed {
            return None;
        }
        if let Some(string) = self.tokens.get(token).filter(|t| t.kind == TokenKind::Text && !t.closed) {
            let what = "this string has no end";
            return self.habit(token..token + 1, what, format!("close it with {}", string.quote));
        }
        let at_end = token + 1 == self.tokens.len() && self.tokens[token].end <= self.at;
        let bracket = self.around(token + 1).filter(|_| at_end)?;
        let closing = match self.word_at(bracket) {
            "(" => ")",
            "[" => "]",
            _ => "}",
        };
        let what = format!("`{}` is never closed", self.word_at(bracket));
        self.habit(bracket..bracket + 1, what, format!("close it with {closing}"))
    }

    /// A line that goes on where another statement begins.
    fn semicolon(&self, token: usize) -> Option<Habit> {
        if token != self.failed || token == 0 || self.is(token - 1, ";") {
            return None;
        }
        let between = &self.text[self.tokens[token - 1].end..self.tokens[token].start];
        let open = self.around(token).filter(|open| !self.is(*open, "{"));
        let goes_on = matches!(self.kind(token), Some(TokenKind::Mark | TokenKind::Close));
        (between.contains('\n') && open.is_none() && !goes_on).then_some(())?;
        let line = self.text[..self.tokens[token - 1].start].matches('\n').count() + 1;
        let hint = format!("put ; at the end of line {line}");
        let what = "a statement ends with `;` before the next begins";
        self.habit(token - 1..token, what, hint)
    }
}

/// A Python word as it is spelt here.
fn here(word: &str) -> &str {
    match word {
        "None" => "()",
        "True" => "true",
        "False" => "false",
        other => other,
    }
}

/// `range(3)` as `0..3`.
fn span_of_range(call: &str) -> String {
    let inside = call.trim_start_matches("range").trim_start_matches('(').trim_end_matches(')');
    let parts: Vec<&str> = inside.split(',').map(str::trim).collect();
    match parts[..] {
        [to] => format!("0..{to}"),
        [from, to] => format!("{from}..{to}"),
        _ => call.to_string(),
    }
}
