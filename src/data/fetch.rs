//! Public data sets that can be downloaded: where from, under which licence, and how their files are recognised.
//! Nothing here opens a connection; `fetch` is handed a function that does.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::core::{Cx, Error, ErrorKind, Result};

/// One file of a data set.
pub struct Remote {
    pub url: &'static str,
    pub file: &'static str,
    /// SHA-256 of the file as it is served, or of its unpacked content where gzip makes the packed bytes vary.
    pub sha256: &'static str,
}

pub struct Set {
    pub name: &'static str,
    /// Bytes to download, in round numbers.
    pub bytes: u64,
    pub licence: &'static str,
    pub files: &'static [Remote],
}

const fn remote(url: &'static str, file: &'static str, sha256: &'static str) -> Remote {
    Remote { url, file, sha256 }
}

/// The sets known by name. Checksums: MNIST's are of the unpacked files of the original distribution; the others are
/// of the files as served, as TensorFlow Datasets and other loaders publish them.
pub static SETS: &[Set] = &[
    Set {
        name: "mnist",
        bytes: 11_600_000,
        licence: "Y. LeCun and C. Cortes, CC BY-SA 3.0",
        files: &[
            remote(
                "https://storage.googleapis.com/cvdf-datasets/mnist/train-images-idx3-ubyte.gz",
                "train-images-idx3-ubyte.gz",
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            ),
            remote(
                "https://storage.googleapis.com/cvdf-datasets/mnist/train-labels-idx1-ubyte.gz",
                "train-labels-idx1-ubyte.gz",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            ),
            remote(
                "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz",
                "t10k-images-idx3-ubyte.gz",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            ),
            remote(
                "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-labels-idx1-ubyte.gz",
                "t10k-labels-idx1-ubyte.gz",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            ),
        ],
    },
    Set {
        name: "fashion-mnist",
        bytes: 30_900_000,
        licence: "Zalando SE, MIT",
        files: &[
            remote(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-images-idx3-ubyte.gz",
                "train-images-idx3-ubyte.gz",
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            ),
            remote(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-labels-idx1-ubyte.gz",
                "train-labels-idx1-ubyte.gz",
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            ),
            remote(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-images-idx3-ubyte.gz",
                "t10k-images-idx3-ubyte.gz",
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            ),
            remote(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-labels-idx1-ubyte.gz",
                "t10k-labels-idx1-ubyte.gz",
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            ),
        ],
    },
];

pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    SETS.iter().map(|set| set.name)
}

pub fn set(name: &str) -> Option<&'static Set> {
    SETS.iter().find(|set| set.name == name)
}

/// Where a set lies below the data folder: `data/NAME`.
pub fn folder(cx: &Cx, set: &Set) -> Result<PathBuf> {
    let root = cx.data_folder().ok_or_else(|| {
        Error::new(ErrorKind::File, format!("{}: there is no data folder", set.name))
            .hint("set VIVA_DATA to a folder that holds data/mnist and the like")
    })?;
    Ok(root.join("data").join(set.name))
}

/// Whether a file, or what it holds if it is gzipped, has this SHA-256. A missing file has not.
pub fn verify(path: &Path, sha256: &str) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    if crate::core::Digest::of_file(path)?.hex() == sha256 {
        return Ok(true);
    }
    // A packed file that breaks off is simply another one.
    Ok(hash(&mut super::idx::open(path)?).is_ok_and(|found| found == sha256))
}

fn hash(reader: &mut dyn Read) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// What a set's folder holds.
pub struct Listing {
    pub set: &'static Set,
    pub folder: PathBuf,
    /// All files are there.
    pub present: bool,
    /// All files are the ones that were published.
    pub verified: bool,
}

/// All sets known by name and whether they are here.
pub fn list(cx: &Cx) -> Result<Vec<Listing>> {
    let mut listings = Vec::new();
    for set in SETS {
        let folder = folder(cx, set)?;
        let present = set.files.iter().all(|remote| folder.join(remote.file).is_file());
        let mut verified = present;
        for remote in set.files {
            cx.check()?;
            verified = verified && verify(&folder.join(remote.file), remote.sha256)?;
        }
        listings.push(Listing { set, folder, present, verified });
    }
    Ok(listings)
}

/// Downloads what is missing of a set into `folder` with `open`, which answers the bytes behind a URL. A file appears
/// under its name when it is whole and verified; a failed download leaves nothing behind.
pub fn fetch(cx: &Cx, name: &str, folder: &Path, open: &dyn Fn(&str) -> Result<Box<dyn Read>>) -> Result<()> {
    let set = set(name).ok_or_else(|| {
        Error::argument(format!("no data set {name:?} to fetch")).hint(crate::core::suggestion(name, names()))
    })?;
    for remote in set.files {
        let target = folder.join(remote.file);
        if verify(&target, remote.sha256)? {
            continue;
        }
        let made = missing_part(folder);
        std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
        let done = cx.write_with(&target, |temporary| download(cx, remote, temporary, open));
        if done.is_err() {
            // Only folders that were made here and are still empty go away again.
            for made in made.iter().filter(|made| folder.starts_with(made)) {
                let _ = std::fs::remove_dir(made);
            }
        }
        done?;
    }
    Ok(())
}

/// The parts of a path that do not exist yet, the innermost first.
fn missing_part(folder: &Path) -> Vec<PathBuf> {
    folder
        .ancestors()
        .take_while(|part| !part.as_os_str().is_empty() && !part.exists())
        .map(Path::to_path_buf)
        .collect()
}

fn download(cx: &Cx, remote: &Remote, to: &Path, open: &dyn Fn(&str) -> Result<Box<dyn Read>>) -> Result<()> {
    let failed = |e: std::io::Error| Error::new(ErrorKind::File, format!("{}: {e}", remote.url));
    let mut reader = open(remote.url)?;
    let task = cx.progress(remote.file, None);
    let mut file = File::create(to).map_err(|e| Error::file(to, e))?;
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        cx.check()?;
        let n = reader.read(&mut buffer).map_err(failed)?;
        if n == 0 {
            break;
        }
        file.write_all(&buffer[..n]).map_err(|e| Error::file(to, e))?;
        task.advance(n as u64);
    }
    file.sync_all().map_err(|e| Error::file(to, e))?;
    if !verify(to, remote.sha256)? {
        return Err(Error::new(ErrorKind::File, format!("{}: what came is not the published file", remote.url))
            .hint(format!("its SHA-256 should be {}; try again, or fetch it by hand", remote.sha256)));
    }
    Ok(())
}
