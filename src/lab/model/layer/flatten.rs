//! All numbers of an image in one row.

use serde_json::{Value as Json, json};

use super::step::{Mode, Node, Step, node};
use super::text::{Fields, call};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

pub struct Flatten;

impl Layer {
    pub fn flatten() -> Self {
        Flatten.into()
    }
}

pub fn read(_: &Fields) -> Option<Layer> {
    Some(Layer::flatten())
}

impl Kind for Flatten {
    fn script(&self) -> String {
        call("flatten", &[], &[])
    }

    fn json(&self) -> Json {
        json!(["flatten"])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let all = match shape {
            Shape::Image { channels, height, width } => channels.zip(height).zip(width).map(|((c, h), w)| c * h * w),
            Shape::Tokens { count, width } => count.zip(width).map(|(t, w)| t * w),
            Shape::Flat(n) => n,
        };
        Ok((node(Flatten), Shape::Flat(all)))
    }
}

impl Step for Flatten {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_flatten(1, -1)?)
    }
}
