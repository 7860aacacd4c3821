//! A linear layer at every pixel by itself: a convolution of single pixels with the weights of a linear layer.

use serde::{Deserialize, Serialize};

use super::layer_norm::features_last;
use super::step::{Mode, Node, See, Sharing, Step, Work, detached, detached_bias, node};
use super::text::{call, count};
use super::{Kind, Layer, Shape, Site, join};
use crate::core::{Error, Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct PixelLinear {
    #[serde(deserialize_with = "count")]
    out: i64,
    bias: bool,
}

impl Layer {
    pub fn pixel_linear(out: i64) -> Self {
        Self::pixel_linear_with(out, true)
    }

    pub fn pixel_linear_with(out: i64, bias: bool) -> Self {
        PixelLinear { out, bias }.into()
    }
}

impl Kind for PixelLinear {
    fn script(&self) -> String {
        call("pixel_linear", &[&self.out], &[("bias", &self.bias, !self.bias)])
    }

    fn tensors(&self) -> Vec<&'static str> {
        if self.bias { vec!["weight", "bias"] } else { vec!["weight"] }
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        shape.sides("pixel_linear", &site.at)?;
        let (out, channels) = (Some(self.out), shape.features());
        let weight = site.tensor("weight", &[out, channels], channels, Init::FanIn)?;
        site.channels = site.channels.or(Some(weight.size()[1]));
        let bias = site.bias(self.bias, self.out, channels)?;
        Ok((node(PixelLinearWeights { weight, bias }), shape.with_features(out)))
    }
}

struct PixelLinearWeights {
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Step for PixelLinearWeights {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let wanted = self.weight.size()[1];
        if x.size().get(1) != Some(&wanted) {
            return Err(Error::model(format!("a linear layer of pixels takes {wanted} channels, got {:?}", x.size()))
                .hint("`ds.grey()` gives one channel"));
        }
        features_last(x, &|x| Ok(x.f_linear(&self.weight, self.bias.as_ref())?))
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

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(Some(Work { channels: self.weight.size()[0], each: self.weight.numel() as f64 }))
    }
}
