//! Images held in memory, as bytes or as floats, and the data sets made of tensors.

use std::sync::Arc;

use super::resample::{Filter, PixelValue, resize};
use super::window::PixelWindow;
use super::{Dataset, Edge, Source};
use crate::core::{Digest, Error, Result, Tensor};

/// Pixels of many images, one after the other, each `C x H x W`.
pub(super) enum StoredPixels {
    /// 0 to 255 stand for [0, 1].
    Bytes(Vec<u8>),
    /// In [0, 1], each as four bytes, the lowest first: as files have them, so that what is read of one is never there twice.
    Floats(Vec<u8>),
}

/// Bytes of images that are held at once, at most: 8 GiB.
const HELD: u64 = 8 << 30;

/// Refuses what would not fit into memory, before it is unpacked.
pub(super) fn check_held(bytes: u64) -> Result<()> {
    if bytes <= HELD {
        return Ok(());
    }
    let gib = bytes as f64 / (1u64 << 30) as f64;
    Err(Error::data(format!("its images take {gib:.1} GiB, more than the 8 that one file may fill memory with"))
        .hint("split the file, or make it an image folder, which stays on disk"))
}

/// Images of one shape in memory, of which a window is read.
pub(super) struct Memory {
    pixels: StoredPixels,
    /// `[C, H, W]` as stored.
    stored: [usize; 3],
    window: PixelWindow,
}

impl Memory {
    /// Images of `stored` shape, all of them seen. The pixels are of whole images and in range.
    pub(super) fn new(pixels: StoredPixels, stored: [usize; 3]) -> Self {
        Self { pixels, stored, window: PixelWindow::whole(stored[1], stored[2]) }
    }

    pub(super) fn seen_through(mut self, window: PixelWindow) -> Self {
        self.window = window;
        self
    }

    pub(super) fn side(&self) -> (usize, usize) {
        (self.stored[1], self.stored[2])
    }

    /// Resized so that the short side is `side`.
    pub(super) fn resized(self, side: usize, filter: Filter) -> Self {
        let [c, h, w] = self.stored;
        let (new_h, new_w) = super::window::resized_side(h, w, side);
        if (new_h, new_w) == (h, w) {
            return self;
        }
        fn all<S: PixelValue>(planes: Vec<S>, from: [usize; 2], to: [usize; 2], filter: Filter) -> Vec<S> {
            planes
                .chunks(from[0] * from[1])
                .flat_map(|plane| resize::<S, 1>(plane.to_vec(), from, to, filter))
                .collect()
        }
        let pixels = match self.pixels {
            StoredPixels::Bytes(bytes) => StoredPixels::Bytes(all(bytes, [h, w], [new_h, new_w], filter)),
            StoredPixels::Floats(floats) => {
                let floats = all(floats_of(&floats).collect(), [h, w], [new_h, new_w], filter);
                // The cubic filter overshoots at edges.
                StoredPixels::Floats(stored_floats(floats.into_iter().map(|x| x.clamp(0.0, 1.0))))
            }
        };
        Self::new(pixels, [c, new_h, new_w])
    }
}

impl Source for Memory {
    fn len(&self) -> usize {
        let each = self.stored.iter().product::<usize>().max(1);
        match &self.pixels {
            StoredPixels::Bytes(bytes) => bytes.len() / each,
            StoredPixels::Floats(floats) => floats.len() / 4 / each,
        }
    }

    fn shape(&self) -> [usize; 3] {
        [self.stored[0], self.window.height, self.window.width]
    }

    fn reads_as_stored(&self) -> bool {
        true
    }

    fn compares_stored(&self) -> bool {
        matches!(self.pixels, StoredPixels::Bytes(_))
    }

    fn likeness(&self, index: usize) -> Option<u64> {
        let [channels, ..] = self.stored;
        let each = self.stored.iter().product::<usize>();
        let image = index * each..(index + 1) * each;
        Some(match &self.pixels {
            StoredPixels::Bytes(bytes) => likeness_of(&bytes[image], channels),
            StoredPixels::Floats(floats) => {
                let floats = floats.as_chunks::<4>().0[image].as_flattened();
                let bytes = floats_of(floats).map(byte_of).collect::<Option<Vec<u8>>>();
                bytes.map_or_else(|| Digest::of(floats).as_u64(), |bytes| likeness_of(&bytes, channels))
            }
        })
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let each = self.stored.iter().product::<usize>();
        let image = index * each..(index + 1) * each;
        match &self.pixels {
            StoredPixels::Bytes(bytes) => self.window.copy(&bytes[image], self.stored, pixels, byte_to_float),
            StoredPixels::Floats(floats) => {
                self.window.copy(&floats.as_chunks().0[image], self.stored, pixels, f32::from_le_bytes)
            }
        }
        Ok(())
    }
}

pub(super) fn byte_to_float(byte: u8) -> f32 {
    byte as f32 / 255.0
}

/// The byte that a float stands for, whichever way it was divided by 255.
fn byte_of(float: f32) -> Option<u8> {
    const ROUNDING: f32 = 1e-4;
    let byte = (255.0 * float).round();
    ((0.0..=255.0).contains(&byte) && (255.0 * float - byte).abs() <= ROUNDING).then_some(byte as u8)
}

/// A number that pictures of the same bytes have in common, however they are stored: planes that are all the same are one of grey.
pub(super) fn likeness_of(planes: &[u8], channels: usize) -> u64 {
    let plane = planes.len() / channels.max(1);
    let grey = plane > 0 && planes.chunks(plane).all(|other| other == &planes[..plane]);
    Digest::of(if grey { &planes[..plane] } else { planes }).as_u64()
}

/// Floats out of four bytes each, the lowest first.
pub(super) fn floats_of(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|item| f32::from_le_bytes(*item))
}

/// Floats as four bytes each, the lowest first.
pub(super) fn stored_floats(floats: impl Iterator<Item = f32>) -> Vec<u8> {
    floats.flat_map(f32::to_le_bytes).collect()
}

/// An image of numbers of `size` bytes whose channels come last, as planes.
pub(super) fn channels_first(image: &[u8], [channels, height, width]: [usize; 3], size: usize) -> Vec<u8> {
    let mut planes = Vec::with_capacity(image.len());
    for channel in 0..channels {
        for pixel in 0..height * width {
            let at = (pixel * channels + channel) * size;
            planes.extend_from_slice(&image[at..at + size]);
        }
    }
    planes
}

/// Names `0, 1, ...` for labels that have none.
pub(super) fn numbered_classes(labels: &[i64]) -> Result<Vec<String>> {
    let n = labels.iter().max().map_or(0, |&label| label.max(-1).saturating_add(1)) as usize;
    if n > super::numbering::MAX_CLASSES {
        return Err(Error::data(format!("label {} is too large", n - 1)).hint("labels count from 0, one per class"));
    }
    Ok((0..n).map(|label| label.to_string()).collect())
}

/// Refuses floats, each as four bytes, that are no numbers in [0, 1]; rounding errors beyond the ends are cut.
pub(super) fn check_floats(pixels: &mut [u8], each: usize) -> Result<()> {
    // Room for the last digit of a float32 computation.
    const SLACK: f32 = 1e-6;
    for (i, item) in pixels.as_chunks_mut().0.iter_mut().enumerate() {
        let x = f32::from_le_bytes(*item);
        if !(-SLACK..=1.0 + SLACK).contains(&x) {
            let error = Error::data(format!("image {} holds {x}, outside [0, 1]", i / each.max(1)));
            return Err(error.hint(if x > 1.0 && x <= 255.0 {
                "store uint8, or divide by 255"
            } else {
                "pixels are floats in [0, 1] or uint8"
            }));
        }
        *item = x.clamp(0.0, 1.0).to_le_bytes();
    }
    Ok(())
}

/// Refuses bytes of which none is brighter than an eighth of white, but all black: they are levels of another scale, as of 0 to 16 or masks of 0
/// and 1, and divided by 255 they would be next to nothing.
pub(super) fn check_bytes(bytes: &[u8]) -> Result<()> {
    check_brightest(bytes.iter().copied().max().unwrap_or(0))
}

/// The largest byte where white may be one of the smallest.
pub(super) const DARK: u8 = 31;

pub(super) fn check_brightest(brightest: u8) -> Result<()> {
    match (1..=DARK).contains(&brightest) {
        false => Ok(()),
        true => Err(Error::data(format!(
            "the largest of all uint8 pixels is {brightest}, so that none is brighter than {:.4} of white",
            byte_to_float(brightest)
        ))
        .hint(format!(
            "uint8 are levels of 0 to 255: if {brightest} is white here, give floats, `images.astype(\"float32\") / {brightest}`; if they are that dark, \
             `images.astype(\"float32\") / 255` says so"
        ))),
    }
}

fn check_finite(pixels: &[u8], each: usize) -> Result<()> {
    match floats_of(pixels).enumerate().find(|(_, x)| !x.is_finite()) {
        Some((i, x)) => Err(Error::data(format!("image {} holds {x}", i / each.max(1)))),
        None => Ok(()),
    }
}

/// A shape that a batch of images can have: `[N, C, H, W]` from 3 or 4 sizes.
pub(super) fn image_shape(size: &[usize]) -> Result<[usize; 4]> {
    let text = || size.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
    let shape = match *size {
        [n, h, w] => [n, 1, h, w],
        [n, c, h, w] => [n, c, h, w],
        _ => return Err(Error::data(format!("images must be N x C x H x W or N x H x W, got {}", text()))),
    };
    if shape[1] > 4 && size.len() == 4 && size[3] <= 4 {
        return Err(Error::data(format!("images look like N x H x W x C: {}", text()))
            .hint("transpose them to N x C x H x W: `images.transpose(0, 3, 1, 2)`"));
    }
    if shape[1] > 4 && shape[1] == shape[2] && shape[2] == shape[3] {
        return Err(Error::data(format!("images look like volumes, N x D x H x W: {}", text()))
            .hint("take slices of them: `images[:, 14]`, or `images.reshape(-1, 28, 28)` with the labels repeated"));
    }
    if shape.contains(&0) {
        return Err(Error::data(format!("no images: {}", text())));
    }
    Ok(shape)
}

/// A data set of a tensor of images, `N x C x H x W` or `N x H x W`, float in [0, 1] or uint8, and one label each; of `any_range` they
/// need only be finite.
pub fn from_tensor(
    images: &Tensor,
    labels: Vec<i64>,
    classes: Option<Vec<String>>,
    any_range: bool,
) -> Result<Dataset> {
    let size: Vec<usize> = images.size().iter().map(|&d| d.max(0) as usize).collect();
    let [n, c, h, w] = image_shape(&size)?;
    if n != labels.len() {
        return Err(Error::data(format!("{n} images but {} labels", labels.len())));
    }
    let classes = classes.map_or_else(|| numbered_classes(&labels), Ok)?;
    let flat = images.f_to_device(tch::Device::Cpu)?.f_reshape([-1])?;
    let pixels = match flat.kind() {
        tch::Kind::Uint8 => {
            let bytes = Vec::<u8>::try_from(&flat)?;
            check_bytes(&bytes)?;
            StoredPixels::Bytes(bytes)
        }
        tch::Kind::Float | tch::Kind::Double | tch::Kind::Half | tch::Kind::BFloat16 => {
            let mut floats = vec![0; 4 * flat.numel()];
            flat.f_to_kind(tch::Kind::Float)?.f_copy_data_u8(&mut floats, flat.numel())?;
            match any_range {
                true => check_finite(&floats, c * h * w)?,
                false => check_floats(&mut floats, c * h * w)?,
            }
            StoredPixels::Floats(floats)
        }
        kind => return Err(Error::data(format!("images must be float in [0, 1] or uint8, got {kind:?}"))),
    };
    let source = Memory::new(pixels, [c, h, w]);
    let set = Dataset::new("from", Arc::new(source), labels, classes, Edge::None, Digest::of_tensor(images)?)?;
    Ok(if any_range { set.of_any_range() } else { set })
}

/// Images in memory with their labels, as the readers of single formats give them.
pub(super) struct Raw {
    pub images: Memory,
    pub labels: Vec<i64>,
    pub classes: Option<Vec<String>>,
    /// Of the contents, whatever they are packed in.
    pub digest: Digest,
}
