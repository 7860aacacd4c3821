use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static FROM: Primitive = Primitive {
    path: "tensor::from",
    purpose: "A float32 tensor from nested arrays of numbers.",
    params: &[Param::new("values", Kind::Array, "numbers, or arrays of equal shape")],
    options: &[],
    returns: "a tensor",
    notes: "Arrays of unequal lengths are refused.",
    source: "",
    examples: &[Example { code: "tensor::from([[1, 2, 3], [4, 5, 6]]).shape", result: "[2, 3]" }],
    run: |cx: &Cx, args: &Args| {
        let mut flat = Vec::new();
        let shape = flatten(args.value("values"), &mut flat)?;
        Ok(Value::tensor(Tensor::f_from_slice(&flat)?.f_reshape(shape)?.f_to_device(cx.device())?))
    },
};

fn flatten(value: &Value, flat: &mut Vec<f32>) -> Result<Vec<i64>> {
    match value {
        Value::Int(i) => flat.push(*i as f32),
        Value::Float(x) => flat.push(*x as f32),
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

pub static ZEROS: Primitive = Primitive {
    path: "tensor::zeros",
    purpose: "A float32 tensor of zeros.",
    params: &[Param::new("shape", Kind::Numbers, "the lengths").at_least(0.0)],
    options: &[],
    returns: "a tensor",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::zeros([2, 3])", result: "tensor float [2 x 3], 0.0 to 0.0" }],
    run: |cx: &Cx, args: &Args| {
        let numbers = args.numbers("shape");
        if let Some(part) = numbers.iter().find(|n| n.fract() != 0.0) {
            return Err(Error::argument(format!("tensor::zeros: lengths must be whole, got {part}")));
        }
        let shape: Vec<i64> = numbers.iter().map(|n| *n as i64).collect();
        if shape.iter().try_fold(1i64, |total, n| total.checked_mul(*n)).is_none_or(|total| total > 1 << 31) {
            return Err(Error::argument(format!("tensor::zeros: {shape:?} is too large")));
        }
        Ok(Value::tensor(Tensor::f_zeros(shape, (tch::Kind::Float, cx.device()))?))
    },
};
