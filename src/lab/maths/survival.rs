//! How large something had to become, where some never came so far: estimates that take those for what they are, larger than the last that
//! was tried, and do not leave them out.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// How large something was, and whether that was enough; if not, more would have been needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    pub at: f64,
    pub enough: bool,
}

/// An estimate between two bounds, infinite where it is beyond what was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

/// The share for which a size is not enough, by the product limit (Kaplan and Meier 1958): a step down wherever some have enough.
pub struct ProductLimit {
    steps: Vec<SurvivalStep>,
    last: f64,
    /// How many sizes there are, and for how many it was enough.
    all: usize,
    events: usize,
    /// Those that were not enough before any was, the smallest first.
    before: Vec<f64>,
}

struct SurvivalStep {
    at: f64,
    /// Those that needed at least so much, and those of them for which it was enough.
    left: f64,
    enough: f64,
    /// The share after the step.
    share: f64,
    /// Greenwood's sum up to here.
    greenwood: f64,
}

impl ProductLimit {
    /// Of sizes that are finite; none if there are none.
    pub fn of(sizes: &[Size]) -> Option<Self> {
        let mut sizes = sizes.to_vec();
        // Of equal sizes those that were enough come first: the others need more.
        sizes.sort_by(|a, b| a.at.total_cmp(&b.at).then(b.enough.cmp(&a.enough)));
        let (last, all) = (sizes.last()?.at, sizes.len());
        let events = sizes.iter().filter(|size| size.enough).count();
        let before = sizes.iter().take_while(|size| !size.enough).map(|size| size.at).collect();
        let (mut steps, mut share, mut greenwood, mut left) = (vec![], 1.0, 0.0, sizes.len() as f64);
        for alike in sizes.chunk_by(|a, b| a.at == b.at) {
            let enough = alike.iter().filter(|size| size.enough).count() as f64;
            if enough > 0.0 {
                share *= 1.0 - enough / left;
                greenwood += enough / (left * (left - enough));
                steps.push(SurvivalStep { at: alike[0].at, left, enough, share, greenwood });
            }
            left -= alike.len() as f64;
        }
        Some(Self { steps, last, all, events, before })
    }

    /// The largest size that was tried, enough or not: nothing is known beyond, unless it was enough for all.
    pub fn last(&self) -> f64 {
        self.last
    }

    /// Whether every one had enough in the end.
    pub fn is_complete(&self) -> bool {
        self.events == self.all
    }

    /// What is enough for half, with the interval of Brookmeyer and Crowley (1982) on the scale of log(-log S) at the level 1 - delta. Where
    /// S is 1 or 0 its limits are those of Clopper and Pearson (1934) for those that are left, so that an interval of 95% ends nowhere before six
    /// were enough.
    pub fn median(&self, delta: f64) -> Between {
        let z = Normal::standard().inverse_cdf(1.0 - delta / 2.0);
        let all_alike = |n: usize| (delta / 2.0).powf(1.0 / n as f64);
        let limit = |step: &SurvivalStep, sign: f64| {
            if step.share <= 0.0 {
                return if sign > 0.0 { 1.0 - all_alike(self.events) } else { 0.0 };
            }
            let log = step.share.ln();
            (-((-log).ln() + sign * z * step.greenwood.sqrt() / log).exp()).exp()
        };
        // From where on too few are left for S of 1 to be above a half for sure.
        let too_few = (0..=self.before.len())
            .find(|&gone| gone < self.all && all_alike(self.all - gone) <= 0.5)
            .map(|gone| if gone == 0 { 0.0 } else { self.before[gone - 1] });
        // Shares are products, of which a half is rounded.
        let first = |share: &dyn Fn(&SurvivalStep) -> f64| {
            self.steps.iter().find(|step| share(step) <= 0.5 + 1e-9).map_or(f64::INFINITY, |step| step.at)
        };
        Between {
            value: first(&|step| step.share),
            lo: too_few.unwrap_or(f64::INFINITY).min(first(&|step| limit(step, -1.0))),
            hi: first(&|step| limit(step, 1.0)),
        }
    }

    /// The mean of the sizes that are needed, where more than `until` counts as `until`: the area below the curve (Royston and Parmar
    /// 2013), with an interval from Greenwood's variance by Kaplan and Meier's factor m / (m - 1), m those that had enough, and Student's law of
    /// as many: Student's own where all had enough. It may end above `until`.
    pub fn restricted_mean(&self, until: f64, delta: f64) -> Between {
        let value = self.area(0.0, until);
        let within = || self.steps.iter().filter(|step| step.at <= until);
        let variance: f64 = within()
            .filter(|step| step.left > step.enough)
            .map(|step| self.area(step.at, until).powi(2) * step.enough / (step.left * (step.left - step.enough)))
            .sum();
        let m: f64 = within().map(|step| step.enough).sum();
        let law = StudentsT::new(0.0, 1.0, m - 1.0).map_or(f64::NAN, |law| law.inverse_cdf(1.0 - delta / 2.0));
        let reach = law * (variance * m / (m - 1.0)).sqrt();
        match m >= 2.0 {
            true => Between { value, lo: (value - reach).max(0.0), hi: value + reach },
            false => Between { value, lo: f64::NAN, hi: f64::NAN },
        }
    }

    fn area(&self, from: f64, until: f64) -> f64 {
        let (mut area, mut at, mut share) = (0.0, 0.0, 1.0);
        let ends = self.steps.iter().map(|step| (step.at, step.share)).chain([(f64::INFINITY, 0.0)]);
        for (end, after) in ends {
            area += share * (end.min(until) - f64::max(at, from)).max(0.0);
            (at, share) = (end, after);
        }
        area
    }
}

/// How much larger the second of two sizes has to be in the mean, where more than `until` counts as `until`: the difference of restricted
/// means of pairs, with Student's interval from the pseudo-values that leave out a pair each (Andersen, Hansen and Klein 2004). None
/// for fewer than three pairs.
pub fn paired_difference(pairs: &[(Size, Size)], until: f64, delta: f64) -> Option<Between> {
    let n = pairs.len();
    if n < 3 {
        return None;
    }
    let difference = |pairs: &[(Size, Size)]| {
        let mean = |of: &dyn Fn(&(Size, Size)) -> Size| {
            Some(ProductLimit::of(&pairs.iter().map(of).collect::<Vec<_>>())?.area(0.0, until))
        };
        Some(mean(&|pair| pair.1)? - mean(&|pair| pair.0)?)
    };
    let value = difference(pairs)?;
    let mut without = pairs.to_vec();
    let mut pseudo = vec![];
    for i in (0..n).rev() {
        let out = without.swap_remove(i);
        pseudo.push(n as f64 * value - (n - 1) as f64 * difference(&without)?);
        without.push(out);
        let end = without.len() - 1;
        without.swap(i, end);
    }
    let mean = pseudo.iter().sum::<f64>() / n as f64;
    let variance = pseudo.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let law = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?;
    let reach = law.inverse_cdf(1.0 - delta / 2.0) * (variance / n as f64).sqrt();
    Some(Between { value, lo: value - reach, hi: value + reach })
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::core::random;

    /// scipy.stats.t.ppf(0.975, n - 1)
    const STUDENT_OF_4: f64 = 3.182446305284263;
    const STUDENT_OF_7: f64 = 2.4469118511449692;
    const STUDENT_OF_9: f64 = 2.306004135204166;

    fn sizes(of: &[(f64, bool)]) -> Vec<Size> {
        of.iter().map(|&(at, enough)| Size { at, enough }).collect()
    }

    #[track_caller]
    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9 || (found.is_infinite() && wanted.is_infinite()), "{found} and {wanted}");
    }

    /// lifelines 0.30.3: KaplanMeierFitter().fit(at, enough), median_survival_time_, median_survival_times(confidence_interval_) and
    /// restricted_mean_survival_time; the variances from NumPy by the formula, 7.994573161213736 * 9 / 8 and 1.5664029242241924 * 7 / 6.
    #[test]
    fn as_lifelines_has_it() {
        // Freireich et al. 1963: weeks of remission under 6-mercaptopurine.
        let remission = [
            (6.0, true),
            (6.0, true),
            (6.0, true),
            (6.0, false),
            (7.0, true),
            (9.0, false),
            (10.0, true),
            (10.0, false),
            (11.0, false),
            (13.0, true),
            (16.0, true),
            (17.0, false),
            (19.0, false),
            (20.0, false),
            (22.0, true),
            (23.0, true),
            (25.0, false),
            (32.0, false),
            (32.0, false),
            (34.0, false),
            (35.0, false),
        ];
        let limit = ProductLimit::of(&sizes(&remission)).expect("sizes");
        let median = limit.median(0.05);
        near(median.value, 23.0);
        near(median.lo, 13.0);
        near(median.hi, f64::INFINITY);
        near(limit.restricted_mean(35.0, 0.05).value, 23.287394957983185);
        let mean = limit.restricted_mean(20.0, 0.05);
        near(mean.value, 16.116526610644254);
        near(mean.value - mean.lo, STUDENT_OF_7 * 1.351839516459538);
        // What is left is no longer than what is counted.
        near(mean.hi, 16.116526610644254 + STUDENT_OF_7 * 1.351839516459538);
        let mean = limit.restricted_mean(35.0, 0.05);
        near(mean.value - mean.lo, STUDENT_OF_9 * 2.9989822951070337);
        let small = sizes(&[
            (1.0, true),
            (2.0, true),
            (2.0, true),
            (3.0, true),
            (4.0, false),
            (5.0, true),
            (5.5, true),
            (6.0, true),
            (7.0, false),
            (8.0, true),
        ]);
        let limit = ProductLimit::of(&small).expect("sizes");
        assert_eq!(limit.median(0.05), Between { value: 5.0, lo: 1.0, hi: 8.0 });
        near(limit.restricted_mean(7.5, 0.05).value, 4.58);
        assert!(!limit.is_complete() && limit.last() == 8.0);
    }

    /// Half of an even number is enough for half of it; lifelines 0.30.3 says so of any such number, too.
    #[test]
    fn the_median_of_an_even_number_is_the_last_of_the_first_half() {
        for half in 1..=100 {
            for known in [2 * half, half] {
                let at: Vec<(f64, bool)> = (1..=2 * half).map(|i| (f64::from(i.min(known)), i <= known)).collect();
                let median = ProductLimit::of(&sizes(&at)).expect("sizes").median(0.05);
                assert_eq!(median.value, f64::from(half), "{half} of {known} known");
            }
        }
    }

    /// By order statistics: the median lies between the first and the last of n with probability 1 - 2 / 2^n.
    #[test]
    fn medians_of_few_have_no_end() {
        for (n, known) in [(1, false), (2, false), (5, false), (6, true), (7, true)] {
            let at: Vec<(f64, bool)> = (1..=n).map(|i| (f64::from(i), true)).collect();
            let median = ProductLimit::of(&sizes(&at)).expect("sizes").median(0.05);
            assert_eq!(median.hi.is_finite(), known, "{n}: {median:?}");
            assert_eq!(median.lo > 0.0, known, "{n}: {median:?}");
        }
        // Of one alone after twenty that were not tried so far nothing is known, beyond that those needed more.
        let mut one = vec![(0.1, false); 20];
        one.push((1.0, true));
        let median = ProductLimit::of(&sizes(&one)).expect("sizes").median(0.05);
        assert_eq!(median, Between { value: 1.0, lo: 0.1, hi: f64::INFINITY });
    }

    /// Medians of exponential sizes of which some are not tried so far, in 1,500 experiments each; NumPy found shares of 0.94 to 1.
    #[test]
    fn intervals_hold_the_median() {
        let mut rng = random(13, 0);
        for (n, tried) in [(4, f64::INFINITY), (6, 1.0), (8, 2.5), (12, 1.0), (20, f64::INFINITY)] {
            let mut held = 0;
            for _ in 0..1500 {
                let mut draw = |mean: f64| -mean * (1.0 - rng.r#gen::<f64>()).ln();
                let all: Vec<Size> = (0..n)
                    .map(|_| (draw(1.0), draw(tried)))
                    .map(|(at, until)| Size { at: at.min(until), enough: at <= until })
                    .collect();
                let median = ProductLimit::of(&all).expect("sizes").median(0.05);
                held += usize::from(median.lo <= 2f64.ln() && 2f64.ln() <= median.hi);
            }
            // 1,395 is 0.93, four deviations below 0.955.
            assert!(held >= 1395, "{n}, {tried}: {held}");
        }
    }

    #[test]
    fn where_all_had_enough_it_is_the_mean() {
        let at = [0.5, 1.25, 2.0, 4.0];
        let limit = ProductLimit::of(&sizes(&at.map(|at| (at, true)))).expect("sizes");
        let mean = limit.restricted_mean(5.0, 0.05);
        near(mean.value, 7.75 / 4.0);
        // The standard error of a mean, by n - 1.
        let squares: f64 = at.iter().map(|x| (x - 7.75 / 4.0).powi(2)).sum();
        near(mean.hi - mean.value, STUDENT_OF_4 * (squares / 3.0 / 4.0).sqrt());
        // What took more than was tried counts as the most that was.
        let pairs: Vec<(Size, Size)> = [(1.0, 2.0), (2.0, 2.5), (3.0, 3.0), (2.0, 4.0)]
            .map(|(a, b)| (Size { at: a, enough: true }, Size { at: b, enough: b < 3.0 }))
            .to_vec();
        let found = paired_difference(&pairs, 3.0, 0.05).expect("pairs");
        // Differences 1, 0.5, 0 and 1: mean 0.625, deviation 0.4787, Student's t of 3 degrees 3.18245.
        near(found.value, 0.625);
        assert!((found.hi - 0.625 - 3.182446305 * 0.478713554 / 2.0).abs() < 1e-6, "{found:?}");
        assert!(paired_difference(&pairs[..2], 3.0, 0.05).is_none());
    }

    /// Exponential sizes of which no more than 1.2 is tried, of a fifth less: ln 2 is enough for half, the mean up to 1.2 is 1 - exp(-1.2)
    /// = 0.6988; a second size is half as large again. A mean over those that had enough alone comes to less than 0.5.
    #[test]
    fn intervals_hold_the_truth() {
        let (mut median, mut mean, mut pairs, mut plain) = (0, 0, 0, 0.0);
        // The mean of min(1.5 x, 1.2) minus that of min(x, 1.2).
        let apart = 1.5 * (1.0 - (-0.8f64).exp()) - (1.0 - (-1.2f64).exp());
        const SAMPLES: u64 = 1000;
        for sample in 0..SAMPLES {
            let mut rng = random(sample, 3);
            let mut both = vec![];
            for _ in 0..80 {
                let x = -rng.gen_range(f64::MIN_POSITIVE..1.0).ln();
                let tried: f64 = if rng.gen_bool(0.2) { rng.gen_range(0.0..1.2) } else { 1.2 };
                let size = |x: f64| Size { at: x.min(tried), enough: x <= tried };
                both.push((size(x), size(1.5 * x)));
            }
            let first: Vec<Size> = both.iter().map(|pair| pair.0).collect();
            let limit = ProductLimit::of(&first).expect("sizes");
            let holds = |between: Between, truth: f64| u32::from((between.lo..=between.hi).contains(&truth));
            median += holds(limit.median(0.05), 2f64.ln());
            mean += holds(limit.restricted_mean(1.2, 0.05), 1.0 - (-1.2f64).exp());
            pairs += holds(paired_difference(&both, 1.2, 0.05).expect("pairs"), apart);
            let enough: Vec<f64> = first.iter().filter(|size| size.enough).map(|size| size.at).collect();
            plain += enough.iter().sum::<f64>() / enough.len() as f64 / SAMPLES as f64;
        }
        for held in [median, mean, pairs] {
            assert!((930..=970).contains(&held), "{median}, {mean} and {pairs} of {SAMPLES}");
        }
        assert!(plain < 0.5, "{plain}");
    }
}
