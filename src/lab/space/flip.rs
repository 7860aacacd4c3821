//! Mirror images, left and right exchanged.

use super::{Finite, Space, Symmetry};
use crate::core::{Result, Tensor};

/// Mirrors an image about its vertical axis.
#[derive(Clone)]
pub struct Flip;

impl Space for Flip {
    fn describe(&self) -> String {
        "flip()".into()
    }

    fn finite(&self) -> Option<&dyn Finite> {
        Some(self)
    }
}

impl Symmetry for Flip {
    fn name(&self) -> &'static str {
        "flip"
    }

    fn moves(&self) -> Vec<String> {
        vec!["flip".into()]
    }

    fn apply(&self, _place: usize, canvases: &Tensor) -> Result<Tensor> {
        Ok(canvases.f_flip([3])?)
    }

    fn assumption(&self) -> String {
        "mirroring an image keeps its label and its probability: exact where fair coins decide between left and right when \
         images are made; not so for digits, letters, or anything with a handedness"
            .into()
    }
}
