//! No search at all: every image at one end of what the space allows, level by level.

use super::proposals::{Examinee, Proposals, Proposing};
use super::{Approach, Search};
use crate::core::Result;
use crate::space::{End, Factor, Setting};

/// Takes this end of every factor; where a factor has none, such as the draw of a noise, one at random.
#[derive(Clone, Copy)]
pub struct Sweep(pub End);

impl Search for Sweep {
    fn chooses(&self) -> bool {
        false
    }

    fn describe(&self) -> String {
        match self.0 {
            End::Upper => "sweep()".into(),
            End::Lower => "sweep(#{ end: \"lower\" })".into(),
        }
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }
}

impl Proposing for Sweep {
    fn begin(&self, factors: &[Factor], of: Examinee) -> Result<Box<dyn Proposals>> {
        let mut rng = of.rng();
        Ok(Box::new(Once(Some(factors.iter().map(|factor| factor.end(self.0, &mut rng)).collect()))))
    }
}

struct Once(Option<Setting>);

impl Proposals for Once {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        Ok(self.0.take().into_iter().collect())
    }
}
