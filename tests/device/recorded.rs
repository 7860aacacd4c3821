//! Steps that a GPU has recorded and asks for again at once: they come to what the steps as written come to, bit for bit.

use serde_json::{Value as Json, json};

use super::inside::{DRAWER, ask, session};
use super::stand_in::StandIn;
use super::waits::Counter;

const BEFORE: &str = "
    let ds = data::glyphs(#{ n: 60, size: 16, seed: 1, position: \"centred\", margin: 0 });
    let layers = [net::conv(4, 3, #{ pad: 1 }), net::batch_norm(), net::relu(), net::max_pool(4), net::flatten(), net::linear(10)];
    let f = model::train(ds, #{ arch: layers, epochs: 2, batch: 20, seed: 1 });
    let drops = [net::conv(4, 3), net::relu(), net::flatten(), net::dropout(0.2), net::linear(10)];
    let large = data::glyphs(#{ n: 40, size: 28, seed: 1, position: \"centred\", margin: 0 });
    let r = model::train(large, #{ arch: layers, epochs: 2, batch: 20, seed: 1 });
    let g = generator::train(large, #{ arch: drawer, steps: 2, batch: 8, seed: 1 });
    let drawn = g.sample(#{ n: 24, seed: 1 });
    let said = r.predict(drawn).to(\"cpu\").values();
    let seeds = drawn.relabel(|row| said[row.index]);
    let rows = |t| [t.column(\"after\"), t.column(\"loss\"), t.column(\"margin\"), t.column(\"magnitude\"), t.column(\"step\")];
    let images = |g| g.sample(#{ n: 8, seed: 2 }).images().to(\"cpu\").values();
    let pixels = space::pixels(\"linf\");
    let walk = search::bim(#{ steps: 12, step: 0.01 });
    let ways = search::adam(#{ lr: 0.05, steps: 12, first_radius: 0.5, increment: 0.2 });
";

/// By name a script, and how many steps are asked for again at least; none where nothing may be recorded.
const STEPS: [(&str, &str, f64); 14] = [
    (
        "a curve",
        "let c = tolerance::measure(f, ds, #{ space: pixels, search: walk }); [c.accuracy, c.mi, c.margin]",
        8.0,
    ),
    (
        "a curve in two batches",
        "rows.call(examine(f, ds, #{ space: pixels, search: walk, batch: 40, at_steps: [3, 12] }))",
        8.0,
    ),
    (
        "towards the least likely",
        "rows.call(examine(f, ds, #{ space: pixels, search: walk, objective: objective::least_likely() }))",
        8.0,
    ),
    (
        "among the three highest",
        "rows.call(examine(f, ds, #{ space: pixels, search: walk, objective: objective::top(3).loss(\"margin\") }))",
        8.0,
    ),
    (
        "labels",
        "rows.call(examine(f, ds, #{ space: pixels, search: walk, objective: objective::labels([0, 3], #{ negative: [5] }) }))",
        8.0,
    ),
    (
        "a search of activations",
        "rows.call(examine(r, seeds, #{ space: space::latent(g), search: ways, objective: objective::shift(1) }))",
        4.0,
    ),
    (
        "a training",
        "let m = model::train(ds, #{ arch: layers, epochs: 4, batch: 16, seed: 3 }); [m.losses, m.logits(ds).to(\"cpu\").values()]",
        6.0,
    ),
    ("a training that drops numbers", "model::train(ds, #{ arch: drops, epochs: 3, batch: 20, seed: 3 }).losses", 0.0),
    (
        "a generator's training",
        "images.call(generator::train(large, #{ arch: drawer, steps: 12, critic_steps: 2, batch: 8, note: 100, seed: 3 }))",
        12.0,
    ),
    (
        "a finetuning",
        "images.call(generator::finetune(g, r, large, #{ steps: 20, batch: 8, note: 100, rate: 0.5, online: 0.01, average: 0.9, seed: 1 }))",
        12.0,
    ),
    (
        "the least change",
        "rows.call(examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::ddn(#{ steps: 12 }) }))",
        8.0,
    ),
    (
        "the least change by a penalty",
        "rows.call(examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::carlini_wagner(#{ steps: 12, rounds: 2 }) }))",
        4.0,
    ),
    (
        "images that end alone",
        "rows.call(examine(f, ds, #{ space: space::pixels(\"linf\", #{ radius: 0.001 }), search: search::apgd(#{ steps: 12 }) }))",
        8.0,
    ),
    (
        "averages",
        "rows.call(examine(f.smoothed(#{ sigma: 0.1, draws: 2, seed: 1 }), ds, #{ space: pixels, search: walk }))",
        0.0,
    ),
];

/// Of these one kind of step each, and of the last one several, also goes by recordings that are no good.
const SOME: [&str; 3] = ["a curve", "a training", "a finetuning"];

/// By name, what came of the scripts, how many steps were asked for again, and how often the host waited.
pub fn of_all(device: &str) -> Json {
    of(device, |_| true)
}

pub fn of_some(device: &str) -> Json {
    of(device, |name| SOME.contains(&name))
}

fn of(device: &str, chosen: impl Fn(&str) -> bool) -> Json {
    let folder = tempfile::tempdir().unwrap();
    let (mut session, counter) = (session(device, folder.path()), Counter::here());
    let mut run = |text: &str| {
        session.evaluate("recorded", text).unwrap_or_else(|error| panic!("{}", error.render(false))).json()
    };
    run(&format!("{DRAWER}{BEFORE} ()"));
    let of = |(name, text, _): &(&str, &str, f64)| {
        let counts = || [counter.calls(c"cudaGraphLaunch"), counter.waits()];
        let before = counts();
        let value = run(text);
        let after = counts();
        (name.to_string(), json!([value, after[0] - before[0], after[1] - before[1]]))
    };
    Json::Object(STEPS.iter().filter(|step| chosen(step.0)).map(of).collect())
}

/// Kinds of steps of a training of generators, each of which is recorded by itself: more than of anything else.
const KINDS: f64 = 4.0;

#[test]
fn recorded_steps_come_to_what_they_are_recorded_of() {
    let Some(stand_in) = StandIn::get() else { return };
    let of = |task: &str, settings: &[(&str, &str)]| ask(stand_in, task, "cuda", settings);
    let (as_written, recorded) = (of("recorded", &[("VIVA_RECORD", "0")]), of("recorded", &[]));
    let number = |of: &Json, i: usize| of[i].as_f64().unwrap();
    for (name, _, least) in STEPS {
        let (as_written, recorded) = (&as_written[name], &recorded[name]);
        assert_eq!(number(as_written, 1), 0.0, "{name}");
        assert_eq!(recorded[0], as_written[0], "{name}");
        let launched = number(recorded, 1);
        assert!(if least == 0.0 { launched == 0.0 } else { launched >= least }, "{name}: {launched} of {least} steps");
        // Twice to see whether the host holds a step up, twice to record and compare it.
        let more = number(recorded, 2) - number(as_written, 2);
        assert!(more <= 4.0 * KINDS, "{name}: {more} waits more");
    }
    // On the second of two devices they are that device's.
    let second = ask(stand_in, "recorded-in-part", "cuda:1", &[("FAKECUDA_DEVICES", "2")]);
    for name in SOME {
        assert_eq!(second[name], recorded[name], "{name} on cuda:1");
    }
    // One that gives other numbers than the step is found out where it is first asked for, and not asked again.
    for (setting, most) in [("FAKECUDA_STALE", KINDS), ("FAKECUDA_UNENDED", 0.0)] {
        let found = of("recorded-in-part", &[(setting, "1")]);
        for name in SOME {
            assert_eq!(found[name][0], as_written[name][0], "{name}, {setting}");
            let launched = number(&found[name], 1);
            assert!(launched <= most, "{name}: {launched} steps, {setting}");
        }
    }
}
