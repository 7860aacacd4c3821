//! Data sets that live in a Python.

use super::class_names;
use crate::core::Value;
use crate::data::{PythonData, python};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, from_python};

pub static PYTHON: Primitive = Primitive {
    path: "data::python",
    purpose: "A data set that lives in Python: any map-style Dataset of torch, a datasets.Dataset, or what else has a length and items.",
    params: &[Param::new(
        "place",
        Kind::Str,
        "FILE.py:NAME, a function that makes the data set, or the data set itself: \"my_data.py:validation\"",
    )],
    options: &[
        from_python::ARGS,
        Param::new("classes", Kind::Array, "names of the classes")
            .or(Fallback::Absent("what the data set says of itself, else their numbers")),
        Param::new("limit", Kind::Int, "keep only the first so many items")
            .range(1.0, 1e9)
            .or(Fallback::Absent("all of them")),
        Param::new("image_key", Kind::Str, "the key of the image in items that are maps")
            .or(Fallback::Absent("\"image\", \"img\" or \"pixel_values\"")),
        Param::new("label_key", Kind::Str, "the key of the label in items that are maps")
            .or(Fallback::Absent("\"label\", \"labels\" or \"target\"")),
        from_python::SECONDS,
        from_python::INTERPRETER,
    ],
    returns: "a `Dataset` with edge `none`",
    notes: "An item is a pair of image and label (what follows is left out) or a map of both. Images are pictures of PIL (L or RGB), or arrays \
            or tensors of uint8 or of floats in [0, 1], C x H x W, H x W x C or H x W, all of one size; labels are whole numbers from 0. Values outside \
            [0, 1] are refused: normalising is the model's business, `mean` and `std` of `model::python`.\n\n\
            All is read once and held in memory, as bytes where the numbers were made of bytes, up to 8 GiB; `limit` reads less. The first images are \
            read a second time, and data that has changed by then is refused, as by random transforms. The hash is that of pixels, labels and classes, so it \
            is the same wherever the images come from in Python. What it may touch and how it is started: see `model::python`.",
    source: "",
    examples: &[Example {
        code: "let kind = \"\";\ntry { data::python(\"my_data.py:validation\"); } catch (e) { kind = e.kind; }\nkind",
        result: "permission",
    }],
    run: |cx, args| {
        let (interpreter, offer) = from_python::asked_for(cx, args)?;
        let how = PythonData {
            limit: args.optional_int("limit").map(|n| n as usize),
            classes: class_names(args)?,
            image: args.optional_str("image_key").map(String::from),
            label: args.optional_str("label_key").map(String::from),
        };
        let set = python(cx, &offer, &interpreter, how)?;
        set.record(cx);
        Ok(Value::object(set))
    },
};
