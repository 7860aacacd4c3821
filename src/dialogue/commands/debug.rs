use super::Command;
use crate::core::{Error, Result, Table, Value, visible};
use crate::dialogue::{Dialogue, Next};
use crate::script::{Frame, frames_value};
use crate::term::width;

pub static DEBUG: Command = Command {
    name: "debug",
    arguments: "[STATEMENT]",
    help: "Runs it, or the last statement that failed, once more on copies of the variables, and shows the calls that lead to the error with \
           their variables, which are then in `frames`. Files that it writes and programs that it starts are written and started again.",
    run,
};

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    let (source, text) = match rest {
        "" => {
            let failed = dialogue.lines.iter().rev().find(|line| line.error.is_some());
            let failed = failed.ok_or_else(|| {
                Error::argument("nothing has failed yet").hint(":debug STATEMENT runs one and shows where it fails")
            })?;
            (failed.source.clone(), failed.text.clone())
        }
        text => (":debug".into(), text.to_string()),
    };
    dialogue.output.remark(&format!(
        "running it once more, with the variables as they are now: {}",
        visible(&crate::core::cut(text.trim(), 200))
    ));
    let seen = dialogue.session.borrow_mut().frames(&source, &text);
    match seen {
        Err(diagnostic) => {
            dialogue.explain(&diagnostic);
            Ok(Next::Stop)
        }
        Ok(None) => {
            dialogue.output.print("this time it did not fail");
            Ok(Next::Line)
        }
        Ok(Some((diagnostic, frames))) => {
            dialogue.output.failed(&diagnostic);
            for (number, frame) in frames.iter().rev().enumerate() {
                dialogue.output.print(&shown(dialogue, number, frame));
            }
            dialogue.output.print("frames[0].variables has those of the innermost call");
            dialogue.session.borrow_mut().set("frames", frames_value(&frames));
            Ok(Next::Line)
        }
    }
}

fn shown(dialogue: &Dialogue, number: usize, frame: &Frame) -> String {
    let of = if frame.function.is_empty() { "the statement itself" } else { &frame.function };
    let heading = visible(&format!("frames[{number}]: {of}, {} line {}", frame.source, frame.line)).into_owned();
    let heading = dialogue.output.paint().strong(&heading);
    if frame.variables.is_empty() {
        return format!("{heading}\n  no variables");
    }
    let column =
        |of: fn(&crate::script::FrameVariable) -> String| frame.variables.iter().map(|v| Value::Str(of(v))).collect();
    let table = Table::default()
        .column("name", column(|v| v.name.clone()))
        .column("kind", column(|v| v.kind.into()))
        .column("value", column(|v| v.summary.clone()));
    let text = visible(&table.text(width().saturating_sub(2), usize::MAX)).replace('\n', "\n  ");
    format!("{heading}\n  {}", text.trim_end())
}
