//! `viva report DIR [--out FILE]`

use std::io::Read;
use std::path::{Path, PathBuf};

use super::CommandOutcome;
use crate::core::{Error, Result, at_home};
use crate::page;
use crate::term::context;

pub fn main(words: &[String]) -> CommandOutcome {
    let (folder, out) = parse(words)?;
    let out = out.unwrap_or_else(|| folder.join("report.html"));
    ours_or_new(&out)?;
    let text = page::report(&folder, &out)?;
    context().write_with(&out, |temporary| std::fs::write(temporary, &text).map_err(|e| Error::file(&out, e)))?;
    println!("report: {}", out.display());
    Ok(())
}

fn parse(words: &[String]) -> Result<(PathBuf, Option<PathBuf>)> {
    let usage = "viva report DIR [--out FILE]";
    let (mut folder, mut out) = (None, None);
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
    Ok((folder, out))
}

/// Refuses to write over a file that is not a page of viva's.
fn ours_or_new(out: &Path) -> Result<()> {
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
