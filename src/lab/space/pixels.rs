//! Every pixel by itself: the space of perturbations that basic iterative methods search.

use std::rc::Rc;

use tch::{Device, Kind};

use super::{Bounds, Differentiable, Space, images, l1};
use crate::core::{Error, Result, Tensor, on_device, with_stream};

/// How the size of a perturbation is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// The sum of the changes of all pixels.
    L1,
    /// Euclidean.
    L2,
    /// The largest change of a pixel.
    Linf,
}

impl Norm {
    /// How digests of trainings know it, which stays when it gets a better name.
    pub fn identity(self) -> &'static str {
        match self {
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::Linf => "Linf",
        }
    }

    /// How scripts call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Linf => "linf",
        }
    }

    /// How far apart images of so many pixels can be whose pixels are this far apart at most.
    pub fn farthest(self, width: f64, pixels: f64) -> f64 {
        match self {
            Self::L1 => width * pixels,
            Self::L2 => width * pixels.sqrt(),
            Self::Linf => width,
        }
    }

    /// The direction of steepest ascent, with length 1 in the norm, for every gradient `N x C x H x W`; and where there is none, `N`.
    pub fn steepest(self, gradient: &Tensor) -> Result<(Tensor, Tensor)> {
        let flat = gradient.f_flatten(1, -1)?;
        let largest = flat.f_abs()?.f_amax([1], true)?;
        let vanished = largest.f_eq(0.0)?;
        let direction = match self {
            Self::Linf => gradient.f_sign()?,
            // The one pixel where it is steepest, the first of equal ones.
            Self::L1 => {
                let which = flat.f_abs()?.f_argmax(1, true)?;
                let sign = flat.f_gather(1, &which, false)?.f_sign()?;
                flat.f_zeros_like()?.f_scatter(1, &which, &sign)?.f_reshape(gradient.size())?
            }
            Self::L2 => {
                // Scaled by a power of two near the largest entry, so that squares of tiny gradients do not become 0 and nothing else
                // is rounded.
                let scale = largest.f_masked_fill(&vanished, 1.0)?.f_log2()?.f_floor()?.f_exp2()?;
                let flat = flat.f_div(&scale)?;
                let squares = flat.f_square()?.f_sum_dim_intlist([1i64].as_slice(), true, flat.kind())?;
                // At least one entry is 1 or more, unless all are 0.
                flat.f_div(&squares.f_clamp_min(0.5)?.f_sqrt()?)?.f_reshape(gradient.size())?
            }
        };
        Ok((direction, vanished.f_squeeze_dim(1)?))
    }

    /// Changes `N x C x H x W` drawn evenly from the ball of radius 1, on the CPU so that every device has the same ones.
    pub fn uniform(self, size: &[i64]) -> Result<Tensor> {
        let on = (Kind::Float, Device::Cpu);
        match self {
            Self::Linf => Ok(Tensor::f_rand(size, on)?.f_mul_scalar(2.0)?.f_sub_scalar(1.0)?),
            Self::L1 => {
                // Shares of a whole, of which one is left out, are even over the simplex.
                let count = size[1..].iter().product::<i64>();
                let shares = Tensor::f_rand([size[0], count + 1], on)?.f_neg()?.f_log1p()?;
                let shares = shares.f_div(&shares.f_sum_dim_intlist([1i64].as_slice(), true, Kind::Float)?)?;
                let signs = Tensor::f_rand([size[0], count], on)?.f_sub_scalar(0.5)?.f_sign()?;
                Ok(shares.f_narrow(1, 0, count)?.f_mul(&signs)?.f_reshape(size)?)
            }
            Self::L2 => {
                let (direction, _) = self.steepest(&Tensor::f_randn(size, on)?)?;
                // The share of a ball within a radius goes with the radius to the number of dimensions.
                let dimensions = size[1..].iter().product::<i64>() as f64;
                let length = Tensor::f_rand([size[0], 1, 1, 1], on)?.f_pow_tensor_scalar(1.0 / dimensions)?;
                Ok(direction.f_mul(&length)?)
            }
        }
    }
}

/// x + d, where d is anything, or at most `within` in the norm.
pub struct Pixels {
    norm: Norm,
    within: Option<f64>,
    bounds: Option<Bounds>,
}

impl Pixels {
    /// `within` is larger than 0.
    pub fn new(norm: Norm, within: Option<f64>, bounds: Option<Bounds>) -> Result<Self> {
        match within {
            Some(radius) if !(radius > 0.0 && radius.is_finite()) => {
                Err(Error::argument(format!("the radius of a ball must be larger than 0, got {radius}")))
            }
            _ => Ok(Self { norm, within, bounds }),
        }
    }

    /// How it is written where its radius has this name.
    fn said(&self, word: &str) -> String {
        let norm = self.norm.word();
        let mut options = vec![];
        options.extend(self.within.map(|radius| format!("{word}: {radius:?}")));
        options.extend(self.bounds.map(|bounds| format!("bounds: {}", bounds.describe())));
        match options.is_empty() {
            true => format!("pixels({norm:?})"),
            false => format!("pixels({norm:?}, #{{ {} }})", options.join(", ")),
        }
    }

    /// Where changes drawn from the ball of radius 1 lead in balls of these radii, `N`, and within bounds.
    pub fn changed(&self, base: &[Tensor], drawn: &Tensor, radii: &Tensor) -> Result<Tensor> {
        let images = images(base)?;
        let drawn = on_device(&drawn.f_to_kind(images.kind())?, images.device())?;
        let change = drawn.f_mul(&radii.f_reshape([-1, 1, 1, 1])?)?;
        self.keep(base, &images.f_add(&change)?, Some(radii))
    }

    /// The norm of every image of a batch, `N x 1 x 1 x 1`.
    fn measure(&self, change: &Tensor) -> Result<Tensor> {
        let flat = change.f_flatten(1, -1)?;
        let sizes = match self.norm {
            Norm::L1 => flat.f_abs()?.f_sum_dim_intlist([1i64].as_slice(), false, flat.kind())?,
            Norm::L2 => flat.f_square()?.f_sum_dim_intlist([1i64].as_slice(), false, flat.kind())?.f_sqrt()?,
            Norm::Linf => flat.f_abs()?.f_amax([1], false)?,
        };
        Ok(sizes.f_reshape([-1, 1, 1, 1])?)
    }
}

impl Space for Pixels {
    fn describe(&self) -> String {
        self.said("radius")
    }

    fn identity(&self) -> String {
        self.said("within")
    }

    fn unit(&self) -> &'static str {
        match self.norm {
            Norm::L1 => "l1 radius",
            Norm::L2 => "l2 radius",
            Norm::Linf => "linf radius",
        }
    }

    fn additive(&self) -> bool {
        true
    }

    fn bounds(&self) -> Option<Bounds> {
        self.bounds
    }

    fn differentiable(&self) -> Option<&dyn Differentiable> {
        Some(self)
    }

    fn ball(&self, radius: f64) -> Option<Rc<dyn Space>> {
        Some(Rc::new(Self::new(self.norm, Some(radius), self.bounds).ok()?))
    }
}

impl Differentiable for Pixels {
    fn norm(&self) -> Norm {
        self.norm
    }

    fn within(&self) -> Option<f64> {
        self.within
    }

    /// A point is the changed image itself.
    fn start(&self, base: &[Tensor]) -> Result<Tensor> {
        Ok(images(base)?.f_detach_copy()?)
    }

    /// As Madry et al. (2018) start: evenly over the cube, or the ball, and then within bounds. In l1 as the code of Croce and Hein (2021):
    /// normal noise brought back to the ball, which leaves a few pixels that change by much, where evenly over the ball as good as none would.
    fn scatter(&self, base: &[Tensor], radii: &Tensor, streams: &[(u64, u64)]) -> Result<Option<Tensor>> {
        let images = images(base)?;
        let size = [&[1], &images.size()[1..]].concat();
        let draw = || match self.norm {
            Norm::L1 => Ok(Tensor::f_randn(&size, (Kind::Float, Device::Cpu))?),
            norm => norm.uniform(&size),
        };
        let one = |&(seed, part): &(u64, u64)| with_stream(seed, part, draw);
        let drawn = Tensor::f_cat(&streams.iter().map(one).collect::<Result<Vec<_>>>()?, 0)?;
        if self.norm == Norm::L1 {
            let noise = on_device(&drawn.f_to_kind(images.kind())?, images.device())?;
            return Ok(Some(self.keep(base, &images.f_add(&noise)?, Some(radii))?));
        }
        Ok(Some(self.changed(base, &drawn, radii)?))
    }

    fn stays_in_place(&self) -> bool {
        true
    }

    fn draw(&self, _base: &[Tensor], points: &Tensor) -> Result<Tensor> {
        Ok(points.shallow_clone())
    }

    fn keep(&self, base: &[Tensor], points: &Tensor, radii: Option<&Tensor>) -> Result<Tensor> {
        let images = images(base)?;
        let radii = radii.map(|radii| radii.f_reshape([-1, 1, 1, 1])).transpose()?;
        let points = match (&radii, self.norm) {
            (None, _) => points.shallow_clone(),
            (Some(radii), Norm::Linf) => points.f_maximum(&images.f_sub(radii)?)?.f_minimum(&images.f_add(radii)?)?,
            (Some(radii), Norm::L1) => {
                let change = points.f_sub(images)?;
                let most = match self.bounds {
                    Some(bounds) => Some(bounds.clamp(points)?.f_sub(images)?.f_flatten(1, -1)?),
                    None => None,
                };
                let nearest = l1::nearest(&change.f_flatten(1, -1)?, most.as_ref(), &radii.f_reshape([-1, 1])?)?;
                images.f_add(&nearest.f_reshape(change.size())?)?
            }
            (Some(radii), Norm::L2) => {
                let change = points.f_sub(images)?;
                // Where nothing has changed there is nothing to cut, with a radius of 0 either.
                let shrink = radii
                    .f_div(&self.measure(&change)?.f_clamp_min(f64::from(f32::MIN_POSITIVE))?)?
                    .f_clamp_max(1.0)?;
                images.f_add(&change.f_mul(&shrink)?)?
            }
        };
        self.bounds.map_or_else(|| Ok(points.shallow_clone()), |bounds| bounds.clamp(&points))
    }

    fn magnitude(&self, base: &[Tensor], points: &Tensor) -> Result<Tensor> {
        Ok(self.measure(&points.f_sub(images(base)?)?)?.f_reshape([-1])?)
    }
}
