//! A convolution together with what comes behind it, as one kernel of cuDNN.

use crate::core::{Result, Tensor, attempt};
use crate::model::shift::Window;

/// What a layer that is one convolution does.
#[derive(Clone, Copy)]
pub struct Convolution<'a> {
    pub weight: &'a Tensor,
    pub bias: Option<&'a Tensor>,
    pub window: Window,
    pub groups: i64,
}

impl<'a> Convolution<'a> {
    /// Weight and bias, if it has one.
    pub fn weights(&self) -> Vec<&'a Tensor> {
        std::iter::once(self.weight).chain(self.bias).collect()
    }

    /// The same with other weights in their places.
    pub fn with<'b>(&self, weights: &[&'b Tensor]) -> Convolution<'b> {
        Convolution { weight: weights[0], bias: weights.get(1).copied(), window: self.window, groups: self.groups }
    }

    /// What it gives.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (Self { weight, bias, groups, .. }, [stride, pad, dilation]) = (*self, self.sides());
        Ok(x.f_conv2d(weight, bias, stride, pad, dilation, groups)?)
    }

    /// The size of what it gives; `None` where it does not take inputs of this size.
    pub fn gives(&self, size: &[i64]) -> Option<Vec<i64>> {
        let ([n, channels, height, width], (out, per_group, ..)) = (size.try_into().ok()?, self.weight.size4().ok()?);
        let sides = [self.window.count(height)?, self.window.count(width)?];
        (channels == per_group * self.groups).then(|| vec![n, out, sides[0], sides[1]])
    }

    /// max(0, what it gives).
    pub fn rectified(&self, x: &Tensor) -> Result<Tensor> {
        let (Self { weight, bias, groups, .. }, [stride, pad, dilation]) = (*self, self.sides());
        Ok(x.f_cudnn_convolution_relu(weight, bias, stride, pad, dilation, groups)?)
    }

    /// max(0, what it gives + beside).
    pub fn rectified_sum(&self, x: &Tensor, beside: &Tensor) -> Result<Tensor> {
        let (Self { weight, bias, groups, .. }, [stride, pad, dilation]) = (*self, self.sides());
        attempt(|| Ok(x.f_cudnn_convolution_add_relu(weight, beside, 1.0, bias, stride, pad, dilation, groups)?))
    }

    /// Stride, pad and dilation along both sides.
    fn sides(&self) -> [[i64; 2]; 3] {
        let Window { stride, pad, dilation, .. } = self.window;
        [stride, pad, dilation].map(|of| [of; 2])
    }
}
