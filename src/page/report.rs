//! The report of a run folder: one page with everything that the run left, whatever state it ended in.

use std::path::Path;
use std::time::Duration;

use maud::{Markup, html};
use serde_json::Value as Json;

use super::examination::Examinations;
use super::folder::{FolderFile, RunFolder, written_files};
use super::outcome::PageResults;
use super::prose::{NO_LINKS, comment, inline};
use super::{
    MARK, clean, code, count, csv, document, document_of_examinations, figure, progress, provenance, shortened, size,
};
use crate::core::files::broken_seal;
use crate::core::record::{damaged_files, opening_comment};
use crate::core::{Error, Journal, Result};

/// What is read of the files of a run, in bytes, and how many tables and figures a page holds.
const JSON: u64 = 16 << 20;
const TEXT: u64 = 256 << 10;
const TABLES: usize = 60;
const FIGURES: usize = 200;
const FIGURE_BYTES: usize = 48 << 20;
const FILES: usize = 300;
const MODULES: usize = 40;

/// One of these makes a folder a run's.
const SIGNS: [&str; 5] = ["manifest.json", "results.json", "script.rhai", "printed.txt", "progress/journal"];

struct FigureFiles<'a> {
    /// Files of one figure, the one to show first.
    files: Vec<&'a FolderFile>,
    name: &'a str,
}

impl FigureFiles<'_> {
    fn of(&self) -> Option<&str> {
        self.files[0].of.as_deref()
    }
}

/// The page of a run folder; `own_page` is where it will be written, and is left out of it. A browser loads it anew after `every`.
pub fn report(root: &Path, own_page: &Path, every: Option<Duration>) -> Result<String> {
    let mut folder = RunFolder::read(root, own_page)?;
    if !SIGNS.iter().any(|name| folder.find(name).is_some()) {
        return Err(Error::file(root, format!("not a run folder: it has none of {}", SIGNS.join(", ")))
            .hint("give the run folder that `viva run` named, such as runs/demo"));
    }
    let manifest = folder.find("manifest.json").map(|entry| entry.json(JSON));
    let known = manifest.as_ref().and_then(|read| read.as_ref().ok()).unwrap_or(&Json::Null);
    folder.note_results(&known["kept"]);
    let results = folder.find("results.json").map(|entry| entry.json(JSON));
    let script = text(&folder, "script.rhai");
    let printed = text(&folder, "printed.txt");
    let examinations = Examinations::read(&folder);
    let figures = figures(&folder, &examinations);
    let place =
        |pointer: &str| figures.iter().position(|f| f.of() == Some(pointer)).map(|i| format!("#figure-{}", i + 1));
    let outcome = PageResults::new(&place);
    let answered = results.as_ref().and_then(|read| read.as_ref().ok());
    // Rows that are among the results are not shown twice.
    let is_among_them = |file: &FolderFile| {
        answered.and_then(|results| results.pointer(file.of.as_deref()?)).is_some_and(Json::is_array)
    };
    let tables: Vec<&FolderFile> = folder.ending(&["csv"]).filter(|file| !is_among_them(file)).collect();
    let shown = answered.map(|results| outcome.results(results));
    let met = outcome.met.borrow();

    let at_work = Journal::in_use(&root.join("progress"));
    let state = provenance::state(manifest.as_ref(), at_work);
    let calls = folder.find("progress/calls.json").and_then(|entry| entry.json(JSON).ok()).unwrap_or_default();
    let mut problems: Vec<String> = Vec::new();
    for read in [&manifest, &results] {
        if let Some(Err(problem)) = read {
            problems.push(problem.clone());
        }
    }
    if folder.more {
        problems.push("the folder holds more files than this page lists".into());
    }
    let mut damaged: Vec<String> = ["manifest.json", "progress/calls.json"]
        .into_iter()
        .filter_map(|name| {
            let text = folder.find(name)?.excerpt(JSON).ok()?.text;
            broken_seal(&text).map(|problem| format!("{name}: {problem}"))
        })
        .collect();
    damaged.extend(damaged_files(&written_files(known), root));
    let (drawn, undrawn) = draw(&figures, &met);
    problems.extend(undrawn);
    problems.extend(examinations.problems.iter().cloned());
    let warnings: Vec<&str> = known["warnings"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();

    let changes = provenance::changes(known);

    let path = known["script"].as_str().unwrap_or("script.rhai");
    let name = clean(Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path));
    let about = script.as_ref().map(|(text, _)| opening_comment(text)).unwrap_or_default();
    let modules: Vec<(&str, String, Option<u64>)> = known["modules"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|module| module["kept_as"].as_str().filter(|file| file.starts_with("modules/")))
        .take(MODULES)
        .filter_map(|file| text(&folder, file).map(|(text, of)| (file, text, of)))
        .collect();
    let sections: Vec<(&str, &str, Markup)> = [
        (
            "progress",
            "Progress",
            (state.word != "finished").then(|| progress::table(&calls, at_work == Some(true))).flatten(),
        ),
        (
            "results",
            "Results",
            shown.map(|shown| {
                html! {
                    (shown)
                    @if outcome.cut() { p .note { "Cut here; all of it is in results.json." } }
                }
            }),
        ),
        (
            "examinations",
            "Examinations",
            (!examinations.shown.is_empty())
                .then(|| html! { @for examination in &examinations.shown { (examination) } }),
        ),
        (
            "figures",
            "Figures",
            (!drawn.is_empty()).then(|| {
                html! {
                    div .figures { @for figure in &drawn { (figure) } }
                }
            }),
        ),
        (
            "printed",
            "Printed",
            printed.as_ref().filter(|(text, _)| !text.trim().is_empty()).map(|(text, of)| {
                html! {
                    pre .printed { (clean(text.trim_end())) }
                    (beginning("printed.txt", *of))
                }
            }),
        ),
        (
            "tables",
            "Tables",
            (!tables.is_empty()).then(|| {
                html! {
                    @for (i, table) in tables.iter().take(TABLES).enumerate() {
                        (csv::table(table, &format!("table-{}", i + 1)))
                    }
                    @if tables.len() > TABLES {
                        p .note { (TABLES) " of " (tables.len()) " tables; the others are among the files below." }
                    }
                }
            }),
        ),
        (
            "provenance",
            "Provenance",
            known.is_object().then(|| {
                provenance::table(known, script.as_ref().filter(|(_, of)| of.is_none()).map(|(text, _)| text.as_str()))
            }),
        ),
        (
            "script",
            "Script",
            script.as_ref().map(|(text, of)| {
                html! {
                    (code::numbered(text))
                    (beginning("script.rhai", *of))
                }
            }),
        ),
        (
            "modules",
            "Imported texts",
            (!modules.is_empty()).then(|| {
                html! {
                    @for (file, text, of) in &modules {
                        details { summary { (clean(file)) } (code::numbered(text)) (beginning(file, *of)) }
                    }
                }
            }),
        ),
        ("files", "Files", Some(files(&folder))),
    ]
    .into_iter()
    .filter_map(|(id, title, inside)| inside.map(|inside| (id, title, inside)))
    .collect();

    let body = html! {
        header .top {
            p .kind { "viva: report of a run" }
            h1 { (name) }
            p .state {
                span class={ "badge " (state.class) } { (state.word) }
                @if !state.why.is_empty() { " " (inline(&shortened(&state.why, 2000), NO_LINKS)) }
            }
            @if !about.is_empty() { div .about { (comment(&shortened(&about, 4000), NO_LINKS)) } }
            nav aria-label="Parts of this page" {
                ul { @for (id, title, _) in &sections { li { a href={ "#" (id) } { (title) } } } }
            }
        }
        main {
            @if !warnings.is_empty() { (notices("Warnings", "warning", &warnings)) }
            @if !changes.is_empty() { (notices("Changed on the way", "warning", &changes)) }
            @if !damaged.is_empty() { (notices("Damaged, or not known to be whole", "problem", &damaged)) }
            @if !problems.is_empty() { (notices("Not shown", "problem", &problems)) }
            @for (id, title, inside) in &sections { section id=(id) { h2 { (title) } (inside) } }
        }
    };
    let document = if examinations.shown.is_empty() { document } else { document_of_examinations };
    let page = document(&format!("{name}: {}", state.word), &body);
    Ok(match every {
        None => page,
        Some(every) => {
            let anew = format!("{MARK}<meta http-equiv=\"refresh\" content=\"{}\">", every.as_secs());
            page.replacen(MARK, &anew, 1)
        }
    })
}

fn notices(title: &str, class: &str, lines: &[impl AsRef<str>]) -> Markup {
    html! {
        section class={ "notice " (class) } {
            h2 { (title) }
            ul { @for line in lines.iter().take(100) { li { (inline(&shortened(line.as_ref(), 1000), NO_LINKS)) } } }
            @if lines.len() > 100 { p { "and " (lines.len() - 100) " more, in manifest.json" } }
        }
    }
}

/// The beginning of a text file, with its size where there is more of it.
fn text(folder: &RunFolder, name: &str) -> Option<(String, Option<u64>)> {
    let excerpt = folder.find(name)?.excerpt(TEXT).ok()?;
    Some((excerpt.text, excerpt.of))
}

fn beginning(name: &str, of: Option<u64>) -> Markup {
    html! {
        @if let Some(bytes) = of {
            p .note { "The first " (size(TEXT)) " of " (size(bytes)) "; all of it is in " (name) "." }
        }
    }
}

/// Pictures by name, SVG before others.
fn figures<'a>(folder: &'a RunFolder, examinations: &Examinations) -> Vec<FigureFiles<'a>> {
    let mut figures: Vec<FigureFiles> = Vec::new();
    for wanted in [&["svg"][..], &["png"], &["gif"], &["jpg", "jpeg"]] {
        for entry in folder.ending(wanted).filter(|entry| !examinations.shows(entry)) {
            match figures.iter_mut().find(|figure| figure.name == entry.stem()) {
                Some(figure) => figure.files.push(entry),
                None => figures.push(FigureFiles { files: vec![entry], name: entry.stem() }),
            }
        }
    }
    figures.sort_by_key(|figure| figure.name);
    figures
}

/// The figures as part of the page, and what is wrong with the others.
fn draw(figures: &[FigureFiles], met: &[(String, String)]) -> (Vec<Markup>, Vec<String>) {
    let (mut drawn, mut problems) = (Vec::new(), Vec::new());
    let mut weight = 0;
    for (i, figure) in figures.iter().enumerate() {
        if i >= FIGURES || weight > FIGURE_BYTES {
            problems.push(format!("{} for the size of this page", count((figures.len() - i) as u64, "figure")));
            break;
        }
        let words = met
            .iter()
            .find(|(pointer, _)| Some(pointer.as_str()) == figure.of())
            .map(|(_, words)| words.as_str())
            .filter(|w| !w.is_empty());
        let name = figure.files[0].of.as_ref().map_or_else(|| figure.name.into(), |_| figure.files[0].title());
        let label = words.map_or_else(|| name.clone(), |words| format!("{name}: {words}"));
        match figure::embed(&figure.files, &label) {
            Ok(shown) => {
                weight += shown.weight;
                let names: Vec<&str> = figure.files.iter().map(|file| file.name.as_str()).collect();
                drawn.push(html! {
                    figure .wide[shown.wide] id={ "figure-" (i + 1) } {
                        div .paper { (shown.markup) }
                        figcaption {
                            @if let Some(title) = &shown.title { strong { (title) } " " }
                            @if name != figure.name { (clean(&name)) ": " }
                            span .note { (clean(&names.join(", "))) }
                        }
                    }
                });
            }
            Err(problem) => problems.push(problem),
        }
    }
    (drawn, problems)
}

fn files(folder: &RunFolder) -> Markup {
    let table = html! {
        table .data {
            thead { tr { th scope="col" { "file" } th scope="col" .number { "size" } } }
            tbody {
                @for entry in folder.files.iter().take(FILES) {
                    tr { td { (clean(&entry.name)) } td .number { (size(entry.bytes)) } }
                }
                @for name in folder.odd.iter().take(FILES) {
                    tr { td { (clean(name)) } td { "not a plain file; not read" } }
                }
            }
        }
    };
    html! {
        (super::scrolling("files", &table))
        @if folder.files.len() > FILES { p .note { (FILES) " of " (folder.files.len()) " files." } }
    }
}
