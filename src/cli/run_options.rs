//! What the command line of `viva run` says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::core::record::Manifest;
use crate::core::{Shard, memory, works_fast};
use crate::sandbox::Flags;

#[derive(Default)]
pub(super) struct RunOptions {
    pub script: Option<String>,
    pub out: Option<PathBuf>,
    pub resume: Option<PathBuf>,
    pub changed: bool,
    /// Whether it begins although the script can't come to its end.
    pub unchecked: bool,
    pub verify: bool,
    pub seed: Option<u64>,
    pub device: Option<String>,
    /// The devices that it is divided over.
    pub devices: Option<String>,
    pub threads: Option<usize>,
    pub flags: Flags,
    /// What was behind `--allow-write` as a word of its own.
    pub written: Option<String>,
    /// Files and folders that the command line names.
    pub named: Vec<PathBuf>,
    /// The part of its examinations' rows that the run works out.
    pub shard: Option<Shard>,
    /// The shards that it is put together from.
    pub merged: Vec<(PathBuf, Manifest)>,
    /// What the manifest says of them.
    pub merges: Option<Json>,
    pub json: bool,
    pub help: bool,
    pub arguments: BTreeMap<String, String>,
}

impl RunOptions {
    /// The words behind the script that every process of a run is given, whatever part of it it does.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.arguments.iter().map(|(name, value)| format!("--{name}={value}")).collect();
        words.extend(self.seed.map(|seed| format!("--seed={seed}")));
        words.extend(self.flags.words());
        words.extend(works_fast().then(|| "--fast".into()));
        words.extend(self.unchecked.then(|| "--unchecked".into()));
        words
    }

    /// What a command that goes on with a run says once more: the run folder keeps all else.
    pub fn words_again(&self) -> Vec<String> {
        let named = self.named.iter().map(|path| format!("--allow-read={}", path.display()));
        let mut words: Vec<String> = self.flags.words().into_iter().chain(named).collect();
        words.extend(works_fast().then(|| "--fast".into()));
        words.extend(of_memory(memory::asked()));
        words.extend(self.json.then(|| "--json".into()));
        words
    }
}

/// The word for so much memory, where there is a bound.
pub(super) fn of_memory(bytes: Option<u64>) -> Option<String> {
    bytes.map(|bytes| format!("--memory={}MB", bytes / 1_000_000))
}
