//! Gaussian process regression on points of a unit cube (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006),
//! and where its upper confidence bound is largest (Srinivas, Krause, Kakade and Seeger, ICML 2010).

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

    fn value(self, square: f64) -> f64 {
        self.at(square).0
    }
}

/// Observations and what follows from them under a zero-mean prior with variance 1, their values standardised.
#[derive(Clone)]
pub struct GaussianProcess {
    kernel: Kernel,
    /// The lengthscale that each coordinate is measured by, by its place in `lengthscales`.
    groups: Vec<usize>,
    lengthscales: Vec<f64>,
    /// The variance of what is added to every observation, as a share of the prior's.
    noise: f64,
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
}

/// Lengthscales are kept between these, in sides of the unit cube.
pub const LENGTHSCALES: [f64; 2] = [0.02, 20.0];
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
            points: vec![],
            values: vec![],
            factor: vec![],
            half: vec![],
            weights: vec![],
            mean: 0.0,
            deviation: 1.0,
        }
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

    fn point(&self, i: usize) -> &[f64] {
        &self.points[i * self.width()..][..self.width()]
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

    /// The row that a point adds to the Cholesky factor of the observations before it.
    fn row_for(&self, point: &[f64]) -> Vec<f64> {
        let before = 0..self.factor.len();
        let mut row: Vec<f64> = before.map(|i| self.kernel.value(self.square(point, self.point(i)))).collect();
        solve_lower(&self.factor, &mut row);
        let rest = 1.0 + self.noise - dot(&row, &row);
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
        let mut seen: Vec<f64> =
            (0..self.len()).map(|i| self.kernel.value(self.square(point, self.point(i)))).collect();
        solve_lower(&self.factor, &mut seen);
        let mean: f64 = seen.iter().zip(&self.half).map(|(v, y)| v * y).sum();
        let variance = 1.0 - seen.iter().map(|v| v * v).sum::<f64>();
        (self.mean + self.deviation * mean, self.deviation * variance.max(0.0).sqrt())
    }

    /// The logarithm of the probability density of the standardised values, and its gradient with respect to the logarithms of
    /// these lengthscales (Rasmussen and Williams, Equations 5.8 and 5.9).
    pub fn likelihood(&self, lengthscales: &[f64]) -> (f64, Vec<f64>) {
        Likelihood::of(self).at(lengthscales)
    }

    /// Goes to the lengthscales under which the values are most likely, times a log-normal prior if one is
    /// given: `(mean, deviation)` of the logarithms. From where they are, and from each of `starts`.
    pub fn fit(&mut self, prior: Option<(f64, f64)>, starts: &[f64]) {
        let likelihood = Likelihood::of(self);
        let goal = |logs: &[f64]| {
            let scales: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            let (mut value, mut gradient) = likelihood.at(&scales);
            if let Some((mean, deviation)) = prior {
                for (log, slope) in logs.iter().zip(&mut gradient) {
                    let off = (log - mean) / deviation;
                    // The density of the lengthscale itself, not of its logarithm.
                    value -= off * off / 2.0 + log;
                    *slope -= off / deviation + 1.0;
                }
            }
            (value, gradient)
        };
        let own: Vec<f64> = self.lengthscales.iter().map(|l| l.ln()).collect();
        let all = starts.iter().map(|start| vec![start.ln(); own.len()]);
        let best = std::iter::once(own.clone()).chain(all).map(|start| climb(&goal, start));
        // The first of equal ones, and none where nothing is a number.
        let best = best.fold(None, |best: Option<(f64, Vec<f64>)>, (value, logs)| match best {
            Some((most, _)) if most >= value => best,
            _ if value.is_finite() => Some((value, logs)),
            _ => best,
        });
        if let Some((_, logs)) = best {
            self.lengthscales = logs.iter().map(|log| log.exp()).collect();
            self.factorise();
        }
    }

    /// The upper confidence bound mu + kappa s at a point, in standard deviations of the values, and its gradient.
    fn bound(&self, point: &[f64], kappa: f64) -> (f64, Vec<f64>) {
        let n = self.len();
        let (mut seen, mut slopes) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            let (value, slope) = self.kernel.at(self.square(point, self.point(i)));
            seen.push(value);
            slopes.push(slope);
        }
        let mean: f64 = seen.iter().zip(&self.weights).map(|(k, w)| k * w).sum();
        solve_lower(&self.factor, &mut seen);
        let deviation = (1.0 - seen.iter().map(|v| v * v).sum::<f64>()).max(PIVOT).sqrt();
        solve_upper(&self.factor, &mut seen);
        let mut gradient = vec![0.0; self.width()];
        for i in 0..n {
            let share = -slopes[i] * (self.weights[i] - kappa * seen[i] / deviation);
            for (j, (x, y)) in point.iter().zip(self.point(i)).enumerate() {
                gradient[j] += share * (x - y) / self.lengthscales[self.groups[j]].powi(2);
            }
        }
        (mean + kappa * deviation, gradient)
    }

    /// Climbs the upper confidence bound from a point along its first `free` coordinates, within the unit cube: where it comes to, and
    /// the bound there.
    pub fn climb_bound(&self, from: &[f64], free: usize, kappa: f64) -> (Vec<f64>, f64) {
        const STEPS: i32 = 30;
        let (mut best, mut most) = (from.to_vec(), f64::NEG_INFINITY);
        let mut at = from.to_vec();
        let mut climbs = vec![Climb::default(); free];
        for step in 1..=STEPS {
            let (value, gradient) = self.bound(&at, kappa);
            if value > most {
                most = value;
                best.clone_from(&at);
            }
            let rate = 0.05 * (1.0 - f64::from(step - 1) / f64::from(STEPS));
            for ((x, climb), slope) in at.iter_mut().zip(&mut climbs).zip(gradient) {
                *x = (*x + climb.step(rate, slope, step)).clamp(0.0, 1.0);
            }
        }
        (best, most)
    }

    /// The upper confidence bound at a point, in standard deviations of the values.
    pub fn bound_at(&self, point: &[f64], kappa: f64) -> f64 {
        self.bound(point, kappa).0
    }
}

/// L x = b in place, L row by row.
fn solve_lower(factor: &[Vec<f64>], b: &mut [f64]) {
    for i in 0..b.len() {
        let row = &factor[i];
        let known: f64 = dot(&row[..i], &b[..i]);
        b[i] = (b[i] - known) / row[i];
    }
}

/// L^T x = b in place.
fn solve_upper(factor: &[Vec<f64>], b: &mut [f64]) {
    for i in (0..b.len()).rev() {
        let row = &factor[i];
        b[i] /= row[i];
        let x = b[i];
        b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * x);
    }
}

/// In four sums, which the processor can add at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
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

/// Candidates whose upper confidence bounds are kept up to date as observations come: a column of L^-1 k(X, candidates) per candidate.
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
        let mut candidates = Self { points, count, rows: vec![], variance: vec![1.0; count] };
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
                    *value = process.kernel.value(square);
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

    /// The upper confidence bounds of all candidates, in standard deviations of the values.
    pub fn bounds(&self, process: &GaussianProcess, kappa: f64) -> Vec<f64> {
        let mut bounds = vec![0.0; self.count];
        for (row, y) in self.rows.iter().zip(&process.half) {
            bounds.iter_mut().zip(row).for_each(|(bound, v)| *bound += v * y);
        }
        bounds.iter_mut().zip(&self.variance).for_each(|(bound, v)| *bound += kappa * v.max(0.0).sqrt());
        bounds
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

    fn at(&self, lengthscales: &[f64]) -> (f64, Vec<f64>) {
        let (n, many) = (self.values.len(), lengthscales.len());
        let inverse: Vec<f64> = lengthscales.iter().map(|l| 1.0 / (l * l)).collect();
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(n);
        let mut slopes = Vec::with_capacity(self.squares.len() / many.max(1));
        let mut pairs = self.squares.chunks_exact(many.max(1));
        for i in 0..n {
            let mut row = Vec::with_capacity(i + 1);
            for squares in pairs.by_ref().take(i) {
                let (value, slope) = self.process.kernel.at(dot(squares, &inverse));
                row.push(value);
                slopes.push(slope);
            }
            solve_lower(&factor, &mut row);
            let rest = 1.0 + self.process.noise - dot(&row, &row);
            row.push(rest.max(PIVOT).sqrt());
            factor.push(row);
        }
        let mut weights = self.values.clone();
        solve_lower(&factor, &mut weights);
        let fit = dot(&weights, &weights);
        solve_upper(&factor, &mut weights);
        let volume: f64 = factor.iter().enumerate().map(|(i, row)| row[i].ln()).sum();
        let value = -fit / 2.0 - volume - n as f64 / 2.0 * std::f64::consts::TAU.ln();
        // tr((w w^T - K^-1) dK) / 2, dK_ij / d ln l_g = c_ij d_ij,g^2 / l_g^2; each pair stands for two.
        let inverted = inverted(&factor);
        let mut gradient = vec![0.0; many];
        let mut pair = 0;
        for i in 0..n {
            for j in 0..i {
                let share = (weights[i] * weights[j] - inverted[i][j]) * slopes[pair];
                let squares = &self.squares[pair * many..][..many];
                for g in 0..many {
                    gradient[g] += share * squares[g] * inverse[g];
                }
                pair += 1;
            }
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
/// the range of lengthscales.
fn climb(goal: &impl Fn(&[f64]) -> (f64, Vec<f64>), start: Vec<f64>) -> (f64, Vec<f64>) {
    const STEPS: usize = 40;
    let [low, high] = LENGTHSCALES.map(f64::ln);
    let mut at: Vec<f64> = start.iter().map(|x| x.clamp(low, high)).collect();
    let mut best = (f64::NEG_INFINITY, at.clone());
    let (mut steps, mut before) = (vec![0.3; at.len()], vec![0.0; at.len()]);
    for _ in 0..STEPS {
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
                at[j] = (at[j] + slope.signum() * steps[j]).clamp(low, high);
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

    /// The gradient that the bound is climbed along is the bound's, by central differences, where coordinates share lengthscales.
    #[test]
    fn the_gradient_of_the_bound_is_that_of_differences() {
        for kernel in [Kernel::Matern52, Kernel::SquaredExponential] {
            let mut process = GaussianProcess::new(kernel, vec![0, 1, 1], vec![0.4, 0.9], 1e-3);
            for i in 0..15 {
                let at = [0.37, 0.71, 0.13].map(|step: f64| (step * f64::from(i + 1)).fract());
                process.observe(&at, (4.0 * at[0]).sin() + at[1] * at[2] - 0.3 * at[2]);
            }
            for (at, kappa) in [([0.2, 0.6, 0.4], 2.0), ([0.9, 0.1, 0.75], 0.5), ([0.45, 0.5, 0.05], 0.0)] {
                let (value, gradient) = process.bound(&at, kappa);
                let (mean, deviation) = process.posterior(&at);
                let wanted = (mean + kappa * deviation - process.mean) / process.deviation;
                assert!((value - wanted).abs() < 1e-9, "{kernel:?}: {value}, not {wanted}");
                for (j, slope) in gradient.iter().enumerate() {
                    let beside = |step: f64| {
                        let mut moved = at;
                        moved[j] += step;
                        process.bound_at(&moved, kappa)
                    };
                    let wanted = (beside(1e-5) - beside(-1e-5)) / 2e-5;
                    assert!(
                        (slope - wanted).abs() < 1e-6 * wanted.abs().max(1.0),
                        "{kernel:?} {j}: {slope}, not {wanted}"
                    );
                }
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
