//! The optimiser of a network's parameters, whose state can be seen and saved, so that a stopped training goes on exactly where it was.
//! Formulas are those of PyTorch 2 (`torch.optim`), which the tests compare with.

use tch::Device;

use super::{AdamSteps, rms_prop};
use crate::core::{Error, Result, Tensor};

/// How a gradient g becomes a change of a parameter w. All computations are in the parameter's own precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// b ← momentum · b + g (the first b is g); w ← w - lr · b. Without momentum b is g.
    Sgd { momentum: f64 },
    /// v ← alpha · v + (1 - alpha) g²; w ← w - lr · g / (√v + eps).
    RmsProp { alpha: f64, eps: f64 },
    /// m ← beta1 · m + (1 - beta1) g; v ← beta2 · v + (1 - beta2) g²;
    /// w ← w - lr · (m / (1 - beta1^t)) / (√(v / (1 - beta2^t)) + eps).
    Adam { beta1: f64, beta2: f64, eps: f64 },
}

impl Rule {
    pub const ADAM: Self = Self::Adam { beta1: 0.9, beta2: 0.999, eps: 1e-8 };
    pub const RMS_PROP: Self = Self::RmsProp { alpha: 0.99, eps: 1e-8 };

    /// How digests know it, which stays when types and fields get better names.
    pub fn identity(self) -> String {
        match self {
            Self::Sgd { momentum } => format!("Sgd {{ momentum: {momentum:?} }}"),
            Self::RmsProp { alpha, eps } => format!("RmsProp {{ alpha: {alpha:?}, eps: {eps:?} }}"),
            Self::Adam { beta1, beta2, eps } => {
                format!("Adam {{ beta1: {beta1:?}, beta2: {beta2:?}, eps: {eps:?} }}")
            }
        }
    }

    /// The names of the moments that each parameter has.
    fn slots(self) -> &'static [&'static str] {
        match self {
            Self::Sgd { momentum: 0.0 } => &[],
            Self::Sgd { .. } => &["momentum"],
            Self::RmsProp { .. } => &["square"],
            Self::Adam { .. } => &["mean", "square"],
        }
    }

    /// Step t, counted from 1: changes a parameter and its moments in place.
    fn step(self, lr: f64, w: &Tensor, g: &Tensor, moments: &mut [Tensor], t: i32) -> Result<()> {
        let mut w = w.shallow_clone();
        match (self, moments) {
            (Self::Sgd { momentum }, [b]) => {
                let _ = b.f_mul_scalar_(momentum)?.f_add_(g)?;
                let _ = w.f_sub_(&b.f_mul_scalar(lr)?)?;
            }
            (Self::Sgd { .. }, _) => drop(w.f_sub_(&g.f_mul_scalar(lr)?)?),
            (Self::RmsProp { alpha, eps }, [v]) => rms_prop::step(&mut w, g, v, lr, alpha, eps)?,
            (Self::Adam { beta1, beta2, eps }, [m, v]) => {
                AdamSteps { lr, betas: (beta1, beta2), eps }.step([&w, g, m, v], t)?;
            }
            _ => return Err(Error::internal("an optimiser lost its moments")),
        }
        Ok(())
    }
}

/// All parameters one after another in one tensor, whose parts they become, and its moments: a step is then a few kernels of a device
/// in place of a few per parameter. On a CPU, where a call costs little beside its numbers, they stay as they are.
struct Joined {
    parameters: Tensor,
    moments: Vec<Tensor>,
}

impl Joined {
    /// `None` where the parameters can't be parts of one tensor.
    fn of(rule: Rule, parameters: &[Tensor]) -> Result<Option<Self>> {
        let like = |w: &Tensor| parameters.iter().all(|other| other.kind() == w.kind() && other.device() == w.device());
        let [first, _, ..] = parameters else { return Ok(None) };
        if !like(first) || !parameters.iter().all(Tensor::is_contiguous) {
            return Ok(None);
        }
        tch::no_grad(|| {
            let flat: Vec<Tensor> =
                parameters.iter().map(|w| w.f_detach()?.f_view([-1])).collect::<std::result::Result<_, _>>()?;
            let all = Tensor::f_cat(&flat, 0)?;
            for (w, part) in parameters.iter().zip(parts(&all, parameters)?) {
                w.shallow_clone().f_set_data(&part)?;
            }
            let moments = rule.slots().iter().map(|_| all.f_zeros_like()).collect::<std::result::Result<_, _>>()?;
            Ok(Some(Self { parameters: all, moments }))
        })
    }
}

/// What stands for each of these parameters in a tensor of all of them.
fn parts(all: &Tensor, parameters: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let part = |w: &Tensor| -> Result<Tensor> {
        let size = w.numel() as i64;
        start += size;
        Ok(all.f_narrow(0, start - size, size)?.f_view(&w.size()[..])?)
    };
    parameters.iter().map(part).collect()
}

/// Gradient descent with a state that can be read, saved and restored.
pub struct Optimiser {
    rule: Rule,
    pub lr: f64,
    /// Added to the gradient as `weight_decay · w`, before everything else (L2, not the decoupled kind of AdamW).
    pub weight_decay: f64,
    /// Steps taken.
    steps: u64,
    /// Per parameter the rule's moments; parts of those of all of them where they are joined.
    moments: Vec<Vec<Tensor>>,
    joined: Option<Joined>,
}

impl Optimiser {
    /// Of leaves that nothing else has views of: on a device they become parts of one tensor.
    pub fn new(rule: Rule, lr: f64, weight_decay: f64, parameters: &[Tensor]) -> Result<Self> {
        let on_a_device = parameters.iter().any(|w| w.device() != Device::Cpu);
        Self::built(rule, (lr, weight_decay), parameters, on_a_device)
    }

    fn built(rule: Rule, (lr, weight_decay): (f64, f64), parameters: &[Tensor], join: bool) -> Result<Self> {
        let joined = if join { Joined::of(rule, parameters)? } else { None };
        let mut moments: Vec<Vec<Tensor>> = parameters.iter().map(|_| vec![]).collect();
        for slot in 0..rule.slots().len() {
            let slots = match &joined {
                Some(joined) => parts(&joined.moments[slot], parameters)?,
                None => parameters.iter().map(|w| Ok(w.f_detach()?.f_zeros_like()?)).collect::<Result<_>>()?,
            };
            moments.iter_mut().zip(slots).for_each(|(all, moment)| all.push(moment));
        }
        Ok(Self { rule, lr, weight_decay, steps: 0, moments, joined })
    }

    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Changes the parameters in place; `gradients` are in their order.
    pub fn step(&mut self, parameters: &[Tensor], gradients: &[Tensor]) -> Result<()> {
        if parameters.len() != self.moments.len() || gradients.len() != parameters.len() {
            return Err(Error::internal("an optimiser was given other parameters than it was made for"));
        }
        self.steps += 1;
        let (rule, lr, t) = (self.rule, self.lr, self.steps as i32);
        let decayed = |w: &Tensor, g: &Tensor| -> Result<Tensor> {
            Ok(match self.weight_decay {
                0.0 => g.shallow_clone(),
                decay => g.f_add(&w.f_mul_scalar(decay)?)?,
            })
        };
        tch::no_grad(|| match &mut self.joined {
            Some(Joined { parameters: w, moments }) => {
                let flat = gradients.iter().map(|g| g.f_reshape([-1])).collect::<std::result::Result<Vec<_>, _>>()?;
                rule.step(lr, w, &decayed(w, &Tensor::f_cat(&flat, 0)?)?, moments, t)
            }
            None => parameters
                .iter()
                .zip(gradients)
                .zip(&mut self.moments)
                .try_for_each(|((w, g), moments)| rule.step(lr, w, &decayed(w, g)?, moments, t)),
        })
    }

    /// Everything that a later step depends on besides the parameters: the steps taken, and the moments by name.
    pub fn state(&self) -> (u64, Vec<(String, Tensor)>) {
        let mut state = Vec::new();
        for (i, moments) in self.moments.iter().enumerate() {
            for (slot, moment) in self.rule.slots().iter().zip(moments) {
                state.push((format!("{i}.{slot}"), moment.shallow_clone()));
            }
        }
        (self.steps, state)
    }

    /// Goes on from a state that `state` gave.
    pub fn restore(&mut self, steps: u64, state: &[(String, Tensor)]) -> Result<()> {
        for (i, moments) in self.moments.iter_mut().enumerate() {
            for (slot, moment) in self.rule.slots().iter().zip(moments) {
                let name = format!("{i}.{slot}");
                let saved = state.iter().find(|(known, t)| *known == name && t.size() == moment.size());
                let (_, saved) = saved.ok_or_else(|| Error::data(format!("a checkpoint lacks the moment {name}")))?;
                moment.f_copy_(saved)?;
            }
        }
        self.steps = steps;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_know_a_rule_by_words_that_stay() {
        assert_eq!(Rule::ADAM.identity(), "Adam { beta1: 0.9, beta2: 0.999, eps: 1e-8 }");
        assert_eq!(Rule::RMS_PROP.identity(), "RmsProp { alpha: 0.99, eps: 1e-8 }");
        assert_eq!(Rule::Sgd { momentum: 0.0 }.identity(), "Sgd { momentum: 0.0 }");
    }

    /// Steps of joined parameters beside those of each by itself, in double precision, where rounding of one order or another is far below.
    #[test]
    fn parameters_that_are_joined_go_the_same_way_and_take_over_each_others_states() -> Result<()> {
        let rules = [Rule::ADAM, Rule::RMS_PROP, Rule::Sgd { momentum: 0.0 }, Rule::Sgd { momentum: 0.9 }];
        for (rule, decay) in rules.into_iter().flat_map(|rule| [(rule, 0.0), (rule, 0.1)]) {
            let numbers = |from: i64, shape: &[i64]| {
                let count = shape.iter().product::<i64>();
                Tensor::f_arange_start(from, from + count, (tch::Kind::Double, Device::Cpu))?.f_sin()?.f_view(shape)
            };
            let begun = || -> Result<Vec<Tensor>> {
                let leaf = |w: Tensor| w.f_set_requires_grad(true);
                Ok(vec![leaf(numbers(1, &[3, 2, 2])?)?, leaf(numbers(40, &[5])?)?, leaf(numbers(70, &[1, 4])?)?])
            };
            let (each, all) = (begun()?, begun()?);
            let mut by_itself = Optimiser::built(rule, (0.1, decay), &each, false)?;
            let mut joined = Optimiser::built(rule, (0.1, decay), &all, true)?;
            assert!(joined.joined.is_some() && all.iter().all(Tensor::requires_grad));
            for step in 0..6 {
                // What one has gone so far the other goes on with.
                if step == 3 {
                    let (steps, state) = joined.state();
                    let state: Vec<_> = state.into_iter().map(|(name, moment)| (name, moment.copy())).collect();
                    joined = Optimiser::built(rule, (0.1, decay), &all, true)?;
                    let (others, other) = by_itself.state();
                    joined.restore(others, &other)?;
                    by_itself.restore(steps, &state)?;
                }
                let slope = |w: &Tensor| w.f_detach()?.f_mul_scalar(2.0)?.f_add_scalar(f64::from(step));
                // As gradients of sums are, which no memory of their own stands behind.
                let mut slopes: Vec<Tensor> = each.iter().map(slope).collect::<std::result::Result<_, _>>()?;
                slopes[1] = Tensor::f_full([1], 0.5, (tch::Kind::Double, Device::Cpu))?.f_expand([5], false)?;
                by_itself.step(&each, &slopes)?;
                joined.step(&all, &slopes)?;
            }
            for (a, b) in each.iter().zip(&all) {
                let far = a.f_sub(b)?.f_abs()?.f_max()?.f_double_value(&[])?;
                assert!(far < 1e-12 && a.size() == b.size(), "{rule:?} {decay}: {far}");
            }
        }
        Ok(())
    }
}
