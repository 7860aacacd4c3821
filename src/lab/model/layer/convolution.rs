//! A convolution together with what comes behind it, as one kernel of cuDNN.

use crate::core::{Result, Tensor, attempt};

/// What a layer that is one convolution does.
pub struct Convolution<'a> {
    pub weight: &'a Tensor,
    pub bias: Option<&'a Tensor>,
    pub stride: i64,
    pub pad: i64,
    pub dilation: i64,
    pub groups: i64,
}

impl Convolution<'_> {
    /// The size of what it gives; `None` where it does not take inputs of this size.
    pub fn gives(&self, size: &[i64]) -> Option<Vec<i64>> {
        let ([n, channels, height, width], [out, per_group, rows, columns]) =
            (size.try_into().ok()?, self.weight.size4().ok()?.into());
        let side = |side: i64, window: i64| {
            (side + 2 * self.pad - self.dilation * (window - 1) - 1).div_euclid(self.stride) + 1
        };
        let sides = [side(height, rows), side(width, columns)];
        (channels == per_group * self.groups && sides[0] > 0 && sides[1] > 0).then(|| vec![n, out, sides[0], sides[1]])
    }

    /// max(0, what it gives).
    pub fn rectified(&self, x: &Tensor) -> Result<Tensor> {
        let Self { weight, bias, stride, pad, dilation, groups } = *self;
        Ok(x.f_cudnn_convolution_relu(weight, bias, [stride; 2], [pad; 2], [dilation; 2], groups)?)
    }

    /// max(0, what it gives + beside).
    pub fn rectified_sum(&self, x: &Tensor, beside: &Tensor) -> Result<Tensor> {
        let Self { weight, bias, stride, pad, dilation, groups } = *self;
        let ([stride, pad, dilation], alpha) = ([stride, pad, dilation].map(|of| [of; 2]), 1.0);
        attempt(|| Ok(x.f_cudnn_convolution_add_relu(weight, beside, alpha, bias, stride, pad, dilation, groups)?))
    }
}
