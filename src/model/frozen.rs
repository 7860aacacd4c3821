//! The same network in the form that evaluates fastest.

use tch::{Device, Kind};

use super::layer::Node;
use super::module::Module;
use crate::core::{Result, Tensor};

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

fn of_node(node: &Node, last: bool) -> Result<Node> {
    Ok(node.frozen(last)?.unwrap_or_else(|| node.clone()))
}

/// Nodes that get the same input.
pub fn freeze_each(parts: &[(String, Node)], last: bool) -> Result<Vec<(String, Node)>> {
    parts.iter().map(|(name, node)| Ok((name.clone(), of_node(node, last)?))).collect()
}

/// Nodes that follow one another.
pub fn freeze(parts: &[(String, Node)], last: bool) -> Result<Vec<(String, Node)>> {
    let mut frozen: Vec<(String, Node)> = Vec::with_capacity(parts.len());
    for (name, node) in parts {
        let frozen_node = of_node(node, last)?;
        let Some((_, before)) = frozen.last_mut() else {
            frozen.push((name.clone(), frozen_node));
            continue;
        };
        let folded = node.affine()?.map(|norm| before.fold(&norm)).transpose()?.flatten();
        if let Some(folded) = folded {
            *before = of_node(&folded, last)?;
        } else if before.overwrites() && node.before_rectifier() {
            let rectifier = std::mem::replace(before, frozen_node);
            frozen.push((name.clone(), rectifier));
        } else if let Some(in_place) = node.in_place().filter(|_| before.gives_fresh()) {
            frozen.push((name.clone(), in_place));
        } else {
            frozen.push((name.clone(), frozen_node));
        }
    }
    Ok(frozen)
}

/// What batch norm does in evaluation, in doubles, so that folding adds only one rounding.
pub struct Affine {
    /// γ / √(σ² + ε)
    scale: Tensor,
    /// µ
    mean: Tensor,
    /// β
    shift: Tensor,
}

fn double(t: &Tensor) -> Result<Tensor> {
    Ok(t.f_detach()?.f_to_kind(Kind::Double)?)
}

impl Affine {
    pub fn of_norm([gamma, beta, mean, var]: [&Tensor; 4], eps: f64) -> Result<Self> {
        let scale = double(gamma)?.f_div(&double(var)?.f_add_scalar(eps)?.f_sqrt()?)?;
        Ok(Self { scale, mean: double(mean)?, shift: double(beta)? })
    }

    /// Weight and bias of one linear map that does what a linear map and then this do: weight · γ/√(σ² + ε), and
    /// (bias - µ) · γ/√(σ² + ε) + β. `shape`: the weight's, with 1 everywhere but at the channels that come out.
    pub fn fold(&self, weight: &Tensor, bias: &Option<Tensor>, shape: &[i64]) -> Result<(Tensor, Option<Tensor>)> {
        let Self { scale, mean, shift } = self;
        let centred = match bias {
            Some(bias) => double(bias)?.f_sub(mean)?,
            None => mean.f_neg()?,
        };
        let kind = weight.kind();
        let weight = double(weight)?.f_mul(&scale.f_reshape(shape)?)?.f_to_kind(kind)?;
        Ok((weight, Some(centred.f_mul(scale)?.f_add(shift)?.f_to_kind(kind)?)))
    }
}
