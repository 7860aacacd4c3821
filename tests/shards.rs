//! Runs in shards, put together: the bytes of one process, and by name what is not one run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Two examinations of sets of different sizes, one of which has fewer blocks than there are shards, a search that asks questions, and searches
/// along gradients: of cases that end together and each by itself, at several levels, from random starts, over pixels and over factors.
const SCRIPT: &str = r#"
let ds = data::glyphs(#{ n: arg("images", 40), size: 16, seed: 1 });
let few = data::glyphs(#{ n: 5, size: 16, seed: 2 });
let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
print(`error ${f.error(ds)}`);
let reports = risk::estimate(f, ds, #{ searches: ["strongest", "blind"], radii: [1, 2], batch: 64 });
let other = risk::estimate(f, few, #{ radius: 1, batch: 64 });
let low = risk::estimate(f, ds, #{ radius: 1, batch: 64, precision: "bfloat16" });
let asked = examine(f, ds, #{ space: space::rotate(20), search: search::random(#{ questions: 3 }), batch: 8 });
let along = |search, space, more| examine(f, ds, #{ space: space, search: search, batch: 2, seed: 3 } + more);
let linf = space::pixels("linf", #{ radius: 0.1, bounds: [0, 1] });
let levels = along.call(search::apgd(#{ steps: 4 }), linf, #{ levels: [0.02, 0.05] });
let steps = along.call(search::bim(#{ steps: 4 }), linf, #{ at_steps: [1, 2, 4] });
let alone = along.call(search::deepfool(#{ steps: 8 }), space::pixels("l2", #{ bounds: [0, 1] }), #{});
let turned = along.call(search::apgd(#{ steps: 3, restarts: 2 }), space::rotate(20), #{});
let small = examine(f, few, #{ space: linf, search: search::apgd(#{ steps: 3 }), batch: 2, seed: 3 });
let both = along.call(search::worst([search::bim(#{ steps: 3 }), search::square(#{ questions: 10 })]), linf, #{});
let curve = tolerance::curve(levels);
#{ reports: reports, other: other, low: low, asked: asked, figure: plot::pvalues(risk::curve(reports.strongest_2)),
   levels: levels, steps: steps, alone: alone, turned: turned, both: both, small: small, curve: curve }
"#;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("script.rhai"), script).expect("a script");
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn viva(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
        command.args(words.split_whitespace()).current_dir(self.folder.path()).env("OMP_NUM_THREADS", "1");
        command.output().expect("viva starts")
    }

    fn run(&self, words: &str) {
        let output = self.viva(words);
        assert!(output.status.success(), "viva {words}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn refused(&self, words: &str) -> String {
        let output = self.viva(words);
        assert!(!output.status.success(), "viva {words} was not refused");
        String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// All that a run wrote but the manifest, which tells of the machine and the time.
fn written(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .expect("a run folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file() && !path.ends_with("manifest.json"))
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into(), std::fs::read(&path).expect("a file")))
        .collect();
    all.sort();
    all
}

#[test]
fn shards_put_together_are_the_bytes_of_one_process() {
    let bench = Bench::new(SCRIPT);
    bench.run("run script.rhai --threads 1 --out one");
    let one = written(&bench.at("one"));
    assert!(one.iter().any(|(name, _)| name == "results.json") && one.iter().any(|(name, _)| name.ends_with(".svg")));
    for shards in [1, 3] {
        let folders: Vec<String> = (1..=shards).map(|shard| format!("{shards}-{shard}")).collect();
        for (shard, folder) in folders.iter().enumerate() {
            bench.run(&format!("run script.rhai --threads 1 --shard {}/{shards} --out {folder}", shard + 1));
        }
        bench.run(&format!("merge {} --out merged-{shards}", folders.join(" ")));
        let merged = written(&bench.at(&format!("merged-{shards}")));
        assert!(one.len() == merged.len(), "{shards} shards wrote other files");
        for ((name, one), (_, merged)) in one.iter().zip(&merged) {
            assert!(one == merged, "{shards} shards: {name} differs");
        }
    }
    let part = std::fs::read_to_string(bench.at("3-1/results.json")).expect("results");
    assert!(part.contains("of 40 rows, which holds only if"), "a shard's own result does not say that it is a part");
    // Every transcript of a part says so, and what is worked out from it; what every shard works out in whole does not.
    for (name, of_part) in [("asked", true), ("levels", true), ("alone", true), ("curve", true), ("both", false)] {
        let told = std::fs::read_to_string(bench.at(&format!("3-1/{name}.json"))).unwrap_or_else(|_| part.clone());
        let json: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        let own = if json[name].is_object() { &json[name] } else { &json };
        let said = own["cautions"].to_string().contains("of shard 1/3 alone");
        assert_eq!(said, of_part, "{name}: {}", own["cautions"]);
    }
}

/// One examination that takes as long as it is asked questions.
const ASKS: &str = r#"
    let ds = data::glyphs(#{ n: arg("images", 40), size: 16, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
    #{ asked: examine(f, ds, #{ space: space::rotate(20), search: search::random(#{ questions: arg("questions", 3) }), batch: 4 }) }
"#;

/// What failed is asked about once more where all of it is.
#[test]
fn outcomes_of_a_model_that_draws_are_the_bytes_of_one_process() {
    let bench = Bench::new(
        r#"let f = model::load("dropping.pt", #{ input: [1, 16, 16] });
        let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
        examine(f, ds, #{ space: space::noise(0.001), search: search::random(#{ questions: 5 }), batch: 8, seed: 1 })"#,
    );
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/dropping.pt");
    std::fs::copy(golden, bench.at("dropping.pt")).expect("a copy");
    bench.run("run script.rhai --out whole");
    for part in 1..=2 {
        bench.run(&format!("run script.rhai --shard {part}/2 --out part{part}"));
    }
    bench.run("merge part1 part2 --out merged --allow-read=.");
    assert_eq!(written(&bench.at("merged")), written(&bench.at("whole")));
    let told = std::fs::read_to_string(bench.at("whole/results.json")).expect("results");
    assert!(told.contains("are right when they are asked about once more"), "{told}");
}

#[test]
fn what_lies_beside_the_script_is_read_where_shards_are_put_together() {
    let bench = Bench::new(&format!("let rows = data::csv(\"beside.csv\");{ASKS} + #{{ rows: rows.len() }}"));
    std::fs::write(bench.at("beside.csv"), "a\n1\n2\n").expect("a table");
    bench.run("run script.rhai --devices cpu,cpu --out many");
    let results = std::fs::read_to_string(bench.at("many/results.json")).expect("results");
    let json: serde_json::Value = serde_json::from_str(&results).expect("JSON");
    assert_eq!(json["rows"], 2);
    // Of the home folder scripts read no hidden files, and so does what puts shards together.
    std::fs::create_dir(bench.at(".hidden")).expect("a folder");
    std::fs::write(bench.at(".hidden/keys.csv"), "a\n1\n").expect("a table");
    let reads =
        |path: &str| std::fs::write(bench.at("script.rhai"), format!("let rows = data::csv(\"{path}\");{ASKS}"));
    let merge = |folder: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
        command.args(["submit", "--parallel", "script.rhai", "--shards", "2", "--out", folder]);
        let done = command.current_dir(bench.folder.path()).env("HOME", bench.folder.path()).status().expect("viva");
        assert!(done.success());
        std::fs::read_to_string(bench.at(folder).join("parallel.sh")).expect("what is submitted")
    };
    reads("beside.csv").expect("a script");
    let told = merge("sent");
    assert!(told.contains("beside.csv") && !told.contains(".hidden"), "{told}");
    let whole = format!("--allow-read={}", bench.folder.path().display());
    assert!(!told.split_whitespace().any(|word| word == whole), "{told}");
}

/// A run on three devices that goes on until all of its shards have examined something.
fn on_three_devices(bench: &Bench, out: &str) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
    command.args(["run", "script.rhai", "--devices", "cpu,cpu,cpu", "--images", "60", "--questions", "1500"]);
    command.args(["--out", out]).current_dir(bench.folder.path()).env("OMP_NUM_THREADS", "1");
    let process = command.stderr(std::process::Stdio::piped()).spawn().expect("viva starts");
    let shards = format!("{}-shards", out.trim_end_matches('/'));
    let begun = |shard: usize| bench.at(&format!("{shards}/{shard}-of-3/progress"));
    let examined = |folder: PathBuf| folder.read_dir().is_ok_and(|files| files.count() > 2);
    let all = || (1..=3).all(|shard| examined(begun(shard)));
    let waited = (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        all()
    });
    assert!(waited, "the shards did not begin");
    process
}

#[test]
fn a_run_on_several_devices_is_the_bytes_of_one_process_also_when_it_was_stopped() {
    let bench = Bench::new(ASKS);
    // A shell's completion puts a slash there.
    let process = on_three_devices(&bench, "many/");
    // SAFETY: nobody has waited for the process yet.
    unsafe { libc::kill(process.id() as i32, libc::SIGINT) };
    let output = process.wait_with_output().expect("an end");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    let again = "--devices cpu,cpu,cpu --resume many --images=60 --questions=1500";
    assert!(told.contains(&format!("go on with: viva run script.rhai {again}")), "{told}");
    let refused = bench.refused("run script.rhai --devices cpu,cpu --resume many");
    assert!(refused.contains("begun in 3 shards") && refused.contains("name 3 devices"), "{refused}");
    bench.run(&format!("run script.rhai {again}"));
    let threads = std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 3).max(1));
    bench.run(&format!("run script.rhai --threads {threads} --out one --images 60 --questions 1500"));
    assert_eq!(written(&bench.at("many")), written(&bench.at("one")));
    let finished = bench.viva(&format!("run script.rhai {}", again.replace("--resume many", "--resume many/")));
    assert!(String::from_utf8_lossy(&finished.stderr).contains("this run is finished") && finished.status.success());
    bench.run("run script.rhai --out alone");
    for (words, told) in [
        ("--devices cpu,0", "a CPU and a GPU round otherwise"),
        ("--devices 0,0", "GPU 0 is there twice"),
        ("--devices cpu,gpu", "\"gpu\" is no device"),
        ("--devices cpu,cpu --shard 1/2", "don't go together"),
        ("--devices cpu,cpu --out many", "there is something already"),
        ("--devices cpu,cpu --out .", "needs a name of its own"),
        ("--devices cpu,cpu --question 3", "no argument --question"),
        ("--devices cpu,cpu --memory 600MB", "2 processes would have 300 MB each"),
    ] {
        let refused = bench.refused(&format!("run script.rhai {words}"));
        assert!(refused.contains(told), "{words}: {refused}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_shard_that_is_killed_is_told_of_and_the_others_are_kept() {
    let bench = Bench::new(ASKS);
    let process = on_three_devices(&bench, "many");
    let journal = bench.at("many-shards/2-of-3");
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let shard = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).find(|id| {
        let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        let here = std::fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|folder| journal.starts_with(folder));
        here && words.contains("--shard=2/3")
    });
    // SAFETY: a process of this test's own.
    unsafe { libc::kill(shard.expect("the second shard"), libc::SIGKILL) };
    let output = process.wait_with_output().expect("an end");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("shard 2/3 was ended by signal 9, as the system does where memory ends"), "{told}");
    assert!(told.contains("go on with: viva run script.rhai --devices cpu,cpu,cpu --resume many"), "{told}");
    assert!(!bench.at("many").exists());
}

/// Closures that draw have other numbers in a shard than in one process, which what is put together says.
/// Rates that a module counts are of the images that the shard examined.
#[test]
fn rates_of_a_shard_are_of_its_images() {
    let bench = Bench::new(
        r#"import "std/corruptions" as corruptions;
let ds = data::scenes(#{ n: 40, position: "still", seed: 1 });
let f = model::train(ds, #{ arch: [net::flatten(), net::linear(8)], epochs: 3, seed: 1 });
let m = corruptions::measure(f, ds, #{ kinds: ["contrast"], severities: [1, 2], batch: 10 });
#{ images: m.images, clean: m.clean, errors: m.errors.contrast }"#,
    );
    let of = |out: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(bench.at(out).join("results.json")).expect("results");
        serde_json::from_str(&text).expect("results as JSON")
    };
    bench.run("run script.rhai --out whole --threads 1");
    bench.run("run script.rhai --out first --threads 1 --shard 1/2");
    bench.run("run script.rhai --out second --threads 1 --shard 2/2");
    let [whole, first, second] = ["whole", "first", "second"].map(of);
    let number = |of: &serde_json::Value, name: &str| of[name].as_f64().unwrap_or_else(|| panic!("{name} of {of}"));
    assert_eq!((number(&first, "images") + number(&second, "images"), number(&whole, "images")), (40.0, 40.0));
    let rates = |of: &serde_json::Value| [&of["clean"], &of["errors"][1]].map(|rate| rate.as_f64().expect("a rate"));
    let images = [&first, &second].map(|part| number(part, "images"));
    for ((a, b), all) in rates(&first).into_iter().zip(rates(&second)).zip(rates(&whole)) {
        let wrong = a * images[0] + b * images[1];
        assert!((wrong - 40.0 * all).abs() < 1e-9 && all > 0.0, "{a} and {b}, of all {all}");
    }
}

#[test]
fn draws_of_closures_are_told_where_a_run_is_divided() {
    let bench = Bench::new(
        r#"
        let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        let shaken = space::factors([#{ name: "by", min: 0, max: 1 }], |z, s| (z + s.by * tensor::normal(z.shape)).clamp(0, 1));
        #{ t: examine(f, ds, #{ space: shaken, search: search::random(#{ questions: 3 }), batch: 2, seed: 1 }) }
        "#,
    );
    bench.run("run script.rhai --threads 1 --out one");
    for shard in [1, 2] {
        bench.run(&format!("run script.rhai --threads 1 --shard {shard}/2 --out s{shard}"));
    }
    bench.run("merge s1 s2 --out merged");
    for (folder, wanted) in [("one", "asked again"), ("merged", "in shards other ones than in one process")] {
        let told = std::fs::read_to_string(bench.at(&format!("{folder}/results.json"))).expect("results");
        assert!(
            told.contains("closures drew random numbers while it was examined") && told.contains(wanted),
            "{folder}: {told}"
        );
    }
}

/// Of what a closure answers from, no identity of the model tells.
#[test]
fn shards_with_other_weights_behind_a_closure_are_refused() {
    let bench = Bench::new(
        r#"
        let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
        let w = model::load("w.safetensors");
        let began = timestamp();
        let asked = 0;
        let f = model::from(|x| { asked += 1; w.logits(x) }, #{ classes: 10 });
        let t = examine(f, ds, #{ batch: 2, space: space::rotate(30), search: search::random(#{ questions: 3 }), seed: 1 });
        #{ asked: asked, t: t }
        "#,
    );
    let made = r#"model::train(data::glyphs(#{ n: 20, size: 16, seed: 1 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: arg("s", 1) }).save("w.safetensors")"#;
    std::fs::write(bench.at("made.rhai"), made).expect("a script");
    for seed in [1, 2] {
        bench.run(&format!("run made.rhai --s {seed} --out made{seed}"));
    }
    let place = |seed: i32| std::fs::copy(bench.at(&format!("made{seed}/w.safetensors")), bench.at("w.safetensors"));
    for (seed, shard, out) in [(1, 1, "one"), (1, 2, "two"), (2, 2, "other")] {
        place(seed).expect("weights");
        bench.run(&format!("run script.rhai --threads 1 --shard {shard}/2 --out {out}"));
    }
    place(1).expect("weights");
    let told = bench.refused("merge one other --out merged");
    assert!(told.contains("are not of one run: other model w at "), "{told}");
    bench.run("merge one two --out merged --allow-read=.");
    // The merged run asked nothing itself.
    let report = std::fs::read_to_string(bench.at("merged/report.md")).expect("a report");
    assert!(report.contains("asked  0") && report.contains("change variables of the script"), "{report}");
    assert!(report.contains("timestamp() knows of this process alone"), "{report}");
    let alone = std::fs::read_to_string(bench.at("one/report.md")).expect("a report");
    assert!(!alone.contains("timestamp()") && !alone.contains("change variables"), "{alone}");
}

#[test]
fn what_is_not_one_run_is_refused_by_name() {
    let bench = Bench::new(
        r#"
        let ds = data::glyphs(#{ n: 12, size: 16, seed: arg("drawn", 1) });
        let f = model::from(|x| tensor::zeros([x.shape[0], 10]));
        if arg("fails", false) { throw "on purpose" }
        risk::estimate(f, ds, #{ radius: 1, batch: 8 }).m
        "#,
    );
    for (shard, more, out) in [
        (1, "", "a1"),
        (2, "", "a2"),
        (2, "--drawn 2", "other"),
        (2, "--seed 3", "seeded"),
        (2, "--threads 2", "threads"),
    ] {
        let threads = if more.contains("threads") { "" } else { "--threads 1" };
        bench.run(&format!("run script.rhai {threads} --shard {shard}/2 {more} --out {out}"));
    }
    bench.run("run script.rhai --threads 1 --out whole");
    bench.run("run script.rhai --threads 1 --shard 1/3 --out third");
    for (folders, wanted) in [
        ("a1", "of 2 shards 2 are missing"),
        ("a1 a2 a2", "shard 2/2 is there twice"),
        ("a1 other", "other --drawn (left out and 2)"),
        ("a1 seeded", "other --seed (0 and 3)"),
        ("a1 threads", "threads: 1 and 2"),
        ("a1 whole", "a run that is not a shard"),
        ("a1 third", "third is one of 3 shards"),
        ("a1 nowhere", "nowhere"),
        ("", "needs the run folders of all shards"),
    ] {
        let told = bench.refused(&format!("merge {folders} --out merged"));
        assert!(told.contains(wanted), "{folders}: {told}");
        assert!(!bench.at("merged").exists(), "{folders}: something was begun");
    }
    // Other threads round otherwise, and are put together where that is asked for.
    bench.run("merge a1 threads --mixed --out mixed");
    let report = std::fs::read_to_string(bench.at("mixed/report.md")).expect("a report");
    assert!(report.contains("warning: shards ran on machines that round otherwise (threads: 1 and 2)"), "{report}");
    // A journal that ends too early.
    let journal = bench.at("a2/progress/journal");
    let bytes = std::fs::read(&journal).expect("a journal");
    std::fs::write(&journal, &bytes[..bytes.len() * 2 / 3]).expect("a cut journal");
    let told = bench.refused("merge a1 a2 --out merged");
    assert!(told.contains("is not whole"), "{told}");
    std::fs::write(&journal, &bytes[..16]).expect("an empty journal");
    let told = bench.refused("merge a1 a2 --out merged");
    assert!(told.contains("has other outcomes than this run asks for"), "{told}");
    for (words, wanted) in [
        ("--shard 0/4", "a shard is written I/N"),
        ("--shard 5/4", "a shard is written I/N"),
        ("--shard half", "a shard is written I/N"),
    ] {
        let told = bench.refused(&format!("run script.rhai {words}"));
        assert!(told.contains(wanted), "{told}");
    }
}

#[test]
fn a_shard_whose_script_failed_goes_on_as_it_was_begun() {
    let bench = Bench::new(
        r#"
        let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
        let f = model::from(|x| tensor::zeros([x.shape[0], 10]));
        let first = risk::estimate(f, ds, #{ radius: 1, batch: 8 });
        if arg("fails", false) { throw "on purpose" }
        first.m
        "#,
    );
    bench.run("run script.rhai --threads 1 --shard 1/2 --out a1");
    let failed = bench.refused("run script.rhai --threads 1 --shard 2/2 --fails true --out a2");
    assert!(failed.contains("--resume"), "{failed}");
    let told = bench.refused("merge a1 a2 --out merged");
    assert!(told.contains("other --fails (left out and true)"), "{told}");
    let told = bench.refused("run script.rhai --threads 1 --shard 1/2 --resume a2");
    assert!(told.contains("begun with --shard 2/2"), "{told}");
}

/// Merging comes after all scoring, so that a registration made then would be none.
#[test]
fn what_is_put_together_or_verified_was_registered_when_its_first_part_was() {
    let script = r#"
let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
risk::register(f, ds, "plans/test.json", #{ radius: 1, sides: arg("sides", 2) });
risk::estimate(f, ds, #{ radius: 1, batch: 64, sides: arg("sides", 2), registered: "plans/test.json" })
"#;
    let bench = Bench::new(script);
    let text = |run: &str| std::fs::read_to_string(bench.at(run).join("plans/test.json")).expect("a registration");
    bench.run("run script.rhai --shard 2/2 --out two");
    // Registrations tell whole seconds.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    bench.run("run script.rhai --shard 1/2 --out one");
    assert_ne!(text("one"), text("two"));
    bench.run("merge one two --out whole");
    assert_eq!(text("whole"), text("two"), "the earlier one");
    for (run, said) in
        [("whole", ["put together from", "2 shards"]), ("one", ["--shard 1/2", "a part of the registered test"])]
    {
        bench.run(&format!("report {run}"));
        let page = std::fs::read_to_string(bench.at(run).join("report.html")).expect("a page");
        assert!(said.iter().all(|words| page.contains(words)), "{run}");
        assert!(!page.contains("id=\"progress\""), "{run} is finished");
    }
    bench.run("run whole --verify --out again");
    assert_eq!(text("again"), text("whole"));
    bench.run("run script.rhai --sides 1 --out other");
    std::fs::copy(bench.at("other/plans/test.json"), bench.at("one/plans/test.json")).expect("copied");
    let told = bench.refused("merge one two --out forged");
    assert!(told.contains("another registration is there"), "{told}");
}

#[test]
fn what_is_submitted_says_what_is_run() {
    let bench = Bench::new("print(arg(\"words\", \"none\"));");
    for (engine, file) in [("slurm", "slurm.sh"), ("kubernetes", "kubernetes.yaml"), ("parallel", "parallel.sh")] {
        bench.run(&format!("submit --{engine} script.rhai --shards 16 --words it's --seed 4 --out sent"));
        let text = std::fs::read_to_string(bench.at("sent").join(file)).expect("what is submitted");
        assert!(!text.contains("{{") && text.contains(r"run script.rhai '--words=it'\''s' --seed=4"), "{text}");
        assert!(text.contains("16") && text.contains("merge"), "{text}");
        if file.ends_with(".sh") {
            let checked = Command::new("bash").arg("-n").arg(bench.at("sent").join(file)).status().expect("bash");
            assert!(checked.success(), "{text}");
        }
        let told = bench.refused(&format!("submit --{engine} script.rhai --shards 16 --out sent"));
        assert!(told.contains("is there already"), "{told}");
    }
    // What Slurm and Kubernetes would fill in stands as it is meant.
    bench.run("submit --slurm script.rhai --shards 2 --words $(HOME) --out a%a");
    let text = std::fs::read_to_string(bench.at("a%a/slurm.sh")).expect("what is submitted");
    assert!(text.contains("a%%a'/log-%a.txt\n") && text.contains("'--words=$(HOME)'"), "{text}");
    bench.run("submit --kubernetes script.rhai --shards 2 --words $(HOME) --out dollars");
    let text = std::fs::read_to_string(bench.at("dollars/kubernetes.yaml")).expect("what is submitted");
    assert!(text.contains("'--words=$$(HOME)'") && text.contains("  name: \"script\"\n"), "{text}");
    bench.run("submit --parallel script.rhai --shards 2 --fast --memory 900MB --allow-net --out words");
    let text = std::fs::read_to_string(bench.at("words/parallel.sh")).expect("what is submitted");
    // What puts shards together reads what lies beside the script.
    let merge = text.lines().find(|line| line.contains("merging --allow-net --allow-read=")).expect("a merge");
    assert!(text.contains("--allow-net --fast --memory=900MB") && merge.ends_with(" --fast"), "{text}");
    for (words, wanted) in [
        ("submit --slurm=x script.rhai --shards 4", "--slurm takes no value"),
        ("submit --slurm script.rhai --shards 4 --json", "--json has no place here"),
        ("submit script.rhai --shards 4", "by which engine?"),
        ("submit --slurm --kubernetes script.rhai --shards 4", "--slurm and --kubernetes"),
        ("submit --slurm script.rhai --shards -1", "a whole number from 1 up"),
        ("submit --slurm script.rhai", "--shards says into how many parts"),
        ("submit --slurm script.rhai --shards none", "--shards wants a whole number"),
        ("submit --slurm script.rhai --shards 4 --wrods x", "no argument --wrods"),
        ("submit --slurm script.rhai --shards 4 --resume a", "--resume has no place here"),
        ("submit --slurm nowhere.rhai --shards 4", "nowhere.rhai"),
    ] {
        let told = bench.refused(words);
        assert!(told.contains(wanted), "{words}: {told}");
    }
    assert!(!bench.at("runs").exists());
}

/// What is written for GNU parallel, run twice; in its place stands what does the same one after the other.
#[test]
#[cfg(unix)]
fn what_is_submitted_can_be_run_again() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new(
        "let ds = data::glyphs(#{ n: 4, size: 16, seed: 1 });\n\
         let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
         #{ t: examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 }) }",
    );
    bench.run("submit --parallel script.rhai --shards 2 --threads 1 --out sent");
    let tool = bench.at("parallel");
    let each = "#!/bin/bash\nwhile [ \"$1\" != --joblog ]; do shift; done\nshift 2\nwords=()\n\
                while [ \"$1\" != ::: ]; do words+=(\"$1\"); shift; done\nshift\n\
                for i in \"$@\"; do \"${words[@]//\\{\\}/$i}\" || exit 1; done\n";
    std::fs::write(&tool, each).expect("written");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).expect("allowed");
    let path = format!("{}:{}", bench.folder.path().display(), std::env::var("PATH").unwrap_or_default());
    let send = || Command::new("bash").arg(bench.at("sent/parallel.sh")).env("PATH", &path).output().expect("bash");
    // A merge that was stopped in the middle.
    std::fs::create_dir_all(bench.at("sent/merging")).expect("a folder");
    std::fs::write(bench.at("sent/merging/half"), "").expect("a file");
    let sent = send();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let first = written(&bench.at("sent/merged"));
    assert!(first.iter().any(|(name, _)| name == "results.json") && !bench.at("sent/merging").exists());
    let again = send();
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stdout).contains("is there already"));
    assert_eq!(written(&bench.at("sent/merged")), first);
}

/// What was stopped as it put shards together is begun again, and is nothing that a run could go on with.
#[test]
fn a_merge_that_was_stopped_is_begun_again() {
    let bench = Bench::new(
        "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });\n\
         let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
         let t = examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), batch: 15, seed: 1 });\n\
         if arg(\"wait\", false) && t.len() == 60 { print(\"together\"); sleep(60); }\n#{ t: t }",
    );
    for shard in [1, 2] {
        bench.run(&format!("run script.rhai --wait --threads 1 --shard {shard}/2 --out s{shard}"));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
    command.args(["merge", "s1", "s2", "--out", "m"]).current_dir(bench.folder.path()).env("OMP_NUM_THREADS", "1");
    let mut process = command.stderr(std::process::Stdio::null()).spawn().expect("viva starts");
    let printed = |run: &str| std::fs::read_to_string(bench.at(run).join("printed.txt")).unwrap_or_default();
    let waited = (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        printed("m").contains("together")
    });
    assert!(waited, "it did not begin");
    process.kill().expect("killed");
    let _ = process.wait();
    let refused = bench.refused("run script.rhai --resume m");
    assert!(refused.contains("puts the shards of a run together") && refused.contains("viva merge"), "{refused}");
    let begun = std::fs::read_to_string(bench.at("m/manifest.json")).expect("a manifest");
    assert!(begun.contains("\"merges\"") && begun.contains("\"running\""), "{begun}");
    let mut again = Command::new(env!("CARGO_BIN_EXE_viva"));
    again.args(["merge", "s1", "s2", "--out", "m"]).current_dir(bench.folder.path()).env("OMP_NUM_THREADS", "1");
    let mut again = again.stderr(std::process::Stdio::piped()).spawn().expect("viva starts");
    std::thread::sleep(std::time::Duration::from_millis(100));
    let waited = (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        printed("m").contains("together") || again.try_wait().is_ok_and(|ended| ended.is_some())
    });
    assert!(waited && again.try_wait().is_ok_and(|ended| ended.is_none()), "it was begun again");
    again.kill().expect("killed");
    let _ = again.wait();
}

/// Slurm itself, of Debian's packages: run by name, as root.
#[test]
#[ignore = "needs slurmctld, slurmd and munge"]
fn many_shards_by_slurm_itself() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm.sh");
    let output = Command::new("bash").arg(script).env("VIVA", env!("CARGO_BIN_EXE_viva")).output().expect("bash");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
