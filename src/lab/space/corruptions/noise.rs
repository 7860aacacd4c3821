//! Noise: every value of every pixel by itself.

use super::Strength;
use super::draws::Draws;
use super::picture::Picture;

pub(super) fn gaussian(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let sigma = strength.of([0.08, 0.12, 0.18, 0.26, 0.38], [0.04, 0.06, 0.08, 0.09, 0.10]);
    picture.each(|x| x + sigma * draws.normal())
}

/// Photons that are counted.
pub(super) fn shot(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let photons = strength.of([60.0, 25.0, 12.0, 5.0, 3.0], [500.0, 250.0, 100.0, 75.0, 50.0]);
    picture.each(|x| draws.poisson(x * photons) / photons)
}

/// Values that become 0 or 1, which of them being drawn after where.
pub(super) fn impulse(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let share = strength.of([0.03, 0.06, 0.09, 0.17, 0.27], [0.01, 0.02, 0.03, 0.05, 0.07]);
    let hit: Vec<bool> = picture.bytes.iter().map(|_| draws.uniform() <= share).collect();
    let mut hit = hit.into_iter();
    picture.each(|x| {
        let salt = draws.uniform() <= 0.5;
        match hit.next() {
            Some(true) => f64::from(u8::from(salt)),
            _ => x,
        }
    })
}

pub(super) fn speckle(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let sigma = strength.of([0.15, 0.2, 0.35, 0.45, 0.6], [0.06, 0.1, 0.12, 0.16, 0.2]);
    picture.each(|x| x + x * (sigma * draws.normal()))
}
