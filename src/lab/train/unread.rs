//! Losses that stay on the device for a while, so that the host does not wait for it in every step.

use tch::{Device, Tensor};

use crate::core::{Result, numbers_of};

/// So many losses on a GPU are read at once, so that one that is not finite is noticed that much later at most.
const AT_ONCE: usize = 32;

/// Losses of steps that were not read yet, with what is known of their steps.
pub(super) struct Unread<T> {
    most: usize,
    waiting: Vec<(T, Tensor)>,
}

impl<T> Unread<T> {
    /// On the CPU, where nothing is won by waiting, every loss is due at once.
    pub fn on(device: Device) -> Self {
        Self { most: if device == Device::Cpu { 1 } else { AT_ONCE }, waiting: vec![] }
    }

    /// Keeps a loss of a step; whether it is time to read.
    pub fn add(&mut self, step: T, loss: Tensor) -> bool {
        self.waiting.push((step, loss));
        self.waiting.len() >= self.most
    }

    /// All that was kept, in its order.
    pub fn take(&mut self) -> Result<Vec<(T, f64)>> {
        let (steps, losses): (Vec<T>, Vec<Tensor>) = std::mem::take(&mut self.waiting).into_iter().unzip();
        Ok(steps.into_iter().zip(numbers_of(&losses)?).collect())
    }
}
