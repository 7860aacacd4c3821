//! `space::turn`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::space::{AnySpace, Turn};

pub static TURN: Primitive = Primitive {
    path: "space::turn",
    purpose: "Quarter turns of a square image: by 90, 180 and 270 degrees, counter-clockwise.",
    params: &[],
    options: &[],
    returns: "a Space of three points besides the image itself",
    notes: "Pixels move onto pixels, so nothing is interpolated. They keep label and density of images that have no up and \
            down, such as those from above or through a microscope. `*` composes them with other finite spaces.",
    source: "",
    examples: &[Example { code: "space::turn()", result: "space turn()" }],
    run: |_, _| Ok(Value::object(AnySpace(Rc::new(Turn)))),
};
