//! `info::softmax_margin`.

use crate::core::{Error, Value};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static SOFTMAX_MARGIN: Primitive = Primitive {
    path: "info::softmax_margin",
    purpose: "How sure scores are: the highest softmax probability minus the second highest.",
    params: &[Param::new("scores", Kind::Tensor, "N x K, as `f.logits(x)` gives them")],
    options: &[],
    returns: "a tensor of N numbers in [0, 1]",
    notes: "",
    source: "Galloway, Golubeva and Taylor 2018, Figure 8",
    examples: &[Example {
        code: "info::softmax_margin(tensor::from([[0.0, 0.0, -100.0], [100.0, 0.0, 0.0]])).values()",
        result: "[0.0, 1.0]",
    }],
    run: |_, args| {
        let scores = args.tensor("scores");
        if scores.dim() != 2 || scores.size()[1] < 2 || scores.numel() == 0 {
            return Err(Error::argument(format!("`scores` must be N x K with K at least 2, got {:?}", scores.size())));
        }
        if scores.f_isfinite()?.f_all()?.f_int64_value(&[])? == 0 {
            return Err(Error::argument("`scores` holds a number that is not finite"));
        }
        let (top, _) = scores.f_softmax(1, tch::Kind::Double)?.f_topk(2, 1, true, true)?;
        Ok(Value::tensor(top.f_select(1, 0)?.f_sub(&top.f_select(1, 1)?)?))
    },
};
