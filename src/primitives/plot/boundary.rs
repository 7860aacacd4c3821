//! `plot::boundary`.

use super::common::TITLE;
use crate::core::Value;
use crate::estimate::boundary::Boundary;
use crate::plot;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static BOUNDARY: Primitive = Primitive {
    path: "plot::boundary",
    purpose: "Draws the line between right and wrong in two factors, the limits within which it is known, and what was answered.",
    params: &[Param::new("boundary", Kind::Object("Boundary"), "of robustness::boundary")],
    options: &[TITLE],
    returns: "Figure",
    notes: "On either side of the outer lines the side is told at 95%; between them it is not.",
    source: "",
    examples: &[Example {
        code: "let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.5, on], 1) }, #{ classes: 2 });\n\
               let half = space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"b\", min: 0, max: 8 }], |z, s| z + s.a);\n\
               let t = examine(f, data::from(tensor::zeros([1, 1, 1, 1]), [0], #{ classes: [\"right\", \"wrong\"] }), #{ space: half, search: search::straddle(#{ questions: 30 }), seed: 1 });\n\
               type_of(plot::boundary(robustness::boundary(t, [\"a\", \"b\"])))",
        result: "object",
    }],
    run: |_, args| {
        let boundary = args.object::<Boundary>("boundary");
        Ok(Value::object(plot::boundary(&boundary)?.titled(args.str("title")).checked()?))
    },
};
