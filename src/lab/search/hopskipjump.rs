//! HopSkipJump (Chen, Jordan and Wainwright, "HopSkipJumpAttack: a query-efficient decision-based attack", S&P 2020, Algorithms 1 and
//! 2): along the boundary of what fails, towards the image. Of an answer it hears nothing but whether the image fails.
//!
//! Where the paper leaves it open it goes as the authors' code does: the first point is noise, or an image that fails as it stands, brought
//! close along a line; an estimate is of the directions that are left of those drawn once pixels are within their bounds.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use super::ball::{PixelBall, PixelChange};
use super::pairing::not_in;
use super::proposals::{Examinee, Proposals, Proposing};
use super::{Approach, Search, Variation};
use crate::core::{Error, Object, Result, number};
use crate::data::Dataset;
use crate::objective::{Loss, Objective};
use crate::space::{Bounds, Norm};

#[derive(Clone)]
pub struct HopSkipJump {
    /// About each image, at most.
    pub questions: usize,
    /// Directions of the first estimate (B_0); those of the t-th are the square root of t times as many.
    pub directions: usize,
    /// Images to begin at, before noise.
    pub starts: Option<Starts>,
}

/// Images that may fail as they stand, such as those of the class that a search aims at.
#[derive(Clone)]
pub struct Starts {
    described: String,
    shape: [usize; 3],
    images: Arc<[(PixelChange, i64)]>,
}

/// Numbers that starts hold at most: 256 MiB.
const MOST_OF_STARTS: usize = 1 << 26;

/// Starts that are asked about at once, at most: the nearest fails as a rule.
const STARTS_AT_ONCE: usize = 32;

impl Starts {
    /// All images of a data set, which are kept in memory; an error where there are none or they are more than 256 MiB.
    pub fn of(data: &Dataset) -> Result<Self> {
        let shape = data.shape();
        let pixels: usize = shape.iter().product();
        if data.is_empty() {
            return Err(Error::argument("search::hopskipjump: `starts` has no image to begin at"));
        }
        if data.len().saturating_mul(pixels) > MOST_OF_STARTS {
            let most = MOST_OF_STARTS / pixels.max(1);
            return Err(Error::argument(format!(
                "search::hopskipjump: `starts` has {} images of {shape:?}; at most {most} of them are kept in memory",
                data.len()
            ))
            .hint(format!("starts: ds.take({most})")));
        }
        let mut images = vec![];
        let rows: Vec<usize> = (0..data.len()).collect();
        for rows in rows.chunks((NUMBERS / pixels.max(1)).max(1)) {
            let block = data.images(rows, tch::Device::Cpu)?.f_contiguous()?;
            let numbers = Vec::<f32>::try_from(&block.f_reshape([-1])?)?;
            for (image, &row) in numbers.chunks(pixels.max(1)).zip(rows) {
                images.push((PixelChange::from(image), data.labels()[row]));
            }
        }
        Ok(Self { described: format!("{} images {}", data.len(), data.digest().short()), shape, images: images.into() })
    }

    /// The changes that lead there from an image, the nearest first, but images of its own label last.
    fn ways(&self, original: &PixelChange, label: i64, norm: Norm) -> VecDeque<u32> {
        let size = |at: usize| {
            let image = &self.images[at].0;
            let differences = image.iter().zip(original.iter()).map(|(a, b)| f64::from(a - b));
            match norm {
                Norm::L1 | Norm::L2 => differences.map(|x| x * x).sum::<f64>(),
                Norm::Linf => differences.fold(0.0, |most: f64, x| most.max(x.abs())),
            }
        };
        let sizes: Vec<f64> = (0..self.images.len()).map(size).collect();
        // An image itself is where it is: that was asked first.
        let mut order: Vec<usize> = (0..sizes.len()).filter(|&at| sizes[at] > 0.0).collect();
        order.sort_by(|&a, &b| {
            let own = |at: usize| self.images[at].1 == label;
            own(a).cmp(&own(b)).then(sizes[a].total_cmp(&sizes[b]))
        });
        order.into_iter().map(|at| at as u32).collect()
    }
}

/// Directions of any estimate, at most.
const MOST_DIRECTIONS: usize = 10_000;

/// How far around the first point on the boundary is looked, in widths of what pixels may be.
const FIRST_REACH: f64 = 0.1;

/// How close along a line noise is brought to where it fails, before linf goes on in its own measure.
const CLOSE: f64 = 1e-3;

/// Parts of a whole that float32 tells apart with room to spare.
const FINE: f64 = 1.0 / (1 << 20) as f64;

/// Numbers that are proposed at once for one image, unless it has more pixels: 1 MiB.
const NUMBERS: usize = 1 << 18;

impl Search for HopSkipJump {
    fn describe(&self) -> String {
        let starts = self.starts.as_ref().map_or_else(String::new, |starts| format!(", starts: {}", starts.described));
        format!("hopskipjump(#{{ questions: {}, directions: {}{starts} }})", self.questions, self.directions)
    }

    fn finds_least(&self) -> bool {
        true
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Changes(self)]
    }

    fn varied(&self, how: Variation) -> Option<Rc<dyn Search>> {
        match how {
            Variation::Longer(times) => {
                Some(Rc::new(Self { questions: self.questions.saturating_mul(times as usize), ..self.clone() }))
            }
            Variation::Restarted(_) => None,
            // It goes as far as it has to.
            Variation::Farther(..) => Some(Rc::new(self.clone())),
        }
    }
}

impl Proposing<PixelBall> for HopSkipJump {
    /// Its loss must tell by its sign whether the objective is met.
    fn looks_for(&self, objective: &Objective) -> bool {
        match objective.loss {
            None | Some(Loss::Lead) => true,
            Some(loss) => loss.signed() && objective.lead == 0.0,
        }
    }

    fn begin(&self, room: &PixelBall, of: Examinee) -> Result<Box<dyn Proposals<PixelChange>>> {
        if room.norm == Norm::L1 {
            return Err(not_in(Norm::L1, "search::hopskipjump", &[Norm::L2, Norm::Linf]));
        }
        let original = room.pixels(of.row as usize)?;
        let least = original.iter().copied().fold(f32::INFINITY, f32::min);
        let largest = original.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let range = match room.bounds {
            Some(bounds) => [bounds.nearest(f32::NEG_INFINITY), bounds.nearest(f32::INFINITY)],
            None if least >= 0.0 && largest <= 1.0 => [0.0, 1.0],
            None if least == largest => {
                return Err(Error::data(format!(
                    "search::hopskipjump: all pixels of image {} are {}, so nothing says how far others may lie, between which it begins",
                    of.row,
                    number(f64::from(least))
                ))
                .hint("give the space `bounds: [least, largest]`"));
            }
            None => [least, largest],
        };
        let starts = match &self.starts {
            Some(starts) if starts.shape != room.shape => {
                return Err(Error::argument(format!(
                    "search::hopskipjump: `starts` has images of {:?}, those examined are {:?}",
                    starts.shape, room.shape
                ))
                .hint("both in channels, height and width: read them by the same options"));
            }
            Some(starts) => Some(Approaching { starts: starts.clone(), label: of.label, left: None, at_once: 1 }),
            None => None,
        };
        Ok(Box::new(Walk {
            starts,
            original,
            norm: room.norm,
            bounds: room.bounds,
            range,
            radius: room.radius,
            directions: self.directions,
            left: self.questions,
            rng: of.rng(),
            tried: vec![],
            inside: false,
            began: false,
            state: State::Standing,
        }))
    }
}

/// Starts that were not asked about.
struct Approaching {
    starts: Starts,
    /// The image's own.
    label: i64,
    /// In the order in which they are asked about, once they are.
    left: Option<VecDeque<u32>>,
    at_once: usize,
}

/// One image's way.
struct Walk {
    starts: Option<Approaching>,
    original: PixelChange,
    norm: Norm,
    bounds: Option<Bounds>,
    /// What noise is drawn from.
    range: [f32; 2],
    radius: f64,
    directions: usize,
    /// Questions.
    left: usize,
    rng: Pcg64Mcg,
    /// What was proposed last.
    tried: Vec<PixelChange>,
    /// Whether a point failed within the radius.
    inside: bool,
    /// Whether any point failed.
    began: bool,
    state: State,
}

enum State {
    /// The image as it stands.
    Standing,
    /// A start that fails is looked for, and where there is none, noise.
    Starts,
    Noise,
    /// Between the image and a point that fails.
    Between(Between),
    /// Which way leads into what fails, around a point on the boundary.
    Around(Around),
    /// How far to go that way.
    Ahead(Ahead),
    Done,
}

/// Halving what lies between a share of a change that does not fail and one that does.
struct Between {
    far: Vec<f32>,
    shrink: Shrink,
    low: f64,
    high: f64,
    until: f64,
    /// The estimate that comes after.
    round: usize,
    /// In l2 distances, how far `far` is from the image.
    reach: f64,
}

/// How a change is made smaller.
#[derive(Clone, Copy, PartialEq)]
enum Shrink {
    /// To a share of itself.
    Line,
    /// To where no pixel changes by more.
    Clip,
}

/// An estimate under way.
struct Around {
    here: Vec<f32>,
    round: usize,
    /// How far around.
    delta: f64,
    wanted: usize,
    seen: usize,
    failing: usize,
    /// The sums of all directions, and of those that fail.
    all: Vec<f64>,
    failed: Vec<f64>,
}

struct Ahead {
    here: Vec<f32>,
    round: usize,
    direction: Vec<f32>,
    step: f64,
    least: f64,
}

impl Proposals<PixelChange> for Walk {
    fn propose(&mut self) -> Result<Vec<PixelChange>> {
        if self.left == 0 || (self.inside && self.radius.is_finite()) {
            self.state = State::Done;
        }
        if matches!(self.state, State::Starts) && !self.has_starts() {
            self.state = State::Noise;
        }
        let most = self.left.min((NUMBERS / self.original.len().max(1)).max(1));
        let changes = match &self.state {
            State::Standing => vec![vec![0.0; self.original.len()]],
            State::Starts => self.next_starts(most),
            State::Noise => vec![self.noise()],
            State::Between(between) => vec![between.at((between.low + between.high) / 2.0)],
            State::Around(around) => {
                let (count, delta) = (most.min(around.wanted - around.seen), around.delta);
                let here = around.here.clone();
                (0..count).map(|_| self.beside(&here, delta)).collect()
            }
            State::Ahead(ahead) => vec![ahead.there()],
            State::Done => vec![],
        };
        self.left -= changes.len();
        self.tried = changes.into_iter().map(|change| self.bounded(change)).collect();
        Ok(self.tried.clone())
    }

    fn update(&mut self, losses: &[f32]) -> Result<()> {
        let tried = std::mem::take(&mut self.tried);
        let fails: Vec<bool> = losses.iter().map(|loss| *loss > 0.0).collect();
        let near = |(change, fails): (&PixelChange, &bool)| *fails && self.size(change) <= self.radius;
        self.inside |= tried.iter().zip(&fails).any(near);
        self.began |= fails.contains(&true);
        let (Some(first), Some(&failed)) = (tried.first(), fails.first()) else { return Ok(()) };
        self.state = match std::mem::replace(&mut self.state, State::Done) {
            // There is nothing nearer than the image itself.
            State::Standing if failed => State::Done,
            State::Standing => State::Starts,
            state @ (State::Starts | State::Noise) => match tried.iter().zip(&fails).find(|(_, fails)| **fails) {
                Some((far, _)) => {
                    self.starts = None;
                    let until = if self.norm == Norm::L2 { self.precision() } else { CLOSE };
                    let between = Between::line(far.to_vec(), until, 1, 0.0);
                    self.between(between)
                }
                None => state,
            },
            State::Between(mut between) => {
                let middle = (between.low + between.high) / 2.0;
                *if failed { &mut between.high } else { &mut between.low } = middle;
                self.between(between)
            }
            State::Around(mut around) => {
                around.hear(&tried, &fails);
                if around.seen < around.wanted { State::Around(around) } else { self.ahead(around) }
            }
            State::Ahead(ahead) if failed => {
                let (far, reach) = (first.to_vec(), self.size(first));
                let between = match self.norm {
                    Norm::L1 | Norm::L2 => Between::line(far, self.precision(), ahead.round + 1, reach),
                    Norm::Linf => Between::clip(far, reach, self.precision(), ahead.round + 1, reach),
                };
                self.between(between)
            }
            State::Ahead(Ahead { here, round, direction, step, least }) => match step / 2.0 {
                // No way leads on from here; another estimate may.
                step if step < least => {
                    let reach = self.size(&here);
                    self.around(here, round + 1, reach)
                }
                step => State::Ahead(Ahead { here, round, direction, step, least }),
            },
            State::Done => State::Done,
        };
        Ok(())
    }

    fn never_began(&self) -> bool {
        !self.began
    }

    /// The nearer the better, of points within the radius that fail.
    fn merit(&self, point: &PixelChange, fails: bool) -> Option<f64> {
        let size = self.size(point);
        Some(if fails && size <= self.radius { -size } else { f64::NEG_INFINITY })
    }
}

impl Walk {
    /// The norm of a change.
    fn size(&self, change: &[f32]) -> f64 {
        match self.norm {
            Norm::L1 | Norm::L2 => length(change),
            Norm::Linf => change.iter().fold(0.0, |most: f32, x| most.max(x.abs())).into(),
        }
    }

    /// How precisely the boundary is found, as a share of the way to it (theta).
    fn precision(&self) -> f64 {
        let d = self.original.len() as f64;
        let theta = if self.norm == Norm::L2 { 1.0 / (d * d.sqrt()) } else { 1.0 / (d * d) };
        // Beyond that halves are the same numbers.
        theta.clamp(FINE / 4.0, 0.5)
    }

    /// A change whose pixels end within bounds.
    fn bounded(&self, mut change: Vec<f32>) -> PixelChange {
        if let Some(bounds) = self.bounds {
            for (change, pixel) in change.iter_mut().zip(self.original.iter()) {
                *change = bounds.nearest(pixel + *change) - pixel;
            }
        }
        PixelChange::from(change)
    }

    /// Whether there are starts that were not asked about.
    fn has_starts(&mut self) -> bool {
        let (original, norm) = (&self.original, self.norm);
        self.starts.as_mut().is_some_and(|Approaching { starts, label, left, .. }| {
            !left.get_or_insert_with(|| starts.ways(original, *label, norm)).is_empty()
        })
    }

    /// To the nearest of them.
    fn next_starts(&mut self, most: usize) -> Vec<Vec<f32>> {
        let Some(Approaching { starts, left: Some(left), at_once, .. }) = &mut self.starts else { return vec![] };
        let count = left.len().min(*at_once).min(most);
        *at_once = (*at_once * 2).min(STARTS_AT_ONCE);
        let there = |at: u32| {
            let pixels = starts.images[at as usize].0.iter().zip(self.original.iter());
            pixels.map(|(there, here)| there - here).collect()
        };
        left.drain(..count).map(there).collect()
    }

    /// To an image whose pixels are drawn evenly.
    fn noise(&mut self) -> Vec<f32> {
        let [least, largest] = self.range;
        let (rng, original) = (&mut self.rng, &self.original);
        original.iter().map(|pixel| least + (largest - least) * rng.r#gen::<f32>() - pixel).collect()
    }

    /// So far from a point, in a random direction.
    fn beside(&mut self, here: &[f32], delta: f64) -> Vec<f32> {
        let mut direction = vec![0f32; here.len()];
        match self.norm {
            Norm::L1 | Norm::L2 => {
                for pair in direction.chunks_mut(2) {
                    // Box and Muller 1958.
                    let radius = (-2.0 * (1.0 - self.rng.r#gen::<f32>()).ln()).sqrt();
                    let (sin, cos) = (std::f32::consts::TAU * self.rng.r#gen::<f32>()).sin_cos();
                    pair.iter_mut().zip([radius * cos, radius * sin]).for_each(|(into, z)| *into = z);
                }
            }
            Norm::Linf => direction.iter_mut().for_each(|into| *into = self.rng.gen_range(-1.0..1.0)),
        }
        let scale = (delta / length(&direction).max(1e-12)) as f32;
        here.iter().zip(direction).map(|(here, z)| here + scale * z).collect()
    }

    /// Goes on between two points, or around the nearer one that fails when they are close enough.
    fn between(&self, between: Between) -> State {
        if between.high - between.low > between.until {
            return State::Between(between);
        }
        let here = between.at(between.high);
        let size = self.size(&here);
        match (self.norm, between.shrink) {
            // Noise was brought closer, but not in the measure of the space.
            (Norm::Linf, Shrink::Line) => {
                self.between(Between::clip(here, size, self.precision(), between.round, size))
            }
            _ => self.around(here, between.round, between.reach),
        }
    }

    /// Begins an estimate around a point on the boundary; the one before it went as far as `reach`.
    fn around(&self, here: Vec<f32>, round: usize, reach: f64) -> State {
        let d = here.len() as f64;
        let width = f64::from(self.range[1] - self.range[0]);
        // The image and what is left of a step afterwards need some questions too.
        let reserve = self.precision().log2().abs().ceil() as usize + 3;
        let wanted = (self.directions as f64 * (round as f64).sqrt()) as usize;
        let wanted = wanted.min(MOST_DIRECTIONS).min(self.left.saturating_sub(reserve));
        if wanted == 0 {
            return State::Done;
        }
        let delta = if round == 1 { FIRST_REACH * width } else { reach / d };
        // What is less is lost when pixels are rounded.
        let delta = delta.max(d.sqrt() * FINE * width);
        let none = vec![0.0; here.len()];
        State::Around(Around { here, round, delta, wanted, seen: 0, failing: 0, all: none.clone(), failed: none })
    }

    /// The step that an estimate leads to.
    fn ahead(&self, around: Around) -> State {
        let direction = around.direction(self.norm);
        let Around { here, round, .. } = around;
        let size = self.size(&here);
        match direction {
            Some(direction) => {
                let step = size / (round as f64).sqrt();
                State::Ahead(Ahead { here, round, direction, step, least: step * FINE })
            }
            None => self.around(here, round + 1, size),
        }
    }
}

impl Between {
    fn line(far: Vec<f32>, until: f64, round: usize, reach: f64) -> Self {
        Self { far, shrink: Shrink::Line, low: 0.0, high: 1.0, until, round, reach }
    }

    fn clip(far: Vec<f32>, size: f64, share: f64, round: usize, reach: f64) -> Self {
        Self { far, shrink: Shrink::Clip, low: 0.0, high: size, until: size * share, round, reach }
    }

    fn at(&self, share: f64) -> Vec<f32> {
        let share = share as f32;
        match self.shrink {
            Shrink::Line => self.far.iter().map(|x| x * share).collect(),
            Shrink::Clip => self.far.iter().map(|x| x.clamp(-share, share)).collect(),
        }
    }
}

impl Around {
    fn hear(&mut self, tried: &[PixelChange], fails: &[bool]) {
        for (change, fails) in tried.iter().zip(fails) {
            self.seen += 1;
            self.failing += usize::from(*fails);
            for (i, (x, here)) in change.iter().zip(&self.here).enumerate() {
                let along = f64::from(x - here);
                self.all[i] += along;
                self.failed[i] += if *fails { along } else { 0.0 };
            }
        }
    }

    /// The mean of directions, those that fail towards and the others away, less the mean of both (Equation 16); of length 1, in linf in
    /// every pixel.
    fn direction(&self, norm: Norm) -> Option<Vec<f32>> {
        let mean = 2.0 * self.failing as f64 / self.seen as f64 - 1.0;
        let baseline = if mean.abs() == 1.0 { 0.0 } else { mean };
        let sums = self.all.iter().zip(&self.failed);
        let estimate: Vec<f64> = sums.map(|(all, failed)| 2.0 * failed - all - baseline * all).collect();
        let length = estimate.iter().map(|x| x * x).sum::<f64>().sqrt();
        let unit = |x: &f64| match norm {
            Norm::L1 | Norm::L2 => (x / length) as f32,
            Norm::Linf if *x == 0.0 => 0.0,
            Norm::Linf => x.signum() as f32,
        };
        (length > 0.0).then(|| estimate.iter().map(unit).collect())
    }
}

impl Ahead {
    fn there(&self) -> Vec<f32> {
        let step = self.step as f32;
        self.here.iter().zip(&self.direction).map(|(here, along)| here + step * along).collect()
    }
}

fn length(of: &[f32]) -> f64 {
    of.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::ball::PixelSource;

    struct Grey;

    const PIXELS: usize = 60;

    impl PixelSource for Grey {
        fn pixels(&self, _row: usize) -> Result<PixelChange> {
            Ok(PixelChange::from(vec![0.5; PIXELS]))
        }
    }

    fn room(norm: Norm, radius: f64) -> PixelBall {
        let mut room = PixelBall::new([1, 6, 10], norm, radius, Rc::new(Grey));
        room.bounds = Bounds::new(0.0, 1.0).ok();
        room
    }

    /// What is beyond a plane fails: the sum of weighted changes reaches `beyond`. All that was asked, and the best merit.
    fn beyond_a_plane(room: &PixelBall, questions: usize, beyond: f64) -> (usize, f64) {
        let weight = |i: usize| ((i * 7 % 11) as f64 - 4.2) / 4.0;
        let mut walk = HopSkipJump { questions, directions: 20, starts: None }
            .begin(room, Examinee { seed: 3, row: 4, label: 0 })
            .expect("room enough");
        let (mut asked, mut best) = (0, f64::NEG_INFINITY);
        loop {
            let changes = walk.propose().expect("changes");
            if changes.is_empty() {
                return (asked, best);
            }
            asked += changes.len();
            let mut losses = vec![];
            for change in &changes {
                assert!(change.iter().all(|x| (-0.5..=0.5).contains(x)), "out of bounds after {asked}");
                let sum: f64 = change.iter().enumerate().map(|(i, x)| weight(i) * f64::from(*x)).sum();
                let fails = sum >= beyond;
                best = best.max(walk.merit(change, fails).expect("a merit"));
                // Nothing but the sign tells.
                losses.push(if fails { 1.0 } else { -1.0 });
            }
            walk.update(&losses).expect("heard");
        }
    }

    /// How far a plane is at least follows from its weights: 0.75 over their length in l2, over their sum in linf.
    #[test]
    fn it_finds_how_far_a_plane_is() {
        for (norm, far) in [(Norm::L2, 0.75 / 6.36887), (Norm::Linf, 0.75 / 42.45)] {
            let weights: Vec<f32> = (0..PIXELS).map(|i| ((i * 7 % 11) as f32 - 4.2) / 4.0).collect();
            let dual =
                if norm == Norm::L2 { length(&weights) } else { weights.iter().map(|w| f64::from(w.abs())).sum() };
            assert!((0.75 / dual - far).abs() < 1e-4, "{dual}");
            let (asked, best) = beyond_a_plane(&room(norm, f64::INFINITY), 4000, 0.75);
            let ratio = -best / far;
            assert!(asked <= 4000 && (0.9999..1.1).contains(&ratio), "{norm:?}: {ratio} after {asked}");
            let (few, worse) = beyond_a_plane(&room(norm, f64::INFINITY), 300, 0.75);
            assert!(few <= 300 && worse < best, "{norm:?}: {worse} after {few}, {best} after {asked}");
        }
    }

    /// Near ones first and one alone, then two, but images of the own label last; the image itself is none, and after them comes noise.
    #[test]
    fn starts_are_asked_about_from_near_to_far() {
        let image = |grey: f32, label: i64| (PixelChange::from(vec![grey; PIXELS]), label);
        let images = [image(0.9, 1), image(0.6, 0), image(0.4, 2), image(0.5, 1), image(0.7, 3)];
        let starts = Starts { described: String::new(), shape: [1, 6, 10], images: images.into() };
        let search = HopSkipJump { questions: 400, directions: 20, starts: Some(starts) };
        let room = room(Norm::L2, f64::INFINITY);
        let mut walk = search.begin(&room, Examinee { seed: 3, row: 4, label: 0 }).expect("room enough");
        let mut asked = vec![];
        for _ in 0..5 {
            let changes = walk.propose().expect("changes");
            asked.push(changes.iter().map(|change| (change[0] * 10.0).round() as i32).collect::<Vec<_>>());
            walk.update(&vec![-1.0; changes.len()]).expect("heard");
        }
        assert_eq!(asked[..4], [vec![0], vec![-1], vec![2, 4], vec![1]]);
        assert_eq!(asked[4].len(), 1, "noise");
        assert!(walk.never_began());
    }

    #[test]
    fn it_stops_within_a_radius_and_at_an_image_that_fails_and_gives_up_where_nothing_does() {
        let (asked, best) = beyond_a_plane(&room(Norm::L2, 0.3), 4000, 0.75);
        assert!(asked < 2000 && best >= -0.3, "{best} after {asked}");
        assert_eq!(beyond_a_plane(&room(Norm::L2, 0.3), 4000, -1.0), (1, 0.0));
        assert_eq!(beyond_a_plane(&room(Norm::Linf, 0.3), 400, 1e9), (400, f64::NEG_INFINITY));
        assert_eq!(beyond_a_plane(&room(Norm::L2, f64::INFINITY), 1, 0.75), (1, f64::NEG_INFINITY));
    }

    /// Too many pixels to propose all directions at once.
    #[test]
    fn an_estimate_of_many_pixels_is_made_of_parts() {
        struct Wide;
        impl PixelSource for Wide {
            fn pixels(&self, _row: usize) -> Result<PixelChange> {
                Ok(PixelChange::from(vec![0.5; 1 << 16]))
            }
        }
        let room = PixelBall::new([1, 256, 256], Norm::L2, f64::INFINITY, Rc::new(Wide));
        let mut walk = HopSkipJump { questions: 60, directions: 10, starts: None }
            .begin(&room, Examinee { seed: 3, row: 4, label: 0 })
            .expect("room enough");
        let mut counts = vec![];
        loop {
            let changes = walk.propose().expect("changes");
            if changes.is_empty() {
                break;
            }
            counts.push(changes.len());
            // All but the image as it stands fail.
            let failing = |change: &PixelChange| if change.iter().any(|x| *x != 0.0) { 1.0 } else { -1.0 };
            walk.update(&changes.iter().map(failing).collect::<Vec<f32>>()).expect("heard");
        }
        assert!(counts.iter().sum::<usize>() <= 60);
        assert!(counts.windows(3).any(|parts| parts == [4, 4, 2]), "{counts:?}");
    }
}
