//! A network with its tensors: built from a description by one walk that either initialises or loads them, run forward for
//! training or frozen for evaluation, and visited by name.

use tch::{Device, Kind};

use super::frozen::{channels_last, grey_conv, grey_kernel};
use super::layers::{Layer, Shape, join};
use super::supply::{Fresh, Init, Loaded, Supply, UnitNorm, check_names};
use super::weights::Weights;
use crate::core::{Digest, Error, Result, Tensor, in_stream};

/// What happens in one layer, with its tensors.
pub(super) enum Node {
    Conv {
        weight: Tensor,
        bias: Option<Tensor>,
        stride: i64,
        pad: i64,
        dilation: i64,
        groups: i64,
    },
    ConvTranspose {
        weight: Tensor,
        bias: Option<Tensor>,
        stride: i64,
        pad: i64,
        extra: i64,
    },
    Linear {
        weight: Tensor,
        bias: Option<Tensor>,
    },
    BatchNorm {
        weight: Tensor,
        bias: Tensor,
        mean: Tensor,
        var: Tensor,
        eps: f64,
        momentum: f64,
    },
    Normalize {
        mean: Tensor,
        std: Tensor,
    },
    LeakyRelu {
        slope: Tensor,
    },
    /// Without tensors.
    Plain(Layer),
    /// On a tensor that nothing else reads.
    ReluInPlace,
    Sequence(Vec<(String, Node)>),
    Residual {
        body: Vec<(String, Node)>,
        shortcut: Vec<(String, Node)>,
    },
    Concat(Vec<(String, Node)>),
    Gate(Vec<(String, Node)>),
}

/// Whether dropout drops and batch norm uses the batch's own statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Train,
    Evaluate,
}

/// How the weights of a fresh network are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// As PyTorch does it.
    #[default]
    Pytorch,
    /// Every convolution filter, and every linear layer's matrix, of length 1.
    UnitNorm,
}

/// A network: its description, its tensors by PyTorch's names, and how to run it forward.
pub struct Module {
    pub layers: Layer,
    pub(super) root: Node,
    /// `[C, H, W]`, as far as it is known.
    pub input: Option<[i64; 3]>,
    /// Channels of the input, where the first layer tells.
    pub channels: Option<i64>,
    /// Numbers that a classifier gives per image; 0 where other things come out.
    pub classes: i64,
    /// Kernels lie channels-last, and so must images.
    pub(super) channels_last: bool,
}

struct Builder<'a> {
    supply: &'a mut dyn Supply,
    device: Device,
    channels: Option<i64>,
}

impl Builder<'_> {
    fn parts(
        &mut self,
        parts: &[(String, Layer)],
        prefix: &str,
        mut shape: Shape,
    ) -> Result<(Vec<(String, Node)>, Shape)> {
        let mut nodes = Vec::with_capacity(parts.len());
        for (name, layer) in parts {
            let (node, next) = self.node(layer, &join(prefix, name), shape)?;
            shape = next;
            nodes.push((name.clone(), node));
        }
        Ok((nodes, shape))
    }

    fn node(&mut self, layer: &Layer, at: &str, shape: Shape) -> Result<(Node, Shape)> {
        let after = layer.output(shape, at)?;
        let channels = match shape {
            Shape::Image { channels, .. } => channels,
            Shape::Flat(n) => n,
        };
        let name = |part: &str| join(at, part);
        let node = match layer {
            Layer::Conv { out, size, stride, pad, dilation, groups, bias } => {
                let per_group = channels.map(|c| c / groups);
                let fan_in = per_group.map(|c| c * size * size);
                let wanted = [Some(*out), per_group, Some(*size), Some(*size)];
                let weight = self.supply.tensor(&name("weight"), &wanted, fan_in, Init::FanIn)?;
                self.channels = self.channels.or(Some(weight.size()[1] * groups));
                let bias = match bias {
                    true => Some(self.supply.tensor(&name("bias"), &[Some(*out)], fan_in, Init::FanIn)?),
                    false => None,
                };
                Node::Conv { weight, bias, stride: *stride, pad: *pad, dilation: *dilation, groups: *groups }
            }
            Layer::ConvTranspose { out, size, stride, pad, extra, bias } => {
                // As PyTorch counts it for a transposed convolution: from its output.
                let fan_in = Some(out * size * size);
                let wanted = [channels, Some(*out), Some(*size), Some(*size)];
                let weight = self.supply.tensor(&name("weight"), &wanted, fan_in, Init::FanIn)?;
                self.channels = self.channels.or(Some(weight.size()[0]));
                let bias = match bias {
                    true => Some(self.supply.tensor(&name("bias"), &[Some(*out)], fan_in, Init::FanIn)?),
                    false => None,
                };
                Node::ConvTranspose { weight, bias, stride: *stride, pad: *pad, extra: *extra }
            }
            Layer::Linear { out, bias } => {
                let weight = self.supply.tensor(&name("weight"), &[Some(*out), channels], channels, Init::FanIn)?;
                let bias = match bias {
                    true => Some(self.supply.tensor(&name("bias"), &[Some(*out)], channels, Init::FanIn)?),
                    false => None,
                };
                Node::Linear { weight, bias }
            }
            Layer::BatchNorm { eps, momentum } => {
                let mut of = |part: &str, x: f64| self.supply.tensor(&name(part), &[channels], None, Init::Constant(x));
                Node::BatchNorm {
                    weight: of("weight", 1.0)?,
                    bias: of("bias", 0.0)?,
                    mean: of("running_mean", 0.0)?,
                    var: of("running_var", 1.0)?,
                    eps: *eps,
                    momentum: *momentum,
                }
            }
            Layer::Normalize { mean, std } => {
                let of = |numbers: &[f64]| -> Result<Tensor> {
                    Ok(Tensor::f_from_slice(numbers)?
                        .f_to_kind(Kind::Float)?
                        .f_reshape([1, -1, 1, 1])?
                        .f_to_device(self.device)?)
                };
                Node::Normalize { mean: of(mean)?, std: of(std)? }
            }
            Layer::LeakyRelu { slope } => {
                Node::LeakyRelu { slope: Tensor::f_from_slice(&[*slope as f32])?.f_to_device(self.device)? }
            }
            Layer::Sequence(parts) => {
                let (nodes, after) = self.parts(parts, at, shape)?;
                return Ok((Node::Sequence(nodes), after));
            }
            Layer::Residual { body, shortcut } => {
                let (body, after) = self.parts(body, at, shape)?;
                let (shortcut, beside) = self.parts(shortcut, at, shape)?;
                if !agree(after, beside) {
                    return Err(Error::model(format!(
                        "layer {at}: the body gives {}, its shortcut {}",
                        after.describe(),
                        beside.describe()
                    )));
                }
                return Ok((Node::Residual { body, shortcut }, after));
            }
            Layer::Concat(branches) => {
                let mut nodes = Vec::with_capacity(branches.len());
                let mut whole: Option<Shape> = None;
                for (branch, layer) in branches {
                    let (node, after) = self.node(layer, &join(at, branch), shape)?;
                    nodes.push((branch.clone(), node));
                    whole = match (whole, after) {
                        (None, after) => Some(after),
                        (Some(Shape::Image { channels: a, height, width }), Shape::Image { channels: b, .. }) => {
                            Some(Shape::Image { channels: a.zip(b).map(|(a, b)| a + b), height, width })
                        }
                        (Some(Shape::Flat(a)), Shape::Flat(b)) => Some(Shape::Flat(a.zip(b).map(|(a, b)| a + b))),
                        _ => return Err(Error::model(format!("layer {at}: branches of different shapes"))),
                    };
                }
                return Ok((Node::Concat(nodes), whole.unwrap_or(shape)));
            }
            Layer::Gate(parts) => {
                let (nodes, factors) = self.parts(parts, at, shape)?;
                let one_each = Shape::Image { channels, height: Some(1), width: Some(1) };
                if !agree(factors, one_each) {
                    return Err(Error::model(format!(
                        "layer {at}: a gate needs one factor per channel of {}, its parts give {}",
                        shape.describe(),
                        factors.describe()
                    )));
                }
                return Ok((Node::Gate(nodes), shape));
            }
            plain => Node::Plain(plain.clone()),
        };
        Ok((node, after))
    }
}

/// Whether two shapes can be the same, as far as they are known.
fn agree(a: Shape, b: Shape) -> bool {
    let same = |a: Option<i64>, b: Option<i64>| a.is_none() || b.is_none() || a == b;
    match (a, b) {
        (
            Shape::Image { channels: c1, height: h1, width: w1 },
            Shape::Image { channels: c2, height: h2, width: w2 },
        ) => same(c1, c2) && same(h1, h2) && same(w1, w2),
        (Shape::Flat(a), Shape::Flat(b)) => same(a, b),
        _ => false,
    }
}

impl Module {
    /// A classifier with tensors from `supply`, which must be known to fit `input` or else tell its sizes themselves.
    pub fn build(layers: &Layer, input: Option<[i64; 3]>, device: Device, supply: &mut dyn Supply) -> Result<Self> {
        let (module, after) = Self::assemble(layers, "", input.map_or(Shape::UNKNOWN, Shape::image), device, supply)?;
        let Shape::Flat(Some(classes)) = after else {
            return Err(Error::model(format!(
                "the last layer must give one number per class, not {}",
                after.describe()
            ))
            .hint("end with net::flatten(), net::linear(classes)"));
        };
        Ok(Self { input, classes, ..module })
    }

    /// Layers that give anything, whose tensors are called as if they lay inside `prefix`, and what comes out of them.
    pub fn assemble(
        layers: &Layer,
        prefix: &str,
        input: Shape,
        device: Device,
        supply: &mut dyn Supply,
    ) -> Result<(Self, Shape)> {
        let channels = if let Shape::Image { channels, .. } = input { channels } else { None };
        let mut builder = Builder { supply, device, channels };
        let (root, after) = builder.node(layers, prefix, input)?;
        let channels = builder.channels;
        Ok((Self { layers: layers.clone(), root, input: None, channels, classes: 0, channels_last: false }, after))
    }

    /// Fresh tensors as PyTorch initialises them, the same ones for the same seed on every device.
    pub fn fresh(layers: &Layer, input: [i64; 3], seed: u64, device: Device) -> Result<Self> {
        Self::drawn(layers, input, seed, device, Start::Pytorch)
    }

    /// Fresh tensors, the same ones for the same seed on every device.
    pub fn drawn(layers: &Layer, input: [i64; 3], seed: u64, device: Device, start: Start) -> Result<Self> {
        let mut supply: Box<dyn Supply> = match start {
            Start::Pytorch => Box::new(Fresh { device }),
            Start::UnitNorm => Box::new(UnitNorm { device }),
        };
        crate::core::with_stream(seed, INIT, || Self::build(layers, Some(input), device, &mut *supply))
    }

    /// Tensors of a file, already renamed.
    pub fn load(layers: &Layer, input: Option<[i64; 3]>, weights: Weights, device: Device) -> Result<Self> {
        check_names(layers, &weights)?;
        Self::build(layers, input, device, &mut Loaded::new(weights, device))
    }

    /// The same network on tensors of its own.
    pub fn copy(&self) -> Result<Self> {
        let (mut weights, mut device) = (Weights::new(), Device::Cpu);
        for (name, tensor) in self.state() {
            device = tensor.device();
            weights.insert(name, tensor.f_detach_copy()?);
        }
        Self::build(&self.layers, self.input, device, &mut Loaded::new(weights, device))
    }

    /// The network without its last layer, which must be linear: what it gives is flat numbers.
    pub fn without_last(&self) -> Result<Self> {
        let none = || {
            Error::model("the last layer is not linear, or the only one, so there are no features before it")
                .hint("model::from(|x| ..) makes a model of any features")
        };
        let (layers, last) = self.layers.without_last().ok_or_else(none)?;
        let (mut weights, mut device) = (Weights::new(), Device::Cpu);
        for (name, tensor) in self.state() {
            device = tensor.device();
            weights.insert(name, tensor);
        }
        let classes = weights.get(&join(&last, "weight")).map(|weight| weight.size()[1]).ok_or_else(none)?;
        let shape = self.input.map_or(Shape::UNKNOWN, Shape::image);
        let (module, after) = Self::assemble(&layers, "", shape, device, &mut Loaded::new(weights, device))?;
        match after {
            Shape::Flat(_) => Ok(Self { input: self.input, classes, ..module }),
            Shape::Image { .. } => Err(none()),
        }
    }

    /// Scores of images. In training mode gradients flow to the parameters and batch norm updates its statistics.
    pub fn forward(&self, images: &Tensor, mode: Mode) -> Result<Tensor> {
        if self.channels_last && images.dim() == 4 {
            return self.root.forward(&channels_last(images)?, mode);
        }
        self.root.forward(images, mode)
    }

    /// What goes into the last activation function at the top, in evaluation; `None` without one, or with weights after it.
    pub fn before_activation(&self, x: &Tensor) -> Result<Option<Tensor>> {
        let steps = self.root.steps();
        let Some(at) = activation(&steps) else { return Ok(None) };
        let x = if self.channels_last && x.dim() == 4 { channels_last(x)? } else { x.shallow_clone() };
        steps[..at].iter().try_fold(x, |x, node| node.forward(&x, Mode::Evaluate)).map(Some)
    }

    /// The last activation function at the top, and what comes after it; `x` may be overwritten.
    pub fn activate(&self, x: &Tensor) -> Result<Tensor> {
        let steps = self.root.steps();
        let at = activation(&steps).ok_or_else(|| Error::internal("layers without an activation function"))?;
        steps[at..].iter().try_fold(x.shallow_clone(), |x, node| node.forward(&x, Mode::Evaluate))
    }

    /// Every tensor of the state dict by its PyTorch name, and whether training changes it by gradients.
    pub fn visit(&self, see: &mut dyn FnMut(String, &Tensor, bool)) {
        self.root.visit("", see);
    }

    /// The state dict.
    pub fn state(&self) -> Vec<(String, Tensor)> {
        let mut state = Vec::new();
        self.visit(&mut |name, tensor, _| state.push((name, tensor.shallow_clone())));
        state
    }

    /// The parameters that an optimiser changes.
    pub fn parameters(&self) -> Vec<Tensor> {
        let mut parameters = Vec::new();
        self.visit(&mut |_, tensor, learns| {
            if learns {
                parameters.push(tensor.shallow_clone());
            }
        });
        parameters
    }

    pub fn parameter_count(&self) -> usize {
        self.parameters().iter().map(Tensor::numel).sum()
    }

    /// Asks for gradients of the parameters, or for none.
    pub fn set_trainable(&self, trainable: bool) -> Result<()> {
        for tensor in self.parameters() {
            let _ = tensor.f_set_requires_grad(trainable)?;
        }
        Ok(())
    }

    /// The identity of the network: its layers and tensors, whatever file they came from.
    pub fn digest(&self) -> Result<Digest> {
        let mut parts = vec![Digest::of(self.layers.script().as_bytes())];
        for (name, tensor) in self.state() {
            parts.push(Digest::of(name.as_bytes()));
            parts.push(Digest::of_tensor(&tensor)?);
        }
        Ok(Digest::of_parts(&parts.iter().map(|d| &d.0[..]).collect::<Vec<_>>()))
    }
}

/// The place of the last activation function, if nothing that learns comes after it.
fn activation(steps: &[&Node]) -> Option<usize> {
    let is = |node: &&&Node| match node {
        Node::ReluInPlace | Node::LeakyRelu { .. } => true,
        Node::Plain(layer) => {
            matches!(layer, Layer::Relu | Layer::Relu6 | Layer::Silu | Layer::Sigmoid | Layer::Tanh)
        }
        _ => false,
    };
    let at = steps.iter().rposition(|node| is(&node))?;
    steps[at + 1..].iter().all(|node| matches!(node, Node::Plain(_))).then_some(at)
}

/// Part of the stream that initialises networks; steps of training use the small parts.
const INIT: u64 = 1 << 62;

fn run(parts: &[(String, Node)], x: &Tensor, mode: Mode) -> Result<Tensor> {
    let mut x = x.shallow_clone();
    for (_, node) in parts {
        x = node.forward(&x, mode)?;
    }
    Ok(x)
}

impl Node {
    /// The steps that follow one another at the top.
    pub(super) fn steps(&self) -> Vec<&Self> {
        match self {
            Self::Sequence(parts) => parts.iter().flat_map(|(_, node)| node.steps()).collect(),
            node => vec![node],
        }
    }

    /// What a sliding window makes of images that are padded already.
    pub(super) fn unpadded(&self, x: &Tensor) -> Result<Tensor> {
        Ok(match self {
            Self::Conv { weight, bias, stride, dilation, groups, .. } => {
                x.f_conv2d(weight, bias.as_ref(), *stride, 0, *dilation, *groups)?
            }
            Self::Plain(Layer::MaxPool { size, stride, .. }) => x.f_max_pool2d(*size, *stride, 0, 1, false)?,
            Self::Plain(Layer::AvgPool { size, stride, .. }) => {
                x.f_avg_pool2d(*size, *stride, 0, false, true, None::<i64>)?
            }
            _ => return Err(Error::internal("a layer without a window")),
        })
    }

    pub(super) fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let train = mode == Mode::Train;
        Ok(match self {
            Self::Conv { weight, bias, stride, pad, dilation, groups } => {
                let wanted = weight.size()[1] * groups;
                if x.size().get(1) != Some(&wanted) {
                    return Err(Error::model(format!("a convolution takes {wanted} channels, got {:?}", x.size()))
                        .hint("`ds.grey()` gives one channel"));
                }
                match x.requires_grad() && grey_kernel(weight, x) {
                    true => grey_conv(x, weight, bias.as_ref(), [*stride, *pad, *dilation])?,
                    false => x.f_conv2d(weight, bias.as_ref(), *stride, *pad, *dilation, *groups)?,
                }
            }
            Self::ConvTranspose { weight, bias, stride, pad, extra } => {
                let one = 1;
                match bias {
                    // oneDNN's own way to add one takes about as long as the convolution.
                    Some(bias) if x.device() == Device::Cpu => x
                        .f_conv_transpose2d(weight, None::<&Tensor>, *stride, *pad, *extra, one, one)?
                        .f_add_(&bias.f_reshape([1, -1, 1, 1])?)?,
                    _ => x.f_conv_transpose2d(weight, bias.as_ref(), *stride, *pad, *extra, one, one)?,
                }
            }
            Self::Linear { weight, bias } => {
                let wanted = weight.size()[1];
                if x.size().last() != Some(&wanted) {
                    return Err(Error::model(format!(
                        "a linear layer takes {wanted} numbers per image, got {}",
                        x.size().last().copied().unwrap_or(0)
                    ))
                    .hint("the images are of another size than the network was made for"));
                }
                x.f_linear(weight, bias.as_ref())?
            }
            Self::BatchNorm { weight, bias, mean, var, eps, momentum } => {
                x.f_batch_norm(Some(weight), Some(bias), Some(mean), Some(var), train, *momentum, *eps, true)?
            }
            Self::Normalize { mean, std } => x.f_sub(mean)?.f_div(std)?,
            Self::LeakyRelu { slope } => x.f_prelu(&slope.f_to_kind(x.kind())?)?,
            Self::ReluInPlace => x.shallow_clone().f_relu_()?,
            Self::Sequence(parts) => run(parts, x, mode)?,
            Self::Residual { body, shortcut } if shortcut.is_empty() => run(body, x, mode)?.f_add(x)?,
            Self::Residual { body, shortcut } => run(body, x, mode)?.f_add(&run(shortcut, x, mode)?)?,
            Self::Concat(branches) => {
                let outs = branches.iter().map(|(_, node)| node.forward(x, mode)).collect::<Result<Vec<_>>>()?;
                Tensor::f_cat(&outs, 1)?
            }
            Self::Gate(parts) => x.f_mul(&run(parts, x, mode)?)?,
            Self::Plain(layer) => match layer {
                Layer::Relu => x.f_relu()?,
                Layer::Relu6 => x.f_relu6()?,
                Layer::Silu => x.f_silu()?,
                Layer::Sigmoid => x.f_sigmoid()?,
                Layer::Tanh => x.f_tanh()?,
                Layer::MaxPool { size, stride, pad, ceil } => x.f_max_pool2d(*size, *stride, *pad, 1, *ceil)?,
                Layer::AvgPool { size, stride, pad, ceil } => {
                    x.f_avg_pool2d(*size, *stride, *pad, *ceil, true, None::<i64>)?
                }
                Layer::AdaptiveAvgPool { size } => x.f_adaptive_avg_pool2d(size)?,
                Layer::Dropout { p } if train => {
                    debug_assert!(in_stream(), "a layer draws outside of every stream");
                    x.f_dropout(*p, true)?
                }
                Layer::StochasticDepth { p } if train && *p > 0.0 => {
                    debug_assert!(in_stream(), "a layer draws outside of every stream");
                    let mut size = vec![1; x.dim()];
                    size[0] = x.size()[0];
                    let kept = Tensor::f_empty(size, (x.kind(), x.device()))?.f_bernoulli_float_(1.0 - p)?;
                    x.f_mul(&kept.f_div_scalar(1.0 - p)?)?
                }
                Layer::Flatten => x.f_flatten(1, -1)?,
                Layer::Reshape { size: [c, h, w] } => x.f_reshape([-1, *c, *h, *w])?,
                Layer::Upsample { factor } => {
                    let (_, _, height, width) = x.size4()?;
                    x.f_upsample_nearest2d([height * factor, width * factor], None::<f64>, None::<f64>)?
                }
                Layer::PixelNorm => {
                    // Karras et al.'s constant under the root.
                    let square = x.f_square()?.f_mean_dim([1i64].as_slice(), true, x.kind())?.f_add_scalar(1e-8)?;
                    x.f_mul(&square.f_rsqrt()?)?
                }
                Layer::Resize { size } => x.f_upsample_bilinear2d(size, false, None::<f64>, None::<f64>)?,
                Layer::Pad { sides, value } => x.f_pad(sides, "constant", *value)?,
                Layer::Subsample { stride, channels } => {
                    let more = (channels - x.size()[1]) / 2;
                    let fewer = x.f_slice(2, None, None, *stride)?.f_slice(3, None, None, *stride)?;
                    fewer.f_pad([0, 0, 0, 0, more, more], "constant", 0.0)?
                }
                _ => x.shallow_clone(),
            },
        })
    }

    fn visit(&self, at: &str, see: &mut dyn FnMut(String, &Tensor, bool)) {
        match self {
            Self::Conv { weight, bias, .. }
            | Self::ConvTranspose { weight, bias, .. }
            | Self::Linear { weight, bias } => {
                see(join(at, "weight"), weight, true);
                if let Some(bias) = bias {
                    see(join(at, "bias"), bias, true);
                }
            }
            Self::BatchNorm { weight, bias, mean, var, .. } => {
                see(join(at, "weight"), weight, true);
                see(join(at, "bias"), bias, true);
                see(join(at, "running_mean"), mean, false);
                see(join(at, "running_var"), var, false);
            }
            Self::Sequence(parts) | Self::Concat(parts) | Self::Gate(parts) => {
                parts.iter().for_each(|(name, node)| node.visit(&join(at, name), see));
            }
            Self::Residual { body, shortcut } => {
                body.iter().chain(shortcut).for_each(|(name, node)| node.visit(&join(at, name), see));
            }
            _ => {}
        }
    }
}
