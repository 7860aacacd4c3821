//! `viva check SCRIPT`

use std::path::PathBuf;
use std::rc::Rc;

use super::{CommandOutcome, read_script};
use crate::core::{Error, visible};
use crate::script::{Session, check};
use crate::term::context;

pub fn main(words: &[String]) -> CommandOutcome {
    let [script] = words else { return Err(Error::argument("viva check takes one script").into()) };
    let text = read_script(&PathBuf::from(script))?;
    let session = Session::new(Rc::new(context()));
    let ast = session.compile(script, &text)?;
    let findings = check(&session, &ast, &text);
    for finding in &findings {
        eprintln!("{script}:{}:{}: {}", finding.line, finding.column, visible(&finding.message));
    }
    match findings.len() {
        0 => {
            println!("{script}: nothing found");
            Ok(())
        }
        n => Err(Error::argument(format!("{script}: {n} mistake{}", if n == 1 { "" } else { "s" })).into()),
    }
}
