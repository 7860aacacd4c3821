//! Attention over all places of maps (Zhang et al. 2019), as both BigGANs have it.

use tch::Kind;

use crate::core::{Result, Tensor};

/// The weights of its four convolutions of 1 x 1, and what scales what is seen.
pub(super) struct SeenPlaces<'a> {
    pub theta: &'a Tensor,
    pub phi: &'a Tensor,
    pub g: &'a Tensor,
    pub out: &'a Tensor,
    pub gamma: &'a Tensor,
}

impl SeenPlaces<'_> {
    pub fn added_to(&self, x: &Tensor) -> Result<Tensor> {
        let (n, c, height, width) = x.size4()?;
        let none = None::<&Tensor>;
        let conv = |weight: &Tensor| x.f_conv2d(weight, none, 1, 0, 1, 1);
        let pooled = |t: Tensor| t.f_max_pool2d(2, 2, 0, 1, false);
        let (places, fewer) = (height * width, (height / 2) * (width / 2));
        let theta = conv(self.theta)?.f_reshape([n, c / 8, places])?.f_transpose(1, 2)?;
        let phi = pooled(conv(self.phi)?)?.f_reshape([n, c / 8, fewer])?;
        let attention = theta.f_bmm(&phi)?.f_softmax(-1, None::<Kind>)?;
        let g = pooled(conv(self.g)?)?.f_reshape([n, c / 2, fewer])?;
        let seen = g.f_bmm(&attention.f_transpose(1, 2)?)?.f_reshape([n, c / 2, height, width])?;
        Ok(x.f_add(&seen.f_conv2d(self.out, none, 1, 0, 1, 1)?.f_mul(self.gamma)?)?)
    }
}
