//! The same network in the form that evaluates fastest.

use tch::{Device, Kind};

use super::layer::fold::of_node;
use super::layer::rectified::fused;
use super::module::Module;
use crate::core::{Result, works_fast};

impl Module {
    /// The same function for evaluation: batch norm folded into the convolution before it, no gradients to weights, and kernels in
    /// channels-last order on the CPU, where oneDNN runs them up to twice as fast, and on a GPU in TF32, whose matrix units take them so.
    pub fn frozen(&self) -> Result<Self> {
        let (device, kind) = self.lies_on();
        // oneDNN has no double precision, which is for comparisons: in the same layout, equal sums stay equal and pooling breaks ties
        // as it does elsewhere.
        self.frozen_in((device == Device::Cpu || works_fast()) && kind == Kind::Float)
    }

    /// The device of its weights, and their kind.
    pub(super) fn lies_on(&self) -> (Device, Kind) {
        let mut on = (Device::Cpu, Kind::Float);
        self.visit(&mut |_, tensor, _| on = (tensor.device(), tensor.kind()));
        on
    }

    /// The same with kernels in channels-last order or not.
    pub(super) fn frozen_in(&self, last: bool) -> Result<Self> {
        let root = tch::no_grad(|| of_node(&self.root, last))?;
        let Self { layers, input, channels, classes, .. } = self;
        Ok(Self {
            layers: layers.clone(),
            root,
            input: *input,
            channels: *channels,
            classes: *classes,
            channels_last: last,
            fused: None,
        }
        .with_fused_kernels())
    }

    /// The same with fewer kernels for what has no gradients, where there are such.
    pub(super) fn with_fused_kernels(self) -> Self {
        let fused = match self.lies_on() {
            (Device::Cuda(_), Kind::Float | Kind::BFloat16) => Some(fused(&self.root)),
            _ => None,
        };
        Self { fused, ..self }
    }
}
