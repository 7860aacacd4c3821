//! HTTP around the desk. What is answered depends on the path alone, which is taken apart and never decoded; what changes anything comes as JSON of
//! a few bytes, from this page.

use std::collections::HashSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value as Json, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

use super::desk::{Desk, Refusal};
use super::{owner, page};
use crate::core::{Cx, Error, Result};

/// Requests that are worked on at once: each may wait for the disk.
const THREADS: usize = 8;

/// Bytes of what a page says, at most.
const LARGEST: usize = 1024;

/// For how long a connection may say nothing, or not say all of what it asks.
const PATIENCE: Duration = Duration::from_secs(15);

/// For how long a connection is kept, and then for how long for what it still hears: nobody holds one by not listening.
const LONGEST: Duration = Duration::from_secs(120);

/// Connections that are kept at once, at most, and files for everything else.
const CONNECTIONS: u64 = 4096;
const OTHER_FILES: u64 = 64;

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
    /// Ends it where it is dropped.
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Answers until the process ends.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
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
    /// What was told to whoever runs the server.
    told: Mutex<HashSet<String>>,
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
    let failed = |e: std::io::Error| {
        Error::argument(format!("viva label: nothing can be served at {}: {e}", address.at))
            .hint("another --port, or an address of this machine as --host")
    };
    let listener = std::net::TcpListener::bind(address.at).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let at = listener.local_addr().map_err(failed)?;
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
        told: Mutex::default(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(THREADS)
        .build()
        .map_err(failed)?;
    let (stop, stopped) = oneshot::channel::<Infallible>();
    let thread = std::thread::spawn(move || {
        runtime.block_on(async {
            if let Ok(listener) = TcpListener::from_std(listener) {
                tokio::select! {
                    () = accept(listener, shared) => {}
                    _ = stopped => {}
                }
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(2));
    });
    Ok(Serving { at, stop: Some(stop), thread: Some(thread) })
}

/// How many connections there are files for.
fn connections() -> usize {
    #[cfg(unix)]
    {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: it is written to what it points at, and read from it.
        unsafe {
            if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
                let wanted = libc::rlimit { rlim_cur: limit.rlim_max.min(CONNECTIONS + OTHER_FILES), ..limit };
                if wanted.rlim_cur > limit.rlim_cur && libc::setrlimit(libc::RLIMIT_NOFILE, &wanted) == 0 {
                    limit = wanted;
                }
                return limit.rlim_cur.saturating_sub(OTHER_FILES).clamp(1, CONNECTIONS) as usize;
            }
        }
    }
    256
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(connections()));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = shared.clone();
                tokio::spawn(async move {
                    hear(stream, shared).await;
                    drop(place);
                });
            }
            // Who was there is gone, or there are no files left for the moment.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Answers what is asked over one connection.
async fn hear(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(answer(shared, request).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(16 << 10);
    let mut connection = pin!(server.serve_connection(TokioIo::new(stream), service));
    // Whoever went away does not hear it.
    if timeout(LONGEST, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(PATIENCE, connection).await;
    }
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

/// What was asked, taken out of HTTP.
struct HttpQuestion {
    method: Method,
    /// Whom it was asked of, where that is said once.
    host: Option<String>,
    path: String,
    headers: HeaderMap,
    body: std::result::Result<Json, Refusal>,
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let mut hosts = head.headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next(), head.uri.authority()) {
        (Some(host), None, None) => host.to_str().ok().map(String::from),
        _ => None,
    };
    let body = match head.method {
        Method::POST => read(&head.headers, body).await,
        _ => Ok(Json::Null),
    };
    let path = head.uri.path_and_query().map_or("", |path| path.as_str()).to_string();
    let asked = HttpQuestion { method: head.method, host, path, headers: head.headers, body };
    let policy = HeaderValue::from_str(&shared.policy);
    let replied = tokio::task::spawn_blocking(move || {
        reply(&shared, asked).unwrap_or_else(|Refusal(status, why)| {
            if status == 500 && shared.told.lock().unwrap_or_else(PoisonError::into_inner).insert(why.clone()) {
                eprintln!("viva label: {why}");
            }
            Reply(status, "application/json", json!({ "error": why }).to_string().into_bytes())
        })
    });
    let Reply(status, kind, bytes) = replied
        .await
        .unwrap_or_else(|_| Reply(500, "application/json", br#"{"error":"a fault in the server"}"#.to_vec()));
    let mut response = Response::new(Full::new(Bytes::from(bytes)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let opened_by_none = HeaderName::from_static("cross-origin-opener-policy");
    let read_by_none = HeaderName::from_static("cross-origin-resource-policy");
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (opened_by_none, "same-origin"),
        (read_by_none, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = policy {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn refused<T>(status: u16, why: &str) -> std::result::Result<T, Refusal> {
    Err(Refusal(status, why.into()))
}

fn reply(shared: &Shared, asked: HttpQuestion) -> std::result::Result<Reply, Refusal> {
    let header = |name: &str| asked.headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    // Some programs name the scheme's own port too; which scheme was asked by stands in no header.
    let host = asked.host.as_deref().unwrap_or("");
    let called = ["http", "https"].map(|scheme| as_browsers_write(&format!("{scheme}://{host}")));
    let known =
        |called: &String| called.split_once("://").is_some_and(|(_, host)| shared.hosts.iter().any(|one| one == host));
    if !called.iter().any(known) {
        return refused(403, "this server is not called so");
    }
    let other = |origin: &str| !shared.origins.contains(&as_browsers_write(origin));
    if header("Origin").is_some_and(other) {
        return refused(403, "asked for by another page");
    }
    if header("Sec-Fetch-Site").is_some_and(|site| site == "cross-site") && asked.method != Method::GET {
        return refused(403, "asked for by another page");
    }
    // Platforms add to the first page's address whom they sent; the page says it when it asks for a place.
    let url = if asked.path.starts_with("/?") { "/" } else { &asked.path };
    let path: Vec<&str> = url.split('/').skip(1).collect();
    let now = shared.now();
    match asked.method {
        Method::GET | Method::HEAD => match path[..] {
            [""] => Ok(Reply(200, "text/html; charset=utf-8", shared.page.clone().into_bytes())),
            ["o", token] | ["o", token, "still"] => {
                let desk = shared.desk();
                if !desk.is_owner(token) {
                    return refused(404, "nothing is here");
                }
                let overview =
                    owner::Overview { task: desk.task.clone(), progress: desk.progress(now), trouble: desk.trouble() };
                drop(desk);
                let page = owner::page(&Cx::default(), &overview, &format!("/o/{token}"), path.len() == 3, page::STYLE);
                Ok(Reply(200, "text/html; charset=utf-8", page.into_bytes()))
            }
            ["w", token, ref rest @ ..] => {
                let mut desk = shared.desk();
                let Some(seat) = desk.seat(token) else { return not_here(&desk, token, rest.is_empty()) };
                match rest {
                    [] => Ok(Reply(200, "text/html; charset=utf-8", shared.page.clone().into_bytes())),
                    // Whoever asks for a head alone only asks whether it is there.
                    ["state"] if asked.method == Method::GET => Ok(said(&desk.state(seat, now)?)),
                    ["opened"] if asked.method == Method::GET => Ok(said(&desk.opened(seat, now)?)),
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
        Method::POST => {
            let body = asked.body?;
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
                    Ok(said(&shared.desk().join(platform, now)?))
                }
                ["w", token, what] => {
                    let mut desk = shared.desk();
                    let Some(seat) = desk.seat(token) else { return not_here(&desk, token, false) };
                    let looked = match body.get("looked") {
                        None => None,
                        Some(seconds) => match seconds.as_f64().filter(|seconds| *seconds >= 0.0) {
                            Some(seconds) => Some(seconds),
                            None => return refused(400, "`looked` must be a number of seconds"),
                        },
                    };
                    let state = match what {
                        "begin" => desk.begin(seat, now),
                        "accept" => desk.accept(seat, number("question")?, looked, now),
                        "answer" => desk.answer(seat, number("question")?, number("choice")?, looked, now),
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

/// What is said of an address that is nobody's, to a page or to whoever opens one.
fn not_here(desk: &Desk, token: &str, opened: bool) -> std::result::Result<Reply, Refusal> {
    let (status, why) = match desk.is_former(token) {
        true => (410, "this place was given to somebody else, as nothing was answered from it for half an hour"),
        false => (404, "nothing is here"),
    };
    if !opened {
        return refused(status, why);
    }
    Ok(Reply(status, "text/html; charset=utf-8", page::not_here(why).into_bytes()))
}

/// What a page says, as an object.
async fn read(headers: &HeaderMap, body: Incoming) -> std::result::Result<Json, Refusal> {
    // Forms of other pages can't say that they send JSON.
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return refused(415, "wanted is JSON");
    }
    match body.size_hint().exact() {
        Some(length) if length <= LARGEST as u64 => {}
        Some(_) => return refused(413, "that is too much"),
        None => return refused(411, "how long it is must be said"),
    }
    let Ok(read) = timeout(PATIENCE, Limited::new(body, LARGEST).collect()).await else {
        return refused(408, "not all of it came");
    };
    let json: Option<Json> = read.ok().and_then(|read| serde_json::from_slice(&read.to_bytes()).ok());
    match json.filter(Json::is_object) {
        Some(json) => Ok(json),
        None => refused(400, "not an object in JSON"),
    }
}
