//! The way back of a convolution: every pixel is spread by the kernel.

use serde::{Deserialize, Serialize};
use tch::Device;

use super::folded_norm::FoldedNorm;
use super::shape::enlarged;
use super::step::{Mode, Node, See, Step, detached, detached_bias, node};
use super::text::{call, count, size};
use super::{Kind, Shape, Site, join};
use crate::core::{Error, Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct ConvTranspose {
    #[serde(deserialize_with = "count")]
    pub out: i64,
    #[serde(deserialize_with = "count")]
    pub size: i64,
    #[serde(deserialize_with = "count")]
    pub stride: i64,
    #[serde(deserialize_with = "size")]
    pub pad: i64,
    /// Pixels added at the right and bottom.
    #[serde(deserialize_with = "size")]
    pub extra: i64,
    pub bias: bool,
}

impl Kind for ConvTranspose {
    fn script(&self) -> String {
        let Self { out, size, stride, pad, extra, bias } = self;
        let options: [(&str, &dyn std::fmt::Display, bool); 4] = [
            ("stride", stride, *stride != 1),
            ("pad", pad, *pad != 0),
            ("extra", extra, *extra != 0),
            ("bias", bias, !bias),
        ];
        call("conv_transpose", &[out, size], &options)
    }

    fn tensors(&self) -> Vec<&'static str> {
        if self.bias { vec!["weight", "bias"] } else { vec!["weight"] }
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let Self { out, size, stride, pad, extra, bias } = *self;
        let [height, width] = shape.sides("conv_transpose", &site.at)?;
        let spread = |n: Option<i64>| match n.map(|n| (n - 1) * stride - 2 * pad + size + extra) {
            Some(n) if n < 1 => Err(Error::model(format!(
                "layer {}: conv_transpose of size {size} leaves nothing of its input {}",
                site.at,
                shape.describe()
            ))
            .hint("pad less")),
            n => n.map(|n| enlarged(n, &site.at)).transpose(),
        };
        let after = shape.with_sides([spread(height)?, spread(width)?]).with_features(Some(out));
        // As PyTorch counts it for a transposed convolution: from its output.
        let fan_in = Some(out * size * size);
        let wanted = [shape.features(), Some(out), Some(size), Some(size)];
        let weight = site.tensor("weight", &wanted, fan_in, Init::FanIn)?;
        site.channels = site.channels.or(Some(weight.size()[0]));
        let bias = site.bias(bias, out, fan_in)?;
        Ok((node(ConvTransposeWeights { weight, bias, stride, pad, extra }), after))
    }
}

struct ConvTransposeWeights {
    weight: Tensor,
    bias: Option<Tensor>,
    stride: i64,
    pad: i64,
    extra: i64,
}

impl Step for ConvTransposeWeights {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let Self { weight, bias, stride, pad, extra } = self;
        let one = 1;
        Ok(match bias {
            // oneDNN's own way to add one takes about as long as the convolution.
            Some(bias) if x.device() == Device::Cpu => x
                .f_conv_transpose2d(weight, None::<&Tensor>, *stride, *pad, *extra, one, one)?
                .f_add_(&bias.f_reshape([1, -1, 1, 1])?)?,
            _ => x.f_conv_transpose2d(weight, bias.as_ref(), *stride, *pad, *extra, one, one)?,
        })
    }

    fn visit(&self, at: &str, see: &mut See) {
        see(join(at, "weight"), &self.weight, true);
        if let Some(bias) = &self.bias {
            see(join(at, "bias"), bias, true);
        }
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { weight: detached(&self.weight)?, bias: detached_bias(&self.bias)?, ..*self })))
    }

    fn gives_fresh(&self) -> bool {
        true
    }

    fn fold(&self, after: &FoldedNorm) -> Result<Option<Node>> {
        let (weight, bias) = after.fold(&self.weight, &self.bias, &[1, -1, 1, 1])?;
        Ok(Some(node(Self { weight, bias, ..*self })))
    }
}
