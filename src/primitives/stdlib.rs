//! The modules in the binary, such as `std/zoo`: their texts, and what the comments above their functions say.

use include_dir::{Dir, include_dir};

use crate::core::nearest;

static STDLIB: Dir = include_dir!("$CARGO_MANIFEST_DIR/stdlib");

/// Names of the modules in the binary: `std/zoo`.
pub fn stdlib_names() -> Vec<String> {
    let mut names: Vec<String> = STDLIB
        .files()
        .filter_map(|file| file.path().file_stem().and_then(|stem| stem.to_str()))
        .map(|stem| format!("std/{stem}"))
        .collect();
    names.sort();
    names
}

/// What to try for a name that nothing has but a module, or that begins with a module's; `shows` is what is typed to read of a module.
pub fn module_called(name: &str, shows: impl Fn(&str) -> String) -> Option<String> {
    let (stem, function) = name.split_once("::").unwrap_or((name, ""));
    let module = format!("std/{stem}");
    let text = stdlib_text(&module)?;
    let public: Vec<ModuleFunction> = functions(text).into_iter().filter(|f| f.public).collect();
    match nearest(function, public.iter().map(|f| f.name.as_str())) {
        Some(meant) => Some(format!("did you mean `{stem}::{meant}`?")),
        _ => Some(format!(
            "a module is called {module:?}: import \"{module}\" as {stem}; and {} shows it",
            shows(&module)
        )),
    }
}

/// The text of a module in the binary, such as `std/zoo`.
pub fn stdlib_text(name: &str) -> Option<&'static str> {
    let stem = name.strip_prefix("std/")?;
    STDLIB.get_file(format!("{stem}.rhai"))?.contents_utf8()
}

/// A function of a text, with the comment above it.
pub struct ModuleFunction {
    pub name: String,
    pub parameters: Vec<String>,
    pub comment: String,
    pub public: bool,
    /// The byte where its line begins.
    pub start: usize,
}

impl ModuleFunction {
    /// `compare(f, sets, options)`
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }
}

/// The functions of a text, in its order.
pub fn functions(text: &str) -> Vec<ModuleFunction> {
    let mut found = Vec::new();
    let mut comment = String::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(words) = line.strip_prefix("///") {
            comment += &format!("{}\n", words.strip_prefix(' ').unwrap_or(words).trim_end());
        } else {
            let (public, rest) = match line.strip_prefix("private ") {
                Some(rest) => (false, rest),
                None => (true, line),
            };
            let head =
                rest.strip_prefix("fn ").and_then(|rest| rest.split_once(')')).and_then(|(h, _)| h.split_once('('));
            if let Some((name, parameters)) = head {
                let parameters = parameters.split(',').map(str::trim).filter(|name| !name.is_empty());
                found.push(ModuleFunction {
                    name: name.trim().into(),
                    parameters: parameters.map(String::from).collect(),
                    comment: comment.trim_end().into(),
                    public,
                    start,
                });
            }
            comment.clear();
        }
        start += line.len();
    }
    found
}
