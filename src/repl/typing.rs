//! What happens while a person types: completion, hints, colours, and asking for more while a script is unfinished.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::{DefaultHistory, SearchDirection};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler, Helper,
    KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};

use crate::assist::{Completion, LONGEST, coloured, complete, signature, wide};
use crate::dialogue::commands::{asked, shell_command};
use crate::dialogue::{PROMPT, describes_what_follows, without_prompts};
use crate::script::Session;
use crate::script::scan::{Token, TokenKind, scan};
use crate::term::{Paint, width};

/// Between the cursor and a hint.
const GAP: &str = "  ";

/// A hint in fewer columns says nothing.
const NARROWEST: usize = 8;

/// A line of the history is offered from this many characters on.
const SHORTEST_BEGINNING: usize = 2;

impl rustyline::completion::Candidate for Completion {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.text
    }
}

/// A text right of the cursor: a signature, or the rest of an earlier line that the right arrow takes over.
pub struct Hint {
    shown: String,
    rest: Option<String>,
}

impl rustyline::hint::Hint for Hint {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        self.rest.as_deref()
    }
}

/// What the line editor asks at every key press.
pub struct Typing {
    session: Rc<RefCell<Session>>,
    commands: &'static [&'static str],
    /// Columns of the prompt before the first line.
    indent: usize,
    paint: Paint,
    /// The part of the hint that stands for the parameter being typed.
    current: RefCell<Range<usize>>,
    /// Whether the line is shown for the last time, without marks at the cursor.
    done: Cell<bool>,
    /// Whether the line comes from the history as it is.
    browsing: Arc<AtomicBool>,
    /// What was read so far of a statement that is still open: the editor lets go of it where its input ends.
    open: RefCell<String>,
}

impl Typing {
    /// The statement that was open where the input ended; empty where none was.
    pub fn left_open(&self) -> String {
        self.open.take()
    }
}

/// An editor whose completion, hints and history work on this session. `commands` are the prompt's own, without their colon.
pub fn editor(
    session: Rc<RefCell<Session>>,
    commands: &'static [&'static str],
    prompt: &str,
) -> rustyline::Result<Editor<Typing, DefaultHistory>> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .max_history_size(10_000)?
        .history_ignore_dups(true)?
        .indent_size(STEP)
        .build();
    let mut editor = Editor::with_config(config)?;
    let browsing = Arc::new(AtomicBool::new(false));
    for (code, cmd) in [(KeyCode::Up, Cmd::HistorySearchBackward), (KeyCode::Down, Cmd::HistorySearchForward)] {
        let handler = ByPrefix { cmd, browsing: browsing.clone() };
        editor.bind_sequence(KeyEvent(code, Modifiers::NONE), EventHandler::Conditional(Box::new(handler)));
    }
    for code in [KeyCode::Enter, KeyCode::Backspace] {
        let key = KeyEvent(code, Modifiers::NONE);
        editor.bind_sequence(key, EventHandler::Conditional(Box::new(Indenting { code })));
    }
    editor.set_helper(Some(Typing {
        session,
        commands,
        indent: wide(prompt),
        paint: Paint::of(&std::io::stdout()),
        current: RefCell::new(0..0),
        done: Cell::new(false),
        browsing,
        open: RefCell::default(),
    }));
    Ok(editor)
}

/// Up and Down go through the lines that begin as the typed one does up to the cursor.
struct ByPrefix {
    cmd: Cmd,
    browsing: Arc<AtomicBool>,
}

impl ConditionalEventHandler for ByPrefix {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let (before, after) = context.line().split_at_checked(context.pos())?;
        let inside = if self.cmd == Cmd::HistorySearchBackward { before.contains('\n') } else { after.contains('\n') };
        // Several lines are walked through first; without a beginning every line fits.
        (!before.is_empty() && !inside && !self.browsing.load(Ordering::Relaxed)).then(|| self.cmd.clone())
    }
}

/// Enter in an unfinished statement begins a line that is as far in as its brackets are open; Backspace there goes back a step.
struct Indenting {
    code: KeyCode,
}

impl ConditionalEventHandler for Indenting {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let line = context.line();
        // What was copied from a session is told apart when it is read.
        if context.pos() < line.len() || line.starts_with(COMMANDS) || line.starts_with(PROMPT) {
            return None;
        }
        if self.code == KeyCode::Enter {
            return (!ended_by_hand(line)).then(|| Some(Cmd::Insert(1, format!("\n{}", indentation(line)?))))?;
        }
        let begun = line.rsplit_once('\n').is_some_and(|(_, begun)| !begun.is_empty() && begun.trim().is_empty());
        begun.then_some(Cmd::Dedent(Movement::WholeLine))
    }
}

/// Columns of a step in.
const STEP: u8 = 4;

/// What begins a line that is no statement.
const COMMANDS: [char; 2] = [':', '?'];

/// Whether two empty lines end a statement that is not finished.
fn ended_by_hand(text: &str) -> bool {
    let mut lines = text.rsplit('\n').map(|line| line.trim().is_empty());
    text.matches('\n').count() > 1 && lines.next() == Some(true) && lines.next() == Some(true)
}

/// The brackets that have no end yet, the innermost last.
fn open_brackets(tokens: &[Token]) -> Vec<Token> {
    let mut open = Vec::new();
    for token in tokens {
        match token.kind {
            TokenKind::Open => open.push(*token),
            TokenKind::Close => drop(open.pop()),
            _ => {}
        }
    }
    open
}

/// Whether a bracket is closed by one of another kind, which nothing that follows can mend.
fn mismatched(text: &str) -> bool {
    let mut open = Vec::new();
    scan(text).iter().any(|token| match token.kind {
        TokenKind::Open => {
            open.push(token.text(text).chars().last());
            false
        }
        TokenKind::Close => {
            let wanted = match open.pop().flatten() {
                Some('(') => ")",
                Some('[') => "]",
                Some('{') => "}",
                _ => return false,
            };
            token.text(text) != wanted
        }
        _ => false,
    })
}

/// How far in a line begins behind this text; none outside of brackets and inside of strings.
fn indentation(text: &str) -> Option<String> {
    let tokens = scan(text);
    if text.len() > LONGEST || tokens.last().is_some_and(|token| !token.closed && token.kind != TokenKind::Comment) {
        return None;
    }
    let mut open: Vec<usize> =
        open_brackets(&tokens).iter().map(|token| text[..token.start].matches('\n').count()).collect();
    if open.is_empty() {
        return None;
    }
    // Brackets that were opened in one line are one step in.
    open.dedup();
    Some(" ".repeat(usize::from(STEP) * open.len()))
}

/// At the beginning of a further line, what keeps the statement from being finished.
fn still_open(text: &str) -> Option<String> {
    let (before, begun) = text.rsplit_once('\n')?;
    if !begun.trim().is_empty() || text.len() > LONGEST || text.starts_with(COMMANDS) || ended_by_hand(text) {
        return None;
    }
    let tokens = scan(text);
    let (what, start) = match tokens.last() {
        Some(token) if !token.closed && token.kind == TokenKind::Comment => ("a comment", token.start),
        Some(token) if !token.closed => ("a string", token.start),
        _ => open_brackets(&tokens).last().map(|token| (token.text(text), token.start))?,
    };
    let line = before[..start.min(before.len())].matches('\n').count() + 1;
    Some(format!("{what} of line {line} is open, Ctrl-C leaves it"))
}

impl Helper for Typing {}

impl Completer for Typing {
    type Candidate = Completion;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Completion>)> {
        Ok(complete(&self.session.borrow(), self.commands, line, at))
    }
}

impl Hinter for Typing {
    type Hint = Hint;

    fn hint(&self, line: &str, at: usize, context: &Context<'_>) -> Option<Hint> {
        let history = context.history();
        let index = context.history_index();
        let entry = history.get(index, SearchDirection::Forward).ok().flatten();
        let browsing = at == line.len() && entry.is_some_and(|found| found.entry == line);
        self.browsing.store(browsing, Ordering::Relaxed);
        self.current.replace(0..0);
        if at < line.len() || line.trim().is_empty() {
            return None;
        }
        let columns = self.columns_left(line);
        if columns < NARROWEST {
            return None;
        }
        // Where nothing can be dimmed, a hint reads as a comment.
        let gap = if self.paint.enabled() { GAP.to_string() } else { format!("{GAP}// ") };
        if let Some(found) = signature(&self.session.borrow(), line, columns - gap.len()) {
            self.current.replace(gap.len() + found.current.start..gap.len() + found.current.end);
            return Some(Hint { shown: format!("{gap}{}", found.text), rest: None });
        }
        let (own, _) = without_prompts(&self.session.borrow(), line);
        if let Some(open) = still_open(&own).filter(|open| open.len() + gap.len() < columns) {
            return Some(Hint { shown: format!("{gap}{open}"), rest: None });
        }
        if !self.paint.enabled() || browsing || line.chars().count() < SHORTEST_BEGINNING || line.contains('\n') {
            return None;
        }
        let start = history.len().checked_sub(1)?;
        let found = history.starts_with(line, start, SearchDirection::Reverse).ok().flatten()?;
        let rest = found.entry.get(line.len()..).filter(|rest| !rest.is_empty())?.to_string();
        let shown = cut(rest.lines().next().unwrap_or(""), columns, rest.contains('\n'));
        Some(Hint { shown, rest: Some(rest) })
    }
}

impl Typing {
    /// Columns between the cursor, at the end of the text, and the terminal's right edge.
    fn columns_left(&self, line: &str) -> usize {
        let last = line.rsplit('\n').next().unwrap_or(line);
        let indent = if line.contains('\n') { 0 } else { self.indent };
        let all = width();
        // The last column stays free: a text that fills it moves the cursor to the next line.
        (all - (indent + wide(last)) % all).saturating_sub(1)
    }
}

/// The beginning of a text that fits, with a sign if something is left out.
fn cut(text: &str, columns: usize, more: bool) -> String {
    if wide(text) < columns && !more {
        return text.into();
    }
    let mut shown = String::new();
    for c in text.chars() {
        if wide(&shown) + 2 >= columns {
            break;
        }
        shown.push(c);
    }
    shown + "…"
}

impl Highlighter for Typing {
    fn highlight<'l>(&self, line: &'l str, at: usize) -> Cow<'l, str> {
        if !self.paint.enabled() {
            return Cow::Borrowed(line);
        }
        Cow::Owned(coloured(line, (!self.done.get()).then_some(at), self.paint))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if !self.paint.enabled() {
            return Cow::Borrowed(hint);
        }
        let current = self.current.borrow().clone();
        match (hint.get(..current.start), hint.get(current.clone()), hint.get(current.end..)) {
            (Some(before), Some(current), Some(after)) if !current.is_empty() => Cow::Owned(format!(
                "{}{}{}",
                self.paint.faint(before),
                self.paint.current(current),
                self.paint.faint(after)
            )),
            _ => Cow::Owned(self.paint.faint(hint)),
        }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.done.set(kind == CmdKind::ForcedRefresh);
        self.paint.enabled()
    }
}

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let session = self.session.borrow();
        let (text, _) = without_prompts(&session, context.input());
        let text = &*text;
        let unfinished = match session.compile("prompt", text) {
            Err(diagnostic) => {
                let command = asked(text).is_some() || shell_command(&session, text).is_some();
                diagnostic.incomplete && !command && !ended_by_hand(text) && !mismatched(text)
            }
            Ok(_) => !ended_by_hand(text) && describes_what_follows(text),
        };
        *self.open.borrow_mut() = if unfinished { text.to_string() } else { String::new() };
        Ok(if unfinished { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

#[cfg(test)]
mod tests {
    use super::mismatched;

    #[test]
    fn a_bracket_of_another_kind_ends_a_statement() {
        for wrong in ["data::glyphs(#{n: 5)", "[1, 2)", "f({ x ]", "(\"}\" }"] {
            assert!(mismatched(wrong), "{wrong}");
        }
        for open in ["f(#{ a: [1, 2], b: \")\" }", "f(", "let a = #{ x: 1,", "// )\n(", ")"] {
            assert!(!mismatched(open), "{open}");
        }
    }
}
