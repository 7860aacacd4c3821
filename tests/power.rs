//! What the reports say of their power, against simulation; and Holm's correction against another program.
#![allow(clippy::unwrap_used)]

use rand::Rng;
use rand::distributions::{Distribution, WeightedIndex};
use viva::core::random;
use viva::estimate::independence::{bets, interval_test, most_telling, pairwise_test};
use viva::estimate::verdict::{Power, about};
use viva::maths::betting::{Sides, normal_quantile};
use viva::maths::holm::holm;
use viva::maths::power::{ENOUGH, Law, Planned};

const DELTA: f64 = 0.05;

/// L(x) and L(g(x)) h_g(g(x)) of n images as adversarial translations by up to 5 pixels give them: a share `error` is misclassified; to
/// `reached` of these others were moved, k geometric from 1 to 120; a share `fooled` was moved to such a point.
fn translations(n: usize, error: f64, reached: f64, ratio: f64, fooled: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let movers = WeightedIndex::new((0..120).map(|k| ratio.powi(k))).unwrap();
    let mut rng = random(seed, 0);
    (0..n)
        .map(|_| {
            let u: f64 = rng.r#gen();
            let h = 1.0 / (2.0 + movers.sample(&mut rng) as f64);
            if u < error * reached {
                (1.0, h)
            } else if u < error {
                (1.0, 1.0)
            } else if u < error + fooled {
                (0.0, h)
            } else {
                (0.0, 0.0)
            }
        })
        .unzip()
}

/// The share of samples of m images that a test rejects: images like those seen, drawn so that T has this mean.
fn simulated(test: Planned, losses: &[f64], weighted: &[f64], gap: f64, m: usize, repeats: u64) -> f64 {
    // The tilt by Newton's method, apart from the code under test.
    let t: Vec<f64> = weighted.iter().zip(losses).map(|(weighted, loss)| weighted - loss).collect();
    let mut tilt = 0.0;
    for _ in 0..200 {
        let weights: Vec<f64> = t.iter().map(|t| f64::exp(tilt * t)).collect();
        let total: f64 = weights.iter().sum();
        let moment = |k: i32| t.iter().zip(&weights).map(|(t, w)| t.powi(k) * w).sum::<f64>() / total;
        let (mean, square) = (moment(1), moment(2));
        tilt -= 0.5 * (mean - gap) / (square - mean * mean);
    }
    let index = WeightedIndex::new(t.iter().map(|t| f64::exp(tilt * t))).unwrap();
    let rejected = (0..repeats).filter(|&repeat| {
        let mut rng = random(9, repeat);
        let drawn: Vec<usize> = (0..m).map(|_| index.sample(&mut rng)).collect();
        let of = |values: &[f64]| drawn.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        match test {
            Planned::Pairwise { range, delta } => pairwise_test(&of(&t), range, delta).unwrap().reject,
            Planned::Interval { delta } => interval_test(&of(losses), &of(weighted), delta).unwrap().reject,
            Planned::Betting(bets) => bets.rejects(&of(&t)),
        }
    });
    rejected.count() as f64 / repeats as f64
}

fn tests() -> [Planned; 4] {
    let range = (-120.0 / 121.0, 0.5);
    let betting = |sides| Planned::Betting(bets(range, DELTA, sides).unwrap());
    [
        betting(Sides::Two),
        betting(Sides::One),
        Planned::Pairwise { range: range.1 - range.0, delta: DELTA },
        Planned::Interval { delta: DELTA },
    ]
}

fn power(test: Planned, losses: &[f64], weighted: &[f64]) -> Power {
    let t: Vec<f64> = weighted.iter().zip(losses).map(|(weighted, loss)| weighted - loss).collect();
    Power::of(test, losses, weighted, &most_telling(&t, 0.5))
}

/// The gap that a report says it shows with 80% power is rejected in 80% of simulated samples of its size, at three sizes.
#[test]
fn the_gap_that_is_seen_is_seen_in_four_of_five_samples() {
    for (m, error, ratio, fooled) in
        [(522, 0.176, 0.9092, 0.25), (2000, 0.176, 0.9092, 0.25), (8000, 0.05, 0.597, 0.06)]
    {
        let (losses, weighted) = translations(m, error, 0.2732, ratio, fooled, 3);
        for (k, test) in tests().into_iter().enumerate() {
            let gap = power(test, &losses, &weighted).gap.unwrap();
            let repeats = if m > 5000 { 200 } else { 400 };
            let share = simulated(test, &losses, &weighted, gap, m, repeats);
            println!("m = {m}, test {k}: gap {gap:.5}, rejected {share:.3}");
            // Three standard errors of the simulation, and 0.05 for the normal approximation.
            let chance = 3.0 * (ENOUGH * (1.0 - ENOUGH) / repeats as f64).sqrt();
            assert!((share - ENOUGH).abs() < chance + 0.05, "m = {m}, test {k}: gap {gap} is rejected in {share}");
        }
    }
}

/// So many images as a report asks for do see the gap.
#[test]
fn so_many_images_are_needed() {
    let (losses, weighted) = translations(1500, 0.176, 0.2732, 0.9092, 0.25, 5);
    for (k, test) in tests().into_iter().enumerate() {
        let needed = power(test, &losses, &weighted).needed[2].unwrap();
        let share = simulated(test, &losses, &weighted, 0.02, needed as usize, 400);
        println!("test {k}: {needed} images, rejected {share:.3}");
        assert!((share - ENOUGH).abs() < 0.11, "test {k}: {needed} images are rejected in {share}");
    }
}

/// Numbers of images for 80% power that an independent simulation in Python found, 160 and 600 samples for each size, within 15%.
#[test]
fn numbers_of_images_known_from_simulation() {
    // R_S, share of the errors that others were moved to, how fast the numbers of movers fall, share moved there; betting test, Eq. 7.
    let cases = [
        (0.176, 0.27325, 0.9092, 0.252, 363_000, 639_000),
        (0.01, 0.4, 0.21164, 0.015546, 2003, 8436),
        (0.01, 0.4, 0.59695, 0.013017, 9346, 27_635),
        (0.05, 0.4, 0.59472, 0.064879, 1768, 5725),
    ];
    for (error, reached, ratio, fooled, betting, pairwise) in cases {
        // Every kind of image as often as its probability says, 0.00001 at least.
        let total: f64 = (0..120).map(|k| f64::powi(ratio, k)).sum();
        let (mut losses, mut weighted) = (vec![], vec![]);
        let mut add = |loss, weight, share: f64| {
            let n = (share * 1e6).round() as usize;
            losses.extend(std::iter::repeat_n(loss, n));
            weighted.extend(std::iter::repeat_n(weight, n));
        };
        add(0.0, 0.0, 1.0 - error - fooled);
        add(1.0, 1.0, error * (1.0 - reached));
        for k in 0..120 {
            let (h, p) = (1.0 / (2.0 + f64::from(k)), f64::powi(ratio, k) / total);
            add(1.0, h, error * reached * p);
            add(0.0, h, fooled * p);
        }
        let law = Law::of(&losses, &weighted);
        for (test, known) in [(tests()[0], betting), (Planned::Pairwise { range: 1.5, delta: DELTA }, pairwise)] {
            let needed = test.needed(&law).unwrap() as f64;
            println!("T = {:.6}: {needed} images, simulated {known}", law.gap());
            assert!((needed / f64::from(known) - 1.0).abs() < 0.15, "{needed} images, simulated {known}");
        }
    }
}

/// No power: the largest gap that there could have been would be missed too often; one more sure of it has power.
#[test]
fn no_power_means_less_than_80_percent_against_the_largest_gap() {
    let two_sided = tests()[0];
    for (positive, m) in [(5, 100), (8, 100), (20, 100), (8, 1000), (14, 1000), (30, 1000)] {
        let t: Vec<f64> = (0..m).map(|i| if i < positive { 0.1 } else { 0.0 }).collect();
        let found = power(two_sided, &vec![0.0; m], &t);
        assert!((found.largest - positive as f64 * 0.5 / m as f64).abs() < 1e-12);
        let best: Vec<f64> = (0..m).map(|i| if i < positive { 0.5 } else { 0.0 }).collect();
        let share = simulated(two_sided, &vec![0.0; m], &best, found.largest, m, 400);
        println!("{positive} of {m}: power {:.3}, simulated {share:.3}", found.against_largest);
        assert!((share - found.against_largest).abs() < 0.15, "{positive} of {m}: {} {share}", found.against_largest);
    }
    assert_eq!(power(two_sided, &[0.0; 50], &[0.0; 50]).against_largest, 0.0);
}

/// Nothing is claimed beyond what such images can show.
#[test]
fn what_images_do_not_show_is_not_claimed() {
    for test in tests() {
        let nothing = power(test, &[0.0; 300], &[0.0; 300]);
        assert!(nothing.gap.is_none() && nothing.needed == [None; 3]);
        let errors = power(test, &[1.0; 300], &[0.5; 300]);
        assert!(errors.gap.is_none() && errors.needed == [None; 3]);
        // T_i of 0.01 at most can't have the mean 0.02.
        let small: Vec<f64> = (0..300).map(|i| if i % 2 == 0 { 0.01 } else { 0.0 }).collect();
        let small = power(test, &[0.0; 300], &small);
        assert!(small.needed[0].is_some() && small.needed[2].is_none(), "{:?}", small.needed);
        for m in [1, 2, 3] {
            let few = power(test, &vec![0.0; m], &vec![0.5; m]);
            assert!(few.against_largest < ENOUGH);
        }
    }
}

/// statsmodels 0.15: `multipletests(p, method="holm")[1]`.
#[test]
fn holm_is_that_of_another_program() {
    let cases: [(&[f64], &[f64]); 4] = [
        (&[0.01, 0.04, 0.03], &[0.03, 0.06, 0.06]),
        (&[5e-6, 0.2, 0.013, 0.05, 1.0], &[2.5e-5, 0.4, 0.052, 0.15, 1.0]),
        (&[0.03, 0.03, 0.03, 0.001], &[0.09, 0.09, 0.09, 0.004]),
        (&[0.7], &[0.7]),
    ];
    for (p, wanted) in cases {
        let found = holm(p);
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{p:?}: {found:?}, not {wanted:?}");
    }
}

/// Losses and weighted losses of images, each with how many there are.
fn made(kinds: &[(f64, f64, usize)]) -> Law {
    let (mut losses, mut weighted) = (vec![], vec![]);
    for &(loss, weight, n) in kinds {
        losses.extend(vec![loss; n]);
        weighted.extend(vec![weight; n]);
    }
    Law::of(&losses, &weighted)
}

/// tests/golden/power.py: the same formulas by SciPy, the integrals of the betting test on a grid 1000 times as fine, which leaves 0.00005; all other
/// numbers are exact. Betting on two sides and on one, Eq. 7, Section 3.1.
#[test]
fn powers_are_those_of_their_formulas() {
    let range = (-8.0 / 9.0, 0.5);
    let betting = |sides| Planned::Betting(bets(range, DELTA, sides).unwrap());
    let pairwise = Planned::Pairwise { range: range.1 - range.0, delta: DELTA };
    let tests = [betting(Sides::Two), betting(Sides::One), pairwise, Planned::Interval { delta: DELTA }];
    let few = made(&[(0.0, 0.0, 880), (0.0, 0.5, 60), (0.0, 0.25, 20), (1.0, 0.5, 20), (1.0, 1.0, 20)]);
    let half = made(&[(0.0, 0.0, 300), (0.0, 0.5, 200), (1.0, 0.5, 180), (1.0, 0.2, 20), (1.0, 1.0, 300)]);
    let gain = made(&[(0.0, 0.5, 30), (0.0, 0.1, 10)]);
    let powers = [
        // Few images, where the highest bets that there may be are what holds the betting test back.
        (&few, 20.0, [0.000000, 0.000044, 0.000000, 0.000000]),
        (&few, 60.0, [0.009692, 0.039608, 0.000000, 0.000000]),
        // Below 228.7 images the first of two-sided bets would be above the highest.
        (&few, 227.0, [0.456451, 0.607923, 0.000000, 0.000000]),
        (&few, 233.0, [0.499902, 0.624307, 0.000000, 0.000000]),
        (&few, 300.0, [0.667957, 0.773776, 0.000000, 0.000000]),
        (&few, 1000.0, [0.999268, 0.999766, 0.132810, 0.000000]),
        (&few, 5000.0, [1.000000, 1.000000, 1.000000, 0.867020]),
        (&gain, 20.0, [0.999819, 0.999993, 0.000000, 0.000000]),
        (&gain, 60.0, [1.000000, 1.000000, 0.989593, 0.000000]),
    ];
    // The highest bets lose on average where lower ones gain; and both gain.
    let [lost, gained] = [0.1, 0.2].map(|gap| half.tilted(gap).unwrap());
    let more = [
        (&lost, 43.0, [0.252669, 0.367469, 0.000000, 0.000000]),
        (&gained, 37.0, [0.822713, 0.903480, 0.000000, 0.000000]),
    ];
    for (law, m, wanted) in powers.into_iter().chain(more) {
        for (test, wanted) in tests.iter().zip(wanted) {
            let found = test.power(law, m);
            let near = if matches!(test, Planned::Betting(_)) { 5e-5 } else { 1e-6 };
            assert!((found - wanted).abs() < near, "{test:?} of {m}: {found}, not {wanted}");
        }
    }
    // The gap that 2000 images show, and how many show one of 0.01.
    let planned = [
        (&few, [0.009329341812, 0.008357746671, 0.020189871538, 0.043477899324], [1762.16, 1446.30, 5447.41, 24252.73]),
        (
            &half,
            [0.021267064305, 0.018992484051, 0.035399130065, 0.080938834605],
            [8783.72, 7001.80, 17904.75, 97231.92],
        ),
    ];
    for (law, gaps, images) in planned {
        for ((test, gap), images) in tests.iter().zip(gaps).zip(images) {
            let near = if matches!(test, Planned::Betting(_)) { 1e-3 } else { 1e-6 };
            let found = test.noticed(law, 2000.0).unwrap();
            assert!((found / gap - 1.0).abs() < near, "{test:?}: {found}, not {gap}");
            let needed = test.needed(&law.tilted(0.01).unwrap()).unwrap() as f64;
            // A number of images is found to 1e-4.
            assert!((needed / images - 1.0).abs() < near + 2e-4, "{test:?}: {needed}, not {images}");
        }
    }
    // Images that all speak for overfitting tell nothing of gaps below the smallest T_i.
    let all = Law::of(&[0.0; 3], &[0.3, 0.4, 0.9]);
    assert_eq!(tests.iter().map(|test| test.noticed(&all, 2000.0)).collect::<Vec<_>>(), vec![None; tests.len()]);
    let few_images = Planned::Pairwise { delta: 0.05, range: 2.0 }.noticed(&all, 20.0);
    assert!(few_images.is_none_or(|gap| gap > 0.3), "{few_images:?}");
}

/// Images of more kinds than are told apart count with their neighbours: their mean stays, and so does what they show.
#[test]
fn many_kinds_of_images_are_put_together() {
    let n = 3600;
    let weighted: Vec<f64> = (0..n).map(|i| 0.4 * f64::from(i * 7 % n) / f64::from(n)).collect();
    let losses: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 3 == 0)) * 0.5).collect();
    let law = Law::of(&losses, &weighted);
    let t: Vec<f64> = weighted.iter().zip(&losses).map(|(weighted, loss)| weighted - loss).collect();
    let mean = t.iter().sum::<f64>() / f64::from(n);
    assert!((law.gap() - mean).abs() < 1e-12, "{}, not {mean}", law.gap());
    let gap = 0.02;
    let tilted = law.tilted(gap).unwrap();
    assert!((tilted.gap() - gap).abs() < 1e-9);
    // Tilted image by image, for Eq. 7 alone.
    let moments = |tilt: f64| {
        let total: f64 = t.iter().map(|t| (tilt * t).exp()).sum();
        let moment = |k: i32| t.iter().map(|t| t.powi(k) * (tilt * t).exp()).sum::<f64>() / total;
        (moment(1), moment(2) - moment(1).powi(2))
    };
    let (mut lo, mut hi) = (-100.0, 100.0);
    for _ in 0..80 {
        let middle = 0.5 * (lo + hi);
        if moments(middle).0 < gap { lo = middle } else { hi = middle }
    }
    let (m, variance) = (3600.0, moments(lo).1);
    let test = Planned::Pairwise { range: 1.0, delta: DELTA };
    let l = (3.0 / DELTA).ln() / m;
    let beyond = (gap - (2.0 * variance * l).sqrt() - 3.0 * l) / (variance / m).sqrt();
    // Neighbours differ by less than 0.002 in T, so their variance hardly changes.
    let found = normal_quantile(test.power(&tilted, m));
    assert!((found - beyond).abs() < 1e-3, "{found}, not {beyond}");
}

/// What a report says of the images that it takes, two digits each; gaps beyond what such images can show are named apart.
#[test]
fn numbers_of_images_are_said_as_far_as_they_are_known() {
    let said = [0, 9, 99, 100, 104, 105, 1_234, 12_345, 995_000, 1_250_000, 44_999_999].map(about);
    let wanted = ["0", "9", "99", "100", "100", "110", "1,200", "12,000", "1,000,000", "1,300,000", "45,000,000"];
    assert_eq!(said, wanted);
    let of = |gap, needed, least| Power {
        unit: "images",
        gap,
        needed,
        least,
        positive: 3,
        largest: 0.1,
        against_largest: 0.9,
        simulated: None,
    };
    let sentence = |gap, needed| of(gap, needed, -1.0).sentence(500);
    assert_eq!(
        of(None, [None, Some(70), Some(30)], 0.0035).sentence(500),
        "images like these 500 do not tell which gap would have been seen; all T_i are 0.0035 or more, which tells nothing of gaps of 0.001; \
         gaps of 0.005 and 0.02 need about 70 and 30"
    );
    assert_eq!(
        sentence(Some(0.0312), [Some(123_456), Some(9_870), Some(720)]),
        "500 images show a gap R_g - R_S of 0.031 with 80% power; gaps of 0.001, 0.005 and 0.02 need about 120,000, 9,900 and 720"
    );
    assert_eq!(
        sentence(Some(0.0312), [Some(5_000), Some(900), None]),
        "500 images show a gap R_g - R_S of 0.031 with 80% power; gaps of 0.001 and 0.005 need about 5,000 and 900; \
         one of 0.02 is more than such images can show"
    );
    assert_eq!(
        sentence(None, [Some(5_000), None, None]),
        "images like these 500 do not tell which gap would have been seen; one of 0.001 needs about 5,000; \
         one of 0.005 and 0.02 is more than such images can show"
    );
    assert_eq!(
        sentence(None, [None; 3]),
        "images like these 500 do not tell which gap would have been seen; gaps of 0.001, 0.005 and 0.02 are more than such \
         images can show"
    );
}
