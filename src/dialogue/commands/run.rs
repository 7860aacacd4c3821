use std::rc::Rc;

use super::{Command, load};
use crate::core::{Error, Result, Value};
use crate::dialogue::{Dialogue, Next};
use crate::sandbox::named;
use crate::script::arguments::{check_given, given, twice};
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
    let Some((file, words)) = words.split_first() else {
        return Err(Error::argument(":run needs a script").hint(":run script.rhai --name value"));
    };
    let file = dialogue.cx.find_named(file)?;
    let text = load::read(&file)?;
    let mut cx = dialogue.output.context();
    dialogue.sandbox.apply(&mut cx);
    file.parent().into_iter().for_each(|home| cx.grant_read(home.to_path_buf()));
    cx.stop_with(&dialogue.cx);
    cx.set_device(dialogue.cx.device());
    let mut seed = None;
    let arguments = given(":run", words.iter().map(String::as_str), |name, value| {
        let is_seed = name == "seed";
        if is_seed && seed.is_some() {
            return Err(twice(":run", name));
        }
        if is_seed {
            let value = value.unwrap_or_default();
            let wrong = || Error::argument(format!("--seed wants a whole number from 0 up, got {value:?}"));
            seed = Some(value.parse().map_err(|_| wrong())?);
        }
        Ok(is_seed)
    })?;
    seed.into_iter().for_each(|seed| cx.set_seed(seed));
    // Whoever names a file lets the script read it.
    let named = arguments.values().filter_map(|value| named(value, dialogue.cx.data_folder()));
    named.for_each(|path| cx.grant_read(path));
    let name = file.display().to_string();
    let ast = match Session::new(Rc::new(context())).compile(&name, &text) {
        Ok(ast) => ast,
        Err(diagnostic) => {
            dialogue.explain(&diagnostic);
            return Ok(Next::Stop);
        }
    };
    check_given(&arguments, &script_arguments(&ast), &["seed"])?;
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
