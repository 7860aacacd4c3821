//! Coloured objects on backgrounds, drawn from named attributes: an endless, labelled data set in colour whose density is
//! known to be kept by translations (a torus) and by mirroring.
//!
//! Image i is a pure function of (seed, split, i) and of the settings below. Attributes are drawn first, one by one, and the
//! picture follows from them and from random numbers without a name, so that images can be picked by what they show. Every
//! scene is drawn with a handedness of its own, and the finished picture, noise included, is mirrored by a fair coin: a
//! mirrored image is exactly as likely as the image itself, and has the same label.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use rand::Rng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::attributes::{ACCESSORIES, Attributes, GROUNDS, SHAPES, SKIES, TEXTURES};
use super::memory::byte_to_float;
use super::scenes_faults::Shown;
use super::{Dataset, Edge, Source, Split};
use crate::core::{Digest, Error, Result, Value, random};

#[derive(Debug, Clone, Copy)]
pub struct Scenes {
    pub n: usize,
    /// Side of the images, 16 to 256 pixels.
    pub size: usize,
    /// Whether the finished image is rolled by a uniform offset, so that every roll of an image is as likely as the image
    /// itself; otherwise the object stands near the middle and nothing is known beyond the border.
    pub torus: bool,
    pub split: Split,
    pub seed: u64,
    pub shown: Shown,
}

impl Scenes {
    /// How digests know it.
    fn identity(&self) -> String {
        let Self { n, size, torus, split, seed, shown } = *self;
        let chosen = if shown == Shown::All { String::new() } else { format!(" {}", shown.identity()) };
        // The number counts changes of the drawing itself.
        format!(
            "scenes 1 Scenes {{ n: {n}, size: {size}, torus: {torus}, split: {}, seed: {seed} }}{chosen}",
            split.identity()
        )
    }

    /// The data set; labels are uniform and independent.
    pub fn dataset(self) -> Result<Dataset> {
        if !(16..=256).contains(&self.size) {
            return Err(Error::argument(format!("scenes are drawn at 16 to 256 pixels, not {}", self.size)));
        }
        let edge = if self.torus { Edge::Wrap } else { Edge::None };
        let labels = (0..self.n).map(|i| self.start(i).label as i64).collect();
        let classes = match self.shown {
            Shown::Poles(telling) => telling.poles.map(String::from).to_vec(),
            _ => SHAPES.map(String::from).to_vec(),
        };
        let (digest, shown) = (Digest::of(self.identity().as_bytes()), self.shown);
        let set = Dataset::new("scenes", Arc::new(self), labels, classes, edge, digest)?;
        let sided = matches!(shown, Shown::Biased(telling) | Shown::Poles(telling) if telling.is_sided());
        let set = if sided { set.with_other_labels("flip", "a mirrored scene has another label") } else { set };
        Ok(set
            .with_caution("polarity", "a scene in negative is never drawn")
            .with_caution("turn", "a scene with its ground to the side or above is never drawn"))
    }

    fn start(&self, index: usize) -> SceneStart {
        let place = 4 * index as u64 + self.split as u64;
        // Apart from the glyphs of the same seed.
        let mut numbers = random(self.seed ^ OWN, place);
        let drawn = Attributes::draw(&mut numbers);
        let (telling, of) = match self.shown {
            Shown::All => {
                return SceneStart { numbers, attributes: drawn, label: drawn.shape, mirrored: None, pole: None };
            }
            Shown::Biased(telling) | Shown::Against(telling) => (telling, Some(telling.pair)),
            Shown::Poles(telling) => (telling, None),
        };
        let mut choices = random(self.seed ^ CHOSEN, place);
        let (shape, pole, mirrored) = (choices.gen_range(0..2), choices.gen_range(0..2), choices.gen_bool(0.5));
        let pole = if matches!(self.shown, Shown::Against(_)) { 1 - shape } else { pole };
        let label = match self.shown {
            Shown::Poles(_) => pole,
            Shown::Against(_) => telling.pair[shape],
            _ => telling.pair[pole],
        };
        let drawn = Attributes { shape: of.map_or(drawn.shape, |pair| pair[shape]), ..drawn };
        let attributes = telling.turned(drawn, pole, &mut choices);
        // What is mirrored later is to show the pole then.
        let attributes = if mirrored { attributes.mirrored() } else { attributes };
        SceneStart { numbers, attributes, label, mirrored: Some(mirrored), pole: Some(telling.poles[pole]) }
    }

    /// All but the pixels of image `index`: the scene, and whether it is mirrored.
    fn scene(&self, index: usize) -> (Pcg64Mcg, Scene, bool) {
        let SceneStart { mut numbers, attributes, mirrored, .. } = self.start(index);
        let scene = Scene::new(attributes, &mut numbers);
        let coin = numbers.gen_bool(0.5);
        (numbers, scene, mirrored.unwrap_or(coin))
    }

    fn draw(&self, index: usize, pixels: &mut [f32]) {
        let (mut numbers, scene, mirrored) = self.scene(index);
        let side = self.size;
        let roll = if self.torus { [numbers.gen_range(0..side), numbers.gen_range(0..side)] } else { [0, 0] };
        let step = 1.0 / (SAMPLES * side) as f32;
        for y in 0..side {
            for x in 0..side {
                let mut sum = [0.0; 3];
                for sample in 0..SAMPLES * SAMPLES {
                    let at = |pixel: usize, sample: usize| (SAMPLES * pixel + sample) as f32 * step + step / 2.0 - 0.5;
                    let colour = scene.colour(at(x, sample % SAMPLES), at(y, sample / SAMPLES));
                    sum.iter_mut().zip(colour).for_each(|(sum, value)| *sum += value);
                }
                let across = if mirrored { side - 1 - x } else { x };
                let place = (y + roll[0]) % side * side + (across + roll[1]) % side;
                for (channel, sum) in sum.into_iter().enumerate() {
                    let value = sum / (SAMPLES * SAMPLES) as f32 + numbers.gen_range(-NOISE..NOISE);
                    pixels[channel * side * side + place] = byte_to_float((value * 255.0 + 0.5) as u8);
                }
            }
        }
    }
}

/// What is known of an image before its pixels.
struct SceneStart {
    /// The random numbers after its attributes.
    numbers: Pcg64Mcg,
    /// As drawn before the mirror.
    attributes: Attributes,
    label: usize,
    /// Whether it is mirrored, where that is not left to the numbers.
    mirrored: Option<bool>,
    /// Which pole it shows, where one is asked for.
    pole: Option<&'static str>,
}

const OWN: u64 = u64::from_be_bytes(*b"_scenes_");

/// The stream that decides which of the scenes that are asked for an image is.
const CHOSEN: u64 = u64::from_be_bytes(*b"_chosen_");

/// Samples per pixel along each axis.
const SAMPLES: usize = 3;

/// The largest noise on a pixel.
const NOISE: f32 = 0.03;

impl Source for Scenes {
    fn likeness(&self, index: usize) -> Option<u64> {
        // However many others there are.
        let of = Self { n: 0, ..*self }.identity();
        Some(Digest::of_parts(&[of.as_bytes(), &(index as u64).to_le_bytes()]).as_u64())
    }

    fn len(&self) -> usize {
        self.n
    }

    fn shape(&self) -> [usize; 3] {
        [3, self.size, self.size]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.draw(index, pixels);
        Ok(())
    }

    fn attributes(&self, index: usize) -> Vec<(&'static str, Value)> {
        let (_, scene, mirrored) = self.scene(index);
        let mut named = if mirrored { scene.of.mirrored().named() } else { scene.of.named() };
        named.extend(self.start(index).pole.map(|pole| ("pole", Value::Str(pole.into()))));
        named
    }
}

type Colour = [f32; 3];

/// A scene in coordinates from -0.5 to 0.5, x to the right, y down.
struct Scene {
    of: Attributes,
    sky: [Colour; 2],
    ground: [Colour; 2],
    body: [Colour; 2],
    trim: Colour,
    horizon: f32,
    /// Hills: their height and phase, whole periods along x.
    hills: [(f32, f32, f32); 2],
    /// Clouds or stars: place and size.
    lights: Vec<[f32; 3]>,
    grain: [f32; 2],
    middle: [f32; 2],
    radius: f32,
    turn: [f32; 2],
    /// Where the light comes from, -1 left to 1 right.
    light: f32,
    /// Phase and direction of the texture.
    pattern: [f32; 3],
}

impl Scene {
    fn new(of: Attributes, numbers: &mut Pcg64Mcg) -> Self {
        let mut near = |colour: Colour, by: f32| colour.map(|c| (c + numbers.gen_range(-by..=by)).clamp(0.0, 1.0));
        let sky = match SKIES[of.sky] {
            "day" => [[0.36, 0.62, 0.93], [0.80, 0.91, 0.99]],
            "dusk" => [[0.36, 0.30, 0.58], [0.98, 0.66, 0.46]],
            _ => [[0.05, 0.07, 0.20], [0.17, 0.22, 0.42]],
        };
        let dim = [1.0, 0.8, 0.5][of.sky];
        let ground = match GROUNDS[of.ground] {
            "grass" => [[0.36, 0.62, 0.24], [0.24, 0.47, 0.18]],
            "sand" => [[0.90, 0.79, 0.54], [0.80, 0.66, 0.42]],
            "snow" => [[0.96, 0.97, 1.00], [0.82, 0.87, 0.94]],
            _ => [[0.22, 0.50, 0.66], [0.13, 0.36, 0.54]],
        };
        let sky = sky.map(|colour| near(colour, 0.05));
        let ground = ground.map(|colour| near(colour.map(|c| c * dim), 0.04));
        let bright = numbers.gen_range(0.82..1.0f32);
        let body = rgb(of.hue, of.saturation, bright);
        let darker = rgb(of.hue, of.saturation, bright * 0.55);
        let paler = body.map(|c| c + (1.0 - c) * 0.65);
        let second = if numbers.gen_bool(0.5) { darker } else { paler };
        let angle = of.tilt * PI / 180.0;
        let mut hill = |periods: &[f32]| {
            let periods = periods.choose(numbers).copied().unwrap_or(1.0);
            (numbers.gen_range(0.01..0.05f32), periods * TAU, numbers.gen_range(0.0..TAU))
        };
        let hills = [hill(&[1.0, 2.0]), hill(&[2.0, 3.0])];
        let mut place = || numbers.gen_range(-0.5..0.5f32);
        let lights = (0..if of.sky == 2 { 9 } else { 3 })
            .map(|i| [place(), -0.48 + 0.3 * (place() + 0.5), if i == 0 { 1.0 } else { 0.6 }])
            .collect();
        Self {
            of,
            sky,
            ground,
            body: [body, second],
            trim: if of.sky == 2 { [0.93, 0.93, 0.88] } else { [0.22, 0.20, 0.26] },
            horizon: numbers.gen_range(0.02..0.16),
            hills,
            lights,
            grain: [numbers.gen_range(0.0..TAU), numbers.gen_range(0.0..TAU)],
            middle: [numbers.gen_range(-0.07..0.07), numbers.gen_range(-0.02..0.08)],
            radius: numbers.gen_range(0.235..0.275),
            turn: [angle.cos(), angle.sin()],
            light: numbers.gen_range(-1.0..1.0),
            pattern: [numbers.gen_range(0.0..1.0), numbers.gen_range(0.0..1.0), numbers.gen_range(-0.6..0.6)],
        }
    }

    fn colour(&self, x: f32, y: f32) -> Colour {
        let mut colour = self.background(x, y);
        let [mx, my] = self.middle;
        // Where the object stands.
        let (sx, sy) = ((x - mx + 0.05 * self.light) / self.radius, (y - my) / self.radius - 1.08);
        if sx * sx * 0.8 + sy * sy * 18.0 < 1.0 {
            colour = colour.map(|c| c * 0.72);
        }
        let [cos, sin] = self.turn;
        let (p, q) = ((x - mx) / self.radius, (y - my) / self.radius);
        let (p, q) = (cos * p + sin * q, cos * q - sin * p);
        let behind = if self.of.right { p } else { -p };
        let handle = ((behind - 0.92).powi(2) + (q - 0.08).powi(2)).sqrt();
        if (0.26..0.46).contains(&handle) {
            colour = self.trim;
        }
        if let Some(accessory) = self.accessory(p, q) {
            colour = accessory;
        }
        if inside(self.of.shape, p, q) {
            let shade = 1.0 - 0.28 * ((p * self.light * 0.6 + q * 0.8) * 0.5 + 0.5).clamp(0.0, 1.0);
            colour = self.body[usize::from(self.patterned(p, q))].map(|c| c * shade);
        }
        colour
    }

    fn background(&self, x: f32, y: f32) -> Colour {
        let hill = |(height, speed, phase): (f32, f32, f32)| height * (speed * x + phase).sin();
        let far = self.horizon - 0.06 + hill(self.hills[0]);
        let line = self.horizon + hill(self.hills[1]) * if self.of.ground == 3 { 0.0 } else { 0.6 };
        if y > line {
            let depth = (y - line) / (0.5 - line);
            let grain = match self.of.ground {
                // Waves lie flat, blades and dunes are short.
                3 => (TAU * 16.0 * depth.sqrt() + self.grain[0] + (TAU * 2.0 * x + self.grain[1]).sin()).sin(),
                1 => (TAU * 3.0 * x + 9.0 * depth + self.grain[0]).sin() * 0.5,
                2 => 0.0,
                _ => (TAU * 11.0 * x + self.grain[0]).sin() * (TAU * 9.0 * y + self.grain[1]).sin(),
            };
            return std::array::from_fn(|c| {
                let [front, back] = [self.ground[0][c], self.ground[1][c]];
                front + (back - front) * (1.0 - depth) * 0.8 + 0.035 * grain
            });
        }
        if y > far {
            return std::array::from_fn(|c| 0.55 * self.ground[1][c] + 0.45 * self.sky[1][c]);
        }
        let height = ((y + 0.5) / (far + 0.5)).clamp(0.0, 1.0);
        let plain: Colour = std::array::from_fn(|c| self.sky[0][c] + (self.sky[1][c] - self.sky[0][c]) * height);
        for &[lx, ly, size] in &self.lights {
            let dx = (x - lx + 0.5).rem_euclid(1.0) - 0.5;
            let reach = if self.of.sky == 2 { 0.014 } else { 0.045 } * size;
            let flat = if self.of.sky == 2 { 1.0 } else { 0.42 };
            if (dx * flat).powi(2) + (y - ly).powi(2) < reach * reach {
                return plain.map(|c| c + (0.98 - c) * if self.of.sky == 1 { 0.35 } else { 0.8 });
            }
        }
        plain
    }

    /// What stands on top of the object, and leans with it.
    fn accessory(&self, p: f32, q: f32) -> Option<Colour> {
        let aside = if self.of.right { p } else { -p };
        match ACCESSORIES[self.of.accessory] {
            "flag" => {
                let cloth = (-1.72..-1.3).contains(&q) && (0.0..0.62).contains(&aside);
                let pole = p.abs() < 0.07 && (-1.75..-0.6).contains(&q);
                if pole { Some(self.trim) } else { cloth.then_some([0.93, 0.24, 0.24]) }
            }
            "hat" => {
                let brim = (-1.08..-0.92).contains(&q) && p.abs() < 0.62;
                let crown = (-1.5..-0.92).contains(&q) && p.abs() < 0.36;
                (brim || crown).then_some(self.trim.map(|c| c * 0.8 + 0.05))
            }
            _ => None,
        }
    }

    fn patterned(&self, p: f32, q: f32) -> bool {
        let [phase, other, lean] = self.pattern;
        let wave = |t: f32| t.rem_euclid(1.0);
        match TEXTURES[self.of.texture] {
            "stripes" => wave((p * lean + q) * 1.7 + phase) < 0.42,
            "dots" => (wave(p * 1.6 + phase) - 0.5).powi(2) + (wave(q * 1.6 + other) - 0.5).powi(2) < 0.085,
            "checks" => (wave(p * 1.1 + phase) < 0.5) != (wave(q * 1.1 + other) < 0.5),
            _ => false,
        }
    }
}

/// Whether a point lies on an object of about radius 1.
fn inside(shape: usize, p: f32, q: f32) -> bool {
    let far = (p * p + q * q).sqrt();
    match SHAPES[shape] {
        "ball" => far < 0.95,
        "box" => p.abs() < 0.86 && q.abs() < 0.8,
        "cone" => q < 0.85 && p.abs() < (q + 1.0) * 0.54,
        "star" => {
            // A straight line from each tip to the next notch, a tenth of a turn on.
            let around = (p.atan2(-q) / TAU * 5.0 + 0.5).rem_euclid(1.0) - 0.5;
            let angle = around.abs() * TAU / 5.0;
            let (x, y) = (far * angle.cos(), far * angle.sin());
            let (notch_x, notch_y) = (0.47 * (PI / 5.0).cos(), 0.47 * (PI / 5.0).sin());
            (1.08 - x) * notch_y > y * (1.08 - notch_x)
        }
        "ring" => (0.5..0.98).contains(&far),
        "cross" => p.abs().min(q.abs()) < 0.3 && p.abs().max(q.abs()) < 0.95,
        "heart" => {
            let (x, y) = (p * 1.2, 0.2 - q * 1.15);
            (x * x + y * y - 1.0).powi(3) < x * x * y * y * y
        }
        _ => p.abs() / 0.68 + q.abs() < 1.05,
    }
}

/// From hue in degrees, saturation and value.
fn rgb(hue: f32, saturation: f32, value: f32) -> Colour {
    [5.0, 3.0, 1.0].map(|n: f32| {
        let k = (n + hue / 60.0).rem_euclid(6.0);
        value - value * saturation * k.min(4.0 - k).clamp(0.0, 1.0)
    })
}
