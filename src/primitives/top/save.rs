use crate::core::{Cx, Error, Result, Value};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static SAVE: Primitive = Primitive {
    path: "save",
    purpose: "Writes a value to a file; the path's ending picks the format.",
    params: &[
        Param::new("value", Kind::Any, "what to write"),
        Param::new(
            "path",
            Kind::Path,
            "below the run folder (at the prompt: the working folder), or where --allow-write=PATH says",
        ),
    ],
    options: &[Param::new(
        "column_order",
        Kind::Array,
        "of a table in .csv, .tex or .parquet: names of columns in the order in which they shall stand",
    )
    .or(Fallback::Absent("all"))],
    returns: "()",
    notes: "Every value can be written as .json and .txt; tables, which arrays of maps are too, also as .csv, .tex (LaTeX with booktabs, where \
            `x`, `x_lo` and `x_hi` are one column with the interval in brackets) and .parquet, figures as .svg, .png and .pdf, tensors as .npy and \
            .safetensors, models as .safetensors. A file is written whole or not at all.\n\n\
            Parquet keeps kinds: columns of bools, ints, floats and texts are such, `()` is null, NaN stays NaN; ints beside floats are floats; \
            a column of several other kinds is text, as are lists and maps (JSON). The file's metadata has under `viva` a JSON of the result's \
            type, its summary and its cautions, which stand in the column `cautions` too, as in .csv. Also `value.save(path)`.",
    source: "",
    examples: &[Example {
        code: "let kind = \"\"; try { save([1, 2], \"/somewhere/else.json\") } catch (e) { kind = e.kind } kind",
        result: "permission",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let columns = match args.get("column_order") {
        Some(Value::Array(names)) => names.iter().map(name_of).collect::<Result<Vec<_>>>()?,
        _ => vec![],
    };
    if let Some((_, twice)) = columns.iter().enumerate().find(|(i, name)| columns[..*i].contains(name)) {
        return Err(Error::argument(format!(
            "`column_order` names {twice:?} twice: a reader of the file would find one of them"
        )));
    }
    if args.given("column_order") && columns.is_empty() {
        return Err(Error::argument("`column_order` names no column").hint("leave it out to write all of them"));
    }
    args.value("value").save(cx, args.str("path"), &columns).map(|()| Value::Unit)
}

fn name_of(value: &Value) -> Result<String> {
    match value {
        Value::Str(name) => Ok(name.clone()),
        other => Err(Error::argument(format!("`column_order` must be an array of names, got one of {}", other.kind()))),
    }
}
