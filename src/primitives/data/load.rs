//! `data::load`

use super::class_names;
use crate::core::{Cx, Result, Value};
use crate::data::{Load, View, load, source};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static LOAD: Primitive = Primitive {
    path: "data::load",
    purpose: "Images and labels from a known data set, a file or a folder.",
    params: &[Param::new(
        "name_or_path",
        Kind::Path,
        "\"mnist\", \"fashion-mnist\", \"cifar10\", \"cifar100\", \"svhn\", or a path: see the notes",
    )],
    options: &[
        Param::new("split", Kind::Str, "\"train\" or \"test\" of a published data set; a subfolder of an image folder")
            .or(Fallback::Absent("\"test\" of a published data set; the folder itself")),
        Param::new("limit", Kind::Int, "keeps the first so many images, after the shuffle if `seed` is given")
            .or(Fallback::Absent("all"))
            .at_least(1.0),
        Param::new("resize", Kind::Int, "short side after resizing, as torchvision's Resize on Pillow images")
            .or(Fallback::Absent("as stored"))
            .range(1.0, 16384.0)
            .unit("pixels"),
        Param::new("crop", Kind::Int, "side of the square in the middle that models see")
            .or(Fallback::Absent("all of the image, less the margin"))
            .range(1.0, 16384.0)
            .unit("pixels"),
        Param::new("margin", Kind::Int, "pixels around the crop that translations may bring in")
            .or(Fallback::Absent("all the image has"))
            .range(0.0, 8192.0)
            .unit("pixels"),
        Param::new("grey", Kind::Bool, "one channel, with NTSC weights").or(Fallback::Bool(false)),
        Param::new("classes", Kind::Array, "names of the classes, in the order of their numbers")
            .or(Fallback::Absent("what the files say, or numbers")),
        Param::new("labels", Kind::Path, "labels file of an IDX file").or(Fallback::Absent("the one beside it")),
        Param::new("seed", Kind::Int, "shuffles the images").or(Fallback::Absent("the order of the files")),
    ],
    returns: "a `Dataset`; edge `margin(n)` if there is a margin, else `none`",
    notes: "A name stands for the folder of this name below VIVA_DATA's `data`, where `viva data fetch NAME` puts what it downloads.\n\n\
            Paths: relative to the working folder or to VIVA_DATA. An IDX images file (gzipped or not); a `.bin` of the binary \
            version of CIFAR-10 or CIFAR-100 (whose fine labels count); SVHN's `.mat` (MATLAB 5: `X`, height x width x channels x N, \
            uint8, and `y`, where label 10 means the digit 0); a folder with the files of one of these data sets, such as \
            `cifar-10-batches-bin`, with `split`; a `.npz` with the arrays `images` (N x C x H x W or N x H x W; uint8, or float in [0, 1]) and `labels`, a folder \
            with one folder of .png and .jpg files per class, or a folder with `classes.csv` (columns `index`, `file`, and `name` if \
            there are names) or `labels.json` (`{ \"file\": label }`).\n\n\
            Images of a folder are decoded when they are used, always to three channels; everything else is checked before this \
            returns. The hash covers the pixels as stored; for folders, the files' bytes, and beyond 10,000 files \
            their names and sizes.",
    source: "",
    examples: &[Example {
        code: "data::glyphs(#{ n: 5, seed: 1 }).save(\"five.npz\"); data::load(\"five.npz\", #{ limit: 3 }).len()",
        result: "3",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let count = |name: &str| args.optional_int(name).map(|n| n as usize);
    let how = Load {
        split: args.optional_str("split").map(String::from),
        limit: count("limit"),
        view: View { resize: count("resize"), crop: count("crop"), margin: count("margin") },
        grey: args.bool("grey"),
        classes: class_names(args)?,
        labels: args.optional_str("labels").map(|path| cx.find(path)).transpose()?,
        shuffle: args.optional_int("seed").map(|seed| seed as u64),
    };
    let set = load(cx, args.str("name_or_path"), &how)?;
    match source(cx, args.str("name_or_path")) {
        Ok(path) => set.record_from(cx, &path),
        Err(_) => set.record(cx),
    }
    Ok(Value::object(set))
}
