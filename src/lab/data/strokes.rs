//! The strokes of the ten digits, and how a random pose of them is drawn.

use std::f32::consts::TAU;

use rand::Rng;
use rand_pcg::Pcg64Mcg;

type StrokePoint = [f32; 2];

/// A line through control points `[x, y]`: x to the right, y down, height 1 about the middle.
enum Stroke {
    /// Straight from point to point.
    Sharp(&'static [StrokePoint]),
    /// A Catmull-Rom spline through the points.
    Smooth(&'static [StrokePoint]),
    /// A spline that comes back to its start.
    Closed(&'static [StrokePoint]),
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

/// A random pose: an affine map and a smooth bend of the control points, both within what keeps digits apart. The
/// turn is at most 11 degrees, so a 6 is never a 9.
struct Pose {
    matrix: [f32; 4],
    middle: StrokePoint,
    bend: [[f32; 3]; 2],
}

impl Pose {
    fn random(middle: StrokePoint, size: f32, numbers: &mut Pcg64Mcg) -> (Self, f32) {
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
    fn place(&self, [x, y]: StrokePoint) -> StrokePoint {
        let [[a, p, s], [b, q, t]] = self.bend;
        let (x, y) = (x + a * (p * y + s).sin(), y + b * (q * x + t).sin());
        let [m00, m01, m10, m11] = self.matrix;
        [self.middle[0] + m00 * x + m01 * y, self.middle[1] + m10 * x + m11 * y]
    }
}

/// Draws a digit into `coverage`, 0 to 1 per pixel, anti-aliased by each pixel's distance to the strokes.
pub(super) fn draw_strokes(
    coverage: &mut [f32],
    side: usize,
    middle: StrokePoint,
    size: f32,
    label: usize,
    numbers: &mut Pcg64Mcg,
) {
    let ways = DIGITS[label];
    let strokes = ways[numbers.gen_range(0..ways.len())];
    let (pose, height) = Pose::random([middle[1], middle[0]], size, numbers);
    let half = height * numbers.gen_range(0.045..0.08f32);
    let mut line = |from: StrokePoint, to: StrokePoint| draw_line(coverage, side, from, to, half);
    for stroke in strokes {
        match stroke {
            Sharp(points) => {
                points.windows(2).for_each(|pair| line(pose.place(pair[0]), pose.place(pair[1])));
            }
            Smooth(points) | Closed(points) => {
                let closed = matches!(stroke, Closed(_));
                let n = points.len();
                let mut placed = [[0.0; 2]; MOST_POINTS];
                placed.iter_mut().zip(*points).for_each(|(to, from)| *to = pose.place(*from));
                let at = |i: isize| {
                    let i = if closed { i.rem_euclid(n as isize) } else { i.clamp(0, n as isize - 1) };
                    placed[i as usize]
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

/// Straight pieces between two control points of a spline: at 32 pixels, less than 0.1 pixel from the curve.
const STEPS: usize = 3;

/// Control points of the longest spline.
const MOST_POINTS: usize = 12;

/// The uniform Catmull-Rom spline between the second and the third of four points.
fn spline([a, b, c, d]: [StrokePoint; 4], t: f32) -> StrokePoint {
    let along = |k: usize| {
        let slope = c[k] - a[k];
        let square = 2.0 * a[k] - 5.0 * b[k] + 4.0 * c[k] - d[k];
        let cube = 3.0 * (b[k] - c[k]) + d[k] - a[k];
        b[k] + 0.5 * t * (slope + t * (square + t * cube))
    };
    [along(0), along(1)]
}

/// Darkens the pixels near a straight line, within its bounding box alone.
fn draw_line(coverage: &mut [f32], side: usize, from: StrokePoint, to: StrokePoint, half: f32) {
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
        let dy = y as f32 + 0.5 - from[1];
        // No branch, so that the compiler works on several pixels at a time.
        for (x, pixel) in row[columns.clone()].iter_mut().enumerate() {
            let dx = (columns.start + x) as f32 + 0.5 - from[0];
            let t = ((dx * along[0] + dy * along[1]) * inverse).clamp(0.0, 1.0);
            let (dx, dy) = (dx - t * along[0], dy - t * along[1]);
            *pixel = pixel.max((reach - (dx * dx + dy * dy).sqrt()).min(1.0));
        }
    }
}
