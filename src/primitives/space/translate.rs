//! `space::translate`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Kind, Param, Primitive};
use crate::space::{AnySpace, Translate};

pub static TRANSLATE: Primitive = Primitive {
    path: "space::translate",
    purpose: "Translations of the image's content by whole pixels, up to `epsilon` down or up and to either side.",
    params: &[Param::new("epsilon", Kind::Int, "the largest shift along either axis").range(1.0, 32.0).unit("pixels")],
    options: &[],
    returns: "a Space of (2 epsilon + 1)^2 - 1 translations",
    notes: "Nothing is made up at the border. Images on a torus are rolled, and 2 epsilon + 1 may not exceed their side; images \
            with a margin move their crop window, and the densities that risk:: needs ask for 3 epsilon pixels of margin; \
            images without either are refused.",
    source: "Werpachowski, György and Szepesvári 2019, Section 5.1",
    examples: &[Example { code: "space::translate(5)", result: "space translate(5)" }],
    run: |_, args| Ok(Value::object(AnySpace(Rc::new(Translate::new(args.count("epsilon"))?)))),
};
