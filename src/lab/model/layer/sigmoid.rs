//! The logistic function.

use serde_json::{Value as Json, json};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::{Fields, call};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

pub struct Sigmoid;

impl Layer {
    pub fn sigmoid() -> Self {
        Sigmoid.into()
    }
}

pub fn read(_: &Fields) -> Option<Layer> {
    Some(Layer::sigmoid())
}

impl Kind for Sigmoid {
    fn script(&self) -> String {
        call("sigmoid", &[], &[])
    }

    fn json(&self) -> Json {
        json!(["sigmoid"])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Sigmoid), shape))
    }
}

impl Step for Sigmoid {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_sigmoid()?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn activates(&self) -> bool {
        true
    }
}
