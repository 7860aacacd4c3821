//! Methods of a figure; each gives a changed copy.

use std::rc::Rc;

use crate::core::{Cautions, Error, Result, Value};
use crate::plot::{Figure, Paper};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

const FIGURE: Param = Param::new("figure", Kind::Object("Figure"), "the figure");

fn figure(args: &Args) -> Rc<Figure> {
    args.object::<Figure>("figure")
}

pub static TITLE: Primitive = Primitive {
    path: "Figure.title",
    purpose: "The same figure under this title.",
    params: &[FIGURE, Param::new("title", Kind::Str, "stands above the figure")],
    options: &[],
    returns: "Figure",
    notes: "",
    source: "",
    examples: &[Example {
        code: "plot::line([1, 2], [3, 4]).title(\"Learning\")",
        result: "figure \"Learning\": 1 line",
    }],
    run: |_, args| Ok(Value::object(figure(args).titled(args.str("title")))),
};

pub static CAUTION: Primitive = Primitive {
    path: "Figure.caution",
    purpose: "The same figure with this said below it, where it may not mean what it seems to.",
    params: &[
        FIGURE,
        Param::new(
            "caution",
            Kind::Either(&[Kind::Str, Kind::Array]),
            "a sentence without a full stop, or an array of such",
        ),
    ],
    options: &[],
    returns: "Figure",
    notes: "Figures of results that have `cautions` carry them by themselves; this is for figures that a script makes of numbers: `figure.caution(t.cautions)`.",
    source: "",
    examples: &[Example {
        code: "plot::line([1, 2], [3, 4]).caution(\"two points are few\")",
        result: "figure: 1 line; caution: two points are few",
    }],
    run: |_, args| {
        let cautions = match args.get("caution") {
            Some(Value::Array(all)) => all
                .iter()
                .map(|one| match one {
                    Value::Str(text) => Ok(text.clone()),
                    other => Err(Error::argument(format!("a caution must be a string, got {}", other.summary()))),
                })
                .collect::<Result<Cautions>>()?,
            _ => [args.str("caution")].into_iter().collect(),
        };
        if cautions.iter().any(|caution| caution.trim().is_empty()) {
            return Err(Error::argument("a caution says something: it must not be empty"));
        }
        Ok(Value::object(Figure::clone(&figure(args)).cautioned(&cautions)))
    },
};

pub static LABELS: Primitive = Primitive {
    path: "Figure.labels",
    purpose: "The same figure with these labels at the axes of every panel.",
    params: &[
        FIGURE,
        Param::new("x", Kind::Str, "label of the x axis, with its unit"),
        Param::new("y", Kind::Str, "label of the y axis, with its unit"),
    ],
    options: &[],
    returns: "Figure",
    notes: "",
    source: "",
    examples: &[Example {
        code: "plot::line([1, 2], [3, 4]).labels(\"epoch\", \"loss (bits)\")",
        result: "figure: 1 line",
    }],
    run: |_, args| Ok(Value::object(figure(args).labelled(args.str("x"), args.str("y")))),
};

pub static LOG_X: Primitive = Primitive {
    path: "Figure.log_x",
    purpose: "The same figure with logarithmic x axes.",
    params: &[FIGURE],
    options: &[],
    returns: "Figure",
    notes: "Points that are not positive are left out, and a caution says how many.",
    source: "",
    examples: &[Example { code: "plot::line([1, 10], [3, 4]).log_x()", result: "figure: 1 line" }],
    run: |_, args| Ok(Value::object(figure(args).log_x()?)),
};

pub static LOG_Y: Primitive = Primitive {
    path: "Figure.log_y",
    purpose: "The same figure with logarithmic y axes.",
    params: &[FIGURE],
    options: &[],
    returns: "Figure",
    notes: "Points that are not positive are left out, and a caution says how many.",
    source: "",
    examples: &[Example { code: "plot::line([1, 2], [1e-3, 10]).log_y()", result: "figure: 1 line" }],
    run: |_, args| Ok(Value::object(figure(args).log_y()?)),
};

pub static ON_PAPER: Primitive = Primitive {
    path: "Figure.on_paper",
    purpose: "The same figure at this size on paper, with letters of the size that a journal asks for.",
    params: &[
        FIGURE,
        Param::new("width", Kind::Float, "width").range(10.0, 1000.0).unit("millimetres"),
        Param::new("height", Kind::Float, "height").range(10.0, 1000.0).unit("millimetres"),
    ],
    options: &[Param::new("type_size", Kind::Float, "of labels; those of ticks and legends are nine tenths of it")
        .or(Fallback::Float(8.0))
        .range(3.0, 30.0)
        .unit("points")],
    returns: "Figure",
    notes: "A PDF or SVG has that size, a PNG 300 dots per inch. Labels may hold mathematics between dollars: `$R_S$`, `$\\epsilon \\leq 10^{-3}$`, with \
            sub- and superscripts, groups, Greek letters and common signs; `\\$` is a dollar.",
    source: "",
    examples: &[Example {
        code: "plot::line([1, 2], [3, 4], #{ x: \"$\\\\epsilon$\" }).on_paper(84, 60).width",
        result: "992",
    }],
    run: |_, args| {
        let (width_mm, height_mm) = (args.float("width"), args.float("height"));
        Ok(Value::object(figure(args).on_paper(Paper { width_mm, height_mm, type_size: args.float("type_size") })))
    },
};

pub static SIZE: Primitive = Primitive {
    path: "Figure.size",
    purpose: "The same figure at this size; text grows with it.",
    params: &[
        FIGURE,
        Param::new("width", Kind::Int, "width").range(64.0, 8192.0).unit("pixels"),
        Param::new("height", Kind::Int, "height").range(64.0, 8192.0).unit("pixels"),
    ],
    options: &[],
    returns: "Figure",
    notes: "",
    source: "",
    examples: &[Example { code: "plot::line([1, 2], [3, 4]).size(400, 300).width", result: "400" }],
    run: |_, args| Ok(Value::object(figure(args).sized(args.int("width") as u32, args.int("height") as u32))),
};
