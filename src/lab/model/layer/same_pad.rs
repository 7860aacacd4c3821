//! The border of zeros with which TensorFlow's "SAME" convolution gives an n-th of its input's sides, rounded up: where it is odd, right and
//! bottom have one pixel more.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Step, node};
use super::text::{call, count};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Clone, Serialize, Deserialize)]
pub struct SamePad {
    #[serde(deserialize_with = "count")]
    size: i64,
    #[serde(deserialize_with = "count")]
    stride: i64,
}

impl Layer {
    /// For a window of this size and stride behind it, which has no border of its own.
    pub fn same_pad(size: i64, stride: i64) -> Self {
        SamePad { size, stride }.into()
    }
}

impl SamePad {
    /// Pixels of the border along a side of `n`.
    fn border(&self, n: i64) -> i64 {
        ((n + self.stride - 1) / self.stride - 1)
            .saturating_mul(self.stride)
            .saturating_add(self.size)
            .saturating_sub(n)
            .max(0)
    }
}

impl Kind for SamePad {
    fn script(&self) -> String {
        call("same_pad", &[&self.size], &[("stride", &self.stride, self.stride != 1)])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let sides = shape.sides("same_pad", &site.at)?;
        Ok((node(self.clone()), shape.with_sides(sides.map(|side| side.map(|n| n.saturating_add(self.border(n)))))))
    }
}

impl Step for SamePad {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let (_, _, height, width) = x.size4()?;
        let [rows, columns] = [height, width].map(|n| self.border(n));
        if rows == 0 && columns == 0 {
            return Ok(x.shallow_clone());
        }
        let sides = [columns / 2, columns - columns / 2, rows / 2, rows - rows / 2];
        Ok(x.f_constant_pad_nd(sides)?)
    }
}
