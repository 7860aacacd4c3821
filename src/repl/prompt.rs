//! What the prompt holds from line to line, and how it answers one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::commands::{asked, shell_command};
use super::saved::{self, SessionLine};
use super::typing::describes_what_follows;
use crate::core::permissions::resolve;
use crate::core::{Cx, Error, Journal, Value, below_home, visible};
use crate::sandbox::Sandbox;
use crate::script::{Diagnostic, KeptResult, Session, error_map};
use crate::term::{
    Leaving, Paint, Screen, TerminalMode, context, default_device, duration, leave_at_once, stop_on_signals,
};

/// SIGINT.
const INTERRUPT: i32 = 2;

/// What takes longer tells how long it took.
const LONG: Duration = Duration::from_secs(1);

/// Results that keep a name of their own.
const RESULTS: usize = 5;

/// Bytes that the tensors in them may take together.
const ROOM: usize = 256 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Goes on.
    Line,
    /// What is left of a pasted text is dropped.
    Stop,
    /// Ends the prompt.
    Leave,
}

pub struct Prompt {
    pub session: Rc<RefCell<Session>>,
    pub cx: Rc<Cx>,
    /// Whether a line is waited for, so that a signal has nothing to stop.
    pub idle: Arc<AtomicBool>,
    pub leaving: Leaving,
    /// How the terminal was set at the start.
    pub mode: TerminalMode,
    pub screen: Rc<Screen>,
    /// Lines so far, for `:save`.
    pub lines: Vec<SessionLine>,
    /// The seed at the start.
    pub seed: u64,
    /// What scripts may do.
    pub sandbox: Sandbox,
    /// While this is set, scripts print nothing.
    pub muted: Rc<Cell<bool>>,
    /// What `:load` read last, for `:reload`.
    pub loaded: Option<PathBuf>,
    /// The folder where viva was started, without links: what scripts may read and write goes by it.
    pub home: PathBuf,
    /// The last results that were shown, oldest first.
    pub results: VecDeque<ShownResult>,
    pub interactive: bool,
    pub failed: bool,
    inputs: usize,
    /// Results shown so far.
    shown: usize,
}

/// A result that keeps a name of its own.
pub struct ShownResult {
    pub name: String,
    /// What it is of.
    pub text: String,
    kept: KeptResult,
}

impl Prompt {
    pub fn new(sandbox: Sandbox) -> Self {
        let mut cx = context();
        sandbox.apply(&mut cx);
        cx.set_device(default_device());
        let muted = Rc::new(Cell::new(false));
        let quiet = muted.clone();
        cx.set_output(Box::new(move |text| {
            if !quiet.get() {
                println!("{text}");
            }
        }));
        let screen = Rc::new(Screen::new());
        let display = screen.clone();
        cx.set_display(Box::new(move |value, _| display.shown(value)));
        cx.set_journal(Journal::in_memory());
        let cx = Rc::new(cx);
        let idle = Arc::new(AtomicBool::new(false));
        let (waiting, terminal) = (idle.clone(), TerminalMode::now());
        let mode = terminal.clone();
        let leaving = stop_on_signals(&cx, move |signal| {
            if !waiting.load(Ordering::SeqCst) {
                return false;
            }
            if signal == INTERRUPT {
                // Only where the terminal is too simple for the line editor, which else sees the key itself.
                eprintln!("\nan empty line ends an unfinished statement; Ctrl-D leaves");
                return true;
            }
            terminal.restore();
            leave_at_once(128 + signal)
        });
        Self {
            session: Rc::new(RefCell::new(Session::new(cx.clone()))),
            seed: cx.seed(),
            cx,
            sandbox,
            idle,
            mode,
            leaving,
            screen,
            lines: Vec::new(),
            muted,
            loaded: None,
            home: std::env::current_dir().map(|folder| resolve(&folder)).unwrap_or_default(),
            results: VecDeque::new(),
            interactive: std::io::stdin().is_terminal(),
            failed: false,
            inputs: 0,
            shown: 0,
        }
    }

    /// Runs the start-up file, if there is one.
    pub fn start_up(&mut self) {
        let Some(file) = start_up_file().filter(|file| file.is_file()) else { return };
        match std::fs::read_to_string(&file) {
            Ok(text) => drop(self.run(&file.display().to_string(), &text, false)),
            Err(error) => self.complain(&Error::file(&file, error)),
        }
        // What goes wrong in it is shown, and the session is none the worse.
        self.failed = false;
    }

    /// What was typed or pasted, cut where a line ends a statement, so that a pasted session runs as if typed line by line.
    pub fn pieces(&self, text: &str) -> Vec<String> {
        let session = self.session.borrow();
        let mut found = Vec::new();
        let mut open = String::new();
        for line in text.lines() {
            let whole =
                open.is_empty() && (asked(line.trim()).is_some() || shell_command(&session, line.trim()).is_some());
            open += line;
            open.push('\n');
            let ended = || session.compile("prompt", &open).err().is_none_or(|diagnostic| !diagnostic.incomplete);
            if whole || !describes_what_follows(&open) && ended() {
                found.push(std::mem::take(&mut open));
            }
        }
        if !open.trim().is_empty() {
            found.push(open);
        }
        found
    }

    /// Runs what was typed, one statement after the other, and shows the last one's value unless it ends with a semicolon.
    pub fn evaluate(&mut self, text: &str) -> Next {
        let statements = saved::statements(&self.session.borrow(), text);
        let last = statements.len() - 1;
        let start = Instant::now();
        let mut next = Next::Line;
        for (i, statement) in statements.into_iter().enumerate() {
            self.inputs += 1;
            let source = format!("input {}", self.inputs);
            if !self.run(&source, statement, i == last) {
                next = Next::Stop;
                break;
            }
        }
        let took = start.elapsed();
        if took >= LONG && self.interactive {
            println!("{}", self.screen.paint().dim(&format!("took {}", duration(took))));
        }
        next
    }

    /// Runs a text and says whether it went well.
    pub fn run(&mut self, source: &str, text: &str, show: bool) -> bool {
        let outcome = self.session.borrow_mut().evaluate(source, text);
        match (&outcome, self.cx.journal()) {
            (Err(_), Some(journal)) => journal.rewind(),
            (Ok(_), Some(journal)) => {
                journal.forget();
                self.cx.take_partial();
            }
            (_, None) => {}
        }
        let mut line = SessionLine { source: source.into(), text: text.trim().into(), ..SessionLine::default() };
        match outcome {
            Ok(value) => {
                line.shown = show && !matches!(value, Value::Unit) && !saved::ends_quietly(text);
                if line.shown {
                    println!("{}", self.screen.answer(&value).trim_end_matches('\n'));
                    self.session.borrow_mut().name_answer("ans");
                    self.shown += 1;
                    line.result = Some(self.shown);
                    self.keep_result(text);
                }
            }
            Err(diagnostic) => {
                line.altered = self.session.borrow().altered().to_vec();
                line.error = Some((diagnostic.kind.into(), diagnostic.message.clone(), diagnostic.hint.clone()));
                self.explain(&diagnostic);
                if let Some(partial) = self.cx.take_partial() {
                    if diagnostic.is_interruption() {
                        eprintln!("what was done is in `partial`: {}", visible(&partial.summary()));
                    }
                    self.session.borrow_mut().set("partial", partial);
                }
            }
        }
        let well = line.error.is_none();
        self.lines.push(line);
        well
    }

    /// Gives the newest result a name of its own, and lets go of older ones.
    fn keep_result(&mut self, text: &str) {
        let mut session = self.session.borrow_mut();
        let name = format!("ans{}", self.shown);
        if let Some(kept) = session.keep_result("ans", &name) {
            self.results.push_back(ShownResult { name, text: text.trim().into(), kept });
        }
        let room = |results: &VecDeque<ShownResult>| results.iter().map(|result| result.kept.bytes).sum::<usize>();
        while self.results.len() > RESULTS || self.results.len() > 1 && room(&self.results) > ROOM {
            if let Some(oldest) = self.results.pop_front() {
                session.forget_result(&oldest.name, &oldest.kept);
            }
        }
    }

    pub fn forget_results(&mut self) {
        for result in self.results.drain(..) {
            self.session.borrow_mut().forget_result(&result.name, &result.kept);
        }
    }

    /// Waits for a line with `read`. A signal stops the whole of the line that was read: between two of its statements, too.
    pub fn waiting<T>(&mut self, read: impl FnOnce() -> T) -> T {
        let stop = self.cx.stop_flag();
        // In this order no signal is missed: from here on one ends the process by itself.
        self.idle.store(true, Ordering::SeqCst);
        stop.store(false, Ordering::SeqCst);
        if let Some(signal) = self.leaving.signal() {
            std::process::exit(128 + signal);
        }
        let line = read();
        stop.store(false, Ordering::SeqCst);
        self.idle.store(false, Ordering::SeqCst);
        line
    }

    /// Shows what went wrong and keeps it as `err`.
    pub fn explain(&mut self, diagnostic: &Diagnostic) {
        self.failed = true;
        if diagnostic.is_interruption() {
            // Whoever stopped it knows where.
            eprintln!("stopped");
        } else {
            eprint!("{}", diagnostic.render(Paint::of(&std::io::stderr()).enabled()));
        }
        let error = error_map(diagnostic.kind, &diagnostic.message, diagnostic.hint.as_deref());
        self.session.borrow_mut().set("err", error);
    }

    pub fn complain(&mut self, error: &Error) {
        self.failed = true;
        eprint!("{}", Diagnostic::plain(error).render(Paint::of(&std::io::stderr()).enabled()));
    }
}

/// `~/.config/viva/init.rhai`
pub fn start_up_file() -> Option<PathBuf> {
    Some(below_home("XDG_CONFIG_HOME", ".config")?.join("init.rhai"))
}
