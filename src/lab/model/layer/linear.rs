//! Every output is a weighted sum of all inputs, or of the numbers of its token.

use serde::{Deserialize, Serialize};

use super::folded_norm::FoldedNorm;
use super::step::{Mode, Node, See, Step, detached, detached_bias, node};
use super::text::{call, count};
use super::{Kind, Layer, Shape, Site, join};
use crate::core::{Error, Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct Linear {
    #[serde(deserialize_with = "count")]
    pub out: i64,
    pub bias: bool,
}

impl Layer {
    pub fn linear(out: i64) -> Self {
        Linear { out, bias: true }.into()
    }
}

impl Kind for Linear {
    fn script(&self) -> String {
        call("linear", &[&self.out], &[("bias", &self.bias, !self.bias)])
    }

    fn tensors(&self) -> Vec<&'static str> {
        if self.bias { vec!["weight", "bias"] } else { vec!["weight"] }
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        if let Shape::Image { .. } = shape {
            return Err(Error::model(format!("layer {}: linear wants a flat input, got images", site.at))
                .hint("put net::flatten() before it"));
        }
        let (out, wide) = (Some(self.out), shape.features());
        let weight = site.tensor("weight", &[out, wide], wide, Init::FanIn)?;
        let bias = site.bias(self.bias, self.out, wide)?;
        Ok((node(LinearWeights { weight, bias }), shape.with_features(out)))
    }

    fn is_linear(&self) -> bool {
        true
    }
}

struct LinearWeights {
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Step for LinearWeights {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let wanted = self.weight.size()[1];
        if x.size().last() != Some(&wanted) {
            return Err(Error::model(format!(
                "a linear layer takes {wanted} numbers per image, got {}",
                x.size().last().copied().unwrap_or(0)
            ))
            .hint("the images are of another size than the network was made for"));
        }
        Ok(x.f_linear(&self.weight, self.bias.as_ref())?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        see(join(at, "weight"), &self.weight, true);
        if let Some(bias) = &self.bias {
            see(join(at, "bias"), bias, true);
        }
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { weight: detached(&self.weight)?, bias: detached_bias(&self.bias)? })))
    }

    fn gives_fresh(&self) -> bool {
        true
    }

    fn fold(&self, after: &FoldedNorm) -> Result<Option<Node>> {
        let (weight, bias) = after.fold(&self.weight, &self.bias, &[-1, 1])?;
        Ok(Some(node(Self { weight, bias })))
    }
}
