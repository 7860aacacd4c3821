//! What it takes to compute a map for many crops together, and for each on its own.

use super::axis::{AxisPart, CropAxis, Window};
use crate::model::layer::{Branch, Node, Sharing};

/// Arithmetic that takes as long as moving one number through memory, in multiplications with addition.
const MOVE: f64 = 40.0;

/// A map of crops as it goes through the layers.
#[derive(Clone, Copy)]
pub(super) struct Course {
    pub y: CropAxis,
    pub x: CropAxis,
    pub channels: i64,
    /// What all crops together took so far, in multiplications with addition.
    pub shared: f64,
    /// What each crop on its own would have taken.
    pub plain: f64,
}

impl Course {
    /// The pixels of crops of height and width `crop`, `crops` of them along either axis. `stride`: the largest to come.
    pub fn of_pixels(crop: [i64; 2], crops: [i64; 2], channels: i64, stride: i64) -> Self {
        let [y, x] = [0, 1].map(|i| CropAxis::of_pixels(crop[i], crops[i], stride));
        Self { y, x, channels, shared: 0.0, plain: 0.0 }
    }

    /// Goes through a node; `None` where crops can't share what it does.
    pub fn through(&mut self, node: &Node) -> Option<()> {
        match node.sharing() {
            Sharing::Nothing => None,
            Sharing::Sequence(parts) => parts.iter().try_for_each(|(_, node)| self.through(node)),
            Sharing::Sum(branches) => {
                let branches = self.branches(&branches)?;
                self.join(&branches, branches.first()?.channels)
            }
            Sharing::Concat(branches) => {
                let branches = self.branches(&branches)?;
                self.join(&branches, branches.iter().map(|branch| branch.channels).sum())
            }
            Sharing::Point(None) => {
                self.add(self.channels as f64 * MOVE / 2.0);
                Some(())
            }
            Sharing::Point(Some(work)) => {
                self.channels = work.channels;
                self.add(work.each + work.channels as f64 * MOVE);
                Some(())
            }
            Sharing::Window(sliding, Some(work)) => self.slide(&sliding.window, work.channels, work.each),
            Sharing::Window(sliding, None) => {
                let size = sliding.window.size;
                self.slide(&sliding.window, self.channels, (4 * size * size * self.channels) as f64)
            }
        }
    }

    /// Adds what every position of the map takes.
    fn add(&mut self, each: f64) {
        self.shared += self.y.positions() as f64 * self.x.positions() as f64 * each;
        self.plain += self.y.len as f64 * self.x.len as f64 * each;
    }

    fn slide(&mut self, window: &Window, channels: i64, each: f64) -> Option<()> {
        let (y, x) = (self.y.after(window)?, self.x.after(window)?);
        if window.size > 1 {
            let read = |from: &CropAxis, to: &CropAxis| -> f64 {
                let there = AxisPart::ALL.into_iter().filter(|&part| to.part_len(part) > 0);
                let reads = there.map(|part| from.reads(to, window, part));
                reads.map(|reads| (reads.pieces * reads.len) as f64).sum()
            };
            self.shared += read(&self.y, &y) * read(&self.x, &x) * self.channels as f64 * MOVE;
        }
        (self.y, self.x, self.channels) = (y, x, channels);
        self.add(each + channels as f64 * MOVE);
        Some(())
    }

    fn branches(&self, branches: &[Branch]) -> Option<Vec<Self>> {
        let course = |parts: &Branch| {
            let mut branch = Self { shared: 0.0, plain: 0.0, ..*self };
            parts.iter().try_for_each(|(_, node)| branch.through(node))?;
            Some(branch)
        };
        branches.iter().map(course).collect()
    }

    fn join(&mut self, branches: &[Self], channels: i64) -> Option<()> {
        self.y = CropAxis::widest(branches.iter().map(|branch| branch.y))?;
        self.x = CropAxis::widest(branches.iter().map(|branch| branch.x))?;
        self.channels = channels;
        for branch in branches {
            self.shared += branch.shared;
            self.plain += branch.plain;
        }
        self.add(channels as f64 * MOVE);
        Some(())
    }
}
