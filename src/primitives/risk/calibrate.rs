//! `risk::calibrate`.

use std::rc::Rc;

use super::DELTA;
use super::ways::{NamedWay, RADIUS, SEARCH, SPACE, ways};
use crate::core::Value;
use crate::data::Dataset;
use crate::estimate::bias::RiskCalibration;
use crate::estimate::independence::order_seed;
use crate::estimate::protocol::{Protocol, Which};
use crate::estimate::risk::report;
use crate::maths::betting::Sides;
use crate::model::Model;
use crate::objective::Misclassify;
use crate::primitives::examine::BATCH;
use crate::primitives::{Example, Kind, Param, Primitive, SEED};
use crate::search::{Densities, Examination, examine};

pub static CALIBRATE: Primitive = Primitive {
    path: "risk::calibrate",
    purpose: "Measures on images that the model can't have seen whether the changes keep label and density, which every test for overfitting rests on.",
    params: &[
        Param::new("f", Kind::Object("Model"), "the model"),
        Param::new(
            "ds",
            Kind::Object("Dataset"),
            "images known to be fresh: drawn like those of the test, and seen neither in training nor in any choice that led to the model",
        ),
    ],
    options: &[
        Param::new(
            "equivalence_margin",
            Kind::Float,
            "what a bias of T may be, in size, that does not matter: well below the gap R_g - R_S that tests are to notice",
        )
        .range(1e-9, 0.5),
        RADIUS,
        SEARCH,
        SPACE,
        DELTA,
        BATCH,
        SEED,
    ],
    returns: "a RiskCalibration: bias (the mean of the T_i), lo and hi (its interval at 1 - delta), kept (\"yes\", \"no\" or \"can't tell\"), verdict, needed \
              (images that would tell), by_class, m, delta, equivalence_margin, space, search, cautions",
    notes: "If changes keep label and density, T has mean 0 on fresh images. The answer is \"yes\" where the whole interval lies within the margin, \"no\" \
            where it leaves out 0 and does not, and else that these images can't tell. The interval holds at any sample size: all means that the betting test does not \
            reject at delta / 2 on either side, on the images in the order of the run's seed. Within a class the mean is 0 as well, so `by_class` says where a \
            bias comes from. The bias depends on search, space and model: reports refuse a calibration of another search or space (option \
            `calibrated` of risk::report and risk::estimate), and say where the model is another one. A model that no change misleads shows nothing, and is an error.\n\n\
            That images are fresh is what the caller says: on images that the model has seen T is not 0 either.",
    source: "equivalence by an interval (Schuirmann 1987); the hypothesis is that of Werpachowski, György and Szepesvári 2019, Section 2",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 200, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 3, seed: 1 });\n\
               let fresh = data::glyphs(#{ n: 200, size: 16, seed: 2 });\n\
               let found = risk::calibrate(f, fresh, #{ radius: 1, equivalence_margin: 0.2 });\n\
               [found.kept, found.lo < 0 && found.hi > 0]",
        result: "[yes, true]",
    }],
    run: |cx, args| {
        let mut ways = ways(args, "risk::calibrate")?;
        let NamedWay { space, search, .. } = ways.remove(0);
        let plan = Examination {
            model: &args.object::<Model>("f"),
            data: &args.object::<Dataset>("ds"),
            space,
            search,
            objective: Misclassify.into(),
            levels: vec![],
            steps: vec![],
            densities: Densities::Required,
            measures: vec![],
            batch: args.optional_int("batch").map(|n| n as usize),
            seed: args.seed(),
        };
        let delta = args.float("delta");
        let protocol = Protocol { test: Which::Betting, delta, sides: Sides::Two };
        let found = report(cx, Rc::new(examine(cx, &plan)?), protocol)?;
        let levels = (delta, args.float("equivalence_margin"));
        let of = (&*found.transcript, &found.density);
        let calibration = RiskCalibration::of(cx, of, (&found.t, found.clusters.as_ref()), levels, (order_seed(cx), found.tests.cautions.clone()))?;
        Ok(Value::object(calibration))
    },
};
