//! What keeps a Wasserstein critic's gradients near length 1.

use tch::{Device, Tensor};

use crate::core::{Graph, Result, gradients, on_device};
use crate::generator::Judge;
use crate::model::Mode;

/// Below the root of a gradient's square.
const FLOOR: f64 = 1e-12;

/// How far x~ lies towards each real image, drawn from the stream that is open.
pub fn penalty_shares(real: &Tensor) -> Result<Tensor> {
    on_device(&Tensor::f_rand([real.size()[0], 1, 1, 1], (real.kind(), Device::Cpu))?, real.device())
}

/// E[(|grad d(x~)| - 1)^2] with x~ uniform on the segments between real and drawn images (Gulrajani et al. 2017).
pub fn gradient_penalty(
    judge: &dyn Judge,
    (real, drawn, share): (&Tensor, &Tensor, &Tensor),
    labels: Option<&Tensor>,
) -> Result<Tensor> {
    let between = drawn.f_add(&share.f_mul(&real.f_sub(drawn)?)?)?.f_detach()?.f_set_requires_grad(true)?;
    let said = judge.judge(&between, labels, Mode::Train)?.real;
    let gradients = gradients("the discriminator", &said.f_sum(said.kind())?, &[&between], Graph::Extend)?;
    let squares = gradients[0].f_square()?.f_sum_dim_intlist([1i64, 2, 3].as_slice(), false, real.kind())?;
    let norms = squares.f_add_scalar(FLOOR)?.f_sqrt()?;
    Ok(norms.f_sub_scalar(1.0)?.f_square()?.f_mean(real.kind())?)
}
