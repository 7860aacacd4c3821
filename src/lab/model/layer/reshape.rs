//! Flat numbers as channels of this height and width.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Step, node};
use super::text::{call, counts};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reshape {
    #[serde(deserialize_with = "counts")]
    size: [i64; 3],
}

impl Layer {
    /// To so many channels, height and width.
    pub fn reshape(size: [i64; 3]) -> Self {
        Reshape { size }.into()
    }
}

impl Kind for Reshape {
    fn script(&self) -> String {
        let [c, h, w] = &self.size;
        call("reshape", &[c, h, w], &[])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let ([c, h, w], at) = (self.size, &site.at);
        match shape {
            Shape::Flat(Some(n)) if n != c * h * w => Err(Error::model(format!(
                "layer {at}: reshape to {c} x {h} x {w} wants {} numbers, got {n}",
                c * h * w
            ))),
            Shape::Flat(_) => Ok((node(self.clone()), Shape::image(self.size))),
            Shape::Image { .. } => Err(Error::model(format!("layer {at}: reshape wants a flat input, got images"))),
            Shape::Tokens { .. } => Err(Error::model(format!("layer {at}: reshape wants a flat input, got tokens"))),
        }
    }
}

impl Step for Reshape {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let [c, h, w] = self.size;
        Ok(x.f_reshape([-1, c, h, w])?)
    }
}
