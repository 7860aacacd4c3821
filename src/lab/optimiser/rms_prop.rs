//! RMSProp (Tieleman and Hinton 2012): v ← alpha · v + (1 - alpha) g²; w ← w - lr · g / √v, with eps beside the root or under it.

use crate::core::{Result, Tensor};

/// PyTorch's form, with eps beside the root: changes w and v in place. TensorFlow puts it under the root and begins with v = 1.
pub(super) fn step(w: &mut Tensor, g: &Tensor, v: &mut Tensor, lr: f64, alpha: f64, eps: f64) -> Result<()> {
    let _ = v.f_mul_scalar_(alpha)?.f_add_(&g.f_square()?.f_mul_scalar(1.0 - alpha)?)?;
    let _ = w.f_sub_(&g.f_div(&v.f_sqrt()?.f_add_scalar(eps)?)?.f_mul_scalar(lr)?)?;
    Ok(())
}

/// On plain numbers, with eps under the root as TensorFlow has it; v begins at 0.
#[derive(Debug, Clone, Copy)]
pub struct Squares {
    pub lr: f32,
    pub alpha: f32,
    pub eps: f32,
}

impl Squares {
    #[inline]
    pub fn step(self, w: &mut f32, g: f32, v: &mut f32) {
        *v = self.alpha * *v + (1.0 - self.alpha) * g * g;
        *w -= self.lr * g / (*v + self.eps).sqrt();
    }
}
