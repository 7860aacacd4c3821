//! The language server, asked as an editor asks it: messages over its stdin and stdout.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use serde_json::{Value as Json, json};

struct Editor {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
    folder: tempfile::TempDir,
    /// Notifications that came while an answer was waited for.
    told: Vec<Json>,
    /// Dropped when the test has ended.
    _alive: Sender<()>,
}

/// No answer takes this long unless something hangs.
const HANGS: Duration = Duration::from_secs(120);

/// Ends a server that hangs, so that whoever waits for it fails.
fn watched(process: u32) -> Sender<()> {
    let (alive, ended) = channel();
    std::thread::spawn(move || {
        if ended.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").arg(process.to_string()).status();
        }
    });
    alive
}

impl Editor {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut process = Command::new(env!("CARGO_BIN_EXE_viva"))
            .arg("lsp")
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("viva starts");
        let _alive = watched(process.id());
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut editor = Self { process, input, output, asked: 0, folder, told: vec![], _alive };
        let root = editor.address("");
        let answer = editor.ask("initialize", json!({ "capabilities": {}, "rootUri": root.trim_end_matches('/') }));
        assert_eq!(answer["serverInfo"]["name"], "viva");
        editor.tell("initialized", json!({}));
        editor
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn address(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    fn send(&mut self, message: &Json) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("viva reads");
        self.input.flush().expect("viva reads");
    }

    fn tell(&mut self, method: &str, params: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn read(&mut self) -> Json {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("viva writes") > 0, "viva has gone");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("viva writes");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn answer(&mut self, method: &str, params: Json) -> Json {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn open(&mut self, name: &str, text: &str) {
        let document = json!({ "uri": self.address(name), "languageId": "rhai", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// The next diagnostics of a text.
    fn diagnostics(&mut self, name: &str) -> Vec<Json> {
        let address = self.address(name);
        loop {
            let message = if self.told.is_empty() { self.read() } else { self.told.remove(0) };
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == address.as_str() {
                return message["params"]["diagnostics"].as_array().expect("an array").clone();
            }
        }
    }

    /// Opens a text in which `¦` is the cursor, and asks there.
    fn at(&mut self, method: &str, name: &str, marked: &str, more: Json) -> Json {
        let (left, right) = marked.split_once('¦').expect("a cursor");
        self.open(name, &format!("{left}{right}"));
        let line = left.matches('\n').count();
        let character = left.rsplit('\n').next().unwrap_or("").encode_utf16().count();
        let mut params = json!({
            "textDocument": { "uri": self.address(name) },
            "position": { "line": line, "character": character },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        self.answer(method, params)
    }

    fn leave(mut self) {
        self.ask("shutdown", Json::Null);
        self.tell("exit", Json::Null);
        assert!(self.process.wait().expect("viva ends").success());
    }
}

/// What stands in a text at a range.
fn marked(text: &str, range: &Json) -> String {
    let place = |end: &Json| {
        let line = end["line"].as_u64().expect("a line") as usize;
        let units = end["character"].as_u64().expect("a column") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let line = text[start..].lines().next().unwrap_or("");
        let column: usize = String::from_utf16_lossy(&line.encode_utf16().take(units).collect::<Vec<_>>()).len();
        start + column
    };
    text[place(&range["start"])..place(&range["end"])].to_string()
}

#[test]
fn mistakes_are_shown_where_they_are_and_nothing_is_run() {
    let mut editor = Editor::start();
    let text =
        "let s = \"😀\"; data::glpyhs(#{ n: 2 });\nsave(1, \"ran.json\");\nrisk::estimate(f, ds, #{ radios: 1 });\n";
    editor.open("a.rhai", text);
    let found = editor.diagnostics("a.rhai");
    let places: Vec<String> = found.iter().map(|one| marked(text, &one["range"])).collect();
    assert_eq!(places, ["glpyhs", "f", "ds", "radios"], "{found:?}");
    assert!(found[0]["message"].as_str().expect("words").contains("did you mean `glyphs`?"), "{found:?}");
    assert_eq!(found[1]["message"], "there is no variable `f`");
    let text = "let a = 1\nlet b = 2;";
    let address = editor.address("a.rhai");
    let change =
        |text: &str| json!({ "textDocument": { "uri": address, "version": 2 }, "contentChanges": [{ "text": text }] });
    editor.tell("textDocument/didChange", change("let"));
    editor.tell("textDocument/didChange", change(text));
    let found = editor.diagnostics("a.rhai");
    assert_eq!((found.len(), found[0]["range"]["start"]["line"].clone()), (1, json!(0)), "{found:?}");
    editor.tell("textDocument/didChange", change("let a = 1;\n"));
    assert!(editor.diagnostics("a.rhai").is_empty());
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": address } }));
    assert!(editor.diagnostics("a.rhai").is_empty());
    assert!(!editor.path("ran.json").exists());
    editor.leave();
}

#[test]
fn completion_signatures_and_pages_are_those_of_the_prompt() {
    let mut editor = Editor::start();
    let offers = |answer: &Json| -> Vec<String> {
        let items = answer["result"].as_array().unwrap_or_else(|| panic!("{answer}"));
        items.iter().map(|item| item["textEdit"]["newText"].as_str().expect("words").to_string()).collect()
    };
    std::fs::write(editor.path("lib.rhai"), "/// Halves it.\nfn half(x) { x / 2 }\nprivate fn hidden() { 1 }\n")
        .expect("a file");
    for (text, wanted) in [
        ("let ds = data::gly¦", "glyphs("),
        ("let ds = data::glyphs();\nds.shuf¦", "shuffle("),
        ("risk::estimate(f, ds, #{ rad¦", "radius: "),
        ("import \"std/zoo\" as zoo;\nzoo::gall¦", "galloway()"),
        ("import \"lib\" as own;\nown::¦", "half("),
        ("import \"std/z¦", "std/zoo\""),
        ("lat¦\nfn later(a, b) { a }", "later("),
    ] {
        let answer = editor.at("textDocument/completion", "a.rhai", text, Json::Null);
        let found = offers(&answer);
        assert!(found.iter().any(|offer| offer == wanted), "{text}: {found:?}");
    }
    let answer = editor.at("textDocument/completion", "a.rhai", "let é = \"😀\"; data::gly¦phs()", Json::Null);
    let edit = &answer["result"][0]["textEdit"];
    assert_eq!(
        edit["range"],
        json!({ "start": { "line": 0, "character": 20 }, "end": { "line": 0, "character": 26 } })
    );
    assert_eq!(edit["newText"], "glyphs");
    for (text, wanted) in [("risk::estimate(f, ¦", "ds"), ("later(1, ¦)\nfn later(first, second) { first }", "second")]
    {
        let answer = editor.at("textDocument/signatureHelp", "a.rhai", text, Json::Null);
        let signature = &answer["result"]["signatures"][0];
        let label: Vec<u16> = signature["label"].as_str().expect("words").encode_utf16().collect();
        let place = &signature["parameters"][0]["label"];
        let (from, to) = (place[0].as_u64().expect("a place") as usize, place[1].as_u64().expect("a place") as usize);
        assert_eq!(String::from_utf16_lossy(&label[from..to]), wanted, "{answer}");
    }
    for (text, wanted) in [
        ("ri¦sk::estimate(f)", "risk::estimate"),
        ("risk::esti¦mate(f)", "arguments"),
        ("exa¦mine(f, ds)", "examine("),
        ("let ds = data::glyphs(); ds.shuf¦fle()", "random order"),
        ("let ds = data::glyphs(); d¦s", "ds: Dataset"),
        ("import \"lib\" as own; own::ha¦lf(2)", "Halves it."),
        ("import \"lib\" as own; ow¦n::half(2)", "Halves it."),
        ("import \"std/overfitting\" as o; o::comp¦are()", "compare("),
        ("f¦f(2)\n/// Twice as much.\nfn ff(x) { 2 * x }", "Twice as much."),
    ] {
        let answer = editor.at("textDocument/hover", "a.rhai", text, Json::Null);
        let page = answer["result"]["contents"]["value"].as_str().unwrap_or("").to_string();
        assert!(page.contains(wanted), "{text}: {answer}");
    }
    let answer = editor.at("textDocument/hover", "a.rhai", "1 + ¦ // risk::estimate", Json::Null);
    assert_eq!(answer["result"], Json::Null);
    editor.leave();
}

#[test]
fn definitions_are_found_here_through_imports_and_in_std() {
    let mut editor = Editor::start();
    let lib = "// A library.\nfn half(x) { x / 2 }\nfn half(x, y) { x / y }\n";
    std::fs::create_dir(editor.path("sub dir")).expect("a folder");
    std::fs::write(editor.path("sub dir/lib.rhai"), lib).expect("a file");
    let here = "let x = 1;\nlet f = |x| x + 1;\nfn g(a) { a }\nfn g(a, b) { b }\n";
    let place = |answer: &Json| {
        let start = &answer["result"]["range"]["start"];
        (start["line"].as_u64().unwrap_or(99), start["character"].as_u64().unwrap_or(99))
    };
    for (text, wanted) in [
        ("¦x", (0, 4)),
        ("f.call(¦x)", (0, 4)),
        ("g(1, ¦2); ¦", (99, 99)),
        ("¦g(1)", (2, 3)),
        ("¦g(1, |a, b| 2)", (3, 3)),
    ] {
        let text = format!("{here}{}", if text.matches('¦').count() > 1 { "1 + ¦2" } else { text });
        let answer = editor.at("textDocument/definition", "a.rhai", &text, Json::Null);
        assert_eq!(place(&answer), wanted, "{text}: {answer}");
    }
    let answer =
        editor.at("textDocument/definition", "a.rhai", "import \"sub dir/lib\" as lib;\nlib::ha¦lf(1, 2)", Json::Null);
    assert_eq!(place(&answer), (2, 3), "{answer}");
    assert!(answer["result"]["uri"].as_str().expect("an address").ends_with("/sub%20dir/lib.rhai"), "{answer}");
    let answer = editor.at("textDocument/definition", "a.rhai", "import \"sub dir/l¦ib\" as lib;", Json::Null);
    assert_eq!(place(&answer), (0, 0));
    let answer =
        editor.at("textDocument/definition", "a.rhai", "import \"std/overfitting\" as o;\no::comp¦are(1)", Json::Null);
    let address = answer["result"]["uri"].as_str().expect("an address");
    let file = Path::new(address.trim_start_matches("file://"));
    let text = std::fs::read_to_string(file).expect("a copy");
    assert_eq!(marked(&text, &answer["result"]["range"]), "compare");
    assert!(file.metadata().expect("a file").permissions().readonly());
    let answer = editor.at("textDocument/definition", "a.rhai", "data::gl¦yphs()", Json::Null);
    assert_eq!(answer["result"], Json::Null, "what is written in Rust has no place");
    let answer = editor.at("textDocument/references", "a.rhai", "let a = 1; a + ¦a; |a| a", Json::Null);
    assert_eq!(answer["result"].as_array().map(Vec::len), Some(3), "{answer}");
    let answer = editor.at("textDocument/documentSymbol", "a.rhai", "fn one() { 1 }\nfn two() { 2 }¦", Json::Null);
    assert_eq!(answer["result"][1]["name"], "two");
    editor.leave();
}

#[test]
fn names_are_changed_where_that_is_known_to_be_right() {
    let mut editor = Editor::start();
    let rename = |editor: &mut Editor, text: &str, name: &str| -> Result<String, String> {
        let answer = editor.at("textDocument/rename", "a.rhai", text, json!({ "newName": name }));
        if let Some(error) = answer.get("error") {
            return Err(error["message"].as_str().expect("words").into());
        }
        let plain = text.replacen('¦', "", 1);
        let address = editor.address("a.rhai");
        let edits = answer["result"]["changes"][&address].as_array().expect("edits").clone();
        let mut lines: Vec<Vec<u16>> = plain.split('\n').map(|line| line.encode_utf16().collect()).collect();
        for edit in edits.iter().rev() {
            let place = |end: &str| edit["range"][end]["character"].as_u64().expect("a column") as usize;
            let line = &mut lines[edit["range"]["start"]["line"].as_u64().expect("a line") as usize];
            line.splice(place("start")..place("end"), edit["newText"].as_str().expect("words").encode_utf16());
        }
        Ok(lines.iter().map(|line| String::from_utf16_lossy(line)).collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(
        rename(&mut editor, "let 😀 = 1;\nlet ¦n = \"😀\"; let m = n; |n| n; `${n}`", "size").ok().as_deref(),
        Some("let 😀 = 1;\nlet size = \"😀\"; let m = size; |n| n; `${size}`")
    );
    let function = "fn ¦old(x) { x }\nold(1) + old(2)";
    assert_eq!(rename(&mut editor, function, "new").as_deref(), Ok("fn new(x) { x }\nnew(1) + new(2)"));
    std::fs::write(editor.path("b.rhai"), "import \"a\" as a;\na::old(1)\n").expect("a file");
    assert!(rename(&mut editor, function, "new").expect_err("used elsewhere").contains("b.rhai, line 2"));
    assert!(rename(&mut editor, "let ¦a = 1; let b = 2; a + b", "b").is_err());
    assert!(rename(&mut editor, "let ¦a = 1;", "while").is_err());
    let answer = editor.at("textDocument/prepareRename", "a.rhai", "data::gly¦phs()", Json::Null);
    assert_eq!(answer["result"], Json::Null);
    editor.leave();
}

#[test]
fn lines_are_put_in_their_places() {
    let mut editor = Editor::start();
    editor.open("a.rhai", "if x {\nprint(\"é😀\"); \t\n  }\n");
    let document = json!({ "uri": editor.address("a.rhai") });
    let options = json!({ "tabSize": 2, "insertSpaces": false });
    let edits = editor.ask("textDocument/formatting", json!({ "textDocument": document, "options": options }));
    let edit = |line: usize, from: usize, to: usize, text: &str| {
        let place = |character: usize| json!({ "line": line, "character": character });
        json!({ "range": { "start": place(from), "end": place(to) }, "newText": text })
    };
    assert_eq!(edits, json!([edit(1, 0, 0, "    "), edit(1, 13, 15, ""), edit(2, 0, 2, "")]));
    editor.open("b.rhai", "let a = 1;\nf(\n");
    let document = json!({ "uri": editor.address("b.rhai") });
    let answer = editor.answer("textDocument/formatting", json!({ "textDocument": document }));
    let why = answer["error"]["message"].as_str().expect("words");
    assert!(why.contains("line 2 has a bracket, string or comment without its other end"), "{why}");
    editor.leave();
}

#[test]
fn strange_messages_are_answered_and_end_nothing() {
    let mut editor = Editor::start();
    let answer = editor.answer("textDocument/hover", json!({ "textDocument": { "uri": "file:///nosuch.rhai" } }));
    assert!(answer["error"]["message"].as_str().expect("words").contains("not open"), "{answer}");
    editor.tell("$/setTrace", json!({ "value": "off" }));
    let unnamed = json!({ "uri": "untitled:1", "version": 1, "text": "let a = ;" });
    editor.tell("textDocument/didOpen", json!({ "textDocument": unnamed }));
    for position in [json!({ "line": 999, "character": 999 }), json!({ "line": -1, "character": 1.5 }), Json::Null] {
        for method in ["completion", "hover", "signatureHelp", "definition", "references", "prepareRename", "rename"] {
            let asked = json!({ "textDocument": { "uri": "untitled:1" }, "position": position, "newName": "" });
            editor.answer(&format!("textDocument/{method}"), asked);
        }
    }
    let answer = editor.answer("textDocument/foldingRange", json!({ "textDocument": { "uri": "untitled:1" } }));
    assert!(answer["error"]["message"].as_str().expect("words").contains("textDocument/foldingRange"), "{answer}");
    // A cell of a notebook knows what those before it declared; a file does not.
    for (address, told) in [("vscode-notebook-cell:/a.ipynb#1", 0), ("untitled:2", 1)] {
        let cell = json!({ "uri": address, "version": 1, "text": "earlier + 1" });
        editor.tell("textDocument/didOpen", json!({ "textDocument": cell }));
        let found = loop {
            let message = if editor.told.is_empty() { editor.read() } else { editor.told.remove(0) };
            if message["params"]["uri"] == address {
                break message["params"]["diagnostics"].as_array().expect("an array").len();
            }
        };
        assert_eq!(found, told, "{address}");
    }
    let answer = editor.answer("workspace/symbol", json!({ "query": "a" }));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    // What comes between the last two messages is answered, and ends nothing.
    editor.ask("shutdown", Json::Null);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": "untitled:1" } }));
    let answer = editor.answer("textDocument/hover", json!({ "textDocument": { "uri": "untitled:1" } }));
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    editor.tell("exit", Json::Null);
    assert!(editor.process.wait().expect("viva ends").success());
    let mut editor = Editor::start();
    editor.tell("exit", Json::Null);
    assert!(!editor.process.wait().expect("viva ends").success());
}

/// The words of the grammar's patterns with this name.
fn grammar_words(grammar: &Json, name: &str) -> Vec<String> {
    let patterns = grammar["repository"]["code"]["patterns"].as_array().expect("patterns");
    let pattern = patterns.iter().find(|pattern| pattern["name"] == name).expect("the pattern");
    let text = pattern["match"].as_str().expect("an expression");
    let (_, words) = text.split_once("\\b(").expect("words");
    words.trim_end_matches(")\\b").split('|').map(String::from).collect()
}

#[test]
fn the_grammar_of_editors_knows_the_words_of_the_language() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode");
    let read = |name: &str| -> Json {
        let text = std::fs::read_to_string(root.join(name)).expect("a file");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let grammar = read("syntaxes/rhai.tmLanguage.json");
    let mut words = grammar_words(&grammar, "keyword.control.rhai");
    words.extend(grammar_words(&grammar, "constant.language.rhai"));
    words.sort();
    let mut known: Vec<String> = viva::assist::KEYWORDS.iter().map(|word| word.to_string()).collect();
    known.sort();
    assert_eq!(words, known);
    let session = viva::script::Session::new(std::rc::Rc::new(viva::core::Cx::default()));
    // `global` alone may be a variable; in front of `::` it is the language's.
    for word in words.iter().filter(|word| *word != "global") {
        assert!(session.compile("a", &format!("let {word} = 1;")).is_err(), "{word} is no word of the language");
    }
    let package = read("package.json");
    let contributed = &package["contributes"];
    assert_eq!(contributed["grammars"][0]["scopeName"], grammar["scopeName"]);
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    for file in [&package["main"], &contributed["grammars"][0]["path"], &contributed["languages"][0]["configuration"]] {
        assert!(root.join(file.as_str().expect("a path")).is_file(), "{file}");
    }
}

/// With `NVIM_PROGRAM=nvim`, of version 0.11 or later.
#[test]
fn neovim_understands_it() {
    let Some(nvim) = std::env::var_os("NVIM_PROGRAM") else {
        eprintln!("left out: NVIM_PROGRAM names no Neovim");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lsp.lua");
    let output = Command::new(nvim)
        .args(["--headless", "--clean", "-l"])
        .arg(script)
        .args([Path::new(env!("CARGO_BIN_EXE_viva")), folder.path()])
        .env("HOME", folder.path())
        .output()
        .expect("Neovim starts");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("all is well"), "{said}");
}
