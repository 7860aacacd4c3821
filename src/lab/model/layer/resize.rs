//! Images of another size: bilinear, `align_corners=False`.

use serde::{Deserialize, Serialize};

use super::separable::interpolated;
use super::step::{Mode, Node, Step, node};
use super::text::{call, counts};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor, same_every_run};

#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Resize {
    #[serde(deserialize_with = "counts")]
    size: [i64; 2],
}

impl Layer {
    /// To this height and width.
    pub fn resize(size: [i64; 2]) -> Self {
        Resize { size }.into()
    }
}

impl Kind for Resize {
    fn script(&self) -> String {
        call("resize", &[&self.size[0], &self.size[1]], &[])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        shape.sides("resize", &site.at)?;
        Ok((node(self.clone()), shape.with_sides(self.size.map(Some))))
    }
}

impl Step for Resize {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        if same_every_run(x.device()) && x.requires_grad() {
            return interpolated(x, self.size);
        }
        Ok(x.f_upsample_bilinear2d(self.size, false, None::<f64>, None::<f64>)?)
    }
}
