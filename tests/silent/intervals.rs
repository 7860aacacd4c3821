//! Intervals that rest on too few, or on what is not independent.

use super::inputs::{Outcome, truths_in};
use super::{refused, truths};

const SETTINGS: &str = r#"
    let space = space::factors([#{ name: "a", min: 0.0, max: 1.0 }], |z, s| z * 0 + s.a);
    let scored = |wrong| model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0, (on > 1 - wrong).where(1, -1)], 1) }, #{ classes: 2 });
    let objects = |n| data::from(tensor::zeros([n, 1, 1, 1]), tensor::zeros([n]).values());
    let asked = |f, n, questions| examine(f, objects.call(n), #{ space: space, search: search::random(#{ questions: questions }), seed: 1 });
    let told = |result, words| result.cautions.some(|said| said.contains(words));
"#;

/// A model and what says the same with other digits: neither takes larger changes.
#[test]
fn sizes_that_rounding_parts_are_the_same() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        let of = |m| examine(m, ds, #{ space: space::pixels("l2"), search: search::deepfool(), seed: 1 });
        let c = tolerance::compare_changes(of.call(f), of.call(f.averaged(#{ draws: 2, seed: 1 })));
        #{ none: c.larger == 0 && c.decided == 0, all: c.equal == c.seeds && c.seeds > 20 }"#,
    );
}

/// Windows of the same pictures are not independent of each other, though no two are copies.
#[test]
fn parts_of_the_same_pictures_are_told() {
    truths(
        r#"
        let picture = |seed| tensor::uniform([1600], #{ seed: seed }).reshape([40, 40]);
        let window = |of, y, x| {
            let rows = []; let columns = [];
            for i in 0..24 { rows.push(y + i); columns.push(x + i); }
            of.pick(rows).transpose().pick(columns).transpose().reshape([1, 1, 24, 24])
        };
        let f = model::from(|x| tensor::zeros([x.len(), 2]), #{ classes: 2 });
        let told = |windows| {
            let ds = data::from(tensor::concat(windows), windows.map(|one| 0), #{ classes: ["a", "b"] });
            let t = examine(f, ds, #{ space: space::rotate(5), search: search::random(#{ questions: 1 }), seed: 1 });
            t.cautions.filter(|it| it.contains("30 of the 30 images of from show parts of the same pictures")).len()
        };
        let tiles = []; let apart = [];
        for i in 0..10 {
            for k in 0..3 {
                tiles.push(window.call(picture.call(i), 2 * k, 3 * k));
                apart.push(window.call(picture.call(100 + 10 * i + k), 2 * k, 3 * k));
            }
        }
        #{ tiles: told.call(tiles) == 1, apart: told.call(apart) == 0 }"#,
    );
}

#[test]
fn what_never_varied_is_not_known_exactly() {
    truths(&format!(
        r#"{SETTINGS}
        let never = robustness::expected(asked.call(scored.call(0.0), 5, 10));
        let few = robustness::worst(asked.call(scored.call(0.5), 100, 10));
        let many = robustness::worst(asked.call(scored.call(0.05), 100, 3));
        #{{
            right: never.accuracy_mean[9] == 1.0 && never.accuracy_mean_hi[9] == 1.0,
            not_surely: never.accuracy_mean_lo[9] < 0.7 && never.accuracy_mean_lo[9] > 0.2,
            few: told.call(never, "5 objects are few"), alike: told.call(never, "losses of all 5 are the same"),
            settled: !told.call(many, "objects are few") && !told.call(many, "the same"),
            uneven: told.call(few, "losses of 100 are so uneven"),
        }}"#
    ));
}

#[test]
fn shares_that_hold_of_objects_chosen_by_them_hold_of_all() {
    truths(&format!(
        r#"{SETTINGS}
        let found = robustness::worst(asked.call(scored.call(0.15), 400, 20));
        let one = robustness::worst(asked.call(scored.call(0.0), 1, 20));
        #{{
            some: found.never_failed > 2 && found.never_failed < 40, true_of_them: found.excluded_mass > 0.15,
            bonferroni: abs(found.excluded_mass - (1 - (0.05 / 400) ** (1.0 / 20))) < 1e-9, of_one: abs(one.excluded_mass - (1 - 0.05 ** 0.05)) < 1e-9,
            said: found.conclusion.contains("any one's settings") && one.conclusion.contains("of its settings"),
        }}"#
    ));
}

const SIZES: &str = r#"
    let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });
    let attacked = |ds, objective| examine(f, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search::fmn(#{ steps: 30 }), objective: objective });
    let told = |result, words| result.cautions.some(|said| said.contains(words));
"#;

#[test]
fn sizes_are_of_one_row_for_each_image() {
    let each = format!("{SIZES} let each = attacked.call(ds.take(5), objective::each_wrong());");
    refused(&format!("{each} tolerance::smallest_change(each)"), "several rows of one image");
    refused(&format!("{each} tolerance::compare_changes(each, each)"), "t.group(\"target\")");
    truths(&format!(
        r#"{SIZES}
        let t = attacked.call(ds, objective::misclassify());
        let least = attacked.call(ds.take(2), objective::misclassify());
        let sizes = [least[0].magnitude, least[1].magnitude];
        let two = tolerance::smallest_change(least);
        let half = abs(sizes[0] - sizes[1]) / 2;
        #{{
            equal: told.call(tolerance::compare_changes(t, t), "differences of sizes of all"),
            sizes: !told.call(tolerance::smallest_change(t), "mean is mostly too narrow"),
            // Student's law of one degree of freedom.
            student: abs(two.mean_hi - two.mean - 12.706 * half) < 1e-3,
        }}"#
    ));
}

#[test]
fn losses_of_few_wrong_answers_are_told() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 600, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds.take(400), #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });
        let measured = |f, ds| calibration::measure(examine(f, ds, #{ space: space::noise(0.0), search: search::random(#{ questions: 1 }), measures: ["confidence", "nll", "brier"] }));
        let told = |result, words| result.cautions.some(|said| said.contains(words));
        let blind = model::from(|x| f.logits(1 - x), #{ classes: 10 });
        #{
            few: told.call(measured.call(f, ds.select(400..600)), "answers are wrong: NLL and Brier are mostly of those"),
            many: !told.call(measured.call(blind, ds.select(400..600)), "NLL and Brier are mostly of those"),
        }"#,
    );
}

#[test]
fn margins_that_a_few_images_decide_are_told() {
    truths(
        r#"
        let told = |result, words| result.cautions.some(|said| said.contains(words));
        // Image i has the margin that its pixel says.
        let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on, on * 0], 1) }, #{ classes: 2 });
        let of = |pixels| data::from(tensor::from(pixels).reshape([pixels.len(), 1, 1, 1]), pixels.map(|x| 0));
        let curve = |pixels| tolerance::measure(f, of.call(pixels), #{ space: space::noise(#{ bounds: [0, 1] }), levels: [1e-9] });
        let even = [];
        let uneven = [];
        for i in 0..40 { even.push(i / 40.0); uneven.push(if i < 2 { 0.0 } else { 1.0 }); }
        let two = curve.call([0.25, 0.75]);
        #{ even: !told.call(curve.call(even), "mean margin"), uneven: told.call(curve.call(uneven), "mean margin"), two: two.margin_hi[1] - two.margin_lo[1] > 0.5 }"#,
    );
}

#[test]
fn views_of_few_objects_are_no_independent_images() {
    truths(
        r#"
        let told = |result, words| result.cautions.some(|said| said.contains(words));
        let several = data::views(data::objects(#{ n: 4, size: 16 }), #{ n: 5, seed: 1 });
        let f = model::from(|x| tensor::zeros([x.len(), several.classes.len()]));
        let noisy = |ds| examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }), seed: 1 });
        #{
            several: told.call(noisy.call(several), "the 20 images of views of objects are views of 4 objects"),
            one_each: !told.call(noisy.call(several.select([0, 5, 10, 15])), "are views of"),
        }"#,
    );
}

/// A picture's alpha is left out, as by all that read RGB; what is hidden under it is then examined.
#[test]
fn pictures_that_are_see_through_are_told() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (name, alpha) in [
        ("glass/a/1.png", 0),
        ("glass/a/2.png", 255),
        ("glass/b/3.png", 255),
        ("plain/a/1.png", 255),
        ("plain/b/2.png", 255),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        let mut picture = image::RgbaImage::from_pixel(9, 9, image::Rgba([200, 10, name.len() as u8, 255]));
        picture.put_pixel(4, 4, image::Rgba([1, 2, name.as_bytes()[8], alpha]));
        picture.save(path)?;
    }
    truths_in(
        folder.path(),
        r#"
        let glass = data::load("glass");
        let plain = data::load("plain");
        let f = model::from(|x| tensor::zeros([x.len(), 2]));
        let said = |ds| examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }), seed: 1 }).cautions.filter(|s| s.contains("see-through"));
        #{
            glass: said.call(glass)[0].contains("1 of the 3 pictures of glass") && `${glass}`.contains("1 see-through in parts"),
            plain: said.call(plain).len() == 0 && !`${plain}`.contains("see-through"), joined: said.call(plain.join(glass))[0].contains("1 of the 5"),
        }"#,
    );
    Ok(())
}

/// Three errors against none on twenty images are nothing that swapping their answers would not make by chance, and two labels tell of one bit at most.
#[test]
fn a_difference_by_a_few_images_is_none() {
    truths(
        r#"
        let pixels = |wrong| {
            let all = [];
            for i in 0..20 { let label = i % 2; all.push([(if i < wrong { 1 - label } else { label }) * 0.8 + 0.005 * i, label * 0.8 + 0.005 * i]); }
            all
        };
        let labels = [];
        for i in 0..20 { labels.push(i % 2); }
        let column = |place| model::from(|x| { let a = x.reshape([x.len(), 2]).pick([place], 1); tensor::concat([0.5 - a, a - 0.5], 1) }, #{ classes: 2 });
        let compared = |wrong| {
            let ds = data::from(tensor::from(pixels.call(wrong)).reshape([20, 1, 1, 2]), labels, #{ classes: ["a", "b"] });
            let curve = |f| tolerance::curve(examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.0, 0.00001], seed: 1 }), #{ seed: 1 });
            tolerance::difference(curve.call(column.call(0)), curve.call(column.call(1)), #{ seed: 1 })
        };
        let few = compared.call(3);
        let seven = compared.call(7);
        let most = compared.call(20);
        #{
            "three may be chance": few.area_lo <= 0.0 && few.area > 0.4 && few.mi_lo.all(|lo| lo <= 0.0),
            "seven are not, as 2 of 128 ways to swap make as much": seven.area_lo > 0.0 && seven.mi_lo.all(|lo| lo > 0.0),
            "no more than a bit": few.area_hi <= 1.0 && few.mi_hi.all(|hi| hi <= 1.0),
            "all wrong tells as much as all right": abs(most.area) < 0.001 && (most.area_lo ?? 0.0) <= 0.0 && (most.area_hi ?? 0.0) >= 0.0,
        }"#,
    );
}

/// Of a label that was not drawn it is not known how well it would have been told.
#[test]
fn labels_that_do_not_occur_may_be_told_of() {
    truths(
        r#"
        let zeros = tensor::zeros([100]).values();
        let found = info::interval(zeros, zeros, #{ classes: 2 });
        let y = [];
        let half = [];
        for i in 0..30 { y.push(if i < 2 { 1 } else { 0 }); half.push(i % 2); }
        let rare = info::interval(y, y, #{ classes: 2 });
        #{
            "as far as three in a hundred could be": found.hi > 0.19 && found.hi < 0.2,
            "it is said": found.cautions.some(|c| c.contains("one label alone of 2 occurs")),
            "two of thirty are few": rare.cautions.some(|c| c.contains("fewer than ten")),
            "half of thirty are not": info::interval(half, half, #{ classes: 2 }).cautions == [],
            "surer intervals reach farther": info::interval(zeros, zeros, #{ classes: 2, delta: 0.001 }).hi > 0.3,
        }"#,
    );
}

#[test]
fn a_share_that_a_network_makes_more_precise_stays_one() {
    truths(
        r#"
        let yes = tensor::zeros([50]) + 1;
        let others = tensor::zeros([100]) + 1;
        let almost = [];
        for i in 0..50 { almost.push(if i == 0 { 0 } else { 1 }); }
        let all = people::prediction_powered(yes.values(), yes.values(), others.values());
        let most = people::prediction_powered(almost, yes.values(), others.values());
        #{
            "people's own has a width": all.people_lo < 0.95 && all.people_hi == 1.0,
            "none lies above 1": most.mean_hi <= 1.0 && most.people_hi <= 1.0,
        }"#,
    );
}
