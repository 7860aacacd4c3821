//! Images of noise alone: what a model answers when there is nothing to see.

use std::sync::Arc;

use rand::Rng;

use super::memory::byte_to_float;
use super::{Dataset, Edge, Source};
use crate::core::{Digest, Error, Result, random};

/// Pixels independently normal about 0.5, cut to [0, 1] and rounded to bytes.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    pub n: usize,
    /// `[C, H, W]`.
    pub shape: [usize; 3],
    pub sigma: f64,
    pub seed: u64,
}

impl Noise {
    /// How digests know it, by words that stay when fields get better names.
    fn identity(&self) -> String {
        let Self { n, shape, sigma, seed } = self;
        format!("noise 1 Noise {{ n: {n}, shape: {shape:?}, sigma: {sigma:?}, seed: {seed} }}")
    }

    /// The data set: one class, on a torus, since pixels are alike everywhere.
    pub fn dataset(self) -> Result<Dataset> {
        if self.shape.iter().any(|&side| side == 0 || side > 4096) || !self.sigma.is_finite() {
            return Err(Error::argument(format!("noise can't have shape {:?} and sigma {}", self.shape, self.sigma)));
        }
        let digest = Digest::of(self.identity().as_bytes());
        Dataset::new("noise", Arc::new(self), vec![0; self.n], vec!["noise".into()], Edge::Wrap, digest)
    }
}

impl Source for Noise {
    fn likeness(&self, index: usize) -> Option<u64> {
        // However many others there are.
        let of = Self { n: 0, ..*self }.identity();
        Some(Digest::of_parts(&[of.as_bytes(), &(index as u64).to_le_bytes()]).as_u64())
    }

    fn len(&self) -> usize {
        self.n
    }

    fn shape(&self) -> [usize; 3] {
        self.shape
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let mut numbers = random(self.seed, index as u64);
        for pair in pixels.chunks_mut(2) {
            // Box and Muller: two uniform numbers make two normal ones; 1 - u keeps the logarithm finite.
            let radius = (-2.0 * (1.0 - numbers.r#gen::<f64>()).ln()).sqrt();
            let (sin, cos) = (std::f64::consts::TAU * numbers.r#gen::<f64>()).sin_cos();
            for (pixel, z) in pair.iter_mut().zip([radius * cos, radius * sin]) {
                *pixel = byte_to_float(((0.5 + self.sigma * z) * 255.0).round() as u8);
            }
        }
        Ok(())
    }
}
