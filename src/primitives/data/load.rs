//! `data::load`

use super::class_names;
use crate::core::{Cx, Error, Result, Value};
use crate::data::{Classes, ColumnNames, Filter, Load, View, load, source};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, Words};

pub(in crate::primitives) static FILTERS: Words<Filter, 2> =
    Words::new([(Filter::Bilinear.name(), Filter::Bilinear), (Filter::Bicubic.name(), Filter::Bicubic)]);

pub static LOAD: Primitive = Primitive {
    path: "data::load",
    purpose: "Images and labels from a known data set, a file or a folder.",
    params: &[Param::new(
        "name_or_path",
        Kind::Path,
        "\"mnist\", \"fashion-mnist\", \"cifar10\", \"cifar100\", \"svhn\", or a path: see the notes",
    )],
    options: &[
        Param::new(
            "split",
            Kind::Str,
            "\"train\" or \"test\" of a published data set or a `.npz`; a subfolder of an image folder; how the names of shards begin",
        )
            .or(Fallback::Absent("\"test\" of a published data set; the folder itself")),
        Param::new(
            "limit",
            Kind::Int,
            "keeps the first so many images, after `shuffle` if it is given; of folders these are of the first classes alone, which results say",
        )
        .or(Fallback::Absent("all"))
        .at_least(1.0),
        Param::new(
            "resize",
            Kind::Int,
            "short side after resizing, the long one rounded down as by torchvision's Resize",
        )
        .or(Fallback::Absent("as stored"))
        .range(1.0, 16384.0)
        .unit("pixels"),
        Param::new("filter", FILTERS.kind(), "how `resize` weighs pixels: Pillow's filter of this name")
            .or(Fallback::Absent("\"bilinear\"")),
        Param::new("crop", Kind::Int, "side of the square in the middle that models see")
            .or(Fallback::Absent("all of the image, less the margin"))
            .range(1.0, 16384.0)
            .unit("pixels"),
        Param::new("margin", Kind::Int, "pixels around the crop that translations may bring in")
            .or(Fallback::Absent("all the image has"))
            .range(0.0, 8192.0)
            .unit("pixels"),
        Param::new("grey", Kind::Bool, "one channel, with NTSC weights").or(Fallback::Bool(false)),
        Param::new(
            "classes",
            Kind::Either(&[Kind::Array, Kind::Path]),
            "names of the classes in the order of their numbers, a file of them, or \"alphabetical\": see the notes",
        )
        .or(Fallback::Absent("what the files say, or numbers")),
        Param::new("labels_file", Kind::Path, "labels file of an IDX or `.npy` file, or a table of the labels of a folder: see the notes")
            .or(Fallback::Absent("the one beside it")),
        Param::new("image_column", Kind::Str, "column of a Parquet file, or array of a `.npz`, that holds the images")
            .or(Fallback::Absent("the one that can")),
        Param::new("label_column", Kind::Str, "column of a Parquet file, or array of a `.npz`, that holds the class numbers")
            .or(Fallback::Absent("the one that can")),
        Param::new("shuffle", Kind::Int, "puts the images in the order that this seed draws")
            .or(Fallback::Absent("the order of the files")),
    ],
    returns: "a `Dataset`; edge `margin(n)` if there is a margin, else `none`",
    notes: "A name stands for the folder of this name below VIVA_DATA's `data`, where `viva data fetch NAME` puts what it downloads.\n\n\
            Paths: relative to the working folder or to VIVA_DATA. An IDX images file (gzipped or not); a file of CIFAR-10 or \
            CIFAR-100 (whose fine labels count), binary or Python's, as torchvision downloads them; STL-10's binary files; SVHN's `.mat` (MATLAB 5: `X`, height x width x channels x N, \
            uint8, and `y`, where label 10 means the digit 0); a folder with the files of one of these data sets, such as \
            `cifar-10-batches-py`, with `split`; a `.npz` with the arrays `images` (N x C x H x W, N x H x W or, of one or three channels, \
            N x H x W x C; uint8, or float in [0, 1]) and `labels`, or those of a part, `test_images` and `test_labels` (as MedMNIST has them) or \
            `x_test` and `y_test` (Keras), or those that `image_column` and `label_column` name; a `.npy` of images with `labels.npy` beside it \
            (CIFAR-10-C, five strengths of 10,000 images in a row) or, beside `x_data.npy`, `x_labels.npy` (CIFAR-10.1); a folder \
            with one folder of .png, .jpg, .gif, .webp or .tif files per class, or a folder with `classes.csv` (columns `index`, `file`, and `name` if \
            there are names) or `labels.json` (`{ \"file\": label }`).\n\n\
            A flat folder is labelled by `labels_file`: a .csv with the columns `file` and `label`, which is a name or a number from 0, or \
            `ImageId` and `PredictionString` as Kaggle's LOC_val_solution.csv; a .txt with a file and its label a line, as Caffe's val.txt; or a .txt with a label a line, line 1 being that of the file whose \
            name ends in 1. For files called ILSVRC2012_val_00000001.JPEG and so on, ILSVRC2012_validation_ground_truth.txt and \
            LOC_val_solution.csv are found in the folder or beside it. Numbers in a .txt are those of ILSVRC 2012, from 1 to 1000 in an order of \
            their own: meta.mat of its development kit must lie beside them (`data/meta.mat` too), and without it they are refused. A picture \
            without a label and a label without a picture are refused.\n\n\
            Shards in the manner of WebDataset: a `.tar` file, a folder of them, or several by a range of numbers, \"val-{0000..0049}.tar\". \
            The files of a sample stand together and are called alike up to the first dot: a .jpg, .png, .gif, .webp or .tif and its class number, in a .cls \
            file or as `label` of a .json file. Rows are in the order of the shards' names and of what stands in each; the hash is of pictures \
            and labels, however they are divided. Every picture is read once when this is called, and again when it is used. A shard \
            without its end mark, a picture without a label and a sample in two places are refused; samples without a picture are counted in \
            `ds.numbered`.\n\n\
            Parquet as Hugging Face's datasets keeps it: a `.parquet` file, a folder of them, or a range, \"train-{00000..00009}-of-00010.parquet\". \
            One column holds pictures as files (a struct of `bytes` and `path`, or binary), one class numbers (int); where several could, \
            `image_column` and `label_column` say which. Names of a ClassLabel name the classes. Of a folder that holds several parts \
            (train-00000-of-00010.parquet, test-...) `split` picks one, and no shard of it may be missing. Every picture is read once when this is \
            called; later no more is unpacked than the page that it lies in, of Snappy the blocks, and at most 256 MiB of pages are kept. The hash is that of shards with the same pictures, \
            labels and names of classes. Packed by Snappy, Zstandard, gzip or not at all. Refused by file and row: no picture, no label, -1 or another \
            number that is no class.\n\n\
            Images of which no pixel is brighter than 31 of 255, in arrays of uint8 or in files, are refused: they are masks or levels of another scale.\n\n\
            Tiny ImageNet is read as it is published, with `split: \"train\"` or `\"val\"`. Folders that are all called as parts are (train, test, ..) \
            are no classes, unless `classes` says so.\n\n\
            Class folders that are called by whole numbers have these numbers. Where all names are or begin with WordNet ids of \
            ImageNet-1k, such as n01440764_tench, classes have ImageNet's numbers from 0 to 999, and so have the files of a folder whose \
            names begin so. Other names are numbered in alphabetical order; those of a part such as `test` beside `train` as in `train`, with \
            classes that are not there behind them. `ds.numbered` and the summary say which. `classes` names the \
            order instead: an array; a file with a name a line; a .csv with the columns `index` and a name; a .json such as `[\"cat\", \
            \"dog\"]` or `{ \"cat\": 0 }`; or \"alphabetical\", as torchvision's ImageFolder. It may name classes that are not there, \
            and a folder that it does not name is refused. Where files hold numbers, `classes` gives their names.\n\n\
            Bilinear and bicubic resizing give Pillow's bytes, with antialiasing, but of pictures more than twice as high as they are wide, which Pillow 13 takes \
            columns first and earlier ones, as `viva`, rows first (mostly up to 3 of 255 in a quarter of the values; up to 10, by `filter: \"bicubic\"`, of a picture three times as high as wide). What timm calls `crop_pct` is `resize: floor(crop / \
            crop_pct)`: 0.9 with crops of 224 means `#{ resize: 248, filter: \"bicubic\", crop: 224 }`. JPEG files are decoded to the \
            bytes of libjpeg-turbo, as Pillow has it: 200 of 200 photographs of ImageNet agree in every value. Those in CMYK are not \
            held to that (1.7% of the pixels of one differ, by 1 of 255). WebP files, lossy or not, and TIFF files are decoded to Pillow's bytes (60 and \
            96 files agree in every value); alpha is dropped, as `convert(\"RGB\")` does, and \
            pictures that are see-through somewhere are told in the cautions of results, as are those whose colour profile is not sRGB, whose numbers count as they stand. What \
            is hidden (`.name`) or macOS packs beside the files of an archive (`__MACOSX`) is left out, and names of classes of which one may be a slip of \
            another are told. Pictures lie as they are stored: what EXIF says of turning \
            them is not done, as torchvision does not (Hugging Face's datasets does); how many those are stands in the set's summary and in \
            the cautions of its results. Of TIFF one page of grey or RGB in 8 bits is read, with alpha or \
            without, packed by LZW, deflate, PackBits or not; 16 bits (also of grey PNG), floats, CMYK, palettes, several pages, pictures that are to be turned are refused, \
            and of every format animations of several pictures. Of PNG in colours of 16 bits the high 8 count, as Pillow has it.\n\n\
            Images of a folder are decoded when they are used, always to three channels; everything else is checked before this returns, \
            and that no file is cut short. A file that is cut short or whose checksums differ is an error that names it. The hash covers \
            the pixels as stored; for folders, the files' bytes. Of a thousand files and more, those are read again whose inode, size or \
            times have changed since they were read last, which a run's manifest dates.",
    source: "",
    examples: &[Example {
        code: "data::glyphs(#{ n: 5, seed: 1 }).save(\"five.npz\"); data::load(\"five.npz\", #{ limit: 3 }).len()",
        result: "3",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let count = |name: &str| args.optional_int(name).map(|n| n as usize);
    let filter = FILTERS.given(args, "filter");
    if filter.is_some() && args.optional_int("resize").is_none() {
        return Err(Error::argument("data::load: `filter` says how to resize, but `resize` is not given")
            .hint("`#{ resize: 248, filter: \"bicubic\", crop: 224 }`"));
    }
    let how = Load {
        split: args.optional_str("split").map(String::from),
        limit: count("limit"),
        view: View {
            resize: count("resize"),
            filter: filter.unwrap_or_default(),
            crop: count("crop"),
            margin: count("margin"),
        },
        grey: args.bool("grey"),
        classes: classes(cx, args)?,
        columns: ColumnNames {
            image: args.optional_str("image_column").map(String::from),
            label: args.optional_str("label_column").map(String::from),
        },
        labels: args.optional_str("labels_file").map(|path| cx.find(path)).transpose()?,
        shuffle: args.optional_int("shuffle").map(|seed| seed as u64),
    };
    let set = load(cx, args.str("name_or_path"), &how)?;
    match source(cx, args.str("name_or_path")) {
        Ok(path) => set.record_from(cx, &path),
        Err(_) => set.record(cx),
    }
    Ok(Value::object(set))
}

fn classes(cx: &Cx, args: &Args) -> Result<Classes> {
    Ok(match args.get("classes") {
        None => Classes::AsNamed,
        Some(Value::Str(word)) if word == "alphabetical" => Classes::Alphabetical,
        Some(Value::Str(path)) => Classes::File(cx.find(path).map_err(|error| match error.hint.clone() {
            Some(hint) => {
                error.hint(format!("{hint}; `classes` is an array of names, a file of them, or \"alphabetical\""))
            }
            None => error,
        })?),
        Some(_) => Classes::Named(class_names(args)?.unwrap_or_default()),
    })
}
