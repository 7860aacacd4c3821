//! Cut to 0 ... 6.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Relu6 {}

impl Layer {
    pub fn relu6() -> Self {
        Relu6 {}.into()
    }
}

impl Kind for Relu6 {
    fn script(&self) -> String {
        call("relu6", &[], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Relu6 {}), shape))
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
