//! Additive white Gaussian noise: the fault that Galloway, Golubeva and Taylor (2018) compare all others with.

use tch::Kind;

use super::factor::{Domain, Factor, Factored, Originals};
use super::{Bounds, Space};
use crate::core::{Cx, Error, Result, Tensor, on_device, with_stream};

/// x + sigma n, n standard normal and independent for every pixel and channel. Nothing is cut off unless `bounds` says so.
pub struct Noise {
    sigma: f64,
    bounds: Option<Bounds>,
    factors: [Factor; 2],
}

impl Noise {
    /// `sigma` is 0 or more.
    pub fn new(sigma: f64, bounds: Option<Bounds>) -> Result<Self> {
        if !(sigma >= 0.0 && sigma.is_finite()) {
            return Err(Error::argument(format!("the standard deviation of noise is 0 or more, got {sigma}")));
        }
        Ok(Self { sigma, bounds, factors: factors(sigma) })
    }
}

fn factors(sigma: f64) -> [Factor; 2] {
    [Factor::new("sigma", Domain::Range { min: sigma, max: sigma }), Factor::new("draw", Domain::Chance)]
}

impl Space for Noise {
    fn describe(&self) -> String {
        match self.bounds {
            None => format!("noise({:?})", self.sigma),
            Some(bounds) => format!("noise({:?}, #{{ bounds: {} }})", self.sigma, bounds.describe()),
        }
    }

    fn describe_at_levels(&self) -> String {
        match self.bounds {
            None => "noise()".into(),
            Some(bounds) => format!("noise(#{{ bounds: {} }})", bounds.describe()),
        }
    }

    fn unit(&self) -> &'static str {
        "standard deviation of the noise"
    }

    fn additive(&self) -> bool {
        true
    }

    fn bounds(&self) -> Option<Bounds> {
        self.bounds
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }
}

impl Factored for Noise {
    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// A level is a standard deviation, in place of the space's own.
    fn at(&self, level: f64) -> Result<Option<Vec<Factor>>> {
        Ok(Some(factors(level).into()))
    }

    fn at_share(&self, share: f64) -> Option<Vec<Factor>> {
        Some(factors(share * self.sigma).into())
    }

    fn share(&self, setting: &[f64]) -> Option<f64> {
        Some(if self.sigma > 0.0 { self.magnitude(setting)? / self.sigma } else { 0.0 })
    }

    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        setting.first().copied()
    }

    fn takes_any_range(&self) -> bool {
        true
    }

    fn draw(&self, _cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let images = of.images;
        let mut size = images.size();
        size[0] = settings.len() as i64;
        // On the CPU, so that every device sees the same noise.
        let noise = Tensor::f_empty(&size, (Kind::Float, tch::Device::Cpu))?;
        let mut sigmas = Vec::with_capacity(settings.len());
        for (place, setting) in settings.iter().enumerate() {
            let &[sigma, draw] = *setting else { return Err(Error::internal("noise has two factors")) };
            let mut own = noise.f_get(place as i64)?;
            let _ = with_stream(draw as u64, NOISE, || own.f_normal_(0.0, 1.0))?;
            sigmas.push(sigma as f32);
        }
        size[1..].fill(1);
        let noise = noise.f_mul(&Tensor::f_from_slice(&sigmas)?.f_reshape(&size)?)?;
        let noisy = of.chosen()?.f_add(&on_device(&noise, images.device())?)?;
        self.bounds.map_or_else(|| Ok(noisy.shallow_clone()), |bounds| bounds.clamp(&noisy))
    }
}

/// Part of the streams that noise comes from.
const NOISE: u64 = 1 << 59;
