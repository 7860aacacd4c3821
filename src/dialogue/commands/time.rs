use std::time::{Duration, Instant};

use super::Command;
use crate::core::{Error, Result};
use crate::dialogue::{Dialogue, Next};
use crate::term::duration;

pub static TIME: Command = Command {
    name: "time",
    arguments: "[-n N] EXPR",
    help: "Runs it again and again for about 3 seconds, or N times, and prints the median time; leaves no trace.",
    run,
};

const LONGEST: Duration = Duration::from_secs(3);

/// More repeats say nothing more.
const MOST: usize = 100_000;

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    let (repeats, text) = parse(rest)?;
    let start = Instant::now();
    let enough = |times: &[Duration]| match repeats {
        Some(n) => times.len() >= n,
        None => times.len() >= MOST || start.elapsed() >= LONGEST,
    };
    dialogue.output.mute(true);
    let outcome = dialogue.session.borrow_mut().time(":time", text, enough);
    dialogue.output.mute(false);
    match outcome {
        Ok(mut times) => {
            times.sort();
            dialogue.output.print(&summary(&times));
            Ok(Next::Line)
        }
        Err(diagnostic) => {
            dialogue.explain(&diagnostic);
            Ok(Next::Stop)
        }
    }
}

fn parse(rest: &str) -> Result<(Option<usize>, &str)> {
    let wanted =
        || Error::argument(":time needs an expression").hint(":time f.accuracy(ds), or :time -n 5 f.accuracy(ds)");
    let (repeats, text) = match rest.strip_prefix("-n") {
        None => (None, rest),
        Some(more) => {
            let (number, text) = more.trim_start().split_once(char::is_whitespace).ok_or_else(wanted)?;
            let n =
                number.parse().ok().filter(|n| (1..=MOST).contains(n)).ok_or_else(|| {
                    Error::argument(format!(":time -n wants a number from 1 to {MOST}, got {number:?}"))
                })?;
            (Some(n), text)
        }
    };
    if text.trim().is_empty() { Err(wanted()) } else { Ok((repeats, text.trim())) }
}

/// Median, quartiles and number of sorted times.
fn summary(times: &[Duration]) -> String {
    let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize];
    let median = duration(at(0.5));
    match times.len() {
        1 => format!("{median}, once"),
        n => format!("median {median}, quartiles {} to {}, {n} repeats", duration(at(0.25)), duration(at(0.75))),
    }
}
