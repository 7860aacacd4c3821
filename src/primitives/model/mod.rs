//! Models as scripts see them.

pub mod accuracy;
pub mod archs;
pub mod averaged;
pub mod binary;
pub mod device;
pub mod features;
pub mod from;
pub mod layers;
pub mod load;
pub mod logits;
pub mod predict;
pub mod program;
pub mod python;
pub mod resized;
pub mod smoothed;
pub mod train;
pub mod train_linear;

use std::rc::Rc;

use super::net::parts;
use super::{Args, Kind, Param};
use crate::core::{Error, Result, Tensor, Value};
use crate::data::Dataset;
use crate::model::{Arch, Inputs, Layer};

const MODEL: Param = Param::new("f", Kind::Object("Model"), "the model");

const INPUTS: Param = Param::new(
    "x",
    Kind::Either(&[Kind::Object("Dataset"), Kind::Tensor]),
    "a data set, or images N x C x H x W (or one, C x H x W) in [0, 1]",
);

/// What `x` holds, kept alive while a model looks at it.
enum Given {
    Images(Rc<Tensor>),
    Data(Rc<Dataset>),
}

impl Given {
    fn new(args: &Args) -> Self {
        match args.optional_object::<Dataset>("x") {
            Some(set) => Self::Data(set),
            None => Self::Images(args.tensor("x")),
        }
    }

    fn inputs(&self) -> Inputs<'_> {
        match self {
            Self::Images(images) => Inputs::Images(images),
            Self::Data(set) => Inputs::Data(set),
        }
    }
}

/// What the option `arch` takes.
const ARCH: Kind = Kind::Either(&[Kind::Str, Kind::Array, Kind::Object("Layer")]);

/// The option `arch`: a name, or layers.
fn arch(args: &Args) -> Result<Option<Arch>> {
    let Some(given) = args.get("arch") else { return Ok(None) };
    Ok(Some(match given {
        Value::Str(name) => Arch::Named(name.clone()),
        Value::Array(layers) if !layers.is_empty() => Arch::Layers(Layer::of_parts(parts("`arch`", given, "")?)),
        other => match other.downcast::<Layer>() {
            Some(layers) => Arch::Layers(layers.as_ref().clone()),
            None => {
                return Err(Error::argument(format!("`arch` must be a name or layers, got {}", other.summary())));
            }
        },
    }))
}

/// The option `input`.
fn input(args: &Args) -> Result<Option<[i64; 3]>> {
    shape(args, "input")
}

/// `[C, H, W]`, where it is given.
fn shape(args: &Args, name: &str) -> Result<Option<[i64; 3]>> {
    if args.get(name).is_none() {
        return Ok(None);
    }
    match args.numbers(name)[..] {
        [c, h, w] if [c, h, w].iter().all(|d| d.fract() == 0.0) => Ok(Some([c as i64, h as i64, w as i64])),
        _ => Err(Error::argument(format!("`{name}` must be [channels, height, width]"))),
    }
}

const CLASSES: Param = Param::new("classes", Kind::Int, "number of classes")
    .or(super::Fallback::Absent("what the model itself says"))
    .range(1.0, 1_048_576.0);

const INPUT: Param = Param::new("input", Kind::Numbers, "[channels, height, width] of its images")
    .or(super::Fallback::Absent("not checked"))
    .range(1.0, 65536.0);
