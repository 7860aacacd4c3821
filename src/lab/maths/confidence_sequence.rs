//! An interval of a mean that holds at every moment, however often it is looked at.

/// The predictable plug-in empirical Bernstein confidence sequence of Waudby-Smith and Ramdas, "Estimating means of bounded random variables
/// by betting" (2024), Theorem 2: for numbers in [0, 1] that are drawn one after the other, the mean lies in the intervals of all times
/// together with probability 1 - alpha.
#[derive(Debug, Clone)]
pub struct ConfidenceSequence {
    alpha: f64,
    count: f64,
    sum: f64,
    /// Of squared distances from the mean after each number, and the mean before the next one.
    squares: f64,
    mean: f64,
    /// Of the weights, of the weighted numbers, and of what their spread costs.
    weights: f64,
    weighted: f64,
    cost: f64,
    interval: (f64, f64),
}

/// No number weighs more: c of the source.
const HEAVIEST: f64 = 0.5;

impl ConfidenceSequence {
    pub fn new(alpha: f64) -> Self {
        let (count, sum, squares, mean) = (0.0, 0.0, 0.0, 0.5);
        let (weights, weighted, cost) = (0.0, 0.0, 0.0);
        Self { alpha, count, sum, squares, mean, weights, weighted, cost, interval: (0.0, 1.0) }
    }

    pub fn see(&mut self, x: f64) {
        let time = self.count + 1.0;
        let variance = (0.25 + self.squares) / time;
        let log = (2.0 / self.alpha).ln();
        let weight = (2.0 * log / (variance * time * (1.0 + time).ln())).sqrt().min(HEAVIEST);
        self.weights += weight;
        self.weighted += weight * x;
        self.cost += (x - self.mean).powi(2) * (-(-weight).ln_1p() - weight);
        self.count = time;
        self.sum += x;
        self.mean = (0.5 + self.sum) / (time + 1.0);
        self.squares += (x - self.mean).powi(2);
        let (centre, half) = (self.weighted / self.weights, (log + self.cost) / self.weights);
        // The intervals hold together, so that what any of them rules out stays so.
        self.interval = (self.interval.0.max(centre - half), self.interval.1.min(centre + half));
    }

    /// What all intervals so far leave.
    pub fn interval(&self) -> (f64, f64) {
        self.interval
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::core::random;

    /// A mean, and a number with that mean out of a uniform one.
    type Draw = (f64, fn(f64) -> f64);

    #[test]
    fn the_mean_is_in_all_intervals_together() {
        let draws: [Draw; 4] = [
            (0.1, |u| f64::from(u8::from(u < 0.1))),
            (0.5, |u| u),
            (0.005, |u| if u < 0.01 { 0.5 } else { 0.0 }),
            (0.98, |u| f64::from(u8::from(u < 0.98))),
        ];
        for (k, (mean, draw)) in draws.into_iter().enumerate() {
            let mut numbers = random(3, k as u64);
            let missed = (0..400).filter(|_| {
                let mut sequence = ConfidenceSequence::new(0.05);
                for _ in 0..600 {
                    sequence.see(draw(numbers.r#gen()));
                }
                let (lo, hi) = sequence.interval();
                mean < lo || mean > hi
            });
            // 5% of 400 and three standard deviations.
            assert!(missed.count() <= 33, "mean {mean}");
        }
    }

    /// What the source's formulas give in NumPy, array by array.
    const GOLDEN: [(usize, f64, f64); 3] = [
        (100, 0.0, 0.21445550418666642),
        (1000, 0.06643243151291489, 0.1367909778932716),
        (10_000, 0.08733209217543007, 0.11385374628909914),
    ];

    #[test]
    fn intervals_are_those_of_the_source() {
        let mut sequence = ConfidenceSequence::new(0.05);
        let mut seen = 0;
        for (n, lo, hi) in GOLDEN {
            while seen < n {
                sequence.see(f64::from(u8::from(seen % 10 == 0)));
                seen += 1;
            }
            let interval = sequence.interval();
            assert!((interval.0 - lo).abs() < 1e-12 && (interval.1 - hi).abs() < 1e-12, "{n}: {interval:?}");
        }
    }
}
