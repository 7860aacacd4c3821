//! Changes made to every image as it is read: `grey`, `centre`, `standardise`, `scale_pixels`.

use super::DATASET;
use crate::core::Value;
use crate::data::{Dataset, Preprocessing};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static GREY: Primitive = Primitive {
    path: "Dataset.grey",
    purpose: "The same images in grey.",
    params: &[DATASET],
    options: &[],
    returns: "a `Dataset` of one channel, 0.299 red + 0.587 green + 0.114 blue; grey data stays as it is",
    notes: "",
    source: "NTSC luma weights (ITU-R BT.601)",
    examples: &[Example { code: "data::glyphs(#{ n: 2, channels: 3, seed: 1 }).grey().shape", result: "[1, 32, 32]" }],
    run: |_, args| args.object::<Dataset>("ds").grey().map(Value::object),
};

pub static CENTRE: Primitive = Primitive {
    path: "Dataset.centre",
    purpose: "The same images, each with mean 0.",
    params: &[DATASET],
    options: &[],
    returns: "a `Dataset` whose pixels leave [0, 1]",
    notes: "The mean is over all channels and pixels of the image as models see it; a margin is moved by as much.",
    source: "",
    examples: &[Example {
        code: "abs(data::glyphs(#{ n: 2, seed: 1 }).centre().images().mean()) < 1e-6",
        result: "true",
    }],
    run: |_, args| args.object::<Dataset>("ds").with(Preprocessing::Centre).map(Value::object),
};

pub static STANDARDISE: Primitive = Primitive {
    path: "Dataset.standardise",
    purpose: "The same images, each with mean 0 and standard deviation 1.",
    params: &[DATASET],
    options: &[],
    returns: "a `Dataset` whose pixels leave [0, 1]",
    notes: "Over all channels and pixels of the image as models see it. A deviation below 1/255 counts as 1/255.",
    source: "",
    examples: &[Example {
        code: "let x = data::glyphs(#{ n: 2, seed: 1 }).standardise().images();\n\
               abs((x * x).mean() - 1) < 1e-5",
        result: "true",
    }],
    run: |_, args| args.object::<Dataset>("ds").with(Preprocessing::Standardise).map(Value::object),
};

pub static SCALE_PIXELS: Primitive = Primitive {
    path: "Dataset.scale_pixels",
    purpose: "The same images, each pixel divided by its standard deviation over a data set.",
    params: &[
        DATASET,
        Param::new("over", Kind::Object("Dataset"), "the images that the deviations are of, prepared in the same way")
            .or(Fallback::Absent("the data set itself")),
    ],
    options: &[],
    returns: "a `Dataset` whose pixels leave [0, 1]",
    notes: "Deviations are over images, with n in the denominator. Pixels that are the same in all images stay as they are. \
            `ds.grey().centre().scale_pixels()` is how Galloway et al. prepare SVHN; scale training images over the images that are \
            examined, as they do, or both over the training images, so that the model meets what it was trained on.",
    source: "Galloway, Golubeva and Taylor 2018, Section 2 and their published code",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 50, size: 16, seed: 1 }).centre().scale_pixels();\n\
               let x = ds.images();\n\
               abs((x * x).mean() - 1) < 0.1",
        result: "true",
    }],
    run: |cx, args| {
        let set = args.object::<Dataset>("ds");
        let over = args.optional_object::<Dataset>("over").unwrap_or_else(|| set.clone());
        set.scaled(cx, &over).map(Value::object)
    },
};
