use super::common::TITLE;
use crate::core::{Cx, Result, Value};
use crate::plot;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static PVALUES: Primitive = Primitive {
    path: "plot::pvalues",
    purpose: "Draws the p-values of the overfitting tests against the number of images.",
    params: &[Param::new(
        "curves",
        Kind::Either(&[Kind::Array, Kind::Map]),
        "rows `#{ m, p, p_lo, p_hi, test, betting_p, pairwise_p, cautions }` as `risk::curve(report)` gives them, a map from a name to \
         such rows, or pairs `[name, rows]`, whose order is kept: all that were asked together",
    )],
    options: &[
        Param::new("delta", Kind::Float, "the level of the test; a dashed line")
            .or(Fallback::Float(0.05))
            .range(0.0, 1.0),
        Param::new("adjusted", Kind::Array, "what risk::holm says of a map of the curves' reports, by the same names")
            .or(Fallback::Absent("corrected from the last row of each curve")),
        Param::new("log_x", Kind::Bool, "logarithmic axis of the number of images").or(Fallback::Bool(true)),
        TITLE,
    ],
    returns: "Figure",
    notes: "One line per curve for the test that counts. Where the rows say which `test` that is, the other one of the betting \
            and the pairwise test stands beside it, named as not counting; of several curves in a panel of its own. Bands reach from `p_lo` to `p_hi` where the rows have \
            them. Of several curves the legend has the p-values at the largest sizes beside those that are corrected for the number of curves \
            (Holm), which are points in the figure. Cautions of the rows stand below.",
    source: "Werpachowski, György and Szepesvári 2019, Figure 5 left",
    examples: &[Example {
        code: "plot::pvalues(#{ strongest: [#{ m: 100, p: 0.9 }, #{ m: 1000, p: 0.02 }], random: [#{ m: 100, p: 1.0 }] })",
        result: "figure: 2 lines, 1 scatter",
    }],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let adjusted = match args.get("adjusted") {
        Some(Value::Array(rows)) => Some(&rows[..]),
        _ => None,
    };
    let mut figure = plot::pvalues(args.value("curves"), args.float("delta"), adjusted)?.titled(args.str("title"));
    figure.panels.iter_mut().for_each(|panel| panel.x.log = args.bool("log_x"));
    Ok(Value::object(figure.checked()?))
}
