//! What images are of that were kept by a model's answers, and what numbers promise of others.

use super::inputs::{Outcome, truths_in};
use super::witnesses::DRAWN;
use super::{refused, truths};

#[test]
fn images_kept_by_a_models_answers_say_so() {
    truths(&format!(
        r#"{DRAWN}
        let tests = generator::tests(g, f, #{{ n: 3, draws: 20000, seed: 1, oracle: [judge] }});
        let rates = |images| examine(judge, images, #{{ space: space::noise(), search: search::sweep(), levels: [0.0] }}).cautions;
        let set = tests.images;
        save(set, "tests.npz");
        let places = [];
        for i in 0..set.len() {{ if tests.kept[i] {{ places.push(i); }} }}
        import "std/transfer" as transfer;
        let met = transfer::table(#{{ f: tests, all: #{{ images: set }} }}, #{{ f: f, judge: judge }});
        let wrong = if places.is_empty() {{ 0 }} else {{ (judge.predict(set.select(places)) != set.select(places).labels).sum().to_int() }};
        #{{
            own: !told.call(tests.cautions, "were kept because"),
            others: told.call(rates.call(set), "were kept because trained misreads them"),
            joined: told.call(rates.call(g.sample(#{{ n: 20, seed: 3 }}).join(set)), "were kept because"),
            saved: told.call(rates.call(data::load("tests.npz")), "were kept because"),
            ordinary: !told.call(rates.call(g.sample(#{{ n: 20, seed: 3 }})), "were kept because"),
            counted: met.rows[1].tests == set.len() && met.rows[1].counted == places.len() && places.len() < set.len()
                && abs(met.rows[1].judge * places.len() - wrong) < 1e-9 && met.rows[0].counted == set.len(),
        }}"#
    ));
}

/// The same pixels are known again in an array of bytes, of floats and in files.
#[test]
fn what_was_learned_from_is_known_however_it_is_stored() {
    truths(
        r#"
        let glyphs = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let bytes = (glyphs.images() * 255 + 0.5).floor() / 255.0;
        let own = data::from(bytes, glyphs.labels);
        save(own, "own.npz");
        let f = model::train(own, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });
        let told = |set| examine(f, set, #{ space: space::noise(), search: search::sweep(), levels: [0.0] }).cautions
            .some(|said| said.contains("learned from 60 of the 60 images"));
        let shaken = data::from((bytes + 0.004).clamp(0.0, 1.0), glyphs.labels);
        #{
            loaded: told.call(data::load("own.npz")), divided: told.call(data::from(bytes * 255 * (1.0 / 255.0), glyphs.labels)),
            others: !told.call(data::from((bytes + 1.5 / 255).clamp(0.0, 1.0), glyphs.labels)), fine: !told.call(shaken),
            copies: own.join(data::load("own.npz")).copies().extract(60) == own.copies(),
        }"#,
    );
}

#[test]
fn scores_that_overflow_are_no_answers() {
    let made = "let ds = data::glyphs(#{ n: 8, size: 16, seed: 1 });
        let score = |x| x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]);
        let f = model::from(|x| { let s = (score.call(x) * 0 + 1000).exp(); tensor::concat([s, s], 1) }, #{ classes: 2 });
        let two = ds.relabel(|row| row.label % 2);";
    for call in ["f.accuracy(two)", "robustness::certify(f, two, #{ sigma: 0.2, samples: 50 })"] {
        refused(&format!("{made} {call}"), "the same infinite score for several classes");
    }
    // One that alone is infinite is the highest.
    truths(&format!(
        "{made} let one = model::from(|x| {{ let s = score.call(x) * 0; tensor::concat([s, (s + 1000).exp()], 1) }}, #{{ classes: 2 }});
         #{{ one: one.predict(two).values().all(|answer| answer == 1) }}"
    ));
}

/// Small weights beside whole errors: bets reach their limit, and a normal approximation promises more than the test sees.
#[test]
fn powers_are_no_more_than_was_simulated() {
    truths(
        r#"
        let t = [];
        for i in 0..1000 { t.push(if i % 5 == 0 { 0.05 } else if i % 100 == 1 { -0.95 } else { 0.0 }); }
        let small = risk::betting_test(t, #{ lo: -0.992, hi: 0.5, ladder: false });
        let even = [];
        for i in 0..1000 { even.push(if i % 50 == 0 { 0.5 } else if i % 50 == 1 { -0.5 } else { 0.0 }); }
        let plain = risk::betting_test(even, #{ lo: -0.992, hi: 0.5, ladder: false });
        let risks = #{ error: 0.1, adversarial_error: 0.3, candidates: 120, weight: 0.05 };
        let sizes = risk::plan(risks, #{ gap: 0.01, power: [0.5, 0.95], repeats: 300, seed: 1 }).table.filter(|row| row.test == "betting").map(|row| row.images);
        #{
            small: small.power.simulated < 0.7 && small.verdict.contains("power, simulated, where a normal approximation promises 80%") && small.verdict.contains("too small"),
            even: plain.power.simulated > 0.72 && plain.verdict.contains("with 80% power;"),
            planned: sizes[0] < 500 && sizes[1] > 780 && sizes[1] < 1000,
        }"#,
    );
}

#[test]
fn intervals_of_a_few_far_numbers_are_told() {
    truths(
        r#"
        let told = |cautions, words| cautions.some(|said| said.contains(words));
        let labels = [];
        let answers = [];
        for i in 0..30 { labels.push(i % 2); answers.push(if i % 10 == 1 { 1 } else { 0 }); }
        let f = model::from(|x| { let v = x.reshape([x.shape[0], 1]); tensor::concat([v * 0, v], 1) }, #{ classes: 2 });
        let scores = [];
        let right = [];
        for i in 0..600 { let wrong = i % 25 == 0; scores.push(if wrong { if i % 100 == 0 { 60.0 } else { 0.4 } } else { 5.0 + 0.001 * i }); right.push(if wrong { 0 } else { 1 }); }
        let set = data::from(tensor::from(scores).reshape([600, 1, 1, 1]), right, #{ any_range: true, classes: ["a", "b"] });
        let of = examine(f, set, #{ space: space::noise(), search: search::sweep(), levels: [0], measures: ["confidence", "nll"] });
        let space = space::factors([#{ name: "a", min: 0, max: 1 }, #{ name: "b", min: 0, max: 1 }], |z, s| z * 0 + (s.a + 0.1 * s.b + if s.b > 0.97 { 50.0 } else { 0.0 }) / 60.0);
        let on = model::from(|x| { let v = x.reshape([x.shape[0], 1]) * 60; tensor::concat([v * 0 + 10, v], 1) }, #{ classes: 2 });
        let zeros = data::from(tensor::zeros([20, 1, 1, 1]), tensor::zeros([20]).values(), #{ classes: ["a", "b"] });
        let asked = |seed| robustness::sensitivity(examine(on, zeros, #{ space: space, search: search::radial(#{ questions: 16 }), seed: seed }));
        let spread = 0;
        for seed in 1..5 { if told.call(asked.call(seed).cautions, "the variance is mostly of some") { spread += 1; } }
        #{
            few: told.call(info::interval(labels, answers).cautions, "fewer than ten of 30 images"),
            balanced: !told.call(info::interval(labels, labels).cautions, "fewer than ten"),
            nll: told.call(calibration::measure(of, #{ replicates: 100 }).cautions, "NLLs of 600 are so uneven"),
            spread: spread >= 2,
        }"#,
    );
}

/// A slip in a list of labels, and what macOS packs beside a folder's files.
#[test]
fn classes_that_nobody_meant_are_told_or_left_out() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for place in ["a/cat", "a/dog", "a/__MACOSX/a", "b/cat", "b/cta", "b/dog"] {
        std::fs::create_dir_all(root.join(place))?;
        let n = if place == "b/cta" { 1 } else { 12 };
        for i in 0..n {
            image::GrayImage::from_fn(8, 8, |x, y| image::Luma([(x * y) as u8 * 4 + i]))
                .save(root.join(place).join(format!("{i}.png")))?;
        }
    }
    truths_in(
        root,
        r#"
        let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m, m * 0], 1) }, #{ classes: 3 });
        let told = |ds| examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.0] }).cautions.some(|said| said.contains("names of classes are nearly the same"));
        #{ packed: data::load("a").classes == ["cat", "dog"], plain: !told.call(data::load("a")), slip: told.call(data::load("b")) }"#,
    );
    Ok(())
}

/// Answers that agree nowhere, ties, and answers that a worker never met.
#[test]
fn what_people_did_not_say_is_not_said_for_them() {
    truths(
        r#"
        let told = |cautions, words| cautions.some(|said| said.contains(words));
        let words = ["a", "b", "c", "d"];
        let apart = [];
        let tied = [];
        let cats = [];
        for i in 0..12 {
            apart.push(#{ worker: 1, item: i, answer: words[i % 4] });
            apart.push(#{ worker: 2, item: i, answer: words[(i + 1) % 4] });
            for w in 0..4 { cats.push(#{ worker: w, item: i, answer: if i < 6 { "cat" } else { "dog" } }); }
            if i < 6 { cats.push(#{ worker: "onlycats", item: i, answer: "cat" }); }
        }
        let agreed = people::judgements(apart).agreement();
        let consensus = people::judgements(cats).dawid_skene();
        let one = consensus.workers.filter(|of| of.worker == "onlycats")[0];
        #{
            apart: told.call(agreed.cautions, "no two judgements of an item agree") && agreed.ac1_lo == (),
            met: abs(one.accuracy - 1.0) < 0.01 && told.call(consensus.cautions, "1 of 5 workers judged nothing of which some answer is true"),
        }"#,
    );
}
