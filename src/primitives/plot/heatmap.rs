use super::common::*;
use crate::core::{Cx, Error, Result, Value};
use crate::plot::{HeatMap, Layer};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

const MATRIX: Kind = Kind::Either(&[Kind::Tensor, Kind::Array]);

pub static HEATMAP: Primitive = Primitive {
    path: "plot::heatmap",
    purpose: "Draws a matrix in colours, with a colour bar and, where it is small, its numbers.",
    params: &[Param::new("matrix", MATRIX, "a tensor rows x columns, or an array of rows of numbers")],
    options: &[
        TITLE,
        X,
        Y,
        Param::new("colour", Kind::Str, "what the colour means, with its unit").or(Fallback::Str("")),
        Param::new("row_names", Kind::Array, "names of the rows").or(Fallback::Absent("rows are numbered from 0")),
        Param::new("column_names", Kind::Array, "names of the columns")
            .or(Fallback::Absent("columns are numbered from 0")),
        Param::new("numbers", Kind::Bool, "whether cells show their number")
            .or(Fallback::Absent("they do up to 12 x 12 cells")),
        Param::new(
            "lo",
            MATRIX,
            "lower ends of the values' intervals, in a matrix as large; they stand under the numbers",
        )
        .or(Fallback::Absent("none")),
        Param::new("hi", MATRIX, "upper ends").or(Fallback::Absent("none")),
        Param::new("min", Kind::Float, "value of the darkest colour").or(Fallback::Absent("the least value")),
        Param::new("max", Kind::Float, "value of the lightest colour").or(Fallback::Absent("the largest value")),
        Param::new(
            "centre",
            Kind::Float,
            "value of white, where colours part: blue below, orange above, as strong on either side",
        )
        .or(Fallback::Absent("colours grow lighter with the value")),
    ],
    returns: "Figure",
    notes: "Row 0 is on top. Cells that hold no finite number are grey.",
    source: "",
    examples: &[Example {
        code: "plot::heatmap([[1, 2], [3, 4]], #{ colour: \"count\" })",
        result: "figure: 1 heat map",
    }],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let (rows, columns, values) = matrix("matrix", args.value("matrix"))?;
    let end = |name: &str| match args.get(name) {
        None => Ok(None),
        Some(value) => match matrix(name, value)? {
            (r, c, ends) if (r, c) == (rows, columns) => Ok(Some(ends)),
            (r, c, _) => Err(Error::argument(format!("`{name}` has {r} x {c} cells, `matrix` has {rows} x {columns}"))),
        },
    };
    let interval = match (end("lo")?, end("hi")?) {
        (Some(lo), Some(hi)) => {
            ordered(&lo, &hi, "")?;
            Some((lo, hi))
        }
        (None, None) => None,
        _ => return Err(Error::argument("an interval has two ends: give both `lo` and `hi`, or neither")),
    };
    let (row_names, column_names) = (names(args, "row_names")?, names(args, "column_names")?);
    for (names, n, what, option) in
        [(&row_names, rows, "rows", "row_names"), (&column_names, columns, "columns", "column_names")]
    {
        if !names.is_empty() && names.len() != n {
            return Err(Error::argument(format!("`{option}` must name all {n} {what}, got {} names", names.len())));
        }
    }
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let lo = args.optional_float("min").unwrap_or_else(|| finite().fold(f64::INFINITY, f64::min));
    let hi = args.optional_float("max").unwrap_or_else(|| finite().fold(f64::NEG_INFINITY, f64::max));
    if args.given("min") && args.given("max") && lo >= hi {
        return Err(Error::argument(format!("`min` must be below `max`, got {lo} and {hi}")));
    }
    let numbers = args.get("numbers").and_then(|v| if let Value::Bool(b) = v { Some(*b) } else { None });
    let mut panel = panel(args)?;
    let label = args.str("colour").into();
    let range = Some((lo, hi));
    panel.layers = vec![Layer::HeatMap(HeatMap {
        rows,
        columns,
        values,
        interval,
        row_names,
        column_names,
        label,
        numbers,
        range,
        centre: args.optional_float("centre"),
    })];
    finish(args, panel)
}

fn matrix(name: &str, value: &Value) -> Result<(usize, usize, Vec<f64>)> {
    let rows: Vec<Vec<f64>> = match value {
        Value::Tensor(tensor) => {
            let [rows, columns] = tensor.size()[..] else {
                return Err(Error::argument(format!(
                    "`{name}` must be a tensor rows x columns, got {:?}",
                    tensor.size()
                )));
            };
            let flat = tensor.f_to_kind(tch::Kind::Double)?.f_reshape([-1])?;
            let values = Vec::<f64>::try_from(&flat)?;
            return nonempty(name, rows as usize, columns as usize, values);
        }
        Value::Array(rows) => rows
            .iter()
            .map(|row| match Kind::Numbers.accept(row) {
                Some(Value::Array(cells)) => {
                    Ok(cells.iter().filter_map(|c| if let Value::Float(x) = c { Some(*x) } else { None }).collect())
                }
                _ => Err(Error::argument(format!(
                    "`{name}` must be an array of rows of numbers, got a row of {}",
                    row.kind()
                ))),
            })
            .collect::<Result<_>>()?,
        other => return Err(Error::argument(format!("`{name}` must be a tensor or an array, got {}", other.kind()))),
    };
    let columns = rows.first().map_or(0, Vec::len);
    if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != columns) {
        return Err(Error::argument(format!("row {i} of `{name}` has {} cells, row 0 has {columns}", row.len())));
    }
    nonempty(name, rows.len(), columns, rows.concat())
}

fn nonempty(name: &str, rows: usize, columns: usize, values: Vec<f64>) -> Result<(usize, usize, Vec<f64>)> {
    if values.is_empty() {
        return Err(Error::argument(format!("`{name}` is empty")));
    }
    Ok((rows, columns, values))
}
