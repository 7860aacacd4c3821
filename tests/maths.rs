//! The bounds and tests on plain numbers, against bisection and against numbers computed elsewhere.

use rand::Rng;
use viva::core::random;
use viva::maths::bernstein::{bernstein, interval_p, mean_variance, pairwise_p};
use viva::maths::betting::{Bets, Gambler, Sides, normal_quantile};
use viva::maths::means::student;
use viva::maths::shares::{fisher, wilson};

/// The largest l = ln(3/delta) at which `excess` is not negative.
fn bisect(excess: impl Fn(f64) -> f64) -> f64 {
    let (mut lo, mut hi) = (0.0, 1.0);
    while excess(hi) > 0.0 {
        hi *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (lo + hi);
        if excess(middle) > 0.0 { lo = middle } else { hi = middle }
    }
    0.5 * (lo + hi)
}

/// Eq. 6 written out, in terms of l = ln(3/delta).
fn eq6(m: f64, sigma: f64, range: f64, l: f64) -> f64 {
    (2.0 * sigma * sigma * l / m).sqrt() + 3.0 * range * l / m
}

#[test]
fn pairwise_p_is_the_root_of_eq_6() {
    let mut rng = random(1, 0);
    let mut below_one = 0;
    for _ in 0..1000 {
        let m = 10f64.powf(rng.gen_range(1.0..6.5)).round();
        let sigma = 10f64.powf(rng.gen_range(-3.0..0.0));
        let range = [1.0, 1.5, 2.0][rng.gen_range(0..3)];
        let t = 10f64.powf(rng.gen_range(-4.0..0.0)) * range;
        let l = bisect(|l| t - eq6(m, sigma, range, l));
        let expected = (3.0 * (-l).exp()).min(1.0);
        let p = pairwise_p(m as usize, sigma * sigma, t, range);
        // l is found to about 1e-16 relative, so p is known to l * 1e-15; far out it underflows and l is what counts.
        if expected > 1e-280 {
            assert!((p / expected - 1.0).abs() < 1e-9, "m {m} sigma {sigma} U {range} T {t}: {p} {expected}");
        } else {
            assert!(p < 1e-270);
        }
        below_one += usize::from(expected < 1.0);
        assert_eq!(p, pairwise_p(m as usize, sigma * sigma, -t, range));
    }
    assert!(below_one > 300, "{below_one} uncapped cases");
}

#[test]
fn pairwise_p_golden_numbers() {
    // (m, variance, T, U, p): Eq. 7 as printed, in Python with Decimal at 50 digits, quoted to ten.
    let golden = [
        (1000, 0.05, 0.05, 2.0, 0.02689271549),
        (10000, 0.05, 0.01, 1.5, 0.01112652437),
        (1271167, 0.0729, 0.00127, 1.5, 6.404096176e-06),
    ];
    for (m, variance, t, range, p) in golden {
        let got = pairwise_p(m, variance, t, range);
        assert!((got / p - 1.0).abs() < 1e-9, "{got} {p}");
    }
    let t = s1(2000);
    let (mean, variance) = mean_variance(t.iter().copied());
    assert!((mean - 37.0 / 2000.0).abs() < 1e-15 && (variance - 0.11765775).abs() < 1e-12);
    assert!((pairwise_p(2000, variance, mean, 1.5) - 0.504052567241).abs() < 1e-11);
    assert!((pairwise_p(2000, variance, mean, 2.0) - 0.607396149094).abs() < 1e-11);
}

#[test]
fn borders() {
    assert_eq!(pairwise_p(1000, 0.1, 0.0, 1.5), 1.0);
    assert_eq!(pairwise_p(1000, 0.0, 0.0, 1.5), 1.0);
    assert_eq!(interval_p(1000, 0.0, 0.0, 0.0), 1.0);
    // Without variance the bound is 3 U l / m.
    let p = pairwise_p(1000, 0.0, 0.05, 1.5);
    assert!((p - 3.0 * (-1000.0f64 * 0.05 / 4.5).exp()).abs() < 1e-15);
    // With 200 images even constant T_i must exceed 0.09.
    assert!((bernstein(200, 0.0, 0.05, 1.5) - 0.0921).abs() < 1e-4);
}

#[test]
fn bernstein_and_the_p_value_agree() {
    for delta in [0.5, 0.05, 1e-3, 1e-12] {
        let bound = bernstein(5000, 0.07, delta, 1.5);
        assert!((pairwise_p(5000, 0.07, bound, 1.5) / delta - 1.0).abs() < 1e-11);
    }
    assert!((bernstein(10000, 0.05, 0.05, 1.5) - 0.00824116).abs() < 1e-8);
}

#[test]
fn interval_p_is_the_root_of_section_3_1() {
    let mut rng = random(2, 0);
    for _ in 0..1000 {
        let m = 10f64.powf(rng.gen_range(1.0..6.0)).round();
        let (s, g) = (rng.gen_range(0.0..0.5), rng.gen_range(0.0..0.5));
        let t = 10f64.powf(rng.gen_range(-4.0..0.0));
        let l = bisect(|l| t - eq6(m, s, 1.0, l) - eq6(m, g, 1.0, l));
        let expected = (6.0 * (-l).exp()).min(1.0);
        let p = interval_p(m as usize, s * s, g * g, t);
        assert!((p - expected).abs() <= 1e-9 * expected.max(1e-280), "{p} {expected}");
    }
}

/// S1(m): T_i = 0, but .5 at every 5th and -1 at every 11th, 0 again at every 55th.
fn s1(m: usize) -> Vec<f64> {
    let value = |i: usize| match (i % 55, i % 11, i % 5) {
        (0, _, _) => 0.0,
        (_, 0, _) => -1.0,
        (_, _, 0) => 0.5,
        _ => 0.0,
    };
    (1..=m).map(value).collect()
}

fn bets(delta: f64, sides: Sides) -> Bets {
    Bets { range: (-1.0, 0.5), delta, sides, planned: None }
}

/// Quoted numbers: the test's formulas in Python with mpmath at 40 digits.
#[test]
fn betting_golden_numbers() {
    let t = s1(2000);
    let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 1e-9, "{got} {wanted}");
    // (sign, level, best, last): the lower side never gains.
    let sides = [
        (1.0, 0.025, 3.737996930863, 3.737996930863),
        (-1.0, 0.025, 0.0, -187.1815507122),
        (1.0, 0.0025, 1.642738457804, -21.46329394692),
        (-1.0, 0.0025, 0.0, -221.5080462171),
        (1.0, 0.005, 2.280996603476, -10.83800768153),
    ];
    for (sign, level, best, last) in sides {
        let mut gambler = Gambler::new(2000, sign, (-1.0, 0.5), level);
        t.iter().for_each(|&x| gambler.see(x));
        near(gambler.best, best);
        near(gambler.log_wealth, last);
    }
    let mut gambler = Gambler::new(2000, 1.0, (-1.0, 0.5), 0.025);
    for (x, bet) in t.iter().zip([0.07450890856, 0.1053978618, 0.1291177903, 0.1491297064, 0.1667738418, 0.1472902939])
    {
        assert!((gambler.bet() / bet - 1.0).abs() < 1e-9, "{} {bet}", gambler.bet());
        gambler.see(*x);
    }
    let two = bets(0.05, Sides::Two).play(&t);
    assert!(two.reject && two.used == 1945 && two.log_wealth >= 20f64.ln(), "{two:?}");
    near(two.log_wealth, 3.0448497503);
    assert_eq!(bets(0.05, Sides::Two).p(&t, &two, || Ok(())).expect("a p-value"), 0.05);
    let one = bets(0.05, Sides::One).play(&t);
    assert!(one.reject && one.used == 1835, "{one:?}");
    near(one.log_wealth, 3.044522863521);
    // The pairwise test is nowhere near: p = 0.50.
    assert!(!bets(0.01, Sides::Two).rejects(&t));

    // 600 values, .5 at every 3rd place, -.75 at the places 1, 21, 41, ... between: rejected up to level .05e-21.
    let strong: Vec<f64> = (1..=600)
        .map(|i| {
            if i % 3 == 0 {
                0.5
            } else if i % 20 == 1 {
                -0.75
            } else {
                0.0
            }
        })
        .collect();
    for (sides, used, best) in [(Sides::Two, 195, 3.737669618365 - 2f64.ln()), (Sides::One, 177, 3.044522437726)] {
        let test = bets(0.05, sides);
        let outcome = test.play(&strong);
        assert_eq!((outcome.reject, outcome.used), (true, used));
        near(outcome.log_wealth, best);
        let p = test.p(&strong, &outcome, || Ok(())).expect("a p-value");
        assert!((p / 0.05e-21 - 1.0).abs() < 1e-12, "{p}");
    }
}

/// Among several tests p is the last of the levels delta / 1, delta / 2, ... delta / tests and then delta / 10, delta / 100, ... that is rejected,
/// with every one before it.
#[test]
fn p_among_tests_goes_down_the_levels_that_holm_asks_for() {
    let go = || Ok(());
    let mut found = std::collections::BTreeSet::new();
    for n in (20..400).step_by(5) {
        let t: Vec<f64> = (1..=n)
            .map(|i| {
                if i % 4 == 0 {
                    0.5
                } else if i % 20 == 1 {
                    -0.75
                } else {
                    0.0
                }
            })
            .collect();
        for tests in [1, 2, 3, 20] {
            let mut levels: Vec<f64> = (1..=tests).map(|j| 0.05 / j as f64).collect();
            levels
                .extend([0.005, 5e-4, 5e-5, 5e-6, 5e-7, 5e-8].into_iter().filter(|level| *level < 0.05 / tests as f64));
            let rejected = levels.iter().take_while(|level| bets(**level, Sides::Two).rejects(&t));
            let wanted = rejected.last().copied().unwrap_or(1.0);
            let p = bets(0.05, Sides::Two).p_among(&t, tests, go).expect("a p-value");
            assert!((p / wanted - 1.0).abs() < 1e-12, "{n} values, {tests} tests: {p}, not {wanted}");
            found.insert((wanted * 1e12) as u64);
        }
    }
    assert!(found.len() > 12, "{found:?}");
}

#[test]
fn the_quantile_is_exact_far_out() {
    // Python's mpmath at 40 digits.
    let golden = [
        (0.025 / 1.05, -1.980752396647279),
        (0.3, -0.5244005127080408),
        (1e-10, -6.361340902404056),
        (1e-15, -7.941345326170997),
        (1e-16, -8.222082216130436),
        (1e-100, -21.27345356096532),
        (1e-300, -37.0470962993612),
    ];
    for (q, d) in golden {
        let got = normal_quantile(q);
        assert!((got / d - 1.0).abs() < 4e-15, "{q}: {got} {d}");
    }
}

/// The wealth of a gambler on values with mean 0 does not grow on average, whatever the values, however they are bet on.
#[test]
fn bets_are_fair() {
    // All 3^8 samples of 8 values from three with mean 0, weighed by their probability.
    let (values, weights) = ([-1.0, 0.0, 0.5], [0.2, 0.4, 0.4]);
    for sign in [1.0, -1.0] {
        let (mut total, mut reach) = (0.0, 0.0);
        for sample in 0..3usize.pow(8) {
            let mut gambler = Gambler::new(8, sign, (-1.0, 0.5), 0.3);
            let mut probability = 1.0;
            for i in 0..8 {
                let which = sample / 3usize.pow(i) % 3;
                probability *= weights[which];
                gambler.see(values[which]);
            }
            total += probability * gambler.log_wealth.exp();
            reach += if gambler.best >= -0.3f64.ln() { probability } else { 0.0 };
        }
        assert!((total - 1.0).abs() < 1e-12, "the expected wealth is {total}");
        assert!(reach > 0.05 && reach <= 0.3, "level 0.3 is reached with probability {reach}");
    }
}

#[test]
fn betting_at_the_borders() {
    let two = bets(0.05, Sides::Two);
    assert!(!two.play(&[0.0; 1000]).reject);
    assert_eq!(two.play(&[0.0; 1000]).log_wealth, -(2f64.ln()));
    // All the wealth is never staked: a lost bet leaves some.
    let lost = two.play(&[-1.0; 3]);
    assert!(lost.log_wealth.is_finite() && !lost.reject && lost.used == 3);
    // A hundred losses in a row leave too little for the quantile, and no NaN.
    let mut gambler = Gambler::new(2000, 1.0, (-1.0, 0.5), 0.025);
    (0..1500).for_each(|_| gambler.see(-1.0));
    assert!(gambler.log_wealth < -1000.0 && gambler.bet().is_finite() && gambler.best == 0.0);
    let all = two.play(&[0.5; 2000]);
    assert!(all.reject && all.used < 1000, "{all:?}");
    let p = two.p(&[0.5; 2000], &all, || Ok(())).expect("a p-value");
    assert!(p > 0.0 && p < 1e-250, "{p}");
}

#[test]
fn fisher_is_the_tail_of_the_hypergeometric_law() {
    // Exact fractions, in Python.
    let golden = [
        ((3, 4, 1, 4), 0.24285714285714285),
        ((30, 100, 8, 100), 5.482393872361317e-05),
        ((0, 10, 5, 10), 1.0),
        ((13, 97, 4, 203), 0.00015819090161688204),
        ((100, 100, 0, 100), 1.1043803465997514e-59),
        ((5, 5, 5, 5), 1.0),
        ((1, 1, 0, 3), 0.25),
    ];
    for ((k1, n1, k2, n2), expected) in golden {
        let p = fisher(k1, n1, k2, n2).expect("counts within their totals");
        assert!((p / expected - 1.0).abs() < 1e-9, "{k1} of {n1}, {k2} of {n2}: {p} {expected}");
    }
    assert_eq!(fisher(5, 4, 1, 4), None);
}

#[test]
fn shares_and_means_are_known_as_scipy_says() {
    // scipy.stats.binomtest(k, n).proportion_ci(method="wilson"), SciPy 1.18.
    let golden = [
        ((0, 10), (0.0, 0.27753279986288926)),
        ((10, 10), (0.7224672001371109, 1.0)),
        ((1, 10), (0.017876213095072896, 0.4041500267952385)),
        ((7, 10), (0.39677814746114526, 0.892208732593699)),
        ((499, 1000), (0.468073488750724, 0.529934164766247)),
        ((1, 1), (0.20654931437723745, 1.0)),
        // No answer, nothing known.
        ((0, 0), (0.0, 1.0)),
    ];
    for ((k, n), (lo, hi)) in golden {
        let found = wilson(k, n);
        assert!((found.0 - lo).abs() < 1e-12 && (found.1 - hi).abs() < 1e-12, "{k} of {n}: {found:?}");
    }
    // scipy.stats.t.interval(0.95, n - 1, mean, sem).
    let golden: [(&[f64], [f64; 3]); 4] = [
        (&[1.0, 2.0, 4.0], [2.3333333333333335, -1.461249700263426, 6.1279163669300925]),
        (&[0.25, 0.5], [0.375, -1.2132755920218368, 1.9632755920218368]),
        (&[3.0; 4], [3.0; 3]),
        (&[0.1, 0.7, 0.2, 0.9, 0.4, 0.4], [0.45, 0.13342508032404965, 0.7665749196759503]),
    ];
    for (numbers, wanted) in golden {
        let (mean, lo, hi) = student(numbers);
        let near = [mean, lo, hi].iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-9);
        assert!(near, "{numbers:?}: {mean}, {lo} to {hi}");
    }
    let (mean, lo, hi) = student(&[0.7]);
    assert!(mean == 0.7 && lo.is_nan() && hi.is_nan());
}

/// Of draws that end with the last of `wanted` successes, by enumeration of how many they are: right on average, and held by the interval as
/// often as it says, where Wilson's holds as few as 80%.
#[test]
fn shares_of_draws_that_end_with_a_success_are_right_on_average() {
    use viva::maths::shares::CountedShare;
    let mut least_wilson = 1.0f64;
    for wanted in [1usize, 2, 5, 20] {
        for p in [0.05, 0.2, 0.5, 0.8, 0.95, 0.99] {
            let (mut chance, mut n) = (f64::powi(p, wanted as i32), wanted);
            let (mut all, mut mean, mut held, mut wilson) = (0.0, 0.0, 0.0, 0.0);
            while all < 1.0 - 1e-9 && n < 5000 {
                let found = CountedShare::sequential(wanted, n);
                assert!(found.lo <= found.value && found.value <= found.hi, "{wanted} of {n}");
                let fixed = CountedShare::new(wanted, n);
                all += chance;
                mean += chance * found.value;
                held += if (found.lo..=found.hi).contains(&p) { chance } else { 0.0 };
                wilson += if (fixed.lo..=fixed.hi).contains(&p) { chance } else { 0.0 };
                chance *= n as f64 / (n + 1 - wanted) as f64 * (1.0 - p);
                n += 1;
            }
            assert!(held > 0.95 - 1e-6, "{wanted} of {p}: {held}");
            assert!((wanted == 1) == ((mean - p).abs() > 1e-3), "{wanted} of {p}: {mean}");
            least_wilson = least_wilson.min(wilson);
        }
    }
    assert!(least_wilson < 0.81, "{least_wilson}");
    // scipy.stats.beta.ppf(0.025, r, n - r + 1) and beta.ppf(0.975, r, n - r).
    for (wanted, n, lo, hi) in [
        (1, 7, 0.003_610_296_861_900_583_3, 0.459_258_126_439_900_44),
        (2, 3, 0.094_299_324_050_246_09, 0.987_420_882_906_574_9),
        (5, 60, 0.027_613_310_337_426_394, 0.164_585_172_675_823_34),
        (20, 23, 0.664_110_862_462_879_1, 0.970_944_148_871_253_4),
    ] {
        let found = CountedShare::sequential(wanted, n);
        assert!((found.lo - lo).abs() < 1e-9 && (found.hi - hi).abs() < 1e-9, "{wanted} of {n}: {found:?}");
    }
    assert!((CountedShare::sequential(3, 3).hi, CountedShare::sequential(1, 1).hi) == (1.0, 1.0));
    assert!(CountedShare::sequential(0, 0).value.is_nan() && CountedShare::sequential(1, 4).value == 0.25);
}

/// The mean over labels is right on average, where tests by draws, pooled, follow the labels that take the most draws; its interval holds it.
#[test]
fn means_of_shares_count_labels_alike() {
    use rand::{Rng, SeedableRng};
    use viva::maths::shares::CountedShare;
    let mut rng = rand_pcg::Pcg64::seed_from_u64(7);
    let shares = [0.9, 0.5, 0.2, 0.05];
    let truth = shares.iter().sum::<f64>() / 4.0;
    for wanted in [2, 5] {
        let (mut sum, mut inside, mut pooled) = (0.0, 0, 0.0);
        let times = 4000;
        for _ in 0..times {
            let mut draw = |p: f64| {
                let (mut yes, mut of) = (0, 0);
                while yes < wanted {
                    of += 1;
                    yes += usize::from(rng.gen_bool(p));
                }
                of
            };
            let draws = shares.map(&mut draw);
            let found = CountedShare::mean(&draws.map(|of| CountedShare::sequential(wanted, of)));
            sum += found.value;
            inside += usize::from((found.lo..=found.hi).contains(&truth));
            pooled += (4 * wanted) as f64 / draws.iter().sum::<usize>() as f64;
        }
        let n = f64::from(times);
        // Four standard errors.
        assert!((sum / n - truth).abs() < 0.012, "{} where {truth} is true", sum / n);
        assert!((0.95..=0.995).contains(&(f64::from(inside as u32) / n)), "{wanted}: {inside} of {times}");
        assert!(pooled / n < truth - 0.2, "{}", pooled / n);
    }
    // Shares of nothing are left out; of none but these nothing is known.
    let [some, none] = [CountedShare::new(3, 4), CountedShare::new(0, 0)];
    assert_eq!(CountedShare::mean(&[some, none]).value, 0.75);
    let unknown = CountedShare::mean(&[none]);
    assert!(unknown.value.is_nan() && (unknown.lo, unknown.hi) == (0.0, 1.0));
}

#[test]
fn certain_hits_have_clopper_and_pearsons_interval() {
    use viva::maths::shares::{ProbableHits, clopper_pearson_lower};
    let near = |(lo, hi): (f64, f64), wanted: (f64, f64)| {
        assert!((lo - wanted.0).abs() < 0.02 && (hi - wanted.1).abs() < 0.02, "{lo} {hi}, not {wanted:?}");
    };
    near(ProbableHits::new(4).interval(&[0.0; 4]), (0.0, 1.0 - 0.025f64.powf(0.25)));
    let three: Vec<f64> = (0..10).map(|i| f64::from(i < 3)).collect();
    let ends = (clopper_pearson_lower(3, 10, 0.025), 1.0 - clopper_pearson_lower(7, 10, 0.025));
    near(ProbableHits::new(10).interval(&three), ends);
    // Doubt widens.
    assert!(ProbableHits::new(4).interval(&[0.1; 4]).1 > 0.62);
}
