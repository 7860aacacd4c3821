use super::Command;
use crate::core::{Error, Result, Value, nearest, wrapped};
use crate::dialogue::{Dialogue, Next};
use crate::primitives::reference::stdlib_page;
use crate::primitives::stdlib::{module_called, stdlib_names};
use crate::primitives::{PRIMITIVES, former, reference};
use crate::term::width;

pub static DOC: Command = Command {
    name: "doc",
    arguments: "[NAME]",
    help: "Explains a function, a type, a namespace, a variable or a module such as std/zoo; also ?NAME and NAME?.",
    run,
};

/// Longer lines are hard to read.
const WIDEST: usize = 110;

fn run(dialogue: &mut Dialogue, name: &str) -> Result<Next> {
    let name = name.trim_end_matches("()");
    let Some(page) = page(dialogue, name) else {
        let modules = stdlib_names();
        let known: Vec<&str> =
            PRIMITIVES.iter().flat_map(|p| [p.path, p.name()]).chain(modules.iter().map(String::as_str)).collect();
        return Err(Error::argument(format!("nothing is called {name:?}")).hint(
            module_called(name, |module| format!("`:doc {module}`"))
                .or_else(|| former::function_like(name, name, known.iter().copied()))
                .or_else(|| nearest(name, known).map(|near| format!("did you mean `{near}`?")))
                .unwrap_or_else(|| {
                    format!("`:apropos {name}` looks for a word in all pages, `:doc` lists what there is")
                }),
        ));
    };
    let mut lines = page.lines();
    let first = wrapped(lines.next().unwrap_or(""), width().min(WIDEST) - 4).replace('\n', "\n    ");
    let rest = wrapped(&lines.collect::<Vec<_>>().join("\n"), width().min(WIDEST));
    dialogue.output.read(&format!("{}\n{rest}", dialogue.output.paint().strong(&first)));
    Ok(Next::Line)
}

/// The documentation of what has this name.
pub fn page(dialogue: &Dialogue, name: &str) -> Option<String> {
    stdlib_page(name)
        .or_else(|| reference::page(name))
        .or_else(|| variable(dialogue, name))
        .or_else(|| own_function(dialogue, name))
}

/// What the comment above a function of the session, or of a module that it imported, says.
fn own_function(dialogue: &Dialogue, name: &str) -> Option<String> {
    let session = dialogue.session.borrow();
    let Some((alias, name)) = name.split_once("::") else {
        return session.declaration(name).map(|declaration| reference::function(&declaration.function));
    };
    let (_, path) = session.imports().into_iter().rev().find(|(known, _)| known == alias)?;
    let functions = session.module_functions(&path);
    let found = functions.iter().find(|f| f.public && f.name == name)?;
    Some(reference::function(&found.declaration.function))
}

/// What a variable holds, and what its type can do; of `variable.method` what the method does.
fn variable(dialogue: &Dialogue, name: &str) -> Option<String> {
    if let Some((owner, method)) = name.split_once('.') {
        let value = dialogue.session.borrow().variable(owner)?;
        let primitive = PRIMITIVES
            .iter()
            .find(|p| p.name() == method && p.receiver().is_some_and(|kind| kind.eq_ignore_ascii_case(value.kind())))?;
        return reference::page(primitive.path);
    }
    let found = dialogue.session.borrow().listing().into_iter().find(|variable| variable.name == name)?;
    let mut text = format!("{name}: {}\n{}", found.kind, found.summary);
    let value = dialogue.session.borrow().variable(name);
    if let Some(Value::Object(object)) = &value
        && !object.fields().is_empty()
    {
        text += &format!("\n\nfields: {}", object.fields().join(", "));
    }
    let methods = reference::page(found.kind).filter(|_| matches!(value, Some(Value::Object(_) | Value::Tensor(_))));
    if let Some(methods) = methods {
        text += &format!("\n\nmethods\n  {}", methods.replace('\n', "\n  "));
    }
    Some(text)
}
