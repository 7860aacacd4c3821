//! Training of a generator.

use std::collections::BTreeMap;
use std::rc::Rc;

use tch::Device;

use crate::core::{Callback, Cx, Error, Result, Value, suggestion, with_stream};
use crate::data::{Dataset, MisreadBy};
use crate::generator::zoo::{self, Asked};
use crate::generator::{Generator, Judge, Network, Plan, Sense, Sequential, Split, SplitPlan, Squash};
use crate::model::{Fresh, HeNormal, Layer, Supply};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words, net};
use crate::train::{GanSettings, train_generator};

/// Whether they are the thesis's.
static PRESETS: Words<bool, 2> = Words::new([("fast", false), ("thesis", true)]);

pub static TRAIN: Primitive = Primitive {
    path: "generator::train",
    purpose: "Trains a generator of images with their labels: a conditional GAN, mostly Wasserstein with gradient penalty, with an auxiliary classifier.",
    params: &[Param::new("ds", Kind::Object("Dataset"), "images with their labels")],
    options: &[
        Param::new("preset", PRESETS.kind(), "what stands for the options that are left out").or(Fallback::Str("fast")),
        Param::new(
            "arch",
            Kind::Either(&[Kind::Str, Kind::Map]),
            "a trainable name from generator::archs(), or layers: see the notes",
        )
        .or(Fallback::Absent("\"dcgan-28\", \"dcgan-32\" or \"dcgan-64\" by the images' side, else \"thesis\"")),
        Param::new("steps", Kind::Int, "steps of the generator")
            .or(Fallback::Absent("2,000, with log odds 4,000; \"thesis\": 100,000"))
            .range(1.0, 1e9),
        Param::new("critic_steps", Kind::Int, "steps of the discriminator before each of the generator")
            .or(Fallback::Absent("1; \"thesis\": 5"))
            .range(1.0, 100.0),
        Param::new("batch", Kind::Int, "images per step")
            .or(Fallback::Absent("64, with log odds 32; \"thesis\": 100"))
            .range(2.0, 65536.0)
            .unit("images"),
        Param::new("lr", Kind::Float, "Adam's learning rate")
            .or(Fallback::Absent("0.0005, with log odds 0.0004; \"thesis\": 0.000005"))
            .range(0.0, 1e3),
        Param::new("betas", Kind::Numbers, "Adam's two")
            .or(Fallback::Absent("[0, 0.9], with log odds [0.5, 0.999]; \"thesis\": [0.6, 0.999]"))
            .range(0.0, 0.999_999),
        Param::new("penalty", Kind::Float, "coefficient of the gradient penalty")
            .or(Fallback::Float(10.0))
            .range(0.0, 1e6),
        super::AVERAGE.or(Fallback::Absent("with log odds 0.998, else 0")),
        Param::new("latent", Kind::Int, "numbers of a latent vector")
            .or(Fallback::Absent("100; of the network \"thesis\" 128"))
            .range(1.0, 1e6),
        Param::new("labelled", Kind::Bool, "whether it draws what a label says").or(Fallback::Bool(true)),
        super::NOTE,
        super::EVERY,
        super::WATCH,
        SEED,
    ],
    returns: "Generator with its discriminator; `history` has a column for each number that was noted",
    notes: "L_g = E[-d(g(z, y), y)] + CE(c(g(z, y)), y) and L_d = E[d(g(z, y), y)] - E[d(x, y)] + 10 E[(|grad d(x~)| - 1)^2] + CE(c(x), y), x~ \
            uniform on the segments between real and drawn images; \"dcgan-32\" has log odds d in their place, E[log(1 + exp(-d(g(z, y), y)))] and \
            E[log(1 + exp(-d(x, y))) + log(1 + exp(d(g(z, y), y)))], without a penalty, which learn labels of coloured images faster. The critic d sees the label, the auxiliary classifier c does not. Images are drawn for the \
            labels of the real ones beside them, and the generator's step takes those of the discriminator's last. \
            arch: #{ generator, discriminator, squash } has an array of stages, each an array of net:: layers, that make an image of the latent vector with \
            the label beside it (one number per label), an array of layers that make flat numbers of an image, and what makes the last stage's \
            numbers pixels (\"sigmoid\", \"tanh\", \"halve\": (x + 1) / 2 cut off, \"cut\"); a linear layer each for d and c follows. \
            \"thesis\" has the networks of Tables B.1 and B.2, weights normal as He et al. 2015, and the numbers of Table B.3. A stopped training \
            goes on to the same weights. A loss that is not finite stops it, and the last good state is kept as a partial result; on a \
            GPU, where losses are read every 16 steps and where they are noted, that may be up to 15 steps later. Where memory is short, batches go on in \
            parts whose gradients are added up, as a warning says; the generator's step then draws images of its own.",
    source: "Dunn 2022, Section 4.2 and Appendix B.1; Gulrajani et al. 2017; Odena et al. 2017",
    examples: &[
        Example {
            code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               generator::train(ds, #{ steps: 1, batch: 8, seed: 1 }).layers.len()",
            result: "6",
        },
        Example {
            code: "let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });\n\
               let arch = #{\n\
               \x20   generator: [[net::linear(128), net::relu(), net::reshape(8, 4, 4)], [net::upsample(4), net::conv(1, 3, #{ pad: 1 })]],\n\
               \x20   discriminator: [net::conv(8, 4, #{ stride: 2 }), net::leaky_relu(0.2), net::flatten()],\n\
               };\n\
               generator::train(ds, #{ arch: arch, steps: 1, batch: 8, seed: 1 }).shape",
            result: "[1, 16, 16]",
        },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let set = args.object::<Dataset>("ds");
    set.record(cx);
    super::check_pixels(&set)?;
    let thesis = PRESETS.of(args, "preset");
    let [c, h, w] = set.shape().map(|n| n as i64);
    let asked = Asked {
        classes: args.bool("labelled").then_some(set.classes().len() as i64),
        image: Some([c, h, w]),
        latent: args.optional_int("latent"),
        ..Asked::default()
    };
    let (name, plans) = match args.get("arch") {
        Some(Value::Map(layers)) => ("`arch`".to_string(), of_layers(layers, &asked, [c, h, w])?),
        given => {
            let name = match given {
                Some(_) => args.str("arch").to_string(),
                None if thesis || h != w || ![28, 32, 64].contains(&h) => "thesis".to_string(),
                None => format!("dcgan-{h}"),
            };
            let plans = zoo::plans(zoo::find(&name)?, &asked)?;
            (name, plans)
        }
    };
    if plans.0.classes != asked.classes {
        return Err(Error::argument(format!("{name} takes no labels")).hint("labelled: false"));
    }
    if plans.1.input != [c, h, w] {
        let [pc, ph, pw] = plans.1.input;
        return Err(Error::argument(format!("{name} draws {pc} x {ph} x {pw}, {} has {c} x {h} x {w}", set.name))
            .hint("leave out `arch`, and one of the right size is taken"));
    }
    // Steps, critic steps, batch, lr, betas, average.
    let (steps, critic_steps, batch, lr, own_betas, average) = match (thesis, plans.1.sense) {
        (true, _) => (100_000, 5, 100, 5e-6, (0.6, 0.999), 0.0),
        (_, Sense::Critic | Sense::Hinge) => (2000, 1, 64, 5e-4, (0.0, 0.9), 0.0),
        (_, Sense::LogOdds) => (4000, 1, 32, 4e-4, (0.5, 0.999), 0.998),
    };
    let settings = GanSettings {
        steps: args.optional_int("steps").unwrap_or(steps) as u64,
        critic_steps: args.optional_int("critic_steps").unwrap_or(critic_steps) as u64,
        batch: args.optional_int("batch").unwrap_or(batch) as usize,
        lr: args.optional_float("lr").unwrap_or(lr),
        betas: betas(args, own_betas)?,
        penalty: args.float("penalty"),
        average: Some(args.optional_float("average").unwrap_or(average)).filter(|d| *d > 0.0),
        note: args.count("note") as u64,
        seed: args.seed(),
        attack: None,
        keepers: None,
        kept_by: vec![],
        unlearned: None,
        misread_by: MisreadBy::Nobody,
    };
    let start = fresh(&plans, settings.seed, cx.device(), thesis)?;
    let drawn = Generator::of_tensors("", start.0.clone(), cx.device())?.image_shape()?;
    if drawn != [c, h, w] {
        return Err(Error::argument(format!(
            "`arch`: the generator's layers draw {drawn:?}, {} has {:?}",
            set.name,
            [c, h, w]
        )));
    }
    let generator = watched(args, &mut |watch| train_generator(cx, "trained", start.clone(), &set, &settings, watch))?;
    Ok(Value::object(generator))
}

pub(in crate::primitives) fn betas(args: &Args, default: (f64, f64)) -> Result<(f64, f64)> {
    match args.get("betas").map(|_| args.numbers("betas")).as_deref() {
        None => Ok(default),
        Some(&[first, second]) => Ok((first, second)),
        Some(other) => Err(Error::argument(format!("`betas` must be two numbers, got {}", other.len()))),
    }
}

/// The option `arch` as layers.
fn of_layers(given: &BTreeMap<String, Value>, asked: &Asked, input: [i64; 3]) -> Result<(Plan, SplitPlan)> {
    const KNOWN: [&str; 3] = ["generator", "discriminator", "squash"];
    if let Some(odd) = given.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(Error::argument(format!("`arch`: unknown part `{odd}`")).hint(suggestion(odd, KNOWN)));
    }
    let layers = |what: &str| {
        match given.get(what) {
        Some(layers @ Value::Array(items)) if !items.is_empty() => Ok((layers, items)),
        _ => Err(Error::argument(format!("`arch`: `{what}` must be an array of layers"))
            .hint("#{ generator: [[net::linear(6272), net::relu(), net::reshape(128, 7, 7)], ..], discriminator: [.., net::flatten()] }")),
    }
    };
    let mut stages = vec![];
    for (i, stage) in layers("generator")?.1.iter().enumerate() {
        let name = format!("stage{}", i + 1);
        let parts = net::parts(&format!("`arch`: stage {}", i + 1), stage, &format!("{name}."))?;
        stages.push((name, Layer::of_parts(parts)));
    }
    let d0 = net::parts("`arch`: the discriminator", layers("discriminator")?.0, "d0.")?;
    let squash = match given.get("squash") {
        None | Some(Value::Unit) => Squash::Sigmoid,
        Some(Value::Str(name)) => Squash::find(name).ok_or_else(|| {
            Error::argument(format!(
                "`arch`: `squash` must be \"sigmoid\", \"tanh\", \"halve\" or \"cut\", got {name:?}"
            ))
        })?,
        Some(other) => {
            return Err(Error::argument(format!("`arch`: `squash` must be a word, got {}", other.summary())));
        }
    };
    let classes = asked.classes;
    let plan = Plan { latent: asked.latent.unwrap_or(100), classes, stages, squash };
    let judge = SplitPlan {
        d0: Layer::of_parts(d0),
        d1: Layer::named([("d1", Layer::linear(1))]),
        d2: classes.map(|classes| Layer::named([("d2", Layer::linear(classes))])),
        classes,
        sense: Sense::Critic,
        input,
    };
    Ok((plan, judge))
}

/// Part of the stream that initialises networks; steps of training use the small parts.
const INIT: u64 = 1 << 62;

/// A generator and a discriminator with fresh weights.
fn fresh(
    (plan, judge): &(Plan, SplitPlan),
    seed: u64,
    device: Device,
    he: bool,
) -> Result<(Rc<dyn Network>, Rc<dyn Judge>)> {
    with_stream(seed, INIT, || {
        let mut supply: Box<dyn Supply> = if he { Box::new(HeNormal { device }) } else { Box::new(Fresh { device }) };
        let network: Rc<dyn Network> = Rc::new(Sequential::build(plan, device, &mut *supply)?);
        let judge: Rc<dyn Judge> = Rc::new(Split::build(judge, device, &mut *supply)?);
        Ok((network, judge))
    })
}

type WatchedTraining<'a> = dyn FnMut(Option<(u64, &mut crate::train::Watch)>) -> Result<Generator> + 'a;

/// Runs a training that a script watches, if it does.
pub(super) fn watched(args: &Args, train: &mut WatchedTraining) -> Result<Generator> {
    let Some(Value::Callback(watch)) = args.get("watch") else {
        return match args.given("every") {
            true => Err(Error::argument("`every` says how often `watch` is called, which is missing")
                .hint("watch: |g, step| show(plot::images(g.sample(#{ n: 20, seed: 1 })))")),
            false => train(None),
        };
    };
    let watch: &Callback = watch;
    let mut see = |generator: &Generator, step: u64| {
        watch.call(&[Value::object(generator.clone()), Value::Int(step as i64)]).map(drop)
    };
    train(Some((args.count("every") as u64, &mut see)))
}
