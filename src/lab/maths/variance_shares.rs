//! Sobol's indices: how much of a variance each factor accounts for, alone and with all that it takes part in.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// An index with its interval at 95%. Estimates may leave [0, 1], where the truth is; their intervals go no further than they do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceShare {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl VarianceShare {
    /// The interval without what no index can be, unless the estimate is there.
    fn within_truth(self) -> Self {
        let lo = if self.value < 0.0 { self.lo } else { self.lo.max(0.0) };
        Self { lo, hi: self.hi.min(self.value.max(1.0)), ..self }
    }
}

#[derive(Debug, Clone)]
pub struct VarianceShares {
    /// Of f within an object, in the mean over stars.
    pub variance: f64,
    /// S_i = V[E[f | x_i]] / V[f], by factor.
    pub first: Vec<VarianceShare>,
    /// ST_i = E[V[f | all but x_i]] / V[f], by factor.
    pub total: Vec<VarianceShare>,
    /// Of so many stars, those in which the factor changed f.
    pub moved: Vec<usize>,
    /// So many stars of equal variance would say as much: (sum v)^2 / sum v^2.
    pub effective: f64,
}

/// What one star adds: to the variance, and for every factor to both numerators.
struct StarTerms {
    variance: f64,
    first: Vec<f64>,
    total: Vec<f64>,
}

/// Of the stars of every object, each f(A), f(B), and f(A with factor i of B) for every factor: at least two stars of each object. First-order
/// and total indices after Jansen 1999 (Saltelli et al. 2010, Table 2, c and f), the variance half the mean square of f(A) - f(B): every star by
/// itself is right on average, so that none is biased where the points of an object's stars were spread evenly and so depend on each other.
/// Numerator and variance are sums over all stars. The interval is the jackknife's, leaving out one object at a
/// time, or of one object one of its stars, by Student's law: of first-order indices as they are, of total ones, which are never below 0, in
/// the logarithm. None where nothing varies.
pub fn indices(objects: &[Vec<f64>], factors: usize) -> Option<VarianceShares> {
    let star = factors + 2;
    let mut clusters: Vec<Vec<StarTerms>> =
        objects.iter().map(|stars| stars.chunks(star).map(StarTerms::of).collect()).collect();
    if clusters.len() == 1 {
        clusters = clusters.remove(0).into_iter().map(|terms| vec![terms]).collect();
    }
    let stars: usize = clusters.iter().map(Vec::len).sum();
    let sum_of = |of: &dyn Fn(&StarTerms) -> f64| -> Vec<f64> {
        clusters.iter().map(|cluster| cluster.iter().map(of).sum()).collect()
    };
    let below = sum_of(&|terms| terms.variance);
    let all_below: f64 = below.iter().sum();
    if all_below.is_nan() || all_below <= 0.0 {
        return None;
    }
    let m = clusters.len() as f64;
    let reach = StudentsT::new(0.0, 1.0, m - 1.0).map_or(f64::NAN, |law| law.inverse_cdf(0.975));
    // The quotient with each cluster left out in turn.
    let quotients = |above: &[f64]| {
        let all: f64 = above.iter().sum();
        let without = above.iter().zip(&below).map(|(above, below)| (all - above) / (all_below - below));
        (all / all_below, without.collect::<Vec<f64>>())
    };
    let reach_about = |middle: f64, others: &mut dyn Iterator<Item = f64>| {
        reach * ((m - 1.0) / m * others.map(|other| (other - middle).powi(2)).sum::<f64>()).sqrt()
    };
    let first = |i: usize| {
        let (value, without) = quotients(&sum_of(&|terms| terms.first[i]));
        let reach = reach_about(value, &mut without.into_iter());
        VarianceShare { value, lo: value - reach, hi: value + reach }.within_truth()
    };
    let total = |i: usize| {
        let (value, without) = quotients(&sum_of(&|terms| terms.total[i]));
        let reach = reach_about(value.ln(), &mut without.into_iter().map(f64::ln));
        match reach.is_finite() {
            true => VarianceShare { value, lo: value * (-reach).exp(), hi: value * reach.exp() }.within_truth(),
            // Of what moved in one cluster alone, or in none, no more is known; it is no more than all, but for chance.
            false => VarianceShare { value, lo: 0.0, hi: if value > 0.0 { value.max(1.0) } else { 0.0 } },
        }
    };
    let of_stars: Vec<f64> = clusters.iter().flatten().map(|terms| terms.variance).collect();
    let moved = |i: usize| objects.iter().flat_map(|stars| stars.chunks(star)).filter(|f| f[2 + i] != f[0]).count();
    Some(VarianceShares {
        variance: all_below / stars as f64,
        first: (0..factors).map(first).collect(),
        total: (0..factors).map(total).collect(),
        moved: (0..factors).map(moved).collect(),
        effective: of_stars.iter().sum::<f64>().powi(2) / of_stars.iter().map(|v| v * v).sum::<f64>(),
    })
}

impl StarTerms {
    fn of(f: &[f64]) -> Self {
        let (a, b, turned) = (f[0], f[1], &f[2..]);
        Self {
            variance: 0.5 * (a - b).powi(2),
            first: turned.iter().map(|ab| (ab - a) * (b - 0.5 * (a + ab))).collect(),
            total: turned.iter().map(|ab| 0.5 * (a - ab).powi(2)).collect(),
        }
    }
}
