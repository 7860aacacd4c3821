//! How often the host waits for the device: once more in every step is what makes a GPU slow.

use std::process::Command;

use serde_json::{Value as Json, json};

use super::inside::{DRAWER, ask, session};
use super::stand_in::{StandIn, said, sources, well};

/// Work that can be made longer, and the waits that one step more may cost.
struct Budget {
    name: &'static str,
    /// A script; `SIZE` stands for how much there is to do.
    script: &'static str,
    sizes: [i64; 2],
    /// Steps of one unit of size; `None`: a step is a batch that goes through the network, which has one convolution.
    steps: Option<f64>,
    waits: f64,
}

/// Kernels of a step of a training, by which its optimiser shows: most of them were its own where it went parameter by parameter.
const KERNELS: [(&str, f64); 3] =
    [("model::train, a batch", 34.0), ("generator::train, a step", 185.0), ("generator::finetune, a step", 260.0)];

/// What all scripts begin with.
const BEFORE: &str = "
    let glyphs = data::glyphs(#{ n: 64, size: 28, seed: 1, position: \"centred\", margin: 0 });
    let wide = data::glyphs(#{ n: 64, size: 16, seed: 1 });
    let layers = [net::conv(4, 3, #{ pad: 1 }), net::batch_norm(), net::relu(), net::max_pool(4), net::flatten(), net::dropout(0.2), net::linear(10)];
    let f = model::train(glyphs, #{ arch: layers, epochs: 12, seed: 1 });
    let s = model::train(wide, #{ arch: layers, epochs: 12, seed: 1 });
    let g = generator::train(glyphs, #{ arch: drawer, steps: 1, batch: 8, seed: 1 });
    let blank = tensor::zeros([8192 * 3, 1, 28, 28]);
    let averaged = f.averaged(#{ over: space::noise(), draws: 2, seed: 1 });
    let taught = examine(f, glyphs.take(8), #{ space: space::affine(), search: search::random(#{ questions: 5 }), seed: 1 });
    let gain = space::factors([#{ name: \"gain\", min: 0.2, max: 1.0 }], |z, s| z * s.gain);
";

const BUDGETS: &[Budget] = &[
    Budget {
        name: "model::train, a batch",
        script: "model::train(glyphs, #{ arch: layers, epochs: SIZE, batch: 16, seed: 1 })",
        sizes: [10, 20],
        steps: Some(4.0),
        // Losses are read at the end of an epoch, here after 4 batches.
        waits: 0.25,
    },
    Budget {
        name: "model::train, an adversary's step",
        script: "model::train(glyphs, #{ from: f, epochs: 2, batch: 16, seed: 1, adversarial: #{ radius: 0.1, steps: SIZE } })",
        sizes: [1, 5],
        steps: Some(8.0),
        waits: 0.0,
    },
    Budget {
        name: "generator::train, a step",
        script: "generator::train(glyphs, #{ arch: drawer, steps: SIZE, batch: 8, note: 1000, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "generator::finetune, a step",
        script: "generator::finetune(g, f, glyphs, #{ steps: SIZE, batch: 8, note: 1000, rate: 0.5, online: 0.01, average: 0.9, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "generator::perturb, a step",
        script: "generator::perturb(g, f, #{ n: 4, samples: 20, layers: 0..3, steps: SIZE, seed: 1, draws: 100 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 1.0,
    },
    Budget {
        name: "generator::latent_search, a step",
        // Few steps find nothing, which is an error.
        script: "try { generator::latent_search(g, f, #{ n: 4, draws: 4, labels: [3], steps: SIZE, lr: 0.0001, lambda2: 1000, seed: 1 }) } catch (e) { if e.kind != \"data\" { throw e } }",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 1.0,
    },
    Budget {
        name: "search::bim, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l2\"), search: search::bim(#{ steps: SIZE }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::fmn, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l2\"), search: search::fmn(#{ steps: SIZE }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::ddn, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l2\", #{ radius: 0.001 }), search: search::ddn(#{ steps: SIZE }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::deepfool, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l2\", #{ radius: 0.001 }), search: search::deepfool(#{ steps: SIZE, candidates: 2 }), batch: 64, seed: 1 })",
        sizes: [1, 3],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::carlini_wagner, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::carlini_wagner(#{ steps: SIZE, rounds: 1, constant: 100000 }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::apgd, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"linf\", #{ radius: 0.001, bounds: [0, 1] }), search: search::apgd(#{ steps: SIZE }), batch: 64, seed: 1 })",
        sizes: [40, 80],
        steps: Some(1.0),
        waits: 1.0,
    },
    Budget {
        name: "search::apgd in l1, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l1\", #{ radius: 0.01, bounds: [0, 1] }), search: search::apgd(#{ steps: SIZE }), batch: 64, seed: 1 })",
        sizes: [40, 80],
        steps: Some(1.0),
        waits: 1.0,
    },
    Budget {
        name: "search::bim in l1, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l1\", #{ radius: 0.01, bounds: [0, 1] }), search: search::bim(#{ steps: SIZE }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::adam, a step",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l2\"), search: search::adam(#{ steps: SIZE, lr: 0.0001 }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        // Of 8 steps one ends a case, which is told by a transfer of its own.
        waits: 1.125,
    },
    Budget {
        name: "search::adef, a step",
        script: "examine(f, glyphs, #{ space: space::deform(), search: search::adef(#{ steps: SIZE }), levels: [0.001], batch: 64, seed: 1 })",
        sizes: [1, 3],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::adef, a level",
        script: "examine(f, glyphs, #{ space: space::deform(), search: search::adef(#{ steps: 2 }), levels: [0.001, 0.002, 0.003, 0.004].extract(0, SIZE), batch: 64, seed: 1 })",
        sizes: [1, 3],
        steps: Some(2.0),
        waits: 0.0,
    },
    Budget {
        name: "search::adam with a polish, a batch",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l2\"), search: search::adam(#{ steps: 200, lr: 0.05, polish: SIZE }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::worst, a step of each member",
        script: "examine(f, glyphs, #{ space: space::pixels(\"linf\", #{ radius: 0.001 }), search: search::worst([search::bim(#{ steps: SIZE }), search::fmn(#{ steps: SIZE })]), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::bim of an average, a step",
        script: "examine(averaged, glyphs, #{ space: space::pixels(\"l2\"), search: search::bim(#{ steps: SIZE }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::bim over factors, a step",
        script: "examine(f, glyphs, #{ space: space::affine(), search: search::bim(#{ steps: SIZE }), levels: [0.3], batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: Some(1.0),
        // What is drawn is said by the host.
        waits: 1.0,
    },
    Budget {
        name: "Dataset.nearest, an image",
        script: "glyphs.take(SIZE).nearest(glyphs)",
        sizes: [8, 56],
        steps: Some(1.0),
        waits: 0.0,
    },
    Budget {
        name: "search::nearest, a batch",
        script: "examine(s, wide.take(SIZE), #{ space: space::translate(2), search: search::nearest(), batch: 64, seed: 1 })",
        sizes: [8, 64],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::strongest, a batch",
        script: "examine(s, wide.take(SIZE), #{ space: space::translate(2), search: search::strongest(), batch: 64, seed: 1 })",
        sizes: [8, 64],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::strongest over factors, a batch",
        script: "examine(f, glyphs.take(SIZE), #{ space: space::affine(), search: search::strongest(#{ grid: [3, 3, 3] }), levels: [0.3], batch: 64, seed: 1 })",
        sizes: [8, 64],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::sweep, a batch",
        script: "examine(f, glyphs, #{ space: space::noise(), search: search::sweep(), levels: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2].extract(0, SIZE), measures: [\"nll\"], batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::bayes over a closure, a question",
        script: "examine(f, glyphs, #{ space: gain, search: search::bayes(#{ questions: SIZE, candidates: 20 }), batch: 64, seed: 1 })",
        sizes: [4, 10],
        steps: None,
        waits: 2.0,
    },
    Budget {
        name: "search::bayes, a question",
        script: "examine(f, glyphs, #{ space: space::affine(), search: search::bayes(#{ questions: SIZE, candidates: 20 }), batch: 64, seed: 1 })",
        sizes: [4, 10],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::bayes that learned, a question",
        script: "examine(f, glyphs, #{ space: space::affine(), search: search::bayes(#{ questions: SIZE, candidates: 20, learned: taught }), batch: 64, seed: 1 })",
        sizes: [4, 10],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::radial, a batch",
        script: "examine(f, glyphs, #{ space: space::affine(), search: search::radial(#{ questions: 16 * SIZE }), batch: 64, seed: 1 })",
        sizes: [1, 4],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::evolution, a batch",
        script: "examine(f, glyphs, #{ space: space::affine(), search: search::evolution(#{ questions: 8 * SIZE, population: 8 }), batch: 64, seed: 1 })",
        sizes: [1, 4],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::counterfactual, a batch",
        script: "examine(f, glyphs, #{ space: space::affine(), search: search::counterfactual(#{ random_questions: 10 * SIZE, most_factors: 1, parts: 2 }), batch: 64, seed: 1 })",
        sizes: [2, 6],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::policy, a batch",
        script: "examine(f, glyphs, #{ space: space::rotate(30), search: search::policy(#{ questions: SIZE, batch: 4, hidden: 8 }), batch: 64, seed: 1 })",
        sizes: [8, 24],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::square, a question",
        script: "examine(f, glyphs, #{ space: space::pixels(\"linf\", #{ radius: 0.01, bounds: [0, 1] }), search: search::square(#{ questions: SIZE }), batch: 64, seed: 1 })",
        sizes: [4, 12],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "search::hopskipjump, a question",
        script: "examine(f, glyphs, #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::hopskipjump(#{ questions: SIZE }), batch: 64, seed: 1 })",
        sizes: [2, 8],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "robustness::certify, a batch",
        script: "robustness::certify(f, glyphs.take(4), #{ sigma: 0.2, select: 10, samples: 40 * SIZE, batch: 16, seed: 1 })",
        sizes: [1, 3],
        steps: None,
        waits: 1.0,
    },
    Budget {
        name: "accuracy, a batch",
        script: "f.accuracy(data::from(blank.pick(0..8192 * SIZE), tensor::zeros([8192 * SIZE])))",
        sizes: [1, 3],
        steps: None,
        waits: 1.0,
    },
];

pub struct Counter(libloading::os::unix::Library);

impl Counter {
    pub fn here() -> Self {
        Self(libloading::os::unix::Library::this())
    }

    pub fn waits(&self) -> f64 {
        // SAFETY: the stand-in's functions, with these types.
        unsafe { self.0.get::<unsafe extern "C" fn() -> u64>(b"fakecuda_waits\0").unwrap()() as f64 }
    }

    fn kernels(&self) -> f64 {
        // SAFETY: as above.
        unsafe { self.0.get::<unsafe extern "C" fn() -> u64>(b"fakecuda_kernels\0").unwrap()() as f64 }
    }

    /// Of an operation.
    pub fn calls(&self, name: &std::ffi::CStr) -> f64 {
        type Calls = unsafe extern "C" fn(*const std::ffi::c_char) -> u64;
        // SAFETY: as above.
        unsafe { self.0.get::<Calls>(b"fakecuda_calls\0").unwrap()(name.as_ptr()) as f64 }
    }

    /// Convolutions, with a rectifier in the same kernel or not.
    pub fn batches(&self) -> f64 {
        let names = [c"convolution", c"cudnn_convolution_relu", c"cudnn_convolution_add_relu"];
        names.map(|name| self.calls(name)).iter().sum()
    }
}

/// By name, the waits and the kernels of one step more.
pub fn of_all(device: &str) -> Json {
    let counter = Counter::here();
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(device, folder.path());
    let mut run = |text: &str| {
        let counts = || [counter.waits(), counter.batches(), counter.kernels()];
        let before = counts();
        session.evaluate("budget", text).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let after = counts();
        [0, 1, 2].map(|i| after[i] - before[i])
    };
    run(DRAWER);
    run(BEFORE);
    let of = |budget: &Budget| {
        let [less, more] = budget.sizes.map(|size| budget.script.replace("SIZE", &size.to_string()));
        // What is made once and kept.
        run(&less);
        let (less, more) = (run(&less), run(&more));
        let steps = match budget.steps {
            Some(steps) => steps * (budget.sizes[1] - budget.sizes[0]) as f64,
            None => more[1] - less[1],
        };
        (budget.name.to_string(), json!([(more[0] - less[0]) / steps, (more[2] - less[2]) / steps]))
    };
    Json::Object(BUDGETS.iter().map(of).collect())
}

/// One script at one size, for a report of its own.
pub fn of_one(device: &str, words: &str) -> Json {
    let (size, name) = words.split_once(' ').unwrap();
    let budget = BUDGETS.iter().find(|budget| budget.name == name).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(device, folder.path());
    for text in [DRAWER, BEFORE, &budget.script.replace("SIZE", size)] {
        session.evaluate("budget", text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    }
    Json::Null
}

/// Where the further waits of a budget's script are.
fn places(stand_in: &StandIn, budget: &Budget) -> String {
    let folder = tempfile::tempdir().unwrap();
    let report = |size: i64| {
        let path = folder.path().join(size.to_string());
        let task = format!("waits {size} {}", budget.name);
        ask(stand_in, &task, "cuda", &[("FAKECUDA_REPORT", path.to_str().unwrap()), ("VIVA_RECORD", "0")]);
        let reports = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        reports.into_iter().find(|path| path.file_stem().unwrap().to_string_lossy() == size.to_string()).unwrap()
    };
    let [less, more] = budget.sizes.map(report);
    said(&well(Command::new("python3").arg(sources().join("report.py")).args([more, less])).stdout)
}

#[test]
fn the_host_waits_no_more_often_than_it_is_allowed_to() {
    let Some(stand_in) = StandIn::get() else { return };
    // A step as it is written; what a recording takes at first is of no step.
    let found = ask(stand_in, "waits", "cuda", &[("VIVA_RECORD", "0")]);
    let mut wrong = vec![];
    for budget in BUDGETS {
        let [waits, kernels] = [0, 1].map(|i| found[budget.name][i].as_f64().unwrap());
        println!("{:42} {waits:.2} waits, {} allowed, {kernels:.1} kernels", budget.name, budget.waits);
        if waits > budget.waits + 1e-9 || waits.is_nan() {
            wrong.push(format!(
                "{}: {waits:.2} waits, {} allowed\n{}",
                budget.name,
                budget.waits,
                places(stand_in, budget)
            ));
        }
        let most = KERNELS.iter().find(|(name, _)| *name == budget.name);
        if let Some((name, most)) = most.filter(|(_, most)| kernels > *most) {
            wrong.push(format!("{name}: {kernels:.1} kernels, {most} allowed"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
