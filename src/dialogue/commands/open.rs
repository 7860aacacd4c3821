use std::io::Write;
use std::process::{Command as Program, Stdio};

use super::Command;
use crate::core::{Error, Result, below_home};
use crate::dialogue::{Dialogue, Next};
use crate::plot::Figure;

pub static OPEN: Command = Command {
    name: "open",
    arguments: "[NAME]",
    help: "Writes a figure, `ans` or a variable, for a browser and says where; with --allow-run=xdg-open it is opened as well.",
    run,
};

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    let name = if rest.is_empty() { "ans" } else { rest };
    let value = dialogue.session.borrow().variable(name);
    let value = value.ok_or_else(|| {
        Error::argument(format!("there is no variable `{name}`")).hint(":open figure, or :open alone for ans")
    })?;
    let figure = value.downcast::<Figure>().ok_or_else(|| {
        Error::argument(format!("`{name}` is no figure: its kind is {}", value.kind()))
            .hint("plot::... makes figures; ?plot lists them")
    })?;
    let page = page(&figure)?;
    let folder = below_home("XDG_CACHE_HOME", ".cache")
        .ok_or_else(|| {
            Error::argument(":open needs a home folder to write the figure in").hint("save(figure, \"figure.svg\")")
        })?
        .join("figures");
    std::fs::create_dir_all(&folder).map_err(|e| Error::file(&folder, e))?;
    let failed = |error: std::io::Error| Error::file(&folder, error);
    let mut file = tempfile::Builder::new().prefix("figure-").suffix(".html").tempfile_in(&folder).map_err(failed)?;
    file.write_all(page.as_bytes()).map_err(failed)?;
    let (_, path) = file.keep().map_err(|kept| failed(kept.error))?;
    dialogue.output.print(&format!("file://{}", path.display()));
    if dialogue.interactive && dialogue.cx.check_may_start(OPENER).is_ok() {
        let started =
            Program::new(OPENER).arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        // It ends by itself; whoever waits for it can't go on.
        if let Err(error) = started {
            dialogue.output.remark(&format!("{OPENER} did not start: {error}"));
        }
    }
    Ok(Next::Line)
}

/// A page with the figure and nothing else.
fn page(figure: &Figure) -> Result<String> {
    let title = maud::html! { title { @if figure.title.is_empty() { "figure" } @else { (figure.title) } } };
    Ok(format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n{}\n<style>body{{margin:2em}}svg{{max-width:100%;height:auto}}</style>\n{}\n",
        title.into_string(),
        figure.svg()?
    ))
}
