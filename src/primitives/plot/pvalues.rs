use super::common::{TITLE, warn_left_out};
use crate::core::{Cx, Result, Value};
use crate::plot;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static PVALUES: Primitive = Primitive {
    path: "plot::pvalues",
    purpose: "Draws the p-values of the overfitting tests against the number of images.",
    params: &[Param::new(
        "curves",
        Kind::Either(&[Kind::Array, Kind::Map]),
        "rows `#{ m, p, p_lo, p_hi, betting_p, betting_p_lo, betting_p_hi }` as `report.curve()` gives them, or a map from a \
         name to such rows",
    )],
    options: &[
        Param::new("delta", Kind::Float, "the level of the test; a dashed line")
            .or(Fallback::Float(0.05))
            .range(0.0, 1.0),
        Param::new("log_x", Kind::Bool, "logarithmic axis of the number of images").or(Fallback::Bool(true)),
        TITLE,
    ],
    returns: "Figure",
    notes: "One line per curve for the pairwise test, and one for the betting test where the rows have `betting_p`. Bands reach \
            from `p_lo` to `p_hi` where the rows have them.",
    source: "Werpachowski, György and Szepesvári 2019, Figure 5 left",
    examples: &[Example {
        code: "plot::pvalues(#{ strongest: [#{ m: 100, p: 0.9 }, #{ m: 1000, p: 0.02 }], random: [#{ m: 100, p: 1.0 }] })",
        result: "figure: 2 lines",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let mut figure = plot::pvalues(args.value("curves"), args.float("delta"))?.titled(args.str("title"));
    figure.panels.iter_mut().for_each(|panel| panel.x.log = args.bool("log_x"));
    warn_left_out(cx, &figure);
    Ok(Value::object(figure.checked()?))
}
