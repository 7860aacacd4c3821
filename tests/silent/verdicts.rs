//! What a report of overfitting says.

use std::path::Path;

use viva::core::Value;

use super::{run_in, truths};

/// A network that learned drawn digits, and reports on others that stand in the middle or anywhere.
const REPORTS: &str = r#"
    let estimate = |position, options| {
        let train = data::glyphs(#{ n: 200, size: 16, position: position, seed: 1 });
        let f = model::train(train, #{ arch: [net::conv(8, 5), net::relu(), net::max_pool(12), net::flatten(), net::linear(10)], epochs: 40, lr: 0.01, seed: 1 });
        risk::estimate(f, data::glyphs(#{ n: 300, size: 16, position: position, seed: 1, split: "test" }), #{ radius: 1 } + options)
    };
"#;

fn report(script: &str, folder: &Path) -> Value {
    run_in(folder, &format!("{REPORTS}{script}")).unwrap_or_else(|error| panic!("{error}"))
}

/// Where viva knows that the changes do not keep the density, every verdict says so first, wherever it is written.
#[test]
fn a_verdict_begins_with_its_cautions() {
    let folder = tempfile::tempdir().unwrap();
    let centred = report(
        r#"let r = estimate.call("centred", #{});
           save(r, "r.json");
           save(r, "r.csv");
           let curve = risk::curve(r, #{ sizes: 4, repeats: 2 });
           save(plot::pvalues(curve), "p.svg");
           save(plot::risks(#{ centred: curve }), "risks.svg");
           let several = plot::pvalues(#{ centred: curve, torus: risk::curve(estimate.call("torus", #{}), #{ sizes: 4, repeats: 2 }) });
           let n = risk::n_model_test([r]);
           #{
               cautions: r.cautions.len() == 1 && r.cautions[0].contains("is not in the middle"),
               verdict: r.verdict.starts_with("caution: a digit that is not in the middle"),
               betting: r.betting.verdict == r.verdict,
               pairwise: r.pairwise.verdict.starts_with("caution: a digit that is not in the middle"),
               interval: r.interval.verdict.starts_with("caution: a digit that is not in the middle"),
               both_readings: !r.reject || r.verdict.contains("or the changes do not keep label and density"),
               curve: curve.all(|row| row.cautions == r.cautions[0]),
               figures: plot::pvalues(curve).cautions == r.cautions && plot::risks([r]).cautions == r.cautions,
               named: several.cautions[0].starts_with("centred: a digit that is not in the middle") && several.cautions.len() == 1,
               n_model: r.cautions.all(|said| said in n.cautions) && n.cautions.len() == r.cautions.len() + 1 && n.verdict.starts_with("caution: "),
               holm: risk::holm(#{ a: r, b: 0.2 })[0].verdict.starts_with("caution: "),
           }"#,
        folder.path(),
    );
    let Value::Map(said) = centred else { panic!("no map") };
    for (name, value) in said {
        assert!(matches!(value, Value::Bool(true)), "{name}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("r.json")).unwrap();
    assert!(json["cautions"][0].as_str().unwrap().contains("is not in the middle"), "{json}");
    assert!(json["verdict"].as_str().unwrap().starts_with("caution: "), "{json}");
    let csv = read("r.csv");
    assert!(csv.lines().next().unwrap().ends_with(",cautions"), "{csv}");
    assert!(csv.lines().skip(1).all(|line| line.contains("is not in the middle")), "{csv}");
    for name in ["p.svg", "risks.svg"] {
        assert!(read(name).contains("caution:"), "{name}");
    }
    let Value::Object(report) = report("estimate.call(\"centred\", #{})", folder.path()) else { panic!("no report") };
    let (summary, details) = (report.summary(), report.details(100));
    let (caution, answer) =
        (summary.find("caution: a digit that is not in the middle").unwrap(), summary.find("test, p").unwrap());
    assert!(caution < answer, "{summary}");
    assert!(details.contains("caution: a digit that is not in the middle"), "{details}");
}

/// What a transcript is cautioned of goes into the report as well, and so does a choice of rows.
#[test]
fn a_report_takes_over_what_its_transcript_says() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let f = model::from(|x| tensor::zeros([x.shape[0], 10]) + tensor::from([2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), #{ classes: 10 });
        let t = examine(f, ds.only([3, 5]), #{ space: space::translate(1), search: search::strongest() });
        let r = risk::report(t);
        let part = risk::report(examine(f, ds, #{ space: space::translate(1), search: search::strongest() })
            .filter(|row| row.id < 30));
        let all = risk::report(examine(f, ds, #{ space: space::translate(1), search: search::strongest() }));
        #{
            guessing: r.cautions[0].contains("no better than guessing") && r.verdict.starts_with("caution: the error of"),
            part: part.cautions.some(|c| c.contains("30 of 60 rows")),
            all: !all.cautions.some(|c| c.contains("rows")),
        }"#,
    );
}

/// Without a caution the wording has both readings, and nothing is marked.
#[test]
fn a_rejection_has_two_readings() {
    truths(
        r#"
        let train = data::glyphs(#{ n: 300, size: 16, seed: 1 });
        let f = model::train(train, #{
            arch: [net::flatten(), net::linear(64), net::relu(), net::linear(10)], epochs: 60, lr: 0.005, seed: 1,
        });
        let r = risk::estimate(f, train, #{ radius: 1 });
        let alone = risk::betting_test(r.t, #{ lo: r.lo, hi: r.hi });
        let word = "not independent, or the changes do not keep label and density";
        #{
            rejected: r.reject && r.verdict.starts_with("rejected at 0.05: the model and these images are " + word),
            alone: alone.verdict.contains(word),
            unmarked: r.cautions == [] && !("cautions" in risk::curve(r, #{ sizes: 2 })[0]),
        }"#,
    );
}

/// One verdict, that of the test that was named beforehand; the others say that they do not count.
#[test]
fn the_test_that_counts_is_named_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    for test in ["betting", "pairwise", "interval"] {
        let script = format!(
            r#"let r = estimate.call("torus", #{{ test: "{test}" }});
               let n = risk::n_model_test([r], #{{ test: "{test}" }});
               let row = risk::curve(r, #{{ sizes: 1 }})[0];
               let counts = r.{test};
               let others = [r.betting, r.pairwise, r.interval].filter(|test| !test.counts);
               #{{
                   named: r.test == "{test}" && n.test == "{test}" && row.test == "{test}",
                   p: r.p == counts.p && r.reject == counts.reject && r.verdict == counts.verdict && r.power == counts.power,
                   counts: others.len() == 2 && others.all(|test| test.verdict.starts_with("not the test that counts; ")),
                   row: row.p == counts.p && row["{test}_p"] == counts.p,
                   n_model: n.p == n.{test}.p && n.p_values == [r.p],
               }}"#
        );
        let Value::Map(said) = report(&script, folder.path()) else { panic!("no map") };
        said.iter().for_each(|(name, value)| assert!(matches!(value, Value::Bool(true)), "{test}, {name}"));
        let object = report(&format!("estimate.call(\"torus\", #{{ test: \"{test}\" }})"), folder.path());
        let Value::Object(object) = object else { panic!("no report") };
        assert!(object.summary().contains(&format!("; {test} test, p ")), "{}", object.summary());
        assert!(!object.details(100).contains("alone"), "{}", object.details(100));
    }
    let misspelt = format!("{REPORTS}estimate.call(\"torus\", #{{ test: \"bettin\" }})");
    super::refused(&misspelt, "did you mean `betting`?");
}

/// Of tests that were asked together the p-values stand beside those corrected for their number.
#[test]
fn tests_that_were_asked_together_are_corrected() {
    truths(
        r#"
        import "std/overfitting" as overfitting;
        let train = data::glyphs(#{ n: 120, size: 16, seed: 1 });
        let f = model::train(train, #{ arch: [net::flatten(), net::linear(10)], epochs: 40, lr: 0.01, seed: 1 });
        let found = overfitting::generators(f, train, #{ radius: 1 });
        let rows = found.table;
        let r = found.reports.strongest;
        #{
            rows: rows.len() == 4 && rows.map(|row| row.name) == ["blind", "blind_or_stay", "nearest", "strongest"],
            raw: rows[3].p == r.p && rows.all(|row| row.adjusted_p >= 0.0 && row.adjusted_p <= 1.0),
            holm: risk::holm([0.01, 0.04, 0.03]).map(|row| row.adjusted_p) == [0.03, 0.06, 0.06],
            family: risk::holm([0.02, 0.9, 0.9, 0.9])[0].reject == false && risk::holm([0.02])[0].reject,
            could_see: rows.all(|row| row.reject || row.verdict.contains("asked alone: ") || row.verdict.starts_with("no power")),
            n_model: risk::n_model_test([r]).adjusted_p_values == [r.p],
        }"#,
    );
    let folder = tempfile::tempdir().unwrap();
    report(
        r#"let rows = |p| [#{ m: 100, p: 0.9 }, #{ m: 1000, p: p }];
           save(plot::pvalues(#{ one: rows.call(0.02), two: rows.call(0.03), three: rows.call(0.5) }), "p.svg");"#,
        folder.path(),
    );
    let svg = std::fs::read_to_string(folder.path().join("p.svg")).unwrap();
    for wanted in ["one (p 0.02, adjusted 0.06)", "three (p 0.5, adjusted 0.5)", "adjusted for 3 curves (Holm)"] {
        assert!(svg.contains(wanted), "{wanted} is not in the figure");
    }
    super::refused("risk::holm([])", "nothing to correct");
    truths(&format!(
        r#"{REPORTS}
        let r = estimate.call("torus", #{{ searches: ["strongest", "nearest"] }});
        let low = estimate.call("torus", #{{ delta: 1e-9 }});
        let missing = |rows| rows[0].cautions.some(|caution| caution.contains("one of 2 tests of one call"));
        #{{
            whole: !missing.call(risk::holm(r)),
            // Other numbers do not stand in for the other test.
            part: missing.call(risk::holm([r.strongest, 0.5, 0.6])),
            // Nor do those of another call.
            other_call: missing.call(risk::holm([r.strongest, estimate.call("torus", #{{ searches: ["blind", "average"] }}).blind])),
            other_level: risk::holm([low], #{{ delta: 0.25 }})[0].reject
                || risk::holm([low], #{{ delta: 0.25 }})[0].verdict.contains("asked alone at 1e-9: "),
        }}"#
    ));
    super::refused(
        &format!("{REPORTS}let r = estimate.call(\"torus\", #{{}}); risk::holm([r, r])"),
        "one report is there twice",
    );
    super::refused(
        "plot::pvalues(#{ a: [#{ m: 9, p: 0.5 }], b: [#{ m: 9, p: 0.6 }] }, #{ adjusted: risk::holm(#{ a: 0.01, b: 0.02 }) })",
        "corrects p 0.01",
    );
    super::refused("risk::holm([0.5, 2.0])", "p-values from 0 to 1");
}

/// 522 images in which a real gap of 0.001 could not be seen say so, and how many it would take.
#[test]
fn what_is_not_rejected_says_what_could_have_been_seen() {
    truths(
        r#"
        import "std/simulation" as simulation;
        let law = simulation::translations(0.176, 0.27325, 0.9092, 0.252);
        let needed = |options| {
            seed(3);
            let sample = simulation::draw(law, 1, 522);
            let t = (sample.weighted - sample.losses)[0];
            let found = risk::betting_test(t, #{ lo: law.lo, hi: law.hi } + options);
            [found.power.gap, found.power.needed[0].images, found]
        };
        let two = needed.call(#{});
        let said = two[2].verdict;
        #{
            // 363,000 images show T = 0.00102 with 80% power, by simulation.
            needed: two[1] > 280000 && two[1] < 480000,
            gap: two[0] > 0.02 && two[0] < 0.04,
            sentence: said.starts_with("not rejected at 0.05: 522 images show a gap R_g - R_S of 0.0") && said.contains("gaps of 0.001, 0.005 and 0.02 need about "),
            no_proof: said.contains("no proof"),
        }"#,
    );
}

/// 60 images, of which the adversary reached three: even the largest gap would have been missed more often than not.
#[test]
fn no_power_is_said_where_the_largest_gap_would_be_missed() {
    truths(
        r#"
        let t = [0.5, 0.5, 0.5];
        t.pad(60, 0.0);
        let found = risk::betting_test(t);
        // 9 of 60 are enough to reject with certainty as they stand, but such images are that many in too few samples.
        let more = [];
        more.pad(9, 0.3);
        more.pad(60, 0.0);
        let some = risk::betting_test(more);
        let many = [];
        many.pad(30, 0.3);
        many.pad(60, 0.0);
        #{
            none: found.verdict.starts_with("no power at this size: with 3 of 60 T_i above 0"),
            some: some.reject || some.verdict.starts_with("no power at this size"),
            many: !risk::betting_test(many).verdict.contains("no power"),
            unmoved: risk::betting_test(tensor::zeros([300])).verdict.starts_with("no power: none of 300 images"),
        }"#,
    );
}

/// A family of tests rejects where one of them says just what it takes, and curves that show nothing are refused.
#[test]
fn corrections_are_of_what_is_there() {
    truths(
        r#"
        let p = [0.05 / 11]; for i in 0..10 { p.push(0.9); }
        let rows = risk::holm(p);
        #{ rejected: rows[0].reject && !rows[1].reject, cautions: rows[0].cautions == [] }"#,
    );
    super::refused(
        &format!(
            "{REPORTS}plot::risks([estimate.call(\"torus\", #{{}}), estimate.call(\"torus\", #{{ search: \"nearest\" }})])"
        ),
        "a curve of reports on different searches",
    );
    super::refused("plot::pvalues(#{ a: [], b: [#{ m: 1, p: 0.5 }] })", "a curve without rows");
    super::refused("plot::pvalues(#{ a: [#{ m: 1, p: 0.0 / 0.0 }], b: [#{ m: 1, p: 0.5 }] })", "from 0 to 1");
}

/// Every setting there is was asked: nothing is left that could be excluded at 95%.
#[test]
fn a_finite_space_that_was_asked_through_is_not_a_sample() {
    truths(
        r#"let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m + 9, m], 1) }, #{ classes: 2 });
        let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 }).relabel(|row| 0);
        let dim = space::factors([#{ name: "light", choices: [1, 0.5, 0.2] }, #{ name: "grey", choices: [false, true] }], |z, s| z * s.light);
        let worst = |n| robustness::worst(examine(f, ds, #{ space: dim, search: search::bayes(#{ questions: n }), seed: 1 }));
        let all = worst.call(40);
        let some = worst.call(4);
        let seen = data::scenes(#{ n: 2, size: 32, seed: 1 }).relabel(|row| 0);
        let rain = robustness::worst(examine(f, seen, #{ space: space::corruptions(#{ kinds: ["gaussian_noise"] }), search: search::random(#{ questions: 60 }), seed: 1 }));
        #{
            chance: !rain.to_string().contains("settings there are") && rain.excluded_mass > 0.0,
            all: all.to_string().contains("asked each of the 6 settings there are"),
            none_left: all.excluded_mass == 0.0 && all.excluded_mass_mean == 0.0,
            some: some.excluded_mass > 0.0 && some.excluded_mass.is_nan() == false,
        }"#,
    );
}
