//! One number from many, over the whole tensor or along one dimension.

use super::SELF;
use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

const ALONG: Param = Param::new("dim", Kind::Int, "the dimension to reduce; -1 is the last")
    .or(Fallback::Absent("the whole tensor, to one number"));

/// A dimension counted from the first, or an error that says which there are.
pub(super) fn axis(x: &Tensor, dim: i64) -> Result<i64> {
    let rank = x.size().len() as i64;
    if (-rank..rank).contains(&dim) {
        return Ok(if dim < 0 { dim + rank } else { dim });
    }
    Err(Error::argument(format!("there is no dimension {dim} in a tensor of {rank} dimensions")))
}

/// The dimension that was asked for, or an error that says which there are.
fn dimension(args: &Args, x: &Tensor) -> Result<Option<i64>> {
    match args.optional_int("dim") {
        Some(dim) => axis(x, dim).map(Some),
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

pub static QUANTILE: Primitive = Primitive {
    path: "Tensor.quantile",
    purpose: "The value below which a share of the elements lies.",
    params: &[SELF, Param::new("q", Kind::Float, "the share").range(0.0, 1.0), ALONG],
    options: &[],
    returns: "a float, or a tensor without the dimension",
    notes: "Between two elements it is interpolated. `x.quantile(0.5)` is the median. Of numbers with a NaN among them it is NaN.",
    source: "",
    examples: &[
        Example { code: "tensor::from([1, 2, 3, 4]).quantile(0.5)", result: "2.5" },
        Example { code: "tensor::from([[1, 2], [3, 6]]).quantile(1, 0).values()", result: "[3.0, 6.0]" },
        Example { code: "tensor::from([3.0, 0.0 / 0.0, 1.0]).quantile(0.5)", result: "NaN" },
    ],
    run: |_cx: &Cx, args: &Args| {
        let x = args.tensor("x").f_to_kind(tch::Kind::Double)?;
        let (rows, dim) = match dimension(args, &x)? {
            Some(dim) => (x.shallow_clone(), dim),
            None => (x.f_reshape([-1])?, 0),
        };
        let n = rows.size()[dim as usize];
        if n == 0 {
            return Err(Error::argument("Tensor.quantile: the tensor is empty"));
        }
        // Sorting has no limit on the size, which libtorch's own quantile has.
        let sorted = rows.f_sort(dim, false)?.0;
        let at = args.float("q") * (n - 1) as f64;
        let (below, above) = (sorted.f_select(dim, at.floor() as i64)?, sorted.f_select(dim, at.ceil() as i64)?);
        // Between equal infinities there is nothing to interpolate; NaN comes last, and spoils the order of the others.
        let value = below.f_lerp(&above, at.fract())?.f_where_self(&below.f_ne_tensor(&above)?, &below)?;
        let last = sorted.f_select(dim, n - 1)?;
        let value = last.f_where_self(&last.f_isnan()?, &value)?;
        Ok(match args.optional_int("dim") {
            Some(_) => Value::tensor(value.f_to_kind(tch::Kind::Float)?),
            None => Value::Float(value.f_double_value(&[])?),
        })
    },
};

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
