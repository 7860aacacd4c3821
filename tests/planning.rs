//! Before a test for overfitting: how many images it needs, what it is fixed to, and whether its changes keep label and density.

use crate::truths;
use std::path::Path;
use std::rc::Rc;

use rand::distributions::{Distribution, WeightedIndex};
use viva::core::{Cautions, Cx, Object, Value, random};
use viva::estimate::independence::{bets, interval_test, pairwise_test};
use viva::estimate::plan::{Pilot, PlanSettings, RiskPlan, plan};
use viva::estimate::protocol::Which;
use viva::estimate::registration::Registration;
use viva::maths::betting::Sides;
use viva::maths::power::ImageKind;
use viva::script::Session;

/// What a script gives in a folder, or the error that its user reads.
fn run_in(folder: &Path, script: &str) -> Result<Value, String> {
    let mut cx = Cx::default();
    cx.set_folder(folder.to_path_buf());
    cx.set_data_folder(viva::core::data_folder());
    Session::new(Rc::new(cx)).run(&folder.join("script.rhai"), script).map_err(|error| error.render(false))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Runs a script that answers a map of truths.
#[track_caller]
fn truths(folder: &Path, script: &str) {
    truths::hold(&run_in(folder, script).unwrap_or_else(|error| panic!("{error}")));
}

/// The script is refused, in these words.
#[track_caller]
fn refused(folder: &Path, script: &str, words: &[&str]) {
    let error = run_in(folder, script).map(|value| value.summary()).expect_err(script);
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(error.contains(word), "{word:?} is not in: {error}");
    }
}

/// Kinds of images and the range of their T_i.
struct Kinds(Vec<ImageKind>, (f64, f64));

impl Kinds {
    fn of(kinds: Vec<(f64, f64, f64)>, range: (f64, f64)) -> Self {
        Self(kinds.into_iter().map(|(loss, weighted, share)| ImageKind { loss, weighted, share }).collect(), range)
    }

    /// `translations` of std/simulation.
    fn translations(error: f64, reached: f64, ratio: f64, fooled: f64) -> Self {
        let total: f64 = (0..120).map(|k| ratio.powi(k)).sum();
        let mut kinds = vec![(0.0, 0.0, 1.0 - error - fooled), (1.0, 1.0, error * (1.0 - reached))];
        for k in 0..120 {
            let (h, p) = (1.0 / (2.0 + f64::from(k)), ratio.powi(k) / total);
            kinds.extend([(1.0, h, error * reached * p), (0.0, h, fooled * p)]);
        }
        Self::of(kinds, (-120.0 / 121.0, 0.5))
    }

    /// `densities` of std/simulation.
    fn densities(up: f64, down: f64) -> Self {
        let mut kinds = vec![(0.0, 0.0, 1.0 - up - down)];
        for i in 0..10 {
            let size = 0.05 + 0.1 * f64::from(i);
            kinds.extend([(0.0, size, up / 10.0), (1.0, 1.0 - size, down / 10.0)]);
        }
        Self::of(kinds, (-1.0, 1.0))
    }

    fn gap(&self) -> f64 {
        self.0.iter().map(|kind| (kind.weighted - kind.loss) * kind.share).sum()
    }

    /// So many images drawn from them.
    fn drawn(&self, n: usize) -> (Vec<f64>, Vec<f64>) {
        let index = WeightedIndex::new(self.0.iter().map(|kind| kind.share)).expect("shares");
        let mut rng = random(3, 1);
        (0..n).map(|_| self.0[index.sample(&mut rng)]).map(|kind| (kind.loss, kind.weighted)).unzip()
    }

    fn plan(&self, gap: f64, powers: &[f64], repeats: u64) -> RiskPlan {
        planned(Pilot::known(self.0.clone(), self.1, "toys".into()), gap, powers, repeats)
    }
}

fn planned(pilot: Pilot, gap: f64, powers: &[f64], repeats: u64) -> RiskPlan {
    let settings = PlanSettings {
        gap,
        powers: powers.to_vec(),
        test: Which::Betting,
        delta: 0.05,
        sides: Sides::Two,
        repeats,
        seed: 1,
    };
    plan(&Cx::default(), pilot, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Every row of a plan's table: test, power and these columns.
fn table(plan: &RiskPlan) -> Vec<(String, f64, [f64; 3])> {
    let Ok(Some(Value::Array(rows))) = plan.field("table") else { panic!("no table") };
    let row = |row: &Value| {
        let Value::Map(row) = row else { panic!("no row") };
        let number = |name: &str| match row[name] {
            Value::Int(i) => i as f64,
            Value::Float(x) => x,
            _ => f64::NAN,
        };
        (row["test"].summary(), number("power"), ["images", "lo", "hi"].map(number))
    };
    rows.iter().map(row).collect()
}

/// scripts/overfitting/power.rhai --repeats 600 has these numbers of images at 80% power for the betting test and Eq. 7; it draws from
/// the laws by other code, and reads the power off straight lines between sizes.
#[test]
fn the_numbers_of_the_power_script() {
    let cases = [
        (Kinds::translations(0.01, 0.4, 0.21164, 0.015546), 1950.0, 8044.0),
        (Kinds::translations(0.05, 0.4, 0.59472, 0.064879), 1710.0, 5732.0),
        (Kinds::densities(0.364, 0.164), 160.0, 638.0),
        (Kinds::densities(0.199, 0.139), 1043.0, 3134.0),
    ];
    for (kinds, betting, pairwise) in cases {
        let found = table(&kinds.plan(kinds.gap(), &[0.8], 200));
        for (test, known) in [("betting", betting), ("pairwise", pairwise)] {
            let (_, _, [needed, ..]) = found.iter().find(|row| row.0 == test).expect("a row for every test");
            println!("{test}: {needed} images, the script's {known}");
            assert!((needed / known - 1.0).abs() < 0.1, "{test}: {needed} images, the script's {known}");
        }
    }
}

/// So many images do reject as often as asked, by tests that are called one by one on samples of this test's own.
#[test]
fn planned_numbers_of_images_have_the_power() {
    let kinds = Kinds::translations(0.1, 0.4, 0.6, 0.15);
    let (gap, range) = (0.06, kinds.1);
    let of = |value: fn(&ImageKind) -> f64| kinds.0.iter().map(value).collect::<Vec<f64>>();
    let (losses, weighted, shares) = (of(|kind| kind.loss), of(|kind| kind.weighted), of(|kind| kind.share));
    let t = of(|kind| kind.weighted - kind.loss);
    // The tilt by Newton's method.
    let weights = |tilt: f64| t.iter().zip(&shares).map(|(t, p)| p * f64::exp(tilt * t)).collect::<Vec<f64>>();
    let mut tilt = 0.0;
    for _ in 0..100 {
        let weights = weights(tilt);
        let total: f64 = weights.iter().sum();
        let moment = |k: i32| t.iter().zip(&weights).map(|(t, w)| t.powi(k) * w).sum::<f64>() / total;
        tilt -= 0.5 * (moment(1) - gap) / (moment(2) - moment(1).powi(2));
    }
    let index = WeightedIndex::new(weights(tilt)).expect("weights");
    let betting = bets(range, 0.05, Sides::Two).expect("bets");
    for (test, power, [needed, lo, hi]) in table(&kinds.plan(gap, &[0.5, 0.9], 300)) {
        assert!(lo <= needed && needed <= hi && hi < 1.3 * lo, "{test}: {lo} {needed} {hi}");
        let m = needed as usize;
        let repeats = 300;
        let rejected = (0..repeats)
            .filter(|&repeat| {
                let mut rng = random(77, repeat);
                let drawn: Vec<usize> = (0..m).map(|_| index.sample(&mut rng)).collect();
                let of = |values: &[f64]| drawn.iter().map(|&i| values[i]).collect::<Vec<f64>>();
                match test.as_str() {
                    "betting" => betting.rejects(&of(&t)),
                    "pairwise" => pairwise_test(&of(&t), range.1 - range.0, 0.05).expect("a test").reject,
                    _ => interval_test(&of(&losses), &of(&weighted), 0.05).expect("a test").reject,
                }
            })
            .count() as f64
            / repeats as f64;
        println!("{test}: {m} images, rejected {rejected} for {power}");
        // Three standard errors of both simulations.
        assert!((rejected - power).abs() < 0.1, "{test}: {m} images reject {rejected}, not {power}");
    }
}

/// What a small pilot leaves open is in the interval: it holds what a large one says, and is wider.
#[test]
fn a_small_pilot_says_less() {
    let kinds = Kinds::translations(0.1, 0.4, 0.6, 0.15);
    let pilot = |n: usize| {
        let (losses, weighted) = kinds.drawn(n);
        planned(Pilot::seen(&losses, &weighted, kinds.1, "toys".into(), Cautions::default()), 0.05, &[0.8], 60)
    };
    let (few, many) = (pilot(150), pilot(5000));
    for (a, b) in table(&few).iter().zip(table(&many)) {
        let (few, many) = (a.2, b.2);
        println!("{}: {few:?} {many:?}", a.0);
        assert!(few[2].is_nan() || (few[2] / few[1]).ln() > 2.0 * (many[2] / many[1]).ln(), "{few:?} {many:?}");
        assert!(few[1] < many[0] && (few[2].is_nan() || many[0] < few[2]), "{}: {few:?} {many:?}", a.0);
    }
    let said = |plan: &RiskPlan| plan.summary();
    assert!(said(&few).contains("150 images") && !said(&many).contains("hardly known"), "{}", said(&few));
}

#[test]
fn plans_of_scripts() {
    let here = folder();
    truths(
        here.path(),
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 3, seed: 1 });
        let report = risk::estimate(f, ds, #{ radius: 1, sides: 1, delta: 0.1 });
        let plan = risk::plan(report, #{ gap: 0.02, repeats: 60, seed: 1 });
        let assumed = risk::plan(#{ error: 0.1, adversarial_error: 0.3, candidates: 8, weighted_error: 0.2 }, #{ repeats: 60, seed: 1 });
        let alone = risk::plan(report.t, #{ gap: 0.02, repeats: 60, seed: 1, lo: report.lo, hi: report.hi });
        let films = risk::estimate(f, ds.clustered(|row| row.index % 30), #{ radius: 1, sides: 1, delta: 0.1 });
        let of_films = risk::plan(films, #{ gap: 0.02, repeats: 60, seed: 1 });
        let huge = risk::plan(#{ error: 0.1, adversarial_error: 0.3 }, #{ gap: 0.00001, repeats: 60, seed: 1 });
        let say = |words| |plan| plan.verdict.contains(words);
        save(plan, "plan.csv");
        save(plan, "plan.json");
        plot::power(plan).save("plan.svg");
        plot::power(of_films).save("films.json");
        let cant = "";
        try { plot::power(huge) } catch (e) { cant = e.message }
        #{
            nine: plan.table.len() == 9,
            as_the_report: plan.sides == 1 && plan.delta == 0.1 && plan.pilot_size == 60,
            pilot_is_few: plan.cautions.some(|c| c.contains("of the pilot's 60 images have T_i above 0")),
            spoken: plan.verdict.contains("the pilot's 60 images would see") && plan.verdict.contains("a gap of 0.02 needs"),
            gap_of_risks: (assumed.gap - 0.1).abs() < 1e-12 && assumed.pilot_size == (),
            no_pilot_no_doubt: assumed.table.all(|row| row.lo == row.simulated_lo && row.hi == row.simulated_hi),
            six: alone.table.len() == 6 && alone.verdict.contains("interval test is left out"),
            same_law: alone.sides == 2 && alone.delta == 0.05,
            clusters: of_films.unit == "clusters" && plan.unit == "images" && of_films.pilot_size == 30 && "clusters" in of_films.table[0] && !("images" in of_films.table[0])
                && "clusters" in of_films.curve[0] && of_films.verdict.contains("the pilot's 30 clusters") && !of_films.verdict.contains(" images ("),
            not_simulated: huge.table.all(|row| row.simulated_lo == () && row.images == row.approximation) && huge.verdict.contains("not simulated"),
            nothing_to_draw: cant.contains("nothing of this plan was simulated"),
            again: risk::plan(report, #{ gap: 0.02, repeats: 60, seed: 1 }).table.to_string() == plan.table.to_string(),
        }"#,
    );
    let csv = std::fs::read_to_string(here.path().join("plan.csv")).expect("a table");
    assert!(std::fs::read_to_string(here.path().join("films.json")).expect("a figure").contains("number of clusters"));
    assert!(csv.starts_with("approximation,hi,images,lo,power,simulated_hi,simulated_lo,test,cautions"), "{csv}");
}

#[test]
fn plans_that_nobody_can_make_are_refused() {
    let here = folder();
    let refused = |script: &str, words: &[&str]| refused(here.path(), script, words);
    refused(
        "risk::plan([0, -0.5, 0], #{ gap: 0.01 })",
        &["none of the pilot's 3 images has a T_i above 0", "larger radius"],
    );
    refused("risk::plan([0, 0.2, 0], #{ gap: 0.3 })", &["0.2 at most", "can't be 0.3"]);
    refused("risk::plan([0, 0.2, 0])", &["`gap` is needed"]);
    refused("risk::plan([0, 0.9, 0], #{ gap: 0.1 })", &["from -1.0 to 0.5, value 1 is 0.9"]);
    refused("risk::plan([], #{ gap: 0.1 })", &["at least one value"]);
    refused("risk::plan([0, 0.2], #{ gap: 0.1, power: [] })", &["`power` has no number"]);
    refused("risk::plan([0, 0.2], #{ gap: 0.1, power: [80] })", &["from 0.1 to 0.99"]);
    refused("risk::plan(#{ eror: 0.1 }, #{ gap: 0.1 })", &["no `eror`", "error"]);
    refused("risk::plan(#{ error: 0.1 }, #{ gap: 0.1 })", &["need `adversarial_error`"]);
    refused("risk::plan(#{ error: 0.1, adversarial_error: 0.1 }, #{ gap: 0.1 })", &["must lie above `error`"]);
    refused(
        "risk::plan(#{ error: 0.1, adversarial_error: 0.3, weight: 0.6 }, #{ gap: 0.1 })",
        &["`weight` must lie from", "0.333"],
    );
    refused(
        "risk::plan(#{ error: 0.01, adversarial_error: 0.3, candidates: 8 }, #{ gap: 0.1 })",
        &["more than errors of 0.01 allow"],
    );
    refused("risk::plan(#{ error: 0.1, adversarial_error: 1.3 }, #{ gap: 0.1 })", &["from 0 to 1"]);
    refused("risk::plan(#{ error: 0.1, adversarial_error: 0.3, candidates: 0 }, #{ gap: 0.1 })", &["`candidates`"]);
    refused("risk::plan(#{ error: 0.1, adversarial_error: 0.3, weighted_error: 0.2 }, #{ gap: 0.1 })", &["not both"]);
    refused("risk::plan(#{ error: 0.2, adversarial_error: 0.3, weighted_error: 0.1 })", &["must lie above `error`"]);
    refused("risk::plan(#{ error: 0.1, adversarial_error: 0.3 }, #{ gap: 0.1, lo: -1 })", &["belongs to T_i alone"]);
}

const TOYS: &str = r#"
    let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 3, seed: 1 });
"#;

#[test]
fn a_registered_test_says_so_and_another_is_refused() {
    let here = folder();
    let script = TOYS.to_string()
        + r#"
        let written = risk::register(f, ds, "one.json", #{ radius: 1, sides: 1 });
        let again = risk::register(f, ds, "one.json", #{ radius: 1, sides: 1 });
        let plain = risk::estimate(f, ds, #{ radius: 1, sides: 1 });
        let report = risk::estimate(f, ds, #{ radius: 1, sides: 1, registered: "one.json" });
        let later = risk::report(plain.transcript, #{ sides: 1, registered: "one.json" });
        save(report, "report.json");
        save(plain, "plain.json");
        #{
            quoted: report.registered.sha256 == written.sha256 && report.registered.registered == written.registered,
            one: report.registered.tests == 1 && report.registered.adjusted_p == (),
            stands: again.sha256 == written.sha256,
            summary: report.to_string().contains("registered 2") && !plain.to_string().contains("registered"),
            methods: report.methods.contains(written.sha256) && report.methods.contains("one-sided betting test"),
            not_registered: plain.registered == () && plain.methods.contains("was not registered"),
            bibtex: report.bibtex.contains("werpachowski2019detecting") && report.bibtex.contains("version = {"),
            same_numbers: report.t == plain.t && report.p == plain.p && later.p == plain.p,
            of_transcripts: later.registered.sha256 == written.sha256,
            first: written.scored_before == (),
        }"#;
    truths(here.path(), &script);
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(here.path().join(name)).expect("a file")).expect("JSON")
    };
    let (report, plain, file) = (read("report.json"), read("plain.json"), read("one.json"));
    assert_eq!(report["registered"]["sha256"], file["sha256"]);
    assert!(report["methods"].is_string() && plain.get("methods").is_none() && plain.get("registered").is_none());
    assert_eq!((&file["sides"], &file["images"], &file["test"]), (&1.into(), &60.into(), &"betting".into()));

    let refused = |call: &str, words: &[&str]| refused(here.path(), &format!("{TOYS}{call}"), words);
    let other = "this is not the registered test: ";
    refused(
        "risk::estimate(f, ds, #{ radius: 1, registered: \"one.json\" })",
        &[other, "registered is sides 1, this test has sides 2"],
    );
    refused(
        "risk::estimate(f, ds, #{ radius: 2, sides: 1, delta: 0.01, test: \"pairwise\", registered: \"one.json\" })",
        &[
            other,
            "the pairwise test",
            "delta 0.05, this test has delta 0.01",
            "strongest() over translate(1), this test has strongest() over translate(2)",
        ],
    );
    refused(
        "risk::estimate(f, ds.take(20), #{ radius: 1, sides: 1, registered: \"one.json\" })",
        &[other, "60 images", "20 images"],
    );
    refused(
        "let g = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 2 });
         risk::estimate(g, ds, #{ radius: 1, sides: 1, registered: \"one.json\" })",
        &[other, "registered is model trained"],
    );
    refused(
        "seed(3); risk::estimate(f, ds, #{ radius: 1, sides: 1, registered: \"one.json\" })",
        &[other, "seed 0, which orders the bets"],
    );
    refused(
        "let t = examine(f, ds, #{ space: space::translate(1), search: search::strongest() });
         risk::report(t.filter(|row| row.id < 30), #{ sides: 1, registered: \"one.json\" })",
        &[other, "a test on all 60 images, this one is on 30"],
    );
    refused(
        "risk::register(f, ds, \"one.json\", #{ radius: 1 })",
        &["another registration is there", "sides 1, this test has sides 2"],
    );
    refused("risk::estimate(f, ds, #{ radius: 1, registered: \"none.json\" })", &["no such file"]);
    refused(
        "save(#{ a: 1 }, \"other.json\"); risk::estimate(f, ds, #{ radius: 1, registered: \"other.json\" })",
        &["no registration"],
    );
    refused("risk::register(f, ds, \"two.txt\", #{ radius: 1 })", &["must end in .json"]);
    refused("risk::register(f, ds, \"two.json\", #{ radius: 1, search: \"blind\" })", &["draws at random", "seed"]);
    refused("risk::register(f, ds, \"two.json\", #{ radius: 1, search: search::random() })", &["no densities"]);
    refused("risk::register(f, ds, \"two.json\", #{ radius: 8 })", &["side of 16"]);
    refused(
        "risk::register(f, ds, \"two.json\", #{ radius: 1, searches: [\"nearest\", \"nearest\"] })",
        &["asked for twice"],
    );
    refused("risk::register(model::from(|x| x), ds, \"two.json\", #{ radius: 1 })", &["can't be registered"]);
    refused("risk::register(f, ds, \"two.json\", #{ radii: [] })", &["must not be empty"]);
    refused(
        "risk::register(f, ds, \"two.json\", #{ radius: 1, searches: [\"strong\"] })",
        &["\"strongest\"", "got \"strong\""],
    );
    assert!(!here.path().join("two.json").exists(), "nothing is written of what is refused");
}

/// Whatever bit of it changes, a registration is none any more.
#[test]
fn a_changed_registration_is_refused() {
    let here = folder();
    run_in(here.path(), &format!("{TOYS}risk::register(f, ds, \"one.json\", #{{ radius: 1 }})"))
        .expect("a registration");
    let path = here.path().join("one.json");
    let bytes = std::fs::read(&path).expect("a file");
    Registration::read(&path).expect("as it was written");
    let changed = here.path().join("changed.json");
    for bit in (0..bytes.len() * 8).step_by(7) {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&changed, &other).expect("a file");
        assert!(Registration::read(&changed).is_err(), "bit {bit}");
    }
    let text = String::from_utf8(bytes).expect("text").replace("\"sides\": 2", "\"sides\": 1");
    std::fs::write(&changed, &text).expect("a file");
    let error = Registration::read(&changed).map(|_| ()).expect_err("changed");
    assert!(error.message.contains("changed or damaged"), "{}", error.message);
    for cut in [0, 10, text.len() / 2] {
        std::fs::write(&changed, &text[..cut]).expect("a file");
        assert!(Registration::read(&changed).is_err(), "the first {cut} bytes");
    }
}

#[test]
fn several_registered_tests_are_corrected_together() {
    let here = folder();
    let script = TOYS.to_string()
        + r#"
        let written = risk::register(f, ds, "two.json", #{ radius: 1, searches: ["strongest", "nearest"] });
        let a = risk::estimate(f, ds, #{ radius: 1, registered: "two.json" });
        let b = risk::estimate(f, ds, #{ radius: 1, search: "nearest", registered: "two.json" });
        let table = risk::holm(#{ a: a, b: b });
        let both = risk::estimate(f, ds, #{ radius: 1, searches: ["strongest", "nearest"], registered: "two.json" });
        let message = |what| { try { what.call() } catch (e) { return e.message } "" };
        // The model has seen the images by now.
        let late = risk::register(f, ds, "late.json", #{ radius: 1, sides: 1 });
        let part = risk::register(f, ds.take(30), "part.json", #{ radius: 1 });
        let tested = risk::estimate(f, ds, #{ radius: 1, sides: 1, registered: "late.json" });
        let blind = risk::register(f, ds, "blind.json", #{ radius: 1, search: "blind", seed: 4 });
        let drawn = risk::estimate(f, ds, #{ radius: 1, search: "blind", seed: 4, registered: "blind.json" });
        #{
            two: written.tests == 2 && a.registered.tests == 2,
            in_one_call: both.strongest.registered.tests == 2 && both.nearest.p == b.p && risk::holm(both).len() == 2,
            each_says_so: a.verdict.contains("one of 2 tests that were registered together"),
            bound: a.registered.adjusted_p >= a.p && a.registered.adjusted_p <= 1.0,
            all: table.len() == 2,
            no_part: message.call(|| risk::holm([a])).contains("1 of 2 tests") && message.call(|| risk::holm([a])).contains("nearest() over translate(1)"),
            level: message.call(|| risk::holm([a, b], #{ delta: 0.01 })).contains("registered is delta 0.05"),
            holm_is_cited: a.bibtex.contains("holm1979simple") && !tested.bibtex.contains("holm1979simple"),
            known: late.scored_before.contains("about these images before"),
            of_the_source: part.scored_before.contains("images of the same source"),
            cautioned: tested.verdict.contains("before it registered the test") && tested.methods.contains("before it registered the test"),
            seed: drawn.registered.tests == 1,
            other_seed: message.call(|| risk::estimate(f, ds, #{ radius: 1, search: "blind", seed: 5, registered: "blind.json" })).contains("registered is seed 4"),
        }"#;
    truths(here.path(), &script);
}

/// Rolled digits keep label and density, centred ones do not, and too few images can't tell.
#[test]
fn changes_are_told_by_fresh_images() {
    let here = folder();
    let script = r#"
        let drawn = |position, split| data::glyphs(#{ n: 600, size: 16, seed: 1, position: position, margin: if position == "centred" { 3 } else { 0 }, split: split });
        let train = |images| model::train(images, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, seed: 1 });
        let f = train.call(drawn.call("torus", "train"));
        let fresh = drawn.call("torus", "test");
        let kept = risk::calibrate(f, fresh, #{ radius: 1, equivalence_margin: 0.05 });
        let few = risk::calibrate(f, fresh, #{ radius: 1, equivalence_margin: 0.0001 });
        let centred = drawn.call("centred", "train");
        let broken = risk::calibrate(train.call(centred), drawn.call("centred", "test"), #{ radius: 1, equivalence_margin: 0.01 });
        let report = risk::estimate(f, data::glyphs(#{ n: 60, size: 16, seed: 3 }), #{ radius: 1, calibrated: kept });
        let doubtful = risk::report(report.transcript, #{ calibrated: few });
        let plain = risk::report(report.transcript);
        let elsewhere = risk::report(report.transcript, #{ calibrated: broken });
        let other = |options| { try { risk::estimate(f, fresh, options + #{ calibrated: kept }) } catch (e) { return e.message } "" };
        #{
            yes: kept.kept == "yes" && kept.lo < 0 && kept.hi > 0 && kept.needed == (),
            cant: few.kept == "can't tell" && few.needed > 600 && few.verdict.contains("about"),
            same_interval: few.lo == kept.lo && few.hi == kept.hi,
            no: broken.kept == "no" && broken.lo > 0 && broken.verdict.contains("do not keep label and density"),
            classes: kept.by_class.len() == 10 && kept.by_class.all(|row| row.lo <= row.bias && row.bias <= row.hi),
            mean: (kept.by_class.reduce(|sum, row| sum + row.bias * row.images, 0.0) / 600 - kept.bias).abs() < 1e-9,
            same_numbers: report.t == plain.t && report.p == plain.p,
            cited: report.calibrated.bias == kept.bias && report.methods.contains("said to be fresh") && !plain.methods.contains("fresh"),
            not_cautioned: report.cautions.all(|c| !c.contains("not known to be")),
            cautioned: doubtful.verdict.contains("not known to be within") && doubtful.methods.contains("not known to be within"),
            another_model: elsewhere.verdict.contains("calibrated with another model") && elsewhere.verdict.contains("do not keep label and density there"),
            its_own: other.call(#{ radius: 1 }).contains("which can't be fresh"),
            its_cautions: broken.cautions.len() > 0 && elsewhere.methods.contains("of the calibration that this rests on: " + broken.cautions[0]),
            radius: other.call(#{ radius: 2 }).contains("the calibration is of strongest() over translate(1), this test is of strongest() over translate(2)"),
            search: other.call(#{ radius: 1, search: "nearest" }).contains("this test is of nearest() over translate(1)"),
        }"#;
    truths(here.path(), script);
    refused(
        here.path(),
        "risk::calibrate(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 20, size: 16, seed: 1 }), #{ radius: 1, equivalence_margin: 0.1 })",
        &["no image of 20 has a T_i above 0"],
    );
    refused(
        here.path(),
        "risk::calibrate(model::from(|x| x), data::glyphs(#{ n: 20, size: 16, seed: 1 }))",
        &["`equivalence_margin` is needed"],
    );
}
