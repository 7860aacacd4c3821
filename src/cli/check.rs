//! `viva check SCRIPT`

use std::path::PathBuf;
use std::rc::Rc;

use super::{CommandOutcome, read_script};
use crate::core::{Error, visible};
use crate::script::{FileFinding, Session, check_files};
use crate::term::context;

pub fn main(words: &[String]) -> CommandOutcome {
    let [script] = words else { return Err(Error::argument("viva check takes one script").into()) };
    let text = read_script(&PathBuf::from(script))?;
    let session = Session::new(Rc::new(context()));
    let findings = check_files(&session, script, &text)?;
    for FileFinding { file, finding, .. } in &findings {
        eprintln!("{}:{}:{}: {}", visible(file), finding.line, finding.column, visible(&finding.message));
    }
    match findings.len() {
        0 => {
            println!("{script}: nothing found");
            Ok(())
        }
        n => Err(Error::argument(format!("{script}: {n} mistake{}", if n == 1 { "" } else { "s" })).into()),
    }
}
