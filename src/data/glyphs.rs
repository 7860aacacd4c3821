//! Digits drawn from strokes: an endless, labelled data set without a download, whose density is known to be kept by
//! translations (a torus), as the tests of Werpachowski, György and Szepesvári, "Detecting overfitting via adversarial
//! examples" (2019) ask of their data.
//!
//! Image i is a pure function of (seed, split, i) and of the settings below, drawn anew each time it is read.

use std::f32::consts::TAU;
use std::sync::Arc;

use rand::{Rng, RngCore};
use rand_pcg::Pcg64Mcg;

use super::memory::byte_to_float;
use super::{Dataset, Edge, Source};
use crate::core::{Digest, Error, Result, random};

/// Where a digit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The finished image is rolled by a uniform offset, so every roll of an image is as likely as the image itself.
    Torus,
    /// Uniform among the offsets of up to a quarter of the side, on a canvas with a margin. Two images whose digits are both
    /// within that range are equally likely; a translation that carries a digit out of it meets density 0.
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

impl Glyphs {
    /// The data set; labels are uniform and independent, so that examples are independent draws from one distribution.
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
        let digest = Digest::of(format!("glyphs 1 {self:?}").as_bytes());
        Dataset::new("glyphs", Arc::new(self), labels, classes, edge, digest)
    }

    /// The random numbers of image `index` and its label, their first draw. Splits take turns in one sequence of streams, so
    /// no two images of a seed share one.
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
        draw_strokes(&mut coverage, side, middle, self.size as f32, label, &mut numbers);
        self.colour(&coverage, roll, inverted, pixels, &mut numbers);
    }

    /// Lays ink over a ground with a faint wave, adds noise, rounds to bytes, and writes the image rolled.
    fn colour(&self, coverage: &[f32], roll: [usize; 2], inverted: bool, pixels: &mut [f32], numbers: &mut Pcg64Mcg) {
        let side = self.canvas();
        let ground = numbers.gen_range(0.72..1.0f32);
        let ink = numbers.gen_range(0.0..0.35f32);
        // Whole periods, so that the wave closes on a torus; its phase is uniform, so that every shift of it is as likely.
        let wave = [numbers.gen_range(-2..=2i32), numbers.gen_range(1..=2i32)].map(|k| k as f32 * TAU / side as f32);
        let (phase, height) = (numbers.gen_range(0.0..TAU), numbers.gen_range(0.0..0.06f32));
        let columns: Vec<(f32, f32)> = (0..side).map(|x| (wave[1] * x as f32).sin_cos()).collect();
        let scale = self.noise as f32 * NOISE_SCALE;
        for plane in pixels.chunks_mut(side * side) {
            let tint = if self.channels == 3 {
                [numbers.gen_range(-0.2..0.0f32), numbers.gen_range(0.0..0.2)]
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
pub(super) fn noise(numbers: &mut Pcg64Mcg) -> f32 {
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
}

type Point = [f32; 2];

/// A line through control points `[x, y]`: x to the right, y down, height 1 about the middle.
enum Stroke {
    /// Straight from point to point.
    Sharp(&'static [Point]),
    /// A Catmull-Rom spline through the points.
    Smooth(&'static [Point]),
    /// A spline that comes back to its start.
    Closed(&'static [Point]),
}

use Stroke::{Closed, Sharp, Smooth};

/// The ways to write each digit.
const DIGITS: [&[&[Stroke]]; 10] = [
    &[&[Closed(&[
        [0.0, -0.5],
        [0.21, -0.35],
        [0.29, 0.0],
        [0.21, 0.35],
        [0.0, 0.5],
        [-0.21, 0.35],
        [-0.29, 0.0],
        [-0.21, -0.35],
    ])]],
    &[
        &[Sharp(&[[-0.17, -0.3], [0.04, -0.5], [0.04, 0.5]])],
        &[Sharp(&[[-0.17, -0.32], [0.03, -0.5], [0.03, 0.5]]), Sharp(&[[-0.17, 0.5], [0.22, 0.5]])],
    ],
    &[&[
        Smooth(&[
            [-0.27, -0.27],
            [-0.17, -0.44],
            [0.02, -0.5],
            [0.21, -0.42],
            [0.26, -0.23],
            [0.17, -0.02],
            [-0.05, 0.23],
            [-0.29, 0.5],
        ]),
        Sharp(&[[-0.29, 0.5], [0.29, 0.5]]),
    ]],
    &[&[
        Smooth(&[
            [-0.26, -0.37],
            [-0.1, -0.48],
            [0.1, -0.48],
            [0.24, -0.37],
            [0.23, -0.19],
            [0.1, -0.06],
            [-0.07, -0.03],
        ]),
        Smooth(&[[-0.07, -0.03], [0.15, 0.02], [0.28, 0.16], [0.27, 0.34], [0.12, 0.48], [-0.1, 0.49], [-0.28, 0.36]]),
    ]],
    &[
        &[Sharp(&[[0.13, 0.5], [0.13, -0.5], [-0.31, 0.19], [0.31, 0.19]])],
        &[Sharp(&[[-0.18, -0.46], [-0.27, 0.1], [0.29, 0.1]]), Sharp(&[[0.15, -0.3], [0.15, 0.5]])],
    ],
    &[&[
        Sharp(&[[0.25, -0.5], [-0.2, -0.5], [-0.24, -0.05]]),
        Smooth(&[
            [-0.24, -0.05],
            [-0.03, -0.14],
            [0.18, -0.06],
            [0.28, 0.15],
            [0.21, 0.38],
            [0.0, 0.5],
            [-0.18, 0.46],
            [-0.29, 0.34],
        ]),
    ]],
    &[&[Smooth(&[
        [0.2, -0.48],
        [-0.03, -0.36],
        [-0.2, -0.13],
        [-0.27, 0.15],
        [-0.22, 0.39],
        [0.0, 0.5],
        [0.21, 0.41],
        [0.28, 0.21],
        [0.2, 0.02],
        [0.0, -0.05],
        [-0.18, 0.02],
        [-0.27, 0.17],
    ])]],
    &[
        &[Sharp(&[[-0.29, -0.5], [0.28, -0.5], [-0.06, 0.5]])],
        &[Sharp(&[[-0.29, -0.5], [0.28, -0.5], [-0.06, 0.5]]), Sharp(&[[-0.13, 0.02], [0.25, 0.02]])],
    ],
    &[&[
        Closed(&[
            [0.0, -0.5],
            [0.17, -0.43],
            [0.23, -0.27],
            [0.17, -0.11],
            [0.0, -0.03],
            [-0.17, -0.11],
            [-0.23, -0.27],
            [-0.17, -0.43],
        ]),
        Closed(&[
            [0.0, -0.03],
            [0.2, 0.05],
            [0.28, 0.24],
            [0.2, 0.43],
            [0.0, 0.5],
            [-0.2, 0.43],
            [-0.28, 0.24],
            [-0.2, 0.05],
        ]),
    ]],
    &[
        &[Smooth(&[
            [-0.2, 0.48],
            [0.03, 0.36],
            [0.2, 0.13],
            [0.27, -0.15],
            [0.22, -0.39],
            [0.0, -0.5],
            [-0.21, -0.41],
            [-0.28, -0.21],
            [-0.2, -0.02],
            [0.0, 0.05],
            [0.18, -0.02],
            [0.27, -0.17],
        ])],
        &[
            Closed(&[
                [0.0, -0.5],
                [0.19, -0.42],
                [0.26, -0.23],
                [0.19, -0.04],
                [0.0, 0.04],
                [-0.19, -0.04],
                [-0.27, -0.23],
                [-0.19, -0.42],
            ]),
            Sharp(&[[0.26, -0.23], [0.2, 0.5]]),
        ],
    ],
];

/// A random pose: an affine map and a smooth bend of the control points, both within what keeps digits apart. The turn is at
/// most 11 degrees, so a 6 is never a 9.
struct Pose {
    matrix: [f32; 4],
    middle: Point,
    bend: [[f32; 3]; 2],
}

impl Pose {
    fn random(middle: Point, size: f32, numbers: &mut Pcg64Mcg) -> (Self, f32) {
        let height = size * numbers.gen_range(0.56..0.72f32);
        let (sin, cos) = numbers.gen_range(-0.19..0.19f32).sin_cos();
        let slant = numbers.gen_range(-0.22..0.22f32);
        let wide = numbers.gen_range(0.82..1.15f32);
        let matrix = [cos * wide, cos * slant - sin, sin * wide, sin * slant + cos].map(|m| m * height);
        // Where the digit lies between the pixels.
        let middle = middle.map(|m| m + numbers.gen_range(-0.5..0.5f32));
        let mut wave =
            || [numbers.gen_range(0.0..0.035f32), numbers.gen_range(2.0..6.0f32), numbers.gen_range(0.0..TAU)];
        let bend = [wave(), wave()];
        (Self { matrix, middle, bend }, height)
    }

    /// Strokes that meet still meet: the bend depends on the place alone.
    fn place(&self, [x, y]: Point) -> Point {
        let [[a, p, s], [b, q, t]] = self.bend;
        let (x, y) = (x + a * (p * y + s).sin(), y + b * (q * x + t).sin());
        let [m00, m01, m10, m11] = self.matrix;
        [self.middle[0] + m00 * x + m01 * y, self.middle[1] + m10 * x + m11 * y]
    }
}

/// Draws a digit into `coverage`, 0 to 1 per pixel, anti-aliased by each pixel's distance to the strokes.
fn draw_strokes(coverage: &mut [f32], side: usize, middle: Point, size: f32, label: usize, numbers: &mut Pcg64Mcg) {
    let ways = DIGITS[label];
    let strokes = ways[numbers.gen_range(0..ways.len())];
    let (pose, height) = Pose::random([middle[1], middle[0]], size, numbers);
    let half = height * numbers.gen_range(0.045..0.08f32);
    let mut line = |from: Point, to: Point| draw_line(coverage, side, from, to, half);
    for stroke in strokes {
        match stroke {
            Sharp(points) => {
                points.windows(2).for_each(|pair| line(pose.place(pair[0]), pose.place(pair[1])));
            }
            Smooth(points) | Closed(points) => {
                let closed = matches!(stroke, Closed(_));
                let n = points.len();
                let at = |i: isize| {
                    let i = if closed { i.rem_euclid(n as isize) } else { i.clamp(0, n as isize - 1) };
                    pose.place(points[i as usize])
                };
                let spans = if closed { n } else { n - 1 };
                for i in 0..spans as isize {
                    let corners = [at(i - 1), at(i), at(i + 1), at(i + 2)];
                    let mut from = corners[1];
                    for step in 1..=STEPS {
                        let to = spline(corners, step as f32 / STEPS as f32);
                        line(from, to);
                        from = to;
                    }
                }
            }
        }
    }
}

/// Straight pieces between two control points of a spline.
const STEPS: usize = 4;

/// The uniform Catmull-Rom spline between the second and the third of four points.
fn spline([a, b, c, d]: [Point; 4], t: f32) -> Point {
    let along = |k: usize| {
        let slope = c[k] - a[k];
        let square = 2.0 * a[k] - 5.0 * b[k] + 4.0 * c[k] - d[k];
        let cube = 3.0 * (b[k] - c[k]) + d[k] - a[k];
        b[k] + 0.5 * t * (slope + t * (square + t * cube))
    };
    [along(0), along(1)]
}

/// Darkens the pixels near a straight line, within its bounding box alone.
fn draw_line(coverage: &mut [f32], side: usize, from: Point, to: Point, half: f32) {
    let reach = half + 0.5;
    let span = |a: f32, b: f32| {
        let lo = (a.min(b) - reach - 0.5).ceil().max(0.0) as usize;
        let hi = ((a.max(b) + reach - 0.5).floor() + 1.0).clamp(0.0, side as f32) as usize;
        lo..hi
    };
    let along = [to[0] - from[0], to[1] - from[1]];
    let length = along[0] * along[0] + along[1] * along[1];
    let inverse = if length > 0.0 { 1.0 / length } else { 0.0 };
    let columns = span(from[0], to[0]);
    for y in span(from[1], to[1]) {
        let row = &mut coverage[y * side..(y + 1) * side];
        for x in columns.clone() {
            let (dx, dy) = (x as f32 + 0.5 - from[0], y as f32 + 0.5 - from[1]);
            let t = ((dx * along[0] + dy * along[1]) * inverse).clamp(0.0, 1.0);
            let (dx, dy) = (dx - t * along[0], dy - t * along[1]);
            let squared = dx * dx + dy * dy;
            if squared < reach * reach {
                row[x] = row[x].max((reach - squared.sqrt()).min(1.0));
            }
        }
    }
}
