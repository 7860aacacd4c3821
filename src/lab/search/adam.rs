//! Adam (Kingma and Ba 2015) on the points of a space, for each image until it first fails, within a ball that begins small and grows:
//! the procedure of Dunn's thesis, Sections 5.1.3 and 5.2.4.

use tch::Device;

use super::{Approach, Search};
use crate::core::{Result, Tensor};

/// The radius of the ball that points stay in: `first`, and after every step `factor` times as large and larger by `increment`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub first: f64,
    pub factor: f64,
    pub increment: f64,
}

impl Bound {
    /// The radius that holds after this step, counted from 1.
    pub fn after(self, step: u32) -> f64 {
        let Self { first, factor, increment } = self;
        let grown = factor.powi(step as i32 - 1);
        let added = if factor == 1.0 { f64::from(step - 1) } else { (grown - 1.0) / (factor - 1.0) };
        (first * grown + increment * added).min(f64::MAX)
    }
}

pub struct Adam {
    /// At most.
    pub steps: u32,
    pub lr: f64,
    pub betas: (f64, f64),
    pub bound: Option<Bound>,
}

/// Numbers that go through all operations of a step before the next ones: they stay in the processor's cache.
const BLOCK: i64 = 1 << 17;

const EPS: f64 = 1e-8;

impl Adam {
    /// Changes rows of points in place, each of which has gone so many steps; rows without a number don't matter any more.
    pub(super) fn step(
        &self,
        points: &Tensor,
        gradient: &Tensor,
        moments: [&Tensor; 2],
        gone: &[Option<u32>],
    ) -> Result<()> {
        let (beta1, beta2) = self.betas;
        let shape: Vec<i64> = std::iter::once(-1).chain(vec![1; points.dim() - 1]).collect();
        let column = |of: &dyn Fn(i32) -> f64| -> Result<Tensor> {
            let values: Vec<f64> = gone.iter().map(|gone| of(gone.unwrap_or(0) as i32 + 1)).collect();
            let values = Tensor::f_from_slice(&values)?.f_to_kind(points.kind())?;
            Ok(values.f_to_device(points.device())?.f_reshape(&shape)?)
        };
        // What m is divided by, lr and its sign included.
        let factor = |t: i32| -(1.0 - beta1.powi(t)) / self.lr;
        let scales = column(&|t| factor(t) / (1.0 - beta2.powi(t)).sqrt())?;
        let floors = column(&|t| factor(t) * EPS)?;
        let (rows, width) = (gone.len() as i64, points.size()[1..].iter().product::<i64>());
        let together = match points.device() {
            Device::Cpu => (BLOCK / width.max(1)).clamp(1, rows),
            _ => rows,
        };
        for first in (0..rows).step_by(together as usize) {
            let count = together.min(rows - first);
            let part = |t: &Tensor| t.f_narrow(0, first, count);
            let [mut w, g, mut m, mut v] = [part(points)?, part(gradient)?, part(moments[0])?, part(moments[1])?];
            let _ = m.f_lerp_(&g, 1.0 - beta1)?;
            let _ = v.f_lerp_(&g.f_square()?, 1.0 - beta2)?;
            let divisor = v.f_sqrt()?.f_mul_(&part(&scales)?)?.f_add_(&part(&floors)?)?;
            let _ = w.f_addcdiv_(&m, &divisor)?;
        }
        Ok(())
    }
}

impl Search for Adam {
    fn describe(&self) -> String {
        self.said("first_radius", "growth")
    }

    fn identity(&self) -> String {
        self.said("bound", "factor")
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Descent(self)]
    }
}

impl Adam {
    /// `radius` and `growth`: what its bound and the factor that this grows by are called.
    fn said(&self, radius: &str, growth: &str) -> String {
        let mut options = vec![format!("lr: {:?}", self.lr), format!("steps: {}", self.steps)];
        if self.betas != (0.9, 0.999) {
            options.push(format!("betas: [{:?}, {:?}]", self.betas.0, self.betas.1));
        }
        if let Some(Bound { first, factor, increment }) = self.bound {
            options.push(format!("{radius}: {first:?}"));
            options.extend((factor != 1.0).then(|| format!("{growth}: {factor:?}")));
            options.extend((increment != 0.0).then(|| format!("increment: {increment:?}")));
        }
        format!("adam(#{{ {} }})", options.join(", "))
    }
}
