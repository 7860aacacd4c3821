use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static FROM: Primitive = Primitive {
    path: "tensor::from",
    purpose: "A float32 tensor from nested arrays of numbers.",
    params: &[Param::new("values", Kind::Array, "numbers, or arrays of equal shape")],
    options: &[],
    returns: "a tensor",
    notes: "Arrays of unequal lengths are refused, and whole numbers that float32 would round (beyond 2^24).",
    source: "",
    examples: &[Example { code: "tensor::from([[1, 2, 3], [4, 5, 6]]).shape", result: "[2, 3]" }],
    run: |cx: &Cx, args: &Args| {
        let mut flat = Vec::new();
        let shape = flatten(args.value("values"), &mut flat)?;
        Ok(Value::tensor(Tensor::f_from_slice(&flat)?.f_reshape(shape)?.f_to_device(cx.device())?))
    },
};

/// A number as tensors keep it, rounded to the nearest; no finite one becomes infinite.
pub(super) fn single(x: f64) -> Result<f32> {
    match (x as f32).is_infinite() && x.is_finite() {
        true => Err(Error::argument(format!("{x:e} is beyond float32, which ends at 3.4e38"))),
        false => Ok(x as f32),
    }
}

fn flatten(value: &Value, flat: &mut Vec<f32>) -> Result<Vec<i64>> {
    match value {
        Value::Int(i) if (*i as f32) as i128 == i128::from(*i) => flat.push(*i as f32),
        Value::Int(i) => {
            return Err(Error::argument(format!(
                "float32 has no {i}: the nearest that it has is {}",
                *i as f32 as i128
            ))
            .hint("whole numbers are exact up to 2^24; written as a float, with `.0` behind it, it is rounded"));
        }
        Value::Float(x) => flat.push(single(*x)?),
        Value::Array(rows) => {
            let mut inner: Option<Vec<i64>> = None;
            for row in rows {
                let shape = flatten(row, flat)?;
                if inner.as_ref().is_some_and(|first| *first != shape) {
                    return Err(Error::argument(format!(
                        "rows must have one shape, got {:?} and {shape:?}",
                        inner.unwrap_or_default()
                    )));
                }
                inner = Some(shape);
            }
            let mut shape = vec![rows.len() as i64];
            shape.extend(inner.unwrap_or_default());
            return Ok(shape);
        }
        other => return Err(Error::argument(format!("wanted numbers, got a {}", other.kind()))),
    }
    Ok(vec![])
}

pub(super) const SHAPE_OF: Param = Param::new("shape", Kind::Numbers, "the lengths").at_least(0.0);

/// The lengths of a tensor that is asked for.
pub(super) fn shape(args: &Args) -> Result<Vec<i64>> {
    let numbers = args.numbers("shape");
    if let Some(part) = numbers.iter().find(|n| n.fract() != 0.0) {
        return Err(Error::argument(format!("lengths must be whole, got {part}")));
    }
    let shape: Vec<i64> = numbers.iter().map(|n| *n as i64).collect();
    if shape.iter().try_fold(1i64, |total, n| total.checked_mul(*n)).is_none_or(|total| total > 1 << 31) {
        return Err(Error::argument(format!("{shape:?} is too large")));
    }
    Ok(shape)
}

pub static ZEROS: Primitive = Primitive {
    path: "tensor::zeros",
    purpose: "A float32 tensor of zeros.",
    params: &[SHAPE_OF],
    options: &[],
    returns: "a tensor",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::zeros([2, 3])", result: "tensor float [2 x 3], 0.0 to 0.0" }],
    run: |cx: &Cx, args: &Args| Ok(Value::tensor(Tensor::f_zeros(shape(args)?, (tch::Kind::Float, cx.device()))?)),
};

pub static CONCAT: Primitive = Primitive {
    path: "tensor::concat",
    purpose: "Tensors one after the other.",
    params: &[
        Param::new("tensors", Kind::Array, "tensors that differ in length along `dim` alone"),
        Param::new("dim", Kind::Int, "the dimension that grows; -1 is the last").or(Fallback::Int(0)),
    ],
    options: &[],
    returns: "a tensor",
    notes: "",
    source: "",
    examples: &[Example {
        code: "tensor::concat([tensor::zeros([2, 3]), tensor::zeros([2, 1])], 1).shape",
        result: "[2, 4]",
    }],
    run: |_cx: &Cx, args: &Args| {
        let mut tensors = Vec::new();
        for value in args.array("tensors") {
            match value {
                Value::Tensor(tensor) => tensors.push(tensor.clone()),
                other => {
                    return Err(Error::argument(format!(
                        "`tensors` must be an array of tensors, got one of {}",
                        other.kind()
                    )));
                }
            }
        }
        let Some(first) = tensors.first() else { return Err(Error::argument("there is no tensor to begin with")) };
        let dim = super::reduce::axis(first, args.int("dim"))?;
        let others =
            |size: Vec<i64>| size.into_iter().enumerate().filter(|(i, _)| *i as i64 != dim).collect::<Vec<_>>();
        let fits = |tensor: &Tensor| tensor.dim() == first.dim() && others(tensor.size()) == others(first.size());
        if let Some(other) = tensors.iter().find(|tensor| !fits(tensor)) {
            return Err(Error::argument(format!(
                "tensors of shapes {:?} and {:?} do not join along dimension {dim}",
                first.size(),
                other.size()
            )));
        }
        Ok(Value::tensor(Tensor::f_cat(&tensors, dim)?))
    },
};
