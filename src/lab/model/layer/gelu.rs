//! `x` times the normal distribution function of `x` (Hendrycks and Gimpel 2016).

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Gelu {}

impl Layer {
    pub fn gelu() -> Self {
        Gelu {}.into()
    }
}

impl Kind for Gelu {
    fn script(&self) -> String {
        call("gelu", &[], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(Gelu {}), shape))
    }
}

impl Step for Gelu {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_gelu("none")?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn activates(&self) -> bool {
        true
    }
}
