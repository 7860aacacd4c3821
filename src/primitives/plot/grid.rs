use super::common::TITLE;
use crate::core::{Cx, Error, Result, Value};
use crate::plot::Figure;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static GRID: Primitive = Primitive {
    path: "plot::grid",
    purpose: "Puts figures side by side as panels of one figure.",
    params: &[Param::new("figures", Kind::Array, "figures, row by row")],
    options: &[
        Param::new("columns", Kind::Int, "panels in a row")
            .or(Fallback::Absent("as many as make the grid about square"))
            .range(1.0, 32.0),
        TITLE,
    ],
    returns: "Figure",
    notes: "A figure's title becomes its panel's.",
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
    Ok(Value::object(Figure::grid(&references, columns)?.titled(args.str("title"))))
}
