//! Answers whose gradient is worked out elsewhere, as steps of an autograd graph: `elsewhere.cpp` is libtorch's side of it.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::AssertUnwindSafe;

use tch::Device;
use torch_sys::C_tensor;

use super::{Error, ErrorKind, Result, Tensor};

/// Who can tell the gradient of an answer.
pub trait Elsewhere: Send {
    /// The gradient of whatever is led by the answer with respect to what was asked about, from that with respect to the answer: both on the CPU.
    /// `again`: whether it may be asked once more.
    fn pull_back(&self, upstream: &Tensor, again: bool) -> Result<Tensor>;
}

unsafe extern "C" {
    fn viva_answered_elsewhere(
        images: *const C_tensor,
        answer: *const C_tensor,
        held: *mut c_void,
        pull_back: extern "C" fn(*mut c_void, *const C_tensor, bool, bool) -> *mut C_tensor,
        let_go: extern "C" fn(*mut c_void),
    ) -> *mut C_tensor;
}

thread_local! {
    /// Why the backward pass under way failed: libtorch hands on no more than that it did.
    static WHY: RefCell<Option<Error>> = const { RefCell::new(None) };
}

type Held = Box<dyn Elsewhere>;

extern "C" fn pull_back(held: *mut c_void, upstream: *const C_tensor, again: bool, further: bool) -> *mut C_tensor {
    let work = || -> Result<Tensor> {
        if further {
            return Err(Error::new(
                ErrorKind::Pairing,
                "gradients of gradients do not flow through a model that answers from another process",
            )
            .hint("what needs gradients alone goes on: search::bim, apgd, fmn, ddn, deepfool, carlini_wagner, adef"));
        }
        // SAFETY: the graph hands over what `answered_elsewhere` gave it, and a tensor that lives as long as this call.
        let (held, upstream) = unsafe { (&*held.cast::<Held>(), Tensor::clone_from_ptr(upstream.cast_mut())) };
        tch::no_grad(|| held.pull_back(&upstream, again))
    };
    // A panic must not reach libtorch.
    let found = std::panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::internal("a gradient that panicked")));
    match found {
        // SAFETY: a handle of its own, which the graph lets go of.
        Ok(found) => unsafe { torch_sys::at_shallow_clone(found.as_ptr().cast_mut()) },
        Err(error) => {
            WHY.with_borrow_mut(|why| *why = Some(error));
            std::ptr::null_mut()
        }
    }
}

extern "C" fn let_go(held: *mut c_void) {
    // SAFETY: the graph's only call of this, on what `answered_elsewhere` gave it.
    drop(unsafe { Box::from_raw(held.cast::<Held>()) });
}

/// The same answer, in a graph that leads to `asked` by way of whoever answered. On the CPU, whose steps this thread takes itself.
pub fn answered_elsewhere(asked: &Tensor, answer: &Tensor, by: Box<dyn Elsewhere>) -> Result<Tensor> {
    if asked.device() != Device::Cpu || answer.device() != Device::Cpu {
        return Err(Error::internal("an answer from elsewhere that is not on the CPU"));
    }
    let held: *mut Held = Box::into_raw(Box::new(by));
    // SAFETY: both tensors live as long as the call; the graph keeps `held` and lets go of it by `let_go`, also where it fails.
    let made = unsafe { viva_answered_elsewhere(asked.as_ptr(), answer.as_ptr(), held.cast(), pull_back, let_go) };
    match made.is_null() {
        // SAFETY: a handle of its own.
        false => Ok(unsafe { Tensor::from_ptr(made) }),
        true => Err(Error::internal("libtorch takes no answer from elsewhere")),
    }
}

/// Why the backward pass that just failed did, where somebody elsewhere said so.
pub(super) fn why_it_failed() -> Option<Error> {
    WHY.with_borrow_mut(Option::take)
}
