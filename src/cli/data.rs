//! `viva data [list | fetch NAME]`: the only command that reaches the network.

use std::time::Duration;

use super::CommandOutcome;
use crate::core::{Error, ErrorKind, Result, Table, Value, suggestion};
use crate::data::fetch::{self, Answer, SetFolder};
use crate::term::{context, stop_on_signals, width};

pub fn main(words: &[String]) -> CommandOutcome {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] | ["list"] => list(),
        ["fetch", name] => get(name),
        ["fetch"] => Err(Error::argument("viva data fetch needs a name")
            .hint(format!("known: {}", fetch::names().collect::<Vec<_>>().join(", ")))
            .into()),
        ["list" | "fetch", ..] => Err(Error::argument("viva data: one word too many").into()),
        [other, ..] => Err(Error::argument(format!("viva data: there is no {other:?}"))
            .hint(suggestion(other, ["list", "fetch"]))
            .into()),
    }
}

fn list() -> CommandOutcome {
    let listings = fetch::list(&context())?;
    let texts = |of: &dyn Fn(&SetFolder) -> String| listings.iter().map(|listing| Value::Str(of(listing))).collect();
    let table = Table::default()
        .column("name", texts(&|l| l.set.name.into()))
        .column(
            "here",
            texts(&|l| {
                if l.verified {
                    "yes"
                } else if l.present {
                    "yes, other files"
                } else {
                    "no"
                }
                .into()
            }),
        )
        .column("download", texts(&|l| format!("{} MB", l.set.bytes() / 1_000_000)))
        .column("licence", texts(&|l| l.set.licence.into()))
        .column("folder", texts(&|l| l.folder.display().to_string()));
    println!("{}", table.text(width().max(120), usize::MAX));
    Ok(())
}

fn get(name: &str) -> CommandOutcome {
    let cx = context();
    stop_on_signals(&cx, |_| false);
    let set = fetch::set(name).ok_or_else(|| {
        Error::argument(format!("there is no data set {name:?} to fetch")).hint(suggestion(name, fetch::names()))
    })?;
    let folder = fetch::folder(&cx, set)?;
    let open: fetch::Open = std::sync::Arc::new(open);
    fetch::fetch(&cx, name, &folder, &open)?;
    println!("{name} is in {}", folder.display());
    Ok(())
}

fn open(url: &str, from: u64) -> Result<Answer> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::new(ErrorKind::File, format!("{url}: {error}"))
            .hint("is there a network? the file can also be put in place by hand")
    };
    let limits = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)));
    let agent = limits.build().new_agent();
    // Packed on the way it would have another size and checksum.
    let plain = || agent.get(url).header("Accept-Encoding", "identity");
    let rest = match from {
        0 => plain().call(),
        from => match plain().header("Range", format!("bytes={from}-")).call() {
            // There is no such rest: from the start, then.
            Err(ureq::Error::StatusCode(416)) => plain().call(),
            answer => answer,
        },
    };
    let response = rest.map_err(|error| failed(&error))?;
    let from = match response.status().as_u16() {
        206 => {
            let range =
                response.headers().get("Content-Range").and_then(|value| value.to_str().ok()).unwrap_or_default();
            let begins = range.strip_prefix("bytes ").and_then(|range| range.split('-').next()?.parse().ok());
            begins.ok_or_else(|| failed(&format!("it answers with the part {range:?}")))?
        }
        _ => 0,
    };
    Ok(Answer { body: Box::new(response.into_body().into_reader()), from })
}
