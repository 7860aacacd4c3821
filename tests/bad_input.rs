//! Wrong input, as a script would hand it in: a clear error of the right kind, nothing written, no panic.

use std::rc::Rc;

use viva::core::Cx;
use viva::script::Session;

/// A model and data sets that the cases below misuse.
const SETTING: &str = r#"
let torus = data::glyphs(#{ n: 12, size: 16, seed: 1 });
let margin = data::glyphs(#{ n: 4, size: 16, position: "margin", margin: 6, seed: 1 });
let linear = [net::flatten(), net::linear(10)];
let f = model::train(torus, #{ arch: linear, epochs: 1, seed: 1 });
fn shaken(ds, apply) {
    let f = model::train(data::glyphs(#{ n: 4, size: 16, seed: 1 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });
    examine(f, ds, #{ space: space::factors([#{ name: "a", min: 0, max: 1 }], apply), search: search::random(#{ questions: 2 }) })
}
"#;

/// Script, the error's kind, and words of its message or hint.
const CASES: &[(&str, &str, &[&str])] = &[
    ("torus.relabel(|row| row.label, #{ classes: [\"even\", \"odd\"] })", "data", &["label 9", "2 names"]),
    ("data::objects([\"mug\"], #{ n: 2, classes_file: \"none.csv\" })", "argument", &["classes_file", "built by viva"]),
    ("net::normalize([0.5], [1.0 / 0])", "argument", &["must be finite"]),
    ("net::normalize([0.5], [-1])", "argument", &["above 0"]),
    ("space::translate(2, #{ fill: 1e308 })", "argument", &["fill", "1e308"]),
    (
        "people::task(torus, #{ kind: \"realism\", attribute: \"light\" })",
        "argument",
        &["attribute", "decides nothing"],
    ),
    ("tensor::from([16777217])", "argument", &["no 16777217", "16777216"]),
    ("tensor::from([[1e39]])", "argument", &["beyond float32"]),
    ("tensor::choice([0, 1e39], [2])", "argument", &["beyond float32"]),
    ("(tensor::from([1]) > 0).where(1e39, 0)", "argument", &["beyond float32"]),
    ("data::from(tensor::zeros([2, 1, 8, 8]), [0, 5], #{ classes: [\"a\"] })", "data", &["data::from: image 1"]),
    ("risk::estimate(f, torus, #{ radius: 0 })", "argument", &["radius", "from 1"]),
    ("risk::estimate(f, torus, #{ radius: -2 })", "argument", &["radius", "-2"]),
    ("risk::estimate(f, torus, #{ radius: 2.5 })", "argument", &["radius", "an int"]),
    ("risk::estimate(f, torus, #{ radius: \"5\" })", "argument", &["radius", "string"]),
    ("risk::estimate(f, torus, #{ radios: 5 })", "argument", &["did you mean `radius`?"]),
    ("risk::estimate(f, torus, #{ radius: 8 })", "argument", &["16 pixels", "fits is 7"]),
    ("risk::estimate(f, margin, #{ radius: 3 })", "argument", &["margin has 6", "fits is 2"]),
    // What stood in the crop is no more what the window shows once it moves.
    ("risk::estimate(f, margin.centre(), #{ radius: 1 })", "data", &["centred or standardised", "unmoved crop"]),
    ("risk::estimate(f, margin.standardise(), #{ radius: 1 })", "data", &["centred or standardised", "unmoved crop"]),
    (
        "risk::estimate(f, data::from(torus.images(), torus.labels), #{ radius: 1 })",
        "data",
        &["beyond the image's border", "crop"],
    ),
    ("risk::estimate(f, torus, #{ search: \"strongst\" })", "argument", &["did you mean `strongest`?"]),
    ("risk::estimate(torus, f)", "argument", &["a Model", "Dataset"]),
    ("risk::report(f)", "argument", &["a Transcript"]),
    ("risk::pairwise_test([])", "data", &["at least one value"]),
    ("risk::pairwise_test([0.5, 0.0/0.0])", "data", &["value 1 is NaN"]),
    ("risk::pairwise_test([3.0, -3.0], #{ range: 1.5 })", "argument", &["range"]),
    ("risk::bernstein(0, 0.1, 0.05, 1.5)", "argument", &["m", "from 1"]),
    ("examine(f, torus, #{})", "argument", &["space"]),
    ("examine(f, torus, #{ space: space::translate(2), search: objective::misclassify() })", "argument", &["a Search"]),
    ("space::translate(0)", "argument", &["from 1"]),
    (
        "examine(f, torus, #{ space: space::pixels(\"l2\"), search: search::bim(), at_steps: [3, 1] })",
        "argument",
        &["must ascend, got 3 before 1"],
    ),
    (
        "examine(f, torus, #{ space: space::pixels(\"l2\"), search: search::bim(), at_steps: [1, 1] })",
        "argument",
        &["must ascend, got 1 before 1"],
    ),
    (
        "examine(f, torus, #{ space: space::pixels(\"l2\"), search: search::bim(#{ schedule: \"galloway\", step: 0.2 }) })",
        "argument",
        &["at most 0.1", "got a first one of 0.2"],
    ),
    ("data::objects([])", "argument", &["no classes"]),
    ("data::objects([\"lmap\"])", "argument", &["did you mean `lamp`"]),
    ("data::objects([\"lamp\", \"lamp\"])", "argument", &["twice"]),
    ("data::objects([3])", "argument", &["array of strings"]),
    ("data::objects(#{ size: 8 })", "argument", &["from 16"]),
    ("data::objects(\"nowhere\")", "file", &["no such file"]),
    ("data::objects(\"Cargo.toml\")", "file", &["not a file of an object"]),
    ("data::objects(\"src\")", "file", &["no objects"]),
    ("data::views(torus)", "data", &["no objects"]),
    ("data::views(data::objects(#{ n: 2 }).grey())", "data", &["no objects"]),
    ("data::views(data::objects(#{ n: 2 }), #{ space: space::noise(0.1) })", "argument", &["space::render"]),
    ("data::views(data::objects(#{ n: 2 }), #{ without: #{ azimuth: [0, 360] } })", "argument", &["nearly all"]),
    (
        "data::views(data::objects(#{ n: 2 }), #{ without: #{ azimut: [0, 60] } })",
        "argument",
        &["did you mean `azimuth`"],
    ),
    ("space::render(#{ factors: [] })", "argument", &["no factor"]),
    ("space::render(#{ factors: [\"azimut\"] })", "argument", &["did you mean `azimuth`"]),
    ("space::render(#{ factors: [\"roll\", \"roll\"] })", "argument", &["twice"]),
    ("space::render(#{ factors: #{ azimuth: [90, 10] } })", "argument", &["below `max`"]),
    ("space::render(#{ factors: #{ distance: [0.5, 2] } })", "argument", &["1.1"]),
    ("space::render(#{ factors: #{ distance: 0.0/0.0 } })", "argument", &["1.1"]),
    ("space::render(#{ factors: #{ light_energy: [0, 1] } })", "argument", &["light_energy"]),
    ("space::render(#{ factors: #{ azimuth: [1, 2, 3] } })", "argument", &["[min, max]"]),
    ("space::render(#{ factors: #{ background: [\"pink\"] } })", "argument", &["no choice"]),
    ("space::render(#{ factors: #{ background: 3 } })", "argument", &["choose among"]),
    ("space::render(#{ factors: #{ azimuth: \"left\" } })", "argument", &["a number or a range"]),
    ("space::render() * space::noise(0.1)", "argument", &["can only come first"]),
    ("(space::noise(0.1) * space::render()) * space::rotate(30)", "argument", &["can only come first"]),
    (
        "examine(f, torus, #{ space: space::noise(0.1), search: search::bayes() })",
        "argument",
        &["no factor can be chosen"],
    ),
    (
        "examine(f, torus, #{ space: space::noise(0.1), search: search::policy() })",
        "argument",
        &["no factor can be chosen"],
    ),
    (
        "examine(f, torus, #{ space: space::rotate(9), search: search::policy(#{ bins: 10000, hidden: 1024 }) })",
        "argument",
        &["too many"],
    ),
    ("data::views(data::objects(#{ n: 100 }), #{ n: 1000000 })", "argument", &["more than"]),
    ("examine(f, torus, #{ space: space::render(), search: search::bayes() })", "data", &["which objects"]),
    ("search::bayes(#{ questions: 3, first_questions: 5 })", "argument", &["`first_questions`: 5 of 3"]),
    ("search::bayes(#{ beta: -1 })", "argument", &["beta"]),
    ("search::bayes(#{ kernel: \"linear\" })", "argument", &["matern"]),
    ("search::policy(#{ batch: 0 })", "argument", &["batch"]),
    (
        "examine(f, torus, #{ space: space::rotate(9), search: search::policy(#{ order: [\"angel\"] }) })",
        "argument",
        &["did you mean `angle`"],
    ),
    (
        "examine(f, torus, #{ space: space::rotate(9), search: search::policy(#{ order: [\"angle\", \"angle\"] }) })",
        "argument",
        &["twice"],
    ),
    (
        "examine(f, torus, #{ space: space::pixels(\"l2\"), search: search::bayes() })",
        "pairing",
        &["goes over settings of factors", "square, hopskipjump, bim,"],
    ),
    (
        "examine(f, torus, #{ space: space::translate(1), search: search::nearest(), objective: objective::misclassify().loss(\"cross_entropy\") })",
        "pairing",
        &["cross_entropy"],
    ),
    (
        "examine(f, torus, #{ space: space::rotate(9), search: search::random(#{ questions: 2 }) }).questions(\"angel\")",
        "argument",
        &["did you mean `angle`"],
    ),
    (
        "robustness::marginal(examine(f, torus, #{ space: space::rotate(9), search: search::random(#{ questions: 2 }) }), \"loss\")",
        "argument",
        &["no factor"],
    ),
    (
        "robustness::expected(examine(f, torus, #{ space: space::rotate(9), search: search::sweep() }))",
        "data",
        &["uniform sampling"],
    ),
    (
        "robustness::worst(examine(f, torus, #{ space: space::rotate(9), search: search::random(#{ questions: 2 }), levels: [1, 2] }))",
        "data",
        &["t.group"],
    ),
    (
        "robustness::worst(examine(f, torus, #{ space: space::translate(1), search: search::strongest() }))",
        "data",
        &["keeps no questions"],
    ),
    ("plot::examiner([])", "argument", &["no curves"]),
    ("plot::examiner(f)", "argument", &["ExaminerCurve"]),
    ("model::program(\"cat\")", "permission", &["--allow-run"]),
    ("space::factors([#{ name: \"loss\", min: 0, max: 1 }], |z, s| z)", "argument", &["\"loss\"", "answers"]),
    ("space::render(#{ factors: #{ azimuth: [350, 10] } })", "argument", &["[-10.0, 10.0]"]),
    ("space::factors([#{ name: \"a\", min: 0, max: 1, log: true }], |z, s| z)", "argument", &["above 0"]),
    (
        "space::factors([#{ name: \"a\", min: 0, max: 1.5, whole: true }], |z, s| z)",
        "argument",
        &["whole numbers", "1.5"],
    ),
    ("space::factors([#{ name: \"a\", min: 3, max: 3, whole: true }], |z, s| z)", "argument", &["below `max`"]),
    (
        "space::factors([#{ name: \"a\", min: 1, max: 3, whole: true, log: true }], |z, s| z)",
        "argument",
        &["do not go together"],
    ),
    ("space::factors([#{ name: \"a\", min: 1, max: 3, whole: 1 }], |z, s| z)", "argument", &["`whole` must be a bool"]),
    ("space::factors([], |z, s| z)", "argument", &["at least one factor"]),
    ("space::factors([3], |z, s| z)", "argument", &["factor 0", "a map", "min: -30"]),
    ("space::factors([#{ name: 3, min: 0, max: 1 }], |z, s| z)", "argument", &["`name` must be a string"]),
    ("space::factors([#{ name: \"\", min: 0, max: 1 }], |z, s| z)", "argument", &["needs a name"]),
    ("space::factors([#{ name: \"a\", min: 0 }], |z, s| z)", "argument", &["`min` and `max`, or `choices`"]),
    ("space::factors([#{ name: \"a\", min: 0, mx: 1 }], |z, s| z)", "argument", &["did you mean `max`?"]),
    ("space::factors([#{ name: \"a\", min: 0, max: \"1\" }], |z, s| z)", "argument", &["`max` must be a number"]),
    (
        "space::factors([#{ name: \"a\", min: 1, max: 1 }], |z, s| z)",
        "argument",
        &["\"a\"", "below `max`", "1.0 and 1.0"],
    ),
    ("space::factors([#{ name: \"a\", min: 0, max: 0.0/0.0 }], |z, s| z)", "argument", &["below `max`", "NaN"]),
    ("space::factors([#{ name: \"a\", min: -1e308, max: 1e308 }], |z, s| z)", "argument", &["finite"]),
    ("space::factors([#{ name: \"a\", choices: [] }], |z, s| z)", "argument", &["`choices` is empty"]),
    ("space::factors([#{ name: \"a\", choices: 3 }], |z, s| z)", "argument", &["`choices` must be an array"]),
    ("space::factors([#{ name: \"a\", choices: [1, 2, 1] }], |z, s| z)", "argument", &["choice 1 is there twice"]),
    ("space::factors([#{ name: \"a\", choices: [1, 0.0/0.0] }], |z, s| z)", "argument", &["choice 1 is NaN"]),
    ("space::factors([#{ name: \"a\", choices: [[1]] }], |z, s| z)", "argument", &["choice 0", "array"]),
    (
        "space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"a\", choices: [1] }], |z, s| z)",
        "argument",
        &["two factors", "\"a\""],
    ),
    ("space::factors([#{ name: \"a\", min: 0, max: 1 }])", "argument", &["1 argument", "factors, apply"]),
    ("search::random(#{ questions: 0 })", "argument", &["from 1"]),
    ("shaken(torus, |z, s| 3)", "argument", &["answered int 3", "a: ", "[1, 16, 16]"]),
    ("shaken(torus, |z, s| z.reshape([16, 16]))", "argument", &["tensor [16, 16]", "[1, 16, 16]"]),
    ("shaken(torus, |z, s| z / 0)", "argument", &["not finite", "division by 0"]),
    ("shaken(torus, |z, s| z + 2)", "argument", &["pixels from 2", "clamp(0, 1)"]),
    ("shaken(torus, |z, s| z - 0.5)", "argument", &["clamp(0, 1)"]),
    ("shaken(torus, |z| z)", "argument", &["does not take 2 arguments"]),
    ("shaken(torus, |z, s| z * s.b)", "argument", &[]),
    ("shaken(torus, |z, s| throw \"tired\")", "thrown", &["tired"]),
    ("shaken(torus.centre(), |z, s| z)", "data", &["centred or standardised"]),
    ("risk::report(shaken(torus, |z, s| z))", "data", &["no densities", "space::translate"]),
    ("data::glyphs(#{ n: 0 })", "argument", &["n", "from 1"]),
    ("data::glyphs(#{ size: 3 })", "argument", &["size"]),
    ("data::glyphs(#{ position: \"tours\" })", "argument", &["did you mean `torus`?"]),
    ("data::glyphs(#{ noise: 0.0/0.0 })", "argument", &["noise"]),
    ("data::from(tensor::zeros([2, 1, 4, 4]), tensor::from([0]))", "data", &["2 images", "1 label"]),
    ("data::from(tensor::zeros([2, 1, 4, 4]), tensor::from([0, -1]))", "data", &["-1"]),
    ("data::from(tensor::zeros([1, 1, 4, 4]) / 0, tensor::from([0]))", "data", &["NaN"]),
    ("data::from(tensor::zeros([1, 1, 4, 4]) + 7, tensor::from([0]))", "data", &["[0, 1]"]),
    ("data::load(\"no/such/folder\")", "file", &["no such file"]),
    ("data::load(\"mnits\")", "file", &["mnist"]),
    ("torus.take(0)", "argument", &["from 1"]),
    ("arg(\"n\", 0, #{ min: 1 })", "argument", &["--n must be 1 or more, got 0"]),
    ("arg(\"n\", 0.5, #{ min: 1, max: 2 })", "argument", &["--n must be from 1 to 2, got 0.5"]),
    (
        "known_options(#{ sede: 1 }, [\"n\", \"seed\"])",
        "argument",
        &["known_options", "declared in the comment above it"],
    ),
    ("import \"std/synthetic\" as s; s::points(#{ n: 5, sed: 1 })", "argument", &["`sed`", "did you mean `seed`?"]),
    ("tensor::uniform([3], #{ hi: 1e300 })", "argument", &["hi"]),
    ("torus.only([77])", "argument", &["no class 77", "0 to 9"]),
    ("torus[12]", "argument", &["12"]),
    ("f.accuracy(data::glyphs(#{ n: 2, size: 20, seed: 1 }))", "model", &["1 x 16 x 16", "1 x 20 x 20"]),
    ("f.accuracy(data::glyphs(#{ n: 2, size: 16, channels: 3, seed: 1 }))", "model", &["3 x 16 x 16"]),
    (
        "let g = model::train(torus.only([0, 1]), #{ arch: [net::flatten(), net::linear(2)], epochs: 1 }); 0",
        "model",
        &["classes"],
    ),
    ("model::train(torus, #{ arch: [net::linear(10)] })", "model", &["net::flatten()"]),
    ("model::train(torus, #{ arch: [net::conv(4, 40), net::flatten(), net::linear(10)] })", "model", &["40"]),
    ("model::train(torus, #{ arch: \"resnet51\" })", "model", &["did you mean `resnet50`?"]),
    ("model::train(torus, #{ arch: linear, optimiser: \"adm\" })", "argument", &["did you mean `adam`?"]),
    ("model::train(torus, #{ arch: linear, lr: 1e30 })", "argument", &["`lr` must be from 0 to 1000000, got 1e30"]),
    ("model::from(|x| 3).accuracy(torus)", "model", &["tensor"]),
    ("model::from(|x| tensor::zeros([1, 10])).accuracy(torus)", "model", &["8 x K"]),
    ("model::from(|x| tensor::zeros([x.len, 3])).accuracy(torus)", "model", &["3 classes"]),
    ("model::from(|x| throw \"tired\").accuracy(torus)", "thrown", &["tired"]),
    (
        "risk::estimate(model::from(|x| tensor::zeros([x.len, 10]) / 0), torus, #{ radius: 1 })",
        "model",
        &["not finite"],
    ),
    ("plot::line([1, 2], [1])", "argument", &["2", "1"]),
    ("plot::line([], [])", "data", &["nothing to draw"]),
    ("plot::line([1, 2], [1, 2]).save(\"figure.gif\")", "file", &["svg", "png"]),
    (
        "save([#{ a: 1, b: 2 }], \"rows.csv\", #{ column_order: [\"b\", \"b\"] })",
        "argument",
        &["column_order", "\"b\" twice"],
    ),
    ("save([#{ a: 1 }], \"rows.csv\", #{ column_order: [] })", "argument", &["names no column", "leave it out"]),
    ("f.save(\"../f.safetensors\")", "permission", &["--allow-write"]),
    ("tensor::zeros([-1])", "argument", &["shape"]),
    ("tensor::zeros([1000000, 1000000])", "argument", &["too large"]),
];

#[test]
fn wrong_input_is_explained_and_writes_nothing() {
    let mut wrong = Vec::new();
    for (script, kind, words) in CASES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut cx = Cx::default();
        cx.set_folder(folder.path().to_path_buf());
        cx.set_data_folder(None);
        let mut session = Session::new(Rc::new(cx));
        session.evaluate("setting", SETTING).unwrap_or_else(|error| panic!("{}", error.render(false)));
        match session.evaluate("case", script) {
            Ok(value) => wrong.push(format!("{script}\n    gave {}", value.summary())),
            Err(error) => {
                let text = format!("{} | {}", error.message, error.hint.clone().unwrap_or_default());
                if error.kind != *kind || words.iter().any(|word| !text.contains(word)) {
                    wrong.push(format!("{script}\n    {}: {text}\n    wanted {kind}: {words:?}", error.kind));
                }
            }
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        if !left.is_empty() {
            wrong.push(format!("{script}\n    left {left:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}
