use crate::core::{Cx, Result, Value};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

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
    options: &[],
    returns: "()",
    notes: "Every value can be written as .json and .txt; tables also as .csv, figures as .svg, .png and .pdf, tensors as .npy and \
            .safetensors, models as .safetensors. A file is written whole or not at all. Also `value.save(path)`.",
    source: "",
    examples: &[Example {
        code: "let kind = \"\"; try { save([1, 2], \"/somewhere/else.json\") } catch (e) { kind = e.kind } kind",
        result: "permission",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    args.value("value").save(cx, args.str("path")).map(|()| Value::Unit)
}
