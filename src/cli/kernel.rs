//! `viva kernel --install`, and what Jupyter starts: `viva kernel CONNECTION_FILE`

use std::path::PathBuf;

use super::CommandOutcome;
use crate::core::{Error, Result, at_home, suggestion};
use crate::kernel::{Place, install, serve};
use crate::sandbox::{FLAGS, Flags};

const USAGE: &str =
    "viva kernel --install [--prefix DIR] [--name NAME] [--allow-...]; Jupyter itself starts viva kernel FILE";

#[derive(Default)]
struct KernelOptions {
    install: bool,
    prefix: Option<PathBuf>,
    name: Option<String>,
    connection: Option<PathBuf>,
    flags: Flags,
}

pub fn main(words: &[String]) -> CommandOutcome {
    let mut options = parse(words)?;
    if let Some(connection) = &options.connection {
        options.flags.add_configured()?;
        return Ok(serve(connection, &options.flags)?);
    }
    let place = options.prefix.map_or(Place::User, Place::Prefix);
    let name = options.name.unwrap_or_else(|| "viva".into());
    let folder = install(&place, &name, &options.flags)?;
    println!("installed {}; Jupyter lists it when it is loaded anew", folder.display());
    Ok(())
}

fn parse(words: &[String]) -> Result<KernelOptions> {
    let wrong = |problem: String| Error::argument(format!("viva kernel{problem}")).hint(USAGE);
    let mut options = KernelOptions::default();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if options.flags.take_word(word)? {
            continue;
        }
        let (name, given) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let mut value = || given.or_else(|| words.next()).filter(|value| !value.is_empty());
        match name {
            "--install" if given.is_none() => options.install = true,
            "--prefix" => {
                let folder = value().ok_or_else(|| wrong(": --prefix needs a folder".into()))?;
                options.prefix = Some(at_home(folder)?);
            }
            "--name" => options.name = Some(value().ok_or_else(|| wrong(": --name needs a name".into()))?.into()),
            _ if name.starts_with("--") => {
                let near =
                    suggestion(name.trim_start_matches("--"), ["install", "prefix", "name"].into_iter().chain(FLAGS));
                return Err(Error::argument(format!("viva kernel has no {name}")).hint(near));
            }
            _ if options.connection.is_some() => return Err(wrong(format!(": {word:?} is one thing too many"))),
            _ => options.connection = Some(PathBuf::from(word)),
        }
    }
    match (&options.connection, options.install) {
        (None, false) => {
            Err(wrong(" needs --install, or the file by which Jupyter says where it is to be reached".into()))
        }
        (Some(file), true) => Err(wrong(format!(": --install takes no {:?}", file.display().to_string()))),
        (Some(_), false) if options.prefix.is_some() || options.name.is_some() => {
            Err(wrong(": --prefix and --name are for --install".into()))
        }
        _ => Ok(options),
    }
}
