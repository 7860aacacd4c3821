//! Runs divided over machines: which part of an examination's rows is whose.
//!
//! Rows are examined in blocks, and no batch of a model reaches over two of them. So a block's outcome is the same bits wherever it is
//! worked out, beside whatever other blocks, and parts that were worked out apart make the whole.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Digest, Error};

/// One of `of` parts, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    pub number: usize,
    pub of: usize,
}

/// More machines than anyone has.
const MOST_SHARDS: usize = 100_000;

impl FromStr for Shard {
    type Err = Error;

    /// Reads `3/16`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let read = |(number, of): (&str, &str)| Some(Self { number: number.parse().ok()?, of: of.parse().ok()? });
        let sound = |shard: &Self| (1..=MOST_SHARDS).contains(&shard.of) && (1..=shard.of).contains(&shard.number);
        text.split_once('/').and_then(read).filter(sound).ok_or_else(|| {
            Error::argument(format!("a shard is written I/N, I from 1 to N, N up to {MOST_SHARDS}; got {text:?}"))
                .hint("3/16 is the third of sixteen")
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// What a run does of its examinations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Division {
    #[default]
    Whole,
    Shard(Shard),
    /// All of them, from what so many shards have recorded.
    Merged(usize),
}

/// A shard that a run is put together from.
#[derive(Debug, Clone)]
pub struct RecordedShard {
    pub folder: PathBuf,
    /// What its examinations depended on, in the order in which it made them.
    pub examinations: Vec<Json>,
}

impl RecordedShard {
    /// Where the examination that this run makes is another than the shard's: what differs, as words.
    pub fn differs(&self, number: usize, here: &Json) -> String {
        let Some(there) = self.examinations.get(number) else {
            return format!("it has made {} examinations and not this one", self.examinations.len());
        };
        let names = here.as_object().into_iter().flatten().map(|(name, _)| name);
        let other = names.filter(|name| here[*name] != there[*name]);
        let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), String::from);
        let told: Vec<String> =
            other.map(|name| format!("{name} ({} there, {} here)", word(&there[name]), word(&here[name]))).collect();
        match told.is_empty() {
            true => "its script went another way before".into(),
            false => format!("other {}", told.join(", ")),
        }
    }
}

/// Whose each block of a data set is, of so many shards counted from 0: blocks are dealt out in the order of their hashes, so that each
/// shard has as many, whatever order the images are in.
pub fn owners(data: Digest, blocks: usize, of: usize) -> Vec<usize> {
    let hash = |block: &usize| Digest::of_parts(&[b"block", &data.0, &(*block as u64).to_le_bytes()]).0;
    let mut dealt: Vec<usize> = (0..blocks).collect();
    dealt.sort_by_cached_key(hash);
    let mut owners = vec![0; blocks];
    dealt.into_iter().enumerate().for_each(|(place, block)| owners[block] = place % of.max(1));
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_as_they_are_written() {
        for text in ["1/1", "3/16", "100000/100000"] {
            assert_eq!(text.parse::<Shard>().expect("a shard").to_string(), text);
        }
        for text in ["0/4", "5/4", "1", "1/0", "a/b", "1/2/3", "-1/2", "1/100001", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_shard_has_as_many_blocks() {
        for of in [1, 2, 5, 16] {
            let owners = owners(Digest::of(b"data"), 97, of);
            let counts: Vec<usize> =
                (0..of).map(|shard| owners.iter().filter(|owner| **owner == shard).count()).collect();
            assert_eq!(counts.iter().sum::<usize>(), 97);
            assert!(counts.iter().all(|count| (97 / of..=97 / of + 1).contains(count)), "{counts:?}");
        }
    }
}
