//! `x * sigmoid(x)`, also called swish.

use serde_json::{Value as Json, json};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::{Fields, call};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

pub struct Silu;

impl Layer {
    pub fn silu() -> Self {
        Silu.into()
    }
}

pub fn read(_: &Fields) -> Option<Layer> {
    Some(Layer::silu())
}

impl Kind for Silu {
    fn script(&self) -> String {
        call("silu", &[], &[])
    }

    fn json(&self) -> Json {
        json!(["silu"])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Silu), shape))
    }
}

impl Step for Silu {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_silu()?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn activates(&self) -> bool {
        true
    }
}
