//! What is measured of generated tests, the trainings that learn from them, and the recipes of `std/testgen`.
#![allow(clippy::unwrap_used)]

use crate::truths;
use std::path::Path;
use std::rc::Rc;

use tch::{Kind, Tensor};
use viva::core::{Cautions, Cx, Value, with_stream};
use viva::data::{Glyphs, NORMS, Polarity, Position, from_tensor, nearest};
use viva::estimate::{FrechetDistance, inception_score};
use viva::model::{Layer, Module};
use viva::script::Session;
use viva::space::Norm;
use viva::train::Adversary;

fn run_in(folder: &Path, script: &str) -> Result<Value, String> {
    let mut cx = Cx::default();
    cx.set_folder(folder.to_path_buf());
    let mut session = Session::new(Rc::new(cx));
    session.run(Path::new("script.rhai"), script).map_err(|error| error.render(false))
}

#[track_caller]
fn run(script: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), &format!("{TINY}{script}")).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn truths(script: &str) {
    truths::hold(&run(script));
}

fn table(rows: i64, columns: i64, f: impl Fn(f64, f64) -> f64) -> Tensor {
    let numbers: Vec<f64> =
        (0..rows).flat_map(|i| (0..columns).map(move |j| (i as f64, j as f64))).map(|(i, j)| f(i, j)).collect();
    Tensor::from_slice(&numbers).reshape([rows, columns])
}

/// A generator and discriminator that learn within a second.
const TINY: &str = r#"
    let tiny = |side| #{
        generator: [[net::linear(64), net::batch_norm(), net::relu()], [net::linear(side * side), net::reshape(1, side, side)]],
        discriminator: [net::flatten(), net::linear(64), net::leaky_relu(0.2)],
    };
    let set = |n, seed| data::glyphs(#{ n: n, size: 16, position: "centred", margin: 0, polarity: "light", seed: seed });
"#;

fn distance(a: &Tensor, b: &Tensor) -> viva::core::Result<f64> {
    FrechetDistance::new(a, b, Cautions::default()).map(|found| found.value)
}

/// Against scipy.linalg.sqrtm and numpy.cov.
#[test]
fn scores_of_image_sets_are_those_of_their_formulas() {
    let a = table(12, 4, |i, j| (3.0 * i + j + 0.3 * i * j * j + i * i).sin());
    let b = table(12, 4, |i, j| (2.0 * i * i + j * j * i).cos() + 0.1 * j);
    let found = distance(&a, &b).unwrap();
    assert!((found - 1.687_195_437_300_171_2).abs() < 1e-9, "{found}");
    assert!(distance(&a, &a).unwrap() < 1e-9);
    // Moved, with the covariance as it was: the squared distance of the means.
    let moved = distance(&a, &(&a + 2.0)).unwrap();
    assert!((moved - 16.0).abs() < 1e-7, "{moved}");
    let found = inception_score(&(&a * 3.0)).unwrap();
    assert!((found - 2.046_251_284_864_412).abs() < 1e-12, "{found}");
    let decided = Tensor::eye(5, (Kind::Float, tch::Device::Cpu)) * 1e4;
    assert!((inception_score(&decided).unwrap() - 5.0).abs() < 1e-9);
    assert!((inception_score(&Tensor::zeros([7, 3], (Kind::Float, tch::Device::Cpu))).unwrap() - 1.0).abs() < 1e-12);
    assert!(distance(&a.narrow(0, 0, 1), &b).is_err());
}

/// Two samples of one kind are as far apart as is said that chance makes them; of few images the result says so.
#[test]
fn what_chance_makes_of_a_frechet_distance_is_said() {
    let normal = |n: i64, seed: u64| {
        with_stream(seed, 0, || Ok::<_, viva::core::Error>(Tensor::f_randn([n, 8], (Kind::Double, tch::Device::Cpu))?))
            .unwrap()
    };
    let (mut apart, mut chance) = (0.0, 0.0);
    for seed in 0..20 {
        let found = FrechetDistance::new(&normal(100, seed), &normal(400, 100 + seed), Cautions::default()).unwrap();
        (apart, chance) = (apart + found.value / 20.0, chance + found.chance / 20.0);
    }
    assert!((chance / apart - 1.0).abs() < 0.2, "{apart} {chance}");
    let (a, b) = (normal(100, 1), normal(400, 2));
    let said = |a: &Tensor, b: &Tensor| FrechetDistance::new(a, b, Cautions::default()).unwrap();
    for (found, words) in [
        (said(&a, &b), "no more than chance makes"),
        (
            said(&a.narrow(0, 0, 8), &b),
            "8 and 400 images for 8 features, where there should be many times as many: about ",
        ),
        (said(&(&a + 0.5), &b.narrow(0, 0, 40)), "is what chance makes of 100 and 40 images"),
    ] {
        let summary = viva::core::Object::summary(&found);
        assert!(summary.contains(words), "{summary}");
    }
    assert!(!viva::core::Object::summary(&said(&(&a + 3.0), &b)).contains("caution"));
}

/// What has no scores is no start that found nothing.
#[test]
fn a_search_is_not_begun_from_images_that_are_not_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let begin = format!("{TINY}let ds = set.call(40, 1);");
    run_in(folder.path(), &format!("{begin}generator::train(ds, #{{ steps: 1, batch: 8, arch: tiny.call(16), seed: 1 }}).save(\"g.safetensors\");")).unwrap();
    let path = folder.path().join("g.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    // A safetensors file: the length of a text of JSON, the text, numbers.
    let text = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let head: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&bytes[8..text]).unwrap();
    let own = head.iter().find(|(name, _)| name.ends_with("bias") && !name.starts_with("discriminator")).unwrap().1;
    let end = text + own["data_offsets"][1].as_u64().unwrap() as usize;
    bytes[end - 4..end].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let script = format!(
        "{begin}let f = model::train(ds, #{{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }});
         generator::latent_search(generator::load(\"g.safetensors\"), f, #{{ n: 1, draws: 4, auxiliary: model::train(ds, #{{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 2 }}), seed: 1 }})"
    );
    let said = run_in(folder.path(), &script).map(|value| value.summary()).unwrap_err();
    assert!(said.contains("NaN"), "{said}");
}

#[test]
fn nearest_images_are_those_that_counting_finds() {
    let pixel = |i: usize, k: usize| ((i * 37 + k * 11 + i * k * 5) % 256) as u8;
    let images: Vec<u8> = (0..30).flat_map(|i| (0..12).map(move |k| pixel(i, k))).collect();
    let all = Tensor::from_slice(&images).reshape([30, 1, 3, 4]);
    let set = |t: &Tensor| from_tensor(t, vec![0; t.size()[0] as usize], None, false).unwrap();
    let (few, many) = (set(&all.narrow(0, 0, 5)), set(&all.narrow(0, 5, 25)));
    let found = nearest(&Cx::default(), &few, &many).unwrap();
    for i in 0..5 {
        let distances = |j: usize| {
            let gaps: Vec<f64> =
                (0..12).map(|k| (f64::from(pixel(i, k)) - f64::from(pixel(j, k))).abs() / 255.0).collect();
            let differ = gaps.iter().filter(|gap| **gap > 0.0).count() as f64;
            let largest = gaps.iter().copied().fold(0.0, f64::max);
            [differ, gaps.iter().sum(), gaps.iter().map(|gap| gap * gap).sum::<f64>().sqrt(), largest]
        };
        for (norm, name) in NORMS.iter().enumerate() {
            let least = (5..30).map(|j| distances(j)[norm]).fold(f64::INFINITY, f64::min);
            assert!((found[norm].distance[i] - least).abs() < 1e-5, "{name} of {i}");
            assert!((distances(found[norm].row[i] + 5)[norm] - least).abs() < 1e-5, "row in {name} of {i}");
        }
    }
}

#[test]
fn joined_sets_hold_the_images_of_both() {
    truths(
        r#"
        let a = data::glyphs(#{ n: 5, size: 16, seed: 1 });
        let b = data::glyphs(#{ n: 4, size: 16, seed: 2 }).grey();
        let c = data::from(b.images(), b.labels, #{ classes: b.classes });
        let both = a.join(b);
        #{
            images: (both.images() - tensor::concat([a.images(), b.images()])).abs().max() == 0,
            labels: both.labels.values() == a.labels.values() + b.labels.values(),
            part: (both.select([7]).images() - b.select([2]).images()).abs().max() == 0,
            edge: both.edge == a.edge && a.join(c).edge == "none",
            shows: both[6].class == b[1].class,
            hash: a.join(b).hash == both.hash && b.join(a).hash != both.hash,
            model: model::train(both, #{ arch: [net::flatten(), net::linear(10)], epochs: 1 }).classes == 10,
        }
    "#,
    );
    let folder = tempfile::tempdir().unwrap();
    let a = "let a = data::glyphs(#{ n: 5, size: 16, seed: 1 });";
    let error =
        run_in(folder.path(), &format!("{a} a.join(data::glyphs(#{{ n: 5, size: 20, seed: 1 }}))")).unwrap_err();
    assert!(error.contains("1 x 16 x 16") && error.contains("1 x 20 x 20"), "{error}");
    let error = run_in(folder.path(), &format!("{a} a.join(data::from(a.images(), [0, 1, 1, 0, 0]))")).unwrap_err();
    assert!(error.contains("10 classes") && error.contains("2"), "{error}");
}

#[test]
fn csv_files_become_rows() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("t.csv"), text).unwrap();
    let read = || run_in(folder.path(), r#"data::csv("t.csv")"#);
    write("\u{feff}worker,answer,\"seconds, all\"\nann, 3 ,1.5\n\"b, c\",none,\n");
    let rows = read().unwrap().json();
    assert_eq!(
        rows,
        serde_json::json!([
            { "worker": "ann", "answer": 3, "seconds, all": 1.5 },
            { "worker": "b, c", "answer": "none", "seconds, all": null },
        ])
    );
    for (text, why) in [("a,b\n1\n", "fields"), ("a,a\n1,2\n", "two columns"), ("a,\n1,2\n", "name every column")] {
        write(text);
        let error = read().unwrap_err();
        assert!(error.contains(why) && error.contains("t.csv"), "{text:?}: {error}");
    }
}

/// One step from the image is x + epsilon sign(gradient); points stay in the ball and in [0, 1]; the loss does not fall.
#[test]
fn adversaries_move_images_within_their_ball() {
    let layers = Layer::sequence([Layer::flatten(), Layer::linear(8), Layer::relu(), Layer::linear(4)]);
    let module = Module::fresh(&layers, [1, 5, 5], 3, tch::Device::Cpu).unwrap();
    let images = with_stream(1, 1, || Tensor::rand([6, 1, 5, 5], (Kind::Float, tch::Device::Cpu)));
    let labels = Tensor::from_slice(&[0i64, 1, 2, 3, 0, 1]);
    let scores = |x: &Tensor| module.forward(x, viva::model::Mode::Evaluate);
    let loss = |x: &Tensor| scores(x).unwrap().cross_entropy_for_logits(&labels).double_value(&[]);
    let of = |norm, epsilon, steps, step, random| Adversary { norm, epsilon, steps, step, random };
    let leaf = images.copy().set_requires_grad(true);
    let gradient =
        Tensor::run_backward(&[scores(&leaf).unwrap().cross_entropy_for_logits(&labels)], &[&leaf], false, false);
    let by_hand = (&images + gradient[0].sign() * 0.1).clamp(0.0, 1.0);
    let fast = of(Norm::Linf, 0.1, 1, 0.1, false).harden(&images, &labels, &scores).unwrap();
    assert!((&fast - by_hand).abs().max().double_value(&[]) < 1e-6);
    let size = |norm: Norm, change: &Tensor| match norm {
        Norm::Linf => change.abs().amax([1], false),
        Norm::L2 => change.square().sum_dim_intlist([1i64].as_slice(), false, Kind::Float).sqrt(),
        Norm::L1 => change.abs().sum_dim_intlist([1i64].as_slice(), false, Kind::Float),
    };
    for norm in [Norm::Linf, Norm::L2, Norm::L1] {
        for random in [false, true] {
            let hard = with_stream(2, 2, || of(norm, 0.3, 7, 0.1, random).harden(&images, &labels, &scores)).unwrap();
            let change = (&hard - &images).reshape([6, -1]);
            let size = size(norm, &change);
            assert!(size.max().double_value(&[]) <= 0.3 + 1e-5, "{size}");
            assert!(hard.min().double_value(&[]) >= 0.0 && hard.max().double_value(&[]) <= 1.0);
            // In l1 all of it goes to a pixel or two.
            let more = if norm == Norm::L1 { 0.001 } else { 0.01 };
            assert!(loss(&hard) > loss(&images) + more, "{norm:?} {random}");
        }
    }
    // Drawn uniformly from the ball of 25 dimensions: half of all points lie beyond 0.5^(1/25) of the radius.
    let grey = Tensor::full([400, 1, 5, 5], 0.5, (Kind::Float, tch::Device::Cpu));
    let label = Tensor::zeros([400], (Kind::Int64, tch::Device::Cpu));
    for norm in [Norm::L2, Norm::L1] {
        let drawn = with_stream(3, 3, || of(norm, 0.4, 0, 1.0, true).harden(&grey, &label, &scores)).unwrap();
        let change = (drawn - &grey).reshape([400, -1]);
        let far = size(norm, &change).gt(0.4 * 0.5f64.powf(1.0 / 25.0)).sum(Kind::Int64).int64_value(&[]);
        assert!((150..=250).contains(&far), "{norm:?}: {far} of 400");
        // As often up as down, and no pixel more than another.
        let (up, most) = (
            change.gt(0.0).to_kind(Kind::Float).mean(Kind::Float),
            change.abs().mean_dim([0i64].as_slice(), false, Kind::Float),
        );
        assert!((up.double_value(&[]) - 0.5).abs() < 0.03, "{norm:?}: {up}");
        assert!((most.max() / most.min()).double_value(&[]) < 1.6, "{norm:?}: {most}");
    }
}

#[test]
fn adversarial_training_makes_a_network_harder_to_fool_and_goes_on_from_weights() {
    truths(
        r#"
        let ds = set.call(600, 1);
        let test = set.call(100, 2);
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(64), net::relu(), net::linear(10)], epochs: 8, lr: 0.003, seed: 1 });
        let fooled = |model| examine(model, test, #{
            space: space::pixels("linf", #{ radius: 0.1, bounds: [0, 1] }), search: search::bim(#{ steps: 10, step: 0.02 }),
        }).success_rate();
        let same = #{ from: f, epochs: 4, lr: 0.003, seed: 2 };
        let hard = #{ from: f, epochs: 4, lr: 0.003, seed: 2, adversarial: #{ norm: "linf", radius: 0.1, steps: 3 } };
        let on = model::train(ds, same);
        let robust = model::train(ds, hard);
        #{
            before: f.hash != on.hash && f.hash != robust.hash && on.hash != robust.hash,
            again: model::train(ds, hard).hash == robust.hash,
            goes_on: on.losses[0] < f.losses[0] / 2,
            harder: fooled.call(robust) < fooled.call(on) - 0.2,
            fgsm: model::train(ds.take(64), #{ from: f, epochs: 1, seed: 1, adversarial: #{ radius: 0.1, steps: 1, start: "image" } }).classes == 10,
        }
    "#,
    );
}

#[test]
fn a_classifier_that_learns_beside_the_generator_is_fooled_less() {
    truths(
        r#"
        let ds = set.call(300, 1);
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        let g = generator::train(ds, #{ arch: tiny.call(16), steps: 250, lr: 0.002, seed: 1 });
        let how = #{ steps: 30, batch: 32, rate: 0.0, note: 1, seed: 1 };
        let alone = generator::finetune(g, f, ds, how);
        how.online = 0.01;
        let beside = generator::finetune(g, f, ds, how);
        #{
            only_then: alone.classifier == (),
            same_start: alone.history.generator[0] == beside.history.generator[0],
            same_generator: alone.hash == beside.hash,
            learns: tensor::from(beside.history.misclassified.extract(20)).mean() < tensor::from(alone.history.misclassified.extract(20)).mean() - 0.3,
            changed: beside.classifier.hash != f.hash && beside.classifier.classes == 10,
        }
    "#,
    );
}

/// After one step at most a tenth is kept: e = 0.1 w_0 + 0.9 w_1.
#[test]
fn a_running_average_is_one_of_weights() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        let ds = set.call(60, 1);
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        let g = generator::train(ds, #{ arch: tiny.call(16), steps: 3, batch: 8, seed: 1 });
        let how = #{ steps: 1, batch: 8, lr: 0.1, seed: 1 };
        g.save("before.safetensors");
        generator::finetune(g, f, ds, how).save("last.safetensors");
        generator::finetune(g, f, ds, how + #{ average: 0.9 }).save("mean.safetensors");
    "#;
    run_in(folder.path(), &format!("{TINY}{script}")).unwrap();
    let read =
        |name: &str| match viva::model::weights::read(&viva::core::Cx::default(), &folder.path().join(name)).unwrap() {
            viva::model::weights::Contents::Weights(weights) => weights,
            viva::model::weights::Contents::TorchScript { .. } => panic!("{name}"),
        };
    let [before, last, mean] = ["before.safetensors", "last.safetensors", "mean.safetensors"].map(read);
    let mut moved = 0.0;
    for (name, mean) in mean.iter().filter(|(name, t)| !name.starts_with("discriminator") && t.is_floating_point()) {
        let wanted = &before[name] * 0.1 + &last[name] * 0.9;
        assert!((mean - wanted).abs().max().double_value(&[]) < 1e-5, "{name}");
        moved += (&last[name] - &before[name]).abs().sum(Kind::Double).double_value(&[]);
    }
    assert!(moved > 1.0, "{moved}");
}

/// What is misread says nothing of what is shown: both stand side by side, with who says so, or that nobody does.
#[test]
fn tests_say_who_vouches_for_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        let ds = set.call(300, 1);
        let dense = [net::flatten(), net::linear(10)];
        let f = model::train(ds.take(40), #{ arch: dense, epochs: 1, seed: 1 });
        let judges = [2, 3, 4].map(|seed| model::train(set.call(300, seed), #{ arch: dense, epochs: 8, seed: seed }));
        let g = generator::train(ds, #{ arch: tiny.call(16), steps: 250, lr: 0.002, seed: 1 });
        let how = #{ n: 7, labels: [2, 7, 9], seed: 3 };
        let alone = generator::tests(g, f, how);
        let judged = generator::tests(g, f, how + #{ oracle: judges });
        let one = generator::tests(g, f, how + #{ oracle: judges[0] });
        let refused = |oracle| { try { generator::tests(g, f, how + #{ oracle: oracle }); } catch (e) { return `${e}`; } "not refused" };
        alone.save("alone.json"); alone.save("alone.csv"); judged.save("judged.json"); judged.save("judged.csv");
        let labels = judged.images.labels.values();
        let votes = judges.map(|judge| judge.predict(judged.images).values());
        let most = [];
        let kept = 0;
        for i in 0..labels.len() {
            let yes = 0;
            for read in votes { if read[i] == labels[i] { yes += 1; } }
            most.push(yes >= 2);
            if yes >= 2 { kept += 1; }
        }
        // Wilson's interval by its formula.
        let ends = |k, n| {
            let z = 1.959963984540054;
            let p = 1.0 * k / n;
            [-1.0, 1.0].map(|sign| (p + z * z / (2 * n) + sign * z * sqrt(p * (1 - p) / n + z * z / (4.0 * n * n))) / (1 + z * z / n))
        };
        let near = |a, b| abs(a - b) < 1e-9;
        // Each label's draws ended with the seventh test; labels count alike.
        let share = 0.0;
        for n in judged.draws { share += 6.0 / (n - 1) / 3; }
        let of_kept = ends.call(kept, labels.len());
        let latent = #{ n: 2, labels: [2], auxiliary: judges[0], lambda1: 0.1, lambda2: 10, lr: 20, draws: 64, steps: 60, seed: 3 };
        let searched = generator::latent_search(g, f, latent + #{ oracle: [judges[1], judges[2]] });
        let by_auxiliary = "";
        try { generator::latent_search(g, f, latent + #{ oracle: judges }); } catch (e) { by_auxiliary = `${e}`; }
        #{
            same_tests: alone.images.hash == judged.images.hash,
            some_kept_some_not: if kept > 0 && kept < labels.len() { true } else { `${judged}` },
            kept: judged.kept == most && near.call(judged.kept_share, 1.0 * kept / labels.len()),
            interval: near.call(judged.kept_lo, of_kept[0]) && near.call(judged.kept_hi, of_kept[1]),
            misread: near.call(judged.share, share) && judged.share_lo < share && share < judged.share_hi,
            by: judges.all(|judge| judged.judged_by.contains(judge.hash)) && `${judged}`.contains("label kept by"),
            one: near.call(one.kept_share, judges[0].accuracy(one.images)),
            nobody: alone.kept == () && alone.kept_share == () && alone.judged_by == (),
            candidates: `${alone}`.contains("21 candidates of") && `${alone}`.contains("whose label nobody has judged"),
            itself: refused.call([judges[0], f]).contains("classifier under test"),
            twice: refused.call([judges[0], judges[0]]).contains("twice"),
            none: refused.call([]).contains("empty"),
            searched: searched.kept.len() == searched.images.len(),
            auxiliary: by_auxiliary.contains("went by it"),
            first_tests: generator::tests(g, f, how + #{ n: 1 }).cautions.some(|said| said.contains("ended with their first test")),
            no_first_tests: !judged.cautions.some(|said| said.contains("first test")),
        }
    "#;
    let said = run_in(folder.path(), &format!("{TINY}{script}")).unwrap();
    let Value::Map(said) = said else { panic!("no map") };
    said.iter().for_each(|(name, value)| assert!(matches!(value, Value::Bool(true)), "{name}: {}", value.summary()));
    let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let json = |name: &str| serde_json::from_str::<serde_json::Value>(&file(name)).unwrap();
    assert!(json("alone.json")["label_kept"].is_null() && json("alone.json")["misread"]["share"].is_f64());
    assert_eq!(json("judged.json")["label_kept"]["tests"].as_array().map(Vec::len), Some(21));
    assert!(file("alone.csv").contains("nobody") && !file("alone.csv").contains("label_kept"));
    assert!(
        file("judged.csv")
            .starts_with("label,tests,draws,misread,misread_lo,misread_hi,label_kept,kept_lo,kept_hi,judged_by")
    );
}

#[test]
fn latent_search_finds_what_the_auxiliary_classifier_still_reads() {
    truths(
        r#"
        let ds = set.call(300, 1);
        let dense = [net::flatten(), net::linear(10)];
        let f = model::train(ds.take(60), #{ arch: dense, epochs: 2, seed: 1 });
        let c = model::train(ds, #{ arch: dense, epochs: 8, seed: 2 });
        let g = generator::train(ds, #{ arch: tiny.call(16), steps: 150, seed: 1 });
        let how = #{ n: 3, labels: [2, 7], auxiliary: c, lambda1: 0.1, lambda2: 10, lr: 20, draws: 64, steps: 60, seed: 3 };
        let found = generator::latent_search(g, f, how);
        let none = generator::latent_search(g, f, how + #{ steps: 0, draws: 640 });
        let noisy = generator::latent_search(g, f, how + #{ noise_radius: 0.2 });
        let towards = generator::latent_search(g, f, how + #{ target: 1, draws: 640, labels: [2] });
        #{
            wrong: f.accuracy(found.images) == 0,
            kept: c.accuracy(found.images) == 1,
            again: generator::latent_search(g, f, how).images.hash == found.images.hash,
            searched: found.share > none.share,
            noise: noisy.images.hash != found.images.hash && f.accuracy(noisy.images) == 0 && c.accuracy(noisy.images) == 1,
            named: `${found}`.contains(" of which became tests") && !`${found}`.contains("misread"),
            target: towards.predictions.filter(|p| p != 1).is_empty(),
        }
    "#,
    );
}

#[test]
fn what_no_training_can_use_is_refused() {
    let begin = r#"
        let ds = data::glyphs(#{ n: 60, size: 28, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });
        let box = model::from(|x| tensor::zeros([x.shape[0], 10]));
        let small = #{ generator: [[net::linear(49), net::reshape(1, 7, 7)]], discriminator: [net::flatten()] };
    "#;
    let folder = tempfile::tempdir().unwrap();
    for (script, why) in [
        ("model::train(ds, #{ from: box })", "not made of layers"),
        ("model::train(ds, #{ from: f, arch: [net::linear(10)] })", "exclude each other"),
        ("model::train(ds, #{ from: f, init: \"unit-norm\" })", "fresh weights"),
        ("model::train(data::glyphs(#{ n: 5, size: 16, seed: 1 }), #{ from: f })", "28"),
        ("model::train(ds, #{ from: f, adversarial: #{ norm: \"linf\" } })", "`radius` is needed"),
        ("model::train(ds, #{ from: f, adversarial: #{ radius: -1 } })", "0.000001"),
        ("model::train(ds, #{ from: f, adversarial: #{ radius: 1e39 } })", "1000000"),
        ("let x = ds; for i in 0..300 { x = x.join(ds); }", "too many"),
        ("generator::latent_search(g, f, #{ n: 1, auxiliary: f })", "right and wrong at once"),
        ("model::train(ds, #{ from: f, adversarial: #{ radius: 1, norm: \"l1\" } })", "linf"),
        ("model::train(ds, #{ from: f, adversarial: #{ radius: 1, eps: 3 } })", "unknown option `eps`"),
        ("model::train(ds.centre(), #{ from: f, adversarial: #{ radius: 1 } })", "outside [0, 1]"),
        ("generator::finetune(g, box, ds, #{ steps: 1, online: 0.1 })", "black box"),
        ("generator::latent_search(g, box, #{ n: 1 })", "black box"),
        (
            "generator::latent_search(generator::train(ds, #{ steps: 1, labelled: false }), f, #{ n: 1 })",
            "takes no labels",
        ),
        ("generator::fid(ds.take(1), ds, f)", "no covariance"),
        ("generator::fid(ds, ds, box)", "not made of layers"),
        ("f.features(data::glyphs(#{ n: 2, size: 16, seed: 1 }))", "28"),
        ("generator::train(ds, #{ arch: small, steps: 1 })", "[1, 7, 7]"),
        (
            "generator::train(ds, #{ arch: #{ generator: [3], discriminator: [net::flatten()] }, steps: 1 })",
            "must be a Layer",
        ),
        (
            "generator::train(ds, #{ arch: #{ generator: [net::linear(4)], discriminator: [net::flatten()] }, steps: 1 })",
            "images of 1 or 3",
        ),
        ("generator::train(ds, #{ arch: #{ generator: [net::linear(4)] }, steps: 1 })", "`discriminator`"),
        ("generator::train(ds, #{ arch: #{ layers: [] }, steps: 1 })", "unknown part `layers`"),
        ("net::conv_transpose(3, 4, #{ extra: 1 })", "below `stride`"),
        ("ds.nearest(data::glyphs(#{ n: 2, size: 16, seed: 1 }))", "1 x 16 x 16"),
        ("data::csv(\"none.csv\")", "none.csv"),
    ] {
        let error = run_in(folder.path(), &format!("{begin}{script}")).map(|v| v.summary()).expect_err(script);
        assert!(error.contains(why), "{script}: {error}");
    }
}

/// Puts numbers into a safetensors file in place of those that a tensor has: the length of a text of JSON, the text, numbers.
fn put(path: &Path, tensors: &[(&str, &[f32])]) {
    let mut bytes = std::fs::read(path).unwrap();
    let text = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let head: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&bytes[8..text]).unwrap();
    for (name, numbers) in tensors {
        let ends: Vec<usize> =
            head[*name]["data_offsets"].as_array().unwrap().iter().map(|end| end.as_u64().unwrap() as usize).collect();
        let own: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        bytes[text + ends[0]..text + ends[1]].copy_from_slice(&own);
    }
    std::fs::write(path, bytes).unwrap();
}

/// A generator that draws four digits of each label, a few per cent brighter or darker, one that draws another pattern each time, and one that does but
/// for the first label, of which it draws a single one.
fn few_and_many(folder: &Path) {
    let script = r#"
        let ds = data::glyphs(#{ n: 20, size: 28, position: "centred", margin: 0, polarity: "light", seed: 1 });
        let arch = |generator| #{ generator: generator, discriminator: [net::flatten(), net::linear(16), net::leaky_relu(0.2)], squash: "cut" };
        let few = [[net::linear(44), net::relu()], [net::linear(40), net::relu()], [net::linear(784), net::reshape(1, 28, 28)]];
        let many = [[net::linear(784), net::reshape(1, 28, 28)]];
        let one = [[net::linear(64), net::relu()], [net::linear(784), net::reshape(1, 28, 28)]];
        generator::train(ds, #{ arch: arch.call(few), steps: 1, batch: 8, latent: 8, seed: 1 }).save("few.safetensors");
        generator::train(ds, #{ arch: arch.call(many), steps: 1, batch: 8, latent: 64, seed: 1 }).save("many.safetensors");
        generator::train(ds, #{ arch: arch.call(one), steps: 1, batch: 8, latent: 64, seed: 1 }).save("one.safetensors");"#;
    run_in(folder, script).unwrap();
    // Eight latent values and the label. The first two latent values choose one of four, by steps between 0 and 1/200; the third is the brightness.
    let (mut first, mut first_bias) = (vec![0f32; 44 * 18], vec![0f32; 44]);
    (0..10).for_each(|label| first[label * 18 + 8 + label] = 1.0);
    let mut steps = vec![];
    for latent in 0..2 {
        for sign in [1.0, -1.0] {
            let at = 10 + 2 * steps.len();
            (0..2).for_each(|i| first[(at + i) * 18 + latent] = 200.0 * sign);
            first_bias[at + 1] = -1.0;
            steps.push(at);
        }
    }
    first[18 * 18 + 2] = 1.0;
    let digits = Glyphs {
        n: 400,
        size: 28,
        position: Position::Centred,
        margin: 0,
        polarity: Polarity::Light,
        seed: 98,
        ..Glyphs::default()
    };
    let digits = digits.dataset().unwrap();
    let (mut second, mut third) = (vec![0f32; 40 * 44], vec![0f32; 784 * 40]);
    for label in 0..10 {
        let rows = (0..400).filter(|&row| digits.labels()[row] == label as i64).take(4);
        for (k, row) in rows.enumerate() {
            let unit = 4 * label + k;
            second[unit * 44 + label] = 1.0;
            for step in [steps[k % 2], steps[2 + k / 2]] {
                (second[unit * 44 + step], second[unit * 44 + step + 1]) = (1.0, -1.0);
            }
            second[unit * 44 + 18] = -0.05;
            let pixels = Vec::<f32>::try_from(&digits.images(&[row], tch::Device::Cpu).unwrap().reshape([-1])).unwrap();
            pixels.iter().enumerate().for_each(|(at, x)| third[at * 40 + unit] = *x);
        }
    }
    put(
        &folder.join("few.safetensors"),
        &[
            ("stage1.0.weight", &first),
            ("stage1.0.bias", &first_bias),
            ("stage2.0.weight", &second),
            ("stage2.0.bias", &[-2.0; 40]),
            ("stage3.0.weight", &third),
            ("stage3.0.bias", &[0.0; 784]),
        ],
    );
    // As different from each other as digits are, about.
    let patterns = with_stream(7, 0, || {
        Ok::<_, viva::core::Error>(Tensor::f_randn([784 * 74], (Kind::Float, tch::Device::Cpu))? * 0.03)
    })
    .unwrap();
    put(
        &folder.join("many.safetensors"),
        &[("stage1.0.weight", &Vec::<f32>::try_from(&patterns).unwrap()), ("stage1.0.bias", &[0.5; 784])],
    );
    // All latent values, 3 larger, so that a rectifier lets them through, but with the first label.
    let mut through = vec![0f32; 64 * 74];
    (0..64).for_each(|unit| (through[unit * 74 + unit], through[unit * 74 + 64]) = (1.0, -100.0));
    let patterns = Vec::<f32>::try_from(&patterns.narrow(0, 0, 784 * 64)).unwrap();
    let middle: Vec<f32> = patterns.chunks(64).map(|row| 0.5 - 3.0 * row.iter().sum::<f32>()).collect();
    put(
        &folder.join("one.safetensors"),
        &[
            ("stage1.0.weight", &through),
            ("stage1.0.bias", &[3.0; 64]),
            ("stage2.0.weight", &patterns),
            ("stage2.0.bias", &middle),
        ],
    );
}

/// A few drawings of each label vary as much as real images do: that they are the same over and over, those who look at distances see.
#[test]
fn a_few_drawings_over_and_over_are_told() {
    let folder = tempfile::tempdir().unwrap();
    few_and_many(folder.path());
    let mut cx = Cx::default();
    cx.set_folder(folder.path().to_path_buf());
    let cx = Rc::new(cx);
    let script = r#"
        import "std/testgen" as testgen;
        let told = |cautions, words| cautions.some(|said| said.contains(words));
        let how = #{ training: 300, epochs: 3, judges: 1, keepers: 0, generator: generator::load("few.safetensors") };
        let s = testgen::subject(how);
        let many = s + #{ generator: generator::load("many.safetensors") };
        // So small a step changes nothing.
        let still = #{ steps: 1, every: 1, n: 100, lr: 0.0000000001, keep: [] };
        let f = testgen::finetuning(s, still);
        let h = testgen::finetuning(many, still);
        // Clean drawings are nearer to each other than noisy ones are.
        let clean = testgen::finetuning(many + #{ images: data::glyphs(#{ n: 300, size: 28, position: "centred", margin: 0, polarity: "light", noise: 0.2, seed: 1 }) }, still);
        let few_draws = testgen::finetuning(s, still + #{ n: 40 });
        let one = testgen::finetuning(s + #{ generator: generator::load("one.safetensors") }, still);
        let words = "a few drawings over and over";
        let near = "by next to nothing";
        let tests = |g| generator::tests(g, s.model, #{ n: 10, draws: 2000, seed: 1 });
        let seeds = |g| generator::perturb(g, s.model, #{ n: 30, draws: 2000, samples: 50, steps: 5, seed: 1 });
        let once = tests.call(many.generator);
        #{
            spread: f.spread[0] > 0.7 && !told.call(f.cautions, "as much as real ones"),
            told: told.call(f.cautions, words) && told.call(f.summary.cautions, words) && told.call(f.figure.cautions, words) && told.call(f.sheet.cautions, words),
            share: f.repeated.len() == 2 && f.repeated[0] > 0.9 && f.summary.repeated > 0.9,
            few_draws: told.call(few_draws.cautions, words),
            others: h.summary.repeated == 0.0 && !told.call(h.cautions, words),
            clean: clean.summary.repeated < 0.1 && !told.call(clean.cautions, words),
            one_label: told.call(one.cautions, "nearly all of [\"0\"]"),
            no_better: told.call(f.cautions, "misread no more often than before finetuning: "),
            tests: told.call(tests.call(s.generator).cautions, near) && `${tests.call(s.generator)}`.contains("intervals are too narrow"),
            once: once.images.len() > 20 && !told.call(once.cautions, near),
            seeds: told.call(seeds.call(s.generator).cautions, " of the 30 seeds are copies of others"),
        }"#;
    let mut session = Session::new(cx.clone());
    truths::hold(
        &session.run(Path::new("script.rhai"), script).unwrap_or_else(|error| panic!("{}", error.render(false))),
    );
    // Images that were chosen for being misread say nothing of how a classifier numbers its classes.
    assert!(!cx.warnings().iter().any(|said| said.contains("number the classes")), "{:?}", cx.warnings());
}

/// Every recipe on networks that have hardly learnt: what it answers hangs together.
#[test]
fn recipes_of_generated_tests_answer_what_they_say() {
    truths(
        r#"
        import "std/testgen" as testgen;
        let s = testgen::subject(#{ training: 300, steps: 100, epochs: 2, judges: 2, keepers: 1, arch: tiny.call(28), radius: 0.05 });
        let p = testgen::pairs(s, #{ targets: [1, ()], n: 2, draws: 500, steps: 3, rate: 1.0 });
        let any = p.tests["any"];
        // A judge that answers 0 to all images, and a class that is called as no target is.
        let blind = model::from(|x| tensor::zeros([x.shape[0], 10]) + tensor::from([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]), #{ classes: 10 });
        let renamed = s.images.relabel(|row| row.label, #{ classes: ["0", "any", "2", "3", "4", "5", "6", "7", "8", "9"] });
        let unread = testgen::pairs(s + #{ judges: [blind], images: renamed }, #{ targets: [()], n: 2, draws: 300, steps: 1 });
        let one = testgen::nearest(s, any, 4);
        let t = testgen::transfer(s, #{ first: s.model, second: s.judges[0] }, #{ n: 2, draws: 500, steps: 3, rate: 1.0 });
        let o = testgen::online(s, #{ steps: 4, steps_after: 4, note: 1 });
        let off = testgen::offline(s, #{ rounds: 2, steps: 3, rate: 1.0, n: 3, epochs: 1 });
        let alone = testgen::offline(s, #{ rounds: 1, steps: 1, n: 1, epochs: 1, note: 1, keep: [] });
        let lat = testgen::offline(s, #{ rounds: 1, steps: 5, n: 2, draws: 64, epochs: 1, by: "latent" });
        let bare = testgen::offline(s, #{ rounds: 2, steps: 1, n: 1, epochs: 1, control: false });
        let q = testgen::quality(s, s.generator, #{ n: 200 });
        let a = testgen::ablations(s, #{ steps: 3, pretraining: 6, converged: 12, n: 100 });
        let f = testgen::finetuning(s, #{ steps: 5, every: 2, n: 100 });
        let single = testgen::single_steps(s, #{ steps: 3, batch: 13, search_steps: 3, every: 2, lambda1: 0.1, lambda2: 10, latent_lr: 20 });
        let refused = |asked, said| { try { testgen::subject(#{ training: 60, steps: 1, epochs: 1 } + asked); } catch (e) { return `${e}`.contains(said); } false };
        let small = generator::train(set.call(60, 1), #{ steps: 1, batch: 8, arch: tiny.call(16), seed: 1 });
        s.model.save("model.safetensors");
        #{
            pairs: p.kept.len() == 10 && p.kept[0].len() == 2 && p.missing.filter(|m| m == "1 as 1").is_empty(),
            wrong: s.model.accuracy(any.images) == 0,
            cells: p.cautions.some(|said| said.contains("shares of the heatmap are of") && said.contains("2 tests each")),
            given: one.cautions == [] && testgen::nearest(s + #{ given: true }, any, 4).cautions.some(|said| said.contains("nobody asked what")),
            nearest: one.table.len() == 4 && one.tests.len() == 4 && one.table[2].tests_least <= one.table[2].tests_median,
            transfer: t.table.map(|row| row.from) == ["first", "ordinary draws", "second"] && t.table[0].tests >= t.table[0].counted && t.table[0].tests > 0
                && t.table[1].first >= 0 && t.table[1].second <= 1 && t.cautions.some(|told| told.contains("hardly better than guessing")),
            online: o.during.step.len() == 4 && o.classifier.hash != s.model.hash,
            offline: off.table.len() == 3 && off.table[0].round == 0 && off.table[0].real == s.model.accuracy(s.test) && off.table[0].tests == 0
                && off.table[0].found == 1.0 - s.model.accuracy(s.generator.sample(#{ n: 1000, seed: 0 })) && off.rounds.len() == 2 && off.classifier.hash != s.model.hash,
            ablations: a.table.map(|row| row.variant).extract(5) == ["no keepers, mu = 0.5"] + [6, 9, 12].map(|n| `no pretraining, mu = 0.5, ${n} steps`) && a.disagreement.len() == 3 && a.pixels[0].fooled >= 0.0,
            finetuning: f.steps == [0, 2, 4, 5] && f.kept.len() == 4 && f.summary.misclassified_95.len() == 2,
            fresh: f.summary.misclassified == 1.0 - s.model.accuracy(f.generator.sample(#{ n: 100, seed: 2 })) && f.summary.misclassified >= f.summary.misclassified_95[0],
            chosen: f.of > 0 && f.chosen_by.extract(1).all(|x| x <= f.chosen_by[f.steps.index_of(f.of)]),
            judged: any.judged_by.contains(s.judges[0].hash) && t.table[0].label_kept >= 0.0 && t.table[0].judged_by.contains(s.judges[1].hash),
            intervals: t.table[0].second_lo < t.table[0].second_hi && off.table[1].found_lo <= off.table[1].found && o.summary.tests_kept_lo >= 0.0 && q.tests_kept_hi <= 1.0,
            keepers: [f, p, t, o, off].all(|one| one.cautions.some(|said| said.contains("(keeper"))) && !alone.cautions.some(|said| said.contains("(keeper")) && !("kept" in alone.rounds[0])
                && off.figure.cautions == off.cautions && t.figure.cautions.some(|said| said.contains("(keeper")),
            unjudged: {
                let drawn = generator::tests(s.generator, s.model, #{ n: 1, draws: 500 });
                let how = #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 };
                let told = |images| examine(s.sibling, images, how).cautions.filter(|said| said.contains("nobody has judged them")).len();
                [told.call(drawn.images), told.call(any.images)] == [1, 0]
            },
            repeats_itself: f.cautions[0].contains("as much as real ones") && f.summary.cautions == f.cautions && f.tests != (),
            pair_rows: p.table.len() == 19 && p.table.all(|row| row.label_kept_lo <= row.label_kept_hi && row.misread_lo <= row.misread && row.judged_by.contains("2 networks")),
            single: single.table.map(|row| row.starts) == [13, 13, 13] && single.looks.map(|row| row.step) == [2, 3] && single.classifier.hash != s.model.hash,
            before_work: refused.call(#{ generator: small }, "draws [1, 16, 16]") && refused.call(#{ discriminator: "d.safetensors" }, "of no generator")
                && refused.call(#{ model: "model.safetensors", more_judges: "model.safetensors" }, "can't both teach and judge"),
            nobody: testgen::judged(s + #{ judges: [s.model] }, s.model, any.images).judged_by == "nobody" && testgen::judged(s + #{ judges: [] }, s.model, any.images).tests_kept.is_nan(),
            alone: testgen::finetuning(s + #{ judges: [] }, #{ steps: 1, n: 20 }).cautions.some(|said| said.contains("nobody judges")),
            few: f.figure.cautions == f.cautions && f.trade.cautions == f.cautions && f.tests.cautions.some(|said| said == f.cautions[0]),
            first_tests: testgen::pairs(s, #{ targets: [()], n: 1, draws: 300, steps: 1 }).heatmap.cautions.some(|said| said.contains("first test of a pair")),
            unread: unread.heatmap.cautions.some(|said| said.contains("real images of any (of 20), 2 (of 20), 3 (of 20), ") && said.contains("read none of them right")) && !p.cautions.some(|said| said.contains("real images of 1 (")),
            any: unread.tests.keys() == ["any wrong answer"] && unread.table.all(|row| row.read_as == "any wrong answer"),
            scales: generator::fid(s.images.standardise(), s.images, s.model).cautions.some(|said| said.contains("not on one scale"))
                && !generator::fid(s.generator.sample(#{ n: 20, seed: 1 }), s.images, s.model).cautions.some(|said| said.contains("not on one scale")),
            usual: testgen::usual(s.images).l2 == 1.5 && testgen::usual(set.call(2, 1)) == #{},
            control: off.table[1].control_found == off.table[1].found && off.table[2].control_real >= 0.0 && off.control.hash != off.classifier.hash && off.control.hash != s.model.hash
                && ["control_still_wrong", "control_found_lo", "control_real"].all(|name| off.table.all(|row| name in row)),
            no_control: bare.control == () && !("control_found" in bare.table[1]) && bare.cautions.some(|said| said.starts_with("no control: ")),
            online_before: o.before.step.len() == 4 && o.summary.misclassified_before_lo <= o.summary.misclassified_before && o.before.step == o.after.step,
            latent: lat.table.len() == 2 && lat.figure == () && lat.table[1].control_found == lat.table[1].found,
            too_low: !q.cautions.some(|said| said.contains("is too low")) && testgen::quality(s, s.generator, #{ n: 40 }).cautions.some(|said| said.contains("score of 40 images is too low")),
            quality: q.fid > 0 && q.fid_by_chance > 0 && testgen::quality(s, s.generator, #{ n: 40 }).cautions.some(|said| said.contains("where there should be many times as many")) && q.inception_score >= 1 && q.inception_score <= 10 && q.misclassified <= 1,
        }
    "#,
    );
}
