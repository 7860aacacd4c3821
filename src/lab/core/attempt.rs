//! What fails in libtorch, and how tch tells.

use super::{Error, Result};

/// Runs work of libtorch that may fail. A number that tch lets go of after a call that failed makes it panic with that call's error,
/// which is then the error of the work.
pub fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(work).unwrap_or_else(|panic| match failed_call(&*panic) {
        Some(error) => Err(error),
        None => std::panic::resume_unwind(panic),
    })
}

/// Runs work that may panic. `tch::no_grad` does not end in a panic, and without gradients nothing after it could be searched or trained:
/// whether they are kept is as it was.
pub fn caught<T>(work: impl FnOnce() -> T) -> std::thread::Result<T> {
    // A number of this thread's, which both calls answer as it was before.
    let set = |kept: i32| unsafe { torch_sys::at_grad_set_enabled(kept) };
    let kept = set(1);
    set(kept);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    if result.is_err() {
        set(kept);
    }
    result
}

/// The error of libtorch that a panic of tch is about, if it is about one.
pub fn failed_call(panic: &(dyn std::any::Any + Send)) -> Option<Error> {
    let (_, told) = panic.downcast_ref::<String>()?.split_once("`Err` value: Torch(\"")?;
    Some(tch::TchError::Torch(told.replace("\\n", "\n")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_leaves_gradients_as_they_were() {
        let leaf =
            || super::super::Tensor::zeros([1], (tch::Kind::Float, tch::Device::Cpu)).set_requires_grad(true) * 2.0;
        assert!(caught(|| tch::no_grad(|| if leaf().requires_grad() { 1 } else { panic!("in the middle") })).is_err());
        assert!(leaf().requires_grad(), "outside of it they are kept");
        tch::no_grad(|| {
            assert!(caught(|| panic!("once more")).is_err());
            assert!(!leaf().requires_grad(), "inside of it they are not");
        });
    }
}
