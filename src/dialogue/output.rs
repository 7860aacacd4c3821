//! Where a dialogue shows what comes of a line.

use crate::core::{Cx, Result, Value};
use crate::script::Diagnostic;
use crate::term::Paint;

pub trait Output {
    /// A context whose progress, warnings and prints are shown here; unless `muted` says otherwise at the time.
    fn context(&self) -> Cx;

    /// Whether scripts print nothing for a while.
    fn mute(&self, muted: bool);

    /// Lines of text.
    fn print(&self, text: &str);

    /// A long text to be read, a screenful at a time where there is a terminal.
    fn read(&self, text: &str) {
        self.print(text.trim_end_matches('\n'));
    }

    /// A line beside the results, such as a warning.
    fn remark(&self, text: &str);

    /// The value of a line.
    fn answer(&self, value: &Value);

    /// The result of a script that was run by itself.
    fn result(&self, value: &Value);

    /// What went wrong.
    fn failed(&self, diagnostic: &Diagnostic);

    fn paint(&self) -> Paint;

    /// Says how pictures are shown, and sets it first where a way is named.
    fn images(&self, how: Option<&str>) -> Result<String>;
}
