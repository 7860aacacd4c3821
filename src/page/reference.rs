//! The reference of the language: an index, a page per namespace and module, one of the types with their methods, and a
//! gallery of the figures.

use maud::{Markup, html};

use super::prose::{comment, inline, paragraphs};
use super::thesis::Shown;
use super::{clean, code, document, figure};
use crate::core::record::opening_comment;
use crate::core::{Error, Result};
use crate::primitives::declared::{self, Declaration};
use crate::primitives::types::{TYPES, Type};
use crate::primitives::{Example, Fallback, NAMESPACES, PRIMITIVES, Param, Primitive, reference::methods};
use crate::primitives::{glossary, safety};

/// A module that comes with viva.
pub struct ModulePage {
    /// `std/zoo`
    pub name: String,
    pub text: &'static str,
    pub functions: Vec<&'static Declaration>,
}

/// A figure with the script that made it.
pub struct Drawing {
    /// The primitive that it shows: `plot::line`.
    pub path: String,
    pub script: String,
    pub svg: String,
}

/// All pages: file name and text.
pub fn reference(modules: &[ModulePage], gallery: &[Drawing], shown: &[Shown]) -> Result<Vec<(String, String)>> {
    let site = ReferenceSite { modules };
    let mut pages = vec![("index.html".to_string(), site.index()), ("tutorial.html".to_string(), site.tutorial()?)];
    pages.push(("tour.html".into(), site.tour()));
    for (namespace, purpose) in NAMESPACES {
        pages.push((namespace_file(namespace), site.namespace(namespace, purpose)));
    }
    pages.push(("types.html".into(), site.types()));
    for module in modules {
        pages.push((module_file(&module.name), site.module(module)));
    }
    pages.push(("glossary.html".into(), site.glossary()));
    pages.push(("safety.html".into(), site.safety()));
    pages.push(("gallery.html".into(), site.gallery(gallery)?));
    pages.push(("thesis.html".into(), site.thesis(shown)?));
    Ok(pages)
}

struct ReferenceSite<'a> {
    modules: &'a [ModulePage],
}

fn namespace_file(namespace: &str) -> String {
    if namespace.is_empty() { "top.html".into() } else { format!("{namespace}.html") }
}

fn namespace_title(namespace: &str) -> String {
    if namespace.is_empty() { "Top level".into() } else { format!("{namespace}::") }
}

fn module_file(name: &str) -> String {
    format!("{}.html", name.replace('/', "-"))
}

fn own(namespace: &str) -> Vec<&'static Primitive> {
    let of = |p: &&Primitive| p.receiver().is_none() && p.namespace().unwrap_or("") == namespace;
    PRIMITIVES.iter().copied().filter(of).collect()
}

fn type_of(primitive: &Primitive) -> Option<&'static Type> {
    primitive.receiver().and_then(crate::primitives::types::find)
}

/// Its place on its page.
fn anchor(primitive: &Primitive) -> String {
    match type_of(primitive) {
        Some(kind) => format!("{}.{}", kind.name, primitive.name()),
        None => primitive.name().into(),
    }
}

fn address(primitive: &Primitive) -> String {
    let file = match primitive.receiver() {
        Some(_) => "types.html".to_string(),
        None => namespace_file(primitive.namespace().unwrap_or("")),
    };
    format!("{file}#{}", anchor(primitive))
}

/// The page of what a code word names.
fn links(word: &str) -> Option<String> {
    let name = word.split('(').next().unwrap_or(word);
    if let Some(primitive) =
        PRIMITIVES.iter().find(|p| p.path == name && (name.contains("::") || word.contains('(') || p.path.len() > 4))
    {
        return Some(address(primitive));
    }
    if let Some(kind) = TYPES.iter().find(|kind| kind.name == name && kind.name != "tensor") {
        return Some(format!("types.html#{}", kind.name));
    }
    if let Some(declaration) = declared::of_stdlib(name) {
        let module = declaration.function.namespace().unwrap_or_default();
        return Some(format!("{}#{}", module_file(&format!("std/{module}")), anchor(&declaration.function)));
    }
    let namespace = name.strip_suffix("::")?;
    NAMESPACES.iter().any(|(known, _)| *known == namespace).then(|| namespace_file(namespace))
}

/// What the search box looks for beside the text that is seen.
fn search_words(primitive: &Primitive) -> String {
    let params = primitive.params.iter().chain(primitive.options);
    let params = params.map(|param| format!("{} {}", param.name, param.doc)).collect::<Vec<_>>().join(" ");
    format!("{params} {} {}", primitive.notes, primitive.source)
}

fn search_box(what: &str) -> Markup {
    html! {
        div .search hidden {
            label for="search" { "Search " (what) }
            input #search type="search" autocomplete="off" spellcheck="false";
            span #found aria-live="polite" {}
        }
    }
}

impl ReferenceSite<'_> {
    fn page(&self, title: &str, here: &str, head: &Markup, main: &Markup) -> String {
        let link = |file: &str, name: &str| {
            html! {
                li { a href=(file) aria-current=[(file == here).then_some("page")] { (name) } }
            }
        };
        let body = html! {
            header .top {
                p .kind { a href="index.html" { "viva: reference" } }
                h1 { (title) }
                (head)
                // The index has the words of every entry.
                @if here != "index.html" {
                    div .everywhere hidden {
                        label for="everywhere" { "Search everything" }
                        input #everywhere type="search" autocomplete="off" spellcheck="false";
                    }
                }
                nav aria-label="Pages" { ul {
                    (link("tutorial.html", "Tutorial"))
                    (link("tour.html", "Tour"))
                    @for (namespace, _) in NAMESPACES {
                        (link(&namespace_file(namespace), &namespace_title(namespace)))
                    }
                    (link("types.html", "Types"))
                    @for module in self.modules { (link(&module_file(&module.name), &module.name)) }
                    (link("glossary.html", "Glossary"))
                    (link("safety.html", "Safety"))
                    (link("gallery.html", "Gallery"))
                    (link("thesis.html", "Dunn 2022"))
                } }
            }
            main { (main) }
        };
        document(&format!("{title} - viva"), &body)
    }

    fn index(&self) -> String {
        let head = html! {
            p {
                "Everything that a script can call. At the prompt the same text answers " code { "?data::load" }
                ", and on the command line " code { "viva doc data::load" } ". "
                "To begin with: " a href="tutorial.html" { "the tutorial" } ". What there is, with what to type: " a href="tour.html" { "the tour" } ". "
                "What options are called, and what that means everywhere: " a href="glossary.html" { "the glossary" } "."
            }
        };
        let line = |address: String, signature: String, purpose: &str, words: String| {
            html! {
                tr data-words=(words) {
                th scope="row" { a href=(address) { code { (signature) } } }
                td { (inline(purpose, &links)) }
            }
            }
        };
        let group = |file: String, title: &str, purpose: &str, lines: Markup| {
            html! {
                section data-group {
                    h2 { a href=(file) { (title) } " " span .note { (purpose) } }
                    table .entries { tbody { (lines) } }
                }
            }
        };
        let main = html! {
            (search_box("all functions"))
            @for (namespace, purpose) in NAMESPACES {
                @let purpose = if namespace.is_empty() { "" } else { purpose };
                (group(namespace_file(namespace), &namespace_title(namespace), purpose, html! {
                    @for p in own(namespace) { (line(address(p), short_signature(p), p.purpose, search_words(p))) }
                }))
            }
            @for kind in TYPES {
                (group(format!("types.html#{}", kind.name), kind.name, "", html! {
                    tr data-words=(kind.fields.iter().map(|f| f.name).collect::<Vec<_>>().join(" ")) {
                        th scope="row" { a href={ "types.html#" (kind.name) } { code { (kind.name) } } }
                        td { (inline(kind.purpose, &links)) }
                    }
                    @for p in methods(kind.name) { (line(address(p), short_signature(p), p.purpose, search_words(p))) }
                }))
            }
            @for module in self.modules {
                (group(module_file(&module.name), &module.name, "a module to import", html! {
                    @for function in &module.functions {
                        @let p = &function.function;
                        @let address = format!("{}#{}", module_file(&module.name), anchor(p));
                        (line(address, short_signature(p), p.purpose, search_words(p)))
                    }
                }))
            }
        };
        self.page("Reference", "index.html", &head, &main)
    }

    fn tutorial(&self) -> Result<String> {
        let (main, parts) = super::tutorial::page(&links)?;
        let head = html! { p { "From nothing to a report on a model of your own, with what viva answers." } };
        let main = html! {
            ul .contents { @for (anchor, title) in &parts { li { a href={ "#" (anchor) } { (title) } } } }
            (main)
        };
        Ok(self.page("An hour with viva", "tutorial.html", &head, &main))
    }

    fn tour(&self) -> String {
        let (main, parts) = super::tour::page(super::tour::TOUR, &links);
        let head = html! {
            p { "What there is, door by door, with what to type. What each function takes is on the pages named here." }
        };
        let main = html! {
            ul .contents { @for (anchor, title) in &parts { li { a href={ "#" (anchor) } { (title) } } } }
            (main)
        };
        self.page("A tour of viva", "tour.html", &head, &main)
    }

    fn namespace(&self, namespace: &str, purpose: &str) -> String {
        let primitives = own(namespace);
        let head = html! {
            @if !namespace.is_empty() { p { (purpose) } }
            @if namespace == "plot" { p { "All of them drawn: " a href="gallery.html" { "the gallery" } "." } }
        };
        let main = html! {
            (search_box("this page"))
            (contents(primitives.iter().map(|p| (anchor(p), p.path, p.purpose))))
            @for primitive in primitives { (function(primitive, 2)) }
        };
        self.page(&namespace_title(namespace), &namespace_file(namespace), &head, &main)
    }

    fn types(&self) -> String {
        let head = html! {
            p {
                "What values have: fields to read, elements to index, methods to call. A method without arguments answers "
                "without parentheses as well."
            }
        };
        let main = html! {
            (search_box("this page"))
            (contents(TYPES.iter().map(|kind| (kind.name.to_string(), kind.name, kind.purpose))))
            @for kind in TYPES {
                section .type id=(kind.name) data-group {
                    h2 { (kind.name) }
                    p { (inline(kind.purpose, &links)) }
                    @if !kind.fields.is_empty() {
                        h3 { "Fields" }
                        table .params {
                            thead { tr { @for head in ["name", "kind", "meaning"] { th scope="col" { (head) } } } }
                            tbody { @for field in kind.fields { tr {
                                th scope="row" { code { (field.name) } }
                                td data-head="kind" { (inline(&typed(field.kind), &links)) }
                                td { (inline(field.doc, &links)) }
                            } } }
                        }
                    }
                    @if !kind.elements.is_empty() {
                        p { code { "value[i]" } " is " (inline(kind.elements, &links)) "." }
                    }
                    @let makers = makers(kind.name);
                    @if !makers.is_empty() {
                        p .note {
                            "Made by "
                            @for (i, maker) in makers.iter().enumerate() {
                                @if i > 0 { ", " }
                                a href=(address(maker)) { code { (maker.path) } }
                            }
                            "."
                        }
                    }
                    @for method in methods(kind.name) { (function(method, 3)) }
                }
            }
        };
        self.page("Types", "types.html", &head, &main)
    }

    fn module(&self, module: &ModulePage) -> String {
        let head = html! { (comment(&opening_comment(module.text), &links)) };
        let main = html! {
            (search_box("this page"))
            (contents(module.functions.iter().map(|f| (anchor(&f.function), f.function.path, f.function.purpose))))
            @for declaration in &module.functions { (function_with(&declaration.function, 2, declaration.not_run)) }
            section id="source" { h2 { "Source" } (code::numbered(module.text)) }
        };
        self.page(&module.name, &module_file(&module.name), &head, &main)
    }

    fn glossary(&self) -> String {
        let head = html! {
            p { "The words of the language: five that carry it, some that are easily taken for each other, and every option." }
        };
        let terms = |title: &str, lines: &[(&str, &str)]| {
            html! {
                section data-group {
                    h2 { (title) }
                    table .entries.words { tbody { @for (word, meaning) in lines {
                        tr data-words="" { th scope="row" { (word) } td { (inline(meaning, &links)) "." } }
                    } } }
                }
            }
        };
        let entries = glossary::entries();
        let first = |i: usize| i == 0 || entries[i - 1].name != entries[i].name;
        let main = html! {
            (search_box("all words"))
            (terms("Five words", &glossary::FIVE))
            (terms("Easily confused", glossary::TERMS))
            section data-group {
                h2 { "Options" }
                table .params.glossary {
                    thead { tr { @for head in ["word", "meaning", "in"] { th scope="col" { (head) } } } }
                    tbody { @for (i, entry) in entries.iter().enumerate() {
                        tr data-words="" {
                            th scope="row" id=[first(i).then(|| format!("word-{}", entry.name))] { code { (entry.name) } }
                            td data-head="meaning" { (inline(entry.meaning, &links)) }
                            td data-head="in" {
                                @for (i, call) in entry.calls.iter().enumerate() {
                                    @if i > 0 { ", " }
                                    (call_link(call))
                                }
                            }
                        }
                    } }
                }
            }
        };
        self.page("Glossary", "glossary.html", &head, &main)
    }

    fn safety(&self) -> String {
        let head = html! { p { (safety::PURPOSE) } };
        let main = html! {
            (paragraphs(safety::OPENING, &links))
            table .params.abilities {
                thead { tr { @for head in ["A stranger's script can", "", "to be known"] { th scope="col" { (head) } } } }
                tbody { @for line in safety::LINES { tr {
                    th scope="row" { (inline(line.what, &links)) }
                    td data-head="can" { (inline(&line.can.words(), &links)) }
                    td { (inline(line.note, &links)) }
                } } }
            }
            (paragraphs(safety::CLOSING, &links))
        };
        self.page("Safety", "safety.html", &head, &main)
    }

    fn thesis(&self, shown: &[Shown]) -> Result<String> {
        let head = html! {
            p {
                "Chapters 4 to 7 and Appendix C of Dunn, \"Testing deep image classifiers using generative machine learning\" (2022): which command makes which numbered "
                "table and figure, under which name its result has it, and what is absent. Scripts say on top how long they take and what they found. Those of "
                "testgen run on glyphs where nothing is said; " code { "--data mnist --model models/convex_adversarial_kw/models__mnist.safetensors" }
                " is the thesis's classifier. Pictures are those of the last run of " code { "docs/thesis/draw.sh" } ", each with its command."
            }
        };
        let main = html! { (super::thesis::table(&links, shown)) (super::thesis::pictures(shown)?) };
        Ok(self.page("Dunn 2022, by table and figure", "thesis.html", &head, &main))
    }

    fn gallery(&self, gallery: &[Drawing]) -> Result<String> {
        let mut figures = Vec::new();
        for drawing in gallery {
            let shown = figure::svg(&drawing.svg, &drawing.path).map_err(Error::internal)?;
            let about = opening_comment(&drawing.script);
            let rest = drawing.script.lines().skip_while(|line| line.starts_with("//") || line.trim().is_empty());
            let name = drawing.path.rsplit(':').next().unwrap_or(&drawing.path);
            figures.push(html! {
                section .drawing .wide[shown.wide] id=(name) {
                    h2 { a href=(links(&drawing.path).unwrap_or_default()) { code { (drawing.path) } } }
                    (comment(&about, &links))
                    figure { div .paper { (shown.markup) } }
                    (code::plain(&rest.collect::<Vec<_>>().join("\n")))
                }
            });
        }
        let head = html! {
            p {
                "Every figure that viva draws, with the script that made it. " code { "figure.save(\"name.svg\")" }
                " keeps one; a run keeps those of its result by itself."
            }
        };
        Ok(self.page(
            "Gallery",
            "gallery.html",
            &head,
            &html! { div .gallery { @for figure in &figures { (figure) } } },
        ))
    }
}

/// A function with a link to its description, wherever that stands.
fn call_link(call: &Primitive) -> Markup {
    let known = links(&format!("{}(", call.path)).unwrap_or_else(|| address(call));
    html! { a href=(known) { code { (call.path) } } }
}

/// Functions that give this type.
fn makers(kind: &str) -> Vec<&'static Primitive> {
    let gives = |p: &&Primitive| {
        let returns = p.returns.trim_start_matches("a ").trim_start_matches("an ").trim_start_matches('`');
        returns.strip_prefix(kind).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    PRIMITIVES.iter().copied().filter(|p| p.receiver().is_none()).filter(gives).collect()
}

/// The signature without its options.
fn short_signature(primitive: &Primitive) -> String {
    let whole = primitive.signature();
    match whole.find("#{") {
        Some(at) => format!("{}#{{ … }})", &whole[..at]),
        None => whole,
    }
}

fn contents<'a>(entries: impl Iterator<Item = (String, &'a str, &'a str)>) -> Markup {
    html! {
        table .entries.contents { tbody { @for (anchor, name, purpose) in entries {
            tr { th scope="row" { a href={ "#" (anchor) } { code { (name) } } } td { (inline(purpose, &links)) } }
        } } }
    }
}

/// A kind in words, its types marked as code: "a `Dataset` or a tensor".
fn typed(text: &str) -> String {
    let mut article = true;
    let mut words = Vec::new();
    for word in text.split(' ') {
        let name = word.trim_end_matches([',', ';', ':', '.']);
        let known = article && TYPES.iter().any(|kind| kind.name == name && kind.name != "tensor");
        words.push(if known { format!("`{name}`{}", &word[name.len()..]) } else { word.to_string() });
        article = matches!(word, "a" | "an" | "to" | "or");
    }
    words.join(" ")
}

/// A function in full; `level` is that of its heading.
fn function(primitive: &Primitive, level: u8) -> Markup {
    function_with(primitive, level, "")
}

/// A function in full, whose example is not run for a reason.
fn function_with(primitive: &Primitive, level: u8, not_run: &str) -> Markup {
    let heading =
        html! { code { (type_of(primitive).map_or_else(|| primitive.path.to_string(), |_| anchor(primitive))) } };
    let params =
        if primitive.receiver().is_some() { primitive.params.get(1..).unwrap_or(&[]) } else { primitive.params };
    html! {
        section .function id=(anchor(primitive)) data-words=(primitive.path) {
            @if level == 2 { h2 { (heading) } } @else { h3 { (heading) } }
            div .signature { (code::plain(&primitive.signature())) }
            (paragraphs(primitive.purpose, &links))
            @if !params.is_empty() { (parameters("Arguments", params)) }
            @if !primitive.options.is_empty() { (parameters("Options", primitive.options)) }
            @if !primitive.returns.is_empty() {
                p { strong { "Returns" } " " (inline(&typed(primitive.returns), &links)) }
            }
            (paragraphs(primitive.notes, &links))
            @if !primitive.source.is_empty() { p .note { "Source: " (clean(primitive.source)) } }
            @for shown in primitive.examples { (example(shown)) }
            @if !not_run.is_empty() { p .note { "Not run by the tests: " (clean(not_run)) "." } }
        }
    }
}

fn parameters(title: &str, params: &[Param]) -> Markup {
    html! {
        table .params {
            caption { (title) }
            thead { tr { @for head in ["name", "kind", "default", "range", "meaning"] { th scope="col" { (head) } } } }
            tbody { @for param in params { tr {
                th scope="row" { code { (param.name) } }
                td data-head="kind" { (inline(&typed(&param.kind.describe()), &links)) }
                td data-head="default" {
                    @match param.fallback {
                        Fallback::Required => span .note { "must be given" },
                        Fallback::Absent(then) => (inline(then, &links)),
                        _ => code { (param.fallback_text().unwrap_or_default()) },
                    }
                }
                td data-head="range" {
                    @let bounds = param.bounds().unwrap_or_default();
                    (bounds) @if !param.unit.is_empty() { @if !bounds.is_empty() { " " } (param.unit) }
                }
                td { (inline(param.doc, &links)) }
            } } }
        }
    }
}

fn example(shown: &Example) -> Markup {
    html! {
        div .example {
            (code::plain(shown.code))
            @if !shown.result.is_empty() && shown.result != "()" {
                pre .result { span .note aria-hidden="true" { "⇒ " } (shown.result) }
            }
        }
    }
}
