//! `tolerance::audit`.

use crate::audit::{Attack, audit};
use crate::core::Value;
use crate::data::Dataset;
use crate::model::Model;
use crate::objective::{Misclassify, Objective};
use crate::primitives::examine::BATCH;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};
use crate::search::AnySearch;
use crate::space::AnySpace;

pub static AUDIT: Primitive = Primitive {
    path: "tolerance::audit",
    purpose: "Whether images that an attack leaves right are right because the model bears the change, or because the attack failed.",
    params: &[
        Param::new("f", Kind::Object("Model"), "what is attacked"),
        Param::new("ds", Kind::Object("Dataset"), "what it is shown"),
    ],
    options: &[
        Param::new("space", Kind::Object("Space"), "a ball around each image: space::pixels with a radius"),
        Param::new("search", Kind::Object("Search"), "the attack"),
        Param::new("objective", Kind::Object("Objective"), "what it is to bring about")
            .or(Fallback::Absent("objective::misclassify()")),
        Param::new(
            "questions",
            Kind::Int,
            "of the search without gradients about each image that is left right, at most",
        )
        .range(1.0, 1e7)
        .or(Fallback::Int(1000)),
        BATCH,
        SEED,
    ],
    returns: "an Audit",
    notes: "The attack is made, and then asked what it should have found if it were as strong as it can be. Within the same ball: search::square \
            on what is left right, four times as many steps, three random starts, and the same attack on the model with its scores multiplied \
            and divided by 300, and by what makes the best one lead by 5 nats on average, which changes no answer (an attack that finds fewer then goes by how large scores are, as those along the cross \
            entropy do). Beyond it: a radius twice as large may not find less, and with no limit but the \
            bounds nothing may be left right. Of the model: the same images in another order and each alone must have the same answers, no \
            gradient may vanish, and failing images rounded to 8 bits must fail still, unless the search stops where failing begins, as fmn does.\n\n\
            Of each check, `against` is the number of images that speak against the attack of those that were `tried`, `accuracy` the share of all \
            images that was left right; it `fails` for more than one image in a hundred and for two or more of fewer, is `doubtful` for one image or up to one in a hundred, and is `not asked` where it \
            can't be, with the reason, such as that no image was left right. `verdict` is that of the worst check. `least` is the accuracy after all that was tried in the ball: where \
            it is below `accuracy`, that was no more than an upper bound. That every check holds proves nothing: `least` is an upper bound, too. \
            It takes about 15 times as long as the attack.",
    source: "Carlini et al. 2019, Section 5; Athalye, Carlini and Wagner 2018, Section 3.1; Croce and Hein 2020, Section 5",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, size: 16, position: \"centred\", margin: 0, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, seed: 1 });\n\
               let a = tolerance::audit(f, ds, #{\n    \
                   space: space::pixels(\"linf\", #{ radius: 0.1, bounds: [0, 1] }), search: search::apgd(#{ steps: 20 }), questions: 100\n\
               });\n\
               [a.verdict, a.least <= a.accuracy]",
        result: "[holds, true]",
    }],
    run: |cx, args| {
        let attack = Attack {
            model: &args.object::<Model>("f"),
            data: &args.object::<Dataset>("ds"),
            space: args.object::<AnySpace>("space").0.clone(),
            search: args.object::<AnySearch>("search").0.clone(),
            objective: args.optional_object::<Objective>("objective").map_or(Misclassify.into(), |o| (*o).clone()),
            questions: args.count("questions"),
            batch: args.optional_int("batch").map(|n| n as usize),
            seed: args.seed(),
        };
        Ok(Value::object(audit(cx, attack)?))
    },
};
