//! All numbers of an image in one row.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Flatten {}

impl Layer {
    pub fn flatten() -> Self {
        Flatten {}.into()
    }
}

impl Kind for Flatten {
    fn script(&self) -> String {
        call("flatten", &[], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let all = match shape {
            Shape::Image { channels, height, width } => channels.zip(height).zip(width).map(|((c, h), w)| c * h * w),
            Shape::Tokens { count, width } => count.zip(width).map(|(t, w)| t * w),
            Shape::Flat(n) => n,
        };
        Ok((node(Flatten {}), Shape::Flat(all)))
    }
}

impl Step for Flatten {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_flatten(1, -1)?)
    }
}
