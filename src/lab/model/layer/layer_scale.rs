//! Every channel times a factor of its own that is learned (Touvron et al. 2021, "Going deeper with image transformers").

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, See, Sharing, Step, detached, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct LayerScale {
    start: f64,
}

impl Layer {
    /// Fresh factors are `start`.
    pub fn layer_scale(start: f64) -> Self {
        LayerScale { start }.into()
    }
}

impl Kind for LayerScale {
    fn script(&self) -> String {
        call("layer_scale", &[], &[("start", &self.start, self.start != 1e-6)])
    }

    fn tensors(&self) -> Vec<&'static str> {
        vec![""]
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let (one, n) = (Some(1), shape.features());
        let init = Init::Constant(self.start);
        let factors = match shape {
            Shape::Image { .. } => site.tensor("", &[n, one, one], None, init)?,
            _ => site.tensor("", &[n], None, init)?,
        };
        Ok((node(ChannelScales { factors }), shape))
    }
}

struct ChannelScales {
    factors: Tensor,
}

impl Step for ChannelScales {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_mul(&self.factors)?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        see(at.into(), &self.factors, true);
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { factors: detached(&self.factors)? })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }
}
