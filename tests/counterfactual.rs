//! The least change from a right view to a wrong one, where it is known which it is.

#![allow(clippy::unwrap_used)]

use std::rc::Rc;

use viva::core::{Cx, Value};
use viva::script::Session;

/// `wrong`: how bright an image is at a setting; above 0.5 it is taken for something else.
const GIVEN: &str = r#"
let range = |name| #{ name: name, min: 0, max: 10 };
let four = [range.call("a"), range.call("b"), range.call("c"), #{ name: "ground", choices: ["sand", "snow", "grass"] }];
let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.5, on], 1) }, #{ classes: 2 });
let ds = data::from(tensor::zeros([8, 1, 1, 1]), tensor::zeros([8]).values(), #{ classes: ["off", "on"] });
let asked = |f, wrong, how| examine(f, ds, #{ space: space::factors(four, |z, s| z * 0 + wrong.call(s)), search: search::counterfactual(how), seed: 1 });
let least = |wrong| robustness::counterfactual(asked.call(f, wrong, #{ random_questions: 60 }));
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

/// Wrong where a / 10 > 0.5, whatever else: from the surest view, the one with the smallest a, to 5. A path of at most 10 in 16 parts, one halved 8
/// times: to within 0.003.
#[test]
fn one_factor_is_the_least_change_and_ends_at_the_boundary() {
    let of = |call: &str| told(&format!("let c = least.call(|s| s.a / 10); {call}"));
    assert_eq!(of("[c.found, c.sets.len(), c.sets[0].factors, c.sets[0].objects]"), "[8, 1, [a], 8]");
    assert_eq!(of("c.alone"), "#{a: 8, b: 0, c: 0, ground: 0}");
    assert_eq!(
        of(
            "c.rows.all(|row| row.to.a > 5.0 && row.to.a < 5.004 && abs(row.distance - (row.to.a - row.from.a) / 10) < 1e-9)"
        ),
        "true"
    );
    assert_eq!(of("c.rows.all(|row| row.exact && row.as_few == 1 && row.turns == 1 && row.to.len() == 1)"), "true");
    assert_eq!(
        of("c.sentence"),
        "of 8 right views a alone turns 8 wrong with the smallest change found among the values of wrong views"
    );
    // The row of the transcript is the same point.
    assert_eq!(
        told(
            "let t = asked.call(f, |s| s.a / 10, #{ random_questions: 60 }); let c = robustness::counterfactual(t); c.rows.all(|row| t[row.id].point.a == row.to.a)"
        ),
        "true"
    );
}

#[test]
fn the_path_goes_from_right_to_wrong_with_the_least_change_on_it() {
    let of = |call: &str| told(&format!("let c = least.call(|s| s.a / 10); let p = c.path(2); {call}"));
    assert_eq!(
        of("[p.images.shape, p.along.len(), p.along[0], p.along[-1], p.factors]"),
        "[[18, 1, 1, 1], 18, 0.0, 1.0, [a]]"
    );
    assert_eq!(of("[p.answered[0], p.answered[-1]]"), "[off, on]");
    // What is seen is what was asked, and nothing but `a` differs.
    assert_eq!(of("p.points.all(|point| point.b == p.points[0].b && point.ground == p.points[0].ground)"), "true");
    assert_eq!(
        of(
            "let i = 0; let same = true; for x in p.images.reshape([-1]).values() { same = same && abs(x - 0.5 - p.loss[i]) < 1e-6; i += 1; } same"
        ),
        "true"
    );
    assert_eq!(of("p.points.some(|point| point.a == c.rows[2].to.a)"), "true");
    refused("least.call(|s| s.a / 10).path(8)", "no change 8: there are 8");
}

/// The snow alone makes every view wrong, and a factor alone does where only one in thirty of its values does: far values are tried as well as near
/// ones, whatever else is wrong more often.
#[test]
fn what_alone_turns_wrong_is_found_however_far_it_is() {
    let of = |wrong: &str, call: &str| told(&format!("let c = least.call(|s| {wrong}); {call}"));
    let snowy = r#"if s.a > 6 || s.ground == "snow" { 1.0 } else { s.a / 100 }"#;
    assert_eq!(of(snowy, "c.alone"), "#{a: 8, b: 0, c: 0, ground: 8}");
    assert_eq!(of(snowy, "c.rows.all(|row| row.as_few == 2 && row.exact)"), "true");
    // What draws an a so high among its 60 needs no more.
    let rare = "let t = asked.call(f, |s| if s.a > 9.5 || (s.b > 5 && s.c > 5) { 1.0 } else { 0.2 }, #{ random_questions: 60 });
        let c = robustness::counterfactual(t); let drawn = (t.questions(\"a\") > 9.5).sum(1).values(); ";
    assert_eq!(
        told(&format!("{rare} c.rows.all(|row| row.exact && (drawn[row.id] == 0 || row.factors.len() == 1))")),
        "true"
    );
    assert_eq!(told(&format!("{rare} c.rows.some(|row| row.factors == [\"a\"]) && drawn.some(|n| n > 0)")), "true");
}

/// Of 30 factors and 200 draws there are more single values than are tried.
#[test]
fn what_was_not_tried_for_being_too_much_is_told() {
    let many = r#"let names = []; for i in 0..30 { names.push(`x${i}`); }
        let t = examine(f, ds, #{ space: space::factors(names.map(|name| range.call(name)), |z, s| z * 0 + if s.x0 > 5 { 1.0 } else { s.x0 / 100 }),
            search: search::counterfactual(#{ random_questions: 200 }), seed: 1 });
        let c = robustness::counterfactual(t);"#;
    let said = "c.cautions.some(|said| said.contains(\"not all values of the wrong views were tried\"))";
    assert_eq!(told(&format!("{many} [{said}, c.alone.x0, c.rows.all(|row| row.as_few == ())]")), "[true, 8, true]");
    assert_eq!(told(&format!("let c = least.call(|s| s.a / 10); {said}")), "false");
}

/// Wrong only where a, b and c are all above 3: from a right view it takes those that are not.
#[test]
fn as_many_factors_as_it_takes() {
    let wrong = "|s| if s.a > 3 && s.b > 3 && s.c > 3 { 0.9 } else { 0.2 }";
    let needs = "let c = least.call(WRONG); let own = 0; for i in 0..c.found { let p = c.path(i).points[0]; \
         let need = [\"a\", \"b\", \"c\"].filter(|name| p[name] <= 3); if need == c.rows[i].factors { own += 1; } } [own == c.found, c.found]"
        .replace("WRONG", wrong);
    assert_eq!(told(&needs), "[true, 8]");
    // Where no two factors are changed together, factors are taken out one by one, and it is said that not all was tried.
    let one = told(&format!(
        "robustness::counterfactual(asked.call(f, {wrong}, #{{ random_questions: 60, most_factors: 1 }}))"
    ));
    assert!(one.contains("objects not all smaller sets of factors were tried"), "{one}");
    assert_eq!(
        told(&needs.replace("least.call(WRONG)", "").replace(
            &format!("least.call({wrong})"),
            &format!(
                "robustness::counterfactual(asked.call(f, {wrong}, #{{ random_questions: 60, most_factors: 1 }}))"
            )
        )),
        "[true, 8]"
    );
}

#[test]
fn a_choice_counts_whole() {
    let of =
        |call: &str| told(&format!("let c = least.call(|s| if s.ground == \"snow\" {{ 1.0 }} else {{ 0.0 }}); {call}"));
    assert_eq!(
        of("c.rows.all(|row| row.factors == [\"ground\"] && row.distance == 1.0 && row.to.ground == \"snow\")"),
        "true"
    );
    assert_eq!(of("c.path().along"), "[0.0, 1.0]");
    // With a range beside it, the choice changes first.
    let both = "let c = least.call(|s| if s.ground == \"snow\" && s.a > 5 { 1.0 } else { 0.0 }); \
        let i = c.rows.index_of(|row| row.factors == [\"a\", \"ground\"]); let p = c.path(i); \
        [p.along[0], p.along[1], p.points[0].ground == \"snow\", p.points[1].ground, p.points[1].a == p.points[0].a, abs(c.rows[i].to.a - 5) < 0.004]";
    assert_eq!(told(both), "[0.0, 0.0, false, snow, true, true]");
}

/// What can mislead is said: answers that change by themselves, paths that cross more than once, objects without a right or a wrong view.
#[test]
fn what_may_mislead_is_marked_or_refused() {
    let turning =
        told("least.call(|s| if s.a > 9 || (s.a > 3 && s.a < 6 && s.b < 0.7) { 0.9 } else { (s.a + 4 * s.b) / 120 })");
    assert!(turning.contains("the answer turns more than once along"), "{turning}");
    // A change that does nothing is told of as well.
    let nothing = "; caution: no question changed the loss of any of 8 images: the space may do nothing to them, or scores may be saturated";
    assert_eq!(told("least.call(|s| 0.2)"), format!("8 objects were never wrong in 60 random questions{nothing}"));
    assert_eq!(told("least.call(|s| 0.9)"), format!("8 objects were never right in 60 random questions{nothing}"));
    assert_eq!(told("let c = least.call(|s| 0.9); [c.found, c.rows, c.never_right]"), "[0, [], 8]");
    refused(
        "let n = model::from(|x| tensor::uniform([x.len(), 2]), #{ classes: 2 }); robustness::counterfactual(asked.call(n, |s| s.a / 10, #{ random_questions: 20 }))",
        "answers otherwise when it is asked again",
    );
    refused(
        "robustness::counterfactual(examine(f, ds, #{ space: space::factors(four, |z, s| z), search: search::random() }))",
        "makes no change smaller",
    );
    refused(
        "examine(f, ds, #{ space: space::factors(four, |z, s| z), search: search::counterfactual(), objective: objective::misclassify().loss(\"cross_entropy\") })",
        "does not look for",
    );
}
