//! The largest number of every window.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::{call, count, size};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};
use crate::model::shift::{Sliding, Window};

#[derive(Clone, Serialize, Deserialize)]
pub struct MaxPool {
    #[serde(deserialize_with = "count")]
    pub size: i64,
    #[serde(deserialize_with = "count")]
    pub stride: i64,
    #[serde(deserialize_with = "size")]
    pub pad: i64,
    /// Whether a last window that sticks out counts too.
    pub ceil: bool,
}

impl Layer {
    pub fn max_pool(size: i64, stride: i64) -> Self {
        MaxPool { size, stride, pad: 0, ceil: false }.into()
    }
}

impl MaxPool {
    fn window(&self) -> Window {
        let Self { size, stride, pad, ceil } = *self;
        Window { size, stride, pad, dilation: 1, ceil }
    }
}

impl Kind for MaxPool {
    fn script(&self) -> String {
        let Self { size, stride, pad, ceil } = self;
        call("max_pool", &[size], &[("stride", stride, stride != size), ("pad", pad, *pad != 0), ("ceil", ceil, *ceil)])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let after = shape.slid(&self.window(), "max_pool", &site.at)?;
        Ok((node(self.clone()), after))
    }
}

impl Step for MaxPool {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_max_pool2d(self.size, self.stride, self.pad, 1, self.ceil)?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Window(Sliding { window: self.window(), beyond: f64::NEG_INFINITY }, None)
    }

    fn unpadded(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.f_max_pool2d(self.size, self.stride, 0, 1, false)?)
    }

    fn before_rectifier(&self) -> bool {
        true
    }
}
