//! HTTP around the desk. What is answered depends on the path alone, which is taken apart and never decoded; what changes anything comes as JSON of
//! a few bytes, from this page.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tiny_http::{Header, Method, Request, Response, Server};

use super::desk::{Desk, Refusal};
use super::{owner, page};
use crate::core::{Cx, Error, Result};

/// Requests that are answered at once.
const THREADS: usize = 8;

/// Bytes of what a page says, at most. tiny_http has read so many before a request is seen, so that nobody can keep a thread waiting for them.
const LARGEST: usize = 1024;

/// How often a connection of our own is made. Connections that come at once are handed by tiny_http 0.12 to fewer threads than they are, so that
/// one may wait for as long as another is kept open, which browsers do for minutes; each that comes has a thread look for those that wait.
const NUDGE: Duration = Duration::from_millis(50);

/// Where the page is.
#[derive(Debug, Clone)]
pub struct Address {
    pub at: SocketAddr,
    /// What others call it, such as https://study.example.org, where a server between them and this one does.
    pub public: Option<String>,
}

/// A server that runs until it is let go of.
pub struct Serving {
    pub at: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Serving {
    /// Answers until the process ends.
    pub fn wait(mut self) {
        self.threads.drain(..).for_each(|thread| {
            let _ = thread.join();
        });
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| {
            let _ = thread.join();
        });
    }
}

struct Shared {
    desk: Mutex<Desk>,
    /// Hosts that the page is asked for as: any other name was made to lead here by somebody else.
    hosts: Vec<String>,
    /// Where pages that ask come from.
    origins: Vec<String>,
    clock: Instant,
    page: String,
    policy: String,
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }
}

/// Begins to answer at an address; port 0 is any that is free.
pub fn serve(desk: Desk, address: Address) -> Result<Serving> {
    let server = Server::http(address.at).map_err(|e| {
        Error::argument(format!("viva label: nothing can be served at {}: {e}", address.at))
            .hint("another --port, or an address of this machine as --host")
    })?;
    let at = server.server_addr().to_ip().ok_or_else(|| Error::internal("a server without an address"))?;
    let mut hosts = vec![at.to_string()];
    if at.ip().is_loopback() {
        hosts.push(format!("localhost:{}", at.port()));
    }
    let addresses = hosts.iter().map(|host| format!("http://{host}")).chain(address.public.clone());
    let origins: Vec<String> = addresses.map(|address| as_browsers_write(&address)).collect();
    let hosts = origins.iter().filter_map(|origin| Some(origin.split_once("://")?.1.to_string())).collect();
    let shared = Arc::new(Shared {
        desk: Mutex::new(desk),
        hosts,
        origins,
        clock: Instant::now(),
        page: page::page(),
        policy: page::policy(),
    });
    let (server, stop) = (Arc::new(server), Arc::new(AtomicBool::new(false)));
    let threads = (0..THREADS).map(|_| {
        let (server, shared, stop) = (server.clone(), shared.clone(), stop.clone());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                if let Ok(Some(request)) = server.recv_timeout(Duration::from_millis(100)) {
                    answer(&shared, request);
                }
            }
        })
    });
    let mut threads: Vec<JoinHandle<()>> = threads.collect();
    let stopped = stop.clone();
    threads.push(std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            std::thread::sleep(NUDGE);
            let _ = TcpStream::connect_timeout(&at, Duration::from_secs(1));
        }
    }));
    Ok(Serving { at, threads, stop })
}

/// The address of a server in small letters, without the port that its scheme has anyway.
fn as_browsers_write(address: &str) -> String {
    let address = address.to_lowercase();
    let port = if address.starts_with("https:") { ":443" } else { ":80" };
    address.strip_suffix(port).unwrap_or(&address).to_string()
}

/// What is sent back: status, kind, bytes.
struct Reply(u16, &'static str, Vec<u8>);

fn said(json: &Json) -> Reply {
    Reply(200, "application/json", json.to_string().into_bytes())
}

fn answer(shared: &Shared, mut request: Request) {
    let reply = reply(shared, &mut request).unwrap_or_else(|Refusal(status, why)| {
        Reply(status, "application/json", json!({ "error": why }).to_string().into_bytes())
    });
    let Reply(status, kind, bytes) = reply;
    let headers = [
        ("Content-Type", kind),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", shared.policy.as_str()),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    let headers = headers.into_iter().filter_map(|(name, value)| Header::from_bytes(name, value).ok());
    let response = headers.fold(Response::from_data(bytes).with_status_code(status), Response::with_header);
    // Whoever went away does not hear it.
    let _ = request.respond(response);
}

fn refused<T>(status: u16, why: &str) -> std::result::Result<T, Refusal> {
    Err(Refusal(status, why.into()))
}

fn header<'a>(request: &'a Request, name: &'static str) -> Option<&'a str> {
    request.headers().iter().find(|header| header.field.equiv(name)).map(|header| header.value.as_str())
}

fn reply(shared: &Shared, request: &mut Request) -> std::result::Result<Reply, Refusal> {
    // Some programs name the scheme's own port too; which scheme was asked by stands in no header.
    let host = header(request, "Host").unwrap_or("");
    let called = ["http", "https"].map(|scheme| as_browsers_write(&format!("{scheme}://{host}")));
    let known =
        |called: &String| called.split_once("://").is_some_and(|(_, host)| shared.hosts.iter().any(|one| one == host));
    if !called.iter().any(known) {
        return refused(403, "this server is not called so");
    }
    let other = |origin: &str| !shared.origins.contains(&as_browsers_write(origin));
    if header(request, "Origin").is_some_and(other) {
        return refused(403, "asked for by another page");
    }
    if header(request, "Sec-Fetch-Site").is_some_and(|site| site == "cross-site") && *request.method() != Method::Get {
        return refused(403, "asked for by another page");
    }
    // Platforms add to the first page's address whom they sent; the page says it when it asks for a place.
    let url = if request.url().starts_with("/?") { "/".into() } else { request.url().to_string() };
    let path: Vec<&str> = url.split('/').skip(1).collect();
    let now = shared.now();
    match request.method() {
        Method::Get | Method::Head => match path[..] {
            [""] => Ok(Reply(200, "text/html; charset=utf-8", shared.page.clone().into_bytes())),
            ["o", token] | ["o", token, "still"] => {
                let desk = shared.desk();
                if !desk.is_owner(token) {
                    return refused(404, "nothing is here");
                }
                let overview = owner::Overview { task: desk.task.clone(), progress: desk.progress(now) };
                drop(desk);
                let page = owner::page(&Cx::default(), &overview, &format!("/o/{token}"), path.len() == 3, page::STYLE);
                Ok(Reply(200, "text/html; charset=utf-8", page.into_bytes()))
            }
            ["w", token, ref rest @ ..] => {
                let mut desk = shared.desk();
                let Some(seat) = desk.seat(token) else { return refused(404, "nothing is here") };
                match rest {
                    [] => Ok(Reply(200, "text/html; charset=utf-8", shared.page.clone().into_bytes())),
                    ["state"] => Ok(said(&desk.state(seat, now)?)),
                    ["picture", question, number] => match (question.parse(), number.parse()) {
                        (Ok(question), Ok(number)) => {
                            Ok(Reply(200, "image/png", desk.picture(seat, Some(question), number)?))
                        }
                        _ => refused(404, "nothing is here"),
                    },
                    ["study", number] => match number.parse() {
                        Ok(number) => Ok(Reply(200, "image/png", desk.picture(seat, None, number)?)),
                        _ => refused(404, "nothing is here"),
                    },
                    _ => refused(404, "nothing is here"),
                }
            }
            _ => refused(404, "nothing is here"),
        },
        Method::Post => {
            let body = body(request)?;
            let number = |name: &str| match body.get(name).and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok())
            {
                Some(number) => Ok(number),
                None => Err(Refusal(400, format!("`{name}` must be a whole number"))),
            };
            match path[..] {
                ["join"] => {
                    let platform = match body.get("platform") {
                        None => None,
                        Some(Json::String(name)) => Some(name.as_str()),
                        Some(_) => return refused(400, "`platform` must be a text"),
                    };
                    Ok(said(&shared.desk().join(platform)?))
                }
                ["w", token, what] => {
                    let mut desk = shared.desk();
                    let Some(seat) = desk.seat(token) else { return refused(404, "nothing is here") };
                    let state = match what {
                        "begin" => desk.begin(seat, now),
                        "accept" => desk.accept(seat, number("question")?, now),
                        "answer" => desk.answer(seat, number("question")?, number("choice")?, now),
                        "undo" => desk.undo(seat, number("question")?, now),
                        _ => return refused(404, "nothing is here"),
                    };
                    Ok(said(&state?))
                }
                _ => refused(404, "nothing is here"),
            }
        }
        _ => refused(405, "that can't be done here"),
    }
}

/// What a page says, as an object.
fn body(request: &mut Request) -> std::result::Result<Json, Refusal> {
    // Forms of other pages can't say that they send JSON.
    let kind = header(request, "Content-Type").unwrap_or("");
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return refused(415, "wanted is JSON");
    }
    match request.body_length() {
        Some(length) if length <= LARGEST => {}
        Some(_) => return refused(413, "that is too much"),
        None => return refused(411, "how long it is must be said"),
    }
    let mut bytes = vec![];
    let read =
        std::io::Read::read_to_end(&mut std::io::Read::take(request.as_reader(), LARGEST as u64 + 1), &mut bytes);
    let json: Option<Json> = read.ok().and_then(|_| serde_json::from_slice(&bytes).ok());
    match json.filter(Json::is_object) {
        Some(json) => Ok(json),
        None => refused(400, "not an object in JSON"),
    }
}
