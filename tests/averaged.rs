//! Models averaged over draws: what they answer, and attacks that go through chance by them.
#![allow(clippy::unwrap_used)]

use crate::truths;
use std::path::Path;
use std::rc::Rc;

use tch::{Device, Kind, Tensor};
use viva::core::{Cx, Digest, Result, Value};
use viva::model::{Model, Network};
use viva::script::{Diagnostic, Session};
use viva::space::averaged;

/// Two classes: how much larger the mean of the left half is, hidden behind a random direction that is drawn anew at every call.
struct Hidden;

impl Network for Hidden {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let flat = images.flatten(1, -1) - 0.5;
        let half = flat.size()[1] / 2;
        let gap = flat.narrow(1, 0, half).mean_dim(1, false, Kind::Float)
            - flat.narrow(1, half, half).mean_dim(1, false, Kind::Float);
        let drawn = Tensor::randn([flat.size()[1], 1], (Kind::Float, Device::Cpu)) * 0.2;
        let hidden = gap + flat.matmul(&drawn).squeeze_dim(1);
        Ok(Tensor::stack(&[hidden.shallow_clone(), -hidden], 1))
    }
}

fn run(script: &str) -> std::result::Result<Value, Box<Diagnostic>> {
    let mut session = Session::new(Rc::new(Cx::default()));
    session.set("f", Value::object(Model::new("hidden", Box::new(Hidden), Digest::of(b"hidden")).with_classes(2)));
    session.run(Path::new("script.rhai"), script)
}

fn truths(script: &str) {
    truths::hold(&run(script).unwrap_or_else(|error| panic!("{}", error.render(false))));
}

const GLYPHS: &str = r#"
    let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(24), net::relu(), net::linear(10)], epochs: 60, lr: 0.01, seed: 1 });
"#;

#[test]
fn scores_are_the_mean_probability_over_the_draws() {
    truths(&format!(
        r#"{GLYPHS}
        let images = ds.images();
        let probabilities = |g| g.logits(images).softmax();
        let same = f.averaged(#{{ over: space::factors([#{{ name: "a", choices: [1, 2] }}], |z, s| z), draws: 5 }});
        let dark = |a| f.logits((images * a).clamp(0, 1)).softmax();
        let two = f.averaged(#{{ over: space::factors([#{{ name: "a", choices: [0.5, 1.0] }}], |z, s| z * s.a), draws: 400, seed: 3 }});
        // A share of draws is within four standard deviations of one half.
        let between = probabilities.call(two) - (dark.call(0.5) + dark.call(1.0)) * 0.5;
        let apart = (dark.call(0.5) - dark.call(1.0)).abs().max();
        #{{
            same: (probabilities.call(same) - f.logits(images).softmax()).abs().max() < 1e-6,
            mean: between.abs().max() <= apart * 0.1 && apart > 0.3,
            again: probabilities.call(two).values() == probabilities.call(f.averaged(#{{
                over: space::factors([#{{ name: "a", choices: [0.5, 1.0] }}], |z, s| z * s.a), draws: 400, seed: 3 }})).values(),
            said: two.cautions.len() == 1 && two.cautions[0].contains("400 fixed draws"),
        }}"#
    ));
}

#[test]
fn a_gradient_of_the_mean_finds_what_one_draw_hides() {
    truths(
        r#"
        let halves = [];
        for i in 0..64 { halves.push(if i < 32 { 0.55 } else { 0.45 }); }
        let ds = data::from(tensor::from(halves).reshape([1, 1, 1, 64]), [0], #{ classes: ["left", "right"] });
        // As far as brings the gap from 0.1 to -0.06.
        let how = #{ space: space::pixels("linf", #{ radius: 0.08, bounds: [0, 1] }), search: search::bim(#{ steps: 20 }), seed: 1 };
        let judge = f.averaged(#{ draws: 500, seed: 99 });
        let found = |draws| judge.predict(examine(f.averaged(#{ draws: draws, seed: 7 }), ds, how).images())[0];
        #{ stands: judge.predict(ds)[0] == 0, one_draw_misleads: found.call(1) == 0, the_mean_does_not: found.call(300) == 1 }
        "#,
    );
}

#[test]
fn images_fail_under_rotations_that_they_were_not_made_with() {
    truths(&format!(
        r#"{GLYPHS}
        let turned = space::rotate(30, #{{ fill: 1.0 }});
        let how = #{{ space: space::pixels("linf", #{{ radius: 0.12, bounds: [0, 1] }}), search: search::apgd(#{{ steps: 30 }}), seed: 1 }};
        let fails = |g| {{
            let made = data::from(examine(g, ds, how).images(), ds.labels, #{{ classes: ds.classes }});
            let seen = 0;
            for k in 0..10 {{
                let t = examine(f, made, #{{ space: turned, search: search::random(#{{ questions: 1 }}), seed: 100 + k }});
                seen += t.filter(|row| row.after != row.label).len();
            }}
            seen / 600.0
        }};
        let plain = fails.call(f);
        let averaged = fails.call(f.averaged(#{{ over: turned, draws: 16, seed: 5 }}));
        #{{ more: averaged > plain + 0.05 }}"#
    ));
}

#[test]
fn draws_stop_when_the_run_does() {
    let cx = Cx::default();
    let plain = Model::new("hidden", Box::new(Hidden), Digest::of(b"hidden")).with_classes(2);
    let means = [averaged(&cx, &plain, None, 100_000, 1).unwrap(), plain.smoothed(&cx, 0.1, 100_000, 1).unwrap()];
    cx.stop_flag().store(true, std::sync::atomic::Ordering::Relaxed);
    for mean in means {
        let images = Tensor::zeros([1, 1, 1, 4], (Kind::Float, Device::Cpu));
        assert!(mean.logits(&images).expect_err("stopped").is_interrupted(), "{}", mean.name);
    }
}

#[test]
fn what_lets_no_gradient_through_is_refused() {
    for (over, words) in [
        ("space::render()", "can't be drawn from any image and a setting"),
        ("space::hue(20)", "can't be drawn from any image and a setting"),
        ("space::corruptions()", "can't be drawn from any image and a setting"),
        ("space::translate(2)", "can't be drawn from any image and a setting"),
        ("space::factors([#{ name: \"a\", choices: [0.5] }], |z, s| z * s.a)", "every draw of"),
    ] {
        let error = run(&format!("{GLYPHS} f.averaged(#{{ over: {over} }})")).expect_err("a refusal").render(false);
        assert!(error.contains(words), "{over}: {error}");
    }
    let closure = "space::factors([#{ name: \"a\", min: 0.5, max: 1 }], |z, s| z * s.a)";
    let how = "#{ space: space::pixels(\"linf\", #{ radius: 0.1 }), search: search::apgd(#{ steps: 2 }) }";
    let error =
        run(&format!("{GLYPHS} examine(f.averaged(#{{ over: {closure} }}), ds, {how})")).expect_err("a refusal");
    assert!(error.render(false).contains("no gradient flows"), "{}", error.render(false));
}
