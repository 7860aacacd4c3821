//! `robustness::certify` and what a certificate answers.

use std::collections::BTreeMap;

use crate::core::{Cx, Result, Value};
use crate::data::Dataset;
use crate::estimate::certificate::{Certificate, CertifiedImages, Settings};
use crate::model::{Model, Sampling};
use crate::primitives::examine::BATCH;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};
use crate::search::Transcript;

/// Smoothing noise: also what `Model.smoothed` takes.
pub(in crate::primitives) const SIGMA: Param =
    Param::new("sigma", Kind::Float, "standard deviation of the noise, in units of pixel values").range(1e-9, 1e9);

pub static CERTIFY: Primitive = Primitive {
    path: "robustness::certify",
    purpose: "Radii within which no change at all moves a smoothed classifier: what no attack can get below.",
    params: &[
        Param::new("f", Kind::Object("Model"), "the model that is smoothed: any, black boxes too"),
        Param::new(
            "images",
            Kind::Either(&[Kind::Object("Dataset"), Kind::Object("Transcript")]),
            "a data set; or a transcript, whose images are taken where its search left them",
        ),
    ],
    options: &[
        SIGMA,
        Param::new("select", Kind::Int, "noisy copies of each image that choose its class, n0")
            .range(1.0, 1e6)
            .or(Fallback::Int(100))
            .unit("copies"),
        Param::new(
            "samples",
            Kind::Int,
            "noisy copies of each image that the share of this class is estimated on, n; 100000 in the paper",
        )
        .range(1.0, 1e9)
        .or(Fallback::Int(1000))
        .unit("copies"),
        Param::new("delta", Kind::Float, "the probability that a radius is too large, alpha in the paper")
            .range(1e-12, 0.5)
            .or(Fallback::Float(0.001)),
        Param::new(
            "joint",
            Kind::Bool,
            "whether `delta` is the probability for any row, by Bonferroni, and not for each",
        )
        .or(Fallback::Bool(false)),
        BATCH,
        SEED,
    ],
    returns: "a Certificate, one row per image",
    notes: "The smoothed classifier g answers the class that f most likely answers to the image with Gaussian noise of `sigma`. Radii are g's, and \
            say nothing of f itself: g is another classifier, which f's training on such noise makes a good one. A class is chosen by `select` \
            copies, p is the lower end of Clopper and Pearson's one-sided interval for its share of `samples` others, and where p > 1/2 no change \
            shorter than sigma Phi^-1(p) in l2 moves g; else g abstains, which counts as not right. The noise is not cut to [0, 1], which the theorem \
            does not allow; what f does with values outside is part of f. It is drawn on the CPU in a stream of its own for each image and copy, so \
            that `batch` and device change results by rounding at most. f may draw random numbers itself, \
            independently for each copy; that an answer depends on other images of its batch is not allowed for, and the result says so where it shows.\n\n\
            `sigma` and radii are lengths of what the data set gives the model. Where it is standardised, centred or scaled the result says so.\n\n\
            Of a transcript it says what g certainly answers to each image that an attack came to, and how far that is in l2: the upper bound on g's \
            robust accuracy that plot::certified draws over the lower one. Rows of one image are as many statements.\n\n\
            A call that is stopped goes on where it was: what every batch said is kept.",
    source: "Cohen, Rosenfeld and Kolter 2019, Theorem 1 and procedure CERTIFY; Clopper and Pearson 1934",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 60, size: 16, position: \"centred\", margin: 0, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });\n\
               let c = robustness::certify(f, ds, #{ sigma: 0.1, samples: 200, seed: 1 });\n\
               c.certified(0.1).share <= c.accuracy",
        result: "true",
    }],
    run: certify,
};

fn certify(cx: &Cx, args: &Args) -> Result<Value> {
    let model = args.object::<Model>("f");
    let images = match args.optional_object::<Dataset>("images") {
        Some(set) => CertifiedImages::of_data(&set),
        None => CertifiedImages::of_transcript(cx, &args.object::<Transcript>("images"))?,
    };
    let sampling = Sampling {
        sigma: args.float("sigma"),
        select: args.count("select"),
        samples: args.count("samples"),
        batch: args.optional_int("batch").map(|batch| batch as usize),
        seed: args.seed(),
    };
    let settings = Settings { sampling, delta: args.float("delta"), joint: args.bool("joint") };
    settings.check(images.rows.len())?;
    model.check_fits(cx, &images.set)?;
    let votes = model.votes(cx, &images.set, &sampling)?;
    Ok(Value::object(Certificate::new(&model, &images, votes, settings)))
}

pub static CERTIFIED: Primitive = Primitive {
    path: "Certificate.certified",
    purpose: "The share of images that the smoothed classifier gets right whatever change shorter than a radius is made of them.",
    params: &[
        Param::new("certificate", Kind::Object("Certificate"), "of robustness::certify"),
        Param::new("radius", Kind::Float, "l2 length, in units of pixel values").at_least(0.0),
    ],
    options: &[],
    returns: "a map: `share, lo, hi`, with Wilson's interval at 95% for images like these",
    notes: "Exact steps: it falls where an image's own radius ends. Images that it abstains on or gets wrong count as not right. At 0 it is the \
            certificate's `accuracy`.",
    source: "Cohen, Rosenfeld and Kolter 2019, Section 4: certified accuracy",
    examples: &[Example {
        code: "let f = model::from(|x| x.reshape([x.len(), 2]), #{ classes: 2 });\n\
               let ds = data::from(tensor::from([1.0, 0.0, 0.5, 0.4]).reshape([2, 1, 1, 2]), [0, 0]);\n\
               let c = robustness::certify(f, ds, #{ sigma: 0.25, seed: 1 });\n\
               c.certified(0.4).share",
        result: "0.5",
    }],
    run: |_, args| {
        let share = args.object::<Certificate>("certificate").certified(args.float("radius"));
        let numbers = [("share", share.value), ("lo", share.lo), ("hi", share.hi)];
        let map: BTreeMap<String, Value> =
            numbers.into_iter().map(|(name, x)| (name.to_string(), Value::Float(x))).collect();
        Ok(Value::Map(map))
    },
};
