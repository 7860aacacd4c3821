//! A rectifier that lets a share of negative numbers through.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, detached, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct LeakyRelu {
    slope: f64,
}

impl Layer {
    pub fn leaky_relu(slope: f64) -> Self {
        LeakyRelu { slope }.into()
    }
}

impl Kind for LeakyRelu {
    fn script(&self) -> String {
        call("leaky_relu", &[&self.slope], &[])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let slope = Tensor::f_from_slice(&[self.slope as f32])?.f_to_device(site.device)?;
        Ok((node(Sloped { slope }), shape))
    }
}

struct Sloped {
    slope: Tensor,
}

impl Step for Sloped {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_prelu(&self.slope.f_to_kind(x.kind())?)?)
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { slope: detached(&self.slope)? })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn activates(&self) -> bool {
        true
    }
}
