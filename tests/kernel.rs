//! The Jupyter kernel, asked as Jupyter asks it: by signed messages over its sockets.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value as Json, json};
use tokio::runtime::{Builder, Runtime};
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use viva::kernel::{Message, Messages};
use zeromq::{DealerSocket, ReqSocket, Socket, SocketRecv, SocketSend, SubSocket, ZmqMessage};

/// What takes longer never comes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A training that nobody waits for.
const LONG: &str = "let f = model::train(data::glyphs(#{ n: 400, size: 16, seed: 1 }), #{ arch: [net::flatten(), net::linear(32), \
                    net::relu(), net::linear(10)], epochs: 1000000, seed: 1 });";

/// A kernel that runs, and a client of it.
struct Kernel {
    process: Child,
    runtime: Runtime,
    messages: Messages,
    shell: DealerSocket,
    control: DealerSocket,
    iopub: SubSocket,
    heartbeat: ReqSocket,
    _folder: tempfile::TempDir,
}

/// All that was said of a request, and its reply.
struct Answer {
    said: Vec<Message>,
    reply: Json,
}

impl Answer {
    fn of(&self, kind: &str) -> Vec<&Json> {
        self.said.iter().filter(|message| message.kind() == kind).map(|message| &message.content).collect()
    }

    fn printed(&self, name: &str) -> String {
        self.of("stream").iter().filter(|said| said["name"] == name).filter_map(|said| said["text"].as_str()).collect()
    }

    /// The only result.
    #[track_caller]
    fn result(&self) -> &Json {
        let [result] = self.of("execute_result")[..] else { panic!("{:?}", self.said) };
        &result["data"]
    }

    #[track_caller]
    fn text(&self) -> &str {
        self.result()["text/plain"].as_str().expect("text")
    }
}

/// The types that something is shown in.
fn forms(data: &Json) -> Vec<&str> {
    data.as_object().expect("forms").keys().map(String::as_str).collect()
}

fn within<T>(runtime: &Runtime, time: Duration, what: impl Future<Output = T>) -> Result<T, Elapsed> {
    runtime.block_on(async { timeout(time, what).await })
}

fn free_ports() -> Vec<u16> {
    let held: Vec<TcpListener> = (0..5).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    held.iter().map(|held| held.local_addr().expect("an address").port()).collect()
}

impl Kernel {
    fn start(flags: &[&str]) -> Self {
        // Somebody else may take a port in between.
        (0..5).find_map(|_| Self::try_start(flags)).expect("a kernel")
    }

    fn try_start(flags: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("connection.json");
        let ports = free_ports();
        let [shell, control, iopub, stdin, heartbeat] = ports[..] else { return None };
        let said = json!({
            "transport": "tcp", "ip": "127.0.0.1", "signature_scheme": "hmac-sha256", "key": "a secret", "kernel_name": "viva",
            "shell_port": shell, "control_port": control, "iopub_port": iopub, "stdin_port": stdin, "hb_port": heartbeat,
        });
        std::fs::write(&file, said.to_string()).expect("a file");
        let home = folder.path().join("home");
        std::fs::create_dir(&home).expect("a folder");
        let mut process = Command::new(env!("CARGO_BIN_EXE_viva"))
            .arg("kernel")
            .arg(&file)
            .args(flags)
            .current_dir(&home)
            .env("HOME", &home)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .env("OMP_NUM_THREADS", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("viva starts");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let context = runtime.enter();
        let (mut shell_socket, mut control_socket) = (DealerSocket::new(), DealerSocket::new());
        let (mut iopub_socket, mut heartbeat_socket) = (SubSocket::new(), ReqSocket::new());
        let connected = within(&runtime, PATIENCE, async {
            let at = |port: u16| format!("tcp://127.0.0.1:{port}");
            loop {
                if process.try_wait().expect("a process").is_some() {
                    return false;
                }
                // Refused until the kernel has bound it.
                if std::net::TcpStream::connect(("127.0.0.1", heartbeat)).is_ok() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            // Somebody else may answer there.
            shell_socket.connect(&at(shell)).await.is_ok()
                && control_socket.connect(&at(control)).await.is_ok()
                && iopub_socket.connect(&at(iopub)).await.is_ok()
                && iopub_socket.subscribe("").await.is_ok()
                && heartbeat_socket.connect(&at(heartbeat)).await.is_ok()
        });
        drop(context);
        if connected != Ok(true) {
            let _ = process.kill();
            let _ = process.wait();
            return None;
        }
        let messages = Messages::new(b"a secret".to_vec());
        let mut kernel = Self {
            process,
            runtime,
            messages,
            shell: shell_socket,
            control: control_socket,
            iopub: iopub_socket,
            heartbeat: heartbeat_socket,
            _folder: folder,
        };
        kernel.subscribe();
        Some(kernel)
    }

    /// Asks until what is published arrives: a subscription takes a moment.
    fn subscribe(&mut self) {
        loop {
            self.send("kernel_info_request", json!({}));
            self.reply();
            let heard = within(&self.runtime, Duration::from_millis(200), self.iopub.recv());
            if heard.is_ok() {
                break;
            }
        }
        // What was said so far is of no request that follows.
        while within(&self.runtime, Duration::from_millis(200), self.iopub.recv()).is_ok() {}
    }

    fn framed(&self, kind: &str, content: Json) -> (Json, ZmqMessage) {
        let message = self.messages.of(kind, &Json::Null, content);
        let frames = ZmqMessage::try_from(self.messages.frames(&message)).expect("frames");
        (message.header["msg_id"].clone(), frames)
    }

    fn send(&mut self, kind: &str, content: Json) -> Json {
        let (id, frames) = self.framed(kind, content);
        self.runtime.block_on(self.shell.send(frames)).expect("sent");
        id
    }

    /// Asks what is heard while a cell runs.
    fn command(&mut self, kind: &str, content: Json) -> Message {
        let (_, frames) = self.framed(kind, content);
        self.runtime.block_on(self.control.send(frames)).expect("sent");
        let frames = within(&self.runtime, PATIENCE, self.control.recv()).expect("in time").expect("a reply");
        self.messages.read(frames.into_vec()).expect("a signed message")
    }

    fn reply(&mut self) -> Message {
        let frames = within(&self.runtime, PATIENCE, self.shell.recv()).expect("in time").expect("a reply");
        self.messages.read(frames.into_vec()).expect("a signed message")
    }

    fn published(&mut self) -> Message {
        let frames = within(&self.runtime, PATIENCE, self.iopub.recv()).expect("in time").expect("a message");
        self.messages.read(frames.into_vec()).expect("a signed message")
    }

    /// What is said of a request until it is answered.
    fn answer(&mut self, id: &Json) -> Answer {
        let mut said = Vec::new();
        loop {
            let message = self.published();
            if message.parent["msg_id"] != *id {
                continue;
            }
            let idle = message.kind() == "status" && message.content["execution_state"] == "idle";
            said.push(message);
            if idle {
                break;
            }
        }
        let reply = self.reply();
        assert_eq!(reply.parent["msg_id"], *id);
        Answer { said, reply: reply.content }
    }

    fn ask(&mut self, kind: &str, content: Json) -> Answer {
        let id = self.send(kind, content);
        self.answer(&id)
    }

    fn run(&mut self, code: &str) -> Answer {
        self.ask(
            "execute_request",
            json!({ "code": code, "silent": false, "store_history": true, "stop_on_error": true }),
        )
    }

    /// Waits until something of this kind is said.
    fn wait_for(&mut self, kind: &str) -> Message {
        loop {
            let message = self.published();
            if message.kind() == kind {
                return message;
            }
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn cells_are_answered_in_all_forms() {
    let mut kernel = Kernel::start(&[]);
    let info = kernel.ask("kernel_info_request", json!({})).reply;
    assert_eq!((&info["implementation"], &info["language_info"]["file_extension"]), (&json!("viva"), &json!(".rhai")));
    assert_eq!(info["protocol_version"], "5.3");

    let first = kernel.run("let a = 20;\n:vars\n2 * a + 2");
    assert_eq!((first.text(), &first.reply["execution_count"]), ("42", &json!(1)));
    assert!(first.printed("stdout").contains("a     int   20"), "{:?}", first.said);
    let states: Vec<&Json> = first.of("status").iter().map(|said| &said["execution_state"]).collect();
    assert_eq!(states, [&json!("busy"), &json!("idle")]);
    // Lines are a cell together or, as at the prompt, each by itself; the last value is shown, and kept.
    assert_eq!(kernel.run("let b = ans + 1\nb\nprint(\"said\")\n\"last\"").text(), "\"last\"");
    assert!(kernel.run("b;").of("execute_result").is_empty());

    let figure = kernel.run("plot::line([1, 2, 3], [2, 4, 8])");
    assert_eq!(forms(figure.result()), ["text/plain", "image/png", "image/svg+xml"]);
    let table =
        kernel.run("let rows = []; for i in 0..500 { rows.push(#{ n: i, half: i / 2.0, \"<b>\": \"<i>\" }); }\nrows");
    let html = table.result()["text/html"].as_str().expect("a table");
    assert!(html.contains("&lt;b&gt;") && html.contains("&lt;i&gt;") && !html.contains("<i>"), "{html}");
    assert!(html.contains("… 460 more rows") && html.matches("<tr>").count() == 42, "{html}");
    assert!(table.text().contains("… 460 more rows"), "{}", table.text());
    // What has a table among other lines, with the columns that the text has no room for.
    let model = kernel.run(
        "model::train(data::glyphs(#{ n: 4, size: 16 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1 })",
    );
    let html = model.result()["text/html"].as_str().expect("a table");
    assert!(html.starts_with("<pre>model") && html.contains("<td style=\"text-align: left\">1.weight</td>"), "{html}");
    let wide: String = (0..30).map(|i| format!("a_long_name_{i}: {i}, ")).collect();
    let wide = kernel.run(&format!("#{{ one: 1, rows: [#{{ {wide} }}] }}"));
    let html = wide.result()["text/html"].as_str().expect("a table");
    assert!(wide.text().contains("not shown: ") && html.contains(">a_long_name_29</th>"), "{html}");
    assert!(html.starts_with("<pre>one") && !html.contains("not shown: "), "{html}");
    let sheet = kernel.run("show(data::glyphs(#{ n: 4, size: 16 })); show(\"text\"); 1");
    assert_eq!(forms(&sheet.of("display_data")[0]["data"]), ["text/plain", "image/png"]);
    assert_eq!(sheet.printed("stdout"), "text\n");
    let results = kernel.run("#{ n: 1, one: plot::line([1, 2], [3, 4]), two: plot::line([1, 2], [3, 4]) }");
    assert_eq!(results.of("display_data").len(), 2);
    assert!(results.text().contains("one  figure"), "{}", results.text());
    // All that is shown by `:time` is the time.
    let timed = kernel.run(":time -n 2 show(plot::line([1, 2], [3, 4]))");
    assert!(timed.of("display_data").is_empty() && timed.printed("stdout").contains("2 repeats"), "{:?}", timed.said);

    let silent = kernel
        .ask("execute_request", json!({ "code": "a = 5; a", "silent": true, "user_expressions": { "x": "a + 1" } }));
    assert!(silent.of("execute_input").is_empty() && silent.of("execute_result").is_empty());
    assert_eq!(silent.reply["user_expressions"]["x"]["data"]["text/plain"], "6");
    assert_eq!(kernel.run("a").text(), "5");
}

/// What a cell says stands where it said it before, and so do its warnings.
#[test]
fn every_cell_that_is_run_says_its_warnings() {
    let mut kernel = Kernel::start(&[]);
    kernel.run(
        "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 }); \
         let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });",
    );
    for _ in 0..2 {
        let said = kernel.run("f.error(ds); f.error(ds)").printed("stderr");
        assert_eq!(said.matches("learned from 20 of the 20 images").count(), 1, "{said}");
    }
}

#[test]
fn mistakes_are_explained_where_they_stand_and_stop_what_was_asked_with_them() {
    let mut kernel = Kernel::start(&[]);
    let failed = kernel.run("let a = 1;\n:vars\n\nlet b = nosuch(a);");
    let [error] = failed.of("error")[..] else { panic!("{:?}", failed.said) };
    assert_eq!(
        (&error["ename"], &error["evalue"]),
        (&json!("argument"), &json!("there is no function `nosuch` for int"))
    );
    assert_eq!(failed.reply["status"], "error");
    let told =
        error["traceback"].as_array().expect("lines").iter().filter_map(Json::as_str).collect::<Vec<_>>().join("\n");
    assert!(told.contains("cell 1:4:9") && told.contains("nosuch") && told.contains("4 │"), "{told}");
    assert_eq!(kernel.run("err.kind").text(), "\"argument\"");
    let near = kernel.run("risk::estimat(1)");
    assert!(near.of("error")[0]["traceback"].to_string().contains("did you mean"), "{:?}", near.said);
    assert!(kernel.run(":vras").of("error")[0]["traceback"].to_string().contains("did you mean :vars?"));

    // Those behind a cell that fails are not run, unless they are to be.
    let cell = |code: &str, stops: bool| json!({ "code": code, "silent": false, "stop_on_error": stops });
    let asked = [("sleep(1); nosuch()", true), ("let behind = 1;", true), ("nosuch()", false), ("7", true)];
    let ids: Vec<Json> = asked.iter().map(|(code, stops)| kernel.send("execute_request", cell(code, *stops))).collect();
    let status: Vec<Json> = ids.iter().map(|id| kernel.answer(id).reply["status"].clone()).collect();
    assert_eq!(status[..2], ["error", "aborted"]);
    assert!(kernel.run("behind").reply["status"] == "error");
    let ids = [("nosuch()", false), ("7", true)].map(|(code, stops)| kernel.send("execute_request", cell(code, stops)));
    assert_eq!(ids.map(|id| kernel.answer(&id).reply["status"].clone()), ["error", "ok"]);

    // Nothing reaches beyond the notebook's folder, and nobody is asked.
    let outside = kernel.run("save(1, \"/etc/viva.json\")");
    assert_eq!(outside.reply["status"], "error");
    assert!(kernel.run("save(1, \"own.json\"); 1").reply["status"] == "ok");
}

#[test]
fn a_cell_is_helped_with() {
    let mut kernel = Kernel::start(&[]);
    let at = |marked: &str| {
        let (left, right) = marked.split_once('¦').expect("a cursor");
        json!({ "code": format!("{left}{right}"), "cursor_pos": left.chars().count(), "detail_level": 0 })
    };
    kernel.run("let dream = data::glyphs(#{ n: 2, size: 16 });");
    for (marked, offer, from) in [
        ("let é = \"🙂\"; data::gly¦", "glyphs(", 19),
        (":va¦\n1", ":vars", 0),
        ("1;\n:vars\nrisk::estimate(1, dream, #{ rad¦ })", "radius: ", 37),
        ("dream.cla¦", "classes", 6),
    ] {
        let offered = kernel.ask("complete_request", at(marked)).reply;
        let found = offered["matches"].as_array().expect("offers").contains(&json!(offer));
        assert!(found && offered["cursor_start"] == from, "{marked}: {offered}");
    }
    for (marked, said) in [
        ("data::gly¦phs(1)", "Digits drawn by the program itself"),
        ("risk::estimate(1, 2, #{ radius: ¦", "radius: an int, from 1 to 32"),
        ("dre¦am", "dream: Dataset"),
        (":time dream.take(¦", "The first images."),
    ] {
        let explained = kernel.ask("inspect_request", at(marked)).reply;
        assert!(
            explained["data"]["text/plain"].as_str().is_some_and(|text| text.contains(said)),
            "{marked}: {explained}"
        );
    }
    assert_eq!(kernel.ask("inspect_request", at("nosuchthing¦")).reply["found"], false);
    for (code, status) in
        [("1 +", "incomplete"), (":vars\nfn f() {", "incomplete"), ("1", "complete"), ("let )", "invalid")]
    {
        assert_eq!(kernel.ask("is_complete_request", json!({ "code": code })).reply["status"], status, "{code}");
    }
    let history =
        kernel.ask("history_request", json!({ "hist_access_type": "tail", "n": 5, "output": false, "raw": true }));
    assert_eq!(history.reply["history"].as_array().map(Vec::len), Some(1));
    // What widgets would talk by is closed again.
    let id = kernel.send("comm_open", json!({ "comm_id": "x", "target_name": "none", "data": {} }));
    let closed = kernel.wait_for("comm_close");
    assert_eq!((&closed.parent["msg_id"], &closed.content["comm_id"]), (&id, &json!("x")));
}

#[test]
fn a_cell_that_runs_is_watched_and_stopped() {
    let mut kernel = Kernel::start(&[]);
    // Where nothing runs there is nothing to stop, neither now nor later.
    kernel.command("interrupt_request", json!({}));
    let id = kernel.send("execute_request", json!({ "code": LONG, "silent": false }));
    let behind = kernel.send("execute_request", json!({ "code": "1", "silent": false }));
    let shown = kernel.wait_for("display_data");
    let display = shown.content["transient"]["display_id"].clone();
    assert!(shown.content["data"]["text/plain"].as_str().is_some_and(|text| text.starts_with("training")));
    let updated = kernel.wait_for("update_display_data");
    assert_eq!(updated.content["transient"]["display_id"], display);
    // Heard while a cell runs.
    kernel.runtime.block_on(kernel.heartbeat.send(ZmqMessage::from("beat"))).expect("sent");
    let beat = within(&kernel.runtime, PATIENCE, kernel.heartbeat.recv()).expect("in time").expect("a beat");
    assert_eq!(beat.get(0), Some(&Bytes::from_static(b"beat")));
    assert_eq!(kernel.command("interrupt_request", json!({})).content["status"], "ok");
    let stopped = kernel.answer(&id);
    assert_eq!((&stopped.reply["status"], &stopped.reply["ename"]), (&json!("error"), &json!("interrupted")));
    assert!(stopped.printed("stderr").contains("`partial`"), "{:?}", stopped.said);
    let last = stopped.of("update_display_data").last().map(|said| said["data"]["text/plain"].clone());
    assert!(last.is_some_and(|text| text.as_str().is_some_and(|text| text.ends_with("ended early"))));
    assert_eq!(kernel.answer(&behind).reply["status"], "aborted");
    assert!(kernel.run("partial").text().starts_with("model trained for"));

    // What an earlier cell had done is not of one that did nothing, and a wait that ends a cell is stopped like all else.
    let id = kernel.send("execute_request", json!({ "code": "sleep(60)", "silent": false }));
    kernel.wait_for("execute_input");
    kernel.command("interrupt_request", json!({}));
    let stopped = kernel.answer(&id);
    assert_eq!(stopped.reply["ename"], "interrupted");
    assert!(stopped.printed("stderr").contains("`partial` is of an earlier line"), "{:?}", stopped.said);
    assert!(kernel.run("partial").text().starts_with("model trained for"));
    // So is what a client asks for beside a cell.
    let asked = json!({ "code": "print(1)", "silent": false, "user_expressions": { "a": "loop {}" } });
    let id = kernel.send("execute_request", asked);
    kernel.wait_for("stream");
    kernel.command("interrupt_request", json!({}));
    assert_eq!(kernel.answer(&id).reply["user_expressions"]["a"]["ename"], "interrupted");
    // However much a cell prints, what is said beside it is heard.
    let chatty = "let s = \"x\"; s.pad(70000, \"x\"); for i in 0..70 { print(s); } let ds = data::glyphs(#{ n: 30, size: 16, position: \"centred\", margin: 6, seed: 1 });\n\
                  let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }); let report = risk::estimate(f, ds, #{ radius: 2 });";
    let said = kernel.run(chatty);
    assert!(
        said.printed("stderr").contains("4 MiB of text") && said.printed("stderr").contains("warning"),
        "{}",
        said.printed("stderr")
    );

    // Of one print that is longer the beginning is there.
    let long = kernel.run("let s = \"\"; s.pad(5000000, \"x\"); print(s);");
    assert_eq!(long.printed("stdout").len(), 4 << 20);
    assert!(long.printed("stderr").contains("4 MiB of text"));

    // By a signal as well.
    let id = kernel.send("execute_request", json!({ "code": "loop {}", "silent": false }));
    kernel.wait_for("execute_input");
    let signalled = Command::new("kill").args(["-INT", &kernel.process.id().to_string()]).status().expect("kill");
    assert!(signalled.success());
    assert_eq!(kernel.answer(&id).reply["ename"], "interrupted");
    assert_eq!(kernel.run("1 + 1").text(), "2");
}

#[test]
fn who_may_not_ask_is_not_heard() {
    let mut kernel = Kernel::start(&[]);
    let foreign = Messages::new(b"another secret".to_vec());
    let execute = |code: &str| foreign.of("execute_request", &Json::Null, json!({ "code": code, "silent": false }));
    let forged = ZmqMessage::try_from(foreign.frames(&execute("let forged = 1;"))).expect("frames");
    kernel.runtime.block_on(kernel.shell.send(forged)).expect("sent");
    let ours = kernel.messages.frames(&kernel.messages.of("execute_request", &Json::Null, json!({ "code": "1" })));
    let mut changed = ours.clone();
    changed[5] = Bytes::from_static(b"{\"code\":\"let forged = 2;\"}");
    for damaged in [changed, ours[..3].to_vec(), vec![Bytes::from_static(b"noise")]] {
        let frames = ZmqMessage::try_from(damaged).expect("frames");
        kernel.runtime.block_on(kernel.shell.send(frames)).expect("sent");
    }
    let end =
        ZmqMessage::try_from(foreign.frames(&foreign.of("shutdown_request", &Json::Null, json!({})))).expect("frames");
    kernel.runtime.block_on(kernel.control.send(end)).expect("sent");
    assert_eq!(kernel.run("is_def_var(\"forged\")").text(), "false");
}

#[test]
fn kernels_run_beside_each_other_and_end_when_they_are_told_to() {
    let (mut one, mut other) = (Kernel::start(&[]), Kernel::start(&[]));
    one.run("let a = 1;");
    other.run("let a = 2;");
    assert_eq!((one.run("a").text(), other.run("a").text()), ("1", "2"));
    let reply = one.command("shutdown_request", json!({ "restart": true }));
    assert_eq!(reply.content, json!({ "status": "ok", "restart": true }));
    assert!(one.process.wait().expect("it ends").success());
    assert_eq!(other.run("a").text(), "2");
    // In the middle of a cell, too.
    other.send("execute_request", json!({ "code": "loop {}", "silent": false }));
    other.wait_for("execute_input");
    other.command("shutdown_request", json!({ "restart": false }));
    assert!(other.process.wait().expect("it ends").success());
}

#[test]
fn the_kernel_is_installed_with_what_it_may_do() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let viva = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_viva"))
            .args(words)
            .current_dir(home.path())
            .env("HOME", home.path())
            .env_remove("XDG_DATA_HOME")
            .env_remove("JUPYTER_DATA_DIR")
            .output()
            .expect("viva starts");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let spec = |folder: &Path| -> Json {
        let text = std::fs::read_to_string(folder.join("kernel.json")).expect("kernel.json");
        assert!(folder.join("logo-svg.svg").is_file());
        serde_json::from_str(&text).expect("JSON")
    };
    let place = if cfg!(target_os = "macos") { "Library/Jupyter" } else { ".local/share/jupyter" };
    assert!(viva(&["kernel", "--install"]).0);
    let plain = spec(&home.path().join(place).join("kernels/viva"));
    assert_eq!(
        plain["argv"].as_array().map(|words| &words[1..]),
        Some(&[json!("kernel"), json!("{connection_file}")][..])
    );
    assert_eq!((&plain["language"], &plain["interrupt_mode"]), (&json!("rhai"), &json!("message")));
    assert!(viva(&["kernel", "--install", "--prefix", "env", "--name", "wide", "--allow-net", "--allow-read=/data"]).0);
    let wide = spec(&home.path().join("env/share/jupyter/kernels/wide"));
    assert_eq!(
        wide["argv"].as_array().map(|words| &words[3..]),
        Some(&[json!("--allow-read=/data"), json!("--allow-net")][..])
    );
    let foreign = home.path().join("env/share/jupyter/kernels/python3/kernel.json");
    std::fs::create_dir_all(foreign.parent().expect("a folder")).expect("a folder");
    std::fs::write(&foreign, "{\"argv\": [\"python\"], \"language\": \"python\"}").expect("a file");
    let (well, told) = viva(&["kernel", "--install", "--prefix", "env", "--name", "python3"]);
    assert!(!well && told.contains("another program's kernel"), "{told}");
    assert!(std::fs::read_to_string(&foreign).expect("what was there").contains("[\"python\"]"));
    assert!(viva(&["kernel", "--install", "--prefix", "env", "--name", "wide"]).0);
    std::fs::write(home.path().join("noise.json"), "{\"ip\": \"127.0.0.1\"}").expect("a file");
    for (words, said) in [
        (&["kernel"][..], "needs --install"),
        (&["kernel", "--instal"], "did you mean"),
        (&["kernel", "--install", "--name", "../x"], "can't be called"),
        (&["kernel", "missing.json"], "missing.json"),
        (&["kernel", "noise.json"], "shell_port"),
    ] {
        let (well, told) = viva(words);
        assert!(!well && told.contains(said), "{words:?}: {told}");
    }
}
