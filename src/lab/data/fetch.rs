//! Public data sets that can be downloaded: where from, under which licence, and how their files are recognised.
//! Nothing here opens a connection; `fetch` is handed a function that does.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

use crate::core::{Cx, Digest, Error, ErrorKind, Result, Task};

/// One file of a data set.
pub struct Remote {
    pub url: &'static str,
    pub file: &'static str,
    /// Bytes to download, as published.
    pub bytes: u64,
    pub sha256: Sum,
}

/// What a published SHA-256 is of.
#[derive(Debug, Clone, Copy)]
pub enum Sum {
    /// The file as it is served.
    File(&'static str),
    /// What it holds, where gzip makes the packed bytes vary.
    Content(&'static str),
}

/// What is kept of a packed folder.
pub struct Archive {
    pub folder: &'static str,
    pub members: &'static [&'static str],
}

pub struct Set {
    pub name: &'static str,
    pub licence: &'static str,
    pub files: &'static [Remote],
    /// The set's one file is a `.tar.gz`, of which this is unpacked.
    pub archive: Option<Archive>,
}

impl Set {
    /// Bytes to download.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|remote| remote.bytes).sum()
    }
}

const fn remote(url: &'static str, file: &'static str, bytes: u64, sha256: Sum) -> Remote {
    Remote { url, file, bytes, sha256 }
}

/// The sets known by name. Sizes and checksums are those of the files as served, as TensorFlow Datasets 4.9.10 publishes them
/// (`url_checksums`, `svhn_cropped/checksums.tsv`); MNIST's checksums are of the unpacked files of the original distribution.
pub static SETS: &[Set] = &[
    Set {
        name: "mnist",
        licence: "Y. LeCun and C. Cortes, CC BY-SA 3.0",
        files: &[
            remote(
                "https://storage.googleapis.com/cvdf-datasets/mnist/train-images-idx3-ubyte.gz",
                "train-images-idx3-ubyte.gz",
                9_912_422,
                Sum::Content("ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
            ),
            remote(
                "https://storage.googleapis.com/cvdf-datasets/mnist/train-labels-idx1-ubyte.gz",
                "train-labels-idx1-ubyte.gz",
                28_881,
                Sum::Content("65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
            ),
            remote(
                "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz",
                "t10k-images-idx3-ubyte.gz",
                1_648_877,
                Sum::Content("0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
            ),
            remote(
                "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-labels-idx1-ubyte.gz",
                "t10k-labels-idx1-ubyte.gz",
                4_542,
                Sum::Content("ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
            ),
        ],
        archive: None,
    },
    Set {
        name: "fashion-mnist",
        licence: "Zalando SE, MIT",
        files: &[
            remote(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-images-idx3-ubyte.gz",
                "train-images-idx3-ubyte.gz",
                26_421_880,
                Sum::File("3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
            ),
            remote(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-labels-idx1-ubyte.gz",
                "train-labels-idx1-ubyte.gz",
                29_515,
                Sum::File("a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
            ),
            remote(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-images-idx3-ubyte.gz",
                "t10k-images-idx3-ubyte.gz",
                4_422_102,
                Sum::File("346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
            ),
            remote(
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-labels-idx1-ubyte.gz",
                "t10k-labels-idx1-ubyte.gz",
                5_148,
                Sum::File("67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
            ),
        ],
        archive: None,
    },
    Set {
        name: "cifar10",
        licence: "A. Krizhevsky, for research",
        files: &[remote(
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            "cifar-10-binary.tar.gz",
            170_052_171,
            Sum::File("c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
        )],
        archive: Some(Archive {
            folder: "cifar-10-batches-bin",
            members: &[
                "data_batch_1.bin",
                "data_batch_2.bin",
                "data_batch_3.bin",
                "data_batch_4.bin",
                "data_batch_5.bin",
                "test_batch.bin",
                "batches.meta.txt",
            ],
        }),
    },
    Set {
        name: "cifar100",
        licence: "A. Krizhevsky, for research",
        files: &[remote(
            "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
            "cifar-100-binary.tar.gz",
            168_513_733,
            Sum::File("58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"),
        )],
        archive: Some(Archive {
            folder: "cifar-100-binary",
            members: &["train.bin", "test.bin", "fine_label_names.txt", "coarse_label_names.txt"],
        }),
    },
    Set {
        name: "svhn",
        licence: "Y. Netzer et al., not for commercial use",
        files: &[
            remote(
                "http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
                "train_32x32.mat",
                182_040_794,
                Sum::File("435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"),
            ),
            remote(
                "http://ufldl.stanford.edu/housenumbers/test_32x32.mat",
                "test_32x32.mat",
                64_275_384,
                Sum::File("cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"),
            ),
        ],
        archive: None,
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

/// Whether a file is the published one. A missing file is not.
pub fn verify(path: &Path, published: Sum) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    match published {
        Sum::File(sha256) => Ok(Digest::of_file(path)?.hex() == sha256),
        // A packed file that breaks off is simply another one.
        Sum::Content(sha256) => {
            Ok(copy(&mut super::idx::open(path)?, &mut std::io::sink()).is_ok_and(|sum| sum == sha256))
        }
    }
}

/// Copies all there is and answers its SHA-256.
fn copy(from: &mut dyn Read, to: &mut dyn Write) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            n => {
                hasher.update(&buffer[..n]);
                to.write_all(&buffer[..n])?;
            }
        }
    }
}

/// What a set's folder holds.
pub struct SetFolder {
    pub set: &'static Set,
    pub folder: PathBuf,
    /// All files are there.
    pub present: bool,
    /// All files are the ones that were published.
    pub verified: bool,
}

/// All sets known by name and whether they are here.
pub fn list(cx: &Cx) -> Result<Vec<SetFolder>> {
    let mut listings = Vec::new();
    for set in SETS {
        let folder = folder(cx, set)?;
        let present = match &set.archive {
            Some(archive) => archive.members.iter().all(|member| folder.join(archive.folder).join(member).is_file()),
            None => set.files.iter().all(|remote| folder.join(remote.file).is_file()),
        };
        let verified = present && is_complete(cx, set, &folder)?;
        listings.push(SetFolder { set, folder, present, verified });
    }
    Ok(listings)
}

/// Whether all files of a set lie in `folder` as they were published.
fn is_complete(cx: &Cx, set: &Set, folder: &Path) -> Result<bool> {
    if let Some(archive) = &set.archive {
        return archive.is_unpacked(cx, folder);
    }
    for remote in set.files {
        cx.check()?;
        if !verify(&folder.join(remote.file), remote.sha256)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What answers behind a URL.
pub struct Answer {
    pub body: Box<dyn Read + Send>,
    /// Where in the file the body begins: where it was asked to, or 0.
    pub from: u64,
}

/// Opens a URL from a byte on. It runs on a thread of its own, so that a connection that says nothing can be left alone.
pub type Open = Arc<dyn Fn(&str, u64) -> Result<Answer> + Send + Sync>;

/// Downloads what is missing of the set of this name, as [`fetch_set`] does.
pub fn fetch(cx: &Cx, name: &str, folder: &Path, open: &Open) -> Result<()> {
    let set = set(name).ok_or_else(|| {
        Error::argument(format!("no data set {name:?} to fetch")).hint(crate::core::suggestion(name, names()))
    })?;
    fetch_set(cx, set, folder, open)
}

/// Downloads what is missing of a set into `folder` with `open`. A file appears under its name when it is whole and verified.
/// What an interrupted download brought stays in a hidden file beside it, and the next call goes on from there; a download
/// that fails otherwise leaves nothing behind.
pub fn fetch_set(cx: &Cx, set: &Set, folder: &Path, open: &Open) -> Result<()> {
    if is_complete(cx, set, folder)? {
        return Ok(());
    }
    for remote in set.files {
        let target = folder.join(remote.file);
        let here = verify(&target, remote.sha256)?;
        if here && set.archive.is_none() {
            continue;
        }
        let made = missing_part(folder);
        std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
        let part = folder.join(format!(".{}.part", remote.file));
        let done = match &set.archive {
            // Put there by hand, and kept.
            Some(archive) if here => archive.unpack(cx, &target, folder),
            Some(archive) => download(cx, remote, &part, open)
                .and_then(|()| archive.unpack(cx, &part, folder))
                .and_then(|()| std::fs::remove_file(&part).map_err(|e| Error::file(&part, e))),
            None => download(cx, remote, &part, open)
                .and_then(|()| std::fs::rename(&part, &target).map_err(|e| Error::file(&target, e))),
        };
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

/// Leaves the whole, verified file at `part`.
fn download(cx: &Cx, remote: &Remote, part: &Path, open: &Open) -> Result<()> {
    let at = |e: std::io::Error| Error::file(part, e);
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(part).map_err(at)?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(Error::new(ErrorKind::File, format!("{} is being fetched by another viva", remote.file))
            .hint("wait for it, or stop it"));
    }
    // Whoever held it has moved it to its place since it was opened.
    if moved(&file, part) {
        return download(cx, remote, part, open);
    }
    let mut resumed = file.metadata().map_err(at)?.len() > 0;
    loop {
        let came = receive(cx, remote, &mut file, open);
        let length = file.metadata().map_err(at)?.len();
        if let Err(mut error) = came {
            if length == 0 || length > remote.bytes + SLACK {
                let _ = std::fs::remove_file(part);
            } else if error.hint.is_none() {
                let kept = length as f64 / 1e6;
                error = error.hint(format!("{kept:.1} MB came; the same command goes on from there"));
            }
            return Err(error);
        }
        file.sync_all().map_err(at)?;
        if verify(part, remote.sha256)? {
            return Ok(());
        }
        if !std::mem::take(&mut resumed) {
            break;
        }
        // The file may have been replaced since the first part of it came.
        file.set_len(0).map_err(at)?;
    }
    let _ = std::fs::remove_file(part);
    let (Sum::File(sha256) | Sum::Content(sha256)) = remote.sha256;
    Err(Error::new(ErrorKind::File, format!("{}: what came is not the published file", remote.url))
        .hint(format!("its SHA-256 should be {sha256}; try again, or fetch it by hand")))
}

/// Whether a path stands for another file than this one, or for none.
fn moved(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let same = |(a, b): (std::fs::Metadata, std::fs::Metadata)| (a.dev(), a.ino()) == (b.dev(), b.ino());
        !file.metadata().ok().zip(path.metadata().ok()).is_some_and(same)
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        false
    }
}

/// Bytes by which a file that was packed again may exceed its published size.
const SLACK: u64 = 1 << 20;

/// How long a connection may say nothing.
const SILENCE: Duration = Duration::from_secs(60);

/// Fills the rest of the file.
fn receive(cx: &Cx, remote: &Remote, file: &mut File, open: &Open) -> Result<()> {
    let at = |e: std::io::Error| Error::new(ErrorKind::File, format!("{}: {e}", remote.file));
    let failed = |what: String| Error::new(ErrorKind::File, format!("{}: {what}", remote.url));
    let mut length = file.metadata().map_err(at)?.len();
    if length == remote.bytes {
        return Ok(());
    }
    if length > remote.bytes {
        length = 0;
    }
    enum Piece {
        From(u64),
        Bytes(Vec<u8>),
        End,
    }
    let (sender, pieces) = sync_channel::<Result<Piece>>(8);
    let (open, url, from) = (open.clone(), remote.url, length);
    // Left alone when this returns early: it ends with the next piece that nobody takes, or with the process.
    std::thread::spawn(move || {
        let mut answer = match open(url, from) {
            Ok(answer) => answer,
            Err(error) => return drop(sender.send(Err(error))),
        };
        let mut going = sender.send(Ok(Piece::From(answer.from))).is_ok();
        while going {
            let mut buffer = vec![0u8; 1 << 16];
            let piece = match answer.body.read(&mut buffer) {
                Ok(0) => Ok(Piece::End),
                Ok(n) => {
                    buffer.truncate(n);
                    Ok(Piece::Bytes(buffer))
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => Err(Error::new(ErrorKind::File, format!("{url}: the connection broke: {e}"))),
            };
            let last = !matches!(piece, Ok(Piece::Bytes(_)));
            going = sender.send(piece).is_ok() && !last;
        }
    });
    let task = cx.progress(&format!("{}, kB", remote.file), Some(remote.bytes / 1000));
    let mut shown = 0;
    let mut show = |length: u64, count: fn(&Task, u64)| {
        count(&task, (length / 1000).saturating_sub(shown));
        shown = shown.max(length / 1000);
    };
    let mut heard = Instant::now();
    loop {
        cx.check()?;
        let piece = match pieces.recv_timeout(Duration::from_millis(100)) {
            Ok(piece) => piece?,
            Err(RecvTimeoutError::Timeout) if heard.elapsed() < SILENCE => continue,
            Err(_) => return Err(failed("nothing more comes".into())),
        };
        heard = Instant::now();
        match piece {
            Piece::From(from) if from == 0 || from == length => {
                file.set_len(from).map_err(at)?;
                file.seek(SeekFrom::Start(from)).map_err(at)?;
                length = from;
                show(from, |task, kilobytes| task.found_done(kilobytes));
            }
            Piece::From(from) => return Err(failed(format!("asked from byte {length} on, it answers from {from}"))),
            Piece::Bytes(bytes) => {
                file.write_all(&bytes).map_err(at)?;
                length += bytes.len() as u64;
                show(length, |task, kilobytes| task.advance(kilobytes));
                if length > remote.bytes + SLACK {
                    return Err(failed(format!("more comes than the {} bytes of the published file", remote.bytes)));
                }
            }
            Piece::End => return Ok(()),
        }
    }
}

/// The list of checksums that is written when an archive was unpacked, as `sha256sum -c` reads it.
const SUMS: &str = "SHA256SUMS";

impl Archive {
    /// Whether the members lie in `folder` as they came out of the verified archive.
    fn is_unpacked(&self, cx: &Cx, folder: &Path) -> Result<bool> {
        let below = folder.join(self.folder);
        let Ok(sums) = std::fs::read_to_string(below.join(SUMS)) else { return Ok(false) };
        for member in self.members {
            cx.check()?;
            let sum = sums.lines().find_map(|line| line.strip_suffix(member)?.strip_suffix("  "));
            let path = below.join(member);
            if !path.is_file() || sum != Some(Digest::of_file(&path)?.hex().as_str()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Unpacks the members, and nothing else, whatever the archive says of places, links and rights. Each appears under its
    /// name when it is whole, the list of checksums last.
    fn unpack(&self, cx: &Cx, archive: &Path, folder: &Path) -> Result<()> {
        let broken = |e: std::io::Error| Error::file(archive, format!("not an archive that can be unpacked: {e}"));
        let below = folder.join(self.folder);
        std::fs::create_dir_all(&below).map_err(|e| Error::file(&below, e))?;
        let task = cx.progress("unpacking", Some(self.members.len() as u64));
        let file = File::open(archive).map_err(|e| Error::file(archive, e))?;
        let mut packed = tar::Archive::new(GzDecoder::new(std::io::BufReader::new(file)));
        let mut sums = std::collections::BTreeMap::new();
        for entry in packed.entries().map_err(broken)? {
            cx.check()?;
            let mut entry = entry.map_err(broken)?;
            let path = entry.path().map_err(broken)?.into_owned();
            let wanted = self.members.iter().find(|member| path == Path::new(self.folder).join(member));
            let Some(member) = wanted.filter(|member| !sums.contains_key(*member)) else { continue };
            if !entry.header().entry_type().is_file() {
                return Err(Error::file(archive, format!("{} is not a plain file in it", path.display())));
            }
            cx.write_with(&below.join(member), |temporary| {
                let mut out = File::create(temporary).map_err(|e| Error::file(temporary, e))?;
                sums.insert(*member, copy(&mut entry, &mut out).map_err(|e| Error::file(temporary, e))?);
                out.sync_all().map_err(|e| Error::file(temporary, e))
            })?;
            task.advance(1);
        }
        if let Some(missing) = self.members.iter().find(|member| !sums.contains_key(*member)) {
            return Err(Error::file(archive, format!("{}/{missing} is not in it", self.folder)));
        }
        let text: String = sums.iter().map(|(member, sum)| format!("{sum}  {member}\n")).collect();
        let path = below.join(SUMS);
        cx.write_with(&path, |temporary| std::fs::write(temporary, text).map_err(|e| Error::file(temporary, e)))
    }
}
