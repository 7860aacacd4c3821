//! `viva notebook FILE`: a script as a notebook, and a notebook as a script.

use std::path::{Path, PathBuf};

use super::{CommandFailure, CommandOutcome, read_script};
use crate::core::files::write_whole;
use crate::core::{Error, Result, at_home, suggestion, visible};
use crate::notebook::{FailedCell, Notebook, run};
use crate::sandbox::{Confinement, FLAGS, Flags, hold};
use crate::script::Diagnostic;
use crate::term::{context, set_width, stop_on_signals};

const USAGE: &str = "viva notebook FILE.rhai [--out FILE.ipynb] [--run] [--force] [--allow-...], or viva notebook FILE.ipynb [--out FILE.rhai]";

#[derive(Default)]
struct NotebookOptions {
    file: PathBuf,
    out: Option<PathBuf>,
    run: bool,
    /// Whether another file is written over.
    force: bool,
    flags: Flags,
}

pub fn main(words: &[String]) -> CommandOutcome {
    let mut options = parse(words)?;
    let text = read_script(&options.file)?;
    let is_notebook = options.file.extension().is_some_and(|ending| ending == "ipynb");
    let out = options.out.clone().unwrap_or_else(|| match (is_notebook, options.run) {
        (true, false) => options.file.with_extension("rhai"),
        _ => options.file.with_extension("ipynb"),
    });
    // What is run anew keeps its text.
    if out.symlink_metadata().is_ok() && !options.force && !(is_notebook && options.run && out == options.file) {
        return Err(Error::file(&out, "is there already")
            .hint("--force writes over it; --out names another file")
            .into());
    }
    if is_notebook && !options.run {
        let made = Notebook::read(&options.file, &text)?.script();
        write(&out, &made.text)?;
        made.left_out.iter().for_each(|what| eprintln!("left out, {}", visible(what)));
        println!("script: {}", out.display());
        return Ok(());
    }
    let mut notebook = match is_notebook {
        true => Notebook::read(&options.file, &text)?,
        false => {
            // What can't be read as a script makes no notebook.
            let name = options.file.display().to_string();
            crate::script::Session::new(std::rc::Rc::new(crate::core::Cx::default())).compile(&name, &text)?;
            Notebook::of_script(&text)
        }
    };
    if !options.run {
        write(&out, &notebook.text())?;
        println!("notebook: {}", out.display());
        return Ok(());
    }
    options.flags.add_configured()?;
    run_and_write(&mut notebook, &out, &options.flags)
}

/// Runs the cells where Jupyter would run them, in the notebook's folder.
fn run_and_write(notebook: &mut Notebook, out: &Path, flags: &Flags) -> CommandOutcome {
    let out = std::path::absolute(out).map_err(|e| Error::file(out, e))?;
    let folder = out.parent().unwrap_or(Path::new("/")).to_path_buf();
    std::env::set_current_dir(&folder).map_err(|e| Error::file(&folder, e))?;
    let home = Some(folder.as_path());
    let sandbox =
        hold(Confinement { flags, read: vec![], home, folder: &folder, own: vec![], made: vec![], asks: false })?;
    set_width(crate::notebook::WIDTH);
    // A home folder is written by the process beside this one.
    let mut writing = context();
    sandbox.apply(&mut writing);
    let mut leaving = None;
    let failed = run(notebook, sandbox, |cx| leaving = Some(stop_on_signals(cx, |_| false)));
    let text = notebook.text();
    writing.write_with(&out, |here| std::fs::write(here, &text).map_err(|e| Error::file(&out, e)))?;
    println!("notebook: {}", out.display());
    match failed {
        None => Ok(()),
        Some(FailedCell { cell, stopped }) => {
            let what = if stopped { "was stopped" } else { "failed" };
            let error = Error::argument(format!("cell {cell} {what}, and those behind it were not run"))
                .hint("the notebook shows how far it came");
            Err(match stopped {
                true => CommandFailure::Stopped(
                    Box::new(Diagnostic::plain(&error)),
                    leaving.and_then(|leaving| leaving.signal()),
                ),
                false => error.into(),
            })
        }
    }
}

fn write(out: &Path, text: &str) -> Result<()> {
    write_whole(out, |here| std::fs::write(here, text).map_err(|e| Error::file(out, e)))
}

fn parse(words: &[String]) -> Result<NotebookOptions> {
    let wrong = |problem: String| Error::argument(format!("viva notebook{problem}")).hint(USAGE);
    let mut options = NotebookOptions::default();
    let mut file = None;
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if options.flags.take_word(word)? {
            continue;
        }
        let (name, given) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        match name {
            "--run" if given.is_none() => options.run = true,
            "--force" if given.is_none() => options.force = true,
            "--out" => {
                let file = given.or_else(|| words.next()).filter(|value| !value.is_empty());
                options.out = Some(at_home(file.ok_or_else(|| wrong(": --out needs a file".into()))?)?);
            }
            _ if name.starts_with("--") => {
                let near = suggestion(name.trim_start_matches("--"), ["out", "run", "force"].into_iter().chain(FLAGS));
                return Err(Error::argument(format!("viva notebook has no {name}")).hint(near));
            }
            _ if file.is_some() => return Err(wrong(format!(": {word:?} is one thing too many"))),
            _ => file = Some(PathBuf::from(word)),
        }
    }
    options.file = file.ok_or_else(|| wrong(" needs a script or a notebook".into()))?;
    if !options.run && !options.flags.words().is_empty() {
        return Err(wrong(": --allow-... is for --run".into()));
    }
    Ok(options)
}
