//! The tokens of a text without its comments, with what they stand in and what they name.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::scan::{Token, TokenKind, scan};

pub struct Code<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
    /// For each bracket the one that belongs to it.
    partner: Vec<Option<usize>>,
    /// The bytes where lines begin.
    lines: Vec<usize>,
    functions: OnceCell<Vec<Function>>,
    /// Tokens that give a name to a value, with the token at which that is told.
    named: OnceCell<Vec<(usize, usize)>>,
    /// The tokens among these that are the names.
    giving: OnceCell<HashSet<usize>>,
    words: OnceCell<HashMap<&'t str, Vec<usize>>>,
    texts: OnceCell<HashSet<&'t str>>,
    /// For each token the brace that opens the block around it.
    blocks: OnceCell<Vec<Option<usize>>>,
}

/// A function in a text: its name, and where its parameters and its body stand.
#[derive(Clone)]
pub struct Function {
    pub name: usize,
    pub parameters: Range<usize>,
    pub body: Range<usize>,
}

/// Words that are no variables.
pub const NO_VARIABLES: [&str; 31] = [
    "return", "in", "throw", "if", "while", "until", "switch", "let", "const", "else", "break", "loop", "do", "for",
    "fn", "import", "export", "as", "true", "false", "try", "catch", "continue", "private", "this", "global", "print",
    "debug", "is", "_", "Fn",
];

impl<'t> Code<'t> {
    pub fn new(text: &'t str) -> Self {
        let mut tokens = scan(text);
        tokens.retain(|token| token.kind != TokenKind::Comment);
        let mut partner = vec![None; tokens.len()];
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            // `?[` is one mark.
            if token.kind == TokenKind::Open || token.kind == TokenKind::Mark && token.text(text) == "?[" {
                open.push(at);
            } else if token.kind == TokenKind::Close
                && let Some(begin) = open.pop()
            {
                partner[at] = Some(begin);
                partner[begin] = Some(at);
            }
        }
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self {
            text,
            tokens,
            partner,
            lines,
            functions: OnceCell::new(),
            named: OnceCell::new(),
            giving: OnceCell::new(),
            words: OnceCell::new(),
            texts: OnceCell::new(),
            blocks: OnceCell::new(),
        }
    }

    pub fn is(&self, token: usize, text: &str) -> bool {
        self.tokens.get(token).is_some_and(|t| t.kind != TokenKind::Text && t.text(self.text) == text)
    }

    pub fn word(&self, token: usize) -> Option<&'t str> {
        self.tokens.get(token).filter(|t| t.kind == TokenKind::Word).map(|t| t.text(self.text))
    }

    pub fn partner(&self, token: usize) -> Option<usize> {
        self.partner.get(token).copied().flatten()
    }

    /// Whether a member's name follows.
    pub fn dot(&self, token: usize) -> bool {
        self.is(token, ".") || self.is(token, "?.")
    }

    /// Line and column, in characters, counted from 1.
    pub fn position(&self, token: usize) -> (usize, usize) {
        let at = self.tokens.get(token).map_or(self.text.len(), |token| token.start);
        let line = self.lines.partition_point(|start| *start <= at);
        (line, self.text[self.lines[line - 1]..at].chars().count() + 1)
    }

    /// Whether this token is a variable that is read or written: no member, no key, no function, no namespace.
    pub fn variable(&self, token: usize) -> Option<&'t str> {
        let word = self.word(token).filter(|word| !NO_VARIABLES.contains(word))?;
        let behind = token.checked_sub(1);
        let member =
            behind.is_some_and(|b| self.dot(b) || ["::", "as", "fn", "import"].iter().any(|mark| self.is(b, mark)));
        let key = self.is(token + 1, ":") && behind.is_some_and(|b| self.is(b, "#{") || self.is(b, ","));
        let called = self.is(token + 1, "(") || self.is(token + 1, "::");
        (!member && !key && !called).then_some(word)
    }

    /// Whether an operand is wanted here, and no operator.
    fn may_begin_closure(&self, at: usize) -> bool {
        at == 0
            || self.tokens[at - 1].kind == TokenKind::Open
            || ["=", ",", ":", "=>", ";", "return", "+=", "&&", "||", "??"].iter().any(|mark| self.is(at - 1, mark))
    }

    /// Behind the parameters of a closure that begin at this token.
    pub fn end_of_bars(&self, at: usize) -> Option<usize> {
        if !self.is(at, "|") || !self.may_begin_closure(at) {
            return None;
        }
        let mut end = at + 1;
        while self.word(end).is_some() || self.is(end, ",") {
            end += 1;
        }
        self.is(end, "|").then_some(end + 1)
    }

    /// Where a word stands, whatever it means there.
    pub fn occurrences(&self, word: &str, within: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let all = self.words.get_or_init(|| {
            let mut words: HashMap<&'t str, Vec<usize>> = HashMap::new();
            for at in 0..self.tokens.len() {
                if let Some(word) = self.word(at) {
                    words.entry(word).or_default().push(at);
                }
            }
            words
        });
        let places = all.get(word).map_or(&[][..], Vec::as_slice);
        let first = places.partition_point(|at| *at < within.start);
        places[first..].iter().copied().take_while(move |at| *at < within.end)
    }

    /// Whether this stands between quotes somewhere.
    pub fn has_text(&self, content: &str) -> bool {
        let texts = self.texts.get_or_init(|| {
            let quoted = self.tokens.iter().filter(|token| token.kind == TokenKind::Text);
            quoted.map(|token| token.content(self.text)).collect()
        });
        texts.contains(content)
    }

    /// The bodies of closures, as far as they may reach.
    pub fn closures(&self) -> Vec<Range<usize>> {
        let body = |bar: usize| {
            let none_given = self.is(bar, "||") && self.may_begin_closure(bar);
            let begin = if none_given { bar + 1 } else { self.end_of_bars(bar)? };
            let mut end = begin;
            while end < self.tokens.len() && !self.is(end, ";") && !self.is(end, ",") {
                match self.partner(end) {
                    Some(close) if close > end => end = close + 1,
                    Some(_) => break,
                    None => end += 1,
                }
            }
            Some(begin..end)
        };
        (0..self.tokens.len()).filter_map(body).collect()
    }

    /// The tokens of the block around this one, from its brace to its end.
    pub fn block(&self, token: usize) -> Range<usize> {
        let blocks = self.blocks.get_or_init(|| {
            let mut open: Vec<usize> = Vec::new();
            let mut blocks = Vec::with_capacity(self.tokens.len());
            for at in 0..self.tokens.len() {
                while open.last().is_some_and(|brace| self.partner(*brace).is_some_and(|close| close <= at)) {
                    open.pop();
                }
                blocks.push(open.last().copied());
                if self.is(at, "{") || self.is(at, "${") {
                    open.push(at);
                }
            }
            blocks
        });
        match blocks.get(token).copied().flatten() {
            Some(open) => open..self.partner(open).unwrap_or(self.tokens.len()),
            None => 0..self.tokens.len(),
        }
    }

    /// The names that these tokens give to values.
    pub fn names(&self, tokens: Range<usize>) -> Vec<&'t str> {
        let named = self.named.get_or_init(|| self.named());
        let first = named.partition_point(|(at, _)| *at < tokens.start);
        let here = named[first..].iter().take_while(|(at, _)| *at < tokens.end);
        here.filter(|(at, token)| *token < tokens.end || !self.is(*at, "|"))
            .filter_map(|(_, token)| self.word(*token))
            .collect()
    }

    /// Whether one of these tokens gives this name to a value.
    pub fn gives(&self, name: &str, within: Range<usize>) -> bool {
        let giving = self
            .giving
            .get_or_init(|| self.named.get_or_init(|| self.named()).iter().map(|(_, token)| *token).collect());
        self.occurrences(name, within).any(|at| giving.contains(&at))
    }

    fn named(&self) -> Vec<(usize, usize)> {
        let mut named = Vec::new();
        for at in 0..self.tokens.len() {
            if let Some(end) = self.end_of_bars(at) {
                named.extend((at..end).map(|token| (at, token)));
            } else if ["let", "const"].iter().any(|word| self.is(at, word)) {
                named.push((at, at + 1));
            } else if self.is(at, "for") || self.is(at, "catch") {
                let close = self.partner(at + 1).unwrap_or(at + 1);
                named.extend((at + 1..=close).map(|token| (at, token)));
            }
        }
        named.retain(|(_, token)| self.word(*token).is_some());
        named
    }

    /// The functions that have a name.
    pub fn functions(&self) -> &[Function] {
        self.functions.get_or_init(|| {
            let function = |at: usize| {
                let open = at + 2;
                let close = self.partner(open).filter(|_| self.is(open, "("))?;
                let end = self.partner(close + 1).filter(|_| self.is(close + 1, "{"))?;
                Some(Function { name: at + 1, parameters: open + 1..close, body: close + 2..end })
            };
            (0..self.tokens.len()).filter(|at| self.is(*at, "fn")).filter_map(function).collect()
        })
    }

    /// The tokens of all that `try` catches.
    pub fn try_blocks(&self) -> Vec<Range<usize>> {
        let all = self.occurrences("try", 0..self.tokens.len());
        all.filter_map(|token| Some(token + 1..self.partner(token + 1)?)).collect()
    }

    /// The names that stand outside of all functions.
    pub fn outer_names(&self, functions: &[Function]) -> Vec<&'t str> {
        let mut names = Vec::new();
        let mut at = 0;
        for function in functions {
            names.extend(self.names(at..function.name.saturating_sub(1).max(at)));
            at = function.body.end;
        }
        names.extend(self.names(at..self.tokens.len()));
        names
    }

    /// The function around a byte, if the variable of this name is none of its own.
    pub fn function_without(&self, name: &str, at: usize) -> Option<Function> {
        let inside = |function: &Function| {
            let bytes = function.body.start.checked_sub(1).map(|open| self.tokens[open].start);
            let end = self.tokens.get(function.body.end).map_or(self.text.len(), |close| close.end);
            bytes.is_some_and(|start| start <= at && at < end)
        };
        let function = self.functions().iter().find(|function| inside(function))?.clone();
        let own = self.names(function.body.clone()).contains(&name);
        let given = function.parameters.clone().any(|token| self.word(token) == Some(name));
        (!own && !given).then_some(function)
    }
}

/// What a function that reads an outer variable is told.
pub fn no_outer_variable(code: &Code, of: &Function, name: &str) -> String {
    let function = code.word(of.name).unwrap_or_default();
    let parameters: Vec<&str> = of.parameters.clone().filter_map(|token| code.word(token)).collect();
    let parameters = parameters.join(", ");
    let more = if parameters.trim().is_empty() { name.to_string() } else { format!("{parameters}, {name}") };
    format!(
        "functions do not see variables outside of them: give it as an argument, fn {function}({more}) {{ ... }}; or make it a \
         closure, which does see them: let {function} = |{parameters}| ...; called as {function}.call({parameters}); arg(...) is \
         visible everywhere"
    )
}
