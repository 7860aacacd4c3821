//! How much of a space fails, where it is known, and which questions may say so.

#![allow(clippy::unwrap_used)]

use std::rc::Rc;

use viva::core::{Cx, Value};
use viva::script::Session;

/// Wrong where height is above 6 of 8 on snow, one ground of two: an eighth of all settings.
const GIVEN: &str = r#"
let lit = space::factors([#{ name: "height", min: 0, max: 8 }, #{ name: "ground", choices: ["sand", "snow"] }, #{ name: "dust", min: 0, max: 1 }], |z, s| {
    z * 0 + if s.height > 6 && s.ground == "snow" { 1.0 } else { 0.02 * s.height }
});
let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.5, on], 1) }, #{ classes: 2 });
let some = |n| data::from(tensor::zeros([n, 1, 1, 1]), tensor::zeros([n]).values());
let asked = |n, search| examine(f, some.call(n), #{ space: lit, search: search, seed: 1 });
"#;

fn run(script: &str) -> Result<Value, String> {
    Session::new(Rc::new(Cx::default()))
        .evaluate("test", &format!("{GIVEN}{script}"))
        .map_err(|error| error.render(false))
}

#[track_caller]
fn told(script: &str) -> String {
    run(script).unwrap_or_else(|error| panic!("{error}")).summary()
}

#[track_caller]
fn refused(script: &str, words: &str) {
    let error = run(script).err().unwrap_or_else(|| panic!("not refused: {script}"));
    assert!(error.contains(words), "{error}");
}

#[test]
fn the_volume_and_the_sides_of_the_boundary_are_found() {
    let of = |call: &str| {
        told(&format!(
            "let l = robustness::level_set(asked.call(20, search::random(#{{ questions: 100 }})), [\"height\", \"ground\"], #{{ bins: 4 }}); {call}"
        ))
    };
    assert_eq!(of("[l.volume_hi - l.volume_lo < 0.05, l.questions, l.chosen]"), "[true, 2000, 0]");
    // An interval at 95% misses in at most 1 of 6, but for 1 in 30 choices of seeds.
    let held = "let held = 0; for seed in 1..7 { let t = examine(f, some.call(20), #{ space: lit, search: search::random(#{ questions: 100 }), seed: seed }); \
        let l = robustness::level_set(t, [\"height\", \"ground\"]); if l.volume_lo < 0.125 && 0.125 < l.volume_hi { held += 1; } } held >= 5";
    assert_eq!(told(held), "true");
    assert_eq!(of("l.side"), "[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]");
    assert_eq!(of("[l.row_names, l.column_names]"), "[[0 to 2, 2 to 4, 4 to 6, 6 to 8], [sand, snow]]");
    let said = of("l");
    assert!(said.contains("by height and ground 1 of 8 parts lie above 50% wrong, 7 below, 0 can't be told"), "{said}");
}

/// What a search chose counts for nothing, however often it failed: bayes asks where it fails, and draws a tenth.
#[test]
fn a_volume_follows_from_what_was_drawn_alone() {
    let script = "let t = asked.call(12, search::bayes(#{ questions: 60 })); let l = robustness::level_set(t, [\"height\", \"dust\"]); \
        let all = t.questions(\"wrong\").mean(); [l.questions + l.chosen, l.questions < 120, l.volume_lo < 0.125 && 0.125 < l.volume_hi, all > 0.25]";
    assert_eq!(told(script), "[720, true, true, true]");
    refused(
        "robustness::level_set(asked.call(4, search::bayes(#{ questions: 20, random_share: 0 })), [\"height\", \"dust\"])",
        "drawn at random",
    );
    refused("robustness::level_set(asked.call(4, search::radial()), [\"height\", \"dust\"])", "drawn at random");
    // Where next to nothing was asked, nothing is told.
    let few = "robustness::level_set(asked.call(2, search::random(#{ questions: 3 })), [\"height\", \"dust\"])";
    assert!(told(few).contains("0 of 64 parts lie above 50% wrong, 0 below, 64 can't be told"), "{}", told(few));
}

/// A search draws on while nothing fails, so that what hardly fails has more draws: of 20 objects that fail at half of all settings and 20 at
/// a fiftieth, told by labels alone, 26% of settings fail, and 10% of the draws.
#[test]
fn objects_count_alike_however_long_a_search_drew() {
    let script = "let one = space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"b\", min: 0, max: 1 }], |z, s| { \
            let from = if z.max() > 0.1 { 0.5 } else { 0.98 }; z * 0 + if s.a > from { 1.0 } else { 0.0 } }); \
        let both = data::from(tensor::concat([tensor::zeros([20, 1, 1, 1]), tensor::zeros([20, 1, 1, 1]) + 0.2], 0), tensor::zeros([40]).values()); \
        let t = examine(f, both, #{ space: one, search: search::bayes(#{ questions: 60 }), seed: 1 }); \
        let l = robustness::level_set(t, [\"a\", \"b\"], #{ bins: 2 }); \
        [l.volume_lo > 0.14 && l.volume_lo < 0.26 && l.volume_hi > 0.26, l.questions % 40, `${l.cautions}`.contains(\"more often at random\")]";
    assert_eq!(told(script), "[true, 0, true]");
}

/// Of one object: 100 draws, none wrong, leave at most 1 - 0.025^(1/100) at 97.5% (Clopper and Pearson 1934).
#[test]
fn of_one_object_the_interval_is_exact() {
    let script = "let l = robustness::level_set(examine(f, some.call(1), #{ space: space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"b\", min: 0, max: 1 }], |z, s| z), \
        search: search::random(#{ questions: 100 }), seed: 1 }), [\"a\", \"b\"]); [l.volume, abs(l.volume_hi - 0.03621669) < 1e-7]";
    assert_eq!(told(script), "[0.0, true]");
}

#[test]
fn what_makes_no_map_is_refused() {
    let refuse = |call: &str, words: &str| {
        refused(
            &format!("let t = asked.call(4, search::random(#{{ questions: 9 }})); robustness::level_set(t, {call})"),
            words,
        )
    };
    refuse("[\"height\", \"heigt\"]", "no factor \"heigt\"");
    refuse("[\"height\", \"height\"]", "and itself make no map");
    refuse("[\"height\"]", "the names of two factors");
    refuse("[\"height\", \"dust\"], #{ bins: 0 }", "bins");
}

/// One image, read rightly inside a disc of a ninth of the plane's width around (0.55, 0.4) or wrongly beyond a line, whatever else.
const PLANE: &str = r#"
let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.5, on], 1) }, #{ classes: 2 });
let one = data::from(tensor::zeros([1, 1, 1, 1]), [0], #{ classes: ["right", "wrong"] });
let axes = [#{ name: "a", min: 0, max: 1 }, #{ name: "b", min: 0, max: 10 }];
let disc = |a, b| (a - 0.55) * (a - 0.55) + (b / 10 - 0.4) * (b / 10 - 0.4) - 0.09;
let line = |a, b| a + 0.06 * b - 0.7;
let plane = |of| space::factors(axes, |z, s| (z + 0.5 + of.call(s.a, s.b) / 2).clamp(0, 1));
let bounded = |of, search, seed| robustness::boundary(examine(f, one, #{ space: plane.call(of), search: search, seed: seed }), ["a", "b"], #{ places: 12 });
// Shares of the plane: on the wrong side of the line that is drawn, told, and told wrongly.
let off = |of, b| {
    let wrong = 0; let told = 0; let falsely = 0;
    for i in 0..12 { for j in 0..12 {
        let yes = of.call(b.rows[i], b.columns[j]) > 0;
        if (b.wrong[i][j] > 0.5) != yes { wrong += 1; }
        if b.side[i][j] == 0 || b.side[i][j] == 1 { told += 1; if (b.side[i][j] == 1) != yes { falsely += 1; } }
    } }
    [wrong / 144, told / 144, falsely / 144]
};
"#;

fn plane(call: &str) -> String {
    let mut session = Session::new(Rc::new(Cx::default()));
    let value = session.run(std::path::Path::new("plane.rhai"), &format!("{PLANE}{call}"));
    value.unwrap_or_else(|error| panic!("{}", error.render(false))).summary()
}

/// Questions near the boundary draw the line better than as many at random, and what is told of a side is right but for few places.
#[test]
fn a_line_takes_fewer_questions_near_it_than_at_random() {
    let script = "let sums = #{}; for kind in [\"straddle\", \"random\"] { sums[kind] = [0.0, 0.0, 0.0]; } \
        for of in [disc, line] { for seed in 1..3 { \
            let by = #{ straddle: search::straddle(#{ questions: 40 }), random: search::random(#{ questions: 40 }) }; \
            for kind in by.keys() { let o = off.call(of, bounded.call(of, by[kind], seed)); for k in 0..3 { sums[kind][k] += o[k] / 4; } } } } \
        let s = sums.straddle; let r = sums.random; \
        [s[0] < 0.04, s[0] < 0.7 * r[0], s[1] > 0.3, s[2] < 0.01, r[2] < 0.02]";
    assert_eq!(plane(script), "[true, true, true, true, true]");
}

/// Where nothing failed, or no question was near, what is told to be right says how large a part that fails may be in between.
#[test]
fn what_lies_between_questions_is_told() {
    let script = "let right = |a, b| -0.5 - a / 10; let told = |of, n| `${bounded.call(of, search::random(#{ questions: n }), 1).cautions}`; \
        [told.call(right, 30).contains(\"no answer was wrong\") && told.call(right, 30).contains(\"% of the plane, or more of another shape\"), \
         told.call(disc, 200).contains(\"not seen\"), \
         `${robustness::boundary(examine(f, data::from(tensor::zeros([30, 1, 1, 1]), tensor::zeros([30]).values(), #{ classes: [\"right\", \"wrong\"] }), #{ space: plane.call(right), search: search::random(#{ questions: 10 }), seed: 1 }), [\"a\", \"b\"]).cautions}`.contains(\"about one object (on average)\")]";
    assert_eq!(plane(script), "[true, false, true]");
}

/// A small part that fails is smoothed away, though questions hit it: not without a word; a large one needs none.
#[test]
fn answers_on_the_other_side_of_the_line_are_told() {
    let script = "let small = |a, b| 0.0064 - (a - 0.72) * (a - 0.72) - (b / 10 - 0.72) * (b / 10 - 0.72); \
        let told = |of, seed| bounded.call(of, search::random(#{ questions: 60 }), seed).cautions.some(|said| said.contains(\"questions that failed lie where the classifier tells that the model is right\")); \
        let some = false; for seed in 1..12 { some = some || told.call(small, seed); } \
        [some, told.call(disc, 1), told.call(line, 1)]";
    assert_eq!(plane(script), "[true, false, false]");
}

#[test]
fn a_line_is_of_questions_that_may_say_so() {
    // Other factors vary: chosen questions say nothing of their mean.
    let with_dust = "let dusty = space::factors(axes + [#{ name: \"dust\", min: 0, max: 1 }], |z, s| (z + 0.5 + (s.a + s.dust / 5 - 0.6) / 2).clamp(0, 1)); \
        let asked = |search| robustness::boundary(examine(f, one, #{ space: dusty, search: search, seed: 1 }), [\"a\", \"b\"], #{ places: 5 }); ";
    let of = |call: &str| plane(&format!("{with_dust}{call}"));
    assert_eq!(of("let b = asked.call(search::straddle(#{ questions: 30 })); [b.questions, b.left_out]"), "[3, 27]");
    assert_eq!(of("let b = asked.call(search::random(#{ questions: 30 })); [b.questions, b.left_out]"), "[30, 0]");
    assert!(of("asked.call(search::random(#{ questions: 30 })).cautions").contains("dust vary as well"));
    assert!(
        of("let said = \"\"; try { asked.call(search::straddle(#{ questions: 30, random_share: 0 })); } catch (e) { said = e.message; } said")
            .contains("no question was drawn at random")
    );
    // The volume has no more than was drawn.
    assert_eq!(
        plane(
            "let t = examine(f, one, #{ space: plane.call(disc), search: search::straddle(#{ questions: 50 }), seed: 2 }); \
               let l = robustness::level_set(t, [\"a\", \"b\"]); [l.questions, l.chosen, l.volume_lo < 0.72 && 0.72 < l.volume_hi]"
        ),
        "[5, 45, true]"
    );
    assert!(
        plane("let said = \"\"; try { examine(f, one, #{ space: plane.call(disc), search: search::straddle(), objective: objective::misclassify().loss(\"cross_entropy\") }); } catch (e) { said = e.message; } said")
            .contains("does not look for")
    );
    let kinds = "let odd = space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"kind\", choices: [1, 2] }], |z, s| z); \
        let said = \"\"; try { robustness::boundary(examine(f, one, #{ space: odd, search: search::random(#{ questions: 4 }) }), [\"a\", \"kind\"]); } catch (e) { said = e.message; } said";
    assert!(plane(kinds).contains("has no range of numbers"));
}

/// The figure shades the side on which the model is wrong, and says of marks whether a search chose them.
#[test]
fn a_figure_of_the_boundary_tells_its_sides() {
    for (search, chosen) in
        [("search::straddle(#{ questions: 40 })", true), ("search::random(#{ questions: 40 })", false)]
    {
        let text = format!(
            "{PLANE} let b = bounded.call(disc, {search}, 1); #{{ figure: plot::boundary(b), wrong: b.wrong }}"
        );
        let mut session = Session::new(Rc::new(Cx::default()));
        let told = session.run(std::path::Path::new("plane.rhai"), &text);
        let told = told.unwrap_or_else(|error| panic!("{}", error.render(false))).json();
        let layers = told["figure"]["panels"][0]["layers"].as_array().expect("layers");
        let shade = layers.iter().find(|layer| layer["kind"] == "shade").expect("a shade");
        assert_eq!(shade["label"], "wrong more often than that, by the best guess");
        for (i, row) in told["wrong"].as_array().expect("rows").iter().enumerate() {
            for (j, share) in row.as_array().expect("shares").iter().enumerate() {
                assert_eq!(shade["holds"][i][j], share.as_f64().expect("a share") > 0.5, "{i} {j}");
            }
        }
        let marks = layers.iter().filter(|layer| layer["kind"] == "scatter");
        let said: Vec<bool> =
            marks.map(|layer| layer["label"].to_string().contains("the search chose to ask")).collect();
        assert!(!said.is_empty() && said.iter().all(|said| *said == chosen), "{said:?}");
    }
}

/// Of several objects with lines of their own the share is theirs, and between the lines it is neither.
#[test]
fn shares_of_several_objects_are_means_over_them() {
    let script = "let four = data::from(tensor::from([0.0, 0.1, 0.2, 0.3]).reshape([4, 1, 1, 1]), [0, 0, 0, 0], #{ classes: [\"right\", \"wrong\"] }); \
        let own = space::factors(axes, |z, s| (z * 1.0 + s.a * 0.6).clamp(0, 1)); \
        let b = robustness::boundary(examine(f, four, #{ space: own, search: search::straddle(#{ questions: 30 }), seed: 1 }), [\"a\", \"b\"], #{ places: 7 }); \
        // Lines at 0.83, 0.67, 0.5 and 0.33 of the first factor.
        [b.objects, b.wrong[0][3] < 0.1, abs(b.wrong[3][3] - 0.375) < 0.2, b.wrong[6][3] > 0.9, b.wrong_lo[3][3] < 0.25, b.wrong_hi[3][3] > 0.6, \
        // None of four are wrong, almost surely: Clopper and Pearson leave up to 1 - 0.025^(1/4) of all objects open, doubts more.
        b.wrong_lo[0][3] < 0.01 && b.wrong_hi[0][3] > 0.59 && b.wrong_hi[0][3] < 0.9 && b.told == 0]";
    assert_eq!(plane(script), "[4, true, true, true, true, true, true]");
}
