//! `viva compare DIR DIR... [--out FILE]`

use std::path::PathBuf;

use super::CommandOutcome;
use super::report::ours_or_new;
use crate::core::{Error, Result, at_home, visible};
use crate::page::RunsBeside;
use crate::term::{context, width};

/// Lines of a table on the screen.
const ROWS: usize = 40;

pub fn main(words: &[String]) -> CommandOutcome {
    let (folders, out) = parse(words)?;
    let runs = RunsBeside::read(&folders)?;
    println!("{}", visible(&runs.text(width(), ROWS)));
    if let Some(out) = out {
        ours_or_new(&out)?;
        let text = runs.page()?;
        context().write_with(&out, |temporary| std::fs::write(temporary, &text).map_err(|e| Error::file(&out, e)))?;
        println!("\npage: {}", out.display());
    } else if runs.figures() > 0 {
        println!(
            "\n--out FILE.html draws {} on top of each other",
            match runs.figures() {
                1 => "1 figure".into(),
                n => format!("{n} figures"),
            }
        );
    }
    Ok(())
}

fn parse(words: &[String]) -> Result<(Vec<PathBuf>, Option<PathBuf>)> {
    let usage = "viva compare DIR DIR... [--out FILE]";
    let (mut folders, mut out) = (Vec::new(), None);
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("--out", value)) => Some(value),
            _ if word == "--out" => Some(words.next().unwrap_or("")),
            _ => None,
        };
        match value {
            Some("") => return Err(Error::argument("viva compare: --out needs a file").hint(usage)),
            Some(file) => out = Some(at_home(file)?),
            None if word.starts_with("--") => {
                return Err(Error::argument(format!("viva compare has no {word}")).hint(usage));
            }
            None => folders.push(PathBuf::from(word)),
        }
    }
    if folders.len() < 2 {
        return Err(
            Error::argument(format!("viva compare needs two run folders or more, got {}", folders.len())).hint(usage)
        );
    }
    Ok((folders, out))
}
