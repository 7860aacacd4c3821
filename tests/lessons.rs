//! The lessons, run as a student runs them: each shows what its opening comment promises, and pastes into the prompt.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn viva() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
    // The lessons run beside each other, one on each core.
    command.env("OMP_NUM_THREADS", "1");
    command
}

/// The results of a lesson, after a look at its run folder for the figures and tables it should leave.
fn run(lesson: &str, kept: &[&str]) -> Value {
    let home = tempfile::tempdir().expect("a temporary folder");
    let out = home.path().join("run");
    let output = viva()
        .arg("run")
        .arg(folder().join(lesson).with_extension("rhai"))
        .args(["--json", "--device", "cpu", "--out"])
        .arg(&out)
        .output()
        .expect("viva starts");
    assert!(output.status.success(), "{lesson}: {}", String::from_utf8_lossy(&output.stderr));
    for name in kept {
        let size = std::fs::metadata(out.join(name)).map_or(0, |file| file.len());
        assert!(size > 200, "{lesson}: {name} is missing or empty");
    }
    serde_json::from_slice(&output.stdout).expect("results as JSON")
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// The tests below, by lesson.
const TESTED: [&str; 10] = [
    "adversarial_examiner",
    "centred_digits",
    "first_classifier",
    "generated_tests",
    "importance_weights",
    "masked",
    "own_space",
    "p_values",
    "people",
    "tolerance",
];

#[test]
fn every_lesson_is_short_and_tested_and_listed() {
    let readme = std::fs::read_to_string(folder().join("../README.md")).expect("README.md");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("the lessons") {
        let path = entry.expect("a lesson").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_string();
        let text = std::fs::read_to_string(&path).expect("a lesson");
        assert!(text.lines().count() <= 40, "{name} has {} lines, 40 are a page", text.lines().count());
        for (i, line) in text.lines().enumerate() {
            assert!(line.chars().count() <= 100, "{name}, line {}: {} columns", i + 1, line.chars().count());
        }
        let question = text.lines().next().unwrap_or_default();
        assert!(question.starts_with("// ") && question.contains('?'), "{name} opens with {question:?}");
        let opening: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//")).collect();
        let opening = opening.concat();
        assert!(opening.contains("Look at") && opening.contains("Time: "), "{name}: what to look at, and how long?");
        assert!(text.lines().last().is_some_and(|line| line.starts_with("// Try: ")), "{name} ends with an exercise");
        assert!(readme.contains(&format!("`examples/{name}.rhai`")), "{name} is not in the README");
        names.push(name);
    }
    names.sort();
    assert_eq!(names, TESTED);
}

#[test]
fn adversarial_examiner() {
    let found = run("adversarial_examiner", &["curves.png", "canonical.png", "found.png"]);
    let (fresh, random, chosen) =
        (number(&found["fresh"]), number(&found["left"]["random"]), number(&found["left"]["chosen"]));
    assert!(fresh > 0.7 && random < fresh - 0.2 && chosen < random - 0.1, "{fresh} {random} {chosen}");
}

#[test]
fn generated_tests() {
    let found = run("generated_tests", &["tests.png"]);
    let [before, alone, held] = [0, 1, 2].map(|row| {
        let row = &found["table"][row];
        (number(&row["misread"]), number(&row["label_kept"]))
    });
    assert!(before.0 < 0.1 && before.1 > 0.9, "{before:?}");
    assert!(alone.0 > 0.3 && alone.1 < 0.85, "{alone:?}");
    assert!(held.0 > 0.15 && held.1 > 0.9 && held.1 > alone.1 + 0.1, "{held:?}");
}

#[test]
fn first_classifier() {
    let found = run("first_classifier", &["mistakes.png", "table.png"]);
    let (learned, fresh) = (number(&found["accuracy"]["learned"]), number(&found["accuracy"]["fresh"]));
    assert!(learned > 0.88 && (0.75..0.93).contains(&fresh) && learned > fresh + 0.03, "{learned} {fresh}");
    let title = found["mistakes"]["title"].as_str().unwrap_or_default();
    assert_eq!(title, format!("The first 30 of {} mistakes", (1000.0 * (1.0 - fresh)).round()));
}

#[test]
fn importance_weights() {
    let found = run("importance_weights", &["report.csv", "report.json", "picture.png"]);
    assert_eq!((number(&found["points"]["before"]), number(&found["points"]["after"])), (3.0, 7.0));
    assert!((number(&found["points"]["weighted"]) - 3.0).abs() < 1e-12);
    let (hand, report) = (&found["hand"], &found["report"]);
    for (of, name) in [("before", "error"), ("after", "adversarial_error"), ("weighted", "weighted_error")] {
        // 400 sums of numbers below 1.
        let difference = number(&hand[of]) / 400.0 - number(&report[name]);
        assert!(difference.abs() < 1e-12, "{of} by hand is {}, {name} {}", hand[of], report[name]);
    }
    // "Only about right": the deviation of the difference is 0.26 / 20.
    let (before, after, weighted) = (number(&hand["before"]), number(&hand["after"]), number(&hand["weighted"]));
    assert!(after > before + 50.0 && (weighted - before).abs() < 25.0 && weighted != before, "{hand}");
}

#[test]
fn masked() {
    let found = run("masked", &[]);
    let of = |row: usize, name: &str| number(&found["rows"][row][name]);
    assert!(of(0, "as_it_stands") > 0.6 && of(1, "as_it_stands") > 0.5, "{found}");
    // One attack calls the masked network tolerant; its gradients say why, and every search together is not taken in.
    assert!(of(1, "bim") > of(0, "bim") + 0.15 && of(1, "never_moved") > 0.5 && of(0, "never_moved") == 0.0, "{found}");
    assert!((of(1, "every_search") - of(0, "every_search")).abs() < 0.15, "{found}");
    assert!(of(1, "every_search") < of(1, "bim") - 0.15, "{found}");
}

#[test]
fn p_values() {
    let found = run("p_values", &["reach.png"]);
    let rates = ["seen", "fresh", "thumb"].map(|name| number(&found["rates"][name]));
    assert!(rates[0] >= 0.8, "the seen sets are recognised: {rates:?}");
    assert!(rates[1] <= 0.01, "the bound is cautious: {rates:?}");
    assert!(rates[2] > 0.0 && rates[2] < 0.15, "the rule of thumb is about as good as its level: {rates:?}");
}

#[test]
fn centred_digits() {
    let found = run("centred_digits", &["torus.csv", "centred.csv", "picture.png"]);
    let (torus, centred) = (&found["torus"], &found["centred"]);
    assert!(torus["reject"] == false && number(&torus["p"]) > 0.5, "{torus}");
    assert!(number(&torus["difference"]).abs() < 0.05, "{torus}");
    assert!(centred["reject"] == true && number(&centred["p"]) < 1e-6, "{centred}");
    assert!(number(&centred["error"]) < 0.02 && number(&centred["weighted_error"]) > 0.2, "{centred}");
    assert!(found["refusal"].as_str().is_some_and(|text| text.contains("beyond the image's border")), "{found}");
}

#[test]
fn own_space() {
    let found = run("own_space", &["dark.csv", "map.png", "pictures.png"]);
    let (fooled, light) = (number(&found["fooled"]), number(&found["in_light_ink"]));
    assert!(fooled >= 180.0 && light >= 0.95 * fooled, "{fooled}, {light} in light ink");
    let rows = found["dark"]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 200);
    let fooled: Vec<&Value> = rows.iter().filter(|row| row["fooled"] == true).collect();
    assert!((10..=80).contains(&fooled.len()), "{} fooled in dark ink", fooled.len());
    let mean = |name: &str| fooled.iter().map(|row| number(&row["point"][name])).sum::<f64>() / fooled.len() as f64;
    assert!(mean("fog") > 0.45 && mean("shadow") < 0.4, "fog {}, shadow {}", mean("fog"), mean("shadow"));
    assert!(rows.iter().all(|row| row["point"]["ink"] == "dark" && row["queries"] == 61));
}

#[test]
fn tolerance() {
    let found = run("tolerance", &["figure.png", "curves-next_class.csv"]);
    let curve = |name: &str, of: &str| -> Vec<f64> {
        found["curves"][name][of].as_array().expect("a curve").iter().map(number).collect()
    };
    let ends = |name: &str, of: &str| (curve(name, of)[0], curve(name, of).pop().unwrap_or_default());
    let bound = number(&found["curves"]["next class"]["bound"]);
    assert!(ends("next class", "accuracy").0 > 0.85 && ends("next class", "accuracy").1 < 0.02);
    let lowest = curve("next class", "mi").into_iter().fold(f64::INFINITY, f64::min);
    assert!(lowest < 0.75 * bound && ends("next class", "mi").1 > 0.98 * bound, "{lowest} of {bound}");
    assert!(ends("white noise", "mi").1 < 1.0 && ends("any other class", "mi").1 < 0.7 * bound);
}

#[test]
fn lessons_paste_into_the_prompt() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for lesson in ["first_classifier", "own_space"] {
        let text = std::fs::File::open(folder().join(lesson).with_extension("rhai")).expect("a lesson");
        let output = viva()
            .current_dir(home.path())
            .env("HOME", home.path())
            .env_remove("XDG_STATE_HOME")
            .stdin(Stdio::from(text))
            .output()
            .expect("viva starts");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && !err.contains("Error"), "{lesson}: {err}");
        assert!(!out.contains("nothing is called") && out.contains("image sheet"), "{lesson}: {out}");
    }
}

/// What is asked; tests/label.rs has a class answer it.
#[test]
fn people() {
    let found = run("people", &["task/task.json"]);
    assert!(found["asked"] == 40 && found["places"] == 20, "{found}");
}
