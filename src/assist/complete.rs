//! What the Tab key offers at the cursor.

use std::collections::HashSet;

use super::candidate::{Completion, MOST};
use super::cursor::{ArgumentSlot, Callee, Cursor, TypedValue};
use super::paths;
use crate::primitives::declared::declared;
use crate::primitives::stdlib::{stdlib_names, stdlib_text};
use crate::primitives::{NAMESPACES, PRIMITIVES, Param, Primitive};
use crate::script::Session;
use crate::script::scan::{TokenKind, is_word};

/// A longer text is pasted, not typed: nothing is offered in it.
pub const LONGEST: usize = 50_000;

/// The keywords that may begin or join a statement, as they are typed.
const KEYWORDS: [&str; 22] = [
    "let", "const", "fn", "if", "else", "for", "while", "loop", "in", "return", "break", "continue", "switch",
    "import", "as", "true", "false", "throw", "try", "catch", "do", "until",
];

/// Functions that the interpreter resolves by itself.
const OWN_FUNCTIONS: [&str; 8] = ["print", "debug", "type_of", "eval", "is_def_var", "is_def_fn", "Fn", "call"];

/// Where the typed beginning starts, and what may stand in its place. `commands` are the prompt's own, without their colon.
pub fn complete(session: &Session, commands: &[&str], text: &str, cursor: usize) -> (usize, Vec<Completion>) {
    let cursor = floor(text, cursor);
    if text.len() > LONGEST {
        return (cursor, Vec::new());
    }
    let (left, right) = text.split_at(cursor);
    let (start, mut found) = offers(session, commands, left, right);
    let mut seen = HashSet::new();
    found.retain(|candidate| seen.insert(candidate.text.clone()));
    found.truncate(MOST);
    (start, found)
}

/// The nearest place at or before `at` that does not cut a character.
pub fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn offers(session: &Session, commands: &[&str], left: &str, right: &str) -> (usize, Vec<Completion>) {
    let begun = left.trim_start();
    let indent = left.len() - begun.len();
    if let Some(name) = begun.strip_prefix('?') {
        return topics(session, left, name);
    }
    if let Some(line) = begun.strip_prefix(':') {
        let Some((command, rest)) = line.split_once(char::is_whitespace) else {
            let own = commands.iter().filter(|command| command.starts_with(line));
            return (indent, own.map(|command| Completion::new(format!(":{command}"))).collect());
        };
        if ["doc", "help"].contains(&command) {
            return topics(session, left, rest);
        }
        if ["load", "run", "save", "save!"].contains(&command) {
            let word = rest.rsplit(char::is_whitespace).next().unwrap_or(rest);
            return (left.len() - word.len(), paths::entries(session.cx(), word, None));
        }
        return argument(session, left, rest, right);
    }
    in_code(session, left, right)
}

/// What documentation there is.
fn topics(session: &Session, left: &str, typed: &str) -> (usize, Vec<Completion>) {
    let typed = typed.trim_start();
    let kinds = PRIMITIVES.iter().filter_map(|p| p.receiver()).map(String::from);
    let namespaces = NAMESPACES.iter().map(|(name, _)| name.to_string()).filter(|name| !name.is_empty());
    let paths = PRIMITIVES.iter().map(|p| p.path.to_string());
    let all = namespaces.chain(kinds).chain(stdlib_names()).chain(paths).chain(recipes());
    let bare = |path: &str| path.rsplit([':', '.']).next().is_some_and(|name| name.starts_with(typed));
    let mut found: Vec<Completion> = all.clone().filter(|name| begins(name, typed)).map(Completion::new).collect();
    if found.is_empty() {
        found = all.filter(|name| bare(name)).map(Completion::new).collect();
    }
    // A variable's type is what its name may ask for.
    let live = session.names().filter(|name| !typed.is_empty() && name.starts_with(typed));
    found.extend(live.map(Completion::new));
    (left.len() - typed.len(), found)
}

/// The functions of the modules in the binary: `overfitting::compare`.
fn recipes() -> Vec<String> {
    let of_module = |name: String| {
        let module = name.trim_start_matches("std/");
        let found = stdlib_text(&name).and_then(|text| declared(module, text).ok()).unwrap_or_default();
        let public = found.iter().filter(|f| f.public).map(|f| f.declaration.function.path.to_string());
        public.collect::<Vec<_>>()
    };
    stdlib_names().into_iter().flat_map(of_module).collect()
}

/// What a command may be given: a file, or a value.
fn argument(session: &Session, left: &str, rest: &str, right: &str) -> (usize, Vec<Completion>) {
    let word = rest.rsplit(char::is_whitespace).next().unwrap_or(rest);
    let start = left.len() - word.len();
    let files = paths::entries(session.cx(), word, None);
    let (at, values) = in_code(session, &left[start..], right);
    if at > 0 && !values.is_empty() {
        return (start + at, values);
    }
    let live = session.names().filter(|name| name.starts_with(word)).map(Completion::new);
    (start, live.take(MOST).chain(files).collect())
}

fn in_code(session: &Session, left: &str, right: &str) -> (usize, Vec<Completion>) {
    let cursor = Cursor::new(session, left);
    let open = cursor.open_token();
    if let Some(token) = open {
        if token.kind == TokenKind::Comment {
            return (left.len(), Vec::new());
        }
        let start = token.content_start(left);
        return (start, in_string(&cursor, token.quote, &left[start..], right));
    }
    let word_start =
        left.rfind(|c| !is_word(c)).map_or(0, |at| at + left[at..].chars().next().map_or(1, char::len_utf8));
    let prefix = &left[word_start..];
    if prefix.starts_with(|c: char| c.is_ascii_digit()) {
        return (left.len(), Vec::new());
    }
    // The word at the cursor is the last token, or there is none yet.
    let end = cursor.tokens.len() - usize::from(!prefix.is_empty());
    (word_start, at_word(&cursor, end, prefix, right))
}

/// The typed word `prefix` stands behind the token before `end`.
fn at_word(cursor: &Cursor, end: usize, prefix: &str, right: &str) -> Vec<Completion> {
    let last = end.wrapping_sub(1);
    if cursor.is(last, "::") {
        return of_namespace(cursor, last.checked_sub(1).map_or("", |at| cursor.text(at)), prefix, right);
    }
    if cursor.is(last, ".") || cursor.is(last, "?.") {
        return members(cursor, last, prefix, right);
    }
    if end >= 2 && cursor.is(end - 2, "import") && cursor.tokens[last].kind == TokenKind::Text {
        let path = cursor.tokens[last].content(cursor.line);
        let alias: String = path.rsplit('/').next().unwrap_or("").chars().filter(|c| is_word(*c)).collect();
        return [format!("as {alias};")].into_iter().filter(|t| t.starts_with(prefix)).map(Completion::new).collect();
    }
    if cursor.names_something_new(end) {
        return Vec::new();
    }
    match cursor.slot(end) {
        ArgumentSlot::Key(primitive) => options(cursor, primitive, prefix, right, None),
        ArgumentSlot::OtherKey => Vec::new(),
        ArgumentSlot::Param(param) | ArgumentSlot::Option(param) => {
            let mut found = values(cursor, param, prefix);
            found.extend(names(cursor, prefix, right, false));
            found
        }
        ArgumentSlot::Other => {
            let begins = end == 0 || [";", "{", "}"].iter().any(|mark| cursor.is(last, mark));
            names(cursor, prefix, right, begins)
        }
    }
}

fn begins(name: &str, prefix: &str) -> bool {
    name.starts_with(prefix)
}

/// A function's name with its parenthesis, and the closing one if there is nothing to say.
fn called(name: &str, nothing: bool, right: &str) -> Completion {
    let bare = right.starts_with('(');
    Completion::new(if bare { name.to_string() } else { format!("{name}({}", if nothing { ")" } else { "" }) })
}

fn primitive_call(primitive: &Primitive, right: &str) -> Completion {
    let receiver = usize::from(primitive.receiver().is_some());
    called(primitive.name(), primitive.params.len() == receiver && primitive.options.is_empty(), right)
}

fn of_namespace(cursor: &Cursor, namespace: &str, prefix: &str, right: &str) -> Vec<Completion> {
    if let Some(path) = cursor.module(namespace) {
        let functions = cursor.session.module_functions(&path);
        let fitting = functions.iter().filter(|f| f.public && begins(&f.name, prefix));
        return fitting.map(|f| called(&f.name, f.arity == 0, right)).collect();
    }
    let own = PRIMITIVES.iter().filter(|p| p.namespace() == Some(namespace) && begins(p.name(), prefix));
    own.map(|p| primitive_call(p, right)).collect()
}

fn members(cursor: &Cursor, dot: usize, prefix: &str, right: &str) -> Vec<Completion> {
    let seen = cursor.before(dot);
    let Some(glance) = cursor.glance(&seen, prefix, MOST) else {
        // Any type's, once there is a letter to go by.
        let all =
            PRIMITIVES.iter().filter(|p| !prefix.is_empty() && p.receiver().is_some() && begins(p.name(), prefix));
        return all.map(|p| primitive_call(p, right)).collect();
    };
    let word = |name: &String| name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(is_word);
    let mut found: Vec<Completion> = glance.names.iter().filter(|name| word(name)).map(Completion::new).collect();
    let own = |p: &&&Primitive| p.receiver().is_some_and(|kind| kind.eq_ignore_ascii_case(glance.kind));
    found.extend(PRIMITIVES.iter().filter(own).filter(|p| begins(p.name(), prefix)).map(|p| primitive_call(p, right)));
    // A map's own keys come first; its methods when a letter asks for them.
    if glance.kind != "map" || !prefix.is_empty() || found.is_empty() {
        let of_kind = cursor.session.built_ins().iter().filter(|f| f.of == glance.kind && begins(&f.name, prefix));
        found.extend(of_kind.map(|f| called(&f.name, f.params <= 1, right)));
    }
    found
}

/// The options of a call that it does not have yet.
fn options(cursor: &Cursor, primitive: &Primitive, prefix: &str, right: &str, quote: Option<char>) -> Vec<Completion> {
    let mut given: Vec<String> = cursor.keys_given().into_iter().map(String::from).collect();
    given.extend(keys_behind(right));
    let open = primitive.options.iter().filter(|o| begins(o.name, prefix) && !given.iter().any(|key| key == o.name));
    let colon = if right.trim_start().starts_with(':') { "" } else { ": " };
    let offer = |option: &Param| {
        let default = option.fallback_text().map_or(String::new(), |text| format!(" {text}"));
        let quoted = quote.map_or(String::new(), String::from);
        Completion::new(format!("{}{quoted}{colon}", option.name)).shown(format!("{}:{default}", option.name))
    };
    open.map(offer).collect()
}

/// The keys that follow the cursor in the same map.
fn keys_behind(right: &str) -> Vec<String> {
    let tokens = crate::script::scan::scan(right);
    let mut keys = Vec::new();
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close if depth == 0 => break,
            TokenKind::Close => depth -= 1,
            _ if depth == 0 && tokens.get(at + 1).is_some_and(|next| next.text(right) == ":") => {
                keys.push(token.content(right).to_string());
            }
            _ => {}
        }
    }
    keys
}

/// Live values and words that fit a parameter.
fn values(cursor: &Cursor, param: &Param, prefix: &str) -> Vec<Completion> {
    let mut found: Vec<Completion> = Vec::new();
    if prefix.is_empty() {
        found.extend(words(param).into_iter().map(|word| Completion::new(format!("{word:?}"))));
    }
    if param.kind == crate::primitives::Kind::Bool {
        found.extend(["true", "false"].into_iter().filter(|word| begins(word, prefix)).map(Completion::new));
    }
    let fits = |name: &&str| begins(name, prefix) && cursor.session.kind_of(name).is_some_and(|k| fits(param.kind, k));
    found.extend(cursor.session.names().filter(fits).take(MOST).map(Completion::new));
    found
}

/// Whether a value of this kind may be given.
fn fits(wanted: crate::primitives::Kind, kind: &str) -> bool {
    use crate::primitives::Kind as K;
    match wanted {
        K::Object(name) => name == kind,
        K::Tensor => kind == "tensor",
        K::Callback => kind == "closure",
        K::Numbers => kind == "array" || kind == "tensor",
        K::Either(kinds) => kinds.iter().any(|wanted| fits(*wanted, kind)),
        _ => false,
    }
}

/// The strings that a parameter takes: its choices, or those that its description names in quotes.
fn words(param: &Param) -> Vec<String> {
    if let Some(words) = param.kind.choices() {
        return words.iter().map(|word| word.to_string()).collect();
    }
    let mut found: Vec<String> = param.doc.split('"').skip(1).step_by(2).map(String::from).collect();
    if !may_be_string(param.kind) {
        found.clear();
    } else if param.doc.contains("model::archs()") {
        found.extend(crate::model::zoo::archs().map(String::from));
    } else if param.doc.contains("measures()") {
        found.extend(crate::search::measure::MEASURES.iter().map(|measure| measure.name.to_string()));
    }
    found
}

fn may_be_string(kind: crate::primitives::Kind) -> bool {
    use crate::primitives::Kind as K;
    match kind {
        K::Str | K::Path | K::Choice(_) => true,
        K::Either(kinds) => kinds.iter().any(|kind| may_be_string(*kind)),
        _ => false,
    }
}

/// Variables, functions, namespaces, and keywords where one may stand.
fn names(cursor: &Cursor, prefix: &str, right: &str, statement: bool) -> Vec<Completion> {
    let session = cursor.session;
    let mut found: Vec<Completion> = Vec::new();
    let typed = cursor.typed_names();
    found.extend(typed.into_iter().filter(|name| begins(name, prefix)).map(Completion::new));
    found.extend(session.names().filter(|name| begins(name, prefix)).take(MOST).map(Completion::new));
    let own = session.functions().into_iter().chain(cursor.typed_functions());
    found.extend(own.filter(|f| begins(&f.name, prefix)).map(|f| called(&f.name, f.params.is_empty(), right)));
    let colons = if right.starts_with("::") { "" } else { "::" };
    let aliases = cursor.imports().into_iter().map(|(alias, _)| alias);
    let namespaces = NAMESPACES.iter().map(|(name, _)| name.to_string()).filter(|name| !name.is_empty()).chain(aliases);
    found.extend(namespaces.filter(|name| begins(name, prefix)).map(|name| Completion::new(format!("{name}{colons}"))));
    let top =
        PRIMITIVES.iter().filter(|p| p.namespace().is_none() && p.receiver().is_none() && begins(p.name(), prefix));
    found.extend(top.map(|p| primitive_call(p, right)));
    if !prefix.is_empty() {
        found.extend(OWN_FUNCTIONS.iter().filter(|name| begins(name, prefix)).map(|name| called(name, false, right)));
        let free = |of: &str| ["", "int", "float"].contains(&of);
        let new = |name: &str| begins(name, prefix) && !OWN_FUNCTIONS.contains(&name);
        let built_in = session.built_ins().iter().filter(|f| free(f.of) && new(&f.name));
        found.extend(built_in.map(|f| called(&f.name, f.params == 0, right)));
        let expression = ["true", "false", "if", "switch", "in", "as", "else"];
        let keywords = KEYWORDS.iter().filter(|word| statement || expression.contains(word));
        found.extend(keywords.filter(|word| begins(word, prefix)).map(|word| Completion::new(*word)));
    }
    found
}

/// What may stand in the string that is open at the cursor.
fn in_string(cursor: &Cursor, quote: char, typed: &str, right: &str) -> Vec<Completion> {
    // The string itself is the last token.
    let end = cursor.tokens.len() - 1;
    let last = end.wrapping_sub(1);
    let closing = if right.starts_with(quote) { String::new() } else { quote.to_string() };
    let whole = |words: Vec<String>| -> Vec<Completion> {
        let fitting = words.into_iter().filter(|word| word.starts_with(typed) && paths::plain(word));
        fitting.map(|word| Completion::new(format!("{word}{closing}")).shown(word)).collect()
    };
    if cursor.is(last, "import") {
        let mut found = whole(stdlib_names());
        found.extend(paths::scripts(typed, &closing));
        return found;
    }
    if (cursor.is(last, "[") || cursor.is(last, "?["))
        && let seen @ TypedValue::Live(..) = cursor.before(last)
        && let Some(glance) = cursor.glance(&seen, typed, MOST)
    {
        return whole(glance.names);
    }
    match cursor.slot(end) {
        ArgumentSlot::Key(primitive) => return options(cursor, primitive, typed, right, Some(quote)),
        ArgumentSlot::OtherKey => return Vec::new(),
        ArgumentSlot::Param(param) | ArgumentSlot::Option(param) => {
            if param.name == "name" && cursor.frames.last().is_some_and(|f| called_help(cursor, f.open)) {
                let (_, topics) = topics(cursor.session, typed, typed);
                return whole(topics.into_iter().map(|topic| topic.text).collect());
            }
            let mut found = whole(words(param));
            if param.kind.choices().is_none() && may_be_string(param.kind) {
                found.extend(paths::entries(cursor.session.cx(), typed, Some(&closing)));
            }
            return found;
        }
        ArgumentSlot::Other => {}
    }
    paths::entries(cursor.session.cx(), typed, Some(&closing))
}

fn called_help(cursor: &Cursor, open: usize) -> bool {
    matches!(cursor.callee(open), Some(Callee::Primitive(p)) if p.path == "help")
}
