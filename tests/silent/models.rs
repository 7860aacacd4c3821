//! Models and searches that mislead: bounds, probabilities, weights and labels that are not what they seem.

use tch::{Device, Kind, Tensor};
use viva::model::Model;

use super::{golden, refused, run, traced, truths, with_golden};

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
    // Of another label it draws something else; its own noise is no fault of a classifier.
    truths(&format!(
        r#"import "std/activations" as activations;
           let conditional = generator::load("{}", #{{ latent: 4 }});
           let noisy = {};
           let scripted = model::load("{}", #{{ input: [1, 16, 16] }});
           let how = #{{ n: 8, samples: 20, steps: 3, target: "any", labels: [2], seed: 1 }};
           let by_noise = generator::perturb(noisy, scripted, how);
           let redrawn = |of| of.cautions.some(|said| said.contains("draws another image"));
           let groups = how + #{{ groups: #{{ all: [0] }} }};
           #{{
               forgotten: conditional.cautions.some(|said| said.contains("draws something else for another label")),
               said: !noisy.cautions.some(|said| said.contains("for another label")),
               figures: [activations::granularities(noisy, scripted, groups), activations::samples(noisy, scripted, how), activations::growing(noisy, scripted, how + #{{ frames: 2 }}),
                   activations::examination(noisy, #{{ scripted: scripted }}, groups).kept[0]].map(redrawn) == [true, true, true, true],
               deterministic: by_noise.cautions.some(|said| said.contains("draws another image")) && !by_noise.cautions.some(|said| said.contains("answers otherwise")),
               // It goes by the lead of wrong classes, whatever a softmax makes of the scores.
               by_the_lead: !by_noise.cautions.some(|said| said.contains("cross entropy that the search goes by")),
           }}"#,
        golden("staged_noisy"),
        load("staged_noisy", ""),
        golden("stepped"),
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
               // It takes no notice of latent vectors.
               apart: {}.cautions.all(|said| said.contains("draws one image of two latent vectors")), leaving: {}.cautions == [],
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
