//! Searches along gradients over settings of factors: rotations, shifts, colours, views, and factors of a script's own.
#![allow(clippy::unwrap_used)]

use crate::truths;
use std::path::Path;
use std::rc::Rc;

use tch::Tensor;
use viva::core::{Cx, Digest, Result, Value};
use viva::model::{Model, Network};
use viva::script::{Diagnostic, Session};

/// Two classes: the first pixel and the second.
struct Larger;

impl Network for Larger {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        Ok(images.flatten(1, -1).narrow(1, 0, 2))
    }
}

/// Images of two pixels, the first one larger, and a factor that mixes them: they are equal at 0.5 whatever they are.
const MIXED: &str = r#"
    let pixels = [[0.9, 0.1], [0.6, 0.2], [0.5, 0.4], [1.0, 0.0]];
    let ds = data::from(tensor::from(pixels).reshape([4, 1, 1, 2]), [0, 0, 0, 0], #{ classes: ["first", "second"] });
    let swapped = |z| tensor::from([z[0][0][1], z[0][0][0]]).reshape([1, 1, 2]);
    let mixed = |factor| space::factors([factor], |z, s| z * (1 - s.share) + swapped.call(z) * s.share);
    let space = mixed.call(#{ name: "share", min: 0, max: 1, identity: 0 });
"#;

const ROTATED: &str = r#"
    let ds = data::glyphs(#{ n: 40, size: 16, position: "centred", margin: 0, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(24), net::relu(), net::linear(10)], epochs: 60, lr: 0.01, seed: 1 });
    let space = space::affine(#{ rotate: 40, shift: 2, fill: 1.0 });
"#;

fn run(given: &str, script: &str) -> std::result::Result<Value, Box<Diagnostic>> {
    let mut session = Session::new(Rc::new(Cx::default()));
    session.set("f", Value::object(Model::new("larger", Box::new(Larger), Digest::of(b"larger")).with_classes(2)));
    session.run(Path::new("script.rhai"), &format!("{given}\n{script}"))
}

fn value(given: &str, script: &str) -> Value {
    run(given, script).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

fn truths(given: &str, script: &str) {
    truths::hold(&value(given, script));
}

fn refused(given: &str, script: &str) -> String {
    run(given, script).expect_err("a refusal").render(false)
}

#[test]
fn every_search_along_gradients_finds_a_crossing_that_is_known() {
    truths(
        MIXED,
        r#"
        let found = |search| examine(f, ds, #{ space: space, search: search });
        let fmn = found.call(search::fmn(#{ steps: 60, step: 0.3 }));
        let apgd = found.call(search::apgd(#{ steps: 10 }));
        let bim = found.call(search::bim(#{ steps: 70 }));
        let adam = found.call(search::adam(#{ lr: 0.02, steps: 60 }));
        let fool = found.call(search::deepfool());
        let all = |t| t.success_rate == 1.0;
        #{
            all_fail: all.call(fmn) && all.call(apgd) && all.call(adam),
            nearest: fmn.column("magnitude").all(|size| size >= 0.5 && size < 0.503),
            // Steps of about 0.02.
            close: adam.column("magnitude").all(|size| size >= 0.5 && size < 0.54),
            // 70 steps of a hundredth.
            as_far_as_it_goes: bim.column("magnitude").all(|size| (size - 0.7).abs() < 1e-3),
            // The scores are linear in it, and a fiftieth is added to each step.
            in_one_step: fool.column("magnitude").all(|size| size > 0.5 && size < 0.511) && fool.column("step").all(|step| step <= 2),
            settings: fmn.column("point").all(|point| (point.share - 0.5).abs() < 0.003),
        }
        "#,
    );
}

#[test]
fn levels_are_balls_and_the_curve_steps_where_the_crossing_is() {
    truths(
        MIXED,
        r#"
        let t = examine(f, ds, #{ space: space, search: search::apgd(#{ steps: 20 }), levels: [0.3, 0.49, 0.52, 1.0] });
        let right = |level| t.filter(|row| row.level == level && row.after == row.label).len();
        #{
            before: right.call(0.3) == 4 && right.call(0.49) == 4,
            behind: right.call(0.52) == 0 && right.call(1.0) == 0,
            within: t.filter(|row| row.magnitude > row.level + 1e-6).len() == 0,
        }
        "#,
    );
}

#[test]
fn rotations_and_shifts_are_found_and_can_be_drawn_again() {
    truths(
        ROTATED,
        r#"
        let how = #{ space: space, search: search::apgd(#{ steps: 30, restarts: 3 }), seed: 1 };
        let t = examine(f, ds, how);
        let asked = examine(f, ds, #{ space: space, search: search::random(#{ questions: 60 }), seed: 1 });
        let drawn = f.predict(t.images()).values();
        let after = t.column("after");
        let halves = examine(f, ds.skip(20), how + #{ batch: 7 });
        #{
            // 60 draws of three factors find nearly all that there is to find.
            finds: t.success_rate >= asked.success_rate,
            for_less: t.mean("queries") < 40,
            within: t.column("point").all(|p| p.angle.abs() <= 40 && p.dy.abs() <= 2 && p.dx.abs() <= 2),
            drawn_again: drawn == after,
            again: examine(f, ds, how).column("point") == t.column("point"),
            other_batches: examine(f, ds, how + #{ batch: 7 }).column("after") == after,
        }
        "#,
    );
}

/// Half a degree to either side is looked at by a sweep as well: the step goes to the side where the label leads by less.
#[test]
fn the_first_step_goes_where_the_loss_grows() {
    truths(
        ROTATED,
        r#"
        let aim = objective::misclassify().loss("lead");
        let one = space::rotate(0.5, #{ fill: 1.0 });
        let looked = |search| examine(f, ds, #{ space: one, search: search, objective: aim }).column("margin");
        let up = looked.call(search::sweep());
        let down = looked.call(search::sweep(#{ end: "lower" }));
        let gone = looked.call(search::bim(#{ steps: 1, step: 0.5 }));
        let worse = 0;
        let upwards = 0;
        for i in 0..40 {
            let least = if up[i] < down[i] { up[i] } else { down[i] };
            if gone[i] > least + 1e-6 { worse += 1; }
            if up[i] < down[i] { upwards += 1; }
        }
        #{ up_the_loss: worse <= 1, both_ways: upwards > 5 && upwards < 35 }
        "#,
    );
}

#[test]
fn what_gradients_cant_choose_is_refused() {
    let objects = r#"let ds = data::objects(["mug", "lamp"], #{ n: 2, size: 32, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });"#;
    let error = refused(objects, "examine(f, ds, #{ space: space::render(), search: search::apgd() })");
    assert!(error.contains("factor \"light\"") && error.contains("chosen from a list"), "{error}");
    let noisy = "let both = space::noise(0.1) * space::rotate(30, #{ fill: 1.0 });";
    let error = refused(ROTATED, &format!("{noisy} examine(f, ds, #{{ space: both, search: search::bim() }})"));
    assert!(error.contains("begins at the image") && error.contains("start: \"random\""), "{error}");
    let error = refused(
        MIXED,
        "examine(f, ds, #{ space: mixed.call(#{ name: \"share\", min: 0, max: 1 }), search: search::fmn() })",
    );
    assert!(error.contains("begins at the image") && error.contains("identity"), "{error}");
    let error = refused(ROTATED, "examine(f, ds, #{ space: space::noise(0.1), search: search::apgd() })");
    assert!(error.contains("points that gradients flow to"), "{error}");
}

/// Noise that is drawn for each image stays as it was drawn while the rotation is searched.
#[test]
fn what_is_drawn_is_held() {
    truths(
        ROTATED,
        r#"
        let both = space::noise(0.05) * space::rotate(40, #{ fill: 1.0 });
        let t = examine(f, ds, #{ space: both, search: search::apgd(#{ steps: 20 }), seed: 1 });
        let moved = t.filter(|row| row.queries > 1);
        let still = t.filter(|row| row.queries == 1);
        let drawn = f.predict(t.images()).values();
        let draws = moved.column("point").map(|p| `${p.draw}`);
        #{
            sigma: moved.column("point").all(|p| (p.sigma - 0.05).abs() < 1e-6),
            each_its_own: draws.all(|draw| draws.filter(|other| other == draw).len() == 1) && draws.len() > 10,
            drawn_again: drawn == t.column("after"),
            as_they_stand: still.column("point").all(|p| p.angle == ()) && still.len() == t.filter(|row| row.before != row.label).len(),
        }
        "#,
    );
}
