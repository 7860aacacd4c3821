//! What a dialogue says while a cell runs, as a notebook keeps it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::shown::{Bundle, WIDTH, answered, detailed, shown};
use crate::core::{Cx, Error, Progress, Result, Value};
use crate::dialogue::Output;
use crate::script::Diagnostic;
use crate::term::Paint;

/// One thing that is told.
pub enum Told {
    Text {
        /// Whether it stands beside the results, as a warning does.
        aside: bool,
        text: String,
    },
    Shown(Bundle),
    Result(Bundle),
    Failed {
        kind: String,
        message: String,
        /// As it is shown, with its colours.
        lines: Vec<String>,
    },
}

type Tell = Rc<dyn Fn(Told)>;

/// The text of a value on its way to where it is printed, and what is shown in its place.
type Open = (String, Vec<Bundle>);

/// A cell of a notebook.
pub struct CellOutput {
    tell: Tell,
    /// Who shows the progress of calls.
    progress: Box<dyn Fn() -> Box<dyn Progress>>,
    muted: Rc<Cell<bool>>,
    /// Draws moving pictures, and stops when the calls of the cell do.
    drawing: Cx,
}

impl CellOutput {
    pub fn new(tell: impl Fn(Told) + 'static, progress: impl Fn() -> Box<dyn Progress> + 'static) -> Self {
        Self { tell: Rc::new(tell), progress: Box::new(progress), muted: Rc::default(), drawing: Cx::default() }
    }

    fn text(&self, aside: bool, text: &str) {
        (self.tell)(Told::Text { aside, text: format!("{text}\n") });
    }
}

impl Output for CellOutput {
    fn context(&self) -> Cx {
        let mut cx = Cx::new(Box::new(Saying { calls: (self.progress)(), tell: self.tell.clone() }));
        cx.set_width(WIDTH);
        cx.stop_with(&self.drawing);
        // What `show` makes of a value goes by as text, and is told as more than text when it comes out.
        let open: Rc<RefCell<Option<Open>>> = Rc::default();
        let (muted, showing, mut drawing) = (self.muted.clone(), open.clone(), Cx::default());
        drawing.stop_with(&self.drawing);
        cx.set_display(Box::new(move |value, _| {
            let said = detailed(value);
            if !muted.get() {
                let (mut all, own) = shown(&drawing, value, &said);
                all.push(own);
                let rich = all.len() > 1 || all.iter().any(|bundle| bundle.data.len() > 1);
                showing.replace(rich.then(|| (said.0.clone(), all)));
            }
            said.0
        }));
        let (muted, tell) = (self.muted.clone(), self.tell.clone());
        cx.set_output(Box::new(move |text| {
            if muted.get() {
                return;
            }
            match open.take() {
                Some((plain, all)) if plain == text => all.into_iter().for_each(|bundle| tell(Told::Shown(bundle))),
                _ => tell(Told::Text { aside: false, text: format!("{text}\n") }),
            }
        }));
        cx
    }

    fn mute(&self, muted: bool) {
        self.muted.set(muted);
    }

    fn print(&self, text: &str) {
        self.text(false, text);
    }

    fn remark(&self, text: &str) {
        self.text(true, text);
    }

    fn answer(&self, value: &Value) {
        let (pictures, own) = shown(&self.drawing, value, &answered(value));
        pictures.into_iter().for_each(|bundle| (self.tell)(Told::Shown(bundle)));
        (self.tell)(Told::Result(own));
    }

    fn result(&self, value: &Value) {
        let (pictures, own) = shown(&self.drawing, value, &detailed(value));
        pictures.into_iter().chain([own]).for_each(|bundle| (self.tell)(Told::Shown(bundle)));
    }

    fn failed(&self, diagnostic: &Diagnostic) {
        let (message, text) = match diagnostic.is_interruption() {
            true => ("stopped".into(), "stopped".into()),
            false => (diagnostic.message.clone(), diagnostic.render(true)),
        };
        let lines = text.trim_end_matches('\n').lines().map(String::from).collect();
        (self.tell)(Told::Failed { kind: diagnostic.kind.into(), message, lines });
    }

    fn paint(&self) -> Paint {
        Paint::new(true)
    }

    fn images(&self, how: Option<&str>) -> Result<String> {
        match how {
            None => Ok("shown in the notebook".into()),
            Some(_) => Err(Error::argument(":images is for terminals; a notebook shows pictures by itself")),
        }
    }
}

/// Progress as `calls` shows it; lines of their own as a cell does.
struct Saying {
    calls: Box<dyn Progress>,
    tell: Tell,
}

impl Progress for Saying {
    fn begin(&self, label: &str, total: Option<u64>) {
        self.calls.begin(label, total);
    }

    fn advance(&self, steps: u64) {
        self.calls.advance(steps);
    }

    fn found_done(&self, steps: u64) {
        self.calls.found_done(steps);
    }

    fn note(&self, text: &str) {
        self.calls.note(text);
    }

    fn say(&self, text: &str) {
        let text = match text.strip_prefix("warning:") {
            Some(rest) => format!("{}{rest}", Paint::new(true).warning("warning:")),
            None => text.into(),
        };
        (self.tell)(Told::Text { aside: true, text: format!("{text}\n") });
    }

    fn finish(&self) {
        self.calls.finish();
    }
}
