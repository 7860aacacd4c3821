//! The same numbers in another shape.

use super::SELF;
use crate::core::{Cx, Error, Value, is_whole};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static SHAPE: Primitive = Primitive {
    path: "Tensor.shape",
    purpose: "The lengths of the dimensions.",
    params: &[SELF],
    options: &[],
    returns: "an array of ints",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::zeros([4, 1, 2]).shape", result: "[4, 1, 2]" }],
    run: |_cx: &Cx, args: &Args| Ok(Value::ints(args.tensor("x").size())),
};

pub static LEN: Primitive = Primitive {
    path: "Tensor.len",
    purpose: "The length of the first dimension.",
    params: &[SELF],
    options: &[],
    returns: "an int",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::zeros([4, 2]).len", result: "4" }],
    run: |_cx: &Cx, args: &Args| Ok(Value::Int(args.tensor("x").size().first().copied().unwrap_or(1))),
};

pub static RESHAPE: Primitive = Primitive {
    path: "Tensor.reshape",
    purpose: "The same elements in another shape.",
    params: &[
        SELF,
        Param::new("shape", Kind::Numbers, "the new lengths; one may be -1, which is worked out").at_least(-1.0),
    ],
    options: &[],
    returns: "a tensor",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::zeros([4, 6]).reshape([-1, 3]).shape", result: "[8, 3]" }],
    run: |_cx: &Cx, args: &Args| {
        let x = args.tensor("x");
        let shape: Vec<i64> = args.numbers("shape").iter().map(|n| *n as i64).collect();
        x.f_reshape(&shape).map(Value::tensor).map_err(|_| {
            Error::argument(format!(
                "Tensor.reshape: {:?} has {} elements, which do not fill {shape:?}",
                x.size(),
                x.numel()
            ))
        })
    },
};

pub static TRANSPOSE: Primitive = Primitive {
    path: "Tensor.transpose",
    purpose: "Rows become columns: the last two dimensions change places.",
    params: &[SELF],
    options: &[],
    returns: "a tensor",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::zeros([4, 2, 3]).transpose().shape", result: "[4, 3, 2]" }],
    run: |_cx: &Cx, args: &Args| {
        let x = args.tensor("x");
        if x.dim() < 2 {
            return Err(Error::argument(format!("Tensor.transpose: wants two dimensions, got {:?}", x.size())));
        }
        Ok(Value::tensor(x.f_transpose(-2, -1)?))
    },
};

pub static MATMUL: Primitive = Primitive {
    path: "Tensor.matmul",
    purpose: "The matrix product.",
    params: &[SELF, Param::new("other", Kind::Tensor, "the right factor")],
    options: &[],
    returns: "a tensor",
    notes: "Shapes as in PyTorch: N x K by K x M gives N x M.",
    source: "",
    examples: &[Example { code: "tensor::from([[1, 2]]).matmul(tensor::from([[3], [4]]))[0][0]", result: "11.0" }],
    run: |_cx: &Cx, args: &Args| {
        let (x, other) = (args.tensor("x"), args.tensor("other"));
        x.f_matmul(&other).map(Value::tensor).map_err(|error| {
            Error::from(error).unless_of_shapes("Tensor.matmul", || {
                Error::argument(format!("Tensor.matmul: {:?} and {:?} do not fit", x.size(), other.size()))
            })
        })
    },
};

pub static VALUES: Primitive = Primitive {
    path: "Tensor.values",
    purpose: "The elements as a flat array.",
    params: &[SELF],
    options: &[],
    returns: "an array of numbers",
    notes: "For tables and plots; work on tensors is faster.",
    source: "",
    examples: &[Example { code: "tensor::from([[1, 2], [3, 4]]).values()", result: "[1.0, 2.0, 3.0, 4.0]" }],
    run: |_cx: &Cx, args: &Args| {
        let x = args.tensor("x").f_reshape([-1])?;
        if is_whole(x.kind()) {
            return Ok(Value::ints(Vec::<i64>::try_from(&x.f_to_kind(tch::Kind::Int64)?)?));
        }
        Ok(Value::floats(Vec::<f64>::try_from(&x.f_to_kind(tch::Kind::Double)?)?))
    },
};
