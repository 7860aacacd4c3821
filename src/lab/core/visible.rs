//! Text that a terminal shows and does not obey.

use std::borrow::Cow;

/// Text of anybody's making with its control characters made visible: ESC as ␛, a C1 control or what turns the direction of writing round as
/// `\u{9b}`. Lines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (at, letter) in text.char_indices() {
        match letter {
            '\r' if text[at..].starts_with("\r\n") => {}
            letter if !obeyed(letter) => shown.push(letter),
            // Unicode has pictures of the first 32 and of DEL.
            '\0'..='\u{7f}' => shown.push(picture(letter)),
            _ => shown.extend(letter.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// The same letter by letter, for text that places point into.
pub fn visible_letters(text: &str) -> Cow<'_, str> {
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let ends = |at: usize| text[at..].starts_with("\r\n");
    Cow::Owned(text.char_indices().map(|(at, letter)| if ends(at) { letter } else { picture(letter) }).collect())
}

/// The same in a text of JSON, in which such letters are part of strings: escaped, so that what is read back is the same.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match obeyed(letter) {
            true => shown += &format!("\\u{:04x}", letter as u32),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// What stands for a letter that a terminal would obey, where there is room for one.
pub fn picture(letter: char) -> char {
    match letter {
        letter if !obeyed(letter) => letter,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + letter as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        _ => '\u{fffd}',
    }
}

fn obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        letter => letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        for (text, shown) in [
            ("a\nb\tc é 漢 👍", "a\nb\tc é 漢 👍"),
            ("a\r\nb", "a\nb"),
            ("good\rbad", "good␍bad"),
            ("\u{1b}[31mred\u{7}", "␛[31mred␇"),
            ("\u{1b}]52;c;aGk=\u{1b}\\", "␛]52;c;aGk=␛\\"),
            ("\u{9b}2J\u{7f}\0", "\\u{9b}2J␡␀"),
            ("\u{202e}abc\u{2066}", "\\u{202e}abc\\u{2066}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
    #[test]
    fn json_shows_it_and_reads_back() {
        let value = serde_json::json!({ "a\u{9b}2J": "x\u{7f}\u{202e}\u{1b}[31m\ny" });
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let shown = visible_json(&text);
        assert!(!shown.contains(obeyed));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }
}
