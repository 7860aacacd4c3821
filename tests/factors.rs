//! Spaces that scripts write down, and the searches that need only losses, from outside.
#![allow(clippy::unwrap_used)]

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use crate::toys::{Linear, integers, model, noise, set};
use viva::core::{Cx, ErrorKind, Object, Result, Value};
use viva::data::Edge;
use viva::objective::Misclassify;
use viva::script::{Diagnostic, Session};
use viva::search::{Approach, Densities, Examination, Examinee, Proposals, Proposing, Search, Transcript, examine};
use viva::space::{Domain, Factor, Factors, Point, Setting};

fn run(script: &str) -> std::result::Result<Value, Box<Diagnostic>> {
    Session::new(Rc::new(Cx::default())).evaluate("test", script)
}

fn value(script: &str) -> Value {
    run(script).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Grey images of class 0 that the model gets wrong where the light is above 0.9 and the ink is "b": 1/30 of the space.
/// How far a point fails is 2 (light - 0.9) there.
const PLANTED: &str = r#"
let ds = data::from(tensor::zeros([40, 1, 4, 4]) + 0.5, tensor::zeros([40]).values(), #{ classes: ["dim", "bright"] });
let f = model::from(|x| {
    let light = x.reshape([x.len, -1]).mean(1).reshape([-1, 1]);
    (light - 0.9).matmul(tensor::from([[-1, 1]]))
}, #{ classes: 2 });
let factors = [#{ name: "light", min: 0, max: 1 }, #{ name: "ink", choices: ["a", "b", "c"] }];
let space = space::factors(factors, |z, s| if s.ink == "b" { z * 0 + s.light } else { z });
"#;

fn planted(call: &str) -> Value {
    value(&format!("{PLANTED}{call}"))
}

#[test]
fn a_planted_weakness_is_found_by_sampling() {
    let value = planted("examine(f, ds, #{ space: space, search: search::random(#{ questions: 300 }), seed: 5 })");
    let t = value.downcast::<Transcript>().unwrap();
    // 300 points miss a thirtieth of the space with probability 4e-5 per image.
    assert_eq!(t.success_rate(), 1.0);
    for (row, point) in t.rows.iter().zip(t.column("point").unwrap()) {
        let Value::Map(point) = point else { panic!("a map") };
        let (Value::Float(light), Value::Str(ink)) = (&point["light"], &point["ink"]) else { panic!("{point:?}") };
        assert!(ink == "b" && *light > 0.9 && *light <= 1.0, "{point:?}");
        // Pixels and scores are float32, of size 1 at most.
        assert!((f64::from(row.loss) - 2.0 * (light - 0.9)).abs() < 1e-6 && row.margin == -row.loss, "{row:?}");
        assert_eq!((row.before, row.after, row.queries), (0, 1, 301));
        assert!(row.magnitude.is_nan(), "how large changes are is not known");
        assert!(row.weight.is_none() && matches!(row.point, Point::Setting(_)));
    }
    // The best of 300 uniform points: of the 10 expected in the weak part the last is at 0.99 on average.
    let mean = t.mean("loss").unwrap();
    assert!((0.17..0.19).contains(&mean), "{mean}");
    // A single point rarely meets it: 1/30 of 40.
    let few =
        planted("examine(f, ds, #{ space: space, search: search::random(#{ questions: 1 }), seed: 5 }).success_rate()");
    assert!(matches!(few, Value::Float(rate) if rate < 0.2), "{few:?}");
}

/// Whole numbers arrive as such, all of them, at the ends as often as between; and at half a level half of the way is open.
#[test]
fn whole_numbers_are_drawn_and_asked_as_such() {
    let text = r#"
        let steps = space::factors([#{ name: "lamps", min: -2, max: 3, whole: true, identity: 1 }],
            |z, s| { if type_of(s.lamps) != "i64" { throw "no whole number"; } z * (s.lamps + 2) / 3 });
        let f = model::from(|x| tensor::zeros([x.shape[0], 2]));
        let ds = data::from(tensor::zeros([200, 1, 4, 4]) + 0.5, tensor::zeros([200]));
        let asked = |search, levels| examine(f, ds, #{ space: steps, search: search, seed: 1 } + levels).questions("lamps");
        [asked.call(search::random(#{ questions: 6 }), #{}), asked.call(search::bayes(#{ questions: 6, random_share: 0 }), #{}),
         asked.call(search::evolution(#{ questions: 40 }), #{}), asked.call(search::random(#{ questions: 6 }), #{ levels: [0.5] })]"#;
    let Value::Array(found) =
        Session::new(Rc::new(Cx::default())).evaluate("test", text).unwrap_or_else(|e| panic!("{}", e.render(false)))
    else {
        panic!("an array")
    };
    let counts = |value: &Value| {
        let Value::Tensor(tensor) = value else { panic!("{value:?}") };
        let numbers = Vec::<f64>::try_from(tensor.reshape([-1])).unwrap();
        let mut counts = [0; 6];
        for x in &numbers {
            assert!(x.fract() == 0.0 && (-2.0..=3.0).contains(x), "{x}");
            counts[(x + 2.0) as usize] += 1;
        }
        counts
    };
    // 1,200 draws of six numbers: 200 of each, with a deviation of 13.
    assert!(counts(&found[0]).iter().all(|&n| (140..260).contains(&n)), "{:?}", counts(&found[0]));
    // There are six settings, and none is asked twice.
    assert_eq!(counts(&found[1]), [200; 6]);
    assert!(counts(&found[2]).iter().all(|&n| n > 0), "{:?}", counts(&found[2]));
    // From 1 half of the way to -2 and to 3: from 0 to 2.
    let half = counts(&found[3]);
    assert!(half[0] + half[1] + half[5] == 0 && half[2..5].iter().all(|&n| n > 300), "{half:?}");
}

#[test]
fn images_are_drawn_again_as_they_were_scored() {
    let script = "let t = examine(f, ds, #{ space: space, search: search::random(#{ questions: 300 }), seed: 5 });
        let chosen = t.filter(|row| row.id % 3 == 1);
        [f.predict(chosen.images(\"before\")), f.predict(chosen.images(\"after\")), chosen.images(\"after\").max(),
         chosen.column(\"point\").map(|point| point.light).reduce(|most, x| if most == () || x > most { x } else { most })]";
    let Value::Array(found) = planted(script) else { panic!("an array") };
    let classes = |value: &Value| match value {
        Value::Tensor(tensor) => Vec::<i64>::try_from(tensor.as_ref()).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!((classes(&found[0]), classes(&found[1])), (vec![0; 13], vec![1; 13]));
    let (Value::Float(drawn), Value::Float(kept)) = (&found[2], &found[3]) else { panic!("{found:?}") };
    assert!((drawn - kept).abs() < 1e-7, "{drawn} {kept}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_rows_do_not_disturb_each_other() {
    let json = |data: &str, n: usize, options: &str| {
        let call = format!(
            "examine(f, {data}, #{{ space: space, search: search::random(#{{ questions: {n} }}), {options} }})"
        );
        planted(&call).downcast::<Transcript>().unwrap().json()
    };
    let one = json("ds", 100, "seed: 1");
    assert_eq!(one.to_string(), json("ds", 100, "seed: 1").to_string());
    for batch in [1, 7, 64, 1000] {
        assert_eq!(one["rows"], json("ds", 100, &format!("seed: 1, batch: {batch}"))["rows"], "batch {batch}");
    }
    let other = json("ds", 100, "seed: 2");
    assert!((0..40).all(|row| one["rows"][row]["point"] != other["rows"][row]["point"]));
    assert_ne!(one["rows"][0]["point"], one["rows"][1]["point"], "every image has a stream of its own");
    let fewer = json("ds.take(13)", 100, "seed: 1");
    assert_eq!(fewer["rows"].as_array().unwrap()[..], one["rows"].as_array().unwrap()[..13]);
    // More points go on where fewer end, so no loss falls.
    let more = json("ds", 150, "seed: 1");
    let loss = |rows: &serde_json::Value, row: usize| -rows["rows"][row]["margin"].as_f64().unwrap();
    assert!((0..40).all(|row| loss(&more, row) >= loss(&one, row)));
}

#[test]
fn points_are_uniform_and_the_closure_is_called_once_for_each() {
    let script = "let seen = [];
        let watched = space::factors([#{ name: \"x\", min: -3, max: 5 }, #{ name: \"k\", choices: [1, 2.5, true] }],
            |z, s| { seen.push([s.x, s.k]); z });
        examine(f, ds, #{ space: watched, search: search::random(#{ questions: 100 }), seed: 3 });
        seen";
    let Value::Array(seen) = planted(script) else { panic!("an array") };
    // The first one twice, to see that the answer is the same.
    assert_eq!(seen.len(), 4001);
    let mut xs = vec![];
    let mut counts = [0; 3];
    for pair in &seen {
        let Value::Array(pair) = pair else { panic!("{pair:?}") };
        let [Value::Float(x), k] = &pair[..] else { panic!("{pair:?}") };
        xs.push(*x);
        match k {
            Value::Int(1) => counts[0] += 1,
            Value::Float(2.5) => counts[1] += 1,
            Value::Bool(true) => counts[2] += 1,
            other => panic!("{other:?}"),
        }
    }
    // A uniform variable on [-3, 5] has deviation 2.31, its mean over 4,000 draws 0.037; a count of 4,000 / 3 has 30.
    let mean = xs.iter().sum::<f64>() / 4000.0;
    assert!((mean - 1.0).abs() < 0.15, "{mean}");
    let (lo, hi) = xs.iter().fold((f64::MAX, f64::MIN), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    assert!((-3.0..-2.95).contains(&lo) && hi > 4.95 && hi <= 5.0, "{lo} {hi}");
    assert!(counts.iter().all(|&n| (1200..1470).contains(&n)), "{counts:?}");
}

/// A level is the share of the way from where images stay as they are to the ends of every factor, of a product's parts as well.
#[test]
fn faults_of_ones_own_and_products_have_levels() {
    let script = r#"
        let ds = data::from(tensor::zeros([30, 1, 8, 8]) + 0.5, tensor::zeros([30]).values(), #{ classes: ["dim", "bright"] });
        let f = model::from(|x| {
            let light = x.reshape([x.len, -1]).mean(1).reshape([-1, 1]);
            (light - 0.8).matmul(tensor::from([[-1, 1]]))
        }, #{ classes: 2 });
        let own = space::factors([
            #{ name: "light", min: 0.2, max: 2.0, log: true, identity: 1 },
            #{ name: "lift", min: -0.1, max: 0.4, identity: 0 },
            #{ name: "ink", choices: ["a", "b"] },
        ], |z, s| (z * s.light + s.lift).clamp(0, 1));
        let both = space::noise(0.2) * space::rotate(40) * own;
        let look = |space, options| examine(f, ds, #{ space: space, search: search::random(#{ questions: 20 }), seed: 3 } + options);
        let levels = [0, 0.25, 1];
        let at = look.call(own, #{ levels: levels });
        let whole = look.call(own, #{});
        let product = look.call(both, #{ levels: levels });
        let points = |t, level| t.filter(|row| row.level == level).column("point");
        let all = |list, holds| list.filter(|p| !holds.call(p)).len() == 0;
        let refused = |text, asked| { let said = ""; try { asked.call() } catch (e) { said = e.message } said.contains(text) };
        #{
            nothing_at_0: all.call(points.call(at, 0.0), |p| p.light == 1.0 && p.lift == 0.0),
            a_quarter: all.call(points.call(at, 0.25), |p| p.light >= 0.2 ** 0.25 && p.light <= 2.0 ** 0.25 && p.lift >= -0.025 && p.lift <= 0.1),
            goes_there: points.call(at, 0.25).filter(|p| p.lift > 0.05).len() > 3,
            choices_are_free: points.call(at, 0.25).filter(|p| p.ink == "a").len() in 1..30,
            the_whole_at_1: points.call(at, 1.0) == whole.column("point"),
            magnitudes: at.filter(|row| row.magnitude > row.level).len() == 0 && at.filter(|row| row.level == 1.0 && row.magnitude > 0.5).len() > 0,
            falls: tolerance::curve(at).accuracy[0] == 1.0 && tolerance::curve(at).accuracy[2] < 0.5,
            product: all.call(points.call(product, 0.25), |p| p.sigma == 0.05 && abs(p.angle) <= 10.0 && p.lift <= 0.1),
            product_magnitudes: product.filter(|row| row.magnitude > row.level + 1e-6).len() == 0
                && product.filter(|row| row.level == 1.0 && row.magnitude == 1.0).len() == 30,
            sweep_leaves_the_identity: examine(f, ds, #{ space: space::factors([#{ name: "light", min: 0, max: 1, identity: 1 }], |z, s| z * s.light),
                search: search::sweep(), levels: [0.5] })[0].point.light == 0.5,
            choices_are_said: `${at}`.contains("choices free") && !`${look.call(space::noise(0.1), #{ levels: [0.1] })}`.contains("choices free"),
            choices_alone: refused.call("has no `identity`", || look.call(space::factors([#{ name: "ink", choices: ["a", "b"] }], |z, s| z), #{ levels: [0.5] })),
            not_the_identity: refused.call("away from the one that it was given", || look.call(
                space::factors([#{ name: "light", min: 0, max: 1, identity: 0 }], |z, s| z * s.light), #{ levels: [0.5] })),
            not_the_second_time_either: refused.call("away from the one that it was given", || {
                let wrong = space::factors([#{ name: "light", min: 0, max: 1, identity: 0 }], |z, s| z * s.light);
                try { look.call(wrong, #{ levels: [0.5] }) } catch (e) { look.call(wrong, #{ levels: [0.5] }) }
            }),
            no_sizes: refused.call("how large changes of", || tolerance::smallest_change(
                look.call(space::factors([#{ name: "light", min: 1.5, max: 2 }], |z, s| (z * s.light).clamp(0, 1)), #{}))),
            whole_pixels: examine(f, data::from(tensor::zeros([2, 1, 64, 64]), [0, 0], #{ classes: ["dim", "bright"] }), #{ space: space::noise(0.1) * space::translate(22, #{ fill: 0 }), search: search::sweep(), levels: [15.0 / 22] })[0].point.dx == 15.0,
            far_apart: look.call(space::factors([#{ name: "x", min: 1e-300, max: 1e300, log: true, identity: 1e-300 }],
                |z, s| if s.x < 1e301 { z } else { z - 9 }), #{ levels: [0.5] }).len() == 30,
            beyond: refused.call("no share of its limits", || look.call(own, #{ levels: [1.5] })),
            product_beyond: refused.call("no share of its limits", || look.call(both, #{ levels: [1.5] })),
            unknown: refused.call("has no `identity`", || look.call(space::factors([#{ name: "light", min: 0, max: 1 }], |z, s| z * s.light), #{ levels: [0.5] })),
            outside: refused.call("not among its values", || space::factors([#{ name: "light", min: 0, max: 1, identity: 2 }], |z, s| z)),
        }
    "#;
    let Value::Map(said) = value(script) else { panic!("a map") };
    for (name, value) in &said {
        assert!(matches!(value, Value::Bool(true)), "{name}: {}", value.summary());
    }
}

#[test]
fn strongest_goes_through_all_choices() {
    let script = "let grid = space::factors([#{ name: \"a\", choices: [0.2, 1.0, 0.4] }, #{ name: \"b\", choices: [\"x\", \"y\"] },
            #{ name: \"c\", choices: [0.5, 0.98, 0.9] }],
            |z, s| if s.b == \"x\" { z * 0 + s.a * s.c } else { z * 0 + 0.98 });
        examine(f, ds.take(3), #{ space: grid, search: search::strongest(), batch: 5 })";
    let t = planted(script).downcast::<Transcript>().unwrap();
    for row in 0..3 {
        // 0.98 is reached at (a, x, c) = (1, x, 0.98) and everywhere at y: the first in the order of the lists wins.
        assert_eq!(t.column("point").unwrap()[row].summary(), "#{a: 0.2, b: y, c: 0.5}");
        assert_eq!((t.rows[row].queries, t.rows[row].after), (19, 1));
    }
}

/// Walks to the better of two neighbours, and writes down what it was told.
struct Climb(Arc<Mutex<Vec<(u64, f64, f32)>>>);

struct Climber {
    row: u64,
    at: f64,
    turns: usize,
    asked: Vec<f64>,
    told: Arc<Mutex<Vec<(u64, f64, f32)>>>,
}

impl Search for Climb {
    fn describe(&self) -> String {
        "climb()".into()
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }
}

impl Proposing for Climb {
    fn begin(&self, _factors: &[Factor], of: Examinee) -> Result<Box<dyn Proposals>> {
        let told = self.0.clone();
        Ok(Box::new(Climber { row: of.row, at: 0.5, turns: 6 + of.row as usize % 3, asked: vec![], told }))
    }
}

impl Proposals for Climber {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        if self.turns == 0 {
            return Ok(vec![]);
        }
        self.turns -= 1;
        self.asked = vec![self.at - 0.0625, self.at + 0.0625];
        Ok(self.asked.iter().map(|&x| vec![x]).collect())
    }

    fn update(&mut self, losses: &[f32]) -> Result<()> {
        let told = self.asked.iter().zip(losses).map(|(&x, &loss)| (self.row, x, loss));
        self.told.lock().unwrap().extend(told);
        self.at = self.asked[usize::from(losses[1] > losses[0])];
        Ok(())
    }
}

/// Twenty images that go different ways and end at different times, in batches that mix them: each search hears the losses
/// of its own image at the settings it asked for.
#[test]
fn a_search_that_learns_hears_its_own_losses() {
    let told = Arc::new(Mutex::new(vec![]));
    let images = noise(20, 16, 4);
    let labels: Vec<i64> = (0..20).map(|i| i % 3).collect();
    let data = set([1, 4, 4], images.clone(), labels.clone(), 3, Edge::None);
    let f = model(Linear { weights: integers(&[16, 3], 3, 1), quantum: 0.0 });
    let darken = viva::core::Callback::new(|arguments| {
        let (Value::Tensor(z), Value::Map(s)) = (&arguments[0], &arguments[1]) else {
            panic!("an image and a setting")
        };
        let Value::Float(light) = s["light"] else { panic!("a number") };
        Ok(Value::tensor(z.as_ref() * light))
    });
    let light = Factor::new("light", Domain::Range { min: 0.0, max: 1.0 });
    let plan = Examination {
        model: &f,
        data: &data,
        space: Rc::new(Factors::new(vec![light], darken).unwrap()),
        search: Rc::new(Climb(told.clone())),
        objective: Misclassify.into(),
        levels: vec![],
        steps: vec![],
        densities: Densities::WhereKnown,
        measures: vec![],
        batch: Some(7),
        seed: 0,
    };
    let t = examine(&Cx::default(), &plan).unwrap();
    let mut best = [f32::NEG_INFINITY; 20];
    assert_eq!(told.lock().unwrap().len(), 2 * (0..20).map(|row| 6 + row % 3).sum::<usize>());
    for &(row, light, loss) in told.lock().unwrap().iter() {
        let row = row as usize;
        let image = tch::Tensor::from_slice(&images[row]).reshape([1, 1, 4, 4]) * light;
        let scores = Vec::<f32>::try_from(f.logits(&image).unwrap().reshape([-1])).unwrap();
        let own = scores[labels[row] as usize];
        let other = (0..3).filter(|&k| k != labels[row] as usize).map(|k| scores[k]).fold(f32::MIN, f32::max);
        // Multiples of 1/64 times small integers: exact.
        assert_eq!(loss, other - own, "row {row} at {light}");
        best[row] = best[row].max(loss);
    }
    for (row, best) in t.rows.iter().zip(best) {
        assert_eq!((row.margin, row.loss), (-best, best.max(0.0)));
        assert_eq!(row.queries as usize, 1 + 2 * (6 + row.id as usize % 3));
    }
}

#[test]
fn a_closure_that_throws_keeps_its_place() {
    let script = format!(
        "{PLANTED}let bad = space::factors(factors, |z, s| {{\n    if s.ink == \"c\" {{ throw \"tired\" }}\n    z\n}});\nexamine(f, ds, #{{ space: bad, search: search::random() }})"
    );
    let error = run(&script).err().unwrap();
    assert_eq!((error.kind, error.message.as_str()), ("thrown", "tired"));
    let text = error.render(false);
    assert!(text.contains("throw \"tired\""), "{text}");
}

#[test]
fn an_examination_over_factors_can_be_stopped() {
    let cx = Rc::new(Cx::default());
    let script = format!("{PLANTED}let t = ();");
    let mut session = Session::new(cx.clone());
    session.evaluate("setting", &script).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let polls = cx.polls();
    cx.stop_after(Some(20));
    let stopped =
        session.evaluate("call", "examine(f, ds, #{ space: space, search: search::random(#{ questions: 100000 }) })");
    assert!(stopped.is_err_and(|error| error.is_interruption()));
    assert_eq!(cx.polls() - polls, 21);
}

#[test]
fn impossible_pairs_name_what_works() {
    let refused = |call: &str, words: &[&str]| {
        let error = run(&format!("{PLANTED}{call}")).err().unwrap_or_else(|| panic!("{call}"));
        let text = format!("{} | {}", error.message, error.hint.clone().unwrap_or_default());
        assert_eq!(error.kind, ErrorKind::Pairing.name(), "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    refused(
        "examine(f, ds, #{ space: space, search: search::nearest() })",
        &["nearest() goes over points", "search::strongest, random"],
    );
    refused(
        "examine(f, ds, #{ space: space, search: search::strongest() })",
        &["\"light\" has a range", "search::random"],
    );
    refused(
        "let many = [];
         for i in 0..30 { many.push(#{ name: `f${i}`, choices: [1, 2, 3, 4] }); }
         examine(f, ds, #{ space: space::factors(many, |z, s| z), search: search::strongest() })",
        &["more than 1000000"],
    );
    refused(
        "examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::random() })",
        &[
            "random(#{ questions: 100 }) goes over settings of factors",
            "space::translate",
            "factors",
            "search::square, hopskipjump, bim, apgd, fmn, ddn, deepfool, carlini_wagner, adam",
        ],
    );
    refused(
        "risk::estimate(f, ds, #{ space: space, search: search::random() })",
        &["no densities", "space::translate"],
    );
}

/// Whatever draws its points, a translation moves content by what its factors say: down by `dy`, to the right by `dx`.
#[test]
fn points_of_a_group_move_content_by_their_factors() {
    let script = r#"
        let first = [1.0];
        for i in 1..256 { first.push(0.0) }
        let corner = tensor::from(first);
        let look = |x, corner| { let p = (x.reshape([x.len(), 256]) * corner).sum(1).reshape([-1, 1]); tensor::concat([p, 0.0 * p + 0.5, tensor::zeros([x.len(), 8]) - 9], 1) };
        let f = model::from(|x| look.call(x, corner), #{ classes: 10 });
        let ds = data::glyphs(#{ n: 1, size: 16, position: "torus", seed: 1 }).relabel(|row| 0);
        let t = examine(f, ds, #{ space: space::translate(2), search: search::random(#{ questions: 60 }), seed: 2 });
        [t.questions("dy"), t.questions("dx"), t.questions("loss"), ds.images()]"#;
    let Value::Array(parts) = value(script) else { panic!("an array") };
    let tensor = |i: usize| -> Vec<f64> {
        let Value::Tensor(tensor) = &parts[i] else { panic!("a tensor") };
        Vec::try_from(tensor.reshape([-1])).unwrap()
    };
    let (dy, dx, loss, image) = (tensor(0), tensor(1), tensor(2), tensor(3));
    let mut seen = std::collections::BTreeSet::new();
    for ((dy, dx), loss) in dy.iter().zip(&dx).zip(&loss) {
        let [dy, dx] = [dy, dx].map(|x| *x as i64);
        // What comes to the upper left corner.
        let pixel = image[((-dy).rem_euclid(16) * 16 + (-dx).rem_euclid(16)) as usize];
        assert!((loss - (0.5 - pixel)).abs() < 1e-6, "{dy} {dx}: {loss}, not {}", 0.5 - pixel);
        seen.insert((dy, dx, (pixel * 100.0) as i64));
    }
    let pixels: std::collections::BTreeSet<i64> = seen.iter().map(|seen| seen.2).collect();
    assert!(pixels.len() > 5, "the places look alike: {pixels:?}");
    assert!(seen.len() > 15 && seen.iter().any(|&(dy, dx, _)| dy == -2 || dx == 2), "{seen:?}");
}

/// Pixels that a closure answers lie in [0, 1], or within rounding of it, where they are moved; no other way out of it passes.
#[test]
fn pixels_beyond_what_rounding_does_are_refused() {
    let script = |answer: &str| {
        format!(
            "let f = model::from(|x| x.reshape([x.len(), 4]), #{{ classes: 4 }});
             let ds = data::from(tensor::zeros([1, 1, 2, 2]) + 0.5, [0], #{{ classes: [\"a\", \"b\", \"c\", \"d\"] }});
             let space = space::factors([#{{ name: \"by\", min: 0, max: 1 }}], |z, s| {answer});
             let t = examine(f, ds, #{{ space: space, search: search::random(#{{ questions: 2 }}) }});
             let x = t.images(\"after\");
             [x.min(), x.max()]"
        )
    };
    for (answer, wanted) in [("z + 0.50005", [1.0, 1.0]), ("z - 0.50005", [0.0, 0.0]), ("z + 0.25", [0.75, 0.75])] {
        let Value::Array(ends) = value(&script(answer)) else { panic!("an array") };
        for (end, wanted) in ends.iter().zip(wanted) {
            let Value::Float(end) = end else { panic!("a number") };
            assert!((end - wanted).abs() < 1e-9, "{answer}: {end}");
        }
    }
    let half = "tensor::from([0.0, 0.0, 0.0, 1.0]).reshape([1, 2, 2])";
    for answer in ["z + 0.51", "z - 0.51", "z / 0", "(z - 0.5) / 0", &format!("z + {half}"), &format!("z - {half}")] {
        let said = run(&script(answer)).err().unwrap_or_else(|| panic!("{answer} passes")).render(false);
        assert!(said.contains("the closure of space::factors answered"), "{answer}: {said}");
    }
}

/// A lamp of three kinds, two of which have a width and one a number of turns. Wrong is a wide spot with three or four turns: a sixtieth.
/// The closure throws where a factor that does not count has a value, or one that does has none.
const LAMPS: &str = r#"
let ds = data::from(tensor::zeros([12, 1, 4, 4]) + 0.5, tensor::zeros([12]).values(), #{ classes: ["dim", "bright"] });
let f = model::from(|x| {
    let light = x.reshape([x.len, -1]).mean(1).reshape([-1, 1]);
    (light - 0.9).matmul(tensor::from([[-1, 1]]))
}, #{ classes: 2 });
let lamps = [
    #{ name: "lamp", choices: ["none", "spot", "flash"] },
    #{ name: "width", min: 0.0, max: 1.0, when: #{ lamp: ["flash", "spot"] } },
    #{ name: "turns", min: 1, max: 4, whole: true, when: #{ lamp: "spot" } },
];
let shine = |z, s| {
    if (s.lamp == "none") != (s.width == ()) || (s.lamp == "spot") == (s.turns == ()) { throw `asked at ${s}`; }
    if s.lamp == "spot" && s.turns > 2 { z * 0 + s.width } else { z }
};
let space = space::factors(lamps, shine);
"#;

#[test]
fn factors_count_only_when_others_are_so() {
    let script = format!(
        r#"{LAMPS}
        let asked = |search, n| examine(f, ds.take(n), #{{ space: space, search: search, seed: 1 }});
        let random = asked.call(search::random(#{{ questions: 200 }}), 12);
        let width = robustness::marginal(random, "width", #{{ bins: 2 }});
        let turns = robustness::marginal(random, "turns", #{{ bins: 4 }});
        let learned = robustness::marginal(asked.call(search::bayes(#{{ questions: 6 }}), 12), "width", #{{ bins: 2 }});
        let levels = examine(f, ds.take(12), #{{ space: space::affine(), search: search::random(#{{ questions: 20 }}), levels: [0.1, 1.0], seed: 1 }});
        let leveled = robustness::marginal(levels, "angle", #{{ bins: 2 }});
        let both = space::factors([lamps[0], #{{ name: "steps", min: 1, max: 3, whole: true }}], |z, s| z * s.steps / 3);
        let every_one = robustness::marginal(examine(f, ds.take(12), #{{ space: both, search: search::strongest(), seed: 1 }}), "steps");
        let total = |rows| rows.reduce(|sum, row| sum + row.questions, 0);
        let found = robustness::weaknesses(random, #{{}});
        let grid = asked.call(search::strongest(#{{ grid: 3 }}), 1);
        let few = space::factors([lamps[0], lamps[2]], |z, s| z * (if s.turns == () {{ 1 }} else {{ 0.1 * s.turns }}));
        let every = examine(f, ds.take(1), #{{ space: few, search: search::bayes(#{{ questions: 6, random_share: 0 }}), seed: 1 }});
        let kinds = every.questions("lamp").values();
        let numbers = every.questions("turns").values();
        let places = #{{}};
        for i in 0..kinds.len() {{ places[`${{kinds[i]}} ${{numbers[i]}}`] = true; }}
        let either = space::factors([lamps[0], #{{ name: "colour", choices: [1, 2, 3], when: #{{ lamp: "spot" }} }}],
            |z, s| if s.colour == () || s.colour == 1 {{ z }} else {{ z * 0 + 1 }});
        let colours = robustness::weaknesses(examine(f, ds, #{{ space: either, search: search::random(#{{ questions: 100 }}), seed: 1 }}));
        let product = examine(f, ds.take(3), #{{ space: space::rotate(10) * space, search: search::random(#{{ questions: 50 }}), seed: 1 }});
        #{{
            drawn: abs(total.call(width) / 2400.0 - 2.0 / 3) < 0.05 && abs(total.call(turns) / 2400.0 - 1.0 / 3) < 0.05,
            levels: leveled.all(|row| row.cautions.some(|said| said.contains("of 2 levels"))),
            one_level: !robustness::marginal(levels.group("level")["1.0"], "angle", #{{ bins: 2 }})
                .some(|row| (row?.cautions ?? []).some(|said| said.contains("levels") || said.contains("space; search"))),
            whole: !every_one.some(|row| (row?.cautions ?? []).some(|said| said.contains("space; search"))),
            on_a_grid: robustness::marginal(grid, "width").all(|row| row.cautions.some(|said| said.contains("went over a grid"))),
            chosen: learned.all(|row| row.cautions.some(|said| said.contains("chose where to ask"))),
            drawn_anywhere: !width.some(|row| (row?.cautions ?? []).some(|said| said.contains("chose where to ask"))),
            wrong: width[0].wrong == 0.0 && width[1].wrong > 0.02 && turns[1].wrong == 0.0 && turns[2].wrong > 0.0,
            named: found.named.len() == 1 && found.named[0].conditions.keys() == ["turns", "width"],
            // Without a lamp the colour is not 1 either.
            words: colours.sentences[0].starts_with("colour 2 or 3: 100%") && colours.named[0].p > 0.0,
            views: abs(found.named[0].settings - 1.0 / 60) < 0.01,
            again: random.questions("turns").values().filter(|x| x.is_nan()).len() == 2400 - total.call(turns),
            bayes: asked.call(search::bayes(#{{ questions: 40 }}), 6).success_rate >= 0.8,
            batches: asked.call(search::bayes(#{{ questions: 40, batch: 3 }}), 6).success_rate >= 0.6,
            evolution: asked.call(search::evolution(#{{ questions: 80 }}), 6).success_rate >= 0.8,
            policy: asked.call(search::policy(#{{ questions: 32 }}), 2).len() == 2,
            straddle: asked.call(search::straddle(#{{ questions: 20 }}), 2).len() == 2,
            radial: asked.call(search::radial(#{{ questions: 20 }}), 2).len() == 2,
            averaged: f.averaged(#{{ over: space, draws: 20 }}).logits(ds.take(1).images()).shape == [1, 2],
            // None, three widths of a flash, and three widths of each turn of a spot, beside the image as it stands.
            grid: grid[0].queries == 17 && grid[0].fooled,
            every: kinds.len() == 6 && places.len() == 6,
redrawn: f.logits(random.images("after")).argmax().values() == random.column("after"),
            product: product.column("point").all(|point| (point.lamp == "none") == (point.width == ()) && point.angle != ()),
        }}"#
    );
    let Value::Map(said) = value(&script) else { panic!("a map") };
    for (name, value) in &said {
        assert!(matches!(value, Value::Bool(true)), "{name}: {}", value.summary());
    }
    for (call, words) in [
        ("space::factors([lamps[1]], shine)", "no factor before it is called so"),
        (
            "space::factors([lamps[0], #{ name: \"w\", min: 0, max: 1, when: #{ lmap: \"spot\" } }], shine)",
            "did you mean `lamp`?",
        ),
        (
            "space::factors([lamps[0], #{ name: \"w\", min: 0, max: 1, when: #{ lamp: \"spott\" } }], shine)",
            "its choices are none, spot, flash",
        ),
        (
            "space::factors([lamps[0], #{ name: \"w\", min: 0, max: 1, when: #{ lamp: [\"none\", \"spot\", \"flash\"] } }], shine)",
            "names all choices",
        ),
        ("space::factors([lamps[0], #{ name: \"w\", min: 0, max: 1, when: #{ lamp: [] } }], shine)", "never counts"),
        ("space::factors([lamps[0], #{ name: \"w\", min: 0, max: 1, when: \"lamp\" }], shine)", "must be a map"),
        (
            "space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"w\", min: 0, max: 1, when: #{ a: 1 } }], shine)",
            "has no list of choices",
        ),
        (
            "space::factors([lamps[0], #{ name: \"b\", choices: [1, 2], when: #{ lamp: \"spot\" } }, #{ name: \"w\", min: 0, max: 1, when: #{ b: 1, lamp: \"flash\" } }], shine)",
            "`when` never holds",
        ),
        (
            "let t = examine(f, ds, #{ space: space, search: search::bayes(#{ questions: 12 }) });
             let always = space::factors([lamps[0], #{ name: \"width\", min: 0.0, max: 1.0 }, lamps[2]], shine);
             examine(f, ds, #{ space: always, search: search::bayes(#{ questions: 12, learned: t }) })",
            "count `when` others are otherwise",
        ),
        ("space::flip() * space", "can't be composed with flip()"),
        ("examine(f, ds, #{ space: space, search: search::counterfactual() })", "counts only `when` others are so"),
        (
            "let g = model::train(ds, #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 }); examine(g, ds, #{ space: space, search: search::apgd() })",
            "\"lamp\"",
        ),
        (
            "let t = examine(f, ds, #{ space: space, search: search::random(#{ questions: 50 }) }); robustness::level_set(t, [\"lamp\", \"width\"])",
            "counts only `when` others are so",
        ),
        (
            "let t = examine(f, ds, #{ space: space, search: search::random(#{ questions: 50 }) }); robustness::boundary(t, [\"turns\", \"width\"])",
            "counts only `when` others are so",
        ),
    ] {
        let error = run(&format!("{LAMPS}{call}")).err().unwrap_or_else(|| panic!("{call}"));
        let text = format!("{} | {}", error.message, error.hint.clone().unwrap_or_default());
        assert!(text.contains(words), "{call}: {text}");
    }
}
