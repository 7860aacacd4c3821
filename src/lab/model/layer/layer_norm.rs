//! Gives the channels of every pixel, or the numbers of every token, mean 0 and variance 1, then a learned scale and shift
//! (Ba, Kiros and Hinton 2016).

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, See, Sharing, Step, detached, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site, join};
use crate::core::{Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct LayerNorm {
    eps: f64,
}

impl Layer {
    /// `eps` is added to the variance.
    pub fn layer_norm(eps: f64) -> Self {
        LayerNorm { eps }.into()
    }
}

impl Kind for LayerNorm {
    fn script(&self) -> String {
        call("layer_norm", &[], &[("eps", &self.eps, self.eps != 1e-5)])
    }

    fn tensors(&self) -> Vec<&'static str> {
        vec!["weight", "bias"]
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let mut of = |part: &str, x: f64| site.tensor(part, &[shape.features()], None, Init::Constant(x));
        let weighted = LayerNormWeights { weight: of("weight", 1.0)?, bias: of("bias", 0.0)?, eps: self.eps };
        Ok((node(weighted), shape))
    }
}

struct LayerNormWeights {
    weight: Tensor,
    bias: Tensor,
    eps: f64,
}

impl Step for LayerNormWeights {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        features_last(x, &|x| {
            Ok(x.f_layer_norm(self.weight.size(), Some(&self.weight), Some(&self.bias), self.eps, true)?)
        })
    }

    fn visit(&self, at: &str, see: &mut See) {
        see(join(at, "weight"), &self.weight, true);
        see(join(at, "bias"), &self.bias, true);
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { weight: detached(&self.weight)?, bias: detached(&self.bias)?, ..*self })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }
}

/// Applies what works on the last dimension to the features, which are the channels of images.
pub fn features_last(x: &Tensor, apply: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    match x.dim() {
        4 => Ok(apply(&x.f_permute([0, 2, 3, 1])?)?.f_permute([0, 3, 1, 2])?),
        _ => apply(x),
    }
}
