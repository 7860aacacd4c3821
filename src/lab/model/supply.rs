//! Where the tensors of a network come from: fresh ones, or those of a file under the names that the network gives them.

use std::collections::{BTreeMap, BTreeSet};

use tch::{Device, Kind};

use super::layer::{Layer, join};
use super::weights::Weights;
use crate::core::{Error, Result, Tensor, normal_within_two_deviations, suggestion};

/// How a fresh tensor is filled.
#[derive(Debug, Clone, Copy)]
pub enum Init {
    /// Uniform in ± 1 / sqrt(fan in): what PyTorch gives weights (Kaiming with a = sqrt 5) and biases.
    FanIn,
    /// Uniform in ± this.
    Uniform(f64),
    /// Normal with this deviation.
    Normal(f64),
    Constant(f64),
}

/// Where the tensors of a network come from.
pub trait Supply {
    /// The tensor of this name; `None` stands for a size that only the tensor itself tells.
    fn tensor(&mut self, name: &str, size: &[Option<i64>], fan_in: Option<i64>, init: Init) -> Result<Tensor>;
}

/// Fresh tensors from libtorch's random stream, made on the CPU so that every device starts from the same ones.
pub struct Fresh {
    pub device: Device,
}

impl Supply for Fresh {
    fn tensor(&mut self, name: &str, size: &[Option<i64>], fan_in: Option<i64>, init: Init) -> Result<Tensor> {
        let size: Option<Vec<i64>> = size.iter().copied().collect();
        let size = size.ok_or_else(|| Error::model(format!("the shape of {name} is not known without the input's")))?;
        let mut tensor = Tensor::f_empty(size, (Kind::Float, Device::Cpu))?;
        match (init, fan_in) {
            (Init::Constant(x), _) => drop(tensor.f_fill_(x)?),
            (Init::Uniform(bound), _) => drop(tensor.f_uniform_(-bound, bound)?),
            (Init::Normal(deviation), _) => drop(tensor.f_normal_(0.0, deviation)?),
            (Init::FanIn, fan_in) => {
                let bound = 1.0 / (fan_in.unwrap_or(1).max(1) as f64).sqrt();
                drop(tensor.f_uniform_(-bound, bound)?);
            }
        }
        Ok(tensor.f_to_device(self.device)?)
    }
}

/// Fresh tensors of length 1, as in the published code of Galloway, Golubeva and Taylor (2018): every convolution filter normal, cut
/// off at two standard deviations, and scaled to Euclidean norm 1; the weights of a linear layer normal and scaled so that the
/// whole matrix has norm 1; biases 0.
pub struct UnitNorm {
    pub device: Device,
}

impl Supply for UnitNorm {
    fn tensor(&mut self, name: &str, size: &[Option<i64>], fan_in: Option<i64>, init: Init) -> Result<Tensor> {
        // Shortest length that is divided by.
        const FLOOR: f64 = 1e-7;
        let tensor = Fresh { device: Device::Cpu }.tensor(name, size, fan_in, init)?;
        let drawn = match (init, tensor.dim()) {
            (Init::Constant(_) | Init::Normal(_), _) => tensor,
            (_, 1) => tensor.f_zeros_like()?,
            (_, 4) => {
                let weight = normal_within_two_deviations(&tensor.size())?.f_mul_scalar(0.1)?;
                let squares = weight.f_square()?.f_sum_dim_intlist([1i64, 2, 3].as_slice(), true, Kind::Double)?;
                weight.f_div(&squares.f_sqrt()?.f_clamp_min(FLOOR)?)?
            }
            _ => {
                let weight = Tensor::f_randn(tensor.size(), (Kind::Double, Device::Cpu))?;
                weight.f_div(&weight.f_square()?.f_sum(Kind::Double)?.f_sqrt()?.f_clamp_min(FLOOR)?)?
            }
        };
        Ok(drawn.f_to_kind(Kind::Float)?.f_to_device(self.device)?)
    }
}

/// Fresh tensors normal with deviation sqrt(2 / fan in), biases 0 (He et al. 2015).
pub struct HeNormal {
    pub device: Device,
}

impl Supply for HeNormal {
    fn tensor(&mut self, name: &str, size: &[Option<i64>], fan_in: Option<i64>, init: Init) -> Result<Tensor> {
        let mut tensor = Fresh { device: Device::Cpu }.tensor(name, size, fan_in, init)?;
        match (init, tensor.dim()) {
            (Init::Constant(_) | Init::Normal(_), _) => {}
            (_, 1) => drop(tensor.f_zero_()?),
            _ => drop(tensor.f_normal_(0.0, (2.0 / fan_in.unwrap_or(1).max(1) as f64).sqrt())?),
        }
        Ok(tensor.f_to_device(self.device)?)
    }
}

/// Tensors of a file.
pub struct Loaded {
    weights: Weights,
    pub device: Device,
    used: BTreeSet<String>,
}

impl Loaded {
    pub fn new(weights: Weights, device: Device) -> Self {
        Self { weights, device, used: BTreeSet::new() }
    }

    /// Whether the file has a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.weights.contains_key(name)
    }

    /// The names of the file's tensors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.weights.keys().map(String::as_str)
    }

    /// How many sides a tensor of the file has.
    pub fn sides(&self, name: &str) -> Option<usize> {
        self.weights.get(name).map(Tensor::dim)
    }

    /// Fails if the file has tensors that nothing asked for.
    pub fn check_used(&self) -> Result<()> {
        let unused: Vec<&str> =
            self.weights.keys().filter(|name| !self.used.contains(*name)).map(String::as_str).collect();
        match unused.len() {
            0 => Ok(()),
            n => Err(Error::model(format!(
                "the file has {n} tensors that the network does not: {}",
                crate::core::cut(&unused.join(", "), 200)
            ))
            .hint("is `arch` the network that the file was saved from?")),
        }
    }
}

/// Fails if the file lacks a tensor that the network has, or has one that it lacks.
pub fn check_names(layers: &Layer, weights: &Weights) -> Result<()> {
    let wanted = layers.tensor_names();
    let known: BTreeSet<&String> = wanted.iter().collect();
    let missing: Vec<&String> = wanted.iter().filter(|name| !weights.contains_key(*name)).collect();
    let unused: Vec<&String> = weights.keys().filter(|name| !known.contains(name)).collect();
    let owners = |names: &[&String]| {
        let mut seen: Vec<String> = names
            .iter()
            .map(|name| name.rsplit_once('.').map_or(name.as_str(), |(owner, _)| owner).to_string())
            .collect();
        seen.dedup();
        seen
    };
    let shown = |names: &[&String]| {
        let first: Vec<&str> = names.iter().take(6).map(|n| n.as_str()).collect();
        let more = names.len().saturating_sub(6);
        if more > 0 { format!("{} and {more} more", first.join(", ")) } else { first.join(", ") }
    };
    match (missing.is_empty(), unused.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => {
            let ignored = format!("ignore: {:?}", owners(&unused));
            let hint = match normalisation(&unused, weights) {
                Some(said) => format!("they look like a normalisation, which images need then: {said}, {ignored}"),
                None => format!("if they are really unused: {ignored}"),
            };
            Err(Error::model(format!("the file has tensors that no layer uses: {}", shown(&unused))).hint(hint))
        }
        (false, true) => Err(Error::model(format!("the file lacks tensors of the network: {}", shown(&missing)))
            .hint("is `arch` the network that the file was saved from?")),
        (false, false) => {
            let otherwise = format!(
                "the file names its tensors otherwise: it lacks {}, and no layer uses {}",
                shown(&missing),
                shown(&unused)
            );
            match &behind(&missing, &unused)[..] {
                [] => {}
                [one] => {
                    return Err(Error::model(otherwise)
                        .hint(format!("all of them stand behind {one:?}: names: #{{ {one:?}: \"\" }}")));
                }
                several => {
                    let hint = format!(
                        "the network is there {} times, behind {several:?}: say which, such as names: #{{ {:?}: \"\" }}, and ignore the others",
                        several.len(),
                        several[0]
                    );
                    return Err(Error::model(otherwise).hint(hint));
                }
            }
            let (here, there) = (owners(&missing), owners(&unused));
            let pairs: Vec<String> = if here.len() == there.len() && here.len() <= 12 {
                there.iter().zip(&here).map(|(from, to)| format!("{from:?}: {to:?}")).collect()
            } else {
                vec![format!("{:?}: {:?}", there[0], here[0]), "...".into()]
            };
            Err(Error::model(otherwise).hint(format!("say which is which, such as names: #{{ {} }}", pairs.join(", "))))
        }
    }
}

/// What stands before the names of all tensors that a network lacks, such as "model" in files of Lightning.
fn behind(missing: &[&String], unused: &[&String]) -> Vec<String> {
    let Some(first) = missing.first() else { return vec![] };
    let unused: BTreeSet<&str> = unused.iter().map(|name| name.as_str()).collect();
    let ending = format!(".{first}");
    let before = unused.iter().filter_map(|name| name.strip_suffix(&ending));
    let holds_all = |before: &&str| missing.iter().all(|name| unused.contains(format!("{before}.{name}").as_str()));
    before.filter(holds_all).map(str::to_string).collect()
}

/// A mean and a deviation of pixels from 0 to 1 among tensors, as options that say them.
fn normalisation(names: &[&String], weights: &Weights) -> Option<String> {
    let numbers = |name: &str| -> Option<Vec<f64>> {
        let tensor = weights.get(name)?.f_to_kind(tch::Kind::Double).ok()?.f_reshape([-1]).ok()?;
        Vec::<f64>::try_from(&tensor).ok().filter(|numbers| numbers.iter().all(|x| (0.0..=1.0).contains(x)))
    };
    let round = |numbers: Vec<f64>| numbers.into_iter().map(|x| (x * 1e6).round() / 1e6).collect::<Vec<_>>();
    names.iter().find_map(|name| {
        let owner = name.strip_suffix(".mean")?;
        let (mean, std) = (numbers(name)?, numbers(&format!("{owner}.std"))?);
        let fits = mean.len() == std.len() && (1..=4).contains(&mean.len()) && std.iter().all(|x| *x > 0.0);
        fits.then(|| format!("mean: {:?}, std: {:?}", round(mean), round(std)))
    })
}

impl Supply for Loaded {
    fn tensor(&mut self, name: &str, size: &[Option<i64>], _fan_in: Option<i64>, _init: Init) -> Result<Tensor> {
        let Some(tensor) = self.weights.get(name) else {
            return Err(Error::model(format!("the file lacks tensor {name} of the network"))
                .hint("is `arch` the network that the file was saved from?"));
        };
        self.used.insert(name.to_string());
        let mut found = tensor.size();
        if found.len() < size.len() && size[found.len()..].iter().all(|side| *side == Some(1)) {
            // The same numbers: factors of channels, which others keep without the sides of an image.
            found.resize(size.len(), 1);
        }
        let fits = found.len() == size.len() && found.iter().zip(size).all(|(f, w)| w.is_none_or(|w| w == *f));
        if !fits {
            let found = tensor.size();
            let wanted: Vec<String> = size.iter().map(|n| n.map_or("?".into(), |n| n.to_string())).collect();
            let given: Vec<String> = found.iter().map(i64::to_string).collect();
            return Err(Error::model(format!(
                "tensor {name} must be {}, the file has {}",
                wanted.join(" x "),
                given.join(" x ")
            ))
            .hint("`arch`, `classes` and `input` must be those that the weights were trained with"));
        }
        // Weights in double precision make a network in double precision.
        if !matches!(tensor.kind(), Kind::Float | Kind::Double) {
            return Err(Error::model(format!("tensor {name} holds {:?}, not floats", tensor.kind())));
        }
        Ok(tensor.f_to_device(self.device)?.f_reshape(&found)?)
    }
}

/// Whether a tensor is this part of a network, or lies in it.
fn within(name: &str, part: &str) -> bool {
    name == part || name.strip_prefix(part).is_some_and(|rest| rest.starts_with('.'))
}

/// Fails where a weight stands in parts of which one is to be used, as pruning and normalisations of weights keep them while they are trained: one part is
/// no weight. `ignore` drops tensors by name or layer.
pub fn check_whole(weights: &Weights, ignore: &[String]) -> Result<()> {
    const KEPT: [(&str, &str, &str, &str); 3] = [
        ("_orig", "_mask", "pruned", "prune.remove(module, \"weight\")"),
        ("_orig", "_u", "under a spectral norm", "remove_spectral_norm(module)"),
        ("_v", "_g", "under a weight norm", "remove_weight_norm(module)"),
    ];
    let used = |name: &str| !ignore.iter().any(|part| within(name, part));
    let parametrised = weights.keys().find(|name| format!(".{name}").contains(".parametrizations.") && used(name));
    let parametrised =
        parametrised.map(|name| (name.clone(), "parametrize.remove_parametrizations(module, \"weight\")"));
    let found = KEPT.iter().find_map(|(end, other, how, call)| {
        let stem = weights.keys().find_map(|name| {
            let stem = name.strip_suffix(end)?;
            let beside = format!("{stem}{other}");
            (weights.contains_key(&beside) && (used(name) || used(&beside))).then_some(stem)
        });
        stem.map(|stem| (format!("{stem}, {how}, as {stem}{end} and {stem}{other}"), *call))
    });
    parametrised.or(found).map_or(Ok(()), |(what, call)| {
        Err(Error::model(format!(
            "the file has {what}: parts that a weight is worked out of, of which none is the weight"
        ))
        .hint(format!(
            "torch.nn.utils.{call} for each such module before torch.save(model.state_dict(), ..) puts them together"
        )))
    })
}

/// Renames tensors of a file: `names` maps the name of a tensor or of its layer in the file to the one of the layer here;
/// `ignore` drops tensors by name or layer. Counters of batch norm are dropped always.
pub fn rename(weights: Weights, names: &BTreeMap<String, String>, ignore: &[String]) -> Result<Weights> {
    for part in names.keys().chain(ignore) {
        if !weights.keys().any(|name| within(name, part)) {
            return Err(Error::model(format!("the file has no tensor or layer {part:?}"))
                .hint(suggestion(part, weights.keys().map(String::as_str))));
        }
    }
    let mut renamed = Weights::new();
    for (name, tensor) in weights {
        if name.ends_with("num_batches_tracked") || ignore.iter().any(|part| within(&name, part)) {
            continue;
        }
        let longest = names.iter().filter(|(from, _)| within(&name, from)).max_by_key(|(from, _)| from.len());
        let new = match longest {
            Some((from, to)) => join(to, name[from.len()..].trim_start_matches('.')),
            None => name,
        };
        if renamed.insert(new.clone(), tensor).is_some() {
            return Err(Error::model(format!("`names` gives two tensors of the file the name {new}")));
        }
    }
    Ok(renamed)
}
