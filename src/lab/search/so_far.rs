//! What an examination over elements has come to so far, for who watches it.

use serde_json::{Value as Json, json};

use super::exhaustive::Contrast;
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
    name: String,
    compared: Contrast,
    wrong_after: usize,
    /// Of the losses as images stand, and of what they are compared with; none where densities are not known.
    sums: Option<[f64; 2]>,
    /// Both shares, and that of images that are wrong where the search left them.
    curve: Vec<[f64; 3]>,
}

pub(super) struct SoFar {
    /// Whether images come in an order that was drawn.
    drawn: bool,
    images: usize,
    wrong: usize,
    searches: Vec<Counted>,
    /// Of the two losses of the first search, where images come in an order that was drawn.
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
    /// `searches`: what they are called, what they compare, and whether densities are known. `drawn`: whether images come in an order that was drawn.
    pub fn new(drawn: bool, searches: impl IntoIterator<Item = (String, Contrast, bool)>) -> Self {
        let counted = |(name, compared, densities): (String, Contrast, bool)| Counted {
            name,
            compared,
            wrong_after: 0,
            sums: densities.then_some([0.0; 2]),
            curve: vec![],
        };
        let intervals = drawn.then(|| [ConfidenceSequence::new(ALPHA), ConfidenceSequence::new(ALPHA)]);
        let searches = searches.into_iter().map(counted).collect();
        let (at, error, bounds, wealth) = (vec![], vec![], vec![], vec![]);
        Self { drawn, images: 0, wrong: 0, searches, intervals, bet: None, at, error, bounds, wealth, step: 1 }
    }

    /// The outcome of one search on an image; the first search comes first.
    pub fn see(&mut self, search: usize, row: &Row) {
        let counted = &mut self.searches[search];
        let losses = counted.compared.losses(row).unwrap_or_default();
        counted.wrong_after += usize::from(row.wrong_after());
        if let Some([plain, weighted]) = &mut counted.sums {
            (*plain, *weighted) = (*plain + losses.0, *weighted + losses.1);
        }
        if search == 0 {
            self.images += 1;
            self.wrong += usize::from(row.wrong_before());
            if let Some([plain, weighted]) = &mut self.intervals {
                plain.see(losses.0);
                weighted.see(losses.1);
            }
        }
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
            let [plain, weighted] = search.sums.unwrap_or([f64::NAN; 2]);
            search.curve.push([plain / images, weighted / images, search.wrong_after as f64 / images]);
        }
    }

    /// Of the first search.
    fn text(&self) -> String {
        let share = |x: f64| significant(self.share(x), 4);
        let first = &self.searches[0];
        let told = match (first.compared, first.sums) {
            (Contrast::Outcome, sums) => {
                let weighted = sums.map_or(String::new(), |[_, weighted]| format!(", weighted {}", share(weighted)));
                format!("{weighted}, wrong after the search {}", share(first.wrong_after as f64))
            }
            (Contrast::Errors, Some([_, around])) => format!(", around {}", share(around)),
            (Contrast::Doubts, Some([doubt, around])) => format!(", doubt {}, around {}", share(doubt), share(around)),
            (Contrast::Errors | Contrast::Doubts, None) => String::new(),
        };
        let bet = self.bet.as_ref().map_or(String::new(), |bet| format!("; {}", bet.words));
        format!("error {}{told}{bet}", share(self.wrong as f64))
    }

    fn json(&self) -> Json {
        let ends = |which: usize| {
            let (lo, hi): (Vec<f64>, Vec<f64>) = self.bounds.iter().map(|both| both[which]).unzip();
            (!lo.is_empty()).then(|| json!({ "lo": lo, "hi": hi }))
        };
        let search = |search: &Counted| {
            let of = |which: usize| search.curve.iter().map(|shares| shares[which]).collect::<Vec<f64>>();
            let loss = if search.compared == Contrast::Doubts { "doubt" } else { "error" };
            json!({
                "name": search.name, "loss": loss, "plain": search.sums.map(|_| of(0)), "weighted": search.sums.map(|_| of(1)),
                "wrong_after": (search.compared == Contrast::Outcome).then(|| of(2)),
            })
        };
        json!({
            "drawn": self.drawn, "images": self.at, "error": self.error, "plain_within": ends(0),
            "weighted_within": ends(1), "searches": self.searches.iter().map(search).collect::<Vec<_>>(),
            "wealth": self.bet.as_ref().map(|_| &self.wealth), "needed": self.bet.as_ref().map(|bet| bet.needed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_stay_short_and_end_where_the_images_do() {
        for drawn in [false, true] {
            let names = [("strongest", Contrast::Outcome, true), ("average", Contrast::Errors, true)];
            let mut all = SoFar::new(drawn, names.map(|(name, compared, known)| (name.to_string(), compared, known)));
            for i in 0..10_000 {
                // One image in four is wrong, and one in two where the search left it, with half its weight.
                let (before, after) = (i32::from(i % 4 == 0), i32::from(i % 2 == 0));
                let row = Row { before, after, weight: Some(0.5), ..Row::default() };
                all.see(0, &row);
                all.see(1, &row);
                all.mark();
            }
            let told = all.json();
            let numbers =
                |of: &Json| -> Vec<f64> { of.as_array().expect("numbers").iter().filter_map(Json::as_f64).collect() };
            let images = numbers(&told["images"]);
            assert!((MOST / 2..=MOST).contains(&images.len()), "{} places", images.len());
            assert!(images.is_sorted() && images.last().is_some_and(|last| *last > 9_500.0), "{images:?}");
            let last = |of: &Json| *numbers(of).last().expect("a number");
            let near = |of: &Json, wanted: f64| (last(of) - wanted).abs() < 1e-3 && numbers(of).len() == images.len();
            assert!(near(&told["error"], 0.25) && near(&told["searches"][0]["plain"], 0.25), "{told}");
            assert!(
                near(&told["searches"][0]["weighted"], 0.25) && near(&told["searches"][0]["wrong_after"], 0.5),
                "{told}"
            );
            assert!(
                near(&told["searches"][1]["weighted"], 0.5) && told["searches"][1]["wrong_after"].is_null(),
                "{told}"
            );
            assert_eq!(told["plain_within"].is_object(), drawn, "no interval in the data's order");
            if drawn {
                assert!(last(&told["plain_within"]["lo"]) < 0.25 && last(&told["plain_within"]["hi"]) > 0.25, "{told}");
            }
        }
    }
}
