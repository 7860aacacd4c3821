//! A convolution, alone or together with what comes behind it as one kernel of cuDNN.

use tch::{Device, Kind};

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
        if !self.reads_beyond(x) {
            return Ok(x.f_conv2d(weight, bias, stride, pad, dilation, groups)?);
        }
        let reach = dilation[1] * (weight.size()[3] - 1) + 1 - pad[1];
        let seen = x.f_narrow(3, 0, reach.clamp(1, x.size()[3]))?;
        Ok(seen.f_conv2d(weight, bias, [stride[0], 1], pad, dilation, groups)?.f_narrow(3, 0, 1)?)
    }

    /// Whether oneDNN (of libtorch 2.11) multiplies zeros by memory that nobody wrote, which now and then gives NaN: in bfloat16, on processors
    /// with AMX, where strides leave a single column. That column is the first one without strides.
    fn reads_beyond(&self, x: &Tensor) -> bool {
        let low = x.kind() == Kind::BFloat16 && x.device() == Device::Cpu && self.window.stride > 1;
        low && self.gives(&x.size()).is_some_and(|size| size[3] == 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that was used holds NaN here, as what a program did before may leave it.
    #[test]
    fn a_single_column_is_what_it_is_in_float32() -> Result<()> {
        let used = || (6..18).for_each(|size| drop(vec![vec![f32::NAN; 1 << size]; 8]));
        for (channels, size, stride, pad, dilation, width) in [
            (3, 7, 2, 0, 1, 7),
            (3, 7, 2, 3, 1, 2),
            (64, 3, 2, 0, 1, 4),
            (16, 3, 2, 1, 1, 1),
            (16, 3, 2, 2, 2, 2),
            (1, 2, 4, 0, 1, 5),
        ] {
            let on = (Kind::Float, Device::Cpu);
            let x = Tensor::f_rand([3, channels, 40, width], on)?;
            let (weight, bias) = (Tensor::f_randn([8, channels, size, size], on)?, Tensor::f_randn([8], on)?);
            let window = Window { size, stride, pad, dilation, ceil: false };
            let [x, weight, bias] = [x, weight, bias].map(|of| of.to_kind(Kind::BFloat16));
            let wide = [&x, &weight, &bias].map(|of| of.to_kind(Kind::Float));
            let wanted = wide[0].f_conv2d(&wide[1], Some(&wide[2]), stride, pad, dilation, 1)?;
            let conv = Convolution { weight: &weight, bias: Some(&bias), window, groups: 1 };
            assert_eq!(conv.gives(&x.size()), Some(wanted.size()));
            for _ in 0..20 {
                used();
                let got = conv.forward(&x)?;
                assert_eq!(got.size(), wanted.size());
                let apart = f64::try_from((got.to_kind(Kind::Float) - &wanted).abs().max())?;
                assert!(apart <= 0.01 * f64::try_from(wanted.abs().max())?, "{channels} {size} {width}: {apart}");
            }
        }
        Ok(())
    }
}
