//! What a scene is made of.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use crate::core::Value;

/// What an object can be: the classes.
pub(super) const SHAPES: [&str; 8] = ["ball", "box", "cone", "star", "ring", "cross", "heart", "diamond"];
pub(super) const TEXTURES: [&str; 4] = ["plain", "stripes", "dots", "checks"];
pub(super) const SKIES: [&str; 3] = ["day", "dusk", "night"];
pub(super) const GROUNDS: [&str; 4] = ["grass", "sand", "snow", "water"];
pub(super) const ACCESSORIES: [&str; 3] = ["none", "flag", "hat"];

/// What a scene shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Attributes {
    pub shape: usize,
    /// Degrees around the colour circle, 0 red, 120 green, 240 blue.
    pub hue: f32,
    pub saturation: f32,
    pub texture: usize,
    pub sky: usize,
    pub ground: usize,
    /// Degrees clockwise.
    pub tilt: f32,
    /// Whether the handle is to the right.
    pub right: bool,
    pub accessory: usize,
}

impl Attributes {
    pub fn draw(numbers: &mut Pcg64Mcg) -> Self {
        Self {
            // The label is the first number of all.
            shape: numbers.gen_range(0..SHAPES.len()),
            hue: numbers.gen_range(0.0..360.0),
            saturation: numbers.gen_range(0.55..1.0),
            texture: numbers.gen_range(0..TEXTURES.len()),
            sky: numbers.gen_range(0..SKIES.len()),
            ground: numbers.gen_range(0..GROUNDS.len()),
            tilt: numbers.gen_range(-16.0..16.0),
            right: numbers.gen_bool(0.5),
            accessory: numbers.gen_range(0..ACCESSORIES.len()),
        }
    }

    pub fn mirrored(self) -> Self {
        Self { tilt: -self.tilt, right: !self.right, ..self }
    }

    pub fn named(self) -> Vec<(&'static str, Value)> {
        let word = |text: &str| Value::Str(text.into());
        let number = |x: f32| Value::Float((f64::from(x) * 100.0).round() / 100.0);
        vec![
            ("shape", word(SHAPES[self.shape])),
            ("hue", number(self.hue)),
            ("saturation", number(self.saturation)),
            ("texture", word(TEXTURES[self.texture])),
            ("sky", word(SKIES[self.sky])),
            ("ground", word(GROUNDS[self.ground])),
            ("tilt", number(self.tilt)),
            ("handle", word(if self.right { "right" } else { "left" })),
            ("accessory", word(ACCESSORIES[self.accessory])),
        ]
    }
}
