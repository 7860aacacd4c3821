//! The hyperbolic tangent.

use serde_json::{Value as Json, json};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::{Fields, call};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

pub struct Tanh;

impl Layer {
    pub fn tanh() -> Self {
        Tanh.into()
    }
}

pub fn read(_: &Fields) -> Option<Layer> {
    Some(Layer::tanh())
}

impl Kind for Tanh {
    fn script(&self) -> String {
        call("tanh", &[], &[])
    }

    fn json(&self) -> Json {
        json!(["tanh"])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Tanh), shape))
    }
}

impl Step for Tanh {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_tanh()?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn activates(&self) -> bool {
        true
    }
}
