//! Answers that go by more than the image: by its batch, by what was asked before, or by chance.

use tch::Kind;

use super::{golden, refused, traced, truths, with_golden};

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
        let copies = data::from(ds.images().pick([0, 0, 0, 0, 0, 0, 0, 0]), [0, 0, 0, 0, 0, 0, 0, 0]);
        let of_copies = |closure| { let model = model::from(closure, #{ classes: 10 }); model.predict(copies); model.cautions };
        let hidden = of_copies.call(|x| f.logits(x) - 0.5 * f.logits(x).mean(0));
        #{
            mixing: mixing.len() == 1 && "depends on the others in its batch" in mixing[0],
            counting: counting.len() == 1 && "depends on how many others are in its batch" in counting[0],
            alone: alone.is_empty(),
            hidden: hidden.len() == 1 && "depends on the others in its batch" in hidden[0],
            black: (|| {
                let black = data::from(tensor::zeros([8, 1, 16, 16]), [0, 0, 0, 0, 0, 0, 0, 0]);
                let model = model::from(|x| f.logits(x) - 0.5 * f.logits(x).mean(0), #{ classes: 10 });
                model.predict(black);
                model.cautions.some(|said| "depends on the others in its batch" in said)
            }).call(),
            steady: of_copies.call(|x| f.logits(x)).is_empty(),
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
