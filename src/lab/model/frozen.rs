//! The same network in the form that evaluates fastest.

use tch::{Device, Kind};

use super::layer::fold::of_node;
use super::module::Module;
use crate::core::Result;

impl Module {
    /// The same function for evaluation: batch norm folded into the convolution before it, no gradients to weights, and on the
    /// CPU kernels in channels-last order, which oneDNN runs up to twice as fast.
    pub fn frozen(&self) -> Result<Self> {
        let (mut device, mut kind) = (Device::Cpu, Kind::Float);
        self.visit(&mut |_, tensor, _| (device, kind) = (tensor.device(), tensor.kind()));
        // oneDNN has no double precision, which is for comparisons: in the same layout, equal sums stay equal and pooling breaks ties
        // as it does elsewhere.
        let last = device == Device::Cpu && kind == Kind::Float;
        let root = tch::no_grad(|| of_node(&self.root, last))?;
        let Self { layers, input, channels, classes, .. } = self;
        Ok(Self {
            layers: layers.clone(),
            root,
            input: *input,
            channels: *channels,
            classes: *classes,
            channels_last: last,
        })
    }
}
