//! What counts as failing is what the objective asks for, in every reading of a transcript.

use super::{refused, truths};

/// A model that is wrong where a pixel is above 0.5, by as much as it is above; one image, and a space that makes it brighter.
const BRIGHTER: &str = r#"
    let f = model::from(|x| { let s = x.reshape([x.len(), 1]); tensor::concat([s * 0 + 0.5, s], 1) }, #{ classes: 2 });
    let of = |labels| data::from(tensor::zeros([labels.len(), 1, 1, 1]), labels, #{ classes: ["a", "b"] });
    let space = |most| space::factors([#{ name: "u", min: 0, max: most }, #{ name: "v", min: 0, max: 1 }], |z, s| z + s.u);
    let asked = |labels, most, how| examine(f, of.call(labels), #{ space: space.call(most), search: search::random(#{ questions: 200 }), seed: 1 } + how);
"#;

#[test]
fn a_failure_that_is_to_be_clear_is_counted_where_it_is() {
    truths(&format!(
        r#"{BRIGHTER}
        let none = asked.call([0], 0.9, #{{ objective: objective::misclassify().confident(0.45) }});
        let some = asked.call([0], 1.0, #{{ objective: objective::misclassify().confident(0.45) }});
        let volume = robustness::level_set(some, ["u", "v"], #{{ bins: 2 }}).volume;
        let wrong = some.questions("wrong").mean();
        let high = ((some.questions("u") - 0.95) * 1e9).clamp(0, 1).mean();
        #{{
            "nothing can fail": none.success_rate() == 0.0 && none.questions("wrong").sum() == 0.0,
            "and the worst case says so": robustness::worst(none).accuracy[199] == 1.0,
            "one in twenty fails": abs(volume - 0.05) < 0.05,
            "those are the settings that are high enough": abs(wrong - high) < 0.001 && wrong > 0.0,
        }}"#
    ));
}

#[test]
fn images_that_have_the_target_as_their_label_count_neither_way() {
    truths(&format!(
        r#"{BRIGHTER}
        let t = asked.call([0, 1, 0, 1], 1.0, #{{ objective: objective::target(1) }});
        let worst = robustness::worst(t);
        let caution = "2 of 4 objects have the target as their label";
        let alone = robustness::worst(asked.call([0, 0], 1.0, #{{ objective: objective::target(1) }}));
        #{{
            "two of them fail": worst.objects == 2 && worst.accuracy[199] == 0.0 && worst.worst[199] > 0.4,
            "it is said": worst.cautions.some(|c| c.contains(caution)),
            "of parts, too": robustness::marginal(t, "u")[0].cautions.some(|c| c.contains(caution)),
            "and of volumes": robustness::level_set(t, ["u", "v"], #{{ bins: 2 }}).cautions.some(|c| c.contains(caution)),
            "no question about them is wrong": t.questions("wrong")[1].sum() == 0.0,
            "nothing is said without any": !alone.cautions.some(|c| c.contains("target as their label")),
        }}"#
    ));
    refused(
        &format!(r#"{BRIGHTER} robustness::worst(asked.call([1, 1], 1.0, #{{ objective: objective::target(1) }}))"#),
        "has the target of target(1) as its label",
    );
}

#[test]
fn a_failure_is_kept_though_another_loss_is_larger_where_there_is_none() {
    truths(
        r#"
        let bright = |x| x.reshape([x.len(), 1]);
        // As it stands right, with little probability; brightened wrong, with more for the label.
        let scores = |s, p, q| ln(p) * (1 - s) + ln(q) * s;
        let f = model::from(|x| { let s = bright.call(x); tensor::concat([
            scores.call(s, 0.21, 0.4), scores.call(s, 0.2, 0.599), scores.call(s, 0.2, 0.0005), scores.call(s, 0.2, 0.0003), scores.call(s, 0.19, 0.0002),
        ], 1) }, #{ classes: 5 });
        let ds = data::from(tensor::zeros([1, 1, 1, 1]), [0], #{ classes: ["a", "b", "c", "d", "e"] });
        let space = space::factors([#{ name: "bright", choices: [false, true] }], |z, s| if s.bright { z + 1 } else { z });
        let out = #{};
        for loss in ["lead", "cross_entropy", "confidence"] {
            for search in [search::random(#{ questions: 20 }), search::strongest(), search::evolution(#{ questions: 20 })] {
                let t = examine(f, ds, #{ space: space, search: search, objective: objective::misclassify().loss(loss), seed: 1 });
                out[`${search} by ${loss}`] = t.success_rate() == 1.0 && robustness::worst(t).accuracy[1] <= 1.0;
            }
        }
        out"#,
    );
}

#[test]
fn levels_that_do_not_begin_at_the_canonical_view_say_so() {
    truths(
        r#"
        let ds = data::objects(["mug", "lamp"], #{ n: 2, size: 16, seed: 1 });
        let f = model::from(|x| x.reshape([x.len(), 3 * 16 * 16]).pick([0, 1], 1), #{ classes: 2 });
        let swept = |factors| examine(f, ds, #{ space: space::render(#{ factors: factors }), search: search::sweep(), levels: [0, 0.5, 1], seed: 1 });
        let said = "level 0 is not the canonical view";
        let beside = swept.call(#{ elevation: [40, 60] });
        let within = swept.call(#{ elevation: [10, 60] });
        let named = beside.cautions.filter(|c| c.contains(said));
        #{
            "what it is instead is said": named.len() == 1 && named[0].contains("elevation 40.0 degrees instead of 20.0 degrees"),
            "nothing where it does": !within.cautions.some(|c| c.contains(said)),
            "sizes are shares of the way": beside.column("magnitude") == [0.0, 0.5, 1.0, 0.0, 0.5, 1.0],
        }"#,
    );
}

#[test]
fn a_space_that_answers_otherwise_when_asked_again_is_refused() {
    let counting = format!(
        r#"{BRIGHTER}
        let calls = 0;
        let counting = space::factors([#{{ name: "u", min: 0, max: 1 }}], |z, s| {{ calls += 1; z + (calls % 7) * 0.1 }});
        examine(f, of.call([0]), #{{ space: counting, search: search::random(#{{ questions: 20 }}), seed: 1 }})"#
    );
    refused(&counting, "another image when it was asked again");
}

#[test]
fn how_large_changes_are_that_no_factor_says_is_not_told_as_0() {
    refused(
        &format!(r#"{BRIGHTER} tolerance::smallest_change(asked.call([0, 0], 0.2, #{{ }}))"#),
        "how large changes of",
    );
    truths(&format!(r#"{BRIGHTER} #{{ "none": asked.call([0], 1.0, #{{ }}).column("magnitude") == [()] }}"#));
}

#[test]
fn objectives_of_several_labels_keep_all_images() {
    truths(
        r#"
        let f = model::from(|x| { let s = x.reshape([x.len(), 1]); tensor::concat([s - 0.5, 0.5 - s], 1) }, #{ classes: 2 });
        let ds = data::from(tensor::from([0.2, 0.3, 0.8, 0.9]).reshape([4, 1, 1, 1]), [0, 0, 0, 0], #{ classes: ["a", "b"] });
        let space = space::factors([#{ name: "u", min: 0, max: 0.01 }], |z, s| z + s.u);
        let t = examine(f, ds, #{ space: space, search: search::random(#{ questions: 3 }), objective: objective::labels([0]), seed: 1 });
        let worst = robustness::worst(t);
        #{ "two are as wanted throughout": worst.objects == 4 && worst.accuracy[2] == 0.5 && !worst.cautions.some(|c| c.contains("as their label")) }"#,
    );
}

/// Of equal scores the first counts, under every objective and measure: whole numbers and votes tie throughout.
#[test]
fn equal_scores_count_for_every_objective_alike() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 120, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });
        let votes = model::from(|x| { let s = f.logits(x); (s >= s.max(1).reshape([-1, 1])) * 1.0 }, #{ classes: 10 });
        let asked = |objective| examine(votes, ds, #{ space: space::noise(0.2), search: search::random(#{ questions: 3 }), objective: objective, measures: ["rank"], seed: 1 });
        let among = |t, k| { let n = 0; for i in 0..t.len() { if t[i].rank <= k { n += 1; } } n };
        let kept = |t| { let n = 0; for i in 0..t.len() { if t[i].after == t[i].label { n += 1; } } n };
        let one = asked.call(objective::misclassify());
        let first = asked.call(objective::top(1));
        let three = asked.call(objective::top(3));
        #{
            first: kept.call(one) == kept.call(first) && kept.call(one) < 110,
            three: kept.call(three) == among.call(three, 3) && kept.call(three) < 120,
        }"#,
    );
}

/// Shares lead each other by 1 at most.
#[test]
fn leads_that_cannot_be_are_refused() {
    let begin = "let ds = data::glyphs(#{ n: 30, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });
        let p = model::from(|x| f.logits(x).softmax(), #{ classes: 10 });
        let asked = |m, lead| examine(m, ds, #{ space: space::noise(0.2), search: search::random(#{ questions: 1 }), objective: objective::misclassify().confident(lead), seed: 1 });";
    refused(&format!("{begin} asked.call(p, 2)"), "can't fail: scores of closure are shares of 1");
    truths(&format!("{begin} #{{ less: asked.call(p, 0.5).len() == 30, scores: asked.call(f, 2).len() == 30 }}"));
}

/// Logarithms of probabilities are never above 0.
#[test]
fn binary_labels_that_never_count_as_there_are_told() {
    let begin = r#"
        let ds = data::from(tensor::uniform([40, 1, 4, 4], #{ seed: 4 }), tensor::zeros([40]), #{ arbitrary_labels: true });
        let scores = |z| { let m = z.reshape([z.len(), 16]); tensor::concat([m.mean(1).reshape([-1, 1]) - 0.6, m.pick(0..8, 1).mean(1).reshape([-1, 1]) - 0.6], 1) * 20 };
        let space = space::factors([#{ name: "light", min: 0, max: 1 }], |z, s| z * 0.3 + s.light * 0.7);
        let asked = |m, objective| examine(m, ds, #{ space: space, search: search::random(#{ questions: 20 }), objective: objective, seed: 1 });
        let told = |t| t.cautions.some(|said| said.contains("no label ever counts as there"));
        let log = model::from(|z| scores.call(z).sigmoid().ln(), #{ classes: 2 });
        let two = model::binary([model::from(|z| scores.call(z), #{ classes: 2 }), model::from(|z| scores.call(z) * -1, #{ classes: 2 })]);
    "#;
    truths(&format!(
        "{begin} #{{
            log: told.call(asked.call(log, objective::labels([0, 1]))) && told.call(asked.call(log, objective::labels([0], #{{ negative: [1] }}))),
            scores: !told.call(asked.call(model::from(scores, #{{ classes: 2 }}), objective::labels([0, 1]))),
        }}"
    ));
    refused(&format!("{begin} two.smoothed(#{{ sigma: 0.1, draws: 2, seed: 1 }})"), "a score for each label by itself");
    refused(
        &format!("{begin} two.averaged(#{{ over: space::noise(0.1), draws: 2, seed: 1 }})"),
        "a score for each label by itself",
    );
}

/// A change that leaves the range of pixels is smaller than any that stays in it.
#[test]
fn searches_that_nothing_bounds_say_so() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 10, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });
        let told = |search, space| examine(f, ds, #{ space: space, search: search, seed: 1 }).cautions.some(|said| said.contains("changes may leave the range of pixels"));
        #{
            adam: told.call(search::adam(#{ steps: 5 }), space::pixels("l2")), polished: told.call(search::adam(#{ steps: 5, polish: 5 }), space::pixels("linf")),
            bim: told.call(search::bim(#{ steps: 2, step: 0.1 }), space::pixels("linf")),
            bounded: !told.call(search::adam(#{ steps: 5 }), space::pixels("l2", #{ bounds: [0, 1] })),
            noise: !told.call(search::random(#{ questions: 1 }), space::noise(0.1)),
        }"#,
    );
}

/// A closure knows by heart what the models that it asks do.
#[test]
fn closures_around_networks_say_what_these_learned_from() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let trained = |seed| model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: seed });
        let f = trained.call(1);
        let g = trained.call(2);
        let both = model::from(|x| f.logits(x) + g.logits(x), #{ classes: 10 });
        let inner = model::from(|x| both.logits(x) * 2, #{ classes: 10 });
        let told = |m, set| examine(m, set, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }), seed: 1 }).cautions.some(|said| said.contains("learned from 60 of the 60 images"));
        #{
            both: told.call(both, ds), inner: told.call(inner, ds), fresh: !told.call(both, data::glyphs(#{ n: 60, size: 16, seed: 2 })),
            own: !told.call(model::from(|x| tensor::zeros([x.len(), 10]), #{ classes: 10 }), ds),
            averaged: told.call(both.averaged(#{ over: space::noise(0.01), draws: 2, seed: 1 }), ds), smoothed: told.call(both.smoothed(#{ sigma: 0.01, draws: 2, seed: 1 }), ds),
        }"#,
    );
}

/// Noise between the least and the largest pixel of an image is none where these are one.
#[test]
fn rows_of_one_number_need_bounds_to_begin_from_noise() {
    let script = |how: &str| {
        format!(
            "let ds = data::from(tensor::from([2.0, 3.0, -2.0]).reshape([3, 1, 1, 1]), [1, 1, 0], #{{ any_range: true }});
            let f = model::from(|x| {{ let s = x.reshape([x.len(), 1]); tensor::concat([s * -1, s], 1) }}, #{{ classes: 2 }});
            let t = examine(f, ds, #{{ space: space::pixels(\"l2\"{how}), search: search::hopskipjump(#{{ questions: 60 }}), seed: 1 }}); #{{ all: t.success_rate() == 1.0 }}"
        )
    };
    refused(&script(""), "all pixels of image 0 are 2");
    truths(&script(", #{ bounds: [-5, 5] }"));
}
