//! Generators that are TorchScript programs.

use tch::{CModule, IValue, Kind};

use super::{Condition, Network, NetworkVisitor, Prior};
use crate::core::{Error, Result, Tensor, with_stream_of};
use crate::model::Mode;

/// A program that offers `num_stages()` and `stage(i, x, y)`: what stage i, from 0, makes of x for labels y; stage 0 takes latent
/// vectors, and the last one gives images in [0, 1].
pub struct StagedProgram {
    module: CModule,
    stages: i64,
    latent: i64,
    classes: Option<i64>,
    prior: Prior,
}

impl StagedProgram {
    /// `classes`: how many labels it draws, none if it takes no notice of `y`.
    pub fn new(module: CModule, latent: i64, classes: Option<i64>, prior: Prior) -> Result<Self> {
        let stages = match module.method_is::<IValue>("num_stages", &[]) {
            Ok(IValue::Int(stages @ 1..=10_000)) => stages,
            Ok(other) => {
                return Err(Error::model(format!(
                    "num_stages() of the program must answer how many stages it has, got {other:?}"
                )));
            }
            Err(error) => {
                return Err(Error::from(error)
                    .during("num_stages()")
                    .hint("a TorchScript generator offers num_stages() and stage(i, x, y), both marked with @torch.jit.export"));
            }
        };
        Ok(Self { module, stages, latent, classes, prior })
    }
}

impl Network for StagedProgram {
    fn latent(&self) -> i64 {
        self.latent
    }

    fn classes(&self) -> Option<i64> {
        self.classes
    }

    fn is_program(&self) -> bool {
        true
    }

    fn prior(&self) -> Prior {
        self.prior
    }

    fn stages(&self) -> Vec<String> {
        (1..self.stages).map(|i| format!("stage{i}")).chain(["image".to_string()]).collect()
    }

    fn condition(&self, latents: &Tensor, labels: Option<&Tensor>) -> Result<Condition> {
        match labels {
            Some(labels) => Ok(vec![labels.shallow_clone()]),
            None => Ok(vec![latents.f_new_zeros([latents.size()[0]], (Kind::Int64, latents.device()))?]),
        }
    }

    fn stage(&self, i: usize, x: &Tensor, condition: &Condition, _: Mode) -> Result<Tensor> {
        let labels = condition.first().ok_or_else(|| Error::internal("a program lost its labels"))?;
        let given = [IValue::Int(i as i64), IValue::Tensor(x.shallow_clone()), IValue::Tensor(labels.shallow_clone())];
        let answer = with_stream_of(x, || Ok(self.module.method_is("stage", &given)?));
        match answer.map_err(|e| e.during(&format!("stage({i}, x, y)")))? {
            // What follows it takes float32; bytes are 255ths.
            IValue::Tensor(answer) if i as i64 + 1 == self.stages => match answer.kind() {
                Kind::Float => Ok(answer),
                Kind::Uint8 => Ok(answer.f_to_kind(Kind::Float)?.f_div_scalar(255.0)?),
                _ => Ok(answer.f_to_kind(Kind::Float)?),
            },
            IValue::Tensor(answer) => Ok(answer),
            _ => Err(Error::model(format!("stage({i}, x, y) of the program must answer a tensor"))),
        }
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        let mut parameters = self.module.named_parameters().unwrap_or_default();
        parameters.sort_by(|a, b| a.0.cmp(&b.0));
        parameters.into_iter().for_each(|(name, tensor)| see(name, &tensor, true));
    }
}
