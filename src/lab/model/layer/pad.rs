//! A border of one value: left, right, top, bottom; negative numbers cut off.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Step, node};
use super::text::{bounded, call};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Clone, Serialize, Deserialize)]
pub struct Pad {
    #[serde(deserialize_with = "bounded")]
    left: i64,
    #[serde(deserialize_with = "bounded")]
    right: i64,
    #[serde(deserialize_with = "bounded")]
    top: i64,
    #[serde(deserialize_with = "bounded")]
    bottom: i64,
    value: f64,
}

impl Layer {
    /// Left, right, top, bottom.
    pub fn pad([left, right, top, bottom]: [i64; 4], value: f64) -> Self {
        Pad { left, right, top, bottom, value }.into()
    }
}

impl Pad {
    fn sides(&self) -> [i64; 4] {
        [self.left, self.right, self.top, self.bottom]
    }
}

impl Kind for Pad {
    fn script(&self) -> String {
        call("pad", &[&format!("{:?}", self.sides())], &[("value", &self.value, self.value != 0.0)])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let Self { left, right, top, bottom, .. } = *self;
        let [height, width] = shape.sides("pad", &site.at)?;
        let (height, width) = (height.map(|h| h + top + bottom), width.map(|w| w + left + right));
        if height.is_some_and(|h| h < 1) || width.is_some_and(|w| w < 1) {
            return Err(Error::model(format!("layer {}: pad cuts off all of its input {}", site.at, shape.describe())));
        }
        Ok((node(self.clone()), shape.with_sides([height, width])))
    }
}

impl Step for Pad {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_pad(self.sides(), "constant", self.value)?)
    }
}
