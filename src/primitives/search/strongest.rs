//! `search::strongest`.

use std::rc::Rc;

use crate::core::{Error, Value};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Strongest};

pub static STRONGEST: Primitive = Primitive {
    path: "search::strongest",
    purpose: "Moves a correct image to the point of a finite space where it is wrong with the largest confidence.",
    params: &[],
    options: &[Param::new(
        "grid",
        Kind::Either(&[Kind::Int, Kind::Numbers]),
        "how many evenly spaced values of a factor with a range are tried: one number for all factors, or one for each, in the order in which the \
            space has them (space::affine: down, right, angle); of choices and whole numbers all are",
    )
    .or(Fallback::Absent("none: every factor must have choices"))
    .range(1.0, 1e6)],
    returns: "a Search",
    notes: "The confidence is l_exc, the highest score minus the label's. The first point in row-major order decides ties. \
            Images that are misclassified, or that no point makes fail, stay where they are. The density of the outcome is \
            exact: h_g = 1 / (1 + n), n the number of other images that would move to the same place.\n\n\
            Over space::factors whose factors all have choices, every combination is scored, and every image goes where its loss \
            is largest; there are no densities then. With `grid` so are ranges: 5 values of [-3, 3] are -3, -1.5, 0, 1.5 and 3. \
            Engstrom et al. try 5 x 5 x 31 shifts and rotations.",
    source: "Werpachowski, György and Szepesvári 2019, Appendix B and Eq. 8",
    examples: &[
        Example { code: "search::strongest()", result: "search strongest()" },
        Example { code: "search::strongest(#{ grid: [5, 5, 31] })", result: "search strongest(#{ grid: [5, 5, 31] })" },
    ],
    run: |_, args| {
        let grid: Vec<f64> = match args.get("grid") {
            None => vec![],
            Some(Value::Int(n)) => vec![*n as f64],
            Some(_) => args.numbers("grid"),
        };
        if let Some(x) = grid.iter().find(|x| x.fract() != 0.0) {
            return Err(Error::argument(format!("search::strongest: `grid` counts values, got {x}")));
        }
        Ok(Value::object(AnySearch(Rc::new(Strongest { grid: grid.into_iter().map(|n| n as usize).collect() }))))
    },
};
