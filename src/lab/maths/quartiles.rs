//! Quantiles, and the box of a sample with its whiskers.

/// Of sorted numbers, in a straight line between two of them: definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages"
/// (The American Statistician 50, 1996).
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// A box of the middle half of a sample, whiskers and what lies beyond them (Tukey, "Exploratory Data Analysis", 1977).
#[derive(Debug, Clone, PartialEq)]
pub struct Quartiles {
    pub lower: f64,
    pub median: f64,
    pub upper: f64,
    /// The last values that are no further from the box than 1.5 times its length; an end of the box where there is none.
    pub whiskers: (f64, f64),
    /// The values beyond the whiskers, in rising order.
    pub outliers: Vec<f64>,
}

/// `None` without a value. Values are finite, and so is the distance between any two of them.
pub fn quartiles(values: &[f64]) -> Option<Quartiles> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return None;
    }
    let [lower, median, upper] = [0.25, 0.5, 0.75].map(|q| quantile(&sorted, q));
    let reach = 1.5 * (upper - lower);
    let inside = |value: &f64| lower - reach <= *value && *value <= upper + reach;
    let (mut within, outliers): (Vec<f64>, Vec<f64>) = sorted.into_iter().partition(inside);
    within.extend([lower, upper]);
    let least = within.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = within.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Quartiles { lower, median, upper, whiskers: (least, largest), outliers })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// matplotlib.cbook.boxplot_stats and numpy.quantile(values, [0.25, 0.5, 0.75]), Matplotlib 3.11 and NumPy 2.4, but for rounding.
    #[test]
    fn boxes_are_those_of_matplotlib() {
        for (values, [lower, median, upper], whiskers, outliers) in [
            (&[2.5, 0.1, 7.0, 3.3, 1.2, 30.0, -4.0][..], [0.65, 2.5, 5.15], (-4.0, 7.0), &[30.0][..]),
            // A whisker never ends inside of its box.
            (&[0.0, 0.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0], [7.5, 10.0, 10.0], (7.5, 10.0), &[0.0, 0.0]),
            (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 100.0], [3.25, 5.5, 7.75], (1.0, 9.0), &[100.0]),
            (&[0.3; 6], [0.3; 3], (0.3, 0.3), &[]),
            (&[1e-3, 2e-3, 5.0, 7.0, -8.0, 9.0, 1000.0, 2.0, 2.0], [0.002, 2.0, 7.0], (-8.0, 9.0), &[1000.0]),
            (&[4.0, 1.0, 3.0, 2.0], [1.75, 2.5, 3.25], (1.0, 4.0), &[]),
        ] {
            let found = quartiles(values).expect("there are values");
            for (found, wanted) in [(found.lower, lower), (found.median, median), (found.upper, upper)] {
                assert!((found - wanted).abs() < 1e-12, "{values:?}: {found} beside {wanted}");
            }
            assert_eq!((found.whiskers, &found.outliers[..]), (whiskers, outliers), "{values:?}");
        }
        assert_eq!(quartiles(&[]), None);
    }
}
