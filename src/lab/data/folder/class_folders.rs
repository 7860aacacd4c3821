//! A folder per class, whose name is the class's.

use std::path::{Path, PathBuf};

use super::super::numbering::{ALPHABETICALLY, Classes, Numbered, number};
use super::super::picture;
use super::listing::{Listing, images, is_hidden, name_of, shown, sorted};
use crate::core::{Cx, Error, Result};

/// How folders are called that are parts of a data set.
pub(super) const PARTS: [&str; 15] = [
    "train",
    "training",
    "test",
    "testing",
    "val",
    "valid",
    "validation",
    "dev",
    "eval",
    "extra",
    "unlabeled",
    "unlabelled",
    "pred",
    "holdout",
    "evaluation",
];

/// How that part is called which classifiers learn from.
const TRAINING: [&str; 2] = ["train", "training"];

/// How folders are called that hold all pictures, whatever they show.
const ALL: [&str; 7] = ["images", "imgs", "img", "pictures", "photos", "masks", "labels"];

/// Whether folders are called as parts of a data set, two by these very names, or all of them with a word beside: `train2017`, `seg_test`.
/// There are classes such as `train_station`.
fn are_no_classes(names: &[String]) -> bool {
    let is_one = |word: &str| PARTS.contains(&word) || ALL.contains(&word);
    // trainA, testset
    let ended = |word: &str| {
        let rest = PARTS.iter().find_map(|part| word.strip_prefix(part));
        rest.is_some_and(|rest| ["a", "b", "set", "data", "images"].contains(&rest))
    };
    let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let words = |name: &String| name.split(|sign: char| !sign.is_alphabetic()).any(|word| is_one(word) || ended(word));
    names.iter().filter(|name| is_one(name)).count() > 1 || names.iter().all(words)
}

fn no_classes(folder: &Path, names: &[String], deeper: bool) -> Error {
    let what = "its folders are called as parts of a data set are, or as folders of all pictures, not as classes";
    let part = format!("`split: {:?}` loads one part", names[0]);
    Error::file(folder, format!("{what}: {}", names.join(", "))).hint(match deeper {
        true => part,
        false => part + "; `classes: \"alphabetical\"` takes them for classes",
    })
}

/// Whether there are pictures in a folder, or in folders inside of it; what can't be looked into says so elsewhere.
fn holds_pictures(cx: &Cx, folder: &Path) -> Result<bool> {
    cx.check()?;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let hidden = |path: &PathBuf| is_hidden(path);
    for path in entries.filter(|path| !hidden(path)).take(10_000) {
        let found = match path.is_dir() && !path.is_symlink() {
            true => holds_pictures(cx, &path)?,
            false => picture::is_named_as_one(&path) && path.is_file(),
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The pictures of one class, and how many files are pictures by what they hold and not by their names.
struct ClassFolder {
    images: Vec<PathBuf>,
    unnamed: usize,
}

impl ClassFolder {
    /// `siblings`: all folders beside it, and itself.
    fn read(cx: &Cx, class: &Path, siblings: &[&PathBuf]) -> Result<Self> {
        let inside = sorted(class)?;
        let mut images = images(&inside)?;
        let is_unnamed =
            |path: &&PathBuf| path.is_file() && !picture::is_named_as_one(path) && picture::begins_as_one(path);
        let unnamed = inside.iter().filter(is_unnamed).count();
        // As Tiny ImageNet has them, beside their boxes.
        let below = class.join("images");
        let nested =
            class.join(format!("{}_boxes.txt", name_of(class))).is_file() && images.is_empty() && below.is_dir();
        if nested {
            images = self::images(&sorted(&below)?)?;
            return Ok(ClassFolder { images, unnamed });
        }
        let move_up = "images are read from class folders, not from folders inside of them: move them up, or elsewhere";
        let mut deeper = inside.iter().filter(|path| path.is_dir() && !images.contains(path));
        if !images.is_empty() {
            // Their images would be missing without a word.
            return match deeper.next() {
                Some(deeper) => Err(Error::file(deeper, "a folder beside the images of a class").hint(move_up)),
                None => Ok(ClassFolder { images, unnamed }),
            };
        }
        for deeper in deeper {
            if !holds_pictures(cx, deeper)? {
                continue;
            }
            let all: Vec<String> = siblings.iter().map(|path| name_of(path)).collect();
            return Err(match are_no_classes(&all) {
                true => no_classes(class.parent().unwrap_or(class), &all, true),
                false => Error::file(deeper, "pictures in a folder inside of a class folder that has none itself")
                    .hint(move_up),
            });
        }
        Ok(ClassFolder { images, unnamed })
    }
}

/// What the training images beside a part of a data set say of how classes are numbered.
enum Training {
    /// There are none.
    None,
    /// These classes, in the folder of this name.
    Learned(String, Vec<String>),
    /// There are some, of which nothing can be known: why.
    Unknown(String),
}

/// Folders that would be called as this part is if they were the training images: `train` for `test`, `seg_train` for `seg_test`.
fn called_training(part: &Path) -> Vec<PathBuf> {
    let name = name_of(part);
    let lower = name.to_lowercase();
    let is_letter = |sign: Option<char>| sign.is_some_and(char::is_alphabetic);
    let mut found = vec![];
    for word in PARTS.iter().filter(|word| !TRAINING.contains(word)) {
        let stands_alone = |at: usize| {
            !is_letter(lower[..at].chars().next_back()) && !is_letter(lower[at + word.len()..].chars().next())
        };
        let Some(at) = lower.find(word).filter(|at| lower.len() == name.len() && stands_alone(*at)) else { continue };
        let own = &name[at..at + word.len()];
        for training in TRAINING {
            let spelt = match own.chars().filter(|letter| letter.is_uppercase()).count() {
                0 => training.to_string(),
                1 => training[..1].to_uppercase() + &training[1..],
                _ => training.to_uppercase(),
            };
            found.push(part.with_file_name(format!("{}{spelt}{}", &name[..at], &name[at + word.len()..])));
        }
    }
    found
}

/// The classes whose numbers are those that a classifier learned.
fn of_training(cx: &Cx, part: &Path) -> Result<Training> {
    let part = std::path::absolute(part).unwrap_or_else(|_| part.to_path_buf());
    for training in called_training(&part).into_iter().filter(|path| path.is_dir()) {
        let name = name_of(&training);
        if cx.check_read(&training).is_err() || std::fs::read_dir(&training).is_err() {
            return Ok(Training::Unknown(format!("{name} beside it can't be read")));
        }
        let (mut names, mut empty) = (vec![], 0);
        for class in sorted(&training)?.into_iter().filter(|path| path.is_dir()) {
            match holds_pictures(cx, &class)? {
                true => names.push(name_of(&class)),
                false => empty += 1,
            }
        }
        match (names.is_empty(), empty) {
            (true, _) => {}
            (false, 0) => return Ok(Training::Learned(name, names)),
            (false, _) => return Ok(Training::Unknown(format!("{empty} folders of {name} beside it are empty"))),
        }
    }
    Ok(Training::None)
}

/// The pictures of the class folders among `entries`, none where none of them has any.
pub(super) fn list(cx: &Cx, folder: &Path, entries: &[PathBuf], classes: &Classes) -> Result<Option<Listing>> {
    let folders: Vec<&PathBuf> = entries.iter().filter(|path| path.is_dir()).collect();
    let (mut names, mut empty, mut found, mut unnamed) = (vec![], vec![], vec![], 0);
    for class in &folders {
        cx.check()?;
        let read = ClassFolder::read(cx, class, &folders)?;
        unnamed += read.unnamed;
        match read.images.is_empty() {
            true => empty.push(class),
            false => {
                names.push(name_of(class));
                found.push(read.images);
            }
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    if matches!(classes, Classes::AsNamed) && are_no_classes(&names) {
        return Err(no_classes(folder, &names, false));
    }
    let mut numbered = number(cx, &names, classes).map_err(|e| e.during(&shown(folder)))?;
    let mut doubt = None;
    if matches!(classes, Classes::AsNamed) && numbered.depends_on_others() {
        let by_itself = "so that it is numbered by its own folders, as classifiers need not have learned it";
        match of_training(cx, folder)? {
            Training::None => {}
            Training::Learned(beside, learned) if names.iter().any(|name| learned.contains(name)) => {
                numbered = numbered.numbered_as(&names, &learned, &beside);
            }
            Training::Learned(beside, _) => {
                doubt = Some(format!("none of its folders is called as one of {beside} beside it, {by_itself}"));
            }
            Training::Unknown(why) => doubt = Some(format!("{why}, {by_itself}")),
        }
    }
    let Numbered { labels, classes: known, how } = numbered;
    // Whether a folder without images is a class decides the numbers of those behind it.
    if let (Some(class), true) = (empty.first(), how == ALPHABETICALLY) {
        return Err(Error::file(class, "no images in this folder, beside folders of images")
            .hint("remove it, or name the classes in their order: `classes: [\"first\", \"second\", ...]`"));
    }
    let mut listing = Listing { classes: known, numbered: how, ..Listing::default() };
    for (images, label) in found.into_iter().zip(labels) {
        listing.labels.extend(std::iter::repeat_n(label, images.len()));
        listing.files.extend(images.iter().filter_map(|path| path.strip_prefix(folder).ok().map(Path::to_path_buf)));
    }
    let loose = entries.iter().filter(|path| !path.is_dir() && picture::is_named_as_one(path));
    let mut listing = listing.without(loose.count());
    if let Some(doubt) = doubt {
        listing.noticed.push(format!("{}: {doubt}", shown(folder)));
    }
    if unnamed > 0 {
        listing.numbered += &format!(", which leaves out {unnamed} pictures whose names do not end as a picture's do");
    }
    Ok(Some(listing))
}
