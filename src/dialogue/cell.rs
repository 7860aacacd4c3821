//! Cells and pasted texts: several lines, with commands between them.

use std::borrow::Cow;

use super::commands;
use super::talk::{Dialogue, Next};
use crate::script::Session;

/// A part of a cell: a command, or all that stands between two of them.
pub struct Stretch {
    pub text: String,
    pub is_command: bool,
    /// Lines of the cell before it.
    pub line: usize,
}

/// What a line of the prompt begins with.
pub const PROMPT: &str = "viva> ";

/// A session that was copied with its prompts, without them and with empty lines for what was answered; any other text as it is. With how many
/// lines were left out as answers.
pub fn without_prompts<'t>(session: &Session, text: &'t str) -> (Cow<'t, str>, usize) {
    let typed = |line: &'t str| match line.trim_end() == PROMPT.trim_end() {
        true => Some(""),
        false => line.strip_prefix(PROMPT),
    };
    let started = |line: &&str| !line.trim().is_empty() && !line.starts_with("$ ");
    // `viva > x` may compare.
    if text.lines().find(started).and_then(typed).is_none() || session.variable("viva").is_some() {
        return (Cow::Borrowed(text), 0);
    }
    let (mut kept, mut open, mut left_out) = (String::new(), String::new(), 0);
    let mut ended = true;
    for line in text.lines() {
        match typed(line) {
            Some(typed) => open = format!("{typed}\n"),
            None if ended && !continues(&open, line) => open.clear(),
            None => open += &format!("{line}\n"),
        }
        match open.is_empty() {
            true => left_out += usize::from(started(&line)),
            false => kept += typed(line).unwrap_or(line),
        }
        kept.push('\n');
        ended = open.is_empty() || command(session, open.trim()).is_some() || !is_open(session, &open);
    }
    (Cow::Owned(kept), left_out)
}

/// Whether a line goes on with what is a whole statement without it: it begins as no statement does.
fn continues(before: &str, line: &str) -> bool {
    const OPERATORS: [&str; 15] =
        [".", "?.", "+ ", "- ", "* ", "/ ", "% ", "== ", "!= ", "< ", "> ", "<= ", ">= ", "&& ", "?? "];
    const BRANCHES: [&str; 4] = ["else", "catch", "while", "until"];
    let (before, line) = (before.trim_end(), line.trim_start());
    let word = line.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    let goes_on = OPERATORS.iter().any(|operator| line.starts_with(operator));
    goes_on && !before.is_empty() && !before.ends_with([';', '}']) || BRANCHES.contains(&word) && before.ends_with('}')
}

/// Whether a statement goes on in the next line.
fn is_open(session: &Session, text: &str) -> bool {
    describes_what_follows(text) || session.compile("prompt", text).is_err_and(|diagnostic| diagnostic.incomplete)
}

/// What was typed or pasted, cut where a line ends a statement, so that a pasted session runs as if typed line by line.
pub fn pieces(session: &Session, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let whole = open.is_empty() && command(session, line.trim()).is_some();
        open += line;
        open.push('\n');
        let goes_on = lines.peek().is_some_and(|next| continues(&open, next));
        if whole || !goes_on && !is_open(session, &open) {
            found.push(std::mem::take(&mut open));
        }
    }
    if !open.trim().is_empty() {
        found.push(open);
    }
    found
}

/// Whether a text is nothing but the comment above a function, which belongs to it.
pub fn describes_what_follows(text: &str) -> bool {
    !text.trim().is_empty() && text.trim().lines().all(|line| line.starts_with("///"))
}

/// The name and the rest of a command, if the line is one.
fn command<'t>(session: &Session, line: &'t str) -> Option<(&'t str, &'t str)> {
    let shell = commands::shell_command(session, line).map(|command| ("!", command));
    shell.or_else(|| commands::asked(line))
}

/// The parts of a cell. Where lines are no script together, but each by itself, as at the prompt, each is a part.
pub fn stretches(session: &Session, code: &str) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    let mut open: Vec<Stretch> = Vec::new();
    let mut line = 0;
    for text in pieces(session, code) {
        let lines = text.lines().count();
        let is_command = command(session, text.trim()).is_some();
        if is_command {
            found.extend(together(session, std::mem::take(&mut open)));
            found.push(Stretch { text, is_command, line });
        } else {
            open.push(Stretch { text, is_command, line });
        }
        line += lines;
    }
    found.extend(together(session, open));
    found
}

fn together(session: &Session, pieces: Vec<Stretch>) -> Vec<Stretch> {
    let Some(first) = pieces.first() else { return pieces };
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let reads = |text: &str| session.compile("prompt", text).is_ok();
    match !reads(&text) && pieces.iter().all(|piece| reads(&piece.text)) {
        true => pieces,
        false => vec![Stretch { text, is_command: false, line: first.line }],
    }
}

impl Dialogue {
    /// Says that lines of a copied session were not run.
    pub fn tell_of_answers(&self, lines: usize) {
        match lines {
            0 => {}
            1 => self.output.remark("a line that was an answer is left out"),
            n => self.output.remark(&format!("{n} lines that were answers are left out")),
        }
    }

    /// Runs a cell: what lies between commands as one text, whose lines are counted as those of the cell, so that what had been done of a cell
    /// that was stopped is not done again by the same cell. The last value is shown, unless `show` says otherwise.
    pub fn run_cell(&mut self, source: &str, code: &str, show: bool) -> Next {
        let (code, left_out) = without_prompts(&self.session.borrow(), code);
        self.tell_of_answers(left_out);
        let all = stretches(&self.session.borrow(), &code);
        let last = all.iter().rposition(|stretch| !stretch.is_command && !stretch.text.trim().is_empty());
        for (i, stretch) in all.iter().enumerate() {
            let asked = command(&self.session.borrow(), stretch.text.trim()).filter(|_| stretch.is_command);
            let next = match asked {
                Some((command, rest)) => commands::run(self, command, rest),
                None if stretch.text.trim().is_empty() => Next::Line,
                None => {
                    let text = "\n".repeat(stretch.line) + stretch.text.trim_end();
                    match self.run(source, &text, show && Some(i) == last) {
                        true => Next::Line,
                        false => Next::Stop,
                    }
                }
            };
            if next != Next::Line {
                return next;
            }
        }
        Next::Line
    }
}
