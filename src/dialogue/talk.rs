//! What a dialogue holds from line to line, and how it answers one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::output::Output;
use super::saved::{self, SessionLine};
use crate::core::permissions::resolve;
use crate::core::{Cx, Error, Journal, Value, below_home, give_back_memory, visible};
use crate::sandbox::Sandbox;
use crate::script::{Diagnostic, KeptResult, Session, error_map};
use crate::term::{choose_device, duration, tell_of_libtorch};

/// Calls that keep what they have done, batch by batch.
const EXAMINES: [&str; 3] = ["examine(", "tolerance::measure(", "tolerance::audit("];

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
    /// What is left of a pasted text or a cell is dropped.
    Stop,
    /// Ends the dialogue.
    Leave,
}

pub struct Dialogue {
    pub session: Rc<RefCell<Session>>,
    pub cx: Rc<Cx>,
    pub output: Rc<dyn Output>,
    /// Lines so far, for `:save`.
    pub lines: Vec<SessionLine>,
    /// The seed and the threads at the start.
    pub seed: u64,
    pub threads: i32,
    /// What scripts may do.
    pub sandbox: Sandbox,
    /// What `:load` read last, for `:reload`.
    pub loaded: Option<PathBuf>,
    /// The folder where viva was started, without links: what scripts may read and write goes by it.
    pub home: PathBuf,
    /// The last results that were shown, oldest first.
    pub results: VecDeque<ShownResult>,
    /// Whether a person sits at a terminal.
    pub interactive: bool,
    pub failed: bool,
    /// Whether `partial` holds what a line had done.
    has_partial: bool,
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

impl Dialogue {
    pub fn new(sandbox: Sandbox, output: Rc<dyn Output>) -> Self {
        let mut cx = output.context();
        sandbox.apply(&mut cx);
        choose_device(&mut cx);
        tell_of_libtorch(&cx);
        cx.set_journal(Journal::in_memory());
        let cx = Rc::new(cx);
        Self {
            session: Rc::new(RefCell::new(Session::new(cx.clone()))),
            seed: cx.seed(),
            threads: tch::get_num_threads(),
            cx,
            output,
            sandbox,
            lines: Vec::new(),
            loaded: None,
            home: std::env::current_dir().map(|folder| resolve(&folder)).unwrap_or_default(),
            results: VecDeque::new(),
            interactive: false,
            failed: false,
            has_partial: false,
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
            self.output.print(&self.output.paint().dim(&format!("took {}", duration(took))));
        }
        next
    }

    /// Runs a text and says whether it went well.
    pub fn run(&mut self, source: &str, text: &str, show: bool) -> bool {
        let outcome = self.session.borrow_mut().evaluate(source, text);
        give_back_memory();
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
                    self.output.answer(&value);
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
                match self.cx.take_partial() {
                    Some(partial) => {
                        if diagnostic.is_interruption() {
                            let summary = partial.summary();
                            self.output.remark(&format!("what was done is in `partial`: {}", visible(&summary)));
                        }
                        self.session.borrow_mut().set("partial", partial);
                        self.has_partial = true;
                    }
                    // What an earlier line had done is not of this one.
                    None if diagnostic.is_interruption() && self.has_partial => {
                        self.output.remark("nothing was done that could be kept: `partial` is of an earlier line");
                    }
                    None if diagnostic.is_interruption() && EXAMINES.iter().any(|call| text.contains(call)) => {
                        self.output
                            .remark("nothing was done that could be kept: with a smaller `batch` something is, sooner");
                    }
                    None => {}
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

    /// Shows what went wrong and keeps it as `err`.
    pub fn explain(&mut self, diagnostic: &Diagnostic) {
        self.failed = true;
        self.output.failed(diagnostic);
        let error = error_map(diagnostic.kind, &diagnostic.message, diagnostic.hint.as_deref());
        self.session.borrow_mut().set("err", error);
    }

    pub fn complain(&mut self, error: &Error) {
        self.failed = true;
        self.output.failed(&Diagnostic::plain(error));
    }
}

/// `~/.config/viva/init.rhai`
pub fn start_up_file() -> Option<PathBuf> {
    Some(below_home("XDG_CONFIG_HOME", ".config")?.join("init.rhai"))
}
