//! Questions that say how much of a loss each factor accounts for: two settings, and the first with each factor in turn from the second.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use super::proposals::{Examinee, Origin, Proposals, Proposing, check_varies};
use super::{Approach, Search, sobol};
use crate::core::{Error, Result};
use crate::space::{Axis, Factor, Setting};

/// Where the two settings come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StarPoints {
    /// Sobol's sequence, whose point holds both.
    Sobol,
    Random,
}

/// Asks in stars of `factors + 2` questions: A, B, and A with factor i of B, for every i (Saltelli et al. 2010).
pub struct Radial {
    /// About each image at most.
    pub questions: usize,
    pub pairs: StarPoints,
}

impl Radial {
    /// Questions of one star.
    pub fn star(factors: usize) -> usize {
        factors + 2
    }
}

impl Search for Radial {
    fn describe(&self) -> String {
        let pairs = if self.pairs == StarPoints::Random { ", points: \"random\"" } else { "" };
        format!("radial(#{{ questions: {}{pairs} }})", self.questions)
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }
}

impl Proposing for Radial {
    fn begin(&self, factors: &[Factor], of: Examinee) -> Result<Box<dyn Proposals>> {
        let axes: Vec<Axis> = factors.iter().map(Factor::axis).collect();
        if !axes.contains(&Axis::Chance) {
            check_varies(&axes, "radial")?;
        }
        let star = Self::star(axes.len());
        let stars = self.questions / star;
        if stars == 0 {
            return Err(Error::argument(format!(
                "search::radial: {} questions are too few for {} factors, which take {star} at a time",
                self.questions,
                axes.len()
            ))
            .hint(format!("`questions: {}` or more", 8 * star)));
        }
        if self.pairs == StarPoints::Sobol && stars > sobol::POINTS as usize {
            return Err(Error::argument(format!(
                "search::radial: {stars} points about each image are more than the {} of the sequence",
                sobol::POINTS
            ))
            .hint("`points: \"random\"` has no such end"));
        }
        let mut rng = of.rng();
        Ok(Box::new(Stars { axes, pairs: self.pairs, scramble: rng.r#gen(), rng, asked: 0, stars: stars as u32 }))
    }
}

struct Stars {
    axes: Vec<Axis>,
    pairs: StarPoints,
    scramble: u32,
    rng: Pcg64Mcg,
    asked: u32,
    stars: u32,
}

impl Proposals for Stars {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        if self.asked == self.stars {
            return Ok(vec![]);
        }
        let [a, b]: [Setting; 2] = [0, self.axes.len() as u32].map(|first| match self.pairs {
            StarPoints::Sobol => sobol::setting(&self.axes, self.asked, first, self.scramble, &mut self.rng),
            StarPoints::Random => self.axes.iter().map(|axis| axis.draw(&mut self.rng)).collect(),
        });
        self.asked += 1;
        let mut star = vec![a.clone(), b.clone()];
        for i in 0..a.len() {
            let mut turned = a.clone();
            turned[i] = b[i];
            star.push(turned);
        }
        Ok(star)
    }

    fn origin(&self, place: usize) -> Origin {
        // The others follow from these two.
        if self.pairs == StarPoints::Random && place < 2 { Origin::Random } else { Origin::Chosen }
    }
}
