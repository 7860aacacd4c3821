//! The offset grid: what one image's scores are at the elements of a finite group, filled as a search asks.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::objective::{ScoreVerdict, loss};
use crate::space::{Element, Group};

/// The elements that a search may ask for, numbered; the same for every image of a data set. Number 0 is the identity.
pub struct Ball {
    pub group: Rc<dyn Group>,
    reach: usize,
    elements: Vec<Element>,
    numbers: HashMap<Element, u32>,
    /// Looked up by an element's number, worked out when first asked for.
    around: Vec<OnceCell<Box<[u32]>>>,
    origins: Vec<OnceCell<Box<[u32]>>>,
}

impl Ball {
    /// Up to so many steps away: to an outcome, from there to its pre-images, and to what these might have moved to
    /// instead.
    pub fn new(group: Rc<dyn Group>, reach: usize) -> Self {
        let mut ball =
            Self { group, reach, elements: vec![], numbers: HashMap::new(), around: vec![], origins: vec![] };
        ball.insert(Element::IDENTITY);
        (0..reach).for_each(|step| ball.grow(step % 2 == 1));
        ball.around.resize_with(ball.len(), OnceCell::new);
        ball.origins.resize_with(ball.len(), OnceCell::new);
        ball
    }

    fn insert(&mut self, element: Element) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.numbers.entry(element) {
            entry.insert(self.elements.len() as u32);
            self.elements.push(element);
        }
    }

    fn grow(&mut self, inverted: bool) {
        let group = self.group.clone();
        for number in 0..self.elements.len() {
            for &candidate in group.candidates() {
                let step = if inverted { group.inverse(candidate) } else { candidate };
                self.insert(group.compose(step, self.elements[number]));
            }
        }
    }

    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// How many steps it goes.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// The numbers of its elements in another ball; `None` if one is not there.
    pub fn numbers_in(&self, other: &Self) -> Option<Box<[u32]>> {
        self.elements.iter().map(|element| other.numbers.get(element).copied()).collect()
    }

    pub fn element(&self, number: u32) -> Element {
        self.elements[number as usize]
    }

    fn products(&self, of: u32, step: impl Fn(Element) -> Element) -> Box<[u32]> {
        let product = |&candidate: &Element| {
            let element = self.group.compose(step(candidate), self.element(of));
            *self.numbers.get(&element).expect("a search stays within the steps that the ball was made for")
        };
        self.group.candidates().iter().map(product).collect()
    }

    /// Where the candidates lead from an element, in the order that decides ties.
    pub fn around(&self, number: u32) -> &[u32] {
        self.around[number as usize].get_or_init(|| self.products(number, |v| v))
    }

    /// From where the candidates lead to an element: `around(origins(x)[k])[k]` is x.
    pub fn origins(&self, number: u32) -> &[u32] {
        self.origins[number as usize].get_or_init(|| self.products(number, |v| self.group.inverse(v)))
    }
}

/// One image's scores at the elements of a ball; unknown where not yet scored.
pub struct Grid {
    label: i32,
    /// NaN where unknown.
    excess: Vec<f32>,
    predicted: Vec<i32>,
    softmax_margin: Vec<f32>,
    scored: u32,
    /// None where all scores are exact.
    provisional: Option<Provisional>,
}

/// Scores of lower precision.
struct Provisional {
    /// How far their excess may be off.
    margin: f32,
    /// Whether a point has one.
    at: Vec<bool>,
}

impl Grid {
    pub fn new(ball: &Ball, label: i32) -> Self {
        let n = ball.len();
        let (excess, predicted, softmax_margin) = (vec![f32::NAN; n], vec![0; n], vec![0.0; n]);
        Self { label, excess, predicted, softmax_margin, scored: 0, provisional: None }
    }

    /// A grid whose scores may be provisional, with an excess that is off by up to `margin`.
    pub fn guarded(ball: &Ball, label: i32, margin: f32) -> Self {
        let provisional = Some(Provisional { margin, at: vec![false; ball.len()] });
        Self { provisional, ..Self::new(ball, label) }
    }

    /// Takes exact scores; by how much they differ from provisional ones, where there were any.
    pub fn set(&mut self, point: u32, verdict: &ScoreVerdict) -> Option<f32> {
        let before = (!self.exact(point) && self.known(point)).then(|| self.excess[point as usize]);
        self.write(point, verdict);
        if let Some(provisional) = &mut self.provisional {
            provisional.at[point as usize] = false;
        }
        before.map(|before| (before - verdict.excess).abs())
    }

    /// Takes provisional scores of a point that has none.
    pub fn set_provisional(&mut self, point: u32, verdict: &ScoreVerdict) {
        self.write(point, verdict);
        if let Some(provisional) = &mut self.provisional {
            provisional.at[point as usize] = true;
        }
    }

    fn write(&mut self, point: u32, verdict: &ScoreVerdict) {
        self.scored += u32::from(!self.known(point));
        self.excess[point as usize] = verdict.excess;
        self.predicted[point as usize] = verdict.predicted;
        self.softmax_margin[point as usize] = verdict.softmax_margin;
    }

    /// Whether a point has exact scores.
    pub fn exact(&self, point: u32) -> bool {
        self.known(point) && self.provisional.as_ref().is_none_or(|provisional| !provisional.at[point as usize])
    }

    /// How far the excess of a point may be off.
    fn off(&self, point: u32) -> f32 {
        match &self.provisional {
            Some(Provisional { margin, at }) if at[point as usize] => *margin,
            _ => 0.0,
        }
    }

    /// How far a provisional excess may be off.
    pub fn margin(&self) -> f32 {
        self.provisional.as_ref().map_or(0.0, |provisional| provisional.margin)
    }

    /// Trusts provisional scores less.
    pub fn widen(&mut self, wider: f32) {
        if let Some(Provisional { margin, .. }) = &mut self.provisional {
            *margin = margin.max(wider);
        }
    }

    pub fn known(&self, point: u32) -> bool {
        !self.excess[point as usize].is_nan()
    }

    pub fn label(&self) -> i32 {
        self.label
    }

    /// How many points were scored.
    pub fn scored(&self) -> u32 {
        self.scored
    }
}

/// One image's scores as a search sees them, whose ball may be a part of the grid's.
#[derive(Clone, Copy)]
pub struct GridView<'a> {
    grid: &'a Grid,
    /// What the grid calls the search's points; none where it calls them alike.
    numbers: Option<&'a [u32]>,
}

impl<'a> GridView<'a> {
    pub fn of(grid: &'a Grid, numbers: Option<&'a [u32]>) -> Self {
        Self { grid, numbers }
    }

    /// What the grid calls a point.
    pub fn number(&self, point: u32) -> u32 {
        self.numbers.map_or(point, |numbers| numbers[point as usize])
    }

    /// What the grid calls these points.
    pub fn numbers(&self, points: Vec<u32>) -> Vec<u32> {
        match self.numbers {
            None => points,
            Some(_) => points.into_iter().map(|point| self.number(point)).collect(),
        }
    }

    pub fn known(&self, point: u32) -> bool {
        self.grid.known(self.number(point))
    }

    /// Whether scores may be provisional.
    pub fn guarded(&self) -> bool {
        self.grid.provisional.is_some()
    }

    /// Whether a point has exact scores.
    pub fn exact(&self, point: u32) -> bool {
        self.grid.exact(self.number(point))
    }

    /// Whether exact scores would leave it at what `fails` says of a point that is known.
    pub fn certain(&self, point: u32) -> bool {
        self.exact(point) || self.excess(point).abs() > self.grid.off(self.number(point))
    }

    /// The least and the largest loss that exact scores of a known point may have.
    pub fn losses(&self, point: u32) -> (f32, f32) {
        let (excess, off) = (self.excess(point), self.grid.off(self.number(point)));
        (loss(excess - off), loss(excess + off))
    }

    /// Whether the image is known to be misclassified at this point.
    pub fn fails(&self, point: u32) -> bool {
        self.known(point) && self.predicted(point) != self.grid.label
    }

    pub fn label(&self) -> i32 {
        self.grid.label
    }

    pub fn predicted(&self, point: u32) -> i32 {
        self.grid.predicted[self.number(point) as usize]
    }

    pub fn excess(&self, point: u32) -> f32 {
        self.grid.excess[self.number(point) as usize]
    }

    pub fn softmax_margin(&self, point: u32) -> f32 {
        self.grid.softmax_margin[self.number(point) as usize]
    }

    /// What the search maximises.
    pub fn loss(&self, point: u32) -> f32 {
        loss(self.excess(point))
    }
}
