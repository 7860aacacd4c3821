//! An evolution strategy as an examiner: each generation of settings is drawn around where the last ones failed most.
//!
//! Ranges: CMA-ES with a variance for each factor (Ros and Hansen, PPSN 2008), begun anew with twice as many settings a generation where it
//! finds nothing more (Auger and Hansen, CEC 2005). Choices: a distribution for each factor that moves towards the best ones and keeps a margin
//! (Hamano et al., GECCO 2024). Whole numbers are ranges whose deviation stays wide enough to reach the next one.

use rand::Rng;
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{ContinuousCDF, Normal};

use super::bayes::MUCH;
use super::proposals::{Examinee, Origin, Proposals, Proposing};
use super::{Approach, Search};
use crate::core::{Error, Result};
use crate::space::{Axis, Factor, Setting};

#[derive(Debug, Clone, PartialEq)]
pub struct Evolution {
    /// Questions per image.
    pub questions: usize,
    /// Settings of the first generation that learns; `None`: 4 + 3 ln(factors).
    pub population: Option<usize>,
}

impl Search for Evolution {
    fn describe(&self) -> String {
        let population = self.population.map_or(String::new(), |population| format!(", population: {population}"));
        format!("evolution(#{{ questions: {}{population} }})", self.questions)
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }

    fn misses(&self, _factors: usize) -> Option<&'static str> {
        (self.questions >= MANY).then_some(RARE)
    }
}

/// So many random questions mostly find a part of one setting in thirty.
const MANY: usize = 60;

/// What random questions find and those of a climb do not.
const RARE: &str = "search::evolution climbs with two thirds of its questions or more: where failures were rare and the loss did not lead to them, 80 of its questions \
                    made 57 of 100 objects fail and as many of search::random 94 (one setting in thirty), 1000 9 to 15 of 40 and 28 to 32 (one in a thousand), so ask these too";

impl Proposing for Evolution {
    fn begin(&self, factors: &[Factor], of: Examinee) -> Result<Box<dyn Proposals>> {
        let axes: Vec<Axis> = factors.iter().map(Factor::axis).collect();
        super::proposals::check_varies(&axes, "evolution")?;
        let varying = axes.iter().filter(|axis| axis.varies()).count() as f64;
        let population = self.population.unwrap_or(4 + (3.0 * varying.ln()) as usize);
        let normal = Normal::new(0.0, 1.0).map_err(|_| Error::internal("a standard normal distribution"))?;
        Ok(Box::new(EvolutionExaminer {
            left: self.questions,
            state: Population::new(&axes, population),
            axes,
            rng: of.rng(),
            normal,
            begun: false,
            drawn: vec![],
            chosen: 0,
            elsewhere: Elsewhere::default(),
        }))
    }
}

/// Random settings before every beginning, as many times a generation.
const BEFORE: usize = 2;
/// The first deviation, in shares of ranges, and what it counts as nothing below.
const FIRST: f64 = 0.25;
const NOTHING: f64 = 1e-4;
/// Of whole numbers, the least deviation in steps from one to the next.
const STEP: f64 = 0.4;

/// A climb has come to its end where so many generations, and one for every two factors, found next to nothing that is larger. From there on
/// half as many settings again are drawn at random, since what fails need not lie where a slope leads.
const ENDED: usize = 2;

/// What is learnt from one beginning to the next.
struct Population {
    population: usize,
    /// Shares of ranges and whole numbers, one for each axis; others are not used.
    mean: Vec<f64>,
    /// Variances of the shares, but for the square of `sigma`, and both paths of the means.
    variance: Vec<f64>,
    sigma: f64,
    path: Vec<f64>,
    path_of_sigma: Vec<f64>,
    /// Probabilities of choices, by axis.
    chances: Vec<Vec<f64>>,
    generation: i32,
    best: f32,
    /// The largest loss up to each of the last generations.
    bests: Vec<f32>,
    /// Generations since something larger was found.
    stalled: usize,
}

/// A setting that was asked, in shares.
struct Drawn {
    shares: Vec<f64>,
    setting: Setting,
}

impl Population {
    fn new(axes: &[Axis], population: usize) -> Self {
        let chances = |axis: &Axis| if let Axis::Choices(n) = axis { vec![1.0 / *n as f64; *n] } else { vec![] };
        let n = axes.len();
        Self {
            population,
            mean: vec![0.5; n],
            variance: vec![1.0; n],
            sigma: FIRST,
            path: vec![0.0; n],
            path_of_sigma: vec![0.0; n],
            chances: axes.iter().map(chances).collect(),
            generation: 0,
            best: f32::NEG_INFINITY,
            bests: vec![],
            stalled: 0,
        }
    }

    /// One that begins around a setting, whose loss is known.
    fn around(axes: &[Axis], population: usize, (loss, shares): &(f32, Vec<f64>)) -> Self {
        let mut own = Self { best: *loss, bests: vec![*loss], ..Self::new(axes, population) };
        for (i, axis) in axes.iter().enumerate() {
            if own.chances[i].is_empty() && axis.varies() {
                own.mean[i] = shares[i];
            }
        }
        own
    }

    fn note(&mut self, largest: f32) {
        if largest > self.best {
            self.best = largest;
            self.stalled = 0;
        } else {
            self.stalled += 1;
        }
        self.bests.push(self.best);
    }

    /// Whether its last generations found next to nothing that is larger. `middle`: of the losses of random settings.
    fn has_climbed(&self, middle: f32) -> bool {
        let earlier = self.bests.len().checked_sub(ENDED + self.mean.len() / 2 + 1).map(|before| self.bests[before]);
        earlier.is_some_and(|earlier| self.best <= earlier + MUCH as f32 * (self.best - middle))
    }

    /// The standard deviation of a share.
    fn deviation(&self, i: usize, axis: Axis) -> f64 {
        let own = self.sigma * self.variance[i].sqrt();
        match axis {
            Axis::Whole { min, max } if min < max => own.max(STEP / (f64::from(max) - f64::from(min))),
            _ => own,
        }
    }

    /// Learns from a generation, that which fails most first. `weights` sum to 1.
    fn learn(&mut self, axes: &[Axis], drawn: &[&Drawn], weights: &[f64]) {
        let ranges: Vec<usize> = (0..axes.len()).filter(|&i| axes[i].varies() && self.chances[i].is_empty()).collect();
        let mass = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        if !ranges.is_empty() {
            let n = ranges.len() as f64;
            // Hansen's tutorial (2016), Table 1; of variances alone both rates are (n + 2) / 3 times as large.
            let c_sigma = (mass + 2.0) / (n + mass + 5.0);
            let damping = 1.0 + c_sigma + 2.0 * (((mass - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0);
            let c_path = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n);
            let faster = (n + 2.0) / 3.0;
            let one = (faster * 2.0 / ((n + 1.3).powi(2) + mass)).min(1.0);
            let many = (faster * 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0).powi(2) + mass)).clamp(0.0, 1.0 - one);
            let expected = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));
            self.generation += 1;
            let mut square = 0.0;
            let mut steps = vec![];
            for &i in &ranges {
                let step: f64 =
                    drawn.iter().zip(weights).map(|(drawn, w)| w * (drawn.shares[i] - self.mean[i])).sum::<f64>()
                        / self.sigma;
                let path = &mut self.path_of_sigma[i];
                *path = (1.0 - c_sigma) * *path
                    + (c_sigma * (2.0 - c_sigma) * mass).sqrt() * step / self.variance[i].sqrt();
                square += *path * *path;
                steps.push(step);
            }
            let settled = (1.0 - (1.0 - c_sigma).powi(2 * self.generation)).sqrt();
            let heavy = f64::from(u8::from(square.sqrt() / settled < (1.4 + 2.0 / (n + 1.0)) * expected));
            for (&i, &step) in ranges.iter().zip(&steps) {
                self.path[i] = (1.0 - c_path) * self.path[i] + heavy * (c_path * (2.0 - c_path) * mass).sqrt() * step;
                let spread: f64 = drawn
                    .iter()
                    .zip(weights)
                    .map(|(drawn, w)| w * ((drawn.shares[i] - self.mean[i]) / self.sigma).powi(2))
                    .sum();
                let lost = one * (1.0 - heavy) * c_path * (2.0 - c_path);
                self.variance[i] =
                    ((1.0 - one - many + lost) * self.variance[i] + one * self.path[i].powi(2) + many * spread)
                        .clamp(1e-12, 1e6);
                self.mean[i] = (self.mean[i] + self.sigma * step).clamp(0.0, 1.0);
            }
            self.sigma = (self.sigma * (c_sigma / damping * (square.sqrt() / expected - 1.0)).exp()).clamp(1e-9, 1.0);
        }
        let choosing = self.chances.iter().filter(|chances| chances.len() > 1).count() as f64;
        for (i, chances) in self.chances.iter_mut().enumerate().filter(|(_, chances)| chances.len() > 1) {
            let others = chances.len() as f64 - 1.0;
            let rate = mass / (mass + others + 2.0);
            for (choice, chance) in chances.iter_mut().enumerate() {
                let hit = |drawn: &Drawn| drawn.setting[i] as usize == choice;
                let share: f64 = drawn.iter().zip(weights).filter(|(drawn, _)| hit(drawn)).map(|(_, w)| w).sum();
                *chance += rate * (share - *chance);
            }
            let least = (1.0 - 0.73f64.powf(1.0 / choosing)) / others;
            let all: f64 = chances.iter().map(|chance| chance.max(least)).sum();
            chances.iter_mut().for_each(|chance| *chance = chance.max(least) / all);
        }
    }

    /// Whether all that it draws is as good as one setting, or nothing larger was found for long.
    fn spent(&self, axes: &[Axis]) -> bool {
        let n = axes.len();
        let narrow = (0..n).all(|i| self.chances[i].is_empty() && self.deviation(i, axes[i]) < NOTHING);
        narrow || self.stalled > 10 + 30 * n / self.population
    }
}

/// Losses of random settings that tell what is in their middle.
const ENOUGH: usize = 1000;

/// Settings that were drawn at random since the last beginning, and the losses of the first of all.
#[derive(Default)]
struct Elsewhere {
    many: usize,
    worst: Option<(f32, Vec<f64>)>,
    losses: Vec<f32>,
}

impl Elsewhere {
    fn note(&mut self, drawn: &Drawn, loss: f32) {
        self.many += 1;
        if self.losses.len() < ENOUGH {
            self.losses.push(loss);
        }
        if self.worst.as_ref().is_none_or(|(most, _)| loss > *most) {
            self.worst = Some((loss, drawn.shares.clone()));
        }
    }

    fn middle(&self) -> f32 {
        let mut sorted = self.losses.clone();
        sorted.sort_by(f32::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }

    /// The worst of them, which a climb begins at: the next counts anew.
    fn take(&mut self) -> Option<(f32, Vec<f64>)> {
        self.many = 0;
        self.worst.take()
    }
}

struct EvolutionExaminer {
    axes: Vec<Axis>,
    rng: Pcg64Mcg,
    normal: Normal,
    state: Population,
    left: usize,
    /// Whether there is a setting that the population stands around; else what comes next is drawn at random.
    begun: bool,
    /// What was asked last: first what the population drew, and how many these are, then random ones.
    drawn: Vec<Drawn>,
    chosen: usize,
    elsewhere: Elsewhere,
}

impl EvolutionExaminer {
    fn draw(&mut self, random: bool) -> Drawn {
        let mut setting: Setting = vec![];
        let mut shares = vec![];
        for (i, &axis) in self.axes.iter().enumerate() {
            let (x, share) = match axis {
                _ if random || axis == Axis::Chance => {
                    let x = axis.draw(&mut self.rng);
                    (x, axis.share(x))
                }
                Axis::Choices(_) => {
                    let mut left: f64 = self.rng.r#gen();
                    let chances = &self.state.chances[i];
                    let passed = |chance: &&f64| {
                        left -= **chance;
                        left >= 0.0
                    };
                    (chances.iter().take_while(passed).count().min(chances.len() - 1) as f64, 0.0)
                }
                _ => {
                    let by = self.state.deviation(i, axis) * self.normal.inverse_cdf(self.rng.gen_range(1e-12..1.0));
                    // What would lie outside is turned back.
                    let share = (self.state.mean[i] + by).rem_euclid(2.0);
                    let share = if share > 1.0 { 2.0 - share } else { share };
                    (axis.at_share(share), share)
                }
            };
            setting.push(x);
            shares.push(share);
        }
        Drawn { shares, setting }
    }

    /// Learns from what the population drew.
    fn learn(&mut self, drawn: &[Drawn], losses: &[f32]) {
        let mut order: Vec<usize> = (0..losses.len()).collect();
        order.sort_by(|&a, &b| losses[b].total_cmp(&losses[a]).then(a.cmp(&b)));
        let (Some(&first), Some(&last)) = (order.first(), order.last()) else { return };
        if losses[first] == losses[last] {
            // Nothing was told apart.
            self.state = Population::new(&self.axes, self.state.population);
            self.begun = false;
            return;
        }
        self.state.note(losses[first]);
        let half = order.len().div_ceil(2);
        let raw: Vec<f64> = (0..half).map(|rank| ((half as f64 + 0.5) / (rank as f64 + 1.0)).ln()).collect();
        let mut weights = vec![0.0; order.len()];
        weights[..half].copy_from_slice(&raw);
        // Equal losses weigh the same.
        let mut from = 0;
        while from < order.len() {
            let to = (from..order.len()).find(|&k| losses[order[k]] != losses[order[from]]).unwrap_or(order.len());
            let mean = weights[from..to].iter().sum::<f64>() / (to - from) as f64;
            weights[from..to].fill(mean);
            from = to;
        }
        let all: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= all);
        let best: Vec<&Drawn> = order.iter().map(|&k| &drawn[k]).collect();
        self.state.learn(&self.axes, &best, &weights);
    }
}

impl Proposals for EvolutionExaminer {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        let population = self.state.population;
        let (chosen, random) = match self.begun {
            false => (0, BEFORE * population),
            true if self.state.has_climbed(self.elsewhere.middle()) => (population, population.div_ceil(2)),
            true => (population, 0),
        };
        self.chosen = chosen.min(self.left);
        let many = (chosen + random).min(self.left);
        self.left -= many;
        self.drawn = (0..many).map(|place| self.draw(place >= self.chosen)).collect();
        Ok(self.drawn.iter().map(|drawn| drawn.setting.clone()).collect())
    }

    fn origin(&self, place: usize) -> Origin {
        if place < self.chosen { Origin::Chosen } else { Origin::Random }
    }

    fn update(&mut self, losses: &[f32]) -> Result<()> {
        let mut drawn = std::mem::take(&mut self.drawn);
        for (drawn, &loss) in drawn.iter().zip(losses).skip(self.chosen) {
            self.elsewhere.note(drawn, loss);
        }
        let population = self.state.population;
        if !self.begun {
            // Where nothing was told apart, others are drawn.
            let same = losses.iter().all(|loss| *loss == losses[0]);
            if let Some(worst) = (!same).then(|| self.elsewhere.take()).flatten() {
                self.state = Population::around(&self.axes, population, &worst);
                self.begun = true;
            }
            return Ok(());
        }
        drawn.truncate(self.chosen);
        self.learn(&drawn, &losses[..drawn.len()]);
        if !self.begun {
            return Ok(());
        }
        let larger = self.elsewhere.worst.as_ref().is_some_and(|(loss, _)| *loss > self.state.best);
        let spent = self.state.spent(&self.axes);
        let next = if spent { 2 * population } else { population };
        if larger || spent && self.elsewhere.many >= BEFORE * next {
            if let Some(worst) = self.elsewhere.take() {
                self.state = Population::around(&self.axes, next, &worst);
            }
        } else if spent {
            self.state = Population::new(&self.axes, next);
            self.begun = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Domain;

    /// A slope leads to a corner that never fails, and 4% of the square fails elsewhere: what goes on where the slope ends and nowhere
    /// else finds that for 5 of 20 objects. And what lies where a slope leads is found exactly.
    #[test]
    fn what_lies_off_the_slope_is_found() {
        let asked = |questions: usize, row: u64, loss: &dyn Fn(&[f64]) -> f64| {
            let factors: Vec<Factor> =
                ["a", "b"].map(|name| Factor::new(name, Domain::Range { min: 0.0, max: 1.0 })).into_iter().collect();
            let how = Evolution { questions, population: None };
            let mut examiner = how.begin(&factors, Examinee { seed: 5, row, label: 0 }).expect("an examiner");
            let (mut losses, mut random) = (vec![], 0);
            while losses.len() < questions {
                let settings = examiner.propose().expect("settings");
                random += (0..settings.len()).filter(|&place| examiner.origin(place) == Origin::Random).count();
                let own: Vec<f32> = settings.iter().map(|s| loss(s) as f32).collect();
                examiner.update(&own).expect("learns");
                losses.extend(own);
            }
            (losses, random)
        };
        let trap = |s: &[f64]| {
            let away = ((s[0] - 0.72).powi(2) + (s[1] - 0.72).powi(2)).sqrt() / 0.1128;
            if away < 1.0 { 1.02 - away } else { -0.05 - 0.5 * (s[0] + s[1]) }
        };
        let found = (0..20).filter(|&row| asked(150, row, &trap).0.iter().any(|loss| *loss > 0.0)).count();
        assert!(found >= 11, "{found} of 20");
        let peak = |s: &[f64]| -((s[0] - 0.3).powi(2) + 4.0 * (s[1] - 0.6).powi(2));
        for row in 0..10 {
            let (losses, random) = asked(300, row, &peak);
            let largest = losses.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert!(largest > -1e-4, "{largest}");
            assert!(random < 150, "{random} of 300 at random");
        }
    }
}
