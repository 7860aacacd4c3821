//! A few directions in the activations of a generator, so that searches which need no more than losses can go there too.

use rand::Rng;
use statrs::distribution::{ContinuousCDF, Normal};

use super::factor::{Domain, Factor, Factored, Originals};
use super::{Differentiable, Latent, Space};
use crate::core::{Cautions, Cx, Error, Result, Tensor, on_device, random};
use crate::data::Dataset;

/// p = sum of c_j d_j, with the d_j random, of length 1 and at right angles: the c_j are the factors.
pub struct LatentDirections {
    of: Latent,
    /// `directions x numbers of a perturbation`.
    directions: Tensor,
    within: f64,
    seed: u64,
    factors: Vec<Factor>,
}

/// Numbers that directions may have, at most: 256 MiB, and a few times as much while they are brought to right angles.
const LARGEST: usize = 1 << 25;

impl LatentDirections {
    /// `count` directions from 1, of perturbations whose length is at most that of the space of activations.
    pub fn new(of: Latent, count: usize, seed: u64) -> Result<Self> {
        let Some(within) = of.within() else {
            return Err(Error::argument("`directions` needs `radius`, the largest length of a perturbation")
                .hint("space::latent(g, #{ layers: 0..3, directions: 8, radius: 10 })"));
        };
        let width = of.numbers();
        if count > width {
            return Err(Error::argument(format!("{count} directions of perturbations of {width} numbers"))
                .hint("there are as many directions as numbers"));
        }
        if width.saturating_mul(count) > LARGEST {
            return Err(Error::argument(format!("{count} directions of {width} numbers are too many to hold"))
                .hint("fewer directions, or later layers"));
        }
        let mut rng = random(seed, OWN);
        let normal = Normal::standard();
        let numbers: Vec<f64> = (0..width * count).map(|_| normal.inverse_cdf(rng.gen_range(1e-12..1.0))).collect();
        let rows = Tensor::f_from_slice(&numbers)?.f_reshape([count as i64, width as i64])?;
        let (orthonormal, _) = Tensor::f_linalg_qr(&rows.f_transpose(0, 1)?, "reduced")?;
        let directions = orthonormal.f_transpose(0, 1)?.f_contiguous()?;
        let mut space = Self { of, directions, within, seed, factors: vec![] };
        space.factors = space.limited(within);
        Ok(space)
    }

    fn said(&self, of: &str) -> String {
        let inner = of.strip_suffix(" })").unwrap_or(of);
        format!("{inner}, directions: {}, seed: {} }})", self.directions.size()[0], self.seed)
    }

    /// Each as far as leaves the sum within the length.
    fn limited(&self, within: f64) -> Vec<Factor> {
        let count = self.directions.size()[0];
        let reach = within / (count as f64).sqrt();
        (1..=count).map(|k| Factor::new(format!("direction {k}"), Domain::Range { min: -reach, max: reach })).collect()
    }
}

const OWN: u64 = 0x6469_7265_6374;

impl Space for LatentDirections {
    fn describe(&self) -> String {
        self.said(&self.of.describe())
    }

    fn redraws(&self) -> bool {
        self.of.redraws()
    }

    fn cautions(&self, at_levels: bool) -> Cautions {
        self.of.cautions(at_levels)
    }

    fn identity(&self) -> String {
        self.said(&self.of.identity())
    }

    fn unit(&self) -> &'static str {
        self.of.unit()
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }

    fn needs_originals(&self) -> bool {
        true
    }

    fn check(&self, data: &Dataset) -> Result<()> {
        self.of.check(data)
    }
}

impl Factored for LatentDirections {
    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    fn at(&self, level: f64) -> Result<Option<Vec<Factor>>> {
        if level > self.within {
            return Err(Error::argument(format!(
                "{}: level {level} is beyond its limit of {}",
                self.describe(),
                self.within
            )));
        }
        Ok(Some(self.limited(level)))
    }

    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        Some(setting.iter().map(|c| c * c).sum::<f64>().sqrt())
    }

    fn draw(&self, _cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let base = self.of.base(of.known_data()?, of.ids, of.images)?;
        let first = base.first().ok_or_else(|| Error::internal("no activations"))?;
        let numbers = Tensor::f_from_slice(&settings.concat())?.f_reshape([settings.len() as i64, -1])?;
        let points = on_device(&numbers.f_matmul(&self.directions)?, first.device())?.f_to_kind(first.kind())?;
        Ok(self.of.draw(&base, &points)?.f_to_kind(of.images.kind())?)
    }
}
