//! `viva data [list | fetch NAME]`: the only command that reaches the network.

use std::io::Read;

use super::Outcome;
use crate::core::{Error, ErrorKind, Result, Table, Value, suggestion};
use crate::data::fetch::{self, Listing};
use crate::term::{context, stop_on_signals, width};

pub fn main(words: &[String]) -> Outcome {
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

fn list() -> Outcome {
    let listings = fetch::list(&context())?;
    let texts = |of: &dyn Fn(&Listing) -> String| listings.iter().map(|listing| Value::Str(of(listing))).collect();
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
        .column("download", texts(&|l| format!("{} MB", l.set.bytes / 1_000_000)))
        .column("licence", texts(&|l| l.set.licence.into()))
        .column("folder", texts(&|l| l.folder.display().to_string()));
    println!("{}", table.text(width().max(120), usize::MAX));
    Ok(())
}

fn get(name: &str) -> Outcome {
    let cx = context();
    stop_on_signals(&cx, |_| false);
    let set = fetch::set(name).ok_or_else(|| {
        Error::argument(format!("there is no data set {name:?} to fetch")).hint(suggestion(name, fetch::names()))
    })?;
    let folder = fetch::folder(&cx, set)?;
    fetch::fetch(&cx, name, &folder, &open)?;
    println!("{name} is in {}", folder.display());
    Ok(())
}

fn open(url: &str) -> Result<Box<dyn Read>> {
    let response = ureq::get(url).call().map_err(|error| {
        Error::new(ErrorKind::File, format!("{url}: {error}"))
            .hint("is there a network? the file can also be put in place by hand")
    })?;
    Ok(Box::new(response.into_body().into_reader()))
}
