//! `tensor::choice`.

use rand::distributions::{Distribution, Uniform, WeightedIndex};
use rand::seq::index::sample;
use rayon::prelude::*;

use super::create::{shape, single};
use crate::core::{Cx, Error, Result, Tensor, Value, in_parallel, random};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

pub static CHOICE: Primitive = Primitive {
    path: "tensor::choice",
    purpose: "A float32 tensor of numbers that are drawn at random from a list.",
    params: &[
        Param::new("values", Kind::Numbers, "the numbers to draw from"),
        Param::new("shape", Kind::Numbers, "the lengths of the tensor").range(0.0, 2e9),
    ],
    options: &[
        Param::new("weights", Kind::Numbers, "how likely each value is to be drawn, in any unit")
            .at_least(0.0)
            .or(Fallback::Absent("all alike")),
        Param::new(
            "replace",
            Kind::Bool,
            "false: no place in `values` comes twice in a row of the tensor, its last dimension",
        )
        .or(Fallback::Bool(true)),
        SEED,
    ],
    returns: "a tensor",
    notes: "Rows are drawn independently of each other. The same seed, shape and weights draw the same places, whatever the values: \
            two calls with one seed draw pairs.",
    source: "",
    examples: &[
        Example { code: "tensor::choice([-1, 1], [1000, 20], #{ seed: 1 }).shape", result: "[1000, 20]" },
        Example { code: "tensor::choice([0, 5], [100], #{ weights: [0, 1] }).min()", result: "5.0" },
        Example { code: "tensor::choice([1, 2, 3, 4], [4], #{ replace: false }).sum()", result: "10.0" },
    ],
    run,
};

/// Numbers drawn between two questions whether to stop.
const PART: usize = 1 << 22;

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let exact = |x: f64| match single(x)? {
        kept if x.fract() == 0.0 && x.abs() < 2f64.powi(53) && f64::from(kept) != x => {
            Err(Error::argument(format!("float32 has no {x}: the nearest that it has is {kept}"))
                .hint("whole numbers are exact up to 2^24; draw places, and look the numbers up by them"))
        }
        kept => Ok(kept),
    };
    let values: Vec<f32> = args.numbers("values").into_iter().map(exact).collect::<Result<_>>()?;
    let shape = shape(args)?;
    let total = shape.iter().product::<i64>() as usize;
    let row = shape.last().map_or(1, |n| *n as usize);
    if values.is_empty() && total > 0 {
        return Err(Error::argument("there is nothing to draw from: `values` is empty"));
    }
    let weighted = match args.get("weights") {
        Some(_) if !args.bool("replace") => {
            return Err(Error::argument("`weights` are for draws with replacement").hint("leave out `replace: false`"));
        }
        Some(_) => {
            let weights = args.numbers("weights");
            if weights.len() != values.len() {
                return Err(Error::argument(format!("{} values but {} weights", values.len(), weights.len())));
            }
            Some(WeightedIndex::new(&weights).map_err(|_| Error::argument("`weights` need a positive sum"))?)
        }
        None => None,
    };
    if !args.bool("replace") && row > values.len() {
        return Err(Error::argument(format!("{row} of {} values can't be drawn without replacement", values.len())));
    }
    let (seed, replace) = (args.seed(), args.bool("replace"));
    let uniform = Uniform::new(0, values.len().max(1));
    let fill = |(i, here): (usize, &mut [f32])| {
        let mut rng = random(seed, i as u64);
        match &weighted {
            _ if !replace => {
                let places = sample(&mut rng, values.len(), here.len());
                here.iter_mut().zip(places).for_each(|(x, place)| *x = values[place]);
            }
            Some(index) => here.iter_mut().for_each(|x| *x = values[index.sample(&mut rng)]),
            None => here.iter_mut().for_each(|x| *x = values[uniform.sample(&mut rng)]),
        }
    };
    let mut drawn = vec![0.0; total];
    let rows = row.max(1);
    let at_once = (PART / rows).max(1);
    for (part, numbers) in drawn.chunks_mut(rows * at_once).enumerate() {
        cx.check()?;
        in_parallel(|| {
            numbers.par_chunks_mut(rows).enumerate().for_each(|(i, here)| fill((part * at_once + i, here)))
        })?;
    }
    Ok(Value::tensor(Tensor::f_from_slice(&drawn)?.f_reshape(shape)?.f_to_device(cx.device())?))
}
