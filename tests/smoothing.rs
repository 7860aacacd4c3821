//! Certificates of smoothed classifiers against cases that are known exactly, SciPy and statsmodels, by simulation, and what they say of
//! themselves.

use std::path::Path;
use std::rc::Rc;

use statrs::distribution::{Binomial, ContinuousCDF, Discrete, Normal};
use viva::core::{Cx, Journal, Quiet, Value};
use viva::maths::shares::clopper_pearson_lower;
use viva::maths::smoothing;
use viva::script::Session;

/// Of 16 pixels their sum decides: class 1 where it is above 8. An image of pixels v is 4 |v - 1/2| from the other side, and with noise of
/// sigma on top of it gets its class with probability Phi(4 |v - 1/2| / sigma).
const LINEAR: &str = r#"
    let f = model::from(|x| {
        let s = x.reshape([x.len(), 16]).sum(1) - 8;
        tensor::concat([s * 0, s]).reshape([2, x.len()]).transpose()
    }, #{ classes: 2 });
    let flat = |values, label| data::from((tensor::zeros([16, values.len()]) + tensor::from(values)).transpose().reshape([values.len(), 1, 4, 4]),
        values.map(|v| label), #{ classes: ["dark", "light"] });
"#;

fn session(cx: Cx) -> Session {
    Session::new(Rc::new(cx))
}

fn run(script: &str) -> Result<Value, String> {
    let text = format!("{LINEAR}\n{script}");
    session(Cx::new(Box::new(Quiet)))
        .run(Path::new("script.rhai"), &text)
        .map_err(|diagnostic| diagnostic.render(false))
}

fn value(script: &str) -> Value {
    run(script).unwrap_or_else(|error| panic!("{error}"))
}

/// What it says, in one line.
fn refused(script: &str) -> String {
    let said = run(script).err().unwrap_or_else(|| panic!("{script} runs"));
    said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

fn floats(value: &Value) -> Vec<f64> {
    let Value::Array(values) = value else { panic!("{}", value.summary()) };
    let float = |value: &Value| match value {
        Value::Float(x) => *x,
        Value::Int(i) => *i as f64,
        Value::Unit => 0.0,
        other => panic!("{}", other.summary()),
    };
    values.iter().map(float).collect()
}

/// proportion_confint(k, n, alpha=2 * delta, method="beta")[0] of statsmodels 0.15.0 with SciPy 1.17.1, which the authors' core.py calls, and
/// 0.25 times norm.ppf of it.
#[test]
fn lower_ends_and_radii_are_those_of_statsmodels() {
    for (k, n, delta, p, radius) in [
        (1000, 1000, 0.001, 0.9931160484209338, 0.6158156536952029),
        (999, 1000, 0.001, 0.9908045023646124, 0.5894126426487887),
        (990, 1000, 0.001, 0.9760361871553114, 0.49450239553529984),
        (700, 1000, 0.001, 0.6534720352918644, 0.09867783615104439),
        (501, 1000, 0.05, 0.47451559686459005, f64::NAN),
        (99_500, 100_000, 0.001, 0.9942718183966079, 0.6321153891641361),
        (100_000, 100_000, 0.001, 0.9999309248330094, 0.9528641408474786),
        (99_999, 100_000, 0.001, 0.9999076696662654, 0.9347816671358392),
        (52_000, 100_000, 1e-6, 0.5124825525973402, 0.007823556604583021),
        (1, 10, 0.01, 0.0010045287082499491, f64::NAN),
        (0, 10, 0.01, 0.0, f64::NAN),
        (10, 10, 0.5, 0.9330329915368074, 0.3746918188397439),
        (7, 10, 0.05, 0.39337578389458766, f64::NAN),
    ] {
        let found = clopper_pearson_lower(k, n, delta);
        // The logarithms of factorials have 14 digits, of which those of 100000 leave 9.
        assert!((found - p).abs() < 1e-9, "{k} of {n}: {found} in place of {p}");
        match smoothing::radius(0.25, found) {
            None => assert!(radius.is_nan(), "{k} of {n}"),
            Some(found) => assert!((found - radius).abs() < 1e-7, "{k} of {n}: {found} in place of {radius}"),
        }
    }
    assert_eq!(smoothing::radius(1.0, 0.5), None);
    // 0.5^9 is above 0.001 and 0.5^10 below it.
    assert_eq!(smoothing::fewest_samples(0.001), 10);
    for samples in [9, 10] {
        assert_eq!(clopper_pearson_lower(samples, samples, 0.001) > 0.5, samples == 10);
    }
}

/// Summed over all counts, not simulated: whatever the true share, the lower end is above it with probability delta at most, and not much less.
#[test]
fn lower_ends_fail_as_rarely_as_they_say() {
    for n in [1u64, 7, 50, 400] {
        for delta in [0.001, 0.05, 0.5] {
            let ends: Vec<f64> = (0..=n).map(|k| clopper_pearson_lower(k, n, delta)).collect();
            assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{n}, {delta}");
            for p in [0.01, 0.3, 0.5, 0.77, 0.9, 0.999] {
                let law = Binomial::new(p, n).expect("a binomial");
                let fails: f64 = (0..=n).filter(|k| ends[*k as usize] > p).map(|k| law.pmf(k)).sum();
                assert!(fails <= delta * (1.0 + 1e-9), "{n}, {delta}, {p}: {fails}");
            }
        }
    }
}

#[test]
fn radii_of_a_linear_classifier_stay_below_its_distance_and_approach_it() {
    let values: Vec<f64> = (0..30).map(|i| 0.505 + 0.004 * f64::from(i)).collect();
    let found = value(&format!(
        "let ds = flat.call({values:?}, 1);\n\
         [100, 1000, 20000].map(|n| robustness::certify(f, ds, #{{ sigma: 0.25, samples: n, seed: 5 }}).radii)"
    ));
    let Value::Array(found) = found else { panic!("{}", found.summary()) };
    let distances: Vec<f64> = values.iter().map(|v| 4.0 * (v - 0.5)).collect();
    let mut gaps = vec![];
    for radii in &found {
        let radii = floats(radii);
        for (radius, distance) in radii.iter().zip(&distances) {
            // 90 statements at delta 0.001, this seed's among the 91% of seeds where all hold. Pixels are float32.
            assert!(*radius <= distance + 1e-6, "{radius} where {distance} is the distance");
        }
        gaps.push(radii.iter().zip(&distances).map(|(radius, distance)| distance - radius).sum::<f64>() / 30.0);
    }
    // A lower end is about z sqrt(p (1 - p) / n) below p: ten times the samples leave about a third of the gap.
    assert!(gaps[1] < 0.5 * gaps[0] && gaps[2] < 0.4 * gaps[1] && gaps[2] < 0.02, "{gaps:?}");
}

/// One image many times over, at a delta that lets radii fail often enough to be counted.
#[test]
fn radii_fail_as_rarely_as_they_say() {
    let (delta, n) = (0.2, 400);
    let radii = value(&format!(
        "let values = []; values.pad({n}, 0.55); \n\
         robustness::certify(f, flat.call(values, 1), #{{ sigma: 0.25, select: 20, samples: 60, delta: {delta}, seed: 3 }}).radii"
    ));
    let radii = floats(&radii);
    let failed = radii.iter().filter(|radius| **radius > 0.2).count() as f64;
    // What Clopper and Pearson's interval of 60 draws fails with here, exactly; five deviations around it.
    let p = Normal::standard().cdf(0.2 / 0.25);
    let law = Binomial::new(p, 60).expect("a binomial");
    let exact: f64 = (0..=60).filter(|k| clopper_pearson_lower(*k, 60, delta) > p).map(|k| law.pmf(k)).sum();
    let (expected, deviation) = (exact * f64::from(n), (exact * (1.0 - exact) * f64::from(n)).sqrt());
    assert!(exact <= delta && exact > 0.1, "{exact}");
    assert!((failed - expected).abs() < 5.0 * deviation, "{failed} of {n} failed, {expected} are expected");
    // With the same samples and a delta for all rows together every radius is smaller, and none fails.
    let joint = value(&format!(
        "let values = []; values.pad({n}, 0.55); \n\
         robustness::certify(f, flat.call(values, 1), #{{ sigma: 0.25, select: 20, samples: 60, delta: 0.001, joint: true, seed: 3 }}).radii"
    ));
    assert!(floats(&joint).iter().zip(&radii).all(|(joint, radius)| joint < radius || *radius == 0.0));
    assert!(floats(&joint).iter().all(|radius| *radius <= 0.2));
}

#[test]
fn batches_alone_and_together_say_the_same() {
    let same = value(
        r#"
        let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, lr: 0.01, seed: 1 });
        let won = |c| { let all = []; for i in 0..c.rows { all.push(c[i].won); all.push(c[i].p); } all };
        let how = #{ sigma: 0.3, select: 30, samples: 50, seed: 2 };
        let whole = won.call(robustness::certify(f, ds, how));
        let few = won.call(robustness::certify(f, ds.take(5), how));
        let same = [1, 7, 80, 961].map(|batch| won.call(robustness::certify(f, ds, how + #{ batch: batch })) == whole);
        same.push(few == whole.extract(0, 10));
        same.push(won.call(robustness::certify(f, ds, how + #{ seed: 3 })) != whole);
        same"#,
    );
    assert_eq!(same.summary(), "[true, true, true, true, true, true]");
}

#[test]
fn a_certificate_that_is_stopped_again_and_again_is_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = format!(
        "{LINEAR}\nlet c = robustness::certify(f, flat.call([0.4, 0.52, 0.6], 1), #{{ sigma: 0.2, samples: 70, batch: 40, seed: 1 }});\n\
         [c.radii, c.abstained]"
    );
    let attempt = |kept: bool, polls: Option<u64>| {
        let mut cx = Cx::new(Box::new(Quiet));
        if kept {
            cx.set_journal(Journal::open(folder.path()).expect("a journal"));
        }
        cx.stop_after(polls);
        match session(cx).run(Path::new("script.rhai"), &script) {
            Ok(value) => Some(value.summary()),
            Err(error) if error.is_interruption() => None,
            Err(error) => panic!("{}", error.render(false)),
        }
    };
    let whole = attempt(false, None).expect("a run that nobody stops");
    // 510 copies in batches of 40: thirteen, each of which can be the last.
    let mut stops = 0;
    let resumed = loop {
        match attempt(true, Some(3)) {
            Some(resumed) => break resumed,
            None => stops += 1,
        }
        assert!(stops < 100, "it does not go on");
    };
    assert!(stops >= 3, "only {stops} stops");
    assert_eq!(resumed, whole);
}

#[test]
fn what_cannot_be_right_is_refused() {
    let ds = "let ds = flat.call([0.6, 0.7], 1);";
    for (script, said) in [
        ("robustness::certify(f, ds, #{ sigma: 0.1, samples: 9 })", "of 9 samples nothing can be certified"),
        ("robustness::certify(f, ds, #{ sigma: 0.1, samples: 10, joint: true })", "`samples` of 11 is the least"),
        ("robustness::certify(f, ds, #{ sigma: 0 })", "`sigma` must be"),
        ("robustness::certify(f, ds, #{ sigma: 0.1, delta: 0.6 })", "`delta` must be"),
        ("robustness::certify(f, ds)", "`sigma` is needed"),
        (
            "robustness::certify(model::from(|x| tensor::zeros([x.len(), 2]) / 0), ds, #{ sigma: 0.1 })",
            "not a number (NaN)",
        ),
        ("f.smoothed(#{ sigma: 0 })", "`sigma` must be"),
        ("plot::certified([])", "no certificates"),
        ("plot::certified(f)", "must hold Certificates"),
        (
            "let c = robustness::certify(f, ds, #{ sigma: 0.1 }); plot::certified(c, #{ attack: c })",
            "a certificate of images that nobody moved",
        ),
        (
            "let t = examine(f, ds.take(1), #{ space: space::noise(0.1), search: search::sweep() });
             let how = #{ sigma: 0.1 };
             plot::certified(robustness::certify(f, ds, how), #{ attack: robustness::certify(f, t, how) })",
            "certify and attack one data set",
        ),
        (
            "let t = examine(f, ds, #{ space: space::noise(0.1), search: search::sweep() });
             plot::certified(robustness::certify(f, ds, #{ sigma: 0.1 }), #{ attack: t })",
            "not measured in l2",
        ),
        (
            "let t = examine(f, ds, #{ space: space::noise(0.1), search: search::sweep() });
             plot::certified(robustness::certify(f, t, #{ sigma: 0.1 }))",
            "that is the option `attack`",
        ),
    ] {
        let found = refused(&format!("{ds}\n{script}"));
        assert!(found.contains(said), "{script}:\n{found}");
    }
}

/// A certificate outlives the terminal: all of its forms say that it is not of the model itself.
#[test]
fn every_form_says_which_classifier_it_is_of() {
    let c = value("robustness::certify(f, flat.call([0.4, 0.501, 0.6], 1), #{ sigma: 0.2, seed: 1 })");
    let Value::Object(object) = &c else { panic!("{}", c.summary()) };
    let csv = object.table().expect("a table").csv();
    assert_eq!(csv.matches("closure smoothed by Gaussian noise of sigma 0.2").count(), 3, "{csv}");
    for text in [object.summary(), object.details(80), object.json().to_string()] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("smoothed by Gaussian noise of sigma 0.2"), "{text}");
        assert!(text.contains("not of closure itself") || text.contains("nothing of closure itself"), "{text}");
    }
    let json = object.json();
    assert_eq!(json["abstained"], 1);
    assert!(json["statement"].as_str().is_some_and(|text| text.contains("each row by itself with probability 0.999")));
    assert_eq!(json["radii"].as_array().expect("radii").len(), 3);
    let figure =
        value("plot::certified(robustness::certify(f, flat.call([0.4, 0.6], 1), #{ sigma: 0.2, seed: 1 })).cautions");
    assert!(figure.summary().contains("not of closure itself"), "{}", figure.summary());
}

#[test]
fn shares_fall_in_exact_steps() {
    let found = value(
        r#"
        let c = robustness::certify(f, flat.call([0.4, 0.501, 0.6, 0.55], 1), #{ sigma: 0.2, samples: 2000, seed: 1 });
        let r = c[3].radius;
        let at = |radius| c.certified(radius).share;
        [c.accuracy, at.call(0), at.call(r), at.call(r + 1e-9), at.call(c[2].radius), at.call(9), c.abstained, c[-1].radius - r,
         c.mean_radius - (c[2].radius + r) / 4, c[0].radius]"#,
    );
    let Value::Array(found) = &found else { panic!("{}", found.summary()) };
    let found = floats(&Value::Array(found.clone()));
    // Of four one is wrong, one in doubt; the wrong one has a radius too, which does not count.
    assert_eq!(found[..8], [0.5, 0.5, 0.5, 0.25, 0.25, 0.0, 1.0, 0.0]);
    assert!(found[8].abs() < 1e-12 && found[9] > 0.1, "{found:?}");
}

#[test]
fn lengths_that_are_not_of_pixels_say_so() {
    let cautions = |script: &str| {
        let data = "let ds = data::from(tensor::normal([4, 1, 4, 4]).abs().clamp(0, 1), [0, 0, 0, 0]);";
        value(&format!("{data} {script}.cautions")).summary()
    };
    let plain = cautions("robustness::certify(f, ds, #{ sigma: 0.2, samples: 20 })");
    assert!(!plain.contains("lengths"), "{plain}");
    for change in ["standardise", "centre", "scale_pixels"] {
        let found = cautions(&format!("robustness::certify(f, ds.{change}(), #{{ sigma: 0.2, samples: 20 }})"));
        assert!(found.contains("sigma and radii are lengths of what the model is given"), "{found}");
    }
}

/// The theorem is about a function of the image, or one whose draws are independent.
#[test]
fn models_that_answer_by_the_batch_or_by_chance_are_marked() {
    let cautions = |model: &str| {
        let data = "let ds = flat.call([0.4, 0.6, 0.7], 1);";
        value(&format!("{data} robustness::certify({model}, ds, #{{ sigma: 0.2, samples: 20, seed: 1 }}).cautions"))
            .summary()
    };
    assert!(!cautions("f").contains("radii are right only if"));
    for model in [
        "model::from(|x| f.logits(x - x.mean() + 0.5), #{ classes: 2 })",
        "model::from(|x| f.logits(x) + tensor::normal([x.len(), 2]), #{ classes: 2 })",
    ] {
        let found = cautions(model);
        assert!(found.contains("radii are right only if closure answers each noisy copy by itself"), "{found}");
    }
}

/// The mean over draws of a steep softmax is close to the share of noise that a class gets.
#[test]
fn a_smoothed_model_answers_the_mean_over_noise() {
    let found = value(
        r#"
        let steep = model::from(|x| f.logits(x) * 1e4, #{ classes: 2 });
        let x = flat.call([0.45, 0.5, 0.52, 0.6], 1);
        let g = steep.smoothed(#{ sigma: 0.25, draws: 4000, seed: 1 });
        let shares = g.logits(x).exp().transpose()[1].values();
        let parted = [g.logits(x.images()[2].reshape([1, 1, 4, 4])).exp().transpose()[1].values()[0]];
        shares + parted + [if g.hash == steep.smoothed(#{ sigma: 0.25, draws: 4000, seed: 1 }).hash { 1 } else { 0 },
                           if g.hash == steep.smoothed(#{ sigma: 0.25, draws: 4000, seed: 2 }).hash { 1 } else { 0 }]"#,
    );
    let found = floats(&found);
    for (v, share) in [0.45, 0.5, 0.52, 0.6].into_iter().zip(&found) {
        let wanted = Normal::standard().cdf(4.0 * (v - 0.5) / 0.25);
        // Five deviations of a share of 4000.
        assert!((share - wanted).abs() < 5.0 * 0.5 / 4000f64.sqrt(), "{v}: {share} in place of {wanted}");
    }
    assert!((found[4] - found[2]).abs() < 1e-6, "alone and in a batch: {found:?}");
    assert_eq!(found[5..], [1.0, 0.0]);
}

/// An attack with gradients on the smoothed model leads to images that the smoothed classifier certainly gets wrong, and at none of them
/// is the change shorter than the radius that was certified.
#[test]
fn attacks_on_the_smoothed_model_never_come_below_the_certificate() {
    let found = value(
        r#"
        let ds = data::glyphs(#{ n: 40, size: 16, position: "centred", margin: 0, seed: 1 });
        let taught = data::glyphs(#{ n: 400, size: 16, position: "centred", margin: 0, seed: 2 });
        let f = model::train(taught, #{ arch: [net::flatten(), net::linear(10)], epochs: 40, lr: 0.01, seed: 1 });
        let how = #{ sigma: 0.3, samples: 1000, seed: 1 };
        let c = robustness::certify(f, ds, how);
        let g = f.smoothed(#{ sigma: 0.3, draws: 16, seed: 1 });
        let search = search::apgd(#{ steps: 20 });
        let t = examine(g, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search, levels: [0.1, 0.5, 1, 2], batch: 40, seed: 1 });
        let a = robustness::certify(f, t, how);
        let (wrong, below) = [0, 0];
        for i in 0..a.rows {
            let row = a[i];
            let own = c[row.id];
            if row.class == () || own.class == () || row.class == own.class { continue; }
            wrong += 1;
            if row.moved < own.radius { below += 1; }
        }
        let figure = plot::certified(c, #{ attack: a });
        let other = plot::certified(c, #{ attack: t });
        [wrong, below, figure.cautions.len(), other.cautions.reduce(|s, w| s + w, ""), figure, a.cautions]"#
            .replace("let (wrong, below) = [0, 0];", "let wrong = 0; let below = 0;")
            .as_str(),
    );
    let Value::Array(found) = found else { panic!("{}", found.summary()) };
    let (Value::Int(wrong), Value::Int(below)) = (&found[0], &found[1]) else { panic!("{}", found[0].summary()) };
    assert!(*wrong > 20 && *below == 0, "{wrong} moved, {below} within the radius");
    assert_eq!(found[2].summary(), "1", "{} {}", found[4].details(100), found[5].summary());
    assert!(found[5].summary().contains("several rows are of one image"), "{}", found[5].summary());
    let said = found[3].summary();
    assert!(
        said.contains("which no line here certifies") && said.contains("stands in for the smoothed classifier"),
        "{said}"
    );
    // The upper line is nowhere below the lower one.
    let Value::Object(figure) = &found[4] else { panic!("{}", found[4].summary()) };
    let json = figure.json();
    let lines: Vec<Vec<(f64, f64)>> = json["panels"][0]["layers"]
        .as_array()
        .expect("layers")
        .iter()
        .filter(|layer| layer["kind"] == "line")
        .map(points)
        .collect();
    let at = |line: &[(f64, f64)], x: f64| line.iter().rev().find(|(from, _)| *from < x).map_or(1.0, |(_, y)| *y);
    assert_eq!(lines.len(), 2);
    for step in 1..200 {
        let x = 0.01 * f64::from(step);
        assert!(at(&lines[1], x) >= at(&lines[0], x), "at {x}: {lines:?}");
    }
}

fn points(layer: &serde_json::Value) -> Vec<(f64, f64)> {
    let numbers = |name: &str| -> Vec<f64> {
        layer[name].as_array().expect("numbers").iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    numbers("x").into_iter().zip(numbers("y")).collect()
}
