//! `space::polarity`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::space::{AnySpace, Polarity};

pub static POLARITY: Primitive = Primitive {
    path: "space::polarity",
    purpose: "The inverted image, 1 - x: dark and light exchanged.",
    params: &[],
    options: &[],
    returns: "a Space of one point besides the image itself",
    notes: "It keeps label and density of images whose polarity a fair coin decided, such as \
            data::glyphs(#{ polarity: \"random\" }). `*` composes it with other finite spaces. Values that are multiples of 1/255 \
            stay so.",
    source: "",
    examples: &[
        Example { code: "space::polarity()", result: "space polarity()" },
        Example { code: "space::translate(1) * space::polarity()", result: "space translate(1) * polarity()" },
    ],
    run: |_, _| Ok(Value::object(AnySpace(Rc::new(Polarity)))),
};
