use super::common::TITLE;
use crate::core::{Cx, Result, Value};
use crate::plot;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static RISKS: Primitive = Primitive {
    path: "plot::risks",
    purpose: "Draws the error and its importance-weighted estimate with their intervals against the number of images.",
    params: &[Param::new(
        "curves",
        Kind::Either(&[Kind::Array, Kind::Map]),
        "rows `#{ m, error, error_lo, error_hi, weighted_error, weighted_error_lo, weighted_error_hi }` as \
         `risk::curve(report)` gives them, a map from a name to such rows or pairs `[name, rows]`, whose order is kept, or an array of reports",
    )],
    options: &[
        Param::new("adversarial", Kind::Bool, "also R_S', from the rows' `adversarial_error`")
            .or(Fallback::Bool(false)),
        Param::new("log_x", Kind::Bool, "logarithmic axis of the number of images").or(Fallback::Bool(true)),
        TITLE,
    ],
    returns: "Figure",
    notes: "Cautions of the rows stand below.",
    source: "Werpachowski, György and Szepesvári 2019, Figure 5 right",
    examples: &[Example {
        code: "plot::risks([#{ m: 100, error: 0.1, weighted_error: 0.2 }, #{ m: 1000, error: 0.1, weighted_error: 0.18 }])",
        result: "figure: 2 lines",
    }],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let mut figure = plot::risks(args.value("curves"), args.bool("adversarial"))?.titled(args.str("title"));
    figure.panels.iter_mut().for_each(|panel| panel.x.log = args.bool("log_x"));
    Ok(Value::object(figure.checked()?))
}
