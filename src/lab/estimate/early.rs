//! Betting on images while they are examined: the test may be looked at whenever one likes, and stop as soon as it rejects.

use crate::core::{Result, significant};
use crate::maths::betting::{Bets, Gambler};
use crate::search::{BetSoFar, Contrast, Row};

use super::independence::stakes;

/// The betting test of a report on so many images, image by image in its order.
pub struct EarlyTest {
    compared: Contrast,
    bets: Bets,
    /// Each with the logarithm of its share of the level.
    gamblers: Vec<(f64, Gambler)>,
}

impl EarlyTest {
    pub fn new(compared: Contrast, bets: Bets, images: usize) -> Self {
        Self { compared, bets, gamblers: bets.gamblers(images) }
    }

    /// Sees the next image.
    pub fn see(&mut self, row: &Row) -> BetSoFar {
        let t: Result<Vec<f64>> = match self.compared.losses(row) {
            Some((plain, weighted)) => stakes(&[weighted - plain], self.bets.range),
            // The report will refuse it.
            None => Ok(vec![0.0]),
        };
        for x in t.unwrap_or_default() {
            self.gamblers.iter_mut().for_each(|(_, gambler)| gambler.see(x));
        }
        let best = self.gamblers.iter().map(|(share, gambler)| share + gambler.best).fold(f64::NEG_INFINITY, f64::max);
        let (wealth, needed) = (best.exp(), 1.0 / self.bets.delta);
        let enough = best >= (1.0 / self.bets.delta).ln();
        let words = format!("wealth {} of {}", significant(wealth, 3), significant(needed, 3));
        BetSoFar { wealth, needed, enough, words }
    }
}
