//! What an examination over elements has come to so far, for who watches it.

use serde_json::{Value as Json, json};

use super::row::Row;
use crate::core::{Task, significant};
use crate::maths::confidence_sequence::ConfidenceSequence;

/// Places of a curve that are kept; then every second goes.
const MOST: usize = 64;

/// Each of the two errors lies outside its intervals with at most this probability, so that both hold together with 95%.
const ALPHA: f64 = 0.025;

/// What a bet on the images has come to.
pub struct BetSoFar {
    /// 1 at the begin.
    pub wealth: f64,
    /// The images are enough from where on it is this.
    pub needed: f64,
    pub enough: bool,
    pub words: String,
}

/// The outcomes of one search.
struct Counted {
    /// What it is called where there are several.
    name: String,
    wrong_after: usize,
    /// None where densities are not known.
    weighted: Option<f64>,
    curve: Vec<(f64, f64)>,
}

pub(super) struct SoFar {
    /// Whether images come in an order that was drawn.
    drawn: bool,
    images: usize,
    wrong: usize,
    searches: Vec<Counted>,
    /// Of R_S and R_g of the first search, where images come in an order that was drawn.
    intervals: Option<[ConfidenceSequence; 2]>,
    bet: Option<BetSoFar>,
    /// The images at the places of the curves, and what belongs to no single search.
    at: Vec<usize>,
    error: Vec<f64>,
    bounds: Vec<[(f64, f64); 2]>,
    wealth: Vec<f64>,
    /// Images from one place to the next.
    step: usize,
}

impl SoFar {
    /// `searches`: what they are called, and whether densities are known. `drawn`: whether images come in an order that was drawn.
    pub fn new(drawn: bool, searches: impl IntoIterator<Item = (String, bool)>) -> Self {
        let counted = |(name, densities): (String, bool)| Counted {
            name,
            wrong_after: 0,
            weighted: densities.then_some(0.0),
            curve: vec![],
        };
        let intervals = drawn.then(|| [ConfidenceSequence::new(ALPHA), ConfidenceSequence::new(ALPHA)]);
        let searches = searches.into_iter().map(counted).collect();
        let (at, error, bounds, wealth) = (vec![], vec![], vec![], vec![]);
        Self { drawn, images: 0, wrong: 0, searches, intervals, bet: None, at, error, bounds, wealth, step: 1 }
    }

    /// The outcome of one search on an image; the first search comes first.
    pub fn see(&mut self, search: usize, row: &Row) {
        let weighted = row.weight.filter(|_| row.wrong_after()).unwrap_or(0.0);
        if search == 0 {
            self.images += 1;
            self.wrong += usize::from(row.wrong_before());
            if let Some([error, other]) = &mut self.intervals {
                error.see(f64::from(u8::from(row.wrong_before())));
                other.see(weighted);
            }
        }
        let counted = &mut self.searches[search];
        counted.wrong_after += usize::from(row.wrong_after());
        counted.weighted.iter_mut().for_each(|sum| *sum += weighted);
    }

    /// What was bet on the images so far; whether they are enough.
    pub fn bet(&mut self, bet: BetSoFar) -> bool {
        let enough = bet.enough;
        self.bet = Some(bet);
        enough
    }

    /// Tells of all images so far.
    pub fn tell(&mut self, task: &Task) {
        if self.images == 0 {
            return;
        }
        self.mark();
        task.note(&self.text());
        task.show(&self.json());
    }

    fn share(&self, of: f64) -> f64 {
        of / self.images as f64
    }

    /// Another place of the curves, if the last one is far enough behind.
    fn mark(&mut self) {
        if self.at.last().is_some_and(|last| self.images < last + self.step) {
            return;
        }
        if self.at.len() == MOST {
            fn halved<T: Copy>(all: &mut Vec<T>) {
                *all = all.iter().skip(1).step_by(2).copied().collect();
            }
            halved(&mut self.at);
            halved(&mut self.error);
            halved(&mut self.bounds);
            halved(&mut self.wealth);
            self.searches.iter_mut().for_each(|search| halved(&mut search.curve));
            self.step = (2 * self.step).max(self.at[self.at.len() - 1] / (MOST / 2));
        }
        self.at.push(self.images);
        self.error.push(self.share(self.wrong as f64));
        self.bounds.extend(self.intervals.as_ref().map(|both| both.each_ref().map(ConfidenceSequence::interval)));
        self.wealth.extend(self.bet.as_ref().map(|bet| bet.wealth));
        let images = self.images as f64;
        for search in &mut self.searches {
            search.curve.push((search.weighted.unwrap_or(f64::NAN) / images, search.wrong_after as f64 / images));
        }
    }

    /// Of the first search.
    fn text(&self) -> String {
        let share = |x: f64| significant(self.share(x), 4);
        let first = &self.searches[0];
        let weighted = first.weighted.map_or(String::new(), |sum| format!(", weighted {}", share(sum)));
        let after = share(first.wrong_after as f64);
        let bet = self.bet.as_ref().map_or(String::new(), |bet| format!("; {}", bet.words));
        format!("error {}{weighted}, wrong after the search {after}{bet}", share(self.wrong as f64))
    }

    fn json(&self) -> Json {
        let ends = |which: usize| {
            let (lo, hi): (Vec<f64>, Vec<f64>) = self.bounds.iter().map(|both| both[which]).unzip();
            (!lo.is_empty()).then(|| json!({ "lo": lo, "hi": hi }))
        };
        let search = |search: &Counted| {
            let (weighted, after): (Vec<f64>, Vec<f64>) = search.curve.iter().copied().unzip();
            json!({ "name": search.name, "weighted": search.weighted.map(|_| weighted), "wrong_after": after })
        };
        json!({
            "drawn": self.drawn, "images": self.at, "error": self.error, "error_within": ends(0),
            "weighted_within": ends(1), "searches": self.searches.iter().map(search).collect::<Vec<_>>(),
            "wealth": self.bet.as_ref().map(|_| &self.wealth), "needed": self.bet.as_ref().map(|bet| bet.needed),
        })
    }
}
