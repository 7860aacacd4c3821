//! The command line from outside: exit status, streams, run folders.

use std::path::Path;
use std::process::{Command, Output};

fn viva(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_viva")).current_dir(folder).args(words).output().expect("viva starts")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder_with(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("script.rhai"), script).expect("a script");
    folder
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn an_expression_prints_its_value() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = viva(folder.path(), &["-e", "8/255"]);
    assert!(output.status.success());
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("0.0313725\n", ""));
    let output = viva(folder.path(), &["-e", "8 +"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).is_empty() && err(&output).contains("incomplete"));
    assert!(entries(folder.path()).is_empty(), "nothing is written");
}

#[test]
fn version_doc_and_help_answer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let version = out(&viva(folder.path(), &["version"]));
    assert!(version.contains("libtorch  2.11.0") && version.contains("devices   cpu"), "{version}");
    assert!(out(&viva(folder.path(), &["doc", "arg"])).contains("arg(name, default, #{"));
    assert!(out(&viva(folder.path(), &["doc"])).contains("tensor::"));
    let output = viva(folder.path(), &["doc", "argg"]);
    assert!(!output.status.success() && err(&output).contains("did you mean `arg`?"));
    for (name, hint) in
        [("faults", "`viva doc std/faults` shows it"), ("faults::nedded", "did you mean `faults::needed`?")]
    {
        let output = viva(folder.path(), &["doc", name]);
        let told = err(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && told.contains(hint), "{told}");
    }
    let output = viva(folder.path(), &["rnu"]);
    assert!(!output.status.success() && err(&output).contains("did you mean `run`?"));
}

#[test]
fn a_run_leaves_its_record_and_two_runs_leave_the_same_results() {
    let folder = folder_with(
        "// Adds up.\nlet x = tensor::from([1, 2, 3]) * arg(\"scale\", 2);\nprint(`sum ${x.sum()}`);\n\
         [#{ a: 1, b: 2.5 }].save(\"tables/rows.csv\");\n#{ total: x.sum(), x: x }",
    );
    for out in ["one", "two"] {
        let output = viva(folder.path(), &["run", "script.rhai", "--scale", "3", "--out", out, "--seed", "4"]);
        assert!(output.status.success(), "{}", err(&output));
    }
    let run = folder.path().join("one");
    assert_eq!(entries(&run), ["manifest.json", "printed.txt", "report.md", "results.json", "script.rhai", "tables"]);
    assert_eq!(std::fs::read_to_string(run.join("tables/rows.csv")).expect("a table"), "a,b\n1,2.5\n");
    let results: serde_json::Value =
        serde_json::from_slice(&std::fs::read(run.join("results.json")).expect("results")).expect("JSON");
    assert_eq!(results["total"], 18.0);
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(run.join("manifest.json")).expect("a manifest")).expect("JSON");
    assert_eq!((&manifest["seed"], &manifest["arguments"]["scale"]), (&4.into(), &"3".into()));
    assert_eq!((&manifest["state"], &manifest["versions"]["libtorch"]), (&"finished".into(), &"2.11.0".into()));
    for name in ["results.json", "report.md", "printed.txt", "script.rhai", "tables/rows.csv"] {
        let bytes = |run: &str| std::fs::read(folder.path().join(run).join(name)).expect("a file");
        assert_eq!(bytes("one"), bytes("two"), "{name}");
    }
    let again = viva(folder.path(), &["run", "script.rhai", "--out", "one"]);
    assert!(!again.status.success() && err(&again).contains("not empty"), "{}", err(&again));
}

#[test]
fn json_is_all_that_stands_on_stdout() {
    let examined = "examine(model::from(|x| tensor::zeros([x.len(), 10]), #{ classes: 10 }), data::glyphs(#{ n: 3, size: 16, seed: 1 }), #{ space: space::noise(0.1), search: search::sweep() })";
    let folder = folder_with(&format!("print(\"beside\"); #{{ answer: 42, nothing: 0.0/0.0, rows: {examined} }}"));
    let output = viva(folder.path(), &["run", "script.rhai", "--json"]);
    let results: serde_json::Value = serde_json::from_str(&out(&output)).expect("JSON alone");
    // Which is written row by row.
    let file = std::fs::read_to_string(folder.path().join("runs/script/results.json")).expect("a file");
    assert_eq!(out(&output), file);
    assert_eq!((&results["answer"], &results["nothing"]), (&42.into(), &"nan".into()));
    assert!(err(&output).contains("beside"));
    assert_eq!(entries(&folder.path().join("runs")), ["script"]);
    viva(folder.path(), &["run", "script.rhai"]);
    assert_eq!(entries(&folder.path().join("runs")), ["script", "script-2"], "a second run has a folder of its own");
}

#[test]
fn a_failed_run_writes_nothing() {
    for (script, said) in [
        ("let x = 1;\nlet y = (x +\n", "script.rhai:2"),
        ("let x = 1;\ntensor::zeros(\"x\")\n", "script.rhai:2"),
        ("save([1], \"../x.json\")", "may not write"),
        ("nothing::at_all()", "no namespace"),
    ] {
        let folder = folder_with(script);
        let output = viva(folder.path(), &["run", "script.rhai"]);
        assert_eq!(output.status.code(), Some(1), "{script}");
        assert!(err(&output).contains(said), "{script}: {}", err(&output));
        assert_eq!(entries(folder.path()), ["script.rhai"], "{script}");
    }
}

#[test]
fn wrong_words_on_the_command_line_are_explained() {
    let folder = folder_with("// What it does.\nlet e = arg(\"epsilon\", 5);\narg(\"quick\", false)");
    for (words, said) in [
        (&["run"][..], "needs a script"),
        (&["run", "none.rhai"], "none.rhai"),
        (&["run", "script.rhai", "more"], "one thing too many"),
        (&["run", "script.rhai", "--epsilno", "3"], "did you mean `epsilon`?"),
        (&["run", "script.rhai", "--epsilon", "few"], "--epsilon"),
        (&["run", "script.rhai", "--seed", "-1"], "--seed"),
        (&["run", "script.rhai", "--device", "gpu"], "not a device name"),
        (&["run", "script.rhai", "--out"], "--out needs a value"),
        (&["run", "script.rhai", "--json=false"], "--json takes no value"),
        (&["run", "script.rhai", "--fast=1"], "--fast takes no value"),
        (&["run", "script.rhai", "--memory", "1GB", "--memory=2GB"], "--memory is given twice"),
        (&["run", "script.rhai", "--seed", "1", "--seed", "2"], "--seed is given twice"),
        (&["check", "none.rhai"], "none.rhai"),
        (&["-e"], "one expression"),
    ] {
        let output = viva(folder.path(), words);
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(err(&output).contains(said), "{words:?}: {}", err(&output));
        assert!(out(&output).is_empty(), "{words:?}");
        assert_eq!(entries(folder.path()), ["script.rhai"], "{words:?}");
    }
    let help = out(&viva(folder.path(), &["run", "script.rhai", "--help"]));
    assert!(
        help.contains("What it does.") && help.contains("--epsilon  default 5") && help.contains("--quick"),
        "{help}"
    );
    for command in ["run", "submit", "-e", "check"] {
        assert_eq!(out(&viva(folder.path(), &[command, "--help"])), out(&viva(folder.path(), &["help"])), "{command}");
    }
    assert_eq!(out(&viva(folder.path(), &["check", "script.rhai"])), "script.rhai: nothing found\n");
}

#[test]
fn check_fails_on_a_misspelt_name() {
    let folder = folder_with("let x = 1;\ntensor::zeroes([1]);\n");
    let output = viva(folder.path(), &["check", "script.rhai"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("script.rhai:2:") && err(&output).contains("zeros"), "{}", err(&output));
}

#[test]
fn a_run_is_refused_that_can_only_fail_before_anything_is_done() {
    let run = |script: &str, more: &[&str]| {
        let folder = folder_with(&format!("print(\"begun\");\n{script}"));
        let own = "fn half(x) { hlaf(x) }\nfn fill(q) { q.push(1, 2, 3) }\nfn wrap(f) { #{ pop: f } }\nfn int.insert(a) { this + a }\nfn ask() { push(1, 2, 3) + theirs() }\n";
        std::fs::write(folder.path().join("own.rhai"), own).expect("a module");
        let output = viva(folder.path(), &[&["run", "script.rhai"][..], more].concat());
        let left = entries(folder.path()).len() - 2;
        (out(&output), err(&output), left)
    };
    let nope = "let ds = data::glyphs(#{ n: 2 });\nif ds.len() > 5 { ds.taek(1); }";
    for (script, said) in [
        (nope, "script.rhai:3:22"),
        ("import \"own\" as own;\nown::half(3);", "own.rhai:1:14"),
        ("fn late() { undeclared }\nif false { late() }", "there is no variable `undeclared`"),
        (
            "if 1 > 0 { let inner = 1; }\nprint(inner);",
            "no variable `inner` here; that of line 2 is known only within its block",
        ),
        ("print(later + 1);\nlet later = 1;", "no variable `later` here; it is declared further on only, in line 3"),
        ("import \"gone\" as gone;", "no file gone.rhai"),
        ("import \"std/gone\" as gone;", "no module std/gone"),
        ("data::glyphs(#{ m: 2 });", "unknown option `m`"),
        ("nope(1);\nnope(2);", "these were found"),
        ("let v = [1];\nv.push(1, 2);", "push: got 2 arguments; it takes 1"),
    ] {
        let (printed, told, left) = run(script, &[]);
        assert!(told.contains(said) && told.contains("--unchecked"), "{script}: {told}");
        assert!(printed.is_empty() && left == 0, "{script}: {printed}");
    }
    assert!(run(nope, &["--unchecked"]).0.starts_with("begun\nrun folder"));
    for script in [
        "try { nope(1); } catch { print(\"caught\"); }",
        "if is_def_fn(\"nope\", 1) { nope(1); }",
        "import \"own\" as own;\nown::fill(#{ push: |a, b, c| a + b + c });",
        "import \"own\" as own;\nlet m = own::wrap(|a, b| a + b);\nm.pop(1, 2);",
        "import \"own\" as own;\nlet x = 1;\nx.insert(1);",
        "import \"own\" as own;\nfn push(a, b, c) { a + b + c }\nfn theirs() { 1 }\nown::ask();",
        "let m = #{};\nm.set(\"pu\" + \"sh\", |a, b| a + b);\nm.push(1, 2);",
    ] {
        let (printed, told, _) = run(script, &[]);
        assert!(printed.starts_with("begun\n"), "{script}: {told}");
    }
    let folder = folder_with("import \"own\" as own;\nown::half(3);");
    std::fs::write(folder.path().join("own.rhai"), "fn half(x) { hlaf(x) }\n").expect("a module");
    for words in
        [&["submit", "--slurm", "script.rhai", "--shards", "2"][..], &["run", "script.rhai", "--devices", "cpu,cpu"]]
    {
        let told = err(&viva(folder.path(), words));
        assert!(told.contains("did you mean `half`") && entries(folder.path()).len() == 2, "{told}");
    }
    let told = err(&viva(folder.path(), &["check", "script.rhai"]));
    assert!(told.starts_with("own.rhai:1:14: there is no function `hlaf`"), "{told}");
    // Functions of namespaces have no names without these.
    let folder = folder_with("print(1);\nlet r = #{ a: 1 };\nreport(r);\nload(\"mnist\");\nrecord(r);");
    let told = err(&viva(folder.path(), &["check", "script.rhai"]));
    for words in [
        "3:1: there is no function `report`; did you mean `risk::report`?",
        "did you mean `data::load` or `generator::load` or `model::load`",
        "5:1: there is no function `record`",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("`report`?"), "{told}");
}

/// libgomp reads how long its threads wait for work from the environment, as it is loaded.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn threads_give_way_soon_unless_told_otherwise_and_the_environment_is_whole() {
    let folder = folder_with(
        "let f = model::program(\"echo spins $GOMP_SPINCOUNT, old $OLDPWD >&2; exit 1\", #{ classes: 10 });\n\
         f.accuracy(data::glyphs(#{ n: 2, size: 16, seed: 1 }))",
    );
    let said = |name: &str, value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
        command.env_remove("GOMP_SPINCOUNT").env_remove("OMP_WAIT_POLICY").env("OLDPWD", "/elsewhere").env(name, value);
        err(&command
            .current_dir(folder.path())
            .args(["run", "script.rhai", "--allow-run"])
            .output()
            .expect("viva starts"))
    };
    for (name, value, spins) in
        [("OTHER", "1", "30000"), ("GOMP_SPINCOUNT", "7", "7"), ("OMP_WAIT_POLICY", "passive", "")]
    {
        let said = said(name, value);
        assert!(said.contains(&format!("spins {spins}, old /elsewhere")), "{name}: {said}");
    }
}

/// What a script would refuse hours later is refused before it begins, where it is written down what it takes.
#[test]
fn arguments_are_checked_before_a_script_begins() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = r#"
        print("began");
        let full = arg("full", false);
        let n = arg("images", if full { 400 } else { 100 }, #{ min: 2, max: 500 });
        let norm = arg("norm", "l2", #{ choices: ["l2", "linf"] });
        let rate = arg("rate", 0.5);
        n
    "#;
    std::fs::write(folder.path().join("s.rhai"), script).expect("written");
    let said = |words: &[&str]| {
        let output = viva(folder.path(), &[&["run", "s.rhai"], words].concat());
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    for (words, wanted) in [
        (&["--images", "1"][..], "--images must be from 2 to 500, got 1"),
        (&["--images", "some"], "wanted one int"),
        (&["--norm", "l3"], "--norm must be one of l2, linf, got l3"),
        (&["--rate", "fast"], "wanted one float"),
        (&["--full", "maybe"], "wanted one bool"),
        (&["--rate", "0.1", "--rate", "0.2"], "--rate is given twice"),
    ] {
        let said = said(words);
        assert!(said.contains(wanted) && !said.contains("began"), "{words:?}: {said}");
    }
    assert!(said(&["--images", "3", "--norm", "linf", "--full"]).contains("began"));
}

/// Results have the names that they are given; those of their files are found in the manifest.
#[test]
fn files_of_results_are_found_by_what_they_hold() {
    let drawn = |name: &str, at: &str| format!("{name:?}: plot::line([1, {at}], #{{ title: {name:?} }})");
    let folder = folder_with(&format!(
        "#{{ {}, {}, results: [#{{ v: 1 }}], manifest: plot::line([1, 2]), deep: #{{ \"a/b\": plot::line([2, 3]) }} }}",
        drawn("noise 0.1", "2"),
        drawn("noise_0_1", "200")
    ));
    let done = viva(folder.path(), &["run", "script.rhai", "--out", "one"]);
    assert!(done.status.success(), "{}", err(&done));
    let text = |name: &str| std::fs::read_to_string(folder.path().join("one").join(name)).expect(name);
    let manifest: serde_json::Value = serde_json::from_str(&text("manifest.json")).expect("JSON");
    let results: serde_json::Value = serde_json::from_str(&text("results.json")).expect("JSON");
    assert_eq!(results["results"][0]["v"], 1);
    let kept = manifest["kept"].as_object().expect("files");
    for (title, other) in [("noise 0.1", "noise_0_1"), ("noise_0_1", "noise 0.1")] {
        let svg = kept.iter().find(|(file, of)| file.ends_with(".svg") && **of == format!("/{title}"));
        let drawn = text(svg.expect("a drawing").0);
        assert!(drawn.contains(title) && !drawn.contains(other), "{title}");
    }
    assert!(kept.values().any(|of| of == "/deep/a~1b"), "{kept:?}");
    let page = viva(folder.path(), &["report", "one"]);
    assert!(page.status.success(), "{}", err(&page));
    let page = text("report.html");
    assert!(page.contains("deep, a/b") && page.matches(">figure</a>").count() == 4, "every figure is linked to");
    // Figures are compared as well.
    std::fs::write(folder.path().join("script.rhai"), "#{ \"noise_0_1\": plot::line([1, 3]) }").expect("written");
    assert!(viva(folder.path(), &["run", "script.rhai", "--out", "two"]).status.success());
    let compared = out(&viva(folder.path(), &["compare", "one", "two"]));
    assert!(
        compared.contains("noise_0_1") && compared.contains("figure ") && compared.contains("absent"),
        "{compared}"
    );
    // Lines of one page on top of each other may be of other images, where the runs were given other things.
    assert!(viva(folder.path(), &["compare", "one", "two", "--out", "both.html"]).status.success());
    let both = std::fs::read_to_string(folder.path().join("both.html")).expect("a page");
    assert!(both.contains("the runs were given different script_sha256"), "what differs stands below the figure");
    // Pages of somebody else's are left alone.
    std::fs::write(folder.path().join("index.html"), "mine").expect("written");
    let pages = viva(folder.path(), &["doc", "--html", "."]);
    assert!(!pages.status.success() && err(&pages).contains("not a page of viva's"), "{}", err(&pages));
    assert_eq!(std::fs::read_to_string(folder.path().join("index.html")).expect("kept"), "mine");
}

/// Who repeats a run with another seed to see what changes is told where nothing can.
#[test]
fn a_seed_that_decides_nothing_is_told_of() {
    for (script, told) in [("tensor::normal([2], #{ seed: 1 }).sum()", true), ("tensor::normal([2]).sum()", false)] {
        let folder = folder_with(script);
        for (seed, of_this) in [("3", told), ("0", false)] {
            let done = viva(folder.path(), &["run", "script.rhai", "--seed", seed, "--out", seed]);
            assert!(done.status.success(), "{}", err(&done));
            assert_eq!(err(&done).contains("--seed 3 decided nothing"), of_this, "{script}, {seed}: {}", err(&done));
        }
    }
}

/// A full disk, as `/dev/full` is one.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_takes_nothing_is_told_of() {
    let folder = folder_with("print(1);");
    for words in [&["version"][..], &["check", "script.rhai"], &["run", "script.rhai", "--out", "run"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_viva"));
        let output = command.args(words).current_dir(folder.path()).stdout(full).output().expect("viva starts");
        let told = err(&output);
        assert!(!output.status.success() && told.contains("nothing can be written to the standard output"), "{told}");
        assert!(!told.contains("panicked"), "{told}");
    }
}

/// Two lines in a name would be two lines of what is submitted.
#[test]
fn names_of_several_lines_are_not_submitted() {
    let folder = folder_with("print(1);");
    let told = err(&viva(folder.path(), &["submit", "--slurm", "script.rhai", "--shards", "2", "--out", "a\ntouch b"]));
    assert!(told.contains("a line break") && entries(folder.path()).len() == 1, "{told}");
}

/// Training images that may not be read are told of where numbers would follow from them, and not where names are numbers of ImageNet's.
#[test]
fn training_images_that_may_not_be_read_are_told_of() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let files = [
        "pets/train/cat/a.png",
        "pets/train/cow/a.png",
        "pets/test/cow/b.png",
        "net/train/n01440764/a.png",
        "net/val/n01443537/b.png",
    ];
    for (i, file) in files.iter().enumerate() {
        let path = data.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        image::RgbImage::from_pixel(8, 8, image::Rgb([100 + i as u8; 3])).save(path).expect("a picture");
    }
    let seen = |part: &str, allowed: &str| {
        let part = data.path().join(part).display().to_string();
        let folder = folder_with(&format!(
            "let ds = data::load({part:?}); print(ds.labels.values()); model::from(|x| tensor::zeros([x.shape[0], 1000])).accuracy(ds)"
        ));
        let read = format!("--allow-read={}", data.path().join(allowed).display());
        let output = viva(folder.path(), &["run", "script.rhai", &read, "--out", "run"]);
        assert!(output.status.success(), "{}", err(&output));
        (out(&output), err(&output).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let told = "train beside it can't be read, so that it is numbered by its own folders";
    let (labels, said) = seen("pets/test", "pets/test");
    assert!(labels.contains("[0]") && said.contains(told), "{labels} {said}");
    let (labels, said) = seen("pets/test", "pets");
    assert!(labels.contains("[1]") && !said.contains(told), "{labels} {said}");
    let (labels, said) = seen("net/val", "net/val");
    assert!(labels.contains("[1]") && !said.contains(told), "{labels} {said}");
}

/// Whatever stands in them, every run has a column, and what a result has once comes before what each of its rows has.
#[test]
fn runs_stand_beside_one_another_on_a_narrow_screen() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for run in ["one", "two"] {
        let script = format!(
            "let ds = data::glyphs(#{{ n: 12, size: 16, seed: {} }});\n\
             let f = model::from(|x| tensor::zeros([x.shape[0], 10]));\n\
             #{{ t: examine(f, ds, #{{ space: space::noise(0.1), search: search::random(#{{ questions: 1 }}) }}), z: ds.labels.values().len() + {} }}",
            run.len() + usize::from(run == "two"),
            usize::from(run == "two")
        );
        std::fs::write(folder.path().join("script.rhai"), script).expect("written");
        let done = viva(folder.path(), &["run", "script.rhai", "--out", run]);
        assert!(done.status.success(), "{}", err(&done));
    }
    let told = out(&viva(folder.path(), &["compare", "one", "two"]));
    assert!(!told.contains("not shown"), "{told}");
    let heads: Vec<&str> = told.lines().filter(|line| line.trim_start().starts_with("one ")).collect();
    assert!(heads.last().is_some_and(|head| head.contains("two") && head.contains("apart")), "{told}");
    let (z, rows) = (told.find("\nz "), told.find("\nt.rows["));
    assert!(z.zip(rows).is_some_and(|(z, rows)| z < rows), "{told}");
}

/// Numbers carry no cautions: what is to be said of the pictures behind them is a warning, also of turned ones.
#[test]
fn an_accuracy_of_turned_pictures_warns_of_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir_all(folder.path().join("phone/cat")).expect("a folder");
    let picture = image::RgbImage::from_pixel(16, 16, image::Rgb([90, 90, 90]));
    let mut jpeg = Vec::new();
    picture.write_to(&mut std::io::Cursor::new(&mut jpeg), image::ImageFormat::Jpeg).expect("a picture");
    // A segment of EXIF with tag 0x0112, 6: to be turned by a quarter.
    let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let mut segment = vec![0xff, 0xe1];
    segment.extend(((exif.len() + 2) as u16).to_be_bytes());
    segment.extend(exif);
    jpeg.splice(2..2, segment);
    std::fs::create_dir_all(folder.path().join("phone/dog")).expect("a folder");
    std::fs::write(folder.path().join("phone/cat/1.jpg"), &jpeg).expect("written");
    picture.save(folder.path().join("phone/dog/2.png")).expect("written");
    let code = "let f = model::from(|x| tensor::zeros([x.shape[0], 2])); f.accuracy(data::load(\"phone\"))";
    let done = viva(folder.path(), &["-e", code]);
    assert!(
        done.status.success() && err(&done).contains("1 of the 2 pictures of phone are to be turned"),
        "{}",
        err(&done)
    );
}
