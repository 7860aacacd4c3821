//! `risk::report`.

use super::{DELTA, SIDES, sides};
use crate::core::Value;
use crate::estimate::risk::report;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static REPORT: Primitive = Primitive {
    path: "risk::report",
    purpose: "Compares the plain error with the error weighted by the density of adversarial examples.",
    params: &[Param::new(
        "transcript",
        Kind::Object("Transcript"),
        "an examination with densities, such as over translations",
    )],
    options: &[DELTA, SIDES],
    returns: "a RiskReport: m, error (R_S), weighted_error (R_g), adversarial_error (R_S'), difference (T), sigma, lo and hi (the \
              range of T_i), p, reject, delta, bound (what |T| must exceed), interval_test, betting, verdict, scored, assumption, t, \
              transcript",
    notes: "Both errors estimate the same risk if the model is independent of the images; a model that has seen them has too \
            small a plain error. A transcript without densities is refused.",
    source: "Werpachowski, György and Szepesvári 2019, Sections 2 and 3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               let t = examine(f, ds, #{ space: space::translate(1), search: search::strongest() });\n\
               risk::report(t).m",
        result: "20",
    }],
    run: |cx, args| Ok(Value::object(report(cx, args.object("transcript"), args.float("delta"), sides(args))?)),
};
