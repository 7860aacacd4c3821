//! What fails in libtorch, and how tch tells.

use super::{Error, Result};

/// Runs work of libtorch that may fail. A number that tch lets go of after a call that failed makes it panic with that call's error,
/// which is then the error of the work.
pub fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| match failed_call(&*panic) {
        Some(error) => Err(error),
        None => std::panic::resume_unwind(panic),
    })
}

/// The error of libtorch that a panic of tch is about, if it is about one.
pub fn failed_call(panic: &(dyn std::any::Any + Send)) -> Option<Error> {
    let (_, told) = panic.downcast_ref::<String>()?.split_once("`Err` value: Torch(\"")?;
    Some(tch::TchError::Torch(told.replace("\\n", "\n")).into())
}
