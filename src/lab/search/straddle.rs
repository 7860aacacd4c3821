//! Questions near a boundary: a Gaussian process learns each image's losses, and asks where it can tell least whether they are above 0 (the
//! straddle heuristic of Bryan, Schneider, Nichol, Miller, Genovese and Wasserman, NeurIPS 2005).

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use super::cube::Cube;
use super::proposals::{Examinee, Origin, Proposals, Proposing, check_varies, is_drawn};
use super::{Approach, Search, sobol};
use crate::core::Result;
use crate::maths::gaussian_process::{Candidates, GaussianProcess, Hope, Kernel, Learnt};
use crate::objective::{Loss, Objective};
use crate::space::{Axis, Factor, Setting};

#[derive(Debug, Clone, PartialEq)]
pub struct Straddle {
    /// About each image, all included.
    pub questions: usize,
    /// The share of questions that are drawn at random whatever was answered.
    pub random_share: f64,
    /// Settings that are compared for every question.
    pub candidates: usize,
}

impl Search for Straddle {
    fn describe(&self) -> String {
        format!(
            "straddle(#{{ questions: {}, random_share: {:?}, candidates: {} }})",
            self.questions, self.random_share, self.candidates
        )
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }

    fn misses(&self, _factors: usize) -> Option<&'static str> {
        (self.questions >= MANY).then_some(RARE)
    }
}

/// So many random questions mostly find a part of one setting in twenty-five.
const MANY: usize = 50;

/// What random questions find and those beside a line do not.
const RARE: &str = "search::straddle asks where the model seems to turn from right to wrong: where failures were rare and the loss did not lead to them, 60 of \
                    its questions made 49 of 100 objects fail and as many of search::random 94 (one setting in twenty-five), so ask these too";

impl Proposing for Straddle {
    /// Losses must be above 0 where the image fails and below where not.
    fn looks_for(&self, objective: &Objective) -> bool {
        match objective.loss {
            None | Some(Loss::Lead) => true,
            Some(loss) => loss.signed() && objective.lead == 0.0,
        }
    }

    fn begin(&self, factors: &[Factor], of: Examinee) -> Result<Box<dyn Proposals>> {
        let axes: Vec<Axis> = factors.iter().map(Factor::axis).collect();
        check_varies(&axes, "straddle")?;
        Ok(Box::new(Straddling::new(self.clone(), Cube::of(factors), of)))
    }
}

/// Points of a unit cube that are as near as this in every range teach nothing new.
const REPEATED: f64 = 0.004;
/// Candidates that are improved along the gradient, and how often.
const IMPROVED: usize = 3;
const STEPS: i32 = 10;
const FIT_STEPS: usize = 16;
/// The deviations that an interval at 95% reaches.
const REACH: f64 = 1.96;

struct Straddling {
    how: Straddle,
    cube: Cube,
    rng: Pcg64Mcg,
    process: GaussianProcess,
    candidates: Option<Candidates>,
    /// Questions that fill the space before any is chosen.
    start: usize,
    scramble: u32,
    filled: u32,
    asked: usize,
    fitted: usize,
    losses: Vec<f64>,
    pending: Vec<(Vec<f64>, Origin)>,
}

impl Straddling {
    fn new(how: Straddle, cube: Cube, of: Examinee) -> Self {
        let mut rng = of.rng();
        let groups = cube.groups();
        let many = groups.iter().max().map_or(0, |last| last + 1);
        let process = GaussianProcess::new(Kernel::Matern52, groups, vec![0.3; many], 1e-3).learning(Learnt::USUAL);
        let start = (4 * cube.varying()).clamp(8, 40).min(how.questions.div_ceil(3));
        let scramble = rng.r#gen();
        Self {
            how,
            cube,
            rng,
            process,
            candidates: None,
            start,
            scramble,
            filled: 0,
            asked: 0,
            fitted: 0,
            losses: vec![],
            pending: vec![],
        }
    }

    fn next(&mut self) -> (Setting, Origin) {
        if is_drawn(self.asked, self.how.random_share) {
            return (self.cube.draw(&mut self.rng), Origin::Random);
        }
        if self.asked < self.start {
            let at = self.filled % sobol::POINTS;
            self.filled += 1;
            let mut setting = sobol::setting(&self.cube.axes, at, 0, self.scramble, &mut self.rng);
            self.cube.leave_out(&mut setting);
            return (setting, Origin::Chosen);
        }
        let point = self.least_told();
        (self.cube.setting(&point, &mut self.rng), Origin::Chosen)
    }

    fn known(&self, point: &[f64]) -> bool {
        (0..self.process.len()).any(|i| self.cube.alike(point, self.process.point(i), REPEATED))
    }

    /// Where an interval of the loss reaches farthest to both sides of 0.
    fn least_told(&mut self) -> Vec<f64> {
        let n = self.process.len();
        if self.candidates.is_none() || n >= self.fitted + (self.fitted / 5).max(1) {
            self.fitted = n;
            self.process.fit(Some(((0.3f64).ln(), 1.0)), &[0.1, 0.5], FIT_STEPS);
            let points = (0..self.how.candidates).flat_map(|_| {
                let setting = self.cube.draw(&mut self.rng);
                self.cube.point(&setting)
            });
            self.candidates = Some(Candidates::new(points.collect(), &self.process));
        }
        let hope = Hope::Straddle { level: self.process.standardised(0.0), reach: REACH };
        let Some(mut candidates) = self.candidates.take() else { return vec![] };
        candidates.catch_up(&self.process);
        let hopes = candidates.hopes(&self.process, hope);
        let mut order: Vec<usize> = (0..hopes.len()).collect();
        order.sort_by(|a, b| hopes[*b].total_cmp(&hopes[*a]).then(a.cmp(b)));
        let fresh = order.into_iter().filter(|&k| !self.known(candidates.point(k))).take(IMPROVED);
        let mut best: Option<(f64, Vec<f64>)> = None;
        for k in fresh {
            let start = candidates.point(k).to_vec();
            let climbed = (self.cube.free > 0).then(|| self.process.climb(&start, self.cube.free, hope, STEPS));
            for (point, value) in std::iter::once((start, hopes[k])).chain(climbed) {
                let point = self.cube.settled(point);
                if best.as_ref().is_none_or(|(most, _)| value > *most) && !self.known(&point) {
                    best = Some((value, point));
                }
            }
        }
        self.candidates = Some(candidates);
        best.map_or_else(
            || {
                let setting = self.cube.draw(&mut self.rng);
                self.cube.point(&setting)
            },
            |(_, point)| point,
        )
    }

    /// Losses as the process learns them: far from 0 their logarithms count, as only the sign matters.
    fn bent(&self) -> Vec<f64> {
        let mut sizes: Vec<f64> = self.losses.iter().map(|loss| loss.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let middle = sizes[sizes.len() / 2];
        if middle <= 0.0 {
            return self.losses.clone();
        }
        self.losses.iter().map(|loss| loss.signum() * (loss.abs() / middle).ln_1p()).collect()
    }
}

impl Proposals for Straddling {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        let left = self.how.questions - self.asked;
        // Those that fill the space follow from no answer.
        let now = self.start.saturating_sub(self.asked).max(1).min(left);
        let mut settings = vec![];
        self.pending.clear();
        for _ in 0..now {
            let (setting, origin) = self.next();
            self.asked += 1;
            self.pending.push((self.cube.point(&setting), origin));
            settings.push(setting);
        }
        Ok(settings)
    }

    fn origin(&self, place: usize) -> Origin {
        self.pending.get(place).map_or(Origin::Chosen, |(_, origin)| *origin)
    }

    fn update(&mut self, losses: &[f32]) -> Result<()> {
        for ((point, _), &loss) in std::mem::take(&mut self.pending).iter().zip(losses) {
            self.losses.push(f64::from(loss));
            let values = self.bent();
            self.process.observe_as(point, values);
        }
        Ok(())
    }
}
