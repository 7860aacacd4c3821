//! A text in an editor: places as editors count them, lines from 0 and columns in UTF-16, and the addresses of files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value as Json, json};

/// What stands for itself in the address of a file.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub fn path_of(address: &str) -> Option<PathBuf> {
    let path = address.strip_prefix("file://")?;
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    Some(PathBuf::from(decoded.into_owned()))
}

pub fn address_of(path: &Path) -> String {
    format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), PLAIN))
}

/// The byte at a place; the end of its line, or of the text, if that is shorter.
pub fn byte(text: &str, position: &Json) -> usize {
    let number = |name: &str| position[name].as_u64().unwrap_or(0) as usize;
    let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
    let line = text[start..].split(['\n', '\r']).next().unwrap_or("");
    let mut units = number("character");
    let mut at = 0;
    for c in line.chars() {
        if units < c.len_utf16() {
            break;
        }
        units -= c.len_utf16();
        at += c.len_utf8();
    }
    start + at
}

pub fn position(text: &str, byte: usize) -> Json {
    let byte = crate::assist::floor(text, byte);
    let start = text[..byte].rfind('\n').map_or(0, |newline| newline + 1);
    json!({
        "line": text[..byte].matches('\n').count(),
        "character": text[start..byte].encode_utf16().count(),
    })
}

pub fn range(text: &str, bytes: Range<usize>) -> Json {
    json!({ "start": position(text, bytes.start), "end": position(text, bytes.end) })
}

/// The byte of a line and a column in characters, both counted from 1.
pub fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text[start..].lines().next().unwrap_or("");
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_utf_16() {
        let text = "let a = \"😀é\";\r\nx";
        for (at, line, character) in [(0, 0, 0), (9, 0, 9), (13, 0, 11), (15, 0, 12), (19, 1, 0), (20, 1, 1)] {
            assert_eq!(position(text, at), json!({ "line": line, "character": character }));
            assert_eq!(byte(text, &json!({ "line": line, "character": character })), at);
        }
        // Inside a pair, behind the end of a line, and behind the end of the text.
        assert_eq!(byte(text, &json!({ "line": 0, "character": 10 })), 9);
        assert_eq!(byte(text, &json!({ "line": 0, "character": 99 })), 17);
        assert_eq!(byte(text, &json!({ "line": 9, "character": 9 })), 20);
    }

    #[test]
    fn addresses_and_paths_are_each_others() {
        let path = Path::new("/a b/ä#?%.rhai");
        assert_eq!(address_of(path), "file:///a%20b/%C3%A4%23%3F%25.rhai");
        assert_eq!(path_of(&address_of(path)).as_deref(), Some(path));
        assert_eq!(path_of("untitled:Untitled-1"), None);
    }
}
