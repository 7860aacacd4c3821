use super::Command;
use crate::assist::coloured;
use crate::core::{Error, Result, visible_letters};
use crate::dialogue::{Dialogue, Next};
use crate::primitives::{PRIMITIVES, former};

pub static SOURCE: Command = Command {
    name: "source",
    arguments: "NAME",
    help: "Shows how a function is written: one of your own, of a module that was imported, or of std; also ??NAME and NAME??.",
    run,
};

fn run(dialogue: &mut Dialogue, name: &str) -> Result<Next> {
    let name = name.trim_end_matches("()");
    if name.is_empty() {
        return Err(Error::argument(":source needs a name").hint(":source overfitting::compare, or ??mine"));
    }
    let session = dialogue.session.borrow();
    let mut texts = session.source(name);
    if texts.is_empty() {
        texts.extend(session.module_source(name));
    }
    if texts.is_empty() {
        let of = |primitive: &&&crate::primitives::Primitive| primitive.path == name || primitive.name() == name;
        if let Some(primitive) = PRIMITIVES.iter().find(of) {
            let path = primitive.path;
            return Err(Error::argument(format!("{path} is one of viva's own, written in Rust"))
                .hint(format!("?{path} explains it with its formulas' sources")));
        }
        let mut own: Vec<String> = session.functions().into_iter().map(|function| function.name).collect();
        own.extend(PRIMITIVES.iter().map(|primitive| primitive.path.into()));
        return Err(Error::argument(format!("no function is called {name:?}")).hint(former::function_or(
            name,
            name,
            own.iter().map(String::as_str).collect::<Vec<_>>(),
        )));
    }
    let paint = dialogue.output.paint();
    let shown = texts.iter().map(|text| {
        let place = paint.dim(&format!("// {}, line {}", visible_letters(&text.source), text.line));
        format!("{place}\n{}\n", coloured(&visible_letters(&text.text), None, paint))
    });
    let text = shown.collect::<Vec<_>>().join("\n");
    drop(session);
    dialogue.output.read(&text);
    Ok(Next::Line)
}
