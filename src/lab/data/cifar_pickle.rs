//! The Python versions of CIFAR-10 and CIFAR-100, which torchvision downloads: pickles of Python 2, or rewritten by Python 3, that hold an array of N x 3072
//! bytes and lists of labels. What they hold is put into the binary versions' records, so that both are one data set.

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use crate::core::pickle::{Id, Pickle, PickleValue, Unmade};
use crate::core::{Budget, Error, ErrorKind, Result};

/// Bytes of an image.
pub(super) const IMAGE: usize = 3 * 32 * 32;

/// Whether a file begins as a pickle does: records begin with a label.
pub(super) fn is_pickle(path: &Path) -> bool {
    let mut start = [0; 3];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && start[0] == 0x80 && (2..=5).contains(&start[1]) && [b'}', 0x95].contains(&start[2])
}

/// What the dict of a file has under its keys, which are bytes where Python 3 has written them.
struct Entries {
    pickle: Pickle,
    pairs: Vec<(Rc<str>, Id)>,
}

impl Entries {
    fn read(path: &Path, budget: &Budget) -> Result<Self> {
        let pickle = Pickle::read(&budget.file(path)?, budget).map_err(|error| match error.hint {
            None => Error { hint: other("").hint, ..error },
            Some(_) => error,
        })?;
        let PickleValue::Dict(pairs) = pickle.node(pickle.root) else { return Err(other("no dict")) };
        let name = |id: Id| std::str::from_utf8(&held(&pickle, id)?).ok().map(Rc::from);
        let pairs = pairs.iter().filter_map(|&(key, value)| Some((name(key)?, value))).collect();
        Ok(Self { pickle, pairs })
    }

    fn get(&self, name: &str) -> Option<&PickleValue> {
        self.pairs.iter().find(|(key, _)| &**key == name).map(|(_, id)| self.pickle.node(*id))
    }

    fn items(&self, name: &str) -> Option<&[Id]> {
        match self.get(name)? {
            PickleValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// A list of classes, or an array of them.
    fn labels(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let none = || other(&format!("{name:?} is no list of classes"));
        let Some(value) = self.get(name) else { return Ok(None) };
        let PickleValue::List(items) = value else {
            let array = self.array(name)?;
            let size = match &*array.kind {
                "u1" => 1,
                "i4" => 4,
                "i8" => 8,
                _ => return Err(none()),
            };
            if array.shape[..] != [array.bytes.len() / size] {
                return Err(none());
            }
            // Little-endian: of a class all bytes but the first are 0.
            let label = |bytes: &[u8]| bytes[1..].iter().all(|byte| *byte == 0).then_some(bytes[0]).ok_or_else(none);
            return array.bytes.chunks_exact(size).map(label).collect::<Result<_>>().map(Some);
        };
        let label = |id: &Id| match self.pickle.node(*id) {
            PickleValue::Int(label) => u8::try_from(*label).ok(),
            _ => None,
        };
        items.iter().map(|id| label(id).ok_or_else(none)).collect::<Result<_>>().map(Some)
    }

    /// A `numpy.ndarray` by the state that it is pickled with, (version, shape, type, whether columns come first, bytes), or by what it is made of
    /// from protocol 5 on, (bytes, type, shape, order).
    fn array(&self, name: &str) -> Result<StoredArray<'_>> {
        let none = || other(&format!("no array under {name:?}"));
        let parts = |id: Id| tuple(&self.pickle, id).ok_or_else(|| other("an array without a state"));
        let (bytes, kind, shape, order) = match self.get(name) {
            Some(PickleValue::Unmade(Unmade { name, state: Some(state), .. }))
                if name.ends_with("multiarray._reconstruct") =>
            {
                let &[_, shape, kind, columns, bytes, ..] = parts(*state)? else { return Err(none()) };
                (bytes, kind, shape, columns)
            }
            Some(PickleValue::Unmade(Unmade { name, arguments: Some(given), .. }))
                if name.ends_with("numeric._frombuffer") =>
            {
                let &[bytes, kind, shape, order] = parts(*given)? else { return Err(none()) };
                (bytes, kind, shape, order)
            }
            _ => return Err(none()),
        };
        let kind = match self.pickle.node(kind) {
            PickleValue::Unmade(Unmade { name, arguments: Some(given), .. }) if &**name == "numpy.dtype" => {
                tuple(&self.pickle, *given).and_then(|given| given.first()).map(|&id| self.pickle.node(id))
            }
            _ => None,
        };
        let Some(PickleValue::Str(kind)) = kind else { return Err(other("an array without a type")) };
        match self.pickle.node(order) {
            PickleValue::Bool(false) => {}
            PickleValue::Str(order) if &**order == "C" => {}
            _ => return Err(other("an array whose columns come first")),
        }
        let size = |id: &Id| match self.pickle.node(*id) {
            PickleValue::Int(size) => usize::try_from(*size).ok(),
            _ => None,
        };
        let shape = tuple(&self.pickle, shape).and_then(|shape| shape.iter().map(size).collect());
        Ok(StoredArray {
            kind: kind.clone(),
            shape: shape.ok_or_else(|| other("an array without a shape"))?,
            bytes: held(&self.pickle, bytes).ok_or_else(|| other("an array that is not pickled as bytes"))?,
        })
    }

    /// N x 3072 bytes.
    fn rows(&self) -> Result<Cow<'_, [u8]>> {
        let array = self.array("data")?;
        if &*array.kind != "u1" {
            return Err(other(&format!("\"data\" is of the type {:?}, not uint8", array.kind)));
        }
        match array.shape[..] {
            [n, IMAGE] if n.checked_mul(IMAGE) == Some(array.bytes.len()) => Ok(array.bytes),
            _ => {
                let sides: Vec<String> = array.shape.iter().map(usize::to_string).collect();
                let (sides, bytes) = (sides.join(" x "), array.bytes.len());
                Err(other(&format!("\"data\" has the shape {sides} and {bytes} bytes")))
            }
        }
    }
}

fn tuple(pickle: &Pickle, id: Id) -> Option<&[Id]> {
    match pickle.node(id) {
        PickleValue::Tuple(parts) => Some(parts),
        _ => None,
    }
}

/// The bytes of a value that is bytes, or a string of Python 2, whose strings are bytes.
fn held(pickle: &Pickle, id: Id) -> Option<Cow<'_, [u8]>> {
    match pickle.node(id) {
        PickleValue::Bytes(bytes) => Some(Cow::Borrowed(bytes)),
        PickleValue::Str(text) => Some(Cow::Borrowed(text.as_bytes())),
        // As Python 3 writes bytes for Python 2: each a letter, encoded back.
        PickleValue::Unmade(Unmade { name, arguments: Some(given), .. }) if &**name == "_codecs.encode" => {
            match pickle.node(*tuple(pickle, *given)?.first()?) {
                PickleValue::Str(text) => text.chars().map(|letter| u8::try_from(letter).ok()).collect(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// An array that was pickled: the name of its numbers' type, and its bytes.
struct StoredArray<'a> {
    kind: Rc<str>,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

fn other(what: &str) -> Error {
    Error::new(ErrorKind::File, format!("a pickle, but none of CIFAR's: {what}")).hint(
        "of pickles, CIFAR-10's and CIFAR-100's are read; other arrays: numpy.savez(\"x.npz\", images=.., labels=..)",
    )
}

/// What a file holds, as records of the binary version, and how many labels each has before its image.
pub(super) fn records(path: &Path, budget: &Budget) -> Result<(usize, Vec<u8>)> {
    let read = || {
        let entries = Entries::read(path, budget)?;
        let rows = entries.rows()?;
        let labels = match (entries.labels("labels")?, entries.labels("coarse_labels")?, entries.labels("fine_labels")?)
        {
            (Some(labels), None, None) => vec![labels],
            (None, Some(coarse), Some(fine)) => vec![coarse, fine],
            _ => return Err(other("neither \"labels\" nor \"coarse_labels\" and \"fine_labels\"")),
        };
        let n = rows.len() / IMAGE;
        if let Some(wrong) = labels.iter().find(|labels| labels.len() != n) {
            return Err(other(&format!("{} labels for {n} images", wrong.len())));
        }
        let size = n * (labels.len() + IMAGE);
        budget.take(size as u64, "its images")?;
        let mut records = Vec::with_capacity(size);
        for (row, image) in rows.chunks_exact(IMAGE).enumerate() {
            records.extend(labels.iter().map(|labels| labels[row]));
            records.extend_from_slice(image);
        }
        Ok((labels.len(), records))
    };
    read().map_err(|error| error.at(path))
}

/// The names of classes in the file beside it, `batches.meta` or, of records of two labels, `meta`.
pub(super) fn names(path: &Path, labels: usize, budget: &Budget) -> Result<Option<Vec<String>>> {
    let (file, key) = match labels {
        1 => ("batches.meta", "label_names"),
        _ => ("meta", "fine_label_names"),
    };
    let beside = path.with_file_name(file);
    if !beside.is_file() {
        return Ok(None);
    }
    let entries = Entries::read(&beside, budget).map_err(|error| error.at(&beside))?;
    let name = |id: &Id| match entries.pickle.node(*id) {
        PickleValue::Str(name) => Some(name.to_string()),
        PickleValue::Bytes(name) => String::from_utf8(name.clone()).ok(),
        _ => None,
    };
    let names = entries.items(key).and_then(|items| items.iter().map(name).collect());
    names.map(Some).ok_or_else(|| Error::file(&beside, format!("no list of names under {key:?}")))
}
