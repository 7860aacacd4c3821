//! The one way to a backward pass: libtorch ends the process where a loss has no graph, so that is found out before.

use std::borrow::Borrow;

use tch::{Device, Kind};

use super::elsewhere::why_it_failed;
use super::{Error, ErrorKind, Result, Tensor};

/// What becomes of the graph of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graph {
    Free,
    /// For another pass.
    Keep,
    /// Gradients have a graph of their own, through which further gradients flow.
    Extend,
}

/// The gradient of the sum of a loss with respect to each of these tensors. `of` is whose loss it is, for those who read why there is
/// none: a loss that does not depend on one of them is refused.
pub fn gradients<T: Borrow<Tensor>>(of: &str, loss: &Tensor, leaves: &[T], graph: Graph) -> Result<Vec<Tensor>> {
    if !loss.requires_grad() || leaves.iter().any(|leaf| !leaf.borrow().requires_grad()) {
        return Err(no_gradient(of));
    }
    let found = Tensor::f_run_backward(&[loss], leaves, graph != Graph::Free, graph == Graph::Extend)
        .map_err(|error| why_it_failed().unwrap_or_else(|| error.into()))?;
    // What the loss does not depend on has an undefined gradient, of which hardly anything may be asked.
    match found.iter().all(Tensor::defined) {
        true => Ok(found),
        false => Err(no_gradient(of)),
    }
}

/// A gradient with 0 in place of what is no number, along which nothing can go, and with long but finite steps in place of what is infinite.
pub fn finite(gradient: Tensor) -> Result<Tensor> {
    // Squares of as many as an image has pixels are finite too.
    let most = if gradient.kind() == Kind::Half { 1e2 } else { 1e15 };
    // Where the host need not wait for it, what is right as it stands is not copied: a sum is finite only where all its terms are.
    let sound = || -> Result<bool> { Ok(gradient.f_sum(Kind::Float)?.f_isfinite()?.f_int64_value(&[])? != 0) };
    if gradient.device() == Device::Cpu && sound()? {
        return Ok(gradient);
    }
    Ok(gradient.f_nan_to_num(0.0, most, -most)?)
}

/// Whether what is worked out of a tensor keeps a graph that leads to it: it asks for gradients, and they are kept at all.
pub fn keeps_graph(tensor: &Tensor) -> bool {
    // A number of this thread's, which both calls answer as it was before.
    let set = |kept: i32| unsafe { torch_sys::at_grad_set_enabled(kept) };
    tensor.requires_grad() && {
        let kept = set(0);
        set(kept);
        kept != 0
    }
}

/// Why there is no gradient.
pub fn no_gradient(of: &str) -> Error {
    Error::new(ErrorKind::Pairing, format!("no gradient flows through {of}: what comes out is not followed back to what is changed"))
        .hint(
            "what compares or rounds (a threshold, argmax), detaches or works under no_grad can't be followed; scores are all that search::square and \
             hopskipjump need over pixels, and random, bayes and policy over factors",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_leads_nowhere_and_what_is_infinite_leads_on() {
        let numbers = |of: &Tensor| Vec::<f32>::try_from(of).expect("numbers");
        let found =
            finite(Tensor::from_slice(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -2.0])).expect("a gradient");
        assert_eq!(numbers(&found.sign()), [0.0, 1.0, -1.0, -1.0]);
        // Steps in l2 are as long as they are to be, however many are infinite.
        let all = finite(Tensor::full([3 * 512 * 512], f64::INFINITY, (Kind::Float, Device::Cpu))).expect("a gradient");
        assert!(all.square().sum(Kind::Float).double_value(&[]).is_finite());
        // A sum beyond single precision is of numbers all the same.
        let large = Tensor::from_slice(&[3e38f32, 3e38, 1.0]);
        assert_eq!(numbers(&finite(large.shallow_clone()).expect("a gradient")), numbers(&large));
    }
}
