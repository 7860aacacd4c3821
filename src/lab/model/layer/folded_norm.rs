//! Batch norm as one linear map, and that map put into the one before it.

use tch::Kind;

use crate::core::{Result, Tensor};

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
