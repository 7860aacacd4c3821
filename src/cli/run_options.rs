//! What the command line of `viva run` says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::core::Shard;
use crate::core::record::Manifest;
use crate::sandbox::Flags;

#[derive(Default)]
pub(super) struct RunOptions {
    pub script: Option<String>,
    pub out: Option<PathBuf>,
    pub resume: Option<PathBuf>,
    pub changed: bool,
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
