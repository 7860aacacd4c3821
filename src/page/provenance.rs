//! What a run was computed from and with, as its manifest says.

use maud::{Markup, html};
use serde_json::{Map, Value as Json};

use super::{clean, count, shortened};
use crate::core::{Digest, date, number};

/// What stands elsewhere on the page, or in rows of its own.
const APART: [&str; 26] = [
    "files",
    "sha256",
    "begun",
    "state",
    "warnings",
    "script",
    "script_sha256",
    "arguments",
    "seed",
    "device",
    "threads",
    "versions",
    "inputs",
    "started_unix",
    "seconds",
    "modules",
    "machine",
    "changed",
    "earlier_machines",
    "repeats",
    "shard",
    "examinations",
    "merges",
    "verified",
    "allowed",
    "held",
];

/// How a run ended.
pub struct RunState {
    pub word: &'static str,
    pub why: String,
    pub class: &'static str,
}

/// `at_work` says whether a process is at work on it, where that can be told.
pub fn state(manifest: Option<&Result<Json, String>>, at_work: Option<bool>) -> RunState {
    let unfinished = |why: String| RunState { word: "unfinished", why, class: "doubt" };
    let over = match at_work {
        Some(true) => return RunState { word: "under way", why: "what is done so far".into(), class: "doubt" },
        Some(false) => "it was killed",
        None => "it was killed, or is still under way",
    };
    match manifest {
        None => unfinished(format!("there is no manifest: {over}")),
        Some(Err(problem)) => unfinished(problem.clone()),
        Some(Ok(manifest)) => {
            let said = manifest["state"].as_str().unwrap_or("");
            let (word, why) = said.split_once(':').unwrap_or((said, ""));
            let why = why.trim().to_string();
            match word {
                "finished" => RunState { word: "finished", why, class: "good" },
                "stopped" => RunState {
                    word: "stopped",
                    why: if why.is_empty() { "before its end".into() } else { why },
                    class: "doubt",
                },
                "failed" => RunState { word: "failed", why, class: "bad" },
                "" => unfinished("the manifest does not say how the run ended".into()),
                other => unfinished(format!("the manifest says {:?}: {over}", shortened(other, 200))),
            }
        }
    }
}

pub fn table(manifest: &Json, script: Option<&str>) -> Markup {
    let empty = Map::new();
    let map = manifest.as_object().unwrap_or(&empty);
    let mut rows: Vec<(String, Markup)> = Vec::new();
    let mut row = |name: &str, text: Markup| rows.push((name.to_string(), text));
    if let Some(name) = map.get("script").and_then(Json::as_str) {
        row("script", html! { code { (clean(name)) } });
        row("again", html! { code { (clean(&command(name, map))) } });
        let state = map.get("state").and_then(Json::as_str);
        if state == Some("finished") && map.contains_key("modules") {
            row("again and compared", html! { code { "viva run THIS_FOLDER --verify" } });
        }
        if state.is_some_and(|state| state != "finished") && map.contains_key("begun") {
            let resume = format!("viva run {} --resume THIS_FOLDER", quoted(name));
            row("to go on with it", html! { code { (clean(&resume)) } });
        }
    }
    if let Some(seed) = map.get("seed") {
        row("seed", plain(seed));
    }
    for name in ["device", "threads"] {
        if let Some(value) = map.get(name) {
            row(name, plain(value));
        }
    }
    if let Some(Json::Object(versions)) = map.get("versions") {
        let text: Vec<String> = versions.iter().map(|(name, version)| format!("{name} {}", word(version))).collect();
        row("versions", html! { (clean(&text.join(", "))) });
    }
    if let Some(started) = map.get("started_unix").and_then(Json::as_i64) {
        row("started", html! { (date(started)) });
    }
    // While a run is under way its manifest is written only now and then.
    let over = map.get("state").and_then(Json::as_str) != Some("running");
    if let Some(seconds) = map.get("seconds").and_then(Json::as_f64).filter(|_| over) {
        // What came before a kill was not counted.
        let resumed = map.get("resumed").and_then(Json::as_u64).is_some_and(|times| times > 0);
        row(if resumed { "duration since last resumed" } else { "duration" }, html! { (duration(seconds)) });
    }
    if let Some(hash) = map.get("script_sha256").and_then(Json::as_str) {
        let differs = script.is_some_and(|text| Digest::of(text.as_bytes()).hex() != hash);
        row(
            "SHA-256 of the script",
            html! {
                code { (clean(hash)) }
                @if differs { " " strong .problem { "the script in this folder is another one" } }
            },
        );
    }
    for (name, value) in map.get("machine").and_then(Json::as_object).into_iter().flatten() {
        row(&name.replace('_', " "), plain(value));
    }
    if let Some(allowed) = map.get("allowed") {
        row("flags it was given", html! { code { (clean(&shortened(&each(allowed, " "), 500))) } });
    }
    if let Some(held) = map.get("held") {
        row("held by", html! { (clean(&shortened(&holds(held), 2000))) });
    }
    if let Some(repeats) = map.get("repeats") {
        row("repeats", html! { "the run of " code { (plain(&repeats["folder"])) } (differing(repeats)) });
    }
    if let (Some(number), Some(of)) = (manifest["shard"]["number"].as_u64(), manifest["shard"]["of"].as_u64()) {
        row("shard", html! { (number) " of " (of) ": images of the other shards are not in it" });
    }
    if let Some(Json::Array(shards)) = map.get("merges") {
        row("put together from", merged(shards));
    }
    if let Some(verified) = map.get("verified") {
        row("compared with it", html! { (compared(verified)) });
    }
    for (name, value) in map.iter().filter(|(name, _)| !APART.contains(&name.as_str())) {
        row(&name.replace('_', " "), html! { (clean(&shortened(&word(value), 500))) });
    }
    html! {
        table .pairs { tbody {
            @for (name, text) in &rows { tr { th scope="row" { (clean(name)) } td { (text) } } }
        } }
        @if let Some(Json::Array(inputs)) = map.get("inputs") { @if !inputs.is_empty() { (inputs_table(inputs)) } }
        @if let Some(Json::Array(modules)) = map.get("modules") { @if !modules.is_empty() { (modules_table(modules)) } }
    }
}

/// What was changed while the run was interrupted, a line each.
pub fn changes(manifest: &Json) -> Vec<String> {
    let changed = manifest["changed"].as_array().into_iter().flatten();
    changed
        .map(|change| {
            let kept = change["kept_as"].as_str().map_or(String::new(), |file| format!("; as it was: {file}"));
            let [what, was, now] = ["what", "was", "now"].map(|name| word(&change[name]));
            format!("{what} was changed while the run was interrupted ({was} before, {now} after){kept}")
        })
        .collect()
}

/// The shards that a run is put together from.
fn merged(shards: &[Json]) -> Markup {
    const MOST: usize = 50;
    html! {
        (count(shards.len() as u64, "shard"))
        @for shard in shards.iter().take(MOST) {
            br; (plain(&shard["shard"])) " " code { (plain(&shard["folder"])) }
            @if let Some(failed) = shard["failed"].as_str() { ", which failed: " (clean(&shortened(failed, 200))) }
            @for other in shard["rounds_otherwise"].as_array().into_iter().flatten().take(MOST) {
                ", on a machine that rounds otherwise: " (plain(other))
            }
        }
        @if shards.len() > MOST { br; (shards.len() - MOST) " more in manifest.json" }
    }
}

/// In what a repetition is unlike the run that it repeats.
fn differing(repeats: &Json) -> Markup {
    let differs = repeats["differs"].as_array().map_or(&[][..], Vec::as_slice);
    html! {
        @for difference in differs.iter().take(50) {
            br; (plain(&difference["what"])) ": " (plain(&difference["there"])) " there, " (plain(&difference["here"])) " here"
        }
    }
}

fn compared(verified: &Json) -> Markup {
    let files = verified["files"].as_array().map_or(&[][..], Vec::as_slice);
    let other: Vec<&Json> = files.iter().filter(|file| file["equal"] != Json::Bool(true)).collect();
    let yes = |name: &str| verified[name] == Json::Bool(true);
    html! {
        @if yes("equal") { "the results are equal" }
        @else if yes("equal_up_to_rounding") { "the results are equal up to rounding" }
        @else { strong .problem { "the results differ" } }
        @for file in other.iter().take(50) {
            br; (plain(&file["file"])) ": "
            @match file["rounded"].as_str() { Some(how) => { (how) } None => { (plain(&file["difference"])) } }
        }
    }
}

fn modules_table(modules: &[Json]) -> Markup {
    let table = html! {
        table .data.hashes {
            caption { "Imported texts" }
            thead { tr {
                th scope="col" { "import" } th scope="col" { "read from" } th scope="col" { "kept as" } th scope="col" { "SHA-256" }
            } }
            tbody { @for module in modules.iter().take(200) { tr {
                td { (plain(&module["import"])) } td { (plain(&module["path"])) } td { (plain(&module["kept_as"])) }
                td { code { (plain(&module["sha256"])) } }
            } } }
        }
    };
    super::scrolling("imported texts", &table)
}

fn inputs_table(inputs: &[Json]) -> Markup {
    let verified = |input: &Json| input["contents_verified_unix"].as_i64().map_or(String::new(), date);
    let table = html! {
        table .data.hashes {
            caption { "Models and images that went in" }
            thead { tr {
                th scope="col" { "kind" } th scope="col" { "name" } th scope="col" { "SHA-256" } th scope="col" { "read from" }
                th scope="col" { "contents last verified" }
            } }
            tbody { @for input in inputs.iter().take(200) { tr {
                td { (plain(&input["kind"])) } td { (plain(&input["name"])) } td { code { (plain(&input["hash"])) } }
                td { (plain(&input["path"])) } td { (verified(input)) }
            } } }
        }
    };
    super::scrolling("inputs", &table)
}

fn plain(value: &Json) -> Markup {
    html! { (clean(&shortened(&word(value), 500))) }
}

/// The words of a list, or the one word.
fn each(value: &Json, between: &str) -> String {
    let words = |all: &Vec<Json>| all.iter().map(word).collect::<Vec<_>>().join(between);
    value.as_array().map_or_else(|| word(value), words)
}

/// What a run could touch beside its own folder, and what saw to that.
fn holds(held: &Json) -> String {
    let paths = |name: &str| match each(&held[name], ", ") {
        none if none.is_empty() => "nothing else".into(),
        some => some,
    };
    let net = if held["net"] == Json::Bool(true) { "the network" } else { "no network" };
    format!(
        "{}; it could read {}; write {}; start {}; {net}",
        word(&held["by"]),
        paths("read"),
        paths("write"),
        paths("run").replace("nothing else", "nothing")
    )
}

/// A value in one line.
fn word(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        Json::Number(n) if n.is_f64() => number(n.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// The command that repeats the run.
fn command(script: &str, manifest: &Map<String, Json>) -> String {
    let mut text = format!("viva run {}", quoted(script));
    if let Some(Json::Object(arguments)) = manifest.get("arguments") {
        for (name, value) in arguments {
            text += &format!(" --{name}");
            let value = word(value);
            if !value.is_empty() {
                text += &format!(" {}", quoted(&value));
            }
        }
    }
    // As it was begun: a script may change them on its way.
    let begun = manifest.get("begun").and_then(Json::as_object).unwrap_or(manifest);
    for name in ["seed", "device", "threads"] {
        if let Some(value) = begun.get(name) {
            text += &format!(" --{name} {}", quoted(&word(value)));
        }
    }
    let shard = manifest.get("shard").map(|shard| (&shard["number"], &shard["of"]));
    if let Some((Some(number), Some(of))) = shard.map(|(number, of)| (number.as_u64(), of.as_u64())) {
        text += &format!(" --shard {number}/{of}");
    }
    text
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | ',' | '+' | '@');
    if !word.is_empty() && word.chars().all(safe) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_commands() {
        assert_eq!([3.88, 61.2, 7322.0].map(duration), ["3.9 s", "1 min 1 s", "2 h 2 min"]);
        let manifest = serde_json::json!({ "arguments": { "a": "it's", "fast": "" }, "seed": 3 });
        assert_eq!(
            command("a b.rhai", manifest.as_object().expect("a map")),
            "viva run 'a b.rhai' --a 'it'\\''s' --fast --seed 3"
        );
    }
}
