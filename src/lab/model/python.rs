//! Models that live in a Python: scores, and gradients where its framework gives them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value as Json, json};
use tch::{Device, Kind};

use super::load::check_normalisation;
use super::{Model, Network};
use crate::core::python::{Interpreter, LoadedOffer, Offer, Python, went_unanswered};
use crate::core::{
    Cx, Digest, Elsewhere, Error, ErrorKind, Result, Tensor, answered_elsewhere, device_name, keeps_graph, on_device,
    works_fast,
};

/// What the caller says of a model in a Python.
#[derive(Debug, Clone, Default)]
pub struct PythonOptions {
    pub classes: Option<i64>,
    pub input: Option<[i64; 3]>,
    pub mean: Option<Vec<f64>>,
    pub std: Option<Vec<f64>>,
    /// Where Python computes.
    pub device: Option<String>,
}

/// One that is asked as long as it answers, and started again where it was stopped.
struct PythonModel {
    link: Arc<Mutex<Link>>,
    dropped: Dropped,
    differentiable: bool,
    opaque: bool,
}

/// The answers whose graphs nobody holds any more, for the next question to tell.
type Dropped = Arc<Mutex<Vec<u64>>>;

struct Link {
    interpreter: Interpreter,
    offer: Offer,
    question: Json,
    identity: Digest,
    running: Option<Python>,
    /// How often it was started: an answer's graph is of one process.
    starts: u64,
    /// The number of the next answer with a graph.
    next: u64,
}

/// A graph in Python that led to an answer.
struct AnswerGraph {
    link: Arc<Mutex<Link>>,
    dropped: Dropped,
    starts: u64,
    number: u64,
    /// Of the images that were asked about.
    size: Vec<i64>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn started(interpreter: &Interpreter, offer: &Offer, question: &Json) -> Result<(Python, LoadedOffer, Digest)> {
    let (python, loaded) = Python::start(interpreter, offer, ErrorKind::Model, question.clone())?;
    let state = loaded.text("state").and_then(Digest::of_hex).map_or([0; 32], |state| state.0);
    let identity = Digest::of_parts(&[&loaded.digest(offer)?.0, &state]);
    Ok((python, loaded, identity))
}

impl Link {
    fn python(&mut self) -> Result<&mut Python> {
        if self.running.as_ref().is_some_and(Python::usable) {
            return self.running.as_mut().ok_or_else(|| Error::internal("a Python that is none"));
        }
        self.running = None;
        let (python, _, identity) = started(&self.interpreter, &self.offer, &self.question)?;
        if identity != self.identity {
            return Err(Error::model(format!(
                "{} was started again and loaded another model than before: its files changed, or its parameters are drawn anew",
                self.offer.called()
            ))
            .hint("load the weights from a file, or fix the seed in the function that makes the model"));
        }
        self.starts += 1;
        Ok(self.running.insert(python))
    }

    fn forward(&mut self, images: &Tensor, keep: Option<u64>, dropped: Vec<u64>) -> Result<Tensor> {
        let watch = WATCHED.with_borrow(Option::is_some);
        let python = self.python()?;
        python.lay(images)?;
        let question =
            json!({ "do": "forward", "shape": images.size(), "keep": keep, "drop": dropped, "watch": watch });
        let answer = python.ask(&question)?;
        let states = |name: &str| serde_json::from_value(answer[name].clone()).unwrap_or_default();
        WATCHED.with_borrow_mut(|watched| {
            if let Some(watched) = watched {
                watched.push(RandomStates { before: states("before"), after: states("after") });
            }
        });
        python.floats(&answer)
    }
}

/// Where the generators of random numbers of a Python stood around an answer, by name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RandomStates {
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
}

impl RandomStates {
    /// Whether something was drawn, or a generator came up.
    pub(super) fn moved(&self) -> bool {
        self.after.iter().any(|(name, state)| self.before.get(name) != Some(state))
    }

    /// Of the same question asked again: whether something was drawn. Who sets a seed for each answer leaves the same behind.
    pub(super) fn drew_after(&self, first: &Self) -> bool {
        let drawn = |(name, state): (&String, &String)| {
            self.before.get(name).is_some_and(|before| before != state) && first.after.get(name) != Some(state)
        };
        self.after.iter().any(drawn)
    }
}

thread_local!(static WATCHED: RefCell<Option<Vec<RandomStates>>> = const { RefCell::new(None) });

/// Runs `work`, and says where the random numbers stood around every answer of a Python.
pub(super) fn with_random_states<T>(work: impl FnOnce() -> T) -> (T, Vec<RandomStates>) {
    let outer = WATCHED.replace(Some(vec![]));
    let done = work();
    (done, WATCHED.replace(outer).unwrap_or_default())
}

impl Network for PythonModel {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let asked = images.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?;
        let keeps = self.differentiable && keeps_graph(&asked);
        let dropped = std::mem::take(&mut *locked(&self.dropped));
        let (scores, graph) = {
            let mut link = locked(&self.link);
            let number = link.next;
            link.next += 1;
            let scores = link.forward(&asked, keeps.then_some(number), dropped)?;
            let (link_too, dropped) = (self.link.clone(), self.dropped.clone());
            (scores, AnswerGraph { link: link_too, dropped, starts: link.starts, number, size: asked.size() })
        };
        match keeps {
            true => on_device(&answered_elsewhere(&asked, &scores, Box::new(graph))?, images.device()),
            false => on_device(&scores, images.device()),
        }
    }

    fn differentiable(&self) -> bool {
        self.differentiable
    }

    /// An exception, which tells its line.
    fn raised(&self, error: &Error) -> bool {
        !went_unanswered(error)
            && format!("{} {}", error.message, error.hint.as_deref().unwrap_or_default()).contains(", line ")
    }

    fn foreign(&self) -> bool {
        true
    }

    fn opaque(&self) -> bool {
        self.opaque
    }
}

impl Elsewhere for AnswerGraph {
    fn pull_back(&self, upstream: &Tensor, again: bool) -> Result<Tensor> {
        let mut link = locked(&self.link);
        let called = link.offer.called();
        let starts = link.starts;
        let python = match link.running.as_mut().filter(|python| python.usable()) {
            Some(python) if starts == self.starts => python,
            _ => {
                return Err(Error::model(format!("{called}: the Python that a gradient was asked of has ended since")));
            }
        };
        python.lay(upstream)?;
        let answer =
            python.ask(&json!({ "do": "vjp", "shape": upstream.size(), "keep": self.number, "again": again }))?;
        let gradient = python.floats(&answer)?;
        match gradient.size() == self.size {
            true => Ok(gradient),
            false => Err(Error::model(format!(
                "{called}: `vjp` answered a gradient of {:?} for images of {:?}",
                gradient.size(),
                self.size
            ))),
        }
    }
}

impl Drop for AnswerGraph {
    fn drop(&mut self) {
        locked(&self.dropped).push(self.number);
    }
}

/// Starts a Python, has it load a model and keeps it for as long as the model is needed.
pub fn python(cx: &Cx, offer: Offer, interpreter: Interpreter, options: PythonOptions) -> Result<Model> {
    let device = options.device.clone().unwrap_or_else(|| device_name(cx.device()));
    let question =
        json!({ "do": "load_model", "device": device, "must": options.device.is_some(), "exact": !works_fast() });
    let (python, loaded, identity) = started(&interpreter, &offer, &question)?;
    loaded.record(cx, &offer)?;
    let (name, names_files, uncounted) = (offer.called(), !offer.named.is_empty(), offer.uncounted.clone());
    let network = PythonModel {
        dropped: Dropped::default(),
        differentiable: loaded.truth("gradients"),
        // Of a module what it answers by is in its digest: parameters, buffers, the user's own files, and those that were read as it was loaded.
        opaque: loaded.text("state").is_none(),
        link: Arc::new(Mutex::new(Link {
            interpreter,
            offer,
            question,
            identity,
            running: Some(python),
            starts: 0,
            next: 0,
        })),
    };
    let own = |name: &str| loaded.numbers(name);
    let (mean, std) = match (options.mean, options.std) {
        (None, None) => (own("mean"), own("std")),
        said => said,
    };
    let input = match (options.input, own("input").as_deref()) {
        (None, Some([c, h, w])) => Some([*c as i64, *h as i64, *w as i64]),
        (said, _) => said,
    };
    check_normalisation(&mean, &std, input.map(|[c, ..]| c))?;
    let model = Model::new(&name, Box::new(network), identity).with_input(input);
    let model = match options.classes {
        Some(classes) => model.with_classes(classes),
        None => model,
    };
    let model = match (&mean, &std) {
        (None, None) => model,
        (mean, std) => {
            let (mean, std) = (mean.as_deref().unwrap_or(&[0.0]), std.as_deref().unwrap_or(&[1.0]));
            model.with_normalisation(mean, std, cx.device())?
        }
    };
    if mean.is_none() && std.is_none() {
        notice_pixels(&model, &loaded);
    }
    if let Some((first, count)) =
        loaded.said["training"].as_array().and_then(|t| Some((t.first()?.as_str()?, t.get(1)?.as_i64()?)))
    {
        let caution = format!(
            "{name} was left in training mode ({count} of its parts, {first} first): what it answers may depend on the batch and on chance; \
             model.eval() ends it"
        );
        cx.warn(caution.as_str());
        model.notice(caution);
    }
    if device != "cpu" && loaded.text("device") == Some("cpu") {
        let caution = format!(
            "{name} answers on the CPU: its Python finds no GPU (torch.cuda.is_available() is false; programs of a script that the superuser \
             runs can open one only with --allow-write)"
        );
        cx.warn(caution.as_str());
        model.notice(caution);
    }
    if let Some(folder) = uncounted.filter(|_| loaded.text("state").is_none()) {
        model.notice(format!(
            "{} holds too much, or what can't be read, and does not count in the hash of {name}, by which two models are told apart: name the file or folder of its weights",
            folder.display()
        ));
    }
    if let Some(library) = loaded.text("unheard").filter(|_| !names_files) {
        model.notice(format!(
            "{name} uses {library}, which opens files on its own: weights that `args` does not name are no part of its hash, by which two models are told apart"
        ));
    }
    cx.record_input("model", &name, model.digest);
    Ok(model)
}

/// Says so where images go in as they are to a network that is of a family that hardly ever wants them so.
fn notice_pixels(model: &Model, loaded: &LoadedOffer) {
    let wants = &loaded.said["wants"];
    let family = match loaded.text("family") {
        Some("transformers") => "Hugging Face's models, whose processor says how (return model, processor)",
        Some("torchvision") => "torchvision's models",
        Some("timm") => "timm's models",
        _ if wants.is_array() => "timm's models",
        _ => return,
    };
    let how = match (&wants[0], &wants[1]) {
        (Json::Null, _) | (_, Json::Null) => String::new(),
        (mean, std) => format!(": `mean` {mean} and `std` {std}"),
    };
    model.notice(format!(
        "sees pixels as they are, but published weights of {family} want them normalised{how}; `mean: [0]` says that these weights do not"
    ));
}
