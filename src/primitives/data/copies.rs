//! `Dataset.copies`

use super::DATASET;
use crate::core::Value;
use crate::data::Dataset;
use crate::primitives::{Example, Primitive};

pub static COPIES: Primitive = Primitive {
    path: "Dataset.copies",
    purpose: "Of every image the place of the first one with the same pixels: its own where none came before.",
    params: &[DATASET],
    options: &[],
    returns: "an array of ints, one per image",
    notes: "Pixels are compared as models see them, to the last bit, whatever the labels; of a folder those that are stored: in 8 bits, of pictures of up to \
            128 x 128 pixels, and of larger ones the files, so that one in two formats or qualities is no copy. What is learned from and tested with the same images knows them by \
            heart: leave copies out before a data set is parted, or count the tests that are there among what was learned from \
            (`train.join(test).copies()`).",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 3, seed: 1 });\n\
               let twice = ds.join(ds.take(1));\n\
               let first = twice.copies();\n\
               let distinct = [];\n\
               for i in 0..twice.len() { if first[i] == i { distinct.push(i); } }\n\
               [first, twice.select(distinct).len()]",
        result: "[[0, 1, 2, 0], 3]",
    }],
    run: |cx, args| {
        let ds = args.object::<Dataset>("ds");
        ds.record(cx);
        Ok(Value::ints(ds.first_alike(cx)?.into_iter().map(|row| row as i64)))
    },
};
