//! Models and searches that mislead: gradients that vanish, bounds, probabilities, graphs that are not there.

use std::path::Path;

use tch::{Device, Kind, Tensor};
use viva::model::Model;

use super::{refused, run, truths};

/// tests/golden/misleading.py
fn golden(name: &str) -> String {
    format!("{}/tests/golden/{name}.pt", env!("CARGO_MANIFEST_DIR"))
}

fn with_golden(name: &str, script: &str) -> String {
    let path = golden(name);
    format!(
        r#"let ds = data::glyphs(#{{ n: 12, size: 16, seed: 1 }});
           let f = model::load("{path}", #{{ input: [1, 16, 16] }});
           {script}"#
    )
}

#[test]
fn a_network_without_a_graph_is_refused_by_every_search_along_gradients() {
    for search in [
        r#"space: space::pixels("l2"), search: search::bim()"#,
        r#"space: space::pixels("l2"), search: search::adam()"#,
        r#"space: space::deform(), search: search::adef()"#,
    ] {
        let script = with_golden("without_gradients", &format!("examine(f, ds, #{{ {search} }})"));
        refused(&script, "no gradient flows through without_gradients");
        // The same without a graph below it is examined.
        let script = with_golden("softmaxed", &format!("#{{ examined: examine(f, ds, #{{ {search} }}).len() == 12 }}"));
        truths(&script);
    }
}

#[test]
fn a_perturbation_that_nothing_depends_on_is_refused() {
    for search in ["search::adam(#{ steps: 3 })", "search::bim(#{ steps: 3 })"] {
        let path = golden("staged_apart");
        let script = with_golden(
            "softmaxed",
            &format!(
                r#"let g = generator::load("{path}", #{{ latent: 4, classes: 3 }});
                   let space = space::latent(g, #{{ layers: [0], samples: 4 }});
                   examine(f, g.sample(#{{ n: 3 }}), #{{ space: space, search: {search} }})"#
            ),
        );
        refused(&script, "no gradient flows through latent(staged_apart");
    }
}

/// A network, and the same whose images are 300 times as bright: its scores are 300 times as far apart, its answers the same.
const SHARP: &str = r#"
    let ds = data::glyphs(#{ n: 100, size: 16, position: "centred", margin: 0, seed: 1 });
    let taught = data::glyphs(#{ n: 1000, size: 16, position: "centred", margin: 0, seed: 2 });
    let plain = model::train(taught, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
    plain.save("plain.safetensors");
    let sharp = model::load("plain.safetensors", #{ std: [1.0 / 300] });
    let how = #{ space: space::pixels("l2"), search: search::bim(#{ steps: 60, step: 0.1 }), at_steps: "all" };
"#;

#[test]
fn a_network_whose_gradients_vanish_does_not_look_tolerant() {
    truths(&format!(
        r#"{SHARP}
        let curve = tolerance::measure(sharp, ds, how);
        let honest = tolerance::measure(plain, ds, how);
        let t = examine(sharp, ds, how);
        let rows = tolerance::summary(#{{ sharp: curve, plain: honest }});
        let row = rows.filter(|row| row.curve == "sharp")[0];
        let other = rows.filter(|row| row.curve == "plain")[0];
        let figure = plot::tolerance(#{{ sharp: curve, plain: honest }});
        save(curve, "curve.json");
        save(curve, "curve.csv");
        save(figure, "figure.json");
        let adam = examine(sharp, ds, #{{ space: space::pixels("l2"), search: search::adam() }});
        #{{
            answers_the_same: (plain.predict(ds) == sharp.predict(ds)).mean() >= 0.98,
            bim_finds_next_to_nothing: curve.accuracy[-1] > 0.8 && honest.accuracy[-1] < 0.1,
            the_point_says_so: curve.stuck[-1] > 0.8 && honest.stuck[-1] == 0.0 && curve.stuck[0] == 0.0,
            the_transcript_says_so: t.cautions.some(|said| "vanished" in said && "search::adam" in said),
            the_curve_says_so: curve.cautions.some(|said| said.contains("upper bound")) && "upper bound" in `${{curve}}`,
            the_figure_says_so: figure.cautions.some(|said| said.contains("sharp: the gradient")),
            the_summary_says_so: row.area == () && row.half == () && row.stuck > 0.8 && row.cautions.some(|said| said.contains("vanished")) && row.area_as_found > 1.0,
            no_word_of_the_other: other.area != () && honest.cautions.all(|said| !said.contains("vanished")),
            the_way_out_works: adam.success_rate() == 1.0 && adam.cautions.all(|said| !said.contains("vanished")),
        }}"#
    ));
}

#[test]
fn bytes_and_unit_pixels_are_not_mixed() {
    let script = |options: &str, levels: &str| {
        format!(
            r#"let ds = data::glyphs(#{{ n: 20, size: 16, seed: 1 }});
               let f = model::train(ds, #{{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }});
               examine(f, ds, #{{ space: space::pixels({options}), search: search::bim(#{{ steps: 2 }}){levels} }})"#
        )
    };
    refused(&script(r#""linf", #{ radius: 8, bounds: [0, 255] }"#, ""), "the space's bounds are [0.0, 255.0]");
    refused(&script(r#""l2", #{ bounds: [-1, 1] }"#, ""), "bounds: [0, 1]");
    refused(&script(r#""linf", #{ radius: 8 }"#, ""), "8.0 / 255");
    refused(&script(r#""linf", #{ bounds: [0, 1] }"#, ", levels: [0.5, 2.0]"), "`levels` 2.0 holds every image");
    refused(&script(r#""l2", #{ radius: 17, bounds: [0, 1] }"#, ""), "16.0 apart at most");
    // Standardised images have no such bounds, and are held against what they are.
    let centred = script(r#""l2", #{ bounds: [-255, 255] }"#, "").replacen("seed: 1 });", "seed: 1 }).centre();", 1);
    refused(&centred, "bounds are [-255.0, 255.0]");
    for allowed in [r#""linf", #{ radius: 8.0 / 255, bounds: [0, 1] }"#, r#""l2", #{ radius: 16, bounds: [0, 1] }"#] {
        truths(&format!("#{{ examined: {{ {}.len() == 20 }} }}", script(allowed, "")));
    }
    refused(
        r#"let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
           model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, adversarial: #{ norm: "linf", radius: 8 } })"#,
        "8.0 / 255",
    );
}

/// Models that see of the others nothing but where they point, and models that only count them.
#[test]
fn what_a_batch_changes_is_told_by_what_changes_it() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });
        let w = tensor::normal([256, 10], #{ seed: 1 });
        let pointing = |x| {
            let v = x.reshape([x.len(), 256]);
            let unit = v / ((v * v).sum(1).sqrt().reshape([x.len(), 1]) + 0.001);
            (unit - unit.mean(0)).matmul(w)
        };
        let told = |model| { model.predict(ds); model.cautions };
        let mixing = told.call(model::from(pointing, #{ classes: 10 }));
        let counting = told.call(model::from(|x| f.logits(x) * (1.0 + 0.5 / x.len()), #{ classes: 10 }));
        let alone = told.call(model::from(|x| f.logits(x), #{ classes: 10 }));
        #{
            mixing: mixing.len() == 1 && "depends on the others in its batch" in mixing[0],
            counting: counting.len() == 1 && "depends on how many others are in its batch" in counting[0],
            alone: alone.is_empty(),
        }"#,
    );
}

/// What eight images do not show: the places after them, and answers that are drawn now and then. Models of layers are not asked for either.
#[test]
fn what_a_few_answers_do_not_show_is_told() {
    let [places, seldom, steady] = ["places", "seldom", "without_gradients"].map(golden);
    truths(&format!(
        r#"
        let load = |path| model::load(path, #{{ input: [1, 16, 16] }});
        let steady = load.call({steady:?});
        let drawn = data::glyphs(#{{ n: 60, size: 16, seed: 1 }});
        let ds = data::from(drawn.images(), steady.predict(drawn).values());
        let told = |model, words| {{
            let t = examine(model, ds, #{{ space: space::rotate(0.001), search: search::random(#{{ questions: 50 }}) }});
            t.cautions.some(|said| said.contains(words))
        }};
        let accuracy = |path, n| {{ let f = load.call(path); f.accuracy(ds.take(n)); f.cautions }};
        let batch = "depends on how many others are in its batch";
        let again = "draws now and then, or goes by what else is in a batch, and outcomes are the worst of up to 51 askings";
        #{{
            places: accuracy.call({places:?}, 60).some(|said| said.contains(batch)), few: accuracy.call({places:?}, 8).is_empty(),
            seldom: told.call(load.call({seldom:?}), again), steady: !told.call(steady, again) && steady.cautions.is_empty(),
        }}"#
    ));
}

/// From half of the range on all images reach the one in the middle, whose one answer is wrong for all but those of one label.
#[test]
fn searches_that_leave_right_what_must_fail_are_told() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, seed: 1 });
        let by = |radius, search| {
            let t = examine(f, ds, #{ space: space::pixels("linf", #{ radius: radius, bounds: [0, 1] }), search: search, seed: 1 });
            t.cautions.filter(|said| said.contains("the image in the middle of the bounds"))
        };
        // One step so short changes hardly an answer.
        let short = search::bim(#{ steps: 1, step: 0.001 });
        let told = by.call(0.5, short);
        let right = f.predict(ds).values();
        let labels = ds.labels.values();
        let counts = [];
        counts.pad(10, 0);
        for i in 0..60 { if right[i] == labels[i] { counts[labels[i]] += 1; } }
        let of = counts.reduce(|sum, n| sum + n, 0);
        let at_least = of - counts.reduce(|most, n| max(most, n), 0);
        #{
            told: told.len() == 1, less: by.call(0.49, short).is_empty(), strong: by.call(0.5, search::apgd(#{ steps: 20 })).is_empty(),
            counted: abs(parse_int(told[0].split("at least ")[1].split(" of ")[0]) - at_least) <= 2,
        }"#,
    );
}

#[test]
fn targets_that_are_labels_already_are_told() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });
        let labels = ds.labels.values();
        let by = |targets| {
            let t = examine(f, ds, #{ space: space::pixels("linf", #{ radius: 0.1 }), search: search::bim(), objective: objective::target(targets) });
            t.cautions.filter(|said| said.contains("their own label as target"))
        };
        let some = labels.map(|label| (label + 1) % 10);
        for i in 0..3 { some[i] = labels[i]; }
        #{
            all: by.call(labels)[0].starts_with("20 of 20 images"), some: by.call(some)[0].starts_with("3 of 20 images"),
            others: by.call(labels.map(|label| (label + 1) % 10)).is_empty(), one: by.call(3).is_empty(),
        }"#,
    );
}

/// Eleven of a hundred right among ten classes is what chance makes; of fewer images, and of a fifth, nothing is said.
#[test]
fn hardly_better_than_guessing_is_told() {
    truths(
        r#"
        let drawn = data::glyphs(#{ n: 200, size: 16, seed: 1 });
        let f = model::train(drawn, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, seed: 1 });
        let answers = f.predict(drawn).values();
        // All but so many of every hundred are labelled otherwise, each in another way.
        let with_right = |right, n| {
            let labels = [];
            for i in 0..n { labels.push(if i % 100 < right { answers[i] } else { (answers[i] + 1 + i % 9) % 10 }); }
            data::from(drawn.take(n).images(), labels)
        };
        let told = |ds| {
            let t = examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.0] });
            t.cautions.some(|said| said.contains("hardly better than guessing"))
        };
        #{
            of_100: told.call(with_right.call(11, 100)), of_200: told.call(with_right.call(11, 200)),
            few: !told.call(with_right.call(11, 90)), learned: !told.call(with_right.call(20, 200)),
        }"#,
    );
}

/// A network that was exported for one image is asked about each by itself, wherever it is asked.
#[test]
fn one_image_at_a_time_is_enough() {
    let [alone, batched] = ["alone", "masked"].map(golden);
    truths(&format!(
        r#"
        let ds = data::glyphs(#{{ n: 12, size: 16, seed: 1 }});
        let f = model::load({alone:?}, #{{ input: [1, 16, 16] }});
        let g = model::load({batched:?}, #{{ input: [1, 16, 16] }});
        let by = |f, search| examine(f, ds, #{{ space: space::pixels("linf", #{{ radius: 0.2 }}), search: search, seed: 1 }}).column("after");
        #{{
            accuracy: f.accuracy(ds) == g.accuracy(ds), unmarked: f.cautions.is_empty(),
            search: by.call(f, search::square(#{{ questions: 20 }})) == by.call(g, search::square(#{{ questions: 20 }})),
            gradients: by.call(f, search::bim()).len() == 12,
        }}"#
    ));
    // What is no network at all is told of as before.
    refused(
        &format!("let f = model::load({alone:?}); f.accuracy(data::glyphs(#{{ n: 12, size: 20, seed: 1 }}))"),
        "alone",
    );
}

#[test]
fn probabilities_and_answers_that_change_are_noticed() {
    // What a program draws follows from the batch that it is asked about, so that a closure around it answers a batch always alike.
    for (name, words, of_closures) in [
        ("softmaxed", "answers probabilities", "answers probabilities"),
        ("dropping", "when it is asked the same again", "depends on the others in its batch"),
        ("batch_normed", "depends on the others in its batch", "depends on the others in its batch"),
    ] {
        let script = format!(
            r#"let t = examine(f, ds, #{{ space: space::noise(), search: search::random(#{{ questions: 2 }}), levels: [0.1] }});
               let g = model::load("{}", #{{ input: [1, 16, 16] }});
               let unasked = g.cautions.is_empty();
               let accuracy = g.accuracy(ds);
               let h = model::load("{}", #{{ input: [1, 16, 16] }});
               h.predict(ds.images());
               #{{
                   before: unasked, of_the_transcript: "{words}" in t.cautions[0], in_its_summary: "{words}" in `${{t}}`,
                   of_the_model: "{words}" in g.cautions[0] && "{words}" in `${{g}}`, of_plain_images: "{words}" in h.cautions[0],
                   of_closures: "{of_closures}" in {{ let c = model::from(|x| h.logits(x)); c.accuracy(ds); c.cautions[0] }},
               }}"#,
            golden(name),
            golden(name)
        );
        truths(&with_golden(name, &script));
    }
    // Scores, and logarithms of probabilities, are what is expected.
    truths(
        r#"let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
           let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
           let calls = [];
           let g = model::from(|x| { let s = f.logits(x); s - s.exp().sum(1).ln().reshape([-1, 1]) });
           #{ scores: { f.accuracy(ds); f.cautions.is_empty() }, logarithms: { g.accuracy(ds); g.cautions.is_empty() } }"#,
    );
}

/// A search that stops before all images fail: the mean over those that did is smaller than what is known of all.
#[test]
fn means_over_successes_say_so_and_comparisons_take_all() {
    truths(&format!(
        r#"{SHARP}
        let blunt = model::train(ds, #{{ from: plain, epochs: 3, lr: 0.01, adversarial: #{{ norm: "l2", radius: 1.5, steps: 3 }}, seed: 1 }});
        // So that about half of the images fail.
        let needed = examine(plain, ds, #{{ space: space::pixels("l2"), search: search::adam() }}).column("magnitude");
        let farthest = tensor::from(needed).quantile(0.5);
        let by = #{{ space: space::pixels("l2", #{{ radius: farthest }}), search: search::adam() }};
        let t = examine(plain, ds, by);
        let fooled = t.filter(|row| row.fooled);
        let known = tolerance::smallest_change(t);
        let both = tolerance::compare_changes(t, examine(blunt, ds, by));
        #{{
            some_never_failed: known.fooled < known.seeds && known.over == `${{known.fooled}} of ${{known.seeds}}`,
            a_mean_over_some: (fooled.mean("magnitude") - known.of_fooled).abs() < 1e-9 && known.of_fooled < known.mean,
            within_its_interval: known.mean_lo < known.mean && known.mean < known.mean_hi && known.mean <= known.up_to,
            a_part_says_of_what: `${{fooled.len()}} of 100` in `${{fooled}}` && fooled.examined == 100,
            pairs: both.seeds <= 100 && both.larger_by_lo <= both.larger_by && both.larger_by <= both.larger_by_hi,
            the_same: (both.second - both.first - both.larger_by).abs() < 1e-9,
        }}"#
    ));
    refused(
        &format!("{SHARP} tolerance::smallest_change(examine(plain, ds, how + #{{ at_steps: [1, 2] }}))"),
        "several rows of one image",
    );
    refused(
        &format!(
            "{SHARP} tolerance::smallest_change(examine(plain, ds, #{{ space: space::pixels(\"l2\"), search: search::adam(#{{ steps: 2 }}) }}), #{{ up_to: 100 }})"
        ),
        "nothing is known of changes up to 100.0",
    );
}

/// Changes are compared image by image: of other images there is nothing to compare.
#[test]
fn changes_of_different_images_are_not_compared() {
    let made = |seed: u32| {
        format!(
            "examine(f, data::glyphs(#{{ n: 20, size: 16, seed: {seed} }}), #{{ space: space::pixels(\"l2\"), search: search::adam(#{{ steps: 3 }}) }})"
        )
    };
    let begin = "let f = model::train(data::glyphs(#{ n: 40, size: 16, seed: 1 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 20, seed: 1 });";
    super::refused(&format!("{begin} tolerance::compare_changes({}, {})", made(1), made(2)), "different images");
}

#[test]
fn generated_tests_say_what_was_noticed_of_the_classifier() {
    let script = r#"
        let ds = data::glyphs(#{ n: 64, size: 16, position: "centred", margin: 0, seed: 1 });
        let g = generator::train(ds, #{ steps: 1, batch: 16, critic_steps: 1, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        let dead = model::from(|images| f.logits(images) * 0.0);
        let found = generator::tests(g, dead, #{ labels: [3], n: 4 });
        #{
            noticed: found.cautions[0].contains("the same score"),
            summary: `${found}`.contains("; caution: "),
            answers: found.predictions.all(|answer| answer == 0)
        }
    "#;
    truths(script);
}

/// A batch that is read by its first image shows where another one is asked alone.
#[test]
fn answers_that_follow_the_first_image_of_a_batch_are_told() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 30, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });
        let shifted = model::from(|x| f.logits(x - x.mean() + 0.2));
        let first = model::from(|x| { let shift = x.reshape([x.len(), -1]).mean(1).values()[0]; f.logits(x - shift + 0.2) });
        let told = |model| examine(model, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 })
            .cautions.some(|said| said.contains("depends on the others in its batch"));
        #{ shifted: told.call(shifted), first: told.call(first), alone: !told.call(model::from(|x| f.logits(x))) }"#,
    );
}

/// What an error says against a model, and what it does not.
#[test]
fn errors_are_held_against_what_labels_allow() {
    truths(
        r#"
        let constant = |class| model::from(|x| { let zero = x.reshape([x.len(), -1]).mean(1).reshape([-1, 1]) * 0.0; tensor::concat([zero + (1 - class), zero + class], 1) }, #{ classes: 2 });
        let drawn = tensor::uniform([200, 1, 4, 4], #{ seed: 1 });
        let labels = |every| { let all = []; for i in 0..200 { all.push(if i % every == 0 { 1 } else { 0 }); } all };
        let uneven = data::from(drawn, labels.call(10));
        let even = data::from(drawn, labels.call(2));
        let one = data::from(drawn, labels.call(1));
        let told = |model, ds, words| examine(model, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 })
            .cautions.some(|said| said.contains(words));
        #{
            commonest: told.call(constant.call(0), uneven, "always answering the commonest class, which 0.9 of the labels are"),
            guessing: told.call(constant.call(0), even, "no better than guessing"),
            right: !told.call(constant.call(1), one, "guessing") && !told.call(constant.call(1), one, "commonest"),
        }"#,
    );
}

/// Shares of the whole, of one class each or in percent, are no scores before a softmax.
#[test]
fn sigmoids_and_percentages_are_told() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 40, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });
        let told = |answers, words| examine(model::from(answers), ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 })
            .cautions.some(|said| said.contains(words));
        #{
            sigmoid: told.call(|x| (f.logits(x) * 4.0).sigmoid(), "as a sigmoid gives for each class"),
            percent: told.call(|x| f.logits(x).softmax() * 100.0, "percentages"),
            scores: !told.call(|x| f.logits(x), "expected"),
        }"#,
    );
}

/// Truths are no scores, and weights of another type are explained.
#[test]
fn what_is_no_float_is_refused() {
    let told = run("let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        model::from(|x| x.reshape([-1, 256]).matmul(tensor::zeros([256, 10])) > 0.5, #{ classes: 10 }).accuracy(ds)")
    .unwrap_err();
    assert!(told.contains("true or false for each class, wanted are scores"), "{told}");
    let error = tch::Tensor::zeros([2, 2], (tch::Kind::Float, tch::Device::Cpu))
        .f_matmul(&tch::Tensor::zeros([2, 2], (tch::Kind::Half, tch::Device::Cpu)))
        .unwrap_err();
    let told = viva::core::Error::from(error).hint.unwrap_or_default();
    assert!(told.contains("`model.float()`"), "{told}");
}

/// Images of one channel do not become as many as there are means.
#[test]
fn what_images_are_normalised_by_is_finite() {
    for (option, words) in [
        ("std: [1.0 / 0]", "`std` must be positive and finite numbers, got inf"),
        ("std: [0.0 / 0]", "got NaN"),
        ("mean: [1.0 / 0]", "`mean` must be finite numbers, got inf"),
    ] {
        let script = format!(
            "let ds = data::glyphs(#{{ n: 4, size: 16, seed: 1 }});
             let f = model::train(ds, #{{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }});
             f.save(\"f.safetensors\"); model::load(\"f.safetensors\", #{{ {option} }})"
        );
        refused(&script, words);
    }
}

#[test]
fn means_are_one_for_each_channel() {
    let value = run("model::from(|x| x.reshape([x.len(), -1]), #{ classes: 4 })").unwrap();
    let model = value.downcast::<Model>().unwrap();
    let images = Tensor::zeros([2, 1, 2, 2], (Kind::Float, Device::Cpu));
    let normalised = |mean: &[f64]| {
        let model = (*model).clone().with_normalisation(mean, &[1.0], Device::Cpu).unwrap();
        model.normalise(&images).map(|images| images.size()).map_err(|error| error.message)
    };
    assert_eq!(normalised(&[0.5]), Ok(vec![2, 1, 2, 2]));
    assert!(normalised(&[0.1, 0.2]).unwrap_err().contains("`mean` has 2 numbers, the images have 1 channels"));
    // Grey as colour, which is said where data and model meet.
    assert_eq!(normalised(&[0.1, 0.2, 0.3]), Ok(vec![2, 3, 2, 2]));
}

/// An image that has no gradient stays where it is in every norm: 0 / 0 is no score that is not finite.
#[test]
fn a_vanished_gradient_is_told_in_every_norm() {
    truths(
        r#"
        let ds = data::from(tensor::zeros([3, 1, 4, 4]) + 0.5, [0, 1, 2]);
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(3), net::relu(), net::linear(3)], epochs: 1, lr: 100.0, seed: 3 });
        let said = #{};
        for norm in ["linf", "l2", "l1"] {
            let t = examine(f, ds, #{ space: space::pixels(norm, #{ bounds: [0, 1] }), search: search::fmn(#{ steps: 5 }), seed: 1 });
            said[norm] = t.cautions.some(|said| said.contains("vanished"));
        }
        // Nobody is told to follow what is followed.
        let advised = |objective, advice| {
            let how = #{ space: space::pixels("linf", #{ radius: 0.1 }), search: search::bim(#{ steps: 5, step: 0.05 }), objective: objective, seed: 1 };
            examine(f, ds, how).cautions.some(|said| said.contains("vanished") && said.contains(advice))
        };
        said.softmax = advised.call(objective::misclassify(), ".loss(\"dlr\")");
        said.scores = advised.call(objective::misclassify().loss("dlr"), "search::square") && !advised.call(objective::misclassify().loss("dlr"), "dlr");
        said"#,
    );
}

#[test]
fn what_a_program_should_have_answered_is_said() {
    refused(&with_golden("paired", "f.accuracy(ds)"), "the program answers a tuple of 2, wanted is a tensor N x K");
    refused(&with_golden("named", "f.accuracy(ds)"), "the program answers a dictionary");
    refused(&with_golden("named", "f.accuracy(ds)"), "model(images)[\"logits\"]");
    refused(
        "model::from(|x| x.reshape([x.len(), -1]).mean(1)).accuracy(data::glyphs(#{ n: 4, size: 16 }))",
        "one score per image, as before a sigmoid",
    );
}

/// A softmax of scores that are nearly the same has nearly the same loss everywhere.
#[test]
fn scores_that_hardly_differ_are_told() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });
        let told = |by| { let g = model::from(|x| f.logits(x) * by); g.accuracy(ds); g.cautions.some(|said| said.contains("of each other: the loss of a softmax")) };
        #{ small: told.call(0.000001), plain: !told.call(1.0) }"#,
    );
}

/// Which searches an ensemble has goes by the number of classes, also of a program that nobody has asked yet.
#[test]
fn an_ensemble_is_the_same_before_and_after_a_model_was_asked() {
    truths(&with_golden(
        "softmaxed",
        r#"
        import "std/attacks" as attacks;
        let names = |f| attacks::evaluation(f, ds, "linf", 0.1, #{ steps: 2, questions: 5 }).members.map(|member| member.name);
        let unasked = names.call(f);
        let even = data::from(ds.images(), ds.labels.values().map(|label| label % 2));
        let two = model::train(even, #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });
        #{
            unasked: unasked[1] == "APGD towards each class", asked: names.call(f) == unasked,
            two_classes: attacks::evaluation(two, even, "linf", 0.1, #{ steps: 2, questions: 5 }).members.len() == 4,
        }"#,
    ));
    refused(
        &with_golden("softmaxed", "import \"std/attacks\" as attacks; attacks::standard(f)"),
        "before it is asked: f.accuracy(ds) first",
    );
}

/// An oracle that answers as the classifier does says nothing of what the images show.
#[test]
fn an_oracle_made_of_the_classifier_is_refused() {
    for made in ["f.averaged(#{ over: space::noise(0.1), draws: 4 })", "f.smoothed(#{ sigma: 0.1 })", "f"] {
        let script = format!(
            r#"let ds = data::glyphs(#{{ n: 64, size: 16, position: "centred", margin: 0, seed: 1 }});
               let g = generator::train(ds, #{{ steps: 1, batch: 16, critic_steps: 1, seed: 1 }});
               let f = model::train(ds, #{{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }});
               generator::perturb(g, f, #{{ n: 2, samples: 2, oracle: {made} }})"#
        );
        refused(&script, "the classifier under test");
    }
}

/// Weights and averages of them are two networks.
#[test]
fn a_file_that_holds_a_network_twice_is_refused() {
    let script = format!("model::load(\"{}\", #{{ arch: [net::flatten(), net::linear(10)] }})", golden("twice"));
    refused(&script, "weights of one network twice, as \"state_dict\" and as \"state_dict_ema\"");
    for (name, other) in [("beside", "model_ema"), ("shadow", "ema.shadow")] {
        let script = format!("model::load(\"{}\", #{{ arch: [net::flatten(), net::linear(2)] }})", golden(name));
        refused(&script, &format!("weights of one network twice, as \"model\" and as \"{other}\""));
    }
}

/// What stands before all names, and a normalisation among the tensors, are told by name.
#[test]
fn hints_for_other_names_are_what_helps() {
    let load = |name: &str, more: &str| {
        format!(
            "model::load(\"{}\", #{{ arch: [net::flatten(), net::linear(2)], input: [1, 16, 16]{more} }})",
            golden(name)
        )
    };
    refused(&load("behind", ""), "names: #{ \"net\": \"\" }");
    refused(&load("scaled", ""), "they look like a normalisation, which images need then: mean: [0.5]");
    truths(&format!(
        r#"
        let ds = data::glyphs(#{{ n: 12, size: 16, seed: 1 }});
        let plain = {};
        let scaled = {};
        let asked = #{{ arch: [net::flatten(), net::linear(2)], input: [1, 16, 16], names: #{{ "net": "" }} }};
        let half = |options| model::load("{}", asked + options).cautions.some(|said| said.contains("hardly any weights want"));
        #{{
            behind: plain.classes == 2, noted: {}.classes == 2, scaled: scaled.cautions == [], mean: half.call(#{{ mean: [0.5] }}), told: !half.call(#{{ mean: [0.5], std: [1] }}),
            one_scale: !half.call(#{{ std: [0.004] }}), none: !half.call(#{{ mean: [0] }}),
        }}"#,
        load("behind", ", names: #{ \"net\": \"\" }"),
        load("scaled", ", mean: [0.5], std: [0.25], ignore: [\"scale\"]"),
        golden("behind"),
        load("noted", "")
    ));
}

/// Half of the pixels lead nowhere, as the gradient says; scores change with them all the same.
#[test]
fn a_gradient_that_lacks_pixels_is_told() {
    truths(&with_golden(
        "masked",
        r#"
        let t = examine(f, ds, #{ space: space::pixels("linf", #{ radius: 0.1 }), search: search::bim(#{ steps: 2 }) });
        #{ told: t.cautions.some(|said| said.contains("a part of it is missing")) }"#,
    ));
    // What needs no gradient finds what searches along it do not.
    truths(&with_golden(
        "masked",
        r#"
        import "std/attacks" as attacks;
        let drawn = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let set = data::from(drawn.images(), f.predict(drawn));
        let e = attacks::evaluation(f, set, "linf", 0.2, #{ steps: 20, questions: 300 });
        #{ told: e.cautions.some(|said| said.contains("which needs no gradient, made")) }"#,
    ));
}

/// What a program draws of is not known from it, nor whether it draws noise beside, or images at all.
#[test]
fn what_programs_draw_is_told_or_refused() {
    let load =
        |name: &str, more: &str| format!("generator::load(\"{}\", #{{ latent: 4, classes: 3{more} }})", golden(name));
    truths(&format!(
        r#"let g = {};
           let uniform = {};
           let told = |of, words| of.cautions.some(|said| said.contains(words));
           let f = model::from(|x| x.reshape([x.len(), 256]).matmul(tensor::normal([256, 3], #{{ seed: 1 }})), #{{ classes: 3 }});
           let all = uniform.sample(#{{ n: 300, label: 0, seed: 1 }}).images();
           #{{
               taken: told.call(g, "drawn from the standard normal law, as nothing says otherwise") && told.call(generator::tests(g, f, #{{ labels: [1], n: 2 }}), "as nothing says otherwise"),
               said: !told.call(uniform, "as nothing says otherwise") && uniform.hash != g.hash,
               // The sigmoid of what lies between -1 and 1.
               within: all.max() < 0.7311 && all.min() > 0.2689 && all.max() > 0.72, beyond: g.sample(#{{ n: 300, label: 0, seed: 1 }}).images().max() > 0.75,
               noisy: told.call({}, "staged_noisy draws another image of the same latent vector again"),
           }}"#,
        load("staged_noisy", ""),
        load("staged_noisy", ", prior: \"uniform\""),
        load("staged_noisy", ", prior: \"normal\""),
    ));
    refused(&load("staged_bright", ""), "staged_bright draws pixels from");
    refused(&load("staged_apart", ", prior: \"gamma\""), "prior");
    let own = "let g = generator::train(data::glyphs(#{ n: 40, seed: 1 }), #{ steps: 1, batch: 8, seed: 1 }); g.save(\"g.safetensors\"); ";
    refused(
        &format!("{own} generator::load(\"g.safetensors\", #{{ prior: \"normal\" }})"),
        "`prior` is of TorchScript programs",
    );
}

#[test]
fn what_a_generator_does_to_images_is_told_or_mended() {
    let generator =
        |name: &str| format!("generator::load(\"{}\", #{{ latent: 4, classes: 3, prior: \"normal\" }})", golden(name));
    truths(&format!(
        r#"let g = {};
           let f = model::from(|x| x.reshape([x.len(), 256]).matmul(tensor::normal([256, 3], #{{ seed: 1 }})), #{{ classes: 3 }});
           let told = |of| of.cautions.some(|said| said.contains("depends on the others in its batch"));
           let asked = |set| examine(f, set, #{{ space: space::noise(0.1), search: search::random(#{{ questions: 1 }}), seed: 1 }});
           let s = g.sample(#{{ n: 6, seed: 1 }});
           #{{
               generator: told.call(g) && "caution" in `${{g}}`, tests: told.call(generator::tests(g, f, #{{ labels: [1], n: 2 }})),
               samples: told.call(asked.call(s)) && told.call(asked.call(s.join(s.take(2)))),
               apart: {}.cautions == [], leaving: {}.cautions == [],
           }}"#,
        generator("staged_batched"),
        generator("staged_apart"),
        generator("staged_leaving")
    ));
    truths(&format!(
        r#"let g = {};
           let f = model::train(data::glyphs(#{{ n: 12, size: 16, seed: 1 }}).relabel(|row| row.label % 3, #{{ classes: ["a", "b", "c"] }}), #{{ arch: [net::flatten(), net::linear(3)], epochs: 1, seed: 1 }});
           let t = examine(f, g.sample(#{{ n: 6, seed: 1 }}), #{{ space: space::latent(g, #{{ layers: [1], samples: 20 }}), search: search::bim(#{{ steps: 40, step: 2 }}) }});
           let images = t.images();
           #{{ far: tensor::from(t.column("magnitude")).max() > 5, inside: images.min() >= 0 && images.max() <= 1 }}"#,
        generator("staged_leaving")
    ));
}

/// A program of its own for images 1 x 16 x 16, three classes: what `end` makes of a linear layer's scores and the images.
fn traced(folder: &Path, name: &str, end: fn(&Tensor, &Tensor) -> Tensor) {
    let weights = (Tensor::arange(256 * 3, (Kind::Float, Device::Cpu)) * 0.7).sin().reshape([256, 3]);
    let mut forward = |given: &[Tensor]| vec![end(&given[0].flatten(1, -1).matmul(&weights), &given[0])];
    let example = Tensor::rand([4, 1, 16, 16], (Kind::Float, Device::Cpu));
    let program = tch::CModule::create_by_tracing(name, "forward", &[example], &mut forward).unwrap();
    program.save(folder.join(name).with_extension("pt")).unwrap();
}

/// 0 times the root of 0: the scores stay as they are, and every pixel's gradient is no number.
#[test]
fn a_gradient_that_is_no_number_is_no_robustness() {
    let folder = tempfile::tempdir().unwrap();
    traced(folder.path(), "plain", |scores, _| scores * 1.0);
    traced(folder.path(), "broken", |scores, images| {
        let none = (images.sum_dim_intlist([1i64, 2, 3].as_slice(), false, Kind::Float) * 0.0).sqrt() * 0.0;
        scores + none.reshape([-1, 1])
    });
    traced(folder.path(), "rooted", |scores, images| {
        let none = images.sqrt().square() - images;
        scores + none.sum_dim_intlist([1i64, 2, 3].as_slice(), false, Kind::Float).reshape([-1, 1])
    });
    super::inputs::truths_in(
        folder.path(),
        r#"
        let plain = model::load("plain.pt", #{ input: [1, 16, 16] });
        let broken = model::load("broken.pt", #{ input: [1, 16, 16] });
        let drawn = data::glyphs(#{ n: 30, size: 16, seed: 1 });
        let ds = data::from(drawn.images(), plain.predict(drawn));
        let ball = space::pixels("l2", #{ radius: 2.0, bounds: [0, 1] });
        // Scores of sines lie near to one another.
        let said = #{ answers_the_same: (plain.predict(ds) == broken.predict(ds)).mean() == 1.0 };
        for search in [search::bim(#{ steps: 10, step: 0.4 }), search::apgd(#{ steps: 10 }), search::fmn(#{ steps: 20 }), search::deepfool(), search::adam(#{ steps: 50 })] {
            let of = |f| examine(f, ds, #{ space: ball, search: search, seed: 1 });
            let sound = of.call(plain);
            let blind = of.call(broken);
            said[`${search}`] = sound.success_rate > 0.5 && sound.cautions.all(|said| said.contains("rounded by") || said.contains("a softmax gives its answers")) && blind.cautions[0].contains("is no number or infinite at 100")
                && blind.success_rate < sound.success_rate && blind.filter(|row| row.after == row.label && !row.vanished).len() == 0
                && blind.cautions.some(|said| said.contains("was no number"));
        }
        // Squares of roots: the same scores, and at black pixels a gradient of 0 / 0.
        let rooted = model::load("rooted.pt", #{ input: [1, 16, 16] });
        let t = examine(rooted, ds, #{ space: ball, search: search::bim(#{ steps: 10, step: 0.4 }), seed: 1 });
        said.some_pixels = t.cautions.some(|said| said.contains("is no number or infinite at") && !said.contains("at 100"));
        said"#,
    );
}

/// Where scores have eight digits, what ends on the boundary between classes fails by no more than these; whole numbers are exact.
#[test]
fn scores_of_few_digits_count_as_rounded_by_them() {
    let folder = tempfile::tempdir().unwrap();
    traced(folder.path(), "low", |scores, _| scores.to_kind(Kind::BFloat16).to_kind(Kind::Float));
    traced(folder.path(), "votes", |scores, _| (scores * 10.0).round());
    super::inputs::truths_in(
        folder.path(),
        r#"
        let drawn = data::glyphs(#{ n: 40, size: 16, seed: 1 });
        let ball = space::pixels("l2", #{ radius: 2.0, bounds: [0, 1] });
        let asked = |name, space, search| {
            let f = model::load(name, #{ input: [1, 16, 16] });
            examine(f, data::from(drawn.images(), f.predict(drawn)), #{ space: space, search: search, seed: 1 })
        };
        let coarse = |t| t.cautions.some(|said| said.contains("scores are rounded by (") && !said.contains("(0.00") && !said.contains("e-"));
        let low = asked.call("low.pt", ball, search::fmn(#{ steps: 20 }));
        let votes = asked.call("votes.pt", space::noise(0.1), search::random(#{ questions: 2 }));
        #{ low: coarse.call(low), votes: votes.success_rate > 0.1 && !coarse.call(votes) }"#,
    );
}

/// A hundredth of a hundredth of the others' scores: too little for a batch norm, and too much for rounding.
#[test]
fn a_little_of_the_others_in_a_batch_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    traced(folder.path(), "mixed", |scores, _| scores + scores.mean_dim([0i64].as_slice(), true, Kind::Float) * 1e-3);
    traced(folder.path(), "alone", |scores, _| scores * 1.001);
    super::inputs::truths_in(
        folder.path(),
        r#"
        let ds = data::glyphs(#{ n: 30, size: 16, seed: 1 });
        let said = |name| {
            let f = model::load(name, #{ input: [1, 16, 16] });
            f.predict(ds);
            f.cautions.some(|said| said.contains("depends on the others"))
        };
        #{ mixed: said.call("mixed.pt"), alone: !said.call("alone.pt") }"#,
    );
}

/// Where steps end long before the ends of the factors, and where a grid for each level misses what the level before had found.
#[test]
fn what_searches_over_factors_never_looked_at_is_said() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let taught = data::glyphs(#{ n: 1000, size: 16, position: "centred", margin: 0, seed: 2 });
        let f = model::train(taught, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        let look = |search, levels| {
            let how = #{ space: space::rotate(if levels == () { 60 } else { 180 }), search: search, seed: 1 };
            examine(f, ds, if levels == () { how } else { how + #{ levels: levels } })
        };
        let says = |t, words| t.cautions.some(|said| said.contains(words));
        let near = look.call(search::bim(), ());
        let grid = look.call(search::strongest(#{ grid: 9 }), ());
        let adam = look.call(search::adam(#{ steps: 20 }), ());
        let levels = [45, 90, 135, 180];
        let coarse = look.call(search::strongest(#{ grid: 3 }), levels);
        let curve = tolerance::curve(coarse);
        let noisy = examine(f, ds, #{ space: space::noise(), search: search::random(#{ questions: 4 }), levels: [0.3, 0.5, 0.8], seed: 1 });
        let way = examine(f, ds, #{
            space: space::pixels("l2"), search: search::bim(#{ steps: 4 }), levels: [0.5, 2.0], at_steps: [0, 2, 4], seed: 1,
        });
        #{
            grid_finds_more: grid.success_rate > near.success_rate + 0.1 && grid.cautions.len() == 0,
            bim: says.call(near, "less than half of what they might be") && says.call(near, "search::strongest"),
            adam_takes_shares_of_the_range: look.call(search::adam(), ()).success_rate > near.success_rate + 0.1,
            adam: says.call(adam, "less than half of what they might be"),
            forgotten: says.call(coarse, "fail within a level and were left right within a larger one"),
            the_curve_says_so: says.call(curve, "fail within a level"),
            fgsm_forgets_too: says.call(look.call(search::bim(#{ steps: 1, step: 180.0 }), levels), "fail within a level"),
            a_stronger_noise_holds_no_weaker_one: !says.call(noisy, "fail within a level"),
            on_the_way: !says.call(way, "fail within a level"),
            one_change_is_no_search: !says.call(look.call(search::random(#{ questions: 1 }), levels), "fail within a level"),
        }"#,
    );
}

/// A number for the wrong factor, or fewer values than a factor of whole numbers has: all of these are tried whatever it says.
#[test]
fn a_grid_that_does_not_fit_its_factors_is_refused() {
    let look = |grid: &str| {
        format!(
            r#"
            let ds = data::glyphs(#{{ n: 4, size: 16, seed: 1 }});
            let f = model::train(ds, #{{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }});
            let space = space::factors([#{{ name: "shift", choices: [0, 1, 2, 3] }}, #{{ name: "turn", min: 0, max: 1 }}], |x, s| x);
            examine(f, ds, #{{ space: space, search: search::strongest(#{{ grid: {grid} }}) }}).len()"#
        )
    };
    refused(&look("[2, 4]"), "`grid` asks for 2 values of factor \"shift\", which has 4 of its own");
    refused(&look("[2, 4]"), "the numbers are for");
    assert_eq!(run(&look("[4, 2]")).unwrap().summary(), "4");
    // A member's, before those before it have asked anything.
    truths(
        r#"
        let ds = data::glyphs(#{ n: 4, size: 16, seed: 1 });
        let asked = 0;
        let f = model::from(|x| { asked += 1; tensor::zeros([x.shape[0], 10]) });
        let space = space::factors([#{ name: "shift", choices: [0, 1, 2, 3] }, #{ name: "turn", min: 0, max: 1 }], |x, s| x);
        let search = search::worst([search::random(#{ questions: 2 }), search::strongest(#{ grid: [2, 4] })]);
        let said = "";
        try { examine(f, ds, #{ space: space, search: search }); } catch (e) { said = e.message; }
        #{ refused: said.contains("`grid` asks for 2 values"), before: asked == 0 }"#,
    );
}

/// A program made for colour whose normalisation makes three channels of one, and one that is made for grey.
#[test]
fn grey_images_in_the_place_of_colour_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, channels: i64| {
        let weights = (Tensor::arange(channels * 256 * 3, (Kind::Float, Device::Cpu)) * 0.7).sin().reshape([-1, 3]);
        let means = Tensor::full([1, channels, 1, 1], 0.5, (Kind::Float, Device::Cpu));
        let mut forward = |given: &[Tensor]| vec![(&given[0] - &means).flatten(1, -1).matmul(&weights)];
        let example = Tensor::rand([4, channels, 16, 16], (Kind::Float, Device::Cpu));
        let program = tch::CModule::create_by_tracing(name, "forward", &[example], &mut forward).unwrap();
        program.save(folder.path().join(name).with_extension("pt")).unwrap();
    };
    save("colour", 3);
    save("grey", 1);
    super::inputs::truths_in(
        folder.path(),
        r#"
        let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
        let said = |name| {
            let f = model::load(name);
            f.predict(ds);
            f.cautions.some(|said| said.contains("three equal channels"))
        };
        #{ colour: said.call("colour.pt"), grey: !said.call("grey.pt") }"#,
    );
}

/// The same answers of scores that lie ten times nearer to one another are called no more robust without a word.
#[test]
fn a_softmax_that_is_hardly_sure_of_right_answers_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str| super::run_in(folder.path(), script).unwrap_or_else(|error| panic!("{error}"));
    let begin = "let ds = data::glyphs(#{ n: 300, size: 16, position: \"centred\", margin: 0, seed: 1 });
        let layers = [net::flatten(), [\"l\", net::linear(10)]];";
    run(&format!(
        "{begin} model::train(ds, #{{ arch: layers, epochs: 60, lr: 0.01, seed: 1 }}).save(\"f.safetensors\");"
    ));
    let weights = Tensor::read_safetensors(folder.path().join("f.safetensors")).unwrap();
    let near: Vec<_> = weights.into_iter().map(|(name, tensor)| (name, tensor * 0.05)).collect();
    Tensor::write_safetensors(&near, folder.path().join("near.safetensors")).unwrap();
    let found = run(&format!(
        r#"{begin}
        let f = model::load("f.safetensors");
        let near = model::load("near.safetensors", #{{ arch: layers, input: [1, 16, 16] }});
        let told = |result| result.cautions.some(|said| said.contains("pulls at all classes alike"));
        let by = |f, search, objective| examine(f, ds, #{{
            space: space::pixels("linf", #{{ bounds: [0, 1] }}), search: search, objective: objective, levels: [0.02], seed: 1,
        }});
        let plain = objective::misclassify();
        let bim = search::bim(#{{ steps: 2 }});
        #{{
            same: (f.predict(ds) == near.predict(ds)).mean() > 0.99, able: f.accuracy(ds) > 0.8, told: told.call(by.call(near, bim, plain)),
            sure: !told.call(by.call(f, bim, plain)), by_scores: !told.call(by.call(near, bim, plain.loss("dlr"))),
            blind: !told.call(by.call(near, search::square(#{{ questions: 4 }}), plain)),
            // Of data that were asked about before it is not.
            whose: {{ f.accuracy(data::from(ds.images() * 0.01, ds.labels)); !told.call(by.call(f, bim, plain)) }},
            curve: told.call(tolerance::curve(by.call(near, search::apgd(#{{ steps: 2 }}), plain))),
        }}"#
    ));
    super::truths::hold(&found);
}

#[test]
fn parts_of_a_weight_are_not_taken_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, bias) =
        (Tensor::ones([3, 16], (Kind::Float, Device::Cpu)), Tensor::ones([3], (Kind::Float, Device::Cpu)));
    let kept = [
        (["weight_orig", "weight_mask"], "prune.remove"),
        (["weight_v", "weight_g"], "remove_weight_norm"),
        (["parametrizations.weight.original", "parametrizations.weight.0._u"], "remove_parametrizations"),
    ];
    for (parts, call) in kept {
        let named = |part: &str| format!("l.{part}");
        let tensors = [(named(parts[0]), &whole), (named(parts[1]), &whole), (named("bias"), &whole)];
        Tensor::write_safetensors(&tensors, folder.path().join("parts.safetensors")).unwrap();
        let script = format!(
            "model::load(\"parts.safetensors\", #{{ arch: [net::flatten(), [\"l\", net::linear(3)]], input: [1, 4, 4], names: #{{ \"l.{}\": \"l.weight\" }}, \
             ignore: [\"l.{}\"] }})",
            parts[0], parts[1]
        );
        let error = super::run_in(folder.path(), &script).map(|value| value.summary()).expect_err(&script);
        assert!(error.contains("none is the weight") && error.contains(call), "{error}");
        // Of a part that nobody uses nothing is to be said.
        let used = [("l.weight".to_string(), &whole), ("l.bias".into(), &bias)];
        let beside = parts.map(|part| (format!("aux.{part}"), &whole));
        Tensor::write_safetensors(&[&used[..], &beside].concat(), folder.path().join("beside.safetensors")).unwrap();
        let script = "model::load(\"beside.safetensors\", #{ arch: [net::flatten(), [\"l\", net::linear(3)]], input: [1, 4, 4], ignore: [\"aux\"] }).classes";
        super::run_in(folder.path(), script).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Every label of a sigmoid's answers would count as there.
#[test]
fn binary_labels_of_probabilities_are_refused() {
    let examined = |answers: &str| {
        format!(
            "let ds = data::glyphs(#{{ n: 20, size: 16, seed: 1 }}).relabel(|row| 0);
             let f = model::from(|x| {{ let s = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]) * 20 - 8; {answers} }}, #{{ classes: 3 }});
             examine(f, ds, #{{ space: space::noise(0.1), search: search::random(#{{ questions: 3 }}), objective: objective::labels([0, 1], #{{ negative: [2] }}) }}).len()"
        )
    };
    let scores = "tensor::concat([s, -s, s * 2], 1)";
    assert!(run(&examined(scores)).is_ok());
    refused(&examined(&format!("1 / (1 + (-({scores})).exp())")), "every label would count as there");
    // Such as are never sure, and may be scores.
    let told = "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 }).relabel(|row| 0);
        let f = model::from(|x| x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]) * tensor::from([0.1, 0.2]) + 0.4, #{ classes: 2 });
        let t = examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 3 }), objective: objective::labels([0, 1]) });
        #{ told: t.cautions.some(|said| said.contains(\"nothing was looked for\")) }";
    truths(told);
}

/// Steep steps of pixels lead DeepFool far beyond the least change that fails; a plain network leads it there.
#[test]
fn a_search_that_went_far_astray_says_so() {
    truths(&with_golden(
        "stepped",
        r#"
        let images = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let read = data::from(images.images(), f.predict(images), #{ classes: images.classes });
        let plain = model::train(images, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        let space = space::pixels("l2", #{ bounds: [0, 1] });
        let found = |f, ds| examine(f, ds, #{ space: space, search: search::deepfool(), seed: 1 });
        let said = |t| t.cautions.some(|said| said.contains("missed far smaller changes"));
        let stepped = found.call(f, read);
        #{
            told: said.call(stepped), plain: !said.call(found.call(plain, images)),
            sizes: tolerance::smallest_change(stepped).cautions.some(|said| said.contains("bounds from above")),
        }"#,
    ));
}

/// A coin that is tossed once for a batch falls the same way nearly always: that it was tossed shows in the numbers that are drawn next.
#[test]
fn a_network_that_tosses_a_coin_for_all_images_is_told_of_before_it_falls_otherwise() {
    let [tossed, halved, seldom, seeded, turned] =
        ["tossed", "halved", "seldom", "seeded", "drawing_turned"].map(golden);
    truths(&format!(
        r#"
        let ds = data::glyphs(#{{ n: 12, size: 16, seed: 1 }});
        let asked = |path| {{ let f = model::load(path, #{{ input: [1, 16, 16] }}); f.accuracy(ds); f }};
        let says = |cautions, words| cautions.some(|said| said.contains(words));
        let certified = |f, words| says.call(robustness::certify(f, ds, #{{ sigma: 0.1, select: 10, samples: 20, seed: 1 }}).cautions, words);
        let may = "draws random numbers while it answers";
        let share = "images asked about together share its draws";
        let tossed = asked.call({tossed:?});
        let halved = asked.call({halved:?});
        // Its gradient points the wrong way, which a draw that changes nothing does not hide.
        let turned = asked.call({turned:?});
        let large = tossed.resized([1, 32, 32]);
        large.accuracy(data::glyphs(#{{ n: 12, size: 32, seed: 1 }}));
        #{{
            tossed: says.call(tossed.cautions, may), drawn: certified.call(tossed, "of which it shows that it draws"),
            halved: says.call(halved.cautions, share), uncertified: certified.call(halved, "these radii are not certified"),
            resized: says.call(large.cautions, may),
            each: {{ let f = asked.call({seldom:?}); says.call(f.cautions, may) && !says.call(f.cautions, share) }},
            seeded: asked.call({seeded:?}).cautions.is_empty(),
            turned: says.call(turned.cautions, may) && says.call(turned.cautions, "along its gradient"),
        }}"#
    ));
}

/// What goes to the edge of a ball by design says nothing of least changes.
#[test]
fn a_search_is_not_taken_for_astray_by_what_another_one_found() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 40, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        let searches = search::worst([search::apgd(#{ steps: 20 }), search::fmn(#{ steps: 20 })]);
        let t = examine(f, ds, #{ space: space::pixels("l2", #{ radius: 3.0, bounds: [0, 1] }), search: searches, seed: 1 });
        #{ all: t.success_rate() == 1.0, silent: !t.cautions.some(|said| said.contains("missed far smaller changes")) }"#,
    );
}
