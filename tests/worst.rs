//! Ensembles of searches: the worst of all counts, image by image and level by level.
#![allow(clippy::unwrap_used)]

use crate::truths;
use std::rc::Rc;

use viva::core::{Cx, Value};
use viva::script::{Diagnostic, Session};

const GIVEN: &str = r#"
    let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(24), net::relu(), net::linear(10)], epochs: 60, lr: 0.01, seed: 1 });
    let pixels = space::pixels("linf", #{ bounds: [0, 1] });
    let levels = [0.02, 0.05, 0.1];
    let short = search::bim(#{ steps: 3, step: 0.01 });
    let towards = #{ name: "towards each", search: search::apgd(#{ steps: 20 }), objective: objective::each_wrong().loss("dlr") };
    let nearest = search::fmn(#{ steps: 40 });
    let square = search::square(#{ questions: 60 });
"#;

fn run(script: &str) -> std::result::Result<Value, Box<Diagnostic>> {
    Session::new(Rc::new(Cx::default())).evaluate("test", &format!("{GIVEN}\n{script}"))
}

fn truths(script: &str) {
    truths::hold(&run(script).unwrap_or_else(|error| panic!("{}", error.render(false))));
}

#[test]
fn it_is_the_envelope_of_its_members() {
    truths(
        r#"
        let look = |search| examine(f, ds, #{ space: pixels, search: search, levels: levels, seed: 1 });
        let all = look.call(search::worst([short, towards, nearest, square]));
        let alone = look.call(short);
        let key = |row| `${row.id} ${row.level}`;
        let failing = |t| t.filter(|row| row.fooled);
        let first = failing.call(all).filter(|row| row.by == "bim");
        let still = all.filter(|row| !row.fooled && row.before == row.label);
        let left = |name| failing.call(all).filter(|row| row.by == name).len();
        let m = all.members;
        #{
            rows: all.len() == 180 && all.column("id") == alone.column("id") && all.column("level") == alone.column("level"),
            // What the first makes fail is as it has it.
            first: first.column("id") == failing.call(alone).column("id") && first.column("margin") == failing.call(alone).column("margin"),
            more: failing.call(all).len() > failing.call(alone).len(),
            handed_on: m[0].left == m[1].tried && m[1].left == m[2].tried && m[2].left == m[3].tried && m[3].left == still.len(),
            counted: m.all(|member| member.tried - member.fooled == member.left && left.call(member.name) == member.fooled),
            names: m.map(|member| member.name) == ["bim", "towards each", "fmn", "square"],
            nobody: still.column("by").all(|by| by == ()),
            judged: all.filter(|row| row.fooled && row.margin > 0.0).len() == 0 && all.column("target").all(|target| target == ()),
            drawn_again: f.predict(all.images()).values() == all.column("after"),
            within: all.filter(|row| row.magnitude > row.level + 1e-6).len() == 0,
            // A case asks as much as all that tried it.
            asked: still.filter(|row| row.queries < 4 + 9 * 2 + 41 + 61).len() == 0,
        }
        "#,
    );
}

#[test]
fn a_curve_of_it_lies_on_or_under_every_member() {
    truths(
        r#"
        let curve = |search| tolerance::measure(f, ds, #{ space: pixels, search: search, levels: levels, seed: 1 }).accuracy;
        let worst = curve.call(search::worst([square, nearest, short]));
        let each = [square, nearest, short].map(|search| curve.call(search));
        let lowest = 0;
        for i in 0..worst.len() { if each.all(|own| worst[i] <= own[i]) { lowest += 1; } }
        #{ below: lowest == worst.len() && worst.len() == 4 }
        "#,
    );
}

#[test]
fn what_vanishing_gradients_left_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut cx = Cx::default();
    cx.set_folder(folder.path().to_path_buf());
    let run = |script: &str| {
        let script = format!("{GIVEN}\n{script}");
        let value = Session::new(Rc::new(cx)).run(&folder.path().join("script.rhai"), &script);
        truths::hold(&value.unwrap_or_else(|error| panic!("{}", error.render(false))));
    };
    run(r#"
        f.save("plain.safetensors");
        let masked = model::load("plain.safetensors", #{ std: [1.0 / 300] });
        let ball = space::pixels("linf", #{ radius: 0.02, bounds: [0, 1] });
        let t = examine(masked, ds, #{ space: ball, search: search::worst([search::bim(#{ steps: 5 }), square]) });
        let stuck = t.members[0].vanished;
        #{
            noted: stuck > 10 && stuck <= t.members[1].left && t.members[1].vanished == 0,
            said: t.cautions.filter(|caution| caution.starts_with("bim: gradients vanished at " + stuck)).len() == 1,
        }
        "#);
}

#[test]
fn what_makes_no_ensemble_is_refused() {
    for (call, words) in [
        ("search::worst([])", "no searches"),
        ("search::worst([1])", "member 0 is int"),
        ("search::worst([short, #{ serach: short }])", "member 1 has an unknown key `serach`"),
        ("search::worst([#{ search: pixels }])", "has a Space as its `search`"),
        ("search::worst([search::worst([short])])", "is itself search::worst"),
        ("examine(f, ds, #{ space: pixels, search: search::worst([short]), at_steps: [1] })", "no `at_steps`"),
        (
            "examine(f, ds, #{ space: pixels, search: search::worst([short, towards]), levels: levels, objective: objective::target(3) })",
            "and the examination for target(3)",
        ),
        // Before anything works: the second one has no levels here.
        ("examine(f, ds, #{ space: pixels, search: search::worst([short, search::apgd()]) })", "has no ball"),
        (
            "examine(f, ds, #{ space: space::noise(0.1), search: search::worst([search::random(), short]) })",
            "has none of",
        ),
    ] {
        let error = run(call).expect_err("a refusal").render(false);
        assert!(error.contains(words), "{call}: {error}");
    }
}
