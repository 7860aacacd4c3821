//! `space::translate`.

use std::rc::Rc;

use super::FILL;
use crate::core::{Error, Value};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::space::{About, Affine, AnySpace, Translate};

pub static TRANSLATE: Primitive = Primitive {
    path: "space::translate",
    purpose: "Translations of the image's content by whole pixels, up to `radius` down or up and to either side.",
    params: &[Param::new("radius", Kind::Int, "the largest shift along either axis").range(1.0, 32.0).unit("pixels")],
    options: &[
        FILL.or(Fallback::Absent("nothing is made up at the border")),
        Param::new("spacing", Kind::Int, "only translations by multiples of so much, which divides the radius")
            .range(1.0, 32.0)
            .unit("pixels")
            .or(Fallback::Int(1)),
    ],
    returns: "a Space of (2 radius / spacing + 1)^2 - 1 translations; with `fill` one of factors dy and dx, whose `levels` are pixels",
    notes: "Without `fill` nothing is made up at the border. Images on a torus are rolled, and 2 radius + 1 may not exceed their side; images \
            with a margin move their crop window, and the densities that risk:: needs ask for a margin of 3 times the radius; \
            images without either are refused. With a `spacing` of the radius there are eight translations, which cost a search that averages \
            (search::average_doubt) 9 scores per image in place of 121 and tell it nearly as much. With `fill` any images can be moved, and there are no densities; \
            search::strongest tries all of them, search::random(#{ questions: 10 }) the worst of ten, search::sweep the corner.",
    source: "Werpachowski, György and Szepesvári 2019, Section 5.1",
    examples: &[
        Example { code: "space::translate(5)", result: "space translate(5)" },
        Example { code: "space::translate(5, #{ spacing: 5 })", result: "space translate(5, #{ spacing: 5 })" },
        Example { code: "space::translate(3, #{ fill: \"edge\" })", result: "space translate(3, #{ fill: \"edge\" })" },
    ],
    run: |_, args| {
        if !args.given("fill") {
            let space = Translate::new(args.count("radius"))?.spaced(args.count("spacing"))?;
            return Ok(Value::object(AnySpace(Rc::new(space))));
        }
        if args.given("spacing") {
            return Err(Error::argument("space::translate: `spacing` belongs to translations without `fill`")
                .hint("with `fill` there is a range of translations, of which searches choose"));
        }
        let (radius, fill) = (args.count("radius") as f64, super::fill(args)?);
        Ok(Value::object(AnySpace(Rc::new(Affine::new(0.0, radius, true, About::Centre, fill)?))))
    },
};
