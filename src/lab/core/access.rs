//! What a script asks for by path or command: found and allowed, or refused with the flag that allows it.

use std::path::{Path, PathBuf};

use super::broker::Access;
use super::permissions::{self, Programs, below, held, is_own, resolve};
use super::{Cx, Error, ErrorKind, Result, at_home, files};

fn whole(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map(|path| resolve(&path)).map_err(|e| Error::file(path, e))
}

fn refused(what: impl Into<String>, hint: String) -> Error {
    Error::new(ErrorKind::Permission, what).hint(hint)
}

impl Cx {
    pub fn allow_write(&mut self, path: PathBuf) {
        self.workspace.permissions.write.push(path);
    }

    /// Lets scripts start programs.
    pub fn allow_run(&mut self) {
        self.workspace.permissions.run = Programs::Any;
    }

    /// The words that start a program, unless scripts may not: the shell's with the command, or where single programs were
    /// allowed the command's own.
    pub fn words_to_run(&self, command: &str) -> Result<Vec<String>> {
        match &self.workspace.permissions.run {
            Programs::Any => Ok(vec!["sh".into(), "-c".into(), command.into()]),
            Programs::None => Err(refused(
                format!("a script may not start a program: {command:?}"),
                "start viva with --allow-run if you trust the script, or with --allow-run=PROGRAM for that one alone"
                    .into(),
            )),
            Programs::Named(programs) => {
                let words = shlex::split(command).filter(|words| !words.is_empty() && !asks_for_a_shell(command));
                let words = words.ok_or_else(|| {
                    Error::argument(format!("{command:?} needs a shell, and single programs are started without one"))
                        .hint("allow the shell, --allow-run=sh, and write sh -c '...'; or --allow-run")
                })?;
                match permissions::program(&words[0]).filter(|file| programs.contains(file)) {
                    Some(_) => Ok(words),
                    None => Err(refused(
                        format!("a script may not start {:?}", words[0]),
                        format!("start viva with --allow-run={} if you trust what the script does with it", words[0]),
                    )),
                }
            }
        }
    }

    /// Refuses to start a program, by itself and without a shell, unless scripts may.
    pub fn check_may_start(&self, program: &str) -> Result<()> {
        let allowed = match &self.workspace.permissions.run {
            Programs::Any => true,
            Programs::None => false,
            Programs::Named(programs) => permissions::program(program).is_some_and(|file| programs.contains(&file)),
        };
        match allowed {
            true => Ok(()),
            false => Err(refused(
                format!("a script may not start {program:?}"),
                format!(
                    "start viva with --allow-run if you trust the script, or with --allow-run={program} for that one alone"
                ),
            )),
        }
    }

    /// Refuses to run the program that a file holds where nothing would hold it.
    pub fn check_may_hold(&self, path: &Path) -> Result<()> {
        if self.workspace.permissions.native || held().is_some_and(permissions::KernelLimits::holds_files) {
            return Ok(());
        }
        Err(refused(
            format!("{}: TorchScript is a program, and nothing here holds what it touches", path.display()),
            "--allow-native runs it all the same, with all that you may do; weights alone (safetensors, a state dict) are no \
             program"
                .into(),
        ))
    }

    /// Refuses what scripts may not read; at a terminal the prompt asks first.
    pub fn check_read(&self, path: &Path) -> Result<()> {
        let Some(allowed) = &self.workspace.permissions.read else { return Ok(()) };
        let target = whole(path)?;
        let own: Vec<PathBuf> = self.data_folder().map(Path::to_path_buf).into_iter().collect();
        if is_own(&target, self.folder())
            || below(
                &target,
                allowed
                    .iter()
                    .chain(&self.workspace.permissions.write)
                    .chain(&own)
                    .chain(&*self.workspace.granted.borrow()),
            )
            || self.asked(Access::Read, &target)?
        {
            return Ok(());
        }
        Err(refused(
            format!("a script may not read {}", target.display()),
            format!(
                "scripts read their own folder, the run folder, the data folder and what the command line names: start viva with \
                 --allow-read={}",
                target.display()
            ),
        ))
    }

    /// Lets scripts read what the user named.
    pub fn grant_read(&self, path: PathBuf) {
        self.workspace.granted.borrow_mut().push(path);
    }

    fn asked(&self, access: Access, target: &Path) -> Result<bool> {
        self.workspace.broker.as_ref().map_or(Ok(false), |broker| broker.may(access, target))
    }

    /// Where a script's `save(value, path)` goes; refused outside the run folder and what was allowed.
    pub fn writable(&self, path: &str) -> Result<PathBuf> {
        if path.is_empty() {
            return Err(Error::argument("the path to write to is empty"));
        }
        let given = self.folder().join(at_home(path)?);
        let target = whole(&given)?;
        self.refuse_links(&given)?;
        for reserved in &self.workspace.reserved {
            if target.starts_with(whole(&self.folder().join(reserved))?) {
                return Err(Error::file(&target, "a name that a run keeps for itself").hint("save under another name"));
            }
        }
        if is_own(&target, self.folder())
            || below(&target, &self.workspace.permissions.write)
            || self.asked(Access::Write, &target)?
        {
            return Ok(target);
        }
        let below = self.folder().display();
        Err(refused(
            format!("a script may not write to {}", target.display()),
            format!("write below {below} or start viva with --allow-write={}", target.display()),
        ))
    }

    /// A run folder may be anybody's, and so may what its links lead to.
    fn refuse_links(&self, given: &Path) -> Result<()> {
        match (&self.record, given.strip_prefix(self.folder())) {
            (Some(_), Ok(below)) => files::refuse_links(self.folder(), below, true),
            _ => Ok(()),
        }
    }

    /// A file or folder to read: as given, or below the run folder, or below the data folder.
    pub fn find(&self, path: &str) -> Result<PathBuf> {
        let found = self.find_named(path)?;
        self.check_read(&found)?;
        Ok(found)
    }

    /// As [`Cx::find`], of a path that the user typed and not a script.
    pub fn find_named(&self, path: &str) -> Result<PathBuf> {
        if path.is_empty() {
            return Err(Error::argument("the path to read is empty"));
        }
        let given = at_home(path)?;
        let folder = self.folder();
        for place in [given.clone(), folder.join(&given)] {
            if place.exists() {
                self.refuse_links(&place)?;
                return readable(place);
            }
        }
        if let Some(below) = self.data_folder().map(|folder| folder.join(&given)).filter(|below| below.exists()) {
            return readable(below);
        }
        let run = if folder == Path::new(".") { String::new() } else { format!(", in {}", folder.display()) };
        let hint = match self.data_folder() {
            Some(folder) => format!("looked in the working folder{run} and in {} (VIVA_DATA)", folder.display()),
            None => format!("looked in the working folder{run}; VIVA_DATA is not set"),
        };
        Err(Error::file(&given, "no such file or folder").hint(hint))
    }
}

/// Refuses what is neither file nor folder: reading a pipe or a device may never end.
fn readable(path: PathBuf) -> Result<PathBuf> {
    if path.is_file() || path.is_dir() { Ok(path) } else { Err(Error::file(&path, "neither a file nor a folder")) }
}

/// Whether a command has a meaning beyond its words: pipes, lists, redirections, variables.
fn asks_for_a_shell(command: &str) -> bool {
    let mut quote = None;
    let mut escaped = false;
    command.chars().any(|c| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        match (quote, c) {
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '|' | '&' | ';' | '<' | '>' | '*' | '?' | '\n') | (None | Some('"'), '$' | '`') => return true,
            _ => {}
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_words_needs_no_shell() {
        for plain in ["python3 scores.py", "sh -c 'a | b > $c'", "a \"b;c\" d\\;e"] {
            assert!(!asks_for_a_shell(plain), "{plain}");
        }
        for shell in ["a | b", "a; b", "a > b", "a $HOME", "a \"$HOME\"", "a `b`", "a && b", "cat *"] {
            assert!(asks_for_a_shell(shell), "{shell}");
        }
    }

    #[test]
    fn a_named_program_is_started_by_itself() {
        let mut cx = Cx::default();
        assert!(cx.words_to_run("sh -c true").is_err());
        cx.workspace.permissions.run = Programs::Named(permissions::program("sh").into_iter().collect());
        assert_eq!(cx.words_to_run("sh -c 'exit 1'").expect("allowed"), ["sh", "-c", "exit 1"]);
        assert!(cx.words_to_run("cat x").expect_err("not allowed").hint.expect("a hint").contains("--allow-run=cat"));
        assert!(cx.words_to_run("sh x; cat y").is_err());
    }
}
