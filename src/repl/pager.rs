//! Long texts at a terminal, a screenful at a time.

use std::io::{IsTerminal, Write};

use crate::core::visible;
use crate::term::height;

/// Prints a text; at a terminal that it does not fit, a screenful at a time, with Enter for more.
pub fn paged(text: &str, interactive: bool) {
    let lines: Vec<&str> = text.trim_end_matches('\n').lines().collect();
    let room = height().saturating_sub(2);
    let whole = !interactive || !std::io::stdout().is_terminal() || room < 4 || lines.len() <= room + 1;
    if whole {
        println!("{}", lines.join("\n"));
        return;
    }
    let mut shown = 0;
    while shown < lines.len() {
        let end = (shown + room).min(lines.len());
        println!("{}", lines[shown..end].join("\n"));
        shown = end;
        if shown == lines.len() || !asks_for_more(lines.len() - shown) {
            return;
        }
    }
}

/// Whether the reader wants the rest.
fn asks_for_more(left: usize) -> bool {
    print!("-- {left} more lines: Enter shows them, q and Enter leaves them -- ");
    let _ = std::io::stdout().flush();
    let Some(answer) = line() else { return false };
    match visible(answer.trim()) {
        empty if empty.is_empty() => true,
        left if left.starts_with('q') => false,
        other => {
            println!("what was typed there is left out: {other}");
            false
        }
    }
}

/// A line of the terminal, and no byte behind it, which the prompt reads itself. None at its end, or for Ctrl-C.
#[cfg(unix)]
fn line() -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut byte = 0u8;
        // SAFETY: one byte is read into a place for one.
        let read = unsafe { libc::read(libc::STDIN_FILENO, (&raw mut byte).cast(), 1) };
        match (read, byte) {
            (1, b'\n') => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            (1, byte) => bytes.push(byte),
            _ => return None,
        }
    }
}

#[cfg(not(unix))]
fn line() -> Option<String> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).ok().filter(|read| *read > 0).map(|_| line)
}
