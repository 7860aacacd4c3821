//! What stands behind an object.

use glam::Vec3;

pub static BACKDROPS: [&str; 7] = ["white", "grey", "black", "sky", "sunset", "checks", "stripes"];

/// The colour of a backdrop at a place in the picture, (0, 0) its upper left and (1, 1) its lower right corner.
pub fn colour(backdrop: usize, x: f32, y: f32) -> Vec3 {
    // From the colours above to those below a horizon a little under the middle.
    let scene = |top: [f32; 3], low: [f32; 3], near: [f32; 3], far: [f32; 3]| {
        const HORIZON: f32 = 0.62;
        match y < HORIZON {
            true => Vec3::from(top).lerp(Vec3::from(low), y / HORIZON),
            false => Vec3::from(far).lerp(Vec3::from(near), (y - HORIZON) / (1.0 - HORIZON)),
        }
    };
    let even = |t: f32| (t.floor() as i32) % 2 == 0;
    match BACKDROPS.get(backdrop) {
        Some(&"grey") => Vec3::splat(0.5),
        Some(&"black") => Vec3::splat(0.03),
        Some(&"sky") => scene([0.35, 0.6, 0.92], [0.82, 0.9, 0.97], [0.3, 0.48, 0.22], [0.5, 0.64, 0.36]),
        Some(&"sunset") => scene([0.24, 0.18, 0.4], [0.97, 0.6, 0.35], [0.12, 0.1, 0.14], [0.3, 0.2, 0.22]),
        Some(&"checks") => Vec3::splat(if even(x * 8.0) == even(y * 8.0) { 0.78 } else { 0.42 }),
        Some(&"stripes") => match even((x + y) * 7.0) {
            true => Vec3::new(0.75, 0.66, 0.5),
            false => Vec3::new(0.42, 0.5, 0.62),
        },
        _ => Vec3::ONE,
    }
}
