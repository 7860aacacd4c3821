//! What two runs of one script left, file by file: equal, or where they differ first and by how much.

use std::path::Path;

use serde_json::Value as Json;

use crate::core::{Budget, Digest, Error, Result, cut, significant};
use crate::page::folder::{FolderFile, RunFolder};

/// What tells of a run and is no result of it.
const APART: [&str; 4] = ["manifest.json", "report.md", "report.html", "script.rhai"];
const FOLDERS: [&str; 2] = ["modules/", "progress/"];

/// Files to this size are looked into; of larger ones the digests are compared.
const READ: u64 = 64 << 20;

/// A file of both folders, or of one.
pub struct ComparedFile {
    pub name: String,
    pub difference: Option<String>,
}

/// Compares all that two runs saved and returned.
pub fn folders(there: &Path, here: &Path) -> Result<Vec<ComparedFile>> {
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
            let difference = match (there.find(name), here.find(name)) {
                (Some(a), Some(b)) => difference(a, b)?,
                (Some(_), None) => Some("is missing here".into()),
                _ => Some("is new here".into()),
            };
            Ok(ComparedFile { name: name.into(), difference })
        })
        .collect()
}

fn difference(there: &FolderFile, here: &FolderFile) -> Result<Option<String>> {
    let bytes = |entry: &FolderFile| entry.bytes(READ).map_err(|e| Error::file(&entry.path, e));
    if there.bytes.max(here.bytes) > READ {
        let same = Digest::of_file(&there.path)? == Digest::of_file(&here.path)?;
        return Ok((!same).then(|| format!("differs ({} and {} bytes)", there.bytes, here.bytes)));
    }
    let (a, b) = (bytes(there)?, bytes(here)?);
    if a == b {
        return Ok(None);
    }
    let told = match there.ending().as_str() {
        "json" => of_json(&a, &b),
        "csv" => of_csv(&a, &b),
        _ => None,
    };
    Ok(Some(told.or_else(|| of_text(&a, &b)).unwrap_or_else(|| {
        let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        format!("differs from byte {at} on ({} and {} bytes)", a.len(), b.len())
    })))
}

/// Differences between values, the first one in words and of numbers the farthest.
#[derive(Default)]
struct Differences {
    values: usize,
    differing: usize,
    first: Option<String>,
    /// Relative, where, and in words.
    farthest: Option<(f64, String)>,
}

impl Differences {
    fn add(&mut self, place: &str, said: String) {
        self.differing += 1;
        self.first.get_or_insert_with(|| format!("{place}: {said}"));
    }

    fn numbers(&mut self, place: &str, a: f64, b: f64, words: [String; 2]) {
        let far = (a - b).abs();
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

    fn told(self, what: &str) -> Option<String> {
        let first = self.first?;
        let mut text = format!("{} of {} {what} differ, first {first}", self.differing, self.values);
        if let Some((_, farthest)) = self.farthest.filter(|(_, farthest)| *farthest != first) {
            text += &format!("; farthest {farthest}");
        }
        Some(text)
    }
}

fn of_json(a: &[u8], b: &[u8]) -> Option<String> {
    // What is too large as values is compared as text.
    let value = |text: &[u8]| -> Option<Json> {
        Budget::unwatched(text.len() as u64, Budget::TEXT).at_most(1 << 30).json(text).ok()?;
        serde_json::from_slice(text).ok()
    };
    let (a, b) = (value(a)?, value(b)?);
    let mut found = Differences::default();
    walk("", &a, &b, &mut found);
    found.told("values")
}

fn walk(place: &str, a: &Json, b: &Json, found: &mut Differences) {
    let name = if place.is_empty() { "the result" } else { place };
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            let below = |key: &str| if place.is_empty() { key.to_string() } else { format!("{place}.{key}") };
            for (key, a) in a {
                match b.get(key) {
                    Some(b) => walk(&below(key), a, b, found),
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
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                walk(&format!("{place}[{i}]"), x, y, found);
            }
        }
        _ => {
            found.values += 1;
            match (a.as_f64(), b.as_f64()) {
                _ if a == b => {}
                (Some(x), Some(y)) => found.numbers(name, x, y, [a.to_string(), b.to_string()]),
                _ => found.add(name, format!("{} there, {} here", short(&a.to_string()), short(&b.to_string()))),
            }
        }
    }
}

fn of_csv(a: &[u8], b: &[u8]) -> Option<String> {
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
    let mut found = Differences::default();
    if a.len() != b.len() {
        found.values += 1;
        found.add("the table", format!("{} rows there, {} here", a.len().max(1) - 1, b.len().max(1) - 1));
    }
    let head = a.first()?;
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
                (Ok(x), Ok(y)) => found.numbers(&place(), x, y, [a.into(), b.into()]),
                _ => found.add(&place(), format!("{:?} there, {:?} here", short(a), short(b))),
            }
        }
    }
    found.told("fields")
}

fn of_text(a: &[u8], b: &[u8]) -> Option<String> {
    let (a, b) = (std::str::from_utf8(a).ok()?, std::str::from_utf8(b).ok()?);
    let (mut a_lines, mut b_lines) = (a.lines(), b.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (a_lines.next(), b_lines.next()) {
            (None, None) => return Some("the same lines, ended differently".into()),
            (x, y) if x == y => {}
            (x, y) => {
                let told = |line: Option<&str>| line.map_or("no line".into(), |line| format!("{:?}", short(line)));
                return Some(format!("differs from line {number} on: {} there, {} here", told(x), told(y)));
            }
        }
    }
}

fn short(text: &str) -> String {
    cut(text, 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_farthest_difference_are_named() {
        let told =
            of_json(b"{\"a\": 1, \"b\": {\"c\": [1.0, 2.0, 4.0]}}", b"{\"a\": 1, \"b\": {\"c\": [1.0, 2.5, 8.0]}}");
        assert_eq!(
            told.as_deref(),
            Some(
                "2 of 4 values differ, first b.c[1]: 2.0 there, 2.5 here (0.5 apart, 20.0%); \
                  farthest b.c[2]: 4.0 there, 8.0 here (4.0 apart, 50.0%)"
            )
        );
        let told = of_json(b"{\"a\": \"nan\", \"b\": 1}", b"{\"a\": 0.5, \"d\": 1}");
        assert_eq!(told.as_deref(), Some("3 of 3 values differ, first a: \"nan\" there, 0.5 here"));
        assert_eq!(of_json(b"{\"a\": 1}", b"{ \"a\": 1 }"), None);
        assert_eq!(
            of_json(b"[1, 2]", b"[1]").as_deref(),
            Some("1 of 2 values differ, first the result: 2 entries there, 1 here")
        );
    }

    #[test]
    fn tables_and_texts_say_where() {
        let told = of_csv(b"a,b\n1,x\n2,y\n", b"a,b\n1,x\n2.5,z\n");
        assert_eq!(told.as_deref(), Some("2 of 6 fields differ, first row 2, a: 2 there, 2.5 here (0.5 apart, 20.0%)"));
        assert_eq!(
            of_csv(b"a\n1\n", b"a\n").as_deref(),
            Some("1 of 2 fields differ, first the table: 1 rows there, 0 here")
        );
        assert_eq!(of_text(b"a\nb", b"a\nc").as_deref(), Some("differs from line 2 on: \"b\" there, \"c\" here"));
    }
}
