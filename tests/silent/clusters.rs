//! Images that say much the same as others: numbers are known as well as of so many clusters, or what takes all for independent says so.

use super::inputs::{Outcome, truths_in};
use super::{refused, truths};

/// Copies are the plainest clusters, of which tests and intervals must know no more than of their originals.
#[test]
fn clusters_of_copies_say_no_more_than_their_originals() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 2 });
        let trained = |seed| model::train(data::glyphs(#{ n: 300, size: 16, seed: 3 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 3, seed: seed });
        let f = trained.call(1);
        let g = trained.call(2);
        let many = ds.join(ds).join(ds.join(ds));
        let clustered = many.clustered(|row| row.index % 60);
        let told = |result, words| result.cautions.some(|said| said.contains(words));
        let near = |a, b| (a - b).abs() <= 1e-9 * a.abs();
        let all_near = |a, b| near.call(a.pairwise.p, b.pairwise.p) && near.call(a.interval.p, b.interval.p) && near.call(a.difference, b.difference);
        let seen = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 40, lr: 0.01, seed: 1 });
        let alone = risk::estimate(seen, ds, #{ radius: 2, seed: 1 });
        let copied = risk::estimate(seen, many, #{ radius: 2, seed: 1 });
        let counted = risk::estimate(seen, clustered, #{ radius: 2, seed: 1 });
        let measured = |f, ds| tolerance::measure(f, ds, #{ space: space::noise(), levels: [1e-9], seed: 2 });
        let widths = |of| [of.accuracy_hi[1] - of.accuracy_lo[1], of.mi_hi[1] - of.mi_lo[1], of.margin_hi[1] - of.margin_lo[1]];
        let gap = |ds| { let gap = tolerance::difference(measured.call(f, ds), measured.call(g, ds), #{ seed: 1 }); [gap.accuracy_hi[1] - gap.accuracy_lo[1], gap] };
        let as_wide = |a, b| a < 1.35 * b && b < 1.35 * a;
        let one = widths.call(measured.call(f, ds));
        let four = widths.call(measured.call(f, many));
        let curve = measured.call(f, clustered);
        let as_one = widths.call(curve);
        let gap_of_one = gap.call(ds);
        let gap_of_clusters = gap.call(clustered);
        let calibrated = calibration::measure(examine(f, clustered, #{ space: space::noise(0.0), search: search::random(#{ questions: 1 }), measures: ["confidence"], seed: 1 }));
        #{
            tests: all_near.call(alone, counted) && copied.pairwise.p < 0.5 * counted.pairwise.p,
            said: told.call(counted, "the 240 images lie in 60 clusters, each of which tests see once") && !told.call(counted, "take all for independent of each other, and are too narrow"),
            long: `${counted}`.contains("240 images in 60 clusters") && counted.t.len() == 240 && risk::curve(counted, #{ sizes: 2 })[1].m == 240 && risk::curve(counted, #{ sizes: 2 })[0].clusters == 30,
            intervals: as_wide.call(as_one[0], one[0]) && as_wide.call(as_one[1], one[1]) && as_wide.call(as_one[2], one[2]),
            copies: !as_wide.call(four[0], one[0]) && !as_wide.call(four[2], one[2]),
            named: `${curve}`.contains("240 images in 60 clusters"),
            gaps: as_wide.call(gap_of_clusters[0], gap_of_one[0]) && !as_wide.call(gap.call(many)[0], gap_of_one[0]) && `${gap_of_clusters[1]}`.contains("in 60 clusters"),
            others: told.call(calibrated, "lie in 60 clusters: intervals and tests take all for independent"),
        }"#,
    );
}

#[test]
fn clusters_stay_with_their_images() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
        let films = ds.clustered(|row| if row.index < 4 { "film 0" } else if row.index < 8 { "film 1" } else { () });
        let told = |ds, words| { let f = model::from(|x| tensor::zeros([x.len(), 10])); examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }), seed: 1 }).cautions.some(|said| said.contains(words)) };
        let more = data::glyphs(#{ n: 12, size: 16, seed: 2 });
        let both = films.join(more.clustered(|row| if row.index == 0 { "film 1" } else { () }));
        #{
            numbered: films.clusters == [0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 5],
            parts: films.select([9, 5, 0, 4]).clusters == [0, 1, 2, 1] && films.skip(8).clusters == (),
            changed: films.grey().clusters == films.clusters && films.relabel(|row| 1).clusters == films.clusters,
            joined: both.clusters[12] == 1 && both.clusters[13] == 6 && both.len() == 24,
            beside: films.join(more).clusters.len() == 24,
            printed: `${films}`.contains("12 images in 6 clusters") && films.hash != ds.hash,
            told: told.call(films, "the 12 images of glyphs lie in 6 clusters"),
            alone: !told.call(films.skip(8), "clusters"),
            told_apart: films.hash == ds.clustered(|row| if row.index < 4 { 7 } else if row.index < 8 { 9 } else { row.index + 100 }).hash,
            alone_as_before: ds.clustered(|row| ()).hash == ds.hash,
            copies: !told.call(ds.join(ds).clustered(|row| row.index % 12), "are copies of others") && told.call(ds.join(ds).clustered(|row| if row.index < 2 { 0 } else { row.index }), "are copies of others"),
            views: data::views(data::objects(#{ n: 3, size: 16 }), #{ n: 2, seed: 1 }).clusters == [0, 0, 1, 1, 2, 2],
        }"#,
    );
}

/// What learned from some images of a cluster knows the others as well, though it was shown none of them.
#[test]
fn models_know_other_images_of_the_clusters_that_they_learned_from() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let films = ds.clustered(|row| row.index % 30);
        let f = model::train(films.take(30), #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        f.save("f.safetensors");
        let told = |m, ds| examine(m, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }), seed: 1 }).cautions.some(|said| said.contains("learned from other images of the clusters that 100% of the images of glyphs lie in"));
        #{ others: told.call(f, films.skip(30)), saved: told.call(model::load("f.safetensors"), films.skip(30)), alone: !told.call(f, ds.skip(30)) }"#,
    );
}

/// A few clusters that hold most images say little more than so few.
#[test]
fn clusters_of_unlike_sizes_count_as_much_as_they_hold() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 120, size: 16, seed: 2 });
        let f = model::train(data::glyphs(#{ n: 300, size: 16, seed: 3 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 3, seed: 1 });
        let uneven = ds.clustered(|row| if row.index < 60 { 0 } else { row.index });
        let even = ds.clustered(|row| row.index % 61);
        let measured = |ds| tolerance::measure(f, ds, #{ space: space::noise(), levels: [1e-9], seed: 2 });
        let told = |result, words| result.cautions.some(|said| said.contains(words));
        let r = risk::estimate(f, uneven, #{ radius: 1, seed: 1 });
        let mean = 0.0;
        for x in r.t { mean += x / 120; }
        let near = |a, b| (a - b).abs() < 1e-9;
        #{
            told: told.call(measured.call(uneven), "a few of the 61 clusters hold most images: numbers are known as well as of 3.9 that are as large"),
            even: !told.call(measured.call(even), "hold most images"),
            one: near.call(r.difference, mean) && near.call(r.difference, risk::holm(#{ r: r })[0].difference) && near.call(r.difference, r.weighted_error - r.error) && r.clusters == 61,
            whole: near.call(risk::curve(r, #{ sizes: 1 })[0].error, r.error) && risk::curve(r, #{ sizes: 1 })[0].m == 120 && risk::curve(r, #{ sizes: 1 })[0].clusters == 61,
        }"#,
    );
}

/// Whether changes keep labels is known no better from copies, and people who judge them are told.
#[test]
fn calibrations_and_tasks_know_of_clusters() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 2 });
        let f = model::train(data::glyphs(#{ n: 300, size: 16, seed: 3 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 3, seed: 1 });
        let many = ds.join(ds).join(ds.join(ds)).clustered(|row| row.index % 60);
        let calibrated = |ds| risk::calibrate(f, ds, #{ radius: 2, equivalence_margin: 0.1, seed: 1 });
        let one = calibrated.call(ds);
        let four = calibrated.call(many);
        let task = people::task(many, #{ kind: "label", gold: 0, n: 8, seed: 1 });
        #{
            as_wide: (four.hi - four.lo) / (one.hi - one.lo) > 0.9 && (four.hi - four.lo) / (one.hi - one.lo) < 1.1,
            people: task.cautions.some(|said| said.contains("lie in 60 clusters")),
        }"#,
    );
}

#[test]
fn what_is_no_cluster_is_refused() {
    let begin = "let ds = data::glyphs(#{ n: 4, size: 16, seed: 1 }); ";
    for (script, words) in [
        ("ds.clustered([1, 2])", "2 keys for the 4 images"),
        ("ds.clustered([1, 2, 3, 0.5])", "a cluster is known by a string or an int, got float 0.5 for image 3"),
        ("ds.clustered(|row| row)", "for image 0"),
        ("ds.clustered(3)", "must be an array or a closure"),
        (
            "let f = model::from(|x| tensor::zeros([x.len(), 10])); risk::estimate(f, ds.clustered([1, 1, 2, 3]), #{ stop_early: true })",
            "lie in clusters, which are bet on whole",
        ),
    ] {
        refused(&format!("{begin}{script}"), words);
    }
}

/// Names of files are what most know their clusters by.
#[test]
fn clusters_are_known_by_names_of_files() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (place, name) in ["a/p1-1.png", "a/p1-2.png", "a/p2-1.png", "b/p3-1.png"].iter().enumerate() {
        let path = folder.path().join("cells").join(name);
        std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        image::RgbImage::from_pixel(9, 9, image::Rgb([90 + 40 * place as u8, 7, 9])).save(path)?;
    }
    truths_in(
        folder.path(),
        r#"
        let cells = data::load("cells").clustered(|row| row.attributes.file.split("-")[0]);
        #{ patients: cells.clusters == [0, 0, 1, 2] }"#,
    );
    Ok(())
}

/// Ten of twelve scenes that are brighter on one side are nothing that a fair coin would not do, however many images there are of each.
#[test]
fn what_images_look_like_is_counted_by_clusters() {
    truths(
        r#"
        let pixels = [];
        for i in 0..96 { pixels.push([if i % 12 < 10 { [[0.0, 1.0], [0.0, 1.0]] } else { [[1.0, 0.0], [1.0, 0.0]] }]); }
        let labels = [];
        for i in 0..96 { labels.push(i % 2); }
        let many = data::from(tensor::from(pixels) * 0.9 + 0.1 * tensor::uniform([96, 1, 2, 2], #{ seed: 1 }), labels);
        let f = model::from(|x| tensor::concat([x.reshape([-1, 4]).mean(1).reshape([-1, 1]), x.reshape([-1, 4]).pick([0], 1)], 1), #{ classes: 2 });
        let told = |ds| risk::estimate(f, ds, #{ space: space::flip(), seed: 1 }).cautions.some(|said| said.contains("brighter on the right"));
        #{ images: told.call(many), scenes: !told.call(many.clustered(|row| row.index % 12)) }"#,
    );
}

/// Strokes that lean one way are as bright on either side, and seldom so mirrored.
#[test]
fn images_that_a_rule_tells_from_their_mirror_images_are_told_of() {
    truths(
        r#"
        let strokes = |lean| {
            let pixels = [];
            let labels = [];
            for i in 0..120 {
                labels.push(i % 2);
                // Dark on bright as often as bright on dark.
                let ink = if i % 2 == 0 { 1.0 } else { 0.0 };
                let left = lean == "one" || i % 4 < 2;
                let rows = [];
                for y in 0..8 {
                    let row = [];
                    for x in 0..8 { row.push(if x == (if left { y } else { 7 - y }) { ink } else { 0.5 }); }
                    rows.push(row);
                }
                pixels.push([rows]);
            }
            data::from(tensor::from(pixels) * 0.8 + 0.2 * tensor::uniform([120, 1, 8, 8], #{ seed: 1 }), labels)
        };
        let f = model::from(|x| x.reshape([-1, 64]).pick([0, 9], 1), #{ classes: 2 });
        let told = |ds| risk::estimate(f, ds, #{ space: space::flip(), seed: 1 }).cautions.some(|said| said.contains("from their mirror images"));
        #{ leaning: told.call(strokes.call("one")), either: !told.call(strokes.call("either")) }"#,
    );
}
