//! What stands behind and in front of an object, other than what is built in: photographs and other objects.

use std::sync::Arc;

use glam::Vec3;

use super::backdrop::{self, BACKDROPS};
use super::mesh::Mesh;
use super::view::{Span, View, ViewFactor};

/// A square picture in all sizes that it may be asked for in.
pub struct Photograph {
    /// Sides and rows of pixels, each half as large as the one before.
    sizes: Vec<(usize, Vec<[u8; 3]>)>,
}

impl Photograph {
    /// The side of the largest size that is kept, and of the smallest.
    pub const SIDES: [usize; 2] = [256, 16];

    /// From pictures of itself, largest first.
    pub fn new(sizes: Vec<(usize, Vec<[u8; 3]>)>) -> Self {
        Self { sizes }
    }

    /// The colour at a place, (0, 0) the upper left corner and (1, 1) the lower right one, in a picture of `size` pixels a side.
    fn colour(&self, x: f32, y: f32, size: usize) -> Vec3 {
        let fits = self.sizes.iter().rev().find(|(side, _)| *side >= size).or(self.sizes.first());
        let Some((side, pixels)) = fits else { return Vec3::ONE };
        let last = (side - 1) as f32;
        let place = |t: f32| (t * *side as f32 - 0.5).clamp(0.0, last);
        let (x, y) = (place(x), place(y));
        let (column, row) = (x.floor(), y.floor());
        let at = |dx: f32, dy: f32| {
            let (column, row) = ((column + dx).min(last) as usize, (row + dy).min(last) as usize);
            Vec3::from(pixels[row * side + column].map(f32::from)) / 255.0
        };
        let (along, down) = (x - column, y - row);
        at(0.0, 0.0).lerp(at(1.0, 0.0), along).lerp(at(0.0, 1.0).lerp(at(1.0, 1.0), along), down)
    }
}

/// Photographs that are backdrops after the built ones, and objects that may stand between the camera and the one that is looked at.
#[derive(Default)]
pub struct Scenery {
    pub photographs: Vec<Photograph>,
    pub occluders: Vec<Arc<Mesh>>,
    /// What each occluder is called as a choice, all different.
    pub names: Vec<String>,
    /// What tells it apart from others; empty where there is none.
    pub about: String,
    /// What is to be said beside every result of pictures with it.
    pub noticed: Vec<String>,
}

impl Scenery {
    /// What a factor may be here: its own choices, and those that the scenery adds.
    pub fn choices(&self, factor: &ViewFactor) -> Vec<String> {
        let Span::Choices(own) = factor.span else { return vec![] };
        let mut all: Vec<String> = own.iter().map(|name| (*name).into()).collect();
        match factor.name {
            "background" => all.extend((0..self.photographs.len()).map(|number| format!("photograph {number}"))),
            "occluder" => all.extend(self.names.iter().cloned()),
            _ => {}
        }
        all
    }

    /// Those choices of a factor that vary unless it is said otherwise: the scenery's own, where it has some.
    pub fn usual(&self, factor: &ViewFactor) -> Vec<usize> {
        let all = self.choices(factor).len();
        match factor.name {
            "background" if !self.photographs.is_empty() => (BACKDROPS.len()..all).collect(),
            _ => (0..all).collect(),
        }
    }

    pub(super) fn backdrop(&self, view: &View, x: f32, y: f32, size: usize) -> Vec3 {
        match view.background.checked_sub(BACKDROPS.len()).and_then(|number| self.photographs.get(number)) {
            Some(photograph) => photograph.colour(x, y, size),
            None => backdrop::colour(view.background, x, y),
        }
    }

    pub(super) fn occluder(&self, view: &View) -> Option<&Mesh> {
        Some(&**self.occluders.get(view.occluder?)?)
    }
}
