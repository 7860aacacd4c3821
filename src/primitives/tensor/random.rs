//! Random numbers in bulk.

use rand::seq::SliceRandom;
use tch::{Device, Kind as Precision};

use super::create::{SHAPE_OF, shape};
use crate::core::{Cx, Digest, Error, Result, Tensor, Value, random, with_stream};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

/// Bounds and means up to here leave room for sums of them in float32.
const LARGEST: f64 = 1e38;

/// Numbers drawn between two looks at the stop flag.
const PART: i64 = 1 << 22;

const SEEDS: &str = "One `seed` gives other numbers for another shape or law, and the same ones for the same call.";

/// A tensor of this shape filled part by part; `draw` gets how many numbers are wanted, and draws them on the CPU, so that every device
/// has the same ones.
fn fill(cx: &Cx, args: &Args, (law, shape): (&str, &[i64]), draw: impl Fn(i64) -> Result<Tensor>) -> Result<Value> {
    // Calls with one seed and other shapes or laws must not be made of the same numbers.
    let seed = Digest::of_parts(&[&args.seed().to_le_bytes(), format!("{shape:?}{law}").as_bytes()]).as_u64();
    let total: i64 = shape.iter().product();
    let mut parts = Vec::new();
    for start in (0..total).step_by(PART as usize) {
        cx.check()?;
        let part = with_stream(seed, start as u64, || draw(PART.min(total - start)))?;
        parts.push(part.f_to_device(cx.device())?);
    }
    let flat = match parts.len() {
        0 => Tensor::f_zeros([0], (Precision::Float, cx.device()))?,
        1 => parts.remove(0),
        _ => Tensor::f_cat(&parts, 0)?,
    };
    Ok(Value::tensor(flat.f_reshape(shape)?))
}

pub static NORMAL: Primitive = Primitive {
    path: "tensor::normal",
    purpose: "Normal random numbers, of the whole line or of a part of it.",
    params: &[SHAPE_OF],
    options: &[
        Param::new("mean", Kind::Float, "before anything is cut away")
            .or(Fallback::Float(0.0))
            .range(-LARGEST, LARGEST),
        Param::new("sigma", Kind::Float, "standard deviation before anything is cut away")
            .or(Fallback::Float(1.0))
            .range(1e-30, 1e30),
        Param::new("lo", Kind::Float, "no number lies below").or(Fallback::Absent("no bound")).range(-LARGEST, LARGEST),
        Param::new("hi", Kind::Float, "no number lies above").or(Fallback::Absent("no bound")).range(-LARGEST, LARGEST),
        SEED,
    ],
    returns: "a float32 tensor",
    notes: SEEDS,
    source: "",
    examples: &[
        Example { code: "tensor::normal([2, 3], #{ seed: 1 }).shape", result: "[2, 3]" },
        Example { code: "tensor::normal([1000], #{ mean: 1, lo: 0.5, seed: 1 }).min() >= 0.5", result: "true" },
    ],
    run: |cx, args| {
        let shape = shape(args)?;
        let (mean, sigma) = (args.float("mean"), args.float("sigma"));
        let bounds = (args.optional_float("lo"), args.optional_float("hi"));
        if bounds == (None, None) {
            return fill(cx, args, ("", &shape), |n| {
                let standard = Tensor::f_randn([n], (Precision::Float, Device::Cpu))?;
                Ok(standard.f_mul_scalar(sigma)?.f_add_scalar(mean)?)
            });
        }
        // The inverse of the distribution function at uniform numbers, in double precision for the tails.
        let phi = |x: f64| Tensor::f_from_slice(&[x])?.f_special_ndtr()?.f_double_value(&[0]);
        let lo = bounds.0.map_or(Ok(0.0), |lo| phi((lo - mean) / sigma))?;
        let hi = bounds.1.map_or(Ok(1.0), |hi| phi((hi - mean) / sigma))?;
        if hi - lo < 1e-9 {
            return Err(Error::argument(
                "tensor::normal: next to nothing of the distribution lies between `lo` and `hi`",
            )
            .hint("move `mean`, or the bounds"));
        }
        fill(cx, args, ("normal between bounds", &shape), |n| {
            let uniform =
                Tensor::f_rand([n], (Precision::Double, Device::Cpu))?.f_mul_scalar(hi - lo)?.f_add_scalar(lo)?;
            let numbers = uniform.f_special_ndtri()?.f_mul_scalar(sigma)?.f_add_scalar(mean)?;
            let clamped = numbers
                .f_clamp(bounds.0.unwrap_or(f64::NEG_INFINITY), bounds.1.unwrap_or(f64::INFINITY))?
                .f_to_kind(Precision::Float)?;
            Ok(clamped)
        })
    },
};

pub static UNIFORM: Primitive = Primitive {
    path: "tensor::uniform",
    purpose: "Uniform random numbers.",
    params: &[SHAPE_OF],
    options: &[
        Param::new("lo", Kind::Float, "the least").or(Fallback::Float(0.0)).range(-LARGEST, LARGEST),
        Param::new("hi", Kind::Float, "above the largest").or(Fallback::Float(1.0)).range(-LARGEST, LARGEST),
        SEED,
    ],
    returns: "a float32 tensor",
    notes: SEEDS,
    source: "",
    examples: &[Example {
        code: "tensor::uniform([4], #{ lo: 2, hi: 3, seed: 1 }).floor().values()",
        result: "[2.0, 2.0, 2.0, 2.0]",
    }],
    run: |cx, args| {
        let (lo, hi) = (args.float("lo"), args.float("hi"));
        if lo > hi {
            return Err(Error::argument(format!("tensor::uniform: `lo` is {lo}, above `hi`, {hi}")));
        }
        fill(cx, args, ("uniform", &shape(args)?), |n| {
            let drawn =
                Tensor::f_rand([n], (Precision::Float, Device::Cpu))?.f_mul_scalar(hi - lo)?.f_add_scalar(lo)?;
            // The largest of them may be rounded to the end.
            let below = f64::from((hi as f32).next_down());
            Ok(if lo < below { drawn.f_clamp_max(below)? } else { drawn })
        })
    },
};

pub static PERMUTATION: Primitive = Primitive {
    path: "tensor::permutation",
    purpose: "The numbers 0, 1, ..., n - 1 in random order.",
    params: &[Param::new("n", Kind::Int, "how many").range(0.0, (1u64 << 31) as f64)],
    options: &[SEED],
    returns: "an int64 tensor",
    notes: "The first k of it are a random choice without replacement: `x.pick(tensor::permutation(n).pick(0..k))`.",
    source: "",
    examples: &[Example { code: "tensor::permutation(5, #{ seed: 1 }).sort().values()", result: "[0, 1, 2, 3, 4]" }],
    run: |cx, args| {
        let mut order: Vec<i64> = (0..args.int("n")).collect();
        order.shuffle(&mut random(args.seed(), 0));
        Ok(Value::tensor(Tensor::f_from_slice(&order)?.f_to_device(cx.device())?))
    },
};
