use super::Command;
use crate::core::{Error, Result, Table, Value, visible};
use crate::dialogue::{Dialogue, Next};
use crate::term::{duration, width};

pub static PROFILE: Command = Command {
    name: "profile",
    arguments: "STATEMENT",
    help: "Runs it once, leaving no trace but files, and lists which calls the time went into. Lines of scripts take longer than usual \
           while they are watched; calls of viva's own do not.",
    run,
};

/// More rows say nothing more.
const MOST: usize = 30;

fn run(dialogue: &mut Dialogue, text: &str) -> Result<Next> {
    if text.is_empty() {
        return Err(Error::argument(":profile needs a statement")
            .hint(":profile examine(f, ds, #{ space: space::translate(2) })"));
    }
    dialogue.output.mute(true);
    let outcome = dialogue.session.borrow_mut().profile(":profile", text);
    dialogue.output.mute(false);
    let (took, calls) = match outcome {
        Ok(found) => found,
        Err(diagnostic) => {
            dialogue.explain(&diagnostic);
            return Ok(Next::Stop);
        }
    };
    let whole = took.as_secs_f64().max(f64::MIN_POSITIVE);
    let share = |part: std::time::Duration| format!("{:.1}%", 100.0 * part.as_secs_f64() / whole);
    let inside: std::time::Duration = calls.iter().map(|call| call.own).sum();
    let rest = took.saturating_sub(inside);
    let text = |text: String| Value::Str(text);
    let (mut names, mut counts, mut own, mut shares, mut total) = (vec![], vec![], vec![], vec![], vec![]);
    for call in calls.iter().take(MOST) {
        names.push(text(call.name.clone()));
        counts.push(text(call.calls.to_string()));
        own.push(text(duration(call.own)));
        shares.push(text(share(call.own)));
        total.push(text(duration(call.total)));
    }
    names.push(text("the statement itself".into()));
    counts.push(text(String::new()));
    own.push(text(duration(rest)));
    shares.push(text(share(rest)));
    total.push(text(duration(took)));
    let table = Table::default()
        .column("function", names)
        .column("calls", counts)
        .column("own time", own)
        .column("share", shares)
        .column("with its calls", total);
    dialogue.output.print(&format!("{}", visible(&table.text(width(), usize::MAX))));
    if calls.len() > MOST {
        dialogue.output.print(&format!(
            "… {} more functions, {} together",
            calls.len() - MOST,
            duration(calls[MOST..].iter().map(|call| call.own).sum())
        ));
    }
    Ok(Next::Line)
}
