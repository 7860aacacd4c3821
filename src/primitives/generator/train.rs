//! Training of a generator.

use std::rc::Rc;

use tch::Device;

use crate::core::{Callback, Cx, Error, Result, Value, with_stream};
use crate::data::Dataset;
use crate::generator::zoo::{self, Asked};
use crate::generator::{Generator, Judge, Network, Plan, Sequential, Split, SplitPlan};
use crate::model::{Fresh, HeNormal, Supply};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};
use crate::train::{GanSettings, train_generator};

pub static TRAIN: Primitive = Primitive {
    path: "generator::train",
    purpose: "Trains a generator of images with their labels: a conditional Wasserstein GAN with gradient penalty and auxiliary classifier.",
    params: &[Param::new("ds", Kind::Object("Dataset"), "images with their labels")],
    options: &[
        Param::new("preset", Kind::Choice(&["fast", "thesis"]), "what stands for the options that are left out")
            .or(Fallback::Str("fast")),
        Param::new("arch", Kind::Str, "a trainable name from generator::archs()")
            .or(Fallback::Absent("\"dcgan-28\", \"dcgan-32\" or \"dcgan-64\" by the images' side, else \"thesis\"")),
        Param::new("steps", Kind::Int, "steps of the generator")
            .or(Fallback::Absent("2,000; \"thesis\": 100,000"))
            .range(1.0, 1e9),
        Param::new("critic_steps", Kind::Int, "steps of the discriminator before each of the generator")
            .or(Fallback::Absent("1; \"thesis\": 5"))
            .range(1.0, 1000.0),
        Param::new("batch", Kind::Int, "images per step")
            .or(Fallback::Absent("64; \"thesis\": 100"))
            .range(2.0, 65536.0)
            .unit("images"),
        Param::new("lr", Kind::Float, "Adam's learning rate")
            .or(Fallback::Absent("0.0005; \"thesis\": 0.000005"))
            .range(0.0, 1e3),
        Param::new("betas", Kind::Numbers, "Adam's two")
            .or(Fallback::Absent("[0, 0.9]; \"thesis\": [0.6, 0.999]"))
            .range(0.0, 0.999_999),
        Param::new("penalty", Kind::Float, "coefficient of the gradient penalty")
            .or(Fallback::Float(10.0))
            .range(0.0, 1e6),
        Param::new("latent", Kind::Int, "numbers of a latent vector")
            .or(Fallback::Absent("100; \"thesis\": 128"))
            .range(1.0, 1e6),
        Param::new("labelled", Kind::Bool, "whether it draws what a label says").or(Fallback::Bool(true)),
        super::NOTE,
        super::EVERY,
        super::WATCH,
        SEED,
    ],
    returns: "Generator with its discriminator; `history` has a column for each number that was noted",
    notes: "L_g = E[-d(g(z, y), y)] + CE(c(g(z, y)), y) and L_d = E[d(g(z, y), y)] - E[d(x, y)] + 10 E[(|grad d(x~)| - 1)^2] + CE(c(x), y), x~ \
            uniform on the segments between real and drawn images; the critic d sees the label, the auxiliary classifier c does not. Images are drawn for the \
            labels of the real ones beside them, and the generator's step takes those of the discriminator's last. \
            \"thesis\" has the networks of Tables B.1 and B.2, weights normal as He et al. 2015, and the numbers of Table B.3. A stopped training \
            goes on to the same weights. A loss that is not finite stops it, and the last good state is kept as a partial result.",
    source: "Dunn 2022, Section 4.2 and Appendix B.1; Gulrajani et al. 2017; Odena et al. 2017",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               generator::train(ds, #{ steps: 1, batch: 8, seed: 1 }).layers.len()",
        result: "6",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let set = args.object::<Dataset>("ds");
    set.record(cx);
    super::check_pixels(&set)?;
    let thesis = args.str("preset") == "thesis";
    let [c, h, w] = set.shape().map(|n| n as i64);
    let name = match args.get("arch") {
        Some(_) => args.str("arch").to_string(),
        None if thesis || h != w || ![28, 32, 64].contains(&h) => "thesis".to_string(),
        None => format!("dcgan-{h}"),
    };
    let asked = Asked {
        classes: args.bool("labelled").then_some(set.classes().len() as i64),
        image: Some([c, h, w]),
        latent: args.optional_int("latent"),
        ..Asked::default()
    };
    let plans = zoo::plans(zoo::find(&name)?, &asked)?;
    if plans.0.classes != asked.classes {
        return Err(Error::argument(format!("{name} takes no labels")).hint("labelled: false"));
    }
    if plans.1.input != [c, h, w] {
        let [pc, ph, pw] = plans.1.input;
        return Err(Error::argument(format!("{name} draws {pc} x {ph} x {pw}, {} has {c} x {h} x {w}", set.name))
            .hint("leave out `arch`, and one of the right size is taken"));
    }
    let of = |fast: f64, theirs: f64| if thesis { theirs } else { fast };
    let settings = GanSettings {
        steps: args.optional_int("steps").unwrap_or(of(2000.0, 100_000.0) as i64) as u64,
        critic_steps: args.optional_int("critic_steps").unwrap_or(of(1.0, 5.0) as i64) as u64,
        batch: args.optional_int("batch").unwrap_or(of(64.0, 100.0) as i64) as usize,
        lr: args.optional_float("lr").unwrap_or(of(5e-4, 5e-6)),
        betas: betas(args, if thesis { (0.6, 0.999) } else { (0.0, 0.9) })?,
        penalty: args.float("penalty"),
        note: args.count("note") as u64,
        seed: args.seed(),
        attack: None,
    };
    if set.len() < 2 {
        return Err(Error::data(format!("{} images are too few to learn from", set.len())));
    }
    let start = fresh(&plans, settings.seed, cx.device(), thesis)?;
    let generator =
        watched(cx, args, &mut |watch| train_generator(cx, "trained", start.clone(), &set, &settings, watch))?;
    Ok(Value::object(generator))
}

pub(super) fn betas(args: &Args, default: (f64, f64)) -> Result<(f64, f64)> {
    match args.get("betas").map(|_| args.numbers("betas")).as_deref() {
        None => Ok(default),
        Some(&[first, second]) => Ok((first, second)),
        Some(other) => Err(Error::argument(format!("`betas` must be two numbers, got {}", other.len()))),
    }
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

type Training<'a> = dyn FnMut(Option<(u64, &mut crate::train::Watch)>) -> Result<Generator> + 'a;

/// Runs a training that a script watches, if it does.
pub(super) fn watched(_: &Cx, args: &Args, train: &mut Training) -> Result<Generator> {
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
