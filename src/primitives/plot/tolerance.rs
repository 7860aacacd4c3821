use super::common::TITLE;
use crate::core::{Cx, Error, Result, Value};
use crate::plot::{self, DrawnCurve, PanelMeasure};
use crate::primitives::tolerance::{AXIS, CURVES, in_db, named};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static TOLERANCE: Primitive = Primitive {
    path: "plot::tolerance",
    purpose: "Draws tolerance curves: mutual information and accuracy against the strength of a fault.",
    params: &[CURVES],
    options: &[
        Param::new("measures", Kind::Array, "a panel each: \"mi\", \"accuracy\", \"margin\"")
            .or(Fallback::Absent("[\"mi\", \"accuracy\"]")),
        AXIS,
        TITLE,
    ],
    returns: "Figure",
    notes: "Any number of models and faults; of a map of arrays, those of one array look alike. Bands are the curves' intervals; the dashed line is H(Y), which no information exceeds. Curves of \
            different images have a line each, and the figure says that they are. In dB the axis falls, so that faults grow to the right; the \
            images as they stand have no place on it, nor has a curve whose search changed none, which the figure says. From where gradients vanished, or nothing to begin at was found, for more than 5% of the images a line is dotted and has no \
            band: the search could not move these images, which says nothing of the model.",
    source: "Galloway, Golubeva and Taylor 2018, Figures 1, 3, 4 and 5",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 500, size: 16, position: \"centred\", margin: 0, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let fresh = data::glyphs(#{ n: 200, size: 16, position: \"centred\", margin: 0, seed: 2 });\n\
               let c = tolerance::measure(f, fresh, #{ space: space::noise(), levels: [0.1, 1, 10] });\n\
               plot::tolerance(#{ noise: c })",
        result: "figure: 2 panels, 2 lines",
    }],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let measure = |value: &Value| match value {
        Value::Str(name) if name == "mi" => Ok(PanelMeasure::Information),
        Value::Str(name) if name == "accuracy" => Ok(PanelMeasure::Accuracy),
        Value::Str(name) if name == "margin" => Ok(PanelMeasure::Margin),
        other => Err(Error::argument(format!(
            "`measures` must hold \"mi\", \"accuracy\" or \"margin\", got {}",
            other.summary()
        ))),
    };
    let measures = match args.get("measures") {
        Some(Value::Array(names)) if !names.is_empty() => names.iter().map(measure).collect::<Result<_>>()?,
        _ => vec![PanelMeasure::Information, PanelMeasure::Accuracy],
    };
    let found = named(args.value("curves"))?;
    let grouped = found.len() > 1 && found.iter().any(|(_, curves)| curves.len() > 1);
    let mut drawn: Vec<DrawnCurve> = vec![];
    for (group, (name, curves)) in found.iter().enumerate() {
        for (i, curve) in curves.iter().enumerate() {
            let own = if curves.len() > 1 { format!("{name} {}", i + 1) } else { name.clone() };
            let label = match (grouped && curves.len() > 1, i) {
                (false, _) => own.clone(),
                (true, 0) => format!("{name}, {} curves", curves.len()),
                (true, _) => String::new(),
            };
            let look = if grouped { group } else { drawn.len() };
            drawn.push(DrawnCurve { name: own, alike: name.clone(), curve, label, look });
        }
    }
    let in_db = in_db(args, drawn.iter().map(|one| one.curve));
    let figure = plot::tolerance(&drawn, &measures, in_db)?.titled(args.str("title"));
    Ok(Value::object(figure.checked()?))
}
