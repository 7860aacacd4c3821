//! Marks and intervals go where results go: into their tables, their figures at any size, and cells.

use super::inputs::Outcome;
use super::{run_in, truths};

#[test]
fn tables_that_are_fields_take_their_cautions_along() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        let report = risk::estimate(f, ds, #{ radius: 1, seed: 1 });
        let plan = risk::plan(report, #{ gap: 0.1, repeats: 50, seed: 1 });
        let t = examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }), measures: ["confidence"], seed: 1 });
        let c = calibration::measure(t, #{ replicates: 100 });
        let all = |rows, cautions| rows.len() > 0 && cautions.len() > 0 && rows.all(|row| cautions.all(|said| row.cautions.contains(said)));
        #{
            plan: all.call(plan.table, plan.cautions), curve: all.call(plan.curve, plan.cautions), bins: all.call(c.bins, c.cautions),
            risks: report.error_lo < report.error && report.error_hi > report.error && report.weighted_error_lo < report.weighted_error && report.weighted_error_hi <= 1,
        }"#,
    );
}

#[test]
fn a_table_says_what_results_deep_in_its_cells_do() -> Outcome {
    let folder = tempfile::tempdir()?;
    run_in(
        folder.path(),
        r#"
        let ds = data::glyphs(#{ n: 8, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        let t = examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }), seed: 1 });
        save([#{ name: "x", r: [(), t] }], "second.txt");
        save([#{ name: "x", r: #{ a: #{ b: #{ c: #{ d: t } } } } }], "deep.txt");
        "#,
    )?;
    for name in ["second.txt", "deep.txt"] {
        let text = std::fs::read_to_string(folder.path().join(name))?;
        assert!(text.contains("learned from 8 of the 8 images"), "{text}");
    }
    Ok(())
}

/// What a figure draws of an interval and of numbers in cells, and what it leaves out where it is small.
#[test]
fn figures_show_lone_intervals_small_numbers_and_that_cautions_are_left_out() -> Outcome {
    let folder = tempfile::tempdir()?;
    run_in(
        folder.path(),
        r#"
        save(plot::risks([#{ m: 100, error: 0.4, weighted_error: 0.5 }]), "bare.svg");
        save(plot::risks([#{ m: 100, error: 0.4, error_lo: 0.3, error_hi: 0.5, weighted_error: 0.5, weighted_error_lo: 0.4, weighted_error_hi: 0.6 }]), "lone.svg");
        let both = [#{ m: 100, error: 0.4, weighted_error: 0.5 }, #{ m: 100, error: 0.6, weighted_error: 0.7 }];
        save(plot::risks(both), "bare-two.svg");
        save(plot::risks(both.map(|row| row + #{ error_lo: 0.3, error_hi: 0.65, weighted_error_lo: 0.4, weighted_error_hi: 0.75 })), "two.svg");
        save(plot::heatmap([[0.0004, 0.04], [0.9, 0.00012]]), "cells.svg");
        let cautions = "";
        for i in 0..40 { cautions += `a caution of many, number ${i}, that takes its room; `; }
        let rows = [#{ m: 100, error: 0.4, weighted_error: 0.5, cautions: cautions }, #{ m: 200, error: 0.4, weighted_error: 0.5, cautions: cautions }];
        save(plot::risks(rows).on_paper(60, 45), "small.svg");
        save(plot::risks(rows), "whole.svg");
        "#,
    )?;
    let svg = |name: &str| std::fs::read_to_string(folder.path().join(name));
    let strokes = |name: &str| {
        svg(name).map(|text| ["#0072B2", "#D55E00"].map(|of| text.matches(&format!("stroke=\"{of}\"")).count()))
    };
    // A line and two caps for each of two points.
    assert_eq!(strokes("lone.svg")?, strokes("bare.svg")?.map(|n| n + 3));
    // Several points above one number of images span no band either. The other line is dashed, in as many pieces as it is long.
    assert_eq!(strokes("two.svg")?[0], strokes("bare-two.svg")?[0] + 6);
    let cells = svg("cells.svg")?;
    assert!(
        ["0.0004", "0.0001", "0.04", "0.90"].iter().all(|number| cells.contains(&format!(">{number}<"))),
        "{cells}"
    );
    assert!(svg("small.svg")?.contains("more lines: see `cautions`"));
    assert!(!svg("whole.svg")?.contains("more lines: see"));
    Ok(())
}
