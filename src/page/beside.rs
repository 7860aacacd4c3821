//! Runs beside one another: what they were given, where their results differ, and their figures on top of each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use maud::html;
use serde_json::Value as Json;

use super::folder::{RunFolder, written_files};
use super::{clean, document, figure, shortened};
use crate::core::record::damaged_files;
use crate::core::{Cautions, Digest, Error, Result, Table, Value, cut, significant};
use crate::plot::{Axis, Figure, Layer, Panel, ReferenceLine, Series, Spread};

/// Of a folder's manifest and results, that much is read.
const READ: u64 = 64 << 20;
/// What a star says.
const STAR: &str = "*: the intervals do not meet (no test: where they do, the values may differ as well)";
/// Where results say what is to be known of them.
const CAUTIONS: &str = "cautions";
/// Letters of the names of what a caution stands beside, at most.
const PLACES: usize = 60;
/// Letters of a cell on the screen, at most.
const CELL: usize = 44;
const LEAST_CELL: usize = 12;
/// Of numbers, so many digits; ends of intervals have no fewer than what they are of.
const DIGITS: usize = 5;
/// Lines of a page's table, at most.
const LINES: usize = 2000;

/// A line of a table: what it is of, and what each run has.
struct ComparedLine {
    name: String,
    cells: Vec<String>,
    /// How far apart numbers are, in words.
    apart: String,
}

pub struct RunsBeside {
    names: Vec<String>,
    /// What was given and differs.
    given: Vec<ComparedLine>,
    /// Results that differ.
    results: Vec<ComparedLine>,
    /// Results that are equal.
    equal: usize,
    /// Files that runs wrote beside their results and that are not the same.
    files: Vec<String>,
    /// What results say of themselves, and the runs that have it, in words.
    cautions: Vec<(String, String)>,
    figures: Vec<(String, Figure)>,
    /// Figures that were not laid on top of each other, and why.
    apart: Vec<String>,
}

impl RunsBeside {
    pub fn read(folders: &[PathBuf]) -> Result<Self> {
        let mut read = Vec::new();
        for folder in folders {
            let files = RunFolder::read(folder, &folder.join("report.html"))?;
            let json = |name: &str| match files.find(name) {
                Some(file) => file.json(READ).map_err(|problem| Error::file(&folder.join(name), problem)),
                None => {
                    Err(Error::file(folder, format!("no {name}: this is no run folder, or its run is not finished")))
                }
            };
            read.push((json("manifest.json")?, json("results.json")?));
        }
        let manifests: Vec<BTreeMap<String, Json>> = read.iter().map(|(manifest, _)| given(manifest)).collect();
        let results: Vec<BTreeMap<String, Json>> = read.iter().map(|(_, results)| leaves(results)).collect();
        let (given, _) = differing(&manifests);
        let (results, equal) = differing(&results);
        let names = names_of(folders);
        let mut cautions = Vec::new();
        for (folder, (name, (manifest, _))) in folders.iter().zip(names.iter().zip(&read)) {
            cautions
                .extend(damaged_files(&written_files(manifest), folder).into_iter().map(|told| (name.clone(), told)));
        }
        cautions.extend(cautions_of(&read, &names));
        let (mut figures, apart) = figures_of(&read.iter().map(|(_, results)| results).collect::<Vec<_>>(), &names);
        if let Some(told) = other_lines(&given) {
            figures = figures.into_iter().map(|(key, figure)| (key, figure.cautioned(&told))).collect();
        }
        let files = differing_files(&read.iter().map(|(manifest, _)| written_files(manifest)).collect::<Vec<_>>());
        Ok(Self { names, given, results, equal, files, cautions, figures, apart })
    }

    /// For a terminal: what was given, then results, at most `rows` of each.
    pub fn text(&self, width: usize, rows: usize) -> String {
        let mut parts = Vec::new();
        match self.given.is_empty() {
            true => parts.push("given: the same script, arguments, inputs, seed and machine".into()),
            false => parts.push(format!("given\n{}", self.table(&self.given, width).text(width, rows))),
        }
        let equal = match self.equal {
            1 => "1 value is equal".into(),
            n => format!("{n} values are equal"),
        };
        match self.results.is_empty() {
            true => parts.push(format!("results: nothing differs; {equal}")),
            false => parts.push(format!(
                "results: {} differ, {equal}\n{}",
                self.results.len(),
                self.table(&self.results, width).text(width, rows)
            )),
        }
        if self.results.iter().any(|line| line.apart.ends_with('*')) {
            parts.push(STAR.into());
        }
        if !self.files.is_empty() {
            parts.push(self.other_files());
        }
        if !self.cautions.is_empty() {
            let lines = self.cautions.iter().map(|(runs, said)| format!("\n  {runs}: {said}"));
            parts.push(format!("what the results say of themselves{}", lines.collect::<String>()));
        }
        parts.join("\n\n")
    }

    /// In a sentence.
    fn other_files(&self) -> String {
        /// More are not named.
        const NAMED: usize = 10;
        let more = if self.files.len() > NAMED { ", .." } else { "" };
        format!(
            "files: {} differ, or are of some runs alone, whose contents are not compared: {}{more}",
            self.files.len(),
            self.files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ")
        )
    }

    pub fn figures(&self) -> usize {
        self.figures.len()
    }

    fn table(&self, lines: &[ComparedLine], width: usize) -> Table {
        // A few runs have a column each, also where the screen is narrow.
        let longest = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        let name = longest.min(2 * width / 5).clamp(LEAST_CELL, CELL);
        let runs = self.names.len();
        let cell = (width.saturating_sub(name + LEAST_CELL + 2 * runs + 2) / runs).clamp(LEAST_CELL, CELL);
        let cells = |of: &dyn Fn(&ComparedLine) -> &str, wide: usize| {
            lines.iter().map(|line| Value::Str(cut(of(line), wide))).collect::<Vec<_>>()
        };
        let text = |of: &dyn Fn(&ComparedLine) -> &str| cells(of, cell);
        let mut table = Table::default().column("", cells(&|line| &line.name, name));
        for (i, name) in self.names.iter().enumerate() {
            table = table.column(name.as_str(), text(&|line| &line.cells[i]));
        }
        match lines.iter().any(|line| !line.apart.is_empty()) {
            true => table.column("apart", text(&|line| &line.apart)),
            false => table,
        }
    }

    /// As one page for a browser.
    pub fn page(&self) -> Result<String> {
        let mut drawn = Vec::new();
        for (name, both) in &self.figures {
            let shown = figure::svg(&both.svg()?, name)
                .map_err(|problem| Error::internal(format!("the figure {name}: {problem}")))?;
            drawn.push((name, shown));
        }
        let rows = |lines: &[ComparedLine]| {
            html! {
                div .scroll { table .sortable {
                    thead { tr { th scope="col" { "what" } @for name in &self.names { th scope="col" { (clean(name)) } } th scope="col" { "apart" } } }
                    tbody { @for line in lines.iter().take(LINES) { tr {
                        th scope="row" .whole { code { (clean(&shortened(&line.name, 200))) } }
                        @for cell in &line.cells { td { (clean(&shortened(cell, 200))) } }
                        td { (line.apart) }
                    } } }
                } }
                @if lines.len() > LINES { p .note { (LINES) " of " (lines.len()) " lines." } }
            }
        };
        let body = html! {
            header .top { p .kind { "viva: runs beside one another" } h1 { (clean(&self.names.join(", "))) } }
            main {
                section { h2 { "What they were given" }
                    @if self.given.is_empty() { p { "The same script, arguments, inputs, seed and machine." } } @else { (rows(&self.given)) }
                }
                section { h2 { "Results that differ" }
                    p .note { (self.equal) " values are equal and not listed. " (STAR) "." }
                    @if self.results.is_empty() { p { "Nothing differs." } } @else { (rows(&self.results)) }
                    @if !self.files.is_empty() { p .note { (clean(&self.other_files())) "." } }
                }
                @if !self.cautions.is_empty() { section { h2 { "What the results say of themselves" }
                    ul { @for (runs, said) in &self.cautions { li { strong { (clean(runs)) } ": " (clean(said)) } } }
                } }
                @if !drawn.is_empty() { section { h2 { "Figures on top of each other" }
                    div .figures { @for (name, shown) in &drawn {
                        figure .wide[shown.wide] { div .paper { (shown.markup) } figcaption { strong { (clean(name)) } } }
                    } }
                } }
                @if !self.apart.is_empty() { p .note { "Not drawn: " (clean(&self.apart.join("; "))) "." } }
            }
        };
        Ok(document(&format!("{} - viva", self.names.join(", ")), &body))
    }
}

/// The ends of the paths that tell the folders apart.
fn names_of(folders: &[PathBuf]) -> Vec<String> {
    let parts = |path: &PathBuf| {
        let shown = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        shown.collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = folders.iter().map(parts).collect();
    for many in 1.. {
        let ends: Vec<String> = all.iter().map(|parts| parts[parts.len().saturating_sub(many)..].join("/")).collect();
        let mut known = ends.clone();
        known.sort();
        known.dedup();
        if known.len() == ends.len() || all.iter().all(|parts| parts.len() <= many) {
            return ends;
        }
    }
    unreachable!("paths have an end")
}

/// What a run was given, by name.
fn given(manifest: &Json) -> BTreeMap<String, Json> {
    const READ: [&str; 8] =
        ["script_sha256", "arguments", "seed", "device", "threads", "versions", "machine", "modules"];
    let mut found = BTreeMap::new();
    for name in READ {
        walk(name, &manifest[name], &mut found);
    }
    for input in manifest["inputs"].as_array().into_iter().flatten() {
        let word = |key: &str| input[key].as_str().unwrap_or("").to_string();
        let hash = word("hash");
        found.insert(format!("{} {}", word("kind"), word("name")), Json::String(hash.chars().take(12).collect()));
    }
    // What follows from the binary and from nothing that a user chose.
    found.retain(|name, _| {
        !["machine.libtorch_build", "machine.viva_build", "machine.libtorch_path"].contains(&name.as_str())
    });
    found
}

/// Every number, word and truth value of results; of a figure, a digest of all that it shows.
fn leaves(results: &Json) -> BTreeMap<String, Json> {
    let mut found = BTreeMap::new();
    walk("", results, &mut found);
    found
}

fn walk(name: &str, value: &Json, found: &mut BTreeMap<String, Json>) {
    match value {
        Json::Object(map) if map.get("type").and_then(Json::as_str) == Some("Figure") => {
            let mut shown = map.clone();
            shown.remove(CAUTIONS);
            let digest = Digest::of(Json::Object(shown).to_string().as_bytes());
            found.insert(
                if name.is_empty() { "result".into() } else { name.into() },
                format!("figure {}", digest.short()).into(),
            );
        }
        Json::Object(map) => {
            for (key, inner) in map.iter().filter(|(key, _)| *key != CAUTIONS) {
                walk(&if name.is_empty() { key.clone() } else { format!("{name}.{key}") }, inner, found);
            }
        }
        Json::Array(values) => {
            for (i, inner) in values.iter().enumerate() {
                walk(&format!("{name}[{i}]"), inner, found);
            }
        }
        Json::Null => {}
        other => {
            found.insert(if name.is_empty() { "result".into() } else { name.into() }, other.clone());
        }
    }
}

/// What results say of themselves, figures among them: the runs that do, and the caution behind the names of what it stands beside.
fn cautions_of(read: &[(Json, Json)], names: &[String]) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<&str>)> = vec![];
    for ((manifest, results), name) in read.iter().zip(names) {
        let mut found = vec![];
        collect_cautions("", results, &mut found);
        // Numbers have no cautions of their own: what was said while they were computed stands in the manifest.
        for said in manifest["warnings"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            if found.iter().all(|(known, _)| *known != said) {
                found.push((said, vec![]));
            }
        }
        for (said, places) in found {
            let said = match places.iter().filter(|place| !place.is_empty()).cloned().collect::<Vec<_>>() {
                places if places.is_empty() => said.to_string(),
                places => format!("{}: {said}", cut(&places.join(", "), PLACES)),
            };
            match all.iter_mut().find(|(known, _)| *known == said) {
                Some((_, runs)) => runs.push(name),
                None => all.push((said, vec![name])),
            }
        }
    }
    let runs = |of: Vec<&str>| if of.len() == names.len() { "all".into() } else { of.join(", ") };
    all.into_iter().map(|(said, of)| (runs(of), said)).collect()
}

/// Each caution of a result once, with the places where it stands.
fn collect_cautions<'a>(place: &str, value: &'a Json, found: &mut Vec<(&'a str, Vec<String>)>) {
    match value {
        Json::Object(map) => {
            for said in map.get(CAUTIONS).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str) {
                match found.iter_mut().find(|(known, _)| *known == said) {
                    Some((_, places)) => places.push(place.into()),
                    None => found.push((said, vec![place.into()])),
                }
            }
            for (key, inner) in map {
                let below = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                collect_cautions(&below, inner, found);
            }
        }
        Json::Array(values) => {
            values.iter().enumerate().for_each(|(i, inner)| collect_cautions(&format!("{place}[{i}]"), inner, found));
        }
        _ => {}
    }
}

/// A name whose whole numbers are as wide as others, so that 2 comes before 10.
fn with_wide_numbers(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let part = |part: &[char]| {
        let text: String = part.iter().collect();
        if part[0].is_ascii_digit() { format!("{text:0>20}") } else { text }
    };
    letters.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).map(part).collect()
}

/// Lines of what is not the same everywhere, and how many values are.
fn differing(all: &[BTreeMap<String, Json>]) -> (Vec<ComparedLine>, usize) {
    let mut names: Vec<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    // What a result has once comes before what each of its rows has, and rows in their order.
    names.sort_by_cached_key(|name| (name.contains('['), with_wide_numbers(name), name.to_string()));
    names.dedup();
    let is_end = |name: &str| {
        let (key, place) = key_and_place(name);
        let whole = key.strip_suffix("_lo").or(key.strip_suffix("_hi"));
        whole.is_some_and(|whole| all.iter().any(|one| one.contains_key(&format!("{whole}{place}"))))
    };
    let (mut lines, mut equal) = (Vec::new(), 0);
    for name in names {
        let of = |name: &str| -> Vec<Option<&Json>> { all.iter().map(|one| one.get(name)).collect() };
        let same = |name: &str| of(name).windows(2).all(|pair| pair[0] == pair[1]);
        let (key, place) = key_and_place(name);
        let end_of = |of: &str| format!("{key}_{of}{place}");
        // Ends of intervals stand beside what they are of.
        let whole = !is_end(name);
        if same(name) && (!whole || ["lo", "hi"].iter().all(|of| same(&end_of(of)))) {
            equal += 1;
            continue;
        }
        if !whole {
            continue;
        }
        let values = of(name);
        let end = |one: &BTreeMap<String, Json>, of: &str| one.get(&end_of(of)).and_then(Json::as_f64);
        let cells = all.iter().zip(&values).map(|(one, value)| match value {
            None => "absent".into(),
            Some(value) => match (end(one, "lo"), end(one, "hi")) {
                (Some(lo), Some(hi)) => {
                    format!("{} [{}, {}]", shown(value), significant(lo, DIGITS), significant(hi, DIGITS))
                }
                _ => shown(value),
            },
        });
        let numbers: Option<Vec<f64>> = values.iter().map(|value| value.and_then(Json::as_f64)).collect();
        let intervals: Option<Vec<(f64, f64)>> = all.iter().map(|one| end(one, "lo").zip(end(one, "hi"))).collect();
        let mut apart = String::new();
        if let Some(numbers) = numbers {
            let (lo, hi) =
                numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(*x), hi.max(*x)));
            apart = significant(hi - lo, 3);
            let most = |all: &[(f64, f64)]| all.iter().fold(f64::NEG_INFINITY, |most, end| most.max(end.0));
            let least = |all: &[(f64, f64)]| all.iter().fold(f64::INFINITY, |least, end| least.min(end.1));
            if intervals.is_some_and(|all| most(&all) > least(&all)) {
                apart += " *";
            }
        }
        lines.push(ComparedLine { name: name.clone(), cells: cells.collect(), apart });
    }
    (lines, equal)
}

/// `accuracy` and `[2]` of `accuracy[2]`: an interval's ends are arrays of their own.
fn key_and_place(name: &str) -> (&str, &str) {
    name.split_at(name.rfind('[').filter(|_| name.ends_with(']')).unwrap_or(name.len()))
}

fn shown(value: &Json) -> String {
    match value {
        // A hash is known by its beginning.
        Json::String(text) if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            format!("{}…", &text[..12])
        }
        Json::String(text) => text.clone(),
        Json::Number(number) if number.is_f64() => number.as_f64().map_or(String::new(), |x| significant(x, DIGITS)),
        other => other.to_string(),
    }
}

/// Files that are not the same in all runs, but for what tells of the run itself.
fn differing_files(all: &[BTreeMap<String, String>]) -> Vec<String> {
    const OF_THE_RUN: [&str; 4] = ["results.json", "report.md", "report.html", "manifest.json"];
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let same = |name: &String| all.windows(2).all(|pair| pair[0].get(name) == pair[1].get(name));
    let own = |name: &str| OF_THE_RUN.contains(&name) || name.starts_with("modules/");
    names.into_iter().filter(|name| !own(name) && !same(name)).cloned().collect()
}

/// What is to be said of lines on top of each other where runs were given other things than another seed: figures know of themselves alone.
fn other_lines(given: &[ComparedLine]) -> Option<Cautions> {
    /// How names begin of what decides what a line is of; another model, device or version does not.
    const OF_LINES: [&str; 8] = ["script", "arguments", "modules", "data", "table", "latents", "answers", "task"];
    let tells = |name: &&str| OF_LINES.iter().any(|of| name.starts_with(of));
    let names: Vec<&str> = given.iter().map(|line| line.name.as_str()).filter(tells).collect();
    (!names.is_empty()).then(|| {
        let told = format!(
            "the runs were given different {}: lines may be of other images, levels, estimates or intervals",
            cut(&names.join(", "), 120)
        );
        [told].into_iter().collect()
    })
}

/// What axes are called, panel by panel, by which figures of one thing are told from others.
fn axes_of(figure: &Json) -> Vec<[&str; 2]> {
    let panels = figure["panels"].as_array().into_iter().flatten();
    panels.map(|panel| ["x", "y"].map(|axis| panel[axis]["label"].as_str().unwrap_or(""))).collect()
}

/// The figures that all runs have under one name, each line labelled by its run; and in words those that are not lines or points.
fn figures_of(results: &[&Json], names: &[String]) -> (Vec<(String, Figure)>, Vec<String>) {
    let (mut drawn, mut apart) = (Vec::new(), Vec::new());
    let Some(Json::Object(first)) = results.first() else { return (drawn, apart) };
    for (key, value) in first {
        if value["type"] != "Figure" || results.iter().any(|one| one[key]["type"] != "Figure") {
            continue;
        }
        if let Some(other) = results.iter().map(|one| axes_of(&one[key])).find(|axes| *axes != axes_of(value)) {
            let said =
                |axes: &[[&str; 2]]| axes.iter().map(|[x, y]| format!("{y} over {x}")).collect::<Vec<_>>().join(", ");
            apart.push(format!("{key}, which is of different axes: {} and {}", said(&axes_of(value)), said(&other)));
            continue;
        }
        match on_top(results.iter().map(|one| &one[key]).collect(), names) {
            Some(figure) => drawn.push((key.clone(), figure)),
            None => apart.push(format!("{key}, which is not made of lines and points, or not of as many panels")),
        }
    }
    (drawn, apart)
}

fn on_top(all: Vec<&Json>, names: &[String]) -> Option<Figure> {
    let panels = all[0]["panels"].as_array()?;
    let mut whole = Vec::new();
    for (i, panel) in panels.iter().enumerate() {
        let axis = |name: &str| Axis {
            label: panel[name]["label"].as_str().unwrap_or("").into(),
            log: panel[name]["scale"] == "log",
            reversed: panel[name]["reversed"] == true,
            min: panel[name]["min"].as_f64(),
            max: panel[name]["max"].as_f64(),
            names: vec![],
        };
        let mut both =
            Panel { title: panel["title"].as_str().unwrap_or("").into(), x: axis("x"), y: axis("y"), layers: vec![] };
        for (one, name) in all.iter().zip(names) {
            if one["panels"].as_array()?.len() != panels.len() {
                return None;
            }
            for layer in one["panels"][i]["layers"].as_array()? {
                let label = layer["label"].as_str().unwrap_or("");
                match layer["kind"].as_str()? {
                    kind @ ("line" | "scatter") => {
                        let numbers = |key: &str| {
                            layer[key].as_array().map(|values| values.iter().map(number).collect::<Vec<f64>>())
                        };
                        let label = if label.is_empty() { name.clone() } else { format!("{name}: {label}") };
                        let (x, y) = (numbers("x")?, numbers("y")?);
                        let series =
                            if kind == "line" { Series::line(label, x, y) } else { Series::points(label, x, y) };
                        let mut series = match (numbers("lo"), numbers("hi")) {
                            (Some(lo), Some(hi)) => series.within(lo, hi),
                            _ => series,
                        };
                        series.spread = if layer["spread"] == "bars" { Spread::Bars } else { series.spread };
                        let doubtful = &layer["doubtful"];
                        let from = doubtful["from"].as_u64().map(|from| from as usize);
                        both.layers
                            .push(Layer::Series(series.doubtful_from(from, doubtful["why"].as_str().unwrap_or(""))));
                    }
                    "rule" => {
                        let horizontal = layer["axis"] == "y";
                        let at = layer["at"].as_f64()?;
                        let rule = |known: &Layer| matches!(known, Layer::Rule(rule) if rule.at == at && rule.horizontal == horizontal);
                        if !both.layers.iter().any(rule) {
                            both.layers.push(Layer::Rule(ReferenceLine { label: label.into(), horizontal, at }));
                        }
                    }
                    _ => return None,
                }
            }
        }
        whole.push(both);
    }
    let columns = all[0]["columns"].as_u64().unwrap_or(1) as usize;
    let figure = Figure::of(whole, columns).titled(all[0]["title"].as_str().unwrap_or("")).checked().ok()?;
    let cautions = all.iter().zip(names).flat_map(|(one, name)| {
        let said = one["cautions"].as_array().into_iter().flatten().filter_map(Json::as_str);
        said.map(|caution| format!("{name}: {caution}")).collect::<Vec<_>>()
    });
    Some(figure.cautioned(&cautions.collect()))
}

fn number(value: &Json) -> f64 {
    match value {
        Json::Number(number) => number.as_f64().unwrap_or(f64::NAN),
        Json::String(text) => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}
