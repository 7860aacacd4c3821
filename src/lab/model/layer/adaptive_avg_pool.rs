//! Average pooling to one height and width, whatever comes in.

use serde::{Deserialize, Serialize};

use super::separable::averaged;
use super::step::{Mode, Node, Step, node};
use super::text::{call, counts};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor, same_every_run};

#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AdaptiveAvgPool {
    #[serde(deserialize_with = "counts")]
    size: [i64; 2],
}

impl Layer {
    /// To this height and width.
    pub fn adaptive_avg_pool(size: [i64; 2]) -> Self {
        AdaptiveAvgPool { size }.into()
    }
}

impl Kind for AdaptiveAvgPool {
    fn script(&self) -> String {
        match &self.size {
            [1, 1] => call("avg_pool", &[], &[]),
            [h, w] => call("adaptive_avg_pool", &[h, w], &[]),
        }
    }

    fn identity(&self) -> String {
        match self.size {
            [1, 1] => self.script(),
            [h, w] => format!("adaptive_avg_pool({h}, {w})"),
        }
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        shape.sides("avg_pool", &site.at)?;
        Ok((node(self.clone()), shape.with_sides(self.size.map(Some))))
    }
}

impl Step for AdaptiveAvgPool {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        // One mean of all has a gradient of its own, which adds nothing up.
        if same_every_run(x.device()) && self.size != [1, 1] && x.requires_grad() {
            return averaged(x, self.size);
        }
        Ok(x.f_adaptive_avg_pool2d(self.size)?)
    }
}
