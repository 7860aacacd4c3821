//! From coefficients to pixels, in the whole numbers of libjpeg-turbo.

use super::Block;

/// The samples of one component, with whole blocks around them.
pub(super) struct Plane {
    width: usize,
    height: usize,
    stride: usize,
    samples: Vec<u8>,
}

const PLACES: i32 = 13;
const PLACES_BETWEEN: i32 = 2;

/// Eight values of one pass of the inverse cosine transform (Loeffler, Ligtenberg and Moschytz 1989), each divided by 2^`places`.
#[inline(always)]
fn pass(x: [i32; 8], places: i32) -> [i32; 8] {
    let z1 = (x[2] + x[6]).wrapping_mul(4433);
    let (even2, even3) = (z1.wrapping_sub(x[6].wrapping_mul(15137)), z1.wrapping_add(x[2].wrapping_mul(6270)));
    let (even0, even1) = ((x[0] + x[4]) << PLACES, (x[0] - x[4]) << PLACES);
    let sums =
        [even0.wrapping_add(even3), even1.wrapping_add(even2), even1.wrapping_sub(even2), even0.wrapping_sub(even3)];
    let (z1, z2, z3, z4) = (x[7] + x[1], x[5] + x[3], x[7] + x[3], x[5] + x[1]);
    let z5 = (z3 + z4).wrapping_mul(9633);
    let (z1, z2) = (z1.wrapping_mul(-7373), z2.wrapping_mul(-20995));
    let (z3, z4) = (z3.wrapping_mul(-16069).wrapping_add(z5), z4.wrapping_mul(-3196).wrapping_add(z5));
    let odd = [
        x[1].wrapping_mul(12299).wrapping_add(z1).wrapping_add(z4),
        x[3].wrapping_mul(25172).wrapping_add(z2).wrapping_add(z3),
        x[5].wrapping_mul(16819).wrapping_add(z2).wrapping_add(z4),
        x[7].wrapping_mul(2446).wrapping_add(z1).wrapping_add(z3),
    ];
    let scaled = |x: i32| x.wrapping_add(1 << (places - 1)) >> places;
    let mut out = [0; 8];
    for i in 0..4 {
        out[i] = scaled(sums[i].wrapping_add(odd[i]));
        out[7 - i] = scaled(sums[i].wrapping_sub(odd[i]));
    }
    out
}

/// Products of damaged files that need more than 16 bits wrap, as they do in libjpeg-turbo.
fn product(coefficient: i16, quantum: u16) -> i32 {
    i32::from(coefficient.wrapping_mul(quantum as i16))
}

/// The pixels of a block of coefficients.
pub(super) fn inverse(block: &Block, quanta: &[u16; 64]) -> [u8; 64] {
    let limited = |x: i32| (x + 128).clamp(0, 255) as u8;
    if block[1..].iter().all(|&x| x == 0) {
        return [limited((product(block[0], quanta[0]) + 4) >> 3); 64];
    }
    let mut work = [0; 64];
    for column in 0..8 {
        let value = |row: usize| product(block[8 * row + column], quanta[8 * row + column]);
        let out = pass(std::array::from_fn(value), PLACES - PLACES_BETWEEN);
        for (row, x) in out.into_iter().enumerate() {
            work[8 * row + column] = x;
        }
    }
    let mut pixels = [0; 64];
    for (row, into) in work.as_chunks::<8>().0.iter().zip(pixels.as_chunks_mut::<8>().0) {
        *into = pass(*row, PLACES + PLACES_BETWEEN + 3).map(limited);
    }
    pixels
}

impl Plane {
    pub fn new(width: usize, height: usize, stride: usize, rows: usize) -> Self {
        Self { width, height, stride, samples: vec![0; stride * rows] }
    }

    pub fn put(&mut self, across: usize, down: usize, pixels: &[u8; 64]) {
        for (row, from) in pixels.as_chunks::<8>().0.iter().enumerate() {
            let start = (8 * down + row) * self.stride + 8 * across;
            self.samples[start..start + 8].copy_from_slice(from);
        }
    }

    fn row(&self, row: usize) -> &[u8] {
        &self.samples[row * self.stride..row * self.stride + self.width]
    }

    /// `width x height` pixels, `h x v` of which come of one sample.
    pub fn enlarged(&self, h: usize, v: usize, width: usize, height: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(width * height);
        let smooth = self.width > 2;
        let mut line = vec![0; self.width * h];
        for y in 0..height {
            let row = self.row(y / v);
            if (h, v) == (1, 1) {
                out.extend_from_slice(row);
                continue;
            }
            // The nearer of the rows above and below; the rows at the border are their own neighbours.
            let other = if y % 2 == 0 { (y / 2).saturating_sub(1) } else { (y / 2 + 1).min(self.height - 1) };
            match (h, v) {
                (2, 1) if smooth => widened(row, &mut line),
                (1, 2) => {
                    let bias = if y % 2 == 0 { 1 } else { 2 };
                    for ((to, &near), &far) in line.iter_mut().zip(row).zip(self.row(other)) {
                        *to = ((3 * u16::from(near) + u16::from(far) + bias) >> 2) as u8;
                    }
                }
                (2, 2) if smooth => widened_between(row, self.row(other), &mut line),
                _ => line.iter_mut().enumerate().for_each(|(x, to)| *to = row[x / h]),
            }
            out.extend_from_slice(&line[..width]);
        }
        out
    }
}

/// Each sample as two pixels, three quarters of it and one of its neighbour's.
fn widened(row: &[u8], out: &mut [u8]) {
    let value = |x: usize| u16::from(row[x]);
    let last = row.len() - 1;
    for x in 0..=last {
        let (before, after) = (value(x.saturating_sub(1)), value((x + 1).min(last)));
        out[2 * x] = ((3 * value(x) + before + 1) >> 2) as u8;
        out[2 * x + 1] = ((3 * value(x) + after + 2) >> 2) as u8;
    }
    (out[0], out[2 * last + 1]) = (row[0], row[last]);
}

/// The same between two rows, of which the first is nearer.
fn widened_between(near: &[u8], far: &[u8], out: &mut [u8]) {
    let sum = |x: usize| 3 * u16::from(near[x]) + u16::from(far[x]);
    let last = near.len() - 1;
    let mut before = sum(0);
    let mut here = before;
    for x in 0..=last {
        let after = sum((x + 1).min(last));
        out[2 * x] = ((3 * here + before + 8) >> 4) as u8;
        out[2 * x + 1] = ((3 * here + after + 7) >> 4) as u8;
        (before, here) = (here, after);
    }
}

/// Red, green and blue of luminance and two differences, or of planes that are these colours.
pub(super) fn to_rgb(y: &[u8], cb: &[u8], cr: &[u8], plain: bool) -> Vec<u8> {
    const HALF: i32 = 1 << 15;
    let mut out = vec![0; 3 * y.len()];
    let pixels = out.as_chunks_mut::<3>().0;
    for (((pixel, &y), &cb), &cr) in pixels.iter_mut().zip(y).zip(cb).zip(cr) {
        if plain {
            *pixel = [y, cb, cr];
            continue;
        }
        let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
        let red = y + ((91881 * cr + HALF) >> 16);
        let green = y + ((-22554 * cb - 46802 * cr + HALF) >> 16);
        let blue = y + ((116130 * cb + HALF) >> 16);
        *pixel = [red, green, blue].map(|x| x.clamp(0, 255) as u8);
    }
    out
}
