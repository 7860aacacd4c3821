//! The hyperbolic tangent.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Tanh {}

impl Layer {
    pub fn tanh() -> Self {
        Tanh {}.into()
    }
}

impl Kind for Tanh {
    fn script(&self) -> String {
        call("tanh", &[], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Tanh {}), shape))
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
