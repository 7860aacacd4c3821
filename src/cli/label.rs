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

const USAGE: &str =
    "viva label DIR [--host ADDRESS] [--port N], or viva label DIR --export pages|label_studio|folder --out DIR";

struct LabelOptions {
    folder: PathBuf,
    host: IpAddr,
    port: u16,
    export: Option<(Export, PathBuf)>,
}

pub fn main(words: &[String]) -> CommandOutcome {
    let options = parse(words)?;
    let cx = context();
    let task = PeopleTask::open(&cx, &options.folder)?;
    if let Some((format, out)) = &options.export {
        let files = export(&cx, &task, *format, out)?;
        println!("{files} files in {}; answers to them: people::answers(people::load(..), ..)", out.display());
        return Ok(());
    }
    let desk = Desk::open(&cx, task)?;
    let (owner, places) = (desk.owner().to_string(), desk.tokens().len());
    let serving = serve(desk, Address { at: SocketAddr::new(options.host, options.port) })?;
    let page = format!("http://{}/", serving.at);
    println!("{places} places: {page}");
    println!("your own page, not for workers: {page}o/{owner}");
    println!("answers: {}", options.folder.join(ANSWERS_LOG).display());
    if !serving.at.ip().is_loopback() {
        let code = QrCode::new(page.as_bytes()).map_err(|e| Error::internal(format!("a code of the address: {e}")))?;
        println!("{}", code.render::<Dense1x2>().quiet_zone(true).build());
        println!("answers travel over this network as plain text: for rooms whose network you trust");
    }
    println!("Ctrl-C ends it; every answer is kept, and the same command goes on");
    serving.wait();
    Ok(())
}

fn parse(words: &[String]) -> Result<LabelOptions> {
    let (mut folder, mut host, mut port) = (None, IpAddr::V4(Ipv4Addr::LOCALHOST), 8642);
    let (mut format, mut out) = (None, None);
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
                format = Some(Export::of(text).ok_or_else(|| {
                    Error::argument(format!("viva label: --export can't be {text:?}")).hint(suggestion(text, EXPORTS))
                })?);
            }
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
    let export = match (format, out) {
        (Some(format), Some(out)) => Some((format, out)),
        (None, None) => None,
        (Some(_), None) => return Err(Error::argument("viva label: --export needs --out, a new folder").hint(USAGE)),
        (None, Some(_)) => return Err(Error::argument("viva label: --out is for --export").hint(USAGE)),
    };
    Ok(LabelOptions { folder, host, port, export })
}
