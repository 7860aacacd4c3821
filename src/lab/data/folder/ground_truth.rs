//! A label a line, in the order of the pictures' numbers, as ImageNet's validation set is published.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::numbering::{Classes, Numbered, imagenet_wnids};
use super::labelled_files::{by_class, numbers, without_picture};
use super::listing::{name_of, stem};
use super::synsets;
use crate::core::{Cx, Error, Result};

/// The labels of these pictures, a line each, in the order of the pictures' numbers.
pub(super) fn read(cx: &Cx, table: &Path, text: &str, pictures: &[PathBuf], classes: &Classes) -> Result<Numbered> {
    let lines: Vec<String> = text.lines().map(|line| line.trim().to_string()).collect();
    let order = by_number(table, pictures, lines.len())?;
    let labels: Vec<String> = order.iter().map(|&line| lines[line].clone()).collect();
    let Some(ids) = numbers(&labels) else {
        let lines: Vec<u64> = order.iter().map(|line| *line as u64 + 1).collect();
        return by_class(cx, table, &labels, &lines, classes);
    };
    let kit = ["meta.mat", "data/meta.mat"].map(|name| table.with_file_name(name));
    let Some(kit) = kit.iter().find(|kit| kit.is_file()) else {
        return Err(Error::file(table, "labels that are numbers, and nothing says what they number")
            .hint("the ground truth of ILSVRC 2012 counts its classes from 1 in an order of its own: put meta.mat of its development kit beside it; \
                   where numbers count from 0, write them into a .csv with the columns `file` and `label`; or write WordNet ids"));
    };
    let of_kit = synsets::read(cx, kit)?;
    let of_id = |(line, id): (usize, &i64)| {
        let place = usize::try_from(id - 1).ok();
        place.and_then(|place| of_kit.get(place)).copied().ok_or_else(|| {
            Error::file(
                table,
                format!(
                    "the label {id} of {}; the numbers of meta.mat are 1 to {}",
                    name_of(&pictures[line]),
                    synsets::CLASSES
                ),
            )
        })
    };
    let labels = ids.iter().enumerate().map(of_id).collect::<Result<Vec<_>>>()?;
    let wnids = imagenet_wnids();
    let classes = match classes {
        Classes::AsNamed => wnids,
        other => other.names(cx)?.unwrap_or(wnids),
    };
    let how = format!("as ImageNet-1k's, by {} and meta.mat", name_of(table));
    Ok(Numbered { labels, classes, how })
}

/// The line of each picture, which its name ends in, counted from 1.
fn by_number(table: &Path, pictures: &[PathBuf], lines: usize) -> Result<Vec<usize>> {
    let mut order = vec![];
    let mut taken: BTreeMap<usize, &PathBuf> = BTreeMap::new();
    for picture in pictures {
        let stem = stem(picture);
        let digits = stem.len() - stem.bytes().rev().take_while(u8::is_ascii_digit).count();
        let number: Option<usize> = stem[digits..].parse().ok().filter(|number| (1..=lines).contains(number));
        let Some(number) = number else {
            return Err(Error::file(table, format!("{lines} labels, none of which is of {}", name_of(picture)))
                .hint("line 1 is the label of the picture whose name ends in 1, as ILSVRC2012_val_00000001.JPEG; other names stand before their labels in a line, or in a .csv of files and labels"));
        };
        if let Some(other) = taken.insert(number, picture) {
            return Err(Error::file(
                table,
                format!("{} and {} are both number {number}", name_of(other), name_of(picture)),
            ));
        }
        order.push(number - 1);
    }
    if pictures.len() < lines {
        let missing = (1..=lines).find(|number| !taken.contains_key(number)).unwrap_or(lines);
        return Err(without_picture(table, lines, pictures.len(), &format!("number {missing}")));
    }
    Ok(order)
}
