//! An inception-style score.

use crate::core::{Object, Value};
use crate::data::Dataset;
use crate::estimate::inception_score;
use crate::model::{Inputs, Model};
use crate::primitives::{Example, Kind, Param, Primitive};

/// Images for each class, of which a score is not far too low.
const SEVERAL: usize = 10;

pub static INCEPTION_SCORE: Primitive = Primitive {
    path: "generator::inception_score",
    purpose: "How decided and how varied a classifier's answers to images are.",
    params: &[
        Param::new("images", Kind::Object("Dataset"), "what was drawn, such as g.sample()"),
        Param::new("f", Kind::Object("Model"), "a classifier"),
    ],
    options: &[],
    returns: "a float from 1, where all answers are the same or undecided, to the number of classes",
    notes: "exp(E[KL(p(y|x) || p(y))]) over all images at once. With Inception v3 it is the inception score. It is too low of few images: compare sets of one size, of several for \
            each class at least.",
    source: "Salimans et al. 2016",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               let f = model::from(|x| tensor::zeros([x.shape[0], 10]));\n\
               generator::inception_score(ds, f)",
        result: "1.0",
    }],
    run: |cx, args| {
        let (images, model) = (args.object::<Dataset>("images"), args.object::<Model>("f"));
        model.check_fits(cx, &images)?;
        // A float can't say so itself; the run keeps it.
        let classes = images.classes().len();
        if images.len() < SEVERAL * classes {
            cx.warn(format!(
                "generator::inception_score: {} images for {classes} classes: of few images it is too low, and of n it is never above n",
                images.len()
            ));
        }
        model.cautions().iter().for_each(|told| cx.warn_of(model.digest(), told));
        let noticed = [images.noticed_in_reading(), images.drawn_by()];
        noticed.iter().flat_map(|noticed| noticed.iter()).for_each(|told| cx.warn(told));
        Ok(Value::Float(inception_score(&model.scores(cx, &Inputs::Data(&images))?)?))
    },
};
