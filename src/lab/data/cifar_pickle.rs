//! The Python versions of CIFAR-10 and CIFAR-100, which torchvision downloads: pickles of Python 2 that hold an array of N x 3072 bytes
//! and lists of labels. What they hold is put into the binary versions' records, so that both are one data set.

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
        let name = |id: Id| match pickle.node(id) {
            PickleValue::Str(name) => Some(name.clone()),
            PickleValue::Bytes(name) => std::str::from_utf8(name).ok().map(Rc::from),
            _ => None,
        };
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

    fn labels(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let label = |id: &Id| match self.pickle.node(*id) {
            PickleValue::Int(label) => u8::try_from(*label).ok(),
            _ => None,
        };
        let Some(items) = self.items(name) else {
            return match self.get(name) {
                None => Ok(None),
                Some(_) => Err(other(&format!("{name:?} is no list"))),
            };
        };
        let labels = items.iter().map(|id| label(id).ok_or_else(|| other(&format!("{name:?} is no list of classes"))));
        labels.collect::<Result<_>>().map(Some)
    }

    /// Rows of an array of bytes, N x 3072: `numpy.ndarray` by the state that it is pickled with, (version, shape, type, whether
    /// columns come first, bytes).
    fn rows(&self) -> Result<&[u8]> {
        let state = match self.get("data") {
            Some(PickleValue::Unmade(Unmade { name, state: Some(state), .. }))
                if name.ends_with("multiarray._reconstruct") =>
            {
                *state
            }
            _ => return Err(other("no array under \"data\"")),
        };
        let PickleValue::Tuple(parts) = self.pickle.node(state) else { return Err(other("an array without a state")) };
        let part = |at: usize| parts.get(at).map(|&id| self.pickle.node(id));
        let size = |id: &Id| match self.pickle.node(*id) {
            PickleValue::Int(size) => usize::try_from(*size).ok(),
            _ => None,
        };
        let kind = match part(2) {
            Some(PickleValue::Unmade(Unmade { name, arguments: Some(given), .. })) if &**name == "numpy.dtype" => {
                match self.pickle.node(*given) {
                    PickleValue::Tuple(given) => given.first().map(|&id| self.pickle.node(id)),
                    _ => None,
                }
            }
            _ => None,
        };
        match kind {
            Some(PickleValue::Str(kind)) if &**kind == "u1" => {}
            Some(PickleValue::Str(kind)) => return Err(other(&format!("\"data\" is of the type {kind:?}, not uint8"))),
            _ => return Err(other("an array without a type")),
        }
        let bytes = match part(4) {
            Some(PickleValue::Bytes(bytes)) => &bytes[..],
            Some(PickleValue::Str(text)) => text.as_bytes(),
            _ => return Err(other("an array that is not pickled as bytes")),
        };
        match part(1) {
            Some(PickleValue::Tuple(shape)) => match shape.iter().map(size).collect::<Option<Vec<_>>>().as_deref() {
                Some(&[n, IMAGE]) if n.checked_mul(IMAGE) == Some(bytes.len()) => {}
                shape => {
                    let sides: Vec<String> = shape.unwrap_or_default().iter().map(usize::to_string).collect();
                    return Err(other(&format!(
                        "\"data\" has the shape {} and {} bytes",
                        sides.join(" x "),
                        bytes.len()
                    )));
                }
            },
            _ => return Err(other("an array without a shape")),
        }
        match part(3) {
            Some(PickleValue::Bool(false)) => Ok(bytes),
            _ => Err(other("an array whose columns come first")),
        }
    }
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
