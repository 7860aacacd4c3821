//! What is examined: a classifier, whatever it is made of, behind one type.

mod asked;
mod bfloat16;
mod binary;
mod classify;
mod doubts;
mod frozen;
mod history;
mod jumps;
mod layer;
mod learned;
mod load;
mod memory_format;
mod module;
mod network;
mod otherwise;
mod pixel_gradients;
mod probe;
mod program;
mod python;
mod resized;
mod scaled;
mod shift;
mod slope;
mod smoothed;
mod supply;
mod votes;
pub mod weights;
pub mod zoo;

use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;
use std::rc::Rc;

use tch::{Device, Kind};

pub use binary::binary;
pub use classify::Inputs;
pub use doubts::AnswersToDraws;
pub use layer::{AvgPool, Conv, ConvTranspose, Layer, Linear, MaxPool, Mode, Names, Part, Shape};
pub use learned::BY_HEART;
pub use load::{Arch, Options, load};
pub use module::{Module, Start};
pub use network::{Closure, Layers, Network, TorchScript};
pub use probe::UNSTEADY;
pub use program::Program;
pub use python::{PythonOptions, python};
pub use shift::{Shared, ShiftPlan};
pub use smoothed::STANDS_IN;
pub use supply::{Fresh, HeNormal, Init, Loaded, Supply, check_names, rename};
pub use votes::{Sampling, Votes};

use learned::LearnedImages;

use crate::core::{
    Cautions, Cx, Digest, Error, ErrorKind, Object, Result, Table, Tensor, Value, keeps_graph, no_gradient, on_device,
    room,
};
use crate::data::{Filter, are_numbers};
pub use asked::Asked;
use asked::asked;

/// On a CPU.
const PIXELS_AT_ONCE: usize = 400_000;

const ONE_SCORE: &str = "one score per image, as before a sigmoid, is no score per class: have the model answer two, 0 and s, or -s/2 and s/2";

/// What a network wants its input normalised by.
struct Normalisation {
    mean: Tensor,
    std: Tensor,
    /// Mean and deviation as they were given, for the model's identity and its file.
    numbers: [Vec<f64>; 2],
}

/// Images, and the classes that were answered to them.
type FirstAnswers = (Tensor, Vec<i64>);

/// A classifier under examination: images in [0, 1] to scores. A clone is another handle on the same one.
#[derive(Clone)]
pub struct Model {
    pub name: String,
    network: Rc<dyn Network>,
    /// `[C, H, W]`, where it is known.
    input: Option<[i64; 3]>,
    classes: OnceCell<i64>,
    /// Per-channel mean and standard deviation that the network wants its input normalised by; everything outside
    /// the model works in [0, 1].
    normalisation: Option<Rc<Normalisation>>,
    digest: Digest,
    /// What its classes are called, where the data that it learned from say so.
    class_names: Option<Rc<[String]>>,
    /// Models whose answers it works its own out from.
    asks: Vec<Digest>,
    made_by: Option<Digest>,
    /// Mean training loss of each epoch, of a model trained here.
    history: Vec<f64>,
    learned: LearnedImages,
    /// What the models learned from that it was seen to ask.
    learned_through: Rc<RefCell<LearnedImages>>,
    /// What brings images to its size.
    filter: Filter,
    /// What was noticed of its answers.
    cautions: Rc<RefCell<Cautions>>,
    /// How many images were asked about to notice something.
    probed: Rc<Cell<usize>>,
    /// How far the scores that were seen then may be off by rounding, not a number before.
    rounding_of_scores: Rc<Cell<f64>>,
    /// How many images it takes at a time and no others, as a program does that was traced or exported for so many.
    takes: Rc<Cell<Takes>>,
    /// Of a model that was written elsewhere a few images and what it answered to them first.
    first_answers: Rc<RefCell<Option<FirstAnswers>>>,
    /// Whether it was seen to read images as they were prepared, better than in any other way.
    read_well: Rc<Cell<bool>>,
}

/// What is known of how many images a model takes at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Takes {
    #[default]
    Unknown,
    /// No one number of images of this size, as far as was looked.
    NoneOf([i64; 3]),
    Batches(i64),
}

impl Model {
    pub fn new(name: impl Into<String>, network: Box<dyn Network>, digest: Digest) -> Self {
        Self {
            name: name.into(),
            network: network.into(),
            input: None,
            classes: OnceCell::new(),
            normalisation: None,
            digest,
            class_names: None,
            asks: vec![],
            made_by: None,
            history: vec![],
            learned: LearnedImages::default(),
            learned_through: Rc::default(),
            filter: Filter::default(),
            cautions: Rc::default(),
            probed: Rc::default(),
            rounding_of_scores: Rc::new(Cell::new(f64::NAN)),
            takes: Rc::default(),
            first_answers: Rc::default(),
            read_well: Rc::default(),
        }
    }

    /// A model of layers: its classes, input and identity come from the module.
    pub fn of_module(name: impl Into<String>, module: Module) -> Result<Self> {
        let (digest, classes, input) = (module.digest()?, module.classes, module.input);
        Ok(Self::new(name, Box::new(Layers::new(module)?), digest).with_classes(classes).with_input(input))
    }

    /// Whose answers are worked out from those of another one.
    pub fn that_asks(self, other: &Self) -> Self {
        Self { asks: other.sources(), class_names: other.class_names.clone(), ..self }.that_learned_as(other)
    }

    /// Whose classes are called so; names that are numbers say nothing.
    pub fn with_class_names(self, names: &[String]) -> Self {
        Self { class_names: (!are_numbers(names)).then(|| names.into()), ..self }
    }

    pub fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    /// Refuses what takes scores for those of one class among all.
    pub(crate) fn check_of_classes(&self, what: &str) -> Result<()> {
        match self.network.of_binary_labels() {
            true => Err(Error::argument(format!(
                "{what} answers the logarithm of a mean of softmaxes, and {} has a score for each label by itself",
                self.name
            ))
            .hint("give each of its classifiers to it, and put these together with model::binary")),
            false => Ok(()),
        }
    }

    /// What the models learned from that a closure behind it was seen to ask; `None` where there is none.
    pub fn asked(&self) -> Option<Asked> {
        self.network.asked()
    }

    /// Itself and the models that it asks.
    fn sources(&self) -> Vec<Digest> {
        self.asks.iter().copied().chain([self.digest]).collect()
    }

    /// Whether both answer what one model does: the same one, or what was made of it by averaging, smoothing, scaling or resizing.
    pub fn answers_as(&self, other: &Self) -> bool {
        let others = other.sources();
        self.sources().iter().any(|source| others.contains(source))
    }

    /// Whether it answers what the model with this hash does.
    pub fn answers_as_hash(&self, short: &str) -> bool {
        self.hashes().iter().any(|own| own == short)
    }

    /// The hashes that it is known by: its own, and those of what it was made of.
    pub fn hashes(&self) -> Vec<String> {
        self.sources().iter().map(Digest::short).collect()
    }

    /// What random numbers go by.
    pub fn made_by_call(self, call: Digest) -> Self {
        Self { made_by: Some(call), ..self }
    }

    pub fn with_input(mut self, input: Option<[i64; 3]>) -> Self {
        self.input = input;
        self
    }

    pub fn with_classes(self, classes: i64) -> Self {
        // A fresh model's cell is empty, so this can't fail.
        let _ = self.classes.set(classes);
        self
    }

    /// With the normalisation that another model's input has.
    pub fn normalised_as(self, other: &Self) -> Result<Self> {
        match &other.normalisation {
            None => Ok(self),
            Some(normalisation) => {
                let [mean, std] = &normalisation.numbers;
                self.with_normalisation(mean, std, normalisation.mean.device())
            }
        }
    }

    /// `mean` and `std`: one number per channel, or one for all. They are part of the model's identity.
    pub fn with_normalisation(mut self, mean: &[f64], std: &[f64], device: Device) -> Result<Self> {
        let shape = [1, -1, 1, 1];
        let of = |numbers: &[f64]| -> Result<Tensor> {
            on_device(&Tensor::f_from_slice(numbers)?.f_to_kind(tch::Kind::Float)?.f_reshape(shape)?, device)
        };
        self.normalisation =
            Some(Rc::new(Normalisation { mean: of(mean)?, std: of(std)?, numbers: [mean.to_vec(), std.to_vec()] }));
        let with = |digest: Digest| Digest::of_parts(&[&digest.0, format!("{mean:?}{std:?}").as_bytes()]);
        (self.digest, self.made_by) = (with(self.digest), self.made_by.map(with));
        Ok(self)
    }

    /// The same model with its tensors on a device; its digest and all that was noticed of it stay.
    pub fn to(&self, device: Device) -> Result<Self> {
        if self.module().is_some_and(|module| module.device() == device) {
            return Ok(self.clone());
        }
        let network = self.network.on(device)?.unwrap_or_else(|| self.network.clone());
        let moved = |Normalisation { mean, std, numbers }: &Normalisation| -> Result<Rc<Normalisation>> {
            let (mean, std) = (on_device(mean, device)?, on_device(std, device)?);
            Ok(Rc::new(Normalisation { mean, std, numbers: numbers.clone() }))
        };
        let normalisation = self.normalisation.as_deref().map(moved).transpose()?;
        Ok(Self { network, normalisation, ..self.clone() })
    }

    /// The layers and tensors, of a model that is made of them.
    pub fn module(&self) -> Option<&Module> {
        self.network.module()
    }

    /// The layers on tensors of their own, which gradients are kept of.
    pub fn trainable_copy(&self) -> Result<Module> {
        let module = self.module().ok_or_else(|| {
            Error::model(format!("{} is not made of layers, so its weights can't be trained here", self.name))
                .hint("load it with `arch`, as layers")
        })?;
        let module = module.copy()?;
        module.set_trainable(true)?;
        match module.parameters().is_empty() {
            true => Err(Error::model(format!("{} has nothing to train", self.name))),
            false => Ok(module),
        }
    }

    /// A model that answers what goes into this one's last linear layer.
    pub fn features(&self) -> Result<Self> {
        let module = self.module().ok_or_else(|| {
            Error::model(format!("{} is not made of layers, so there are no features before its scores", self.name))
                .hint("load it with `arch`, as layers, or use its logits")
        })?;
        Self::of_module(format!("features of {}", self.name), module.without_last()?)?.normalised_as(self)
    }

    pub fn input(&self) -> Option<[i64; 3]> {
        self.input
    }

    /// The number of classes, once it is known: from the weights, or from the first answer.
    pub fn classes(&self) -> Option<i64> {
        self.classes.get().copied()
    }

    pub fn differentiable(&self) -> bool {
        self.network.differentiable()
    }

    /// How many images it makes of each, all of which are held where gradients are.
    pub fn copies(&self) -> usize {
        self.network.copies()
    }

    /// Why its answers may not mean what they seem to, as far as was noticed.
    pub fn cautions(&self) -> Cautions {
        self.cautions.borrow().clone()
    }

    /// Keeps what was noticed, for every result that comes of this model.
    pub fn notice(&self, caution: impl Into<String>) {
        self.cautions.borrow_mut().add(caution);
    }

    /// Whether what it does can't be told from its digest: a closure's.
    pub fn opaque(&self) -> bool {
        self.network.opaque()
    }

    /// Whether all that a batch's scores are worked out of lies where it lies as long as there is the model: layers and their tensors.
    pub fn stays_in_place(&self) -> bool {
        self.network.module().is_some()
    }

    /// Whether it is TorchScript or a program, which nobody here has read.
    pub(crate) fn foreign(&self) -> bool {
        self.network.foreign()
    }

    /// Scores before the softmax, `N x K`, of images `N x C x H x W` in [0, 1]. No gradients are kept unless the images ask
    /// for them; where they do, scores that do not depend on them are refused.
    pub fn logits(&self, images: &Tensor) -> Result<Tensor> {
        let size = images.size();
        if size.len() != 4 || size[0] == 0 {
            return Err(Error::model(format!("{}: images must be N x C x H x W, got {size:?}", self.name)));
        }
        if let Some(input) = self.input
            && size[1..] != input
        {
            return Err(self.of_another_size(input, &size[1..]));
        }
        if let Takes::Batches(takes) = self.takes.get()
            && size[0] != takes
        {
            return self.in_batches_of(takes, images);
        }
        match self.answered(images) {
            Err(error) => match self.fixed_batch(images, &error)? {
                Some(takes) => self.in_batches_of(takes, images),
                None => Err(error),
            },
            answered => answered,
        }
    }

    /// Asks about so many images at a time; what the last ones lack is filled up with copies of one, whose answers are left out.
    fn in_batches_of(&self, takes: i64, images: &Tensor) -> Result<Tensor> {
        let n = images.size()[0];
        let mut all = vec![];
        for from in (0..n).step_by(takes as usize) {
            let own = takes.min(n - from);
            let mut some = images.f_narrow(0, from, own)?;
            if own < takes {
                let last = some.f_narrow(0, own - 1, 1)?.f_expand([takes - own, -1, -1, -1], false)?;
                some = Tensor::f_cat(&[some, last], 0)?;
            }
            all.push(self.answered(&some)?.f_narrow(0, 0, own)?);
        }
        Ok(Tensor::f_cat(&all, 0)?)
    }

    /// How many images what ended so with these takes, if it answers some one number of copies of the first, all alike, and ends in an error of its own
    /// with one more and with as many as these. It is looked for once.
    fn fixed_batch(&self, images: &Tensor, error: &Error) -> Result<Option<i64>> {
        const USUAL: [i64; 10] = [1, 2, 4, 8, 10, 16, 32, 64, 100, 128];
        /// Numbers of a batch, at most.
        const LARGEST: usize = 1 << 25;
        let raised =
            |error: &Error| error.kind == ErrorKind::Model && !error.is_out_of_memory() && self.network.raised(error);
        let size = images.size();
        let looked = Takes::NoneOf([size[1], size[2], size[3]]);
        if self.takes.get() == looked || !raised(error) {
            return Ok(None);
        }
        let each = size[1..].iter().product::<i64>() as usize;
        let ask = |many: i64| {
            let copies = images.f_detach()?.f_narrow(0, 0, 1)?.f_repeat([many, 1, 1, 1])?;
            self.network.forward(&self.normalise(&copies)?)
        };
        let refuses = |many: i64| match ask(many) {
            Err(error) if raised(&error) => Ok(true),
            Err(error) => Err(error),
            Ok(_) => Ok(false),
        };
        let takes = |many: i64| match ask(many) {
            Ok(scores) => {
                let shape = scores.size();
                let told = shape.len() == 2 && shape[0] == many && shape[1] > 0;
                Ok(told
                    && scores
                        .f_narrow(0, 0, 1)?
                        .f_expand_as(&scores)?
                        .f_isclose(&scores, 1e-3, 1e-5, true)?
                        .f_all()?
                        .f_is_nonzero()?)
            }
            Err(error) if raised(&error) => Ok(false),
            Err(error) => Err(error),
        };
        self.takes.set(looked);
        if !refuses(size[0])? {
            // These may be other images than those that it ended with.
            match self.network.forward(&self.normalise(&images.f_detach()?)?) {
                Ok(_) => self.notice(format!(
                    "{} ended in an error and answered when it was asked the same once more ({}): what it answers goes by more than the image",
                    self.name,
                    error.message.lines().next().unwrap_or_default()
                )),
                Err(again) if raised(&again) => {}
                Err(again) => return Err(again),
            }
            return Ok(None);
        }
        for many in USUAL.into_iter().filter(|&many| many != size[0] && many as usize * each <= LARGEST) {
            if takes(many)? {
                let fixed = refuses(many + 1)?;
                self.takes.set(if fixed { Takes::Batches(many) } else { looked });
                return Ok(fixed.then_some(many));
            }
        }
        Ok(None)
    }

    fn answered(&self, images: &Tensor) -> Result<Tensor> {
        asked(self);
        let size = images.size();
        let scores = self.network.forward(&self.normalise(images)?)?;
        if keeps_graph(images) && !scores.requires_grad() {
            return Err(no_gradient(&self.name));
        }
        let answered = scores.size();
        if answered.len() != 2 || answered[0] != size[0] || answered[1] == 0 {
            let error = Error::model(format!("{} must answer {} x K scores, got {answered:?}", self.name, size[0]));
            return Err(match answered[..] {
                [images] if images == size[0] => error.hint(match scores.kind() {
                    Kind::Int64 | Kind::Int => {
                        "class numbers are no scores: have the model answer what stands before its argmax"
                    }
                    _ => ONE_SCORE,
                }),
                [images, _, 1, 1] if images == size[0] => {
                    error.hint("have the model flatten its scores: scores.flatten(1)")
                }
                _ => error,
            });
        }
        let what = match scores.kind() {
            Kind::Bool => Some("true or false"),
            Kind::ComplexHalf | Kind::ComplexFloat | Kind::ComplexDouble => Some("a complex number"),
            _ => None,
        };
        if let Some(what) = what {
            return Err(Error::model(format!("{} answers {what} for each class, wanted are scores", self.name))
                .hint("have the model answer what stands before its softmax, a float for each class"));
        }
        let classes = *self.classes.get_or_init(|| answered[1]);
        if answered[1] != classes {
            return Err(Error::model(format!(
                "{} answered {} scores per image where it has {classes} classes",
                self.name, answered[1]
            )));
        }
        Ok(scores)
    }

    fn of_another_size(&self, wanted: [i64; 3], size: &[i64]) -> Error {
        let [wanted, size] = [&wanted, size].map(|s| s.iter().map(i64::to_string).collect::<Vec<_>>().join(" x "));
        Error::model(format!("{} takes {wanted} images, got {size}", self.name))
            .hint("load the data with `resize` or `crop`, or with `grey` for a one-channel model")
    }

    /// Images in [0, 1] as the network wants them.
    pub fn normalise(&self, images: &Tensor) -> Result<Tensor> {
        Ok(match self.normalisation.as_deref() {
            Some(Normalisation { mean, std, numbers }) => {
                let channels = images.size().get(1).copied();
                for (name, numbers) in ["mean", "std"].into_iter().zip(numbers) {
                    let fits = channels == Some(numbers.len() as i64) || (channels == Some(1) && numbers.len() == 3);
                    if numbers.len() > 1 && !fits {
                        return Err(Error::model(format!(
                            "{}: `{name}` has {} numbers, the images have {} channels",
                            self.name,
                            numbers.len(),
                            channels.unwrap_or_default()
                        ))
                        .hint("one number for each channel, or one for all"));
                    }
                }
                images.f_sub(mean)?.f_div(std)?
            }
            None => images.shallow_clone(),
        })
    }

    /// Notes that the model is asked about these images.
    fn note_scored(&self, cx: &Cx, set: &crate::data::Dataset) {
        [set.digest(), set.source_digest()].into_iter().for_each(|images| cx.note_scored(self.digest, images));
    }

    /// Refuses data whose labels the model can't answer, and notices what a few answers show of the model.
    pub fn check_fits(&self, cx: &Cx, set: &crate::data::Dataset) -> Result<()> {
        set.record(cx);
        cx.record_input("model", &self.name, self.digest);
        self.note_scored(cx, set);
        if let Some(wanted) = self.input.filter(|wanted| *wanted != set.shape().map(|n| n as i64)) {
            return Err(self.of_another_size(wanted, &set.shape().map(|n| n as i64)));
        }
        let colours = |normalisation: &Normalisation| normalisation.numbers.iter().any(|numbers| numbers.len() == 3);
        if set.shape()[0] == 1 && self.normalisation.as_deref().is_some_and(colours) {
            let caution =
                format!("{} sees grey images as three channels that are alike but for `mean` and `std`", self.name);
            if !self.cautions().iter().any(|said| said == caution) {
                cx.warn_of(self.digest, caution.as_str());
                self.notice(caution);
            }
        }
        self.probe_on(cx, set)?;
        if self.classes().is_none() {
            tch::no_grad(|| self.logits(&set.images(&[0], cx.device())?)).map(drop)?;
        }
        let classes = self.classes().unwrap_or_default();
        match set.labels().iter().max() {
            Some(&label) if label >= classes => {
                Err(Error::model(format!("{} has {classes} classes, but {} has label {label}", self.name, set.name))
                    .hint(match (classes, label) {
                        (1, _) => ONE_SCORE,
                        _ => "model and data must agree on the classes; `ds.only` or `ds.relabel` adapts data",
                    }))
            }
            _ => Ok(()),
        }
    }

    /// How many images one batch holds: small enough to stay in the CPU's cache and to take half a second or less, and on a GPU as many
    /// as keep it busy and have room there: of the largest published networks, at 224 x 224, some 64 MB an image. A function of the shape and
    /// of that room, so that results do not depend on how fast the machine is.
    pub fn batch_size(cx: &Cx, shape: [usize; 3]) -> usize {
        let share = match cx.device() {
            Device::Cpu => 1.0,
            _ => (room(cx) / 4.0).min(1.0),
        };
        Self::images_at_once(cx, shape, share)
    }

    /// The same with gradients, for which an image needs many times the memory: of the largest published networks some 150 MB.
    pub fn batch_size_with_gradients(cx: &Cx, shape: [usize; 3]) -> usize {
        Self::images_at_once(cx, shape, (room(cx) / 8.0).min(1.0))
    }

    /// Of a mean over copies of `N x C x H x W` images: how many copies of them all are asked about together. A few small images take longer one after another;
    /// what goes by its batch, or draws for it, is asked about each copy by itself.
    pub(crate) fn copies_at_once(&self, size: &[i64]) -> i64 {
        const TOGETHER: usize = 64;
        if !self.answers_each_alone() {
            return 1;
        }
        let [n, side, other] = [0, 2, 3].map(|axis| size.get(axis).map_or(1, |side| *side as usize));
        ((PIXELS_AT_ONCE / (side * other).max(1)).min(TOGETHER) / n.max(1)).max(1) as i64
    }

    fn images_at_once(cx: &Cx, shape: [usize; 3], share: f64) -> usize {
        let pixels = (shape[1] * shape[2]).max(1);
        let whole = match cx.device() {
            Device::Cpu => (PIXELS_AT_ONCE / pixels).clamp(1, 512),
            _ => (25_000_000 / pixels).clamp(16, 8192),
        };
        (whole as f64 * share).ceil().max(1.0) as usize
    }
}

impl Object for Model {
    fn kind(&self) -> &'static str {
        "Model"
    }

    fn summary(&self) -> String {
        let classes = self.classes().map_or("classes not known yet".into(), |n| format!("{n} classes"));
        let input = self.input.map_or(String::new(), |[c, h, w]| format!(", input {c} x {h} x {w}"));
        format!("model {}: {classes}{input}, {}{}", self.name, self.digest.short(), self.cautions().ending())
    }

    fn fields(&self) -> &'static [&'static str] {
        &["name", "classes", "input", "hash", "losses", "cautions"]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "name" => Value::Str(self.name.clone()),
            "classes" => self.classes().map_or(Value::Unit, Value::Int),
            "input" => self.input.map_or(Value::Unit, Value::ints),
            "hash" => Value::Str(self.digest.short()),
            "losses" => Value::floats(self.history.iter().copied()),
            "cautions" => self.cautions().value(),
            _ => return Ok(None),
        }))
    }

    fn details(&self, width: usize) -> String {
        let Some(module) = self.module() else { return self.summary() };
        let (mut names, mut shapes, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        module.visit(&mut |name, tensor, _| {
            let size: Vec<String> = tensor.size().iter().map(i64::to_string).collect();
            names.push(Value::Str(name));
            shapes.push(Value::Str(size.join(" x ")));
            numbers.push(Value::Int(tensor.numel() as i64));
        });
        let table = Table::default().column("tensor", names).column("numbers", numbers).column("shape", shapes);
        let parameters = module.parameter_count();
        format!("{}\n{parameters} parameters\n{}", self.summary(), table.text(width, 60))
    }

    fn formats(&self) -> &'static [&'static str] {
        if self.module().is_some() { &["safetensors"] } else { &[] }
    }

    fn write(&self, _cx: &Cx, path: &Path, ending: &str) -> Result<()> {
        match self.module() {
            Some(module) if ending == "safetensors" => {
                weights::write_safetensors(path, &module.state(), &[("viva", self.description(module)?)])
            }
            _ => Err(Error::file(path, format!("this model can't be written as .{ending}"))),
        }
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn made_by(&self) -> Option<Digest> {
        self.made_by
    }

    fn device(&self) -> Option<Device> {
        self.network.device()
    }

    fn as_made_by(&self, call: Digest) -> Option<Rc<dyn Object>> {
        Some(Rc::new(self.clone().made_by_call(call)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_on_a_cpu_follow_from_the_shape_alone() {
        let cx = Cx::default();
        for (side, whole, with_gradients) in [(28, 510, 64), (32, 390, 49), (224, 7, 1), (2000, 1, 1)] {
            assert_eq!(Model::batch_size(&cx, [3, side, side]), whole, "{side}");
            assert_eq!(Model::batch_size_with_gradients(&cx, [3, side, side]), with_gradients, "{side}");
        }
    }
}
