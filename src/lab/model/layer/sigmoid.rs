//! The logistic function.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Sigmoid {}

impl Layer {
    pub fn sigmoid() -> Self {
        Sigmoid {}.into()
    }
}

impl Kind for Sigmoid {
    fn script(&self) -> String {
        call("sigmoid", &[], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Sigmoid {}), shape))
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
