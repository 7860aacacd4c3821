//! `viva label DIR`

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

use super::CommandOutcome;
use crate::core::{Error, Result, at_home, suggestion};
use crate::label::{Address, Desk, EXPORTS, Export, export, serve};
use crate::people::{ANSWERS_LOG, PeopleTask};
use crate::term::context;

const USAGE: &str = "viva label DIR [--host ADDRESS] [--port N] [--public URL], or viva label DIR --export \
                     pages|mturk|label_studio|argilla|prodigy|folder --out DIR, with mturk [--at URL]";

struct LabelOptions {
    folder: PathBuf,
    host: IpAddr,
    port: u16,
    /// What others call it.
    public: Option<String>,
    export: Option<(Export, PathBuf)>,
}

pub fn main(words: &[String]) -> CommandOutcome {
    let options = parse(words)?;
    let cx = context();
    let task = PeopleTask::open(&cx, &options.folder)?;
    if let Some((format, out)) = &options.export {
        let files = export(&cx, &task, format, out)?;
        println!("{files} files in {}; answers to them: people::answers(people::load(..), ..)", out.display());
        format.loses(&task).iter().for_each(|lost| println!("not kept there: {lost}"));
        return Ok(());
    }
    let desk = Desk::open(&cx, task)?;
    let (owner, places) = (desk.owner().to_string(), desk.tokens().len());
    let at = SocketAddr::new(options.host, options.port);
    let serving = serve(desk, Address { at, public: options.public.clone() })?;
    let page = options.public.as_ref().map_or(format!("http://{}/", serving.at), |public| format!("{public}/"));
    println!("{places} places: {page}");
    println!("your own page, not for workers: {page}o/{owner}");
    println!("answers: {}", options.folder.join(ANSWERS_LOG).display());
    if options.public.is_some() {
        println!("there a server of yours must hand on to http://{}", serving.at);
    }
    if !serving.at.ip().is_loopback() || options.public.is_some() {
        let code = QrCode::new(page.as_bytes()).map_err(|e| Error::internal(format!("a code of the address: {e}")))?;
        println!("{}", code.render::<Dense1x2>().quiet_zone(true).build());
        if !page.starts_with("https://") {
            println!("answers travel over this network as plain text: for rooms whose network you trust");
        }
    }
    println!("Ctrl-C ends it; every answer is kept, and the same command goes on");
    serving.wait();
    Ok(())
}

fn parse(words: &[String]) -> Result<LabelOptions> {
    let (mut folder, mut host, mut port) = (None, IpAddr::V4(Ipv4Addr::LOCALHOST), 8642);
    let (mut format, mut out, mut at, mut public) = (None, None, None, None);
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        match name {
            "--host" => {
                let text = value.or_else(|| words.next()).unwrap_or("");
                host = text.parse().map_err(|_| {
                    Error::argument(format!("viva label: --host must be an address of this machine, got {text:?}"))
                        .hint("`hostname -I` or the network's settings say it, such as 192.168.1.20")
                })?;
                if host.is_unspecified() {
                    return Err(Error::argument(format!("viva label: {host} is no address that anybody could open"))
                        .hint("give the one of this machine in the room's network, such as 192.168.1.20"));
                }
            }
            "--port" => {
                let text = value.or_else(|| words.next()).unwrap_or("");
                port = text.parse().map_err(|_| {
                    Error::argument(format!("viva label: --port must be from 0 to 65535, got {text:?}"))
                })?;
            }
            "--export" => {
                let text = value.or_else(|| words.next()).unwrap_or("");
                format = Some(text.to_string());
            }
            "--at" => at = Some(address("--at", value.or_else(|| words.next()).unwrap_or(""), true)?),
            "--public" => public = Some(address("--public", value.or_else(|| words.next()).unwrap_or(""), false)?),
            "--out" => {
                let text = value.or_else(|| words.next()).unwrap_or("");
                if text.is_empty() {
                    return Err(Error::argument("viva label: --out needs a folder").hint(USAGE));
                }
                out = Some(at_home(text)?);
            }
            _ if name.starts_with("--") => return Err(Error::argument(format!("viva label has no {name}")).hint(USAGE)),
            _ if folder.is_some() => {
                return Err(Error::argument(format!("viva label: {word:?} is one thing too many")).hint(USAGE));
            }
            _ => folder = Some(PathBuf::from(word)),
        }
    }
    let folder = folder.ok_or_else(|| Error::argument("viva label needs the folder of a task").hint(USAGE))?;
    if at.is_some() && format.as_deref() != Some("mturk") {
        return Err(Error::argument("viva label: --at is for --export mturk").hint(USAGE));
    }
    let of = |text: String| {
        Export::of(&text, at).ok_or_else(|| {
            Error::argument(format!("viva label: --export can't be {text:?}")).hint(suggestion(&text, EXPORTS))
        })
    };
    let format = format.map(of).transpose()?;
    let export = match (format, out) {
        (Some(format), Some(out)) => Some((format, out)),
        (None, None) => None,
        (Some(_), None) => return Err(Error::argument("viva label: --export needs --out, a new folder").hint(USAGE)),
        (None, Some(_)) => return Err(Error::argument("viva label: --out is for --export").hint(USAGE)),
    };
    Ok(LabelOptions { folder, host, port, public, export })
}

/// An address without its last slash; with nothing behind the server's name where there must be no `path`.
fn address(option: &str, text: &str, path: bool) -> Result<String> {
    let text = text.trim_end_matches('/');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) || path && b"/%".contains(&byte);
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://").filter(|_| !path)).unwrap_or("");
    if rest.is_empty() || !rest.bytes().all(plain) {
        let wanted = if path { "a folder" } else { "a server, without anything behind its name" };
        return Err(Error::argument(format!("viva label: {option} must be the address of {wanted}, got {text:?}"))
            .hint("such as https://study.example.org"));
    }
    Ok(text.into())
}
