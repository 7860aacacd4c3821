//! Layers in the form that evaluates fastest: batch norm folded into what comes before it, rectifiers in place.

use tch::Kind;

use super::Node;
use crate::core::{Result, Tensor};

/// A node in the form that evaluates fastest.
pub fn of_node(node: &Node, last: bool) -> Result<Node> {
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
pub struct FoldedNorm {
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

impl FoldedNorm {
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
