//! From numbers to places on an axis, and the ticks that a reader can take in.

use super::figure::Axis;

#[derive(Debug, Clone)]
pub struct Scale {
    lo: f64,
    hi: f64,
    log: bool,
    /// Pixels of `lo` and `hi`; the second is smaller where values grow upwards.
    from: f64,
    to: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub value: f64,
    /// Empty for a minor tick.
    pub label: String,
}

/// Values beyond this are drawn at the border: their differences would overflow.
pub(super) const LARGEST: f64 = 1e300;
const SMALLEST: f64 = 1e-300;

impl Scale {
    /// An axis over these values, with a little room around them unless the axis says where it ends. Without a value
    /// that can be shown: 0 to 1, or 1 to 10 on a log axis.
    pub fn over(values: impl Iterator<Item = f64>, axis: &Axis, flush: bool) -> Self {
        let log = axis.log;
        let usable = |v: f64| v.is_finite() && (!log || v > 0.0);
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.filter(|&v| usable(v)) {
            lo = lo.min(v);
            hi = hi.max(v);
        }
        if lo > hi {
            (lo, hi) = if log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        let limit = |v: f64| if log { v.clamp(SMALLEST, LARGEST) } else { v.clamp(-LARGEST, LARGEST) };
        (lo, hi) = (limit(lo), limit(hi));
        let mut scale = Self { lo, hi, log, from: 0.0, to: 1.0 };
        let (mut a, mut b) = (scale.inner(lo), scale.inner(hi));
        if b - a <= 1e-10 * a.abs().max(b.abs()) {
            // One value only: some room on both sides.
            let room = if log {
                0.3
            } else if a == 0.0 {
                1.0
            } else {
                a.abs() * 0.1
            };
            (a, b) = (a - room, b + room);
        } else if !flush {
            let room = (b - a) * 0.04;
            (a, b) = (a - room, b + room);
        }
        (scale.lo, scale.hi) = (limit(scale.outer(a)), limit(scale.outer(b)));
        let (min, max) = (axis.min.filter(|&v| usable(v)), axis.max.filter(|&v| usable(v)));
        // An end beyond all values leaves them out, and some axis there has to be.
        let beside = |v: f64, sign: f64| limit(if log { v * 10f64.powf(sign) } else { v + sign * v.abs().max(1.0) });
        match (min, max) {
            (Some(min), None) if min >= scale.hi => (scale.lo, scale.hi) = (limit(min), beside(min, 1.0)),
            (None, Some(max)) if max <= scale.lo => (scale.lo, scale.hi) = (beside(max, -1.0), limit(max)),
            _ => {
                if let Some(min) = min.filter(|min| *min < max.unwrap_or(scale.hi)) {
                    scale.lo = limit(min);
                }
                if let Some(max) = max.filter(|max| *max > scale.lo) {
                    scale.hi = limit(max);
                }
            }
        }
        scale
    }

    pub fn onto(mut self, from: f64, to: f64) -> Self {
        (self.from, self.to) = (from, to);
        self
    }

    fn inner(&self, v: f64) -> f64 {
        if self.log { v.log10() } else { v }
    }

    fn outer(&self, v: f64) -> f64 {
        if self.log { 10f64.powf(v) } else { v }
    }

    /// The place of a value; `None` if it has none. Values far outside stay near enough for arithmetic on pixels.
    pub fn at(&self, v: f64) -> Option<f64> {
        if !v.is_finite() || (self.log && v <= 0.0) {
            return None;
        }
        let (lo, hi) = (self.inner(self.lo), self.inner(self.hi));
        let part = ((self.inner(v) - lo) / (hi - lo)).clamp(-1e4, 1e4);
        Some(self.from + part * (self.to - self.from))
    }

    /// As `at`, but what lies at or below zero on a log axis goes to its lower end: for intervals and bars.
    pub fn at_or_below(&self, v: f64) -> Option<f64> {
        if v == f64::INFINITY || (v <= 0.0 && self.log) || v == f64::NEG_INFINITY {
            return Some(if v > 0.0 { self.to } else { self.from });
        }
        self.at(v)
    }

    /// About `most` labelled ticks at round values, and on a log axis minor ones between them.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let most = most.max(2);
        if self.log { self.log_ticks(most) } else { self.linear_ticks(most) }
    }

    fn linear_ticks(&self, most: usize) -> Vec<Tick> {
        let step = round_step((self.hi - self.lo) / most as f64);
        let (first, last) = ((self.lo / step - 1e-9).ceil(), (self.hi / step + 1e-9).floor());
        if !(step.is_finite() && step > 0.0) || last - first > 2.0 * most as f64 || first.abs() > 9e15 {
            return vec![];
        }
        let values: Vec<f64> = (0..=(last - first) as i64).map(|i| (first + i as f64) * step).collect();
        let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        values
            .into_iter()
            .map(|v| Tick { value: v, label: label(if v.abs() < step * 1e-6 { 0.0 } else { v }, step, largest) })
            .collect()
    }

    fn log_ticks(&self, most: usize) -> Vec<Tick> {
        let (first, last) = ((self.lo.log10() - 1e-9).ceil() as i32, (self.hi.log10() + 1e-9).floor() as i32);
        let decades = last - first + 1;
        let inside = |v: f64| v >= self.lo * (1.0 - 1e-9) && v <= self.hi * (1.0 + 1e-9);
        if decades < 2 {
            let few: Vec<Tick> = (first - 1..=last + 1)
                .flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e)))
                .filter(|&v| inside(v))
                .map(|value| Tick { value, label: power_label(value) })
                .collect();
            return if few.len() >= 2 { few } else { self.linear_ticks(most) };
        }
        let every = (decades as usize).div_ceil(most).max(1) as i32;
        // Powers where one of the labels would be long, so that all look alike.
        let powers = first < -2 || last > 3;
        let label = |e: i32, value: f64| if powers { format!("$10^{{{e}}}$") } else { power_label(value) };
        // Over very many decades unlabelled ticks would run into each other.
        let mut ticks: Vec<Tick> = (first..=last)
            .filter(|e| decades <= 30 || e % every == 0)
            .map(|e| (e, 10f64.powi(e)))
            .map(|(e, value)| Tick { value, label: if e % every == 0 { label(e, value) } else { String::new() } })
            .collect();
        if decades <= 8 {
            let minor = (first - 1..=last).flat_map(|e| (2..10).map(move |m| f64::from(m) * 10f64.powi(e)));
            ticks.extend(minor.filter(|&v| inside(v)).map(|value| Tick { value, label: String::new() }));
        }
        ticks
    }
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough * (1.0 - 1e-9)).unwrap_or(rough)
}

/// A multiple of `step` with the digits it needs; in exponent form where the axis holds large or tiny numbers.
fn label(v: f64, step: f64, largest: f64) -> String {
    // A step of 2.5 needs one digit more than its size tells.
    let mut digits = -step.log10().floor() as i32;
    let steps = step * 10f64.powi(digits);
    if (steps - steps.round()).abs() > 1e-6 {
        digits += 1;
    }
    if v == 0.0 {
        return "0".into();
    }
    if (1e-3..1e5).contains(&largest) {
        return minus(format!("{v:.*}", digits.clamp(0, 12) as usize));
    }
    let precision = (v.abs().log10().floor() as i32 + digits).clamp(0, 12) as usize;
    short_exponent(&format!("{v:.precision$e}"))
}

fn power_label(v: f64) -> String {
    if (0.0099..99_999.0).contains(&v) {
        minus(format!("{}", (v * 1e6).round() / 1e6))
    } else {
        short_exponent(&format!("{v:.0e}"))
    }
}

fn short_exponent(text: &str) -> String {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    minus(if exponent == "0" { digits.into() } else { format!("{digits}e{exponent}") })
}

/// A leading hyphen as a minus sign.
fn minus(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("\u{2212}{rest}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(lo: f64, hi: f64, log: bool, most: usize) -> Vec<String> {
        let axis = Axis { log, min: Some(lo), max: Some(hi), ..Axis::default() };
        let scale = Scale::over([lo, hi].into_iter(), &axis, true);
        scale.ticks(most).into_iter().filter(|t| !t.label.is_empty()).map(|t| t.label).collect()
    }

    #[test]
    fn ticks_are_round_and_short() {
        assert_eq!(labels(0.0, 1.0, false, 5), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.0, 1.2e6, false, 6), ["0", "2e5", "4e5", "6e5", "8e5", "1e6", "1.2e6"]);
        assert_eq!(labels(-0.0004, 0.0004, false, 4), ["−4e-4", "−2e-4", "0", "2e-4", "4e-4"]);
        assert_eq!(labels(0.0, 1.0, false, 4), ["0", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(labels(1e-2, 1e3, true, 10), ["0.01", "0.1", "1", "10", "100", "1000"]);
        let powers: Vec<String> = (-3..=5).map(|e| format!("$10^{{{e}}}$")).collect();
        assert_eq!(labels(1e-3, 1e5, true, 10), powers);
        assert_eq!(labels(100.0, 900.0, true, 5), ["100", "200", "500"]);
        assert_eq!(labels(1000.0, 9000.0, true, 5), ["1000", "2000", "5000"]);
        assert_eq!(labels(0.91, 0.99, true, 4).len(), 4);
    }

    #[test]
    fn extreme_ranges_have_few_ticks_and_end() {
        for (lo, hi) in [
            (f64::MIN, f64::MAX),
            (0.0, f64::MIN_POSITIVE),
            (1.0, 1.0 + f64::EPSILON),
            (5e-324, 1e308),
            (1e15, 1e15 + 2.0),
            (3.0, 3.0),
            (0.0, 0.0),
            (f64::NAN, f64::INFINITY),
        ] {
            for log in [false, true] {
                let axis = Axis { log, ..Axis::default() };
                let scale = Scale::over([lo, hi].into_iter(), &axis, false).onto(0.0, 100.0);
                assert!(scale.ticks(6).len() < 100, "{lo:e} to {hi:e}, log {log}");
                assert!(scale.at(lo).is_none_or(f64::is_finite), "{lo:e} to {hi:e}, log {log}");
            }
        }
    }
}
