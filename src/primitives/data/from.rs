//! `data::from`

use super::{class_names, whole_numbers};
use crate::core::{Cx, Result, Value};
use crate::data::from_tensor;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static FROM: Primitive = Primitive {
    path: "data::from",
    purpose: "A data set of images and labels that a script has at hand.",
    params: &[
        Param::new("images", Kind::Tensor, "`N x C x H x W` or `N x H x W`, float in [0, 1] or uint8"),
        Param::new("labels", Kind::Numbers, "one whole number from 0 up per image"),
    ],
    options: &[
        Param::new("classes", Kind::Array, "names of the classes")
            .or(Fallback::Absent("their numbers, up to the highest label")),
        Param::new("any_range", Kind::Bool, "pixels need only be finite, as those of noise and of standardised images")
            .or(Fallback::Bool(false)),
    ],
    returns: "a `Dataset` with edge `none`",
    notes: "Pixels are copied. NaN is refused, and so are values outside [0, 1] unless `any_range` is set.",
    source: "",
    examples: &[Example {
        code: "let images = tensor::zeros([4, 1, 28, 28]);\n\
               data::from(images, [0, 1, 1, 0], #{ classes: [\"cat\", \"dog\"] })",
        result: "data from: 4 images 1 x 28 x 28, 2 classes, edge none",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let set = from_tensor(
        &args.tensor("images"),
        whole_numbers(args, "labels")?,
        class_names(args)?,
        args.bool("any_range"),
    )?;
    set.record(cx);
    Ok(Value::object(set))
}
