//! Blurs: out of focus, behind glass, by motion, by zooming, and by a Gaussian.

use super::draws::Draws;
use super::filters::{Beyond, Values, gaussian, motion, zoomed};
use super::picture::{Picture, cut, unit};
use super::{Scale, Strength};

/// How far scipy's and scikit-image's Gaussians reach, in deviations.
const REACH: f64 = 4.0;

fn values(picture: &Picture) -> Values {
    Values::new([picture.height, picture.width, 3], picture.bytes.iter().map(|&byte| unit(byte)).collect())
}

fn blurred(picture: &Picture, sigma: f64) -> Vec<u8> {
    gaussian(&values(picture), [sigma; 2], REACH, Beyond::Nearest).values.into_iter().map(cut).collect()
}

pub(super) fn by_gaussian(picture: &Picture, strength: Strength, _: &mut Draws) -> Picture {
    picture.with(blurred(picture, strength.of([1.0, 2.0, 3.0, 4.0, 6.0], [0.4, 0.6, 0.7, 0.8, 1.0])))
}

/// A blur, pixels that take the place of their neighbours, and a blur.
pub(super) fn glass(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let (sigma, reach, times) = strength.of(
        [(0.7, 1, 2), (0.9, 2, 1), (1.0, 2, 3), (1.1, 3, 2), (1.5, 4, 2)],
        [(0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)],
    );
    let (height, width) = (picture.height, picture.width);
    let mut bytes = blurred(picture, sigma);
    let shift = reach as i64;
    for _ in 0..times {
        for y in (reach + 1..=height - reach).rev() {
            for x in (reach + 1..=width - reach).rev() {
                let (dx, dy) = (draws.whole(-shift, shift), draws.whole(-shift, shift));
                let from = (y as i64 + dy) as usize * width + (x as i64 + dx) as usize;
                // The reference means to swap both, but its arrays are views: one is copied over the other.
                bytes.copy_within(3 * from..3 * from + 3, 3 * (y * width + x));
            }
        }
    }
    let shuffled = picture.with(bytes);
    shuffled.with(blurred(&shuffled, sigma))
}

pub(super) fn defocus(picture: &Picture, strength: Strength, _: &mut Draws) -> Picture {
    let (radius, sigma) = strength.of(
        [(3.0, 0.1), (4.0, 0.5), (6.0, 0.5), (8.0, 0.5), (10.0, 0.5)],
        [(0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1)],
    );
    let disk = disk(radius, sigma);
    let reach = (disk.len() / 2) as i64;
    let image = values(picture);
    let (height, width) = (picture.height, picture.width);
    // With all borders around it, so that each weight goes along whole rows.
    let rows: Vec<Vec<f64>> = (-reach..height as i64 + reach)
        .map(|y| {
            let y = Beyond::Mirror.place(y, height);
            (-reach..width as i64 + reach)
                .flat_map(|x| image.pixel(y, Beyond::Mirror.place(x, width)).iter().copied())
                .collect()
        })
        .collect();
    let mut bytes = Vec::with_capacity(picture.bytes.len());
    let mut sums = vec![0.0; 3 * width];
    for y in 0..height {
        sums.fill(0.0);
        for (dy, line) in disk.iter().enumerate() {
            for (dx, &weight) in line.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
                let from = &rows[y + dy][3 * dx..];
                sums.iter_mut().zip(from).for_each(|(sum, x)| *sum += f64::from(weight) * x);
            }
        }
        bytes.extend(sums.iter().map(|&x| cut(x)));
    }
    picture.with(bytes)
}

/// A disk whose edge is smoothed a little, in single precision as OpenCV's `GaussianBlur` gives it.
fn disk(radius: f64, sigma: f64) -> Vec<Vec<f32>> {
    let (reach, taps) = if radius <= 8.0 { (8, 1i64) } else { (radius as i64, 2) };
    let side = 2 * reach + 1;
    let inside = |y: i64, x: i64| (y * y + x * x) as f64 <= radius * radius;
    let count =
        (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (y, x))).filter(|&(y, x)| inside(y, x)).count();
    let share = 1.0 / count as f32;
    let sharp = |y: i64, x: i64| if inside(y - reach, x - reach) { share } else { 0.0 };
    let weights: Vec<f64> = (-taps..=taps).map(|x| (-0.5 / (sigma * sigma) * (x * x) as f64).exp()).collect();
    let scale = 1.0 / weights.iter().sum::<f64>();
    let weights: Vec<f32> = weights[taps as usize..].iter().map(|weight| (weight * scale) as f32).collect();
    let mirrored = |at: i64| Beyond::Mirror.place(at, side as usize) as i64;
    let smooth = |value: &dyn Fn(i64) -> f32| {
        let sides = weights.iter().zip(0i64..).skip(1);
        sides.fold(value(0) * weights[0], |sum, (weight, by)| (value(-by) + value(by)).mul_add(*weight, sum))
    };
    let along = |y: i64, x: i64| smooth(&|by| sharp(y, mirrored(x + by)));
    (0..side).map(|y| (0..side).map(|x| smooth(&|by| along(mirrored(y + by), x))).collect()).collect()
}

pub(super) fn by_motion(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let (radius, sigma) = strength.of(
        [(10, 3.0), (15, 5.0), (15, 8.0), (15, 12.0), (20, 15.0)],
        [(6, 1.0), (6, 1.5), (6, 2.0), (8, 2.0), (9, 2.5)],
    );
    let angle = draws.between(-45.0, 45.0);
    let bytes = |scale: f64| {
        let values = picture.bytes.iter().map(|&byte| f64::from(byte) * scale).collect();
        motion(&Values::new([picture.height, picture.width, 3], values), radius, sigma, angle).values
    };
    picture.with(match strength.scale {
        Scale::ImageNet => bytes(1.0).into_iter().map(|x| x as u8).collect(),
        Scale::Cifar => bytes(257.0).into_iter().map(from_quantum).collect(),
    })
}

/// The byte of a number that ImageMagick keeps in 16 bits: of the nearest of these the byte below.
pub(super) fn from_quantum(x: f64) -> u8 {
    ((x + 0.5) as u16 / 257) as u8
}

/// The mean of the picture and ever larger ones, in single precision.
pub(super) fn by_zoom(picture: &Picture, strength: Strength, _: &mut Draws) -> Picture {
    let (end, step) = strength.of(
        [(1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)],
        [(1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01)],
    );
    // As numpy's arange counts and steps.
    let count = f64::ceil((end - 1.0) / step) as usize;
    let delta = (1.0 + step) - 1.0;
    let image = values(picture).map(|x| f64::from(x as f32));
    let mut sums = vec![0f32; image.values.len()];
    for i in 0..count {
        let layer = clipped_zoom(&image, 1.0 + i as f64 * delta, strength.scale);
        sums.iter_mut().zip(&layer.values).for_each(|(sum, &x)| *sum += x as f32);
    }
    let mean = |(&x, sum): (&f64, f32)| (x as f32 + sum) / (count + 1) as f32;
    let bytes = image.values.iter().zip(sums).map(mean).map(|x| (x.clamp(0.0, 1.0) * 255.0) as u8);
    picture.with(bytes.collect())
}

/// The middle of an image, as large as the image; that of CIFAR-10-C takes its height for both sides.
pub(super) fn clipped_zoom(image: &Values, factor: f64, scale: Scale) -> Values {
    let (large, sides) = (middle_zoomed(image, factor), [image.height, image.width]);
    let from = match scale {
        Scale::ImageNet => [0, 0],
        Scale::Cifar => [(large.height - sides[0]) / 2, (large.width - sides[1]) / 2],
    };
    large.part(from, sides)
}

/// The middle of an image, at least as large as the image.
pub(super) fn middle_zoomed(image: &Values, factor: f64) -> Values {
    let sides = [image.height, image.width];
    let inner = sides.map(|side| (side as f64 / factor).ceil() as usize);
    let first = [(sides[0] - inner[0]) / 2, (sides[1] - inner[1]) / 2];
    zoomed(&image.part(first, inner), factor)
}
