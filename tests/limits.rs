//! Nothing that is typed ends the prompt, memory has a budget, terminals obey nobody's text, and what is built in is written down.

use crate::terminal;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use viva::core::{Cx, Tensor, Value};

/// What a prompt with so much memory prints, both streams; after each line it must still have its variables.
fn typed(memory: &str, lines: &[&str]) -> String {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut process = Command::new(env!("CARGO_BIN_EXE_viva"))
        .args(["--memory", memory])
        .current_dir(home.path())
        .env("HOME", home.path())
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("viva starts");
    let mut text = String::from("let kept = 41;\n");
    for (place, line) in lines.iter().enumerate() {
        text += &format!("{line}\nprint(\"line {place} \" + (kept + 1));\n");
    }
    process.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("viva reads");
    let output = process.wait_with_output().expect("viva ends");
    let [printed, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    for (place, line) in lines.iter().enumerate() {
        assert!(printed.contains(&format!("line {place} 42")), "{line} ended the prompt:\n{printed}\n{errors}");
    }
    format!("{printed}{errors}")
}

#[test]
fn what_is_too_large_is_refused_before_it_is_made() {
    let lines = [
        "blob(1000000000000, 1)",
        "[].pad(1000000000000, 0)",
        "let s = \"a\"; s.pad(1000000000000, \"b\")",
        "let b = blob(1); b.pad(1000000000000, 2)",
        "let s = \"a\"; s.pad(1000000, \"a\"); let t = s; s.replace(\"a\", t)",
    ];
    let said = typed("1GB", &lines);
    assert_eq!(said.matches("Error: out of memory").count(), lines.len(), "{said}");
    assert_eq!(said.matches("the budget is 1.0 GB: `viva --memory SIZE` sets another").count(), lines.len(), "{said}");
    let said = typed("1GB", &["tensor::zeros([300000000])"]);
    assert!(said.contains("the budget is 1.0 GB"), "{said}");
}

#[test]
fn what_grows_stops_at_the_budget() {
    let lines = [
        "let s = \"a\"; loop { s += s; }",
        "s = (); let a = [1]; loop { a += a; }",
        "a = (); let t = []; loop { t.push(tensor::zeros([1000000])); }",
        "t = []; let u = tensor::zeros([1000, 1000]); loop { t.push(1.0 - u); }",
        "t = (); tensor::zeros([10000000]).sum()",
    ];
    let said = typed("1GB", &lines);
    assert_eq!(said.matches("hint: the budget is 1.0 GB").count(), lines.len() - 1, "{said}");
}

/// What a call makes of its arguments is gone when it ends, and does not add up over a loop.
#[test]
fn large_arguments_do_not_add_up() {
    let lines = [
        "let names = []; for i in 0..1000000 { names.push(`a long name, too long for a place of its own ${i}`); }",
        "for i in 0..10 { try { tensor::from(names); } catch (e) { if !e.message.contains(\"numbers\") { print(e.message); } } }",
    ];
    let said = typed("4GB", &lines);
    assert!(!said.contains("at once"), "{said}");
}

#[test]
fn calls_and_values_may_be_deep() {
    // 60 levels at each step: a million letters of text would say the same.
    let deeper = format!("for i in 0..1000 {{ a = {}a.pop(){}; }}", "[".repeat(60), "]".repeat(60));
    let build = format!("let a = [0]; {deeper}");
    let lines = [
        "let s = \"eval(s)\"; eval(s)",
        "fn f(n) { f(n + 1) } f(0)",
        "let g = |h, n| h.call(h, n + 1); g.call(g, 0)",
        &build,
        "let b = a; a == b",
        "a",
        "print(a)",
        "a.to_string().len()",
        "save(a, \"a.json\")",
        "fn through(x) { x } let c = through(a);",
        "let m = #{ a: a }; let n = #{ a: a }; m == n",
        "[a].contains(a)",
        "a = (); b = (); c = (); m = ();",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]].len()",
    ];
    let nested = format!("{}1{}", "[".repeat(60_000), "]".repeat(60_000));
    let lines: Vec<&str> = lines.into_iter().chain([nested.as_str()]).collect();
    let said = typed("2GB", &lines);
    assert!(said.contains("calls are nested so deep"), "{said}");
    assert!(said.contains("more than 100 deep can't be compared"), "{said}");
    assert!(said.contains("100 deep at most"), "{said}");
    // What is not shown of it is marked.
    assert!(said.contains('…'), "{said}");
}

#[test]
fn padding_stops_at_ctrl_c() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = terminal::Terminal::start(home.path(), 100, &[], &[]);
    terminal.prompt();
    terminal.line("let kept = 42; let s = \"a\";");
    // Hours of letters, each of which takes no memory to speak of.
    terminal.press("print(\"begun\"); loop { s.pad(100000000, \"b\"); s = \"a\"; }\r");
    terminal.wait("\nbegun");
    terminal.press("\u{3}");
    terminal.wait("stopped");
    terminal.prompt();
    assert_eq!(terminal.line("kept").trim(), "42");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn the_flag_says_what_it_wants() {
    for wrong in ["3", "1MB", "much", "-4GB"] {
        let output = Command::new(env!("CARGO_BIN_EXE_viva"))
            .args(["--memory", wrong, "-e", "1"])
            .output()
            .expect("viva starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.contains("for example --memory 8GB"), "{wrong}: {errors}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_viva"))
        .args(["-e", "1 + 1", "--memory=1.5GiB"])
        .output()
        .expect("viva starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "2");
}

/// A bound on addresses leaves a result, or one error; never a signal.
#[cfg(target_os = "linux")]
#[test]
fn with_little_address_space_there_is_a_result_or_an_error() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let script = home.path().join("job.rhai");
    let text = "let ds = data::glyphs(#{ n: 100, size: 28, seed: 1 });
        let f = model::train(ds, #{ arch: [net::conv(32, 5), net::relu(), net::flatten(), net::linear(10)], epochs: 1 });
        risk::estimate(f, ds, #{ radius: 2 }).m";
    std::fs::write(&script, text).expect("a script");
    // Not within a megabyte or two of what it takes, about 800,000: there oneDNN runs a kernel that it found no room to generate.
    for kilobytes in [4_000_000, 750_000, 650_000, 500_000] {
        // Where not even its libraries have room, it is the system that says so.
        let run = format!(
            "ulimit -c 0; ulimit -v {kilobytes}; \"$0\" version >start.txt 2>&1 || {{ cat start.txt >&2; exit 127; }}; \
             exec \"$0\" run job.rhai --out out{kilobytes}"
        );
        let viva = env!("CARGO_BIN_EXE_viva");
        let output = Command::new("sh").args(["-c", &run, viva]).current_dir(home.path()).output().expect("a shell");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        // A signal leaves no status.
        let status = output.status.code().unwrap_or_else(|| panic!("{kilobytes} kB: {errors}"));
        match status {
            0 => {}
            127 => {}
            _ => {
                assert_eq!(status, 1, "{kilobytes} kB: {errors}");
                assert!(errors.contains("Error") || errors.contains("libgomp:"), "{kilobytes} kB: {errors}");
                assert!(
                    !errors.contains("terminate called") && !errors.contains("panicked"),
                    "{kilobytes} kB: {errors}"
                );
            }
        }
    }
}

const ESCAPES: &str = "\u{1b}]52;c;aGk=\u{7}\u{1b}[31mred\u{9b}2Jgood\rbad\u{202e}dab";

fn shows_and_does_not_obey(text: &str, where_: &str) {
    for obeyed in ["\u{1b}]52", "\u{1b}[31m", "\u{7}", "\u{9b}", "good\rbad", "\u{202e}"] {
        assert!(!text.contains(obeyed), "{where_}: {obeyed:?} in {text:?}");
    }
    assert!(text.contains("␛]52") || text.contains("x1b]52"), "{where_}: {text:?}");
}

#[test]
fn terminals_obey_no_text() {
    let home = tempfile::tempdir().expect("a temporary folder");
    // A terminal turns "\n" into "\r\n"; a pipe leaves bytes as they are.
    std::fs::write(home.path().join("t.csv"), format!("name,\"{ESCAPES}x\"\n\"{ESCAPES}\",2\n")).expect("a table");
    let classes = home.path().join("set");
    for class in [ESCAPES.replace('\r', ""), "b".into()] {
        let folder = classes.join(class);
        std::fs::create_dir_all(&folder).expect("a folder");
        image::RgbImage::new(8, 8).save(folder.join("1.png")).expect("an image");
    }
    let literal = ESCAPES.chars().map(|letter| format!("\\U{:08x}", u32::from(letter))).collect::<String>();
    for (what, script) in [
        ("a cell of a table", "data::csv(\"t.csv\")[0].name".to_string()),
        ("a table", "data::csv(\"t.csv\")".to_string()),
        ("print", format!("print(\"{literal}\")")),
        ("a value", format!("[\"{literal}\"]")),
        ("an error", format!("throw \"{literal}\"")),
        ("a file that is missing", format!("data::load(\"{literal}\")")),
        ("a class", "let ds = data::load(\"set\"); print(ds.classes); ds".to_string()),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_viva"))
            .args(["-e", &script])
            .current_dir(home.path())
            .env("HOME", home.path())
            .output()
            .expect("viva starts");
        let shown = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        shows_and_does_not_obey(&shown, what);
    }
    let cx = Cx::default();
    cx.warn(ESCAPES);
    shows_and_does_not_obey(&Value::Array(vec![Value::Str(ESCAPES.into())]).details(80), "details");
}

/// A program that adds noise to what it is given.
fn noisy(path: &Path) {
    let mut forward = |x: &[Tensor]| vec![x[0].flatten(1, -1) + x[0].flatten(1, -1).rand_like()];
    let example = Tensor::zeros([2, 1, 2, 2], (tch::Kind::Float, tch::Device::Cpu));
    let program = tch::CModule::create_by_tracing("noisy", "forward", &[example], &mut forward).expect("a program");
    program.save(path).expect("a file");
}

#[test]
fn programs_that_draw_answer_the_same_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    noisy(&folder.path().join("noisy.pt"));
    let script = "let f = model::load(\"noisy.pt\"); let x = tensor::uniform([4, 1, 2, 2], #{ seed: 1 });
        print(f.logits(x).values()); print(f.logits(x * 0.5).values()); print(f.logits(x).values());";
    let run = |before: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_viva"))
            .args(["-e", &format!("{before}{script}")])
            .current_dir(folder.path())
            .output()
            .expect("viva starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<String> = text.lines().map(String::from).collect();
        assert_eq!(lines.len(), 3, "{text}{}", String::from_utf8_lossy(&output.stderr));
        lines
    };
    let first = run("");
    assert_eq!(first[0], first[2], "the same batch");
    assert_ne!(first[0], first[1], "another batch");
    // What was drawn before makes no difference.
    assert_eq!(run("tensor::normal([100]);"), first);
}

#[test]
fn programs_that_work_in_place_change_nothing_of_the_script_s() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut forward = |x: &[Tensor]| vec![x[0].shallow_clone().clamp_(0.25, 0.75).flatten(1, -1) * 1.0];
    let example = Tensor::zeros([2, 1, 2, 2], (tch::Kind::Float, tch::Device::Cpu));
    let program = tch::CModule::create_by_tracing("clamped", "forward", &[example], &mut forward).expect("a program");
    program.save(folder.path().join("clamped.pt")).expect("a file");
    let script =
        "let f = model::load(\"clamped.pt\"); let x = tensor::from([[0.0, 1.0, 0.5, 0.1]]).reshape([1, 1, 2, 2]);
        print(f.logits(x).values()); f.predict(x); print(x.values());";
    let output = Command::new(env!("CARGO_BIN_EXE_viva"))
        .args(["-e", script])
        .current_dir(folder.path())
        .output()
        .expect("viva starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("0.75") && lines[1].contains("1.0"), "{text}{output:?}");
    assert!(!lines[1].contains("0.75"), "{text}");
}

/// The strings of a list in deny.toml.
fn list<'t>(deny: &'t str, name: &str) -> Vec<&'t str> {
    let start = deny.find(&format!("\n{name} = [")).expect("a list");
    let body = &deny[start..];
    let body = &body[..body.find("\n]").or(body.find("]\n")).expect("its end")];
    body.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .collect()
}

#[test]
fn what_is_built_in_is_written_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let deny = std::fs::read_to_string(root.join("deny.toml")).expect("the decisions");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = told["packages"].as_array().expect("packages");
    let allowed = list(&deny, "allow");
    let skipped = list(&deny, "skip");
    for package in packages {
        let [name, version, license] =
            ["name", "version", "license"].map(|key| package[key].as_str().unwrap_or_default());
        match package["source"].as_str() {
            None => assert!(name == "viva" || name == "viva-lab", "{name} comes from a folder"),
            Some(source) => assert_eq!(source, "registry+https://github.com/rust-lang/crates.io-index", "{name}"),
        }
        // Of each part that is joined by AND, one choice must do.
        let fits = license.split(" AND ").all(|part| {
            let part = part.trim_matches(['(', ')']).replace('/', " OR ");
            part.split(" OR ").any(|choice| allowed.contains(&choice.trim().trim_end_matches('+')))
        });
        assert!(fits, "{name} {version}: {license}");
        let others = packages.iter().filter(|other| other["name"] == package["name"]).count();
        let newest = packages.iter().filter(|other| other["name"] == package["name"]).all(|other| {
            let numbers = |version: &str| version.split('.').map(|n| n.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>();
            numbers(other["version"].as_str().unwrap_or_default()) <= numbers(version)
        });
        assert!(
            others == 1 || newest || skipped.contains(&format!("{name}@{version}").as_str()),
            "{name} {version} is there beside another"
        );
    }
    let lists = ["cpu", "cuda"]
        .map(|which| std::fs::read_to_string(root.join(format!(".ci/libtorch-{which}.txt"))).expect("wheels"));
    for text in lists {
        let wheels = text.lines().filter(|line| line.contains("==")).count();
        assert!(wheels > 2 && text.matches("--hash=sha256:").count() >= wheels, "{text}");
    }
}

/// What is not named in tests/main.rs is not compiled, and fails nowhere.
#[test]
fn every_file_of_tests_is_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let main = std::fs::read_to_string(root.join("main.rs")).expect("tests/main.rs");
    let named: BTreeSet<&str> = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
    let files = std::fs::read_dir(&root).expect("tests").map(|entry| entry.expect("a file").path());
    let sources = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let stems: BTreeSet<String> =
        sources.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    let missing: Vec<&String> = stems
        .iter()
        .filter(|stem| !named.contains(stem.as_str()) && !["main", "bombs"].contains(&stem.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?} are not in tests/main.rs");
}
