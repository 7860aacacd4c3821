//! Files that one data set is divided into: which they are, and the pictures that they hold, put together in order.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::contents::PictureContents;
use super::memory::numbered_classes;
use super::numbering::Classes;
use crate::core::{Cx, Digest, Error, Result, in_parallel, suggestion};

/// Shards of one set, at most.
const MOST_SHARDS: usize = 1_000_000;

/// What shards are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShardKind {
    Tar,
    Parquet,
}

impl ShardKind {
    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        match ending {
            _ if ending.eq_ignore_ascii_case("tar") => Some(Self::Tar),
            _ if ending.eq_ignore_ascii_case("parquet") => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// The shards that a path stands for, if it stands for any: a `.tar` or `.parquet` file, a folder of files of one of these kinds, or
/// several by a range of numbers as in `train-{0000..0099}.tar`. `split`: a folder in that folder, or how the names of files
/// begin that are called as Hugging Face calls them, `train-00000-of-00010.parquet`.
pub(super) fn shards(cx: &Cx, what: &str, split: Option<&str>) -> Result<Option<(ShardKind, Vec<PathBuf>)>> {
    if let Some(names) = range_of_numbers(what)? {
        let Some(kind) = ShardKind::of(Path::new(what)) else {
            return Err(Error::argument(format!("{what}: a range of numbers stands for .tar or .parquet files")));
        };
        return Ok(Some((kind, names.iter().map(|name| cx.find(name)).collect::<Result<_>>()?)));
    }
    let Ok(mut path) = cx.find(what) else { return Ok(None) };
    let below = split.map(|split| path.join(split)).filter(|below| below.is_dir());
    let split = split.filter(|_| below.is_none());
    path = below.unwrap_or(path);
    if path.is_file() {
        let Some(kind) = ShardKind::of(&path) else { return Ok(None) };
        return match split {
            Some(split) => Err(Error::argument(format!("{what}: one file has no {split:?} part"))
                .hint("`split` picks among the files of a folder")),
            None => Ok(Some((kind, vec![path]))),
        };
    }
    let Ok(entries) = std::fs::read_dir(&path) else { return Ok(None) };
    let mut found: Vec<(ShardKind, PathBuf)> = vec![];
    for entry in entries.flatten() {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        found.extend(ShardKind::of(&entry.path()).filter(|_| !hidden).map(|kind| (kind, entry.path())));
    }
    let Some(&(kind, _)) = found.first() else { return Ok(None) };
    if let Some((_, other)) = found.iter().find(|(other, _)| *other != kind) {
        return Err(Error::file(&path, "it holds .tar files and .parquet files").hint(format!(
            "name one file such as {}, or a range of them: \"train-{{0000..0009}}.tar\"",
            other.display()
        )));
    }
    let mut paths: Vec<PathBuf> = found.into_iter().map(|(_, path)| path).collect();
    paths.sort();
    let paths = parts(&path, paths, split)?;
    Ok(Some((kind, paths)))
}

/// What a name such as `train-00003-of-00010.parquet` says: the part that it belongs to, its number and how many there are.
fn numbered_part(path: &Path) -> Option<(&str, usize, usize)> {
    let (before, count) = path.file_stem()?.to_str()?.rsplit_once("-of-")?;
    let (part, number) = before.rsplit_once('-')?;
    // The count may be followed by a hash, as datasets calls files of its cache.
    let count = count.split('-').next()?;
    Some((part, number.parse().ok()?, count.parse().ok()?))
}

/// The shards of one part, none of which may be missing where their names say how many there are.
fn parts(folder: &Path, paths: Vec<PathBuf>, split: Option<&str>) -> Result<Vec<PathBuf>> {
    let mut names: Vec<&str> = paths.iter().filter_map(|path| Some(numbered_part(path)?.0)).collect();
    names.dedup();
    let list = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let wanted = match (split, &names[..]) {
        (Some(split), _) if names.contains(&split) => Some(split),
        (Some(split), _) => {
            return Err(Error::argument(format!("{}: there is no {split:?} part", folder.display())).hint(match names
                .is_empty()
            {
                true => "`split` picks a folder, or files that are called like train-00000-of-00010".to_string(),
                false => format!("there are {list}; {}", suggestion(split, names.iter().copied())),
            }));
        }
        (None, [_, _, ..]) => {
            return Err(Error::argument(format!("{} holds the parts {list}", folder.display()))
                .hint(format!("say which: `split: {:?}`", names[0])));
        }
        (None, _) => names.first().copied(),
    };
    let Some(wanted) = wanted else { return Ok(paths) };
    let other = paths.iter().find(|path| numbered_part(path).is_none());
    if let (Some(other), None) = (other, split) {
        return Err(Error::file(other, format!("a file beside the shards of {wanted:?}"))
            .hint(format!("say which are meant: `split: {wanted:?}`, or name the file")));
    }
    let of_part = |path: &PathBuf| {
        let (part, number, count) = numbered_part(path)?;
        (part == wanted).then(|| (number, count, path.clone()))
    };
    // Names need not be as wide as each other.
    let mut own: Vec<(usize, usize, PathBuf)> = paths.iter().filter_map(of_part).collect();
    own.sort();
    let Some((of_first, of)) = own.first().map(|(number, count, _)| (*number, *count)) else { return Ok(vec![]) };
    let range = "\"train-{00000..00009}-of-00010.parquet\"";
    if let Some((_, other, path)) = own.iter().find(|(_, count, _)| *count != of) {
        return Err(Error::file(path, format!("one of {other} shards, and {} is one of {of}", own[0].2.display()))
            .hint(format!(
                "shards of two data sets lie in one folder: name those that are meant by a range, {range}"
            )));
    }
    if let Some([(number, _, one), (.., other)]) = own.windows(2).find(|two| two[0].0 == two[1].0) {
        return Err(Error::file(folder, format!("{} and {} are both number {number}", one.display(), other.display()))
            .hint(format!("name those that are meant by a range, {range}")));
    }
    // Most count from 0, some from 1.
    let first = usize::from(of_first > 0 && own.iter().any(|(number, ..)| *number == of));
    let missing: Vec<usize> = (first..of.min(MOST_SHARDS) + first)
        .filter(|wanted| own.binary_search_by(|(number, ..)| number.cmp(wanted)).is_err())
        .collect();
    match missing.first() {
        None if own.len() == of => Ok(own.into_iter().map(|(.., path)| path).collect()),
        missing => {
            let missing = missing.copied().unwrap_or(of);
            Err(Error::file(
                folder,
                format!("{} of {of} shards of {wanted:?} are there; number {missing} is missing", own.len()),
            )
            .hint(format!("fetch it; those that are there can be named by a range, {range}")))
        }
    }
}

/// `a{08..11}b` as a08b, a09b, a10b, a11b.
fn range_of_numbers(what: &str) -> Result<Option<Vec<String>>> {
    let Some((before, (inside, after))) =
        what.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return Ok(None);
    };
    let Some((first, last)) = inside.split_once("..") else { return Ok(None) };
    let (Ok(from), Ok(to)) = (first.parse::<usize>(), last.parse::<usize>()) else { return Ok(None) };
    if after.contains('{') || from > to || to - from >= MOST_SHARDS {
        return Err(Error::argument(format!(
            "{what}: wanted is one range of numbers that grow, such as {{0000..0099}}"
        )));
    }
    let width = if first.starts_with('0') { first.len() } else { 0 };
    Ok(Some((from..=to).map(|number| format!("{before}{number:0width$}{after}")).collect()))
}

/// Pictures of shards in their order, `P` being where one lies.
pub(super) struct Indexed<P> {
    pub pictures: Vec<P>,
    pub labels: Vec<i64>,
    pub contents: Vec<PictureContents>,
}

impl<P> Default for Indexed<P> {
    fn default() -> Self {
        Self { pictures: vec![], labels: vec![], contents: vec![] }
    }
}

impl<P: Clone> Indexed<P> {
    pub fn push(&mut self, picture: P, label: i64, contents: PictureContents) {
        self.pictures.push(picture);
        self.labels.push(label);
        self.contents.push(contents);
    }

    pub fn extend(&mut self, other: Self) {
        self.pictures.extend(other.pictures);
        self.labels.extend(other.labels);
        self.contents.extend(other.contents);
    }

    /// Those of these rows, or all, with the digest of pictures and labels in this order: the same however they are divided.
    pub fn choose(self, rows: Option<Vec<usize>>) -> (Self, Digest) {
        let rows = rows.unwrap_or_else(|| (0..self.pictures.len()).collect());
        let line = |&row: &usize| format!("{} {}\n", self.labels[row], self.contents[row].digest.hex());
        let digest = Digest::of(rows.iter().map(line).collect::<String>().as_bytes());
        let labels = rows.iter().map(|&row| self.labels[row]).collect();
        let contents = rows.iter().map(|&row| self.contents[row]).collect();
        let pictures = rows.iter().map(|&row| self.pictures[row].clone()).collect();
        (Self { pictures, labels, contents }, digest)
    }

    /// What the classes are called: as the caller says, as the files do, or by their numbers.
    pub fn classes(
        &self,
        cx: &Cx,
        name: &str,
        classes: &Classes,
        of_files: Option<Vec<String>>,
    ) -> Result<Vec<String>> {
        match classes.names(cx).map_err(|e| e.during(name))?.or(of_files) {
            Some(names) => Ok(names),
            None => numbered_classes(&self.labels).map_err(|e| e.during(name)),
        }
    }
}

/// Reads parts of shards on all threads and puts what they give together in order; `read` looks at whether to stop.
pub(super) fn read_in_order<T: Sync, F: Send>(
    cx: &Cx,
    what: &str,
    parts: &[T],
    read: impl Fn(&T) -> Result<F> + Sync,
    mut put: impl FnMut(F) -> Result<()>,
) -> Result<()> {
    let task = cx.progress(what, Some(parts.len() as u64));
    for part in parts.chunks(rayon::current_num_threads().max(1)) {
        cx.check()?;
        let found = in_parallel(|| part.par_iter().map(&read).collect::<Result<Vec<_>>>())?;
        cx.check()?;
        found?.into_iter().try_for_each(&mut put)?;
        task.advance(part.len() as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_webdataset_reads_them() {
        let names = range_of_numbers("v-{08..11}.tar").expect("a range").expect("some");
        assert_eq!(names, ["v-08.tar", "v-09.tar", "v-10.tar", "v-11.tar"]);
        assert_eq!(range_of_numbers("v-{9..10}").expect("a range"), Some(vec!["v-9".into(), "v-10".into()]));
        assert!(range_of_numbers("v-{2..1}.tar").is_err() && range_of_numbers("v.tar").expect("none").is_none());
    }

    #[test]
    fn shards_of_one_part_are_all_there_or_refused() {
        let of = |names: &[&str], split| {
            let paths = names.iter().map(PathBuf::from).collect();
            parts(Path::new("f"), paths, split).map(|found| found.len()).map_err(|error| error.message)
        };
        let (two, both) = (
            ["a-00000-of-00002.parquet", "a-00001-of-00002.parquet"],
            ["a-00000-of-00001.parquet", "b-00000-of-00001.parquet"],
        );
        assert_eq!(
            (of(&two, None), of(&both, Some("b")), of(&["x.parquet", "y.parquet"], None)),
            (Ok(2), Ok(1), Ok(2))
        );
        let plain: Vec<String> = (0..12).map(|number| format!("a-{number}-of-12.tar")).collect();
        let mut sorted = plain.clone();
        sorted.sort();
        let found = parts(Path::new("f"), sorted.iter().map(PathBuf::from).collect(), None).expect("all are there");
        assert_eq!(found, plain.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["a-1-of-2.tar", "a-2-of-2.tar"], None), Ok(2));
        for (names, split, words) in [
            (&two[1..], None, "1 of 2 shards of \"a\" are there; number 0 is missing"),
            (&["a-1-of-3.tar", "a-3-of-3.tar"][..], None, "2 of 3 shards of \"a\" are there; number 2 is missing"),
            (
                &["a-0-of-2.tar", "a-00-of-2.tar", "a-1-of-2.tar"][..],
                None,
                "a-0-of-2.tar and a-00-of-2.tar are both number 0",
            ),
            (&both[..], None, "holds the parts \"a\", \"b\""),
            (&both[..], Some("c"), "there is no \"c\" part"),
            (&["a-00000-of-00001.parquet", "x.parquet"][..], None, "a file beside the shards"),
            (&["a-00000-of-00001.parquet", "a-00000-of-00002.parquet"][..], None, "one of 2 shards"),
            (&["x.parquet"][..], Some("x"), "there is no \"x\" part"),
        ] {
            let said = of(names, split).expect_err(words);
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}
