//! Runs beside one another: what they were given, where their results differ, and their figures on top of each other.

use std::collections::BTreeMap;
use std::path::PathBuf;

use maud::html;
use serde_json::Value as Json;

use super::folder::RunFolder;
use super::{clean, document, figure, shortened};
use crate::core::{Error, Result, Table, Value, cut, significant};
use crate::plot::{Axis, Figure, Layer, Panel, ReferenceLine, Series};

/// Of a folder's manifest and results, that much is read.
const READ: u64 = 64 << 20;
/// What a star says.
const STAR: &str = "*: the intervals do not meet (no test: where they do, the values may differ as well)";
/// Letters of a cell on the screen, at most.
const CELL: usize = 22;
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
        let (figures, apart) = figures_of(&read.iter().map(|(_, results)| results).collect::<Vec<_>>(), &names);
        Ok(Self { names, given, results, equal, figures, apart })
    }

    /// For a terminal: what was given, then results, at most `rows` of each.
    pub fn text(&self, width: usize, rows: usize) -> String {
        let mut parts = Vec::new();
        match self.given.is_empty() {
            true => parts.push("given: the same script, arguments, inputs, seed and machine".into()),
            false => parts.push(format!("given\n{}", self.table(&self.given).text(width, rows))),
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
                self.table(&self.results).text(width, rows)
            )),
        }
        if self.results.iter().any(|line| line.apart.ends_with('*')) {
            parts.push(STAR.into());
        }
        parts.join("\n\n")
    }

    pub fn figures(&self) -> usize {
        self.figures.len()
    }

    fn table(&self, lines: &[ComparedLine]) -> Table {
        let text =
            |of: &dyn Fn(&ComparedLine) -> &str| lines.iter().map(|line| Value::Str(cut(of(line), CELL))).collect();
        let mut table = Table::default().column("", text(&|line| &line.name));
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
                    thead { tr { th scope="col" { "" } @for name in &self.names { th scope="col" { (clean(name)) } } th scope="col" { "apart" } } }
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
                }
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

/// Every number, word and truth value of results, but for what figures show.
fn leaves(results: &Json) -> BTreeMap<String, Json> {
    let mut found = BTreeMap::new();
    walk("", results, &mut found);
    found
}

fn walk(name: &str, value: &Json, found: &mut BTreeMap<String, Json>) {
    match value {
        Json::Object(map) if map.get("type").and_then(Json::as_str) == Some("Figure") => {}
        Json::Object(map) => {
            for (key, inner) in map {
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

/// Lines of what is not the same everywhere, and how many values are.
fn differing(all: &[BTreeMap<String, Json>]) -> (Vec<ComparedLine>, usize) {
    let mut names: Vec<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    names.sort();
    names.dedup();
    let is_end = |name: &str| {
        let (key, place) = key_and_place(name);
        let whole = key.strip_suffix("_lo").or(key.strip_suffix("_hi"));
        whole.is_some_and(|whole| all.iter().any(|one| one.contains_key(&format!("{whole}{place}"))))
    };
    let (mut lines, mut equal) = (Vec::new(), 0);
    for name in names {
        let values: Vec<Option<&Json>> = all.iter().map(|one| one.get(name)).collect();
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            equal += 1;
            continue;
        }
        // Ends of intervals stand beside what they are of.
        if is_end(name) {
            continue;
        }
        let (key, place) = key_and_place(name);
        let end =
            |one: &BTreeMap<String, Json>, of: &str| one.get(&format!("{key}_{of}{place}")).and_then(Json::as_f64);
        let cells = all.iter().zip(&values).map(|(one, value)| match value {
            None => "absent".into(),
            Some(value) => match (end(one, "lo"), end(one, "hi")) {
                (Some(lo), Some(hi)) => format!("{} [{}, {}]", shown(value), significant(lo, 2), significant(hi, 2)),
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
        Json::String(text) => text.clone(),
        Json::Number(number) if number.is_f64() => number.as_f64().map_or(String::new(), |x| significant(x, 5)),
        other => other.to_string(),
    }
}

/// The figures that all runs have under one name, each line labelled by its run; and in words those that are not lines or points.
fn figures_of(results: &[&Json], names: &[String]) -> (Vec<(String, Figure)>, Vec<String>) {
    let (mut drawn, mut apart) = (Vec::new(), Vec::new());
    let Some(Json::Object(first)) = results.first() else { return (drawn, apart) };
    for (key, value) in first {
        if value["type"] != "Figure" || results.iter().any(|one| one[key]["type"] != "Figure") {
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
                        both.layers.push(Layer::Series(match (numbers("lo"), numbers("hi")) {
                            (Some(lo), Some(hi)) => series.within(lo, hi),
                            _ => series,
                        }));
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
