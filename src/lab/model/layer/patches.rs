//! Cuts images into squares and makes a token of each, row by row (Dosovitskiy et al. 2021): a convolution that steps by its size.

use serde::{Deserialize, Serialize};

use super::convolution::Convolution;
use super::step::{Mode, Node, See, Step, detached, detached_bias, node};
use super::text::{call, count};
use super::{Kind, Layer, Shape, Site, join};
use crate::core::{Error, Result, Tensor};
use crate::model::memory_format::kernel_channels_last;
use crate::model::shift::Window;
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct Patches {
    #[serde(deserialize_with = "count")]
    out: i64,
    #[serde(deserialize_with = "count")]
    size: i64,
}

impl Layer {
    /// Tokens of `out` numbers, of squares of side `size`.
    pub fn patches(out: i64, size: i64) -> Self {
        Patches { out, size }.into()
    }
}

impl Kind for Patches {
    fn script(&self) -> String {
        call("patches", &[&self.out, &self.size], &[])
    }

    fn tensors(&self) -> Vec<&'static str> {
        vec!["weight", "bias"]
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let (out, size, channels) = (self.out, self.size, shape.features());
        let [height, width] = shape.sides("patches", &site.at)?;
        if [height, width].iter().flatten().any(|n| n % size != 0) {
            return Err(Error::model(format!(
                "layer {}: squares of side {size} do not fill its input {}",
                site.at,
                shape.describe()
            ))
            .hint("load the data with `resize` or `crop`, or put net::resize(...) before it"));
        }
        let fan_in = channels.map(|c| c * size * size);
        let weight = site.tensor("weight", &[Some(out), channels, Some(size), Some(size)], fan_in, Init::FanIn)?;
        site.channels = site.channels.or(Some(weight.size()[1]));
        let bias = site.bias(true, out, fan_in)?;
        let count = height.zip(width).map(|(h, w)| (h / size) * (w / size));
        Ok((node(PatchWeights { weight, bias, size }), Shape::Tokens { count, width: Some(out) }))
    }
}

struct PatchWeights {
    weight: Tensor,
    bias: Option<Tensor>,
    size: i64,
}

impl Step for PatchWeights {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let (wanted, size) = (self.weight.size()[1], x.size());
        if size.get(1) != Some(&wanted) || size[2..].iter().any(|n| n % self.size != 0) {
            return Err(Error::model(format!(
                "squares of side {} take {wanted} channels and sides that they fill, got {size:?}",
                self.size
            ))
            .hint("load the data with `resize` or `crop`"));
        }
        let window = Window { size: self.size, stride: self.size, pad: 0, dilation: 1, ceil: false };
        let squares = Convolution { weight: &self.weight, bias: self.bias.as_ref(), window, groups: 1 }.forward(x)?;
        Ok(squares.f_flatten(2, -1)?.f_transpose(1, 2)?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        see(join(at, "weight"), &self.weight, true);
        if let Some(bias) = &self.bias {
            see(join(at, "bias"), bias, true);
        }
    }

    fn frozen(&self, last: bool) -> Result<Option<Node>> {
        let weight = detached(&self.weight)?;
        let weight = if last { kernel_channels_last(&weight)? } else { weight };
        Ok(Some(node(Self { weight, bias: detached_bias(&self.bias)?, ..*self })))
    }
}
