//! Models and data that live in a Python: an interpreter that loads a user's file and answers questions about it, with all numbers
//! in memory that both see.

mod shared;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use self::shared::SharedMemory;
use super::permissions::held;
use super::process::{Introduction, LATE, Process, UNANSWERED};
use super::{Cx, Digest, Error, ErrorKind, Result, Tensor, Value, at_home, below_home, no_gradient};

/// How a Python is introduced.
const INTRODUCED: &str = "the Python of ";

/// Whether a Python gave no answer, whatever it said beside it: what an exception says begins with the file that raised it.
pub fn went_unanswered(error: &Error) -> bool {
    let first = error.message.lines().next().unwrap_or_default();
    first.starts_with(INTRODUCED) && [LATE, UNANSWERED].iter().any(|words| first.contains(words))
}

/// What the interpreter runs.
const SERVER: &str = include_str!("server.py");

/// Loading reads weights and imports libraries: so many times as long as an answer may take.
const LOADING: u32 = 10;

/// What a user's file offers by a name: `my_models.py:load`, with what it is called with.
#[derive(Debug, Clone)]
pub struct Offer {
    pub file: PathBuf,
    pub name: String,
    pub arguments: Json,
    /// Files that the arguments name.
    pub named: Vec<PathBuf>,
    /// A folder that the arguments name and of which nothing counts: it is too large, or not all of it can be read.
    pub uncounted: Option<PathBuf>,
}

impl Offer {
    /// Of `FILE.py:NAME` and a map of keyword arguments.
    pub fn new(cx: &Cx, place: &str, arguments: Option<&Value>) -> Result<Self> {
        let (file, name) =
            place.rsplit_once(':').filter(|(file, name)| !file.is_empty() && is_name(name)).ok_or_else(|| {
                Error::argument(format!("{place:?} does not say what the file offers"))
                    .hint("FILE.py:NAME, as in \"my_models.py:load\"")
            })?;
        let found = cx.find(file)?;
        let file = found.canonicalize().map_err(|e| Error::file(&found, e))?;
        let arguments = arguments.map_or_else(|| Ok(json!({})), |map| plain("args", map))?;
        let mut named = Vec::new();
        texts(&arguments, &mut |text| named.push(PathBuf::from(text)));
        let (mut files, mut uncounted) = (vec![], None);
        for path in named {
            match files_below(cx, &path)? {
                Some(found) => files.extend(found),
                None => uncounted = Some(path),
            }
        }
        Ok(Self { file, name: name.into(), arguments, named: files, uncounted })
    }

    /// "my_models.py:load"
    pub fn called(&self) -> String {
        let file = self.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        format!("{file}:{}", self.name)
    }
}

/// A file, or all that lie in a folder and in folders in it, in their order; none where there is neither, and nothing of a folder with more
/// than a model has, or with what can't be read.
fn files_below(cx: &Cx, path: &Path) -> Result<Option<Vec<PathBuf>>> {
    const MOST: usize = 1000;
    const BYTES: u64 = 8 << 30;
    let (mut files, mut folders, mut bytes) = (vec![], vec![], 0);
    match path {
        path if path.is_file() => files.push(path.to_path_buf()),
        path if path.is_dir() => folders.push(path.to_path_buf()),
        _ => {}
    }
    while let Some(folder) = folders.pop() {
        cx.check()?;
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(None) };
        for entry in entries {
            let Ok(path) = entry.map(|entry| entry.path()) else { return Ok(None) };
            if path.is_file() {
                bytes += path.metadata().map_or(0, |found| found.len());
                files.push(path);
            } else if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
            if files.len() > MOST || folders.len() > MOST || bytes > BYTES {
                return Ok(None);
            }
        }
    }
    files.sort();
    Ok(Some(files))
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_') && letters.all(|c| c.is_alphanumeric() || c == '_')
}

/// A value as JSON, of what has the same meaning there.
fn plain(name: &str, value: &Value) -> Result<Json> {
    match value {
        Value::Array(values) => values.iter().map(|value| plain(name, value)).collect(),
        Value::Map(map) => {
            let entry = |(key, value): (&String, &Value)| Ok((key.clone(), plain(&format!("{name}.{key}"), value)?));
            map.iter().map(entry).collect::<Result<Map<_, _>>>().map(Json::Object)
        }
        Value::Float(x) if !x.is_finite() => {
            Err(Error::argument(format!("`{name}` is {x}, which JSON has no word for")))
        }
        Value::Tensor(_) | Value::Object(_) | Value::Callback(_) => Err(Error::argument(format!(
            "`{name}` is {}: numbers, strings, truths, arrays and maps of them go to Python",
            value.summary()
        ))),
        value => Ok(value.json()),
    }
}

fn texts(value: &Json, see: &mut dyn FnMut(&str)) {
    match value {
        Json::String(text) => see(text),
        Json::Array(values) => values.iter().for_each(|value| texts(value, see)),
        Json::Object(map) => map.values().for_each(|value| texts(value, see)),
        _ => {}
    }
}

/// Which Python, and how long it may take.
#[derive(Clone)]
pub struct Interpreter {
    program: PathBuf,
    patience: Duration,
    stop: Arc<AtomicBool>,
}

impl Interpreter {
    /// The Python that is named, or that of the environment that is active, or of the one that viva is installed in, or that the
    /// shell would start.
    pub fn new(cx: &Cx, named: Option<&str>, seconds: f64) -> Result<Self> {
        let program = match named {
            Some(name) => at_home(name)?,
            None => of_environment().unwrap_or_else(|| "python3".into()),
        };
        cx.check_may_start(&program.to_string_lossy())?;
        Ok(Self { program, patience: Duration::from_secs_f64(seconds), stop: cx.stop_flag() })
    }
}

fn of_environment() -> Option<PathBuf> {
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(std::env::var_os)
        .map(|root| PathBuf::from(root).join("bin"));
    let own = std::env::current_exe().ok().and_then(|viva| viva.parent().map(Path::to_path_buf));
    let own = own.filter(|folder| folder.parent().is_some_and(|root| root.join("pyvenv.cfg").is_file()));
    active.chain(own).map(|folder| folder.join("python3")).find(|python| python.is_file())
}

/// A folder for its temporary files, without which torch does not start: viva's cache, where scripts are held to what they may write.
fn temporary() -> Result<tempfile::TempDir> {
    let cache = below_home("XDG_CACHE_HOME", ".cache").filter(|cache| std::fs::create_dir_all(cache).is_ok());
    let made = tempfile::Builder::new().prefix("python-").tempdir_in(cache.unwrap_or_else(std::env::temp_dir));
    made.or_else(|_| tempfile::tempdir())
        .map_err(|e| Error::model(format!("there is no room for Python's temporary files: {e}")))
}

/// What was loaded, as its Python tells.
pub struct LoadedOffer {
    pub said: Json,
    /// The user's own files that were imported, without the one that was named, by their digests.
    files: Vec<(PathBuf, Digest)>,
    /// "python 3.12.1, torch 2.11.0"
    versions: String,
}

impl LoadedOffer {
    fn new(said: Json) -> Result<Self> {
        let digest = |(path, hex): (&String, &Json)| Some((PathBuf::from(path), Digest::of_hex(hex.as_str()?)?));
        let files = said["files"].as_object().and_then(|files| files.iter().map(digest).collect::<Option<Vec<_>>>());
        let version = |(name, version): (&String, &Json)| format!("{name} {}", version.as_str().unwrap_or("unknown"));
        let versions = said["versions"].as_object().map(|all| all.iter().map(version).collect::<Vec<_>>().join(", "));
        match (files, versions) {
            (Some(files), Some(versions)) => Ok(Self { said, files, versions }),
            _ => Err(Error::internal("a Python that does not say where it comes from")),
        }
    }

    pub fn truth(&self, name: &str) -> bool {
        self.said[name].as_bool().unwrap_or(false)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.said[name].as_str()
    }

    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        self.said[name].as_array()?.iter().map(Json::as_f64).collect()
    }

    /// What it was loaded from: the call, the files of the user's own that it imports, those that its arguments name.
    pub fn digest(&self, offer: &Offer) -> Result<Digest> {
        let mut parts = vec![Digest::of(format!("python {} {}", offer.name, offer.arguments).as_bytes())];
        let mut own: Vec<Digest> = self.files.iter().map(|(_, digest)| *digest).collect();
        own.sort_unstable();
        parts.extend(own);
        for file in &offer.named {
            parts.push(Digest::of_file(file)?);
        }
        Ok(Digest::of_parts(&parts.iter().map(|part| &part.0[..]).collect::<Vec<_>>()))
    }

    /// Notes all that as inputs of the run.
    pub fn record(&self, cx: &Cx, offer: &Offer) -> Result<()> {
        for (file, digest) in &self.files {
            cx.record_input_from("python", &file.display().to_string(), *digest, file);
        }
        for file in &offer.named {
            cx.record_input_from("python", &file.display().to_string(), Digest::of_file(file)?, file);
        }
        cx.record_input("python", &self.versions, Digest::of(self.versions.as_bytes()));
        Ok(())
    }
}

/// A Python that has loaded what a user's file offers.
pub struct Python {
    process: Process,
    shared: SharedMemory,
    interpreter: Interpreter,
    called: String,
    kind: ErrorKind,
    /// Whether it can be asked again: what was stopped, or is gone, can't.
    usable: bool,
    /// Goes when the process has ended, which stands before it.
    _temporary: tempfile::TempDir,
}

impl Python {
    /// Starts one and has it load. `kind` is that of its errors.
    pub fn start(
        interpreter: &Interpreter,
        offer: &Offer,
        kind: ErrorKind,
        question: Json,
    ) -> Result<(Self, LoadedOffer)> {
        let shared = SharedMemory::new()?;
        let mut command = Command::new(&interpreter.program);
        command.arg("-u").arg("-c").arg(SERVER);
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("OMP_NUM_THREADS", tch::get_num_threads().max(1).to_string());
        let temporary = temporary()?;
        command.env("TMPDIR", temporary.path());
        shared.hand_to(&mut command);
        let called = offer.called();
        let introduction = Introduction {
            name: format!("{INTRODUCED}{called}"),
            kind,
            how: "what it said last stands above; `python` names another interpreter, such as \"venv/bin/python\", and --allow-run=venv/bin/python \
                  lets it read the environment that it is of",
            late: "`seconds` is how long an answer may take; loading may take ten times as long; a DataLoader with workers waits without end where a run \
                   holds its programs: num_workers=0, or --allow-net and --allow-write=/dev/shm",
        };
        let process = Process::start(command, introduction)?;
        let mut python = Self {
            process,
            shared,
            interpreter: interpreter.clone(),
            called,
            kind,
            usable: true,
            _temporary: temporary,
        };
        let mut asked = json!({ "file": offer.file, "name": offer.name, "arguments": offer.arguments });
        if let (Some(asked), Json::Object(more)) = (asked.as_object_mut(), question) {
            asked.extend(more);
        }
        let loaded = python.ask_within(interpreter.patience * LOADING, &asked)?;
        Ok((python, LoadedOffer::new(loaded)?))
    }

    pub fn usable(&self) -> bool {
        self.usable
    }

    pub fn ask(&mut self, question: &Json) -> Result<Json> {
        self.ask_within(self.interpreter.patience, question)
    }

    fn ask_within(&mut self, patience: Duration, question: &Json) -> Result<Json> {
        let line = format!("{question}\n").into_bytes();
        self.usable = false;
        let answer = self.process.ask(line, patience, &self.interpreter.stop)?;
        let answer: Json = serde_json::from_slice(&answer)
            .map_err(|_| self.process.failed("answered something that it was not asked"))?;
        // A question that failed leaves it as it was.
        self.usable = true;
        match answer {
            Json::Object(mut map) if map.contains_key("ok") => Ok(map.remove("ok").unwrap_or_default()),
            answer => Err(self.told(&answer)),
        }
    }

    fn told(&self, answer: &Json) -> Error {
        let called = &self.called;
        let problem = answer["error"].as_str().unwrap_or("failed without a word");
        let lines = answer["where"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let lines: String = lines.map(|line| format!("\n  {line}")).collect();
        match answer["kind"].as_str() {
            Some("gradient") => no_gradient(called),
            Some("memory") => {
                Error::new(ErrorKind::Memory, format!("{called}: {problem}")).hint("a smaller batch needs less")
            }
            _ => {
                let error = Error::new(self.kind, format!("{called}: {problem}{lines}"));
                if problem.contains("deterministic implementation") || problem.contains("CuBLAS") {
                    error.hint(
                        "on a GPU sums are to be the same in every run, which this has no way of: --fast allows others",
                    )
                } else if problem.contains("PermissionError") && held().is_some() {
                    error.hint(
                        "programs are held as scripts are (viva doc safety); the workers of a DataLoader need --allow-net and --allow-write=/dev/shm, \
                         num_workers=0 needs neither",
                    )
                } else {
                    error
                }
            }
        }
    }

    /// Lays float32 numbers where Python looks for those of the next question.
    pub fn lay(&mut self, numbers: &Tensor) -> Result<()> {
        self.shared.write(numbers)
    }

    /// The float32 numbers that an answer tells of.
    pub fn floats(&self, answer: &Json) -> Result<Tensor> {
        let shape =
            answer["shape"].as_array().and_then(|shape| shape.iter().map(Json::as_i64).collect::<Option<Vec<_>>>());
        match (answer["at"].as_u64(), shape) {
            (Some(at), Some(shape)) => self.shared.floats(at, &shape),
            _ => Err(Error::internal("numbers without a place")),
        }
    }

    /// Bytes from a place in the memory that both see.
    pub fn bytes(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.shared.read(at, bytes)
    }
}
