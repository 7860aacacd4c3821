//! The optimiser of a network's parameters, whose state can be seen and saved, so that a stopped training goes on exactly where it was.
//! Formulas are those of PyTorch 2 (`torch.optim`), which the tests compare with.

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
}

/// Gradient descent with a state that can be read, saved and restored.
pub struct Optimiser {
    rule: Rule,
    pub lr: f64,
    /// Added to the gradient as `weight_decay · w`, before everything else (L2, not the decoupled kind of AdamW).
    pub weight_decay: f64,
    /// Steps taken.
    steps: u64,
    /// Per parameter the rule's moments.
    moments: Vec<Vec<Tensor>>,
}

impl Optimiser {
    pub fn new(rule: Rule, lr: f64, weight_decay: f64, parameters: &[Tensor]) -> Result<Self> {
        let moments = |w: &Tensor| rule.slots().iter().map(|_| Ok(w.f_detach()?.f_zeros_like()?)).collect();
        Ok(Self { rule, lr, weight_decay, steps: 0, moments: parameters.iter().map(moments).collect::<Result<_>>()? })
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
        let (lr, t) = (self.lr, self.steps as i32);
        tch::no_grad(|| {
            for ((w, g), moments) in parameters.iter().zip(gradients).zip(&mut self.moments) {
                let mut w = w.shallow_clone();
                let g = match self.weight_decay {
                    0.0 => g.shallow_clone(),
                    decay => g.f_add(&w.f_mul_scalar(decay)?)?,
                };
                match (self.rule, &mut moments[..]) {
                    (Rule::Sgd { momentum }, [b]) => {
                        let _ = b.f_mul_scalar_(momentum)?.f_add_(&g)?;
                        let _ = w.f_sub_(&b.f_mul_scalar(lr)?)?;
                    }
                    (Rule::Sgd { .. }, _) => drop(w.f_sub_(&g.f_mul_scalar(lr)?)?),
                    (Rule::RmsProp { alpha, eps }, [v]) => rms_prop::step(&mut w, &g, v, lr, alpha, eps)?,
                    (Rule::Adam { beta1, beta2, eps }, [m, v]) => {
                        AdamSteps { lr, betas: (beta1, beta2), eps }.step([&w, &g, m, v], t)?;
                    }
                    _ => return Err(Error::internal("an optimiser lost its moments")),
                }
            }
            Ok(())
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
}
