//! Adam (Kingma and Ba 2015): m ← beta1 · m + (1 - beta1) g; v ← beta2 · v + (1 - beta2) g²;
//! w ← w - lr · (m / (1 - beta1^t)) / (√(v / (1 - beta2^t)) + eps), t counted from 1.

use tch::Device;

use crate::core::{Result, Tensor, on_device};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamSteps {
    pub lr: f64,
    pub betas: (f64, f64),
    pub eps: f64,
}

/// Numbers that go through all operations of a step before the next ones: they stay in the processor's cache.
const BLOCK: i64 = 1 << 17;

/// Calls `step` with parts of tensors of one size, which share their memory.
fn in_blocks(tensors: [&Tensor; 4], step: impl Fn([Tensor; 4]) -> Result<()>) -> Result<()> {
    let whole = || tensors.map(Tensor::shallow_clone);
    let flat = tensors.iter().all(|tensor| tensor.is_contiguous());
    if !flat || tensors[0].device() != Device::Cpu || tensors[0].numel() as i64 <= 2 * BLOCK {
        return step(whole());
    }
    let flat = whole().map(|tensor| tensor.f_view([-1]));
    let [w, g, m, v] = flat;
    let parts = [w?, g?, m?, v?].map(|tensor| tensor.f_split(BLOCK, 0));
    let [w, g, m, v] = parts;
    for (((w, g), m), v) in w?.into_iter().zip(g?).zip(m?).zip(v?) {
        step([w, g, m, v])?;
    }
    Ok(())
}

impl AdamSteps {
    /// What √v is multiplied by at step t, and what is added then, for m to be divided by; lr and its sign are in both.
    fn divisor(&self, t: i32) -> [f64; 2] {
        let factor = -(1.0 - self.betas.0.powi(t)) / self.lr;
        [factor / (1.0 - self.betas.1.powi(t)).sqrt(), factor * self.eps]
    }

    fn take_in(&self, g: &Tensor, m: &mut Tensor, v: &mut Tensor) -> Result<()> {
        let _ = m.f_lerp_(g, 1.0 - self.betas.0)?;
        let _ = v.f_lerp_(&g.f_square()?, 1.0 - self.betas.1)?;
        Ok(())
    }

    /// Step t: changes w, m and v of `[w, g, m, v]` in place.
    pub fn step(&self, tensors: [&Tensor; 4], t: i32) -> Result<()> {
        let [scale, floor] = self.divisor(t);
        in_blocks(tensors, |[mut w, g, mut m, mut v]| {
            self.take_in(&g, &mut m, &mut v)?;
            if self.lr > 0.0 {
                let divisor = v.f_sqrt()?.f_mul_scalar_(scale)?.f_add_scalar_(floor)?;
                let _ = w.f_addcdiv_(&m, &divisor)?;
            }
            Ok(())
        })
    }

    /// The same where each row has gone so many steps by itself.
    pub fn step_rows(&self, tensors: [&Tensor; 4], gone: &[u32]) -> Result<()> {
        let points = tensors[0];
        let shape: Vec<i64> = std::iter::once(-1).chain(vec![1; points.dim() - 1]).collect();
        let column = |which: usize| -> Result<Tensor> {
            let values: Vec<f64> = gone.iter().map(|gone| self.divisor(*gone as i32 + 1)[which]).collect();
            let values = Tensor::f_from_slice(&values)?.f_to_kind(points.kind())?;
            Ok(on_device(&values, points.device())?.f_reshape(&shape)?)
        };
        let (scales, floors) = (column(0)?, column(1)?);
        let (rows, width) = (gone.len() as i64, points.size()[1..].iter().product::<i64>());
        let together = match points.device() {
            Device::Cpu => (BLOCK / width.max(1)).clamp(1, rows),
            _ => rows,
        };
        for first in (0..rows).step_by(together as usize) {
            let count = together.min(rows - first);
            let part = |t: &Tensor| t.f_narrow(0, first, count);
            let [w, g, m, v] = tensors;
            let (mut w, g, mut m, mut v) = (part(w)?, part(g)?, part(m)?, part(v)?);
            self.take_in(&g, &mut m, &mut v)?;
            let divisor = v.f_sqrt()?.f_mul_(&part(&scales)?)?.f_add_(&part(&floors)?)?;
            let _ = w.f_addcdiv_(&m, &divisor)?;
        }
        Ok(())
    }

    /// Step t, rounded in the order that the formula is written in.
    pub fn step_as_written(&self, w: &mut Tensor, g: &Tensor, [m, v]: [&mut Tensor; 2], t: i32) -> Result<()> {
        let Self { lr, betas: (beta1, beta2), eps } = *self;
        let _ = m.f_mul_scalar_(beta1)?.f_add_(&g.f_mul_scalar(1.0 - beta1)?)?;
        let _ = v.f_mul_scalar_(beta2)?.f_add_(&g.f_square()?.f_mul_scalar(1.0 - beta2)?)?;
        let root = v.f_div_scalar(1.0 - beta2.powi(t))?.f_sqrt()?.f_add_scalar(eps)?;
        let _ = w.f_sub_(&m.f_mul_scalar(lr / (1.0 - beta1.powi(t)))?.f_div(&root)?)?;
        Ok(())
    }
}

/// Adam upwards on plain numbers, with betas 0.9 and 0.99 and eps 1e-9: the moments of one coordinate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Climb {
    mean: f64,
    square: f64,
}

impl Climb {
    /// What is added to the coordinate at step t.
    #[inline]
    pub fn step(&mut self, lr: f64, slope: f64, t: i32) -> f64 {
        // In double precision 0.1 is not 1 - 0.9.
        self.mean = 0.9 * self.mean + 0.1 * slope;
        self.square = 0.99 * self.square + 0.01 * slope * slope;
        let (m, v) = (self.mean / (1.0 - 0.9f64.powi(t)), self.square / (1.0 - 0.99f64.powi(t)));
        lr * m / (v.sqrt() + 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten steps from 1 along the gradient of w²: the three orders come to the same but for rounding.
    #[test]
    fn all_orders_follow_the_formula() -> Result<()> {
        let rule = AdamSteps { lr: 0.05, betas: (0.9, 0.99), eps: 1e-9 };
        let (mut by_hand, mut m, mut v) = (1.0f64, 0.0, 0.0);
        let fresh = || [1.0f64, 0.0, 0.0].map(|x| Tensor::from_slice(&[x]).view([1, 1]));
        let ([w, mean, square], [rows, row_mean, row_square]) = (fresh(), fresh());
        let [mut written, mut written_mean, mut written_square] = fresh();
        let (mut climbed, mut climb) = (1.0f64, Climb::default());
        for t in 1..=10 {
            let g = 2.0 * by_hand;
            (m, v) = (0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g);
            by_hand -= 0.05 * (m / (1.0 - 0.9f64.powi(t))) / ((v / (1.0 - 0.99f64.powi(t))).sqrt() + 1e-9);
            let twice = |w: &Tensor| w * 2.0;
            rule.step([&w, &twice(&w), &mean, &square], t)?;
            rule.step_rows([&rows, &twice(&rows), &row_mean, &row_square], &[t as u32 - 1])?;
            let g = twice(&written);
            rule.step_as_written(&mut written, &g, [&mut written_mean, &mut written_square], t)?;
            climbed += climb.step(0.05, -2.0 * climbed, t);
        }
        for (which, came) in
            [&w, &rows, &written].map(|w| w.double_value(&[0, 0])).into_iter().chain([climbed]).enumerate()
        {
            assert!((came - by_hand).abs() < 1e-12, "{which}: {came} instead of {by_hand}");
        }
        Ok(())
    }
}
