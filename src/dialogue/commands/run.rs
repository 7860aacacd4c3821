use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Command, load};
use crate::core::{Error, Result, Value, suggestion};
use crate::dialogue::{Dialogue, Next};
use crate::script::{Session, script_arguments};
use crate::term::context;

pub static RUN: Command = Command {
    name: "run",
    arguments: "FILE [--name value ...]",
    help: "Runs a script in a session of its own and shows its result; nothing of it stays here.",
    run,
};

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    let words = words(rest)?;
    let Some((file, given)) = words.split_first() else {
        return Err(Error::argument(":run needs a script").hint(":run script.rhai --name value"));
    };
    let file = dialogue.cx.find_named(file)?;
    let text = load::read(&file)?;
    let mut cx = dialogue.output.context();
    dialogue.sandbox.apply(&mut cx);
    file.parent().into_iter().for_each(|home| cx.grant_read(home.to_path_buf()));
    cx.stop_with(&dialogue.cx);
    cx.set_device(dialogue.cx.device());
    let arguments = arguments(given)?;
    if let Some(seed) = arguments.get("seed") {
        let wrong = || Error::argument(format!("--seed wants a whole number from 0 up, got {seed:?}"));
        cx.set_seed(seed.parse().map_err(|_| wrong())?);
    }
    let name = file.display().to_string();
    let ast = match Session::new(Rc::new(context())).compile(&name, &text) {
        Ok(ast) => ast,
        Err(diagnostic) => {
            dialogue.explain(&diagnostic);
            return Ok(Next::Stop);
        }
    };
    let known = script_arguments(&ast);
    if let Some(name) = arguments.keys().find(|n| *n != "seed" && !known.iter().any(|a| a.name == **n)) {
        let names: Vec<&str> = known.iter().map(|a| a.name.as_str()).collect();
        return Err(Error::argument(format!("the script has no argument --{name}")).hint(suggestion(name, names)));
    }
    for argument in &known {
        arguments.get(&argument.name).map_or(Ok(()), |text| argument.check(text))?;
    }
    cx.set_arguments(arguments);
    let mut own = Session::new(Rc::new(cx));
    match own.run(&file, &text) {
        Ok(Value::Unit) => Ok(Next::Line),
        Ok(value) => {
            dialogue.output.result(&value);
            Ok(Next::Line)
        }
        Err(diagnostic) => {
            dialogue.explain(&diagnostic);
            Ok(Next::Stop)
        }
    }
}

/// Words between spaces; quotes keep them together.
fn words(text: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut open: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                open.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(open.take()),
            (_, c) => open.get_or_insert_default().push(c),
        }
    }
    words.extend(open);
    if quote.is_some() { Err(Error::argument(":run: a quote is left open")) } else { Ok(words) }
}

fn arguments(words: &[String]) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let flag = word.strip_prefix("--").ok_or_else(|| {
            Error::argument(format!(":run: {word:?} is one thing too many"))
                .hint("a script's own arguments are written --name value")
        })?;
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, value.to_string()),
            None => (flag, words.next_if(|next| !next.starts_with("--")).cloned().unwrap_or_default()),
        };
        found.insert(name.to_string(), value);
    }
    Ok(found)
}
