//! A script and the files that it imports, looked through before any of it runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use rhai::{AST, ASTNode, Expr, Stmt};

use super::check::check;
use super::diagnostic::{Diagnostic, byte_of, place};
use super::finding::Finding;
use super::modules::file_of;
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

/// What there is to tell of a script, and of the files that it imports, as far as they can be read.
pub fn check_files(session: &Session, script: &str, text: &str) -> Result<Vec<FileFinding>, Box<Diagnostic>> {
    let mut seen = BTreeSet::from([PathBuf::from(script)]);
    let mut found = Vec::new();
    let mut waiting = vec![(script.to_string(), Rc::from(text))];
    while let Some((file, text)) = waiting.pop() {
        let ast = session.compile(&file, &text)?;
        found.extend(check(session, &ast, &text).into_iter().map(|finding| FileFinding {
            file: file.clone(),
            text: text.clone(),
            finding,
        }));
        for file in imported(&ast, &file).into_iter().filter(|file| seen.insert(file.clone())) {
            let read = session.cx().check_read(&file).is_ok().then(|| std::fs::read_to_string(&file));
            waiting.extend(read.and_then(Result::ok).map(|text| (file.display().to_string(), text.into())));
        }
    }
    Ok(found)
}

/// The files that a script names in its imports.
fn imported(ast: &AST, name: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(import, _))) = path.last()
            && let Expr::StringConstant(path, _) = &import.0
            && stdlib_text(path).is_none()
        {
            files.extend(file_of(Some(name), path).ok().filter(|file| file.is_file()));
        }
        true
    });
    files
}
