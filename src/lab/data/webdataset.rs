//! Shards in the manner of WebDataset: tar files in which the files of a sample stand together and differ in their endings. `0007.jpg`
//! and `0007.cls` are a picture and its label. An index of where pictures lie is made first, so that any can be read by itself.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::choose::cut_in_order;
use super::contents::PictureContents;
use super::numbering::Classes;
use super::pictures::{Labelled, PictureFiles, Pictures};
use super::shards::{Indexed, read_in_order};
use super::window::View;
use super::{Dataset, picture};
use crate::core::{Cx, Error, Result};

/// Endings of pictures, as a sample's file has them after the first dot of its name.
const PICTURES: [&str; 9] = picture::ENDINGS;

/// Endings of files that tell of a label.
const LABEL: &str = "cls";
const RECORD: &str = "json";

/// Labels and records are short.
const LONGEST_TEXT: u64 = 1 << 20;
const LARGEST_PICTURE: u64 = 1 << 30;

/// Blocks of a tar file (POSIX.1-1988, ustar).
const BLOCK: u64 = 512;

/// A picture of a shard.
#[derive(Clone)]
struct StoredPicture {
    /// Which of the shards.
    shard: usize,
    at: u64,
    size: u64,
    /// As the shard calls it.
    name: PathBuf,
}

struct Shards {
    paths: Vec<PathBuf>,
    pictures: Vec<StoredPicture>,
}

/// What a shard holds, in its order.
#[derive(Default)]
struct Index {
    found: Indexed<StoredPicture>,
    /// Samples without a picture.
    without: usize,
    /// Samples whose record says another class than their file of the label.
    contradicted: usize,
}

/// The data set of shards, in the order of their names and of what stands in each. Its hash is of the pictures and labels in this order,
/// so that it is the same however they are divided.
pub(super) fn load(
    cx: &Cx,
    name: &str,
    paths: Vec<PathBuf>,
    view: &View,
    classes: &Classes,
    choose: &dyn Fn(usize) -> Option<Vec<usize>>,
) -> Result<Dataset> {
    let mut all = Index::default();
    let numbered: Vec<(usize, &PathBuf)> = paths.iter().enumerate().collect();
    let stop = cx.stop_flag();
    let read = |&(shard, path): &(usize, &PathBuf)| index(shard, path, &stop);
    read_in_order(cx, "reading shards", &numbered, read, |shard| {
        all.found.extend(shard.found);
        all.without += shard.without;
        all.contradicted += shard.contradicted;
        Ok(())
    })?;
    if all.found.pictures.is_empty() {
        return Err(Error::file(&paths[0], "no pictures").hint(WANTED));
    }
    let classes = all.found.classes(cx, name, classes, None)?;
    let rows = choose(all.found.pictures.len());
    let cut = rows.as_ref().and_then(|rows| cut_in_order(&all.found.labels, rows));
    let (chosen, digest) = all.found.choose(rows);
    let by = match all.contradicted {
        0 => "by their labels".to_string(),
        n => format!("by their .cls files; {n} .json records have another `label`"),
    };
    let numbered = match all.without {
        0 => by,
        1 => format!("{by}; a sample without a picture is left out"),
        n => format!("{by}; {n} samples without a picture are left out"),
    };
    let of = Labelled { contents: chosen.contents, labels: chosen.labels, classes, numbered };
    Ok(Pictures::load(cx, name, Shards { paths, pictures: chosen.pictures }, of, view, digest)?.cut_from(cut))
}

const WANTED: &str = "a sample is a picture (.jpg, .jpeg, .png, .gif, .webp or .tif) and its class number in a .cls file or as \"label\" of a .json \
                      file, under one name";

/// The files of one sample.
#[derive(Default)]
struct Sample {
    picture: Option<(StoredPicture, PictureContents)>,
    /// Of a file of its own.
    label: Option<i64>,
    recorded: Recorded,
}

/// What a record says of the label, which counts where no file of its own does.
#[derive(Default)]
enum Recorded {
    #[default]
    Nothing,
    Number(i64),
    /// Where it calls the class otherwise.
    NoNumber(PathBuf),
}

fn no_number(file: &Path) -> Error {
    Error::file(file, "not the number of a class").hint("classes count from 0")
}

fn index(shard: usize, path: &Path, stop: &AtomicBool) -> Result<Index> {
    let failed = |e: std::io::Error| Error::file(path, format!("not a tar file that can be read: {e}"));
    let mut archive = tar::Archive::new(File::open(path).map_err(|e| Error::file(path, e))?);
    let mut found = Index::default();
    let mut end = 0;
    // Samples stand together, so one that comes back is another of the same name, or a shard that was put together wrongly.
    let (mut key, mut sample) = (String::new(), Sample::default());
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for entry in archive.entries_with_seek().map_err(failed)? {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::interrupted());
        }
        let mut entry = entry.map_err(failed)?;
        let (at, size) = (entry.raw_file_position(), entry.size());
        end = at + size.div_ceil(BLOCK) * BLOCK;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry.path().map_err(failed)?.into_owned();
        let inside = || path.join(&name);
        let Some((stem, ending)) = name.to_str().and_then(sample_and_ending) else { continue };
        if stem != key {
            finish(path, &key, std::mem::take(&mut sample), &mut found)?;
            if !seen.insert(stem.to_string()) {
                return Err(Error::file(&inside(), "its sample stands in two places of the shard").hint(
                    "the files of a sample stand together, as `tar --sort=name` and WebDataset's writers put them",
                ));
            }
            key = stem.to_string();
        }
        let ending = ending.to_ascii_lowercase();
        let most = if PICTURES.contains(&&*ending) { LARGEST_PICTURE } else { LONGEST_TEXT };
        let mut read = || -> Result<Vec<u8>> {
            if size > most {
                return Err(Error::file(&inside(), format!("{size} bytes are too many for it")));
            }
            let mut bytes = vec![];
            entry.read_to_end(&mut bytes).map_err(|e| Error::file(&inside(), e))?;
            match bytes.len() as u64 == size {
                true => Ok(bytes),
                false => Err(Error::file(path, "the shard is cut short").hint("fetch it once more")),
            }
        };
        if PICTURES.contains(&&*ending) {
            let bytes = read()?;
            let contents = PictureContents::of(&inside(), &bytes)?;
            if let Some((other, _)) = &sample.picture {
                let told = format!("a sample with two pictures, this one and {}", other.name.display());
                return Err(Error::file(&inside(), told).hint(WANTED));
            }
            sample.picture = Some((StoredPicture { shard, at, size, name }, contents));
        } else if ending == LABEL || ending == RECORD {
            let told = label(&read()?, ending == RECORD);
            match (told, ending == RECORD) {
                (Some(label), false) => sample.label = label,
                (told, true) => {
                    sample.recorded =
                        told.map_or(Recorded::NoNumber(name), |label| label.map_or(Recorded::Nothing, Recorded::Number))
                }
                (None, false) => return Err(no_number(&inside())),
            }
        }
    }
    finish(path, &key, sample, &mut found)?;
    check_end(path, end)?;
    Ok(found)
}

/// The part of a name up to the first dot behind the folders, and the ending behind this.
fn sample_and_ending(name: &str) -> Option<(&str, &str)> {
    let file = name.rfind('/').map_or(0, |slash| slash + 1);
    let dot = file + name[file..].find('.')?;
    (dot > file).then(|| (&name[..dot], &name[dot + 1..]))
}

/// A label of a `.cls` file, or of a record that has one; `None` where it is no number of a class.
fn label(text: &[u8], record: bool) -> Option<Option<i64>> {
    if !record {
        let label: i64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
        return (label >= 0).then_some(Some(label));
    }
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_slice(text) else { return Some(None) };
    match fields.get("label") {
        None => Some(None),
        Some(label) => label.as_i64().filter(|label| *label >= 0).map(Some),
    }
}

fn finish(path: &Path, key: &str, sample: Sample, found: &mut Index) -> Result<()> {
    let label = match (sample.label, sample.recorded) {
        (Some(label), Recorded::Number(other)) if label != other => {
            found.contradicted += 1;
            Some(label)
        }
        (Some(label), _) | (None, Recorded::Number(label)) => Some(label),
        (None, Recorded::NoNumber(name)) if sample.picture.is_some() => return Err(no_number(&path.join(name))),
        (None, _) => None,
    };
    match (sample.picture, label) {
        (Some((picture, digest)), Some(label)) => {
            found.found.push(picture, label, digest);
        }
        (Some((picture, _)), None) => {
            let lies = path.join(picture.name);
            return Err(Error::file(&lies, "a picture without a label").hint(WANTED));
        }
        (None, _) => found.without += usize::from(!key.is_empty()),
    }
    Ok(())
}

/// A shard ends in blocks of zeros; one that was cut between two files would hold fewer samples without a word.
fn check_end(path: &Path, end: u64) -> Result<()> {
    let failed = |e| Error::file(path, e);
    let mut file = File::open(path).map_err(failed)?;
    file.seek(SeekFrom::Start(end)).map_err(failed)?;
    let mut block = vec![];
    file.take(BLOCK).read_to_end(&mut block).map_err(failed)?;
    match block.len() as u64 == BLOCK && block.iter().all(|byte| *byte == 0) {
        true => Ok(()),
        false => Err(Error::file(path, "the shard is cut short: its end mark is missing").hint("fetch it once more")),
    }
}

impl PictureFiles for Shards {
    fn len(&self) -> usize {
        self.pictures.len()
    }

    fn name(&self, index: usize) -> &Path {
        &self.pictures[index].name
    }

    fn path(&self, index: usize) -> PathBuf {
        self.paths[self.pictures[index].shard].join(self.name(index))
    }

    fn bytes(&self, index: usize) -> Result<Vec<u8>> {
        let StoredPicture { shard, at, size, .. } = self.pictures[index];
        let path = &self.paths[shard];
        let failed = |e| Error::file(path, e);
        let mut file = File::open(path).map_err(failed)?;
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        let mut bytes = vec![0; size as usize];
        file.read_exact(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn dimensions(&self, index: usize) -> Result<(u32, u32)> {
        picture::dimensions(&self.path(index), &self.bytes(index)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_webdataset_reads_them() {
        assert_eq!(sample_and_ending("a/b.c/0007.seg.png"), Some(("a/b.c/0007", "seg.png")));
        assert_eq!(sample_and_ending("x.jpg"), Some(("x", "jpg")));
        assert_eq!((sample_and_ending("a.b/x"), sample_and_ending("a/.hidden")), (None, None));
    }

    #[test]
    fn labels_are_numbers_of_classes() {
        assert_eq!(label(b" 12\n", false), Some(Some(12)));
        assert_eq!((label(b"cat", false), label(b"-1", false)), (None, None));
        assert_eq!(label(b"{\"label\": 3, \"caption\": \"x\"}", true), Some(Some(3)));
        assert_eq!((label(b"{\"caption\": \"x\"}", true), label(b"{\"label\": \"x\"}", true)), (Some(None), None));
    }
}
