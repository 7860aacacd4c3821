//! `viva report DIR [--out FILE] [--live]`

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::CommandOutcome;
use crate::core::{Error, Journal, Result, at_home};
use crate::page;
use crate::term::context;

pub fn main(words: &[String]) -> CommandOutcome {
    let ReportWanted { folder, out, live } = parse(words)?;
    ours_or_new(&out)?;
    let cx = context();
    if live {
        println!(
            "report: {}, written anew every {} s until the run ends; Ctrl-C stops that",
            out.display(),
            EVERY.as_secs()
        );
    }
    loop {
        let under_way = live && Journal::in_use(&folder.join("progress")) == Some(true);
        let text = page::report(&folder, &out, under_way.then_some(EVERY))?;
        cx.write_with(&out, |temporary| std::fs::write(temporary, &text).map_err(|e| Error::file(&out, e)))?;
        if !under_way {
            break;
        }
        std::thread::sleep(EVERY);
    }
    println!("report: {}", out.display());
    Ok(())
}

/// Between two pages of a run that goes on.
const EVERY: Duration = Duration::from_secs(2);

struct ReportWanted {
    folder: PathBuf,
    out: PathBuf,
    live: bool,
}

fn parse(words: &[String]) -> Result<ReportWanted> {
    let usage = "viva report DIR [--out FILE] [--live]";
    let (mut folder, mut out, mut live) = (None, None, false);
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("--out", value)) => Some(value),
            _ if word == "--out" => Some(words.next().unwrap_or("")),
            _ => None,
        };
        match value {
            Some("") => return Err(Error::argument("viva report: --out needs a file").hint(usage)),
            Some(file) => out = Some(at_home(file)?),
            None if word == "--live" => live = true,
            None if word.starts_with("--") => {
                return Err(Error::argument(format!("viva report has no {word}")).hint(usage));
            }
            None if folder.is_some() => {
                return Err(Error::argument(format!("viva report: {word:?} is one thing too many")).hint(usage));
            }
            None => folder = Some(PathBuf::from(word)),
        }
    }
    let folder = folder.ok_or_else(|| Error::argument("viva report needs a run folder").hint(usage))?;
    let out = out.unwrap_or_else(|| folder.join("report.html"));
    Ok(ReportWanted { folder, out, live })
}

/// Refuses to write over a file that is not a page of viva's.
pub fn ours_or_new(out: &Path) -> Result<()> {
    let Ok(found) = out.symlink_metadata() else { return Ok(()) };
    let mut start = Vec::new();
    // A link could lead anywhere.
    if found.is_file() {
        let file = std::fs::File::open(out).map_err(|e| Error::file(out, e))?;
        file.take(4096).read_to_end(&mut start).map_err(|e| Error::file(out, e))?;
    }
    if String::from_utf8_lossy(&start).contains(page::MARK) {
        return Ok(());
    }
    Err(Error::file(out, "something else is there, not a page of viva's")
        .hint("give another --out, or remove it first"))
}
