//! Which number a class has whose name is all that is known, such as the name of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::sheet::{Sheet, bytes};
use crate::core::{Budget, Cx, Error, Result, cut, strict_json, suggestion};

/// More classes than any data set has; keeps a stray label from naming millions.
pub(super) const MAX_CLASSES: usize = 1_000_000;

/// WordNet ids of ImageNet-1k's classes, in the order of their numbers (as in timm's `imagenet_synsets.txt`).
static IMAGENET: &str = include_str!("imagenet_wnids.txt");

/// Names that are larger numbers are no class numbers.
const LARGEST_NUMBER: u64 = 100_000;

/// How `ImageFolder` numbers, which depends on which classes are there.
pub(super) const ALPHABETICALLY: &str = "in alphabetical order";

const BY_NAME: &str = "by their names";
const BY_WNID: &str = "as ImageNet-1k's, by their WordNet ids";

/// What the caller says of the classes.
#[derive(Debug, Clone, Default)]
pub enum Classes {
    /// What names mean by themselves.
    #[default]
    AsNamed,
    /// Names in alphabetical order, whatever they mean, as torchvision's `ImageFolder` numbers them.
    Alphabetical,
    /// Names in the order of their numbers.
    Named(Vec<String>),
    /// A file of names: see `from_file`.
    File(PathBuf),
}

impl Classes {
    /// The names that were given, if some were: the first spelling of each.
    pub(super) fn names(&self, cx: &Cx) -> Result<Option<Vec<String>>> {
        match self {
            Self::AsNamed => Ok(None),
            Self::Alphabetical => {
                Err(Error::argument("`classes: \"alphabetical\"` numbers folders, which are not there")
                    .hint("the classes of this data set have numbers; `classes` may give their names"))
            }
            Self::Named(names) => Ok(Some(names.clone())),
            Self::File(path) => Ok(from_file(cx, path)?.into_iter().next()),
        }
    }
}

/// Classes with their numbers.
pub(super) struct Numbered {
    /// One per name that was given.
    pub labels: Vec<i64>,
    /// By number.
    pub classes: Vec<String>,
    /// Ends the sentence "classes are numbered".
    pub how: String,
}

impl Numbered {
    /// Whether numbers, or how many there are, follow from which classes there are images of.
    pub fn depends_on_others(&self) -> bool {
        self.how != BY_WNID
    }

    /// As a classifier has learned to number classes from the folders of a part `beside`; classes that it never saw come behind them.
    pub fn numbered_as(self, names: &[String], learned: &[String], beside: &str) -> Self {
        let new: Vec<&String> = names.iter().filter(|name| !learned.contains(name)).collect();
        let missing = learned.iter().filter(|name| !names.contains(name)).count();
        let Ok(Self { mut classes, how, .. }) = by_meaning(learned) else { return self };
        if new.is_empty() && missing == 0 || self.how != how {
            return self;
        }
        let as_learned = match (missing, new.len()) {
            (0, new) => format!("{how} of the folders of {beside}, which lacks {new}"),
            (missing, 0) => format!("{how} of the folders of {beside}, without images of {missing}"),
            (missing, new) => {
                format!("{how} of the folders of {beside}, which lacks {new}, without images of {missing}")
            }
        };
        if how == BY_NAME {
            classes.extend(self.classes.iter().skip(classes.len()).cloned());
            return Self { classes, how: as_learned, ..self };
        }
        classes.extend(new.into_iter().cloned());
        let place = |name: &String| classes.iter().position(|class| class == name).unwrap_or_default() as i64;
        Self { labels: names.iter().map(place).collect(), how: as_learned, classes }
    }
}

/// Numbers names, which are sorted and differ.
pub(super) fn number(cx: &Cx, names: &[String], classes: &Classes) -> Result<Numbered> {
    match classes {
        Classes::AsNamed => by_meaning(names),
        Classes::Alphabetical => Ok(alphabetically(names)),
        Classes::Named(order) => {
            check_names(order).and_then(|()| in_order(names, std::slice::from_ref(order), "as `classes` says"))
        }
        Classes::File(path) => {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            in_order(names, &from_file(cx, path)?, &format!("as {file} says"))
        }
    }
}

fn alphabetically(names: &[String]) -> Numbered {
    Numbered { labels: (0..names.len() as i64).collect(), classes: names.to_vec(), how: ALPHABETICALLY.into() }
}

fn by_meaning(names: &[String]) -> Result<Numbered> {
    let numbers: Vec<Option<u64>> = names.iter().map(|name| whole_number(name)).collect();
    let wnids: Vec<Option<i64>> = names.iter().map(|name| imagenet_number(name)).collect();
    let refused = |what: String| Err(Error::data(what).hint(WAYS_OUT));
    if let (Some(some), Some(other)) = (first(names, &numbers, true), first(names, &numbers, false)) {
        return refused(format!(
            "some classes are called by numbers, such as {some:?}, and some are not, such as {other:?}"
        ));
    }
    if let (Some(some), Some(other)) = (first(names, &wnids, true), first(names, &wnids, false)) {
        return refused(format!("{some:?} is a class of ImageNet-1k, {other:?} is none"));
    }
    let (labels, mut classes, how): (Vec<i64>, Vec<String>, &str) = if first(names, &numbers, true).is_some() {
        let numbers: Vec<u64> = numbers.into_iter().flatten().collect();
        if let Some(&large) = numbers.iter().find(|&&number| number > LARGEST_NUMBER) {
            return refused(format!("a class called {large} would be one of {}", large.saturating_add(1)));
        }
        let most = numbers.iter().copied().max().unwrap_or_default();
        let gaps = (0..=most).map(|number| number.to_string()).collect();
        (numbers.into_iter().map(|number| number as i64).collect(), gaps, BY_NAME)
    } else if first(names, &wnids, true).is_some() {
        let all = imagenet_wnids();
        (wnids.into_iter().flatten().collect(), all, BY_WNID)
    } else {
        return Ok(alphabetically(names));
    };
    let mut own: BTreeMap<i64, &String> = BTreeMap::new();
    for (&label, name) in labels.iter().zip(names) {
        if let Some(other) = own.insert(label, name) {
            return refused(format!("{other:?} and {name:?} both mean class {label}"));
        }
        classes[label as usize] = name.clone();
    }
    Ok(Numbered { labels, classes, how: how.into() })
}

const WAYS_OUT: &str = "say how classes are numbered: `classes: [\"first\", \"second\", ...]`, a file of names such as \
                        `classes: \"names.txt\"`, or `classes: \"alphabetical\"`";

/// The first name that has a number, or none.
fn first<'a, T>(names: &'a [String], numbers: &[Option<T>], has: bool) -> Option<&'a String> {
    names.iter().zip(numbers).find(|(_, number)| number.is_some() == has).map(|(name, _)| name)
}

fn whole_number(name: &str) -> Option<u64> {
    let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| name.parse().unwrap_or(u64::MAX))
}

/// The number of a class of ImageNet-1k whose name is or begins with a WordNet id: `n01440764`, `n01440764_tench`.
pub(super) fn imagenet_number(name: &str) -> Option<i64> {
    let (wnid, rest) = name.split_at_checked(9)?;
    if rest.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    // Every line has nine letters and its end.
    let lines: Vec<&[u8]> = IMAGENET.as_bytes().chunks(10).map(|line| &line[..9]).collect();
    lines.binary_search(&wnid.as_bytes()).ok().map(|number| number as i64)
}

/// The ids of all classes of ImageNet-1k.
pub(super) fn imagenet_wnids() -> Vec<String> {
    IMAGENET.lines().map(String::from).collect()
}

/// Numbers by the first of several spellings of an order that holds all names.
fn in_order(names: &[String], spellings: &[Vec<String>], how: &str) -> Result<Numbered> {
    let places = |order: &'_ Vec<String>| -> BTreeMap<String, i64> {
        order.iter().enumerate().map(|(place, name)| (name.clone(), place as i64)).collect()
    };
    let mut best: Option<(usize, String, &Vec<String>)> = None;
    for order in spellings {
        let places = places(order);
        let labels: Vec<Option<&i64>> = names.iter().map(|name| places.get(name)).collect();
        match first(names, &labels, false) {
            None => {
                let labels = labels.into_iter().flatten().copied().collect();
                return Ok(Numbered { labels, classes: order.clone(), how: how.into() });
            }
            Some(missing) => {
                let found = labels.iter().flatten().count();
                if best.as_ref().is_none_or(|(most, ..)| found > *most) {
                    best = Some((found, missing.clone(), order));
                }
            }
        }
    }
    let (_, missing, order) = best.unwrap_or((0, names.first().cloned().unwrap_or_default(), &spellings[0]));
    Err(Error::data(format!("the class {missing:?} is not among `classes`"))
        .hint(suggestion(&missing, order.iter().map(String::as_str))))
}

/// Names by number: of a CSV file with the column `index` one spelling per further column; of a JSON file an array of names or a
/// map from names to numbers or back; of any other file one name a line.
fn from_file(cx: &Cx, path: &Path) -> Result<Vec<Vec<String>>> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    let (bytes, budget) = bytes(cx, path)?;
    let spellings = match ending.as_str() {
        "csv" => names_of_table(path, &bytes, &budget)?,
        "json" => vec![names_of_json(path, &bytes, &budget)?],
        _ => {
            let text = std::str::from_utf8(&bytes).map_err(|_| Error::file(path, "not a text"))?;
            let count = bytes.iter().filter(|&&byte| byte == b'\n').count();
            budget.items::<String>(2 * count, "its lines").map_err(|e| e.at(path))?;
            let lines = text.trim_start_matches('\u{feff}').trim_end().lines();
            let lines: Vec<String> = lines.map(|line| line.trim().to_string()).collect();
            let number = |word: Option<(&str, &str)>, first: bool| {
                word.and_then(|(a, b)| if first { a } else { b }.parse::<usize>().ok())
            };
            // Numbers in the order of the lines say the same as these do, or are a part of the names.
            let others = |first: bool| {
                let words =
                    |line: &String| number(if first { line.split_once(' ') } else { line.rsplit_once(' ') }, first);
                let numbers: Option<Vec<usize>> = lines.iter().map(words).collect();
                numbers.is_some_and(|numbers| {
                    let mut sorted = numbers.clone();
                    sorted.sort_unstable();
                    let counted =
                        sorted.windows(2).all(|two| two[0] + 1 == two[1]) && sorted.first().is_some_and(|n| *n < 2);
                    lines.len() > 1 && counted && sorted != numbers
                })
            };
            if others(true) || others(false) {
                return Err(Error::file(
                    path,
                    format!("its lines hold numbers beside names, such as {:?}, in another order", lines[0]),
                )
                .hint(
                    "write a name a line, in the order of their numbers, or a .csv with the columns `index` and `name`",
                ));
            }
            vec![lines]
        }
    };
    if spellings.is_empty() {
        return Err(Error::file(path, "no names of classes"));
    }
    for names in &spellings {
        check_names(names).map_err(|e| Error::file(path, e.message))?;
    }
    Ok(spellings)
}

/// Refuses orders in which a name is missing or stands twice.
fn check_names(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Err(Error::argument("no names of classes"));
    }
    let mut seen = BTreeSet::new();
    match names.iter().enumerate().find(|(_, name)| name.is_empty() || !seen.insert(name.as_str())) {
        Some((place, name)) if name.is_empty() => Err(Error::argument(format!("class {place} has no name"))),
        Some((place, name)) => Err(Error::argument(format!("class {place} is called {name:?}, as one before it"))),
        None => Ok(()),
    }
}

/// The names of numbered classes; missing ones are called by their number.
fn filled(path: &Path, names: BTreeMap<i64, String>, budget: &Budget) -> Result<Vec<String>> {
    let count = names.keys().max().map_or(0, |&most| most.saturating_add(1));
    if names.keys().any(|&number| number < 0) || count > MAX_CLASSES as i64 {
        return Err(Error::file(path, format!("class numbers count from 0 to at most {}", MAX_CLASSES - 1)));
    }
    // A column with one name may say that it is the millionth.
    let missing = count as usize - names.len().min(count as usize);
    budget.items::<String>(2 * missing, "the names of classes that it leaves out").map_err(|e| e.at(path))?;
    Ok((0..count).map(|number| names.get(&number).cloned().unwrap_or_else(|| number.to_string())).collect())
}

fn names_of_table(path: &Path, bytes: &[u8], budget: &Budget) -> Result<Vec<Vec<String>>> {
    let sheet = Sheet::new(path, bytes, budget)?;
    let Some(index) = sheet.sole_column(&["index", "label", "class"])? else {
        return Err(Error::file(path, format!("its columns are {}", cut(&sheet.head.join(", "), 300)))
            .hint("wanted are a column `index` of class numbers from 0 and one of names"));
    };
    let others: Vec<usize> = (0..sheet.head.len()).filter(|&column| column != index).collect();
    let mut spellings = vec![BTreeMap::new(); others.len()];
    for row in sheet.rows() {
        let (line, row) = row?;
        let number: i64 = row[index]
            .parse()
            .map_err(|_| Error::file(path, format!("line {line}: {:?} is no class number", &row[index])))?;
        for (names, &column) in spellings.iter_mut().zip(&others) {
            if !row[column].is_empty() {
                budget.take(128, "its names").map_err(|e| e.at(path))?;
                names.entry(number).or_insert_with(|| row[column].to_string());
            }
        }
    }
    let spellings = spellings.into_iter().filter(|names| !names.is_empty()).map(|names| filled(path, names, budget));
    let spellings = spellings.collect::<Result<Vec<_>>>()?;
    // A column in which names stand twice, such as one of families, numbers nothing.
    let (unique, doubtful): (Vec<_>, Vec<_>) = spellings.into_iter().partition(|names| check_names(names).is_ok());
    Ok(if unique.is_empty() { doubtful.into_iter().take(1).collect() } else { unique })
}

fn names_of_json(path: &Path, bytes: &[u8], budget: &Budget) -> Result<Vec<String>> {
    use serde_json::Value;
    let unfit = || {
        Error::file(
            path,
            "wanted are names of classes: [\"first\", \"second\"], {\"first\": 0, \"second\": 1} or {\"0\": \"first\"}",
        )
    };
    let value = strict_json(bytes, budget, |e| Error::file(path, e)).map_err(|e| e.at(path))?;
    let mut names = BTreeMap::new();
    match value {
        Value::Array(all) => {
            for (number, name) in all.iter().enumerate() {
                names.insert(number as i64, name.as_str().ok_or_else(unfit)?.to_string());
            }
        }
        Value::Object(map) => {
            for (key, value) in &map {
                let (number, name) = match value {
                    Value::String(name) => (key.parse().map_err(|_| unfit())?, name),
                    other => (other.as_i64().ok_or_else(unfit)?, key),
                };
                if let Some(other) = names.insert(number, name.clone()) {
                    return Err(Error::file(path, format!("{other:?} and {name:?} are both class {number}")));
                }
            }
        }
        _ => return Err(unfit()),
    }
    filled(path, names, budget)
}

/// Whether all classes are called by numbers, their own or others.
pub fn are_numerals(classes: &[String]) -> bool {
    classes.iter().all(|name| name.parse::<u64>().is_ok())
}

/// Whether classes are called by their numbers alone, as where nothing named them.
pub fn are_numbers(classes: &[String]) -> bool {
    classes.iter().enumerate().all(|(number, name)| *name == number.to_string())
}
