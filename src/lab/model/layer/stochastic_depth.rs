//! In training, sets all that comes of an image to 0 with probability `p`, and scales the others up (Huang et al. 2016).

use serde::{Deserialize, Serialize};
use tch::Device;

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor, in_stream, on_device};

#[derive(Clone, Serialize, Deserialize)]
pub struct StochasticDepth {
    p: f64,
}

impl Layer {
    pub fn stochastic_depth(p: f64) -> Self {
        StochasticDepth { p }.into()
    }
}

impl Kind for StochasticDepth {
    fn script(&self) -> String {
        call("stochastic_depth", &[&self.p], &[])
    }

    fn identity(&self) -> String {
        format!("stochastic_depth({})", self.p)
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(self.clone()), shape))
    }
}

impl Step for StochasticDepth {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        if mode == Mode::Evaluate || self.p <= 0.0 {
            return Ok(x.shallow_clone());
        }
        debug_assert!(in_stream(), "a layer draws outside of every stream");
        let mut size = vec![1; x.dim()];
        size[0] = x.size()[0];
        // On the CPU, so that every device drops the same ones.
        let kept = Tensor::f_empty(size, (x.kind(), Device::Cpu))?.f_bernoulli_float_(1.0 - self.p)?;
        Ok(x.f_mul(&on_device(&kept.f_div_scalar(1.0 - self.p)?, x.device())?)?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }
}
