//! What two runs of one script left, file by file: equal, equal up to rounding, or where they differ first and by how much.

use std::path::Path;

use serde_json::Value as Json;

use crate::core::{Budget, Digest, Error, Result, cut, significant};
use crate::page::folder::{FolderFile, RunFolder};

/// What tells of a run and is no result of it.
const APART: [&str; 3] = ["manifest.json", "report.html", "script.rhai"];
/// Its first line is where the script lay, and warnings, which may be of the machine, are compared by themselves.
const REPORT: &str = "report.md";
const FOLDERS: [&str; 2] = ["modules/", "progress/"];

/// Files to this size are looked into; of larger ones the digests are compared.
const READ: u64 = 64 << 20;

/// A file of both folders, or of one.
pub struct ComparedFile {
    pub name: String,
    pub comparison: Comparison,
}

/// How a file of one folder compares with that of the other.
pub enum Comparison {
    Equal,
    /// No number is farther than rounding may bring it; in words, how far they are.
    Rounded(String),
    Different(String),
}

/// How far numbers may be apart, as a share of the largest in the same array or column, to be called equal up to rounding.
#[derive(Debug, Clone, Copy)]
pub struct Rounding(f64);

impl Rounding {
    /// 1,024 roundings of single precision, of which one is 2^-24 of a number.
    pub const SINGLE: Self = Self(1024.0 / (1u64 << 24) as f64);
    /// 16 roundings of TF32, of which one is 2^-11: these are the factors' alone, as sums are in single precision.
    pub const TF32: Self = Self(16.0 / (1u64 << 11) as f64);

    pub fn share(self) -> f64 {
        self.0
    }

    fn holds(self, a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= self.0 * scale.max(a.abs()).max(b.abs())
    }
}

/// Compares all that two runs saved and returned; without a rounding, whatever is not equal is different.
pub fn folders(there: &Path, here: &Path, rounding: Option<Rounding>) -> Result<Vec<ComparedFile>> {
    let listed = |root: &Path| {
        let folder = RunFolder::read(root, &root.join("report.html"))?;
        match folder.more {
            true => Err(Error::file(root, "more files than can be compared")),
            false => Ok(folder),
        }
    };
    let (there, here) = (listed(there)?, listed(here)?);
    let mut names: Vec<&str> = there.files.iter().chain(&here.files).map(|entry| entry.name.as_str()).collect();
    names.retain(|name| {
        !APART.contains(name)
            && !FOLDERS.iter().any(|folder| name.starts_with(folder))
            && !name.rsplit('/').next().is_some_and(|file| file.starts_with(".viva-"))
    });
    names.sort_unstable();
    names.dedup();
    // What the script answers comes first.
    names.sort_by_key(|name| *name != "results.json");
    names
        .into_iter()
        .map(|name| {
            let comparison = match (there.find(name), here.find(name)) {
                (Some(a), Some(b)) => compared(a, b, rounding)?,
                (Some(_), None) => Comparison::Different("is missing here".into()),
                _ => Comparison::Different("is new here".into()),
            };
            Ok(ComparedFile { name: name.into(), comparison })
        })
        .collect()
}

fn compared(there: &FolderFile, here: &FolderFile, rounding: Option<Rounding>) -> Result<Comparison> {
    let bytes = |entry: &FolderFile| entry.bytes(READ).map_err(|e| Error::file(&entry.path, e));
    if there.bytes.max(here.bytes) > READ {
        let same = Digest::of_file(&there.path)? == Digest::of_file(&here.path)?;
        return Ok(match same {
            true => Comparison::Equal,
            false => Comparison::Different(format!("differs ({} and {} bytes)", there.bytes, here.bytes)),
        });
    }
    let (a, b) = (bytes(there)?, bytes(here)?);
    if a == b {
        return Ok(Comparison::Equal);
    }
    if there.name == REPORT {
        return Ok(of_report(&a, &b, rounding));
    }
    let told = match there.ending().as_str() {
        "json" => of_json(&a, &b, rounding),
        "csv" => of_csv(&a, &b, rounding),
        "png" if rounding.is_some() => of_pictures(&a, &b),
        _ => None,
    };
    Ok(told.or_else(|| of_text(&a, &b, rounding)).unwrap_or_else(|| {
        let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        Comparison::Different(format!("differs from byte {at} on ({} and {} bytes)", a.len(), b.len()))
    }))
}

/// Differences between values, the first one in words and of numbers the farthest.
#[derive(Default)]
struct Differences {
    rounding: Option<Rounding>,
    values: usize,
    differing: usize,
    first: Option<String>,
    /// Relative, where, and in words.
    farthest: Option<(f64, String)>,
    /// Numbers that rounding may have moved, and how far at most, as a share.
    rounded: usize,
    most: f64,
    /// Hashes, which differ with any bit.
    hashes: usize,
}

impl Differences {
    fn within(rounding: Option<Rounding>) -> Self {
        Self { rounding, ..Self::default() }
    }

    fn add(&mut self, place: &str, said: String) {
        self.differing += 1;
        self.first.get_or_insert_with(|| format!("{place}: {said}"));
    }

    /// `scale`: the largest number beside them; none beside counts, which are not rounded.
    fn numbers(&mut self, place: &str, [a, b]: [f64; 2], scale: Option<f64>, words: [String; 2]) {
        let far = (a - b).abs();
        if let (Some(scale), Some(rounding)) = (scale, self.rounding)
            && rounding.holds(a, b, scale)
        {
            self.rounded += 1;
            self.most = self.most.max(far / scale.max(a.abs()).max(b.abs()));
            return;
        }
        let share = far / a.abs().max(b.abs());
        let said = match far.is_finite() {
            true => format!(
                "{} there, {} here ({} apart, {}%)",
                words[0],
                words[1],
                significant(far, 3),
                significant(100.0 * share, 3)
            ),
            false => format!("{} there, {} here", words[0], words[1]),
        };
        if self.farthest.as_ref().is_none_or(|(farthest, _)| share > *farthest) && share.is_finite() {
            self.farthest = Some((share, format!("{place}: {said}")));
        }
        self.add(place, said);
    }

    fn texts(&mut self, place: &str, a: &str, b: &str) {
        if self.rounding.is_some() && is_hash(place, a) && is_hash(place, b) && a.len() == b.len() {
            self.hashes += 1;
            return;
        }
        // What versions there are is told beside the results.
        if b == env!("CARGO_PKG_VERSION") && place.rsplit('.').next() == Some("version") {
            return;
        }
        self.add(place, format!("{:?} there, {:?} here", short(a), short(b)));
    }

    fn told(self, what: &str) -> Option<Comparison> {
        let Some(first) = self.first else {
            if self.rounded + self.hashes == 0 {
                return None;
            }
            let mut parts = vec![];
            if self.rounded > 0 {
                parts.push(format!(
                    "{} of {} {what} differ by rounding, at most by {} of the largest beside them",
                    self.rounded,
                    self.values,
                    significant(self.most, 2)
                ));
            }
            if self.hashes > 0 {
                let hashes = if self.hashes == 1 { "hash" } else { "hashes" };
                parts.push(format!("{} {hashes} of what differs by a bit", self.hashes));
            }
            return Some(Comparison::Rounded(parts.join("; ")));
        };
        let mut text = format!("{} of {} {what} differ, first {first}", self.differing, self.values);
        if let Some((_, farthest)) = self.farthest.filter(|(_, farthest)| *farthest != first) {
            text += &format!("; farthest {farthest}");
        }
        if self.rounded > 0 {
            text += &format!("; {} more by rounding", self.rounded);
        }
        Some(Comparison::Different(text))
    }
}

/// As hashes of models, data sets and transcripts are written, whole or shortened, where the place says so: names of files and ids of
/// tables have such letters too.
fn is_hash(place: &str, text: &str) -> bool {
    let name = place.rsplit(['.', ',']).next().unwrap_or(place);
    let told = ["hash", "sha256"].iter().any(|word| name.to_ascii_lowercase().contains(word));
    told && text.len() >= 12 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn of_json(a: &[u8], b: &[u8], rounding: Option<Rounding>) -> Option<Comparison> {
    // What is too large as values is compared as text.
    let value = |text: &[u8]| -> Option<Json> {
        Budget::unwatched(text.len() as u64, Budget::TEXT).at_most(1 << 30).json(text).ok()?;
        serde_json::from_slice(text).ok()
    };
    let (a, b) = (value(a)?, value(b)?);
    let mut found = Differences::within(rounding);
    walk("", &a, &b, 0.0, &mut found);
    found.told("values")
}

/// The largest number among some.
fn scale<'a>(values: impl Iterator<Item = &'a Json>) -> f64 {
    values.filter_map(Json::as_f64).map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// `beside`: the largest number in the same array.
fn walk(place: &str, a: &Json, b: &Json, beside: f64, found: &mut Differences) {
    let name = if place.is_empty() { "the result" } else { place };
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            let below = |key: &str| if place.is_empty() { key.to_string() } else { format!("{place}.{key}") };
            for (key, a) in a {
                match b.get(key) {
                    Some(b) => walk(&below(key), a, b, 0.0, found),
                    None => {
                        found.values += 1;
                        found.add(&below(key), "is missing here".into());
                    }
                }
            }
            for key in b.keys().filter(|key| !a.contains_key(*key)) {
                found.values += 1;
                found.add(&below(key), "is new here".into());
            }
        }
        (Json::Array(x), Json::Array(y)) => {
            if x.len() != y.len() {
                found.values += 1;
                found.add(name, format!("{} entries there, {} here", x.len(), y.len()));
            }
            let beside = scale(x.iter().chain(y));
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                walk(&format!("{place}[{i}]"), x, y, beside, found);
            }
        }
        _ => {
            found.values += 1;
            match (a, b) {
                _ if a == b => {}
                (Json::Number(x), Json::Number(y)) => {
                    let numbers = [x, y].map(|number| number.as_f64().unwrap_or(f64::NAN));
                    let counts = a.is_i64() && b.is_i64();
                    found.numbers(name, numbers, (!counts).then_some(beside), [a.to_string(), b.to_string()]);
                }
                (Json::String(x), Json::String(y)) => found.texts(name, x, y),
                _ => found.add(name, format!("{} there, {} here", short(&a.to_string()), short(&b.to_string()))),
            }
        }
    }
}

fn of_csv(a: &[u8], b: &[u8], rounding: Option<Rounding>) -> Option<Comparison> {
    let rows = |bytes: &[u8]| -> Option<Vec<csv::StringRecord>> {
        csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes)
            .records()
            .map(|row| row.ok())
            .collect()
    };
    let (a, b) = (rows(a)?, rows(b)?);
    let mut found = Differences::within(rounding);
    if a.len() != b.len() {
        found.values += 1;
        found.add("the table", format!("{} rows there, {} here", a.len().max(1) - 1, b.len().max(1) - 1));
    }
    let head = a.first()?;
    let mut largest = vec![0.0f64; head.len()];
    for row in a.iter().chain(&b).skip(1) {
        for (largest, field) in largest.iter_mut().zip(row) {
            *largest = field.parse::<f64>().ok().filter(|x| x.is_finite()).map_or(*largest, |x| largest.max(x.abs()));
        }
    }
    for (i, (a, b)) in a.iter().zip(&b).enumerate() {
        if a.len() != b.len() {
            found.values += 1;
            found.add(&format!("row {i}"), format!("{} fields there, {} here", a.len(), b.len()));
        }
        for (j, (a, b)) in a.iter().zip(b).enumerate() {
            found.values += 1;
            let place = || match i {
                0 => format!("head {}", j + 1),
                _ => format!("row {i}, {}", short(head.get(j).unwrap_or("?"))),
            };
            match (a.parse::<f64>(), b.parse::<f64>()) {
                _ if a == b => {}
                (Ok(x), Ok(y)) => {
                    let counts = a.parse::<i64>().is_ok() && b.parse::<i64>().is_ok();
                    let scale = largest.get(j).copied().filter(|_| !counts);
                    found.numbers(&place(), [x, y], scale, [a.into(), b.into()]);
                }
                _ => found.texts(&place(), a, b),
            }
        }
    }
    found.told("fields")
}

/// Numbers of a report stand in the files that it is made of, and are rounded in it once more: beside a rounding, words are compared.
fn of_report(a: &[u8], b: &[u8], rounding: Option<Rounding>) -> Comparison {
    let said = |bytes: &[u8]| -> String {
        let text = String::from_utf8_lossy(bytes);
        let own = |line: &&str| !line.is_empty() && !line.starts_with("warning: ");
        text.lines().skip(1).filter(own).map(|line| format!("{line}\n")).collect()
    };
    let (a, b) = (said(a), said(b));
    if a == b {
        return Comparison::Equal;
    }
    let words = |text: &str| words_of(text).map(str::to_string).collect::<Vec<_>>();
    match rounding {
        Some(_) if words(&a) == words(&b) => Comparison::Rounded("the same words; its numbers are not compared".into()),
        // The first line is not among these.
        _ => match of_text(format!("\n{a}").as_bytes(), format!("\n{b}").as_bytes(), None) {
            Some(told) => told,
            None => Comparison::Different("differs".into()),
        },
    }
}

/// A text without what rounding changes: numbers, and hashes.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| !word.contains(|letter: char| letter.is_ascii_digit()))
}

fn of_text(a: &[u8], b: &[u8], rounding: Option<Rounding>) -> Option<Comparison> {
    let (a, b) = (std::str::from_utf8(a).ok()?, std::str::from_utf8(b).ok()?);
    let (mut a_lines, mut b_lines) = (a.lines(), b.lines());
    let (mut number, mut rounded) = (0, 0);
    loop {
        number += 1;
        match (a_lines.next(), b_lines.next()) {
            (None, None) if rounded > 0 => {
                return Some(Comparison::Rounded(format!("{rounded} of {} lines differ by rounding", number - 1)));
            }
            (None, None) => return Some(Comparison::Different("the same lines, ended differently".into())),
            (x, y) if x == y => {}
            (Some(x), Some(y)) if rounding.is_some_and(|rounding| same_but_for_rounding(x, y, rounding)) => {
                rounded += 1
            }
            (x, y) => {
                let told = |line: Option<&str>| line.map_or("no line".into(), |line| format!("{:?}", short(line)));
                return Some(Comparison::Different(format!(
                    "differs from line {number} on: {} there, {} here",
                    told(x),
                    told(y)
                )));
            }
        }
    }
}

/// Whether two lines are the same words around numbers that rounding may have moved.
fn same_but_for_rounding(a: &str, b: &str, rounding: Rounding) -> bool {
    let of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-' | '+' | 'e');
    let parts = |line: &str| -> Vec<String> {
        let letters: Vec<char> = line.chars().collect();
        letters.chunk_by(|x, y| of_number(*x) == of_number(*y)).map(|part| part.iter().collect()).collect()
    };
    let (a, b) = (parts(a), parts(b));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| {
            let counts = a.parse::<i64>().is_ok() && b.parse::<i64>().is_ok();
            let close = || match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(a), Ok(b)) => rounding.holds(a, b, 0.0),
                _ => false,
            };
            a == b || (!counts && close())
        })
}

/// Figures whose lines rounding may have moved by a part of a pixel.
fn of_pictures(a: &[u8], b: &[u8]) -> Option<Comparison> {
    const MOVED: u8 = 8;
    let decoded = |bytes: &[u8]| {
        let mut reader = image::ImageReader::with_format(std::io::Cursor::new(bytes), image::ImageFormat::Png);
        let mut limits = image::Limits::default();
        limits.max_alloc = Some(READ * 4);
        reader.limits(limits);
        Some(reader.decode().ok()?.into_rgba8())
    };
    let (a, b) = (decoded(a)?, decoded(b)?);
    if a.dimensions() != b.dimensions() {
        return None;
    }
    let apart: Vec<u8> = a.iter().zip(b.iter()).map(|(a, b)| a.abs_diff(*b)).collect();
    let most = apart.iter().copied().max().unwrap_or(0);
    let share = apart.iter().filter(|far| **far > 0).count() as f64 / apart.len().max(1) as f64;
    let told = format!("{}% of the picture's values differ, by {most} of 255 at most", significant(100.0 * share, 2));
    Some(if most <= MOVED { Comparison::Rounded(told) } else { Comparison::Different(told) })
}

fn short(text: &str) -> String {
    cut(text, 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn different(comparison: Option<Comparison>) -> Option<String> {
        match comparison? {
            Comparison::Different(told) => Some(told),
            Comparison::Rounded(told) => panic!("only rounded: {told}"),
            Comparison::Equal => None,
        }
    }

    fn rounded(comparison: Option<Comparison>) -> String {
        match comparison {
            Some(Comparison::Rounded(told)) => told,
            Some(Comparison::Different(told)) => panic!("different: {told}"),
            _ => panic!("equal"),
        }
    }

    #[test]
    fn the_first_and_the_farthest_difference_are_named() {
        let there = b"{\"a\": 1, \"b\": {\"c\": [1.0, 2.0, 4.0]}}";
        let here = b"{\"a\": 1, \"b\": {\"c\": [1.0, 2.5, 8.0]}}";
        let told = different(of_json(there, here, None));
        assert_eq!(
            told.as_deref(),
            Some(
                "2 of 4 values differ, first b.c[1]: 2.0 there, 2.5 here (0.5 apart, 20.0%); \
                  farthest b.c[2]: 4.0 there, 8.0 here (4.0 apart, 50.0%)"
            )
        );
        let told = different(of_json(b"{\"a\": \"nan\", \"b\": 1}", b"{\"a\": 0.5, \"d\": 1}", None));
        assert_eq!(told.as_deref(), Some("3 of 3 values differ, first a: \"nan\" there, 0.5 here"));
        assert!(of_json(b"{\"a\": 1}", b"{ \"a\": 1 }", None).is_none());
        assert_eq!(
            different(of_json(b"[1, 2]", b"[1]", None)).as_deref(),
            Some("1 of 2 values differ, first the result: 2 entries there, 1 here")
        );
    }

    #[test]
    fn tables_and_texts_say_where() {
        let told = different(of_csv(b"a,b\n1,x\n2,y\n", b"a,b\n1,x\n2.5,z\n", None));
        assert_eq!(told.as_deref(), Some("2 of 6 fields differ, first row 2, a: 2 there, 2.5 here (0.5 apart, 20.0%)"));
        assert_eq!(
            different(of_csv(b"a\n1\n", b"a\n", None)).as_deref(),
            Some("1 of 2 fields differ, first the table: 1 rows there, 0 here")
        );
        let told = different(of_text(b"a\nb", b"a\nc", None));
        assert_eq!(told.as_deref(), Some("differs from line 2 on: \"b\" there, \"c\" here"));
    }

    #[test]
    fn rounding_moves_no_count_no_word_and_no_number_far() {
        let single = Some(Rounding::SINGLE);
        let json = |a: &str, b: &str| of_json(a.as_bytes(), b.as_bytes(), single);
        assert_eq!(
            rounded(json("[1.0, 1e-6, 3.0]", "[1.00001, 2e-6, 3.0]")),
            "2 of 3 values differ by rounding, at most by 3.3e-6 of the largest beside them"
        );
        assert_eq!(
            rounded(json("{\"hash\": \"0123456789abcdef\"}", "{\"hash\": \"fedcba9876543210\"}")),
            "1 hash of what differs by a bit"
        );
        assert!(different(json("{\"image\": \"000000397133\"}", "{\"image\": \"000000037777\"}")).is_some());
        // Alone, a number is its own measure; a count and a word have none.
        for (a, b) in [("{\"p\": 1e-6}", "{\"p\": 2e-6}"), ("[7, 1000000]", "[8, 1000000]"), ("[\"cat\"]", "[\"dog\"]")]
        {
            assert!(different(json(a, b)).is_some(), "{a} {b}");
        }
        let mixed = different(json("[1.0, 1.00001, 5.0]", "[1.0, 1.00002, 6.0]"));
        assert!(mixed.is_some_and(|told| told.ends_with("; 1 more by rounding")));
        let csv = |a: &str, b: &str| of_csv(a.as_bytes(), b.as_bytes(), single);
        rounded(csv("x,n\n0.5,3\n0.00001,4\n", "x,n\n0.500002,3\n0.000012,4\n"));
        assert!(different(csv("x,n\n0.5,3\n", "x,n\n0.500002,4\n")).is_some());
        let text = |a: &str, b: &str| of_text(a.as_bytes(), b.as_bytes(), single);
        assert_eq!(
            rounded(text("a\nerror 0.31234 of 20", "a\nerror 0.31235 of 20")),
            "1 of 2 lines differ by rounding"
        );
        for (a, b) in [("error 0.5 of 20", "error 0.5 of 21"), ("error 0.3", "error 0.4"), ("error 0.3", "loss 0.3")] {
            assert!(different(text(a, b)).is_some(), "{a} {b}");
        }
        let tf32 = Some(Rounding::TF32);
        assert!(matches!(of_json(b"[1.0]", b"[1.005]", tf32), Some(Comparison::Rounded(_))));
        assert!(different(of_json(b"[1.0]", b"[1.02]", tf32)).is_some());
    }

    #[test]
    fn pictures_may_differ_by_a_shade() {
        let png = |value: u8| {
            let mut bytes = std::io::Cursor::new(vec![]);
            let picture = image::RgbaImage::from_pixel(4, 4, image::Rgba([value, 9, 9, 255]));
            picture.write_to(&mut bytes, image::ImageFormat::Png).expect("a picture");
            bytes.into_inner()
        };
        assert_eq!(
            rounded(of_pictures(&png(100), &png(104))),
            "25.0% of the picture's values differ, by 4 of 255 at most"
        );
        assert!(different(of_pictures(&png(100), &png(140))).is_some());
        assert!(of_pictures(&png(100), b"none").is_none());
    }
}
