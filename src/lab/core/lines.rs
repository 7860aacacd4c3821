//! Text in lines of so many columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::number::is_whole_text;
use super::{number, unrounded};

/// Between what a one-line summary says and what must be known of it.
pub const CAUTION: &str = "; caution: ";

/// Columns that a text takes in a terminal.
pub fn columns_of(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text, cut to so many columns with a mark where something is missing.
pub fn cut(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.into();
    }
    let mut used = 1;
    let mut kept = String::new();
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

/// The text, with so many letters at most: where it has more, a mark stands for those in the middle.
pub(super) fn cut_inside(text: &str, letters: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= letters {
        return text.into();
    }
    let before = letters / 2;
    let after = all.len() - (letters - 1 - before);
    all[..before].iter().chain(&['…']).chain(&all[after..]).collect()
}

/// Lines broken between words so that none is wider than `width`; of an indented line the rest stands a little deeper.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let margin = line.len() - line.trim_start().len();
        let mut open = String::new();
        let hanging = if margin == 0 { String::new() } else { " ".repeat((margin + 2).min(width / 3)) };
        for word in line.split_inclusive(' ') {
            let here = columns_of(&open);
            if here > margin && here + columns_of(word.trim_end()) > width && !open.trim().is_empty() {
                lines.push(open.trim_end().to_string());
                open.clone_from(&hanging);
            }
            open += word;
        }
        lines.push(open.trim_end().to_string());
    }
    lines.join("\n")
}

/// Numbers as text with the same number of decimals, unless one of them needs an exponent: no more than show five digits of the largest one
/// and three of the smallest.
pub(super) fn aligned(values: &[f64]) -> Vec<String> {
    let texts: Vec<String> = values.iter().map(|&x| number(x)).collect();
    if texts.iter().any(|text| text.contains('e')) {
        return values.iter().map(|&x| unrounded(x, 4)).collect();
    }
    let needed = texts.iter().filter_map(|text| text.split_once('.').map(|(_, after)| after.len())).max().unwrap_or(0);
    let sizes = || values.iter().map(|x| x.abs()).filter(|x| x.is_finite() && *x > 0.0);
    let digits = |size: f64, digits: i32| (digits - 1 - size.log10().floor() as i32).max(0) as usize;
    let wanted = digits(sizes().fold(1.0, f64::max), 5).max(digits(sizes().fold(f64::INFINITY, f64::min), 3));
    // What is no whole number is not shown as one.
    let told = |decimals: &usize| {
        values.iter().all(|x| !x.is_finite() || x.fract() == 0.0 || !is_whole_text(&format!("{x:.decimals$}")))
    };
    let decimals = (wanted.max(1)..needed).find(told).unwrap_or(needed).min(needed);
    values
        .iter()
        .zip(texts)
        .map(|(&x, text)| if x.is_finite() && decimals > 0 { format!("{x:.decimals$}") } else { text })
        .collect()
}

/// A string as a script writes it.
pub fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{}\"", escaped.replace('\r', "\\r").replace('\u{1b}', "\\x1b"))
}

/// Whether the element in place `i` of `n` is left out when only `shown` of them are.
pub(super) fn elided(i: usize, n: usize, shown: usize) -> bool {
    n > shown && i >= shown / 2 && i < n - (shown - shown / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_decimals_that_their_largest_and_smallest_need() {
        assert_eq!(aligned(&[0.00382676, 0.95398570, 0.0]), ["0.00383", "0.95399", "0.00000"]);
        assert_eq!(aligned(&[0.003277712, 0.000158529]), ["0.003278", "0.000159"]);
        assert_eq!(aligned(&[740.0, 45.25294, f64::NAN]), ["740.00", "45.25", "NaN"]);
        assert_eq!(aligned(&[1000.125, 1000.25, 0.5]), ["1000.12", "1000.25", "0.50"]);
        assert_eq!(aligned(&[98765.25, 98765.5]), ["98765.2", "98765.5"]);
        assert_eq!(aligned(&[0.5, 0.25]), ["0.50", "0.25"]);
        assert_eq!(aligned(&[0.99996, 0.5]), ["0.99996", "0.50000"]);
        assert_eq!(aligned(&[0.999996, 0.00123456]), ["0.999996", "0.001235"]);
    }

    #[test]
    fn words_are_not_broken() {
        assert_eq!(wrapped("one two three", 8), "one two\nthree");
        assert_eq!(wrapped("  a: long words here", 12), "  a: long\n    words\n    here");
        assert_eq!(cut("a long line", 6), "a lon…");
        assert_eq!((cut_inside("abcdefgh", 5), cut_inside("abcde", 5)), ("ab…gh".into(), "abcde".into()));
    }
}
