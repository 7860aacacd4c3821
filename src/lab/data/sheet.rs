//! CSV tables whose first line names the columns, read strictly (RFC 4180): rows are as long as the head, and quotes are closed.

use std::path::Path;

use csv::{Reader, ReaderBuilder, StringRecord, Trim};

use crate::core::{Budget, Cx, Error, Result};

/// Files up to this many bytes are read.
const LARGEST: u64 = 64 << 20;

/// What a table may take, however large its file.
const MOST: u64 = 2 << 30;

/// Columns of a table, at most.
const MOST_COLUMNS: usize = 1 << 20;

/// The bytes of a file that is to be a table, and what reading it may take.
pub fn bytes<'a>(cx: &'a Cx, path: &Path) -> Result<(Vec<u8>, Budget<'a>)> {
    let budget = Budget::of(cx, path, Budget::TEXT)?.at_most(MOST);
    if budget.size() > LARGEST {
        return Err(Error::file(path, format!("{} bytes are too many to hold as a table", budget.size())));
    }
    Ok((budget.file(path)?, budget))
}

pub struct Sheet<'a> {
    path: &'a Path,
    budget: &'a Budget<'a>,
    pub head: Vec<String>,
    text: &'a [u8],
    reader: Reader<&'a [u8]>,
}

impl<'a> Sheet<'a> {
    /// `bytes` are those of the file at `path`.
    pub fn new(path: &'a Path, bytes: &'a [u8], budget: &'a Budget<'a>) -> Result<Self> {
        // Spreadsheets put a mark before the first name.
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if let Some(line) = unclosed_quote(text) {
            return Err(Error::file(path, format!("line {line}: a quote is opened and not closed"))
                .hint("fields with commas stand in quotes, \"like, this\"; a quote inside of them is written twice"));
        }
        budget.check()?;
        if let Some(columns) = widest(text).filter(|&columns| columns > MOST_COLUMNS) {
            return Err(Error::file(path, format!("a row of {columns} columns, {MOST_COLUMNS} at most are read")));
        }
        let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text);
        let head: Vec<String> = reader.headers().map_err(|e| unfit(path, &e))?.iter().map(String::from).collect();
        if let [only] = &head[..]
            && let Some(sign) = [';', '\t'].into_iter().find(|sign| only.contains(*sign))
        {
            return Err(Error::file(path, format!("its columns are set apart by {sign:?}, not by commas"))
                .hint("save it with commas: of pandas, `table.to_csv(path)`"));
        }
        if head.iter().all(String::is_empty) {
            return Err(Error::file(
                path,
                "its first line names no columns: the file is empty, or begins with an empty line",
            ));
        }
        budget.items::<String>(4 * head.len(), "its first line").map_err(|e| e.at(path))?;
        Ok(Self { path, budget, head, text, reader })
    }

    /// The first column with one of these names, in any case.
    pub fn column(&self, wanted: &[&str]) -> Option<usize> {
        wanted.iter().find_map(|wanted| self.head.iter().position(|name| name.eq_ignore_ascii_case(wanted)))
    }

    /// The same, and refuses two that are called so.
    pub fn sole_column(&self, wanted: &[&str]) -> Result<Option<usize>> {
        let Some(place) = self.column(wanted) else { return Ok(None) };
        let name = &self.head[place];
        match self.head.iter().skip(place + 1).any(|other| other.eq_ignore_ascii_case(name)) {
            true => Err(Error::file(self.path, format!("two columns are called `{name}`"))),
            false => Ok(Some(place)),
        }
    }

    /// All columns with one of these names, in any case.
    pub fn all_of(&self, wanted: &[&str]) -> Vec<usize> {
        let is_wanted = |name: &str| wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted));
        (0..self.head.len()).filter(|&place| is_wanted(&self.head[place])).collect()
    }

    /// Each row with the line it begins in; stops when the user asks for it.
    pub fn rows(mut self) -> impl Iterator<Item = Result<(u64, StringRecord)>> + 'a {
        let (path, text) = (self.path, self.text);
        // The reader stands between the two letters that end a line in files of Windows.
        let line = move |at: &csv::Position| {
            let ends = text.iter().skip(at.byte() as usize).take_while(|byte| b"\r\n".contains(byte));
            at.line() + ends.filter(|byte| **byte == b'\n').count() as u64
        };
        let mut row = StringRecord::new();
        std::iter::from_fn(move || {
            if let Err(stopped) = self.budget.step() {
                return Some(Err(stopped));
            }
            match self.reader.read_record(&mut row) {
                Ok(false) => None,
                Ok(true) => Some(Ok((row.position().map_or(0, line), row.clone()))),
                Err(error) => Some(Err(match error.kind() {
                    csv::ErrorKind::UnequalLengths { pos: Some(at), expected_len, len } => {
                        Error::file(path, format!("line {}: {len} fields, {expected_len} in the first line", line(at)))
                            .hint(COMMAS)
                    }
                    _ => unfit(path, &error),
                })),
            }
        })
    }
}

fn unfit(path: &Path, error: &csv::Error) -> Error {
    Error::file(path, error.to_string()).hint(COMMAS)
}

const COMMAS: &str =
    "the file must be UTF-8 text with commas, as many in every line as in the first, which names the columns";

/// The most fields between two ends of lines; those in quotes count too.
fn widest(text: &[u8]) -> Option<usize> {
    let commas = |line: &[u8]| line.iter().filter(|&&byte| byte == b',').count() + 1;
    text.split(|&byte| byte == b'\n' || byte == b'\r').map(commas).max()
}

/// The line where a quote is opened that is never closed, or closed where neither a comma nor a line's end follows: by the
/// opening quote of a later field. The crate `csv` takes such files as they come.
pub fn unclosed_quote(text: &[u8]) -> Option<u64> {
    #[derive(PartialEq)]
    enum At {
        Start,
        Plain,
        Quoted,
        /// Behind a quote that may have been the last of its field.
        Closed,
        /// Behind blanks that follow one.
        Behind,
    }
    let (mut at, mut line, mut opened) = (At::Start, 1, 1);
    for &byte in text {
        at = match (at, byte) {
            (At::Start, b'"') => {
                opened = line;
                At::Quoted
            }
            (At::Quoted, b'"') => At::Closed,
            (At::Quoted, _) => At::Quoted,
            (At::Closed, b'"') => At::Quoted,
            (_, b',' | b'\n' | b'\r') => At::Start,
            (At::Closed | At::Behind, b' ' | b'\t') => At::Behind,
            (At::Closed | At::Behind, _) => return Some(opened),
            (At::Start | At::Plain, _) => At::Plain,
        };
        line += u64::from(byte == b'\n');
    }
    (at == At::Quoted).then_some(opened)
}
