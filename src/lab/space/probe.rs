//! Images that tell changes apart by what they leave.

use rand::Rng;

use crate::core::{Error, Result, Tensor, random};

/// Images of random bytes, that no two different changes leave alike.
#[derive(Clone)]
pub(super) struct Probe {
    pub pixels: Vec<f32>,
    /// `[N, C, H, W]`.
    pub shape: [usize; 4],
}

/// Pixels of a probe, at least.
const PROBE: usize = 1024;

impl Probe {
    pub fn random([c, h, w]: [usize; 3]) -> Self {
        let n = PROBE.div_ceil(c * h * w);
        let mut rng = random(0, 0);
        let pixels = (0..n * c * h * w).map(|_| f32::from(rng.r#gen::<u8>()) / 255.0).collect();
        Self { pixels, shape: [n, c, h, w] }
    }

    /// What `apply` makes of its images, which must keep their shape.
    pub fn changed(&self, apply: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        let shape = self.shape.map(|side| side as i64);
        let made = apply(&Tensor::f_from_slice(&self.pixels)?.f_reshape(shape)?)?;
        if made.size() != shape {
            return Err(Error::argument(format!("makes {:?} of images {shape:?}", made.size())));
        }
        let pixels = Vec::try_from(made.f_to_kind(tch::Kind::Float)?.f_contiguous()?.f_reshape([-1])?)?;
        Ok(Self { pixels, shape: self.shape })
    }

    /// Where a pixel comes from when the image is rolled by `by`.
    fn source(&self, i: usize, by: [i64; 2]) -> usize {
        let [_, _, h, w] = self.shape;
        let (plane, y, x) = (i / (h * w), i / w % h, i % w);
        let back = |at: usize, by: i64, side: usize| (at as i64 - by).rem_euclid(side as i64) as usize;
        plane * h * w + back(y, by[0], h) * w + back(x, by[1], w)
    }

    pub fn rolled(&self, by: [i64; 2]) -> Self {
        let pixels = (0..self.pixels.len()).map(|i| self.pixels[self.source(i, by)]).collect();
        Self { pixels, shape: self.shape }
    }

    pub fn same_as(&self, other: &Self) -> Option<[i64; 2]> {
        (self.pixels == other.pixels).then_some([0, 0])
    }

    /// By how much the other is to be rolled to give this one, if it does; the shortest way round.
    pub fn offset_from(&self, other: &Self) -> Option<[i64; 2]> {
        let [_, _, h, w] = self.shape.map(|side| side as i64);
        let around = |by: i64, side: i64| (by + side / 2).rem_euclid(side) - side / 2;
        (0..h * w)
            .map(|i| [-(i / w), -(i % w)])
            .map(|[y, x]| [around(y, h), around(x, w)])
            .find(|&by| (0..self.pixels.len()).all(|i| self.pixels[i] == other.pixels[other.source(i, by)]))
    }
}
