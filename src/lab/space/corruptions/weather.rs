//! Fog, snow, and drops on the glass.

use super::blur::{clipped_zoom, from_quantum, middle_zoomed};
use super::draws::Draws;
use super::filters::{Beyond, Values, gaussian, motion};
use super::picture::{Picture, cut, unit};
use super::spatter::drops;
use super::{Scale, Strength};

pub(super) fn fog(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let (thickness, decay) = strength.of(
        [(1.5, 2.0), (2.0, 2.0), (2.5, 1.7), (2.5, 1.5), (3.0, 1.4)],
        [(0.2, 3.0), (0.5, 3.0), (0.75, 2.5), (1.0, 2.0), (1.5, 1.75)],
    );
    let side = picture.height.max(picture.width).next_power_of_two();
    let clouds = plasma(side, decay, draws);
    let largest = picture.bytes.iter().max().copied().map_or(0.0, unit);
    let mut places = (0..picture.height).flat_map(|y| (0..3 * picture.width).map(move |x| y * side + x / 3));
    picture.each(|x| {
        let cloud = places.next().map_or(0.0, |place| clouds[place]);
        (x + thickness * cloud) * largest / (largest + thickness)
    })
}

/// A height map from 0 to 1 by the diamond-square algorithm (Fournier, Fussell and Carpenter 1982), on a torus whose side is a power of two.
fn plasma(side: usize, decay: f64, draws: &mut Draws) -> Vec<f64> {
    let mut map = vec![0.0; side * side];
    let (mut step, mut wibble) = (side, 100.0);
    while step >= 2 {
        let (half, count) = (step / 2, side / step);
        let corner = |i: usize, j: usize| i % count * step * side + j % count * step;
        let middle =
            |i: usize, j: usize| ((i + count) % count * step + half) * side + (j + count) % count * step + half;
        let mut fill = |map: &mut Vec<f64>, shift: [usize; 2], sum: &dyn Fn(&[f64], usize, usize) -> f64| {
            for i in 0..count {
                for j in 0..count {
                    let mean = sum(map, i, j) / 4.0;
                    map[(i * step + shift[0]) * side + j * step + shift[1]] =
                        mean + wibble * draws.between(-wibble, wibble);
                }
            }
        };
        fill(&mut map, [half, half], &|map, i, j| {
            (map[corner(i, j)] + map[corner(i + 1, j)]) + (map[corner(i, j + 1)] + map[corner(i + 1, j + 1)])
        });
        fill(&mut map, [0, half], &|map, i, j| {
            (map[middle(i, j)] + map[middle(i + count - 1, j)]) + (map[corner(i, j)] + map[corner(i, j + 1)])
        });
        fill(&mut map, [half, 0], &|map, i, j| {
            (map[middle(i, j)] + map[middle(i, j + count - 1)]) + (map[corner(i, j)] + map[corner(i + 1, j)])
        });
        step = half;
        wibble /= decay;
    }
    let least = map.iter().copied().fold(f64::INFINITY, f64::min);
    map.iter_mut().for_each(|x| *x -= least);
    let largest = map.iter().copied().fold(0.0, f64::max);
    map.iter_mut().for_each(|x| *x /= largest);
    map
}

/// Flakes that move, and once more turned by half a circle, on a picture that turns whiter.
pub(super) fn snow(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let (mean, deviation, zoom, least, (radius, sigma), kept) = strength.of(
        [
            (0.1, 0.3, 3.0, 0.5, (10, 4.0), 0.8f64),
            (0.2, 0.3, 2.0, 0.5, (12, 4.0), 0.7),
            (0.55, 0.3, 4.0, 0.9, (12, 8.0), 0.7),
            (0.55, 0.3, 4.5, 0.85, (12, 8.0), 0.65),
            (0.55, 0.3, 2.5, 0.85, (12, 12.0), 0.55),
        ],
        [
            (0.1, 0.2, 1.0, 0.6, (8, 3.0), 0.95),
            (0.1, 0.2, 1.0, 0.5, (10, 4.0), 0.9),
            (0.15, 0.3, 1.75, 0.55, (10, 4.0), 0.9),
            (0.25, 0.3, 2.25, 0.6, (12, 6.0), 0.85),
            (0.3, 0.3, 1.25, 0.65, (14, 12.0), 0.8),
        ],
    );
    let flakes = layer(picture, mean, deviation, draws);
    let settled = |flakes: Values| flakes.map(|x| if x < least { 0.0 } else { x.clamp(0.0, 1.0) });
    let angle = draws.between(-135.0, -45.0);
    let flakes = match strength.scale {
        // What lies beyond the lower and right border is cut off after it has moved.
        Scale::ImageNet => motion(&settled(middle_zoomed(&flakes, zoom)), radius, sigma, angle)
            .part([0, 0], [picture.height, picture.width])
            .map(|x| (x * 255.0).round_ties_even() / 255.0),
        Scale::Cifar => {
            let flakes = settled(clipped_zoom(&flakes, zoom, strength.scale)).map(|x| f64::from(cut(x)) * 257.0);
            motion(&flakes, radius, sigma, angle).map(|x| unit(from_quantum(x)))
        }
    };
    let (kept, rest) = (kept as f32, (1.0 - kept) as f32);
    let pixels = picture.bytes.as_chunks::<3>().0;
    let both = flakes.values.iter().zip(flakes.values.iter().rev());
    let whiter = pixels.iter().zip(both).flat_map(|(pixel, (flake, turned))| {
        let rgb = pixel.map(|byte| unit(byte) as f32);
        let grey = rgb[0] * 0.299 + rgb[1] * 0.587 + rgb[2] * 0.114;
        rgb.map(|x| cut(f64::from(kept * x + rest * x.max(grey * 1.5 + 0.5)) + flake + turned))
    });
    picture.with(whiter.collect())
}

/// One normal number for each pixel.
fn layer(picture: &Picture, mean: f64, deviation: f64, draws: &mut Draws) -> Values {
    let [height, width] = [picture.height, picture.width];
    let drawn = (0..height * width).map(|_| mean + deviation * draws.normal()).collect();
    Values::new([height, width, 1], drawn)
}

/// Drops of water, and at the two largest severities of mud.
pub(super) fn spatter(picture: &Picture, strength: Strength, draws: &mut Draws) -> Picture {
    let (mean, deviation, sigma, least, weight, mud) = strength.of(
        [
            (0.65, 0.3, 4.0, 0.69, 0.6, false),
            (0.65, 0.3, 3.0, 0.68, 0.6, false),
            (0.65, 0.3, 2.0, 0.68, 0.5, false),
            (0.65, 0.3, 1.0, 0.65, 1.5, true),
            (0.67, 0.4, 1.0, 0.65, 1.5, true),
        ],
        [
            (0.62, 0.1, 0.7, 0.7, 0.5, false),
            (0.65, 0.1, 0.8, 0.7, 0.5, false),
            (0.65, 0.3, 1.0, 0.69, 0.5, false),
            (0.65, 0.1, 0.7, 0.69, 0.6, true),
            (0.65, 0.1, 0.5, 0.68, 0.6, true),
        ],
    );
    let liquid = gaussian(&layer(picture, mean, deviation, draws), [sigma; 2], 4.0, Beyond::Nearest);
    let liquid = liquid.map(|x| if x < least { 0.0 } else { x });
    let pixels = picture.bytes.as_chunks::<3>().0;
    let single = |pixel: &[u8; 3]| pixel.map(|byte| unit(byte) as f32);
    if mud {
        let wet = liquid.map(|x| f64::from(u8::from(x > least)));
        let rounded = |x: f64| f64::from(x as f32);
        let wet = gaussian(&wet, [weight, 0.0], 4.0, Beyond::Nearest).map(rounded);
        let wet = gaussian(&wet, [0.0, weight], 4.0, Beyond::Nearest).map(rounded);
        let brown = [63.0, 42.0, 20.0].map(|x| x / 255.0);
        let muddy = pixels.iter().zip(&wet.values).flat_map(|(pixel, &wet)| {
            let wet = if (wet as f32) < 0.8 { 0.0 } else { wet as f32 };
            let rgb = single(pixel).map(|x| x * (1.0 - wet));
            std::array::from_fn::<u8, 3, _>(|i| match strength.scale {
                Scale::ImageNet => cut(f64::from(rgb[i]) + brown[i] * f64::from(wet)),
                Scale::Cifar => ((rgb[i] + brown[i] as f32 * wet).clamp(0.0, 1.0) * 255.0) as u8,
            })
        });
        return picture.with(muddy.collect());
    }
    let Some(drops) = drops(&liquid) else { return picture.clone() };
    let turquoise = [175.0, 238.0, 238.0].map(|x| (x / 255.0) as f32);
    let wet = pixels.iter().zip(drops).flat_map(|(pixel, drop)| {
        let (rgb, drop) = (single(pixel), drop * weight as f32);
        std::array::from_fn::<u8, 3, _>(|i| ((rgb[i] + drop * turquoise[i]).clamp(0.0, 1.0) * 255.0) as u8)
    });
    picture.with(wet.collect())
}
