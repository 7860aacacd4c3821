//! PyTorch beside viva: `gpu.py` in a process of its own, which keeps what it has compiled from one turn to the next.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

/// Seconds that one answer may take; the first of its kind compiles.
const LIMIT: u64 = 90;

pub struct Peer {
    process: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub versions: String,
    pub ways: Vec<String>,
}

impl Peer {
    /// The Python that `VIVA_PEERS_PYTHON` names, or why there is none.
    pub fn start(device: &str) -> Result<Self, String> {
        let python = std::env::var_os("VIVA_PEERS_PYTHON").ok_or("VIVA_PEERS_PYTHON names no Python with torch")?;
        // Where the bench was built elsewhere, it runs at the root of the sources.
        let here =
            [PathBuf::from("benches/gpu.py"), PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/gpu.py"))];
        let program = here.into_iter().find(|path| path.exists()).ok_or("benches/gpu.py is not here")?;
        let mut process = Command::new(python)
            .arg(program)
            .arg(device)
            // Python's own defaults: what cargo sets for viva is not for it.
            .env_remove("GOMP_SPINCOUNT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the peer's Python does not start: {error}"))?;
        let (asks, answers) = process.stdin.take().zip(process.stdout.take()).ok_or("no pipes")?;
        let mut peer = Self { process, asks, answers: BufReader::new(answers), versions: String::new(), ways: vec![] };
        let said = peer.line()?;
        peer.versions = said["versions"].as_str().unwrap_or_default().into();
        let ways = said["ways"].as_array().into_iter().flatten();
        peer.ways = ways.filter_map(|way| way.as_str().map(str::to_string)).collect();
        Ok(peer)
    }

    fn line(&mut self) -> Result<Json, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err("the peer's Python ended; what it said is on stderr".into()),
            Ok(_) => serde_json::from_str(&line).map_err(|error| format!("gpu.py answered {line:?}: {error}")),
            Err(error) => Err(error.to_string()),
        }
    }

    pub fn ask(&mut self, work: &Json, more: Json) -> Result<Json, String> {
        let mut ask = work.clone();
        if let (Some(ask), Json::Object(more)) = (ask.as_object_mut(), more) {
            ask.insert("limit".into(), LIMIT.into());
            ask.extend(more);
        }
        writeln!(self.asks, "{ask}").map_err(|error| format!("the peer's Python ended: {error}"))?;
        let said = self.line()?;
        match said["error"].as_str() {
            Some(error) => Err(error.into()),
            None => Ok(said),
        }
    }

    /// Seconds of one run, the mean of so many.
    pub fn seconds(&mut self, work: &Json, way: &str, runs: u32) -> Result<f64, String> {
        self.ask(work, json!({ "how": way, "runs": runs }))?["seconds"].as_f64().ok_or_else(|| "no seconds".into())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
