//! What classes are called once their labels have been changed.

use std::collections::{BTreeMap, BTreeSet};

use super::Dataset;
use super::numbering::are_numbers;

/// Names of classes that became one, of which more are not written out.
const NAMED: usize = 3;

impl Dataset {
    /// The names of classes where images have these labels instead. Where all images of a class go to one number, its name goes with them, and classes
    /// that become one have all their names; where all numbers are moved by as much, those of classes without images are as well. Where images of one class
    /// go to several numbers they are taken for called otherwise, and classes keep their names.
    pub fn moved_names(&self, labels: &[i64]) -> Vec<String> {
        let classes = self.classes();
        let wanted = labels.iter().copied().max().unwrap_or(-1).max(-1) + 1;
        let number = |place: i64| place.to_string();
        let old = |place: i64| usize::try_from(place).ok().and_then(|place| classes.get(place)).cloned();
        let kept =
            |last: i64| -> Vec<String> { (0..last).map(|place| old(place).unwrap_or_else(|| number(place))).collect() };
        let last = wanted.max(classes.len() as i64);
        let mut all: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        self.labels().iter().zip(labels).for_each(|(from, to)| all.entry(*from).or_default().push(*to));
        // Of one class alone it can't be told whether it was numbered otherwise or called another one, nor of one image.
        let by_label = all.len() > 1 && all.values().all(|to| to.iter().all(|other| *other == to[0]));
        let several = all.iter().any(|(from, to)| to.len() > 1 && to[0] != *from);
        let moved: Vec<(i64, i64)> = all.iter().map(|(from, to)| (*from, to[0])).collect();
        if !by_label || are_numbers(classes) || moved.iter().all(|(from, to)| from == to) {
            return kept(last);
        }
        let by = moved[0].1 - moved[0].0;
        let shifted = moved.iter().all(|(from, to)| to - from == by);
        if !shifted && !several {
            return kept(last);
        }
        if shifted {
            return (0..wanted.max(classes.len() as i64 + by))
                .map(|place| old(place - by).unwrap_or_else(|| number(place)))
                .collect();
        }
        let gone: BTreeSet<i64> = moved.iter().filter(|(from, to)| from != to).map(|(from, _)| *from).collect();
        let mut come: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        moved.iter().for_each(|(from, to)| come.entry(*to).or_default().push(*from));
        (0..last)
            .map(|place| match come.get(&place) {
                Some(from) => {
                    let more = if from.len() > NAMED { " or .." } else { "" };
                    let names: Vec<String> = from.iter().take(NAMED).filter_map(|from| old(*from)).collect();
                    format!("{}{more}", names.join(" or "))
                }
                None if gone.contains(&place) => number(place),
                None => old(place).unwrap_or_else(|| number(place)),
            })
            .collect()
    }
}
