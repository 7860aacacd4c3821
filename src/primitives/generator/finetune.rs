//! Finetuning of a generator to draw what a classifier gets wrong.

use super::oracle;
use crate::core::{Cx, Error, Object, Result, Value};
use crate::data::{Dataset, MisreadBy};
use crate::generator::Generator;
use crate::model::Model;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words};
use crate::train::{Amalgamation, Attack, GanSettings, Keepers, train_generator};

static LOSSES: Words<Amalgamation, 2> = Words::new([("product", Amalgamation::Product), ("sum", Amalgamation::Sum)]);

pub static FINETUNE: Primitive = Primitive {
    path: "generator::finetune",
    purpose: "Trains a generator on with two objectives at once: images that look as the label says, and that a classifier gets wrong.",
    params: &[
        super::GENERATOR,
        Param::new("f", Kind::Object("Model"), "the classifier under test"),
        Param::new("ds", Kind::Object("Dataset"), "real images, which the discriminator goes on to learn from"),
    ],
    options: &[
        Param::new("target", Kind::Int, "the label that the classifier is to give")
            .or(Fallback::Absent("any but the intended one"))
            .range(0.0, 1e6),
        Param::new("rate", Kind::Float, "mu: how often a step uses both objectives; the others are ordinary")
            .or(Fallback::Float(0.1))
            .range(0.0, 1.0),
        Param::new("kappa", Kind::Float, "is subtracted from l_attack: -2 rewards a wrong label linearly until it leads by 2, and ever less beyond")
            .or(Fallback::Float(0.0))
            .range(-1e6, 1e6)
            .unit("logits"),
        Param::new(
            "combine",
            LOSSES.kind(),
            "how the two objectives become one: s(l_ordinary) s(l_attack - kappa), or their plain sum",
        )
        .or(Fallback::Str("product")),
        Param::new(
            "keep",
            Kind::Either(&[Kind::Object("Model"), Kind::Array]),
            "classifiers other than f that are to go on reading what is drawn as it is intended: see the notes",
        )
        .or(Fallback::Absent("none")),
        Param::new("keep_weight", Kind::Float, "weight of the mean of their cross entropies in l_ordinary")
            .or(Fallback::Float(10.0))
            .range(0.0, 1e6),
        Param::new("steps", Kind::Int, "steps of the generator").or(Fallback::Int(1000)).range(1.0, 1e9),
        Param::new("critic_steps", Kind::Int, "steps of the discriminator before each of the generator")
            .or(Fallback::Int(1))
            .range(1.0, 100.0),
        Param::new("batch", Kind::Int, "images per step").or(Fallback::Int(64)).range(2.0, 65536.0).unit("images"),
        Param::new("lr", Kind::Float, "Adam's learning rate").or(Fallback::Float(0.0002)).range(0.0, 1e3),
        Param::new("betas", Kind::Numbers, "Adam's two").or(Fallback::Absent("[0, 0.9]")).range(0.0, 0.999_999),
        Param::new("penalty", Kind::Float, "coefficient of the gradient penalty")
            .or(Fallback::Float(10.0))
            .range(0.0, 1e6),
        super::AVERAGE.or(Fallback::Float(0.0)),
        Param::new(
            "online",
            Kind::Float,
            "Adam's learning rate of the classifier, if it learns from the same images at every step: online adversarial training",
        )
        .or(Fallback::Absent("it stays as it is"))
        .range(0.0, 1e3),
        super::NOTE,
        super::EVERY,
        super::WATCH,
        SEED,
    ],
    returns: "Generator; its `history` has columns `misclassified`, the share of a batch of images that the classifier gets wrong (as the target), drawn as the generator that would be answered after this step draws them, in evaluation mode, \
              and `cosine`, of the angle between the gradients of l_ordinary and l_attack; with `keep`, `kept`, the share that most of these read as intended; with `online`, its `classifier` is the one that learned beside it",
    notes: "l_attack = f_y - max_{c != y} f_c, with a target t max_{c != t} f_c - f_t, of logits; s(l) = 1 + exp(l) for l <= 0 and 2 + l above; with \
            kappa = 0 that falls off as soon as the label is wrong. Labels are those of the real images; with a target they are drawn uniformly from the others. The generator that is given stays as it is. \
            With `keep`, l_ordinary has keep_weight times the mean of these classifiers' cross entropies for the intended label beside it, as the \
            discriminator's auxiliary classifier gives its own: where a discriminator has none, little else keeps labels. They say what they \
            were taught to say, so whether labels are kept others must judge, and generator::tests refuses them as its oracle. For \
            finetuning without pretraining, give a generator that was trained for one step. Where f answers another number of classes than g has labels, a \
            warning and the result's `cautions` say so.",
    source: "Dunn 2022, Sections 4.1 and 4.4.3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               generator::finetune(g, f, ds, #{ steps: 1, batch: 8, seed: 1 }).history.keys()",
        result: "[auxiliary, cosine, critic, generator, misclassified, step]",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let generator = args.object::<Generator>("g");
    let model = args.object::<Model>("f");
    let set = args.object::<Dataset>("ds");
    model.check_fits(cx, &set)?;
    super::check_pixels(&set)?;
    super::check_pair(cx, &generator, &model)?;
    let Some(discriminator) = generator.discriminator() else {
        return Err(Error::model(format!("{} has no discriminator, which keeps its images real", generator.name))
            .hint("generator::load(path, #{ arch: .., discriminator: path }), or train one here: generator::train keeps it"));
    };
    let shape = set.shape().map(|n| n as i64);
    let drawn = generator.image_shape()?;
    if shape != drawn {
        return Err(Error::argument(format!("{} draws {drawn:?}, {} has {shape:?}", generator.name, set.name))
            .hint("real images must be as large as those that are drawn"));
    }
    let Some(classes) = generator.classes() else {
        return Err(Error::model(format!(
            "{} takes no labels, so nothing says what its images are to show",
            generator.name
        ))
        .hint("finetuning needs a generator with labels"));
    };
    if set.classes().len() as i64 > classes {
        return Err(Error::argument(format!(
            "{} draws {classes} labels, {} has {}",
            generator.name,
            set.name,
            set.classes().len()
        )));
    }
    let target = args.optional_int("target");
    if classes == 1 && target == Some(0) {
        return Err(Error::argument(format!("`target` 0 is the only label that {} draws", generator.name)));
    }
    if let Some(target) = target.filter(|target| *target >= model.classes().unwrap_or(i64::MAX)) {
        return Err(Error::argument(format!(
            "`target` {target}: {} has {} classes",
            model.name,
            model.classes().unwrap_or(0)
        )));
    }
    if !model.differentiable() {
        return Err(Error::model(format!("{} is a black box, whose gradients are not known", model.name))
            .hint("finetuning needs a model of layers or a TorchScript program"));
    }
    let keepers = keepers(cx, args, &generator, &model)?;
    let mut kept_by = generator.kept_by().to_vec();
    for keeper in keepers.iter().flat_map(|keepers| &keepers.models) {
        for hash in keeper.hashes() {
            if !kept_by.contains(&hash) {
                kept_by.push(hash);
            }
        }
    }
    // A step without the attack makes nothing to be misread.
    let attacked = MisreadBy::Model(model.digest());
    let misread_by = match generator.misread_by() {
        before if args.float("rate") == 0.0 || before == attacked => before,
        // One that learns meanwhile is another one.
        MisreadBy::Nobody if args.optional_float("online").is_none() => attacked,
        _ => MisreadBy::Somebody,
    };
    let settings = GanSettings {
        steps: args.count("steps") as u64,
        critic_steps: args.count("critic_steps") as u64,
        batch: args.count("batch"),
        lr: args.float("lr"),
        betas: super::train::betas(args, (0.0, 0.9))?,
        penalty: args.float("penalty"),
        average: Some(args.float("average")).filter(|d| *d > 0.0),
        note: args.count("note") as u64,
        seed: args.seed(),
        attack: Some(Attack {
            model: (*model).clone(),
            target,
            rate: args.float("rate"),
            kappa: args.float("kappa"),
            online: args.optional_float("online"),
            amalgamation: LOSSES.of(args, "combine"),
        }),
        keepers,
        kept_by,
        unlearned: Some(generator.unlearned().to_vec()),
        misread_by,
    };
    let other_classes = model.classes().filter(|known| *known != classes).map(|known| {
        format!(
            "{} answers {known} classes, {} has {classes}: images may be made to be misread as what is none of its labels",
            model.name, generator.name
        )
    });
    other_classes.iter().for_each(|told| cx.warn(told.clone()));
    let name = format!("{} finetuned", generator.name);
    let finetuned = super::train::watched(args, &mut |watch| {
        let start = (generator.network().copy(cx.device())?, discriminator.judge().copy(cx.device())?);
        train_generator(cx, &name, start, &set, &settings, watch)
    })?;
    Ok(Value::object(match other_classes {
        Some(told) => finetuned.cautioned(told),
        None => finetuned,
    }))
}

/// Who is to go on reading what is drawn.
fn keepers(cx: &Cx, args: &Args, generator: &Generator, model: &Model) -> Result<Option<Keepers>> {
    let models = oracle::models(args, "keep")?;
    if models.is_empty() {
        return match args.given("keep_weight") {
            true => Err(Error::argument("`keep_weight` is of the classifiers of `keep`, which is missing")),
            false => Ok(None),
        };
    }
    for (i, keeper) in models.iter().enumerate() {
        super::check_pair(cx, generator, keeper)?;
        if keeper.digest() == model.digest() {
            return Err(Error::argument(format!(
                "`keep` has {}, the classifier that is to be wrong about the same images",
                keeper.name
            )));
        }
        if models[..i].iter().any(|other| other.digest() == keeper.digest()) {
            return Err(Error::argument(format!("`keep` has {} twice, which would count double", keeper.name)));
        }
        if !keeper.differentiable() {
            return Err(Error::model(format!("{} is a black box, whose gradients are not known", keeper.name))
                .hint("`keep` needs models of layers or TorchScript programs"));
        }
        cx.record_input("keep", &keeper.name, keeper.digest());
    }
    Ok(Some(Keepers { models, weight: args.float("keep_weight") }))
}
