//! A border of one value: left, right, top, bottom; negative numbers cut off.

use serde_json::{Value as Json, json};

use super::step::{Mode, Node, Step, node};
use super::text::{Fields, call};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Clone)]
pub struct Pad {
    sides: [i64; 4],
    value: f64,
}

impl Layer {
    /// Left, right, top, bottom.
    pub fn pad(sides: [i64; 4], value: f64) -> Self {
        Pad { sides, value }.into()
    }
}

pub fn read(fields: &Fields) -> Option<Layer> {
    Some(Layer::pad([fields.int(1)?, fields.int(2)?, fields.int(3)?, fields.int(4)?], fields.float(5)?))
}

impl Kind for Pad {
    fn script(&self) -> String {
        call("pad", &[&format!("{:?}", self.sides)], &[("value", &self.value, self.value != 0.0)])
    }

    fn json(&self) -> Json {
        let [left, right, top, bottom] = self.sides;
        json!(["pad", left, right, top, bottom, self.value])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let [left, right, top, bottom] = self.sides;
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
        Ok(x.f_pad(self.sides, "constant", self.value)?)
    }
}
