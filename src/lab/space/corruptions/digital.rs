//! What computers do to pictures.

use super::draws::Draws;
use super::filters::{Beyond, Values, gaussian};
use super::picture::{Picture, unit};
use super::{Scale, Strength};
use crate::data::{Filter, compressed, resize};

/// Fewer pixels, each the mean of those that it stands for, and as many as before.
pub(super) fn pixelate(picture: &Picture, strength: Strength, _: &mut Draws) -> Picture {
    let share = strength.of([0.6, 0.5, 0.4, 0.3, 0.25], [0.95, 0.9, 0.85, 0.75, 0.65]);
    let size = [picture.height, picture.width];
    let few = size.map(|side| (side as f64 * share) as usize);
    let small = resize::<u8, 3>(picture.bytes.clone(), size, few, Filter::Box);
    picture.with(match strength.scale {
        Scale::ImageNet => {
            // Pillow adds up the steps, which tells at pixels that lie half-way.
            let nearest = [0, 1].map(|i| -> Vec<usize> {
                let step = few[i] as f64 / size[i] as f64;
                let places = std::iter::successors(Some(step * 0.5), |at| Some(at + step)).take(size[i]);
                places.map(|at| (at as usize).min(few[i] - 1)).collect()
            });
            let pixels = small.as_chunks::<3>().0;
            let row = |&y: &usize| nearest[1].iter().flat_map(move |x| pixels[y * few[1] + x]);
            nearest[0].iter().flat_map(row).collect()
        }
        Scale::Cifar => resize::<u8, 3>(small, few, size, Filter::Box),
    })
}

pub(super) fn jpeg(picture: &Picture, strength: Strength, _: &mut Draws) -> Picture {
    let quality = strength.of([25, 18, 15, 10, 7], [80, 65, 58, 50, 40]);
    picture.with(compressed(&picture.bytes, [picture.height, picture.width], quality))
}

/// How far Gaussians of displacements reach, in deviations.
const REACH: f64 = 3.0;

/// Every pixel from a place nearby; in CIFAR-10-C after a small affine change of the whole.
pub(super) fn elastic(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let size = [picture.height, picture.width];
    let image: Vec<f64> = picture.bytes.iter().map(|&byte| f64::from(unit(byte) as f32)).collect();
    let image = Values::new([picture.height, picture.width, 3], image);
    let (image, limit, sigmas, scale) = match strength.scale {
        Scale::ImageNet => {
            let share = [0.05, 0.065, 0.085, 0.1, 0.12][strength.severity - 1];
            (image, size[0] as f64 * 0.005, size.map(|side| side as f64 * 0.01), 250.0 * share)
        }
        Scale::Cifar => {
            let [scale, sigma, affine] =
                [[0.0, 0.0, 0.08], [0.05, 0.2, 0.07], [0.08, 0.06, 0.06], [0.1, 0.04, 0.05], [0.1, 0.03, 0.03]]
                    [strength.severity - 1];
            let side = 32.0;
            (warped(&image, side * affine, draws), 1.0, [side * sigma; 2], side * scale)
        }
    };
    let mut field = || {
        let drawn = (0..size[0] * size[1]).map(|_| draws.between(-limit, limit)).collect();
        gaussian(&Values::new([size[0], size[1], 1], drawn), sigmas, REACH, Beyond::Reflect)
            .map(|x| f64::from((x * scale) as f32))
    };
    let (across, down) = (field(), field());
    let mut bytes = Vec::with_capacity(picture.bytes.len());
    for y in 0..size[0] {
        for x in 0..size[1] {
            let (dy, dx) = (down.pixel(y, x)[0], across.pixel(y, x)[0]);
            let (rows, columns) = (taps(y as f64 + dy, size[0]), taps(x as f64 + dx, size[1]));
            for c in 0..3 {
                let mut sum = 0.0;
                for (row, a) in rows {
                    for (column, b) in columns {
                        sum += image.pixel(row, column)[c] * a * b;
                    }
                }
                bytes.push(((sum as f32).clamp(0.0, 1.0) * 255.0) as u8);
            }
        }
    }
    picture.with(bytes)
}

/// The two places next to a coordinate and their weights, mirrored at the border (scipy's `map_coordinates`).
fn taps(at: f64, side: usize) -> [(usize, f64); 2] {
    let whole = 2.0 * side as f64;
    let at = if at < 0.0 {
        let at = if at < -whole { whole * (-at / whole).trunc() + at } else { at };
        if at < -(side as f64) { at + whole } else { (-at).max(1e-15) - 1.0 }
    } else if at > side as f64 - 1.0 {
        let at = at - whole * (at / whole).trunc();
        if at >= side as f64 { whole - at - 1.0 } else { at }
    } else {
        at
    };
    let first = at.floor();
    let weight = 1.0 - (at - first);
    let place = |at: i64| Beyond::Reflect.place(at, side);
    [(place(first as i64), weight), (place(first as i64 + 1), 1.0 - weight)]
}

/// Three corners moved by at most so much, and the rest with them: OpenCV's `warpAffine`, in 32nds of a pixel.
fn warped(image: &Values, by: f64, draws: &mut Draws) -> Values {
    let (middle, reach) =
        (((image.height / 2) as f64, (image.width / 2) as f64), (image.height.min(image.width) / 3) as f64);
    let from = [
        [middle.0 + reach, middle.1 + reach],
        [middle.0 + reach, middle.1 - reach],
        [middle.0 - reach, middle.1 - reach],
    ];
    let to = from.map(|point| point.map(|at| f64::from(at as f32 + draws.between(-by, by) as f32)));
    // The affine map of the first three points to the others, row by row.
    let [m0, m1] = [0, 1].map(|i| {
        let (a, b) = ((to[1][i] - to[2][i]) / (2.0 * reach), (to[0][i] - to[1][i]) / (2.0 * reach));
        [a, b, to[0][i] - a * from[0][0] - b * from[0][1]]
    });
    let scale = 1.0 / (m0[0] * m1[1] - m0[1] * m1[0]);
    let (a, b, c, d) = (m1[1] * scale, -m0[1] * scale, -m1[0] * scale, m0[0] * scale);
    let inverse = [[a, b, -a * m0[2] - b * m1[2]], [c, d, -c * m0[2] - d * m1[2]]];
    const PLACES: f64 = 1024.0;
    let rounded = |x: f64| x.round_ties_even() as i64;
    let mut values = Vec::with_capacity(image.values.len());
    for y in 0..image.height {
        for x in 0..image.width {
            let [at_x, at_y] = inverse
                .map(|[a, b, c]| (rounded((b * y as f64 + c) * PLACES) + 16 + rounded(a * x as f64 * PLACES)) >> 5);
            let [fx, fy] = [at_x, at_y].map(|at| (at & 31) as f32 / 32.0);
            let weights = [(1.0 - fy) * (1.0 - fx), (1.0 - fy) * fx, fy * (1.0 - fx), fy * fx];
            let place = |dy: i64, dx: i64| {
                let (y, x) = ((at_y >> 5) + dy, (at_x >> 5) + dx);
                image.pixel(Beyond::Mirror.place(y, image.height), Beyond::Mirror.place(x, image.width))
            };
            let corners = [place(0, 0), place(0, 1), place(1, 0), place(1, 1)];
            for c in 0..3 {
                let sum = corners.iter().zip(weights).map(|(pixel, weight)| pixel[c] as f32 * weight);
                values.push(f64::from(sum.reduce(|a, b| a + b).unwrap_or(0.0)));
            }
        }
    }
    Values { values, ..*image }
}
