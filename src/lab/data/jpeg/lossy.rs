//! What JPEG does to a picture, without the file: the colours, the transform (`jfdctint.c`) and the quantisation of libjpeg-turbo's
//! encoder as Pillow calls it, which halves differences of colour, and back.

use super::Block;
use super::pixels::{Plane, inverse, to_rgb};

/// Annex K of ITU-T T.81.
const LUMINANCE: [u16; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
    87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
];
const CHROMINANCE: [u16; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99,
];

/// Red, green and blue of each pixel, row by row, as they come back from a file of this quality, from 1 to 100.
pub(crate) fn compressed(rgb: &[u8], [height, width]: [usize; 2], quality: u16) -> Vec<u8> {
    let scale = if quality < 50 { 5000 / u32::from(quality) } else { 200 - 2 * u32::from(quality) };
    let quanta = |table: [u16; 64]| table.map(|quantum| ((u32::from(quantum) * scale + 50) / 100).clamp(1, 255) as u16);
    let (luminance, chrominance) = (quanta(LUMINANCE), quanta(CHROMINANCE));
    let pixels = rgb.as_chunks::<3>().0;
    let [y, cb, cr] =
        [[19595, 38470, 7471], [-11059, -21709, 32768], [32768, -27439, -5329]].map(|weights: [i32; 3]| {
            // Of the differences the middle is 128, and what is half-way goes down.
            let offset = if weights[0] == 19595 { 1 << 15 } else { (128 << 16) + (1 << 15) - 1 };
            let weigh = |pixel: &[u8; 3]| {
                pixel.iter().zip(weights).fold(offset, |sum, (&x, weight)| sum + i32::from(x) * weight)
            };
            pixels.iter().map(|pixel| (weigh(pixel) >> 16) as u8).collect::<Vec<u8>>()
        });
    let y = coded(&y, [height, width], &luminance).enlarged(1, 1, width, height);
    let [cb, cr] = [cb, cr].map(|plane| {
        let (half, size) = halved(&plane, [height, width]);
        coded(&half, size, &chrominance).enlarged(2, 2, width, height)
    });
    to_rgb(&y, &cb, &cr, false)
}

/// The means of four pixels each, rounded down and up in turn; as wide as whole blocks.
fn halved(plane: &[u8], [height, width]: [usize; 2]) -> (Vec<u8>, [usize; 2]) {
    let size = [height.div_ceil(2), width.div_ceil(2)];
    let wide = size[1].next_multiple_of(8);
    let value = |y: usize, x: usize| u16::from(plane[y.min(height - 1) * width + x.min(width - 1)]);
    let mean = |y: usize, x: usize| {
        let sum = value(2 * y, 2 * x) + value(2 * y, 2 * x + 1) + value(2 * y + 1, 2 * x) + value(2 * y + 1, 2 * x + 1);
        ((sum + 1 + x as u16 % 2) >> 2) as u8
    };
    ((0..size[0]).flat_map(|y| (0..wide).map(move |x| (y, x))).map(|(y, x)| mean(y, x)).collect(), size)
}

/// What is left of a plane after each block's quantisation. Rows may be wider than the size says; beyond them, and below the last, stands
/// the nearest pixel.
fn coded(plane: &[u8], [height, width]: [usize; 2], quanta: &[u16; 64]) -> Plane {
    let wide = plane.len() / height;
    let (across, down) = (width.div_ceil(8), height.div_ceil(8));
    let mut out = Plane::new(width, height, 8 * across, 8 * down);
    for row in 0..down {
        for column in 0..across {
            let value = |i: usize| {
                let (y, x) = ((8 * row + i / 8).min(height - 1), (8 * column + i % 8).min(wide - 1));
                i32::from(plane[y * wide + x]) - 128
            };
            let block = quantised(forward(std::array::from_fn(value)), quanta);
            out.put(column, row, &inverse(&block, quanta));
        }
    }
    out
}

fn quantised(coefficients: [i32; 64], quanta: &[u16; 64]) -> Block {
    std::array::from_fn(|i| {
        // The transform leaves three binary places.
        let (x, quantum) = (coefficients[i], i32::from(quanta[i]) << 3);
        (x.signum() * ((x.abs() + quantum / 2) / quantum)) as i16
    })
}

const PLACES: i32 = 13;
const PLACES_BETWEEN: i32 = 2;

/// The cosine transform of a block (Loeffler, Ligtenberg and Moschytz 1989), eight times as large.
fn forward(mut block: [i32; 64]) -> [i32; 64] {
    for row in block.as_chunks_mut::<8>().0 {
        *row = pass(*row, |sum| sum << PLACES_BETWEEN, PLACES - PLACES_BETWEEN);
    }
    for column in 0..8 {
        let values = std::array::from_fn(|row| block[8 * row + column]);
        let out = pass(values, |sum| descaled(sum, PLACES_BETWEEN), PLACES + PLACES_BETWEEN);
        for (row, x) in out.into_iter().enumerate() {
            block[8 * row + column] = x;
        }
    }
    block
}

fn descaled(x: i32, places: i32) -> i32 {
    (x + (1 << (places - 1))) >> places
}

fn pass(x: [i32; 8], plain: impl Fn(i32) -> i32, places: i32) -> [i32; 8] {
    let sums: [i32; 4] = std::array::from_fn(|i| x[i] + x[7 - i]);
    let [d7, d6, d5, d4]: [i32; 4] = std::array::from_fn(|i| x[i] - x[7 - i]);
    let (outer, inner) = (sums[0] + sums[3], sums[1] + sums[2]);
    let (t13, t12) = (sums[0] - sums[3], sums[1] - sums[2]);
    let even = (t12 + t13) * 4433;
    let (z1, z2, z3, z4) = (d4 + d7, d5 + d6, d4 + d6, d5 + d7);
    let z5 = (z3 + z4) * 9633;
    let (z1, z2) = (z1 * -7373, z2 * -20995);
    let (z3, z4) = (z3 * -16069 + z5, z4 * -3196 + z5);
    [
        plain(outer + inner),
        descaled(d7 * 12299 + z1 + z4, places),
        descaled(even + t13 * 6270, places),
        descaled(d6 * 25172 + z2 + z3, places),
        plain(outer - inner),
        descaled(d5 * 16819 + z2 + z4, places),
        descaled(even + t12 * -15137, places),
        descaled(d4 * 2446 + z1 + z3, places),
    ]
}
