//! The page that people answer on, over HTTP as any client would: what it takes, what it refuses, and what is left when it is killed.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use serde_json::{Value as Json, json};
use viva::core::{Cx, Quiet};
use viva::label::{Address, Desk, Serving, serve};
use viva::people::PeopleTask;
use viva::script::Session;

/// A task in a folder of its own.
fn made(script: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cx = Cx::new(Box::new(Quiet));
    cx.set_folder(folder.path().to_path_buf());
    let mut session = Session::new(Rc::new(cx));
    let text = format!("let ds = data::glyphs(#{{ n: 80, size: 16, seed: 1 }});\n{script}");
    session.run(Path::new("script.rhai"), &text).unwrap_or_else(|said| panic!("{}", said.render(false)));
    let task = folder.path().join("task");
    (folder, task)
}

const QUICK: &str = r#"people::task(ds.take(12), #{ kind: "label", real: ds.skip(30), overlap: 2, per_worker: 6, gold: 1, instructed: 1, wait: 0, seed: 4 })"#;

fn task(folder: &Path) -> PeopleTask {
    PeopleTask::open(&Cx::default(), folder).expect("a task")
}

fn served(folder: &Path) -> (Serving, Vec<String>, String) {
    let desk = Desk::open(&Cx::default(), task(folder)).expect("a desk");
    let (tokens, owner) = (desk.tokens().to_vec(), desk.owner().to_string());
    let serving =
        serve(desk, Address { at: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), public: None }).expect("a server");
    (serving, tokens, owner)
}

/// Sends these bytes and gives status, head and body of the answer.
fn raw(at: SocketAddr, bytes: &[u8]) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(at).expect("a connection");
    // Whoever is refused early may not hear all of it.
    let _ = stream.write_all(bytes);
    let mut all = vec![];
    let _ = stream.read_to_end(&mut all);
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(all.len());
    let head = String::from_utf8_lossy(&all[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, head, all.get(end + 4..).unwrap_or_default().to_vec())
}

fn get(at: SocketAddr, path: &str) -> (u16, String, Vec<u8>) {
    raw(at, format!("GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n").as_bytes())
}

fn post_with(at: SocketAddr, path: &str, body: &str, headers: &str) -> (u16, Json) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    let (status, _, body) = raw(at, (head + body).as_bytes());
    (status, serde_json::from_slice(&body).unwrap_or(Json::Null))
}

fn post(at: SocketAddr, path: &str, body: Json) -> (u16, Json) {
    post_with(at, path, &body.to_string(), "Content-Type: application/json\r\n")
}

fn state(at: SocketAddr, token: &str) -> Json {
    let (status, _, body) = get(at, &format!("/w/{token}/state"));
    assert_eq!(status, 200);
    serde_json::from_slice(&body).expect("JSON")
}

/// The button that is right for a question.
fn right(task: &PeopleTask, seat: usize, number: usize) -> usize {
    let question = &task.text.slots[seat][number];
    let known = task.text.items.iter().chain(&task.text.known).find(|item| item.id == question.item);
    let word = known.map_or(&task.text.check, |item| item.right.first().unwrap_or(&item.about["label"]));
    task.text.words.iter().position(|known| known == word).expect("a word")
}

/// Answers all that a place is still asked.
fn finish(at: SocketAddr, task: &PeopleTask, token: &str, seat: usize) {
    post(at, &format!("/w/{token}/begin"), json!({}));
    loop {
        let state = state(at, token);
        let Some(number) = state["number"].as_u64().filter(|_| state["phase"] == "question") else { break };
        let body = json!({ "question": number, "choice": right(task, seat, number as usize) });
        let (status, said) = post(at, &format!("/w/{token}/answer"), body);
        assert_eq!(status, 200, "{said}");
    }
}

fn log(folder: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(folder.join("answers.jsonl")).expect("a log");
    text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect()
}

#[test]
fn a_whole_task_is_answered_and_read_back() {
    let (home, folder) = made(QUICK);
    let (serving, tokens, owner) = served(&folder);
    let own = task(&folder);
    for (seat, token) in tokens.iter().enumerate() {
        finish(serving.at, &own, token, seat);
        assert_eq!(state(serving.at, token)["phase"], "done");
    }
    let (status, _, page) = get(serving.at, &format!("/o/{owner}"));
    let page = String::from_utf8(page).expect("a page");
    assert!(status == 200 && page.contains("4 of 4 places taken, 4 finished") && page.contains("32 of 32"), "{page}");
    assert!(
        page.contains("<dt>Known answers right</dt><dd>4 of 4</dd>") && page.contains("<th scope=\"row\">0</th>"),
        "{page}"
    );
    drop(serving);
    let mut cx = Cx::new(Box::new(Quiet));
    cx.set_folder(home.path().to_path_buf());
    let found = Session::new(Rc::new(cx))
        .evaluate(
            "answers",
            r#"let a = people::answers(people::load("task"), "task/answers.jsonl");
            [a.workers, a.rules["gold"], a.rules["instructed"], a.raw.judgements, a.raw.shares()[0].share, a.unfinished]"#,
        )
        .expect("answers");
    assert_eq!(found.summary(), "[4, 0, 0, 24, 1.0, 0]");
}

/// Every answer that was taken is there after a kill, and nobody is asked again; half a line is cut off.
#[test]
fn a_killed_server_loses_nothing() {
    struct Killed(Child);
    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let (_home, folder) = made(QUICK);
    let own = task(&folder);
    // Killed as it wrote the places down for the first time.
    std::fs::write(folder.join("seats.json"), "").expect("an empty file");
    let start = || {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
        let child = Command::new(env!("CARGO_BIN_EXE_viva"))
            .args(["label", &folder.display().to_string(), "--port", &free.port().to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("viva starts");
        let mut child = Killed(child);
        // It says where it is once it is there.
        let mut said = [0u8; 64];
        let n = child.0.stdout.as_mut().expect("its output").read(&mut said).expect("a line");
        assert!(String::from_utf8_lossy(&said[..n]).contains("places"));
        (child, free)
    };
    let (first, at) = start();
    let seats: Json =
        serde_json::from_str(&std::fs::read_to_string(folder.join("seats.json")).expect("seats")).expect("JSON");
    let token = seats["tokens"][1].as_str().expect("a token").to_string();
    post(at, &format!("/w/{token}/begin"), json!({}));
    for number in 0..3 {
        assert_eq!(state(at, &token)["number"], number);
        let (status, _) =
            post(at, &format!("/w/{token}/answer"), json!({ "question": number, "choice": right(&own, 1, number) }));
        assert_eq!(status, 200);
    }
    drop(first);
    let before = std::fs::read(folder.join("answers.jsonl")).expect("a log");
    std::fs::write(folder.join("answers.jsonl"), [&before[..], b"{\"task\":\"cut"].concat()).expect("a log");
    let (_second, at) = start();
    assert_eq!(state(at, &token)["number"], 3);
    // A reply that was lost is said again: the answer is taken once.
    let (status, said) = post(at, &format!("/w/{token}/answer"), json!({ "question": 2, "choice": right(&own, 1, 2) }));
    assert_eq!((status, &said["number"]), (200, &json!(3)));
    finish(at, &own, &token, 1);
    let lines = log(&folder);
    assert_eq!(lines.len(), own.text.slots[1].len());
    assert!(lines.iter().all(|line| line["slot"] == 1));
}

#[test]
fn what_is_no_answer_of_this_page_is_refused() {
    let (_home, folder) = made(QUICK);
    let (serving, tokens, owner) = served(&folder);
    let (at, token) = (serving.at, &tokens[0]);
    let json_of = "Content-Type: application/json\r\n";
    let path = format!("/w/{token}/answer");
    // Before it was begun, and before it was shown.
    let good = || json!({ "question": 0, "choice": 1 });
    assert_eq!(post(at, &path, good()).0, 409);
    state(at, token);
    post(at, &format!("/w/{token}/begin"), json!({}));
    for (body, headers, wanted) in [
        ("{\"question\":0,\"choice\":1}", "Content-Type: text/plain\r\n", 415),
        ("question=0&choice=1", "Content-Type: application/x-www-form-urlencoded\r\n", 415),
        ("{\"question\":0", json_of, 400),
        ("[]", json_of, 400),
        ("{\"question\":0}", json_of, 400),
        ("{\"question\":-1,\"choice\":1}", json_of, 400),
        ("{\"question\":0,\"choice\":\"1\"}", json_of, 400),
        ("{\"question\":0,\"choice\":99}", json_of, 400),
        ("{\"question\":5,\"choice\":1}", json_of, 409),
        (
            "{\"question\":0,\"choice\":1}",
            "Content-Type: application/json\r\nOrigin: http://elsewhere.example\r\n",
            403,
        ),
        ("{\"question\":0,\"choice\":1}", "Content-Type: application/json\r\nOrigin: null\r\n", 403),
        ("{\"question\":0,\"choice\":1}", "Content-Type: application/json\r\nSec-Fetch-Site: cross-site\r\n", 403),
    ] {
        let (status, said) = post_with(at, &path, body, headers);
        assert_eq!(status, wanted, "{body} {headers}: {said}");
    }
    // 10 MB, and a length that is not said.
    assert_eq!(
        post_with(at, &path, &format!("{{\"question\":0,\"choice\":1,\"x\":\"{}\"}}", "y".repeat(10 << 20)), json_of).0,
        413
    );
    let chunked = format!(
        "POST {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n{json_of}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    );
    assert_eq!(raw(at, chunked.as_bytes()).0, 411);
    // Another name for this machine: a page elsewhere that leads here.
    let renamed = format!("GET /w/{token}/state HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n");
    assert_eq!(raw(at, renamed.as_bytes()).0, 403);
    for path in [
        format!("/w/{token}/../../task.json"),
        format!("/w/{token}/picture/0/..%2f..%2ftask.json"),
        "/task.json".into(),
        "/pictures/".into(),
        "/../seats.json".into(),
        "/w/00000000000000000000000000000000/state".into(),
        format!("/w/{}/state", "x".repeat(500)),
        format!("/o/{token}"),
        format!("/w/{owner}/state"),
        format!("/w/{token}/picture/1/0"),
        format!("/w/{token}/picture/0/1"),
        format!("/w/{token}/state?x=1"),
        "/w/%0d%0aSet-Cookie:a=b/state".into(),
    ] {
        let (status, head, _) = get(at, &path);
        assert!(matches!(status, 404 | 400), "{path}: {status}");
        assert!(!head.to_lowercase().contains("set-cookie"), "{head}");
    }
    let put = format!("PUT /w/{token}/answer HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(raw(at, put.as_bytes()).0, 405);
    assert!(log(&folder).is_empty());
    // None of it did any harm; once it was shown, the answer is taken.
    assert_eq!(state(at, token)["number"], 0);
    assert_eq!(post(at, &path, good()).0, 200);
    // Another answer to the same question, as a second tab may give.
    assert_eq!(post(at, &path, json!({ "question": 0, "choice": 2 })).0, 409);
    assert_eq!(log(&folder).len(), 1);
    let (_, head, page) = get(at, &format!("/w/{token}"));
    for wanted in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "no-store",
    ] {
        assert!(head.contains(wanted), "{wanted}: {head}");
    }
    let page = String::from_utf8(page).expect("a page");
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("src="), "it loads something");
}

#[test]
fn answers_and_first_questions_take_their_time() {
    let (_home, folder) = made(
        r#"people::task(ds.take(12), #{ kind: "pair", real: ds.skip(20), overlap: 2, gold: 0, wait: 30, study: 30, seed: 4 })"#,
    );
    let (serving, tokens, _) = served(&folder);
    let (at, token) = (serving.at, &tokens[0]);
    let begun = state(at, token);
    assert!(begun["phase"] == "begin" && begun["left"].as_f64().is_some_and(|left| left > 25.0), "{begun}");
    assert_eq!(get(at, &format!("/w/{token}/study/0")).0, 200);
    assert_eq!(post(at, &format!("/w/{token}/begin"), json!({})).0, 425);
    drop(serving);
    // The clock is whoever calls: the same without waiting.
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    desk.state(0, 0.0).expect("a state");
    assert_eq!(desk.begin(0, 29.0).expect_err("too early").0, 425);
    assert_eq!(desk.begin(0, 30.0).expect("begun")["phase"], "question");
    assert_eq!(desk.answer(0, 0, 1, None, 59.0).expect_err("too fast").0, 425);
    let after = desk.answer(0, 0, 1, None, 60.5).expect("an answer");
    assert!(
        after["phase"] == "pause" && after["left"].as_f64().is_some_and(|left| (left - 3.0).abs() < 1e-9),
        "{after}"
    );
    // In the pause the next question is neither shown nor answered.
    assert_eq!(desk.picture(0, Some(1), 0).expect_err("not yet").0, 404);
    assert_eq!(desk.answer(0, 1, 1, None, 62.0).expect_err("not yet").0, 425);
    assert_eq!(desk.state(0, 63.6).expect("a state")["number"], 1);
    assert!(desk.picture(0, Some(1), 0).is_ok() && desk.picture(0, Some(0), 0).is_err());
    assert_eq!(log(&folder)[0]["seconds"], 30.5);
}

#[test]
fn the_last_answer_can_be_taken_back_once() {
    let (_home, folder) = made(QUICK);
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    desk.state(0, 0.0).expect("a state");
    desk.begin(0, 0.0).expect("begun");
    desk.answer(0, 0, 1, None, 1.0).expect("an answer");
    desk.answer(0, 1, 2, None, 2.0).expect("an answer");
    assert_eq!(desk.undo(0, 0, 3.0).expect_err("not the last").0, 409);
    assert_eq!(desk.undo(0, 1, 3.0).expect("undone")["number"], 1);
    assert_eq!(desk.undo(0, 0, 4.0).expect_err("once").0, 409);
    desk.answer(0, 1, 3, None, 5.0).expect("an answer");
    assert_eq!(log(&folder).len(), 4);
    // Where two ask the same task, one is refused; a server that starts again knows what was taken back.
    assert!(
        Desk::open(&Cx::default(), task(&folder)).err().is_some_and(|e| e.message.contains("another `viva label`"))
    );
    drop(desk);
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    assert_eq!(desk.state(0, 0.0).expect("a state")["number"], 2);
}

/// The changed picture is neither shown nor judged before the one before was taken for its class.
#[test]
fn the_changed_picture_waits_for_the_one_before() {
    let (_home, folder) = made(
        r#"people::task(ds.take(12), #{ kind: "keeps_label", originals: ds.take(12), real: ds.skip(20), overlap: 2, gold: 0, wait: 0, seed: 4 })"#,
    );
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    desk.state(0, 0.0).expect("a state");
    let first = desk.begin(0, 0.0).expect("begun");
    assert!(first["pictures"] == 1 && first["label"].is_string(), "{first}");
    assert_eq!(desk.picture(0, Some(0), 1).expect_err("hidden").0, 404);
    assert_eq!(desk.answer(0, 0, 0, None, 1.0).expect_err("not seen").0, 409);
    assert_eq!(desk.accept(0, 0, None, 1.0).expect("accepted")["pictures"], 2);
    assert!(desk.picture(0, Some(0), 1).is_ok());
    assert_eq!(desk.answer(0, 0, 5, None, 2.0).expect_err("too late to reject").0, 409);
    assert_eq!(desk.answer(0, 0, 0, None, 2.0).expect("an answer")["number"], 1);
    // The next one is rejected at once.
    assert_eq!(desk.answer(0, 1, 4, None, 3.0).expect("an answer")["number"], 2);
}

/// How long something was looked at is not known of what another server asked, and is never longer than the page says that it was there.
#[test]
fn seconds_are_those_of_looking() {
    let (_home, folder) = made(
        r#"people::task(ds.take(12), #{ kind: "label", real: ds.skip(30), overlap: 2, per_worker: 6, gold: 1, instructed: 1, wait: 2, pause: 0, seed: 4 })"#,
    );
    let seconds = || log(&folder).last().expect("a line")["seconds"].clone();
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    desk.state(0, 0.0).expect("a state");
    desk.begin(0, 0.0).expect("begun");
    // Its picture came after 5 seconds.
    assert_eq!(desk.answer(0, 0, 1, Some(1.0), 6.0).expect_err("too fast").0, 425);
    desk.answer(0, 0, 1, Some(3.0), 8.0).expect("an answer");
    assert_eq!(seconds(), 3.0);
    desk.answer(0, 1, 1, Some(100.0), 12.0).expect("an answer");
    assert_eq!(seconds(), 4.0, "it was there for 4 seconds");
    // What was taken back was looked at before.
    desk.undo(0, 1, 13.0).expect("undone");
    desk.answer(0, 1, 2, None, 16.0).expect("an answer");
    assert_eq!(seconds(), 7.0);
    drop(desk);
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    assert_eq!(desk.state(0, 0.0).expect("a state")["least"], 2.0);
    desk.answer(0, 2, 1, Some(60.0), 3.0).expect("an answer");
    assert_eq!(seconds(), Json::Null);
    desk.answer(0, 3, 1, None, 6.0).expect("an answer");
    assert_eq!(seconds(), 3.0);
    let found = viva::people::read_answers(&Cx::default(), &task(&folder), &folder.join("answers.jsonl"));
    let seconds: Vec<Option<f64>> =
        found.expect("answers").0.answers.iter().filter(|one| !one.undo).map(|one| one.seconds).collect();
    assert_eq!(seconds, [Some(3.0), Some(4.0), Some(7.0), None, Some(3.0)]);
    // Nor of what was on a page that was opened anew.
    desk.state(0, 6.5).expect("a state");
    desk.opened(0, 9.0).expect("a state");
    desk.answer(0, 4, 1, Some(2.5), 12.0).expect("an answer");
    assert_eq!(log(&folder).last().expect("a line")["seconds"], Json::Null);
}

/// A place that somebody left without an answer goes to the next who comes, under another address.
#[test]
fn places_that_were_left_are_given_again() {
    let (_home, folder) = made(QUICK);
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    let to = |said: Json| said["to"].as_str().expect("a place").trim_start_matches("/w/").to_string();
    let tokens: Vec<String> = (0..4).map(|_| to(desk.join(None, 0.0).expect("a place"))).collect();
    desk.state(1, 1700.0).expect("a state");
    assert!(desk.join(None, 1700.0).expect_err("all are taken").1.contains("at the moment"));
    desk.state(0, 1.0).expect("a state");
    desk.begin(0, 1.0).expect("begun");
    desk.answer(0, 0, 1, None, 2.0).expect("an answer");
    let again = [to(desk.join(None, 1900.0).expect("a place")), to(desk.join(None, 1900.0).expect("a place"))];
    assert!(desk.join(None, 1900.0).is_err() && again.iter().all(|token| !tokens.contains(token)));
    // Those who answered, or were heard of, keep theirs; another server knows it too.
    let check = |desk: &Desk| {
        assert_eq!([0, 1, 2, 3].map(|i| desk.seat(&tokens[i]).is_some()), [true, true, false, false]);
        assert!(desk.is_former(&tokens[2]) && !desk.is_former(&tokens[0]));
        assert!(again.iter().all(|token| desk.seat(token).is_some()));
    };
    check(&desk);
    drop(desk);
    let desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    check(&desk);
    let serving =
        serve(desk, Address { at: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), public: None }).expect("a server");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let kept = std::fs::metadata(folder.join("seats.json")).expect("places").permissions();
        assert_eq!(kept.mode() & 0o777, 0o600, "others must not read secret words");
    }
    let head = |what: &str| {
        let at = serving.at;
        let text = format!("HEAD /w/{}{what} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n", again[0]);
        raw(at, text.as_bytes())
    };
    assert_eq!((head("").0, head("/state").0, head("").2.len()), (200, 404, 0));
    let (status, _, page) = get(serving.at, &format!("/w/{}", tokens[2]));
    assert!(status == 410 && String::from_utf8_lossy(&page).contains("given to somebody else"), "{status}");
    assert_eq!(get(serving.at, &format!("/w/{}/state", tokens[2])).0, 410);
}

/// A log that something else replaced or wrote to takes nothing more: what went into the old one would be lost.
#[test]
fn a_log_that_was_replaced_takes_no_answer() {
    let (_home, folder) = made(QUICK);
    let path = folder.join("answers.jsonl");
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    desk.state(0, 0.0).expect("a state");
    desk.begin(0, 0.0).expect("begun");
    desk.answer(0, 0, 1, None, 1.0).expect("an answer");
    assert!(desk.trouble().is_empty());
    let whole = std::fs::read(&path).expect("a log");
    let copy = folder.join("copy");
    std::fs::write(&copy, &whole).expect("a copy");
    std::fs::rename(&copy, &path).expect("another file");
    let refused = desk.answer(0, 1, 2, None, 2.0).expect_err("another file");
    assert!(refused.0 == 500 && refused.1.contains("was not taken: answers.jsonl was replaced"), "{refused:?}");
    assert_eq!(std::fs::read(&path).expect("a log"), whole);
    // The next server goes on with what is there, and sees what is written into it.
    drop(desk);
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    desk.state(0, 0.0).expect("a state");
    std::fs::write(&path, [&whole[..], b"\n"].concat()).expect("a log");
    assert!(desk.answer(0, 1, 2, None, 2.0).expect_err("changed").1.contains("was changed"));
    std::fs::remove_file(&path).expect("no log");
    assert!(desk.trouble().iter().any(|said| said.starts_with("No answers are taken: answers.jsonl was removed")));
}

#[test]
fn places_are_given_once() {
    let (_home, folder) = made(QUICK);
    let (serving, tokens, _) = served(&folder);
    let mut given = vec![];
    for _ in 0..tokens.len() {
        let (status, said) = post(serving.at, "/join", json!({}));
        assert_eq!(status, 200);
        given.push(said["to"].as_str().expect("a place").to_string());
    }
    given.sort();
    given.dedup();
    assert_eq!(given.len(), tokens.len());
    assert_eq!(post(serving.at, "/join", json!({})).0, 410);
    drop(serving);
    // Also by a server that starts again, though nobody has answered.
    let (serving, again, _) = served(&folder);
    assert_eq!((again, post(serving.at, "/join", json!({})).0), (tokens, 410));
}

/// Whom a platform sends again has the same place, and is called in the log as there; behind a server that others know, pages come from its name.
#[test]
fn who_comes_from_a_platform_has_one_place() {
    let (home, folder) = made(QUICK);
    let (own, desk) = (task(&folder), Desk::open(&Cx::default(), task(&folder)).expect("a desk"));
    let address =
        Address { at: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), public: Some("https://study.example.org".into()) };
    let serving = serve(desk, address).expect("a server");
    let at = serving.at;
    let join = |name: &str| post(at, "/join", json!({ "platform": name }));
    let to = |said: &Json| said["to"].as_str().expect("a place").to_string();
    let (first, again, other) = (join("5e9088a8a4b6"), join("5e9088a8a4b6"), join("5e9088a8a4b7"));
    assert!(first.0 == 200 && first.1 == again.1 && first.1 != other.1, "{first:?} {again:?} {other:?}");
    for (name, wanted) in [("", 400), ("=1+1", 400), ("a,b", 400), ("a\nb", 400), (&*"x".repeat(65), 400)] {
        assert_eq!(join(name).0, wanted, "{name}");
    }
    assert_eq!(post(at, "/join", json!({ "platform": 3 })).0, 400);
    for (origin, wanted) in
        [("https://study.example.org", 200), ("http://study.example.org", 403), ("https://example.org", 403)]
    {
        let headers = format!("Content-Type: application/json\r\nOrigin: {origin}\r\n");
        assert_eq!(post_with(at, &format!("{}/begin", to(&first.1)), "{}", &headers).0, wanted, "{origin}");
    }
    let named = "GET / HTTP/1.1\r\nHost: study.example.org\r\nConnection: close\r\n\r\n";
    assert_eq!(raw(at, named.as_bytes()).0, 200);
    let token = to(&first.1).trim_start_matches("/w/").to_string();
    let seats: Json =
        serde_json::from_str(&std::fs::read_to_string(folder.join("seats.json")).expect("seats")).expect("JSON");
    let tokens = seats["tokens"].as_array().expect("tokens");
    let seat = tokens.iter().position(|known| known == &json!(token)).expect("a seat");
    finish(at, &own, &token, seat);
    drop(serving);
    assert!(
        log(&folder).iter().all(|line| line["platform"] == "5e9088a8a4b6" && line["worker"] == json!(seat.to_string()))
    );
    // A server that starts again knows whom it has.
    let (serving, ..) = served(&folder);
    assert_eq!(post(serving.at, "/join", json!({ "platform": "5e9088a8a4b6" })).1, first.1);
    drop(serving);
    let read = |how: &str| {
        let mut session = Session::new(Rc::new({
            let mut cx = Cx::new(Box::new(Quiet));
            cx.set_folder(home.path().to_path_buf());
            cx
        }));
        let script =
            format!("people::answers(people::load(\"task\"), \"task/answers.jsonl\", #{{ {how} }}).conduct[0].worker");
        session.evaluate("read", &script).map(|value| value.summary()).map_err(|said| said.render(false))
    };
    assert_eq!(read("keep_ids: true").expect("read"), "5e9088a8a4b6");
    assert!(
        read("salt: \"s\"").expect("read").starts_with("w-")
            && read("").is_err_and(|said| said.contains("give `salt`"))
    );
}

/// A log beside a copy of itself, of when an answer had just been taken back, says what the log says.
#[test]
fn a_copy_of_a_log_takes_nothing_back() {
    let (_home, folder) = made(QUICK);
    let own = Rc::new(task(&folder));
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    desk.state(0, 0.0).expect("a state");
    desk.begin(0, 0.0).expect("begun");
    for question in 0..4 {
        desk.answer(0, question, 1, None, f64::from(question as u32)).expect("an answer");
    }
    desk.undo(0, 3, 5.0).expect("undone");
    let path = folder.join("answers.jsonl");
    let copy = folder.join("copy.jsonl");
    std::fs::copy(&path, &copy).expect("a copy");
    // Answers that nobody gave within the same millisecond.
    std::thread::sleep(std::time::Duration::from_millis(5));
    desk.answer(0, 3, 2, None, 7.0).expect("an answer");
    let read = |paths: &[&Path]| {
        let files: Vec<_> = paths
            .iter()
            .map(|path| viva::people::read_answers(&Cx::default(), &own, path).expect("answers").0)
            .collect();
        let found = viva::people::TaskAnswers::new(own.clone(), &files).expect("answers");
        let left: usize = found.workers.iter().map(|worker| worker.left).sum();
        (found.raw.rows.len(), left, found.undone, found.cautions.iter().any(|said| said.contains("came again")))
    };
    let alone = read(&[&path]);
    assert_eq!((alone.2, alone.3), (1, false));
    for paths in [&[&*path, &*copy][..], &[&copy, &path], &[&path, &path]] {
        assert_eq!(read(paths), alone);
    }
}

/// No bit of what was taken down can be another without a word: neither to the server nor to whoever reads the answers.
#[test]
fn a_damaged_log_is_refused() {
    let (_home, folder) = made(QUICK);
    let own = task(&folder);
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    desk.state(0, 0.0).expect("a state");
    desk.begin(0, 0.0).expect("begun");
    desk.answer(0, 0, 1, None, 1.0).expect("an answer");
    desk.answer(0, 1, 2, None, 2.0).expect("an answer");
    drop(desk);
    let path = folder.join("answers.jsonl");
    let whole = std::fs::read(&path).expect("a log");
    let other = folder.join("other.jsonl");
    let read = || viva::people::read_answers(&Cx::default(), &own, &other).map(|(found, _)| found);
    std::fs::write(&other, &whole).expect("a file");
    let wanted = read().expect("answers").answers;
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        std::fs::write(&other, &bytes).expect("a file");
        if let Ok(found) = read() {
            assert!(
                found.answers == wanted || found.torn,
                "bit {} of byte {place} makes {:?}",
                place % 8,
                found.answers
            );
        }
    }
    let flipped = String::from_utf8(whole.clone()).expect("text").replacen("\"choice\":1", "\"choice\":3", 1);
    std::fs::write(&path, flipped).expect("a log");
    assert!(Desk::open(&Cx::default(), task(&folder)).err().is_some_and(|e| e.message.contains("line 1: damaged")));
    // Without its first line that question is asked again, and after it those that have no answer.
    let second = whole.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    std::fs::write(&path, &whole[second..]).expect("a log");
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    assert_eq!(desk.state(0, 0.0).expect("a state")["number"], 0);
    assert_eq!(desk.progress(0.0)[0].1, 1, "one answer is there");
    let state = desk.answer(0, 0, 1, None, 1.0).expect("an answer");
    assert_eq!((&state["number"], &state["undo"]), (&2.into(), &false.into()), "{state}");
    drop(desk);
    std::fs::write(&path, whole).expect("a log");
    let joined = folder.join("joined.jsonl");
    let text = std::fs::read_to_string(&joined).expect("places");
    std::fs::write(&joined, text.replacen(":0", ":1", 1)).expect("places");
    assert!(Desk::open(&Cx::default(), task(&folder)).err().is_some_and(|e| e.message.contains("line 1: damaged")));
    // Half a line was never answered.
    std::fs::write(&joined, format!("{text}{{\"se")).expect("places");
    Desk::open(&Cx::default(), task(&folder)).expect("a desk");
}

/// Browsers write names small and leave out the port that a scheme has anyway.
#[test]
fn a_server_is_known_by_its_name_however_it_was_written() {
    let (_home, folder) = made(QUICK);
    for public in ["https://Study.Example.org", "https://study.example.org:443"] {
        let desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
        let address = Address { at: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), public: Some(public.into()) };
        let serving = serve(desk, address).expect("a server");
        for (host, origin, wanted) in [
            ("study.example.org", "https://study.example.org", 200),
            ("Study.Example.Org:443", "https://study.example.org", 200),
            ("study.example.org", "http://study.example.org", 403),
            ("study.example.org:8443", "https://study.example.org", 403),
            ("example.org", "https://study.example.org", 403),
        ] {
            let text = format!("GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: close\r\n\r\n");
            assert_eq!(raw(serving.at, text.as_bytes()).0, wanted, "{public}: {host} {origin}");
        }
    }
}

/// Browsers open several connections at once and keep them open: none waits for another to be closed.
#[test]
fn connections_that_are_kept_open_are_in_nobodys_way() {
    let (_home, folder) = made(QUICK);
    let (serving, tokens, _) = served(&folder);
    let ask = format!("GET /w/{}/state HTTP/1.1\r\nHost: {}\r\n\r\n", tokens[0], serving.at);
    let mut kept = vec![];
    for round in 0..10 {
        let mut together: Vec<TcpStream> =
            (0..6).map(|_| TcpStream::connect(serving.at).expect("a connection")).collect();
        together.iter_mut().for_each(|stream| stream.write_all(ask.as_bytes()).expect("asked"));
        for stream in &mut together {
            stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a time");
            let mut first = [0u8; 12];
            let answered = stream.read_exact(&mut first);
            assert!(answered.is_ok() && &first == b"HTTP/1.1 200", "round {round}: {answered:?}");
        }
        kept.extend(together);
    }
}

/// What is announced and never sent, and what is sent and never read, stops nobody else.
#[test]
fn nobody_is_kept_waiting_by_others() {
    let (_home, folder) = made(QUICK);
    let (serving, tokens, _) = served(&folder);
    let at = serving.at;
    let announced = |host: &str, length: &str| {
        format!(
            "POST /join HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{{"
        )
    };
    let own = at.to_string();
    let mut kept = vec![];
    for (host, length) in
        [(own.as_str(), "900"), (&own, "90000"), (&own, "99999999999999"), ("anything", "99999999999999")]
    {
        for _ in 0..20 {
            let mut stream = TcpStream::connect(at).expect("a connection");
            stream.write_all(announced(host, length).as_bytes()).expect("asked");
            kept.push(stream);
        }
    }
    // Asked again and again, and nothing of it read.
    for _ in 0..20 {
        let mut stream = TcpStream::connect(at).expect("a connection");
        stream.set_write_timeout(Some(std::time::Duration::from_millis(200))).expect("a time");
        let page = format!("GET /w/{} HTTP/1.1\r\nHost: {own}\r\n\r\n", tokens[0]);
        let _ = stream.write_all(page.repeat(2000).as_bytes());
        kept.push(stream);
    }
    kept.extend((0..100).map(|_| TcpStream::connect(at).expect("a connection")));
    let mut stream = TcpStream::connect(at).expect("a connection");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).expect("a time");
    let ask = format!("GET /w/{}/state HTTP/1.1\r\nHost: {own}\r\n\r\n", tokens[0]);
    stream.write_all(ask.as_bytes()).expect("asked");
    let mut first = [0u8; 12];
    let answered = stream.read_exact(&mut first);
    assert!(answered.is_ok() && &first == b"HTTP/1.1 200", "{answered:?}");
}

/// 200 workers at once, each on connections of their own.
#[test]
fn two_hundred_workers_do_not_disturb_each_other() {
    let (_home, folder) = made(
        r#"people::task(ds.take(20), #{ kind: "label", real: ds.skip(30), overlap: 200, per_worker: 4, n: 4, gold: 0, instructed: 1, wait: 0, seed: 4 })"#,
    );
    let (serving, tokens, _) = served(&folder);
    let (own, at) = (task(&folder), serving.at);
    assert_eq!(tokens.len(), 200);
    std::thread::scope(|scope| {
        for (seat, token) in tokens.iter().enumerate() {
            let own = &own;
            scope.spawn(move || finish(at, own, token, seat));
        }
    });
    let lines = log(&folder);
    assert_eq!(lines.len(), own.questions());
    let mut seen = std::collections::BTreeSet::new();
    assert!(lines.iter().all(|line| seen.insert((line["slot"].as_u64(), line["question"].as_u64()))));
}

/// What others ask with says nothing of what is right, and what they hand in is read back.
#[test]
fn exported_tasks_tell_nothing_and_are_read_back() {
    let (home, folder) = made(
        r#"people::task(ds.take(12), #{ kind: "pair", real: ds.skip(20), overlap: 2, per_worker: 6, gold: 2, wait: 0, study: 0, seed: 4 })"#,
    );
    let own = task(&folder);
    let viva = |words: &[&str]| {
        let run =
            Command::new(env!("CARGO_BIN_EXE_viva")).current_dir(home.path()).args(words).output().expect("viva runs");
        (
            run.status.success(),
            String::from_utf8_lossy(&run.stdout).into_owned() + &*String::from_utf8_lossy(&run.stderr),
        )
    };
    for format in ["pages", "label_studio", "folder"] {
        let (well, said) = viva(&["label", "task", "--export", format, "--out", format]);
        assert!(well, "{said}");
    }
    let (well, said) = viva(&["label", "task", "--export", "pages", "--out", "pages"]);
    assert!(!well && said.contains("something is there already"), "{said}");
    let (well, said) = viva(&["label", "task", "--export", "page", "--out", "new"]);
    assert!(!well && said.contains("did you mean `pages`"), "{said}");
    let text = |name: &str| std::fs::read_to_string(home.path().join(name)).expect("a file");
    let page = text("pages/page-0001.html");
    let (_, rest) = page.split_once("<script id=\"batch\" type=\"application/json\">").expect("the questions");
    let batch: Json = serde_json::from_str(rest.split_once("</script>").expect("their end").0).expect("JSON");
    let tasks: Json = serde_json::from_str(&text("label_studio/tasks.json")).expect("JSON");
    // All that a question says; whether it is a test or known, and where the made picture stands, is not among it.
    let keys = |json: &Json| json.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&batch["questions"][0]), ["item", "pictures", "label"]);
    assert_eq!(keys(&tasks[0]["data"]), ["viva", "text", "picture1", "picture2"]);
    assert_eq!(keys(&tasks[0]["data"]["viva"]), ["task", "slot", "question", "item"]);
    let ids: Vec<&str> = own.text.slots.iter().flatten().map(|question| question.item.as_str()).collect();
    assert!(ids.iter().all(|id| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
    assert!(
        !text("folder/manifest.csv").contains("known") && !page.contains("\"role\"") && !page.contains("\"place\"")
    );
    assert!(page.contains("default-src 'none'; img-src data:") && !page.contains("<img") && !page.contains("<link"));
    assert!(text("label_studio/config.xml").contains("<Choice value=\"the second\"/>"));
    // The right answers, as Label Studio exports them, and the manifest filled in.
    let right = |slot: usize, question: usize| 1 - own.text.slots[slot][question].place;
    let mut done = tasks.clone();
    for entry in done.as_array_mut().expect("entries") {
        let place = |name: &str| entry["data"]["viva"][name].as_u64().expect("a number") as usize;
        let (slot, question) = (place("slot"), place("question"));
        let said = &own.text.choices[right(slot, question)];
        entry["annotations"] =
            json!([{ "completed_by": slot, "lead_time": 2.0, "result": [{ "value": { "choices": [said] } }] }]);
    }
    std::fs::write(home.path().join("done.json"), done.to_string()).expect("a file");
    let manifest = text("folder/manifest.csv");
    let mut lines = manifest.lines();
    let mut filled = format!("worker,{}\n", lines.next().expect("a head"));
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let place = |i: usize| cells[i].parse::<usize>().expect("a number");
        filled += &format!("p{},{line}{}\n", place(1), right(place(1), place(2)));
    }
    std::fs::write(home.path().join("filled.csv"), filled).expect("a file");
    for file in ["done.json", "filled.csv"] {
        let script = format!(
            "let a = people::answers(people::load(\"task\"), \"{file}\", #{{ salt: \"s\" }}); [a.workers, a.rejected, \
             a.raw.not_spotted(2)[0].not_spotted]"
        );
        let (well, said) = viva(&["-e", &script]);
        assert!(well && said.trim() == "[4, 0, 0.0]", "{file}: {said}");
    }
}

/// What MTurk, Argilla and Prodigy are given; their own packages read the same in tests/platforms.py.
#[test]
fn other_programs_are_given_what_they_take() {
    let (home, folder) = made(
        r#"people::task(ds.take(12), #{ kind: "label", real: ds.skip(20), overlap: 2, per_worker: 6, gold: 2, wait: 0, seed: 4 })"#,
    );
    let own = task(&folder);
    let viva = |words: &[&str]| {
        let run =
            Command::new(env!("CARGO_BIN_EXE_viva")).current_dir(home.path()).args(words).output().expect("viva runs");
        let said = String::from_utf8_lossy(&run.stdout).into_owned() + &*String::from_utf8_lossy(&run.stderr);
        (run.status.success(), said.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let text = |name: &str| std::fs::read_to_string(home.path().join(name)).expect("a file");
    let count = |name: &str| std::fs::read_dir(home.path().join(name)).map_or(0, |entries| entries.count());
    let (well, said) = viva(&["label", "task", "--export", "mturk", "--at", "https://example.org/a&b", "--out", "no"]);
    assert!(!well && said.contains("--at must be the address of a folder"), "{said}");
    let (well, said) =
        viva(&["label", "task", "--export", "mturk", "--at", "https://example.org/ask/", "--out", "far"]);
    assert!(well && count("far") == 8, "{said}");
    assert!(
        text("far/question-0003.xml").contains("<ExternalURL>https://example.org/ask/page-0003.html</ExternalURL>")
    );
    let (well, said) = viva(&["label", "task", "--export", "mturk", "--out", "near"]);
    assert!(well && !said.contains("not kept there"), "{said}");
    let question = text("near/question-0001.xml");
    let page = question.split_once("<![CDATA[").and_then(|(_, rest)| rest.split_once("]]>")).expect("a page").0;
    assert!(page == text("near/page-0001.html") && question.len() <= 65_535);
    // What is too long for MTurk is told before anything is left behind.
    let script = r#"people::task(data::noise(#{ n: 40, shape: [3, 64, 64], seed: 1 }), #{ kind: "realism", folder: "big", per_worker: 40, seed: 1 });"#;
    let (well, said) = viva(&["-e", script]);
    assert!(well, "{said}");
    let (well, said) = viva(&["label", "big", "--export", "mturk", "--out", "big-out"]);
    assert!(!well && said.contains("which takes 65535") && count("big-out") == 0, "{said}");
    for format in ["argilla", "prodigy"] {
        let (well, said) = viva(&["label", "task", "--export", format, "--out", format]);
        assert!(well && said.contains("not kept there"), "{said}");
    }
    let records: Json = serde_json::from_str(&text("argilla/records.json")).expect("JSON");
    let lines: Vec<Json> =
        text("prodigy/tasks.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.len() == own.questions() && records.as_array().is_some_and(|all| all.len() == own.questions()));
    let keys = |json: &Json| json.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&records[0]["metadata"]["viva"]), ["task", "slot", "question", "item"]);
    assert_eq!(
        (keys(&records[0]["fields"]), keys(&lines[0])),
        (vec!["text".into(), "picture1".into()], vec!["html".into(), "options".into(), "viva".into()])
    );
    // Answered rightly, as each exports it.
    let said = |carried: &Json| {
        let place = |name: &str| carried[name].as_u64().expect("a number") as usize;
        (place("slot"), own.text.choices[right(&own, place("slot"), place("question"))].clone())
    };
    let mut done = records.clone();
    for record in done.as_array_mut().expect("records") {
        let (slot, word) = said(&record["metadata"]["viva"]);
        record["responses"] =
            json!({ "answer": [{ "value": word, "user_id": format!("00000000-0000-0000-0000-00000000000{slot}") }] });
    }
    std::fs::write(home.path().join("argilla.json"), done.to_string()).expect("a file");
    let done = lines.into_iter().map(|mut line| {
        let (slot, word) = said(&line["viva"]);
        line["accept"] = json!([word]);
        line["answer"] = json!("accept");
        line["_annotator_id"] = json!(format!("asked-p{slot}"));
        format!("{line}\n")
    });
    std::fs::write(home.path().join("prodigy.jsonl"), done.collect::<String>()).expect("a file");
    for (file, drafts) in [("argilla.json", "true"), ("prodigy.jsonl", "false")] {
        let script = format!(
            "let a = people::answers(people::load(\"task\"), \"{file}\", #{{ salt: \"s\" }}); [a.workers, a.rejected, \
             a.raw.shares()[0].share, a.cautions.filter(|c| c.contains(\"drafts or discarded\")).len > 0]"
        );
        let (well, said) = viva(&["-e", &script]);
        assert!(well && said == format!("[4, 0, 1.0, {drafts}]"), "{file}: {said}");
    }
    // In Label Studio the changed picture waits for the one before; programs that can't have it wait are not asked to.
    let script = r#"let ds = data::glyphs(#{ n: 80, size: 16, seed: 1 });
        people::task(ds.take(6), #{ kind: "keeps_label", originals: ds.take(6), real: ds.skip(30), folder: "keeps", gold: 0, overlap: 1, seed: 1 });"#;
    let (well, said) = viva(&["-e", script]);
    assert!(well, "{said}");
    let (well, said) = viva(&["label", "keeps", "--export", "prodigy", "--out", "k"]);
    assert!(!well && said.contains("must wait for the one before"), "{said}");
    let (well, said) = viva(&["label", "keeps", "--export", "label_studio", "--out", "keeps-ls"]);
    assert!(well, "{said}");
    let config = text("keeps-ls/config.xml");
    let (before, after) = config
        .split_once("<View visibleWhen=\"choice-selected\" whenTagName=\"before\" whenChoiceValue=\"it does\">")
        .expect("what waits");
    assert!(before.contains("picture1") && !before.contains("$picture2") && after.contains("$picture2"), "{config}");
    assert!(
        before.contains("<Choice value=\"it does\"/>")
            && before.contains("the first is unclear")
            && after.contains("shows the class")
    );
    let mut tasks: Json = serde_json::from_str(&text("keeps-ls/tasks.json")).expect("JSON");
    for (number, entry) in tasks.as_array_mut().expect("entries").iter_mut().enumerate() {
        let choice =
            |name: &str, said: &str| json!({ "from_name": name, "type": "choices", "value": { "choices": [said] } });
        let result = match number {
            0 => vec![choice("before", "the first is unclear")],
            1 => vec![choice("before", "it does"), choice("answer", "shows something else")],
            // The second question was not answered.
            2 => vec![choice("before", "it does")],
            _ => vec![choice("answer", "shows the class"), choice("before", "it does")],
        };
        entry["annotations"] =
            json!([{ "completed_by": 3, "lead_time": 2.0, "was_cancelled": false, "result": result }]);
    }
    std::fs::write(home.path().join("keeps.json"), tasks.to_string()).expect("a file");
    let script = r#"let a = people::answers(people::load("keeps"), "keeps.json", #{ salt: "s" });
        let votes = a.raw.by_item().map(|item| if item.votes.len == 0 { "none" } else { item.votes[0].answer });
        let times = |word| votes.filter(|said| said == word).len;
        [a.conduct[0].unanswered, times.call("none"), times.call("other"), times.call("seed_unclear"), times.call("shows")]"#;
    let (well, said) = viva(&["-e", script]);
    assert!(well && said == "[1, 1, 1, 1, 3]", "{said}");
}

/// The lesson of a class of twenty, with a class that is made up: most read what a little change leaves, few what a large one does; two click
/// one button. The clock is the test's.
#[test]
fn a_class_answers_the_lesson() {
    let home = tempfile::tempdir().expect("a folder");
    let lesson = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/people.rhai");
    let viva = |out: &str, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
        command.env("OMP_NUM_THREADS", "1").current_dir(home.path()).arg("run").arg(&lesson);
        let run = command.args(["--json", "--device", "cpu", "--out", out]).args(words).output().expect("viva runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice::<Json>(&run.stdout).expect("JSON")
    };
    viva("asked", &[]);
    let folder = home.path().join("asked/task");
    let own = task(&folder);
    let mut desk = Desk::open(&Cx::default(), task(&folder)).expect("a desk");
    let mut now = 0.0;
    for seat in 0..own.text.slots.len() {
        desk.state(seat, now).expect("a state");
        desk.begin(seat, now).expect("begun");
        for (number, question) in own.text.slots[seat].iter().enumerate() {
            let item = own.text.items.iter().find(|item| item.id == question.item);
            let far = item.is_some_and(|item| item.about["level"] == "0.5");
            let unread = if far { (seat + number) % 4 != 0 } else { (seat + number) % 5 == 0 };
            let choice = match question.role {
                viva::people::Role::Test if unread => 10,
                _ => right(&own, seat, number),
            };
            now += 2.0;
            desk.answer(seat, number, if seat < 2 { 6 } else { choice }, None, now).expect("an answer");
        }
    }
    drop(desk);
    let found = viva("read", &["--task", "asked/task", "--answers", "asked/task/answers.jsonl"]);
    assert_eq!(
        (&found["rejected"]["straight"], &found["rejected"]["instructed"]),
        (&json!(2), &json!(2)),
        "{}",
        found["rejected"]
    );
    let number = |json: &Json| json.as_f64().expect("a number");
    let [near, far] = [0, 1].map(|row| &found["kept"][row]);
    assert!(near["level"] == "0.15" && number(&near["kept"]) > 0.8 && number(&far["kept"]) < 0.2, "{near} {far}");
    assert!(number(&near["kept_lo"]) > number(&far["kept_hi"]), "{near} {far}");
    assert!(std::fs::metadata(home.path().join("read/figure.png")).is_ok_and(|file| file.len() > 1000));
}

/// The thesis's study in small: tests of a classifier, three questions about them, workers who answer over HTTP, and its three figures. Every fourth
/// picture is not recognised, every second made one of ten and every fourth of two is taken for a real one.
#[test]
fn the_study_goes_from_tests_to_figures() {
    let home = tempfile::tempdir().expect("a folder");
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/people/study.rhai");
    let viva = |out: &str, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
        command.env("OMP_NUM_THREADS", "1").current_dir(home.path()).arg("run").arg(&study);
        let run = command.args(["--json", "--device", "cpu", "--out", out]).args(words).output().expect("viva runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice::<Json>(&run.stdout).expect("JSON")
    };
    let small = "--images 260 --training 2 --steps 2 --judges 1 --targets 3,any --tests 4 --n 40 --overlap 3 --per_worker 20 --wait 0 --pause 0 --study 0 --least 0";
    viva("asked", &small.split(' ').collect::<Vec<_>>());
    for kind in ["label", "odd_one_out", "pair"] {
        let folder = home.path().join("asked").join(kind);
        let (own, (serving, tokens, _)) = (task(&folder), served(&folder));
        for (seat, token) in tokens.iter().enumerate() {
            post(serving.at, &format!("/w/{token}/begin"), json!({}));
            for (number, question) in own.text.slots[seat].iter().enumerate() {
                assert_eq!(state(serving.at, token)["number"], json!(number));
                let test = question.role == viva::people::Role::Test;
                let other = (0..12).rev().find(|place| *place != question.place).unwrap_or_default();
                let choice = match kind {
                    "label" if test && number % 4 == 0 => 10,
                    "label" => right(&own, seat, number),
                    "odd_one_out" if test && number % 2 == 0 => other,
                    "odd_one_out" => question.place,
                    // The real one is asked for.
                    _ if test && number % 4 == 0 => question.place,
                    _ => 1 - question.place,
                };
                let said =
                    post(serving.at, &format!("/w/{token}/answer"), json!({ "question": number, "choice": choice }));
                assert_eq!(said.0, 200, "{}", said.1);
            }
        }
    }
    let found = viva("read", &["--asked", "asked", "--judges", "1"]);
    let all = |figure: &str| {
        let rows = found[figure]["panels"][0]["layers"][0]["values"].as_array().cloned().unwrap_or_default();
        rows.last().and_then(|row| row.as_array()?.last()?.as_f64()).unwrap_or_else(|| panic!("{}", found[figure]))
    };
    assert!((all("figure_4_7") - 0.75).abs() < 0.1, "{}", all("figure_4_7"));
    assert!((all("figure_4_12") - 0.5).abs() < 0.1, "{}", all("figure_4_12"));
    assert!((all("figure_4_13") - 0.25).abs() < 0.1, "{}", all("figure_4_13"));
    // Every cell that has a number has an interval.
    let layer = &found["figure_4_7"]["panels"][0]["layers"][0];
    for (row, ends) in ["lo", "hi"].into_iter().flat_map(|end| {
        layer["values"].as_array().into_iter().flatten().zip(layer[end].as_array().into_iter().flatten())
    }) {
        let numbers = |json: &Json| json.as_array().map(|row| row.iter().map(Json::is_number).collect::<Vec<_>>());
        assert_eq!(numbers(row), numbers(ends));
    }
    for file in ["figure_4_7.png", "figure_4_12.svg", "figure_4_13.svg", "disputed.png"] {
        assert!(std::fs::metadata(home.path().join("read").join(file)).is_ok_and(|file| file.len() > 1000), "{file}");
    }
}
