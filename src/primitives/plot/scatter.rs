use super::common::*;
use crate::core::{Cx, Result, Value};
use crate::plot::Layer;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static SCATTER: Primitive = Primitive {
    path: "plot::scatter",
    purpose: "Draws points that are not joined, with error bars where `lo` and `hi` are given.",
    params: &[
        Param::new(
            "xs",
            Kind::Either(&[Kind::Numbers, Kind::Array]),
            "x values, or an array of series `#{ x, y, label, lo, hi }`",
        ),
        Param::new("ys", Kind::Numbers, "y values").or(Fallback::Absent("`xs` are the y values, at 0, 1, 2, …")),
    ],
    options: &[TITLE, X, Y, LABEL, LOG_X, LOG_Y, X_MIN, X_MAX, Y_MIN, Y_MAX, LO, HI, RULES],
    returns: "Figure",
    notes: "Points that are not finite are left out.",
    source: "",
    examples: &[Example { code: "plot::scatter([1, 2, 3], [2.0, 3.5, 1.0])", result: "figure: 1 scatter" }],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let mut panel = panel(args)?;
    panel.layers.extend(series(args, false)?.into_iter().map(Layer::Series));
    finish(args, panel)
}
