//! How often a model is right or wrong.

use crate::core::{Cx, Object, Result, Value};
use crate::data::Dataset;
use crate::model::Model;
use crate::primitives::{Args, Example, Kind, Param, Primitive};

const DATA: Param = Param::new("ds", Kind::Object("Dataset"), "images with their labels");

pub static ACCURACY: Primitive = Primitive {
    path: "Model.accuracy",
    purpose: "The share of images that get their own label.",
    params: &[super::MODEL, DATA],
    options: &[],
    returns: "float in [0, 1]",
    notes: "Scores that are not a number are an error.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               f.accuracy(ds)",
        result: "0.15",
    }],
    run: |cx, args| share(cx, args, |correct, _| correct),
};

pub static ERROR: Primitive = Primitive {
    path: "Model.error",
    purpose: "The share of images that get another label than their own: the risk on this set.",
    params: &[super::MODEL, DATA],
    options: &[],
    returns: "float in [0, 1]",
    notes: "1 - accuracy. An error that is no better than guessing is warned of, as classes may be numbered differently.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               f.accuracy(ds) + f.error(ds)",
        result: "1.0",
    }],
    run: |cx, args| share(cx, args, |correct, n| n - correct),
};

fn share(cx: &Cx, args: &Args, count: fn(usize, usize) -> usize) -> Result<Value> {
    let set = args.object::<Dataset>("ds");
    set.record(cx);
    let model = args.object::<Model>("f");
    let read = model.read(cx, &set)?;
    let correct = read.iter().filter(|(label, answer)| label == answer).count();
    // A float can't say so itself; the run keeps it.
    model.cautions().iter().for_each(|told| cx.warn_of(model.digest(), told));
    model.known_doubts(&set).for_each(|told| cx.warn_of(model.digest(), told));
    model.doubts(&set, &read).into_iter().for_each(|told| cx.warn_of(model.digest(), told));
    model.reads_better_otherwise(cx, &set, &read)?.into_iter().for_each(|told| cx.warn_of(model.digest(), told));
    set.noticed_in_reading().iter().for_each(|told| cx.warn(told));
    set.drawn_by().iter().for_each(|told| cx.warn(told));
    Ok(Value::Float(count(correct, set.len()) as f64 / set.len() as f64))
}
