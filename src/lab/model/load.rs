//! Models from files: weights joined with the network that they belong to.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tch::CModule;

use super::layer::Layer;
use super::learned::SavedImages;
use super::module::Module;
use super::supply::{check_whole, rename};
use super::weights::{self, Contents, Weights};
use super::{Model, TorchScript, zoo};
use crate::core::{Cx, Digest, Error, Result, cut};

/// The network that a file's weights belong to.
#[derive(Clone)]
pub enum Arch {
    Named(String),
    Layers(Layer),
}

/// What a file of weights does not say about its model.
#[derive(Clone, Default)]
pub struct Options {
    pub arch: Option<Arch>,
    pub classes: Option<i64>,
    /// `[C, H, W]`
    pub input: Option<[i64; 3]>,
    /// Per channel, or one for all.
    pub mean: Option<Vec<f64>>,
    pub std: Option<Vec<f64>>,
    /// Name of a tensor or layer in the file: name of the layer in `arch`.
    pub names: BTreeMap<String, String>,
    /// Tensors or layers of the file that the network does not have.
    pub ignore: Vec<String>,
    /// Whether images are to be as the network's published weights want them, where nothing else says how.
    pub published: bool,
}

/// Reads a model: TorchScript, safetensors or a PyTorch state dict, told apart by content.
pub fn load(cx: &Cx, path: &Path, mut options: Options) -> Result<Model> {
    let name = path.file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned());
    let contents = weights::read(cx, path)?;
    let at = |error: Error| error.during(&path.display().to_string());
    let model = match contents {
        Contents::TorchScript { saved_in_training } => {
            let model = torchscript(cx, path, &name, &options)?;
            if saved_in_training {
                model.notice(weights::TAKEN_OUT_OF_TRAINING);
            }
            model
        }
        Contents::Weights(weights) => {
            let weights = unwrapped(weights, &mut options).map_err(at)?;
            let own = describe_self(cx, path, &mut options).map_err(at)?;
            // What was saved here says itself how it wants images.
            options.published &= !own.said;
            let named = options.arch.is_some();
            let FoundNetwork { module, arch } =
                module(cx, &name, weights, &mut options).map_err(|error| at(beside(error, &options, own.layers)))?;
            check_normalisation(&options.mean, &options.std, module.channels).map_err(at)?;
            let channels = module.channels;
            let model =
                Model::of_module(&name, module)?.with_class_names(own.class_names.as_deref().unwrap_or_default());
            let model = model.that_remembers(own.learned).with_history(own.losses);
            if let Some((arch, alike)) = arch
                .and_then(|arch| Some((arch, arch.alike?)))
                .filter(|(arch, _)| !(named || own.said || arch.is_called(&name)))
            {
                model.notice(format!(
                    "is taken for {}, as its tensors are called, and so are those of {alike}: `arch: {:?}` says that it is",
                    arch.name, arch.name
                ));
            }
            match arch.and_then(|arch| Some((arch, arch.sees?))) {
                Some((_, sees))
                    if !options.published && channels.is_some_and(|channels| channels != sees.mean.len() as i64) =>
                {
                    model
                }
                Some((arch, sees)) if !own.said && options.mean.is_none() && options.std.is_none() => {
                    model.notice(format!(
                        "sees pixels as they are, but the published weights of {} want `mean` {:?} and `std` {:?}: \
                         `published: true` has them, `mean: [0]` says that these weights do not",
                        arch.name, sees.mean, sees.std
                    ));
                    model
                }
                Some((_, sees)) if options.published => model.with_filter(sees.filter),
                _ => {
                    let unsaid = !own.said && options.mean.is_none() && options.std.is_none();
                    if let Some(arch) = arch.filter(|_| unsaid) {
                        let others = if arch.is_for_imagenet() { "[0.5]" } else { "those of CIFAR-10" };
                        model.notice(format!(
                            "sees pixels as they are, but published weights of {} want `mean` and `std`, some {others}, others ImageNet's: \
                             `mean: [0]` says that these do not",
                            arch.name
                        ));
                    }
                    model
                }
            }
        }
    };
    let model = match (&options.mean, &options.std) {
        (None, None) => model,
        (mean, std) => {
            // One number for all channels is a scale, such as 1 / 255.
            let differ = |numbers: &[f64]| numbers.iter().any(|x| *x != numbers[0]);
            let half = match (mean.as_deref(), std.as_deref()) {
                (Some(mean), None) if mean.iter().any(|x| *x != 0.0) => {
                    Some(("`mean` without `std`", "shifted and not scaled", "std: [1]"))
                }
                (None, Some(std)) if differ(std) => {
                    Some(("`std` without `mean`", "scaled and not shifted", "mean: [0]"))
                }
                _ => None,
            };
            if let Some((what, how, meant)) = half {
                model.notice(format!(
                    "was given {what}: pixels are {how}, which hardly any weights want (`{meant}` says that these do)"
                ));
            }
            let mean = mean.as_deref().unwrap_or(&[0.0]);
            model.with_normalisation(mean, std.as_deref().unwrap_or(&[1.0]), cx.device())?
        }
    };
    cx.record_input_from("model", &name, model.digest, path);
    Ok(model)
}

/// Refuses means and deviations that images of so many channels can't be normalised by.
pub(super) fn check_normalisation(
    mean: &Option<Vec<f64>>,
    std: &Option<Vec<f64>>,
    channels: Option<i64>,
) -> Result<()> {
    for (name, numbers) in [("mean", mean), ("std", std)] {
        let Some(numbers) = numbers else { continue };
        let fits = numbers.len() == 1 || channels.is_none_or(|c| c == numbers.len() as i64);
        if numbers.is_empty() || !fits {
            let channels = channels.map_or("1 or more".into(), |c| c.to_string());
            return Err(Error::argument(format!(
                "`{name}` has {} numbers, the model has {channels} channels",
                numbers.len()
            )));
        }
    }
    if let Some(odd) = mean.iter().flatten().find(|m| !m.is_finite()) {
        return Err(Error::argument(format!("`mean` must be finite numbers, got {odd}")));
    }
    if let Some(odd) = std.iter().flatten().find(|s| !(s.is_finite() && **s > 0.0)) {
        return Err(Error::argument(format!("`std` must be positive and finite numbers, got {odd}")));
    }
    Ok(())
}

fn torchscript(cx: &Cx, path: &Path, name: &str, options: &Options) -> Result<Model> {
    if options.published {
        return Err(Error::argument(format!("{}: what a program wants is not known here", path.display()))
            .hint("say it in place of `published`: input: [3, 224, 224], mean: [..], std: [..]"));
    }
    if options.arch.is_some() || !options.names.is_empty() || !options.ignore.is_empty() {
        return Err(Error::argument(format!("{}: TorchScript holds its own layers", path.display()))
            .hint("leave out `arch`, `names` and `ignore`"));
    }
    check_normalisation(&options.mean, &options.std, options.input.map(|[c, ..]| c))?;
    cx.check_may_hold(path)?;
    let mut program =
        CModule::load_on_device(path, cx.device()).map_err(|e| Error::from(e).during(&path.display().to_string()))?;
    program.f_set_eval()?;
    for (_, parameter) in program.named_parameters()? {
        let _ = parameter.f_set_requires_grad(false)?;
    }
    let model = Model::new(name, Box::new(TorchScript(program)), Digest::of_file(path)?).with_input(options.input);
    Ok(match options.classes {
        Some(classes) => model.with_classes(classes),
        None => model,
    })
}

/// A network, and the published one that it is.
struct FoundNetwork {
    module: Module,
    arch: Option<&'static zoo::Architecture>,
}

/// `file`: what it is called, which may say which network it is.
fn module(cx: &Cx, file: &str, weights: Weights, options: &mut Options) -> Result<FoundNetwork> {
    check_whole(&weights, &options.ignore)?;
    let weights = rename(weights, &options.names, &options.ignore)?;
    let arch = match &options.arch {
        Some(Arch::Layers(_)) => None,
        Some(Arch::Named(name)) => Some(zoo::find(name)?),
        None => match zoo::recognise(&weights, file)[..] {
            [] => None,
            [one] => Some(one),
            ref several => {
                let names: Vec<String> = several.iter().map(|arch| format!("{:?}", arch.name)).collect();
                return Err(Error::model(format!(
                    "its tensors are named as those of {}, which are other networks",
                    names.join(" and of ")
                ))
                .hint(format!("say which it is: arch: {}", names.join(" or arch: "))));
            }
        },
    };
    if options.published {
        let Some((arch, sees)) = arch.and_then(|arch| Some((arch, arch.sees?))) else {
            let which = arch.map_or("these layers".into(), |arch| arch.name.to_string());
            return Err(Error::argument(format!(
                "`published`: how images are to be for the published weights of {which} is not known here"
            ))
            .hint("say it: input: [3, 224, 224], mean: [..], std: [..]"));
        };
        options.input = options.input.or(Some(arch.input));
        if options.mean.is_none() && options.std.is_none() {
            (options.mean, options.std) = (Some(sees.mean.to_vec()), Some(sees.std.to_vec()));
        }
    }
    let named = match &options.arch {
        Some(Arch::Named(_)) => {
            let alike = zoo::recognise(&weights, file);
            alike
                .first()
                .copied()
                .filter(|_| !alike.iter().any(|known| arch.is_some_and(|arch| arch.name == known.name)))
        }
        _ => None,
    };
    let (layers, weights) = match &options.arch {
        Some(Arch::Layers(layers)) => (layers.clone(), weights),
        Some(Arch::Named(name)) => of_zoo(zoo::find(name)?, weights, options.classes),
        None => match arch {
            Some(arch) => of_zoo(arch, weights, options.classes),
            None => {
                let names: Vec<&str> = zoo::archs().collect();
                return Err(Error::model("weights alone do not say how they are connected: `arch` is needed").hint(format!(
                    "arch: one of {}, or layers such as [net::conv(32, 3), net::relu(), net::flatten(), net::linear(10)]",
                    names.join(", ")
                )));
            }
        },
    };
    let module = Module::load(&layers, options.input, weights, cx.device()).map_err(|error| match named {
        Some(arch) => error.hint(format!("its tensors are named as those of {:?}", arch.name)),
        None => error,
    })?;
    match options.classes {
        Some(classes) if classes != module.classes => {
            Err(Error::model(format!("the network has {} classes, `classes` says {classes}", module.classes)))
        }
        _ => Ok(FoundNetwork { module, arch }),
    }
}

/// A classifier that the `robustness` library saved together with what normalises its images and with its attacker: the classifier
/// alone, and `mean` and `std` as the file has them.
fn unwrapped(weights: Weights, options: &mut Options) -> Result<Weights> {
    const NORMALISER: [&str; 2] = ["normalizer.new_mean", "normalizer.new_std"];
    if !NORMALISER.iter().all(|name| weights.contains_key(*name)) {
        return Ok(weights);
    }
    let numbers = |name: &str| -> Result<Vec<f64>> {
        let tensor = weights[name].f_to_kind(tch::Kind::Double)?.f_reshape([-1])?;
        let numbers = Vec::<f64>::try_from(&tensor)?;
        match numbers.iter().all(|x| x.is_finite()) {
            true => Ok(numbers),
            false => Err(Error::model(format!("tensor {name} of the file holds {numbers:?}"))),
        }
    };
    own_normalisation(options, [Some(numbers(NORMALISER[0])?), Some(numbers(NORMALISER[1])?)])?;
    let mut inside = Weights::new();
    for (name, tensor) in &weights {
        let twin = name.strip_prefix("attacker.").map(|rest| rest.replacen("normalize.", "normalizer.", 1));
        match (twin, name.strip_prefix("model.")) {
            (Some(twin), _) => {
                let same = weights.get(&twin).is_some_and(|other| other.size() == tensor.size() && other.equal(tensor));
                if !same {
                    return Err(Error::model(format!(
                        "the file holds a classifier and its attacker's copy of it, which differ in {twin}"
                    )));
                }
            }
            (None, Some(own)) => drop(inside.insert(own.to_string(), tensor.shallow_clone())),
            (None, None) if NORMALISER.contains(&name.as_str()) => {}
            (None, None) => drop(inside.insert(name.clone(), tensor.shallow_clone())),
        }
    }
    Ok(inside)
}

/// Takes a normalisation that the file has, where the caller did not say one.
fn own_normalisation(options: &mut Options, [mean, std]: [Option<Vec<f64>>; 2]) -> Result<()> {
    match (&options.mean, &options.std, mean, std) {
        (None, None, mean, std) => (options.mean, options.std) = (mean, std),
        (Some(_), None, Some(_), Some(std)) => return Err(half("mean", "std", &std)),
        (None, Some(_), Some(mean), Some(_)) => return Err(half("std", "mean", &mean)),
        _ => {}
    }
    Ok(())
}

fn of_zoo(arch: &zoo::Architecture, weights: Weights, classes: Option<i64>) -> (Layer, Weights) {
    let weights = arch.respell(weights);
    let found = weights.get(arch.head).and_then(|head| head.size().first().copied());
    ((arch.layers)(classes.or(found).unwrap_or(arch.classes)), weights)
}

/// What a model saved here says about itself, beside its tensors.
#[derive(Serialize, Deserialize)]
struct SavedModel {
    layers: Layer,
    input: Option<[i64; 3]>,
    mean: Option<Vec<f64>>,
    std: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class_names: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    learned: Option<SavedImages>,
    /// The mean loss of each epoch of its training.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    losses: Vec<f64>,
}

/// What a file said about its model.
struct OwnWords {
    said: bool,
    /// Its layers, if those that the caller names take their place.
    layers: Option<Layer>,
    class_names: Option<Vec<String>>,
    learned: Option<SavedImages>,
    losses: Vec<f64>,
}

/// Takes what a model saved here says about itself, where the caller did not say it.
fn describe_self(cx: &Cx, path: &Path, options: &mut Options) -> Result<OwnWords> {
    let nothing = OwnWords { said: false, layers: None, class_names: None, learned: None, losses: vec![] };
    let Some(text) = weights::about(cx, path, "viva")? else { return Ok(nothing) };
    let Ok(SavedModel { layers, input, mean, std, class_names, learned, losses }) = serde_json::from_str(&text) else {
        return Ok(nothing);
    };
    own_normalisation(options, [mean, std])?;
    options.input = options.input.or(input);
    if options.arch.is_some() {
        return Ok(OwnWords { said: true, layers: Some(layers), class_names, learned, losses });
    }
    options.arch = Some(Arch::Layers(layers));
    Ok(OwnWords { said: true, layers: None, class_names, learned, losses })
}

/// Half of a normalisation was said, and the file says both.
fn half(said: &str, other: &str, own: &[f64]) -> Error {
    Error::argument(format!("`{said}` was said without `{other}`, which is {own:?} in the file"))
        .hint(format!("say both, such as {other}: {own:?}, or neither: then the file's own count"))
}

/// Names the file's own layers beside those that the caller said, which do not fit.
fn beside(error: Error, options: &Options, own: Option<Layer>) -> Error {
    let (Some(own), Some(arch)) = (own, &options.arch) else { return error };
    let said = match arch {
        Arch::Named(name) => format!("{name:?}"),
        Arch::Layers(layers) => layers.to_json().to_string(),
    };
    let message = format!(
        "the file says that its layers are {}, `arch` says {}: {}",
        cut(&own.to_json().to_string(), 200),
        cut(&said, 200),
        error.message
    );
    Error { message, ..error }.hint("leave `arch` out: the file's own layers are then taken")
}

impl Model {
    /// What a saved model says about itself, so that it can be loaded without `arch`.
    pub(super) fn description(&self, module: &Module) -> Result<String> {
        let numbers = self.normalisation.as_ref().map(|n| &n.numbers);
        let (mean, std) = numbers.cloned().map(<(_, _)>::from).unzip();
        let class_names = self.class_names().map(<[String]>::to_vec);
        let (layers, learned) = (module.layers.clone(), self.remembered());
        let losses = self.history.clone();
        let about = SavedModel { layers, input: self.input, mean, std, class_names, learned, losses };
        serde_json::to_string(&about).map_err(|e| Error::internal(format!("a model that can't be written down: {e}")))
    }
}
