//! `data::views`

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::core::{Cx, Error, Result, Value, random, suggestion};
use crate::data::Dataset;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};
use crate::space::{AnySpace, FactorChange, Factored, Render, Setting};

pub static VIEWS: Primitive = Primitive {
    path: "data::views",
    purpose: "Pictures of objects from random views: what a classifier of objects learns from.",
    params: &[Param::new("objects", Kind::Object("Dataset"), "data::objects(..)")],
    options: &[
        Param::new("n", Kind::Int, "pictures of each object").range(1.0, 1e6).or(Fallback::Int(10)),
        Param::new("space", Kind::Object("Space"), "space::render(..), of which views are drawn uniformly")
            .or(Fallback::Absent("space::render(), twelve factors")),
        Param::new(
            "without",
            Kind::Map,
            "views that are left out: a range or choices for each of some factors; a view that is in all of them is drawn again",
        )
        .or(Fallback::Absent("none")),
        SEED,
    ],
    returns: "a `Dataset`, object by object; edge `none`",
    notes: "Factors that the space does not vary are as it has them. `without: #{ light_energy: [0.2, 0.5] }` gives a classifier that has never seen \
            its objects in the dark: a weakness to be found. `ds[i].attributes` is a map of the twelve factors, and of those others that the space has. Pictures are drawn \
            when they are read.",
    source: "the training sets of Shu, Liu, Qiu and Yuille, AAAI 2020: m pictures per object",
    examples: &[Example {
        code: "let ds = data::objects([\"mug\", \"lamp\"], #{ n: 4, seed: 1 });\n\
               let views = data::views(ds, #{ n: 5, without: #{ background: [\"black\"] }, seed: 1 });\n\
               [views.len(), views[0].attributes.background != \"black\"]",
        result: "[20, true]",
    }],
    run,
};

/// Views that are drawn for one that is not left out, at most.
const TRIES: usize = 10_000;

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let objects = args.object::<Dataset>("objects");
    let space: Rc<AnySpace> = match args.optional_object::<AnySpace>("space") {
        Some(space) => space,
        None => Rc::new(AnySpace(Rc::new(Render::all()?))),
    };
    let Some(render) = space.0.render() else {
        return Err(Error::argument(format!("`space` must be space::render(..), got {}", space.0.describe())));
    };
    let empty = BTreeMap::new();
    let without = if args.given("without") { args.map("without") } else { &empty };
    let left_out: Vec<(usize, Left)> =
        without.iter().map(|(name, value)| left(render, name, value)).collect::<Result<_>>()?;
    let (each, seed) = (args.count("n"), args.seed());
    let about = format!("{} without {:?} seed {seed}", space.0.identity(), left_out);
    let factors = render.factors();
    let set = objects.views(each, render.scenery(), &about, |picture| {
        if picture % 1024 == 0 {
            cx.check()?;
        }
        let mut rng = random(seed ^ OWN, picture as u64);
        for _ in 0..TRIES {
            let setting: Setting = factors.iter().map(|factor| factor.draw(&mut rng)).collect();
            let view = render.view(&setting);
            if left_out.is_empty() || !left_out.iter().all(|(place, left)| left.holds(view[*place])) {
                return Ok(view);
            }
        }
        Err(Error::argument(format!("`without` leaves out nearly all views: none of {TRIES} was left")))
    })?;
    set.record(cx);
    Ok(Value::object(set))
}

const OWN: u64 = 0x7669_6577_7321;

/// Values of a factor that are left out.
#[derive(Debug)]
enum Left {
    Range(f64, f64),
    Choices(Vec<usize>),
}

impl Left {
    fn holds(&self, x: f64) -> bool {
        match self {
            Self::Range(min, max) => (*min..=*max).contains(&x),
            Self::Choices(choices) => choices.contains(&(x as usize)),
        }
    }
}

fn left(render: &Render, name: &str, value: &Value) -> Result<(usize, Left)> {
    let names = || render.factors().iter().map(|factor| factor.name.as_str());
    if !names().any(|known| known == name) {
        return Err(
            Error::argument(format!("`without`: no factor {name:?} that varies")).hint(suggestion(name, names()))
        );
    }
    let place = Render::place(name).ok_or_else(|| Error::internal("a factor without a place"))?;
    let wanted = super::super::space::render::wanted(name, value)?;
    Ok((
        place,
        match wanted {
            FactorChange::Fixed(Value::Str(choice)) => Left::Choices(vec![render.choice(name, &choice)?]),
            FactorChange::Range(min, max) if min <= max => Left::Range(min, max),
            FactorChange::Choices(choices) => {
                Left::Choices(choices.iter().map(|choice| render.choice(name, choice)).collect::<Result<Vec<_>>>()?)
            }
            _ => {
                return Err(Error::argument(format!(
                    "`without`: {name:?} must be a range [min, max] or an array of choices"
                ))
                .hint("without: #{ azimuth: [90, 180], background: [\"black\"] }"));
            }
        },
    ))
}
