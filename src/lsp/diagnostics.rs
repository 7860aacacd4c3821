//! What `viva check` finds in a text, as editors show it.

use serde_json::{Value as Json, json};

use super::document::{byte_of, range};
use crate::script::scan::scan;
use crate::script::{Session, check, check_cell};

/// `is_cell`: whether the text is a cell of a notebook.
pub fn of(session: &Session, name: &str, text: &str, is_cell: bool) -> Vec<Json> {
    let told = |bytes: std::ops::Range<usize>, message: &str| json!({ "range": range(text, bytes), "severity": 1, "source": "viva", "message": message });
    let ast = match session.compile(name, text) {
        Ok(ast) => ast,
        Err(diagnostic) => {
            let hint = diagnostic.hint.as_ref().map_or(String::new(), |hint| format!("\n{hint}"));
            let place = diagnostic.place.as_ref().map_or(0..0, |place| {
                let start = byte_of(text, place.line, place.column);
                let length: usize = text[start..].chars().take(place.length).map(char::len_utf8).sum();
                start..start + length
            });
            return vec![told(place, &format!("{}{hint}", diagnostic.message))];
        }
    };
    let tokens = scan(text);
    let underlined = |line: usize, column: usize| {
        let start = byte_of(text, line, column);
        let token = tokens.iter().find(|token| token.start <= start && start < token.end);
        start..token.map_or(start, |token| token.end)
    };
    let findings = if is_cell { check_cell(session, &ast, text) } else { check(session, &ast, text) };
    findings.iter().map(|finding| told(underlined(finding.line, finding.column), &finding.message)).collect()
}
