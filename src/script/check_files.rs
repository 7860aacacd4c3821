//! A script and the files that it imports, looked through before any of it runs.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use rhai::{AST, ASTNode, Expr, Stmt};

use super::check::{check, may_be_key};
use super::code::Code;
use super::diagnostic::{Diagnostic, byte_of, place};
use super::finding::Finding;
use super::modules::file_of;
use super::scan::TokenKind;
use super::session::Session;
use crate::primitives::stdlib::stdlib_text;

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

/// What there is to tell of a script, and of the files that it imports, as far as they can be read. Only what a run ends at that comes
/// there fails: no part of a function that nobody names, and nothing that `try` may catch.
pub fn check_files(session: &Session, script: &str, text: &str) -> Result<Vec<FileFinding>, Box<Diagnostic>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut texts: Vec<Rc<str>> = Vec::new();
    let mut waiting: Vec<(String, Rc<str>)> = vec![(script.into(), text.into())];
    seen.extend(PathBuf::from(script).canonicalize());
    while let Some((file, text)) = waiting.pop() {
        let ast = match session.compile(&file, &text) {
            Ok(ast) => ast,
            Err(diagnostic) if texts.is_empty() => return Err(diagnostic),
            Err(diagnostic) => {
                let at = diagnostic.place.as_ref().map_or((1, 1), |place| (place.line, place.column));
                found.push(FileFinding { file, text, finding: Finding::failing(at, diagnostic.message) });
                continue;
            }
        };
        found.extend(check(session, &ast, &text).into_iter().map(|finding| FileFinding {
            file: file.clone(),
            text: text.clone(),
            finding,
        }));
        let caught = Code::new(&text).tried();
        for (file, at) in imported(&ast, &file) {
            if seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()))
                && !caught.iter().any(|block| block.contains(&at))
                && session.cx().check_read(&file).is_ok()
                && let Ok(text) = std::fs::read_to_string(&file)
            {
                waiting.push((file.display().to_string(), text.into()));
            }
        }
        texts.push(text);
    }
    let codes: Vec<Code> = texts.iter().map(|text| Code::new(text)).collect();
    let asks = codes.iter().any(|code| code.occurrences("is_def_fn", 0..code.tokens.len()).next().is_some());
    let caught = caught_functions(&codes);
    for FileFinding { text, finding, .. } in &mut found {
        let key = finding.method.as_ref().is_some_and(|name| codes.iter().any(|code| may_be_key(code, name)));
        let here = codes.iter().find(|code| std::ptr::eq(code.text, &**text));
        let spared = here.is_some_and(|code| is_spared(code, (finding.line, finding.column), &caught, &codes));
        finding.fails &= !asks && !key && !spared;
    }
    Ok(found)
}

/// Whether a run may go on that comes to this place, or none comes there.
fn is_spared(code: &Code, at: (usize, usize), caught: &BTreeSet<&str>, codes: &[Code]) -> bool {
    if code.tried().iter().any(|block| block.contains(&at)) {
        return true;
    }
    let inside = code.functions().iter().find(|function| {
        let (open, close) = (function.body.start.saturating_sub(1), function.body.end);
        (code.position(open)..code.position(close)).contains(&at)
    });
    inside
        .and_then(|function| code.word(function.name))
        .is_some_and(|name| caught.contains(name) || !codes.iter().any(|code| is_named(code, name)))
}

/// Whether a function is named anywhere but where it is made.
fn is_named(code: &Code, name: &str) -> bool {
    let made = |at: usize| at.checked_sub(1).is_some_and(|before| code.is(before, "fn"));
    let told = |token: &super::scan::Token| token.kind == TokenKind::Text && token.content(code.text).contains(name);
    code.occurrences(name, 0..code.tokens.len()).any(|at| !made(at)) || code.tokens.iter().any(told)
}

/// The functions that are called where `try` catches what they fail by, and those that these call.
fn caught_functions<'t>(codes: &[Code<'t>]) -> BTreeSet<&'t str> {
    let mut caught = BTreeSet::new();
    let mut ranges: Vec<(usize, Range<usize>)> = codes
        .iter()
        .enumerate()
        .flat_map(|(i, code)| code.try_blocks().into_iter().map(move |block| (i, block)))
        .collect();
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
fn imported(ast: &AST, name: &str) -> Vec<(PathBuf, (usize, usize))> {
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
