//! Reinforcement learning as an examiner (Shu, Liu, Qiu and Yuille, AAAI 2020): a recurrent network draws one factor after the
//! other, each given those before, and learns from how far the settings fail (REINFORCE).

use rand::Rng;
use rand_pcg::Pcg64Mcg;
use tch::{Device, Kind};

use super::proposals::{Examinee, Origin, Proposals, Proposing, is_drawn};
use super::{Approach, Search};
use crate::core::{Error, Graph, Result, Tensor, gradients, suggestion};
use crate::optimiser::AdamSteps;
use crate::space::{Axis, Factor, Setting};

#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Questions per image.
    pub steps: usize,
    /// Questions between two steps of learning.
    pub batch: usize,
    /// How finely ranges are cut.
    pub bins: usize,
    pub hidden: i64,
    pub lr: f64,
    /// How much of the running mean of losses stays at every batch, which is taken off the losses; 0 for none.
    pub baseline: f64,
    /// The share of all questions that are drawn at random, whatever was learnt, and teach nothing.
    pub random_share: f64,
    /// Names of the factors in the order in which they are drawn; empty: as the space has them.
    pub order: Vec<String>,
}

impl Search for Policy {
    fn describe(&self) -> String {
        self.said("questions", true)
    }

    fn identity(&self) -> String {
        // As it was before there was such a share.
        self.said("steps", self.random_share > 0.0)
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }

    fn caution(&self, factors: usize) -> Option<String> {
        if self.steps < LEARNS {
            return Some(format!(
                "search::policy learns in thousands of questions: {} find about what random ones do, which of smooth losses is less than search::bayes or evolution find",
                self.steps
            ));
        }
        (1..=FEW_FACTORS).contains(&factors).then(|| {
            "search::policy over three factors or fewer settles before it has looked far: as many random questions were seen to find as much or more, \
             and fifty of search::bayes more"
                .to_string()
        })
    }

    fn misses(&self, factors: usize) -> Option<&'static str> {
        (self.steps >= LEARNS && factors > FEW_FACTORS && self.random_share < 1.0).then_some(RARE)
    }
}

/// What random questions find and those of a search that settles do not.
const RARE: &str = "search::policy settles on what fails most on average: where failures were rare (one setting in a thousand), 1000 of its questions made 11 to 17 of 40 \
                    images fail, 2 to 9 without a share of random ones, as many of search::random 28 to 32, so ask these too";

/// Fewer questions than it was seen to beat random ones with, on a smooth loss of nine factors.
const LEARNS: usize = 800;

/// Over three factors (rotations and shifts of digits) 1000 to 4000 of its questions found less than as many random ones.
const FEW_FACTORS: usize = 3;

impl Policy {
    fn said(&self, steps: &str, with_share: bool) -> String {
        let share = match with_share {
            true => format!(", random_share: {:?}", self.random_share),
            false => String::new(),
        };
        let order = match self.order.is_empty() {
            true => String::new(),
            false => format!(", order: {:?}", self.order),
        };
        format!(
            "policy(#{{ {steps}: {}, batch: {}, bins: {}, hidden: {}, lr: {:?}, baseline: {:?}{share}{order} }})",
            self.steps, self.batch, self.bins, self.hidden, self.lr, self.baseline
        )
    }
}

impl Proposing for Policy {
    fn begin(&self, factors: &[Factor], of: Examinee) -> Result<Box<dyn Proposals>> {
        let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
        let mut order: Vec<usize> = vec![];
        for name in &self.order {
            let place = names.iter().position(|known| known == name).ok_or_else(|| {
                Error::argument(format!("search::policy: `order`: no factor {name:?}"))
                    .hint(suggestion(name, names.iter().copied()))
            })?;
            if order.contains(&place) {
                return Err(Error::argument(format!("search::policy: `order` has {name:?} twice")));
            }
            order.push(place);
        }
        if !order.is_empty() && order.len() != factors.len() {
            let missing = (0..names.len()).find(|place| !order.contains(place)).map_or("", |place| names[place]);
            return Err(Error::argument(format!("search::policy: `order` leaves out {missing:?}"))
                .hint("it names every factor of the space once"));
        }
        if order.is_empty() {
            order = (0..factors.len()).collect();
        }
        let axes: Vec<Axis> = factors.iter().map(Factor::axis).collect();
        let drawn: Vec<DiscreteFactor> =
            order.iter().filter_map(|&place| DiscreteFactor::of(place, axes[place], self.bins)).collect();
        super::proposals::check_varies(&axes, "policy")?;
        // Parameters and Adam's two means of them.
        let numbers = drawn.iter().map(|factor| factor.choices * (2 * self.hidden as usize + 1)).sum::<usize>();
        if numbers > LARGEST {
            return Err(Error::argument(format!("search::policy: {numbers} parameters for every image are too many"))
                .hint("fewer `bins`, or a smaller `hidden`"));
        }
        let mut rng = of.rng();
        let network = PolicyNetwork::new(&drawn, self.hidden, &mut rng)?;
        Ok(Box::new(PolicyExaminer {
            how: self.clone(),
            axes,
            drawn,
            network,
            rng,
            asked: 0,
            random: 0,
            pending: vec![],
            mean: None,
        }))
    }
}

/// Parameters of one image's network, at most.
const LARGEST: usize = 1 << 22;

/// A factor as one of so many choices.
struct DiscreteFactor {
    /// Its place in a setting.
    place: usize,
    axis: Axis,
    choices: usize,
}

impl DiscreteFactor {
    /// `None` of chance, which nothing can be learnt about.
    fn of(place: usize, axis: Axis, bins: usize) -> Option<Self> {
        let choices = match axis {
            Axis::Chance => return None,
            Axis::Choices(n) => n,
            Axis::Whole { min, max } => bins.min((i64::from(max) - i64::from(min) + 1) as usize),
            Axis::Range { .. } | Axis::Log { .. } => bins,
        };
        Some(Self { place, axis, choices })
    }

    /// The middle of a bin; of whole numbers from the first to the last.
    fn value(&self, choice: usize) -> f64 {
        match self.axis {
            Axis::Choices(_) => choice as f64,
            Axis::Whole { .. } => self.axis.at_share(choice as f64 / (self.choices - 1).max(1) as f64),
            _ => self.axis.at_share((choice as f64 + 0.5) / self.choices as f64),
        }
    }
}

/// One LSTM cell, and for each factor a layer that turns its state into log odds and an embedding of what was chosen.
struct PolicyNetwork {
    /// All parameters in one row of numbers, so that one step of Adam takes all of them.
    flat: Tensor,
    /// Adam's running means of gradients and of their squares.
    moments: [Tensor; 2],
    steps: i32,
    shapes: Vec<Vec<i64>>,
    hidden: i64,
}

impl PolicyNetwork {
    /// Uniform in ± 1 / sqrt(hidden), as PyTorch's LSTM; heads 0, so that the first questions are uniform.
    fn new(drawn: &[DiscreteFactor], hidden: i64, rng: &mut Pcg64Mcg) -> Result<Self> {
        let mut shapes = vec![vec![4 * hidden, hidden], vec![4 * hidden, hidden], vec![4 * hidden], vec![1, hidden]];
        for factor in drawn {
            shapes.push(vec![factor.choices as i64, hidden]);
            shapes.push(vec![factor.choices as i64]);
            shapes.push(vec![factor.choices as i64, hidden]);
        }
        let reach = 1.0 / (hidden as f32).sqrt();
        let mut numbers: Vec<f32> = vec![];
        for (place, shape) in shapes.iter().enumerate() {
            let head = place >= 4 && (place - 4) % 3 < 2;
            let count = shape.iter().product::<i64>();
            numbers.extend((0..count).map(|_| if head { 0.0 } else { rng.gen_range(-reach..reach) }));
        }
        let flat = Tensor::f_from_slice(&numbers)?;
        let moments = [flat.f_zeros_like()?, flat.f_zeros_like()?];
        Ok(Self { flat, moments, steps: 0, shapes, hidden })
    }

    fn parts(&self, flat: &Tensor) -> Result<Vec<Tensor>> {
        let sizes: Vec<i64> = self.shapes.iter().map(|shape| shape.iter().product()).collect();
        let parts = flat.f_split_with_sizes(sizes, 0)?;
        parts.iter().zip(&self.shapes).map(|(part, shape)| Ok(part.f_view(&shape[..])?)).collect()
    }

    /// Goes through the factors. `choose` is given the place of a factor and the logarithms of its choices' probabilities,
    /// `B x choices`, and answers the choices, `B`.
    fn walk(&self, flat: &Tensor, batch: i64, mut choose: impl FnMut(usize, &Tensor) -> Result<Tensor>) -> Result<()> {
        let parts = self.parts(flat)?;
        let zeros = || Tensor::f_zeros([batch, self.hidden], (flat.kind(), Device::Cpu));
        let (mut state, mut cell) = (zeros()?, zeros()?);
        let mut input = parts[3].f_expand([batch, self.hidden], false)?;
        for (place, own) in parts[4..].chunks(3).enumerate() {
            let gates = parts[2]
                .f_addmm(&input, &parts[0].f_transpose(0, 1)?)?
                .f_addmm(&state, &parts[1].f_transpose(0, 1)?)?;
            let gate = |k: i64| gates.f_narrow(1, k * self.hidden, self.hidden);
            let (enter, keep, new, show) = (gate(0)?, gate(1)?, gate(2)?, gate(3)?);
            cell = keep.f_sigmoid()?.f_mul(&cell)?.f_add(&enter.f_sigmoid()?.f_mul(&new.f_tanh()?)?)?;
            state = show.f_sigmoid()?.f_mul(&cell.f_tanh()?)?;
            let logs = own[1].f_addmm(&state, &own[0].f_transpose(0, 1)?)?.f_log_softmax(1, None)?;
            let chosen = choose(place, &logs)?;
            input = own[2].f_index_select(0, &chosen)?;
        }
        Ok(())
    }

    /// Draws `batch` settings: the choice of every factor for each of them.
    fn draw(&self, batch: usize, rng: &mut Pcg64Mcg) -> Result<Vec<Vec<usize>>> {
        let mut all = vec![vec![]; batch];
        tch::no_grad(|| {
            self.walk(&self.flat, batch as i64, |_, logs| {
                let choices = logs.size()[1] as usize;
                let shares = logs.f_exp()?.f_to_kind(Kind::Float)?.f_contiguous()?.f_reshape([-1])?;
                let shares: Vec<f32> = Vec::try_from(&shares)?;
                let chosen: Vec<i64> = shares.chunks(choices).map(|shares| pick(shares, rng.r#gen()) as i64).collect();
                all.iter_mut().zip(&chosen).for_each(|(setting, &choice)| setting.push(choice as usize));
                Ok(Tensor::f_from_slice(&chosen)?)
            })
        })?;
        Ok(all)
    }

    /// The gradient of minus (1 / B) sum_b R_b sum_c ln P(psi_c | psi_1..c-1).
    fn gradient(&self, chosen: &[Vec<usize>], rewards: &[f32]) -> Result<Tensor> {
        let batch = chosen.len();
        let flat = self.flat.f_detach()?.f_set_requires_grad(true)?;
        let mut sum = Tensor::f_zeros([batch as i64], (flat.kind(), Device::Cpu))?;
        let loss = tch::with_grad(|| {
            self.walk(&flat, batch as i64, |place, logs| {
                let own: Vec<i64> = chosen.iter().map(|setting| setting[place] as i64).collect();
                let own = Tensor::f_from_slice(&own)?;
                sum = sum.f_add(&logs.f_gather(1, &own.f_unsqueeze(1)?, false)?.f_squeeze_dim(1)?)?;
                Ok(own)
            })?;
            let rewards = Tensor::f_from_slice(rewards)?.f_to_kind(flat.kind())?;
            Ok::<_, Error>(sum.f_mul(&rewards)?.f_mean(flat.kind())?.f_neg()?)
        })?;
        Ok(gradients("the policy", &loss, &[&flat], Graph::Free)?.remove(0))
    }

    fn step(&mut self, gradient: &Tensor, lr: f64) -> Result<()> {
        self.steps += 1;
        let steps = AdamSteps { lr, betas: (0.9, 0.999), eps: 1e-8 };
        let [mean, square] = &mut self.moments;
        tch::no_grad(|| steps.step_as_written(&mut self.flat, gradient, [mean, square], self.steps))
    }
}

/// The choice that a uniform number in [0, 1) falls on.
fn pick(shares: &[f32], uniform: f64) -> usize {
    let total: f64 = shares.iter().map(|&share| f64::from(share)).sum();
    let mut left = uniform * total;
    for (choice, &share) in shares.iter().enumerate() {
        left -= f64::from(share);
        if left < 0.0 {
            return choice;
        }
    }
    shares.len() - 1
}

struct PolicyExaminer {
    how: Policy,
    axes: Vec<Axis>,
    drawn: Vec<DiscreteFactor>,
    network: PolicyNetwork,
    rng: Pcg64Mcg,
    asked: usize,
    /// So many of the last questions, the first of them, were drawn at random.
    random: usize,
    /// The choices of the others.
    pending: Vec<Vec<usize>>,
    /// The running mean of losses.
    mean: Option<f64>,
}

impl PolicyExaminer {
    fn learn(&mut self, losses: &[f32]) -> Result<()> {
        let mean = losses.iter().map(|&loss| f64::from(loss)).sum::<f64>() / losses.len() as f64;
        let baseline = match self.how.baseline {
            0.0 => 0.0,
            _ => *self.mean.get_or_insert(mean),
        };
        let rewards: Vec<f32> = losses.iter().map(|&loss| loss - baseline as f32).collect();
        let gradient = self.network.gradient(&self.pending, &rewards)?;
        self.network.step(&gradient, self.how.lr)?;
        self.mean = self.mean.map(|held| self.how.baseline * held + (1.0 - self.how.baseline) * mean);
        Ok(())
    }

    fn draw(&mut self) -> Result<Vec<Setting>> {
        let now = self.how.batch.min(self.how.steps - self.asked);
        if now == 0 {
            return Ok(vec![]);
        }
        self.random = (self.asked..self.asked + now).filter(|&number| is_drawn(number, self.how.random_share)).count();
        self.asked += now;
        let rng = &mut self.rng;
        let mut settings: Vec<Setting> =
            (0..self.random).map(|_| self.axes.iter().map(|axis| axis.draw(rng)).collect()).collect();
        self.pending = match now - self.random {
            0 => vec![],
            chosen => self.network.draw(chosen, rng)?,
        };
        let setting = |choices: &Vec<usize>| {
            let mut setting: Setting =
                self.axes.iter().map(|axis| if *axis == Axis::Chance { axis.draw(rng) } else { 0.0 }).collect();
            for (factor, &choice) in self.drawn.iter().zip(choices) {
                setting[factor.place] = factor.value(choice);
            }
            setting
        };
        settings.extend(self.pending.iter().map(setting));
        Ok(settings)
    }
}

impl Proposals for PolicyExaminer {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        self.draw()
    }

    fn origin(&self, place: usize) -> Origin {
        if place < self.random { Origin::Random } else { Origin::Chosen }
    }

    fn update(&mut self, losses: &[f32]) -> Result<()> {
        match losses.get(self.random..) {
            Some(chosen) if !chosen.is_empty() => self.learn(chosen),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random;

    /// Over a space of two factors the expectation is a sum: its gradient by differences is the mean of the estimate over all settings.
    #[test]
    fn the_gradient_is_that_of_the_expected_loss() {
        let choices = [3usize, 4];
        let drawn: Vec<DiscreteFactor> = choices
            .iter()
            .enumerate()
            .map(|(place, &n)| DiscreteFactor { place, axis: Axis::Choices(n), choices: n })
            .collect();
        let mut rng = random(5, 0);
        let mut network = PolicyNetwork::new(&drawn, 6, &mut rng).expect("a network");
        // Heads that are not 0, and numbers that differences can be taken of.
        let numbers: Vec<f64> = (0..network.flat.numel()).map(|_| rng.gen_range(-0.8..0.8)).collect();
        network.flat = Tensor::from_slice(&numbers);
        let settings: Vec<Vec<usize>> = (0..3).flat_map(|a| (0..4).map(move |b| vec![a, b])).collect();
        let losses: Vec<f64> = (0..12).map(|i| f64::from(i * 7 % 5) - 1.5).collect();
        let shares = |flat: &Tensor| -> Vec<f64> {
            let mut sum = Tensor::zeros([12], (Kind::Double, Device::Cpu));
            tch::no_grad(|| {
                network.walk(flat, 12, |place, logs| {
                    let own: Vec<i64> = settings.iter().map(|setting| setting[place] as i64).collect();
                    let own = Tensor::from_slice(&own);
                    sum = &sum + logs.gather(1, &own.unsqueeze(1), false).squeeze_dim(1);
                    Ok(own)
                })
            })
            .expect("a walk");
            Vec::try_from(sum.exp()).expect("numbers")
        };
        let expected = |flat: &Tensor| shares(flat).iter().zip(&losses).map(|(p, l)| p * l).sum::<f64>();
        let at = shares(&network.flat);
        assert!((at.iter().sum::<f64>() - 1.0).abs() < 1e-12, "probabilities of all settings sum to 1");
        let weighted: Vec<f32> = at.iter().zip(&losses).map(|(p, l)| (p * l * 12.0) as f32).collect();
        let gradient = network.gradient(&settings, &weighted).expect("a gradient");
        for trial in 0..10 {
            let mut rng = random(7, trial);
            let way: Vec<f64> = (0..network.flat.numel()).map(|_| rng.gen_range(-1.0..1.0)).collect();
            let way = Tensor::from_slice(&way);
            const STEP: f64 = 1e-5;
            let by_difference =
                (expected(&(&network.flat + &way * STEP)) - expected(&(&network.flat - &way * STEP))) / (2.0 * STEP);
            let by_estimate = -(&gradient * &way).sum(Kind::Double).double_value(&[]);
            // Losses are float32.
            assert!((by_difference - by_estimate).abs() < 1e-6, "{by_difference} and {by_estimate}");
        }
    }

    /// Of a baseline of 0.75, three quarters of the running mean stay at every batch.
    #[test]
    fn the_baseline_is_a_running_mean() {
        let drawn = vec![DiscreteFactor { place: 0, axis: Axis::Choices(3), choices: 3 }];
        let mut rng = random(1, 2);
        let network = PolicyNetwork::new(&drawn, 4, &mut rng).expect("a network");
        let how = Policy {
            steps: 100,
            batch: 2,
            bins: 4,
            hidden: 4,
            lr: 0.01,
            baseline: 0.75,
            random_share: 0.0,
            order: vec![],
        };
        let axes = vec![Axis::Choices(3)];
        let mut examiner =
            PolicyExaminer { how, axes, drawn, network, rng, asked: 0, random: 0, pending: vec![], mean: None };
        let mut means = vec![];
        for losses in [[1.0, 3.0], [6.0, 6.0], [0.0, 0.0]] {
            examiner.draw().expect("settings");
            examiner.learn(&losses).expect("learned");
            means.push(examiner.mean.expect("a mean"));
        }
        assert_eq!(means, [2.0, 3.0, 2.25]);
    }

    /// Settings are drawn as often as their probability says.
    #[test]
    fn drawing_follows_the_probabilities() {
        let drawn = vec![
            DiscreteFactor { place: 0, axis: Axis::Choices(2), choices: 2 },
            DiscreteFactor { place: 1, axis: Axis::Choices(3), choices: 3 },
        ];
        let mut rng = random(1, 2);
        let mut network = PolicyNetwork::new(&drawn, 4, &mut rng).expect("a network");
        let numbers: Vec<f32> = (0..network.flat.numel()).map(|_| rng.gen_range(-1.0..1.0)).collect();
        network.flat = Tensor::from_slice(&numbers);
        const N: usize = 20_000;
        let settings = network.draw(N, &mut rng).expect("settings");
        let mut shares = vec![];
        tch::no_grad(|| {
            network.walk(&network.flat, 6, |place, logs| {
                let own: Vec<i64> = (0..6).map(|i| if place == 0 { i / 3 } else { i % 3 }).collect();
                let own = Tensor::from_slice(&own);
                let of: Vec<f32> = Vec::try_from(logs.gather(1, &own.unsqueeze(1), false).squeeze_dim(1).exp())?;
                shares.push(of);
                Ok(own)
            })
        })
        .expect("a walk");
        for (setting, (first, second)) in shares[0].iter().zip(&shares[1]).enumerate() {
            let p = f64::from(first * second);
            let seen = settings.iter().filter(|drawn| drawn[0] * 3 + drawn[1] == setting).count() as f64 / N as f64;
            let deviation = (p * (1.0 - p) / N as f64).sqrt();
            assert!((seen - p).abs() < 5.0 * deviation, "setting {setting}: {seen} of {p}");
        }
    }
}
