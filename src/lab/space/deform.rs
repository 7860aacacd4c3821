//! Deformations by a vector field: every pixel is taken from a place of its own nearby (Alaifari, Alberti and Gauksson, "ADef: an
//! iterative algorithm to construct adversarial deformations", ICLR 2019).

use tch::Kind;

use super::Space;
use super::interpolation::{Fill, bilinear};
use crate::core::{Error, Result, Tensor};

/// x(id + tau) for vector fields tau, whose size is the T-norm: the largest Euclidean length of a vector, in pixels.
pub struct Deform {
    within: Option<f64>,
}

impl Deform {
    /// Fields whose T-norm is below `within`, in pixels.
    pub fn new(within: Option<f64>) -> Result<Self> {
        match within {
            Some(bound) if !(bound > 0.0 && bound.is_finite()) => {
                Err(Error::argument(format!("the bound on the T-norm must be larger than 0, got {bound}")))
            }
            _ => Ok(Self { within }),
        }
    }

    /// How it is written where its radius has this name.
    fn said(&self, radius: &str) -> String {
        self.within.map_or("deform()".into(), |bound| format!("deform(#{{ {radius}: {bound:?} }})"))
    }

    pub fn within(&self) -> Option<f64> {
        self.within
    }

    /// Images `N x C x H x W` deformed by fields `N x H x W x 2`, the first component along columns, the second along rows.
    /// Bilinear interpolation; beyond the border stands its nearest pixel.
    pub fn deform(images: &Tensor, fields: &Tensor) -> Result<Tensor> {
        let (_, _, height, width) = images.size4()?;
        let (kind, device) = (fields.kind(), fields.device());
        let y = Tensor::f_arange(height, (kind, device))?.f_reshape([1, height, 1])?;
        let x = Tensor::f_arange(width, (kind, device))?.f_reshape([1, 1, width])?;
        let (columns, rows) = (x.f_add(&fields.f_select(3, 0)?)?, y.f_add(&fields.f_select(3, 1)?)?);
        let clamp = |at: Tensor, side: i64| at.f_clamp(0.0, (side - 1) as f64);
        bilinear(images, &clamp(rows, height)?, &clamp(columns, width)?, Fill::Edge)
    }

    /// The T-norm of every field.
    pub fn t_norm(fields: &Tensor) -> Result<Tensor> {
        let squares = fields.f_square()?.f_sum_dim_intlist([3i64].as_slice(), false, fields.kind())?;
        Ok(squares.f_flatten(1, -1)?.f_amax([1], false)?.f_sqrt()?)
    }

    /// Fields that leave images as they are.
    pub fn none(images: &Tensor) -> Result<Tensor> {
        let (n, _, height, width) = images.size4()?;
        let kind = if images.kind() == Kind::Double { Kind::Double } else { Kind::Float };
        Ok(Tensor::f_zeros([n, height, width, 2], (kind, images.device()))?)
    }
}

impl Space for Deform {
    fn describe(&self) -> String {
        self.said("radius")
    }

    fn identity(&self) -> String {
        self.said("within")
    }

    fn unit(&self) -> &'static str {
        "bound on the T-norm (pixels)"
    }

    fn deform(&self) -> Option<&Deform> {
        Some(self)
    }
}
