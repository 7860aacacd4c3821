//! `data::from`

use super::{class_names, whole_numbers};
use crate::core::{Cx, Error, Result, Value};
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
        Param::new("name", Kind::Str, "what messages, tables and manifests call it").or(Fallback::Str("from")),
        Param::new("any_range", Kind::Bool, "pixels need only be finite, as those of noise and of standardised images")
            .or(Fallback::Bool(false)),
        Param::new(
            "arbitrary_labels",
            Kind::Bool,
            "labels are what a search goes by and not what is to be seen, as of noise: no model is doubted for not answering them",
        )
        .or(Fallback::Bool(false)),
        Param::new("margin", Kind::Int, "pixels on every side that models do not see and translations bring in")
            .range(0.0, 1024.0)
            .unit("pixels")
            .or(Fallback::Int(0)),
    ],
    returns: "a `Dataset`; edge `margin(n)` if there is a margin, else `none`",
    notes: "Pixels are copied. NaN is refused, and so are values outside [0, 1] unless `any_range` is set.\n\n\
            Rows of a table are images of 1 x 1 x columns, signals in time of channels x 1 x samples: every search over space::pixels goes over \
            them (but search::square in l2, which needs windows of 3 x 3), with `any_range` in units of their own.",
    source: "",
    examples: &[
        Example {
            code: "let images = tensor::zeros([4, 1, 28, 28]);\n\
               data::from(images, [0, 1, 1, 0], #{ classes: [\"cat\", \"dog\"] })",
            result: "data from: 4 images 1 x 28 x 28, 2 classes, edge none",
        },
        Example {
            code: "data::from(tensor::zeros([4, 1, 28, 28]), [0, 1, 1, 0], #{ margin: 6, name: \"slides\" })",
            result: "data slides: 4 images 1 x 16 x 16, 2 classes, edge margin(6)",
        },
        Example {
            code: "let table = tensor::from([[0.2, 40.0, 1.5], [0.9, 12.0, 0.1], [0.4, 35.0, 1.1], [0.8, 15.0, 0.3]]).reshape([4, 1, 1, 3]);\n\
               let ds = data::from(table, [0, 1, 0, 1], #{ any_range: true });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(2)], epochs: 50, seed: 1 });\n\
               examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::fmn() }).len()",
            result: "4",
        },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let name = args.str("name");
    if name.trim().is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
        return Err(Error::argument(format!("data::from: the name {name:?} is no line of 1 to 200 characters")));
    }
    let mut set = from_tensor(
        &args.tensor("images"),
        whole_numbers(args, "labels")?,
        class_names(args)?,
        args.bool("any_range"),
    )?;
    set.name = name.into();
    let set = set.with_margin(args.count("margin"))?.of_arbitrary_labels(args.bool("arbitrary_labels"));
    let set = if set.has_arbitrary_labels() { set } else { set.told_of_labels() };
    set.record(cx);
    Ok(Value::object(set))
}
