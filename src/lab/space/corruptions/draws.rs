//! The random numbers of one corruption of one image, all from one stream and in the reference's order.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use crate::core::random;

pub(super) struct Draws {
    rng: Pcg64Mcg,
    /// The second of a pair of normal numbers.
    spare: Option<f64>,
}

impl Draws {
    pub fn new(draw: u64, kind: u64) -> Self {
        Self { rng: random(draw, CORRUPTIONS | kind), spare: None }
    }

    /// From 0, and below 1.
    pub fn uniform(&mut self) -> f64 {
        self.rng.r#gen()
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A whole number from `low`, and below `high`.
    pub fn whole(&mut self, low: i64, high: i64) -> i64 {
        low + (self.uniform() * (high - low) as f64) as i64
    }

    /// Standard normal, two by two (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }

    /// Poisson with this mean, at most some hundreds: the quantile of a uniform number, found from below.
    pub fn poisson(&mut self, mean: f64) -> f64 {
        let share = self.uniform();
        let (mut k, mut weight) = (0.0, (-mean).exp());
        let mut below = weight;
        while share >= below && weight > 0.0 {
            k += 1.0;
            weight *= mean / k;
            below += weight;
        }
        k
    }
}

/// Part of the streams that corruptions come from.
const CORRUPTIONS: u64 = 1 << 57;
