//! Brightness, contrast and saturation; the first and the last in HSV (Smith 1978) as scikit-image computes it.

use super::Strength;
use super::draws::Draws;
use super::picture::{Picture, unit};

pub(super) fn brightness(picture: &Picture, strength: Strength, _: &mut Draws) -> Picture {
    let more = strength.of([0.1, 0.2, 0.3, 0.4, 0.5], [0.05, 0.1, 0.15, 0.2, 0.3]);
    picture.each_pixel(|rgb| {
        let [hue, saturation, value] = hsv(rgb);
        self::rgb([hue, saturation, (value + more).clamp(0.0, 1.0)])
    })
}

pub(super) fn saturate(picture: &Picture, strength: Strength, _: &mut Draws) -> Picture {
    let (times, more) = strength.of(
        [(0.3, 0.0), (0.1, 0.0), (2.0, 0.0), (5.0, 0.1), (20.0, 0.2)],
        [(0.3, 0.0), (0.1, 0.0), (1.5, 0.0), (2.0, 0.1), (2.5, 0.2)],
    );
    picture.each_pixel(|rgb| {
        let [hue, saturation, value] = hsv(rgb);
        self::rgb([hue, (saturation * times + more).clamp(0.0, 1.0), value])
    })
}

/// Towards the mean of each channel.
pub(super) fn contrast(picture: &Picture, strength: Strength, _: &mut Draws) -> Picture {
    let kept = strength.of([0.4, 0.3, 0.2, 0.1, 0.05], [0.75, 0.5, 0.4, 0.3, 0.15]);
    let pixels = picture.bytes.as_chunks::<3>().0;
    let mut means = [0.0; 3];
    for pixel in pixels {
        for (sum, &byte) in means.iter_mut().zip(pixel) {
            *sum += unit(byte);
        }
    }
    let means = means.map(|sum| sum / pixels.len() as f64);
    picture.each_pixel(|rgb| std::array::from_fn(|i| (rgb[i] - means[i]) * kept + means[i]))
}

/// Hue, as a share of the circle, saturation and value.
fn hsv([red, green, blue]: [f64; 3]) -> [f64; 3] {
    let value = red.max(green).max(blue);
    let chroma = value - red.min(green).min(blue);
    if chroma == 0.0 {
        return [0.0, 0.0, value];
    }
    // Where two are largest, the later one counts.
    let sixths = if blue == value {
        4.0 + (red - green) / chroma
    } else if green == value {
        2.0 + (blue - red) / chroma
    } else {
        (green - blue) / chroma
    };
    [(sixths / 6.0).rem_euclid(1.0), chroma / value, value]
}

fn rgb([hue, saturation, value]: [f64; 3]) -> [f64; 3] {
    let sixth = (hue * 6.0).floor();
    let share = hue * 6.0 - sixth;
    let least = value * (1.0 - saturation);
    let falling = value * (1.0 - share * saturation);
    let rising = value * (1.0 - (1.0 - share) * saturation);
    match sixth as u8 % 6 {
        0 => [value, rising, least],
        1 => [falling, value, least],
        2 => [least, value, rising],
        3 => [least, falling, value],
        4 => [rising, least, value],
        _ => [value, least, falling],
    }
}
