//! One number from many, over the whole tensor or along one dimension.

use super::SELF;
use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

const ALONG: Param = Param::new("dim", Kind::Int, "the dimension to reduce; -1 is the last")
    .or(Fallback::Absent("the whole tensor, to one number"));

/// The dimension that was asked for, or an error that says which there are.
fn dimension(args: &Args, x: &Tensor) -> Result<Option<i64>> {
    let rank = x.size().len() as i64;
    match args.optional_int("dim") {
        Some(dim) if dim >= -rank && dim < rank => Ok(Some(dim)),
        Some(dim) => Err(Error::argument(format!("there is no dimension {dim} in a tensor of {rank} dimensions"))),
        None if x.numel() == 0 => Err(Error::argument("the tensor is empty")),
        None => Ok(None),
    }
}

macro_rules! reduction {
    ($name:ident, $path:literal, $whole:expr, $along:expr, $purpose:literal, $code:literal => $result:literal) => {
        pub static $name: Primitive = Primitive {
            path: $path,
            purpose: $purpose,
            params: &[SELF, ALONG],
            options: &[],
            returns: "a float, or a tensor without the dimension",
            notes: "",
            source: "",
            examples: &[Example { code: $code, result: $result }],
            run: |_cx: &Cx, args: &Args| {
                let x = args.tensor("x").f_to_kind(tch::Kind::Double)?;
                let whole: fn(&Tensor) -> std::result::Result<Tensor, tch::TchError> = $whole;
                let along: fn(&Tensor, i64) -> std::result::Result<Tensor, tch::TchError> = $along;
                Ok(match dimension(args, &x)? {
                    Some(dim) => Value::tensor(along(&x, dim)?.f_to_kind(tch::Kind::Float)?),
                    None => Value::Float(whole(&x)?.f_double_value(&[])?),
                })
            },
        };
    };
}

reduction!(SUM, "Tensor.sum", |x| x.f_sum(tch::Kind::Double), |x, dim| x.f_sum_dim_intlist(&[dim][..], false, tch::Kind::Double),
    "The sum of the elements.", "tensor::from([1, 2, 3]).sum()" => "6.0");
reduction!(MEAN, "Tensor.mean", |x| x.f_mean(tch::Kind::Double), |x, dim| x.f_mean_dim(&[dim][..], false, tch::Kind::Double),
    "The mean of the elements.", "tensor::from([[1, 2], [3, 6]]).mean(0)[1]" => "4.0");
reduction!(MIN, "Tensor.min", |x| x.f_min(), |x, dim| x.f_amin([dim], false),
    "The smallest element.", "tensor::from([4, 2, 3]).min()" => "2.0");
reduction!(MAX, "Tensor.max", |x| x.f_max(), |x, dim| x.f_amax([dim], false),
    "The largest element.", "tensor::from([[4, 2], [3, 9]]).max(-1)[0]" => "4.0");

pub static ARGMAX: Primitive = Primitive {
    path: "Tensor.argmax",
    purpose: "Where the largest element of each row stands; the first of equals.",
    params: &[SELF],
    options: &[],
    returns: "an int64 tensor without the last dimension",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::from([[1, 5, 2], [7, 0, 0]]).argmax()[0]", result: "1" }],
    run: |_cx: &Cx, args: &Args| {
        let x = args.tensor("x");
        if x.size().is_empty() || x.numel() == 0 {
            return Err(Error::argument("Tensor.argmax: wants at least one row of numbers"));
        }
        Ok(Value::tensor(x.f_argmax(-1, false)?))
    },
};

pub static SOFTMAX: Primitive = Primitive {
    path: "Tensor.softmax",
    purpose: "Scores to probabilities, along the last dimension.",
    params: &[SELF],
    options: &[],
    returns: "a tensor of the same shape whose rows sum to 1",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::from([[0, 0]]).softmax()[0][1]", result: "0.5" }],
    run: |_cx: &Cx, args: &Args| Ok(Value::tensor(args.tensor("x").f_softmax(-1, tch::Kind::Float)?)),
};
