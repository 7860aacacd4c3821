//! Functions of each element.

use super::SELF;
use crate::core::{Cx, Result, Value};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

macro_rules! elementwise {
    ($name:ident, $path:literal, $function:ident, $purpose:literal, $code:literal => $result:literal) => {
        pub static $name: Primitive = Primitive {
            path: $path,
            purpose: $purpose,
            params: &[SELF],
            options: &[],
            returns: "a tensor of the same shape",
            notes: "",
            source: "",
            examples: &[Example { code: $code, result: $result }],
            run: |_cx: &Cx, args: &Args| Ok(Value::tensor(args.tensor("x").$function()?)),
        };
    };
}

elementwise!(ABS, "Tensor.abs", f_abs, "The absolute value of each element.", "tensor::from([-2]).abs()[0]" => "2.0");
elementwise!(EXP, "Tensor.exp", f_exp, "e to the power of each element.", "tensor::from([0]).exp()[0]" => "1.0");
elementwise!(LN, "Tensor.ln", f_log, "The natural logarithm of each element.", "tensor::from([1]).ln()[0]" => "0.0");
elementwise!(SQRT, "Tensor.sqrt", f_sqrt, "The square root of each element.", "tensor::from([9]).sqrt()[0]" => "3.0");
elementwise!(FLOOR, "Tensor.floor", f_floor, "The largest whole number that is not above each element.", "tensor::from([1.7]).floor()[0]" => "1.0");
elementwise!(ERF, "Tensor.erf", f_erf, "The error function 2/√π ∫₀ˣ exp(-t²) dt of each element; the normal distribution is (1 + erf(x/√2))/2.", "tensor::from([0]).erf()[0]" => "0.0");
elementwise!(RELU, "Tensor.relu", f_relu, "Each element, or 0 if it is negative.", "tensor::from([-1]).relu()[0]" => "0.0");
elementwise!(SIGMOID, "Tensor.sigmoid", f_sigmoid, "The logistic function of each element.", "tensor::from([0]).sigmoid()[0]" => "0.5");

pub static CLAMP: Primitive = Primitive {
    path: "Tensor.clamp",
    purpose: "Each element, moved to the nearer bound where it lies outside.",
    params: &[SELF, Param::new("lo", Kind::Float, "the lower bound"), Param::new("hi", Kind::Float, "the upper bound")],
    options: &[],
    returns: "a tensor of the same shape",
    notes: "",
    source: "",
    examples: &[Example { code: "tensor::from([-1, 0.5, 3]).clamp(0, 1)", result: "tensor float [3], 0.0 to 1.0" }],
    run: clamp,
};

fn clamp(_cx: &Cx, args: &Args) -> Result<Value> {
    Ok(Value::tensor(args.tensor("x").f_clamp(args.float("lo"), args.float("hi"))?))
}
