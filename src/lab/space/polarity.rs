//! Inverted images: dark and light exchanged.

use super::{Finite, Space, Symmetry};
use crate::core::{Error, Result, Tensor};
use crate::data::Dataset;

/// Replaces every value x by 1 - x.
#[derive(Clone)]
pub struct Polarity;

impl Space for Polarity {
    fn describe(&self) -> String {
        "polarity()".into()
    }

    fn finite(&self) -> Option<&dyn Finite> {
        Some(self)
    }
}

impl Symmetry for Polarity {
    fn name(&self) -> &'static str {
        "polarity"
    }

    fn moves(&self) -> Vec<String> {
        vec!["polarity".into()]
    }

    /// 1 - k/255 is not (255 - k)/255 in floats, so what was a byte stays one: inverting twice then changes nothing.
    fn apply(&self, _place: usize, canvases: &Tensor) -> Result<Tensor> {
        let bytes = (canvases.f_mul_scalar(255.0)?).f_round()?;
        let inverse = bytes.f_neg()?.f_add_scalar(255.0)?.f_div_scalar(255.0)?;
        let other = canvases.f_neg()?.f_add_scalar(1.0)?;
        Ok(inverse.f_where_self(&bytes.f_div_scalar(255.0)?.f_eq_tensor(canvases)?, &other)?)
    }

    fn check(&self, set: &Dataset) -> Result<()> {
        if !set.leaves_unit_range() {
            return Ok(());
        }
        Err(Error::data(format!("polarity() on {}: the images are centred or standardised, not in [0, 1]", set.name))
            .hint("invert the plain images; a model's own `mean` and `std` do the normalising"))
    }

    fn assumption(&self) -> String {
        "inverting an image keeps its label and its probability: exact where a fair coin decides between dark on light and \
         light on dark when images are made; not so for photographs"
            .into()
    }
}
