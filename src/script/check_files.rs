//! A script and the files that it imports, looked through before any of it runs.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use rhai::{AST, ASTNode, Expr, Stmt};

use super::check::{check, may_be_key};
use super::code::Code;
use super::diagnostic::{Diagnostic, byte_of, place};
use super::finding::{CalledName, Finding};
use super::modules::file_of;
use super::scan::{Token, TokenKind};
use super::session::Session;
use crate::primitives::stdlib::stdlib_text;

/// A line and a column, from 1.
type At = (usize, usize);

/// A finding with the file that it is in.
pub struct FileFinding {
    pub file: String,
    text: Rc<str>,
    pub finding: Finding,
}

impl FileFinding {
    /// As the run would tell it.
    pub fn diagnostic(&self) -> Diagnostic {
        let at = byte_of(&self.text, self.finding.line, self.finding.column);
        Diagnostic {
            kind: "argument",
            message: self.finding.message.clone(),
            hint: None,
            place: Some(place(&self.file, &self.text, at, None)),
            calls: vec![],
            incomplete: false,
        }
    }
}

/// A text that was looked through, and which of the others imports it where.
struct LookedThrough {
    text: Rc<str>,
    importer: Option<(usize, At)>,
}

/// What there is to tell of a script, and of the files that it imports, as far as they can be read. Only what a run ends at that comes
/// there fails: no part of a function that nobody names, and nothing that `try` may catch.
pub fn check_files(session: &Session, script: &str, text: &str) -> Result<Vec<FileFinding>, Box<Diagnostic>> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<(usize, FileFinding)> = Vec::new();
    let mut texts: Vec<LookedThrough> = Vec::new();
    let mut waiting: Vec<(String, LookedThrough)> =
        vec![(script.into(), LookedThrough { text: text.into(), importer: None })];
    seen.extend(PathBuf::from(script).canonicalize());
    while let Some((file, looked)) = waiting.pop() {
        let (own, text) = (texts.len(), looked.text.clone());
        texts.push(looked);
        let of_file = |finding| FileFinding { file: file.clone(), text: text.clone(), finding };
        let ast = match session.compile(&file, &text) {
            Ok(ast) => ast,
            Err(diagnostic) if own == 0 => return Err(diagnostic),
            Err(diagnostic) => {
                let at = diagnostic.place.as_ref().map_or((1, 1), |place| (place.line, place.column));
                found.push((own, of_file(Finding::failing(at, diagnostic.message))));
                continue;
            }
        };
        found.extend(check(session, &ast, &text).into_iter().map(|finding| (own, of_file(finding))));
        for (file, at) in imported(&ast, &file) {
            if seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()))
                && session.cx().check_read(&file).is_ok()
                && let Ok(text) = std::fs::read_to_string(&file)
            {
                let looked = LookedThrough { text: text.into(), importer: Some((own, at)) };
                waiting.push((file.display().to_string(), looked));
            }
        }
    }
    let codes: Vec<Code> = texts.iter().map(|looked| Code::new(&looked.text)).collect();
    let spared = Spared::of(&codes);
    for (own, FileFinding { finding, .. }) in &mut found {
        let importers = std::iter::successors(texts[*own].importer, |(text, _)| texts[*text].importer);
        let elsewhere = match &finding.called {
            None => false,
            Some(CalledName::Method(name)) => {
                spared.keys_at_run_time || codes.iter().any(|code| may_be_key(code, name) || makes_function(code, name))
            }
            Some(CalledName::Function(name)) => {
                importers.into_iter().any(|(text, _)| makes_function(&codes[text], name))
            }
        };
        let mut at = Some((*own, (finding.line, finding.column)));
        let mut here = false;
        while let Some((code, place)) = at.filter(|_| !here) {
            here = spared.spares(code, place);
            at = texts[code].importer;
        }
        finding.fails &= !spared.all && !elsewhere && !here;
    }
    Ok(found.into_iter().map(|(_, finding)| finding).collect())
}

/// Where a failure ends no run.
struct Spared {
    /// By text.
    places: Vec<Vec<Range<At>>>,
    /// Whether the texts ask which functions there are, or make some as they run.
    all: bool,
    /// Whether maps get keys that no text spells.
    keys_at_run_time: bool,
}

impl Spared {
    fn of(codes: &[Code]) -> Self {
        let whole = |code: &Code| 0..code.tokens.len();
        let named = |word: &str| codes.iter().any(|code| code.occurrences(word, whole(code)).next().is_some());
        let caught = caught_functions(codes);
        let tries = codes.iter().any(|code| !code.try_blocks().is_empty());
        let of = |code: &Code| {
            let idle = |name: &str| !codes.iter().any(|code| is_named(code, name));
            let functions = code
                .functions()
                .iter()
                .filter(|function| code.word(function.name).is_some_and(|name| caught.contains(name) || idle(name)));
            let bodies = functions.map(|function| function.body.start.saturating_sub(1)..function.body.end);
            // Who calls a closure is not told: where there is a `try`, that may.
            let closures = if tries { code.closures() } else { vec![] };
            let all = code.try_blocks().into_iter().chain(bodies).chain(closures);
            all.map(|tokens| code.position(tokens.start)..code.position(tokens.end)).collect()
        };
        let assigned = |code: &Code| {
            let by_index = |at: usize| code.is(at, "=") && code.is(at - 1, "]");
            let by_name = |at: usize| code.is(at, "set") && code.dot(at - 1);
            (1..code.tokens.len()).any(|at| by_index(at) || by_name(at))
        };
        Self {
            places: codes.iter().map(of).collect(),
            all: named("is_def_fn") || named("eval"),
            keys_at_run_time: codes.iter().any(assigned),
        }
    }

    fn spares(&self, code: usize, at: At) -> bool {
        self.places[code].iter().any(|place| place.contains(&at))
    }
}

/// Whether a text has a function of this name, maybe of one type's (`fn int.half()`).
fn makes_function(code: &Code, name: &str) -> bool {
    let made = |at: usize, before: usize| at.checked_sub(before).is_some_and(|at| code.is(at, "fn"));
    code.occurrences(name, 0..code.tokens.len()).any(|at| made(at, 1) || made(at, 3) && code.dot(at - 1))
}

/// Whether a function is named anywhere but where it is made.
fn is_named(code: &Code, name: &str) -> bool {
    let made = |at: usize| at.checked_sub(1).is_some_and(|before| code.is(before, "fn"));
    let told = |token: &Token| token.kind == TokenKind::Text && token.content(code.text).contains(name);
    code.occurrences(name, 0..code.tokens.len()).any(|at| !made(at)) || code.tokens.iter().any(told)
}

/// The functions that are called where `try` catches what they fail by, and those that these call.
fn caught_functions<'t>(codes: &[Code<'t>]) -> BTreeSet<&'t str> {
    let mut caught = BTreeSet::new();
    let blocks =
        codes.iter().enumerate().flat_map(|(i, code)| code.try_blocks().into_iter().map(move |block| (i, block)));
    let mut ranges: Vec<(usize, Range<usize>)> = blocks.collect();
    while let Some((i, range)) = ranges.pop() {
        for name in range.filter_map(|token| codes[i].word(token)) {
            let called = codes.iter().enumerate().flat_map(|(k, code)| {
                let named = code.functions().iter().filter(|function| code.word(function.name) == Some(name));
                named.map(move |function| (k, function.body.clone()))
            });
            let called: Vec<_> = called.collect();
            if !called.is_empty() && caught.insert(name) {
                ranges.extend(called);
            }
        }
    }
    caught
}

/// The files that a script names in its imports, and where.
fn imported(ast: &AST, name: &str) -> Vec<(PathBuf, At)> {
    let mut files = Vec::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(import, _))) = path.last()
            && let Expr::StringConstant(path, at) = &import.0
            && stdlib_text(path).is_none()
        {
            let at = (at.line().unwrap_or(1), at.position().unwrap_or(1));
            files.extend(file_of(Some(name), path).ok().filter(|file| file.is_file()).map(|file| (file, at)));
        }
        true
    });
    files
}
