use super::common::*;
use crate::core::{Cx, Error, Result, Value};
use crate::plot::{Columns, Layer};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static BAR: Primitive = Primitive {
    path: "plot::bar",
    purpose: "Draws a bar for each name, with intervals where they are known; bars of several series stand side by side.",
    params: &[
        Param::new("names", Kind::Array, "what stands below the bars, from left to right"),
        Param::new(
            "heights",
            Kind::Either(&[Kind::Numbers, Kind::Array]),
            "a number for each name, or an array of series `#{ y, label, lo, hi, colour }`",
        ),
    ],
    options: &[TITLE, X, Y, LABEL, LOG_Y, Y_MIN, Y_MAX, LO, HI, RULES],
    returns: "Figure",
    notes: "Bars begin at 0, which is on the axis, or on a logarithmic axis at its lower end. A height that is not a number is no bar. Where names have no room, every so \
            many are written.",
    source: "",
    examples: &[Example {
        code: "plot::bar([\"clean\", \"robust\"], [#{ label: \"l2\", y: [0.1, 0.6], lo: [0.05, 0.5], hi: [0.2, 0.7] }, #{ label: \"linf\", y: [0.0, 0.4] }])",
        result: "figure: 2 bar charts",
    }],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let mut panel = panel(args)?;
    if let Some(min) = panel.y.min.filter(|min| *min > 0.0 && !panel.y.log) {
        return Err(Error::argument(format!("`y_min` must not be above 0, where bars begin, got {min}"))
            .hint("plot::scatter shows points, whose place and not length tells"));
    }
    if let Some(max) = panel.y.max.filter(|max| *max < 0.0) {
        return Err(Error::argument(format!("`y_max` must not be below 0, where bars begin, got {max}")));
    }
    panel.x.names = names(args, "names")?;
    if let Some(twice) = first_twice(panel.x.names.iter().map(String::as_str)) {
        return Err(Error::argument(format!("two bars are called {twice:?}, and nobody could tell them apart"))
            .hint("bars stand in the order of their names: number those that are of one kind"));
    }
    let heights = args.array("heights");
    let series = if is_list(heights) {
        let ends = |name: &str| args.get(name).map(|_| args.numbers(name));
        vec![(args.str("label").to_string(), floats(heights), ends("lo"), ends("hi"), Default::default())]
    } else {
        if ["label", "lo", "hi"].into_iter().any(|name| args.given(name)) {
            return Err(Error::argument("an array of series stands alone: `label`, `lo` and `hi` belong in its maps"));
        }
        let of = |value: &Value| {
            let map = known_keys(value, "a series of bars", &["y", "label", "lo", "hi", "colour"])?;
            let y =
                numbers(map, "y")?.ok_or_else(|| Error::argument("a series of bars needs `y`, an array of numbers"))?;
            Ok((text(map, "label")?, y, numbers(map, "lo")?, numbers(map, "hi")?, look(map)?))
        };
        heights.iter().map(of).collect::<Result<_>>()?
    };
    for (label, heights, lo, hi, look) in series {
        let interval = match (lo, hi) {
            (None, None) => None,
            (Some(lo), Some(hi)) => Some((lo, hi)),
            _ => return Err(Error::argument("`lo` and `hi` are needed both")),
        };
        let lengths =
            [Some(heights.len()), interval.as_ref().map(|(lo, _)| lo.len()), interval.as_ref().map(|(_, hi)| hi.len())];
        if let Some(n) = lengths.into_iter().flatten().find(|n| *n != panel.x.names.len()) {
            let many = panel.x.names.len();
            return Err(Error::argument(format!("{many} names, and {n} numbers of {label:?}")));
        }
        if let Some((lo, hi)) = &interval {
            ordered(lo, hi, &if label.is_empty() { String::new() } else { format!("{label:?}: ") })?;
        }
        panel.layers.push(Layer::Columns(Columns { label, look, heights, interval }));
    }
    finish(args, panel)
}
