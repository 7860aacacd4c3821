use super::Command;
use crate::core::{Result, Table, Value, visible};
use crate::dialogue::{Dialogue, Next};
use crate::term::width;

pub static RESULTS: Command = Command {
    name: "results",
    arguments: "[clear]",
    help: "Lists the last results that were shown, which stay under names such as ans3; `clear` lets go of them.",
    run,
};

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    if rest == "clear" {
        dialogue.forget_results();
        dialogue.output.print("ans alone is kept");
        return Ok(Next::Line);
    }
    if !rest.is_empty() {
        return Err(crate::core::Error::argument(format!(":results does not know {rest:?}"))
            .hint(":results lists them, :results clear lets go of them"));
    }
    let listing = dialogue.session.borrow().listing();
    let (mut names, mut kinds, mut values, mut of) = (vec![], vec![], vec![], vec![]);
    for result in &dialogue.results {
        let Some(variable) = listing.iter().find(|variable| variable.name == result.name) else { continue };
        names.push(Value::Str(variable.name.clone()));
        kinds.push(Value::Str(variable.kind.into()));
        values.push(Value::Str(variable.summary.clone()));
        of.push(Value::Str(crate::core::cut(result.text.lines().next().unwrap_or(""), 40)));
    }
    if names.is_empty() {
        dialogue.output.print("no results yet");
        return Ok(Next::Line);
    }
    let table = Table::default().column("name", names).column("of", of).column("kind", kinds).column("value", values);
    dialogue.output.print(&format!("{}", visible(&table.text(width(), usize::MAX))));
    Ok(Next::Line)
}
