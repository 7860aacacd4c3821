//! A stranger's script, TorchScript file, program and run folder: what they try on the user's files, network and programs, and
//! every line of the page that says what they can do. The kernel holds them, so this is of Linux.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::terminal::Terminal;
use viva::primitives::safety::{Can, LINES};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A home folder with something to lose, and the folder of a stranger's script.
struct Place {
    root: tempfile::TempDir,
}

const SECRET: &str = "the user's own words, which are longer than sixteen bytes";

impl Place {
    fn new() -> std::io::Result<Self> {
        let root = tempfile::tempdir()?;
        for folder in ["home", "theirs", "work"] {
            std::fs::create_dir(root.path().join(folder))?;
        }
        std::fs::write(root.path().join("home/notes.txt"), SECRET)?;
        Ok(Self { root })
    }

    fn notes(&self) -> PathBuf {
        self.root.path().join("home/notes.txt")
    }

    /// Whether all that the user had is as it was.
    fn untouched(&self) -> bool {
        let home = self.root.path().join("home");
        let names: Vec<_> = std::fs::read_dir(home)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.file_name())
            .filter(|name| !name.to_string_lossy().starts_with('.'))
            .collect();
        names == ["notes.txt"] && std::fs::read_to_string(self.notes()).is_ok_and(|text| text == SECRET)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
        command.args(words).current_dir(self.root.path().join("work"));
        command.env("HOME", self.root.path().join("home")).env("VIVA_DATA", self.root.path().join("data"));
        for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env_remove(name);
        }
        command.env("OMP_NUM_THREADS", "1");
        command
    }

    /// Runs a stranger's script with these flags.
    fn run(&self, script: &str, flags: &[&str]) -> Said {
        self.put("theirs/script.rhai", script);
        Said::of(self.command(&[&["run", "../theirs/script.rhai"], flags].concat()).output())
    }

    /// Asks a TorchScript file that does this.
    fn torchscript(&self, body: &str, flags: &[&str]) -> Said {
        self.put("theirs/model.pt", torchscript(body));
        self.run(ASKS, flags)
    }

    /// Asks a program that the shell runs: what native code tries that libtorch has no words for. It is held as the process is
    /// that starts it. What it says is kept in the run folder.
    fn program(&self, lines: &str, flags: &[&str]) -> Said {
        self.program_after("", lines, flags)
    }

    fn program_after(&self, before: &str, lines: &str, flags: &[&str]) -> Said {
        self.put("theirs/try.sh", format!("exec 2>run/said.txt\n{lines}\necho ended >&2\n"));
        let asks = "let f = model::program(\"sh ../theirs/try.sh\", #{ classes: 2, input: [1, 4, 4] });\n\
                    let heard = \"\";\ntry { f.logits(tensor::zeros([1, 1, 4, 4])) } catch (e) { heard = e.message; }\nheard";
        let folder = self.root.path().join("work/run");
        // There is one from the try before.
        let _ = std::fs::remove_dir_all(&folder);
        let run = self.run(&format!("{before}\n{asks}"), &[&["--out", "run"], flags].concat());
        let said = std::fs::read_to_string(folder.join("said.txt")).unwrap_or_default();
        Said { text: format!("{said} {}", run.text), ..run }
    }
}

const ASKS: &str = "let f = model::load(\"../theirs/model.pt\", #{ classes: 2, input: [1, 4, 4] });\nf.logits(tensor::zeros([1, 1, 4, 4]))";

struct Said {
    well: bool,
    /// Both streams, on one line.
    text: String,
}

impl Said {
    fn of(output: std::io::Result<Output>) -> Self {
        let output = output.expect("viva starts");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ");
        Self { well: output.status.success(), text }
    }

    fn has(&self, words: &str) -> bool {
        self.text.contains(words)
    }
}

/// A TorchScript archive whose `forward` does this, as `torch.jit.save` writes it.
fn torchscript(body: &str) -> Vec<u8> {
    let code = format!(
        "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n  _is_full_backward_hook : Optional[bool]\n  \
         def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n{}\n    return torch.zeros([torch.size(x, 0), 2], dtype=6, \
         layout=None, device=None, pin_memory=None)\n",
        body.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
    );
    let object = b"\x80\x02c__torch__\nM\nq\x00)\x81}(X\x08\x00\x00\x00trainingq\x01\x88X\x16\x00\x00\x00_is_full_backward_hookq\x02Nub.";
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::FileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let parts: [(&str, &[u8]); 4] = [
        ("m/data.pkl", object),
        ("m/code/__torch__.py", code.as_bytes()),
        ("m/constants.pkl", b"\x80\x02)."),
        ("m/version", b"3\n"),
    ];
    for (name, bytes) in parts {
        archive.start_file(name, stored).expect("an entry");
        archive.write_all(bytes).expect("an entry");
    }
    archive.finish().expect("an archive").into_inner()
}

/// Maps a file and shows what is in it: shared with whoever has it, or for itself.
fn maps(path: &Path, shared: bool, kind: u8) -> String {
    let shared = if shared { "True" } else { "False" };
    format!(
        "y = torch.from_file(\"{}\", {shared}, 16, dtype={kind}, layout=None, device=None, pin_memory=None)\nprint(y)",
        path.display()
    )
}

/// Overwrites a file through a map of it.
fn overwrites(path: &Path) -> String {
    maps(path, true, 0).replace("print(y)", "print(torch.fill_(y, 7))")
}

#[test]
fn torchscript_does_no_more_than_its_script() -> Outcome {
    let place = Place::new()?;
    let (notes, home) = (place.notes(), place.root.path().join("home"));
    let refused = |said: &Said, what: &str| {
        assert!(!said.well, "{what}: {}", said.text);
        assert!(place.untouched(), "{what}: {}", said.text);
    };
    let said = place.torchscript(&overwrites(&notes), &[]);
    refused(&said, "overwritten through a map");
    assert!(said.has("Permission denied") && said.has(&format!("--allow-write={}", notes.display())), "{}", said.text);
    refused(&place.torchscript(&maps(&home.join("new.txt"), true, 0), &[]), "made through a map");
    let said = place.torchscript(&maps(&notes, false, 0), &[]);
    refused(&said, "read through a map");
    assert!(said.has(&format!("--allow-read={}", notes.display())), "{}", said.text);
    // libtorch says nothing where this can't be written.
    let saves = format!("torch.save(x, \"{}\")", home.join("new.txt").display());
    place.torchscript(&saves, &[]);
    assert!(place.untouched());
    place.torchscript(&format!("torch.save(x, \"{}\")", notes.display()), &[]);
    assert!(place.untouched());
    if Path::new("/etc/shadow").exists() {
        refused(&place.torchscript(&maps(Path::new("/etc/shadow"), false, 0), &[]), "passwords");
    }
    // Through a link that came with the script.
    std::os::unix::fs::symlink(&notes, place.root.path().join("theirs/link.txt"))?;
    let link = place.root.path().join("theirs/link.txt");
    refused(&place.torchscript(&overwrites(&link), &[]), "a link that came along");
    // Its own folder is read, not written.
    let own = place.put("theirs/own.bin", [1; 16]);
    refused(&place.torchscript(&overwrites(&own), &[]), "beside the script");
    assert!(place.torchscript(&maps(&own, false, 0), &[]).well);
    // As a generator, in many threads, at the prompt, as an expression.
    place.put("theirs/model.pt", torchscript(&overwrites(&notes)));
    let said = place.run("generator::load(\"../theirs/model.pt\", #{ latent: 4 })", &[]);
    refused(&said, "a generator");
    let examines = "let f = model::load(\"../theirs/model.pt\", #{ classes: 10, input: [1, 28, 28] });\n\
                    examine(f, data::glyphs(#{ n: 64, seed: 1 }), #{ space: space::translate(1) })";
    refused(&place.run(examines, &["--threads", "4"]), "an examination with four threads");
    std::fs::copy(place.root.path().join("theirs/model.pt"), place.root.path().join("work/model.pt"))?;
    let here = ASKS.replace("../theirs/", "");
    refused(&Said::of(place.command(&["-e", &here.replace('\n', " ")]).output()), "an expression");
    let typed = place.put("typed.txt", format!("{}\n", here.replace('\n', " ")));
    let mut prompt = place.command(&["--no-init"]);
    refused(&Said::of(prompt.stdin(std::fs::File::open(typed)?).output()), "the prompt");
    // What a flag allows is done.
    assert!(place.torchscript(&overwrites(&notes), &[&format!("--allow-write={}", home.display())]).well);
    assert!(std::fs::read(&notes)?.starts_with(&[7; 16]));
    Ok(())
}

#[test]
fn a_folder_that_is_resumed_or_repeated_does_no_more() -> Outcome {
    let place = Place::new()?;
    place.put("theirs/model.pt", torchscript("print(\"still mild\")"));
    let fails = format!("{ASKS};\nsave(\"kept\", \"kept.txt\");\nthrow \"no\"");
    let said = place.run(&fails, &["--out", "../theirs/run"]);
    assert!(said.has("--resume"), "{}", said.text);
    place.put("theirs/model.pt", torchscript(&overwrites(&place.notes())));
    for words in [
        &["run", "../theirs/script.rhai", "--resume", "../theirs/run"][..],
        &["run", "--resume", "../theirs/run"],
        &["run", "../theirs/run"],
        &["run", "../theirs/run", "--out", "../theirs/again"],
    ] {
        let said = Said::of(place.command(words).output());
        assert!(!said.well && place.untouched(), "{words:?}: {}", said.text);
        assert!(said.has("Permission denied") || said.has("may not read"), "{words:?}: {}", said.text);
    }
    // Where its manifest says that its script lay, nothing can be read for that.
    let manifest = place.root.path().join("theirs/run/manifest.json");
    let text = std::fs::read_to_string(&manifest)?;
    let home = place.root.path().join("home/script.rhai");
    let text = text.replace("\"script\": \"../theirs/script.rhai\"", &format!("\"script\": \"{}\"", home.display()));
    std::fs::write(&manifest, text)?;
    place.put("theirs/run/model.pt", torchscript(&maps(&place.notes(), false, 0)));
    for words in [&["run", "--resume", "../theirs/run"][..], &["run", "../theirs/run"]] {
        let said = Said::of(place.command(words).output());
        assert!(!said.well && place.untouched() && !said.has("116"), "{words:?}: {}", said.text);
    }
    Ok(())
}

/// What must be refused to a program, each with a line of the shell that says "done" where it was not.
#[test]
fn programs_are_held_as_their_script_is() -> Outcome {
    let place = Place::new()?;
    let (notes, home) = (place.notes().display().to_string(), place.root.path().join("home").display().to_string());
    let pid = std::process::id();
    let tries = [
        format!("echo x > {notes}"),
        format!("echo x >> {notes}"),
        format!("echo x > {home}/new.txt"),
        format!("rm {notes}"),
        format!("mv {notes} {home}/moved.txt"),
        format!("mv {notes} ."),
        format!("ln {notes} {home}/second.txt"),
        format!("ln {notes} taken.txt"),
        format!("ln -s {notes} {home}/link.txt"),
        format!("mkdir {home}/folder"),
        format!("mkfifo {home}/pipe"),
        format!("truncate -s 0 {notes}"),
        format!("chmod 777 {notes}"),
        format!("touch -t 200001010000 {notes}"),
        format!("cat {notes} > /dev/null"),
        format!("ls {home} > /dev/null"),
        "cat /etc/shadow > /dev/null".into(),
        "cat ../theirs/try.sh > ../theirs/copy.sh".into(),
        "echo x > here.txt".into(),
        format!("kill -0 {pid}"),
        format!("cat /proc/{pid}/environ > /dev/null"),
        format!("echo x > /proc/{pid}/comm"),
    ];
    let lines: Vec<String> =
        tries.iter().enumerate().map(|(i, line)| format!("({line}) 2>/dev/null && echo done-{i}- >&2")).collect();
    let said = place.program(&lines.join("\n"), &["--allow-run"]);
    assert!(said.has("ended"), "{}", said.text);
    let done: Vec<&String> =
        tries.iter().enumerate().filter(|(i, _)| said.has(&format!("done-{i}-"))).map(|(_, t)| t).collect();
    assert!(done.is_empty() && place.untouched(), "{done:?}");
    assert_ne!(std::fs::metadata(&notes)?.mode() & 0o777, 0o777);
    Ok(())
}

/// One case for every line of the page: whether it can be done without the flag, and with it.
#[test]
fn every_line_of_the_page_is_true() -> Outcome {
    for line in LINES {
        let done = tried(line.name, None)?;
        assert_eq!(done, line.can == Can::Yes, "{}: {}", line.name, line.what);
        if let Can::Unless(flag) = line.can {
            assert!(tried(line.name, Some(flag))?, "{} with {flag}", line.name);
        }
    }
    Ok(())
}

/// Tries what a line says; says whether it was done.
fn tried(name: &str, flag: Option<&str>) -> Result<bool, Box<dyn std::error::Error>> {
    let place = Place::new()?;
    let (notes, home) = (place.notes(), place.root.path().join("home"));
    let (shown, folder) = (notes.display().to_string(), home.display().to_string());
    let given = |value: &str| -> Vec<&'static str> {
        flag.map(|flag| &*flag.replace("PATH", value).replace("PROGRAM", value).leak()).into_iter().collect()
    };
    let in_home = given(&folder);
    // Whether a program did it, said by itself.
    let program = |line: &str, flags: &[&str]| {
        let said = place.program(&format!("({line}) && echo done >&2"), &[&["--allow-run"], flags].concat());
        assert!(said.has("ended"), "{}", said.text);
        said.has("done")
    };
    Ok(match name {
        "read-own" => {
            place.put("theirs/list.rhai", "fn one() { 1 }");
            std::fs::create_dir(place.root.path().join("data"))?;
            place.put("data/model.pt", torchscript("pass"));
            place.put("work/named.pt", torchscript("pass"));
            let script = "import \"list\" as list;\nlet f = model::load(\"model.pt\", #{ classes: 2, input: [1, 4, 4] });\n\
                          let g = model::load(arg(\"file\", \"\"), #{ classes: 2, input: [1, 4, 4] });\n\
                          let h = model::train(data::glyphs(#{ n: 20, seed: 1 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                          h.save(\"h.safetensors\");\nmodel::load(\"h.safetensors\"); list::one()";
            let said = place.run(script, &["--file", "named.pt"]);
            assert!(said.well, "{}", said.text);
            said.well
        }
        "read-other" => {
            place.put("home/model.pt", torchscript("pass"));
            let script = ASKS.replace("../theirs", &folder);
            let own = place.run(&script, &in_home);
            assert!(own.well || own.has(&format!("--allow-read={folder}")), "{}", own.text);
            let native = place.torchscript(&maps(&notes, false, 0), &in_home).has("116");
            assert_eq!(own.well, native);
            native
        }
        "read-passwords" => {
            let place = Place::new()?;
            let flags = given("/etc");
            let file =
                ["/etc/shadow", "/etc/passwd"].map(Path::new).into_iter().find(|file| std::fs::read(file).is_ok());
            place.torchscript(&maps(file.ok_or("nothing to read")?, false, 0), &flags).well
        }
        "read-system" => place.torchscript(&maps(Path::new("/usr/bin/env"), false, 0), &[]).has("127"),
        "see-names" => program(&format!("test -s {shown}"), &[]),
        "write-own" => {
            let said = place.run("save(\"x\", \"x.txt\")", &["--out", "run"]);
            said.well && place.root.path().join("work/run/x.txt").exists()
        }
        "write-other" => {
            let saved = place.run(&format!("save(\"x\", \"{folder}/new.txt\")"), &in_home);
            assert!(saved.well || saved.has(&format!("--allow-write={folder}/new.txt")), "{}", saved.text);
            assert_eq!(saved.well, home.join("new.txt").exists());
            // One file alone can be allowed, too, and with the path as a word of its own.
            if flag.is_some() {
                let file = format!("{folder}/single.txt");
                let script = format!("save(\"x\", \"{file}\")");
                assert!(place.run(&script, &[&format!("--allow-write={file}")]).well && Path::new(&file).exists());
                assert!(place.run(&script.replace("single", "word"), &["--allow-write", &folder]).well);
                assert!(!place.run(&script.replace("single", "other"), &[&format!("--allow-write={file}")]).well);
            }
            let native = place.torchscript(&overwrites(&notes), &in_home).well;
            assert_eq!(saved.well, native);
            native
        }
        "change-other" => {
            let tries = [
                format!("mkdir {folder}/f"),
                format!("mv {shown} {folder}/g"),
                format!("ln {folder}/g {folder}/h"),
                format!("rm {folder}/g"),
            ];
            let done = tries.map(|line| program(&line, &in_home));
            assert!(done.iter().all(|one| *one == done[0]), "{done:?}");
            done[0]
        }
        "modes" => {
            program(&format!("chmod 777 {shown}"), &["--allow-write"])
                || program(&format!("touch -t 200001010000 {shown}"), &["--allow-write"])
        }
        "start" => {
            let said = place.program("echo began >&2", &given("sh"));
            assert!(said.has("began\n") || said.has("--allow-run"), "{}", said.text);
            if flag.is_some() {
                assert!(place.program("echo began >&2", &["--allow-run"]).has("began\n"));
                // That one alone: neither another, nor another through it.
                let said = place.program("echo began >&2", &["--allow-run=cat"]);
                assert!(!said.has("began\n") && said.has("--allow-run=sh"), "{}", said.text);
                let said = place.program("env true && echo began >&2", &["--allow-run=sh"]);
                assert!(said.has("ended") && !said.has("began\n"), "{}", said.text);
            }
            said.has("began\n")
        }
        "network" => {
            let (tcp, udp) = (TcpListener::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
            let sends = |kind: &str, port: u16| {
                program(&format!("bash -c 'echo x > /dev/{kind}/127.0.0.1/{port}'"), &given(""))
            };
            let done = [sends("tcp", tcp.local_addr()?.port()), sends("udp", udp.local_addr()?.port())];
            assert_eq!(done[0], done[1]);
            done[0]
        }
        "services" => {
            let socket = place.root.path().join("service");
            let _listener = UnixListener::bind(&socket)?;
            let line =
                format!("python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{}')\"", socket.display());
            let python = Command::new("python3").arg("--version").output().is_ok();
            // Without Python nothing here connects to a socket with a name; the call that makes one is that of the network.
            if python { program(&line, &[given("").as_slice(), &["--allow-read"]].concat()) } else { flag.is_some() }
        }
        "processes" => {
            let pid = std::process::id();
            program(&format!("kill -0 {pid}"), &["--allow-write"])
                || program(&format!("head -c 1 /proc/{pid}/environ > /dev/null"), &["--allow-read"])
        }
        // tried by a test of its own above
        "folder" => false,
        other => return Err(format!("no case for {other}").into()),
    })
}

#[test]
fn all_threads_are_held_and_the_manifest_says_by_what() -> Outcome {
    let place = Place::new()?;
    // The threads of libtorch and of readers are there when the program looks.
    let looks = "p=$PPID; while ! grep -q viva /proc/$p/comm; do p=$(sed -n 's/^PPid:\t//p' /proc/$p/status); done
                 grep -L 'NoNewPrivs:\t1' /proc/$p/task/*/status >&2; grep -L 'Seccomp:\t2' /proc/$p/task/*/status >&2
                 echo threads $(ls /proc/$p/task | wc -l) >&2";
    let before = "let ds = data::glyphs(#{ n: 200, seed: 1 });\n\
                  model::train(ds, #{ arch: [net::conv(8, 3), net::relu(), net::flatten(), net::linear(10)], epochs: 1, seed: 1 });";
    let said = place.program_after(before, looks, &["--allow-run", "--threads", "4"]);
    assert!(said.well && said.has("ended") && !said.has("/status"), "{}", said.text);
    let count =
        said.text.split("threads ").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
    assert!(count.is_some_and(|threads| threads > 3), "{}", said.text);
    let manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(place.root.path().join("work/run/manifest.json"))?)?;
    assert!(
        manifest["held"]["by"].as_str().is_some_and(|by| by.contains("landlock") && by.contains("seccomp")),
        "{manifest}"
    );
    assert_eq!(manifest["held"]["run"], "everything");
    Ok(())
}

#[test]
fn a_home_folder_is_not_given_away() -> Outcome {
    let place = Place::new()?;
    let home = place.root.path().join("home");
    std::fs::create_dir(home.join(".ssh"))?;
    std::fs::write(home.join(".ssh/key"), SECRET)?;
    let here = |words: &[&str]| Said::of(place.command(words).current_dir(&home).output());
    place.put("home/model.pt", torchscript(&overwrites(&place.notes())));
    place.put("home/key.pt", torchscript(&maps(&home.join(".ssh/key"), false, 0)));
    for asks in [ASKS.to_string(), ASKS.replace("model.pt", "key.pt")] {
        let asks = asks.replace("../theirs/", "").replace('\n', " ");
        assert!(here(&["-e", &asks]).has("Permission denied"));
        place.put("home/script.rhai", &asks);
        assert!(here(&["run", "script.rhai", "--out", "../run"]).has("Permission denied"));
    }
    assert_eq!(std::fs::read_to_string(place.notes())?, SECRET);
    assert!(here(&["-e", "save(\"x\", \"x.txt\")"]).well && home.join("x.txt").exists());
    assert!(here(&["-e", "save(\"x\", \".x.txt\")"]).has("--allow-write"));
    let above = Said::of(place.command(&["-e", "save(\"x\", \"x.txt\")"]).current_dir(place.root.path()).output());
    assert!(!above.well && above.has("--allow-write"), "{}", above.text);
    Ok(())
}

#[test]
fn the_prompt_asks_once_and_remembers() -> Outcome {
    let place = Place::new()?;
    let (work, home) = (place.root.path().join("work"), place.root.path().join("home"));
    place.put("work/model.pt", torchscript(&overwrites(&place.notes())));
    place.put("home/other.pt", torchscript("pass"));
    let mut terminal = Terminal::start(&work, 200, &["--no-init"], &[("OMP_NUM_THREADS", "1")]);
    terminal.prompt();
    let save = |name: &str| format!("save(\"x\", \"{}/{name}\")", home.display());
    terminal.press(&format!("{}\r", save("a.txt")));
    terminal.wait("may scripts write");
    terminal.press("no\r");
    terminal.prompt();
    assert!(terminal.line(&save("a.txt")).contains("may not write"), "a refusal is remembered");
    terminal.press(&format!("{}\r", save("b.txt")));
    terminal.wait("may scripts write");
    terminal.press("f\r");
    terminal.prompt();
    terminal.line(&save("c.txt"));
    assert_eq!(std::fs::read_to_string(home.join("c.txt"))?.trim(), "x");
    assert!(home.join("b.txt").exists() && !home.join("a.txt").exists());
    // An answer widens nothing for native code.
    let asks = "model::load(\"model.pt\", #{ classes: 2, input: [1, 4, 4] }).logits(tensor::zeros([1, 1, 4, 4]))";
    assert!(terminal.line(asks).contains("Permission denied"));
    assert_eq!(std::fs::read_to_string(place.notes())?, SECRET);
    let loads = format!("let f = model::load(\"{}/other.pt\", #{{ classes: 2, input: [1, 4, 4] }})", home.display());
    terminal.press(&format!("{loads}\r"));
    terminal.wait("may scripts read");
    terminal.press("y\r");
    terminal.prompt();
    assert!(!terminal.line(&loads).contains("may not read"));
    assert!(terminal.line("f.classes").contains('2'));
    assert_eq!(terminal.leave(), Some(0));
    Ok(())
}

/// As on an old kernel: the calls of Landlock are not there.
fn without_landlock(command: &mut Command) -> &mut Command {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let calls = [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self];
    let filter = SeccompFilter::new(
        calls.into_iter().map(|call| (call, vec![])).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
        std::env::consts::ARCH.try_into().expect("a machine that is known"),
    );
    let program: BpfProgram = filter.expect("a filter").try_into().expect("a program");
    let set = move || seccompiler::apply_filter(&program).map_err(|_| std::io::Error::other("no filter"));
    // SAFETY: one call of the system between fork and exec.
    unsafe { command.pre_exec(set) }
}

#[test]
fn where_nothing_holds_it_torchscript_is_refused() -> Outcome {
    let place = Place::new()?;
    place.put("theirs/model.pt", torchscript("pass"));
    place.put("theirs/script.rhai", ASKS);
    let words = ["run", "../theirs/script.rhai", "--out", "run"];
    let said = Said::of(without_landlock(&mut place.command(&words)).output());
    assert!(!said.well && said.has("TorchScript is a program") && said.has("--allow-native"), "{}", said.text);
    assert!(said.has("held by seccomp"), "{}", said.text);
    assert!(!place.root.path().join("work/run").exists());
    let said = Said::of(without_landlock(&mut place.command(&[&words[..], &["--allow-native"]].concat())).output());
    assert!(said.well, "{}", said.text);
    let manifest = std::fs::read_to_string(place.root.path().join("work/run/manifest.json"))?;
    assert!(manifest.contains("\"by\": \"seccomp\""), "{manifest}");
    Ok(())
}

#[test]
fn what_is_always_to_hold_stands_in_the_configuration() -> Outcome {
    let place = Place::new()?;
    let folder = place.root.path().join("home").display().to_string();
    place.put("home/model.pt", torchscript("pass"));
    std::fs::create_dir_all(place.root.path().join("home/.config/viva"))?;
    let script = ASKS.replace("../theirs", &folder);
    assert!(!place.run(&script, &[]).well);
    place.put("home/.config/viva/permissions", format!("# mine\n--allow-read={folder}\n"));
    assert!(place.run(&script, &[]).well);
    place.put("home/.config/viva/permissions", "--allow-everything\n");
    assert!(place.run(&script, &[]).has("line 1"));
    // No script writes there.
    place.put("home/.config/viva/permissions", "");
    let body = overwrites(&place.root.path().join("home/.config/viva/permissions"));
    assert!(!place.torchscript(&body, &[]).well);
    Ok(())
}

#[test]
fn a_report_tells_what_a_run_could_touch() -> Outcome {
    let place = Place::new()?;
    let flag = format!("--allow-read={}", place.root.path().join("home").display());
    assert!(place.run("1 + 1", &["--out", "run", &flag]).well);
    let manifest = std::fs::read_to_string(place.root.path().join("work/run/manifest.json"))?;
    assert!(manifest.contains(&format!("\"{flag}\"")), "{manifest}");
    assert!(Said::of(place.command(&["report", "run"]).output()).well);
    let page = std::fs::read_to_string(place.root.path().join("work/run/report.html"))?;
    for words in [flag.as_str(), "it could read", "write nothing else; start nothing; no network"] {
        assert!(page.contains(words), "{words}");
    }
    Ok(())
}
