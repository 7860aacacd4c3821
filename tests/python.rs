//! Models and data that live in a Python: scores and gradients against what they must be, misbehaviour by its name, and nothing left behind.

use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use tch::{Device, Kind, Tensor};
use viva::core::{Cx, Graph, Object, Value, gradients};
use viva::data::Dataset;
use viva::model::Model;
use viva::script::Session;

/// Models without any library: a linear one, one that bends, and those that go wrong.
const MODELS: &str = r##"
import array, math, os, random, sys, time
import weights

def rows(x):
    n, c, h, w = x.shape
    flat = [v for image in x.tolist() for plane in image for row in plane for v in row]
    return [flat[i * c * h * w:(i + 1) * c * h * w] for i in range(n)]

class Bent:
    def __init__(self, bend=0.0, scale=1.0):
        self.bend, self.scale = bend, scale

    def sums(self, x):
        return [[self.scale * sum(weights.of(k, i) * v for i, v in enumerate(row)) for k in range(3)] for row in rows(x)]

    def __call__(self, x):
        print("asked")
        return [[s + self.bend * s * s for s in row] for row in self.sums(x)]

    def vjp(self, x, v):
        n, c, h, w = x.shape
        slopes = [[self.scale * (1 + 2 * self.bend * s) for s in row] for row in self.sums(x)]
        flat = [sum(v[i, k] * slopes[i][k] * weights.of(k, j) for k in range(3)) for i in range(n) for j in range(c * h * w)]
        return memoryview(array.array("f", flat)).cast("B").cast("f", [n, c, h, w])

class Turned(Bent):
    def vjp(self, x, v):
        n, c, h, w = x.shape
        flat = [-v for image in Bent.vjp(self, x, v).tolist() for plane in image for row in plane for v in row]
        return memoryview(array.array("f", flat)).cast("B").cast("f", [n, c, h, w])

class Short(Bent):
    def vjp(self, x, v):
        return [[0.0]]

fixed = Bent()
def bent(bend=0.0, scale=1.0): return Bent(bend, scale)
def short(): return Short()
def turned(): return Turned()
def only_scores(): return Bent().__call__
def another_each_time():
    import importlib.util
    path = os.path.join(os.path.dirname(__file__), "drawn.py")
    with open(path, "a") as file: file.write("# once more\n")
    spec = importlib.util.spec_from_file_location("drawn", path)
    sys.modules["drawn"] = importlib.util.module_from_spec(spec)
    return lambda x: time.sleep(60)
def fails(): return lambda x: x.nonsense
def raises(): raise ValueError("no weights here")
def dies():
    def answer(x):
        print("my last words", flush=True)
        os._exit(3)
    return answer
def leaves(): sys.exit("no weights here")
def hangs(): return lambda x: time.sleep(60)
def waits():
    def answer(x):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "asked.txt"), "a") as file: file.write("asked\n")
        print('  File "loader.py", line 7, in workers', file=sys.stderr, flush=True)
        time.sleep(60)
    return answer
def once(at, what):
    own, asked = Bent(), [0]
    def answer(x):
        asked[0] += 1
        if asked[0] == at and what == "raise": raise RuntimeError("out of breath")
        rows = own.sums(x)
        return [[float("nan")] * len(rows[0])] + rows[1:] if asked[0] == at else rows
    return answer
def only(n):
    bent = Bent()
    def f(x):
        if x.shape[0] != n: raise ValueError("Got: %d Expected: %d" % (x.shape[0], n))
        return bent(x)
    return f
def one_row(): return lambda x: [[1.0, 2.0]]
def ragged(): return lambda x: [[1.0]] + [[1.0, 2.0]] * (x.shape[0] - 1)
def text(): return lambda x: "cat"
def noisy(): return lambda x: [[random.random(), random.random()] for _ in range(x.shape[0])]
def tossing():
    own = Bent()
    return lambda x: [row if random.random() < 0.9999 else [-score for score in row] for row in own.sums(x)]
def secretive():
    own, private = Bent(), random.Random(1)
    return lambda x: [row if private.random() < 0.995 else [-score for score in row] for row in own.sums(x)]
def number(): return 3
def forgetful():
    own, asked = Bent(), [0]
    def answer(x):
        asked[0] += 1
        return [row if asked[0] < 16 else [-score for score in row] for row in own.sums(x)]
    return answer
def spoils():
    own = Bent()
    def answer(x):
        sums = own.sums(x)
        return sums[:20] + [[-score for score in row] for row in sums[20:]]
    return answer
class Processor:
    image_mean, image_std, rescale_factor = [0.5], [0.5], 1 / 255
    do_normalize, do_rescale, do_resize = True, True, True
    def __init__(self, said): self.__dict__.update(said)
def logged():
    log = os.open(os.path.join(os.path.dirname(__file__), "log.txt"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, str(time.time()).encode())
    os.close(log)
    return Bent()
def processed(**said): return Bent(0.5), Processor(said)
def read_on_the_way():
    with open(os.path.join(os.path.dirname(__file__), "scale.txt")) as file: return Bent(scale=float(file.read()))
"##;

const WEIGHTS: &str = "def of(k, i): return ((k * 7 + i * 3) % 11 - 5) / 10\n";

fn weight(k: usize, i: usize) -> f64 {
    ((k * 7 + i * 3) % 11) as f64 / 10.0 - 0.5
}

struct Place {
    folder: tempfile::TempDir,
    cx: Rc<Cx>,
    session: Session,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        let mut cx = Cx::default();
        cx.set_folder(folder.path().to_path_buf());
        cx.set_output(Box::new(|_| {}));
        cx.allow_run();
        let cx = Rc::new(cx);
        Self { folder, session: Session::new(cx.clone()), cx }
    }

    fn of_models() -> Self {
        Self::new(&[("models.py", MODELS), ("weights.py", WEIGHTS)])
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn evaluate(&mut self, text: &str) -> Result<Value, String> {
        self.session.evaluate("test", text).map_err(|e| format!("{}: {} {:?}", e.kind, e.message, e.hint))
    }

    fn model(&mut self, text: &str) -> Rc<Model> {
        self.evaluate(text).expect("a model").downcast::<Model>().expect("a model")
    }
}

fn images(n: i64, seed: i64) -> Tensor {
    (Tensor::arange(n * 12, (Kind::Float, Device::Cpu)) * 0.37 + seed as f64).sin().reshape([n, 1, 3, 4]) * 0.5 + 0.5
}

fn largest(x: &Tensor) -> f64 {
    x.abs().max().double_value(&[])
}

fn weights() -> Tensor {
    let numbers: Vec<f64> = (0..3).flat_map(|k| (0..12).map(move |i| weight(k, i))).collect();
    Tensor::from_slice(&numbers).reshape([3, 12]).to_kind(Kind::Float)
}

/// The numbers are those of the formula, also where several answers have their graphs at once and gradients are asked for more than once.
#[test]
fn scores_and_gradients_are_those_of_the_formula() {
    let mut place = Place::of_models();
    let f = place.model("model::python(\"models.py:bent\", #{ args: #{ bend: 0.3 } })");
    assert!(f.differentiable());
    let (a, b) = (images(3, 1).set_requires_grad(true), images(2, 7).set_requires_grad(true));
    let formula = |x: &Tensor| {
        let s = x.reshape([-1, 12]).matmul(&weights().tr());
        &s + &s * &s * 0.3
    };
    let (of_a, of_b) = (f.logits(&a).expect("scores"), f.logits(&b).expect("scores"));
    for (x, scores) in [(&a, &of_a), (&b, &of_b)] {
        assert!(largest(&(scores - formula(x))) < 1e-5);
    }
    // A loss that is not linear in the scores, of each twice.
    let loss = |scores: &Tensor| scores.log_softmax(1, Kind::Float).select(1, 0).sum(Kind::Float);
    for (x, scores, graph) in [(&a, &of_a, Graph::Keep), (&b, &of_b, Graph::Free), (&a, &of_a, Graph::Free)] {
        let found = gradients("f", &loss(scores), &[x], graph).expect("a gradient");
        let wanted = gradients("formula", &loss(&formula(x)), &[x], Graph::Free).expect("a gradient");
        assert!(largest(&(&found[0] - &wanted[0])) < 1e-5, "{:?} {:?}", found[0], wanted[0]);
    }
    // Double precision outside, single inside.
    let double = a.detach().to_kind(Kind::Double).set_requires_grad(true);
    let scores = f.logits(&double).expect("scores");
    let found = gradients("f", &loss(&scores), &[&double], Graph::Free).expect("a gradient");
    assert_eq!(found[0].kind(), Kind::Double);
    tch::no_grad(|| assert!(!f.logits(&a).expect("scores").requires_grad()));
}

#[test]
fn gradients_of_gradients_are_refused_and_wrong_ones_named() {
    let mut place = Place::of_models();
    let f = place.model("model::python(\"models.py:bent\")");
    let x = images(2, 1).set_requires_grad(true);
    let scores = f.logits(&x).expect("scores");
    let error =
        gradients("f", &(&scores * &scores).sum(Kind::Float), &[&x], Graph::Extend).expect_err("it has no graph");
    assert!(error.message.contains("gradients of gradients"), "{}", error.message);
    let scores = f.logits(&x).expect("it goes on");
    assert!(gradients("f", &scores.sum(Kind::Float), &[&x], Graph::Free).is_ok());
    let g = place.model("model::python(\"models.py:short\")");
    let error =
        gradients("g", &g.logits(&x).expect("scores").sum(Kind::Float), &[&x], Graph::Free).expect_err("too short");
    assert!(error.message.contains("models.py:short: `vjp` answered a gradient of [1, 1]"), "{}", error.message);
}

#[test]
fn a_gradient_that_scores_do_not_follow_is_told_of() {
    let mut place = Place::of_models();
    let said = |place: &mut Place, model: &str| {
        let script = format!(
            "let ds = data::from(tensor::uniform([4, 1, 4, 4], #{{ seed: 1 }}), [0, 1, 2, 0]);
             let f = model::python(\"models.py:{model}\");
             examine(f, ds, #{{ space: space::pixels(\"linf\"), search: search::bim(#{{ steps: 2 }}) }}).cautions"
        );
        place.evaluate(&script).expect("cautions").summary()
    };
    let told = "do not change along its gradient as the gradient says, but -1.0 times as much (4 of 4 images)";
    assert!(said(&mut place, "turned").contains(told), "{}", said(&mut place, "turned"));
    for right in ["fixed", "bent"] {
        assert!(!said(&mut place, right).contains("along its gradient"), "{right}");
    }
    // A mean over draws has no better gradient.
    let averaged = "let ds = data::from(tensor::uniform([4, 1, 4, 4], #{ seed: 1 }), [0, 1, 2, 0]);
         let f = model::python(\"models.py:turned\").averaged(#{ over: space::noise(0.05), draws: 2, seed: 1 });
         examine(f, ds, #{ space: space::pixels(\"linf\"), search: search::bim(#{ steps: 2 }) }).cautions";
    let averaged = place.evaluate(averaged).expect("cautions").summary();
    assert!(averaged.contains(told), "{averaged}");
}

/// Answers that go by what was asked before or by how many stand in a batch are told where they count, and others are not.
#[test]
fn a_model_that_does_not_stand_by_its_answers_is_told_of() {
    let mut place = Place::of_models();
    let said = |place: &mut Place, model: &str, calls: i64| {
        let script = format!(
            "let labels = []; for i in 0..60 {{ labels.push(i % 3); }}
             let ds = data::from(tensor::uniform([60, 1, 4, 4], #{{ seed: 1 }}), labels);
             let f = model::python(\"models.py:{model}\");
             let first = f.accuracy(ds);
             for i in 0..{calls} {{ f.logits(ds.take(1)); }}
             let t = examine(f, ds, #{{ space: space::noise(0.1), search: search::random(#{{ questions: 2 }}), seed: 1 }});
             [f.cautions.len(), t.cautions.filter(|said| said.contains(\"answers otherwise to\"))]"
        );
        place.evaluate(&script).expect("cautions").summary()
    };
    let fixed = said(&mut place, "fixed", 20);
    assert!(fixed.ends_with(", []]"), "{fixed}");
    let forgetful = said(&mut place, "forgetful", 20);
    assert!(forgetful.starts_with("[0, ") && forgetful.contains("after other questions"), "{forgetful}");
    let own_numbers = place.evaluate(
        "let images = tensor::uniform([60, 1, 4, 4], #{ seed: 1 });
         let right = model::python(\"models.py:bent\").predict(images).values();
         examine(model::python(\"models.py:secretive\"), data::from(images, right), #{
             space: space::noise(1e-6), search: search::random(#{ questions: 30 }), seed: 1,
         }).cautions",
    );
    let own_numbers = own_numbers.expect("cautions").summary();
    assert!(own_numbers.contains("draws now and then"), "{own_numbers}");
    let spoils = said(&mut place, "spoils", 0);
    assert!(spoils.starts_with("[1, ") && spoils.contains("asked about once more: its answers go by"), "{spoils}");
}

/// As programs do that were exported for so many: all images are asked about, in batches of that size. What raises whatever it is asked is told so.
#[test]
fn models_of_one_batch_size_are_asked_in_batches_of_it() {
    let mut place = Place::of_models();
    let found = place
        .evaluate(
            "let ds = data::glyphs(#{ n: 10, size: 16, seed: 1 });
             let wanted = model::python(\"models.py:fixed\").logits(ds);
             [1, 4].map(|n| {
                 let f = model::python(\"models.py:only\", #{ args: #{ n: n } });
                 (f.logits(ds) - wanted).abs().max() < 1e-5 && f.logits(ds.take(3)).shape == [3, 3]
             })",
        )
        .expect("scores");
    assert_eq!(found.summary(), "[true, true]");
}

/// The same as a closure of the same formula and, along gradients, as layers with the same weights.
#[test]
fn searches_find_the_same_as_on_this_side() {
    let mut place = Place::of_models();
    let found = place
        .evaluate(
            "let f = model::python(\"models.py:fixed\");
             let w = tensor::from([0, 1, 2].map(|k| [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(|i| ((k * 7 + i * 3) % 11) / 10.0 - 0.5)));
             let g = model::from(|x| x.reshape([x.shape[0], -1]).matmul(w.transpose()), #{ classes: 3 });
             let ds = data::from(tensor::uniform([5, 1, 3, 4], #{ seed: 1 }), [0, 1, 2, 0, 1]);
             let random = #{ space: space::pixels(\"linf\"), search: search::square(#{ questions: 30 }), levels: [0.2], seed: 1 };
             let apart = |how| (examine(f, ds, how).images() - examine(g, ds, how).images()).abs().max();
             let t = examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::deepfool(), seed: 1 });
             let scores = f.logits(t.images()).values();
             [apart.call(random) < 1e-5, t.len(), (f.logits(ds) - g.logits(ds)).abs().max() < 1e-5,
              examine(f, ds, #{ space: space::pixels(\"linf\"), search: search::bim(#{ steps: 3 }), levels: [0.1] }).len()]",
        )
        .expect("outcomes");
    assert_eq!(found.summary(), "[true, 5, true, 5]");
    let error = place
        .evaluate(
            "let g = model::python(\"models.py:only_scores\");
             examine(g, ds, #{ space: space::pixels(\"l2\"), search: search::bim(), levels: [0.1] })",
        )
        .expect_err("it has no gradients");
    assert!(error.contains("needs gradients, which models.py:only_scores has none of"), "{error}");
}

#[test]
fn models_that_fail_are_told_of() {
    let mut place = Place::of_models();
    let cases = [
        ("fails", &["AttributeError", "nonsense", "models.py, line", "return lambda x: x.nonsense"][..]),
        ("raises", &["ValueError: no weights here", "in raises"]),
        ("dies", &["exit status: 3", "my last words"]),
        ("leaves", &["no weights here"]),
        ("hangs", &["did not answer within 1 s"]),
        ("one_row", &["must answer 6 x K scores, got [1, 2]"]),
        ("ragged", &["rows of the same length"]),
        ("text", &["must be an array or tensor, got str"]),
        ("number", &["made int"]),
        ("nowhere", &["there is no 'nowhere' in it; it has", "bent"]),
    ];
    for (name, wanted) in cases {
        let text = format!(
            "let ds = data::glyphs(#{{ n: 6, size: 16, seed: 1 }});
             model::python(\"models.py:{name}\", #{{ seconds: 1 }}).logits(ds)"
        );
        let error = place.evaluate(&text).expect_err(name);
        assert!(wanted.iter().all(|words| error.contains(words)) && error.starts_with("model"), "{name}: {error}");
    }
    for (call, wanted) in [
        ("model::python(\"models.py\")", "FILE.py:NAME"),
        ("model::python(\"none.py:load\")", "no such file"),
        ("model::python(\"models.py:bent\", #{ args: #{ sharp: 1 } })", "sharp"),
        ("model::python(\"models.py:bent\", #{ args: #{ bend: |x| x } })", "`args.bend`"),
        ("model::python(\"models.py:fixed\", #{ args: #{ bend: 1 } })", "takes no `args`"),
        ("model::python(\"models.py:bent\", #{ python: \"no-such-python\" })", "can't be started"),
    ] {
        let error = place.evaluate(call).expect_err(call);
        assert!(error.contains(wanted), "{call}: {error}");
    }
    // What it said names a line, as an exception would: it is not asked in batches of other sizes.
    let unanswered = "let ds = data::glyphs(#{ n: 6, size: 16, seed: 1 }); model::python(\"models.py:waits\", #{ seconds: 1 }).logits(ds)";
    let error = place.evaluate(unanswered).expect_err("no answer");
    assert!(error.contains("did not answer within 1 s") && error.contains("DataLoader"), "{error}");
    let asked = std::fs::read_to_string(place.path().join("asked.txt")).expect("what it wrote");
    assert_eq!(asked.lines().count(), 1, "{error}");
    for (at, what, wanted) in [(1, "nan", "numbers that are not finite"), (2, "nan", "its batch")] {
        let text = format!(
            "let ds = data::glyphs(#{{ n: 6, size: 16, seed: 1 }}).relabel(|row| 0); let f = model::python(\"models.py:once\", #{{ args: #{{ at: {at}, what: \"{what}\" }} }}); f.accuracy(ds); f.cautions"
        );
        let told = place.evaluate(&text).unwrap_or_else(|error| panic!("{at} {what}: {error}")).json().to_string();
        assert!(told.contains(wanted), "{at} {what}: {told}");
    }
    let once = "let ds = data::glyphs(#{ n: 6, size: 16, seed: 1 }).relabel(|row| 0); \
                model::python(\"models.py:once\", #{ args: #{ at: 2, what: \"raise\" } }).accuracy(ds)";
    assert!(place.evaluate(once).expect_err("an error").contains("RuntimeError: out of breath"));
    let told = place.evaluate("let ds = data::glyphs(#{ n: 6, size: 16, seed: 1 }).relabel(|row| 0); let f = model::python(\"models.py:noisy\"); f.accuracy(ds); f.cautions");
    assert!(told.expect("cautions").summary().contains("something else when it is asked the same again"));
    // A coin that hardly ever falls otherwise.
    let told = place.evaluate("let ds = data::glyphs(#{ n: 6, size: 16, seed: 1 }).relabel(|row| 0); let f = model::python(\"models.py:tossing\"); f.accuracy(ds); f.cautions");
    assert!(told.expect("cautions").summary().contains("draws random numbers while it answers"));
}

#[test]
fn a_hash_is_of_the_file_its_imports_and_its_arguments() {
    let mut place = Place::of_models();
    let hash = |place: &mut Place, args: &str| {
        place
            .evaluate(&format!("model::python(\"models.py:bent\", #{{ args: #{{ {args} }} }}).hash"))
            .expect("a hash")
            .summary()
    };
    let first = hash(&mut place, "");
    assert_eq!(first, hash(&mut place, ""));
    assert_ne!(first, hash(&mut place, "scale: 2"));
    std::fs::write(place.path().join("weights.py"), format!("{WEIGHTS}# another\n")).expect("a file");
    assert_ne!(first, hash(&mut place, ""), "what it imports is part of it");
}

#[test]
fn a_hash_is_of_what_was_read_on_the_way() {
    let mut place = Place::of_models();
    let mut hash = |scale: &str| {
        std::fs::write(place.path().join("scale.txt"), scale).expect("a file");
        place.evaluate("model::python(\"models.py:read_on_the_way\").hash").expect("a hash").summary()
    };
    let first = hash("1.0");
    assert_eq!(first, hash("1.0"));
    assert_ne!(first, hash("2.0"), "numbers from a file are part of it");
    let mut logged = || place.evaluate("model::python(\"models.py:logged\").hash").expect("a hash").summary();
    assert_eq!(logged(), logged(), "what it writes is not");
}

/// What a processor does to pixels from 0 to 255 is done to those from 0 to 1, or refused by its name.
#[test]
fn processors_are_done_as_they_say() {
    let mut place = Place::of_models();
    let x = images(3, 1);
    for (said, mean, std) in [
        ("", 0.5, 0.5),
        ("do_normalize: ()", 0.0, 1.0),
        ("do_normalize: false", 0.0, 1.0),
        ("rescale_factor: 1.0 / 127.5", 0.25, 0.25),
        ("rescale_factor: 1.0 / 127.5, rescale_offset: true", 0.75, 0.25),
        ("include_top: true", 0.5, 0.25),
        ("include_top: true, do_normalize: false", 0.0, 0.5),
    ] {
        let f = place.model(&format!("model::python(\"models.py:processed\", #{{ args: #{{ {said} }} }})"));
        let g = place.model(&format!(
            "model::python(\"models.py:bent\", #{{ args: #{{ bend: 0.5 }}, mean: [{mean:?}], std: [{std:?}] }})"
        ));
        let (found, wanted) = (f.logits(&x).expect("scores"), g.logits(&x).expect("scores"));
        assert!(largest(&(&found - &wanted)) <= 1e-5 * largest(&wanted), "{said}: {found} and {wanted}");
    }
    let scale = place
        .evaluate("model::python(\"models.py:processed\", #{ args: #{ do_rescale: false } })")
        .expect_err("either");
    assert!(scale.contains("may be from 0 to 1 or to 255"), "{scale}");
    let error =
        place.evaluate("model::python(\"models.py:processed\", #{ args: #{ offset: true } })").expect_err("2x - 1");
    assert!(error.contains("does more to images than mean, std and size say: offset"), "{error}");
    let error = place
        .evaluate("model::python(\"models.py:processed\", #{ args: #{ do_flip_channel_order: true, do_pad: true } })")
        .expect_err("it does more");
    assert!(error.contains("do_flip_channel_order, do_pad") && error.contains("images.flip(1)"), "{error}");
}

/// A model that changes its images in place has the gradient where it was asked for. Says so and passes where Python has no numpy.
#[test]
fn a_model_that_changes_its_images_in_place_has_its_gradients() {
    const NET: &str = "import numpy as np\n\
        class Half:\n\
        \x20   def __call__(self, x):\n\
        \x20       x -= 0.25\n\
        \x20       return np.stack([(x * x).sum((1, 2, 3)), 0 * x.sum((1, 2, 3))], 1)\n\
        \x20   def vjp(self, x, v): return (2 * (x - 0.25) * v[:, :1, None, None]).astype('float32')\n\
        def half(): return Half()\n\
        def complex_scores(): return lambda x: np.ones((x.shape[0], 2)) * 1j\n";
    let mut place = Place::new(&[("net.py", NET)]);
    let f = match place.evaluate("model::python(\"net.py:half\")") {
        Err(error) if error.contains("ModuleNotFoundError") || error.contains("ImportError") => {
            eprintln!("skipped: this Python has no numpy");
            return;
        }
        f => f.expect("a model").downcast::<Model>().expect("a model"),
    };
    let x = images(2, 3).set_requires_grad(true);
    let scores = f.logits(&x).expect("scores");
    let found =
        gradients("f", &scores.select(1, 0).sum(Kind::Float), &[&x], Graph::Free).expect("a gradient").remove(0);
    assert!(largest(&(found - (x.detach() - 0.25) * 2.0)) < 1e-5);
    let error = place
        .evaluate("model::python(\"net.py:complex_scores\").logits(tensor::zeros([1, 1, 3, 4]))")
        .expect_err("no order");
    assert!(error.contains("complex numbers"), "{error}");
}

/// Ctrl-C ends the wait and the process; what is asked next is started again, and another model is not taken for the first.
#[test]
fn what_was_stopped_is_started_again() {
    let mut place = Place::of_models();
    let f = place.model("model::python(\"models.py:bent\")");
    let x = images(2, 1).set_requires_grad(true);
    let scores = f.logits(&x).expect("scores");
    let hangs = place.model("model::python(\"models.py:hangs\")");
    let stop = place.cx.stop_flag();
    stop.store(true, Ordering::Relaxed);
    assert!(hangs.logits(&x.detach()).expect_err("stopped").is_interrupted());
    stop.store(false, Ordering::Relaxed);
    assert!(gradients("f", &scores.sum(Kind::Float), &[&x], Graph::Free).is_ok(), "another's process goes on");

    let drawn = place.model("model::python(\"models.py:another_each_time\", #{ seconds: 1 })");
    assert!(drawn.logits(&x.detach()).expect_err("it hangs").message.contains("did not answer"));
    let error = drawn.logits(&x.detach()).expect_err("it is another one");
    assert!(error.message.contains("loaded another model than before"), "{}", error.message);
}

const DATA: &str = r#"
import array, random
class Set:
    classes = ["cat", "dog"]
    def __init__(self, kind="B", shape=(3, 4), scale=1, n=70):
        self.kind, self.shape, self.scale, self.n = kind, shape, scale, n
    def __len__(self): return self.n
    def __getitem__(self, i):
        if i >= self.n: raise IndexError(i)
        size = 1
        for side in self.shape: size *= side
        values = [(i * 5 + j) % 256 for j in range(size)]
        held = array.array(self.kind, values if self.kind == "B" else [self.scale * v / 255 for v in values])
        return memoryview(held).cast("B").cast(self.kind, self.shape), i % 2
class Maps(Set):
    def __getitem__(self, i):
        image, label = super().__getitem__(i)
        return {"picture": image, "label": label}
class Drawn(Set):
    def __getitem__(self, i):
        return memoryview(bytes(random.randrange(256) for _ in range(12))).cast("B", (3, 4)), 0
class Late(Drawn):
    def __getitem__(self, i): return Drawn.__getitem__(self, i) if i >= 60 else Set.__getitem__(self, i)
class Odd(Drawn):
    def __getitem__(self, i): return Drawn.__getitem__(self, i) if i % 2 else Set.__getitem__(self, i)
class Guessed(Set):
    def __getitem__(self, i): return Set.__getitem__(self, i)[0], random.randrange(2)
class Sizes(Set):
    def __getitem__(self, i):
        return memoryview(bytes(12 + i)).cast("B", (1, 12 + i)), 0
class Labels(Set):
    def __getitem__(self, i): return super().__getitem__(i)[0], "cat"
class Picture:
    mode, width, height = "L", 4, 3
    def __init__(self, turned): self.turned = turned
    def getbands(self): return ("L",)
    def tobytes(self): return bytes(range(240, 252))
    def getexif(self): return {274: 6} if self.turned else {}
class Photographs(Set):
    def __getitem__(self, i): return Picture(i % 7 == 0), i % 2
def stream(): return iter([])
"#;

#[test]
fn data_is_read_whatever_it_is_held_as() {
    let mut place = Place::new(&[("data.py", DATA)]);
    let mut set = |call: &str| place.evaluate(call).expect(call).downcast::<Dataset>().expect("a data set");
    let turned = set("data::python(\"data.py:Photographs\")").noticed();
    let said: Vec<_> =
        turned.iter().filter(|said| said.contains("10 of the 70 pictures of data are to be turned")).collect();
    assert_eq!(said.len(), 1, "{turned:?}");
    let bytes = set("data::python(\"data.py:Set\")");
    assert!(!bytes.noticed().iter().any(|said| said.contains("EXIF")));
    assert_eq!((bytes.len(), bytes.shape(), bytes.classes().join(" ")), (70, [1, 3, 4], "cat dog".into()));
    let image = bytes.images(&[69], Device::Cpu).expect("an image");
    let wanted =
        (Tensor::arange(12, (Kind::Float, Device::Cpu)) + (69 * 5) as f64).remainder(256.0).reshape([1, 1, 3, 4])
            / 255.0;
    assert_eq!(largest(&(image - wanted)), 0.0);
    assert_eq!(bytes.labels()[..3], [0, 1, 0]);
    // Floats of the same numbers are the same data.
    let hash = |set: &Dataset| set.digest().hex();
    // Division in double precision and rounding gives what division in single precision does.
    assert_eq!(hash(&bytes), hash(&set("data::python(\"data.py:Set\", #{ args: #{ kind: \"f\" } })")));
    let scaled = set("data::python(\"data.py:Set\", #{ args: #{ kind: \"f\", scale: 0.3 }, limit: 5 })");
    assert_eq!(scaled.len(), 5);
    let colours = set("data::python(\"data.py:Set\", #{ args: #{ shape: [2, 5, 3], n: 30 } })");
    assert_eq!(colours.shape(), [3, 2, 5]);
    let pixels = colours.images(&[0], Device::Cpu).expect("an image") * 255.0;
    // Row 1, column 2, green.
    assert_eq!(pixels.double_value(&[0, 1, 1, 2]).round(), ((5 + 2) * 3 + 1) as f64);
    assert_eq!(
        set("data::python(\"data.py:Maps\", #{ image_key: \"picture\", classes: [\"a\", \"b\"] })").classes().join(""),
        "ab"
    );
}

#[test]
fn data_that_can_not_be_used_is_told_of() {
    let mut place = Place::new(&[("data.py", DATA)]);
    for (call, wanted) in [
        ("data::python(\"data.py:Maps\")", "an item has the keys picture, label"),
        ("data::python(\"data.py:Drawn\")", "read again, is another one"),
        ("data::python(\"data.py:Late\")", "read again, is another one"),
        ("data::python(\"data.py:Odd\", #{ args: #{ n: 320 } })", "read again, is another one"),
        ("data::python(\"data.py:Guessed\")", "read again, is another one"),
        ("data::python(\"data.py:Sizes\")", "images of one size"),
        ("data::python(\"data.py:Labels\")", "'cat' where a whole number was expected"),
        ("data::python(\"data.py:stream\")", "map-style"),
        ("data::python(\"data.py:Set\", #{ args: #{ kind: \"f\", scale: 3.0 } })", "outside [0, 1]"),
        ("data::python(\"data.py:Set\", #{ args: #{ shape: [5, 5, 5] } })", "C x H x W"),
        ("data::python(\"data.py:Set\", #{ args: #{ n: 0 } })", "no images"),
    ] {
        let error = place.evaluate(call).expect_err(call);
        assert!(error.starts_with("data") && error.contains(wanted), "{call}: {error}");
    }
}

#[test]
fn no_python_is_started_unless_it_may() {
    for call in ["model::python(\"models.py:bent\")", "data::python(\"data.py:Set\")"] {
        let error = Session::new(Rc::new(Cx::default())).evaluate("test", call).expect_err("it is not allowed");
        assert_eq!(error.kind, "permission");
        assert!(error.hint.expect("a hint").contains("--allow-run"));
    }
}

/// Gradients of a module of torch, batch norm and all, against differences. Says so and passes where Python has no torch.
#[test]
fn modules_of_torch_have_their_gradients() {
    const NET: &str = "import torch\n\
        class Net(torch.nn.Sequential):\n\
        \x20   def forward(self, x): return {'logits': super().forward(x)}\n\
        def net(): return Net(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(8, 3)).eval()\n\
        def training(): return net().train()\n\
        def detached(): return torch.nn.Sequential(torch.nn.Flatten(), type('D', (torch.nn.Module,), {'forward': lambda self, x: x.detach()})()).eval()\n";
    let mut place = Place::new(&[("net.py", NET)]);
    let f = match place.evaluate("model::python(\"net.py:net\")") {
        Err(error) if error.contains("ModuleNotFoundError") || error.contains("ImportError") => {
            eprintln!(
                "skipped: this Python has no torch that can be imported ({})",
                error.lines().next().unwrap_or_default()
            );
            return;
        }
        f => f.expect("a model").downcast::<Model>().expect("a model"),
    };
    let x = images(2, 3).set_requires_grad(true);
    let scores = f.logits(&x).expect("scores");
    let upstream = Tensor::from_slice(&[1.0f32, -2.0, 0.5, 0.3, 1.0, 2.0]).reshape([2, 3]);
    let found =
        gradients("f", &(&scores * &upstream).sum(Kind::Float), &[&x], Graph::Free).expect("a gradient").remove(0);
    let value =
        |x: &Tensor| tch::no_grad(|| (f.logits(x).expect("scores") * &upstream).sum(Kind::Double).double_value(&[]));
    for at in [0, 5, 13, 23] {
        let step = Tensor::zeros([24], (Kind::Float, Device::Cpu));
        let _ = step.get(at).fill_(1e-2);
        let step = step.reshape([2, 1, 3, 4]);
        let slope = (value(&(x.detach() + &step)) - value(&(x.detach() - &step))) / 2e-2;
        // Third derivatives times the step's square, and rounding of float32.
        assert!((found.reshape([-1]).double_value(&[at]) - slope).abs() < 2e-3, "{at}");
    }
    let again = place.model("model::python(\"net.py:net\")");
    assert_eq!(f.digest(), again.digest(), "the seed is fixed before it is made");
    let told = place.evaluate("model::python(\"net.py:training\").cautions").expect("cautions").summary();
    assert!(told.contains("training mode"), "{told}");
    let d = place.model("model::python(\"net.py:detached\")");
    assert!(d.logits(&x).expect_err("it detaches").message.contains("no gradient flows through net.py:detached"));
}

/// `import viva`: a script runs with an object of the session, its results come back as what they are, and its errors as an exception.
#[test]
fn scripts_run_from_python() {
    const MINE: &str = "class Model:\n    def __init__(self, slope): self.slope = slope\n    def __call__(self, x): return [[self.slope * i, 1.0] for i in range(len(x))]\n";
    const SESSION: &str = r##"
import json, mine, viva
script = '''let f = model::python(arg("model", ""));
#{ scores: f.logits(tensor::zeros([3, 1, 2, 2])), sum: arg("a", 1) + 1, rows: [#{ x: 1, y: 0.0 / 0.0 }], drawn: plot::line([1, 2]), none: () }'''
run = viva.run(script, model=mine.Model(2.0), a=41, quiet=True, out="run", threads=1)
rows = run["rows"] if isinstance(run["rows"], list) else run["rows"].to_dict("records")
try:
    viva.run("let x = 1;\nx.nothing", quiet=True, out="wrong")
    said = ""
except viva.Error as error:
    said = str(error)
named = viva.run("""#{ "noise 0.1": plot::line([1, 2], #{ title: "first" }), "noise_0_1": plot::line([1, 3], #{ title: "second" }),
  "tab 1": [#{ v: 1, word: "nan" }, #{ v: 2, word: "dog" }], tab_1: [#{ v: 3 }], classes: ["inf", "dog"], numbers: [1.0, 1.0 / 0] }""", quiet=True, out="named")
assert "first" in named["noise 0.1"].svg and "second" in named["noise_0_1"].svg
other = viva.run('#{ "tab 1": [#{ v: 1 }], tab_1: 5 }', quiet=True, out="other")
try:
    other.table("tab_1")
    assert False
except KeyError as error:
    assert "tab 1" in str(error), error
assert len(named.table("tab 1")) == 2 and len(named.table("tab_1")) == 1
assert list(named["classes"]) == ["inf", "dog"] and float(named["numbers"][1]) == float("inf"), named["classes"]
words = named["tab 1"] if isinstance(named["tab 1"], list) else named["tab 1"].to_dict("records")
assert words[0]["word"] == "nan", words
print(json.dumps({"sum": run["sum"], "scores": run["scores"]["values"] if isinstance(run["scores"], dict) else run["scores"].reshape(-1).tolist(), "y": str(rows[0]["y"]), "svg": run["drawn"].svg[:4], "png": run["drawn"].png[1:4].decode(),
    "names": sorted(run), "said": said, "table": len(run.table("rows"))}))
"##;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mine.py"), MINE).expect("written");
    std::fs::write(folder.path().join("session.py"), SESSION).expect("written");
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/python");
    let output = std::process::Command::new("python3")
        .arg("session.py")
        .current_dir(folder.path())
        .env("PYTHONPATH", package)
        .env("VIVA", env!("CARGO_BIN_EXE_viva"))
        .output()
        .expect("python3 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["sum"], 42);
    assert_eq!(found["scores"], serde_json::json!([0.0, 1.0, 2.0, 1.0, 4.0, 1.0]));
    assert_eq!((&found["y"], &found["svg"], &found["png"]), (&"nan".into(), &"<svg".into(), &"PNG".into()));
    assert_eq!(found["names"], serde_json::json!(["drawn", "none", "rows", "scores", "sum"]));
    assert_eq!(found["table"], 1);
    let said = found["said"].as_str().expect("a text");
    assert!(said.contains("nothing") && said.contains("script.rhai:2"), "{said}");
}

/// What scripts answer keeps its kind on the way to Python, however they call it; runs at the same moment have folders of their own.
#[test]
fn results_keep_their_kinds_in_python() {
    const SESSION: &str = r##"
import os, sys, threading, viva
q = dict(quiet=True, threads=1)
run = viva.run("""[#{ code: "007", country: "NA", n: 1, x: 0.5, sure: true }, #{ code: "010", country: "", n: 2, x: 0.0 / 0, sure: false }].save("own.csv");
#{ rows: [#{ country: "NA", code: "01", n: 1 }, #{ country: "None", code: "10", n: 3 }], box: #{ shape: "round", values: [1, 2] }, odd: #{ shape: [5], values: [1, 2] },
   type: "cat", many: [#{ t: tensor::zeros([2]) }, #{ t: tensor::zeros([2]) }], pair: [tensor::zeros([2]), tensor::zeros([2])] }""", **q)
as_rows = lambda table: table if isinstance(table, list) else table.to_dict("records")
missing = lambda cell: cell is None or cell != cell
assert as_rows(run.table("rows")) == as_rows(run["rows"]) == [{"code": "01", "country": "NA", "n": 1}, {"code": "10", "country": "None", "n": 3}], run.table("rows")
cats = viva.run('#{ rows: [#{ type: "Cat", id: "5", n: 9007199254740993 }, #{ type: "Cat", id: "6" }], result: 5 }', **q)
assert as_rows(cats.table("rows"))[0] == {"type": "Cat", "id": "5", "n": 9007199254740993} and cats["result"] == 5, cats.table("rows")
dots = viva.run('[#{ a: ".", b: 1 }, #{ a: "x", b: 2 }].save("dot.csv"); 1', **q).table("dot")
assert [row["a"] for row in as_rows(dots)] == [".", "x"], dots
odd = "let c = #{ n: 0 }; if false { nope(); } #{ v: 1 }"
assert viva.run(odd, unchecked=True, **q)["v"] == 1
first, second = as_rows(run.table("own"))
assert (first["code"], first["country"], first["n"], first["x"], first["sure"]) == ("007", "NA", 1, 0.5, True), first
assert second["code"] == "010" and missing(second["country"]) and second["x"] != second["x"], second
assert run["box"] == {"shape": "round", "values": run["box"]["values"]} and run["odd"]["shape"] is not None and run["type"] == "cat", dict(run)
lengths = lambda one: len(one["values"] if isinstance(one, dict) else one)
assert [lengths(row["t"]) for row in as_rows(run["many"])] == [2, 2] == [lengths(one) for one in run["pair"]], run["pair"]
answers = {}
def one(i):
    answers[i] = viva.run('#{ v: arg("i", 0) }', i=i, **q)
threads = [threading.Thread(target=one, args=(i,)) for i in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert {i: run["v"] for i, run in answers.items()} == {0: 0, 1: 1, 2: 2, 3: 3}, answers
assert viva.run('#{ v: arg("v", "") }', v="--seed", **q)["v"] == "--seed"
def refused(what, **given):
    try:
        viva.run("1", **given, **q)
    except viva.Error as error:
        assert what in str(error), error
    else:
        assert False, given
refused("fast", fast=True)
refused("leave an argument out", v=None)
os.environ["VIVA"], whole = "/no/such/viva", os.environ["VIVA"]
refused("names '/no/such/viva'")
os.environ["VIVA"] = whole
# Nobody reads what is shown, and it has a letter that the terminal does not: the run ends all the same.
reader, writer = os.pipe()
os.close(reader)
sys.stdout = os.fdopen(writer, "w", encoding="ascii")
assert viva.run('for i in 0..3000 { print("é, a line that fills a pipe of sixty-four thousand bytes"); } #{ v: 5 }', threads=1)["v"] == 5
os._exit(0)
"##;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("session.py"), SESSION).expect("written");
    let output = std::process::Command::new("python3")
        .arg("session.py")
        .current_dir(folder.path())
        .env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/python"))
        .env("VIVA", env!("CARGO_BIN_EXE_viva"))
        .output()
        .expect("python3 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let module = include_str!("../packaging/python/viva/__init__.py");
    let (_, known) = module.split_once("_TYPES = set(").expect("the types");
    let known: Vec<&str> = known[..known.find(".split()").expect("an end")].split(['"', ' ', '\n']).collect();
    for kind in
        viva::primitives::types::TYPES.iter().map(|kind| kind.name).filter(|name| *name != "tensor" && !name.is_empty())
    {
        assert!(known.contains(&kind), "{kind} is an object that Python takes for a map of the script's");
    }
}
