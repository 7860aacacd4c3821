//! Numbers as a person reads them.

/// A float as a person reads it: six significant digits at most, no trailing zeros.
pub fn number(x: f64) -> String {
    significant(x, 6)
}

/// A float with so many significant digits, and more where with these what is no whole number would be shown as one.
pub fn unrounded(x: f64, digits: usize) -> String {
    let told = (digits..=17).map(|digits| significant(x, digits)).find(|text| x.fract() == 0.0 || !is_whole_text(text));
    told.unwrap_or_else(|| format!("{x:?}"))
}

/// Whether a number in digits is a whole one.
pub(super) fn is_whole_text(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(|shown| shown.fract() == 0.0)
}

/// A float with so many significant digits at most, no trailing zeros.
pub fn significant(x: f64, digits: usize) -> String {
    if !x.is_finite() || x == 0.0 {
        return format!("{x:?}");
    }
    let after = digits.max(1) - 1;
    let size = x.abs();
    if !(1e-4..1e15).contains(&size) {
        let text = format!("{x:.after$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let trimmed = mantissa.trim_end_matches('0').trim_end_matches('.');
        return format!("{}e{exponent}", if mantissa.contains('.') { trimmed } else { mantissa });
    }
    // What is no whole number is not shown as one.
    let least = i64::from(x.fract() != 0.0);
    let decimals = (after as i64 - size.log10().floor() as i64).clamp(least, 9) as usize;
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text };
    // A float keeps its point, so that 2.0 and 2 can be told apart.
    if text.contains('.') { text } else { format!("{text}.0") }
}
