use crate::core::{Error, Result, Value};
use crate::plot::{Animation, Figure};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static ANIMATION: Primitive = Primitive {
    path: "plot::animation",
    purpose: "Shows figures of one size one after another, as a moving picture.",
    params: &[Param::new("figures", Kind::Array, "figures, in order; at most 1,000")],
    options: &[Param::new("seconds", Kind::Float, "how long each is shown, in hundredths")
        .range(0.02, 600.0)
        .unit("s")
        .or(Fallback::Float(0.2))],
    returns: "Animation, which begins again when it has ended",
    notes: "Saved as `.gif`, whose frames have 256 colours each.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 4, seed: 1 });\nplot::animation([plot::images(ds.take(1)), plot::images(ds.skip(3))])",
        result: "animation: 2 frames of 0.2 s",
    }],
    run: |_, args| {
        let figures = args.array("figures").iter().map(figure).collect::<Result<Vec<_>>>()?;
        if figures.len() > 1000 {
            return Err(Error::argument(format!("{} figures; an animation has at most 1,000", figures.len())));
        }
        Ok(Value::object(Animation::new(figures, args.float("seconds"))?))
    },
};

fn figure(value: &Value) -> Result<Figure> {
    let figure = value.downcast::<Figure>().ok_or_else(|| {
        Error::argument(format!("`figures` must be an array of Figures, got one of {}", value.kind()))
            .hint("images become figures by plot::images(x)")
    })?;
    Ok((*figure).clone())
}
