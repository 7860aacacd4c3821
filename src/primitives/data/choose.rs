//! Parts and orders of a data set: `len`, `take`, `skip`, `shuffle`, `split`, `only`.

use super::DATASET;
use crate::core::{Cx, Error, Result, Value, suggestion};
use crate::data::Dataset;
use crate::primitives::{Args, Example, Kind, Param, Primitive, SEED};

const COUNT: Param = Param::new("n", Kind::Int, "how many images").at_least(0.0);

pub static LEN: Primitive = Primitive {
    path: "Dataset.len",
    purpose: "How many images there are.",
    params: &[DATASET],
    options: &[],
    returns: "an int",
    notes: "",
    source: "",
    examples: &[Example { code: "data::glyphs(#{ n: 7, seed: 1 }).len()", result: "7" }],
    run: |_, args| Ok(Value::Int(args.object::<Dataset>("ds").len() as i64)),
};

pub static TAKE: Primitive = Primitive {
    path: "Dataset.take",
    purpose: "The first images.",
    params: &[DATASET, COUNT.at_least(1.0)],
    options: &[],
    returns: "a `Dataset`; all images if there are fewer",
    notes: "Where images lie in the order of their classes, and classes fall away, its results say so.",
    source: "",
    examples: &[Example { code: "data::glyphs(#{ n: 7, seed: 1 }).take(3).len()", result: "3" }],
    run: |_, args| args.object::<Dataset>("ds").take(args.count("n")).map(Value::object),
};

pub static SKIP: Primitive = Primitive {
    path: "Dataset.skip",
    purpose: "All but the first images.",
    params: &[DATASET, COUNT],
    options: &[],
    returns: "a `Dataset`; an error if none are left",
    notes: "",
    source: "",
    examples: &[Example { code: "data::glyphs(#{ n: 7, seed: 1 }).skip(3).len()", result: "4" }],
    run: |_, args| args.object::<Dataset>("ds").skip(args.count("n")).map(Value::object),
};

pub static SHUFFLE: Primitive = Primitive {
    path: "Dataset.shuffle",
    purpose: "The images in random order.",
    params: &[DATASET],
    options: &[SEED],
    returns: "a `Dataset`",
    notes: "Every order is equally likely; the same seed gives the same order.",
    source: "",
    examples: &[Example { code: "data::glyphs(#{ n: 7, seed: 1 }).shuffle(#{ seed: 3 }).len()", result: "7" }],
    run: |_, args| args.object::<Dataset>("ds").shuffle(args.seed()).map(Value::object),
};

pub static SPLIT: Primitive = Primitive {
    path: "Dataset.split",
    purpose: "Two parts of a data set, in its order.",
    params: &[DATASET, Param::new("fraction", Kind::Float, "share of the first part").range(0.0, 1.0)],
    options: &[],
    returns: "an array of two `Dataset`s, neither of them empty",
    notes: "The first part has `fraction * len` images, rounded. Shuffle first if the order means something: where images lie in the order of their classes, and classes fall away, results of a part say so.",
    source: "",
    examples: &[Example { code: "data::glyphs(#{ n: 10, seed: 1 }).split(0.8)[1].len()", result: "2" }],
    run: |_, args| {
        let parts = args.object::<Dataset>("ds").split(args.float("fraction"))?;
        Ok(Value::Array(parts.into_iter().map(Value::object).collect()))
    },
};

pub static SELECT: Primitive = Primitive {
    path: "Dataset.select",
    purpose: "The images at these places, in this order.",
    params: &[
        DATASET,
        Param::new("places", Kind::Numbers, "image numbers from 0; an image may come more than once").at_least(0.0),
    ],
    options: &[],
    returns: "a `Dataset`",
    notes: "",
    source: "",
    examples: &[Example { code: "data::glyphs(#{ n: 100, seed: 1 }).select([7, 3]).len()", result: "2" }],
    run: select,
};

fn select(_: &Cx, args: &Args) -> Result<Value> {
    let set = args.object::<Dataset>("ds");
    let place = |x: f64| match x {
        x if x.fract() == 0.0 && x < set.len() as f64 => Ok(x as usize),
        x => Err(Error::argument(format!("no image {} among {}", crate::core::number(x), set.len()))
            .hint(format!("images count from 0 to {}", set.len() - 1))),
    };
    let places = args.numbers("places").into_iter().map(place).collect::<Result<Vec<_>>>()?;
    set.select(&places).map(Value::object)
}

pub static ONLY: Primitive = Primitive {
    path: "Dataset.only",
    purpose: "The images of some classes.",
    params: &[DATASET, Param::new("labels", Kind::Array, "class numbers or names")],
    options: &[],
    returns: "a `Dataset`; labels and classes stay as they are",
    notes: "`relabel` renumbers labels.",
    source: "",
    examples: &[Example {
        code: "data::glyphs(#{ n: 100, seed: 1 }).only([3, \"5\"])",
        result: "data glyphs: 20 images 1 x 32 x 32, 10 classes, edge wrap",
    }],
    run: only,
};

fn only(_: &Cx, args: &Args) -> Result<Value> {
    let set = args.object::<Dataset>("ds");
    let names = || set.classes().iter().map(String::as_str);
    let label = |value: &Value| match value {
        Value::Int(label) if (0..set.classes().len() as i64).contains(label) => Ok(*label),
        Value::Float(x) if x.fract() == 0.0 && *x >= 0.0 && *x < set.classes().len() as f64 => Ok(*x as i64),
        Value::Str(name) if names().filter(|class| class == name).count() > 1 => {
            Err(Error::argument(format!("several classes are called {name:?}")).hint("name them by their numbers"))
        }
        Value::Str(name) => names()
            .position(|class| class == name)
            .map(|label| label as i64)
            .ok_or_else(|| Error::argument(format!("no class {name:?}")).hint(suggestion(name, names()))),
        other => Err(Error::argument(format!("no class {}", other.summary()))
            .hint(format!("class numbers go from 0 to {}", set.classes().len() - 1))),
    };
    let labels = args.array("labels").iter().map(label).collect::<Result<Vec<_>>>()?;
    set.only(&labels).map(Value::object)
}
