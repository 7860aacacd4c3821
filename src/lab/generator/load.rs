//! Generators from files: weights joined with the network that they belong to.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use tch::CModule;

use super::discriminator::SplitPlan;
use super::sequential::Plan;
use super::zoo::{self, Asked};
use super::{
    DISCRIMINATOR, Discriminator, Generator, Judge, KEPT_BY, Network, Prior, Sequential, Split, StagedProgram,
    TAUGHT_TO_BE_MISREAD, UNLEARNED, digest,
};
use crate::core::{Cx, Digest, Error, Result};
use crate::data::MisreadBy;
use crate::model::weights::{self, Contents, Weights};
use crate::model::{Loaded, check_names, rename};

/// What a file of weights does not say about its generator.
#[derive(Clone, Default)]
pub struct Options {
    pub arch: Option<String>,
    pub asked: Asked,
    /// A file with the discriminator's tensors.
    pub discriminator: Option<std::path::PathBuf>,
}

impl Options {
    /// What was asked is what the generator has, or it is refused with both.
    fn check(&self, generator: &Generator) -> Result<()> {
        let shape = generator.image_shape()?;
        let refused = |name: &str, asked: String, has: String| {
            Err(Error::argument(format!("`{name}` says {asked}, the generator has {has}"))
                .hint(format!("leave `{name}` out: the file says it")))
        };
        match (self.asked.classes, generator.classes()) {
            (Some(asked), has) if Some(asked) != has => {
                return refused("classes", asked.to_string(), has.map_or("none".into(), |has| has.to_string()));
            }
            _ => {}
        }
        match (self.asked.latent, generator.latent()) {
            (Some(asked), has) if asked != has => return refused("latent", asked.to_string(), has.to_string()),
            _ => {}
        }
        match (self.asked.image, shape) {
            (Some(asked), has) if asked != has => return refused("shape", format!("{asked:?}"), format!("{has:?}")),
            _ => {}
        }
        if self.asked.prior.is_some() && !generator.network().is_program() {
            return Err(Error::argument(
                "`prior` is of TorchScript programs: of this generator it is known how latent vectors are distributed",
            )
            .hint("leave it out"));
        }
        if self.asked.psi.is_some() && generator.psi().is_none() {
            return Err(Error::argument("`psi` is StyleGAN's alone").hint("leave it out"));
        }
        match (self.asked.truncation, generator.truncation()) {
            (Some(_), None) => Err(Error::argument(
                "`truncation` is BigGAN's alone: this generator's latent vectors are not truncated",
            )
            .hint("leave it out")),
            (Some(asked), Some(has)) if asked != has => refused("truncation", asked.to_string(), has.to_string()),
            _ => Ok(()),
        }
    }
}

/// Reads a generator: saved here, a published one named by `arch`, or a TorchScript program with stages.
pub fn load(cx: &Cx, path: &Path, options: &Options) -> Result<Generator> {
    let name = path.file_stem().map_or("generator".into(), |stem| stem.to_string_lossy().into_owned());
    let at = |error: Error| error.during(&path.display().to_string());
    let device = cx.device();
    let contents = weights::read(cx, path)?;
    let takes_discriminator = matches!(contents, Contents::Weights(_)) && options.arch.is_some();
    if options.discriminator.is_some() && !takes_discriminator {
        return Err(at(Error::argument(
            "`discriminator` goes with `arch`: what was saved here holds its own, a program has none",
        )
        .hint("leave it out")));
    }
    let generator = match contents {
        Contents::TorchScript { saved_in_training } => {
            let mut generator = program(cx, path, &name, options).map_err(at)?;
            if saved_in_training {
                generator.cautions.add(weights::TAKEN_OUT_OF_TRAINING);
            }
            generator
        }
        Contents::Weights(weights) => match (&options.arch, said(cx, path)?) {
            (None, Some(about)) => saved(cx, weights, &name, &about, &options.asked).map_err(at)?,
            (None, None) => {
                let names: Vec<&str> = zoo::all().map(|arch| arch.name).collect();
                return Err(at(Error::model("weights alone do not say how they are connected: `arch` is needed")
                    .hint(format!("arch: one of {}", names.join(", ")))));
            }
            (Some(arch), _) => {
                let arch = zoo::find(arch)?;
                let mut asked = options.asked.clone();
                let weights = without_counters(weights)?;
                (arch.infer)(&weights, &mut asked);
                let other = |error: Error| error.hint("is `arch` the network that the file was saved from?");
                let network = arch.load(weights, &asked, device).map_err(other).map_err(at)?;
                let judge = match &options.discriminator {
                    None => None,
                    Some(file) => Some(discriminator(cx, arch, file, &asked, device)?),
                };
                Generator::of_tensors(&name, network, device)?.with_discriminator(judge.map(Discriminator::new))
            }
        },
    };
    // What it draws is seen before anything is made of it.
    options.check(&generator).map_err(at)?;
    cx.record_input_from("generator", &name, crate::core::Object::digest(&generator), path);
    Ok(generator)
}

fn discriminator(
    cx: &Cx,
    arch: &zoo::GeneratorArchitecture,
    file: &Path,
    asked: &Asked,
    device: tch::Device,
) -> Result<Rc<dyn Judge>> {
    let at = |error: Error| error.during(&file.display().to_string());
    match weights::read(cx, file)? {
        Contents::Weights(weights) => arch.load_discriminator(without_counters(weights)?, asked, device).map_err(at),
        Contents::TorchScript { .. } => Err(at(Error::model("a discriminator must be a file of weights"))),
    }
}

/// Batch norm's counters of batches are no part of a network that draws.
fn without_counters(weights: Weights) -> Result<Weights> {
    rename(weights, &BTreeMap::new(), &[])
}

/// What a generator saved here says about itself.
fn said(cx: &Cx, path: &Path) -> Result<Option<serde_json::Value>> {
    let Some(text) = weights::about(cx, path, "viva")? else { return Ok(None) };
    let about = serde_json::from_str::<serde_json::Value>(&text).ok();
    Ok(about.filter(|about| about.get("generator").is_some()))
}

fn saved(cx: &Cx, weights: Weights, name: &str, about: &serde_json::Value, asked: &Asked) -> Result<Generator> {
    let damaged = || Error::model("what the file says about its generator can't be read");
    let device = cx.device();
    let within = format!("{DISCRIMINATOR}.");
    let (judges, own): (Weights, Weights) = weights.into_iter().partition(|(name, _)| name.starts_with(&within));
    let network: Rc<dyn Network> = match zoo::named(&about["generator"])? {
        Some((arch, mut said)) => {
            (arch.infer)(&own, &mut said);
            // How it is drawn from is no part of its weights.
            (said.psi, said.truncation) = (asked.psi.or(said.psi), asked.truncation.or(said.truncation));
            arch.load(own, &said, device)?
        }
        None => {
            let plan = Plan::from_json(&about["generator"]).ok_or_else(damaged)?;
            check_names(&plan.layers(), &own)?;
            Rc::new(Sequential::build(&plan, device, &mut Loaded::new(own, device))?)
        }
    };
    let judge: Option<Rc<dyn Judge>> = match about.get(DISCRIMINATOR) {
        None => None,
        Some(said) => {
            let judges: Weights = judges.into_iter().map(|(name, t)| (name[within.len()..].to_string(), t)).collect();
            match zoo::named(said)? {
                Some((arch, asked)) => Some(arch.load_discriminator(judges, &asked, device)?),
                None => {
                    let plan = SplitPlan::from_json(said).ok_or_else(damaged)?;
                    check_names(&plan.layers(), &judges)?;
                    Some(Rc::new(Split::build(&plan, device, &mut Loaded::new(judges, device))?))
                }
            }
        }
    };
    let kept_by = match about.get(KEPT_BY) {
        None => vec![],
        Some(said) => serde_json::from_value(said.clone()).map_err(|_| damaged())?,
    };
    let misread = match about.get(TAUGHT_TO_BE_MISREAD) {
        Some(serde_json::Value::String(hash)) => MisreadBy::Model(Digest::of_hex(hash).ok_or_else(damaged)?),
        Some(serde_json::Value::Bool(false)) => MisreadBy::Nobody,
        None if kept_by.is_empty() => MisreadBy::Nobody,
        _ => MisreadBy::Somebody,
    };
    let generator = Generator::of_tensors(name, network, device)?.with_keepers(kept_by).with_misreading(misread);
    let unlearned: Vec<i64> = match about.get(UNLEARNED) {
        None => vec![],
        Some(said) => serde_json::from_value(said.clone()).map_err(|_| damaged())?,
    };
    if unlearned.iter().any(|label| !(0..generator.classes().unwrap_or(0)).contains(label)) {
        return Err(damaged());
    }
    Ok(generator.with_unlearned(unlearned).with_discriminator(judge.map(Discriminator::new)))
}

fn program(cx: &Cx, path: &Path, name: &str, options: &Options) -> Result<Generator> {
    if let Some(arch) = &options.arch {
        return Err(Error::argument(format!("a TorchScript program is no {arch:?}: it holds its own layers"))
            .hint("leave out `arch`"));
    }
    let Some(latent) = options.asked.latent else {
        return Err(
            Error::argument("a TorchScript program does not say how long its latent vectors are").hint("latent: 128")
        );
    };
    cx.check_may_hold(path)?;
    let mut module = CModule::load_on_device(path, cx.device())?;
    module.f_set_eval()?;
    let prior = options.asked.prior.unwrap_or(Prior::Normal);
    let network: Rc<dyn Network> = Rc::new(StagedProgram::new(module, latent, options.asked.classes, prior)?);
    let mut identity = Digest::of_parts(&[&Digest::of_file(path)?.0, &digest(&*network)?.0]);
    if prior == Prior::Uniform {
        identity = Digest::of_parts(&[&identity.0, b"uniform"]);
    }
    let mut generator = Generator::new(name, network, cx.device(), identity)?.noticed()?;
    if options.asked.prior.is_none() {
        generator.cautions.add(format!(
            "latent vectors of {name} are drawn from the standard normal law, as nothing says otherwise: of one that learned from others, what it draws is \
             not what it learned to (`prior` of generator::load says which)"
        ));
    }
    Ok(generator)
}
