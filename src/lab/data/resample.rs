//! Resizing as Pillow does it, to the last bit: two passes, the first along rows, each of which weighs the pixels below a
//! filter as wide as the reduction. Bytes are weighed by whole numbers of 22 binary places and rounded after each pass; floats
//! are summed in double precision. After `Resample.c` of Pillow 13 (src/libImaging).

use crate::core::{Result, Tensor};

/// How pixels are weighed by their distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// A triangle: torchvision's default.
    #[default]
    Bilinear,
    /// Keys' cubic with a = -1/2.
    Bicubic,
    /// The mean.
    Box,
}

impl Filter {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bilinear => "bilinear",
            Self::Bicubic => "bicubic",
            Self::Box => "box",
        }
    }

    fn support(self) -> f64 {
        match self {
            Self::Bilinear => 1.0,
            Self::Bicubic => 2.0,
            Self::Box => 0.5,
        }
    }

    fn weight(self, distance: f64) -> f64 {
        const A: f64 = -0.5;
        let x = distance.abs();
        match self {
            Self::Bilinear if x < 1.0 => 1.0 - x,
            Self::Bicubic if x < 1.0 => ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0,
            Self::Bicubic if x < 2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * A,
            Self::Box if distance > -0.5 && distance <= 0.5 => 1.0,
            Self::Bilinear | Self::Bicubic | Self::Box => 0.0,
        }
    }
}

/// What one pixel of the result is made of along one axis.
struct Taps<T> {
    first: usize,
    weights: Vec<T>,
}

/// The weights of every pixel of the result, which sum to 1.
fn taps(filter: Filter, from: usize, to: usize) -> Vec<Taps<f64>> {
    let scale = from as f64 / to as f64;
    let wide = scale.max(1.0);
    let support = filter.support() * wide;
    let pixel = |at: usize| {
        let centre = (at as f64 + 0.5) * scale;
        let first = (centre - support + 0.5).max(0.0) as usize;
        let end = ((centre + support + 0.5) as usize).min(from);
        let weigh = |x: usize| filter.weight((x as f64 - centre + 0.5) * (1.0 / wide));
        let mut weights: Vec<f64> = (first..end).map(weigh).collect();
        let sum: f64 = weights.iter().sum();
        if sum != 0.0 {
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        Taps { first, weights }
    };
    (0..to).map(pixel).collect()
}

/// What every pixel of the result is made of along one axis, as a matrix `to x from`.
pub fn resampling(filter: Filter, from: usize, to: usize) -> Result<Tensor> {
    let mut matrix = vec![0.0f32; to * from];
    for (pixel, Taps { first, weights }) in taps(filter, from, to).into_iter().enumerate() {
        let row = &mut matrix[pixel * from + first..];
        row.iter_mut().zip(weights).for_each(|(place, weight)| *place = weight as f32);
    }
    Ok(Tensor::f_from_slice(&matrix)?.f_reshape([to as i64, from as i64])?)
}

/// Pixel values that can be weighed and rounded.
pub(crate) trait PixelValue: Copy + Default {
    type Weight: Copy;
    type Sum: Copy;
    const NOTHING: Self::Sum;
    fn weight(weight: f64) -> Self::Weight;
    fn add(sum: Self::Sum, value: Self, weight: Self::Weight) -> Self::Sum;
    fn rounded(sum: Self::Sum) -> Self;
}

/// Binary places of the weights of bytes: 8 for the value and 2 for sums beyond it are left of 32.
const PLACES: u32 = 32 - 8 - 2;

impl PixelValue for u8 {
    type Weight = i32;
    type Sum = i32;
    const NOTHING: i32 = 1 << (PLACES - 1);

    fn weight(weight: f64) -> i32 {
        let scaled = weight * f64::from(1 << PLACES);
        (if weight < 0.0 { scaled - 0.5 } else { scaled + 0.5 }) as i32
    }

    fn add(sum: i32, value: u8, weight: i32) -> i32 {
        sum.wrapping_add(i32::from(value).wrapping_mul(weight))
    }

    fn rounded(sum: i32) -> u8 {
        (sum >> PLACES).clamp(0, 255) as u8
    }
}

impl PixelValue for f32 {
    type Weight = f64;
    type Sum = f64;
    const NOTHING: f64 = 0.0;

    fn weight(weight: f64) -> f64 {
        weight
    }

    fn add(sum: f64, value: f32, weight: f64) -> f64 {
        sum + f64::from(value) * weight
    }

    fn rounded(sum: f64) -> f32 {
        sum as f32
    }
}

fn weights<S: PixelValue>(filter: Filter, from: usize, to: usize) -> Vec<Taps<S::Weight>> {
    let convert = |of: Taps<f64>| Taps { first: of.first, weights: of.weights.into_iter().map(S::weight).collect() };
    taps(filter, from, to).into_iter().map(convert).collect()
}

/// One image of `C` values per pixel, row by row, from `[height, width]` to another size.
pub(crate) fn resize<S: PixelValue, const C: usize>(
    pixels: Vec<S>,
    [h, w]: [usize; 2],
    [new_h, new_w]: [usize; 2],
    filter: Filter,
) -> Vec<S> {
    let across = if new_w == w { pixels } else { along_rows::<S, C>(&pixels, w, new_w, filter) };
    if new_h == h { across } else { down_columns(&across, C * new_w, h, new_h, filter) }
}

fn along_rows<S: PixelValue, const C: usize>(pixels: &[S], w: usize, new_w: usize, filter: Filter) -> Vec<S> {
    let taps = weights::<S>(filter, w, new_w);
    let mut out = Vec::with_capacity(pixels.len() / w * new_w);
    for row in pixels.chunks_exact(C * w) {
        let row = row.as_chunks::<C>().0;
        for tap in &taps {
            let mut sums = [S::NOTHING; C];
            for (pixel, &weight) in row[tap.first..].iter().zip(&tap.weights) {
                for (sum, &value) in sums.iter_mut().zip(pixel) {
                    *sum = S::add(*sum, value, weight);
                }
            }
            out.extend(sums.map(S::rounded));
        }
    }
    out
}

fn down_columns<S: PixelValue>(pixels: &[S], width: usize, h: usize, new_h: usize, filter: Filter) -> Vec<S> {
    let mut out = Vec::with_capacity(width * new_h);
    let mut sums = vec![S::NOTHING; width];
    for tap in weights::<S>(filter, h, new_h) {
        sums.fill(S::NOTHING);
        for (row, &weight) in pixels.chunks_exact(width).skip(tap.first).zip(&tap.weights) {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum = S::add(*sum, value, weight);
            }
        }
        out.extend(sums.iter().map(|&sum| S::rounded(sum)));
    }
    out
}
