//! The mean of every window; zeros of the padding count.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::{call, count, size};
use super::{Kind, Shape, Site};
use crate::core::{Result, Tensor};
use crate::model::shift::{Sliding, Window};

#[derive(Clone, Serialize, Deserialize)]
pub struct AvgPool {
    #[serde(deserialize_with = "count")]
    pub size: i64,
    #[serde(deserialize_with = "count")]
    pub stride: i64,
    #[serde(deserialize_with = "size")]
    pub pad: i64,
    /// Whether a last window that sticks out counts too.
    pub ceil: bool,
}

impl AvgPool {
    fn window(&self) -> Window {
        let Self { size, stride, pad, ceil } = *self;
        Window { size, stride, pad, dilation: 1, ceil }
    }
}

impl Kind for AvgPool {
    fn script(&self) -> String {
        let Self { size, stride, pad, ceil } = self;
        call("avg_pool", &[size], &[("stride", stride, stride != size), ("pad", pad, *pad != 0), ("ceil", ceil, *ceil)])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let after = shape.slid(&self.window(), "avg_pool", &site.at)?;
        Ok((node(self.clone()), after))
    }
}

impl Step for AvgPool {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_avg_pool2d(self.size, self.stride, self.pad, self.ceil, true, None::<i64>)?)
    }

    fn sharing(&self) -> Sharing<'_> {
        match self.ceil {
            // A window that only partly fits is averaged over fewer pixels, which is not what padding gives.
            true => Sharing::Nothing,
            false => Sharing::Window(Sliding { window: self.window(), beyond: 0.0 }, None),
        }
    }

    fn unpadded(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.f_avg_pool2d(self.size, self.stride, 0, false, true, None::<i64>)?)
    }
}
