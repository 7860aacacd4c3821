//! Digits drawn from strokes: an endless, labelled data set without a download, whose density is known to be kept by
//! translations (a torus), as the tests of Werpachowski, György and Szepesvári, "Detecting overfitting via
//! adversarial examples" (2019) ask of their data.
//!
//! Image i is a pure function of (seed, split, i) and of the settings below, drawn anew each time it is read.

use std::f32::consts::TAU;
use std::sync::Arc;

use rand::{Rng, RngCore};
use rand_pcg::Pcg64Mcg;

use super::memory::byte_to_float;
use super::strokes::draw_strokes;
use super::{Dataset, Edge, Source};
use crate::core::{Digest, Error, Result, random};

/// Where a digit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The finished image is rolled by a uniform offset, so every roll of an image is as likely as the image itself.
    Torus,
    /// Uniform among the offsets of up to a quarter of the side, on a canvas with a margin; digits are drawn at three
    /// quarters of their size. Two images whose digits are both within that range are equally likely; a translation
    /// that carries a digit out of it meets density 0.
    Margin,
    /// Always in the middle, on a canvas with a margin: translated images are never drawn. The negative control.
    Centred,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polarity {
    /// Dark strokes on a light ground.
    Dark,
    /// The inverse, 255 - byte.
    Light,
    /// A fair coin decides: inversion preserves the density exactly.
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    Train,
    Validation,
    Test,
}

#[derive(Debug, Clone, Copy)]
pub struct Glyphs {
    pub n: usize,
    /// Side of what models see, 16 to 256 pixels.
    pub size: usize,
    /// 1 or 3.
    pub channels: usize,
    pub position: Position,
    /// Pixels around what models see, for `Margin` and `Centred`.
    pub margin: usize,
    pub polarity: Polarity,
    pub split: Split,
    /// Standard deviation of the noise on every pixel, before values are cut to [0, 1].
    pub noise: f64,
    pub seed: u64,
}

impl Default for Glyphs {
    fn default() -> Self {
        Self {
            n: 1000,
            size: 32,
            channels: 1,
            position: Position::Torus,
            margin: 16,
            polarity: Polarity::Dark,
            split: Split::Train,
            noise: 0.02,
            seed: 0,
        }
    }
}

impl Split {
    /// How digests know it, which stays when it gets a better name.
    pub(super) fn identity(self) -> &'static str {
        match self {
            Self::Train => "Train",
            Self::Validation => "Validation",
            Self::Test => "Test",
        }
    }
}

impl Glyphs {
    /// How digests know it, which stays when types and fields get better names.
    fn identity(&self) -> String {
        let Self { n, size, channels, position, margin, polarity, split, noise, seed } = self;
        let position = match position {
            Position::Torus => "Torus",
            Position::Margin => "Margin",
            Position::Centred => "Centred",
        };
        let polarity = match polarity {
            Polarity::Dark => "Dark",
            Polarity::Light => "Light",
            Polarity::Random => "Random",
        };
        format!(
            "Glyphs {{ n: {n}, size: {size}, channels: {channels}, position: {position}, margin: {margin}, polarity: {polarity}, \
             split: {}, noise: {noise:?}, seed: {seed} }}",
            split.identity()
        )
    }

    /// The data set; labels are uniform and independent, so that examples are independent draws from one
    /// distribution.
    pub fn dataset(mut self) -> Result<Dataset> {
        if !(16..=256).contains(&self.size) || !matches!(self.channels, 1 | 3) || !(0.0..=1.0).contains(&self.noise) {
            return Err(Error::argument(
                "glyphs: size 16 to 256, 1 or 3 channels and noise 0 to 1 are what can be drawn",
            ));
        }
        if self.position == Position::Torus {
            self.margin = 0;
        }
        if self.margin > self.size {
            return Err(Error::argument(format!("glyphs: a margin of {} is more than the side", self.margin)));
        }
        let edge = match self.position {
            Position::Torus => Edge::Wrap,
            _ if self.margin == 0 => Edge::None,
            _ => Edge::Margin(self.margin),
        };
        let labels = (0..self.n).map(|i| self.start(i).1 as i64).collect();
        let classes = (0..10).map(|digit| digit.to_string()).collect();
        // The number counts changes of the drawing itself.
        let digest = Digest::of(format!("glyphs 1 {}", self.identity()).as_bytes());
        let moved = match self.position {
            Position::Torus => None,
            Position::Margin => Some("a digit moved more than a quarter of the side from the middle is never drawn"),
            Position::Centred => Some("a digit that is not in the middle is never drawn"),
        };
        let inverted = match self.polarity {
            Polarity::Dark => Some("light digits on dark are never drawn; `polarity: \"random\"` draws both"),
            Polarity::Light => Some("dark digits on light are never drawn; `polarity: \"random\"` draws both"),
            Polarity::Random => None,
        };
        let cautions = [("translate", moved), ("polarity", inverted)];
        let set = Dataset::new("glyphs", Arc::new(self), labels, classes, edge, digest)?
            .with_other_labels("flip", "a mirrored digit is no digit, or another one")
            .with_other_labels("turn", "a digit on its side is no digit, and a 6 on its head is a 9");
        let known = cautions.into_iter().filter_map(|(change, why)| Some((change, why?)));
        Ok(known.fold(set, |set, (change, why)| set.with_caution(change, why)))
    }

    /// The random numbers of image `index` and its label, their first draw. Splits take turns in one sequence of
    /// streams, so no two images of a seed share one.
    fn start(&self, index: usize) -> (Pcg64Mcg, usize) {
        let mut numbers = random(self.seed, 4 * index as u64 + self.split as u64);
        let label = numbers.gen_range(0..10);
        (numbers, label)
    }

    fn canvas(&self) -> usize {
        self.size + 2 * self.margin
    }

    fn draw(&self, index: usize, pixels: &mut [f32]) {
        let (mut numbers, label) = self.start(index);
        let side = self.canvas();
        let mut coverage = vec![0f32; side * side];
        let offset = match self.position {
            Position::Margin => {
                let reach = (self.size / 4) as i64;
                [numbers.gen_range(-reach..=reach), numbers.gen_range(-reach..=reach)]
            }
            _ => [0, 0],
        };
        let roll = match self.position {
            Position::Torus => [numbers.gen_range(0..side), numbers.gen_range(0..side)],
            _ => [0, 0],
        };
        let inverted = match self.polarity {
            Polarity::Dark => false,
            Polarity::Light => true,
            Polarity::Random => numbers.gen_bool(0.5),
        };
        let middle = offset.map(|o| side as f32 / 2.0 + o as f32);
        // Smaller where the digit moves within a crop, so that models see all of it wherever it is drawn.
        let size = self.size as f32 * if self.position == Position::Margin { 0.75 } else { 1.0 };
        draw_strokes(&mut coverage, side, middle, size, label, &mut numbers);
        self.colour(&coverage, roll, inverted, pixels, &mut numbers);
    }

    /// Lays ink over a ground with a faint wave, adds noise, rounds to bytes, and writes the image rolled.
    fn colour(&self, coverage: &[f32], roll: [usize; 2], inverted: bool, pixels: &mut [f32], numbers: &mut Pcg64Mcg) {
        let side = self.canvas();
        let ground = numbers.gen_range(0.72..1.0f32);
        let ink = numbers.gen_range(0.0..0.3f32);
        // Whole periods, so that the wave closes on a torus; its phase is uniform, so that every shift of it is as
        // likely.
        let wave = [numbers.gen_range(-2..=2i32), numbers.gen_range(1..=2i32)].map(|k| k as f32 * TAU / side as f32);
        let (phase, height) = (numbers.gen_range(0.0..TAU), numbers.gen_range(0.0..0.06f32));
        let columns: Vec<(f32, f32)> = (0..side).map(|x| (wave[1] * x as f32).sin_cos()).collect();
        let scale = self.noise as f32 * NOISE_SCALE;
        for plane in pixels.chunks_mut(side * side) {
            let tint = if self.channels == 3 {
                [numbers.gen_range(-0.1..0.0f32), numbers.gen_range(0.0..0.1)]
            } else {
                [0.0; 2]
            };
            let (ground, ink) = (ground + tint[0], ink + tint[1]);
            for (y, row) in coverage.chunks(side).enumerate() {
                let (sin, cos) = (wave[0] * y as f32 + phase).sin_cos();
                let to = (y + roll[0]) % side * side;
                let out = &mut plane[to..to + side];
                let (second, first) = (0..side - roll[1], side - roll[1]..side);
                let spans = [(second, roll[1]), (first, 0)];
                for (from, start) in spans {
                    let out = &mut out[start..start + from.len()];
                    for (pixel, x) in out.iter_mut().zip(from) {
                        let (column_sin, column_cos) = columns[x];
                        let light = ground + height * (sin * column_cos + cos * column_sin);
                        let mut value = light + (ink - light) * row[x];
                        if scale > 0.0 {
                            value += scale * noise(numbers);
                        }
                        let byte = (value * 255.0 + 0.5) as u8;
                        *pixel = byte_to_float(if inverted { 255 - byte } else { byte });
                    }
                }
            }
        }
    }
}

/// Turns `noise` into standard deviation 1: four uniform 16-bit numbers have variance 4 * 65536^2 / 12.
const NOISE_SCALE: f32 = 1.732_050_8 / 65536.0;

/// The sum of four uniform numbers about 0: near normal, within 3.5 standard deviations, from one 64-bit draw.
fn noise(numbers: &mut Pcg64Mcg) -> f32 {
    let bits = numbers.next_u64();
    let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    sum as f32 - 2.0 * 65535.0
}

impl Source for Glyphs {
    fn len(&self) -> usize {
        self.n
    }

    fn shape(&self) -> [usize; 3] {
        [self.channels, self.canvas(), self.canvas()]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.draw(index, pixels);
        Ok(())
    }

    fn likeness(&self, index: usize) -> Option<u64> {
        // However many others there are.
        let of = Self { n: 0, ..*self }.identity();
        Some(Digest::of_parts(&[of.as_bytes(), &(index as u64).to_le_bytes()]).as_u64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_know_glyphs_by_words_that_stay() {
        assert_eq!(
            Glyphs { position: Position::Centred, split: Split::Test, ..Glyphs::default() }.identity(),
            "Glyphs { n: 1000, size: 32, channels: 1, position: Centred, margin: 16, polarity: Dark, split: Test, noise: 0.02, seed: 0 }"
        );
    }
}
