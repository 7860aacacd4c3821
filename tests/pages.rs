//! Pages for a browser, from outside: the report of run folders in every state, and the reference.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

fn viva(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_viva")).args(words).output().expect("viva starts")
}

fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a page")
}

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    folder
}

/// The report of a folder, which is checked as every page is.
fn report(folder: &Path) -> String {
    let path = folder.to_str().expect("UTF-8");
    let output = viva(&["report", path]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = text_of(&folder.join("report.html"));
    check(&page, &[]);
    page
}

/// Every start tag with its attributes, after checking that tags are balanced and attributes quoted.
fn tags(page: &str) -> Vec<(String, BTreeMap<String, String>)> {
    const VOID: [&str; 5] = ["meta", "br", "img", "input", "link"];
    let mut open: Vec<String> = Vec::new();
    let mut found = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a doctype");
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>') || rest[..at].trim().is_empty(), "a bare > in {:?}", &rest[..at]);
        rest = &rest[at + 1..];
        if let Some(closing) = rest.strip_prefix('/') {
            let end = closing.find('>').expect("an end of the tag");
            assert_eq!(open.pop().as_deref(), Some(&closing[..end]), "tags in disorder");
            rest = &closing[end + 1..];
            continue;
        }
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).expect("a tag");
        let name = rest[..length].to_string();
        assert!(!name.is_empty(), "a bare < before {:?}", &rest[..rest.len().min(40)]);
        rest = &rest[length..];
        let mut attributes = BTreeMap::new();
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                break;
            }
            let end = rest.find(['=', '>', ' ']).expect("an attribute");
            let key = rest[..end].to_string();
            rest = &rest[end..];
            let mut value = String::new();
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let end = quoted.find('"').expect("a closing quote");
                value = quoted[..end].to_string();
                rest = &quoted[end + 1..];
            }
            assert!(attributes.insert(key.clone(), value).is_none(), "{key} twice in a {name}");
        }
        if name == "script" || name == "style" {
            let end = rest.find(&format!("</{name}>")).expect("an end of the element");
            rest = &rest[end..];
        }
        if !VOID.contains(&name.as_str()) {
            open.push(name.clone());
        }
        found.push((name, attributes));
    }
    assert!(open.is_empty(), "left open: {open:?}");
    found
}

/// What holds of every page: it loads nothing, runs nothing but its own script, names its parts once and describes its
/// pictures.
fn check(page: &str, others: &[String]) {
    let tags = tags(page);
    let ids: Vec<&String> = tags.iter().filter_map(|(_, attributes)| attributes.get("id")).collect();
    for (i, id) in ids.iter().enumerate() {
        assert!(!ids[..i].contains(id), "the id {id} twice");
    }
    for (name, attributes) in &tags {
        for (key, value) in attributes {
            assert!(!key.starts_with("on") && key != "style", "{key} in a {name}");
            if ["src", "href", "action", "xlink:href", "srcset", "data"].contains(&key.as_str()) {
                let inside = value.strip_prefix('#').is_some_and(|place| ids.iter().any(|id| *id == place));
                let data = (name == "img" || name == "image") && value.starts_with("data:image/");
                let file = value.split('#').next().unwrap_or("");
                let other = name == "a" && others.iter().any(|known| known == file);
                assert!(inside || data || other, "{name} {key} leads to {:?}", &value[..value.len().min(80)]);
            }
        }
        assert!(
            !["iframe", "object", "embed", "form", "link", "base", "foreignObject", "a:a"].contains(&name.as_str()),
            "{name}"
        );
        assert!(name != "img" || attributes.get("alt").is_some_and(|alt| !alt.is_empty()), "a picture without words");
        assert!(
            name != "svg" || attributes.get("aria-label").is_some_and(|label| !label.is_empty()),
            "a figure without words"
        );
    }
    let number = |wanted: &str| tags.iter().filter(|(name, _)| name == wanted).count();
    assert_eq!(["h1", "title", "script", "style", "main"].map(number), [1, 1, 1, 1, 1]);
    assert!(page.contains("default-src 'none'"), "no content security policy");
    assert_eq!(number("table"), number("tbody"));
    assert!(number("th") >= number("table"), "a table without heads");
}

/// One grey pixel.
const PNG: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\x0aIDATx\xdach\x00\x00\x00\x82\x00\x81\xdaE\x08;\x00\x00\x00\x00IEND\xaeB`\x82";

const SVG: &str = "<svg width=\"90\" height=\"60\" viewBox=\"0 0 90 60\" xmlns=\"http://www.w3.org/2000/svg\">\
    <rect width=\"90\" height=\"60\" fill=\"#FFFFFF\"/><text x=\"5\" y=\"9\" font-weight=\"bold\">Risk &lt; 1</text></svg>";

#[test]
fn a_finished_run_is_shown_whole_and_twice_the_same() {
    let scripts = folder(&[(
        "made.rhai",
        b"// What is made?\n//\n//     viva run made.rhai\n\nprint(`a < b: ${arg(\"n\", 2)}`);\n\
          [#{ name: \"x\", value: 0.123456789 }, #{ name: \"y\", value: 2 }].save(\"deep/er/rows.csv\");\n\
          let t = [0.1, 0.2, 0.1, 0.3];\n\
          #{ test: risk::pairwise_test(t), total: 12345.678, picture: plot::line([1, 2], [3, 4], #{ title: \"Up\", x: \"time\" }) }",
    )]);
    let script = scripts.path().join("made.rhai");
    let run = scripts.path().join("run");
    let paths = [script.to_str().expect("UTF-8"), run.to_str().expect("UTF-8")];
    let output = viva(&["run", paths[0], "--out", paths[1], "--n", "7", "--seed", "3", "--device", "cpu"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = report(&run);
    for wanted in [
        "<h1>made.rhai</h1>",
        "What is made?",
        ">finished<",
        "a &lt; b: 7",
        "12345.7",
        "deep/er/rows.csv",
        "0.123457",
        "2 rows",
        "picture.svg, picture.png",
        "aria-label=\"Up (picture: time: line)\"",
        "href=\"#figure-1\"",
        "--n 7 --seed 3 --device cpu",
        "libtorch 2.11.0",
        "<span class=\"k\">let</span>",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    assert_eq!(page.matches("<svg").count(), 1, "the figure stands there once");
    assert_eq!(page.matches("<img").count(), 0, "as SVG alone");
    assert_eq!(page, report(&run), "a second time, with the first page in the folder");
    let elsewhere = scripts.path().join("page.html");
    let output = viva(&["report", paths[1], "--out", elsewhere.to_str().expect("UTF-8")]);
    assert!(output.status.success());
    assert_eq!(page, text_of(&elsewhere), "written elsewhere");
}

#[test]
fn runs_that_ended_early_say_how() {
    let results: &[u8] = b"{ \"a\": 1 }";
    for (files, wanted) in [
        (
            vec![("progress/journal", &b"\0\x01binary"[..]), ("progress/03.safetensors", b"x")],
            vec![">unfinished<", "there is no manifest", "progress/03.safetensors"],
        ),
        (
            vec![("manifest.json", b"{ \"state\": \"stopped\", \"script\": \"a/b.rhai\" }"), ("t.csv", b"a\n1\n")],
            vec![">stopped<", "<h1>b.rhai</h1>", "1 row"],
        ),
        (
            vec![("manifest.json", b"{ \"state\": \"failed: x is < 0\", \"seconds\": 61.2 }")],
            vec![">failed<", "x is &lt; 0", "1 min 1 s"],
        ),
        (vec![("manifest.json", b"{ \"state\": \"running\", \"pid\": 7 }")], vec![">unfinished<", "running", "pid"]),
        (
            vec![("manifest.json", b"{ \"state\": \"fini"), ("results.json", results)],
            vec![">unfinished<", "manifest.json is broken or cut short", "Results"],
        ),
        (
            vec![("manifest.json", b"[3, {}]"), ("results.json", b"{ \"a\": [1, ")],
            vec!["results.json is broken or cut short"],
        ),
        (
            vec![(
                "manifest.json",
                b"{ \"state\": \"running\", \"script\": \"a b.rhai\", \"seed\": 7, \"begun\": { \"seed\": 3 } }",
            )],
            vec!["viva run 'a b.rhai' --seed 3", "viva run 'a b.rhai' --resume THIS_FOLDER"],
        ),
        (vec![("manifest.json", b""), ("results.json", b"null")], vec![">unfinished<"]),
    ] {
        let folder = folder(&files);
        let page = report(folder.path());
        for wanted in wanted {
            assert!(page.contains(wanted), "{files:?}: {wanted} is missing");
        }
    }
}

#[test]
fn warnings_stand_before_everything_else() {
    let folder = folder(&[
        ("manifest.json", b"{ \"state\": \"finished\", \"warnings\": [\"few images\"] }"),
        ("results.json", b"{ \"a\": 1 }"),
    ]);
    let page = report(folder.path());
    assert!(page.find("few images").expect("the warning") < page.find("<h2>Results").expect("the results"));
}

#[test]
fn reports_stand_side_by_side() {
    let one = |p: f64, reject: bool| {
        serde_json::json!({ "type": "RiskReport", "m": 400, "error": 0.25, "error_lo": 0.2, "error_hi": 0.3, "lo": -0.96, "hi": 0.5, "p": p, "reject": reject,
            "cautions": [], "interval": { "p": 0.5, "reject": false, "counts": false, "verdict": "not the test that counts; left: alone" },
            "power": { "gap": 0.0312, "needed": [{ "gap": 0.001, "images": 380000 }] }, "scored": 800, "verdict": "said: in words", "assumption": "rolled",
            "model_hash": "8c8eed596fb9a75b0fbe361511fccdb294c35614c246925c4484adaab5770cbf", "new_field": 7 })
    };
    let deep = serde_json::json!({ "er": { "list": [1, 2.5] } });
    let results = serde_json::json!({ "seen": one(1.19131e-10, true), "fresh": one(1.0, false), "deep": deep });
    let folder = folder(&[("results.json", results.to_string().as_bytes())]);
    let page = report(folder.path());
    for wanted in [
        "<th scope=\"col\">seen</th><th scope=\"col\">fresh</th>",
        "1.191e-10",
        "[-0.96, 0.5]",
        "0.25, 97.5% interval [0.2, 0.3]",
        "800 (2.0 per image)",
        "badge bad\">said",
        "interval test, which does not count",
        "badge plain\">left",
        "<var>R<sub>g</sub></var> - <var>R<sub>S</sub></var> = 0.0312; 0.001 needs about 380,000 images",
        "new field",
        "1, 2.5",
        "rolled",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    assert_eq!(page.matches("rolled").count(), 1, "what both rest on is said once");
}

#[test]
fn hostile_files_are_shown_as_text() {
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    let json = serde_json::json!({ "state": format!("failed: {evil}"), "script": format!("x/{evil}"), "warnings": [evil],
        "arguments": { evil: evil }, "versions": { evil: evil }, "device": evil, evil: evil,
        "inputs": [{ "kind": evil, "name": evil, "hash": evil, "path": evil }, 3], "machine": { evil: evil },
        "modules": [{ "import": evil, "path": evil, "kept_as": "modules/x.rhai", "sha256": evil }, { "kept_as": "../x" }, 7],
        "changed": [{ "what": evil, "was": evil, "now": [evil], "kept_as": evil }, evil],
        "repeats": { "folder": evil, "differs": [{ "what": evil, "there": evil, "here": evil }, evil] },
        "verified": { "equal": evil, "files": [{ "file": evil, "difference": evil }, evil] } });
    let calls = serde_json::json!({ "at_unix": i64::MAX, "calls": [
        { "call": evil, "depth": u64::MAX, "done": -1, "total": evil, "note": evil, "times": 7, "found_done": 3, "under_way": true,
          "so_far": { "images": [1, 2], "error": [0.5, evil], "drawn": evil, "plain_within": { "lo": evil, "hi": [1] }, "wealth": [1, 2], "needed": 20,
            "searches": [{ "name": evil, "loss": evil, "plain": [0.5, 0.5], "weighted": [0.5, 0.5] }] } },
        { "call": "many", "under_way": true, "so_far": { "images": vec![1; 5000], "error": vec![0.5; 5000], "searches": [{ "name": "x" }] } }, evil, { "call": 3 }] });
    let results = serde_json::json!({ evil: evil, "o": { "type": evil, evil: [evil, { evil: evil }] },
        "f": { "type": "Figure", "title": evil, "panels": [{ "x": { "label": evil }, "layers": [{ "kind": evil, "label": evil }] }] },
        "r": { "type": "RiskReport", "verdict": evil, "assumption": evil, "data": { "name": evil }, "lo": evil } });
    let csv = format!("{0},b\n\"{1}\",\u{202e}2\nonly one\n", evil.replace('"', ""), evil.replace('"', "\"\""));
    let script = format!("// {evil}\n/* {evil}\n`{evil}");
    let bodies = [
        "<script>alert(1)</script>",
        "<g onload=\"alert(1)\"/>",
        "<foreignObject><p>x</p></foreignObject>",
        "<image href=\"https://example.org/x.png\"/>",
        "<style>*{display:none}</style>",
        "<a href=\"javascript:alert(1)\"><text>x</text></a>",
        "<rect fill=\"url(https://example.org/x)\"/>",
        "<svg/>",
    ];
    let drawings: Vec<(String, String)> = bodies
        .iter()
        .enumerate()
        .map(|(i, body)| (format!("{i}.svg"), format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{body}</svg>")))
        .collect();
    let name = "<img src=x onerror=alert(1)>.csv".to_string();
    let label = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><text font-weight=\"bold\">{}</text></svg>",
        evil.replace('<', "&lt;")
    );
    let mut files: Vec<(&str, &[u8])> = drawings.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let (json, results, calls) = (json.to_string(), results.to_string(), calls.to_string());
    files.extend([
        ("progress/calls.json", calls.as_bytes()),
        ("modules/x.rhai", evil.as_bytes()),
        ("manifest.json", json.as_bytes()),
        ("results.json", results.as_bytes()),
        ("script.rhai", script.as_bytes()),
        ("printed.txt", evil.as_bytes()),
        ("label.svg", label.as_bytes()),
        (name.as_str(), csv.as_bytes()),
    ]);
    let folder = folder(&files);
    let page = report(folder.path());
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains("<img src=x") && !page.contains('\u{202e}'));
    assert_eq!(page.matches("<img src=\"data:image/svg+xml").count(), bodies.len(), "pictures that can do nothing");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("1 row of another length than the head"));
}

#[test]
fn broken_and_huge_files_are_bounded_and_named() {
    let long: String = (0..5000).map(|i| format!("{i},{}\n", i * i)).collect();
    let wide = vec!["1"; 300].join(",");
    let cut = &PNG[..PNG.len() - 4];
    let broken_svg = &SVG.as_bytes()[..SVG.len() - 9];
    let folder = folder(&[
        ("manifest.json", b"{ \"state\": \"finished\" }"),
        ("long.csv", format!("i,square\n{long}").as_bytes()),
        ("wide.csv", format!("{wide}\n{wide}\n").as_bytes()),
        ("open.csv", b"a,b\n1,\"never closed\n2,3\n"),
        ("bytes.csv", b"a,b\n\xff\xfe,\0\x07\n"),
        ("empty.csv", b""),
        ("cell.csv", "x".repeat(100_000).as_bytes()),
        ("both.svg", broken_svg),
        ("both.png", PNG),
        ("cut.png", cut),
        ("cut.svg", broken_svg),
        ("text.png", b"no picture"),
        ("fine.svg", SVG.as_bytes()),
        ("printed.txt", "line\n".repeat(200_000).as_bytes()),
        ("script.rhai", b"\xff\xfe print(1)"),
    ]);
    let sparse = |name: &str, megabytes: u64| {
        let file = std::fs::File::create(folder.path().join(name)).expect("a file");
        file.set_len(megabytes << 20).expect("a long file");
    };
    sparse("huge.csv", 80);
    sparse("results.json", 40);
    sparse("weights.safetensors", 500);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.csv")).expect("a link");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).expect("a link");
    }
    let page = report(folder.path());
    for wanted in [
        "the first 100 of 5000 rows; all of them are in the file",
        "40 of 300 columns",
        "results.json is too large to show",
        "cut.png: cut short",
        "cut.svg: broken or cut short",
        "text.png: not a picture",
        "both.svg, both.png",
        "Risk &lt; 1",
        "The first 262.1 kB of 1.0 MB; all of it is in printed.txt",
        "524.3 MB",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    assert!(page.len() < 2 << 20, "the page has {} bytes", page.len());
    #[cfg(unix)]
    assert!(page.contains("not a plain file") && !page.contains("root:"), "links are not followed");
}

#[test]
fn deep_and_endless_results_are_cut() {
    let mut deep = serde_json::json!(1);
    for _ in 0..60 {
        deep = serde_json::json!({ "in": [deep] });
    }
    let many: serde_json::Map<String, serde_json::Value> =
        (0..5000).map(|i| (format!("key {i}"), serde_json::json!([[i, [i, i]], { "a": i }]))).collect();
    let numbers: Vec<f64> = (0..100_000).map(f64::from).collect();
    let rows = vec![serde_json::json!({ "a": 1 }); 3000];
    let results = serde_json::json!({ "deep": deep, "many": many, "numbers": numbers, "rows": rows });
    let folder = folder(&[("results.json", results.to_string().as_bytes())]);
    let page = report(folder.path());
    for wanted in ["100 of 5000 entries", "100000 in all", "0.0 to 99999.0", "the first 20 of 3000 rows"] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    assert!(page.len() < 1 << 20, "the page has {} bytes", page.len());
}

#[test]
fn wrong_words_are_explained_and_nothing_is_overwritten() {
    let folder = folder(&[("run/script.rhai", b"1"), ("other/notes.txt", b"mine"), ("mine.html", b"<p>mine</p>")]);
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_string();
    let (run, other, mine, none) = (path("run"), path("other"), path("mine.html"), path("none"));
    for (words, said) in [
        (vec!["report"], "needs a run folder"),
        (vec!["report", &none], "no such folder"),
        (vec!["report", &mine], "not a folder"),
        (vec!["report", &other], "not a run folder"),
        (vec!["report", &run, "--out"], "--out needs a file"),
        (vec!["report", &run, "--out", &mine], "not a page of viva's"),
        (vec!["report", &run, "--out", &other], "not a page of viva's"),
        (vec!["report", &run, "--open"], "has no --open"),
        (vec!["report", &run, &other], "one thing too many"),
        (vec!["doc", "--html"], "needs a folder"),
        (vec!["doc", "--html", &mine], "mine.html"),
    ] {
        let output = viva(&words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && error.contains(said), "{words:?}: {error}");
    }
    assert_eq!(text_of(&folder.path().join("mine.html")), "<p>mine</p>");
    assert!(!folder.path().join("run/report.html").exists() && !folder.path().join("other/report.html").exists());
}

fn pages(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), text_of(&path))).collect()
}

#[test]
fn the_reference_is_the_committed_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = viva(&["doc", "--html", folder.path().to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let fresh = pages(folder.path());
    let names: Vec<String> = fresh.keys().cloned().collect();
    for (name, page) in &fresh {
        check(page, &names);
        // Links between pages lead to places that are there.
        for (_, attributes) in tags(page) {
            let Some((file, place)) =
                attributes.get("href").and_then(|to| to.split_once('#')).filter(|(f, _)| !f.is_empty())
            else {
                continue;
            };
            assert!(fresh[file].contains(&format!("id=\"{place}\"")), "{name}: nothing is at {file}#{place}");
        }
    }
    for primitive in viva::primitives::PRIMITIVES {
        let shown = fresh.values().any(|page| page.contains(&format!(">{}</code></h", primitive.path)));
        let method = primitive
            .receiver()
            .is_some_and(|_| fresh["types.html"].contains(&format!(".{}</code></h3>", primitive.name())));
        assert!(shown || method, "{} is on no page", primitive.path);
        if primitive.namespace() == Some("plot") {
            assert!(
                fresh["gallery.html"].contains(&format!("id=\"{}\"", primitive.name())),
                "docs/gallery/{}.rhai is missing",
                primitive.name()
            );
        }
    }
    let committed = pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference"));
    let stale: Vec<&String> =
        fresh.iter().filter(|(name, page)| committed.get(*name) != Some(page)).map(|(name, _)| name).collect();
    let left: Vec<&String> = committed.keys().filter(|name| !fresh.contains_key(*name)).collect();
    assert!(
        stale.is_empty() && left.is_empty(),
        "docs/reference is not what the code says; stale: {stale:?}, to remove: {left:?}; refresh it \
         with\n    cargo run -- doc --html docs/reference"
    );
}

/// Pictures of the thesis's tables and figures are small, of what the map names, made by the scripts that it names, and on the page.
#[test]
fn pictures_of_the_thesis_are_what_the_map_names() {
    use viva::page::{Maker, NUMBERED};
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let page = std::fs::read_to_string(docs.join("reference/thesis.html")).expect("the page");
    let runs = std::fs::read_to_string(docs.join("thesis/runs.txt")).expect("the list");
    let (mut files, mut bytes) = (vec![], 0);
    for line in runs.lines().filter(|line| !line.starts_with('#')) {
        let [number, key, command] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else { panic!("{line}") };
        let of = NUMBERED.iter().find(|numbered| numbered.number == number).unwrap_or_else(|| panic!("{number}"));
        let Maker::Script(script, _, name) = of.by else { panic!("{number} is made by no script") };
        assert!(command.starts_with(script) && key.starts_with(name), "{number}: {script} {name}, not {command} {key}");
        let file = format!("{}.svg", number.replace(' ', "-").to_lowercase());
        // What was not drawn yet has no picture.
        let Ok(there) = std::fs::metadata(docs.join("thesis").join(&file)) else { continue };
        bytes += there.len();
        files.push(file);
        let anchor = number.replace(' ', "-").to_lowercase();
        assert!(page.contains(&format!("id=\"{anchor}-picture\"")), "{number}");
    }
    let there = std::fs::read_dir(docs.join("thesis"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let left: Vec<String> = there.filter(|name| name.ends_with(".svg") && !files.contains(name)).collect();
    assert!(left.is_empty(), "{left:?} are in no line of runs.txt");
    assert!(files.len() >= 2 && bytes < 1_500_000, "{} pictures of {bytes} bytes", files.len());
}

/// The map of the thesis is whole, and what it names is there.
#[test]
fn every_numbered_table_and_figure_has_its_command() {
    use viva::page::{Maker, NUMBERED};
    let mut wanted = vec![];
    for (kind, chapter, last) in [
        ("Figure", 4, 26),
        ("Table", 4, 4),
        ("Figure", 5, 7),
        ("Table", 5, 5),
        ("Figure", 6, 2),
        ("Table", 6, 5),
        ("Figure", 7, 3),
        ("Table", 7, 1),
    ] {
        wanted.extend((1..=last).map(|n| format!("{kind} {chapter}.{n}")));
    }
    wanted.extend((1..=8).map(|n| format!("Figure C.{n}")));
    let mut named: Vec<String> = NUMBERED.iter().map(|numbered| numbered.number.to_string()).collect();
    wanted.sort();
    named.sort();
    assert_eq!(named, wanted);
    let scripts = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    for numbered in NUMBERED {
        let Maker::Script(file, arguments, key) = numbered.by else { continue };
        let text = std::fs::read_to_string(scripts.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(
            text.contains(&format!("{key}:")) || text.contains(&format!("`{key} ")),
            "{}: {file} gives no {key}",
            numbered.number
        );
        for word in arguments.split(' ').filter_map(|word| word.strip_prefix("--")) {
            assert!(text.contains(&format!("arg(\"{word}\"")), "{}: {file} takes no --{word}", numbered.number);
        }
    }
}

/// Two classes told by how bright an image is on the whole.
const BRIGHT: &str = "let f = model::from(|x| { let on = x.reshape([x.len(), -1]).mean(1).reshape([x.len(), 1]); tensor::concat([on * 0 + 0.8, on], 1) }, #{ classes: 2 });\n";

/// A run of this script, with the page of it.
fn reported(script: &str) -> (tempfile::TempDir, String) {
    let scripts = folder(&[("made.rhai", script.as_bytes())]);
    let (path, run) = (scripts.path().join("made.rhai"), scripts.path().join("run"));
    let output =
        viva(&["run", path.to_str().expect("UTF-8"), "--out", run.to_str().expect("UTF-8"), "--device", "cpu"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = report(&run);
    (scripts, page)
}

/// What the page's script reads of its first examination.
fn numbers(page: &str) -> serde_json::Value {
    let inside =
        page.split("<div class=\"numbers\" hidden>").nth(1).expect("numbers").split("</div>").next().expect("an end");
    let plain = inside.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&plain).expect("JSON")
}

/// Every picture in the page's table of worst cases, by its number.
fn table_pictures(page: &str) -> BTreeMap<usize, String> {
    let pictures = tags(page).into_iter().filter(|(name, _)| name == "img").filter_map(|(_, attributes)| {
        Some((attributes.get("data-picture")?.parse().expect("a number"), attributes["src"].clone()))
    });
    pictures.collect()
}

/// The pixels of a picture, in shares of full brightness.
fn pixels(address: &str) -> Vec<f64> {
    use base64::Engine;
    let bytes = address.strip_prefix("data:image/png;base64,").expect("a PNG");
    let png = base64::engine::general_purpose::STANDARD.decode(bytes).expect("base64");
    let picture = image::load_from_memory(&png).expect("a picture").to_rgb8();
    picture.pixels().flat_map(|pixel| pixel.0).map(|byte| f64::from(byte) / 255.0).collect()
}

#[test]
fn questions_are_shown_as_they_were_asked_with_their_pictures() {
    let script = format!(
        "{BRIGHT} let ds = data::objects([\"mug\", \"lamp\"], #{{ n: 4, size: 16, seed: 1 }});\n\
         let t = examine(f, ds, #{{ space: space::render(), search: search::random(#{{ questions: 6 }}), seed: 1 }});\n\
         #{{ t: t, loss: t.questions(\"loss\"), azimuth: t.questions(\"azimuth\"), light: t.questions(\"light\"), wrong: t.questions(\"wrong\"), \
         after: t.images(), before: t.images(\"before\") }}"
    );
    let (folder, page) = reported(&script);
    let results: serde_json::Value =
        serde_json::from_str(&text_of(&folder.path().join("run/results.json"))).expect("JSON");
    let data = numbers(&page);
    let column = |name: &str| -> Vec<f64> {
        results[name]["values"].as_array().expect("values").iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    let (loss, azimuth, light, wrong) = (column("loss"), column("azimuth"), column("light"), column("wrong"));
    let names: Vec<&str> =
        data["factors"].as_array().expect("factors").iter().filter_map(|f| f["name"].as_str()).collect();
    let place = |name: &str| names.iter().position(|known| *known == name).expect("a factor");
    assert_eq!(data["factors"][place("azimuth")]["unit"], "degrees");
    let worst_of = |object: usize| (0..6).map(|q| loss[object * 6 + q]).fold(f64::NEG_INFINITY, f64::max);
    let mut order: Vec<usize> = (0..4).collect();
    order.sort_by(|a, b| worst_of(*b).total_cmp(&worst_of(*a)));
    let mut seen = 0;
    for question in 0..24 {
        let own = |name: &str| &data[name][question];
        let object = order[own("object").as_u64().expect("an object") as usize];
        let at = object * 6 + own("number").as_u64().expect("a number") as usize - 1;
        let setting = |name: &str| data["settings"][place(name)][question].as_f64().expect("a number");
        assert!((own("losses").as_f64().expect("a loss") - loss[at]).abs() < 1e-6 * loss[at].abs().max(1.0));
        assert!((setting("azimuth") - azimuth[at]).abs() < 1e-4 && setting("light") == light[at]);
        assert_eq!(own("fails").as_bool(), Some(wrong[at] == 1.0));
        assert_eq!(own("worst").as_bool(), Some(loss[at] == worst_of(object)));
        assert!(own("picture").is_u64(), "all have pictures");
        seen += usize::from(own("worst") == true);
    }
    assert_eq!(seen, 4);
    assert!(page.contains("This page holds the numbers of all 24 questions. It holds pictures of all of them; and of 4 objects as they stand"));
    // The worst case of each object and the object as it stands are the images that the network saw, to a byte.
    let pictures = table_pictures(&page);
    assert_eq!(pictures.len(), 8);
    let image = |name: &str, object: usize| {
        let whole = column(name);
        let [size, plane] = [3 * 16 * 16, 16 * 16];
        let own = &whole[object * size..][..size];
        (0..plane).flat_map(|i| [own[i], own[plane + i], own[2 * plane + i]]).collect::<Vec<f64>>()
    };
    for (listed, &object) in order.iter().enumerate() {
        let question =
            (0..24).find(|&q| data["worst"][q] == true && data["object"][q] == listed).expect("a worst case");
        let worst = data["picture"][question].as_u64().expect("a picture") as usize;
        let standing = data["objects"][listed]["standing"].as_u64().expect("a picture") as usize;
        for (picture, name) in [(worst, "after"), (standing, "before")] {
            assert!(data["pictures"][picture].is_null(), "twice in the page");
            let far = pixels(&pictures[&picture])
                .iter()
                .zip(image(name, object))
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(far <= 0.5 / 255.0 + 1e-6, "{name}: {far}");
        }
    }
    let others = data["pictures"].as_array().expect("pictures").iter().filter_map(|own| own.as_str());
    assert_eq!(others.map(|address| pixels(address).len()).filter(|n| *n == 3 * 16 * 16).count(), 20);
    // Sheets are no figures.
    assert!(!page.contains("id=\"figures\""));
}

#[test]
fn a_folder_of_meshes_that_changes_changes_no_picture() {
    let cube = |side: f64| {
        let mut text = String::new();
        for i in 0..8 {
            let at = |bit: usize, by: f64| if i >> bit & 1 == 1 { by } else { 0.0 };
            text += &format!("v {} {} {}\n", at(0, 1.0), at(1, side), at(2, 1.0));
        }
        text + "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
    };
    let meshes = folder(&[("box/a.obj", cube(1.0).as_bytes()), ("tower/b.obj", cube(3.0).as_bytes())]);
    let script = format!(
        "{BRIGHT} let ds = data::objects({:?}, #{{ size: 16 }});\n\
         examine(f, ds, #{{ space: space::render(), search: search::random(#{{ questions: 3 }}), seed: 1 }})",
        meshes.path().to_str().expect("UTF-8")
    );
    let scripts = folder(&[("made.rhai", script.as_bytes())]);
    let (path, run) = (scripts.path().join("made.rhai"), scripts.path().join("run"));
    let read = format!("--allow-read={}", meshes.path().display());
    let output =
        viva(&["run", path.to_str().expect("UTF-8"), "--out", run.to_str().expect("UTF-8"), "--device", "cpu", &read]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = report(&run);
    assert_eq!(table_pictures(&page).len(), 4);
    std::fs::write(meshes.path().join("box/a.obj"), cube(9.0)).expect("another box");
    std::fs::remove_file(meshes.path().join("tower/b.obj")).expect("a file");
    assert_eq!(report(&run), page);
    // Pictures that are not those of these numbers are not shown beside them.
    std::fs::write(run.join("result.questions.png"), PNG).expect("another picture");
    let page = report(&run);
    assert!(page.contains("is not the sheet of pictures that the run drew for these numbers"));
    assert!(table_pictures(&page).is_empty() && page.contains("Damaged, or not known to be whole"));
}

#[test]
fn what_a_page_leaves_out_of_an_examination_is_said() {
    let script = format!(
        "{BRIGHT} let ds = data::from(tensor::zeros([600, 1, 1, 1]) + 0.5, tensor::zeros([600]).values());\n\
         examine(f, ds, #{{ space: space::noise(0.2), search: search::random(#{{ questions: 21 }}), seed: 1 }})"
    );
    let (_folder, page) = reported(&script);
    for wanted in [
        "of 600 objects have a question that fails",
        "Listed are the 500 objects with the largest losses alone",
        "the numbers of 10000 of 12600 questions",
        "It holds pictures of 1500 of them: the worst of 120 objects,",
        "and of 120 objects as they stand",
        "first: 120 of 500 objects",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    let data = numbers(&page);
    let pictured = data["picture"].as_array().expect("pictures").iter().filter(|own| own.is_u64()).count();
    assert_eq!([pictured, data["object"].as_array().expect("questions").len()], [1500, 10_000]);
    let of = |object: usize| data["object"].as_array().expect("questions").iter().filter(|own| **own == object).count();
    assert!((0..500).all(|object| of(object) > 0), "an object without a question");
    assert!(page.len() < 4 << 20, "the page has {} bytes", page.len());
}

/// A closure may print, and may draw something else the second time.
#[test]
fn closures_are_not_called_again_for_pictures() {
    let script = format!(
        "{BRIGHT} let evil = \"<script>alert(1)</script>\\\"'><img src=x onerror=alert(1)>\";\n\
         let shade = space::factors([#{{ name: evil, min: 0, max: 1 }}, #{{ name: \"ink\", choices: [evil, \"light\"] }}], |z, s| {{ print(\"drawn\"); z * 0 + s[evil] }});\n\
         let ds = data::from(tensor::zeros([2, 1, 1, 1]), [0, 0], #{{ classes: [evil, \"</div>\"] }});\n\
         examine(f, ds, #{{ space: shade, search: search::random(#{{ questions: 5 }}), seed: 1 }})"
    );
    let (folder, page) = reported(&script);
    assert!(page.contains("there are no pictures: a closure of the script makes them"));
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains("<img src=x") && table_pictures(&page).is_empty());
    let data = numbers(&page);
    assert!(data["factors"][0]["name"].as_str().is_some_and(|name| name.starts_with("<script>alert(1)")));
    let printed = text_of(&folder.path().join("run/printed.txt"));
    let drawn = printed.lines().filter(|line| *line == "drawn").count();
    assert!(drawn > 0 && drawn <= 10 + 8, "{drawn}: of ten questions, and where it is tried whether answers stay");
}

#[test]
fn numbers_that_name_what_is_not_there_are_refused() {
    let whole = serde_json::json!({
        "kind": "viva questions 1", "classes": ["a"], "answers_are_classes": true, "factors": [{ "name": "x", "unit": "" }],
        "asked": { "objects": 1, "questions": 1, "failing_objects": 0 }, "objects": [{ "id": 0, "label": 0, "before": 0, "asked": 1, "failing": 0 }],
        "questions": { "object": [0], "number": [1], "loss": [0.5], "answer": [0], "fails": [false], "worst": [true], "picture": [null], "settings": [[0.5]] },
    });
    let page_of = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = whole.clone();
        change(&mut changed);
        let text = changed.to_string();
        let folder = folder(&[
            ("script.rhai", b"1"),
            ("t.questions.json", text.as_bytes()),
            ("other.questions.json", b"[1]"),
            ("one.png", PNG),
        ]);
        report(folder.path())
    };
    assert!(page_of(&|_| {}).contains("numbers of all 1 question"));
    let sheet = |file: &str, width: u64, columns: u64| {
        serde_json::json!({ "file": file, "width": width, "height": 1, "columns": columns, "pictures": 1,
            "sha256": "0cca5d3d4b30d76f0cb28abcf1dbb4a16c3c4f9ee1e2d5f5e0ac4d7db5ef6ac1" })
    };
    for (change, words) in [
        (
            &(|all: &mut serde_json::Value| all["questions"]["object"][0] = 7.into())
                as &dyn Fn(&mut serde_json::Value),
            "is not there",
        ),
        (&|all| all["questions"]["object"][0] = "evil".into(), "is not there"),
        (&|all| all["questions"]["picture"][0] = 0.into(), "is not there"),
        (&|all| all["questions"]["loss"] = serde_json::json!([1, 2]), "questions of several lengths"),
        (&|all| all["questions"]["settings"] = serde_json::json!([]), "questions of several lengths"),
        (&|all| all["objects"] = vec![all["objects"][0].clone(); 501].into(), "501 objects"),
        (&|all| all["sheet"] = sheet("gone.png", 1, 1), "are missing"),
        (&|all| all["sheet"] = sheet("../one.png", 1, 1), "are missing"),
        (&|all| all["sheet"] = sheet("one.png", 1 << 40, 1), "the sheet's width"),
        (&|all| all["sheet"] = sheet("one.png", 1, 0), "the sheet's columns"),
        (&|all| all["sheet"] = sheet("one.png", 1, 1), "is not the sheet"),
    ] {
        let page = page_of(change);
        assert!(page.contains("t.questions.json: ") && page.contains(words), "{words}");
        assert!(!page.contains("data-examination"));
    }
}

/// Two runs of one script with another argument.
#[test]
fn runs_are_set_beside_one_another() {
    let scripts = folder(&[(
        "made.rhai",
        b"let n = arg(\"n\", 2);\n\
          #{ same: 7, rows: [#{ error: 0.5 / n, error_lo: 0.4 / n, error_hi: 0.55 / n }], picture: plot::line([1, 2], [3, n], #{ x: \"time\", label: \"a curve\" }), \
          wider: [#{ mean: 1.5, mean_lo: 1.0 / n, mean_hi: 2.0 }], c: #{ cautions: [\"all are cats\"] }, own: #{ cautions: [`made ${n} times`] } }",
    )]);
    let path = |name: &str| scripts.path().join(name).to_str().expect("UTF-8").to_string();
    for (n, run) in [("2", "first"), ("4", "second")] {
        let output = viva(&["run", &path("made.rhai"), "--out", &path(run), "--n", n]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let output = viva(&["compare", &path("first"), &path("second"), "--out", &path("both.html")]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = |start: &str| {
        told.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start} in {told}"))
    };
    let words = |start: &str| line(start).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words("arguments.n"), "arguments.n 2 4");
    assert_eq!(words("rows[0].error"), "rows[0].error 0.25 [0.2, 0.275] 0.125 [0.1, 0.1375] 0.125 *");
    // Its interval alone is another one.
    assert_eq!(words("wider[0].mean"), "wider[0].mean 1.5 [0.5, 2.0] 1.5 [0.25, 2.0] 0.0");
    for said in ["all: c: all are cats", "first: own: made 2 times", "second: own: made 4 times"] {
        assert!(told.contains(said), "{told}");
    }
    assert!(told.contains("2 values are equal") && told.contains("*: the intervals do not meet"), "{told}");
    let page = text_of(Path::new(&path("both.html")));
    check(&page, &[]);
    for wanted in ["first: a curve", "second: a curve", "rows[0].error", "all are cats"] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    // A number alone has no cautions: what was said of it was said by the run.
    let learned = "let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });\n\
                   model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }).accuracy(ds)";
    std::fs::write(path("learned.rhai"), learned).expect("a script");
    assert!(viva(&["run", &path("learned.rhai"), "--out", &path("third")]).status.success());
    let beside = viva(&["compare", &path("first"), &path("third")]);
    let told_of_it = "third: trained learned from 12 of the 12 images of glyphs";
    assert!(
        String::from_utf8_lossy(&beside.stdout).contains(told_of_it),
        "{}",
        String::from_utf8_lossy(&beside.stdout)
    );
    // The rows are a file of the run and among its results, and on its page once.
    let own = report(Path::new(&path("first")));
    assert!(scripts.path().join("first/rows.csv").exists() && !own.contains("id=\"table-1\""));
    let same = viva(&["compare", &path("first"), &path("first")]);
    assert!(String::from_utf8_lossy(&same.stdout).contains("nothing differs"));
    let refused = viva(&["compare", &path("first"), scripts.path().to_str().expect("UTF-8")]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("no manifest.json"));
}

/// What differs beside the results is said, and figures of other things are not laid on top of each other.
#[test]
fn runs_that_are_not_alike_are_not_said_to_be() {
    let scripts = folder(&[(
        "made.rhai",
        b"let n = arg(\"n\", 2);\nprint(n);\n\
          #{ same: 7, drawn: plot::line([1, 2], [3, 4], #{ x: if n > 2 { \"time\" } else { \"space\" }, y: \"height\" }) }",
    )]);
    let path = |name: &str| scripts.path().join(name).to_str().expect("UTF-8").to_string();
    for (n, run) in [("2", "first"), ("4", "second")] {
        let output = viva(&["run", &path("made.rhai"), "--out", &path(run), "--n", n]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let output = viva(&["compare", &path("first"), &path("second"), "--out", &path("both.html")]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("contents are not compared") && told.contains("printed.txt"), "{told}");
    let page = text_of(Path::new(&path("both.html")));
    assert!(page.contains("different axes: height over space and height over time"), "{page}");
    let same = viva(&["compare", &path("first"), &path("first")]);
    assert!(!String::from_utf8_lossy(&same.stdout).contains("files:"));
}

#[test]
fn a_page_follows_a_run_while_it_goes_on() {
    // Far more images than are examined before the page is there.
    let script = "let ds = data::glyphs(#{ n: 300000, size: 16, seed: 1, split: \"test\" });\n\
                  let f = model::train(ds.take(20), #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                  risk::estimate(f, ds, #{ radius: 1, stop_early: true, delta: 1e-12, batch: 64 })";
    let scripts = folder(&[("endless.rhai", script.as_bytes())]);
    let run = scripts.path().join("run");
    let paths =
        [scripts.path().join("endless.rhai"), run.clone()].map(|path| path.to_str().expect("UTF-8").to_string());
    let start = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
        command
            .args(words)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("viva starts")
    };
    // Nothing of this takes as long unless something hangs.
    let wait = |what: &str, done: &mut dyn FnMut() -> bool| {
        for _ in 0..1200 {
            if done() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{what} did not come");
    };
    let mut running = start(&["run", &paths[0], "--out", &paths[1]]);
    wait("the manifest", &mut || run.join("manifest.json").exists() && run.join("progress/journal").exists());
    let mut reporting = start(&["report", &paths[1], "--live"]);
    let page = run.join("report.html");
    let anew = "http-equiv=\"refresh\"";
    // What it has come to so far: both errors, and the bets on the images.
    let shown = [anew, "under way", "images so far", "difference T so far", "largest wealth of the betting test"];
    wait("the page", &mut || {
        std::fs::read_to_string(&page).is_ok_and(|text| shown.iter().all(|words| text.contains(words)))
    });
    running.kill().expect("killed");
    running.wait().expect("ended");
    wait("the end", &mut || reporting.try_wait().expect("a process").is_some());
    let last = text_of(&page);
    assert!(!last.contains(anew) && last.contains("it was killed"), "the last page is still");
}
