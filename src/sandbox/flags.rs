//! The flags that allow scripts more, from the command line and from the user's configuration.

use std::path::{Path, PathBuf};

use crate::core::permissions::{Permissions, Programs, program, program_as_named};
use crate::core::{Error, Result, at_home, below_home};

/// What the flags say together.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `None` behind a flag without a path: everywhere.
    read: Vec<Option<PathBuf>>,
    write: Vec<Option<PathBuf>>,
    run: Programs,
    /// The programs as they were named.
    programs: Vec<PathBuf>,
    net: bool,
    native: bool,
}

/// The flags, for messages.
pub const FLAGS: [&str; 5] = ["allow-read", "allow-write", "allow-run", "allow-net", "allow-native"];

impl Flags {
    /// Takes a flag without its dashes; false where it is none of these.
    pub fn take(&mut self, name: &str, value: Option<&str>) -> Result<bool> {
        let path = || -> Result<Option<PathBuf>> {
            let Some(value) = value else { return Ok(None) };
            if value.is_empty() {
                return Err(Error::argument(format!("--{name}= needs a path behind it")));
            }
            let path = at_home(value)?;
            Ok(Some(std::path::absolute(&path).map_err(|e| Error::file(&path, e))?))
        };
        match (name, value) {
            ("allow-read", _) => self.read.push(path()?),
            ("allow-write", _) => self.write.push(path()?),
            ("allow-run", None) => self.run = Programs::Any,
            ("allow-run", Some(name)) => {
                let home = at_home(name)?;
                let named = home.to_string_lossy();
                let (Some(as_named), Some(found)) = (program_as_named(&named), program(&named)) else {
                    return Err(Error::argument(format!("--allow-run={name}: there is no such program"))
                        .hint("its name, or its path"));
                };
                self.programs.push(as_named);
                match &mut self.run {
                    Programs::Named(programs) => programs.push(found),
                    Programs::None => self.run = Programs::Named(vec![found]),
                    Programs::Any => {}
                }
            }
            ("allow-net", None) => self.net = true,
            ("allow-native", None) => self.native = true,
            ("allow-net" | "allow-native", Some(_)) => {
                return Err(Error::argument(format!("--{name} takes no value")));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes a whole word, dashes included.
    pub fn take_word(&mut self, word: &str) -> Result<bool> {
        let Some(flag) = word.strip_prefix("--") else { return Ok(false) };
        match flag.split_once('=') {
            Some((name, value)) => self.take(name, Some(value)),
            None => self.take(flag, None),
        }
    }

    /// Adds what the file `permissions` in the user's configuration says: a flag a line, as on the command line.
    pub fn add_configured(&mut self) -> Result<()> {
        let Some(file) = configuration().map(|folder| folder.join("permissions")).filter(|file| file.is_file()) else {
            return Ok(());
        };
        let text = std::fs::read_to_string(&file).map_err(|e| Error::file(&file, e))?;
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if !self.take_word(line).map_err(|error| error.during(&format!("{}, line {}", file.display(), i + 1)))? {
                let flags = FLAGS.map(|flag| format!("--{flag}")).join(" ");
                return Err(Error::file(&file, format!("line {}: {line:?} is no flag", i + 1))
                    .hint(format!("one a line: {flags}")));
            }
        }
        Ok(())
    }

    /// The permissions, where scripts read these places besides.
    pub fn permissions(&self, places: &[PathBuf]) -> Permissions {
        let everywhere = |paths: &[Option<PathBuf>]| paths.iter().any(Option::is_none);
        let named = |paths: &[Option<PathBuf>]| paths.iter().flatten().cloned().collect::<Vec<_>>();
        Permissions {
            read: (!everywhere(&self.read)).then(|| [named(&self.read), places.to_vec()].concat()),
            write: if everywhere(&self.write) { vec!["/".into()] } else { named(&self.write) },
            run: self.run.clone(),
            net: self.net,
            native: self.native,
        }
    }

    /// The programs that may be started, as they were named: what stands around them is theirs to read.
    pub fn programs(&self) -> &[PathBuf] {
        &self.programs
    }

    /// As words of a command line.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (flag, paths) in [("--allow-read", &self.read), ("--allow-write", &self.write)] {
            words.extend(paths.iter().map(|path| match path {
                Some(path) => format!("{flag}={}", path.display()),
                None => flag.into(),
            }));
        }
        match &self.run {
            Programs::None => {}
            Programs::Named(_) => {
                words.extend(self.programs.iter().map(|program| format!("--allow-run={}", program.display())));
            }
            Programs::Any => words.push("--allow-run".into()),
        }
        words.extend(self.net.then(|| "--allow-net".into()));
        words.extend(self.native.then(|| "--allow-native".into()));
        words
    }
}

/// The user's folder of settings.
pub fn configuration() -> Option<PathBuf> {
    below_home("XDG_CONFIG_HOME", ".config")
}

/// What a script's argument names, if that is a file or folder: as given, or below the data folder.
pub fn named(value: &str, data: Option<&Path>) -> Option<PathBuf> {
    let given = at_home(value).ok().filter(|_| !value.is_empty())?;
    let below = data.map(|folder| folder.join(&given));
    std::iter::once(given.clone())
        .chain(below)
        .find(|place| place.exists())
        .and_then(|place| std::path::absolute(place).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_back_as_they_were_said() {
        let said = ["--allow-read=/a", "--allow-write=/b c", "--allow-write", "--allow-net"];
        let mut flags = Flags::default();
        for word in said {
            assert!(flags.take_word(word).expect("a flag"), "{word}");
        }
        assert_eq!(flags.words(), said);
        // A virtual environment's Python is a link, and what stands around it is to be read.
        let mut flags = Flags::default();
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("python");
        std::os::unix::fs::symlink("/bin/sh", &link).expect("a link");
        let word = format!("--allow-run={}", link.display());
        assert!(flags.take_word(&word).expect("a flag"));
        assert_eq!((flags.words(), flags.programs()), (vec![word], &[link][..]));
        assert!(!flags.take_word("--seed=1").expect("another's"));
        for wrong in ["--allow-read=", "--allow-net=x", "--allow-run=no-such-program"] {
            assert!(flags.take_word(wrong).is_err(), "{wrong}");
        }
    }
}
