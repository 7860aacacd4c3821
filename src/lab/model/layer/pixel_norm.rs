//! Divides every pixel's channels, or flat numbers, by their root mean square (Karras et al. 2018).

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct PixelNorm {}

impl Layer {
    pub fn pixel_norm() -> Self {
        PixelNorm {}.into()
    }
}

impl Kind for PixelNorm {
    fn script(&self) -> String {
        call("pixel_norm", &[], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(PixelNorm {}), shape))
    }
}

impl Step for PixelNorm {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        // Karras et al.'s constant under the root.
        let square = x.f_square()?.f_mean_dim([1i64].as_slice(), true, x.kind())?.f_add_scalar(1e-8)?;
        Ok(x.f_mul(&square.f_rsqrt()?)?)
    }
}
