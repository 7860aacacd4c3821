use super::common::*;
use crate::core::{Cx, Result, Value};
use crate::plot::Layer;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static LINE: Primitive = Primitive {
    path: "plot::line",
    purpose: "Draws lines through points, with intervals around them where they are known.",
    params: &[
        Param::new(
            "xs",
            Kind::Either(&[Kind::Numbers, Kind::Array]),
            "x values, or an array of series `#{ x, y, label, lo, hi, spread, colour, dash }`",
        ),
        Param::new("ys", Kind::Numbers, "y values").or(Fallback::Absent("`xs` are the y values, at 0, 1, 2, …")),
    ],
    options: &[TITLE, X, Y, LABEL, LOG_X, LOG_Y, X_MIN, X_MAX, Y_MIN, Y_MAX, LO, HI, SPREAD, MARKERS, RULES],
    returns: "Figure",
    notes: "A point that is not finite is a gap. On a log axis, points that are not positive are left out and a caution \
            says how many. Series differ by colour, marker and dash; a series' own `colour` \
            is \"blue\", \"vermilion\", \"green\", \"purple\", \"orange\", \"sky\", \"black\" or \"#rrggbb\", its `dash` \"solid\", \"dashed\", \"dotted\", \"dash-dotted\" or \"long\".",
    source: "",
    examples: &[
        Example {
            code: "plot::line([1, 2, 3], [0.5, 0.3, 0.2], #{ x: \"epoch\", y: \"error\" })",
            result: "figure: 1 line",
        },
        Example {
            code: "plot::line([#{ y: [0.5, 0.3], lo: [0.4, 0.2], hi: [0.6, 0.4], label: \"train\" }, #{ y: [0.6, 0.5] }])",
            result: "figure: 2 lines",
        },
    ],
    run,
};

const SPREAD: Param = Param::new("spread", SPREADS.kind(), "how intervals are shown").or(Fallback::Str("band"));
const MARKERS: Param = Param::new("markers", Kind::Bool, "whether every point is marked")
    .or(Fallback::Absent("points are marked where there are at most 40"));

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let mut panel = panel(args)?;
    panel.layers.extend(series(args, true)?.into_iter().map(Layer::Series));
    finish(args, panel)
}
