//! Quarter turns: the rotations that carry pixels onto pixels.

use super::{Finite, Space, Symmetry};
use crate::core::{Error, Result, Tensor};
use crate::data::Dataset;

/// Turns a square image by 90, 180 or 270 degrees, counter-clockwise.
#[derive(Clone)]
pub struct Turn;

impl Space for Turn {
    fn describe(&self) -> String {
        "turn()".into()
    }

    fn finite(&self) -> Option<&dyn Finite> {
        Some(self)
    }
}

impl Symmetry for Turn {
    fn name(&self) -> &'static str {
        "turn"
    }

    fn moves(&self) -> Vec<String> {
        ["turn 90", "turn 180", "turn 270"].map(String::from).to_vec()
    }

    fn apply(&self, place: usize, canvases: &Tensor) -> Result<Tensor> {
        Ok(canvases.f_rot90(place as i64 + 1, [2, 3])?)
    }

    fn check(&self, set: &Dataset) -> Result<()> {
        let [_, height, width] = set.shape();
        if height == width {
            return Ok(());
        }
        Err(Error::argument(format!(
            "turn() on {}: a quarter turn of {height} x {width} pixels is not of that shape",
            set.name
        ))
        .hint("load the images with a square `crop`; `space::flip()` takes any shape"))
    }

    fn assumption(&self) -> String {
        "turning an image by quarter turns keeps its label and its probability: exact where images have no up and down, as \
         from above or through a microscope; not so for scenes, digits or letters"
            .into()
    }
}
