//! The documentation that the descriptions of the primitives give: one text for `help`, `?name` and `viva doc`.

use super::stdlib::stdlib_text;
use super::types::{self, TYPES, Type};
use super::{Fallback, NAMESPACES, PRIMITIVES, Param, Primitive, declared};
use crate::core::record::opening_comment;

/// The page of a function, a namespace, a type, or of everything (`""`).
pub fn page(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some(contents());
    }
    match name {
        "safety" => return Some(super::safety::page()),
        "glossary" => return Some(super::glossary::page()),
        "options" => return Some(super::declared::PAGE.into()),
        "machines" => return Some(super::machines::PAGE.into()),
        _ => {}
    }
    if let Some(primitive) = super::find(name) {
        return Some(function(primitive));
    }
    let namespace = name.trim_end_matches("::");
    let of_type = (namespace == name).then(|| types::find(name)).flatten();
    if NAMESPACES.iter().any(|(known, _)| *known == namespace) {
        let own: Vec<&Primitive> = PRIMITIVES.iter().copied().filter(|p| p.namespace() == Some(namespace)).collect();
        // `tensor` is both.
        let exact =
            of_type.filter(|kind| kind.name == name).map_or(String::new(), |kind| format!("\n\n{}", type_page(kind)));
        return Some(format!("{}{exact}", list(&own)));
    }
    if let Some(kind) = of_type {
        return Some(type_page(kind));
    }
    let of_name: Vec<&Primitive> = PRIMITIVES.iter().copied().filter(|p| p.name() == name).collect();
    match of_name[..] {
        [] => stdlib_page(name),
        [primitive] => Some(function(primitive)),
        _ => Some(list(&of_name)),
    }
}

/// The documentation of a module in the binary, `std/zoo`, or of one of its functions, `zoo::lenet5_advertorch`.
pub fn stdlib_page(name: &str) -> Option<String> {
    if let Some(declaration) = declared::of_stdlib(name) {
        return Some(function(&declaration.function));
    }
    let text = stdlib_text(name)?;
    let module = name.strip_prefix("std/")?;
    let found = declared::declared(module, text).ok()?;
    let public: Vec<_> = found.iter().filter(|f| f.public).map(|f| &f.declaration.function).collect();
    Some(format!("{}\n\n{}", opening_comment(text), list(&public)))
}

fn contents() -> String {
    let mut text = String::new();
    for (namespace, purpose) in NAMESPACES {
        let own: Vec<&Primitive> = PRIMITIVES
            .iter()
            .copied()
            .filter(|p| p.receiver().is_none() && p.namespace().unwrap_or("") == *namespace)
            .collect();
        if !own.is_empty() {
            let title = if namespace.is_empty() { "top level".into() } else { format!("{namespace}::") };
            text += &format!("{title}  {purpose}\n{}\n", indent(&list(&own)));
        }
    }
    let methods: Vec<&Primitive> = PRIMITIVES.iter().copied().filter(|p| p.receiver().is_some()).collect();
    if !methods.is_empty() {
        text += &format!("methods\n{}\n", indent(&list(&methods)));
    }
    let names: Vec<&str> = TYPES.iter().map(|kind| kind.name).collect();
    text += &format!("types\n  {}\n\n", names.join(", "));
    text += "glossary  the words of the language, with what each means and which calls use it\nsafety  what a stranger's script can and can't do\noptions  how functions of your own declare their options\n\n";
    text + "help(\"name\") shows one of them with its options and an example"
}

/// The methods of a type.
pub fn methods(kind: &str) -> Vec<&'static Primitive> {
    let of_kind = |p: &&Primitive| p.receiver().is_some_and(|receiver| receiver.eq_ignore_ascii_case(kind));
    PRIMITIVES.iter().copied().filter(of_kind).collect()
}

fn type_page(kind: &Type) -> String {
    let mut text = format!("{}\n\n{}\n", kind.name, kind.purpose);
    if !kind.fields.is_empty() {
        let wide = kind.fields.iter().map(|field| field.name.len()).max().unwrap_or(0);
        text += "\nfields\n";
        for field in kind.fields {
            text += &format!("  {:wide$}  {} ({})\n", field.name, field.doc, field.kind);
        }
    }
    if !kind.elements.is_empty() {
        text += &format!("\nelements\n  value[i] is {}\n", kind.elements);
    }
    let methods = methods(kind.name);
    if !methods.is_empty() {
        text += &format!("\nmethods\n{}", indent(&list(&methods)));
    }
    text.trim_end().to_string()
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// Functions with a sentence each.
pub fn list(primitives: &[&Primitive]) -> String {
    let wide = primitives.iter().map(|p| p.path.len()).max().unwrap_or(0);
    let lines: Vec<String> = primitives.iter().map(|p| format!("{:wide$}  {}", p.path, p.purpose)).collect();
    lines.join("\n")
}

/// A function in full.
pub fn function(primitive: &Primitive) -> String {
    let mut text = format!("{}\n\n{}\n", primitive.signature(), primitive.purpose);
    let arguments: Vec<String> = primitive.params.iter().map(parameter).collect();
    if !arguments.is_empty() {
        text += &format!("\narguments\n{}\n", arguments.join("\n"));
    }
    let options: Vec<String> = primitive.options.iter().map(parameter).collect();
    if !options.is_empty() {
        text += &format!("\noptions\n{}\n", options.join("\n"));
    }
    if !primitive.returns.is_empty() {
        text += &format!("\nreturns {}\n", primitive.returns);
    }
    if !primitive.notes.is_empty() {
        text += &format!("\n{}\n", primitive.notes);
    }
    if !primitive.source.is_empty() {
        text += &format!("\nsource: {}\n", primitive.source);
    }
    for example in primitive.examples {
        text += &format!("\nexample\n  {}\n", example.code.replace('\n', "\n  "));
        if !example.result.is_empty() && example.result != "()" {
            text += &format!("  => {}\n", example.result.replace('\n', "\n     "));
        }
    }
    text.trim_end().to_string()
}

fn parameter(param: &Param) -> String {
    let mut facts = vec![param.kind.describe()];
    facts.extend(param.bounds());
    if !param.unit.is_empty() {
        facts.push(param.unit.into());
    }
    match param.fallback {
        Fallback::Required => {}
        Fallback::Absent(then) => facts.push(format!("default: {then}")),
        _ => facts.extend(param.fallback_text().map(|default| format!("default {default}"))),
    }
    format!("  {}: {} ({})", param.name, param.doc, facts.join(", "))
}

/// A place of the documentation that has the words looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// What to ask for: `risk::estimate`, `Dataset`.
    pub name: String,
    /// The sentence that has the words, or what the thing is for.
    pub sentence: String,
    /// 0: in the name, 1: in its sentence, 2: elsewhere.
    pub rank: usize,
}

/// Where these words stand, all of them, in upper or lower case: in the pages of functions, types, namespaces, modules in the binary, and
/// in the glossary. Names come first.
pub fn apropos(words: &str) -> Vec<Mention> {
    let words: Vec<String> = words.to_lowercase().split_whitespace().map(String::from).collect();
    let mut found = Vec::new();
    for (name, purpose) in NAMESPACES.iter().filter(|(name, _)| !name.is_empty()) {
        found.extend(mention(name, purpose, &[], &words));
    }
    for primitive in PRIMITIVES {
        found.extend(of_function(primitive, &words));
    }
    for kind in TYPES {
        let fields = kind.fields.iter().map(|field| format!("{}: {}", field.name, field.doc));
        found.extend(mention(kind.name, kind.purpose, &fields.collect::<Vec<_>>(), &words));
    }
    for module in super::stdlib::stdlib_names() {
        let text = stdlib_text(&module).unwrap_or_default();
        let opening = opening_comment(text);
        let first = opening.lines().next().unwrap_or_default();
        found.extend(mention(&module, first, std::slice::from_ref(&opening), &words));
        let declared = declared::declared(module.trim_start_matches("std/"), text).unwrap_or_default();
        let public = declared.iter().filter(|function| function.public);
        found.extend(public.filter_map(|function| of_function(&function.declaration.function, &words)));
    }
    for (name, page) in
        ["glossary", "safety", "options", "machines"].into_iter().filter_map(|name| Some((name, page(name)?)))
    {
        let lines: Vec<String> = page.lines().map(|line| line.trim().to_string()).collect();
        found.extend(mention(name, "", &lines, &words));
    }
    found.sort_by(|a, b| (a.rank, &a.name).cmp(&(b.rank, &b.name)));
    found
}

/// Whether the page of a function, of viva's or of a script, has these words, each in lower case.
pub fn of_function(function: &Primitive, words: &[String]) -> Option<Mention> {
    let params = function.params.iter().chain(function.options);
    let mut texts: Vec<String> = params.map(|param| format!("{}: {}", param.name, param.doc)).collect();
    texts.push(format!("returns {}", function.returns));
    texts.push(function.notes.into());
    texts.push(format!("source: {}", function.source));
    mention(function.path, function.purpose, &texts, words)
}

fn mention(name: &str, purpose: &str, texts: &[String], words: &[String]) -> Option<Mention> {
    let has = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let found = |sentence: &str, rank| Some(Mention { name: name.into(), sentence: sentence.into(), rank });
    if words.is_empty() {
        return None;
    }
    if has(name) {
        return found(purpose, 0);
    }
    if has(purpose) || has(&format!("{name} {purpose}")) {
        return found(purpose, 1);
    }
    if let Some(text) = texts.iter().find(|text| has(text)) {
        return found(&sentence_with(text, &words[0]), 2);
    }
    has(&format!("{name} {purpose} {}", texts.join(" "))).then(|| found(purpose, 2)).flatten()
}

/// The sentence of a text that has this word.
fn sentence_with(text: &str, word: &str) -> String {
    let of = text.split_inclusive(". ").find(|sentence| sentence.to_lowercase().contains(word));
    of.unwrap_or(text).trim().to_string()
}
