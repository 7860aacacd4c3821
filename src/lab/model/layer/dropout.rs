//! In training, sets numbers to 0 with probability `p`, and scales the others up.

use serde::{Deserialize, Serialize};
use tch::Device;

use super::step::{Mode, Node, Sharing, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor, in_stream, on_device};

#[derive(Clone, Serialize, Deserialize)]
pub struct Dropout {
    p: f64,
}

impl Layer {
    pub fn dropout(p: f64) -> Self {
        Dropout { p }.into()
    }
}

impl Kind for Dropout {
    fn script(&self) -> String {
        call("dropout", &[&self.p], &[])
    }

    fn build(&self, _: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        Ok((node(self.clone()), shape))
    }
}

impl Step for Dropout {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        if mode == Mode::Evaluate {
            return Ok(x.shallow_clone());
        }
        debug_assert!(in_stream(), "a layer draws outside of every stream");
        if x.device() == Device::Cpu || self.p >= 1.0 {
            return Ok(x.f_dropout(self.p, true)?);
        }
        // As libtorch draws on the CPU: in the order of memory.
        let mut kept = Tensor::f_empty_strided(x.size(), x.stride(), (x.kind(), Device::Cpu))?;
        let kept = kept.f_bernoulli_float_(1.0 - self.p)?.f_div_scalar(1.0 - self.p)?;
        Ok(x.f_mul(&on_device(&kept, x.device())?)?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }
}
