//! Data sets that live in a Python: read once, image by image, and held here.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::memory::{
    Memory, StoredPixels, byte_to_float, channels_first, check_brightest, check_floats, check_held, floats_of,
    numbered_classes, stored_floats,
};
use super::{Dataset, Edge};
use crate::core::python::{Interpreter, Offer, Python};
use crate::core::{Cx, Digest, Error, ErrorKind, Result};

/// What the caller says of a data set in a Python.
#[derive(Debug, Clone, Default)]
pub struct PythonData {
    /// The first so many items.
    pub limit: Option<usize>,
    /// Names of the classes.
    pub classes: Option<Vec<String>>,
    /// Under which keys items that are maps have image and label.
    pub image: Option<String>,
    pub label: Option<String>,
}

/// Images that are asked for at once, at most.
const AT_ONCE: usize = 64;
/// Bytes of them, about.
const ROOM: usize = 64 << 20;
/// Images that are asked for before their size is known.
const FIRST: usize = 4;
/// Images from all over the set that are read a second time.
const AGAIN: usize = 32;

/// Images as one answer tells of them.
struct ReadImages {
    /// Whether they are bytes.
    bytes: bool,
    shape: [usize; 3],
    /// `C x H x W` each, as they are stored.
    pixels: Vec<u8>,
    labels: Vec<i64>,
    /// Pictures of Pillow whose files say that they are to be turned before they are shown.
    unturned: u64,
}

fn read(python: &mut Python, begin: usize, count: usize) -> Result<ReadImages> {
    let odd = || Error::internal("images that are not told of");
    let answer = python.ask(&json!({ "do": "read", "begin": begin, "count": count }))?;
    let sides: Option<Vec<usize>> =
        answer["shape"].as_array().and_then(|sides| sides.iter().map(|side| Some(side.as_u64()? as usize)).collect());
    let labels: Option<Vec<i64>> = answer["labels"].as_array().and_then(|l| l.iter().map(Json::as_i64).collect());
    let (Some([a, b, c]), Some(labels), Some(at)) = (sides.as_deref(), labels, answer["at"].as_u64()) else {
        return Err(odd());
    };
    if labels.len() != count {
        return Err(odd());
    }
    let bytes = answer["kind"] == "u1";
    let last = answer["channels_last"].as_bool().ok_or_else(odd)?;
    let shape = if last { [*c, *a, *b] } else { [*a, *b, *c] };
    let width = if bytes { 1 } else { 4 };
    let each = shape.iter().try_fold(width, |n: usize, &side| n.checked_mul(side)).ok_or_else(odd)?;
    check_held((each as u64).saturating_mul(count as u64))?;
    let mut stored = vec![0; each * count];
    python.bytes(at, &mut stored)?;
    let pixels = match last {
        true => stored.chunks(each).flat_map(|image| channels_first(image, shape, width)).collect(),
        false => stored,
    };
    Ok(ReadImages { bytes, shape, pixels, labels, unturned: answer["unturned"].as_u64().unwrap_or_default() })
}

/// One of each of so many parts of a set, which place of it differs from part to part.
fn is_read_again(place: usize, count: usize) -> bool {
    let each = count.div_ceil(AGAIN);
    let part = place / each;
    let length = each.min(count - part * each);
    place % each == (Digest::of(&part.to_le_bytes()).as_u64() % length as u64) as usize
}

fn digest_of(pixels: &[u8], label: i64) -> Digest {
    Digest::of_parts(&[pixels, &label.to_le_bytes()])
}

/// The bytes that floats in [0, 1] were made of, if they were.
fn as_bytes(floats: &[u8]) -> Option<Vec<u8>> {
    let byte = |x: f32| {
        let byte = (x * 255.0).round() as u8;
        (byte_to_float(byte) == x).then_some(byte)
    };
    floats_of(floats).map(byte).collect()
}

fn append(all: &mut StoredPixels, more: StoredPixels) {
    match (&mut *all, more) {
        (StoredPixels::Bytes(all), StoredPixels::Bytes(more)) => all.extend(more),
        (StoredPixels::Floats(all), StoredPixels::Floats(more)) => all.extend(more),
        (StoredPixels::Floats(all), StoredPixels::Bytes(more)) => {
            all.extend(stored_floats(more.into_iter().map(byte_to_float)));
        }
        (StoredPixels::Bytes(bytes), StoredPixels::Floats(more)) => {
            let mut floats = stored_floats(bytes.iter().copied().map(byte_to_float));
            floats.extend(more);
            *all = StoredPixels::Floats(floats);
        }
    }
}

/// Starts a Python, has it load a map-style data set, and reads all of it or its first items.
pub fn python(cx: &Cx, offer: &Offer, interpreter: &Interpreter, how: PythonData) -> Result<Dataset> {
    let called = offer.called();
    let question = json!({ "do": "load_data", "image": how.image, "label": how.label });
    let (mut python, loaded) = Python::start(interpreter, offer, ErrorKind::Data, question)?;
    loaded.record(cx, offer)?;
    let count = loaded.said["count"].as_u64().unwrap_or_default() as usize;
    let count = how.limit.map_or(count, |limit| limit.min(count));
    if count == 0 {
        return Err(Error::data(format!("{called}: no images")));
    }
    let (mut pixels, mut labels) = (StoredPixels::Bytes(vec![]), Vec::new());
    let mut shape: Option<[usize; 3]> = None;
    let mut digest = Digest::of(b"python");
    let (mut again, mut unturned) = (Vec::new(), 0);
    // Of bytes that came as such, alone.
    let mut brightest = 255;
    let task = cx.progress(&format!("reading {called}"), Some(count as u64));
    while labels.len() < count {
        cx.check()?;
        let begin = labels.len();
        let at_once =
            shape.map_or(FIRST, |shape| (ROOM / (4 * shape.iter().product::<usize>()).max(1)).clamp(1, AT_ONCE));
        let part = read(&mut python, begin, at_once.min(count - begin))?;
        let first = *shape.get_or_insert(part.shape);
        if part.shape != first {
            return Err(Error::data(format!(
                "{called}: image {begin} is {:?}, image 0 is {first:?}: images of one size are wanted",
                part.shape
            ))
            .hint("have the data set resize and crop them"));
        }
        let each: usize = first.iter().product();
        check_held((each as u64).saturating_mul(count as u64))?;
        let read = part.labels.len();
        let bytes = part.pixels.len() / read.max(1);
        let chosen = (0..read).filter(|place| is_read_again(begin + place, count));
        again.extend(
            chosen.map(|place| (begin + place, digest_of(&part.pixels[place * bytes..][..bytes], part.labels[place]))),
        );
        let part_of = match part.bytes {
            true => {
                let here = part.pixels.iter().copied().max().unwrap_or(0);
                brightest = if begin == 0 { here } else { brightest.max(here) };
                StoredPixels::Bytes(part.pixels)
            }
            false => {
                let mut floats = part.pixels;
                check_floats(&mut floats, each).map_err(|error| of_image(error, &called, begin))?;
                as_bytes(&floats).map_or(StoredPixels::Floats(floats), StoredPixels::Bytes)
            }
        };
        digest = chained(digest, &part_of);
        append(&mut pixels, part_of);
        if matches!(pixels, StoredPixels::Floats(_)) {
            check_held((4 * each as u64).saturating_mul(count as u64))?;
        }
        labels.extend(part.labels);
        unturned += part.unturned;
        task.advance(read as u64);
    }
    for (place, digest) in again {
        cx.check()?;
        let image = read(&mut python, place, 1)?;
        if digest_of(&image.pixels, image.labels[0]) != digest {
            return Err(Error::data(format!("{called}: image {place}, read again, is another one"))
                .hint("leave random transforms, such as augmentation, out of what is examined"));
        }
    }
    check_brightest(brightest).map_err(|error| error.during(&called))?;
    let shape = shape.unwrap_or_default();
    let names = how.classes.or_else(|| {
        let names = loaded.said["classes"].as_array()?;
        names.iter().map(|name| Some(name.as_str()?.to_string())).collect()
    });
    let classes = names.map_or_else(|| numbered_classes(&labels), Ok)?;
    let digest = Digest::of_parts(&[&digest.0, format!("{shape:?}").as_bytes()]);
    let name = Path::new(&called).with_extension("").to_string_lossy().into_owned();
    let set = Dataset::new(name, Arc::new(Memory::new(pixels, shape)), labels, classes, Edge::None, digest)?;
    let lying = (unturned > 0).then(|| {
        format!(
            "{unturned} of the {} pictures of {} are to be turned or mirrored before they are shown, as their files say (EXIF), and are read as they are \
             stored: PIL.ImageOps.exif_transpose(image) in the data set turns them",
            set.len(),
            set.name
        )
    });
    Ok(set.with_noticed(lying.into_iter().collect()).told_of_labels())
}

/// The digest of images and of those before them: of their numbers, however they are stored.
fn chained(before: Digest, pixels: &StoredPixels) -> Digest {
    let numbers: &[u8] = match pixels {
        StoredPixels::Bytes(bytes) => &stored_floats(bytes.iter().copied().map(byte_to_float)),
        StoredPixels::Floats(floats) => floats,
    };
    Digest::of_parts(&[&before.0, numbers])
}

fn of_image(error: Error, called: &str, begin: usize) -> Error {
    let error = error.during(&format!("{called}, from item {begin} on"));
    error.hint("pixels are floats in [0, 1] or uint8: leave Normalize to the model's `mean` and `std`")
}
