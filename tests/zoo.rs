//! The published small networks of std/zoo, loaded and measured as a script does it.
#![cfg(feature = "script")]

use std::rc::Rc;

use viva::core::Cx;
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

#[test]
#[cfg_attr(not(viva_data), ignore = "needs VIVA_DATA")]
fn published_networks_load_by_their_recipe_and_know_mnist() {
    let mut session = Session::new(Rc::new(Cx::default()));
    session
        .evaluate("setting", "import \"std/zoo\" as zoo; let digits = data::load(\"mnist\", #{ limit: 1000 });")
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
    for (file, options, least) in MNIST {
        let text = format!("model::load(\"models/{file}\", {options}).accuracy(digits)");
        let value = session.evaluate("case", &text).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let accuracy: f64 = value.summary().parse().expect("a number");
        assert!(accuracy >= least, "{file}: {accuracy}");
    }
}
