//! Scripts as notebooks and back.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use viva::notebook::Notebook;

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rhai") {
            found.push(path);
        }
    }
}

fn of(script: &str) -> Json {
    serde_json::from_str(&Notebook::of_script(script).text()).expect("JSON")
}

fn source(cell: &Json) -> String {
    cell["source"].as_array().expect("lines").iter().filter_map(Json::as_str).collect()
}

/// What nbformat 4.5 asks of a notebook that viva writes.
fn check(notebook: &Json) {
    assert_eq!((&notebook["nbformat"], &notebook["nbformat_minor"]), (&json!(4), &json!(5)));
    let cells = notebook["cells"].as_array().expect("cells");
    let mut ids: Vec<&str> = cells.iter().filter_map(|cell| cell["id"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), cells.len());
    assert!(ids.iter().all(|id| id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')));
    for cell in cells {
        let keys: Vec<&String> = cell.as_object().expect("a cell").keys().collect();
        match cell["cell_type"].as_str() {
            Some("code") => {
                assert_eq!(keys, ["cell_type", "execution_count", "id", "metadata", "outputs", "source"]);
            }
            _ => assert_eq!(keys, ["cell_type", "id", "metadata", "source"]),
        }
    }
}

#[test]
fn every_script_of_this_house_comes_back_byte_for_byte() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["examples", "scripts", "docs/gallery", "stdlib", "tests"] {
        scripts(&root.join(folder), &mut all);
    }
    assert!(all.len() > 60, "the scripts were not found");
    for path in &all {
        let Ok(script) = std::fs::read_to_string(path) else { continue };
        let notebook = Notebook::of_script(&script);
        check(&serde_json::from_str(&notebook.text()).expect("JSON"));
        let again = Notebook::read(path, &notebook.text()).expect("our own notebook");
        assert_eq!(again.script().text, script, "{}", path.display());
    }
    let blank = "\n\n  let y = `a\n\nb`;\n\n\n/* c\n\n d */\n\n\nlet z = 1;\n\n";
    let again = Notebook::read(Path::new("b.ipynb"), &Notebook::of_script(blank).text()).expect("our own notebook");
    assert_eq!(again.script().text, blank);
    for name in ["first_classifier", "masked", "importance_weights"] {
        let lesson = std::fs::read_to_string(root.join(format!("examples/{name}.rhai"))).expect("a lesson");
        let cells = of(&lesson)["cells"].as_array().expect("cells").clone();
        assert!(source(&cells[0]).starts_with("# ") && cells[0]["cell_type"] == "markdown");
        // The result is the last cell that runs, and what to try stands behind it.
        let [.., result, exercises] = &cells[..] else { panic!("{name} has too few cells") };
        assert!(result["cell_type"] == "code" && source(result).ends_with('}'), "{}", source(result));
        assert!(
            exercises["cell_type"] == "markdown" && source(exercises).starts_with("Try: "),
            "{}",
            source(exercises)
        );
    }
}

/// A notebook with these cells, as Jupyter writes it.
fn written(cells: &[(&str, &str)]) -> String {
    let cell = |(i, (kind, text)): (usize, &(&str, &str))| match *kind {
        "code" => {
            json!({ "cell_type": kind, "id": i.to_string(), "metadata": {}, "source": text, "outputs": [], "execution_count": 1 })
        }
        _ => json!({ "cell_type": kind, "id": i.to_string(), "metadata": {}, "source": text }),
    };
    let cells: Vec<Json> = cells.iter().enumerate().map(cell).collect();
    json!({ "cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": { "kernelspec": { "name": "viva", "language": "rhai" } } })
        .to_string()
}

#[test]
fn a_notebook_becomes_a_script_that_does_the_same() {
    let text = written(&[
        ("markdown", "# Why?\n\nSo."),
        ("code", "let a = 1\nlet b = a + 1\na + b"),
        ("code", ":vars\nlet c = ans * 2;"),
        ("code", ""),
        ("code", "?data\nc"),
    ]);
    let made = Notebook::read(Path::new("a.ipynb"), &text).expect("a notebook").script();
    assert_eq!(
        made.text,
        "// # Why?\n//\n// So.\n\nlet a = 1;\nlet b = a + 1;\nlet ans = a + b;\nshow(ans);\n\n// left out: :vars\nlet c = ans * 2;\n\n\
         // left out: ?data\nc\n"
    );
    assert_eq!(made.left_out, ["cell 3: :vars", "cell 5: ?data"]);
    let broken = Notebook::read(Path::new("a.ipynb"), &written(&[("code", "let )")])).expect("a notebook").script();
    assert!(broken.left_out[0].starts_with("the script can't be read"), "{:?}", broken.left_out);
    for foreign in
        ["{}", "[1", "{\"nbformat\": 3, \"cells\": []}", "{\"nbformat\": 4, \"cells\": [{\"cell_type\": \"code\"}]}"]
    {
        assert!(Notebook::read(Path::new("a.ipynb"), foreign).is_err(), "{foreign}");
    }
    let python = written(&[]).replace("rhai", "python");
    assert!(Notebook::read(Path::new("a.ipynb"), &python).is_err_and(|error| error.message.contains("python")));
}

#[test]
fn cells_are_run_without_jupyter() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let viva = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_viva"))
            .args(words)
            .current_dir(home.path())
            .env("HOME", home.path())
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .expect("viva starts");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let read = |name: &str| -> Json {
        serde_json::from_str(&std::fs::read_to_string(home.path().join(name)).expect("a notebook")).expect("JSON")
    };
    let script = "// Which?\n\nlet a = 1;\nprint(\"said\");\n\nlet rows = [#{ n: a, word: \"x\" }];\nsave(rows, \"rows.csv\");\n\n\
                  #{ rows: rows, figure: plot::line([1, 2], [3, 4]) }\n";
    std::fs::write(home.path().join("good.rhai"), script).expect("a script");
    assert_eq!(viva(&["notebook", "good.rhai", "--run"]), (true, String::new()));
    let notebook = read("good.ipynb");
    check(&notebook);
    let cells = notebook["cells"].as_array().expect("cells");
    assert_eq!(cells[1]["outputs"][0], json!({ "name": "stdout", "output_type": "stream", "text": ["said\n"] }));
    let [figure, result] = &cells[3]["outputs"].as_array().expect("outputs")[..] else { panic!("{}", cells[3]) };
    let forms: Vec<&String> = figure["data"].as_object().expect("forms").keys().collect();
    assert_eq!(forms, ["image/png", "image/svg+xml", "text/plain"]);
    assert!(result["data"]["text/html"].to_string().contains("<table>") && result["execution_count"] == 3);
    assert!(home.path().join("rows.csv").is_file());
    let first = std::fs::read(home.path().join("good.ipynb")).expect("a notebook");

    // Nothing is written over unasked; what is run again is the same.
    let (well, told) = viva(&["notebook", "good.rhai"]);
    assert!(!well && told.contains("is there already"), "{told}");
    assert!(viva(&["notebook", "good.ipynb", "--run"]).0);
    assert_eq!(std::fs::read(home.path().join("good.ipynb")).expect("a notebook"), first);
    assert!(viva(&["notebook", "good.ipynb", "--out", "again.rhai"]).0);
    assert_eq!(std::fs::read_to_string(home.path().join("again.rhai")).expect("a script"), script);

    std::fs::write(home.path().join("bad.rhai"), "let a = 1;\n\nsave(a, \"/etc/viva.json\");\n\nprint(\"never\");\n")
        .expect("a script");
    let (well, told) = viva(&["notebook", "bad.rhai", "--run"]);
    assert!(!well && told.contains("cell 2 failed"), "{told}");
    let cells = read("bad.ipynb")["cells"].clone();
    assert_eq!((&cells[1]["outputs"][0]["output_type"], &cells[2]["outputs"]), (&json!("error"), &json!([])));
    for (words, said) in [
        (&["notebook"][..], "needs a script"),
        (&["notebook", "good.rhai", "--rum"], "did you mean"),
        (&["notebook", "good.rhai", "--out", "x.ipynb", "--allow-net"], "is for --run"),
        (&["notebook", "missing.rhai"], "missing.rhai"),
    ] {
        let (well, told) = viva(words);
        assert!(!well && told.contains(said), "{words:?}: {told}");
    }
}
