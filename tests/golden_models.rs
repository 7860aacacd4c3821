//! Published networks with published weights answer what PyTorch answers. The golden tensors and the facts about each network
//! stand beside the weights in `$VIVA_DATA/models/*/NOTICE.txt`; those of the zoo without published weights are in this folder.

use std::io::Read;
use std::path::PathBuf;

use tch::Kind;
use viva::core::{Cx, Object, Result, Tensor};
use viva::model::weights::{self, Contents, Weights};
use viva::model::{Arch, Layer, Mode, Model, Module, Options, load, zoo};

/// 1e-4 of the largest output: float32 sums in another order differ by about 1e-6 of it, a wrong layer by far more.
const TOLERANCE: f64 = 1e-4;

const ADVERTORCH: &str = "models/mnist_advertorch_lenet5";
const CONVEX: &str = "models/convex_adversarial_kw";
const ABCROWN: &str = "models/abcrown_mnist_cifar";

const NA: ([f64; 3], [f64; 3]) = ([0.4914, 0.4822, 0.4465], [0.2471, 0.2435, 0.2616]);
const NK: ([f64; 3], [f64; 3]) = ([0.485, 0.456, 0.406], [0.225, 0.225, 0.225]);
const IMAGENET: ([f64; 3], [f64; 3]) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);

fn data() -> PathBuf {
    std::env::var_os("VIVA_DATA").expect("VIVA_DATA is set").into()
}

fn tensors(path: PathBuf) -> Result<Weights> {
    match weights::read(&viva::core::Cx::default(), &path)? {
        Contents::Weights(weights) => Ok(weights),
        Contents::TorchScript { .. } => panic!("{} is TorchScript", path.display()),
    }
}

fn unzip(path: PathBuf) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    bytes
}

/// The first `n` MNIST test images, N x 1 x 28 x 28 in [0, 1].
fn mnist(folder: &std::path::Path, n: usize) -> Tensor {
    let bytes = unzip(folder.join("data/mnist/t10k-images-idx3-ubyte.gz"));
    let pixels: Vec<f32> = bytes[16..16 + n * 784].iter().map(|&b| f32::from(b) / 255.0).collect();
    Tensor::from_slice(&pixels).reshape([n as i64, 1, 28, 28])
}

fn mnist_labels(folder: &std::path::Path) -> Vec<i64> {
    unzip(folder.join("data/mnist/t10k-labels-idx1-ubyte.gz"))[8..].iter().map(|&b| i64::from(b)).collect()
}

/// The first 16 records of the lossless CIFAR subset, 16 x 3 x 32 x 32 in [0, 1].
fn cifar(folder: &std::path::Path) -> Tensor {
    let path = folder.join("data/cifar10/cifar10_lossless_subset.bin");
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let pixels: Vec<f32> = bytes.chunks(3073).take(16).flat_map(|r| &r[1..]).map(|&b| f32::from(b) / 255.0).collect();
    Tensor::from_slice(&pixels).reshape([16, 3, 32, 32])
}

#[track_caller]
fn agrees(what: &str, found: &Tensor, golden: &Tensor) {
    agrees_within(TOLERANCE, what, found, golden);
}

#[track_caller]
fn agrees_within(tolerance: f64, what: &str, found: &Tensor, golden: &Tensor) {
    assert_eq!(found.size(), golden.size(), "{what}");
    let scale = golden.abs().max().double_value(&[]);
    let error = (found - golden).abs().max().double_value(&[]) / scale;
    println!("{what}: {error:.1e} of the largest output");
    assert!(error <= tolerance, "{what}: off by {error:e} of the largest output");
}

fn conv(out: i64, size: i64, stride: i64, pad: i64) -> Layer {
    Layer::conv(out, size, stride, pad)
}

fn names(pairs: &[(&str, &str)]) -> Options {
    Options { names: pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect(), ..Options::default() }
}

fn with(layers: impl IntoIterator<Item = Layer>, options: Options) -> Options {
    Options { arch: Some(Arch::Layers(Layer::sequence(layers))), ..options }
}

fn normalised((mean, std): ([f64; 3], [f64; 3]), options: Options) -> Options {
    Options { mean: Some(mean.to_vec()), std: Some(std.to_vec()), ..options }
}

/// Two strided convolutions and two linear layers, as in most of these collections.
fn small(c1: i64, c2: i64, size: i64, pad: i64, hidden: i64) -> Options {
    let layers = [
        conv(c1, size, 2, pad),
        Layer::relu(),
        conv(c2, size, 2, pad),
        Layer::relu(),
        Layer::flatten(),
        Layer::linear(hidden),
        Layer::relu(),
        Layer::linear(10),
    ];
    with(layers, Options::default())
}

fn lenet5() -> Options {
    let layers = [
        conv(32, 3, 1, 1),
        Layer::relu(),
        Layer::max_pool(2, 2),
        conv(64, 3, 1, 1),
        Layer::relu(),
        Layer::max_pool(2, 2),
        Layer::flatten(),
        Layer::linear(200),
        Layer::relu(),
        Layer::linear(10),
    ];
    with(layers, names(&[("conv1", "0"), ("conv2", "3"), ("linear1", "7"), ("linear2", "9")]))
}

fn lirpa() -> Options {
    let names = names(&[("conv1", "0"), ("conv2", "2"), ("fc1", "5"), ("fc2", "7")]).names;
    Options { names, ..small(8, 16, 4, 1, 256) }
}

fn lenet_csinva() -> Options {
    let layers = [
        Layer::resize([32, 32]),
        conv(6, 5, 1, 0),
        Layer::relu(),
        Layer::max_pool(2, 2),
        conv(16, 5, 1, 0),
        Layer::relu(),
        Layer::max_pool(2, 2),
        conv(120, 5, 1, 0),
        Layer::relu(),
        Layer::flatten(),
        Layer::linear(84),
        Layer::relu(),
        Layer::linear(10),
    ];
    let names = [("convnet.c1", "1"), ("convnet.c3", "4"), ("convnet.c5", "7"), ("fc.f6", "10"), ("fc.f7", "12")];
    with(layers, self::names(&names))
}

fn realbarry() -> Options {
    let layers = [
        conv(10, 5, 1, 0),
        Layer::max_pool(2, 2),
        Layer::relu(),
        conv(20, 5, 1, 0),
        Layer::dropout(0.5),
        Layer::max_pool(2, 2),
        Layer::relu(),
        Layer::flatten(),
        Layer::linear(50),
        Layer::relu(),
        Layer::dropout(0.5),
        Layer::linear(10),
    ];
    with(layers, names(&[("main", "")]))
}

fn galloway() -> Options {
    let layers = [
        conv(32, 8, 2, 3),
        Layer::relu(),
        conv(64, 6, 2, 0),
        Layer::relu(),
        conv(64, 5, 1, 0),
        Layer::relu(),
        Layer::flatten(),
        Layer::linear(10),
    ];
    let mut options = with(layers, names(&[("conv1", "0"), ("conv2", "2"), ("conv3", "4"), ("fc", "7")]));
    options.ignore = vec!["bn1".into(), "bn2".into()];
    options
}

fn open(cx: &Cx, path: &str, options: &Options) -> Result<Model> {
    load(cx, &cx.find(path)?, options.clone())
}

/// Loads the weights and compares with the golden logits of the same name.
fn check(cx: &Cx, path: &str, options: &Options, images: &Tensor) -> Result<Model> {
    let model = open(cx, path, options)?;
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let golden = tensors(cx.find(&format!("{stem}.golden_logits.safetensors"))?)?;
    agrees(path, &model.logits(images)?, &golden["logits"]);
    Ok(model)
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn mnist_networks_reproduce_their_golden_logits() -> Result<()> {
    let folder = data();
    let (cx, images) = (Cx::default(), mnist(&folder, 16));
    let clean = check(&cx, &format!("{ADVERTORCH}/mnist_lenet5_clntrained.safetensors"), &lenet5(), &images)?;
    // Five pickles in a row, from before PyTorch 1.6.
    let legacy = check(&cx, &format!("{ADVERTORCH}/mnist_lenet5_clntrained.pt"), &lenet5(), &images)?;
    assert_eq!(
        format!("{:?}", clean.digest()),
        format!("{:?}", legacy.digest()),
        "the format is no part of the identity"
    );
    check(&cx, &format!("{ADVERTORCH}/mnist_lenet5_advtrained.safetensors"), &lenet5(), &images)?;
    for name in ["models__mnist", "models_scaled__mnist_small_0_3.stage0"] {
        check(&cx, &format!("{CONVEX}/{name}.safetensors"), &small(16, 32, 4, 1, 100), &images)?;
    }
    check(&cx, &format!("{ABCROWN}/sdp_mnist_cnn_a_adv.safetensors"), &small(16, 32, 4, 1, 100), &images)?;
    check(
        &cx,
        &format!("{ABCROWN}/bab_attack_MadryCNN_no_maxpool_tiny.safetensors"),
        &small(4, 8, 5, 2, 128),
        &images,
    )?;
    check(&cx, &format!("{ABCROWN}/lirpa_mnist_cnn_small.safetensors"), &lirpa(), &images)?;
    for ending in ["safetensors", "pth"] {
        check(&cx, &format!("models/mnist_csinva/lenet_epoch12.{ending}"), &lenet_csinva(), &images)?;
    }
    check(&cx, "models/mnist_cgan_realbarry/netC.safetensors", &realbarry(), &images)?;
    Ok(())
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn cifar_networks_reproduce_their_golden_logits() -> Result<()> {
    let folder = data();
    let (cx, images) = (Cx::default(), cifar(&folder));
    for name in ["models_scaled__cifar_small_8px.stage0", "models_scaled_l2__cifar_small_36px.stage0"] {
        check(&cx, &format!("{CONVEX}/{name}.safetensors"), &normalised(NK, small(16, 32, 4, 1, 100)), &images)?;
    }
    for (name, options) in [
        ("oval_cifar_base", normalised(NK, small(8, 16, 4, 1, 100))),
        ("oval_cifar_wide", normalised(NK, small(16, 32, 4, 1, 100))),
        ("sdp_cifar_cnn_a_adv", normalised(NA, small(16, 32, 4, 1, 100))),
        ("sdp_cifar_cnn_a_mix", normalised(NA, small(16, 32, 4, 1, 100))),
    ] {
        check(&cx, &format!("{ABCROWN}/{name}.safetensors"), &options, &images)?;
    }
    let deep = [
        conv(8, 4, 2, 1),
        Layer::relu(),
        conv(8, 3, 1, 1),
        Layer::relu(),
        conv(8, 3, 1, 1),
        Layer::relu(),
        conv(8, 4, 2, 1),
        Layer::relu(),
        Layer::flatten(),
        Layer::linear(100),
        Layer::relu(),
        Layer::linear(10),
    ];
    let deep = normalised(NK, with(deep, Options::default()));
    check(&cx, &format!("{ABCROWN}/oval_cifar_deep.safetensors"), &deep, &images)?;
    // Not sequential: named in the zoo, and recognised by the names of their tensors.
    let resnet2b = format!("{ABCROWN}/cifar10_resnet2b.safetensors");
    check(&cx, &resnet2b, &normalised(NA, Options::default()), &images)?;
    let resnet20 = normalised(IMAGENET, Options::default());
    let path = "models/cifar10_resnet_akamaster/resnet20-12fca82f";
    let plain = check(&cx, &format!("{path}.safetensors"), &resnet20, &images)?;
    // {"best_prec1": ..., "state_dict": {"module.conv1.weight": ...}}
    let wrapped = check(&cx, &format!("{path}.th"), &resnet20, &images)?;
    assert_eq!(format!("{:?}", plain.digest()), format!("{:?}", wrapped.digest()));
    Ok(())
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn svhn_networks_reproduce_their_golden_logits() -> Result<()> {
    let cx = Cx::default();
    for name in ["no_weight_decay", "weight_decay_1e-2"] {
        let model = open(&cx, &format!("models/svhn_galloway/{name}.safetensors"), &galloway())?;
        let golden = tensors(cx.find(&format!("models/svhn_galloway/{name}.golden.safetensors"))?)?;
        agrees(name, &model.logits(&golden["input"])?, &golden["logits"]);
    }
    // No golden logits were published for this one; its shapes are checked by loading.
    let model = open(&cx, &format!("{CONVEX}/models__svhn.safetensors"), &small(16, 32, 4, 1, 100))?;
    assert_eq!(model.logits(&Tensor::zeros([1, 3, 32, 32], (tch::Kind::Float, tch::Device::Cpu)))?.size(), [1, 10]);
    Ok(())
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn squeezenet_reproduces_both_its_golden_sets() -> Result<()> {
    let (cx, folder) = (Cx::default(), "models/imagenet_squeezenet1_1");
    let path = format!("{folder}/squeezenet1_1.safetensors");
    let vector = tensors(cx.find(&format!("{folder}/source_test_vector_0.safetensors"))?)?;
    // Recognised by its tensors' names, which are not torchvision's. The vector is given as the network takes it.
    let raw = open(&cx, &path, &Options::default())?;
    agrees("source vector", &raw.logits(&vector["input"])?, &vector["logits"]);
    let options = Options { arch: Some(Arch::Named("squeezenet1_1".into())), ..Options::default() };
    let model = open(&cx, &path, &normalised(IMAGENET, options))?;
    let golden = tensors(cx.find(&format!("{folder}/squeezenet1_1.golden.safetensors"))?)?;
    let images = golden["input_u8_nhwc"].permute([0, 3, 1, 2]).to_kind(tch::Kind::Float) / 255.0;
    agrees("photographs", &model.logits(&images)?, &golden["logits"]);
    Ok(())
}

/// Correct answers among the 10,000 MNIST test images, as the NOTICE beside the weights counted them with PyTorch.
#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn mnist_accuracies_are_the_published_ones() -> Result<()> {
    let folder = data();
    let cx = Cx::default();
    let (images, labels) = (mnist(&folder, 10_000), Tensor::from_slice(&mnist_labels(&folder)));
    for (path, options, published) in [
        (format!("{ADVERTORCH}/mnist_lenet5_clntrained.safetensors"), lenet5(), 9889),
        (format!("{ADVERTORCH}/mnist_lenet5_advtrained.safetensors"), lenet5(), 9864),
        (format!("{CONVEX}/models__mnist.safetensors"), small(16, 32, 4, 1, 100), 9820),
        (format!("{CONVEX}/models_scaled__mnist_small_0_3.stage0.safetensors"), small(16, 32, 4, 1, 100), 8523),
        (format!("{ABCROWN}/sdp_mnist_cnn_a_adv.safetensors"), small(16, 32, 4, 1, 100), 9633),
        (format!("{ABCROWN}/bab_attack_MadryCNN_no_maxpool_tiny.safetensors"), small(4, 8, 5, 2, 128), 9794),
        (format!("{ABCROWN}/lirpa_mnist_cnn_small.safetensors"), lirpa(), 9669),
        ("models/mnist_csinva/lenet_epoch12.pth".into(), lenet_csinva(), 9908),
        ("models/mnist_cgan_realbarry/netC.safetensors".into(), realbarry(), 9776),
    ] {
        let model = open(&cx, &path, &options)?;
        let predicted = Tensor::from_slice(&model.predictions(&cx, &viva::model::Inputs::Images(&images))?);
        let correct = predicted.eq_tensor(&labels).sum(tch::Kind::Int64).int64_value(&[]);
        println!("{path}: {correct} correct, {published} published");
        // Two images may lie on a boundary to within rounding.
        assert!((correct - published).abs() <= 2, "{path}: {correct} correct, {published} published");
    }
    Ok(())
}

/// Made with torch 2.11: the mean of each channel, then Dropout(0.5), then those and their opposites, through torch.jit.script after
/// `.train()`; script.pt keeps `training` as true too, and never reads it.
#[test]
fn torchscript_that_training_mode_would_change_says_that_it_was_saved_in_it() -> Result<()> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lab/model/testdata"));
    let model = load(&Cx::default(), &folder.join("saved_in_training.pt"), Options::default())?;
    let images = Tensor::ones([3, 2, 4, 4], (tch::Kind::Float, tch::Device::Cpu));
    let row = [1.0_f32, 1.0, -1.0, -1.0];
    agrees("without dropout", &model.logits(&images)?, &Tensor::from_slice(&[row, row, row].concat()).reshape([3, 4]));
    let said = |model: &Model| model.cautions().iter().filter(|caution| caution.contains("training mode")).count();
    assert_eq!(said(&model), 1, "{:?}", model.cautions());
    assert_eq!(said(&load(&Cx::default(), &folder.join("script.pt"), Options::default())?), 0);
    Ok(())
}

/// Made with torch 2.11: seed 0, conv 1 -> 2 (3 x 3), ReLU, mean over the image, linear 2 -> 3, through torch.jit.script; the
/// answers are those to torch.arange(32.).reshape(2, 1, 4, 4) / 32, which round to the same digits for both images.
#[test]
fn torchscript_answers_as_in_python_and_gives_gradients() -> Result<()> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lab/model/testdata/script.pt"));
    let model = load(&Cx::default(), &path, Options::default())?;
    let images = Tensor::arange(32, (tch::Kind::Float, tch::Device::Cpu)).reshape([2, 1, 4, 4]) / 32.0;
    let images = images.set_requires_grad(true);
    let scores = model.logits(&images)?;
    let row = [0.640_268_4_f32, -0.655_962, -0.445_150_52];
    agrees("TorchScript", &scores.detach(), &Tensor::from_slice(&[row, row].concat()).reshape([2, 3]));
    assert_eq!(model.classes(), Some(3));
    let gradient = Tensor::f_run_backward(&[scores.sum(tch::Kind::Float)], &[&images], false, false)?;
    assert_eq!(gradient[0].size(), [2, 1, 4, 4]);
    Ok(())
}

/// Numbers in [-1, 1) that any language computes alike, from exact arithmetic on 32-bit words; beyond a prime number of them
/// they repeat.
fn formula(tensor: u64, size: &[i64]) -> Tensor {
    const TABLE: i64 = 65521;
    let count: i64 = size.iter().product();
    let values: Vec<f32> = (0..count.min(TABLE) as u64)
        .map(|i| {
            let mut x = (i * 2_654_435_761 + tensor * 40_503 + 12_345) & 0xffff_ffff;
            x ^= x >> 15;
            x = (x * 2_246_822_519) & 0xffff_ffff;
            x ^= x >> 13;
            (x as f64 / 2f64.powi(31) - 1.0) as f32
        })
        .collect();
    Tensor::from_slice(&values).repeat([(count + TABLE - 1) / TABLE]).slice(0, 0, count, 1).reshape(size)
}

/// The weights that `tests/golden/zoo.py` gives torchvision's networks.
fn formula_weights(layers: &Layer, input: [i64; 3]) -> Result<Weights> {
    let module = Module::fresh(layers, input, 0, tch::Device::Cpu)?;
    let mut state = module.state();
    state.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut weights = Weights::new();
    for (k, (name, tensor)) in state.into_iter().enumerate() {
        let size = tensor.size();
        let u = formula(k as u64 + 1, &size);
        let filled = match (size.len(), name.ends_with("running_var") || name.ends_with("weight")) {
            (1, true) => u * 0.5 + 1.0,
            (1, false) => u * 0.1,
            _ => u * (6.0 / size[1..].iter().product::<i64>() as f64).sqrt(),
        };
        weights.insert(name, filled);
    }
    Ok(weights)
}

/// torchvision 0.26 on torch 2.11 made these logits by `tests/golden/zoo.py`; 70 x 70 images, so that rounding up in pooling
/// makes a difference.
fn answers_what_torchvision_answers(names: &[&str]) -> Result<()> {
    answers_as_kept("zoo", 70, names)
}

/// `tests/golden/<file>.py` made the answers to images of this side.
fn answers_as_kept(file: &str, side: i64, names: &[&str]) -> Result<()> {
    let golden = tensors(PathBuf::from(format!("{}/tests/golden/{file}.safetensors", env!("CARGO_MANIFEST_DIR"))))?;
    let images = formula(0, &[2, 3, side, side]);
    let answer = |network: &Module, images: &Tensor| -> Result<(Tensor, Tensor)> {
        let x = images.copy().set_requires_grad(true);
        let scores = network.forward(&x, Mode::Evaluate)?;
        let gradient = Tensor::f_run_backward(&[scores.sum(scores.kind())], &[&x], false, false)?;
        Ok((scores.detach(), gradient[0].shallow_clone()))
    };
    for &name in names {
        let layers = (zoo::find(name)?.layers)(10);
        let weights = formula_weights(&layers, [3, side, side])?;
        let double = weights.iter().map(|(name, tensor)| (name.clone(), tensor.to_kind(Kind::Double))).collect();
        let load = |weights| Module::load(&layers, Some([3, side, side]), weights, tch::Device::Cpu);
        let module = load(weights)?;
        agrees(name, &answer(&module, &images)?.0, &golden[name]);
        agrees(&format!("{name}, frozen"), &answer(&module.frozen()?, &images)?.0, &golden[name]);
        // A network's gradient jumps at a rectifier's corner, and in single precision another order of sums carries a number over
        // one now and then: 1% of the largest gradient between two processors.
        let (module64, images64) = (load(double)?, images.to_kind(Kind::Double));
        let (scores, gradient) = answer(&module64, &images64)?;
        agrees_within(1e-6, &format!("{name}, double"), &scores, &golden[name]);
        let kept = &golden[&format!("{name}.gradient")];
        agrees_within(1e-6, &format!("{name}, gradient"), &gradient.select(2, 35), kept);
        let (_, found) = answer(&module64.frozen()?, &images64)?;
        agrees_within(1e-9, &format!("{name}, frozen, gradient"), &found, &gradient);
        let trained = |last: &str| -> Result<Tensor> {
            let scores = viva::core::with_stream(1, 1, || module.forward(&images, Mode::Train))?;
            let mean = module.state().into_iter().find(|(n, _)| n == last).map(|(_, t)| t).unwrap_or_default();
            agrees(&format!("{name}, {last}"), &mean, &golden[&format!("{name}.running_mean")]);
            Ok(scores)
        };
        match name {
            "resnet18" => agrees("resnet18, training", &trained("bn1.running_mean")?, &golden["resnet18.train"]),
            "mobilenet_v2" => drop(trained("features.18.1.running_mean")?),
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn zoo_networks_answer_what_torchvision_answers() -> Result<()> {
    answers_what_torchvision_answers(&[
        "alexnet",
        "efficientnet_b0",
        "mobilenet_v2",
        "resnet18",
        "resnet34",
        "resnet50",
        "resnet101",
        "resnet152",
        "squeezenet1_0",
        "squeezenet1_1",
    ])
}

/// Each configuration once, half of them with batch norm: the others are made by the same lines.
#[test]
fn vgg_networks_answer_what_torchvision_answers() -> Result<()> {
    answers_what_torchvision_answers(&["vgg11", "vgg13_bn", "vgg16", "vgg19_bn"])
}

/// 64 x 64 images, which squares of 16 and of 32 fill; made by torchvision 0.26 and timm 1.0.31.
#[test]
fn networks_of_tokens_answer_what_torchvision_and_timm_answer() -> Result<()> {
    answers_as_kept("zoo_tokens", 64, &["vit_b_16", "vit_b_32", "convnext_tiny", "vit_tiny_patch16_224"])
}

/// 70 x 70 images, whose sides are even and odd on their way down; made by torchvision 0.26 and timm 1.0.31.
#[test]
fn efficientnets_answer_what_torchvision_and_timm_answer() -> Result<()> {
    answers_as_kept(
        "zoo_efficientnet",
        70,
        &["efficientnet_b1", "efficientnet_b5", "tf_efficientnet_b0_ns", "tf_efficientnet_b4_ns"],
    )
}

/// The names of timm 1.0.31 and of the authors' checkpoints, whose factors of channels have one side; 182 tensors each.
#[test]
fn convnext_is_read_under_the_names_of_others() -> Result<()> {
    let (cx, folder) = (Cx::default(), tempfile::tempdir().expect("a folder"));
    let network = zoo::find("convnext_tiny")?;
    let weights = formula_weights(&(network.layers)(10), [3, 64, 64])?;
    let kept = format!("{}/tests/golden/zoo_tokens.safetensors", env!("CARGO_MANIFEST_DIR"));
    let golden = tensors(PathBuf::from(kept))?;
    let half = |stage: &str| stage.parse::<usize>().expect("a number") / 2;
    let timm = |name: &str| -> String {
        let parts: Vec<&str> = name.split('.').collect();
        let last = parts[parts.len() - 1];
        match parts[..] {
            ["features", "0", part, _] => format!("stem.{part}.{last}"),
            ["features", stage @ ("2" | "4" | "6"), part, _] => {
                format!("stages.{}.downsample.{part}.{last}", half(stage))
            }
            ["features", stage, block, "layer_scale"] => {
                format!("stages.{}.blocks.{block}.gamma", half(stage))
            }
            ["features", stage, block, "block", layer, _] => {
                let layer = match layer {
                    "0" => "conv_dw",
                    "2" => "norm",
                    "3" => "mlp.fc1",
                    _ => "mlp.fc2",
                };
                format!("stages.{}.blocks.{block}.{layer}.{last}", half(stage))
            }
            ["classifier", "0", _] => format!("head.norm.{last}"),
            _ => format!("head.fc.{last}"),
        }
    };
    let authors = |name: &str| -> String {
        let mut name = timm(name).replace("stem.", "downsample_layers.0.").replace("head.norm", "norm");
        for stage in 1..4 {
            name = name.replace(&format!("stages.{stage}.downsample"), &format!("downsample_layers.{stage}"));
        }
        let name = name.replace("head.fc", "head").replace(".blocks", "").replace("conv_dw", "dwconv");
        name.replace("mlp.fc1", "pwconv1").replace("mlp.fc2", "pwconv2")
    };
    for (file, names) in [("timm", &timm as &dyn Fn(&str) -> String), ("authors", &authors)] {
        let renamed: Vec<(String, Tensor)> = weights
            .iter()
            .map(|(name, t)| (names(name), if name.ends_with("layer_scale") { t.flatten(0, -1) } else { t.copy() }))
            .collect();
        let path = folder.path().join(format!("{file}.safetensors"));
        weights::write_safetensors(&path, &renamed, &[])?;
        let model = load(&cx, &path, Options { input: Some([3, 64, 64]), ..Options::default() })?;
        // One tensor under both of its names is not a choice that a reader makes.
        let first = weights.iter().next().map(|(name, t)| (name.clone(), t.copy()));
        let twice: Vec<(String, Tensor)> = first.into_iter().chain(renamed).collect();
        let path = folder.path().join(format!("{file}-twice.safetensors"));
        weights::write_safetensors(&path, &twice, &[])?;
        let named = Options { arch: Some(Arch::Named("convnext_tiny".into())), ..Options::default() };
        let error = load(&cx, &path, named).map(|_| ()).expect_err("two of one");
        assert!(error.message.contains("no layer uses"), "{error}");
        agrees(file, &model.logits(&formula(0, &[2, 3, 64, 64]))?, &golden["convnext_tiny"]);
    }
    Ok(())
}

/// A refused file says which tensor, which shape, and which network its names belong to.
#[test]
fn weights_of_another_network_are_refused_by_name() -> Result<()> {
    let (cx, folder) = (Cx::default(), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("w.safetensors");
    let module = Module::fresh(&(zoo::find("mobilenet_v2")?.layers)(7), [3, 32, 32], 1, tch::Device::Cpu)?;
    weights::write_safetensors(&path, &module.state(), &[])?;
    let load = |options: Options| load(&cx, &path, options).map(|model| model.classes());
    let named = |name: &str| Options { arch: Some(Arch::Named(name.into())), ..Options::default() };
    // Recognised by its names; the classes come from the last layer.
    assert_eq!(load(Options::default())?, Some(7));
    let error = load(named("resnet18")).expect_err("another network");
    assert!(error.message.contains("it lacks conv1.weight, bn1.weight"), "{error}");
    assert!(error.hint.is_some_and(|hint| hint.contains("\"mobilenet_v2\"")));
    let error = load(Options { classes: Some(10), ..named("mobilenet_v2") }).expect_err("other classes");
    assert!(error.message.contains("classifier.1.weight must be 10 x 1280, the file has 7 x 1280"), "{error}");
    Ok(())
}
