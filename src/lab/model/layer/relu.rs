//! The rectifier, and the same on a tensor that nothing else reads.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Relu {}

impl Layer {
    pub fn relu() -> Self {
        Relu {}.into()
    }
}

impl Kind for Relu {
    fn script(&self) -> String {
        call("relu", &[], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Relu {}), shape))
    }
}

impl Step for Relu {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_relu()?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn rectifies(&self) -> bool {
        true
    }

    fn activates(&self) -> bool {
        true
    }

    fn in_place(&self) -> Option<Node> {
        Some(node(InPlace))
    }
}

struct InPlace;

impl Step for InPlace {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.shallow_clone().f_relu_()?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn rectifies(&self) -> bool {
        true
    }

    fn activates(&self) -> bool {
        true
    }

    fn overwrites(&self) -> bool {
        true
    }
}
