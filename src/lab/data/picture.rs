//! Decoding a PNG, JPEG or GIF file, of which nothing may be missing: decoders fill the rest of a picture that was cut short with
//! grey, so that the file's parts are gone through first, to its end mark. Formats: PNG (ISO/IEC 15948), section 5; JPEG
//! (ITU-T T.81), annex B; GIF89a, appendix A.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, GrayImage, ImageFormat, ImageReader, RgbImage};

use super::jpeg::{self, Unread};
use crate::core::{Budget, Error, Result};

/// Larger files are no pictures that a data set is made of.
const LARGEST: u64 = 1 << 30;

/// Pixels of a picture, at most.
const MOST_PIXELS: u64 = 1 << 28;

/// Pixels that a byte of GIF's codes can stand for, by far.
const GIF: u64 = 1 << 12;

/// The bytes of a file that is to be a picture.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let size = std::fs::metadata(path).map_err(|e| Error::file(path, e))?.len();
    if size > LARGEST {
        return Err(Error::file(path, format!("{size} bytes are too many for a picture")));
    }
    std::fs::read(path).map_err(|e| Error::file(path, e))
}

/// The first picture of a file.
pub fn read(path: &Path) -> Result<DynamicImage> {
    decode(path, &bytes(path)?)
}

/// The picture that these bytes are; `path` is where an error says that they lie.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<DynamicImage> {
    let format = check_whole(path, bytes)?;
    let others = || image::load_from_memory_with_format(bytes, format).map_err(|e| unreadable(path, &e.to_string()));
    if format != ImageFormat::Jpeg {
        return others();
    }
    match jpeg::decode(bytes) {
        Ok(picture) => {
            let (width, height) = (picture.width as u32, picture.height as u32);
            let held = match picture.channels {
                1 => GrayImage::from_raw(width, height, picture.bytes).map(DynamicImage::from),
                _ => RgbImage::from_raw(width, height, picture.bytes).map(DynamicImage::from),
            };
            held.ok_or_else(|| Error::internal("a JPEG of another size than its pixels"))
        }
        Err(Unread::Damaged(what)) => Err(damaged(path, &what)),
        Err(Unread::Foreign) => {
            let header = ImageReader::with_format(Cursor::new(bytes), format);
            let (width, height) = header.into_dimensions().map_err(|e| unreadable(path, &e.to_string()))?;
            check_pixels(path, [width.into(), height.into()], 8, bytes.len() as u64, jpeg::MOST_PER_BYTE as u64)?;
            others()
        }
    }
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::file(path, format!("the picture is damaged: {what}")).hint("fetch or save the file once more")
}

fn unreadable(path: &Path, why: &str) -> Error {
    Error::file(path, format!("not an image that can be read: {why}"))
}

/// Refuses what is no picture, or not all of one.
pub(super) fn check_whole(path: &Path, bytes: &[u8]) -> Result<ImageFormat> {
    let format =
        image::guess_format(bytes).map_err(|_| unreadable(path, "it does not begin as PNG, JPEG or GIF do"))?;
    let missing = match format {
        ImageFormat::Png => missing_in_png(bytes),
        ImageFormat::Jpeg => missing_in_jpeg(bytes),
        ImageFormat::Gif => missing_in_gif(bytes),
        other => return Err(unreadable(path, &format!("a {other:?} file; wanted is PNG, JPEG or GIF"))),
    };
    match missing {
        None => check_size(path, bytes, format).map(|()| format),
        Some(what) => Err(damaged(path, what)),
    }
}

/// Refuses a picture that says that it is larger than its bytes can hold, before a decoder makes room for it. Those of JPEG are
/// looked at where they are decoded.
fn check_size(path: &Path, bytes: &[u8], format: ImageFormat) -> Result<()> {
    let (wide, high, factor, samples) = match (format, bytes) {
        (ImageFormat::Png, [..]) if bytes.len() > 25 => {
            let (wide, high) = (number_at(bytes, 16).unwrap_or(0), number_at(bytes, 20).unwrap_or(0));
            let samples = [1, 1, 3, 1, 2, 1, 4].get(usize::from(bytes[25])).copied().unwrap_or(4);
            (wide, high, Budget::DEFLATE, samples * u64::from(bytes[24]))
        }
        (ImageFormat::Gif, [_, _, _, _, _, _, a, b, c, d, ..]) => {
            (usize::from(u16::from_le_bytes([*a, *b])), usize::from(u16::from_le_bytes([*c, *d])), GIF, 8)
        }
        (ImageFormat::Jpeg, _) => return Ok(()),
        _ => return Err(damaged(path, CUT)),
    };
    check_pixels(path, [wide as u64, high as u64], samples, bytes.len() as u64, factor)
}

/// Refuses so many pixels of so many bits where a file of that size can't hold them, a byte standing for `factor` at most.
fn check_pixels(path: &Path, [wide, high]: [u64; 2], bits: u64, size: u64, factor: u64) -> Result<()> {
    let pixels = wide.saturating_mul(high);
    if pixels > MOST_PIXELS {
        return Err(Error::file(path, format!("{wide} x {high} pixels, {MOST_PIXELS} at most are read")));
    }
    if wide.saturating_mul(bits).div_ceil(8).saturating_mul(high) <= size.saturating_mul(factor) {
        return Ok(());
    }
    // Decoded, a bit may become four bytes.
    let budget = Budget::unwatched(size, factor);
    budget.take(4 * pixels, &format!("its {wide} x {high} pixels")).map_err(|error| error.at(path))
}

const CUT: &str = "the file is cut short";

fn number_at(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(word.iter().fold(0, |all, &byte| all << 8 | usize::from(byte)))
}

/// Chunks of a length, a name, contents and a checksum, to the one called IEND.
fn missing_in_png(bytes: &[u8]) -> Option<&'static str> {
    let mut at = 8;
    loop {
        let Some(length) = number_at(bytes, at) else { return Some(CUT) };
        let Some(named) = bytes.get(at + 4..at + 8 + length) else { return Some(CUT) };
        let Some(sum) = number_at(bytes, at + 8 + length) else { return Some(CUT) };
        if crc32fast::hash(named) as usize != sum {
            return Some("a checksum differs");
        }
        if named.starts_with(b"IEND") {
            return None;
        }
        at += 12 + length;
    }
}

/// Segments of a marker and a length, scans that last until a marker that is not a restart, to the marker of the end.
fn missing_in_jpeg(bytes: &[u8]) -> Option<&'static str> {
    const END: u8 = 0xd9;
    const SCAN: u8 = 0xda;
    let restart = |marker: u8| (0xd0..=0xd7).contains(&marker);
    let (mut at, mut scans) = (2, 0);
    loop {
        // Bytes before a marker are skipped, as every decoder does.
        let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == 0xff)) else {
            return Some(CUT);
        };
        at += found + 1;
        match bytes.get(at) {
            None => return Some(CUT),
            Some(&END) if scans == 0 => return Some("it holds no picture"),
            Some(&END) => return None,
            // A second byte 255 may be that of the marker; 0 and 1 are none, and restarts have no length.
            Some(0xff) => {}
            Some(&marker) if marker <= 1 || restart(marker) => at += 1,
            Some(&marker) => {
                let Some(&[high, low]) = bytes.get(at + 1..at + 3) else { return Some(CUT) };
                let length = usize::from(high) << 8 | usize::from(low);
                if length < 2 {
                    return Some("a segment has no length");
                }
                at += 1 + length;
                scans += usize::from(marker == SCAN);
            }
        }
    }
}

/// Blocks, most of them in parts that begin with their length, to the trailer.
fn missing_in_gif(bytes: &[u8]) -> Option<&'static str> {
    // Flags of screens and pictures say how many colours follow them.
    let colours = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let parts_end = |mut at: usize| loop {
        match bytes.get(at) {
            None => return None,
            Some(0) => return Some(at + 1),
            Some(&length) => at += 1 + usize::from(length),
        }
    };
    let Some(&flags) = bytes.get(10) else { return Some(CUT) };
    let (mut at, mut pictures) = (13 + colours(flags), 0);
    loop {
        let next = match bytes.get(at) {
            None => None,
            Some(b';') if pictures == 0 => return Some("it holds no picture"),
            Some(b';') => return None,
            Some(b'!') => parts_end(at + 2),
            Some(b',') => {
                pictures += 1;
                // Their sizes are their own, whatever the screen's is.
                let side = |at: usize| Some(u64::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
                let pixels = side(at + 5).zip(side(at + 7)).map_or(0, |(wide, high)| wide * high);
                if pixels > (bytes.len() as u64 * GIF).max(1 << 20) {
                    return Some("a picture in it is larger than its bytes can hold");
                }
                bytes.get(at + 9).and_then(|&flags| parts_end(at + 11 + colours(flags)))
            }
            Some(_) => return Some("a block of an unknown kind"),
        };
        let Some(next) = next else { return Some(CUT) };
        at = next;
    }
}
