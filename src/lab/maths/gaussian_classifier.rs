//! Gaussian process classification with the probit likelihood (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, Chapter 3):
//! how probable a "yes" is at every point of a unit cube, and how well that is known. Scales are chosen by Laplace's approximation, which is
//! quick; what follows under them by expectation propagation, as Laplace's thinks far too little of where answers agree (their Section 3.7).

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use super::gaussian_process::{Kernel, dot, solve_lower, solve_upper};

/// What was answered at points, one after the other.
pub struct LabelledPoints {
    pub width: usize,
    pub points: Vec<f64>,
    pub yes: Vec<bool>,
}

/// The latent function that fits the answers.
pub struct GaussianClassifier<'a> {
    answers: &'a LabelledPoints,
    scales: ClassifierScales,
    /// By which the mean follows from covariances, the roots of the sites' precisions, and the Cholesky factor of B = I + S^1/2 K S^1/2.
    weights: Vec<f64>,
    root: Vec<f64>,
    factor: Vec<Vec<f64>>,
}

/// Lengthscales of the coordinates, in sides of the cube, and the deviation of the latent function.
#[derive(Debug, Clone, PartialEq)]
struct ClassifierScales {
    lengths: Vec<f64>,
    deviation: f64,
}

/// Mean and deviation of the logarithms of lengthscales and deviation beforehand, normal.
const LENGTH: (f64, f64) = (-1.0, 0.7);
const DEVIATION: (f64, f64) = (1.4, 0.7);

/// The matrix's diagonal, of which rounding takes.
const JITTER: f64 = 1e-8;

impl<'a> GaussianClassifier<'a> {
    /// Under the scales that are most probable, by steps along one of them at a time; `go_on` is asked before each fit.
    pub fn fit<E>(answers: &'a LabelledPoints, mut go_on: impl FnMut() -> Result<(), E>) -> Result<Self, E> {
        let scales = |logs: &[f64]| {
            let lengths = logs[..answers.width].iter().map(|log| log.exp()).collect();
            ClassifierScales { lengths, deviation: logs[answers.width].exp() }
        };
        let of = |logs: &[f64]| evidence(answers, &scales(logs));
        let prior = |logs: &[f64]| -> f64 {
            let of = |(log, (mean, deviation)): (&f64, (f64, f64))| -((log - mean) / deviation).powi(2) / 2.0;
            logs[..answers.width].iter().map(|log| of((log, LENGTH))).sum::<f64>()
                + of((&logs[answers.width], DEVIATION))
        };
        let mut logs = vec![LENGTH.0; answers.width];
        logs.push(DEVIATION.0);
        go_on()?;
        let mut most = of(&logs) + prior(&logs);
        let mut step = 0.6;
        while step > 0.1 {
            let mut moved = false;
            for place in 0..logs.len() {
                for by in [step, -step] {
                    let mut other = logs.clone();
                    other[place] += by;
                    go_on()?;
                    let value = of(&other) + prior(&other);
                    if value > most {
                        (most, logs, moved) = (value, other, true);
                        break;
                    }
                }
            }
            if !moved {
                step /= 2.0;
            }
        }
        Self::under(answers, scales(&logs), go_on)
    }

    /// Expectation propagation (Algorithm 3.5): each answer's likelihood as a normal one with the same moments beside all others.
    fn under<E>(
        answers: &'a LabelledPoints,
        scales: ClassifierScales,
        mut go_on: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        const SWEEPS: usize = 30;
        let n = answers.yes.len();
        let kernel = scales.covariances(answers);
        // Precisions of the sites, and these times their means.
        let (mut precision, mut shift) = (vec![0.0f64; n], vec![0.0f64; n]);
        let (mut covariance, mut mean) = (kernel.clone(), vec![0.0; n]);
        let mut factor = vec![];
        for _ in 0..SWEEPS {
            go_on()?;
            let mut most = 0.0f64;
            for i in 0..n {
                let own = covariance[i][i].max(JITTER);
                // What the others say: the site is taken out.
                let other = (1.0 / own - precision[i]).max(JITTER);
                let (middle, variance) = ((mean[i] / own - shift[i]) / other, 1.0 / other);
                let sign = if answers.yes[i] { 1.0 } else { -1.0 };
                let z = sign * middle / (1.0 + variance).sqrt();
                let ratio = mills(z);
                let moved = middle + sign * variance * ratio / (1.0 + variance).sqrt();
                let left = variance - variance * variance * ratio * (z + ratio) / (1.0 + variance);
                let by = (1.0 / left.max(JITTER) - other).max(0.0) - precision[i];
                most = most.max((by * own).abs());
                precision[i] += by;
                shift[i] = moved * (other + precision[i]) - middle * other;
                let scale = by / (1.0 + by * covariance[i][i]);
                let row = covariance[i].clone();
                for (k, own) in covariance.iter_mut().enumerate() {
                    let share = scale * row[k];
                    own.iter_mut().zip(&row).for_each(|(value, other)| *value -= share * other);
                }
                mean = covariance.iter().map(|row| dot(row, &shift)).collect();
            }
            // Anew, as rounding adds up.
            let root: Vec<f64> = precision.iter().map(|p| p.sqrt()).collect();
            factor = factorised(&kernel, &root);
            let solved: Vec<Vec<f64>> = (0..n)
                .map(|j| {
                    let mut column: Vec<f64> = (0..n).map(|i| root[i] * kernel[i][j]).collect();
                    solve_lower(&factor, &mut column);
                    column
                })
                .collect();
            for i in 0..n {
                for j in 0..n {
                    covariance[i][j] = kernel[i][j] - dot(&solved[i], &solved[j]);
                }
            }
            mean = covariance.iter().map(|row| dot(row, &shift)).collect();
            if most < 1e-3 {
                break;
            }
        }
        let root: Vec<f64> = precision.iter().map(|p| p.sqrt()).collect();
        let mut rest: Vec<f64> = kernel.iter().zip(&root).map(|(row, root)| root * dot(row, &shift)).collect();
        solve_lower(&factor, &mut rest);
        solve_upper(&factor, &mut rest);
        let weights = (0..n).map(|i| shift[i] - root[i] * rest[i]).collect();
        Ok(Self { answers, scales, weights, root, factor })
    }

    /// Mean and deviation of the latent function at a point (Algorithm 3.6): "yes" has there the probability Phi of it.
    pub fn latent(&self, point: &[f64]) -> (f64, f64) {
        let seen: Vec<f64> =
            (0..self.answers.yes.len()).map(|i| self.scales.covariance(point, self.answers.point(i))).collect();
        let mean = dot(&seen, &self.weights);
        let mut v: Vec<f64> = seen.iter().zip(&self.root).map(|(k, root)| k * root).collect();
        solve_lower(&self.factor, &mut v);
        let variance = self.scales.deviation.powi(2) - dot(&v, &v);
        (mean, variance.max(0.0).sqrt())
    }
}

/// The logarithm of the answers' probability by Laplace's approximation (Algorithm 3.1): Newton's steps to the mode, each shortened where it
/// would lead down.
fn evidence(answers: &LabelledPoints, scales: &ClassifierScales) -> f64 {
    let n = answers.yes.len();
    let kernel = scales.covariances(answers);
    let times = |vector: &[f64]| -> Vec<f64> { kernel.iter().map(|row| dot(row, vector)).collect() };
    let (mut latent, mut weights) = (vec![0.0; n], vec![0.0; n]);
    let height = |latent: &[f64], weights: &[f64]| -dot(weights, latent) / 2.0 + answers.likelihood(latent);
    let mut value = height(&latent, &weights);
    let mut at = LaplaceMode::at(answers, &kernel, &latent);
    for _ in 0..50 {
        let b: Vec<f64> = (0..n).map(|i| at.root[i].powi(2) * latent[i] + at.slope[i]).collect();
        let mut c: Vec<f64> = times(&b).iter().zip(&at.root).map(|(x, root)| x * root).collect();
        solve_lower(&at.factor, &mut c);
        solve_upper(&at.factor, &mut c);
        let full: Vec<f64> = (0..n).map(|i| b[i] - at.root[i] * c[i]).collect();
        let mut share = 1.0;
        let better = loop {
            let next: Vec<f64> = weights.iter().zip(&full).map(|(old, new)| old + share * (new - old)).collect();
            let there = times(&next);
            let reached = height(&there, &next);
            if reached > value {
                break Some((next, there, reached));
            }
            share /= 2.0;
            if share < 1e-3 {
                break None;
            }
        };
        let Some((next, there, reached)) = better else { break };
        let gained = reached - value;
        (weights, latent, value) = (next, there, reached);
        at = LaplaceMode::at(answers, &kernel, &latent);
        if gained < 1e-8 {
            break;
        }
    }
    let volume: f64 = at.factor.iter().enumerate().map(|(i, row)| row[i].ln()).sum();
    value - volume
}

/// What the likelihood is like at a latent function.
struct LaplaceMode {
    slope: Vec<f64>,
    root: Vec<f64>,
    factor: Vec<Vec<f64>>,
}

impl LaplaceMode {
    fn at(answers: &LabelledPoints, kernel: &[Vec<f64>], latent: &[f64]) -> Self {
        let (mut slope, mut root) = (vec![], vec![]);
        for (f, yes) in latent.iter().zip(&answers.yes) {
            let sign = if *yes { 1.0 } else { -1.0 };
            let z = sign * f;
            let ratio = mills(z);
            slope.push(sign * ratio);
            root.push((ratio * (ratio + z)).max(1e-12).sqrt());
        }
        let factor = factorised(kernel, &root);
        Self { slope, root, factor }
    }
}

/// phi / Phi, whose tail is that of Mills' ratio.
fn mills(z: f64) -> f64 {
    if z < -8.0 { -z - 1.0 / z } else { Normal::standard().pdf(z) / Normal::standard().cdf(z) }
}

/// The Cholesky factor of I + S^1/2 K S^1/2.
fn factorised(kernel: &[Vec<f64>], root: &[f64]) -> Vec<Vec<f64>> {
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(root.len());
    for i in 0..root.len() {
        let mut row: Vec<f64> = (0..i).map(|j| root[i] * kernel[i][j] * root[j]).collect();
        solve_lower(&factor, &mut row);
        let rest = 1.0 + JITTER + root[i].powi(2) * kernel[i][i] - dot(&row, &row);
        row.push(rest.max(JITTER).sqrt());
        factor.push(row);
    }
    factor
}

impl LabelledPoints {
    fn point(&self, i: usize) -> &[f64] {
        &self.points[i * self.width..][..self.width]
    }

    fn likelihood(&self, latent: &[f64]) -> f64 {
        let log = |z: f64| match z < -8.0 {
            true => -z * z / 2.0 - (-z).ln() - std::f64::consts::TAU.ln() / 2.0,
            false => Normal::standard().cdf(z).ln(),
        };
        latent.iter().zip(&self.yes).map(|(f, yes)| log(if *yes { *f } else { -f })).sum()
    }
}

impl ClassifierScales {
    fn covariances(&self, of: &LabelledPoints) -> Vec<Vec<f64>> {
        let n = of.yes.len();
        (0..n).map(|i| (0..n).map(|j| self.covariance(of.point(i), of.point(j))).collect()).collect()
    }

    fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        let square = a.iter().zip(b).zip(&self.lengths).map(|((x, y), l)| ((x - y) / l).powi(2)).sum();
        self.deviation.powi(2) * Kernel::Matern52.value(square)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under(points: &[f64], yes: &[bool], at: &[f64]) -> Vec<(f64, f64)> {
        let answers = LabelledPoints { width: 1, points: points.to_vec(), yes: yes.to_vec() };
        let scales = ClassifierScales { lengths: vec![0.4], deviation: 3.0 };
        let fitted = GaussianClassifier::under(&answers, scales, || Ok::<(), ()>(())).expect("fits");
        at.iter().map(|x| fitted.latent(&[*x])).collect()
    }

    /// Of one answer it is exact: the moments of f ~ N(0, 9) times Phi(f), and by covariance those beside it.
    #[test]
    fn of_one_answer_the_moments_are_those_of_the_closed_form() {
        let ratio = (2.0 / std::f64::consts::PI).sqrt();
        let (mean, variance) = (9.0 * ratio / 10f64.sqrt(), 9.0 - 81.0 / 10.0 * ratio * ratio);
        let share = Kernel::Matern52.value((0.3f64 / 0.4).powi(2));
        let found = under(&[0.2], &[true], &[0.2, 0.5]);
        let wanted = [(mean, variance), (share * mean, 9.0 - share * share * (9.0 - variance))];
        for ((mean, deviation), (wanted, variance)) in found.into_iter().zip(wanted) {
            assert!(
                (mean - wanted).abs() < 1e-3 && (deviation * deviation - variance).abs() < 2e-3,
                "{mean} {deviation}"
            );
        }
        assert_eq!(under(&[0.2], &[false], &[0.2])[0].0, -under(&[0.2], &[true], &[0.2])[0].0);
    }

    /// Of three answers by integration over a grid of the latent function's values: the probability that it is above 0.
    #[test]
    fn sides_are_as_probable_as_integration_says() {
        let (points, yes) = ([0.1, 0.3, 0.9], [true, true, false]);
        let scales = ClassifierScales { lengths: vec![0.4], deviation: 3.0 };
        let answers = LabelledPoints { width: 1, points: points.to_vec(), yes: yes.to_vec() };
        let factor = {
            let kernel = scales.covariances(&answers);
            let mut factor: Vec<Vec<f64>> = vec![];
            for i in 0..3 {
                let mut row: Vec<f64> = kernel[i][..i].to_vec();
                solve_lower(&factor, &mut row);
                let rest = kernel[i][i] - dot(&row, &row);
                row.push(rest.sqrt());
                factor.push(row);
            }
            factor
        };
        let phi = |x: f64| Normal::standard().cdf(x);
        let steps: Vec<f64> = (0..81).map(|k| -5.0 + 0.125 * f64::from(k)).collect();
        let (mut all, mut above) = (0.0, [0.0; 3]);
        for a in &steps {
            for b in &steps {
                for c in &steps {
                    let f: Vec<f64> = factor.iter().map(|row| dot(row, &[*a, *b, *c][..row.len()])).collect();
                    let weight = (-(a * a + b * b + c * c) / 2.0).exp() * phi(f[0]) * phi(f[1]) * phi(-f[2]);
                    all += weight;
                    f.iter().zip(&mut above).filter(|(f, _)| **f > 0.0).for_each(|(_, sum)| *sum += weight);
                }
            }
        }
        for ((mean, deviation), above) in under(&points, &yes, &points).into_iter().zip(above) {
            let (found, wanted) = (phi(mean / deviation), above / all);
            assert!((found - wanted).abs() < 0.03, "{found}, not {wanted}");
        }
    }
}
