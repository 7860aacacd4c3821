//! Results as tables: nested maps, lists, and objects of one type side by side.

use std::cell::{Cell, RefCell};

use maud::{Markup, html};
use serde_json::{Map, Value as Json};

use super::prose::{NO_LINKS, inline};
use super::{clean, count, figure, scrolling, shortened};
use crate::core::files::{below_pointer, pointer_words};
use crate::core::{number, significant};
use crate::estimate::protocol::NOT_COUNTING;
use crate::estimate::verdict::about;

/// Cells that a page shows before it refers to the file.
const MOST: usize = 4000;
const ENTRIES: usize = 100;
const LIST: usize = 12;
const ROWS: usize = 20;
const COLUMNS: usize = 30;
/// Bytes from which on a text is more than a name.
const SENTENCE: usize = 40;
const TEXT: usize = 2000;
const DEEPEST: usize = 6;

/// What stands in the rows of a report, in this order: the field and its words. Fields without words follow.
const RISK_REPORT: [(&str, &str); 22] = [
    ("n", "models"),
    ("m", "images"),
    ("compared", "what is compared"),
    ("errors", "errors R_S"),
    ("error", "error R_S"),
    ("weighted_error", "weighted error R_g"),
    ("adversarial_error", "adversarial error R_S'"),
    ("doubt", "doubt R_S"),
    ("weighted_doubt", "mean doubt of the changes, R_g"),
    ("difference", "difference T = R_g - R_S"),
    ("sigma", "deviation of T_i"),
    ("lo", "range of T_i"),
    ("test", "the test that counts"),
    ("p", "its p"),
    ("delta", "level of the tests"),
    ("power", "gap that it shows with 80% power"),
    ("p_values", "p of each model alone"),
    ("adjusted_p_values", "p of each model alone, adjusted (Holm)"),
    ("betting", "p, betting test"),
    ("pairwise", "p, pairwise test (Eq. 7)"),
    ("interval", "p, interval test (Section 3.1)"),
    ("scored", "points scored"),
];

/// The tests whose verdicts a report gives, by the field that holds the verdict.
const VERDICTS: [(&str, &str); 3] =
    [("betting", "betting test"), ("pairwise", "pairwise test"), ("interval", "interval test")];

/// Said elsewhere in a report's table.
const RISK_REPORT_APART: [&str; 10] = [
    "type",
    "hi",
    "verdict",
    "reject",
    "assumption",
    "cautions",
    "error_lo",
    "error_hi",
    "weighted_error_lo",
    "weighted_error_hi",
];

/// An object with the name that the results give it.
type NamedObject<'a> = (String, &'a Map<String, Json>);

/// Results on their way into a page.
pub struct PageResults<'a> {
    /// Where the figure stands that this JSON pointer leads to.
    pub figure: &'a dyn Fn(&str) -> Option<String>,
    /// The JSON pointers of the figures met, with what they show in words.
    pub met: RefCell<Vec<(String, String)>>,
    spent: Cell<usize>,
}

impl<'a> PageResults<'a> {
    pub fn new(figure: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { figure, met: RefCell::default(), spent: Cell::new(0) }
    }

    /// Whether something was left out for its size.
    pub fn cut(&self) -> bool {
        self.spent.get() > MOST
    }

    pub fn results(&self, results: &Json) -> Markup {
        self.value("", results, 0)
    }

    /// The value that a JSON pointer leads to.
    fn value(&self, pointer: &str, value: &Json, depth: usize) -> Markup {
        self.spent.set(self.spent.get() + 1);
        if self.cut() {
            return html! { "…" };
        }
        match value {
            Json::Array(values) => self.list(pointer, values, depth),
            Json::Object(map) if kind(value).is_some() => match kind(value) {
                Some("Figure") => self.figure(pointer, value),
                _ => self.side_by_side(&[(String::new(), map)], depth),
            },
            Json::Object(map) if is_tensor(map) => self.tensor(map),
            Json::Object(map) => self.map(pointer, map, depth),
            other => scalar(other),
        }
    }

    fn map(&self, pointer: &str, map: &Map<String, Json>, depth: usize) -> Markup {
        if depth > DEEPEST {
            return html! { code { (clean(&shortened(&Json::Object(map.clone()).to_string(), 200))) } };
        }
        if map.is_empty() {
            return html! { span .note { "nothing" } };
        }
        let mut reports: Vec<(&str, Vec<NamedObject>)> = Vec::new();
        let mut others = Vec::new();
        for (key, value) in map.iter().take(ENTRIES) {
            match (kind(value), value) {
                (Some(kind), Json::Object(object)) if kind != "Figure" && depth == 0 => {
                    match reports.iter_mut().find(|(known, _)| *known == kind) {
                        Some((_, same)) => same.push((key.clone(), object)),
                        None => reports.push((kind, vec![(key.clone(), object)])),
                    }
                }
                _ => others.push((key, value)),
            }
        }
        let inner = |key: &str| below_pointer(pointer, key);
        let pairs = html! {
            table .pairs { tbody { @for (key, value) in &others {
                tr {
                    th scope="row" { (clean(&shortened(key, 80))) }
                    td { (self.value(&inner(key), value, depth + 1)) }
                }
            } } }
        };
        html! {
            @for (_, same) in &reports { (self.side_by_side(same, depth + 1)) }
            @if !others.is_empty() { (if depth == 0 { scrolling("results", &pairs) } else { pairs }) }
            @if map.len() > ENTRIES { p .note { (ENTRIES) " of " (map.len()) " entries" } }
        }
    }

    fn list(&self, pointer: &str, values: &[Json], depth: usize) -> Markup {
        if values.is_empty() {
            return html! { span .note { "none" } };
        }
        if depth > DEEPEST {
            return html! { code { (clean(&shortened(&Json::Array(values.to_vec()).to_string(), 200))) } };
        }
        let maps: Vec<&Map<String, Json>> =
            values.iter().take(ROWS).map_while(Json::as_object).filter(|map| !map.contains_key("type")).collect();
        if maps.len() == values.len().min(ROWS) {
            return self.rows(pointer, &maps, values.len(), depth);
        }
        if values.iter().any(|value| value.is_object() || value.is_array()) {
            return html! {
                ol .plain {
                    @for (i, value) in values.iter().take(ROWS).enumerate() {
                        li { (self.value(&format!("{pointer}/{i}"), value, depth + 1)) }
                    }
                }
                @if values.len() > ROWS { p .note { (ROWS) " of " (values.len()) } }
            };
        }
        let numbers: Vec<f64> = values.iter().filter_map(Json::as_f64).collect();
        html! {
            @for (i, value) in values.iter().take(LIST).enumerate() {
                @if i > 0 { ", " }
                (self.value(&format!("{pointer}/{i}"), value, depth + 1))
            }
            @if values.len() > LIST {
                ", … "
                span .note {
                    (values.len()) " in all"
                    @if numbers.len() == values.len() { (range(&numbers)) }
                }
            }
        }
    }

    /// Maps with the columns of all of them.
    fn rows(&self, pointer: &str, maps: &[&Map<String, Json>], total: usize, depth: usize) -> Markup {
        let mut columns: Vec<&String> = Vec::new();
        for key in maps.iter().flat_map(|map| map.keys()) {
            if !columns.contains(&key) {
                columns.push(key);
            }
        }
        // What must be known of the others is not among those that are left out.
        let all = columns.len();
        columns.sort_by_key(|column| *column != "cautions" || all <= COLUMNS);
        columns.truncate(COLUMNS);
        let table = html! {
            table .data {
                thead { tr { @for column in &columns { th scope="col" { (clean(column)) } } } }
                tbody { @for (i, map) in maps.iter().enumerate() { tr { @for column in &columns {
                    td .number[map.get(*column).is_some_and(Json::is_number)] {
                        @match map.get(*column) {
                            Some(Json::Object(pairs)) if is_flat(pairs) => (in_a_line(pairs)),
                            Some(value) => (self.value(&below_pointer(&format!("{pointer}/{i}"), column), value, depth + 1)),
                            None => {}
                        }
                    }
                } } } }
            }
        };
        let name = match pointer_words(pointer) {
            words if words.is_empty() => "rows".to_string(),
            words => words,
        };
        html! {
            (scrolling(&name, &table))
            @if total > maps.len() { p .note { "the first " (maps.len()) " of " (count(total as u64, "row")) } }
            @if all > COLUMNS { p .note { (COLUMNS) " of " (all) " columns" } }
        }
    }

    fn tensor(&self, map: &Map<String, Json>) -> Markup {
        let shape: Vec<String> = map["shape"].as_array().into_iter().flatten().map(ToString::to_string).collect();
        let empty = Vec::new();
        let values = map["values"].as_array().unwrap_or(&empty);
        let numbers: Vec<f64> = values.iter().filter_map(Json::as_f64).collect();
        html! {
            "tensor " (shape.join(" × ")) (range(&numbers))
            @if values.len() <= LIST {
                ": "
                @for (i, value) in values.iter().enumerate() { @if i > 0 { ", " } (scalar(value)) }
            }
        }
    }

    fn figure(&self, pointer: &str, value: &Json) -> Markup {
        let words = figure::words(value);
        let title = value["title"].as_str().filter(|title| !title.is_empty()).unwrap_or(&words).to_string();
        self.met.borrow_mut().push((pointer.to_string(), words));
        html! {
            @match (self.figure)(pointer) {
                Some(place) => { a href=(place) { "figure" } ": " (clean(&title)) }
                None => { "figure: " (clean(&title)) }
            }
        }
    }

    /// Objects of one type: a row per field, a column per object.
    fn side_by_side(&self, objects: &[NamedObject], depth: usize) -> Markup {
        let kind = objects.first().and_then(|(_, object)| object.get("type")).and_then(Json::as_str).unwrap_or("");
        let is_report = kind == "RiskReport" || kind == "NModelTest";
        let mut fields: Vec<(String, String)> = Vec::new();
        if is_report {
            let known =
                RISK_REPORT.iter().filter(|(field, _)| objects.iter().any(|(_, object)| object.contains_key(*field)));
            fields.extend(known.map(|(field, words)| (field.to_string(), words.to_string())));
        }
        for key in objects.iter().flat_map(|(_, object)| object.keys()) {
            let apart = if is_report { RISK_REPORT_APART.contains(&key.as_str()) } else { key == "type" };
            if !apart && fields.len() < ENTRIES && !fields.iter().any(|(field, _)| field == key) {
                fields.push((key.clone(), key.replace('_', " ")));
            }
        }
        let table = html! {
            table .objects {
                thead { tr {
                    th scope="col" { (clean(kind)) }
                    @for (name, _) in objects { th scope="col" { (clean(name)) } }
                } }
                tbody {
                    @if is_report {
                        @if objects.iter().any(|(_, object)| !cautions(object).is_empty()) { tr .verdict {
                            th scope="row" { "caution" }
                            @for (_, object) in objects { td { (cautions(object).join("; ")) } }
                        } }
                        @if objects.iter().any(|(_, object)| object.contains_key("verdict")) { tr .verdict {
                            th scope="row" { "verdict" }
                            @for (_, object) in objects { td { (verdict(object, object)) } }
                        } }
                        @for (test, words) in VERDICTS {
                            @if objects.iter().any(|(_, object)| beside(object, test).is_some()) { tr {
                                th scope="row" { (words) ", which does not count" }
                                @for (_, object) in objects { td { @if let Some(test) = beside(object, test) { (verdict(test, object)) } } }
                            } }
                        }
                    }
                    @for (field, words) in &fields { tr {
                        th scope="row" { @if is_report { (inline(words, NO_LINKS)) } @else { (clean(words)) } }
                        @for (_, object) in objects { td {
                            @match object.get(field) {
                                None => "",
                                Some(value) if is_report => (self.report_cell(field, value, object, depth)),
                                Some(value) => (self.value(&below_pointer("", field), value, depth + 1)),
                            }
                        } }
                    } }
                }
            }
        };
        html! {
            (scrolling(kind, &table))
            @if is_report { (rests_on(objects)) }
        }
    }

    fn report_cell(&self, field: &str, value: &Json, object: &Map<String, Json>, depth: usize) -> Markup {
        match (field, value) {
            ("lo", _) => html! { "[" (four(value)) ", " (object.get("hi").map_or(html! { "?" }, four)) "]" },
            ("interval" | "pairwise", Json::Object(test)) => test.get("p").map_or(html! {}, four),
            ("power", Json::Object(power)) => shows(power),
            ("betting", Json::Object(test)) => betting(test, object),
            ("scored", Json::Number(points)) => {
                let per_image = points.as_f64().zip(object.get("m").and_then(Json::as_f64)).map(|(a, m)| a / m);
                html! {
                    (points)
                    @if let Some(n) = per_image.filter(|n| n.is_finite()) { " (" (significant(n, 4)) " per image)" }
                }
            }
            ("error" | "weighted_error", Json::Number(_)) => {
                let end = |of: &str| object.get(&format!("{field}_{of}")).filter(|end| end.is_number());
                html! {
                    (four(value))
                    @if let Some((lo, hi)) = end("lo").zip(end("hi")) { ", 97.5% interval [" (four(lo)) ", " (four(hi)) "]" }
                }
            }
            (_, Json::Number(_)) => four(value),
            (_, Json::Object(data)) if field == "data" => html! {
                (data.get("name").map_or(html! {}, scalar))
                @if let Some(hash) = data.get("hash") { " " (scalar(hash)) }
            },
            _ => self.value(&below_pointer("", field), value, depth + 1),
        }
    }
}

fn kind(value: &Json) -> Option<&str> {
    value.get("type").and_then(Json::as_str)
}

fn is_tensor(map: &Map<String, Json>) -> bool {
    map.len() == 2 && ["shape", "values"].iter().all(|key| map.get(*key).is_some_and(Json::is_array))
}

/// What a report says of a test that stands beside the one that counts.
fn beside<'a>(report: &'a Map<String, Json>, test: &str) -> Option<&'a Map<String, Json>> {
    let test = report.get(test).and_then(Json::as_object)?;
    (test.contains_key("verdict") && test.get("counts") == Some(&Json::Bool(false))).then_some(test)
}

fn cautions(report: &Map<String, Json>) -> Vec<String> {
    let all = report.get("cautions").and_then(Json::as_array);
    all.into_iter().flatten().filter_map(Json::as_str).map(|caution| shortened(&clean(caution), TEXT)).collect()
}

/// The gap that a test shows, and how many images others need.
fn shows(power: &Map<String, Json>) -> Markup {
    let empty = Vec::new();
    let needed = power.get("needed").and_then(Json::as_array).unwrap_or(&empty);
    html! {
        @match power.get("gap") {
            Some(gap @ Json::Number(_)) => { (inline("R_g - R_S", NO_LINKS)) " = " (four(gap)) }
            _ => "not known from images like these",
        }
        @for (gap, images) in needed.iter().filter_map(|row| row.get("gap").zip(row.get("images"))) {
            @if let Some(images) = images.as_u64() { "; " (four(gap)) " needs about " (about(images)) " images" }
        }
    }
}

/// The p-value of the betting test, and what it hangs on.
fn betting(test: &Map<String, Json>, report: &Map<String, Json>) -> Markup {
    let cell = |map: &Map<String, Json>, name: &str| map.get(name).map_or(html! { "?" }, four);
    html! {
        (cell(test, "p"))
        @if test.get("reject") == Some(&Json::Bool(true)) { "; could stop after " (cell(test, "used")) " of " (cell(report, "m")) " images" }
        @if test.contains_key("seed") { ", in the order of seed " (cell(test, "seed")) }
        @if let Some(share) = test.get("other_orders_rejecting").and_then(Json::as_f64) {
            span .note { " (a diagnostic, no p-value: " ((share * 100.0).round()) "% of 20 other orders reject)" }
        }
    }
}

/// The verdict of a test of a report, whose cautions come first.
fn verdict(test: &Map<String, Json>, report: &Map<String, Json>) -> Markup {
    let mut text = test.get("verdict").and_then(Json::as_str).unwrap_or("");
    for caution in report.get("cautions").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str) {
        let rest = text
            .strip_prefix("caution: ")
            .and_then(|rest| rest.strip_prefix(caution))
            .and_then(|rest| rest.strip_prefix("; "));
        text = rest.unwrap_or(text);
    }
    let text = text.strip_prefix(NOT_COUNTING).unwrap_or(text);
    let rejected = test.get("reject").and_then(Json::as_bool);
    let (head, rest) = text.split_once(": ").unwrap_or((text, ""));
    let cautioned = !cautions(report).is_empty();
    html! {
        @if cautioned { span .badge.bad { "caution" } " " }
        @match rejected {
            Some(true) if cautioned => span .badge.plain { (clean(head)) },
            Some(true) => span .badge.bad { (clean(head)) },
            _ => span .badge.plain { (clean(head)) },
        }
        @if !rest.is_empty() { " " (inline(rest, NO_LINKS)) }
    }
}

/// What the reports take for granted, once where it is the same.
fn rests_on(reports: &[NamedObject]) -> Markup {
    let mut assumptions: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, report) in reports {
        let Some(text) = report.get("assumption").and_then(Json::as_str) else { continue };
        match assumptions.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => assumptions.push((text, vec![name])),
        }
    }
    html! {
        @if !assumptions.is_empty() {
            p .note { "This rests on:" }
            ul .note {
                li { "null hypothesis: the model is independent of these images, drawn independently of each other" }
                @for (text, names) in &assumptions {
                    li {
                        "density"
                        @if assumptions.len() > 1 { " of " (clean(&names.join(", "))) }
                        ": " (clean(text))
                    }
                }
                li { "labels: each image has one true label, and the labels given are right" }
            }
        }
    }
}

fn four(value: &Json) -> Markup {
    match value {
        Json::Number(n) if n.is_f64() => html! { (significant(n.as_f64().unwrap_or(f64::NAN), 4)) },
        other => scalar(other),
    }
}

fn range(numbers: &[f64]) -> String {
    let (lo, hi) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(*x), hi.max(*x)));
    if lo > hi { String::new() } else { format!(", {} to {}", number(lo), number(hi)) }
}

/// Whether a map holds single values alone, as a setting of factors does.
fn is_flat(map: &Map<String, Json>) -> bool {
    !map.is_empty() && !map.contains_key("type") && !map.values().any(|value| value.is_object() || value.is_array())
}

/// A map within a row, which is as high as its highest cell.
fn in_a_line(map: &Map<String, Json>) -> Markup {
    html! {
        span .setting {
            @for (i, (key, value)) in map.iter().take(ENTRIES).enumerate() {
                @if i > 0 { ", " }
                (clean(&shortened(key, 80))) " " (scalar(value))
            }
            @if map.len() > ENTRIES { ", …" }
        }
    }
}

fn scalar(value: &Json) -> Markup {
    match value {
        Json::Null => html! { span .note { "()" } },
        Json::Bool(true) => html! { "yes" },
        Json::Bool(false) => html! { "no" },
        Json::Number(n) if n.is_f64() => html! { (number(n.as_f64().unwrap_or(f64::NAN))) },
        Json::String(text) if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) => {
            html! { code title=(text) { (text[..12]) } }
        }
        Json::String(text) if text.contains('\n') => html! { pre { (clean(&shortened(text, TEXT))) } },
        Json::String(text) => html! { span .words.long[text.len() > SENTENCE] { (clean(&shortened(text, TEXT))) } },
        other => html! { (other.to_string()) },
    }
}
