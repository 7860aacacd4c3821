//! The one error of the crate: what went wrong, said to the person at the prompt, and a way out.

use std::path::Path;

use super::lines::cut_inside;
use super::permissions::way_out;

/// What an error is about. Scripts read it as `e.kind` after `catch (e)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A value has the wrong type, range or name.
    Argument,
    /// Images or labels that can't be used as asked.
    Data,
    /// A file that is missing, truncated or of another format.
    File,
    /// A network, its weights, or what it answered.
    Model,
    /// A space, search and objective that don't fit together.
    Pairing,
    /// Reading, writing or starting what a script may not.
    Permission,
    /// The user asked to stop.
    Interrupted,
    /// A device that is missing.
    Device,
    /// What a run has done can't be written down; scripts can't catch it.
    Journal,
    /// Not enough memory for a batch.
    Memory,
    /// A script's own closure failed; the interpreter still holds its error.
    Callback,
    /// A mistake in viva itself.
    Internal,
}

impl ErrorKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Data => "data",
            Self::File => "file",
            Self::Model => "model",
            Self::Pairing => "pairing",
            Self::Permission => "permission",
            Self::Interrupted => "interrupted",
            Self::Device => "device",
            Self::Journal => "journal",
            Self::Memory => "memory",
            Self::Callback => "callback",
            Self::Internal => "internal",
        }
    }
}

/// What went wrong and what to try.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub kind: ErrorKind,
    /// What was wanted, what came and where.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, message)
    }

    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    pub fn model(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Model, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "stopped")
    }

    /// A file that can't be read or isn't what it should be. What files say can be of any length, and is shown in part.
    pub fn file(path: &Path, problem: impl std::fmt::Display) -> Self {
        let problem = problem.to_string();
        let hint = way_out(path, &problem);
        let kind = if hint.is_some() { ErrorKind::Permission } else { ErrorKind::File };
        let [path, problem] =
            [(path.display().to_string(), 400), (problem, 1600)].map(|(said, most)| cut_inside(&said, most));
        Self { hint, ..Self::new(kind, format!("{path}: {problem}")) }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Puts the name of the operation in front, so that nested calls read outside in.
    pub fn during(mut self, operation: &str) -> Self {
        // What `data::from` makes is called `from`, and says so itself.
        let own = operation.rsplit("::").next().and_then(|name| self.message.strip_prefix(name)?.strip_prefix(": "));
        self.message = format!("{operation}: {}", own.unwrap_or(&self.message));
        self
    }

    /// Puts a file's name in front, unless the message begins with it, or says no more than that the user asked for an end.
    pub fn at(self, path: &Path) -> Self {
        let name = path.display().to_string();
        if self.is_interrupted() || self.message.starts_with(&name) { self } else { self.during(&name) }
    }

    pub fn is_out_of_memory(&self) -> bool {
        self.kind == ErrorKind::Memory
    }

    pub fn is_interrupted(&self) -> bool {
        self.kind == ErrorKind::Interrupted
    }

    /// Of an operation that tensors of any shapes may be given to: another error, unless memory or devices stood in the way.
    pub fn unless_of_shapes(self, operation: &str, of_shapes: impl FnOnce() -> Self) -> Self {
        match self.kind {
            ErrorKind::Memory | ErrorKind::Device => self.during(operation),
            _ => of_shapes(),
        }
    }
}

impl From<tch::TchError> for Error {
    fn from(error: tch::TchError) -> Self {
        let text = error.to_string();
        // libtorch appends its C++ stack; only the first line is for a person.
        let line = text.lines().next().unwrap_or("libtorch failed").trim();
        let line = line.strip_prefix("Internal torch error:").unwrap_or(line).trim().to_string();
        if [
            "out of memory",
            "can't allocate memory",
            "std::bad_alloc",
            // What oneDNN says where it has no room for a kernel.
            "could not create a primitive",
            // What CUDA's libraries say where theirs have none.
            "CUBLAS_STATUS_ALLOC_FAILED",
            "CUDNN_STATUS_ALLOC_FAILED",
            "unable to find an engine to execute this computation",
        ]
        .iter()
        .any(|words| text.contains(words))
        {
            return Self::new(ErrorKind::Memory, line).hint(super::memory_budget::hint());
        }
        // What went wrong in a TorchScript program stands below its source.
        let line = match text.lines().find_map(|line| line.trim().strip_prefix("RuntimeError: ")) {
            Some(cause) if !line.contains(cause) => format!("{line} {cause}"),
            _ => line,
        };
        if text.contains("deterministic implementation") {
            return Self::new(ErrorKind::Device, line)
                .hint("a GPU has no way of doing this with the same result in every run; `--fast` allows others, the CPU has one");
        }
        if text.contains("device-side assert") {
            return Self::new(ErrorKind::Device, line)
                .hint("the GPU answers this process no more: start viva again; on the CPU the same call says what was wrong with it");
        }
        if text.contains("to be on the same device") {
            return Self::new(ErrorKind::Device, line).hint(
                "what works together must lie on one device; `:vars` shows where each lies, `f.to(\"cuda\")` takes it there, \
                 and what is made or loaded after device(..) lies there",
            );
        }
        let of_kinds = text.contains("same dtype") || text.contains("type (") && text.contains("should be the same");
        if of_kinds || text.contains("expected scalar type") {
            return Self::new(ErrorKind::Model, line).hint(
                "images are float32: give a model's weights that type before it is saved, `model.float()`, or have it begin with \
                 `images = images.to(..)` to its own",
            );
        }
        // As libtorch names the file that a program asked for: <path>.
        let named = line.split_once('<').and_then(|(_, rest)| Some(rest.split_once('>')?.0));
        match named.and_then(|path| way_out(Path::new(path), &line)) {
            Some(hint) => Self::new(ErrorKind::Permission, line).hint(hint),
            None => Self::new(ErrorKind::Model, line),
        }
    }
}

/// The name nearest to `wanted`, if one is near enough to be a slip of the hand.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&wanted, &name.to_lowercase()), name))
        .filter(|(distance, name)| {
            *distance <= name.len().max(wanted.len()) / 3 && *distance < wanted.len().min(name.len())
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// "did you mean `x`?" if something is near, else the list of what there is.
pub fn suggestion<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(wanted, known.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let all: Vec<&str> = known.into_iter().collect();
            match all.len() {
                0 => "there is nothing to choose from".into(),
                n if n > 24 => format!("known: {} and {} more", all[..24].join(", "), n - 24),
                _ => format!("known: {}", all.join(", ")),
            }
        }
    }
}
