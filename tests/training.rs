//! Training: the optimisers against PyTorch, and what a user relies on: it learns, repeats itself to the byte and stops.

use std::sync::Arc;

use tch::Device;
use viva::core::{Cx, Digest, Object, Result, Tensor, Value, with_stream};
use viva::data::{Dataset, Edge, Source};
use viva::model::{Inputs, Layer, Mode, Model, Module, Options, load, zoo};
use viva::optimiser::{Optimiser, Rule};
use viva::train::{Settings, train};

/// Stripes: class 0 horizontal, class 1 vertical, class 2 none, at a phase and contrast of their own.
struct Stripes {
    n: usize,
}

impl Source for Stripes {
    fn len(&self) -> usize {
        self.n
    }

    fn shape(&self) -> [usize; 3] {
        [1, 10, 10]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let (phase, contrast) = ((index / 3) % 4, 0.3 + 0.1 * (index % 7) as f32);
        for (i, pixel) in pixels.iter_mut().enumerate() {
            let along = [i / 10, i % 10, 0][index % 3];
            *pixel = 0.1 + if (along + phase) % 4 < 2 { contrast } else { 0.0 };
        }
        Ok(())
    }
}

fn stripes(n: usize) -> Result<Dataset> {
    let labels = (0..n).map(|i| i as i64 % 3).collect();
    let classes = ["horizontal", "vertical", "none"].map(String::from).to_vec();
    Dataset::new("stripes", Arc::new(Stripes { n }), labels, classes, Edge::Margin(1), Digest::of(b"stripes"))
}

fn settings(layers: impl IntoIterator<Item = Layer>) -> Settings {
    Settings {
        name: "trained".into(),
        layers: Layer::sequence(layers),
        epochs: 6,
        batch: 16,
        rule: Rule::ADAM,
        lr: 0.01,
        weight_decay: 0.0,
        class_weights: None,
        start: viva::model::Start::Pytorch,
        from: None,
        adversary: None,
        seed: 7,
    }
}

fn small() -> Vec<Layer> {
    vec![
        Layer::normalize(vec![0.5], vec![0.5]),
        Layer::conv_bare(8, 3, 1, 1),
        Layer::batch_norm(),
        Layer::relu(),
        Layer::max_pool(2, 2),
        Layer::flatten(),
        Layer::dropout(0.2),
        Layer::linear(3),
    ]
}

fn bytes(model: &Model) -> Result<Digest> {
    let module = model.module().unwrap_or_else(|| panic!("a trained model is made of layers"));
    module.digest()
}

/// torch 2.11: w = tensor([1., -2., 3.]); five times: w.grad = w * 0.5 + tensor([0.1, -0.2, 0.3]) * t; optimizer.step(), with
/// SGD(lr=0.1), SGD(lr=0.1, momentum=0.9, weight_decay=0.01), RMSprop(lr=0.1, weight_decay=0.01), Adam(lr=0.1,
/// weight_decay=0.01).
#[test]
fn optimisers_take_pytorchs_steps() -> Result<()> {
    let references = [
        (Rule::Sgd { momentum: 0.0 }, 0.0, SGD),
        (Rule::Sgd { momentum: 0.9 }, 0.01, MOMENTUM),
        (Rule::RMS_PROP, 0.01, RMS_PROP),
        (Rule::ADAM, 0.01, ADAM),
    ];
    for (rule, decay, reference) in references {
        let w = Tensor::from_slice(&[1.0f32, -2.0, 3.0]);
        let mut optimiser = Optimiser::new(rule, 0.1, decay, &[w.shallow_clone()])?;
        for t in 0..5 {
            let g = &w * 0.5 + Tensor::from_slice(&[0.1f32, -0.2, 0.3]) * t;
            if t == 3 {
                // A fresh optimiser that takes over the state goes on in the same way.
                let (steps, state) = optimiser.state();
                let state: Vec<(String, Tensor)> = state.into_iter().map(|(n, t)| (n, t.copy())).collect();
                optimiser = Optimiser::new(rule, 0.1, decay, &[w.shallow_clone()])?;
                optimiser.restore(steps, &state)?;
            }
            optimiser.step(&[w.shallow_clone()], &[g])?;
        }
        let found = Vec::<f32>::try_from(&w)?;
        for (a, b) in found.iter().zip(reference) {
            // A few float32 roundings per step.
            assert!((a - b).abs() < 2e-6, "{rule:?}: {found:?}, PyTorch {reference:?}");
        }
    }
    Ok(())
}

#[test]
fn a_trained_model_has_learned_and_is_kept_by_saving() -> Result<()> {
    let (cx, set) = (Cx::default(), stripes(300)?);
    let model = train(&cx, &set, &settings(small()))?;
    assert!(model.read(&cx, &set)?.iter().all(|(label, answer)| label == answer));
    let losses = match model.field("losses")? {
        Some(Value::Array(losses)) => losses.len(),
        _ => 0,
    };
    assert_eq!(losses, 6);
    let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let path = folder.path().join("stripes.safetensors");
    model.write(&cx, &path, "safetensors")?;
    // The file says itself how its layers are connected.
    let loaded = load(&cx, &path, Options::default())?;
    assert_eq!(format!("{:?}", loaded.digest()), format!("{:?}", model.digest()));
    let scores = |model: &Model| -> Result<Vec<f32>> {
        Ok(Vec::try_from(&model.scores(&cx, &Inputs::Data(&set))?.reshape([-1]))?)
    };
    assert_eq!(scores(&loaded)?, scores(&model)?);
    Ok(())
}

/// Answers and slopes of torch.nn.ReLU6, SiLU, Sigmoid and Tanh at these numbers, torch 2.11.
#[test]
fn activations_are_pytorchs() -> Result<()> {
    let x = Tensor::from_slice(&[-7.0f32, -1.0, 0.0, 0.5, 6.0, 7.0]).reshape([6, 1]).set_requires_grad(true);
    for (layer, values, slopes) in [
        (Layer::relu6(), [0.0, 0.0, 0.0, 0.5, 6.0, 6.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        (
            Layer::silu(),
            [-0.006_377_4, -0.268_941_4, 0.0, 0.311_229_7, 5.985_164_6, 6.993_622_8],
            [-0.005_460_5, 0.072_329_5, 0.5, 0.739_961_2, 1.012_326_2, 1.005_460_1],
        ),
        (
            Layer::sigmoid(),
            [0.000_911_1, 0.268_941_4, 0.5, 0.622_459_4, 0.997_527_4, 0.999_089_0],
            [0.000_910_2, 0.196_611_9, 0.25, 0.235_003_7, 0.002_466_5, 0.000_910_2],
        ),
        (
            Layer::tanh(),
            [-0.999_998_3, -0.761_594_2, 0.0, 0.462_117_2, 0.999_987_7, 0.999_998_3],
            [0.000_003_3, 0.419_974_3, 1.0, 0.786_447_7, 0.000_024_6, 0.000_003_3],
        ),
    ] {
        let module = Module::fresh(&Layer::sequence([Layer::flatten(), layer.clone()]), [1, 1, 1], 0, Device::Cpu)?;
        for module in [&module, &module.frozen()?] {
            let y = module.forward(&x.reshape([6, 1, 1, 1]), Mode::Evaluate)?;
            let slope = Tensor::f_run_backward(&[y.sum(tch::Kind::Float)], &[&x], false, false)?;
            for (found, wanted) in [(y.detach(), values), (slope[0].shallow_clone(), slopes)] {
                let apart = (found.reshape([6]) - Tensor::from_slice(&wanted)).abs().max().double_value(&[]);
                // Seven digits were written down.
                assert!(apart < 1e-6, "{layer:?}: {apart:e}");
            }
        }
    }
    Ok(())
}

/// Depthwise convolutions, gates and skipped blocks: in training every parameter gets a gradient, and evaluation is the same
/// function each time, whatever comes beside an image.
#[test]
fn mobile_networks_learn() -> Result<()> {
    for name in ["mobilenet_v2", "efficientnet_b0"] {
        let module = Module::fresh(&(zoo::find(name)?.layers)(3), [3, 32, 32], 1, Device::Cpu)?;
        module.set_trainable(true)?;
        let images = with_stream(1, 1, || Tensor::rand([8, 3, 32, 32], (tch::Kind::Float, Device::Cpu)));
        let scores = with_stream(1, 2, || module.forward(&images, Mode::Train))?;
        let parameters = module.parameters();
        let loss = scores.cross_entropy_for_logits(&Tensor::from_slice(&[0i64, 1, 2, 0, 1, 2, 0, 1]));
        let gradients = Tensor::f_run_backward(&[loss], &parameters, false, false)?;
        for (i, gradient) in gradients.iter().enumerate() {
            let size = gradient.abs().sum(tch::Kind::Float).double_value(&[]);
            assert!(size.is_finite() && size > 0.0, "{name}: parameter {i} has the gradient {size}");
        }
        module.set_trainable(false)?;
        let all = module.forward(&images, Mode::Evaluate)?;
        let one = module.forward(&images.narrow(0, 3, 1), Mode::Evaluate)?;
        let apart = (all.narrow(0, 3, 1) - one).abs().max().double_value(&[]) / all.abs().max().double_value(&[]);
        // Sums in another order.
        assert!(apart < 1e-4, "{name}: {apart:e}");
    }
    Ok(())
}

#[test]
fn stochastic_depth_drops_whole_images_in_training() -> Result<()> {
    let layers = Layer::sequence([Layer::stochastic_depth(0.25), Layer::flatten()]);
    let module = Module::fresh(&layers, [1, 2, 2], 0, Device::Cpu)?;
    let images = Tensor::ones([4000, 1, 2, 2], (tch::Kind::Float, Device::Cpu));
    assert_eq!(module.forward(&images, Mode::Evaluate)?.min().double_value(&[]), 1.0);
    let y = with_stream(1, 2, || module.forward(&images, Mode::Train))?;
    let (first, rest) = (y.narrow(1, 0, 1), y.narrow(1, 1, 3));
    assert_eq!((rest - &first).abs().max().double_value(&[]), 0.0, "an image goes as a whole");
    let kept = first.gt(0.0).sum(tch::Kind::Int64).int64_value(&[]);
    // 3000 expected with a standard deviation of 27.
    assert!((2860..=3140).contains(&kept), "{kept} kept");
    let wanted = first.ne(0.0).to_kind(tch::Kind::Float) * (4.0 / 3.0);
    assert!((first - wanted).abs().max().double_value(&[]) < 1e-6, "what is kept is scaled up");
    Ok(())
}

#[test]
fn the_same_seed_gives_the_same_bytes() -> Result<()> {
    let set = stripes(120)?;
    let run = |seed| bytes(&train(&Cx::default(), &set, &Settings { seed, epochs: 2, ..settings(small()) })?);
    assert_eq!(run(1)?, run(1)?);
    assert_ne!(run(1)?, run(2)?);
    Ok(())
}

#[test]
fn training_stops_within_one_step() -> Result<()> {
    let set = stripes(160)?;
    let cx = Cx::default();
    cx.stop_after(Some(5));
    let before = cx.polls();
    let error = train(&cx, &set, &settings(small())).err();
    assert!(error.is_some_and(|e| e.is_interrupted()));
    assert_eq!(cx.polls() - before, 6, "nothing may go on after the poll that said to stop");
    Ok(())
}

#[test]
fn a_diverging_training_names_the_learning_rate() -> Result<()> {
    let set = stripes(64)?;
    // Two layers, so that weights of 1e30 multiply to more than a float holds.
    let layers = [Layer::flatten(), Layer::linear(4), Layer::linear(3)];
    let wild = Settings { lr: 1e30, rule: Rule::Sgd { momentum: 0.9 }, ..settings(layers) };
    let error = train(&Cx::default(), &set, &wild).err().unwrap_or_else(|| panic!("no error"));
    assert!(error.hint.unwrap_or_default().contains("lr"), "{}", error.message);
    Ok(())
}

#[test]
fn wrong_layers_are_refused_before_training() -> Result<()> {
    let set = stripes(30)?;
    let refuse = |layers: Vec<Layer>| {
        let error = train(&Cx::default(), &set, &settings(layers)).err().unwrap_or_else(|| panic!("no error"));
        (error.message, error.hint.unwrap_or_default())
    };
    let (message, hint) = refuse(vec![Layer::conv(4, 3, 1, 0), Layer::relu(), Layer::linear(3)]);
    assert!(message.contains("layer 2: linear wants a flat input") && hint.contains("net::flatten()"), "{message}");
    let (message, _) = refuse(vec![Layer::conv(4, 11, 1, 0), Layer::flatten(), Layer::linear(3)]);
    assert!(message.contains("layer 0: conv of size 11 does not fit its input 1 x 8 x 8"), "{message}");
    let (message, hint) = refuse(vec![Layer::flatten(), Layer::linear(2)]);
    assert!(message.contains("2 classes, stripes has 3") && hint.contains("net::linear(3)"), "{message}");
    Ok(())
}

/// Weights that are not finite: raw scores are shown, answers are refused.
#[test]
fn scores_that_are_not_a_number_are_refused() -> Result<()> {
    let (cx, set) = (Cx::default(), stripes(9)?);
    let model = train(&cx, &set, &Settings { epochs: 1, ..settings([Layer::flatten(), Layer::linear(3)]) })?;
    let module = model.module().unwrap_or_else(|| panic!("layers"));
    module.visit(&mut |name, tensor, _| {
        if name.ends_with("bias") {
            let _ = tensor.shallow_clone().fill_(f64::NAN);
        }
    });
    assert!(model.scores(&cx, &Inputs::Data(&set))?.isnan().all().int64_value(&[]) == 1);
    let error = model.accuracy(&cx, &set).err().unwrap_or_else(|| panic!("no error"));
    assert!(error.message.contains("NaN") && error.message.contains("image 0"), "{}", error.message);
    Ok(())
}

const SGD: [f32; 3] = [0.6786572, -1.3573143, 2.0359716];
const MOMENTUM: [f32; 3] = [0.2311739, -0.4623477, 0.6935215];
const RMS_PROP: [f32; 3] = [-0.7731723, 0.7839754, -0.1305234];
const ADAM: [f32; 3] = [0.4978464, -1.4978096, 2.4979022];

/// A class whose examples count for nothing is only ever pushed down, so no image is given to it.
#[test]
fn class_weights_decide_what_is_learnt() -> Result<()> {
    let (cx, set) = (Cx::default(), stripes(60)?);
    let given = |class_weights: Option<Vec<f64>>| -> Result<usize> {
        let model = train(&cx, &set, &Settings { epochs: 20, class_weights, ..settings(small()) })?;
        let labels = model.predictions(&cx, &Inputs::Data(&set))?;
        Ok(labels.iter().filter(|label| **label == 2).count())
    };
    assert!(given(None)? > 10);
    assert_eq!(given(Some(vec![1.0, 1.0, 0.0]))?, 0);
    Ok(())
}

#[test]
fn adversarial_training_s_steps_have_the_length_that_is_said() {
    let script = r#"
        let ds = data::glyphs(#{ n: 30, size: 16, seed: 1 });
        let hash = |how| model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1, adversarial: how }).hash;
        let same = |how, step| { let said = how; said.step = step; hash.call(how) == hash.call(said) };
        let long = #{ radius: 0.2, steps: 4 };
        let one = #{ radius: 0.2, steps: 1 };
        let plain = #{ radius: 0.2, steps: 1, start: "image" };
        [same.call(long, 2.5 * 0.2 / 4), same.call(long, 0.2), same.call(one, 1.25 * 0.2), same.call(one, 0.2),
         same.call(plain, 0.2), same.call(plain, 0.1)]
    "#;
    let mut session = viva::script::Session::new(std::rc::Rc::new(Cx::default()));
    let said = session.evaluate("test", script).unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert_eq!(said.summary(), "[true, false, true, false, true, false]");
}

#[test]
fn what_learned_nothing_says_so_beside_every_result() -> Result<()> {
    let (cx, set) = (Cx::default(), stripes(60)?);
    let said = |settings: Settings| -> Result<bool> {
        let model = train(&cx, &set, &settings)?;
        Ok(model.cautions().iter().any(|said| said.contains("did not converge") && said.contains("1.1 is lost")))
    };
    assert!(said(Settings { lr: 1000.0, ..settings(small()) })?, "its steps are far too long");
    assert!(!said(settings(small()))?, "it learned");
    assert!(
        !said(Settings { epochs: 1, lr: 1e-6, ..settings(small()) })?,
        "a first epoch begins at the loss of guessing"
    );
    Ok(())
}
