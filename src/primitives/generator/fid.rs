//! The Frechet distance between images in a classifier's features.

use crate::core::{Cautions, Error, Value};
use crate::data::Dataset;
use crate::estimate::FrechetDistance;
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
    returns: "a `FrechetDistance`",
    notes: "|m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)) of what goes into the last linear layer. Numbers compare only for the same classifier and \
            the same number of images; fewer images look farther apart (Chong and Forsyth 2020): `chance` is what images of one kind would be apart, \
            by the distance of two halves of the real ones; there should be many times as many images as features, and pixels of both on one scale. With Inception v3 it is the FID.",
    source: "Heusel et al. 2017",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(8), net::relu(), net::linear(10)], epochs: 1, seed: 1 });\n\
               generator::fid(ds, ds, f).fid < 0.001",
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
        let noticed = [model.cautions(), images.noticed(), images.drawn_by(), real.noticed(), real.drawn_by()];
        let mut cautions = Cautions::default();
        noticed.iter().for_each(|noticed| cautions.extend(noticed));
        if images.depends_on_whole_image() != real.depends_on_whole_image()
            || images.leaves_unit_range() != real.leaves_unit_range()
        {
            cautions.add(format!(
                "pixels of {} and of {} are not on one scale: only one of both is centred, standardised, scaled or beyond [0, 1], and the distance may be of that",
                images.name, real.name
            ));
        }
        Ok(Value::object(FrechetDistance::new(&a, &b, cautions)?))
    },
};
