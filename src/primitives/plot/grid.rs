use super::common::TITLE;
use crate::core::{Cx, Error, Result, Value};
use crate::plot::Figure;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, Words};

/// Whether all panels have one.
static LEGENDS: Words<bool, 2> = Words::new([("each", false), ("one", true)]);

pub static GRID: Primitive = Primitive {
    path: "plot::grid",
    purpose: "Puts figures side by side as panels of one figure.",
    params: &[Param::new("figures", Kind::Array, "figures, row by row")],
    options: &[
        Param::new("columns", Kind::Int, "panels in a row")
            .or(Fallback::Absent("as many as make the grid about square"))
            .range(1.0, 32.0),
        Param::new(
            "legend",
            LEGENDS.kind(),
            "whether each panel has a legend, or all have one below, in which a label looks the same everywhere",
        )
        .or(Fallback::Str("each")),
        TITLE,
    ],
    returns: "Figure",
    notes: "A figure's title becomes its panel's. Frames of a column begin, and those of a row end, at the same place.",
    source: "",
    examples: &[Example {
        code: "plot::grid([plot::line([1, 2], [3, 4]), plot::histogram([1, 2, 2])])",
        result: "figure: 2 panels, 1 line, 1 histogram",
    }],
    run,
};

fn run(_cx: &Cx, args: &Args) -> Result<Value> {
    let figures = args
        .array("figures")
        .iter()
        .map(|value| {
            let wrong =
                || Error::argument(format!("`figures` must be an array of Figures, got one of {}", value.kind()));
            value.downcast::<Figure>().ok_or_else(wrong)
        })
        .collect::<Result<Vec<_>>>()?;
    let panels: usize = figures.iter().map(|figure| figure.panels.len()).sum();
    let columns = args.optional_int("columns").map_or((panels as f64).sqrt().ceil() as usize, |c| c as usize);
    let references: Vec<&Figure> = figures.iter().map(|figure| &**figure).collect();
    let grid = Figure::grid(&references, columns)?.titled(args.str("title"));
    Ok(Value::object(if LEGENDS.of(args, "legend") { grid.with_one_legend()? } else { grid }))
}
