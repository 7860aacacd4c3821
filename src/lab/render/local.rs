//! Coordinates of any size and place as float32, which objects are drawn in.

use glam::{DVec3, Vec3};

/// What places are moved by and multiplied with before they are rounded to float32, so that rounding leaves an object its shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalFrame {
    origin: DVec3,
    /// A power of two, which changes no digit.
    scale: f64,
}

impl LocalFrame {
    /// An object is moved that lies farther from the origin than so many of its radii.
    const FAR: f64 = 64.0;
    /// Powers of two that are float64 numbers, as their inverses are.
    const POWERS: f64 = 1000.0;

    /// Of an object with these places, whose radius is from 1 to 2 in it.
    pub fn of(places: impl Iterator<Item = DVec3> + Clone) -> Self {
        let as_it_is = Self { origin: DVec3::ZERO, scale: 1.0 };
        if !places.clone().all(|place| place.is_finite()) {
            return as_it_is;
        }
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for place in places.clone() {
            low = low.min(place);
            high = high.max(place);
        }
        // Halves first: the sum of two large numbers may leave float64.
        let middle = low * 0.5 + high * 0.5;
        let farthest = places.map(|place| (place - middle).abs().max_element()).fold(0.0, f64::max);
        if !(farthest > 0.0 && farthest.is_finite()) {
            return as_it_is;
        }
        let largest = low.abs().max(high.abs()).max_element();
        let origin = if largest > Self::FAR * farthest { middle } else { DVec3::ZERO };
        Self { origin, scale: (-farthest.log2().floor().clamp(-Self::POWERS, Self::POWERS)).exp2() }
    }

    pub fn at(&self, place: DVec3) -> Vec3 {
        ((place - self.origin) * self.scale).as_vec3()
    }

    /// A length in it as one of the file's own.
    pub fn length(&self, here: f32) -> f64 {
        f64::from(here) / self.scale
    }
}
