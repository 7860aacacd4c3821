//! The methods of a transcript.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::core::{Error, Value};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, Words};
use crate::search::Transcript;

const RECEIVER: Param = Param::new("transcript", Kind::Object("Transcript"), "the outcomes of an examination");
const COLUMN: Param = Param::new(
    "name",
    Kind::Str,
    "\"id\", \"label\", \"target\", \"before\", \"after\", \"fooled\", \"level\", \"step\", \"snr\", \"magnitude\", \"loss\", \
     \"margin\", \"softmax_margin\", \"vanished\", \"queries\", \"point\", \"weight\", \"by\" of search::worst, or a measure that was asked for (measures())",
);

fn transcript(args: &Args) -> Rc<Transcript> {
    args.object("transcript")
}

/// An examination that takes a moment, for the examples.
macro_rules! example {
    ($call:literal) => {
        concat!(
            "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n",
            "let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n",
            "let t = examine(f, ds, #{ space: space::translate(1), search: search::strongest() });\n",
            $call
        )
    };
}

pub static LEN: Primitive = Primitive {
    path: "Transcript.len",
    purpose: "The number of rows.",
    params: &[RECEIVER],
    options: &[],
    returns: "an int",
    notes: "",
    source: "",
    examples: &[Example { code: example!("t.len()"), result: "20" }],
    run: |_, args| Ok(Value::Int(transcript(args).len() as i64)),
};

pub static COLUMN_OF: Primitive = Primitive {
    path: "Transcript.column",
    purpose: "One column, in the order of the rows.",
    params: &[RECEIVER, COLUMN],
    options: &[],
    returns: "an array; () where a value is not known",
    notes: "`before` and `after` are predicted classes, `target` the class that the objective aims at, `fooled` is right before and as \
            the objective asks after. `loss` is the objective's where the search left the image, `margin` how far the scores are \
            from what it asks for: for misclassify() the label's score minus the best other one. `softmax_margin` is the highest softmax \
            probability minus the second highest. `magnitude` is in the space's unit (() over factors of your own without an `identity`, which have none), `snr` \
            in dB, `level` and `step` where they were asked for, `vanished` whether a gradient was 0, or no number anywhere, at some step, or search::hopskipjump found nothing to begin at. `queries` counts \
            the points scored, `point` is the change (over factors a map from name to value), `weight` the density h_g of the outcome.",
    source: "",
    examples: &[Example { code: example!("t.column(\"queries\").len()"), result: "20" }],
    run: |_, args| Ok(Value::Array(transcript(args).column(args.str("name"))?)),
};

pub static FILTER: Primitive = Primitive {
    path: "Transcript.filter",
    purpose: "The rows for which a closure answers true.",
    params: &[RECEIVER, Param::new("keep", Kind::Callback, "gets a row as a map, answers a bool")],
    options: &[],
    returns: "a Transcript",
    notes: "An estimate from rows that were chosen by their outcome is not valid.",
    source: "",
    examples: &[Example { code: example!("t.filter(|row| row.id < 5).len()"), result: "5" }],
    run: |cx, args| {
        let keep = args.callback("keep");
        let kept = transcript(args).filter(|row| {
            cx.check()?;
            match keep.call(&[row])? {
                Value::Bool(kept) => Ok(kept),
                other => Err(Error::argument(format!("`keep` must answer a bool, got {}", other.kind()))),
            }
        })?;
        Ok(Value::object(kept))
    },
};

pub static HIGHEST: Primitive = Primitive {
    path: "Transcript.highest",
    purpose: "The rows with the largest values of a column, the largest first.",
    params: &[RECEIVER, COLUMN, Param::new("n", Kind::Int, "how many rows").range(1.0, 1e9).or(Fallback::Int(10))],
    options: &[],
    returns: "a Transcript; all rows where a value is known if there are fewer",
    notes: "Of equal values the earlier row comes first. An estimate from rows that were chosen by their outcome is not valid.",
    source: "",
    examples: &[Example { code: example!("t.highest(\"loss\", 3).len()"), result: "3" }],
    run: |_, args| Ok(Value::object(transcript(args).highest(args.str("name"), args.count("n"))?)),
};

pub static GROUP: Primitive = Primitive {
    path: "Transcript.group",
    purpose: "The rows by the values of a column.",
    params: &[RECEIVER, COLUMN],
    options: &[],
    returns: "a map from value to Transcript",
    notes: "",
    source: "",
    examples: &[Example { code: example!("t.group(\"label\").keys().len() > 1"), result: "true" }],
    run: |_, args| {
        let groups = transcript(args).group(args.str("name"))?;
        let values: BTreeMap<String, Value> =
            groups.into_iter().map(|(value, rows)| (value, Value::object(rows))).collect();
        Ok(Value::Map(values))
    },
};

pub static SUCCESS_RATE: Primitive = Primitive {
    path: "Transcript.success_rate",
    purpose: "The share of the images that were right as they stand which the search made fail.",
    params: &[RECEIVER],
    options: &[],
    returns: "a float; NaN if no image was right",
    notes: "An image with several rows, of targets, levels or steps, counts once: as one that failed where any of them did.",
    source: "",
    examples: &[Example { code: example!("t.success_rate()"), result: "0.25" }],
    run: |_, args| Ok(Value::Float(transcript(args).success_rate())),
};

pub static MEAN: Primitive = Primitive {
    path: "Transcript.mean",
    purpose: "The mean of a column of numbers or bools over all rows.",
    params: &[RECEIVER, COLUMN],
    options: &[],
    returns: "a float; NaN if it is known nowhere",
    notes: "A column that is known of some rows alone is refused. Over rows that were chosen by their outcome, as those that were fooled, it is a \
            mean over these alone: tolerance::smallest_change tells how large changes have to be, over all.",
    source: "",
    examples: &[Example { code: example!("t.mean(\"queries\") >= 9.0"), result: "true" }],
    run: |_, args| Ok(Value::Float(transcript(args).mean(args.str("name"))?)),
};

/// Whether it is where the search left them.
static WHICH: Words<bool, 2> = Words::new([("before", false), ("after", true)]);

pub static IMAGES: Primitive = Primitive {
    path: "Transcript.images",
    purpose: "The images of all rows, as they stand or where the search left them.",
    params: &[
        RECEIVER,
        Param::new("which", WHICH.kind(), "as they stand, or where the search left them").or(Fallback::Str("after")),
    ],
    options: &[],
    returns: "a tensor N x C x H x W",
    notes: "Images are read and changed anew: of most searches a transcript holds no pixels. Those of search::apgd and adam over pixels are the ones that the search left.",
    source: "",
    examples: &[Example {
        code: example!("t.filter(|row| row.id < 5).images(\"before\").shape"),
        result: "[5, 1, 16, 16]",
    }],
    run: |cx, args| Ok(Value::tensor(transcript(args).images(cx, WHICH.of(args, "which"))?)),
};

pub static FIELDS: Primitive = Primitive {
    path: "Transcript.fields",
    purpose: "The vector fields that deform the images of all rows, for transcripts of search::adef.",
    params: &[RECEIVER],
    options: &[],
    returns: "a tensor N x H x W x 2 in pixels: how far to the right and how far down each pixel is taken from",
    notes: "The search goes its way again; a transcript holds no pixels.",
    source: "Alaifari, Alberti and Gauksson 2019",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               examine(f, ds, #{ space: space::deform(), search: search::adef() }).fields().shape",
        result: "[3, 16, 16, 2]",
    }],
    run: |cx, args| Ok(Value::tensor(transcript(args).fields(cx)?)),
};
