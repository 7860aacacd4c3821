//! Where a layer is given its tensors.

use tch::Device;

use super::{Layer, Node, Part, Shape, join};
use crate::core::{Result, Tensor};
use crate::model::supply::{Init, Supply};

/// A place in a network that is being built.
pub struct Site<'a> {
    supply: &'a mut dyn Supply,
    pub device: Device,
    /// Channels of the network's input, where the first layer tells.
    pub channels: Option<i64>,
    /// The layer's name.
    pub at: String,
}

impl<'a> Site<'a> {
    pub fn new(supply: &'a mut dyn Supply, device: Device, channels: Option<i64>, at: &str) -> Self {
        Self { supply, device, channels, at: at.into() }
    }

    /// The layer's own tensor of this name; `None` stands for a size that only the tensor itself tells.
    pub fn tensor(&mut self, part: &str, size: &[Option<i64>], fan_in: Option<i64>, init: Init) -> Result<Tensor> {
        self.supply.tensor(&join(&self.at, part), size, fan_in, init)
    }

    /// A tensor `bias` of so many numbers, where there is one.
    pub fn bias(&mut self, wanted: bool, out: i64, fan_in: Option<i64>) -> Result<Option<Tensor>> {
        wanted.then(|| self.tensor("bias", &[Some(out)], fan_in, Init::FanIn)).transpose()
    }

    /// A layer inside of this one.
    pub fn part(&mut self, name: &str, layer: &Layer, shape: Shape) -> Result<(Node, Shape)> {
        let inner = join(&self.at, name);
        let outer = std::mem::replace(&mut self.at, inner);
        let built = layer.build(self, shape);
        self.at = outer;
        built
    }

    /// Layers inside of this one, one after the other.
    pub fn parts(&mut self, parts: &[Part], mut shape: Shape) -> Result<(Vec<(String, Node)>, Shape)> {
        let mut nodes = Vec::with_capacity(parts.len());
        for (name, layer) in parts {
            let (node, next) = self.part(name, layer, shape)?;
            shape = next;
            nodes.push((name.clone(), node));
        }
        Ok((nodes, shape))
    }
}
