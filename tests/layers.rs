//! Layers as a script writes them: what a description prints can be pasted back, and today's networks can be written down.

use std::collections::BTreeSet;
use std::rc::Rc;

use viva::core::{Cx, Value};
use viva::model::{AvgPool, Conv, ConvTranspose, Layer, Linear, MaxPool, Names, zoo};
use viva::primitives::net::parts;
use viva::script::Session;

fn session() -> Session {
    Session::new(Rc::new(Cx::default()))
}

#[track_caller]
fn evaluate(session: &mut Session, text: &str) -> Value {
    session.evaluate("case", text).unwrap_or_else(|error| panic!("{text}: {}", error.render(false)))
}

#[track_caller]
fn refused(session: &mut Session, text: &str) -> String {
    match session.evaluate("case", text) {
        Ok(value) => panic!("{text} gave {value:?}"),
        Err(error) => error.render(false),
    }
}

/// What a script makes of a description, as `arch` takes it.
#[track_caller]
fn pasted(session: &mut Session, layer: &Layer) -> Layer {
    let value = evaluate(session, &layer.script());
    match value.downcast::<Layer>() {
        Some(layer) => layer.as_ref().clone(),
        None => Layer::of_parts(parts("case", &value, "").expect("layers")),
    }
}

/// Every kind of layer, with every option at some value of its own.
fn samples() -> Vec<Layer> {
    let body = || vec![("conv1".to_string(), Layer::conv(4, 3, 1, 1)), ("1".to_string(), Layer::gelu())];
    vec![
        Layer::adaptive_avg_pool([1, 1]),
        Layer::adaptive_avg_pool([3, 7]),
        Layer::add(vec![("0".into(), Layer::conv(4, 1, 1, 0)), ("side".into(), Layer::of_parts(body()))]),
        Layer::attention(3, Names::Torch),
        Layer::attention(3, Names::Timm),
        AvgPool { size: 3, stride: 2, pad: 1, ceil: true }.into(),
        Layer::batch_norm(),
        Layer::batch_norm_with(1e-3, 0.01),
        Layer::class_token(),
        Layer::concat(vec![("a".into(), Layer::of_parts(body())), ("1".into(), Layer::of_parts(vec![]))]),
        Conv { out: 8, size: 3, stride: 2, pad: 1, dilation: 3, groups: 4, bias: false }.into(),
        ConvTranspose { out: 8, size: 4, stride: 2, pad: 1, extra: 1, bias: false }.into(),
        Layer::dropout(0.5),
        Layer::first_token(),
        Layer::flatten(),
        Layer::gate(vec![("0".into(), Layer::adaptive_avg_pool([1, 1])), ("scale".into(), Layer::sigmoid())]),
        Layer::gelu(),
        Layer::layer_norm(1e-6),
        Layer::layer_scale(0.1),
        Layer::leaky_relu(0.2),
        Linear { out: 3, bias: false }.into(),
        MaxPool { size: 3, stride: 2, pad: 1, ceil: true }.into(),
        Layer::normalize(vec![0.5, 0.25, 1e-7], vec![0.25]),
        Layer::pad([0, -1, 2, 0], 1.5),
        Layer::patches(192, 16),
        Layer::pixel_linear_with(8, false),
        Layer::pixel_norm(),
        Layer::positions(),
        Layer::relu(),
        Layer::relu6(),
        Layer::reshape([4, 2, 2]),
        Layer::residual(body(), vec![]),
        Layer::residual(body(), vec![("shortcut.0".into(), Layer::conv(4, 1, 1, 0)), ("bn".into(), Layer::relu())]),
        Layer::resize([4, 5]),
        Layer::same_pad(5, 2),
        Layer::sequence([Layer::of_parts(body()), Layer::relu()]),
        Layer::sigmoid(),
        Layer::silu(),
        Layer::stochastic_depth(0.25),
        Layer::subsample(2, 8),
        Layer::tanh(),
        Layer::upsample(2),
    ]
}

#[test]
fn every_layer_prints_what_can_be_pasted_back() {
    let mut session = session();
    let mut words = BTreeSet::new();
    for layer in samples() {
        assert_eq!(pasted(&mut session, &layer), layer);
        assert_eq!(Layer::from_json(&layer.to_json()).as_ref(), Some(&layer));
        words.insert(layer.to_json()[0].as_str().expect("a word").to_string());
    }
    assert!(Layer::words().eq(words.iter().map(String::as_str)), "a layer is missing among the samples: {words:?}");
}

#[test]
fn every_network_of_the_zoo_prints_what_can_be_pasted_back() {
    let mut session = session();
    for name in zoo::archs() {
        let arch = zoo::find(name).expect("a network");
        let layers = (arch.layers)(10);
        let again = pasted(&mut session, &layers);
        assert_eq!(again.to_json(), layers.to_json(), "{name}");
        assert_eq!(again.identity(), layers.identity(), "{name}");
        assert_eq!(Layer::from_json(&layers.to_json()), Some(layers), "{name}");
    }
}

/// He et al. 2016, Section 4.2, in a script.
const RESNET: &str = r#"
    fn block(width, stride) {
        let body = [
            ["conv1", net::conv(width, 3, #{ stride: stride, pad: 1, bias: false })], ["bn1", net::batch_norm()],
            ["relu1", net::relu()],
            ["conv2", net::conv(width, 3, #{ pad: 1, bias: false })], ["bn2", net::batch_norm()],
        ];
        let sum = if stride == 1 {
            net::residual(body)
        } else {
            net::residual(body, #{ shortcut: [["shortcut", net::subsample(stride, width)]] })
        };
        [["", sum], ["relu", net::relu()]]
    }
    fn resnet(n, classes) {
        let layers = [["conv1", net::conv(16, 3, #{ pad: 1, bias: false })], ["bn1", net::batch_norm()], ["relu", net::relu()]];
        for stage in 0..3 {
            let blocks = [];
            for i in 0..n {
                blocks.push(block(16 << stage, if i == 0 && stage > 0 { 2 } else { 1 }));
            }
            layers.push([`layer${stage + 1}`, blocks]);
        }
        layers + [["avgpool", net::avg_pool()], ["flatten", net::flatten()], ["linear", net::linear(classes)]]
    }
"#;

#[test]
fn a_resnet_written_in_a_script_is_the_one_of_the_zoo() {
    let mut session = session();
    let written = evaluate(&mut session, &format!("{RESNET} resnet(3, 10)"));
    let written = Layer::of_parts(parts("case", &written, "").expect("layers"));
    assert_eq!(written, (zoo::find("cifar_resnet20").expect("a network").layers)(10));
}

#[test]
fn networks_with_branches_and_tokens_learn() {
    let mut session = session();
    for arch in [
        "resnet(1, 10)",
        "[net::conv(8, 3, #{ stride: 2, pad: 1 }), net::relu(),
          net::gate([net::avg_pool(), net::conv(2, 1), net::relu(), net::conv(8, 1), net::sigmoid()]),
          net::concat([net::conv(4, 1), [net::conv(4, 3, #{ pad: 1 }), net::relu()]]),
          net::residual([net::conv(8, 7, #{ pad: 3, groups: 8 }), net::layer_norm(), net::pixel_linear(16), net::gelu(),
                         net::pixel_linear(8), net::layer_scale(#{ start: 0.1 })]),
          net::add([net::conv(8, 1), []]), net::flatten(), net::linear(10)]",
        "[net::patches(16, 4), net::class_token(), net::positions(),
          net::residual([net::layer_norm(), net::attention(2)]),
          net::residual([net::layer_norm(), net::linear(32), net::gelu(), net::linear(16)]),
          net::layer_norm(), net::first_token(), net::linear(10)]",
    ] {
        let text = format!(
            "{RESNET} let ds = data::glyphs(#{{ n: 60, size: 16, seed: 1 }});
             let f = model::train(ds, #{{ arch: {arch}, epochs: 2, batch: 20, seed: 1 }});
             f.losses[0].is_nan() || f.losses[1].is_nan() || f.accuracy(ds).is_nan()"
        );
        assert_eq!(evaluate(&mut session, &text).summary(), "false", "{arch}");
    }
}

#[test]
fn the_layers_of_a_model_are_what_arch_takes() {
    let mut session = session();
    let train = |arch: &str| format!("model::train(ds, #{{ arch: {arch}, epochs: 1, batch: 20, seed: 1 }})");
    evaluate(&mut session, &format!("{RESNET} let ds = data::glyphs(#{{ n: 40, size: 16, seed: 1 }});"));
    evaluate(&mut session, &format!("let f = {}; f", train("resnet(1, 10)")));
    let printed = evaluate(&mut session, "f.layers()").summary();
    for arch in ["f.layers()", &printed] {
        assert_eq!(evaluate(&mut session, &format!("{}.hash == f.hash", train(arch))).summary(), "true", "{arch}");
    }
    assert!(refused(&mut session, "model::from(|x| x.mean()).layers()").contains("not made of layers"));
}

#[test]
fn layers_that_do_not_fit_are_refused_with_what_was_wanted() {
    let mut session = session();
    let train = |arch: &str| {
        format!("model::train(data::glyphs(#{{ n: 20, size: 16, seed: 1 }}), #{{ arch: {arch}, epochs: 1, seed: 1 }})")
    };
    for (text, wanted) in [
        ("net::residual([3])".to_string(), "`body`: layer 0 must be a Layer, got int 3"),
        ("net::concat([])".to_string(), "must hold at least one"),
        (train("[[\"a\", net::conv(4, 3)], [\"a\", net::conv(4, 3)]]"), "two layers have a tensor called a.bias"),
        (train("[net::patches(8, 5), net::first_token(), net::linear(10)]"), "squares of side 5 do not fill"),
        (
            train("[net::patches(8, 4), net::attention(3), net::first_token(), net::linear(10)]"),
            "3 heads do not divide",
        ),
        (train("[net::attention(3)]"), "attention wants tokens, got 1 x 16 x 16"),
        (train("[net::patches(8, 4), net::conv(3, 3)]"), "its input is 16 tokens of 8"),
        (train("[net::patches(8, 4), net::linear(10)]"), "one number per class, not 16 tokens of 10"),
        (train("[net::patches(8, 4), net::batch_norm()]"), "got tokens"),
        (train("[net::residual([net::conv(8, 3)]), net::flatten(), net::linear(10)]"), "its shortcut 1 x 16 x 16"),
        (
            train("[net::concat([net::conv(8, 3), []]), net::flatten(), net::linear(10)]"),
            "branches of different shapes",
        ),
        (train("[net::add([net::conv(8, 3), []]), net::flatten(), net::linear(10)]"), "one branch gives 8 x 14 x 14"),
    ] {
        let said = refused(&mut session, &text);
        assert!(said.contains(wanted), "{text}: {said}");
    }
}

/// Files hold them.
#[test]
fn saved_forms_stay() {
    for (layer, saved) in [
        (Layer::relu(), r#"["relu"]"#),
        (Layer::conv_bare(32, 3, 2, 1), r#"["conv",32,3,2,1,1,1,false]"#),
        (Layer::pad([0, -1, 2, 0], 1.5), r#"["pad",0,-1,2,0,1.5]"#),
        (Layer::reshape([4, 2, 2]), r#"["reshape",4,2,2]"#),
        (Layer::attention(3, Names::Timm), r#"["attention",3,"timm"]"#),
        (Layer::normalize(vec![0.5], vec![0.25]), r#"["normalize",[0.5],[0.25]]"#),
        (
            Layer::sequence([Layer::relu(), Layer::linear(3)]),
            r#"["sequence",[["0",["relu"]],["1",["linear",3,true]]]]"#,
        ),
    ] {
        assert_eq!(layer.to_json().to_string(), saved);
        assert_eq!(Layer::from_json(&serde_json::from_str(saved).expect("JSON")), Some(layer));
    }
    for wrong in [
        r#"["relu", 1]"#,
        r#"["conv", 0, 3, 1, 0, 1, 1, true]"#,
        r#"["conv", 3, 3, 1, 0, 1, 1]"#,
        r#"["conv", 2000000, 3, 1, 0, 1, 1, true]"#,
        r#"["add", []]"#,
        r#"["reshape", 1, 0, 1]"#,
        r#"["nothing"]"#,
        "[]",
        "{}",
    ] {
        assert_eq!(Layer::from_json(&serde_json::from_str(wrong).expect("JSON")), None, "{wrong}");
    }
}
