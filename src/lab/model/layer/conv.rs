//! A convolution of images with square kernels.

use serde::{Deserialize, Serialize};
use tch::{Device, Kind as Number};

use super::convolution::Convolution;
use super::folded_norm::FoldedNorm;
use super::step::{Mode, Node, See, Sharing, Step, Work, detached, detached_bias, node};
use super::text::{call, count, size};
use super::{Kind, Layer, Shape, Site, join};
use crate::core::{Error, Result, Tensor};
use crate::model::memory_format::kernel_channels_last;
use crate::model::shift::{Sliding, Window};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct Conv {
    #[serde(deserialize_with = "count")]
    pub out: i64,
    #[serde(deserialize_with = "count")]
    pub size: i64,
    #[serde(deserialize_with = "count")]
    pub stride: i64,
    #[serde(deserialize_with = "size")]
    pub pad: i64,
    #[serde(deserialize_with = "count")]
    pub dilation: i64,
    #[serde(deserialize_with = "count")]
    pub groups: i64,
    pub bias: bool,
}

impl Layer {
    pub fn conv(out: i64, size: i64, stride: i64, pad: i64) -> Self {
        Conv { out, size, stride, pad, dilation: 1, groups: 1, bias: true }.into()
    }

    /// As `conv`, for a batch norm behind it.
    pub fn conv_bare(out: i64, size: i64, stride: i64, pad: i64) -> Self {
        Conv { out, size, stride, pad, dilation: 1, groups: 1, bias: false }.into()
    }

    /// One kernel per channel, for a batch norm behind it.
    pub fn conv_depthwise(channels: i64, size: i64, stride: i64, pad: i64) -> Self {
        Conv { out: channels, size, stride, pad, dilation: 1, groups: channels, bias: false }.into()
    }
}

impl Kind for Conv {
    fn script(&self) -> String {
        let Self { out, size, stride, pad, dilation, groups, bias } = self;
        let options: [(&str, &dyn std::fmt::Display, bool); 5] = [
            ("stride", stride, *stride != 1),
            ("pad", pad, *pad != 0),
            ("dilation", dilation, *dilation != 1),
            ("groups", groups, *groups != 1),
            ("bias", bias, !bias),
        ];
        call("conv", &[out, size], &options)
    }

    fn tensors(&self) -> Vec<&'static str> {
        if self.bias { vec!["weight", "bias"] } else { vec!["weight"] }
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let Self { out, size, stride, pad, dilation, groups, bias } = *self;
        shape.sides("conv", &site.at)?;
        let channels = shape.features();
        if channels.is_some_and(|c| c % groups != 0) || out % groups != 0 {
            return Err(Error::model(format!("layer {}: {groups} groups do not divide its channels", site.at)));
        }
        let after = shape.slid(&Window { size, stride, pad, dilation, ceil: false }, "conv", &site.at)?;
        let per_group = channels.map(|c| c / groups);
        let fan_in = per_group.map(|c| c * size * size);
        let weight = site.tensor("weight", &[Some(out), per_group, Some(size), Some(size)], fan_in, Init::FanIn)?;
        site.channels = site.channels.or(Some(weight.size()[1] * groups));
        let bias = site.bias(bias, out, fan_in)?;
        Ok((node(ConvWeights { weight, bias, stride, pad, dilation, groups }), after.with_features(Some(out))))
    }
}

struct ConvWeights {
    weight: Tensor,
    bias: Option<Tensor>,
    stride: i64,
    pad: i64,
    dilation: i64,
    groups: i64,
}

impl ConvWeights {
    fn window(&self) -> Window {
        let Self { stride, pad, dilation, .. } = *self;
        Window { size: self.weight.size()[2], stride, pad, dilation, ceil: false }
    }
}

impl Step for ConvWeights {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let Self { weight, bias, stride, pad, dilation, groups } = self;
        let wanted = weight.size()[1] * groups;
        if x.size().get(1) != Some(&wanted) {
            return Err(Error::model(format!("a convolution takes {wanted} channels, got {:?}", x.size()))
                .hint("`ds.grey()` gives one channel"));
        }
        match x.requires_grad() && grey_kernel(weight, x) {
            true => grey_conv(x, weight, bias.as_ref(), [*stride, *pad, *dilation]),
            false => Convolution { weight, bias: bias.as_ref(), window: self.window(), groups: *groups }.forward(x),
        }
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

    fn sharing(&self) -> Sharing<'_> {
        match self.weight.size()[..] {
            [channels, _, size, width] if size == width => Sharing::Window(
                Sliding { window: self.window(), beyond: 0.0 },
                Some(Work { channels, each: self.weight.numel() as f64 }),
            ),
            _ => Sharing::Nothing,
        }
    }

    fn unpadded(&self, x: &Tensor) -> Result<Tensor> {
        let Self { weight, bias, groups, .. } = self;
        let window = Window { pad: 0, ..self.window() };
        Convolution { weight, bias: bias.as_ref(), window, groups: *groups }.forward(x)
    }

    fn gives_fresh(&self) -> bool {
        true
    }

    fn convolution(&self) -> Option<Convolution<'_>> {
        let Self { weight, bias, groups, .. } = self;
        Some(Convolution { weight, bias: bias.as_ref(), window: self.window(), groups: *groups })
    }

    fn fold(&self, after: &FoldedNorm) -> Result<Option<Node>> {
        let (weight, bias) = after.fold(&self.weight, &self.bias, &[-1, 1, 1, 1])?;
        Ok(Some(node(Self { weight, bias, ..*self })))
    }
}

/// Whether `grey_conv` takes the gradient of images faster than a convolution: a frozen kernel that lies channels-last, one channel,
/// on a CPU, where oneDNN's way back to one channel takes as long as one to sixteen.
fn grey_kernel(weight: &Tensor, x: &Tensor) -> bool {
    let fast = x.kind() == Number::Float && x.device() == Device::Cpu && !weight.requires_grad();
    fast && x.size()[1] == 1 && weight.size()[1] == 1 && weight.size()[2..] != [1, 1]
}

/// A convolution of one channel as one of single pixels, on a channel for every place in the window.
fn grey_conv(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, [stride, pad, dilation]: [i64; 3]) -> Result<Tensor> {
    let (out, _, rows, columns) = weight.size4()?;
    let (n, _, height, width) = x.size4()?;
    let places = |side: i64, window: i64| (side + 2 * pad - dilation * (window - 1) - 1) / stride + 1;
    let windows = x.f_im2col([rows, columns], [dilation; 2], [pad; 2], [stride; 2])?;
    let taps = rows * columns;
    let windows = windows.f_reshape([n, taps, places(height, rows), places(width, columns)])?;
    let pixels = weight.f_reshape([out, taps])?.f_as_strided([out, taps, 1, 1], [taps, 1, taps, taps], None::<i64>)?;
    Ok(windows.f_conv2d(&pixels, bias, 1, 0, 1, 1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_prints_as_it_is_written() {
        assert_eq!(Layer::conv(32, 3, 1, 1).script(), "net::conv(32, 3, #{ pad: 1 })");
        assert_eq!(Layer::conv_bare(32, 3, 2, 0).script(), "net::conv(32, 3, #{ stride: 2, bias: false })");
        assert_eq!(Layer::max_pool(2, 2).script(), "net::max_pool(2)");
    }
}
