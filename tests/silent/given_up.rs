//! What a search gave up on, what a generator never saw, and what was told once of several.

use super::{truths, warnings};

/// A network whose scores are multiplied decides as it did before. A search that its gradient can't move says nothing of it.
#[test]
fn images_that_a_search_gave_up_on_are_not_like_the_others() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let taught = data::glyphs(#{ n: 1000, size: 16, position: "centred", margin: 0, seed: 2 });
        let plain = model::train(taught, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        plain.save("plain.safetensors");
        let sharper = |times| model::load("plain.safetensors", #{ std: [1.0 / times] });
        let told = |cautions, words| cautions.some(|said| said.contains(words));
        let by = |f, search| examine(f, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search, seed: 1 });
        let a = by.call(plain, search::ddn());
        let b = by.call(sharper.call(60), search::ddn());
        let none = by.call(sharper.call(1000), search::ddn());
        let near = tolerance::compare_changes(a, by.call(sharper.call(8), search::ddn()));
        let truth = tolerance::smallest_change(a);
        let known = tolerance::smallest_change(b);
        let both = tolerance::compare_changes(a, b);
        let whole = tolerance::compare_changes(a, by.call(plain, search::fmn()));
        // Images whose changes were bounded alike are followed as far as each other.
        let ball = tolerance::smallest_change(examine(plain, ds, #{ space: space::pixels("l2", #{ radius: truth.median, bounds: [0, 1] }), search: search::fmn(), seed: 1 }));
        let short = by.call(plain, search::carlini_wagner(#{ steps: 10, rounds: 4 }));
        #{
            unknown: known.fooled < known.seeds / 2 && known.mean == () && known.median == () && told.call(known.cautions, "a mean or a median of all is ()"),
            holds: known.mean_lo < 0.1 && known.mean_hi >= known.up_to - 0.0001 && (known.median_hi == () || known.median_hi > truth.median),
            compared: both.larger_by == () && both.second == () && both.first > 0.0 && both.larger_by_lo < 0.0 && both.up_to < truth.up_to,
            all_known: truth.mean > 0.0 && !told.call(truth.cautions, "given up") && whole.larger_by != (),
            bounded: ball.fooled < ball.seeds && ball.mean != () && !told.call(ball.cautions, "given up"),
            none: { let of = tolerance::compare_changes(a, none); of.larger_by == () && of.larger_by_lo == () && of.first == () && of.only_first == 60 },
            // The same decisions: what differs is the search's doing.
            near: near.larger_by.abs() < 0.06 && (near.larger_by_lo <= 0.0 && near.larger_by_hi >= 0.0 || told.call(near.cautions, "may be the search's")),
            // Fewer than half failed, and the others were moved as far but for rounding.
            fewer: { let of = tolerance::smallest_change(examine(plain, ds, #{ space: space::pixels("l2", #{ radius: 0.8 * truth.median, bounds: [0, 1] }), search: search::bim(#{ steps: 10 }), seed: 1 }));
                     of.fooled < 30 && of.median == () && of.median_hi == () && !told.call(of.cautions, "given up") },
            // What is known goes by the images that are compared.
            paired: { let moved = b.filter(|row| row.fooled); moved.len() == 0 || tolerance::compare_changes(a, moved).larger_by != () },
            rounds: told.call(short.cautions, "a constant that is still too large"),
        }"#,
    );
}

/// The moves of images differ where each search ends where it likes: the interval holds whether those that did not fail need hardly more, or
/// never fail.
#[test]
fn intervals_hold_whatever_images_need_that_were_given_up() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });
        let least = tolerance::smallest_change(examine(f, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search::fmn(), seed: 1 }));
        let early = examine(f, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search::deepfool(#{ steps: 1 }), seed: 1 });
        let known = tolerance::smallest_change(early);
        let same = tolerance::compare_changes(early, early);
        let given_up = known.cautions.some(|said| said.contains("were given up at a smaller size"));
        #{
            some: known.fooled > 3 && known.fooled < known.seeds && given_up,
            wide: known.mean_lo < known.mean && (known.mean_hi == known.up_to || known.mean_hi > known.mean),
            holds: known.median_lo <= least.median_hi && (known.median_hi == () || known.median_hi >= least.median),
            itself: same.larger_by == 0.0 && same.larger_by_lo < -0.01 && same.larger_by_hi > 0.01,
        }"#,
    );
}

/// Classes without an image are none that a generator draws, whatever it calls its labels; its file says so, too.
#[test]
fn labels_that_a_generator_never_saw_are_told_of() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let arch = #{
            generator: [[net::linear(128), net::relu(), net::reshape(8, 4, 4)], [net::upsample(4), net::conv(1, 3, #{ pad: 1 })]],
            discriminator: [net::conv(8, 4, #{ stride: 2 }), net::leaky_relu(0.2), net::flatten()],
        };
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });
        let told = |cautions, words| cautions.some(|said| said.contains(words));
        let of = |images| generator::train(images, #{ arch: arch, steps: 2, batch: 4, seed: 1 });
        let g = of.call(ds.only([0, 1]));
        g.save("two.safetensors");
        let loaded = generator::load("two.safetensors");
        let tests = generator::tests(g, f, #{ n: 3, draws: 40, seed: 1 });
        let finetuned = generator::finetune(g, f, ds.only([1, 2]), #{ steps: 1, batch: 4, seed: 1 });
        #{
            trained: told.call(g.cautions, "no image of 8 of its 10 labels"), all: !told.call(of.call(ds).cautions, "learned from no image"),
            loaded: told.call(loaded.cautions, "no image of 8 of its 10 labels"), tests: told.call(tests.cautions, "no image of 8 of its 10 labels"),
            finetuned: told.call(finetuned.cautions, "no image of 7 of its 10 labels (3, 4, 5, 6, 7, 8, 9)"),
        }"#,
    );
}

/// Where a search that settles left images right, what it is known to miss stands beside them; random questions among its own are counted as such.
#[test]
fn searches_that_settle_say_what_they_miss() {
    truths(
        r#"
        let n = 4;
        let ds = data::from(tensor::zeros([n, 1, 1, 1]), tensor::zeros([n]).values(), #{ classes: ["right", "wrong"] });
        let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 3.0, on * 4], 1) }, #{ classes: 2 });
        let ranges = ["a", "b", "c", "d"].map(|name| #{ name: name, min: 0, max: 1 });
        let of = |top, search| examine(f, ds, #{ space: space::factors(ranges, |z, s| z * 0 + top * s.a), search: search, seed: 1 });
        let told = |t| t.cautions.some(|said| said.contains("so ask these too"));
        let never = |search| told.call(of.call(0.7, search));
        let policy = robustness::worst(of.call(0.7, search::policy(#{ questions: 800 })));
        let paper = robustness::worst(of.call(0.7, search::policy(#{ questions: 800, random_share: 0 })));
        #{
            policy: never.call(search::policy(#{ questions: 800 })), evolution: never.call(search::evolution(#{ questions: 600 })),
            random: !never.call(search::random(#{ questions: 600 })), failed: !told.call(of.call(1.0, search::policy(#{ questions: 800 }))),
            last: { let of = robustness::worst(of.call(0.7, search::policy(#{ questions: 8, batch: 1 }))); of.last[7] == of.last[6] },
            drawn: policy.random_asked == 200 && policy.excluded_mass < 0.05, paper: paper.random_asked == 0,
        }"#,
    );
}

/// What is warned of one model is not taken for told of another that has its name.
#[test]
fn warnings_are_of_each_model() {
    let warned = warnings(
        r#"
        let ds = data::glyphs(#{ n: 40, size: 16, position: "centred", margin: 0, seed: 1 });
        let of = |seed| model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: seed });
        let f = of.call(1);
        let g = of.call(2);
        let h = model::from(|x| { f.accuracy(ds); x.reshape([x.len(), -1]) }, #{ classes: 256 });
        h.logits(ds.take(2));
        f.accuracy(ds); g.accuracy(ds); f.accuracy(ds); g.accuracy(ds)"#,
    );
    let learned: Vec<&String> = warned.iter().filter(|said| said.contains("learned from 40 of the 40")).collect();
    assert_eq!(learned.len(), 2, "{warned:?}");
    assert!(learned[1].contains("so for another of that name"), "{learned:?}");
}

/// Tables are read as they were written.
#[test]
fn numbers_that_are_none_are_read_as_numbers() {
    truths(
        r#"
        [#{ a: 1.5, name: "NaN", only: "inf" }, #{ a: 0.0 / 0.0, name: "x", only: "NaN" }, #{ a: -1.0 / 0.0, name: "inf", only: "inf" }].save("a.csv");
        let rows = data::csv("a.csv");
        #{
            numbers: rows.map(|row| type_of(row.a)) == ["f64", "f64", "f64"] && rows[2].a < -1e300 && rows[1].a != rows[1].a,
            names: rows[0].name == "NaN" && rows[2].name == "inf", nothing_else: rows[0].only == "inf",
        }"#,
    );
}
