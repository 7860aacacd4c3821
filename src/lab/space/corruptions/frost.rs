//! Frost on the glass: a part of one of five photographs, which are somebody else's and come from a folder of the user's.

use std::path::{Path, PathBuf};

use super::draws::Draws;
use super::filters::Beyond;
use super::picture::Picture;
use super::{Scale, Strength};
use crate::core::{Cx, Digest, Error, Result};
use crate::data::picture;

/// The files of imagecorruptions 1.1.2 and hendrycks/robustness by their SHA-256. The sixth, frost6.jpg, is never drawn.
const PUBLISHED: [(&str, &str); 5] = [
    ("frost1.png", "ff9f907860bd7a835d459e32f9d588062b7f61ee267343cc7222b56753a14755"),
    ("frost2.png", "fe211a89b336999c207a852ce05818d4545d0b57c5beadd824b4cc9d9a9b6137"),
    ("frost3.png", "2d0d50b4a9bb213f38b024ef7768731bb83cc08d2f26b5766bbc167cdfa0e504"),
    ("frost4.jpg", "3f8b91ca1a9fa7167b09e773da53f5ae60d0a1fd88f02a783f6e328a72887f6e"),
    ("frost5.jpg", "5fc6a19df4a429ba68abdcc8f8a4278d4c9f81c9ccafd2c92ab0c8cf8992ebd2"),
];

/// Photographs of frost.
pub struct Frost {
    /// The folder, as the script names it.
    pub(super) name: String,
    photographs: Vec<Picture>,
    pub(super) digest: Digest,
    /// Whether they are the published ones, to the byte.
    pub(super) published: bool,
}

impl Frost {
    /// Those of a folder, under the names that they are published by; `name` is how the script calls it.
    pub fn read(cx: &Cx, name: &str, folder: &Path) -> Result<Self> {
        let (mut photographs, mut list, mut published) = (vec![], String::new(), true);
        for (file, known) in PUBLISHED {
            let path: PathBuf = folder.join(file);
            if !path.is_file() {
                let names: Vec<&str> = PUBLISHED.iter().map(|(name, _)| *name).collect();
                return Err(Error::file(&path, "no such file").hint(format!(
                    "`frost` names the folder with the photographs {} of the Python package imagecorruptions",
                    names.join(", ")
                )));
            }
            let bytes = picture::bytes(&path)?;
            let digest = Digest::of(&bytes);
            published &= digest.hex() == known;
            list += &format!("{file} {}\n", digest.hex());
            // Transparency is left out of account, as OpenCV does.
            let image = picture::decode(&path, &bytes)?.into_rgb8();
            let (width, height) = (image.width() as usize, image.height() as usize);
            photographs.push(Picture { height, width, bytes: image.into_raw() });
        }
        let digest = Digest::of(list.as_bytes());
        cx.record_input_from("photographs of frost", name, digest, folder);
        Ok(Self { name: name.into(), photographs, digest, published })
    }

    /// Whether the image is smaller than each photograph as CIFAR-10-C shrinks it.
    pub(super) fn cover(&self, scale: Scale, [height, width]: [usize; 2]) -> bool {
        self.photographs.iter().all(|photograph| {
            let [down, across] = enlarged(photograph, scale, [height, width]);
            down > height && across > width
        })
    }
}

/// How large a photograph becomes.
fn enlarged(photograph: &Picture, scale: Scale, [height, width]: [usize; 2]) -> [usize; 2] {
    let sides = [photograph.height, photograph.width];
    if scale == Scale::Cifar {
        return sides.map(|side| (side as f64 * 0.2).round_ties_even() as usize);
    }
    let factors = [height as f64 / sides[0] as f64, width as f64 / sides[1] as f64];
    let factor = match (sides[0] >= height, sides[1] >= width) {
        (true, true) => 1.0,
        (false, true) => factors[0],
        (true, false) => factors[1],
        (false, false) => factors[0].max(factors[1]),
    };
    sides.map(|side| (side as f64 * (factor * 1.1)).ceil() as usize)
}

pub(super) fn frost(picture: &Picture, strength: Strength, draws: &mut Draws, frost: &Frost) -> Picture {
    let (kept, ice) = strength.of(
        [(1.0, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)],
        [(1.0, 0.2), (1.0, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)],
    );
    let photograph = &frost.photographs[draws.whole(0, 5) as usize];
    let size = [picture.height, picture.width];
    let large = enlarged(photograph, strength.scale, size);
    let first = [0, 1].map(|i| draws.whole(0, large[i] as i64 - size[i] as i64) as usize);
    let part = resized(photograph, large, first, size, strength.scale == Scale::ImageNet);
    let mixed = picture
        .bytes
        .iter()
        .zip(part)
        .map(|(&x, frost)| (kept * f64::from(x) + ice * f64::from(frost)).min(255.0) as u8);
    picture.with(mixed.collect())
}

/// A part of a picture that is resized as OpenCV does it: cubic with a = -3/4 or bilinear, in whole numbers of 11 binary places.
fn resized(of: &Picture, to: [usize; 2], first: [usize; 2], size: [usize; 2], cubic: bool) -> Vec<u8> {
    const ONE: f32 = 2048.0;
    let from = [of.height, of.width];
    let taps = |axis: usize, at: usize| -> Vec<(usize, i64)> {
        let step = if cubic { 1.0 / (to[axis] as f64 / from[axis] as f64) } else { 5.0 };
        let at = ((at as f64 + 0.5) * step - 0.5) as f32;
        let (place, x) = (at.floor() as i64, at - at.floor());
        let (before, weights) = if cubic {
            const A: f32 = -0.75;
            let a = ((A * (x + 1.0) - 5.0 * A) * (x + 1.0) + 8.0 * A) * (x + 1.0) - 4.0 * A;
            let b = ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
            let c = ((A + 2.0) * (1.0 - x) - (A + 3.0)) * (1.0 - x) * (1.0 - x) + 1.0;
            (1, vec![a, b, c, 1.0 - a - b - c])
        } else {
            (0, vec![1.0 - x, x])
        };
        let tap = |(i, weight): (usize, f32)| {
            (Beyond::Nearest.place(place + i as i64 - before, from[axis]), (weight * ONE).round_ties_even() as i64)
        };
        weights.into_iter().enumerate().map(tap).collect()
    };
    let [rows, columns] =
        [0, 1].map(|axis| (first[axis]..first[axis] + size[axis]).map(|at| taps(axis, at)).collect::<Vec<_>>());
    let mut out = Vec::with_capacity(3 * size[0] * size[1]);
    for row in &rows {
        for column in &columns {
            for c in 0..3 {
                let across = |y: usize| -> i64 {
                    column.iter().map(|&(x, weight)| i64::from(of.bytes[3 * (y * of.width + x) + c]) * weight).sum()
                };
                let sums = row.iter().map(|&(y, weight)| (across(y), weight));
                out.push(
                    match cubic {
                        true => (sums.map(|(sum, weight)| sum * weight).sum::<i64>() + (1 << 21)) >> 22,
                        false => (sums.map(|(sum, weight)| ((sum >> 4) * weight) >> 16).sum::<i64>() + 2) >> 2,
                    }
                    .clamp(0, 255) as u8,
                );
            }
        }
    }
    out
}
