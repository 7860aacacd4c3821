//! The same network in the form that evaluates fastest.

use tch::{Device, Kind};

use super::layers::Layer;
use super::module::{Module, Node};
use crate::core::{Error, Result, Tensor};

impl Module {
    /// The same function for evaluation: batch norm folded into the convolution before it, no gradients to weights, and on the
    /// CPU kernels in channels-last order, which oneDNN runs up to twice as fast.
    pub fn frozen(&self) -> Result<Self> {
        let (mut device, mut kind) = (Device::Cpu, Kind::Float);
        self.visit(&mut |_, tensor, _| (device, kind) = (tensor.device(), tensor.kind()));
        // oneDNN has no double precision, which is for comparisons: in the same layout, equal sums stay equal and pooling breaks ties
        // as it does elsewhere.
        let last = device == Device::Cpu && kind == Kind::Float;
        let root = tch::no_grad(|| self.root.frozen(last))?;
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

impl Node {
    /// Whether what it gives is a tensor that nothing else holds.
    fn gives_fresh(&self) -> bool {
        matches!(
            self,
            Self::Conv { .. }
                | Self::ConvTranspose { .. }
                | Self::Linear { .. }
                | Self::BatchNorm { .. }
                | Self::Residual { .. }
                | Self::Concat(_)
        )
    }

    fn frozen(&self, last: bool) -> Result<Self> {
        let copy = |tensor: &Tensor| tensor.f_detach();
        Ok(match self {
            Self::Conv { weight, bias, stride, pad, dilation, groups } => Self::Conv {
                weight: if last { kernel_channels_last(&copy(weight)?)? } else { copy(weight)? },
                bias: bias.as_ref().map(copy).transpose()?,
                stride: *stride,
                pad: *pad,
                dilation: *dilation,
                groups: *groups,
            },
            Self::ConvTranspose { weight, bias, stride, pad, extra } => Self::ConvTranspose {
                weight: copy(weight)?,
                bias: bias.as_ref().map(copy).transpose()?,
                stride: *stride,
                pad: *pad,
                extra: *extra,
            },
            Self::Linear { weight, bias } => {
                Self::Linear { weight: copy(weight)?, bias: bias.as_ref().map(copy).transpose()? }
            }
            Self::BatchNorm { weight, bias, mean, var, eps, momentum } => Self::BatchNorm {
                weight: copy(weight)?,
                bias: copy(bias)?,
                mean: copy(mean)?,
                var: copy(var)?,
                eps: *eps,
                momentum: *momentum,
            },
            Self::Normalize { mean, std } => Self::Normalize { mean: copy(mean)?, std: copy(std)? },
            Self::LeakyRelu { slope } => Self::LeakyRelu { slope: copy(slope)? },
            Self::Plain(layer) => Self::Plain(layer.clone()),
            Self::ReluInPlace => Self::ReluInPlace,
            Self::Sequence(parts) => Self::Sequence(freeze(parts, last)?),
            Self::Gate(parts) => Self::Gate(freeze(parts, last)?),
            Self::Residual { body, shortcut } => {
                Self::Residual { body: freeze(body, last)?, shortcut: freeze(shortcut, last)? }
            }
            Self::Concat(parts) => {
                let parts = parts.iter().map(|(name, node)| Ok((name.clone(), node.frozen(last)?)));
                Self::Concat(parts.collect::<Result<_>>()?)
            }
        })
    }
}

fn freeze(parts: &[(String, Node)], last: bool) -> Result<Vec<(String, Node)>> {
    let mut frozen: Vec<(String, Node)> = Vec::with_capacity(parts.len());
    for (name, node) in parts {
        let before = frozen.last_mut().map(|(_, node)| node);
        match (before, node) {
            (
                Some(linear @ (Node::Conv { .. } | Node::ConvTranspose { .. } | Node::Linear { .. })),
                Node::BatchNorm { weight, bias, mean, var, eps, .. },
            ) => {
                let folded = fold(linear, weight, bias, mean, var, *eps)?.frozen(last)?;
                *linear = folded;
            }
            // The largest of a window is the same before and after, and so are gradients; after it there are fewer numbers.
            (Some(relu @ Node::ReluInPlace), Node::Plain(Layer::MaxPool { .. })) => {
                *relu = node.frozen(last)?;
                frozen.push((name.clone(), Node::ReluInPlace));
            }
            (Some(before), Node::Plain(Layer::Relu)) if before.gives_fresh() => {
                frozen.push((name.clone(), Node::ReluInPlace));
            }
            _ => frozen.push((name.clone(), node.frozen(last)?)),
        }
    }
    Ok(frozen)
}

/// One linear map that does what a convolution (either way) or linear layer and the batch norm behind it do: weight · γ/√(σ² + ε),
/// and (bias - µ) · γ/√(σ² + ε) + β. Worked out in doubles, so that only one rounding is added.
fn fold(before: &Node, gamma: &Tensor, beta: &Tensor, mean: &Tensor, var: &Tensor, eps: f64) -> Result<Node> {
    let double = |t: &Tensor| t.f_detach()?.f_to_kind(Kind::Double);
    let scale = double(gamma)?.f_div(&double(var)?.f_add_scalar(eps)?.f_sqrt()?)?;
    // `shape`: the weight's, with 1 everywhere but at the channels that come out.
    let folded = |weight: &Tensor, bias: &Option<Tensor>, shape: &[i64]| -> Result<(Tensor, Option<Tensor>)> {
        let shift = match bias {
            Some(bias) => double(bias)?.f_sub(&double(mean)?)?,
            None => double(mean)?.f_neg()?,
        };
        let kind = weight.kind();
        let weight = double(weight)?.f_mul(&scale.f_reshape(shape)?)?.f_to_kind(kind)?;
        Ok((weight, Some(shift.f_mul(&scale)?.f_add(&double(beta)?)?.f_to_kind(kind)?)))
    };
    Ok(match before {
        Node::Conv { weight, bias, stride, pad, dilation, groups } => {
            let (weight, bias) = folded(weight, bias, &[-1, 1, 1, 1])?;
            Node::Conv { weight, bias, stride: *stride, pad: *pad, dilation: *dilation, groups: *groups }
        }
        Node::ConvTranspose { weight, bias, stride, pad, extra } => {
            let (weight, bias) = folded(weight, bias, &[1, -1, 1, 1])?;
            Node::ConvTranspose { weight, bias, stride: *stride, pad: *pad, extra: *extra }
        }
        Node::Linear { weight, bias } => {
            let (weight, bias) = folded(weight, bias, &[-1, 1])?;
            Node::Linear { weight, bias }
        }
        _ => return Err(Error::internal("folding something that is not linear")),
    })
}

/// The same values with channels innermost in memory: the layout that tch has no name for.
pub(super) fn channels_last(x: &Tensor) -> Result<Tensor> {
    Ok(x.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?)
}

/// As `channels_last`, also where one channel makes both layouts look alike: strides then say which one is meant.
fn kernel_channels_last(weight: &Tensor) -> Result<Tensor> {
    let dense = channels_last(weight)?;
    match weight.size()[..] {
        [out, 1, h, w] => Ok(dense.f_contiguous()?.f_as_strided([out, 1, h, w], [h * w, 1, w, 1], None::<i64>)?),
        _ => Ok(dense),
    }
}

/// Whether `grey_conv` takes the gradient of images faster than a convolution: a frozen kernel that lies channels-last, one channel,
/// on a CPU, where oneDNN's way back to one channel takes as long as one to sixteen.
pub(super) fn grey_kernel(weight: &Tensor, x: &Tensor) -> bool {
    let fast = x.kind() == Kind::Float && x.device() == Device::Cpu && !weight.requires_grad();
    fast && x.size()[1] == 1 && weight.size()[1] == 1 && weight.size()[2..] != [1, 1]
}

/// A convolution of one channel as one of single pixels, on a channel for every place in the window.
pub(super) fn grey_conv(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    [stride, pad, dilation]: [i64; 3],
) -> Result<Tensor> {
    let (out, _, rows, columns) = weight.size4()?;
    let (n, _, height, width) = x.size4()?;
    let places = |side: i64, window: i64| (side + 2 * pad - dilation * (window - 1) - 1) / stride + 1;
    let windows = x.f_im2col([rows, columns], [dilation; 2], [pad; 2], [stride; 2])?;
    let taps = rows * columns;
    let windows = windows.f_reshape([n, taps, places(height, rows), places(width, columns)])?;
    let pixels = weight.f_reshape([out, taps])?.f_as_strided([out, taps, 1, 1], [taps, 1, taps, taps], None::<i64>)?;
    Ok(windows.f_conv2d(&pixels, bias, 1, 0, 1, 1)?)
}
