//! The files in which published data sets come, by part, and how a folder of them is recognised.

use std::path::{Path, PathBuf};

use super::memory::Raw;
use super::{cifar, idx, mat, stl10};
use crate::core::{Cx, Error, Result, suggestion};

pub(super) struct Layout {
    /// As an error calls it.
    name: &'static str,
    /// Folder that the published archive unpacks to.
    below: Option<&'static str>,
    /// A file of the archive that is there too, where the parts' names alone tell too little.
    beside: Option<&'static str>,
    /// Names of the parts and of the files of each. All are needed.
    parts: &'static [(&'static str, &'static [&'static str])],
    read: fn(&Cx, &[PathBuf], Option<&Path>) -> Result<Raw>,
}

static IDX: Layout = Layout {
    name: "MNIST's files",
    below: None,
    beside: None,
    parts: &[("train", &["train-images-idx3-ubyte"]), ("test", &["t10k-images-idx3-ubyte"])],
    read: |cx, files, labels| idx::read(cx, &files[0], labels),
};

static CIFAR10: Layout = Layout {
    name: "CIFAR-10, binary",
    below: Some("cifar-10-batches-bin"),
    beside: None,
    parts: &[
        (
            "train",
            &["data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"],
        ),
        ("test", &["test_batch.bin"]),
    ],
    read: |cx, files, _| cifar::read(cx, files),
};

static CIFAR100: Layout = Layout {
    name: "CIFAR-100, binary",
    below: Some("cifar-100-binary"),
    beside: None,
    parts: &[("train", &["train.bin"]), ("test", &["test.bin"])],
    read: |cx, files, _| cifar::read(cx, files),
};

static CIFAR10_PICKLES: Layout = Layout {
    name: "CIFAR-10, Python's",
    below: Some("cifar-10-batches-py"),
    beside: None,
    parts: &[
        ("train", &["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"]),
        ("test", &["test_batch"]),
    ],
    read: |cx, files, _| cifar::read(cx, files),
};

static CIFAR100_PICKLES: Layout = Layout {
    name: "CIFAR-100, Python's",
    below: Some("cifar-100-python"),
    beside: Some("meta"),
    parts: &[("train", &["train"]), ("test", &["test"])],
    read: |cx, files, _| cifar::read(cx, files),
};

static SVHN: Layout = Layout {
    name: "SVHN",
    below: None,
    beside: None,
    parts: &[("train", &["train_32x32.mat"]), ("test", &["test_32x32.mat"]), ("extra", &["extra_32x32.mat"])],
    read: |cx, files, _| mat::read(cx, &files[0]),
};

static STL10: Layout = Layout {
    name: "STL-10",
    below: Some("stl10_binary"),
    beside: None,
    parts: &[("train", &["train_X.bin"]), ("test", &["test_X.bin"])],
    read: |cx, files, _| stl10::read(cx, &files[0]),
};

/// How the data set of this name comes.
pub(super) fn of(name: &str) -> &'static Layout {
    match name {
        "cifar10" => &CIFAR10,
        "cifar100" => &CIFAR100,
        "svhn" => &SVHN,
        _ => &IDX,
    }
}

/// The layout of a folder that holds at least one of its files; several are refused.
pub(super) fn recognise(folder: &Path) -> Result<Option<&'static Layout>> {
    let all = [&IDX, &CIFAR10, &CIFAR100, &CIFAR10_PICKLES, &CIFAR100_PICKLES, &SVHN, &STL10];
    let found: Vec<&'static Layout> = all
        .into_iter()
        .filter(|layout| {
            let mut files = layout.parts.iter().flat_map(|(_, files)| *files);
            let beside = layout.beside.is_none_or(|file| layout.place(folder, file).is_some());
            beside && files.any(|file| layout.place(folder, file).is_some())
        })
        .collect();
    match found[..] {
        [_, _, ..] => {
            let names: Vec<&str> = found.iter().map(|layout| layout.name).collect();
            let below = found.iter().filter_map(|layout| layout.below).find(|below| folder.join(below).is_dir());
            let place =
                below.map_or_else(|| "a file of one of them".into(), |below| folder.join(below).display().to_string());
            Err(Error::file(folder, format!("several data sets: {}", names.join(", ")))
                .hint(format!("name one: {place}")))
        }
        _ => Ok(found.first().copied()),
    }
}

impl Layout {
    /// Whether labels lie in a file of their own.
    pub fn has_labels_file(&self) -> bool {
        std::ptr::eq(self, &IDX)
    }

    /// Where a file lies: in the folder or in the archive's own folder below it, gzipped or not where its reader unpacks it.
    fn place(&self, folder: &Path, file: &str) -> Option<PathBuf> {
        let folders = std::iter::once(folder.to_path_buf()).chain(self.below.map(|below| folder.join(below)));
        let packed = std::ptr::eq(self, &IDX);
        let mut places = folders.flat_map(|folder| {
            let plain = std::iter::once(folder.join(file));
            plain.chain(packed.then(|| folder.join(format!("{file}.gz"))))
        });
        places.find(|path| path.is_file())
    }

    /// Reads the part called `split`, by default the test images.
    pub fn read(&self, cx: &Cx, folder: &Path, name: &str, split: &str, labels: Option<&Path>) -> Result<Raw> {
        let Some((_, files)) = self.parts.iter().find(|(part, _)| *part == split) else {
            let parts = self.parts.iter().map(|(part, _)| *part);
            let known: Vec<String> = parts.clone().map(|part| format!("{part:?}")).collect();
            return Err(Error::argument(format!("{name} has the splits {}, not {split:?}", known.join(", ")))
                .hint(suggestion(split, parts)));
        };
        let missing = |file: &&str| {
            let below = self.below.map_or(folder.to_path_buf(), |below| folder.join(below));
            Error::file(&below.join(file), "no such file")
        };
        let paths = files.iter().map(|file| self.place(folder, file).ok_or_else(|| missing(file)));
        (self.read)(cx, &paths.collect::<Result<Vec<_>>>()?, labels)
    }
}
