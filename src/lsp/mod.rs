//! The language server of editors: what the prompt knows of a text as it is typed, over stdin and stdout. Nothing of a text is run.

mod answers;
mod diagnostics;
mod document;
mod format;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value as Json, json};

use crate::core::{Error, ErrorKind, Result};
use crate::script::Session;
use crate::term::context;
use document::path_of;

/// How long nobody may have typed before a text is checked.
const PAUSE: Duration = Duration::from_millis(150);

/// A text that is open in the editor.
struct Open {
    text: String,
    /// What errors and imports go by: its path, or its address where it has none.
    name: String,
    session: Session,
    /// Since when it waits to be checked.
    changed: Option<Instant>,
    version: Option<i64>,
}

impl Open {
    fn new(address: &str) -> Self {
        let name = path_of(address).map_or_else(|| address.to_string(), |path| path.display().to_string());
        Self { text: String::new(), name, session: Session::new(Rc::new(context())), changed: None, version: None }
    }

    fn set(&mut self, text: String, version: Option<i64>) {
        self.session.read_imports(&self.name, &text);
        (self.text, self.version, self.changed) = (text, version, Some(Instant::now()));
    }
}

struct Server {
    connection: Connection,
    open: BTreeMap<String, Open>,
    /// Folders that the editor works in.
    folders: Vec<PathBuf>,
}

/// What the server can do, in the protocol's words.
fn capabilities() -> Json {
    json!({
        "textDocumentSync": { "openClose": true, "change": 1, "save": false },
        "completionProvider": { "triggerCharacters": [".", ":", "\"", "#", "{", "("] },
        "hoverProvider": true,
        "signatureHelpProvider": { "triggerCharacters": ["(", ",", "{", ":"] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentSymbolProvider": true,
        "renameProvider": { "prepareProvider": true },
        "documentFormattingProvider": true,
    })
}

pub fn main(words: &[String]) -> Result<()> {
    // Some editors say over what they talk; there is one way.
    if let Some(word) = words.iter().find(|word| *word != "--stdio") {
        return Err(Error::argument(format!("viva lsp takes no arguments, got {word:?}"))
            .hint("an editor starts it and talks to it over stdin and stdout"));
    }
    let failed = |error: &dyn std::fmt::Display| Error::new(ErrorKind::File, format!("the editor: {error}"));
    let (connection, threads) = Connection::stdio();
    let (id, asked) = connection.initialize_start().map_err(|error| failed(&error))?;
    let told = json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "viva", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, told).map_err(|error| failed(&error))?;
    let addresses = asked["workspaceFolders"].as_array().into_iter().flatten().map(|folder| &folder["uri"]);
    let folders = addresses.chain([&asked["rootUri"]]).filter_map(|address| path_of(address.as_str()?)).collect();
    let mut server = Server { connection, open: BTreeMap::new(), folders };
    let outcome = server.serve();
    drop(server);
    outcome.map_err(|error| failed(&error))?;
    threads.join().map_err(|error| failed(&error))
}

/// What an editor may ask of a text.
const METHODS: [&str; 9] = [
    "textDocument/completion",
    "textDocument/hover",
    "textDocument/signatureHelp",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentSymbol",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/formatting",
];

impl Server {
    fn serve(&mut self) -> std::result::Result<(), String> {
        let mut left = false;
        loop {
            let wait =
                self.open.values().filter_map(|open| open.changed).map(|at| PAUSE.saturating_sub(at.elapsed())).min();
            let message = match wait {
                Some(wait) => match self.connection.receiver.recv_timeout(wait) {
                    Ok(message) => message,
                    Err(error) if error.is_timeout() => {
                        self.check();
                        continue;
                    }
                    Err(_) => return Ok(()),
                },
                None => match self.connection.receiver.recv() {
                    Ok(message) => message,
                    Err(_) => return Ok(()),
                },
            };
            match message {
                Message::Request(request) if request.method == "shutdown" && !left => {
                    left = true;
                    self.send(Message::Response(Response::new_ok(request.id, Json::Null)));
                }
                Message::Request(request) if left => {
                    let why = "viva lsp was shut down".into();
                    let refused = Response::new_err(request.id, ErrorCode::InvalidRequest as i32, why);
                    self.send(Message::Response(refused));
                }
                Message::Request(request) => {
                    let answer = self.answer(request);
                    self.send(Message::Response(answer));
                }
                Message::Notification(told) if told.method == "exit" => {
                    return if left { Ok(()) } else { Err("it left without a shutdown".into()) };
                }
                Message::Notification(told) if !left => self.note(told),
                Message::Notification(_) => {}
                Message::Response(_) => {}
            }
        }
    }

    fn send(&self, message: Message) {
        // An editor that has gone is seen where its next message is waited for.
        let _ = self.connection.sender.send(message);
    }

    fn note(&mut self, told: Notification) {
        let document = &told.params["textDocument"];
        let Some(address) = document["uri"].as_str().map(String::from) else { return };
        match told.method.as_str() {
            "textDocument/didOpen" => {
                let open = self.open.entry(address.clone()).or_insert_with(|| Open::new(&address));
                open.set(document["text"].as_str().unwrap_or("").into(), document["version"].as_i64());
            }
            "textDocument/didChange" => {
                let text = told.params["contentChanges"].as_array().and_then(|all| all.last()?["text"].as_str());
                if let (Some(open), Some(text)) = (self.open.get_mut(&address), text) {
                    open.set(text.into(), document["version"].as_i64());
                }
            }
            "textDocument/didClose" => {
                self.open.remove(&address);
                self.publish(&address, None, vec![]);
            }
            _ => {}
        }
    }

    /// Checks the texts that nobody has typed in for a while.
    fn check(&mut self) {
        let ready = |open: &Open| open.changed.is_some_and(|at| at.elapsed() >= PAUSE);
        let mut found = Vec::new();
        for (address, open) in self.open.iter_mut().filter(|(_, open)| ready(open)) {
            open.changed = None;
            open.session.read_imports(&open.name, &open.text);
            let is_cell = address.starts_with("vscode-notebook-cell:");
            found.push((
                address.clone(),
                open.version,
                diagnostics::of(&open.session, &open.name, &open.text, is_cell),
            ));
        }
        for (address, version, diagnostics) in found {
            self.publish(&address, version, diagnostics);
        }
    }

    fn publish(&self, address: &str, version: Option<i64>, diagnostics: Vec<Json>) {
        let mut params = json!({ "uri": address, "diagnostics": diagnostics });
        if let Some(version) = version {
            params["version"] = json!(version);
        }
        self.send(Message::Notification(Notification::new("textDocument/publishDiagnostics".into(), params)));
    }

    fn answer(&mut self, request: Request) -> Response {
        if !METHODS.contains(&request.method.as_str()) {
            let why = format!("viva does not know {}", request.method);
            return Response::new_err(request.id, ErrorCode::MethodNotFound as i32, why);
        }
        let params = &request.params;
        let address = params["textDocument"]["uri"].as_str().unwrap_or("");
        let unknown =
            || Response::new_err(request.id.clone(), ErrorCode::InvalidParams as i32, "this text is not open".into());
        let Some(open) = self.open.get(address) else { return unknown() };
        let asked = answers::Asked::new(&open.session, &open.name, address, &open.text, params);
        let answer = match request.method.as_str() {
            "textDocument/completion" => asked.completion(),
            "textDocument/hover" => asked.hover(),
            "textDocument/signatureHelp" => asked.signature(),
            "textDocument/definition" => asked.definition(),
            "textDocument/references" => asked.references(),
            "textDocument/documentSymbol" => asked.symbols(),
            "textDocument/prepareRename" => asked.prepare_rename(),
            "textDocument/rename" => {
                let others = self.others(address);
                let name = params["newName"].as_str().unwrap_or("");
                match asked.rename(name, &others) {
                    Ok(edit) => edit,
                    Err(why) => return Response::new_err(request.id, ErrorCode::RequestFailed as i32, why),
                }
            }
            _ => match asked.formatting() {
                Ok(edits) => edits,
                Err(why) => return Response::new_err(request.id, ErrorCode::RequestFailed as i32, why),
            },
        };
        Response::new_ok(request.id, answer)
    }

    /// The other scripts in the editor's folders and beside this text, by name; open ones as they stand in the editor.
    fn others(&self, address: &str) -> Vec<(String, String)> {
        let beside = path_of(address).and_then(|path| path.parent().map(Path::to_path_buf));
        let mut files = Vec::new();
        for folder in self.folders.iter().chain(&beside) {
            scripts(folder, 0, &mut files);
        }
        files.sort();
        files.dedup();
        let own = path_of(address);
        let mut all: Vec<(String, String)> = self
            .open
            .iter()
            .filter(|(other, _)| *other != address)
            .map(|(_, open)| (open.name.clone(), open.text.clone()))
            .collect();
        for file in files.into_iter().filter(|file| Some(file) != own.as_ref()) {
            let name = file.display().to_string();
            if !all.iter().any(|(known, _)| *known == name)
                && let Ok(text) = std::fs::read_to_string(&file)
            {
                all.push((name, text));
            }
        }
        all
    }
}

/// Folders inside each other that are looked into, and scripts that are.
const DEEPEST: usize = 8;
const MOST: usize = 5000;

fn scripts(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.') || entry.file_name() == "target";
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !hidden && depth < DEEPEST => scripts(&path, depth + 1, files),
            Ok(kind)
                if kind.is_file() && path.extension().is_some_and(|ending| ending == "rhai") && files.len() < MOST =>
            {
                files.push(path);
            }
            _ => {}
        }
    }
}
