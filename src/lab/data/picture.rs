//! Decoding a PNG, JPEG, GIF, WebP or TIFF file, of which nothing may be missing: decoders fill the rest of a picture that was cut
//! short with grey, so that the file's parts are gone through first, to its end mark. Formats: PNG (ISO/IEC 15948), section 5; JPEG
//! (ITU-T T.81), annex B; GIF89a, appendix A; WebP (RFC 9649), section 2; TIFF in `tiff.rs`.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, GrayImage, ImageDecoder, ImageFormat, ImageReader, RgbImage, RgbaImage};

use super::jpeg::{self, Unread};
use super::tiff;
use crate::core::{Budget, Error, Result};

/// How the names of pictures end that can be read.
pub(super) const ENDINGS: [&str; 9] = ["jpg", "jpeg", "jpe", "jfif", "png", "gif", "webp", "tif", "tiff"];

/// Whether a file's name ends as a picture's does.
pub(super) fn is_named_as_one(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Whether a file begins as a picture does, whatever it is called.
pub(super) fn begins_as_one(path: &Path) -> bool {
    let mut start = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut start));
    // Texts may begin as a bitmap does, by two letters.
    read.is_ok_and(|n| image::guess_format(&start[..n]).is_ok_and(|format| format != ImageFormat::Bmp))
}

/// Larger files are no pictures that a data set is made of.
const LARGEST: u64 = 1 << 30;

/// Pixels of a picture, at most.
const MOST_PIXELS: u64 = 1 << 28;

/// Pixels that a byte of GIF's codes can stand for, by far.
const GIF: u64 = 1 << 12;

/// Pixels that a byte of VP8L's codes can stand for: a line of one colour takes less than a bit each.
const WEBP: u64 = 1 << 14;

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

/// Width and height of the picture that these bytes are.
pub(super) fn dimensions(path: &Path, bytes: &[u8]) -> Result<(u32, u32)> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(image::ImageError::from);
    reader.and_then(ImageReader::into_dimensions).map_err(|e| Error::file(path, e))
}

/// Whether a picture is to be turned or mirrored before it is shown, as its file says: by the tag 0x0112 of its EXIF, or where there is none by its
/// XMP, as Pillow does. EXIF in a PNG's text, as ImageMagick once wrote it, and packed XMP are not looked into.
pub(super) fn is_to_be_turned(format: ImageFormat, bytes: &[u8]) -> bool {
    let told = exif_of(format, bytes).as_ref().and_then(|exif| {
        match &exif.get_field(exif::Tag::Orientation, exif::In::PRIMARY)?.value {
            exif::Value::Short(values) => values.first().map(|&value| i64::from(value)),
            exif::Value::Long(values) => values.first().map(|&value| i64::from(value)),
            exif::Value::SShort(values) => values.first().map(|&value| i64::from(value)),
            exif::Value::SLong(values) => values.first().map(|&value| i64::from(value)),
            exif::Value::Rational(values) => values.first().map(|value| value.to_f64() as i64),
            _ => None,
        }
    });
    told.or_else(|| orientation_in_xmp(bytes)).is_some_and(|orientation| (2..=8).contains(&orientation))
}

/// Whether anything of a picture is see-through: what stands under it is read as if it were not.
pub(super) fn is_see_through(path: &Path, format: ImageFormat, bytes: &[u8]) -> bool {
    let header = ImageReader::with_format(Cursor::new(bytes), format).into_decoder();
    let may_be = header.is_ok_and(|decoder| decoder.color_type().has_alpha());
    may_be && decode(path, bytes).is_ok_and(|picture| picture.to_rgba8().pixels().any(|pixel| pixel.0[3] < u8::MAX))
}

/// Whether the numbers of a picture of three colours are not those of sRGB, as its profile says (ICC.1:2022, 7.2 and 10): by its primaries and by the light of
/// red's half, up to rounding and whatever its name; by its name where it holds tables alone.
pub(super) fn has_foreign_colours(format: ImageFormat, bytes: &[u8]) -> bool {
    /// Of sRGB's primaries under D50.
    const PRIMARIES: [(&[u8; 4], [f64; 3]); 3] =
        [(b"rXYZ", [0.4361, 0.2225, 0.0139]), (b"gXYZ", [0.3851, 0.7169, 0.0971]), (b"bXYZ", [0.1431, 0.0606, 0.7141])];
    const ROUNDING: f64 = 0.02;
    /// Of half of red; a gamma of 1.8 gives 0.29 and one of 2.6 0.16.
    const LIGHT: std::ops::RangeInclusive<f64> = 0.16..=0.3;
    let header = ImageReader::with_format(Cursor::new(bytes), format).into_decoder();
    let Some(profile) = header.ok().and_then(|mut decoder| decoder.icc_profile().ok()?) else { return false };
    let word = |at: usize| Some(u32::from_be_bytes(profile.get(at..at + 4)?.try_into().ok()?));
    if profile.get(16..20) != Some(b"RGB ".as_slice()) {
        return false;
    }
    let value = |name: &[u8; 4]| {
        let tags = word(128)?.min(1000) as usize;
        let tag = (0..tags).map(|k| 132 + 12 * k).find(|&at| profile.get(at..at + 4) == Some(name))?;
        Some(word(tag + 4)? as usize)
    };
    let fixed = |at: usize| Some(f64::from(word(at)? as i32) / 65536.0);
    let short = |at: usize| Some(f64::from(u16::from_be_bytes(profile.get(at..at + 2)?.try_into().ok()?)));
    let primaries = PRIMARIES.iter().map(|(name, wanted)| {
        let at = value(name)? + 8;
        let near = |k: usize| Some((fixed(at + 4 * k)? - wanted[k]).abs() <= ROUNDING);
        Some(near(0)? && near(1)? && near(2)?)
    });
    let light = || {
        let at = value(b"rTRC")?;
        match (profile.get(at..at + 4)?, word(at + 8)?) {
            (b"curv", 0) => Some(0.5),
            (b"curv", 1) => Some(0.5f64.powf(short(at + 12)? / 256.0)),
            (b"curv", n) => Some(short(at + 12 + 2 * (n as usize / 2))? / 65535.0),
            // (a x + b)^g where it is not linear.
            (b"para", kind) => {
                let (g, a, b) = match kind >> 16 {
                    0 => (fixed(at + 12)?, 1.0, 0.0),
                    _ => (fixed(at + 12)?, fixed(at + 16)?, fixed(at + 20)?),
                };
                Some((0.5 * a + b).max(0.0).powf(g))
            }
            _ => None,
        }
    };
    match primaries.collect::<Option<Vec<bool>>>() {
        Some(same) => !(same.into_iter().all(|same| same) && light().is_some_and(|light| LIGHT.contains(&light))),
        None => {
            let wide: Vec<u8> = b"sRGB".iter().flat_map(|letter| [0, *letter]).collect();
            memchr::memmem::find(&profile, b"sRGB").or_else(|| memchr::memmem::find(&profile, &wide)).is_none()
        }
    }
}

/// What can be read of a picture's EXIF, whatever stands broken beside.
fn exif_of(format: ImageFormat, bytes: &[u8]) -> Option<exif::Exif> {
    let mut reader = exif::Reader::new();
    reader.continue_on_error(true);
    let partly = |read: std::result::Result<exif::Exif, exif::Error>| {
        read.or_else(|error| error.distill_partial_result(|_| ())).ok()
    };
    partly(reader.read_from_container(&mut Cursor::new(bytes))).or_else(|| {
        // Some write the words of a JPEG's segment before it.
        let held = ImageReader::with_format(Cursor::new(bytes), format).into_decoder().ok()?.exif_metadata().ok()??;
        partly(reader.read_raw(held.strip_prefix(b"Exif\0\0")?.to_vec()))
    })
}

/// `tiff:Orientation` of an XMP packet, an attribute or an element.
fn orientation_in_xmp(bytes: &[u8]) -> Option<i64> {
    const NAME: &[u8] = b"tiff:Orientation";
    memchr::memmem::find_iter(bytes, NAME).find_map(|at| {
        let rest = bytes.get(at + NAME.len()..)?;
        let value = match rest {
            [b'=', b'"' | b'\'', value, ..] | [b'>', value, ..] => *value,
            _ => return None,
        };
        value.is_ascii_digit().then(|| i64::from(value - b'0'))
    })
}

/// The picture that these bytes are; `path` is where an error says that they lie.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<DynamicImage> {
    let format = check_whole(path, bytes)?;
    let others = || image::load_from_memory_with_format(bytes, format).map_err(|e| unreadable(path, &e.to_string()));
    if format != ImageFormat::Jpeg {
        return Ok(of_high_bytes(others()?));
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

/// Of 16 bits the high 8, as Pillow has it.
fn of_high_bytes(picture: DynamicImage) -> DynamicImage {
    let high = |samples: &[u16]| samples.iter().map(|sample| (sample >> 8) as u8).collect::<Vec<u8>>();
    let (width, height) = (picture.width(), picture.height());
    let held = match &picture {
        DynamicImage::ImageRgb16(of) => RgbImage::from_raw(width, height, high(of)).map(DynamicImage::from),
        DynamicImage::ImageRgba16(of) => RgbaImage::from_raw(width, height, high(of)).map(DynamicImage::from),
        _ => None,
    };
    held.unwrap_or(picture)
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::file(path, format!("the picture is damaged: {what}")).hint("fetch or save the file once more")
}

fn unreadable(path: &Path, why: &str) -> Error {
    Error::file(path, format!("not an image that can be read: {why}"))
}

/// Refuses what is no picture, or not all of one.
pub(super) fn check_whole(path: &Path, bytes: &[u8]) -> Result<ImageFormat> {
    let format = image::guess_format(bytes)
        .map_err(|_| unreadable(path, "it does not begin as PNG, JPEG, GIF, WebP or TIFF do"))?;
    let missing = match format {
        ImageFormat::Png => missing_in_png(bytes),
        ImageFormat::Jpeg => missing_in_jpeg(bytes),
        ImageFormat::Gif => missing_in_gif(bytes),
        ImageFormat::WebP => missing_in_webp(bytes),
        ImageFormat::Tiff => None,
        other => return Err(unreadable(path, &format!("a {other:?} file; wanted is PNG, JPEG, GIF, WebP or TIFF"))),
    };
    match missing {
        Some(ANIMATED) => Err(unreadable(path, ANIMATED).hint("save the frame that is meant by itself")),
        None => check_size(path, bytes, format).map(|()| format),
        Some(what) => Err(damaged(path, what)),
    }
}

/// Refuses a picture that says that it is larger than its bytes can hold, before a decoder makes room for it. Those of JPEG are
/// looked at where they are decoded.
fn check_size(path: &Path, bytes: &[u8], format: ImageFormat) -> Result<()> {
    let (wide, high, factor, samples) = match (format, bytes) {
        // Of 16 bits some use all and some 10 or 12, which nothing says.
        (ImageFormat::Png, [..]) if bytes.len() > 25 && bytes[24] == 16 && matches!(bytes[25], 0 | 4) => {
            return Err(unreadable(path, "grey of 16 bits").hint("save it with 8 bits, at the scale that is meant"));
        }
        (ImageFormat::Png, [..]) if bytes.len() > 25 => {
            let (wide, high) = (number_at(bytes, 16).unwrap_or(0), number_at(bytes, 20).unwrap_or(0));
            let samples = [1, 1, 3, 1, 2, 1, 4].get(usize::from(bytes[25])).copied().unwrap_or(4);
            (wide, high, Budget::DEFLATE, samples * u64::from(bytes[24]))
        }
        (ImageFormat::Gif, [_, _, _, _, _, _, a, b, c, d, ..]) => {
            (usize::from(u16::from_le_bytes([*a, *b])), usize::from(u16::from_le_bytes([*c, *d])), GIF, 8)
        }
        (ImageFormat::WebP, _) => {
            let (wide, high) = size_of_webp(bytes).ok_or_else(|| damaged(path, CUT))?;
            (wide, high, WEBP, 24)
        }
        (ImageFormat::Tiff, _) => match tiff::look(bytes) {
            Ok(seen) => (seen.wide as usize, seen.high as usize, tiff::MOST_PER_BYTE, 8 * seen.samples),
            Err(tiff::TiffUnfit::Damaged(what)) => return Err(damaged(path, what)),
            Err(tiff::TiffUnfit::Other(what)) => {
                return Err(unreadable(path, &what).hint("save it as PNG, or as TIFF in RGB with 8 bits"));
            }
        },
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
        // Animated PNG says how many frames it has.
        if named.starts_with(b"acTL") && number_at(bytes, at + 8).is_some_and(|frames| frames > 1) {
            return Some(ANIMATED);
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
            Some(b';') => return (pictures > 1).then_some(ANIMATED),
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

const ANIMATED: &str = "an animation";

/// A chunk's length, which its name follows.
fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize)
}

/// Chunks of a name, a length and contents, to the end that the first one says.
fn missing_in_webp(bytes: &[u8]) -> Option<&'static str> {
    let Some(end) = length_at(bytes, 4).and_then(|length| length.checked_add(8)).filter(|&end| end <= bytes.len())
    else {
        return Some(CUT);
    };
    let (mut at, mut pictures) = (12, 0);
    while at < end {
        let (Some(name), Some(length)) = (bytes.get(at..at + 4), length_at(bytes, at + 4)) else { return Some(CUT) };
        match name {
            b"ANIM" | b"ANMF" => return Some(ANIMATED),
            b"VP8 " | b"VP8L" => pictures += 1,
            _ => {}
        }
        let Some(next) = (at + 8).checked_add(length).filter(|&next| next <= end) else { return Some(CUT) };
        at = next + length % 2;
    }
    match pictures {
        1 => None,
        0 => Some("it holds no picture"),
        _ => Some("it holds more than one picture"),
    }
}

/// Of the chunk that is the picture, and of the canvas where there is one, whichever is larger.
fn size_of_webp(bytes: &[u8]) -> Option<(usize, usize)> {
    let word = |at: usize| Some(usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let (mut at, mut wide, mut high) = (12, 0, 0);
    while let (Some(name), Some(length)) = (bytes.get(at..at + 4), length_at(bytes, at + 4)) {
        let body = at + 8;
        let (w, h) = match name {
            b"VP8 " => (word(body + 6)? & 0x3fff, word(body + 8)? & 0x3fff),
            b"VP8L" => {
                let both = length_at(bytes, body + 1)?;
                ((both & 0x3fff) + 1, (both >> 14 & 0x3fff) + 1)
            }
            b"VP8X" => {
                let three = |at: usize| Some(word(at)? | usize::from(*bytes.get(at + 2)?) << 16);
                (three(body + 4)? + 1, three(body + 7)? + 1)
            }
            _ => (0, 0),
        };
        (wide, high) = (wide.max(w), high.max(h));
        at = body.checked_add(length)? + length % 2;
    }
    (wide * high > 0).then_some((wide, high))
}
