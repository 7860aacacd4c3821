//! `space::flip`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::space::{AnySpace, Flip};

pub static FLIP: Primitive = Primitive {
    path: "space::flip",
    purpose: "The mirror image, left and right exchanged.",
    params: &[],
    options: &[],
    returns: "a Space of one point besides the image itself",
    notes: "With a margin the whole canvas is mirrored, so the crop is exactly mirrored. `space::translate(3) * space::flip()` \
            mirrors and then translates. It keeps label and density of images whose left and right were decided by fair coins, \
            such as data::scenes, and not those of digits.",
    source: "",
    examples: &[
        Example { code: "space::flip()", result: "space flip()" },
        Example { code: "space::translate(2) * space::flip()", result: "space translate(2) * flip()" },
    ],
    run: |_, _| Ok(Value::object(AnySpace(Rc::new(Flip)))),
};
