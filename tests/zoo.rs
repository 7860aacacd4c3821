//! The published small networks of std/zoo, loaded and measured as a script does it.

use std::rc::Rc;

use viva::core::{Cx, Tensor, Value};
use viva::model::Model;
use viva::model::weights::{self, Contents};
use viva::script::Session;

/// File below `models/`, options, and the share of the first 1,000 MNIST test images that it gets right at least: the
/// accuracy of its NOTICE less three standard deviations at this size.
const MNIST: [(&str, &str, f64); 9] = [
    ("mnist_advertorch_lenet5/mnist_lenet5_clntrained.pt", "zoo::lenet5_advertorch()", 0.979),
    ("mnist_advertorch_lenet5/mnist_lenet5_advtrained.safetensors", "zoo::lenet5_advertorch()", 0.975),
    ("convex_adversarial_kw/models__mnist.safetensors", "zoo::convex_small(1)", 0.969),
    ("convex_adversarial_kw/models_scaled__mnist_small_0_3.stage0.safetensors", "zoo::convex_small(1)", 0.818),
    ("abcrown_mnist_cifar/sdp_mnist_cnn_a_adv.safetensors", "zoo::abcrown_cnn_a(\"mnist\")", 0.945),
    ("abcrown_mnist_cifar/bab_attack_MadryCNN_no_maxpool_tiny.safetensors", "zoo::abcrown_madry_tiny()", 0.965),
    ("abcrown_mnist_cifar/lirpa_mnist_cnn_small.safetensors", "zoo::lirpa_cnn_small()", 0.949),
    ("mnist_csinva/lenet_epoch12.pth", "zoo::lenet_csinva()", 0.981),
    ("mnist_cgan_realbarry/netC.safetensors", "zoo::netc_realbarry()", 0.963),
];

/// File below `models/`, options, and the share of the 300 lossless CIFAR-10 images that it gets right by its NOTICE, counted
/// with PyTorch.
const CIFAR: [(&str, &str, f64); 10] = [
    ("abcrown_mnist_cifar/cifar10_resnet2b.safetensors", "zoo::abcrown_resnet2b()", 0.750),
    ("abcrown_mnist_cifar/sdp_cifar_cnn_a_adv.safetensors", "zoo::abcrown_cnn_a(\"cifar10\")", 0.700),
    ("abcrown_mnist_cifar/sdp_cifar_cnn_a_mix.safetensors", "zoo::abcrown_cnn_a(\"cifar10\")", 0.793),
    ("abcrown_mnist_cifar/oval_cifar_base.safetensors", "zoo::oval_cifar(\"base\")", 0.630),
    ("abcrown_mnist_cifar/oval_cifar_wide.safetensors", "zoo::oval_cifar(\"wide\")", 0.663),
    ("abcrown_mnist_cifar/oval_cifar_deep.safetensors", "zoo::oval_cifar(\"deep\")", 0.570),
    ("convex_adversarial_kw/models_scaled__cifar_small_8px.stage0.safetensors", "zoo::convex_small(3)", 0.347),
    ("convex_adversarial_kw/models_scaled_l2__cifar_small_36px.stage0.safetensors", "zoo::convex_small(3)", 0.593),
    ("cifar10_resnet_akamaster/resnet20-12fca82f.safetensors", "zoo::resnet20_akamaster()", 0.930),
    ("cifar10_resnet_akamaster/resnet20-12fca82f.th", "zoo::resnet20_akamaster()", 0.930),
];

fn session(data: &str) -> Session {
    let mut session = Session::new(Rc::new(Cx::default()));
    evaluate(&mut session, &format!("import \"std/zoo\" as zoo; let ds = {data};"));
    session
}

#[track_caller]
fn evaluate(session: &mut Session, text: &str) -> Value {
    session.evaluate("case", text).unwrap_or_else(|error| panic!("{text}: {}", error.render(false)))
}

#[track_caller]
fn accuracy(session: &mut Session, file: &str, options: &str) -> f64 {
    let value = evaluate(session, &format!("model::load(\"models/{file}\", {options}).accuracy(ds)"));
    value.summary().parse().expect("a number")
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn published_networks_load_by_their_recipe_and_know_mnist() {
    let mut session = session("data::load(\"mnist\", #{ limit: 1000 })");
    for (file, options, least) in MNIST {
        let accuracy = accuracy(&mut session, file, options);
        assert!(accuracy >= least, "{file}: {accuracy}");
    }
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn published_networks_load_by_their_recipe_and_know_cifar10() {
    let mut session = session("data::load(\"data/cifar10/cifar10_lossless_subset.bin\")");
    for (file, options, published) in CIFAR {
        let accuracy = accuracy(&mut session, file, options);
        println!("{file}: {accuracy}, {published} published");
        // One image of 300 may lie on a boundary to within rounding; the NOTICE rounds to thousandths.
        assert!((accuracy - published).abs() < 0.004, "{file}: {accuracy}, {published} published");
    }
}

/// The largest difference from the golden logits, as a share of the largest of them.
fn difference(f: &Model, images: &Tensor, logits: &Tensor) -> f64 {
    let scores = f.logits(images).expect("scores");
    (scores - logits).abs().max().double_value(&[]) / logits.abs().max().double_value(&[])
}

fn golden(file: &str) -> weights::Weights {
    let path = Cx::default().find(&format!("models/{file}")).expect("golden tensors");
    match weights::read(&viva::core::Cx::default(), &path).expect("golden tensors") {
        Contents::Weights(weights) => weights,
        Contents::TorchScript { .. } => panic!("{file} is TorchScript"),
    }
}

/// The NOTICE counted 49.5% of the 200 photographs with PyTorch and Pillow.
#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn a_mobilenet_of_tensorflow_loads_by_its_recipe() {
    let mut session =
        session("data::load(\"data/imagenet_sample\", #{ resize: 146, crop: 128 }).relabel(|row| row.label + 1)");
    let file = "imagenet_mobilenet_coral/mobilenet_v1_0.25_128_quant.dequantized_f32.safetensors";
    let f = evaluate(
        &mut session,
        &format!("let f = model::load(\"models/{file}\", zoo::mobilenet_v1_coral(0.25, 128)); f"),
    );
    let golden = golden("imagenet_mobilenet_coral/mobilenet_v1_0.25_128_quant.golden.safetensors");
    let images = golden["input_u8_nhwc"].permute([0, 3, 1, 2]).to_kind(tch::Kind::Float) / 255.0;
    let difference = difference(&f.downcast::<Model>().expect("a model"), &images, &golden["logits"]);
    println!("{difference:e} of the largest logit");
    assert!(difference < 1e-4, "{difference:e}");
    let accuracy: f64 = evaluate(&mut session, "f.accuracy(ds)").summary().parse().expect("a number");
    // Decoders of JPEG differ by a few units of 255, which turns at most a few of 200.
    assert!((accuracy - 0.495).abs() <= 0.015, "{accuracy}");
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn the_svhn_networks_load_by_their_recipe() {
    let mut session = session("()");
    for name in ["no_weight_decay", "weight_decay_1e-2"] {
        let text = format!("model::load(\"models/svhn_galloway/{name}.safetensors\", zoo::galloway())");
        let f = evaluate(&mut session, &text);
        let golden = golden(&format!("svhn_galloway/{name}.golden.safetensors"));
        let difference = difference(&f.downcast::<Model>().expect("a model"), &golden["input"], &golden["logits"]);
        assert!(difference < 1e-4, "{name}: {difference:e}");
    }
    let text = "model::load(\"models/convex_adversarial_kw/models__svhn.safetensors\", zoo::convex_svhn()).classes";
    assert_eq!(evaluate(&mut session, text).summary(), "10");
}
