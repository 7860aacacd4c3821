//! Bayesian optimisation as an examiner (Shu, Liu, Qiu and Yuille, AAAI 2020): a Gaussian process over settings, and the next question
//! where its upper confidence bound is largest.

use rand_pcg::Pcg64Mcg;

use super::proposals::{Proposals, Proposing};
use super::{Approach, Search};
use crate::core::{Result, random};
use crate::maths::gaussian_process::{Candidates, GaussianProcess, Kernel};
use crate::space::{Axis, Factor, Setting};

/// Settings are points of a unit cube: ranges by their shares, and every choice a coordinate of its own, so that two choices are as far
/// apart as the ends of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Bayes {
    /// Questions per image, the random ones included.
    pub steps: usize,
    /// Random questions at the start.
    pub start: usize,
    pub kernel: Kernel,
    pub explore: Explore,
    /// The variance of the noise, as a share of that of the losses.
    pub noise: f64,
    /// Random settings that are compared for every question; the best are then improved.
    pub candidates: usize,
    /// After how many questions lengthscales are fitted again.
    pub refit: usize,
    pub lengthscales: Lengthscales,
}

/// How far the upper confidence bound is above the mean: the square of how many standard deviations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Explore {
    Fixed(f64),
    /// 2 ln(d t^2 pi^2 / 0.6) at question t of d factors.
    Growing,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lengthscales {
    /// One for all factors, where the losses are most likely.
    One,
    /// One for each, where the losses are most likely times a log-normal prior with mean sqrt(2) + ln(d) / 2 and deviation sqrt(3)
    /// (Hvarfner, Hellsten and Nardi, ICML 2024).
    Each,
    /// One for all factors, which stays.
    Fixed(f64),
}

impl Search for Bayes {
    fn describe(&self) -> String {
        self.said(["questions", "random_questions", "noise_variance"])
    }

    fn identity(&self) -> String {
        self.said(["steps", "start", "noise"])
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }
}

impl Bayes {
    fn said(&self, [steps, start, noise]: [&str; 3]) -> String {
        let kernel = match self.kernel {
            Kernel::Matern52 => "matern",
            Kernel::SquaredExponential => "squared-exponential",
        };
        let beta = match self.explore {
            Explore::Fixed(beta) => format!("{beta:?}"),
            Explore::Growing => "\"growing\"".into(),
        };
        let lengthscales = match self.lengthscales {
            Lengthscales::One => "\"one\"".into(),
            Lengthscales::Each => "\"each\"".into(),
            Lengthscales::Fixed(length) => format!("{length:?}"),
        };
        format!(
            "bayes(#{{ {steps}: {}, {start}: {}, kernel: {kernel:?}, beta: {beta}, {noise}: {:?}, candidates: {}, refit: {}, lengthscales: {lengthscales} }})",
            self.steps, self.start, self.noise, self.candidates, self.refit
        )
    }
}

impl Proposing for Bayes {
    fn begin(&self, factors: &[Factor], stream: (u64, u64)) -> Result<Box<dyn Proposals>> {
        let axes: Vec<Axis> = factors.iter().map(Factor::axis).collect();
        super::proposals::check_varies(&axes, "bayes")?;
        Ok(Box::new(BayesExaminer::new(self.clone(), axes, random(stream.0, stream.1))))
    }
}

/// The half of a diagonal, so that two choices of one factor are at distance 1.
const CHOSEN: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Candidates that are improved along the gradient.
const IMPROVED: usize = 8;

struct BayesExaminer {
    how: Bayes,
    axes: Vec<Axis>,
    rng: Pcg64Mcg,
    process: GaussianProcess,
    candidates: Option<Candidates>,
    /// Coordinates that ranges take; those of choices come after.
    free: usize,
    asked: usize,
    pending: Vec<Vec<f64>>,
}

impl BayesExaminer {
    fn new(how: Bayes, axes: Vec<Axis>, rng: Pcg64Mcg) -> Self {
        let mut groups = vec![];
        let mut factor = 0;
        for ranges in [true, false] {
            for axis in &axes {
                let coordinates = match axis {
                    Axis::Chance => 0,
                    Axis::Choices(n) if !ranges => *n,
                    Axis::Range { .. } | Axis::Log { .. } | Axis::Whole { .. } if ranges => 1,
                    _ => continue,
                };
                groups.extend(vec![factor; coordinates]);
                factor += usize::from(coordinates > 0);
            }
        }
        let free = axes.iter().filter(|axis| !matches!(axis, Axis::Chance | Axis::Choices(_))).count();
        if how.lengthscales != Lengthscales::Each {
            groups.fill(0);
        }
        let many = groups.iter().max().map_or(0, |last| last + 1);
        let length = match how.lengthscales {
            Lengthscales::Fixed(length) => length,
            _ => 0.5 * (groups.len().max(1) as f64).sqrt(),
        };
        let process = GaussianProcess::new(how.kernel, groups, vec![length; many], how.noise);
        Self { how, axes, rng, process, candidates: None, free, asked: 0, pending: vec![] }
    }

    fn draw(&mut self) -> Setting {
        self.axes.iter().map(|axis| axis.draw(&mut self.rng)).collect()
    }

    /// A setting as a point of the cube.
    fn point(&self, setting: &[f64]) -> Vec<f64> {
        let mut point = Vec::with_capacity(self.process.width());
        for (axis, &x) in self.axes.iter().zip(setting) {
            if !matches!(axis, Axis::Chance | Axis::Choices(_)) {
                point.push(axis.share(x));
            }
        }
        for (axis, &x) in self.axes.iter().zip(setting) {
            if let Axis::Choices(n) = axis {
                point.extend((0..*n).map(|choice| if choice == x as usize { CHOSEN } else { 0.0 }));
            }
        }
        point
    }

    /// The setting that a point of the cube stands for; chance is drawn.
    fn setting(&mut self, point: &[f64]) -> Setting {
        let (ranges, choices) = point.split_at(self.free);
        let (mut ranges, mut choices) = (ranges.iter(), choices);
        let rng = &mut self.rng;
        self.axes
            .iter()
            .map(|axis| match axis {
                Axis::Chance => axis.draw(rng),
                Axis::Choices(n) => {
                    let (own, rest) = choices.split_at(*n);
                    choices = rest;
                    own.iter().position(|&x| x > 0.0).unwrap_or(0) as f64
                }
                _ => axis.at_share(ranges.next().copied().unwrap_or(0.5)),
            })
            .collect()
    }

    /// How many factors there are to choose.
    fn varying(&self) -> f64 {
        self.axes.iter().filter(|axis| axis.varies()).count().max(1) as f64
    }

    fn kappa(&self) -> f64 {
        match self.how.explore {
            Explore::Fixed(beta) => beta.sqrt(),
            Explore::Growing => {
                let (d, t) = (self.varying(), (self.process.len() + 1) as f64);
                (2.0 * (d * t * t * std::f64::consts::PI.powi(2) / 0.6).ln()).sqrt()
            }
        }
    }

    /// Where the upper confidence bound is largest, as far as was found: the best of random candidates, a few of them improved along its
    /// gradient, and the best of these with every other choice of one factor.
    fn most_promising(&mut self) -> Vec<f64> {
        let kappa = self.kappa();
        let refit = (self.process.len() - self.how.start.min(self.process.len())).is_multiple_of(self.how.refit);
        if refit {
            match self.how.lengthscales {
                Lengthscales::Fixed(_) => {}
                Lengthscales::One => self.process.fit(None, &[0.1, 0.5, 2.0]),
                Lengthscales::Each => {
                    let middle = std::f64::consts::SQRT_2 + self.varying().ln() / 2.0;
                    let start = if self.process.len() <= self.how.start { vec![0.3, 1.0] } else { vec![1.0] };
                    self.process.fit(Some((middle, 3f64.sqrt())), &start);
                }
            }
        }
        if refit || self.candidates.is_none() {
            let points: Vec<f64> = (0..self.how.candidates)
                .flat_map(|_| {
                    let setting = self.draw();
                    self.point(&setting)
                })
                .collect();
            self.candidates = Some(Candidates::new(points, &self.process));
        }
        let Some(candidates) = &mut self.candidates else { return vec![] };
        candidates.catch_up(&self.process);
        let bounds = candidates.bounds(&self.process, kappa);
        let mut order: Vec<usize> = (0..bounds.len()).collect();
        let few = IMPROVED.min(order.len());
        let by_bound = |a: &usize, b: &usize| bounds[*b].total_cmp(&bounds[*a]).then(a.cmp(b));
        if few < order.len() {
            order.select_nth_unstable_by(few, by_bound);
            order.truncate(few);
        }
        order.sort_by(by_bound);
        let mut best = (candidates.point(order[0]).to_vec(), bounds[order[0]]);
        for place in order {
            let (point, bound) = self.process.climb_bound(candidates.point(place), self.free, kappa);
            if bound > best.1 {
                best = (point, bound);
            }
        }
        let mut first = self.free;
        for axis in &self.axes {
            let Axis::Choices(n) = axis else { continue };
            for choice in 0..*n {
                let mut other = best.0.clone();
                other[first..first + n].fill(0.0);
                other[first + choice] = CHOSEN;
                let bound = self.process.bound_at(&other, kappa);
                if bound > best.1 {
                    best = (other, bound);
                }
            }
            first += n;
        }
        best.0
    }
}

impl Proposals for BayesExaminer {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        let left = self.how.steps - self.asked;
        let settings = match self.asked < self.how.start {
            true => (0..self.how.start.min(left)).map(|_| self.draw()).collect(),
            false if left == 0 => vec![],
            false => {
                let point = self.most_promising();
                vec![self.setting(&point)]
            }
        };
        self.asked += settings.len();
        // Whole numbers were rounded, so the point that is learnt from is that of the setting.
        self.pending = settings.iter().map(|setting| self.point(setting)).collect();
        Ok(settings)
    }

    fn update(&mut self, losses: &[f32]) -> Result<()> {
        for (point, &loss) in std::mem::take(&mut self.pending).iter().zip(losses) {
            self.process.observe(point, f64::from(loss));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Srinivas et al. 2010, Theorem 1 with delta = 0.1: 2 ln(d t^2 pi^2 / (6 delta)), by hand for d = 2 at t = 1 and t = 5.
    #[test]
    fn a_growing_bound_is_that_of_the_theorem() {
        let how = Bayes {
            steps: 10,
            start: 2,
            kernel: Kernel::Matern52,
            explore: Explore::Growing,
            noise: 1e-4,
            candidates: 10,
            refit: 100,
            lengthscales: Lengthscales::Fixed(0.5),
        };
        let axes = vec![Axis::Range { min: 0.0, max: 1.0 }, Axis::Chance, Axis::Whole { min: 0, max: 9 }];
        let mut examiner = BayesExaminer::new(how, axes, random(1, 1));
        let bound = |examiner: &BayesExaminer| examiner.kappa().powi(2);
        assert!((bound(&examiner) - 6.986_865).abs() < 1e-5, "{}", bound(&examiner));
        while examiner.process.len() < 4 {
            let asked = examiner.propose().expect("settings").len();
            examiner.update(&vec![0.5; asked]).expect("heard");
        }
        assert!((bound(&examiner) - 13.424_617).abs() < 1e-5, "{}", bound(&examiner));
    }

    /// A space of one range, one choice and one whole number, small enough to try every point of it.
    #[test]
    fn the_next_question_is_where_the_bound_is_largest() {
        let axes = vec![Axis::Range { min: -2.0, max: 3.0 }, Axis::Choices(3), Axis::Range { min: 0.0, max: 1.0 }];
        let how = Bayes {
            steps: 40,
            start: 3,
            kernel: Kernel::Matern52,
            explore: Explore::Fixed(4.0),
            noise: 1e-4,
            candidates: 500,
            refit: 4,
            lengthscales: Lengthscales::Each,
        };
        let mut examiner = BayesExaminer::new(how, axes, random(3, 4));
        let loss = |s: &[f64]| (s[0].sin() + [0.0, 0.4, -0.3][s[1] as usize] * s[2] - (s[2] - 0.6).powi(2)) as f32;
        let (mut total, mut compared) = (0.0, 0);
        loop {
            let settings = examiner.propose().expect("settings");
            if settings.is_empty() {
                break;
            }
            if examiner.asked > 3 {
                let kappa = examiner.kappa();
                let asked = examiner.process.bound_at(&examiner.pending[0], kappa);
                let mut most = f64::NEG_INFINITY;
                for choice in 0..3 {
                    for i in 0..=60 {
                        for j in 0..=60 {
                            let (x, z) = (-2.0 + 5.0 * f64::from(i) / 60.0, f64::from(j) / 60.0);
                            let point = examiner.point(&[x, f64::from(choice), z]);
                            most = most.max(examiner.process.bound_at(&point, kappa));
                        }
                    }
                }
                assert!(asked > most - 0.05, "question {}: {asked} of {most}", examiner.asked);
                total += asked - most;
                compared += 1;
            }
            let losses: Vec<f32> = settings.iter().map(|setting| loss(setting)).collect();
            examiner.update(&losses).expect("learns");
        }
        assert_eq!(compared, 37);
        // Improving along the gradient finds what lies between the grid's points.
        assert!(total / f64::from(compared) > -0.002, "{}", total / f64::from(compared));
    }

    #[test]
    fn a_setting_survives_its_way_through_the_cube() {
        let axes = vec![
            Axis::Log { min: 0.2, max: 3.0 },
            Axis::Choices(4),
            Axis::Whole { min: -3, max: 5 },
            Axis::Chance,
            Axis::Range { min: 2.0, max: 2.0 },
            Axis::Choices(1),
        ];
        let how = Bayes {
            steps: 10,
            start: 2,
            kernel: Kernel::SquaredExponential,
            explore: Explore::Growing,
            noise: 1e-4,
            candidates: 50,
            refit: 1,
            lengthscales: Lengthscales::One,
        };
        let mut examiner = BayesExaminer::new(how, axes, random(1, 1));
        let setting = vec![0.7, 2.0, -1.0, 17.0, 2.0, 0.0];
        let point = examiner.point(&setting);
        let again = examiner.setting(&point);
        for (i, (a, b)) in setting.iter().zip(&again).enumerate().filter(|(i, _)| *i != 3) {
            assert!((a - b).abs() < 1e-12, "factor {i}: {a} became {b}");
        }
    }
}
