//! What a camera adds to a picture: blur, noise of its sensor, and eight bits per channel.

use std::hash::Hasher;

use rand::Rng;

use super::view::View;
use crate::core::random;

/// Makes a picture of `3 x size x size` brightnesses in [0, 1] to whole multiples of 1/255.
pub(super) fn develop(view: &View, size: usize, pixels: &mut [f32]) {
    if view.blur > 0.0 {
        blur(view.blur * size as f32, size, pixels);
    }
    if view.noise > 0.0 {
        noise(view, pixels);
    }
    for value in pixels.iter_mut() {
        *value = (value.clamp(0.0, 1.0) * 255.0).round() / 255.0;
    }
}

/// By a Gaussian of this standard deviation in pixels, cut off beyond three of them; borders go on beyond the picture.
fn blur(deviation: f32, size: usize, pixels: &mut [f32]) {
    let reach = (3.0 * deviation).ceil() as isize;
    let mut weights: Vec<f32> =
        (-reach..=reach).map(|k| (-0.5 * (k as f32 / deviation.max(1e-3)).powi(2)).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    let last = size as isize - 1;
    let mut line = vec![0.0; size];
    for channel in pixels.chunks_exact_mut(size * size) {
        for (step, across) in [(1, size), (size, 1)] {
            for begin in (0..size).map(|k| k * across) {
                line.iter_mut().enumerate().for_each(|(i, value)| *value = channel[begin + i * step]);
                for i in 0..size {
                    let at = |k: usize| line[(i as isize + k as isize - reach).clamp(0, last) as usize];
                    channel[begin + i * step] = weights.iter().enumerate().map(|(k, weight)| weight * at(k)).sum();
                }
            }
        }
    }
}

/// Normal and independent, the same whenever the same view is drawn.
fn noise(view: &View, pixels: &mut [f32]) {
    let mut numbers = random(OWN, identity(view));
    for pair in pixels.chunks_mut(2) {
        // Box and Muller, Annals of Mathematical Statistics 1958.
        let radius = (-2.0 * (1.0 - numbers.r#gen::<f32>()).ln()).sqrt();
        let (sin, cos) = (std::f32::consts::TAU * numbers.r#gen::<f32>()).sin_cos();
        pair.iter_mut().zip([cos, sin]).for_each(|(value, part)| *value += view.noise * radius * part);
    }
}

const OWN: u64 = 0x6e6f_6973_6521;

/// A number that stands for a view: FNV-1a, the same on all machines.
fn identity(view: &View) -> u64 {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            bytes.iter().for_each(|&byte| self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        }
    }
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.write(format!("{view:?}").as_bytes());
    hash.finish()
}
