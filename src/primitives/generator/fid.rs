//! The Frechet distance between images in a classifier's features.

use crate::core::{Error, Value};
use crate::data::Dataset;
use crate::estimate::frechet_distance;
use crate::model::{Inputs, Model};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static FID: Primitive = Primitive {
    path: "generator::fid",
    purpose: "How far images are from real ones in a classifier's features: the Frechet distance.",
    params: &[
        Param::new("images", Kind::Object("Dataset"), "what was drawn, such as g.sample()"),
        Param::new("real", Kind::Object("Dataset"), "real images"),
        Param::new("f", Kind::Object("Model"), "a classifier of layers that end with a linear one"),
    ],
    options: &[],
    returns: "a float, 0 or more; 0 for the same images",
    notes: "|m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)) of what goes into the last linear layer. Numbers compare only for the same classifier and \
            the same number of images; there should be several times as many images as features. With Inception v3 it is the FID.",
    source: "Heusel et al. 2017",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(8), net::relu(), net::linear(10)], epochs: 1, seed: 1 });\n\
               generator::fid(ds, ds, f) < 0.001",
        result: "true",
    }],
    run: |cx, args| {
        let (images, real) = (args.object::<Dataset>("images"), args.object::<Dataset>("real"));
        let model = args.object::<Model>("f");
        for set in [&images, &real] {
            model.check_fits(cx, set)?;
            if set.len() < 2 {
                return Err(Error::data(format!("{}: {} image has no covariance", set.name, set.len())));
            }
        }
        let features = model.features()?;
        let of = |set: &Dataset| features.scores(cx, &Inputs::Data(set));
        let (a, b) = (of(&images)?, of(&real)?);
        if a.size()[0] <= a.size()[1] || b.size()[0] <= b.size()[1] {
            cx.warn(format!(
                "generator::fid: {} and {} images for {} features; such a distance is mostly chance",
                images.len(),
                real.len(),
                a.size()[1]
            ));
        }
        Ok(Value::Float(frechet_distance(&a, &b)?))
    },
};
