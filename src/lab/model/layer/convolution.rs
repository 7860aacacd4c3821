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
