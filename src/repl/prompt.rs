//! The dialogue of the prompt: shown on the terminal, stopped by its signals.

use std::cell::Cell;
use std::io::IsTerminal;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::pager::paged;
use crate::core::{Cx, Error, Result, Value, suggestion};
use crate::dialogue::{Dialogue, Output};
use crate::sandbox::Sandbox;
use crate::script::Diagnostic;
use crate::term::{
    CHOICES, GraphicsProtocol, Leaving, Paint, Screen, TerminalMode, context, leave, leave_at_once, stop_on_signals,
};

/// SIGINT.
const INTERRUPT: i32 = 2;

pub struct Prompt {
    pub dialogue: Dialogue,
    /// Whether a line is waited for, so that a signal has nothing to stop.
    idle: Arc<AtomicBool>,
    leaving: Leaving,
    /// How the terminal was set at the start.
    pub mode: TerminalMode,
}

/// What comes of a line on standard output and standard error.
#[derive(Default)]
struct Terminal {
    screen: Rc<Screen>,
    /// While this is set, scripts print nothing.
    muted: Rc<Cell<bool>>,
}

impl Output for Terminal {
    fn context(&self) -> Cx {
        let mut cx = context();
        let quiet = self.muted.clone();
        cx.set_output(Box::new(move |text| {
            if !quiet.get() {
                println!("{text}");
            }
        }));
        let display = self.screen.clone();
        cx.set_display(Box::new(move |value, _| display.shown(value)));
        cx
    }

    fn mute(&self, muted: bool) {
        self.muted.set(muted);
    }

    fn print(&self, text: &str) {
        println!("{text}");
    }

    fn read(&self, text: &str) {
        paged(text, std::io::stdin().is_terminal());
    }

    fn remark(&self, text: &str) {
        eprintln!("{text}");
    }

    fn answer(&self, value: &Value) {
        println!("{}", self.screen.answer(value).trim_end_matches('\n'));
    }

    fn result(&self, value: &Value) {
        println!("{}", self.screen.shown(value).trim_end_matches('\n'));
    }

    fn failed(&self, diagnostic: &Diagnostic) {
        if diagnostic.is_interruption() {
            // Whoever stopped it knows where.
            eprintln!("stopped");
        } else {
            eprint!("{}", diagnostic.render(Paint::of(&std::io::stderr()).enabled()));
        }
    }

    fn paint(&self) -> Paint {
        self.screen.paint()
    }

    fn images(&self, how: Option<&str>) -> Result<String> {
        if let Some(how) = how {
            let chosen = GraphicsProtocol::chosen(how).ok_or_else(|| {
                Error::argument(format!(":images does not know {how:?}")).hint(suggestion(how, CHOICES))
            })?;
            self.screen.set_images(chosen);
        }
        Ok(self.screen.images().name().into())
    }
}

impl Prompt {
    pub fn new(sandbox: Sandbox) -> Self {
        let mut dialogue = Dialogue::new(sandbox, Rc::new(Terminal::default()));
        dialogue.interactive = std::io::stdin().is_terminal();
        let idle = Arc::new(AtomicBool::new(false));
        let (waiting, terminal) = (idle.clone(), TerminalMode::now());
        let mode = terminal.clone();
        let leaving = stop_on_signals(&dialogue.cx, move |signal| {
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
        Self { dialogue, idle, mode, leaving }
    }

    /// Waits for a line with `read`. A signal stops the whole of the line that was read: between two of its statements, too.
    pub fn waiting<T>(&mut self, read: impl FnOnce() -> T) -> T {
        let stop = self.dialogue.cx.stop_flag();
        // In this order no signal is missed: from here on one ends the process by itself.
        self.idle.store(true, Ordering::SeqCst);
        stop.store(false, Ordering::SeqCst);
        if let Some(signal) = self.leaving.signal() {
            leave(128 + signal);
        }
        let line = read();
        stop.store(false, Ordering::SeqCst);
        self.idle.store(false, Ordering::SeqCst);
        line
    }
}
