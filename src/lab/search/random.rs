//! Plain random search: uniform settings, the yardstick for searches that learn.

use rand_pcg::Pcg64Mcg;

use super::proposals::{Examinee, Origin, Proposals, Proposing};
use super::{Approach, Search};
use crate::core::Result;
use crate::space::{Axis, Factor, Setting};

/// Tries `n` settings per image, each drawn uniformly and independently of the others.
pub struct Random {
    pub n: usize,
}

impl Search for Random {
    fn describe(&self) -> String {
        format!("random(#{{ questions: {} }})", self.n)
    }

    fn identity(&self) -> String {
        format!("sample(#{{ n: {} }})", self.n)
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }
}

impl Proposing for Random {
    fn begin(&self, factors: &[Factor], of: Examinee) -> Result<Box<dyn Proposals>> {
        Ok(Box::new(RandomDraws { axes: factors.iter().map(Factor::axis).collect(), rng: of.rng(), left: self.n }))
    }
}

struct RandomDraws {
    axes: Vec<Axis>,
    rng: Pcg64Mcg,
    left: usize,
}

/// Settings held at a time; what is drawn does not depend on it.
const TOGETHER: usize = 64;

impl Proposals for RandomDraws {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        let now = self.left.min(TOGETHER);
        self.left -= now;
        Ok((0..now).map(|_| self.axes.iter().map(|axis| axis.draw(&mut self.rng)).collect()).collect())
    }

    fn origin(&self, _place: usize) -> Origin {
        Origin::Random
    }
}
