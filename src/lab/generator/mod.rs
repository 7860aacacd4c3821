//! What draws: generators, which make images of latent vectors in named stages, and the discriminators that they learn from.

mod deviations;
mod discriminator;
mod encoded;
mod load;
mod program;
mod sample;
mod sequential;
pub mod zoo;

use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;

pub use deviations::Site;
pub use discriminator::{Discriminator, Judge, Judgement, Sense, Split, SplitPlan, ordinary};
pub use encoded::Encoded;
pub use load::{Options, load};
pub use program::StagedProgram;
pub use sequential::{Plan, Sequential, Squash};

use tch::{Device, Kind};

use crate::core::{
    Cautions, Cx, Digest, Error, Object, Result, Table, Tensor, Value, attempt, copied, normal_within_two_deviations,
    number, numbers_of, on_device, room, with_stream,
};
use crate::data::MisreadBy;
use crate::model::weights::{self, Weights};
use crate::model::{Mode, Model};

/// What a stage needs besides the activations that come in: whatever the network makes of latent vectors and labels.
pub type Condition = Vec<Tensor>;

/// Sees a tensor by its name, and whether training changes it by gradients.
pub type NetworkVisitor<'a> = dyn FnMut(String, &Tensor, bool) + 'a;

/// What maps latent vectors to images, a stage at a time.
pub trait Network {
    /// Numbers of a latent vector.
    fn latent(&self) -> i64;

    /// How many labels it draws; `None` if it takes none.
    fn classes(&self) -> Option<i64>;

    /// The names of the stages. The last one gives images in [0, 1].
    fn stages(&self) -> Vec<String>;

    /// What the stages need of latent vectors `N x latent` and labels `N`, which are there if the network has classes.
    fn condition(&self, latents: &Tensor, labels: Option<&Tensor>) -> Result<Condition>;

    /// Stage `i`, counted from 0, of what the stage before gave; stage 0 takes the latent vectors.
    fn stage(&self, i: usize, x: &Tensor, condition: &Condition, mode: Mode) -> Result<Tensor>;

    /// What the stages after `i` need, where that follows from what stage `i` gave, changes of it included.
    fn condition_after(&self, _i: usize, _x: &Tensor) -> Result<Option<Condition>> {
        Ok(None)
    }

    /// What goes into the activation function that stage `i` ends in, in evaluation; `None` where it ends in none.
    fn before_activation(&self, _i: usize, _x: &Tensor, _condition: &Condition) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// The rest of a stage, after `before_activation`; `x` may be overwritten.
    fn activate(&self, _i: usize, _x: &Tensor) -> Result<Tensor> {
        Err(Error::internal("a stage without an activation function"))
    }

    /// Every tensor of the state dict.
    fn visit(&self, see: &mut NetworkVisitor);

    /// The same for evaluation alone, where that is faster.
    fn frozen(&self) -> Result<Option<Box<dyn Network>>> {
        Ok(None)
    }

    /// Latent vectors are normal, or normal without what lies beyond two standard deviations, times this.
    fn truncation(&self) -> Option<f64> {
        None
    }

    /// How far styles lie from their mean, as a share of how far they would, where that was asked for.
    fn psi(&self) -> Option<f64> {
        None
    }

    fn prior(&self) -> Prior {
        Prior::Normal
    }

    /// Whether it is a program, of which nothing is known but what it draws.
    fn is_program(&self) -> bool {
        false
    }

    /// Whether latent vectors have a distribution to draw them from; else they are those of images.
    fn has_prior(&self) -> bool {
        true
    }

    /// The latent vectors that it would draw images in [0, 1] of, `N x latent`; `None` where it can't tell.
    fn encode(&self, _images: &Tensor) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// The layers that the network is made of, where it is made of nothing else.
    fn description(&self) -> Option<serde_json::Value> {
        None
    }

    /// What a file needs to say so that the network can be built again: its layers, or the name by which its published file is read.
    fn saved_as(&self) -> Option<serde_json::Value> {
        self.description()
    }

    /// The same network on tensors of its own on a device, which can be trained.
    fn copy(&self, _device: Device) -> Result<Rc<dyn Network>> {
        Err(untrainable())
    }
}

/// How the numbers of latent vectors are distributed, each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prior {
    /// With mean 0 and deviation 1.
    Normal,
    /// From -1 to 1.
    Uniform,
}

impl Prior {
    pub fn deviation(self) -> f64 {
        match self {
            Self::Normal => 1.0,
            Self::Uniform => (1.0f64 / 3.0).sqrt(),
        }
    }
}

/// Normal vectors were never what such a decoder learned to draw of.
fn no_prior() -> Error {
    Error::model("this decoder's latent vectors have no distribution of their own: of normal ones it draws no images")
        .hint("let h = g.encode(ds): what h draws are the images of a data set, with their labels")
}

fn untrainable() -> Error {
    Error::model("this network can't be trained here: it is known from its published weights alone")
}

/// Copies of a network's tensors by name, on a device.
fn copies(visit: &dyn Fn(&mut NetworkVisitor), device: Device) -> Result<Weights> {
    let mut all = vec![];
    visit(&mut |name, tensor, _| all.push((name, copied(tensor))));
    all.into_iter().map(|(name, copy)| Ok((name, on_device(&copy?, device)?))).collect()
}

/// Latent vectors are drawn so many at a time, whatever the batches they are used in.
const BLOCK: usize = 64;

/// Draws images of latent vectors. A clone is another handle on the same one.
#[derive(Clone)]
pub struct Generator {
    pub name: String,
    network: Rc<dyn Network>,
    frozen: Option<Rc<dyn Network>>,
    discriminator: Option<Discriminator>,
    /// What comes out of each stage for one latent vector, the latent vector first; the batch left out.
    shapes: OnceCell<Vec<Vec<i64>>>,
    device: Device,
    digest: Digest,
    made_by: Option<Digest>,
    history: History,
    /// The classifier that learned beside it.
    classifier: Option<Model>,
    /// Hashes of the classifiers that it was taught to be read by.
    kept_by: Vec<String>,
    /// Whom it was finetuned against.
    misread_by: MisreadBy,
    /// Labels that it was never shown an image of.
    unlearned: Vec<i64>,
    /// The images that it draws again, where latent vectors are theirs.
    encoded: Option<Rc<Encoded>>,
    redraws: bool,
    /// What was noticed of its images.
    cautions: Cautions,
}

/// What a training noted: one value per note.
#[derive(Clone, Default)]
pub struct History {
    pub columns: Vec<(&'static str, Vec<f64>)>,
}

impl Generator {
    pub fn new(name: impl Into<String>, network: Rc<dyn Network>, device: Device, digest: Digest) -> Result<Self> {
        let mut parameters = vec![];
        network.visit(&mut |_, tensor, learns| parameters.extend(learns.then(|| tensor.shallow_clone())));
        for parameter in parameters {
            let _ = parameter.f_set_requires_grad(false)?;
        }
        let frozen = tch::no_grad(|| network.frozen())?.map(Rc::from);
        let shapes = OnceCell::new();
        Ok(Self {
            name: name.into(),
            network,
            frozen,
            discriminator: None,
            shapes,
            device,
            digest,
            made_by: None,
            history: History::default(),
            classifier: None,
            kept_by: vec![],
            misread_by: MisreadBy::Nobody,
            unlearned: vec![],
            encoded: None,
            redraws: false,
            cautions: Cautions::default(),
        })
    }

    /// The same, after a few images were drawn of it to see whether they are functions of their latent vectors alone: a program's may depend on
    /// the rest of a batch, or on draws of its own.
    pub fn noticed(mut self) -> Result<Self> {
        /// Of a pixel: rounding that depends on the size of a batch stays below.
        const ROUNDED: f64 = 1e-3;
        /// At least, and at most where they are small, so that as many labels as may be are among them.
        const IMAGES: [i64; 2] = [4, 16];
        const SMALL: i64 = 1 << 16;
        let [_, h, w] = self.image_shape()?;
        let most = if h * w > SMALL { IMAGES[0] } else { IMAGES[1] };
        let n = self.classes().unwrap_or(1).clamp(IMAGES[0], most);
        let latents = self.latents(0, 0, n as usize)?.f_to_kind(self.kind())?;
        let labels = match self.classes() {
            Some(classes) => Some(Tensor::f_arange(n, (tch::Kind::Int64, self.device))?.f_remainder(classes)?),
            None => None,
        };
        let draw = |places: &Tensor| -> Result<Tensor> {
            let of = |all: &Tensor| all.f_index_select(0, places);
            let labels = labels.as_ref().map(of).transpose()?;
            tch::no_grad(|| self.images(&of(&latents)?, labels.as_ref()))
        };
        let apart = |a: &Tensor, b: &Tensor| -> Result<f64> { Ok(a.f_sub(b)?.f_abs()?.f_max()?.f_double_value(&[])?) };
        let in_order = Tensor::f_arange(n, (tch::Kind::Int64, self.device))?;
        let together = draw(&in_order)?;
        // Draws of its own follow from what is asked of it, in this order: turned round, each image meets others of them, and the same companions.
        let turned = in_order.f_flip([0])?;
        if apart(&together, &draw(&in_order)?)? > ROUNDED || apart(&together.f_flip([0])?, &draw(&turned)?)? > ROUNDED {
            self.redraws = true;
            self.cautions.add(format!(
                "{} draws another image of the same latent vector again: tests are of one drawing, and how large a change is that fails says nothing where \
                 its own draws change as well",
                self.name
            ));
        } else if apart(&together.f_narrow(0, n - 1, 1)?, &draw(&in_order.f_narrow(0, n - 1, 1)?)?)? > ROUNDED {
            self.cautions.add(format!(
                "what {} draws of a latent vector depends on the others in its batch: drawn alone an image is another one",
                self.name
            ));
        } else if self.classes().is_none() && self.network.is_program() {
            let of_label = |label: i64| -> Result<Tensor> {
                let label = Tensor::f_full([n], label, (tch::Kind::Int64, self.device))?;
                let drawn = |latents: &Tensor| drawn_by(self.evaluating(), latents, Some(&label), Mode::Evaluate);
                tch::no_grad(|| drawn(&latents))
            };
            // Of a program that takes no notice of labels any one gives the same; one that refuses a label has fewer, and on a GPU that ends more than
            // the call.
            let labels = if self.device == Device::Cpu { 1..4 } else { 1..2 };
            let otherwise =
                |label| of_label(label).and_then(|other| apart(&together, &other)).is_ok_and(|apart| apart > ROUNDED);
            if { labels }.any(otherwise) {
                self.cautions.add(format!(
                    "{} draws something else for another label, and how many there are was not said: all of its images are drawn for label 0, \
                     and none has a label (`classes` says how many)",
                    self.name
                ));
            }
        }
        if self.network.is_program() && !self.redraws {
            let two = latents.f_narrow(0, 0, 2)?;
            let label = match self.classes() {
                Some(_) => Some(Tensor::f_zeros([2], (tch::Kind::Int64, self.device))?),
                None => None,
            };
            let both = tch::no_grad(|| self.images(&two, label.as_ref()))?;
            if apart(&both.f_get(0)?, &both.f_get(1)?)? <= ROUNDED {
                self.cautions.add(format!(
                    "{} draws one image of two latent vectors: it may take no notice of them, and many draws then are of few images",
                    self.name
                ));
            }
        }
        Ok(self)
    }

    /// Whether it was seen to draw another image of the same latent vector again.
    pub fn redraws(&self) -> bool {
        self.redraws
    }

    pub fn cautions(&self) -> Cautions {
        self.cautions.clone()
    }

    /// The same with more to be said beside every result of it.
    pub fn cautioned(mut self, caution: String) -> Self {
        self.cautions.add(caution);
        self
    }

    /// A generator of tensors: its identity is theirs.
    pub fn of_tensors(name: impl Into<String>, network: Rc<dyn Network>, device: Device) -> Result<Self> {
        let digest = digest(&*network)?;
        Self::new(name, network, device, digest)
    }

    pub fn with_discriminator(self, discriminator: Option<Discriminator>) -> Self {
        Self { discriminator, ..self }
    }

    pub fn with_history(self, history: History) -> Self {
        Self { history, ..self }
    }

    pub fn with_classifier(self, classifier: Option<Model>) -> Self {
        Self { classifier, ..self }
    }

    pub fn with_keepers(self, kept_by: Vec<String>) -> Self {
        Self { kept_by, ..self }
    }

    /// As one that was finetuned against a classifier, or was not.
    pub fn with_misreading(self, misread_by: MisreadBy) -> Self {
        Self { misread_by, ..self }
    }

    /// As one that learned from no image of some labels, which is said of every result of it.
    pub fn with_unlearned(mut self, unlearned: Vec<i64>) -> Self {
        if !unlearned.is_empty() {
            let named: Vec<String> = unlearned.iter().take(NAMED).map(i64::to_string).collect();
            let more = if unlearned.len() > NAMED { ", .." } else { "" };
            self.cautions.add(format!(
                "{} learned from no image of {} of its {} labels ({}{more}): what it draws for these shows none of them, and reading it otherwise is no mistake",
                self.name,
                unlearned.len(),
                self.classes().unwrap_or_default(),
                named.join(", "),
            ));
        }
        Self { unlearned, ..self }
    }

    /// Labels that it was never shown an image of, where its training is known.
    pub fn unlearned(&self) -> &[i64] {
        &self.unlearned
    }

    /// Whom it was finetuned against.
    pub fn misread_by(&self) -> MisreadBy {
        self.misread_by
    }

    /// Hashes of the classifiers that it was taught to be read by, which are no judges of what it draws.
    pub fn kept_by(&self) -> &[String] {
        &self.kept_by
    }

    /// The same generator with its tensors on a device.
    pub fn to(&self, device: Device) -> Result<Self> {
        if device == self.device {
            return Ok(self.clone());
        }
        let fixed = |error: Error| {
            Error::model(format!("{} stays on the device that it was loaded on: {}", self.name, error.message))
                .hint("choose the device first, device(..), and load it again")
        };
        tch::no_grad(|| {
            let network = self.network.copy(device).map_err(fixed)?;
            let judge =
                self.discriminator.as_ref().map(|of| Ok::<_, Error>(Discriminator::new(of.judge().copy(device)?)));
            let classifier = self.classifier.as_ref().map(|of| of.to(device)).transpose()?;
            let moved = Self::new(self.name.clone(), network, device, self.digest)?;
            let moved = moved.with_discriminator(judge.transpose().map_err(fixed)?).with_history(self.history.clone());
            let (kept_by, encoded) = (self.kept_by.clone(), self.encoded.clone());
            let misread_by = self.misread_by;
            let (unlearned, cautions) = (self.unlearned.clone(), self.cautions.clone());
            let moved = moved.with_classifier(classifier);
            Ok(Self { made_by: self.made_by, kept_by, misread_by, unlearned, encoded, cautions, ..moved })
        })
    }

    pub fn network(&self) -> &Rc<dyn Network> {
        &self.network
    }

    pub fn discriminator(&self) -> Option<&Discriminator> {
        self.discriminator.as_ref()
    }

    pub fn latent(&self) -> i64 {
        self.network.latent()
    }

    /// At which its latent vectors are truncated, if they are.
    pub fn truncation(&self) -> Option<f64> {
        self.network.truncation()
    }

    /// How far its styles lie from their mean, where that was asked for.
    pub fn psi(&self) -> Option<f64> {
        self.network.psi()
    }

    /// How many labels it draws; `None` if it takes none.
    pub fn classes(&self) -> Option<i64> {
        self.network.classes()
    }

    /// The names of the stages; the last one gives the image.
    pub fn stages(&self) -> Vec<String> {
        self.network.stages()
    }

    /// The shapes of the latent vector and of what each stage gives of it.
    pub fn shapes(&self) -> Result<&[Vec<i64>]> {
        if self.shapes.get().is_none() {
            let labels = Tensor::f_zeros([1], (Kind::Int64, self.device))?;
            let latents = Tensor::f_zeros([1, self.latent()], (self.kind(), self.device))?;
            let activations = tch::no_grad(|| self.activations(&latents, Some(&labels)))?;
            let shapes = activations.iter().map(|activation| activation.size()[1..].to_vec()).collect();
            let _ = self.shapes.set(shapes);
        }
        self.shapes.get().map(Vec::as_slice).ok_or_else(|| Error::internal("a generator without shapes"))
    }

    /// `[C, H, W]` of its images.
    pub fn image_shape(&self) -> Result<[i64; 3]> {
        match self.shapes()?.last().map(Vec::as_slice) {
            Some(&[c, h, w]) => Ok([c, h, w]),
            other => Err(Error::model(format!("{} draws {:?}, no images", self.name, other.unwrap_or_default()))),
        }
    }

    fn evaluating(&self) -> &dyn Network {
        self.frozen.as_deref().unwrap_or(&*self.network)
    }

    /// What the stages need, in evaluation; labels are left out where the network takes none.
    pub fn condition(&self, latents: &Tensor, labels: Option<&Tensor>) -> Result<Condition> {
        self.evaluating().condition(latents, self.wanted(labels)?)
    }

    /// Labels, as far as the network takes any.
    fn wanted<'a>(&self, labels: Option<&'a Tensor>) -> Result<Option<&'a Tensor>> {
        match (self.classes(), labels) {
            (Some(_), None) => Err(Error::internal("a conditional generator was given no labels")),
            (Some(_), labels) => Ok(labels),
            (None, _) => Ok(None),
        }
    }

    /// Stage `i` in evaluation.
    pub fn stage(&self, i: usize, x: &Tensor, condition: &Condition) -> Result<Tensor> {
        self.evaluating().stage(i, x, condition, Mode::Evaluate)
    }

    /// The latent vectors and what each stage gives, the images last.
    pub fn activations(&self, latents: &Tensor, labels: Option<&Tensor>) -> Result<Vec<Tensor>> {
        let mut condition = self.condition(latents, labels)?;
        let mut activations = vec![latents.shallow_clone()];
        for i in 0..self.stages().len() {
            activations.push(self.stage(i, &activations[i], &condition)?);
            condition = self.after(i + 1, &activations[i + 1], condition)?;
        }
        Ok(activations)
    }

    /// Images in [0, 1] of latent vectors. Those that memory is too short for at once are drawn one half after the other.
    pub fn images(&self, latents: &Tensor, labels: Option<&Tensor>) -> Result<Tensor> {
        let at_once = || drawn_by(self.evaluating(), latents, self.wanted(labels)?, Mode::Evaluate);
        let count = latents.size().first().copied().unwrap_or_default();
        match attempt(at_once) {
            Err(error) if error.is_out_of_memory() && count > 1 => {
                let first = count / 2;
                let half = |start: i64, count: i64| {
                    let part = |all: &Tensor| all.f_narrow(0, start, count);
                    self.images(&part(latents)?, labels.map(part).transpose()?.as_ref())
                };
                Ok(Tensor::f_cat(&[half(0, first)?, half(first, count - first)?], 0)?)
            }
            // Networks of viva's own end in [0, 1].
            Ok(images) if self.network.is_program() => {
                self.check_range(&images)?;
                Ok(images)
            }
            drawn => drawn,
        }
    }

    /// Refuses pixels that a program draws outside [0, 1], where all that sees them takes them for others.
    fn check_range(&self, images: &Tensor) -> Result<()> {
        /// Room for the last digits of a float32 computation.
        const ROUNDING: f64 = 1e-5;
        let images = images.f_detach()?;
        let [least, most] = numbers_of(&[images.f_min()?, images.f_max()?])?[..] else {
            return Err(Error::internal("two numbers make two"));
        };
        match least > -ROUNDING && most < 1.0 + ROUNDING {
            true => Ok(()),
            false => Err(Error::model(format!(
                "{} draws pixels from {} to {}, outside [0, 1]",
                self.name,
                number(least),
                number(most)
            ))
            .hint("have its last stage end in [0, 1], such as by (tanh(x) + 1) / 2")),
        }
    }

    /// What the stages from `layer` on need of what is at that layer, which was not the latent vector.
    pub fn after(&self, layer: usize, x: &Tensor, condition: Condition) -> Result<Condition> {
        match layer.checked_sub(1) {
            None => Ok(condition),
            Some(stage) => Ok(self.evaluating().condition_after(stage, x)?.unwrap_or(condition)),
        }
    }

    /// Latent vectors number `first` and following of those that belong to a seed, whatever the batches they are drawn in.
    pub fn latents(&self, seed: u64, first: usize, count: usize) -> Result<Tensor> {
        on_device(&self.latents_on_host(seed, first, count)?, self.device)
    }

    fn latents_on_host(&self, seed: u64, first: usize, count: usize) -> Result<Tensor> {
        match &self.encoded {
            Some(encoded) => encoded.latents(&encoded.in_order(seed), first, count),
            None => latents(&*self.network, seed, first, count, Device::Cpu),
        }
    }

    /// How many images are drawn at once: as a model's batches, fewer since a generator's early stages are wide.
    pub fn batch_size(&self, cx: &Cx) -> Result<usize> {
        let [_, h, w] = self.image_shape()?;
        let whole = match self.device {
            Device::Cpu => (100_000 / (h * w).max(1)).clamp(1, 128),
            _ => (4_000_000 / (h * w).max(1)).clamp(4, 1024),
        };
        Ok((whole as f64 * room(cx).min(1.0)).ceil().max(1.0) as usize)
    }

    pub fn device(&self) -> Device {
        self.device
    }

    /// Whether it is made of layers, whose tensors lie where they lie as long as it is there; others are programs.
    pub fn is_of_layers(&self) -> bool {
        self.network.saved_as().is_some()
    }
}

/// All stages, one after the other.
pub fn drawn_by(network: &dyn Network, latents: &Tensor, labels: Option<&Tensor>, mode: Mode) -> Result<Tensor> {
    let mut condition = network.condition(latents, labels)?;
    let mut x = latents.shallow_clone();
    for i in 0..network.stages().len() {
        x = network.stage(i, &x, &condition, mode)?;
        condition = network.condition_after(i, &x)?.unwrap_or(condition);
    }
    Ok(x)
}

/// As [`Generator::latents`].
pub fn latents(network: &dyn Network, seed: u64, first: usize, count: usize, device: Device) -> Result<Tensor> {
    if !network.has_prior() {
        return Err(no_prior());
    }
    let size = network.latent();
    let mut parts = vec![];
    for block in first / BLOCK..(first + count).div_ceil(BLOCK) {
        let drawn = with_stream(seed, LATENTS + block as u64, || latents_in_stream(network, BLOCK, Device::Cpu));
        parts.push(drawn?);
    }
    let all = if parts.is_empty() {
        Tensor::f_zeros([0, size], (Kind::Float, Device::Cpu))?
    } else {
        Tensor::f_cat(&parts, 0)?
    };
    on_device(&all.f_narrow(0, (first % BLOCK) as i64, count as i64)?, device)
}

/// `n` latent vectors from the stream that is open.
pub fn latents_in_stream(network: &dyn Network, n: usize, device: Device) -> Result<Tensor> {
    if !network.has_prior() {
        return Err(no_prior());
    }
    let size = [n as i64, network.latent()];
    let drawn = match (network.truncation(), network.prior()) {
        (None, Prior::Normal) => Tensor::f_randn(size, (Kind::Float, Device::Cpu))?,
        (None, Prior::Uniform) => {
            Tensor::f_rand(size, (Kind::Float, Device::Cpu))?.f_mul_scalar(2.0)?.f_sub_scalar(1.0)?
        }
        (Some(truncation), _) => {
            normal_within_two_deviations(&size)?.f_mul_scalar(truncation)?.f_to_kind(Kind::Float)?
        }
    };
    on_device(&drawn, device)
}

/// Part of the stream that latent vectors are drawn from; steps of training use the small parts.
const LATENTS: u64 = 1 << 60;

/// The identity of a network: its description, tensors, and where its latent vectors are truncated.
pub fn digest(network: &dyn Network) -> Result<Digest> {
    let about = network.description().map_or(String::new(), |about| about.to_string());
    let mut parts = vec![Digest::of(about.as_bytes())];
    parts.extend(network.truncation().map(|truncation| Digest::of(&truncation.to_le_bytes())));
    let mut failed = None;
    network.visit(&mut |name, tensor, _| match Digest::of_tensor(tensor) {
        Ok(digest) => parts.extend([Digest::of(name.as_bytes()), digest]),
        Err(error) => failed = Some(error),
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(Digest::of_parts(&parts.iter().map(|digest| &digest.0[..]).collect::<Vec<_>>())),
    }
}

/// Prefixes of a discriminator's tensors in a generator's file, and of what its description says.
const DISCRIMINATOR: &str = "discriminator";
/// What a file calls the classifiers that its generator was taught to be read by.
const KEPT_BY: &str = "kept_by";
/// Whether it was finetuned, or the hash of the classifier that this was against.
const TAUGHT_TO_BE_MISREAD: &str = "taught_to_be_misread";
/// And the labels that it learned from no image of.
const UNLEARNED: &str = "unlearned";
/// So many of them are named where it is told.
const NAMED: usize = 10;

impl Generator {
    /// How what it draws keeps nearer to the middle than what it was trained to draw.
    fn narrowed(&self) -> Option<String> {
        let truncated = self.truncation().map(|truncation| format!("truncated at {truncation}"));
        truncated.or_else(|| self.psi().map(|psi| format!("at psi {psi}")))
    }
}

impl Object for Generator {
    fn kind(&self) -> &'static str {
        "Generator"
    }

    fn summary(&self) -> String {
        let labels = self.classes().map_or("no labels".into(), |n| format!("{n} labels"));
        let image = self.image_shape().map_or("images".into(), |[c, h, w]| format!("images {c} x {h} x {w}"));
        let stages = self.stages().len();
        let encoded = self.encoded.as_ref().map_or(String::new(), |encoded| format!(" of {} images", encoded.len()));
        format!(
            "generator {}{encoded}: {image}, {labels}, latent {}{}, {stages} stages, {}{}",
            self.name,
            self.latent(),
            self.narrowed().map_or(String::new(), |how| format!(" {how}")),
            self.digest.short(),
            self.cautions.ending()
        )
    }

    fn fields(&self) -> &'static [&'static str] {
        &[
            "name",
            "latent",
            "classes",
            "shape",
            "layers",
            "hash",
            "discriminator",
            "auxiliary",
            "history",
            "classifier",
            "kept_by",
            "cautions",
        ]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "name" => Value::Str(self.name.clone()),
            "latent" => Value::Int(self.latent()),
            "classes" => self.classes().map_or(Value::Unit, Value::Int),
            "shape" => Value::ints(self.image_shape()?),
            "layers" => {
                let names = std::iter::once("latent".to_string()).chain(self.stages());
                let layer = |(name, shape): (String, &Vec<i64>)| {
                    let shape = Value::ints(shape.iter().copied());
                    Value::Map([("name".to_string(), Value::Str(name)), ("shape".to_string(), shape)].into())
                };
                Value::Array(names.zip(self.shapes()?).map(layer).collect())
            }
            "hash" => Value::Str(self.digest.short()),
            "kept_by" => Value::Array(self.kept_by.iter().cloned().map(Value::Str).collect()),
            "cautions" => self.cautions.value(),
            "discriminator" => Value::Bool(self.discriminator.is_some()),
            "auxiliary" => Value::Bool(self.discriminator().is_some_and(|own| own.judge().classifies())),
            "classifier" => self.classifier.clone().map_or(Value::Unit, Value::object),
            "history" => {
                let column = |(name, values): &(&'static str, Vec<f64>)| {
                    (name.to_string(), Value::floats(values.iter().copied()))
                };
                Value::Map(self.history.columns.iter().map(column).collect())
            }
            _ => return Ok(None),
        }))
    }

    fn details(&self, width: usize) -> String {
        let Ok(shapes) = self.shapes() else { return self.summary() };
        let names = std::iter::once("latent".to_string()).chain(self.stages()).map(Value::Str).collect();
        let numbers = shapes.iter().map(|shape| Value::Int(shape.iter().product())).collect();
        let places = (0..shapes.len() as i64).map(Value::Int).collect();
        let sizes =
            shapes.iter().map(|shape| Value::Str(shape.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ")));
        let table = Table::default()
            .column("layer", places)
            .column("name", names)
            .column("numbers", numbers)
            .column("shape", sizes.collect());
        format!("{}\n{}", self.summary(), table.text(width, 60))
    }

    fn formats(&self) -> &'static [&'static str] {
        if self.network.saved_as().is_some() { &["safetensors"] } else { &[] }
    }

    fn write(&self, _cx: &Cx, path: &Path, ending: &str) -> Result<()> {
        let Some(about) = self.network.saved_as().filter(|_| ending == "safetensors") else {
            return Err(Error::file(path, format!("this generator can't be written as .{ending}")));
        };
        let mut tensors = vec![];
        self.network.visit(&mut |name, tensor, _| tensors.push((name, tensor.shallow_clone())));
        let mut about = serde_json::json!({ "generator": about });
        if !self.kept_by.is_empty() {
            about[KEPT_BY] = serde_json::json!(self.kept_by);
        }
        match self.misread_by {
            MisreadBy::Nobody => {}
            MisreadBy::Somebody => about[TAUGHT_TO_BE_MISREAD] = true.into(),
            MisreadBy::Model(digest) => about[TAUGHT_TO_BE_MISREAD] = digest.hex().into(),
        }
        if !self.unlearned.is_empty() {
            about[UNLEARNED] = serde_json::json!(self.unlearned);
        }
        if let Some(discriminator) = &self.discriminator
            && let Some(said) = discriminator.judge().saved_as()
        {
            about[DISCRIMINATOR] = said;
            discriminator.judge().visit(&mut |name, tensor, _| {
                tensors.push((format!("{DISCRIMINATOR}.{name}"), tensor.shallow_clone()));
            });
        }
        weights::write_safetensors(path, &tensors, &[("viva", about.to_string())])
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn device(&self) -> Option<Device> {
        Some(self.device)
    }

    fn made_by(&self) -> Option<Digest> {
        self.made_by
    }

    fn as_made_by(&self, call: Digest) -> Option<Rc<dyn Object>> {
        let beside = Digest::of_parts(&[&call.0, b"classifier"]);
        let classifier = self.classifier.clone().map(|classifier| classifier.made_by_call(beside));
        Some(Rc::new(Self { made_by: Some(call), classifier, ..self.clone() }))
    }
}
