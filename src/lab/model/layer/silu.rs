//! `x * sigmoid(x)`, also called swish.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Silu {}

impl Layer {
    pub fn silu() -> Self {
        Silu {}.into()
    }
}

impl Kind for Silu {
    fn script(&self) -> String {
        call("silu", &[], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Silu {}), shape))
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
