use std::time::{Duration, Instant};

use super::Command;
use crate::core::{Error, Result};
use crate::repl::prompt::{Next, Prompt};
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

fn run(prompt: &mut Prompt, rest: &str) -> Result<Next> {
    let (repeats, text) = parse(rest)?;
    let start = Instant::now();
    let enough = |times: &[Duration]| match repeats {
        Some(n) => times.len() >= n,
        None => times.len() >= MOST || start.elapsed() >= LONGEST,
    };
    prompt.muted.set(true);
    let outcome = prompt.session.borrow_mut().time(":time", text, enough);
    prompt.muted.set(false);
    match outcome {
        Ok(mut times) => {
            times.sort();
            println!("{}", summary(&times));
            Ok(Next::Line)
        }
        Err(diagnostic) => {
            prompt.explain(&diagnostic);
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
