//! Cut to 0 ... 6.

use serde_json::{Value as Json, json};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::{Fields, call};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

pub struct Relu6;

impl Layer {
    pub fn relu6() -> Self {
        Relu6.into()
    }
}

pub fn read(_: &Fields) -> Option<Layer> {
    Some(Layer::relu6())
}

impl Kind for Relu6 {
    fn script(&self) -> String {
        call("relu6", &[], &[])
    }

    fn json(&self) -> Json {
        json!(["relu6"])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Relu6), shape))
    }
}

impl Step for Relu6 {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_relu6()?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn activates(&self) -> bool {
        true
    }
}
