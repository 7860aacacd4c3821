//! Gives every channel mean 0 and variance 1 over the batch, then a learned scale and shift (Ioffe and Szegedy 2015).

use serde::{Deserialize, Serialize};

use super::folded_norm::FoldedNorm;
use super::step::{Mode, Node, See, Sharing, Step, detached, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site, join};
use crate::core::{Error, Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct BatchNorm {
    eps: f64,
    momentum: f64,
}

impl Layer {
    pub fn batch_norm() -> Self {
        Self::batch_norm_with(1e-5, 0.1)
    }

    /// `eps` is added to the variance; `momentum` is the newest batch's weight in the running statistics.
    pub fn batch_norm_with(eps: f64, momentum: f64) -> Self {
        BatchNorm { eps, momentum }.into()
    }
}

impl Kind for BatchNorm {
    fn script(&self) -> String {
        let Self { eps, momentum } = self;
        call("batch_norm", &[], &[("eps", eps, *eps != 1e-5), ("momentum", momentum, *momentum != 0.1)])
    }

    fn tensors(&self) -> Vec<&'static str> {
        vec!["weight", "bias", "running_mean", "running_var"]
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        if let Shape::Tokens { .. } = shape {
            return Err(Error::model(format!(
                "layer {}: batch_norm wants images or flat numbers, got tokens",
                site.at
            ))
            .hint("net::layer_norm() takes tokens"));
        }
        let Self { eps, momentum } = *self;
        let mut of = |part: &str, x: f64| site.tensor(part, &[shape.features()], None, Init::Constant(x));
        let weighted = BatchNormWeights {
            weight: of("weight", 1.0)?,
            bias: of("bias", 0.0)?,
            mean: of("running_mean", 0.0)?,
            var: of("running_var", 1.0)?,
            eps,
            momentum,
        };
        Ok((node(weighted), shape))
    }

    fn is_batch_norm(&self) -> bool {
        true
    }
}

struct BatchNormWeights {
    weight: Tensor,
    bias: Tensor,
    mean: Tensor,
    var: Tensor,
    eps: f64,
    momentum: f64,
}

impl Step for BatchNormWeights {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let Self { weight, bias, mean, var, eps, momentum } = self;
        let train = mode == Mode::Train;
        Ok(x.f_batch_norm(Some(weight), Some(bias), Some(mean), Some(var), train, *momentum, *eps, true)?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        see(join(at, "weight"), &self.weight, true);
        see(join(at, "bias"), &self.bias, true);
        see(join(at, "running_mean"), &self.mean, false);
        see(join(at, "running_var"), &self.var, false);
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        let Self { weight, bias, mean, var, .. } = self;
        let (weight, bias, mean, var) = (detached(weight)?, detached(bias)?, detached(mean)?, detached(var)?);
        Ok(Some(node(Self { weight, bias, mean, var, ..*self })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn gives_fresh(&self) -> bool {
        true
    }

    fn affine(&self) -> Result<Option<FoldedNorm>> {
        let Self { weight, bias, mean, var, eps, .. } = self;
        FoldedNorm::of_norm([weight, bias, mean, var], *eps).map(Some)
    }
}
