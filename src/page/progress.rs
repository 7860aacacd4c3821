//! How far the calls of a run got that is under way or was ended early.

use maud::{Markup, html};
use serde_json::Value as Json;

use super::{clean, figure, scrolling, shortened};
use crate::core::date;
use crate::plot::{Axis, Figure, Layer, Panel, ReferenceLine, Series};

/// Calls shown.
const MOST: usize = 100;

/// What `progress/calls.json` says; nothing where it says nothing.
pub fn table(told: &Json, running: bool) -> Option<Markup> {
    let calls: Vec<&Json> = told["calls"].as_array()?.iter().filter(|call| call["call"].is_string()).collect();
    if calls.is_empty() {
        return None;
    }
    let shown = html! {
        table .data {
            thead { tr {
                th scope="col" { "call" }
                th scope="col" .number { "done" }
                th scope="col" .number { "of" }
                th scope="col" { "" }
            } }
            tbody { @for call in calls.iter().take(MOST) { tr {
                td { (clean(&shortened(&indented(call), 200))) }
                td .number { (call["done"].as_u64().map_or(String::new(), |n| n.to_string())) }
                td .number { (call["total"].as_u64().map_or("?".into(), |n| n.to_string())) }
                td { (clean(&shortened(&remarks(call), 300))) }
            } } }
        }
    };
    Some(html! {
        @if let Some(at) = told["at_unix"].as_i64() {
            p .note {
                "As of " (date(at)) ". "
                @if !running { code { "--resume" } " goes on from what was kept shortly before." }
            }
        }
        (scrolling("progress", &shown))
        @for call in calls.iter().take(MOST).filter(|call| call["under_way"] == Json::Bool(true)) {
            @if let Some(drawn) = so_far(call) { (drawn) }
        }
        @if calls.len() > MOST { p .note { (MOST) " of " (calls.len()) " calls" } }
    })
}

/// Searches whose curves are drawn, and places of a curve.
const CURVES: usize = 4;
const PLACES: usize = 200;

/// The figure of what an examination has come to so far.
fn so_far(call: &Json) -> Option<Markup> {
    let told = &call["so_far"];
    let numbers = |of: &Json| -> Option<Vec<f64>> {
        of.as_array().filter(|all| all.len() <= PLACES)?.iter().map(|x| x.as_f64().or(Some(f64::NAN))).collect()
    };
    let images = numbers(&told["images"])?;
    let drawn = told["drawn"] == Json::Bool(true);
    let line = |label: &str, of: &Json, within: &Json| {
        let line = Series::line(clean(&shortened(label, 60)).to_string(), images.clone(), numbers(of)?);
        let ends = numbers(&within["lo"]).zip(numbers(&within["hi"]));
        Some(Layer::Series(match ends {
            Some((lo, hi)) => line.within(lo, hi),
            None => line,
        }))
    };
    let searches = told["searches"].as_array()?;
    // The losses as images stand, which the first search's intervals are of.
    let doubts = searches.first()?["loss"] == "doubt";
    let within = |doubt: bool| if doubt == doubts { &told["plain_within"] } else { &Json::Null };
    let mut layers = vec![line("error", &told["error"], within(false))?];
    let doubted = searches.iter().find(|search| search["loss"] == "doubt");
    if let Some(search) = doubted {
        layers.extend(line("doubt", &search["plain"], within(true)));
    }
    let mut differences = vec![];
    for (place, search) in searches.iter().take(CURVES).enumerate() {
        let Some((plain, weighted)) = numbers(&search["plain"]).zip(numbers(&search["weighted"])) else { continue };
        let name = clean(&shortened(search["name"].as_str()?, 60)).to_string();
        let within = if place == 0 { &told["weighted_within"] } else { &Json::Null };
        let of = if search["wrong_after"].is_null() { "around" } else { "weighted" };
        layers.extend(line(&format!("{of}, {name}"), &search["weighted"], within));
        let difference = weighted.iter().zip(&plain).map(|(weighted, plain)| weighted - plain).collect();
        differences.push(Layer::Series(Series::line(name, images.clone(), difference)));
    }
    let of_images = || Axis { label: "images so far".into(), ..Axis::default() };
    let panel = |label: &str, layers| Panel {
        x: of_images(),
        y: Axis { label: label.into(), ..Axis::default() },
        layers,
        ..Panel::default()
    };
    let mut panels = vec![panel(if doubted.is_some() { "error, or doubt" } else { "error" }, layers)];
    if !differences.is_empty() {
        differences.push(Layer::Rule(ReferenceLine { label: String::new(), horizontal: true, at: 0.0 }));
        panels.push(panel("difference T so far", differences));
    }
    if let (Some(wealth), Some(needed)) = (numbers(&told["wealth"]), told["needed"].as_f64()) {
        let wealth = Layer::Series(Series::line("wealth", images, wealth));
        let enough = Layer::Rule(ReferenceLine { label: "enough to reject".into(), horizontal: true, at: needed });
        let mut panel = panel("largest wealth of the betting test", vec![wealth, enough]);
        panel.y.log = true;
        panels.push(panel);
    }
    let columns = panels.len();
    let svg = Figure::of(panels, columns).checked().and_then(|figure| figure.svg()).ok()?;
    let shown = figure::svg(&svg, "what the examination under way has come to so far").ok()?;
    Some(html! {
        figure .wide[shown.wide] {
            div .paper { (shown.markup) }
            figcaption {
                span .note {
                    @if drawn {
                        "Images come in an order that was drawn. Bands: both losses of images like these lie within them at all moments together, with \
                         95%. The betting test may be looked at whenever one likes on the way through these images; more of them afterwards are another test."
                    } @else {
                        "These are the first images in the order of the data, which may not be like the rest, so that there is neither a test nor an \
                         interval yet. With " code { "stop_early" } " images come in the order of the bets, and both are shown."
                    }
                    @if searches.len() > CURVES { " The first " (CURVES) " of " (searches.len()) " searches." }
                }
            }
        }
    })
}

/// A call within another stands a little deeper.
fn indented(call: &Json) -> String {
    let depth = call["depth"].as_u64().unwrap_or(0).min(8) as usize;
    format!("{}{}", "\u{2003}".repeat(depth), call["call"].as_str().unwrap_or(""))
}

fn remarks(call: &Json) -> String {
    let mut words = Vec::new();
    let number = |name: &str| call[name].as_u64().unwrap_or(0);
    if call["under_way"] == Json::Bool(true) {
        words.push("under way".to_string());
    } else if call["total"].as_u64().is_some_and(|total| number("done") < total) {
        words.push("ended before".into());
    }
    match number("times") {
        0 | 1 => {}
        times => words.push(format!("the newest of {times}")),
    }
    if number("found_done") > 0 {
        words.push(format!("{} were done before the run was resumed", number("found_done")));
    }
    if let Some(note) = call["note"].as_str().filter(|note| !note.is_empty()) {
        words.push(note.into());
    }
    words.join("; ")
}
