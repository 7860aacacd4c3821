//! A session as a script: the lines that worked, in an order and with names that make a batch run give the same results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::core::{Error, Result, quoted};
use crate::script::Session;
use crate::script::scan::{TokenKind, scan};

/// A line of the session, or a file that was run as one.
#[derive(Debug, Clone, Default)]
pub struct SessionLine {
    pub source: String,
    pub text: String,
    /// Whether its value was shown, and is `ans` for what follows.
    pub shown: bool,
    /// The number of that value among those that were shown.
    pub result: Option<usize>,
    /// Whether it changed the working folder.
    pub moved: bool,
    /// Kind, message and hint of a line that failed.
    pub error: Option<(String, String, Option<String>)>,
    /// Variables and functions that it changed although it failed.
    pub altered: Vec<String>,
}

/// The script, which begins with the seed and the threads that the session began with, and what its writer should know.
pub fn script(
    session: &Session,
    lines: &[SessionLine],
    (seed, threads): (u64, i32),
    target: &Path,
) -> Result<(String, Vec<String>)> {
    let mut warnings = Vec::new();
    if lines.iter().any(|line| line.moved) {
        warnings.push(
            "the session changed its working folder, which a script can't: paths behind that are from another folder"
                .into(),
        );
    }
    let mut imports: Vec<String> = Vec::new();
    let mut body: Vec<String> = Vec::new();
    let worked: Vec<&SessionLine> = lines.iter().filter(|line| line.error.is_none()).collect();
    let texts: Vec<String> = worked.iter().map(|line| with_paths(line, target)).collect::<Result<_>>()?;
    let aliases = aliases(&texts);
    let versions = Versions::of(&texts);
    let last = worked.len().wrapping_sub(1);
    let mut place = 0;
    for (at, line) in lines.iter().enumerate() {
        if let Some((_, message, _)) = &line.error {
            if !line.altered.is_empty() {
                let names = line.altered.join(", ");
                warnings.push(format!("a line that failed had changed {names}; the script leaves it out"));
                let shown = line.text.replace('\n', "\n//   ");
                body.push(format!("// left out, though it changed {names}: {message}\n//   {shown}"));
            }
            continue;
        }
        let i = place;
        place += 1;
        let text = &texts[i];
        if only_imports(text, &aliases) {
            if !imports.contains(text) {
                imports.push(text.clone());
            }
            continue;
        }
        if mentions(text, "err")
            && let Some(error) = lines[..at].iter().rev().find_map(|earlier| earlier.error.as_ref())
        {
            let (kind, message, hint) = error;
            let hint = quoted(hint.as_deref().unwrap_or_default());
            body.push(format!("let err = #{{kind: {}, message: {}, hint: {hint}}};", quoted(kind), quoted(message)));
        }
        // What a stopped line had done is no script's.
        let declared = worked[..i].iter().any(|earlier| earlier.text.contains("let partial"));
        if mentions(text, "partial") && !declared && lines[..at].iter().any(|earlier| earlier.error.is_some()) {
            warnings.push(
                "`partial`, what a stopped line had done, is not there in a script: run that line to its end".into(),
            );
            body.push("// `partial` is what a line that was stopped had done".into());
        }
        let next_shown = worked[i + 1..].iter().position(|later| later.shown).map_or(texts.len(), |n| i + 2 + n);
        let name = line.result.map(|number| format!("ans{number}"));
        let name = name.filter(|name| texts[i + 1..].iter().any(|later| mentions(later, name)));
        let asked = texts[i + 1..next_shown].iter().any(|later| mentions(later, "ans"));
        let answers = line.shown && (asked || name.is_some());
        let statements = versions.statements(i, text);
        if !statements.trim().is_empty() {
            body.push(written(session, &statements, line.shown, answers, i == last));
            body.extend(name.map(|name| format!("let {name} = ans;")));
        }
        body.extend(versions.functions(i));
    }
    let device = session.cx().device();
    let mut text = format!(
        "// A session of viva {}, {device:?} with {threads} threads. `viva run` repeats it.\nseed({seed});\nthreads({threads});\n",
        env!("CARGO_PKG_VERSION"),
    );
    for part in imports.iter().map(|import| closed(import)).chain(body) {
        text += &part;
        text.push('\n');
    }
    if session.statements(&text).is_none() {
        warnings.push("the script can't be read as it is; see `viva check`".into());
    }
    Ok((text, warnings))
}

/// One line's statements: a value that was shown is shown, and named `ans` where a later line asks for it.
fn written(session: &Session, text: &str, shown: bool, answers: bool, last: bool) -> String {
    if !shown || (last && !answers) {
        return if last { text.to_string() } else { closed(text) };
    }
    let (before, value) = last_statement(session, text);
    let end = code_end(value);
    // A statement of a line of its own keeps it.
    let lead = &value[..value.len() - value.trim_start().len()];
    let (value, comment) = (value[..end].trim(), value[end..].trim_end());
    match (answers, last) {
        (true, true) => format!("{before}{lead}let ans = {value};{comment}\nans"),
        (true, false) => format!("{before}{lead}let ans = {value};{comment}\nshow(ans);"),
        _ => format!("{before}{lead}show({value});{comment}"),
    }
}

/// A text of which a script shows the value where other statements follow it, and names it `ans` where they ask for it.
pub fn shown_statement(session: &Session, text: &str, answers: bool) -> String {
    written(session, text, true, answers, false)
}

/// What comes before the last statement, and that statement.
fn last_statement<'a>(session: &Session, text: &'a str) -> (&'a str, &'a str) {
    match statements(session, text)[..] {
        [.., last] => text.split_at(text.len() - last.len()),
        [] => ("", text),
    }
}

/// A text cut into its statements; whole if it defines functions, which all of its statements may call.
pub fn statements<'a>(session: &Session, text: &'a str) -> Vec<&'a str> {
    let mut left = match session.statements(text) {
        Some(n) if n > 1 && functions_in(text).is_empty() => n,
        _ => return vec![text],
    };
    let code = blank(text);
    let mut found = Vec::new();
    let mut rest = text;
    let ends = code.char_indices().filter(|(_, c)| matches!(c, ';' | '}')).map(|(i, _)| i + 1);
    for end in ends {
        let start = text.len() - rest.len();
        let (one, after) = rest.split_at(end - start);
        if left > 1 && session.statements(one) == Some(1) && session.statements(after) == Some(left - 1) {
            found.push(one);
            rest = after;
            left -= 1;
        }
    }
    found.push(rest);
    found
}

/// The text with a semicolon where its code ends, so that another statement can follow.
pub fn closed(text: &str) -> String {
    let end = code_end(text);
    if end == 0 || ends_quietly(text) { text.into() } else { format!("{};{}", &text[..end], &text[end..]) }
}

/// Whether the code ends with a semicolon: its value is not shown.
pub fn ends_quietly(text: &str) -> bool {
    blank(text).trim_end().ends_with(';')
}

fn code_end(text: &str) -> usize {
    blank(text).trim_end().len()
}

/// The text with its comments as spaces and its strings as underscores, byte for byte.
fn blank(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    // What is open, and whether it is code inside a string.
    let mut open: Vec<bool> = Vec::new();
    let mut inside = None;
    let mut fill = |from: usize, to: usize, with: u8| {
        bytes[from..to].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = with);
    };
    for token in scan(text) {
        match token.kind {
            TokenKind::Comment => fill(token.start, token.end, b' '),
            TokenKind::Text => fill(token.start, token.end, b'_'),
            TokenKind::Open => {
                open.push(token.text(text) == "${");
                if open.last() == Some(&true) && inside.is_none() {
                    inside = Some(token.start);
                }
            }
            TokenKind::Close => {
                open.pop();
                if !open.contains(&true)
                    && let Some(start) = inside.take()
                {
                    fill(start, token.end, b'_');
                }
            }
            _ => {}
        }
    }
    // Whole characters were replaced byte by byte.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_string())
}

fn of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a name stands in a text, between characters that belong to no word.
fn places<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(name)
        .map(|(at, _)| at)
        .filter(move |&at| !text[..at].ends_with(of_word) && !text[at + name.len()..].starts_with(of_word))
}

/// Whether a text has this word; in strings as well, where a value may be put in.
fn mentions(text: &str, name: &str) -> bool {
    places(text, name).next().is_some()
}

/// `import "path" as alias` statements of a text: where the path stands, and the alias.
fn imports_in(text: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let code = blank(text);
    places(&code, "import")
        .filter_map(|at| {
            let open = at + text[at..].find('"')?;
            let close = open + 1 + text[open + 1..].find('"')?;
            let alias: String = text[close + 1..]
                .trim_start()
                .strip_prefix("as")?
                .trim_start()
                .chars()
                .take_while(|&c| of_word(c))
                .collect();
            Some((open + 1..close, alias))
        })
        .collect()
}

/// How often each alias is imported from different modules.
fn aliases(texts: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for text in texts {
        for (path, alias) in imports_in(text) {
            found.entry(alias).or_default().insert(text[path].to_string());
        }
    }
    found
}

/// Whether a text may move to the top: it has nothing but imports, of names that mean one module throughout.
fn only_imports(text: &str, aliases: &BTreeMap<String, BTreeSet<String>>) -> bool {
    let code = blank(text);
    let all = code.split(';').map(str::trim).filter(|part| !part.is_empty()).all(|part| part.starts_with("import"));
    let found = imports_in(text);
    all && !found.is_empty() && found.iter().all(|(_, alias)| aliases.get(alias).is_some_and(|of| of.len() == 1))
}

/// The line's text with paths of modules that mean the same file from where the script is written.
fn with_paths(line: &SessionLine, target: &Path) -> Result<String> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|e| Error::file(path, e));
    let folder = absolute(target)?.parent().map(Path::to_path_buf).unwrap_or_default();
    let own = absolute(Path::new(&line.source))?.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut text = line.text.clone();
    if own != folder {
        for (path, _) in imports_in(&line.text).into_iter().rev() {
            let module = &line.text[path.clone()];
            if !module.starts_with("std/") && !Path::new(module).is_absolute() {
                text.replace_range(path, &own.join(module).display().to_string());
            }
        }
    }
    Ok(text)
}

/// A function of the script's text.
struct SavedFunction {
    name: String,
    parameters: usize,
    range: std::ops::Range<usize>,
}

fn functions_in(text: &str) -> Vec<SavedFunction> {
    let code = blank(text);
    let mut found: Vec<SavedFunction> = Vec::new();
    for at in places(&code, "fn") {
        let after = code[at + 2..].trim_start();
        let name: String = after.chars().take_while(|&c| of_word(c)).collect();
        let Some(open) = code[at..].find('(').map(|i| at + i) else { continue };
        let (Some(close), Some(body)) =
            (code[open..].find(')').map(|i| open + i), code[open..].find('{').map(|i| open + i))
        else {
            continue;
        };
        if name.is_empty() || found.last().is_some_and(|f| f.range.contains(&at)) {
            continue;
        }
        let mut depth = 0;
        let end = code[body..].char_indices().find_map(|(i, c)| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            (depth == 0).then_some(body + i + 1)
        });
        let parameters = code[open + 1..close].split(',').filter(|p| !p.trim().is_empty()).count();
        let private = code[..at].trim_end().strip_suffix("private").map_or(at, str::len);
        if let Some(end) = end {
            found.push(SavedFunction { name, parameters, range: private..end });
        }
    }
    found
}

/// One meaning of a function's name, from the line that gave it to the next one that changed it or what it calls.
struct FunctionVersion {
    name: String,
    line: usize,
    /// One text for each number of parameters.
    texts: BTreeMap<usize, String>,
    /// The versions that it calls.
    within: BTreeMap<String, usize>,
}

/// Functions that were defined anew in the course of a session. A script has each of them once, so the earlier ones get names
/// of their own.
struct Versions {
    all: Vec<FunctionVersion>,
    /// For each line, which version each name means.
    meant: Vec<BTreeMap<String, usize>>,
    /// Versions that the script needs.
    needed: BTreeSet<usize>,
    statements: Vec<String>,
}

impl Versions {
    fn of(texts: &[String]) -> Self {
        let mut versions = Self { all: Vec::new(), meant: Vec::new(), needed: BTreeSet::new(), statements: Vec::new() };
        let mut current: BTreeMap<String, usize> = BTreeMap::new();
        for (line, text) in texts.iter().enumerate() {
            let functions = functions_in(text);
            let mut statements = text.clone();
            let mut changed: BTreeMap<String, BTreeMap<usize, String>> = BTreeMap::new();
            for function in functions.iter().rev() {
                statements.replace_range(function.range.clone(), "");
                let own = text[function.range.clone()].to_string();
                if let Some(&version) = current.get(&function.name).filter(|_| !changed.contains_key(&function.name)) {
                    // With another number of parameters it stands beside what was there.
                    let texts = &mut versions.all[version].texts;
                    if texts.entry(function.parameters).or_insert_with(|| own.clone()) == &own {
                        continue;
                    }
                }
                let before = current.get(&function.name).map(|&v| versions.all[v].texts.clone()).unwrap_or_default();
                changed.entry(function.name.clone()).or_insert(before).insert(function.parameters, own);
            }
            // What calls a changed function has another meaning too.
            let mut names: Vec<String> = changed.keys().filter(|name| current.contains_key(*name)).cloned().collect();
            while let Some(name) = names.pop() {
                for (caller, &version) in &current {
                    let texts = &versions.all[version].texts;
                    if !changed.contains_key(caller) && texts.values().any(|text| mentions(text, &name)) {
                        changed.insert(caller.clone(), texts.clone());
                        names.push(caller.clone());
                    }
                }
            }
            let first = versions.all.len();
            for (name, texts) in changed {
                current.insert(name.clone(), versions.all.len());
                versions.all.push(FunctionVersion { name, line, texts, within: BTreeMap::new() });
            }
            for version in &mut versions.all[first..] {
                version.within.clone_from(&current);
            }
            versions.meant.push(current.clone());
            versions.statements.push(statements);
        }
        // The last version of each, and those that statements called.
        let mut wanted: Vec<usize> = current.values().copied().collect();
        for (text, meant) in versions.statements.iter().zip(&versions.meant) {
            wanted.extend(meant.iter().filter(|(name, _)| mentions(text, name)).map(|(_, &version)| version));
        }
        while let Some(version) = wanted.pop() {
            if versions.needed.insert(version) {
                let of = &versions.all[version];
                let called = of.within.iter().filter(|(name, _)| of.texts.values().any(|text| mentions(text, name)));
                wanted.extend(called.map(|(_, &version)| version));
            }
        }
        versions
    }

    /// The name of a version in the script: the last one has the plain name.
    fn name(&self, version: usize) -> String {
        let name = &self.all[version].name;
        let later = self.all[version + 1..].iter().any(|other| other.name == *name);
        let number = self.all[..version].iter().filter(|other| other.name == *name).count() + 1;
        if later { format!("{name}_version_{number}") } else { name.clone() }
    }

    /// A text in which functions have the names of their versions.
    fn renamed(&self, text: &str, meant: &BTreeMap<String, usize>) -> String {
        let mut text = text.to_string();
        for (name, &version) in meant {
            let new = self.name(version);
            if new == *name {
                continue;
            }
            let code = blank(&text);
            let calls: Vec<usize> = places(&code, name)
                .filter(|&at| {
                    code[at + name.len()..].trim_start().starts_with('(') && !code[..at].ends_with(['.', ':'])
                })
                .collect();
            for at in calls.into_iter().rev() {
                text.replace_range(at..at + name.len(), &new);
            }
        }
        text
    }

    /// The statements of a line without the functions that it defines.
    fn statements(&self, line: usize, text: &str) -> String {
        let own = self.statements.get(line).map_or(text, String::as_str);
        self.renamed(own, self.meant.get(line).unwrap_or(&BTreeMap::new()))
    }

    /// The functions that the script gets after a line.
    fn functions(&self, line: usize) -> Vec<String> {
        let of_line =
            self.all.iter().enumerate().filter(|(i, version)| version.line == line && self.needed.contains(i));
        of_line
            .flat_map(|(_, version)| version.texts.values().map(|text| self.renamed(text, &version.within)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_strings_and_comments() {
        assert!(ends_quietly("f(x); // that's it"));
        assert!(!ends_quietly("f(x) // f(x);"));
        assert!(!ends_quietly("\"a;\""));
        assert_eq!(blank("a /* ; */ \"é}\" b").len(), "a /* ; */ \"é}\" b".len());
        assert_eq!(closed("a + 1 // one"), "a + 1; // one");
    }

    #[test]
    fn functions_defined_anew_keep_the_meaning_of_each_line() {
        let texts: Vec<String> = [
            "fn f(x) { x + 1 }",
            "fn g(x) { f(x) * 10 }",
            "g(1)",
            "fn f(x) { x + 2 }",
            "g(1) + f(0)",
            "fn f(x, y) { y }",
        ]
        .map(String::from)
        .to_vec();
        let versions = Versions::of(&texts);
        let functions: Vec<String> = (0..texts.len()).flat_map(|i| versions.functions(i)).collect();
        assert_eq!(versions.statements(2, ""), "g_version_1(1)");
        assert!(functions.contains(&"fn f_version_1(x) { x + 1 }".to_string()), "{functions:?}");
        assert!(functions.contains(&"fn g_version_1(x) { f_version_1(x) * 10 }".to_string()), "{functions:?}");
        let calls = versions.statements(4, "");
        assert_eq!(calls, "g(1) + f(0)");
        assert!(
            functions.contains(&"fn f(x, y) { y }".to_string()) && functions.contains(&"fn f(x) { x + 2 }".to_string())
        );
        assert_eq!(functions.len(), 5, "{functions:?}");
    }
}
