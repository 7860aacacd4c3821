//! Gaussian process regression on points of a unit cube (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006),
//! and where a gain that is hoped for is largest: its upper confidence bound (Srinivas, Krause, Kakade and Seeger, ICML 2010), or the
//! logarithm of the expected improvement (Ament, Daulton, Eriksson, Balandat and Bakshy, NeurIPS 2023).

use statrs::function::erf::erfc;

use crate::optimiser::Climb;

/// How alike two points are, by their distance in lengthscales; 1 for a point and itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r): functions that can be differentiated twice.
    Matern52,
    /// exp(-r^2 / 2): functions without any roughness.
    SquaredExponential,
}

const ROOT_5: f64 = 2.236_067_977_499_79;

impl Kernel {
    /// From the squared distance: the value, and the factor c for which its gradient with respect to a point x is
    /// -c (x - y) / l^2.
    fn at(self, square: f64) -> (f64, f64) {
        match self {
            Self::Matern52 => {
                let r = ROOT_5 * square.sqrt();
                let decay = (-r).exp();
                ((1.0 + r + r * r / 3.0) * decay, 5.0 / 3.0 * (1.0 + r) * decay)
            }
            Self::SquaredExponential => {
                let value = (-square / 2.0).exp();
                (value, value)
            }
        }
    }

    pub(super) fn value(self, square: f64) -> f64 {
        self.at(square).0
    }
}

/// What is hoped for at a point, from the mean and the standard deviation there, in standard deviations of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hope {
    /// The mean and so many deviations.
    Bound(f64),
    /// ln E max(0, f - best).
    LogImprovement { best: f64 },
    /// How far an interval of so many deviations goes beyond the level on its nearer side.
    Straddle { level: f64, reach: f64 },
}

impl Hope {
    /// Its value, and the derivatives with respect to mean and deviation.
    pub fn at(self, mean: f64, deviation: f64) -> (f64, f64, f64) {
        match self {
            Self::Bound(kappa) => (mean + kappa * deviation, 1.0, kappa),
            Self::Straddle { level, reach } => {
                (reach * deviation - (mean - level).abs(), -(mean - level).signum(), reach)
            }
            Self::LogImprovement { best } => {
                let z = (mean - best) / deviation;
                let (log, above, density) = log_improvement(z);
                (log + deviation.ln(), above / deviation, density / deviation)
            }
        }
    }
}

/// ln h(z) of h(z) = phi(z) + z Phi(z), Phi(z) / h(z) and phi(z) / h(z).
fn log_improvement(z: f64) -> (f64, f64, f64) {
    let log_density = -0.5 * (z * z + std::f64::consts::TAU.ln());
    if z < -10.0 {
        // h(z) = phi(z) / z^2 (1 - 3 / z^2 + 15 / z^4 - ..), where the sum itself cancels.
        let s = 1.0 / (z * z);
        let rest = 1.0 - 3.0 * s + 15.0 * s * s - 105.0 * s * s * s;
        return (log_density + s.ln() + rest.ln(), -z * (1.0 - s + 3.0 * s * s) / rest, 1.0 / (s * rest));
    }
    let (density, above) = (log_density.exp(), 0.5 * erfc(-z * std::f64::consts::FRAC_1_SQRT_2));
    let h = (density + z * above).max(f64::MIN_POSITIVE);
    (h.ln(), above / h, density / h)
}

/// What a process learns beside lengthscales, and what is thought of it beforehand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learnt {
    /// Of how many observations with variance 1 the prior's variance is held: it is fitted, but near 1 while there are few. `None`: it is 1.
    pub variance: Option<f64>,
    /// Mean and deviation of the logarithm of the noise beforehand, normal. `None`: it stays.
    pub noise: Option<(f64, f64)>,
    /// The variance of a constant that belongs to the function, as a share of the prior's: how far its mean may be from that of the values.
    pub constant: f64,
}

impl Learnt {
    /// What an examiner's losses are learnt with, where much may be noise, such as what sets images apart.
    pub const USUAL: Self = Self { variance: Some(4.0), noise: Some((-8.0, 3.0)), constant: 0.0 };
    /// What one image's losses are learnt with, which may be as smooth as they are, around any mean.
    pub const SMOOTH: Self = Self { variance: Some(0.5), noise: Some((-14.0, 4.0)), constant: 3.0 };
}

/// Observations and what follows from them under a prior whose mean is 0 or drawn, their values standardised.
#[derive(Clone)]
pub struct GaussianProcess {
    kernel: Kernel,
    /// The lengthscale that each coordinate is measured by, by its place in `lengthscales`.
    groups: Vec<usize>,
    lengthscales: Vec<f64>,
    /// The variance of what is added to every observation, as a share of the prior's.
    noise: f64,
    learnt: Learnt,
    /// One point after the other.
    points: Vec<f64>,
    values: Vec<f64>,
    /// The Cholesky factor of the covariance, row by row, each up to its diagonal.
    factor: Vec<Vec<f64>>,
    /// L^-1 y and K^-1 y of the standardised values.
    half: Vec<f64>,
    weights: Vec<f64>,
    mean: f64,
    deviation: f64,
    /// The prior's standard deviation, in those of the values.
    reach: f64,
}

/// Lengthscales are kept between these, in sides of the unit cube.
pub const LENGTHSCALES: [f64; 2] = [0.02, 100.0];
/// Noise that is fitted is kept between these.
const NOISES: [f64; 2] = [1e-10, 2.0];
/// Pivots smaller than this are rounding.
const PIVOT: f64 = 1e-12;

impl GaussianProcess {
    /// `groups` gives every coordinate the lengthscale that it is measured by: a place in `lengthscales`.
    pub fn new(kernel: Kernel, groups: Vec<usize>, lengthscales: Vec<f64>, noise: f64) -> Self {
        Self {
            kernel,
            groups,
            lengthscales,
            noise,
            learnt: Learnt { variance: None, noise: None, constant: 0.0 },
            points: vec![],
            values: vec![],
            factor: vec![],
            half: vec![],
            weights: vec![],
            mean: 0.0,
            deviation: 1.0,
            reach: 1.0,
        }
    }

    /// The same, but that `fit` finds this as well.
    pub fn learning(mut self, learnt: Learnt) -> Self {
        self.learnt = learnt;
        self
    }

    /// The variance of the noise, as a share of the prior's.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The same as a share of the variance of the values.
    pub fn noise_share(&self) -> f64 {
        self.noise * self.reach * self.reach
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn lengthscales(&self) -> &[f64] {
        &self.lengthscales
    }

    /// Coordinates of a point.
    pub fn width(&self) -> usize {
        self.groups.len()
    }

    pub fn point(&self, i: usize) -> &[f64] {
        &self.points[i * self.width()..][..self.width()]
    }

    /// How alike the function is at two points: 1 and the constant at one and the same.
    fn alike(&self, a: &[f64], b: &[f64]) -> f64 {
        self.learnt.constant + self.kernel.value(self.square(a, b))
    }

    fn square(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).zip(&self.groups).map(|((x, y), &g)| ((x - y) / self.lengthscales[g]).powi(2)).sum()
    }

    /// Takes an observation in: n^2 steps for the n-th.
    pub fn observe(&mut self, point: &[f64], value: f64) {
        let row = self.row_for(point);
        self.points.extend(point);
        self.values.push(value);
        self.factor.push(row);
        self.standardise();
    }

    /// The same points with other values: those there are, in their order, and that of one more, whose point follows.
    pub fn observe_as(&mut self, point: &[f64], values: Vec<f64>) {
        let row = self.row_for(point);
        self.points.extend(point);
        self.factor.push(row);
        self.values = values;
        self.standardise();
    }

    /// A value in the unit of what is hoped for: standard deviations of the values, from their mean.
    pub fn standardised(&self, value: f64) -> f64 {
        (value - self.mean) / self.deviation
    }

    /// The means at the points that were observed, in standard deviations of the values.
    pub fn smoothed(&self) -> Vec<f64> {
        let at = |(y, weight): (&f64, &f64)| (y - self.mean) / self.deviation - self.noise * weight;
        self.values.iter().zip(&self.weights).map(at).collect()
    }

    /// The row that a point adds to the Cholesky factor of the observations before it.
    fn row_for(&self, point: &[f64]) -> Vec<f64> {
        let before = 0..self.factor.len();
        let mut row: Vec<f64> = before.map(|i| self.alike(point, self.point(i))).collect();
        solve_lower(&self.factor, &mut row);
        let rest = 1.0 + self.learnt.constant + self.noise - dot(&row, &row);
        row.push(rest.max(PIVOT).sqrt());
        row
    }

    fn standardise(&mut self) {
        let n = self.values.len() as f64;
        self.mean = self.values.iter().sum::<f64>() / n;
        let variance = self.values.iter().map(|y| (y - self.mean).powi(2)).sum::<f64>() / n;
        // Equal values have no scale of their own.
        self.deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        self.half = self.values.iter().map(|y| (y - self.mean) / self.deviation).collect();
        solve_lower(&self.factor, &mut self.half);
        self.weights = self.half.clone();
        solve_upper(&self.factor, &mut self.weights);
        if let Some(held) = self.learnt.variance {
            self.reach = ((dot(&self.half, &self.half) + held) / (n + held)).sqrt();
        }
    }

    fn factorise(&mut self) {
        self.factor.clear();
        for n in 0..self.values.len() {
            let row = self.row_for(&self.points[n * self.width()..][..self.width()]);
            self.factor.push(row);
        }
        self.standardise();
    }

    /// The mean and the standard deviation at a point, in the unit of the values: of the function, without the noise.
    pub fn posterior(&self, point: &[f64]) -> (f64, f64) {
        let mut seen: Vec<f64> = (0..self.len()).map(|i| self.alike(point, self.point(i))).collect();
        solve_lower(&self.factor, &mut seen);
        let mean: f64 = seen.iter().zip(&self.half).map(|(v, y)| v * y).sum();
        let variance = 1.0 + self.learnt.constant - seen.iter().map(|v| v * v).sum::<f64>();
        (self.mean + self.deviation * mean, self.deviation * self.reach * variance.max(0.0).sqrt())
    }

    /// The logarithm of the probability density of the standardised values, and its gradient with respect to the logarithms of
    /// these lengthscales (Rasmussen and Williams, Equations 5.8 and 5.9). Where the prior's variance is fitted, under that which suits
    /// these lengthscales best.
    pub fn likelihood(&self, lengthscales: &[f64]) -> (f64, Vec<f64>) {
        let (value, mut gradient) = Likelihood::of(self).at(lengthscales, self.noise);
        gradient.pop();
        (value, gradient)
    }

    /// Goes to the lengthscales, and the noise where it is fitted, under which the values are most likely, times a log-normal prior if one is
    /// given: `(mean, deviation)` of the logarithms of the lengthscales. From where they are, and from each of `starts`, at most `steps` steps.
    /// Returns the logarithm of how likely they are there, as a density of the values as they were given.
    pub fn fit(&mut self, prior: Option<(f64, f64)>, starts: &[f64], steps: usize) -> f64 {
        let likelihood = Likelihood::of(self);
        let many = self.lengthscales.len();
        let goal = |logs: &[f64]| {
            let scales: Vec<f64> = logs[..many].iter().map(|log| log.exp()).collect();
            let noise = logs.get(many).map_or(self.noise, |log| log.exp());
            let (mut value, mut gradient) = likelihood.at(&scales, noise);
            gradient.truncate(logs.len());
            if let Some((mean, deviation)) = prior {
                for (log, slope) in logs[..many].iter().zip(&mut gradient) {
                    let off = (log - mean) / deviation;
                    // The density of the lengthscale itself, not of its logarithm.
                    value -= off * off / 2.0 + log;
                    *slope -= off / deviation + 1.0;
                }
            }
            if let (Some(log), Some((mean, deviation))) = (logs.get(many), self.learnt.noise) {
                let off = (log - mean) / deviation;
                value -= off * off / 2.0;
                gradient[many] -= off / deviation;
            }
            (value, gradient)
        };
        let mut limits = vec![LENGTHSCALES.map(f64::ln); many];
        let mut own: Vec<f64> = self.lengthscales.iter().map(|l| l.ln()).collect();
        if self.learnt.noise.is_some() {
            limits.push(NOISES.map(f64::ln));
            own.push(self.noise.ln());
        }
        let all = starts.iter().map(|start| {
            let mut logs = vec![start.ln(); own.len()];
            if let Some((mean, _)) = self.learnt.noise {
                logs[many] = mean;
            }
            logs
        });
        let best = std::iter::once(own.clone()).chain(all).map(|start| climb(&goal, start, &limits, steps));
        // The first of equal ones, and none where nothing is a number.
        let best = best.fold(None, |best: Option<(f64, Vec<f64>)>, (value, logs)| match best {
            Some((most, _)) if most >= value => best,
            _ if value.is_finite() => Some((value, logs)),
            _ => best,
        });
        let Some((value, logs)) = best else { return f64::NEG_INFINITY };
        self.lengthscales = logs[..many].iter().map(|log| log.exp()).collect();
        if let Some(log) = logs.get(many) {
            self.noise = log.exp();
        }
        self.factorise();
        value - self.len() as f64 * self.deviation.ln()
    }

    /// The same points with these values, under another kernel, other lengthscales and noise.
    pub fn believing(&self, kernel: Kernel, lengthscales: Vec<f64>, noise: f64, values: Vec<f64>) -> Self {
        let mut process = Self { kernel, lengthscales, noise, values, ..self.clone() };
        process.factorise();
        process
    }

    /// What is hoped for at a point, and its gradient.
    fn hoped(&self, point: &[f64], hope: Hope) -> (f64, Vec<f64>) {
        let n = self.len();
        let (mut seen, mut slopes) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            let (value, slope) = self.kernel.at(self.square(point, self.point(i)));
            seen.push(self.learnt.constant + value);
            slopes.push(slope);
        }
        let mean: f64 = seen.iter().zip(&self.weights).map(|(k, w)| k * w).sum();
        solve_lower(&self.factor, &mut seen);
        let deviation = (1.0 + self.learnt.constant - seen.iter().map(|v| v * v).sum::<f64>()).max(PIVOT).sqrt();
        solve_upper(&self.factor, &mut seen);
        let (value, by_mean, by_deviation) = hope.at(mean, self.reach * deviation);
        let by_deviation = by_deviation * self.reach / deviation;
        let mut gradient = vec![0.0; self.width()];
        for i in 0..n {
            let share = -slopes[i] * (by_mean * self.weights[i] - by_deviation * seen[i]);
            for (j, (x, y)) in point.iter().zip(self.point(i)).enumerate() {
                gradient[j] += share * (x - y) / self.lengthscales[self.groups[j]].powi(2);
            }
        }
        (value, gradient)
    }

    /// Climbs what is hoped for from a point along its first `free` coordinates, within the unit cube: where it comes to, and what is
    /// hoped for there.
    pub fn climb(&self, from: &[f64], free: usize, hope: Hope, steps: i32) -> (Vec<f64>, f64) {
        let (mut best, mut most) = (from.to_vec(), f64::NEG_INFINITY);
        let mut at = from.to_vec();
        let mut climbs = vec![Climb::default(); free];
        for step in 1..=steps {
            let (value, gradient) = self.hoped(&at, hope);
            if value > most {
                most = value;
                best.clone_from(&at);
            }
            let rate = 0.05 * (1.0 - f64::from(step - 1) / f64::from(steps));
            for ((x, climb), slope) in at.iter_mut().zip(&mut climbs).zip(gradient) {
                *x = (*x + climb.step(rate, slope, step)).clamp(0.0, 1.0);
            }
        }
        (best, most)
    }

    /// What is hoped for at a point.
    pub fn hope_at(&self, point: &[f64], hope: Hope) -> f64 {
        self.hoped(point, hope).0
    }
}

/// L x = b in place, L row by row.
pub(super) fn solve_lower(factor: &[Vec<f64>], b: &mut [f64]) {
    for i in 0..b.len() {
        let row = &factor[i];
        let known: f64 = dot(&row[..i], &b[..i]);
        b[i] = (b[i] - known) / row[i];
    }
}

/// L^T x = b in place.
pub(super) fn solve_upper(factor: &[Vec<f64>], b: &mut [f64]) {
    for i in (0..b.len()).rev() {
        let row = &factor[i];
        b[i] /= row[i];
        let x = b[i];
        b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * x);
    }
}

/// In four sums, which the processor can add at once.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (fours_a, rest_a) = a.as_chunks::<4>();
    let (fours_b, rest_b) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in fours_a.iter().zip(fours_b) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(x, y)| x * y).sum::<f64>()
}

/// Candidates whose means and deviations are kept up to date as observations come: a column of L^-1 k(X, candidates) per candidate.
#[derive(Clone)]
pub struct Candidates {
    /// One candidate after the other.
    points: Vec<f64>,
    count: usize,
    /// L^-1 k, one row of `count` numbers per observation.
    rows: Vec<Vec<f64>>,
    /// What is left of the prior's variance at each.
    variance: Vec<f64>,
}

impl Candidates {
    pub fn new(points: Vec<f64>, process: &GaussianProcess) -> Self {
        let count = points.len() / process.width();
        let mut candidates = Self { points, count, rows: vec![], variance: vec![1.0 + process.learnt.constant; count] };
        candidates.catch_up(process);
        candidates
    }

    pub fn point(&self, i: usize) -> &[f64] {
        let width = self.points.len() / self.count;
        &self.points[i * width..][..width]
    }

    /// Takes in the observations that have come since; lengthscales must be as they were.
    pub fn catch_up(&mut self, process: &GaussianProcess) {
        /// Candidates that are worked on at once, so that they stay in cache.
        const TOGETHER: usize = 512;
        let width = process.width();
        let scales: Vec<f64> = process.groups.iter().map(|&g| 1.0 / process.lengthscales[g]).collect();
        for n in self.rows.len()..process.len() {
            self.rows.push(vec![0.0; self.count]);
            let (before, last) = self.rows.split_at_mut(n);
            let (row, l) = (&mut last[0], &process.factor[n]);
            let point = process.point(n);
            for start in (0..self.count).step_by(TOGETHER) {
                let end = (start + TOGETHER).min(self.count);
                let part = &mut row[start..end];
                for (value, candidate) in part.iter_mut().zip(self.points[start * width..].chunks_exact(width)) {
                    let square: f64 =
                        candidate.iter().zip(point).zip(&scales).map(|((x, y), s)| ((x - y) * s).powi(2)).sum();
                    *value = process.learnt.constant + process.kernel.value(square);
                }
                for (earlier, l) in before.iter().zip(l) {
                    part.iter_mut().zip(&earlier[start..end]).for_each(|(value, v)| *value -= l * v);
                }
                let pivot = 1.0 / l[n];
                for (value, variance) in part.iter_mut().zip(&mut self.variance[start..end]) {
                    *value *= pivot;
                    *variance -= *value * *value;
                }
            }
        }
    }

    /// What is hoped for at all candidates.
    pub fn hopes(&self, process: &GaussianProcess, hope: Hope) -> Vec<f64> {
        let mut hopes = vec![0.0; self.count];
        for (row, y) in self.rows.iter().zip(&process.half) {
            hopes.iter_mut().zip(row).for_each(|(hope, v)| *hope += v * y);
        }
        for (value, v) in hopes.iter_mut().zip(&self.variance) {
            *value = hope.at(*value, process.reach * v.max(PIVOT).sqrt()).0;
        }
        hopes
    }
}

/// What the likelihood of lengthscales needs, worked out once: squared differences of all pairs, by lengthscale.
struct Likelihood<'a> {
    process: &'a GaussianProcess,
    values: Vec<f64>,
    /// For every pair i > j one number per lengthscale.
    squares: Vec<f64>,
}

impl<'a> Likelihood<'a> {
    fn of(process: &'a GaussianProcess) -> Self {
        let (n, many) = (process.len(), process.lengthscales.len());
        let values = process.values.iter().map(|y| (y - process.mean) / process.deviation).collect();
        let mut squares = vec![0.0; n * n.saturating_sub(1) / 2 * many];
        for (pair, into) in squares.chunks_exact_mut(many.max(1)).enumerate() {
            let (i, j) = pair_of(pair);
            for ((x, y), &g) in process.point(i).iter().zip(process.point(j)).zip(&process.groups) {
                into[g] += (x - y) * (x - y);
            }
        }
        Self { process, values, squares }
    }

    /// The gradient ends with that by the logarithm of the noise.
    fn at(&self, lengthscales: &[f64], noise: f64) -> (f64, Vec<f64>) {
        let (n, many) = (self.values.len(), lengthscales.len());
        let inverse: Vec<f64> = lengthscales.iter().map(|l| 1.0 / (l * l)).collect();
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(n);
        let mut slopes = Vec::with_capacity(self.squares.len() / many.max(1));
        let mut pairs = self.squares.chunks_exact(many.max(1));
        for i in 0..n {
            let mut row = Vec::with_capacity(i + 1);
            for squares in pairs.by_ref().take(i) {
                let (value, slope) = self.process.kernel.at(dot(squares, &inverse));
                row.push(self.process.learnt.constant + value);
                slopes.push(slope);
            }
            solve_lower(&factor, &mut row);
            let rest = 1.0 + self.process.learnt.constant + noise - dot(&row, &row);
            row.push(rest.max(PIVOT).sqrt());
            factor.push(row);
        }
        let mut weights = self.values.clone();
        solve_lower(&factor, &mut weights);
        let fit = dot(&weights, &weights);
        solve_upper(&factor, &mut weights);
        let volume: f64 = factor.iter().enumerate().map(|(i, row)| row[i].ln()).sum();
        let normal = n as f64 / 2.0 * std::f64::consts::TAU.ln();
        // The variance that suits best is known, and its gradient there is 0.
        let (value, variance) = match self.process.learnt.variance {
            None => (-fit / 2.0 - volume - normal, 1.0),
            Some(held) => {
                let variance = (fit + held) / (n as f64 + held);
                (-(n as f64 + held) / 2.0 * (variance.ln() + 1.0) - volume - normal, variance)
            }
        };
        // tr((w w^T - K^-1) dK) / 2, dK_ij / d ln l_g = c_ij d_ij,g^2 / l_g^2; each pair stands for two.
        let inverted = inverted(&factor);
        let mut gradient = vec![0.0; many + 1];
        let mut pair = 0;
        for i in 0..n {
            for j in 0..i {
                let share = (weights[i] * weights[j] / variance - inverted[i][j]) * slopes[pair];
                let squares = &self.squares[pair * many..][..many];
                for g in 0..many {
                    gradient[g] += share * squares[g] * inverse[g];
                }
                pair += 1;
            }
            gradient[many] += noise / 2.0 * (weights[i] * weights[i] / variance - inverted[i][i]);
        }
        (value, gradient)
    }
}

/// The places of a pair, i > j, by its number.
fn pair_of(pair: usize) -> (usize, usize) {
    let mut i = ((1.0 + (1.0 + 8.0 * pair as f64).sqrt()) / 2.0) as usize;
    // The root is rounded.
    while i * (i - 1) / 2 > pair {
        i -= 1;
    }
    while (i + 1) * i / 2 <= pair {
        i += 1;
    }
    (i, pair - i * (i - 1) / 2)
}

/// The lower half of (L L^T)^-1.
fn inverted(factor: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = factor.len();
    // Row i holds L^-1 up to its diagonal.
    let mut lower: Vec<Vec<f64>> = Vec::with_capacity(n);
    for i in 0..n {
        let mut row = vec![0.0; i + 1];
        for (k, earlier) in lower.iter().enumerate() {
            let l = factor[i][k];
            row.iter_mut().zip(earlier).for_each(|(x, y)| *x -= l * y);
        }
        let pivot = 1.0 / factor[i][i];
        row.iter_mut().for_each(|x| *x *= pivot);
        row[i] = pivot;
        lower.push(row);
    }
    let mut product: Vec<Vec<f64>> = (0..n).map(|i| vec![0.0; i + 1]).collect();
    for row in &lower {
        for (i, &x) in row.iter().enumerate() {
            product[i].iter_mut().zip(row).for_each(|(sum, y)| *sum += x * y);
        }
    }
    product
}

/// Climbs to where a function with its gradient is largest, by the signs of the gradient (Igel and Hüsken 2003, iRprop-), within
/// the limits of each number.
fn climb(
    goal: &impl Fn(&[f64]) -> (f64, Vec<f64>),
    start: Vec<f64>,
    limits: &[[f64; 2]],
    most: usize,
) -> (f64, Vec<f64>) {
    let mut at: Vec<f64> = start.iter().zip(limits).map(|(x, [low, high])| x.clamp(*low, *high)).collect();
    let mut best = (f64::NEG_INFINITY, at.clone());
    let (mut steps, mut before) = (vec![0.3; at.len()], vec![0.0; at.len()]);
    for _ in 0..most {
        let (value, gradient) = goal(&at);
        if value > best.0 {
            best = (value, at.clone());
        }
        for (j, mut slope) in gradient.into_iter().enumerate() {
            match slope * before[j] {
                same if same > 0.0 => steps[j] = f64::min(steps[j] * 1.2, 1.0),
                turned if turned < 0.0 => {
                    steps[j] *= 0.5;
                    slope = 0.0;
                }
                _ => {}
            }
            before[j] = slope;
            if slope != 0.0 {
                at[j] = (at[j] + slope.signum() * steps[j]).clamp(limits[j][0], limits[j][1]);
            }
        }
        if steps.iter().all(|&step| step < 1e-4) {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const MPMATH: [(f64, f64); 3] = [(-9.5, -50.5785593935198), (-12.0, -77.9091005450073), (-40.0, -808.29856835662)];

    fn observed(kernel: Kernel) -> GaussianProcess {
        let learnt = Learnt { variance: Some(4.0), noise: Some((-8.0, 3.0)), constant: 3.0 };
        let mut process = GaussianProcess::new(kernel, vec![0, 1, 1], vec![0.4, 0.9], 1e-3).learning(learnt);
        for i in 0..15 {
            let at = [0.37, 0.71, 0.13].map(|step: f64| (step * f64::from(i + 1)).fract());
            process.observe(&at, (4.0 * at[0]).sin() + at[1] * at[2] - 0.3 * at[2]);
        }
        process
    }

    /// The gradient that hopes are climbed along is theirs, by central differences, where coordinates share lengthscales.
    #[test]
    fn the_gradient_of_a_hope_is_that_of_differences() {
        for kernel in [Kernel::Matern52, Kernel::SquaredExponential] {
            let process = observed(kernel);
            for (at, hope) in [
                ([0.2, 0.6, 0.4], Hope::Bound(2.0)),
                ([0.9, 0.1, 0.75], Hope::Bound(0.0)),
                ([0.45, 0.5, 0.05], Hope::LogImprovement { best: 0.4 }),
                ([0.45, 0.5, 0.05], Hope::LogImprovement { best: 9.0 }),
                ([0.3, 0.5, 0.6], Hope::Straddle { level: 0.2, reach: 1.96 }),
            ] {
                let (value, gradient) = process.hoped(&at, hope);
                let (mean, deviation) = process.posterior(&at);
                let (mean, deviation) = ((mean - process.mean) / process.deviation, deviation / process.deviation);
                let wanted = hope.at(mean, deviation).0;
                assert!((value - wanted).abs() < 1e-7, "{kernel:?}: {value}, not {wanted}");
                for (j, slope) in gradient.iter().enumerate() {
                    let beside = |step: f64| {
                        let mut moved = at;
                        moved[j] += step;
                        process.hope_at(&moved, hope)
                    };
                    let wanted = (beside(1e-5) - beside(-1e-5)) / 2e-5;
                    assert!(
                        (slope - wanted).abs() < 1e-5 * wanted.abs().max(1.0),
                        "{kernel:?} {hope:?} {j}: {slope}, not {wanted}"
                    );
                }
            }
        }
    }

    /// scikit-learn 1.9.1: GaussianProcessRegressor(ConstantKernel(3) + Matern([.4, .9, .9], nu=2.5) or RBF, alpha=1e-3, optimizer=None,
    /// normalize_y=True): predict with return_std, and log_marginal_likelihood_value_ less 15 ln of the values' deviation.
    #[test]
    fn a_process_with_a_drawn_mean_is_that_of_scikit_learn() {
        let of = [
            (Kernel::Matern52, [(0.803_047_82, 0.131_447_67), (-0.372_134_35, 0.162_726_77)], -3.637_392_838),
            (Kernel::SquaredExponential, [(0.809_104_48, 0.051_850_49), (-0.461_765_51, 0.077_312_37)], -0.144_833_248),
        ];
        for (kernel, wanted, density) in of {
            let mut process = observed(kernel).learning(Learnt { variance: None, noise: None, constant: 3.0 });
            process.reach = 1.0;
            for (at, (mean, deviation)) in [[0.2, 0.6, 0.4], [0.9, 0.1, 0.75]].into_iter().zip(wanted) {
                let found = process.posterior(&at);
                assert!((found.0 - mean).abs() < 1e-7 && (found.1 - deviation).abs() < 1e-7, "{kernel:?}: {found:?}");
                let column = Candidates::new(at.to_vec(), &process).hopes(&process, Hope::Bound(0.0))[0];
                assert!((column - process.standardised(mean)).abs() < 1e-6, "{kernel:?}: {column}");
            }
            // One look from where it is: nothing is moved.
            let likely = process.fit(None, &[], 1);
            assert!((likely - density).abs() < 1e-6, "{kernel:?}: {likely}");
        }
    }

    /// The expected improvement by integration, (1/n) sum over quantiles, and beyond what that reaches by Mills' ratio to 30 digits
    /// (mpmath: log(npdf(z) + z ncdf(z)) at -9.5, -12 and -40).
    #[test]
    fn the_logarithm_of_the_improvement_is_that_of_its_integral() {
        for z in [-2.5, -1.0, 0.0, 0.7, 3.0] {
            const N: i32 = 400_000;
            let width = 16.0 / f64::from(N);
            let sum: f64 = (0..N)
                .map(|k| -8.0 + (f64::from(k) + 0.5) * width)
                .map(|u| (z + u).max(0.0) * (-u * u / 2.0).exp() * width / std::f64::consts::TAU.sqrt())
                .sum();
            let found = log_improvement(z).0;
            assert!((found - sum.ln()).abs() < 1e-8, "{z}: {found}, not {}", sum.ln());
        }
        for (z, wanted) in MPMATH {
            let found = log_improvement(z).0;
            assert!((found - wanted).abs() < 1e-5, "{z}: {found}, not {wanted}");
        }
    }

    /// By the logarithms of lengthscales and noise, under the variance that suits best.
    #[test]
    fn the_gradient_of_the_likelihood_is_that_of_differences() {
        for kernel in [Kernel::Matern52, Kernel::SquaredExponential] {
            let process = observed(kernel);
            let likelihood = Likelihood::of(&process);
            let at = [0.5f64.ln(), 1.3f64.ln(), 0.01f64.ln()];
            let value = |logs: [f64; 3]| likelihood.at(&[logs[0].exp(), logs[1].exp()], logs[2].exp());
            for (j, slope) in value(at).1.into_iter().enumerate() {
                let beside = |step: f64| {
                    let mut moved = at;
                    moved[j] += step;
                    value(moved).0
                };
                let wanted = (beside(1e-5) - beside(-1e-5)) / 2e-5;
                assert!((slope - wanted).abs() < 1e-5 * wanted.abs().max(1.0), "{kernel:?} {j}: {slope}, not {wanted}");
            }
        }
    }

    #[test]
    fn pairs_are_numbered_row_by_row() {
        let all = (1..200).flat_map(|i| (0..i).map(move |j| (i, j)));
        for (number, pair) in all.enumerate() {
            assert_eq!(pair_of(number), pair, "{number}");
        }
        // Far out, where the root is rounded.
        for i in [1_000_003usize, 94_906_267] {
            let first = i * (i - 1) / 2;
            assert_eq!([first - 1, first, first + i - 1].map(pair_of), [(i - 1, i - 2), (i, 0), (i, i - 1)]);
        }
    }
}
