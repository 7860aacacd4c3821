//! `data::noise`

use super::whole_numbers;
use crate::core::{Cx, Error, Result, Value};
use crate::data::Noise;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

pub static NOISE: Primitive = Primitive {
    path: "data::noise",
    purpose: "Images of noise alone, to see what a model answers when there is nothing to see.",
    params: &[],
    options: &[
        Param::new("n", Kind::Int, "how many images").or(Fallback::Int(1000)).range(1.0, 10_000_000.0),
        Param::new("shape", Kind::Numbers, "[channels, height, width]")
            .or(Fallback::Absent("[1, 32, 32]"))
            .range(1.0, 4096.0),
        Param::new("sigma", Kind::Float, "standard deviation about 0.5, before values are cut to [0, 1]")
            .or(Fallback::Float(0.25))
            .range(0.0, 100.0),
        SEED,
    ],
    returns: "a `Dataset` of one class, \"noise\", with edge `wrap`",
    notes: "Pixels are independent and normal, rounded to multiples of 1/255.",
    source: "",
    examples: &[Example {
        code: "data::noise(#{ n: 3, shape: [3, 8, 8], seed: 1 })",
        result: "data noise: 3 images 3 x 8 x 8, 1 classes, edge wrap",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let shape = match args.get("shape") {
        None => [1, 32, 32],
        Some(_) => match whole_numbers(args, "shape")?[..] {
            [c, h, w] => [c as usize, h as usize, w as usize],
            ref other => {
                return Err(Error::argument(format!(
                    "`shape` must be [channels, height, width], got {} numbers",
                    other.len()
                )));
            }
        },
    };
    let set = Noise { n: args.count("n"), shape, sigma: args.float("sigma"), seed: args.seed() }.dataset()?;
    set.record(cx);
    Ok(Value::object(set))
}
