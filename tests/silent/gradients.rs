//! What searches along gradients leave right where gradients vanish, lie or lead astray.

use tch::Kind;

use super::{golden, refused, traced, truths, with_golden};

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
            said[`${search}`] = sound.success_rate > 0.5 && sound.cautions.all(|said| said.contains("rounded by") || said.contains("a softmax gives its answers") || said.contains("half a grey level")) && blind.cautions[0].contains("is no number or infinite at 100")
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
