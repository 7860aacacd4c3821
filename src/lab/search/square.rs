//! The square attack (Andriushchenko, Croce, Flammarion and Hein, "Square Attack: a query-efficient black-box adversarial attack via
//! random search", ECCV 2020, Algorithms 1 to 4): random squares of pixels at the edge of the ball, kept where the loss grows. It needs
//! no gradients.
//!
//! Sizes of squares follow the authors' schedule for any number of questions. As in their code, a change is what is left of it once pixels
//! are within their bounds.

use std::rc::Rc;

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use super::ball::{PixelBall, PixelChange};
use super::pairing::not_in;
use super::proposals::{Examinee, Proposals, Proposing};
use super::{Approach, Search, Variation};
use crate::core::{Error, Result};
use crate::space::{Bounds, Norm};

#[derive(Clone, Copy)]
pub struct Square {
    /// Questions per image, at most.
    pub n: usize,
    /// The share of the pixels that the first squares cover.
    pub share: f64,
}

impl Square {
    /// What the first squares cover, where nothing else is said.
    pub const SHARE: f64 = 0.8;

    pub fn asking(questions: usize) -> Self {
        Self { n: questions, share: Self::SHARE }
    }

    /// Refuses images, `C x H x W`, among whose pixels it can't move squares.
    pub fn check(norm: Norm, [_, h, w]: [usize; 3]) -> Result<()> {
        if norm == Norm::L1 {
            return Err(not_in(Norm::L1, "search::square", &[Norm::L2, Norm::Linf]));
        }
        if norm == Norm::L2 && h.min(w) < SMALLEST {
            return Err(Error::argument(format!("search::square: in l2 images of {h} x {w} pixels are too small"))
                .hint(format!("it moves squares among images of {SMALLEST} pixels or more; linf takes any")));
        }
        Ok(())
    }
}

/// In l2, squares are at least 3 pixels wide and the first tiles a fifth of the image.
const SMALLEST: usize = 5;

impl Search for Square {
    fn describe(&self) -> String {
        format!("square(#{{ questions: {}, share: {:?} }})", self.n, self.share)
    }

    fn identity(&self) -> String {
        format!("square(#{{ n: {}, share: {:?} }})", self.n, self.share)
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Changes(self)]
    }

    fn varied(&self, how: Variation) -> Option<Rc<dyn Search>> {
        match how {
            Variation::Longer(times) => Some(Rc::new(Self { n: self.n.saturating_mul(times as usize), ..*self })),
            Variation::Restarted(_) => None,
            // Its squares are as high as the ball.
            Variation::Farther(..) => Some(Rc::new(*self)),
        }
    }
}

impl Proposing<PixelBall> for Square {
    fn begin(&self, room: &PixelBall, of: Examinee) -> Result<Box<dyn Proposals<PixelChange>>> {
        Square::check(room.norm, room.shape)?;
        if room.radius.is_infinite() {
            return Err(Error::argument("search::square: the space has no radius to search within")
                .hint("`radius: 8.0 / 255` of space::pixels, or `levels` of examine, says how far pixels may change"));
        }
        Ok(Box::new(Walk {
            original: room.pixels(of.row as usize)?,
            ball: Limits { shape: room.shape, norm: room.norm, radius: room.radius, bounds: room.bounds },
            n: self.n,
            share: self.share,
            rng: of.rng(),
            asked: 0,
            best: None,
            tried: None,
        }))
    }
}

#[derive(Clone, Copy)]
struct Limits {
    shape: [usize; 3],
    norm: Norm,
    radius: f64,
    bounds: Option<Bounds>,
}

/// One image's way.
struct Walk {
    original: PixelChange,
    ball: Limits,
    n: usize,
    share: f64,
    rng: Pcg64Mcg,
    asked: usize,
    best: Option<(PixelChange, f32)>,
    tried: Option<PixelChange>,
}

impl Proposals<PixelChange> for Walk {
    fn propose(&mut self) -> Result<Vec<PixelChange>> {
        if self.asked == self.n {
            return Ok(vec![]);
        }
        let change = match (&self.best, self.ball.norm) {
            (None, Norm::Linf) => self.stripes(),
            (None, Norm::L1 | Norm::L2) => self.tiles(),
            (Some((best, _)), norm) => {
                let mut change = best.to_vec();
                match norm {
                    Norm::Linf => self.recolour(&mut change),
                    Norm::L1 | Norm::L2 => self.shift_weight(&mut change),
                }
                change
            }
        };
        self.asked += 1;
        let mut change = change;
        if let Some(bounds) = self.ball.bounds {
            for (change, pixel) in change.iter_mut().zip(self.original.iter()) {
                *change = bounds.nearest(pixel + *change) - pixel;
            }
        }
        let change = PixelChange::from(change);
        self.tried = Some(change.clone());
        Ok(vec![change])
    }

    fn ends_at_failure(&self) -> bool {
        true
    }

    fn update(&mut self, losses: &[f32]) -> Result<()> {
        if let (Some(tried), Some(&loss)) = (self.tried.take(), losses.first())
            && self.best.as_ref().is_none_or(|(_, best)| loss > *best)
        {
            self.best = Some((tried, loss));
        }
        Ok(())
    }
}

impl Walk {
    fn sign(&mut self) -> f32 {
        if self.rng.r#gen::<bool>() { 1.0 } else { -1.0 }
    }

    /// Vertical stripes one pixel wide, each channel's sign by itself.
    fn stripes(&mut self) -> Vec<f32> {
        let [c, h, w] = self.ball.shape;
        let radius = self.ball.radius as f32;
        let signs: Vec<f32> = (0..c * w).map(|_| radius * self.sign()).collect();
        (0..c * h * w).map(|i| signs[i / (h * w) * w + i % w]).collect()
    }

    /// How wide the next square is: its share of the image halves after 0.1%, 0.5%, 2%, ... of 10,000 questions, scaled to `n`.
    fn side(&self) -> usize {
        const HALVED: [usize; 9] = [10, 50, 200, 500, 1000, 2000, 4000, 6000, 8000];
        // The first change is no step.
        let step = self.asked.saturating_sub(1) * 10_000 / self.n;
        let halvings = HALVED.iter().filter(|&&at| step > at).count() as i32;
        let [_, h, w] = self.ball.shape;
        let side = (self.share * 0.5f64.powi(halvings) * (h * w) as f64).sqrt().round() as usize;
        side.clamp(1, h.min(w))
    }

    /// The upper left corner of a square of this side.
    fn corner(&mut self, side: usize) -> [usize; 2] {
        let [_, h, w] = self.ball.shape;
        [self.rng.gen_range(0..=h - side), self.rng.gen_range(0..=w - side)]
    }

    /// Algorithm 2: a square of one new colour, every channel at the edge of the ball.
    fn recolour(&mut self, change: &mut [f32]) {
        let side = self.side();
        let [top, left] = self.corner(side);
        let [channels, h, w] = self.ball.shape;
        for channel in 0..channels {
            let value = self.ball.radius as f32 * self.sign();
            for y in top..top + side {
                change[(channel * h + y) * w + left..][..side].fill(value);
            }
        }
    }

    /// Patterns of one bright and one dark half on a grid of five by five tiles.
    fn tiles(&mut self) -> Vec<f32> {
        let [channels, h, w] = self.ball.shape;
        let side = h.min(w) / SMALLEST;
        let [top, left] = [(h % side) / 2, (w % side) / 2];
        let mut change = vec![0.0; channels * h * w];
        for row in 0..h / side {
            for column in 0..w / side {
                let pattern = self.pattern(side);
                for channel in 0..channels {
                    let sign = self.sign();
                    for (i, value) in pattern.iter().enumerate() {
                        let (y, x) = (top + row * side + i / side, left + column * side + i % side);
                        change[(channel * h + y) * w + x] = sign * value;
                    }
                }
            }
        }
        self.to_radius(&mut change);
        change
    }

    /// Algorithm 4: takes what a second square holds, and what is left of the radius, to a first one.
    fn shift_weight(&mut self, change: &mut [f32]) {
        let [channels, h, w] = self.ball.shape;
        let largest = h.min(w) - (1 - h.min(w) % 2);
        let side = (self.side() | 1).clamp(3, largest);
        let (to, from) = (self.corner(side), self.corner(side));
        let places = |corner: [usize; 2], channel: usize| {
            (0..side * side).map(move |i| (channel * h + corner[0] + i / side) * w + corner[1] + i % side)
        };
        let total = squares(change.iter().copied());
        let mut held = vec![false; change.len()];
        (0..channels)
            .flat_map(|channel| places(to, channel).chain(places(from, channel)))
            .for_each(|at| held[at] = true);
        let in_both = squares(change.iter().zip(&held).filter(|(_, held)| **held).map(|(x, _)| *x));
        let radius = self.ball.radius;
        let each = ((radius * radius - total).max(0.0) + in_both) / channels as f64;
        let pattern = self.pattern(side);
        let mut fresh = Vec::with_capacity(channels);
        for channel in 0..channels {
            let own = squares(places(to, channel).map(|at| change[at])).sqrt() + 1e-12;
            let sign = self.sign();
            let values: Vec<f32> = places(to, channel)
                .zip(&pattern)
                .map(|(at, p)| sign * p + (f64::from(change[at]) / own) as f32)
                .collect();
            let scale = each.sqrt() / (squares(values.iter().copied()).sqrt() + 1e-12);
            fresh.push(values.into_iter().map(|x| (f64::from(x) * scale) as f32).collect::<Vec<f32>>());
        }
        for channel in 0..channels {
            places(from, channel).for_each(|at| change[at] = 0.0);
        }
        for (channel, values) in fresh.iter().enumerate() {
            places(to, channel).zip(values).for_each(|(at, x)| change[at] = *x);
        }
        self.to_radius(change);
    }

    /// Stretches a change to the edge of the ball.
    fn to_radius(&self, change: &mut [f32]) {
        let scale = self.ball.radius / squares(change.iter().copied()).sqrt().max(1e-12);
        change.iter_mut().for_each(|x| *x = (f64::from(*x) * scale) as f32);
    }

    /// A square of length 1 whose upper half is bright and whose lower half is dark, brightest at their centres, or left and right.
    fn pattern(&mut self, side: usize) -> Vec<f32> {
        let upper = side / 2;
        let mut pattern = vec![0.0; side * side];
        pattern[..upper * side].copy_from_slice(&bulge(upper, side));
        for (into, x) in pattern[upper * side..].iter_mut().zip(bulge(side - upper, side)) {
            *into = -x;
        }
        let length = squares(pattern.iter().copied()).sqrt().max(1e-12) as f32;
        pattern.iter_mut().for_each(|x| *x /= length);
        match self.rng.r#gen::<bool>() {
            true => (0..side * side).map(|i| pattern[i % side * side + i / side]).collect(),
            false => pattern,
        }
    }
}

fn squares(of: impl Iterator<Item = f32>) -> f64 {
    of.map(|x| f64::from(x) * f64::from(x)).sum()
}

/// Nested rectangles around the centre, the k-th larger one weighing 1 / k^2, of length 1: the paper's eta (Section 3.4).
fn bulge(height: usize, width: usize) -> Vec<f32> {
    let (half_height, half_width) = (height / 2 + 1, width / 2 + 1);
    let mut values = vec![0f64; height * width];
    for k in 0..half_height.max(half_width) {
        let rows = (half_height - 1).saturating_sub(k)..(half_height + k).min(height);
        let columns = (half_width - 1).saturating_sub(k)..(half_width + k).min(width);
        for y in rows {
            for x in columns.clone() {
                values[y * width + x] += 1.0 / ((k + 1) * (k + 1)) as f64;
            }
        }
    }
    let length = values.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
    values.into_iter().map(|x| (x / length) as f32).collect()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::search::ball::PixelSource;

    /// Images of so many grey pixels.
    struct Grey(usize);

    impl PixelSource for Grey {
        fn pixels(&self, _row: usize) -> Result<PixelChange> {
            Ok(PixelChange::from(vec![0.5; self.0]))
        }
    }

    fn walk(norm: Norm, n: usize) -> Box<dyn Proposals<PixelChange>> {
        let room = PixelBall::new([3, 12, 10], norm, 0.5, Rc::new(Grey(360)));
        Square { n, share: 0.8 }.begin(&room, Examinee { seed: 3, row: 4, label: 0 }).expect("room enough")
    }

    /// Every change lies on the edge of its ball, and one that made things worse is not built on.
    #[test]
    fn changes_stay_at_the_edge_of_the_ball() {
        for norm in [Norm::Linf, Norm::L2] {
            let mut walk = walk(norm, 300);
            let mut best: Option<PixelChange> = None;
            for asked in 0..300 {
                let proposed = walk.propose().expect("a change");
                let size = match norm {
                    Norm::Linf => proposed[0].iter().fold(f32::INFINITY, |least, x| least.min(x.abs())).into(),
                    Norm::L1 | Norm::L2 => squares(proposed[0].iter().copied()).sqrt(),
                };
                assert!((size - 0.5).abs() < 1e-6, "{norm:?}: {size}");
                if let Some(best) = &best {
                    // What is new lies in one square in linf, and in two in l2, whose lengths change what is around.
                    let differ = best.iter().zip(proposed[0].iter()).filter(|(a, b)| a != b).count();
                    assert!(norm == Norm::L2 || differ < 360, "{norm:?} after {asked}: {differ}");
                }
                let better = asked % 3 == 0;
                walk.update(&[if better { asked as f32 } else { -1.0 }]).expect("heard");
                if better {
                    best = Some(proposed[0].clone());
                }
            }
            assert!(walk.propose().expect("the end").is_empty());
        }
    }

    /// Where the pattern of a square lies bright and dark, from its upper left corner: rows of the upper half against the others, or columns.
    fn halves(values: &[f32], side: usize) -> Option<bool> {
        let upper = side / 2;
        let split = |along: fn(usize, usize) -> usize| {
            let sign = values[0].signum();
            (0..side * side).all(|i| values[i] * if along(i, side) < upper { sign } else { -sign } > 0.0)
        };
        match (split(|i, side| i / side), split(|i, side| i % side)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        }
    }

    /// The first change in l2: tiles a fifth of the image wide in the middle of it, each with one bright and one dark half, of one size.
    #[test]
    fn an_l2_walk_begins_with_tiles_of_two_halves() {
        let (channels, height, width, side) = (2, 17, 22, 3);
        let room = PixelBall::new([channels, height, width], Norm::L2, 0.5, Rc::new(Grey(channels * height * width)));
        let mut walk =
            Square { n: 100, share: 0.1 }.begin(&room, Examinee { seed: 3, row: 4, label: 0 }).expect("room enough");
        let change = walk.propose().expect("a change").remove(0);
        // 17 = 1 + 5 x 3 + 1 rows, 22 = 0 + 7 x 3 + 1 columns.
        let (top, left, rows, columns) = (1, 0, 5, 7);
        let mut turned = [0, 0];
        let mut tiles = vec![];
        for channel in 0..channels {
            let at = |y: usize, x: usize| change[(channel * height + y) * width + x];
            for y in 0..height {
                for x in 0..width {
                    let within = (top..top + rows * side).contains(&y) && (left..left + columns * side).contains(&x);
                    assert_eq!(at(y, x) != 0.0, within, "channel {channel}, row {y}, column {x}");
                }
            }
            for tile in 0..rows * columns {
                let (y, x) = (top + tile / columns * side, left + tile % columns * side);
                let values: Vec<f32> = (0..side * side).map(|i| at(y + i / side, x + i % side)).collect();
                let halves = halves(&values, side).unwrap_or_else(|| panic!("no halves: {values:?}"));
                turned[usize::from(halves)] += 1;
                tiles.push(squares(values.iter().copied()));
            }
        }
        assert!(turned[0] > 10 && turned[1] > 10, "{turned:?}");
        let size = 0.25 / tiles.len() as f64;
        assert!(tiles.iter().all(|tile| (tile / size - 1.0).abs() < 1e-4), "{tiles:?}, not {size}");
    }

    /// Every later one empties one square and fills another, of the same odd side, with what both held: the rest of the change stays.
    #[test]
    fn an_l2_walk_moves_what_one_square_holds_to_another() {
        let (height, width) = (12, 10);
        let mut walk = walk(Norm::L2, 4000);
        let best = walk.propose().expect("a change").remove(0);
        walk.update(&[1.0]).expect("heard");
        let mut kept_in_both = 0;
        for asked in 1..200 {
            let proposed = walk.propose().expect("a change").remove(0);
            walk.update(&[0.0]).expect("heard");
            let near = |i: usize| (best[i] - proposed[i]).abs() < 1e-4 * best[i].abs() + 1e-7;
            let changed: Vec<usize> = (0..360).filter(|&i| !near(i)).collect();
            let emptied = (0..360).filter(|&i| proposed[i] == 0.0 && best[i] != 0.0).count();
            // 0.8 of the image, which is all that its smaller side has room for, and half of it from the fifth question on.
            let step = (asked - 1) * 10_000 / 4000;
            let share = 0.8 * 0.5f64.powi([10, 50, 200, 500].iter().filter(|&&at| step > at).count() as i32);
            let side = (((share * 120.0).sqrt().round() as usize).clamp(1, 10) | 1).clamp(3, 9);
            let area = 3 * side * side;
            assert!(changed.len() <= 2 * area && changed.len() >= area / 2, "{asked}: {} beside {area}", changed.len());
            assert!(emptied <= area, "{asked}: {emptied} of {area} are empty");
            let (rows, columns): (Vec<usize>, Vec<usize>) =
                changed.iter().map(|i| (i / width % height, i % width)).unzip();
            let span = |of: &[usize]| of.iter().max().zip(of.iter().min()).map_or(0, |(most, least)| most - least + 1);
            assert!(span(&rows) >= side && span(&columns) >= side, "{asked}: side {side}");
            kept_in_both += usize::from(emptied > 0);
        }
        assert!(kept_in_both > 150, "{kept_in_both}");
    }

    /// Values of the authors' `eta_rectangles(3, 5)` (github.com/max-andr/square-attack), by hand: rectangles 1 x 1, 3 x 3 and 3 x 5.
    #[test]
    fn a_bulge_is_the_authors() {
        let raw = [
            [1.0 / 9.0, 1.0 / 4.0 + 1.0 / 9.0, 1.0 / 4.0 + 1.0 / 9.0, 1.0 / 4.0 + 1.0 / 9.0, 1.0 / 9.0],
            [1.0 / 9.0, 1.0 / 4.0 + 1.0 / 9.0, 1.0 + 1.0 / 4.0 + 1.0 / 9.0, 1.0 / 4.0 + 1.0 / 9.0, 1.0 / 9.0],
            [1.0 / 9.0, 1.0 / 4.0 + 1.0 / 9.0, 1.0 / 4.0 + 1.0 / 9.0, 1.0 / 4.0 + 1.0 / 9.0, 1.0 / 9.0],
        ];
        let length = raw.iter().flatten().map(|x: &f64| x * x).sum::<f64>().sqrt();
        for (found, wanted) in bulge(3, 5).iter().zip(raw.iter().flatten()) {
            assert!((f64::from(*found) - wanted / length).abs() < 1e-6);
        }
    }
}
