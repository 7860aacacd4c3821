//! Calibration against netcal and scikit-learn (tests/golden/calibration.py), by simulation, and what it says of itself.

use std::path::Path;
use std::rc::Rc;

use rand::Rng;
use viva::core::{Cx, Quiet, Value, random};
use viva::maths::calibration::{Answer, Bin, Binning, Error, bins, known};
use viva::script::Session;

/// The data and the scores of tests/golden/calibration.py: pixels are scores that are brought to [0, 1], and the model takes them back.
const GOLDEN: &str = r#"
    let scores = [];
    let labels = [];
    for i in 0..200 {
        let best = 0;
        let most = -9.0;
        for k in 0..7 {
            let score = 3.0 * sin(1.7 * i + 2.3 * k * k + 0.4 * i * k);
            scores.push(score);
            if score > most { most = score; best = k; }
        }
        labels.push(if (i * 13) % 10 < 6 { best } else { (i * 5) % 7 });
    }
    let scores = tensor::from(scores).reshape([200, 7]);
    let ds = data::from((scores / 6 + 0.5).reshape([200, 1, 1, 7]), labels, #{ classes: ["a", "b", "c", "d", "e", "f", "g"] });
    let f = model::from(|x| (x.reshape([x.len(), 7]) - 0.5) * 6, #{ classes: 7 });
    let how = #{ space: space::noise(), search: search::sweep(), levels: [0], measures: ["confidence", "nll", "brier", "top5", "entropy"] };
    let t = examine(f, ds, how);
"#;

fn run(script: &str) -> Result<Value, String> {
    let text = format!("{GOLDEN}\n{script}");
    let mut session = Session::new(Rc::new(Cx::new(Box::new(Quiet))));
    session.run(Path::new("script.rhai"), &text).map_err(|diagnostic| diagnostic.render(false))
}

fn said(script: &str) -> String {
    let said = run(script).err().unwrap_or_else(|| panic!("{script} runs"));
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// netcal 1.4.0 and scikit-learn 1.9.1 in float64; pixels and scores are float32 here, which leaves 1e-5.
#[test]
fn calibration_is_what_netcal_and_scikit_learn_say() {
    let found = run(r#"
        let of = |how| calibration::measure(t, how + #{ seed: 1, replicates: 100 });
        let wide = of.call(#{});
        let ten = of.call(#{ bins: 10 });
        let mass = of.call(#{ bins: 10, binning: "mass" });
        let twenty = of.call(#{ bins: 20, binning: "mass" });
        [wide.ece, wide.mce, ten.ece, ten.mce, mass.ece, mass.mce, twenty.ece, twenty.mce, wide.nll, wide.brier, wide.accuracy,
         wide.confidence, t.mean("nll"), t.mean("brier"), t.mean("top5"), t.mean("entropy")]"#)
    .expect("runs");
    let wanted = [
        0.1986661737086807, // netcal's ECE(15)
        0.5455001753113035, // its MCE(15)
        0.1918996537733496, // its ECE(10)
        0.4835862939605433, // its MCE(10)
        0.18290642877351032,
        0.5164662386715838,
        0.21091289130040317,
        0.5930564558151057,
        1.7037870601238039, // log_loss
        0.6422287667205557, // brier_score_loss without halving
        0.675,              // accuracy_score
        0.5170278570599228,
        1.7037870601238039,
        0.6422287667205557,
        0.9, // top_k_accuracy_score
        1.6706555212151881,
    ];
    let Value::Array(found) = found else { panic!("{}", found.summary()) };
    assert_eq!(found.len(), wanted.len());
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let Value::Float(found) = found else { panic!("{}", found.summary()) };
        assert!((found - wanted).abs() < 1e-5, "{i}: {found} in place of {wanted}");
    }
}

/// Answers that are right with these probabilities.
fn answers(n: usize, stream: u64, right: impl Fn(f64) -> f64) -> Vec<Answer> {
    let mut rng = random(5, stream);
    (0..n)
        .map(|_| {
            // Most are sure, as those of networks.
            let confidence = 1.0 - 0.7 * rng.gen_range(0.0f64..1.0).powi(2);
            Answer { confidence, right: rng.gen_range(0.0..1.0) < right(confidence).clamp(0.0, 1.0) }
        })
        .collect()
}

/// The error in these bins of answers that are right as often as their probabilities say.
fn truth(bins: &[Bin], error: Error, right: impl Fn(f64) -> f64) -> f64 {
    let filled = || bins.iter().filter(|bin| bin.count() > 0);
    let gap = |bin: &Bin| {
        let p: f64 = bin.confidences.iter().map(|c| right(*c).clamp(0.0, 1.0)).sum();
        (p / bin.count() as f64 - bin.confidence()).abs()
    };
    match error {
        Error::Maximum => filled().map(gap).fold(0.0, f64::max),
        Error::Expected => {
            let n: f64 = filled().map(|bin| bin.count() as f64).sum();
            filled().map(|bin| gap(bin) * bin.count() as f64).sum::<f64>() / n
        }
    }
}

/// Of a calibrated model the error that is found is what chance makes of it, and its interval holds 0; of others it holds the
/// error that answers without end would show. Of 60 samples a right interval at 95% misses more than 8 in 1 of 250 cases.
#[test]
fn intervals_hold_the_error_where_what_is_found_is_too_large() {
    type Law = fn(f64) -> f64;
    let laws: [(&str, Law); 4] = [
        ("calibrated", |c| c),
        ("surer than right", |c| c - 0.1),
        ("right more often than sure", |c| c + 0.05),
        ("both", |c| if c < 0.8 { c + 0.15 } else { c - 0.1 }),
    ];
    for (name, law) in laws {
        for (n, binning) in [(100, Binning::Width), (600, Binning::Mass)] {
            let (mut held, mut found, mut by_chance) = ([0, 0], 0.0, 0.0);
            const SAMPLES: u64 = 60;
            for sample in 0..SAMPLES {
                let answers = answers(n, sample, law);
                let bins = bins(&answers, 10, binning);
                for (place, error) in [Error::Expected, Error::Maximum].into_iter().enumerate() {
                    let known = known(&bins, error, 100, sample, &|| Ok(())).expect("works");
                    let truth = truth(&bins, error, law);
                    held[place] += u64::from(known.lo <= truth + 1e-4 && truth <= known.hi + 1e-4);
                    if error == Error::Expected {
                        found += known.value / SAMPLES as f64;
                        by_chance += known.by_chance / SAMPLES as f64;
                    }
                }
            }
            assert!(held.iter().all(|held| *held >= SAMPLES - 8), "{name}, {n}: {held:?} of {SAMPLES}");
            if name == "calibrated" {
                // The mean of 60 errors is known to about 5% here.
                assert!((found / by_chance - 1.0).abs() < 0.15, "{n}: {found}, by chance {by_chance}");
                assert!(found > 0.01, "an error without one: {found}");
            }
        }
    }
}

/// A case: answers, confidence and how many are right, by bin; the error, its mean by chance and its interval.
type Enumerated<'a> = (&'a [(u64, f64, u64)], Error, [f64; 4]);

/// tests/golden/calibration_laws.py enumerates what is drawn here. Shares of 2.5% of 4000 draws are known to a tenth, ends of intervals
/// to a fiftieth of their distance; as much comes on top where many answers are drawn from a normal law or Poisson's.
#[test]
fn intervals_are_those_of_enumerated_laws() {
    let expected = Error::Expected;
    let cases: [Enumerated; 9] = [
        (&[(20, 0.8, 10)], expected, [0.3, 0.069824, 0.071958, 0.528042]),
        (&[(20, 0.5, 11)], expected, [0.05, 0.088099, 0.0, 0.268780]),
        (&[(24, 0.6, 22)], expected, [0.316667, 0.080579, 0.130025, 0.473848]),
        (&[(400, 0.7, 220)], expected, [0.15, 0.018268, 0.100525, 0.200221]),
        (&[(400, 0.7, 280)], expected, [0.0, 0.018268, 0.0, 0.024467]),
        (&[(300, 0.99, 290)], expected, [0.023333, 0.004458, 0.006098, 0.050445]),
        (&[(300, 0.02, 14)], Error::Maximum, [0.026667, 0.006360, 0.005745, 0.057060]),
        (&[(200, 0.9, 150), (100, 0.5, 60)], expected, [0.133333, 0.024501, 0.082408, 0.187604]),
        (&[(200, 0.9, 150), (100, 0.5, 60)], Error::Maximum, [0.15, 0.043331, 0.048014, 0.242706]),
    ];
    for (counts, error, [value, by_chance, lo, hi]) in cases {
        let bins: Vec<Bin> = counts.iter().map(|&(n, said, right)| bin(n, said, right)).collect();
        let found = known(&bins, error, 4000, 3, &|| Ok(())).expect("works");
        let what = format!("{counts:?}, {error:?}: {found:?}");
        assert!((found.value - value).abs() < 1e-6, "{what}");
        assert!((found.by_chance / by_chance - 1.0).abs() < 0.05, "{what}");
        let near = 0.05 * (hi - lo);
        assert!((found.lo - lo).abs() < near && (found.hi - hi).abs() < near, "{what}, not {lo} to {hi}");
    }
    // So small an error in so many bins goes with no law: it is known no better than it is found.
    let alike: Vec<Bin> = (0..20).map(|_| bin(100, 0.501, 50)).collect();
    let found = known(&alike, expected, 400, 3, &|| Ok(())).expect("works");
    assert!((found.value - 0.001).abs() < 1e-9 && found.lo == 0.0, "{found:?}");
    assert!((found.hi - found.value).abs() < 1e-9, "{found:?}");
}

fn bin(n: u64, confidence: f64, right: u64) -> Bin {
    Bin { lo: 0.0, hi: 1.0, confidences: vec![confidence; n as usize], right }
}

#[test]
fn bins_hold_every_answer_once() {
    let answers = answers(57, 9, |c| c);
    for binning in [Binning::Width, Binning::Mass] {
        for wanted in [1, 7, 57, 100] {
            let found = bins(&answers, wanted, binning);
            assert_eq!(found.iter().map(Bin::count).sum::<u64>(), 57);
            assert!(found.iter().all(|bin| bin.confidences.iter().all(|c| (bin.lo..=bin.hi).contains(c))));
        }
    }
    // 0.2 ends the first of five bins; answers that are equally sure stay together.
    let at = |confidence: f64| Answer { confidence, right: true };
    let ends = bins(&[at(0.2), at(0.21), at(0.0), at(1.0)], 5, Binning::Width);
    assert_eq!(ends.iter().map(Bin::count).collect::<Vec<_>>(), [2, 1, 0, 0, 1]);
    let equal = bins(&[at(0.5), at(0.5), at(0.5), at(0.9)], 2, Binning::Mass);
    assert_eq!(equal.iter().map(Bin::count).collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn what_calibration_can_not_say_is_refused_or_marked() {
    assert!(
        said("calibration::measure(examine(f, ds, how + #{ measures: [\"nll\"] }))")
            .contains("needs the column \"confidence\"")
    );
    let levels = said("calibration::measure(examine(f, ds, how + #{ levels: [0, 1] }))");
    assert!(levels.contains("one row per image") && levels.contains("t.group(\"level\")"), "{levels}");
    assert!(said("calibration::measure(t.filter(|row| false))").contains("without rows"));
    let text = |script: &str| run(script).unwrap_or_else(|said| panic!("{script}: {said}")).summary();
    let part = text("calibration::measure(t.filter(|row| row.confidence > 0.9), #{ seed: 1 })");
    assert!(part.contains("caution: only ") && part.contains("chosen by their outcome"), "{part}");
    assert_eq!(text("calibration::measure(examine(f, ds, how + #{ measures: [\"confidence\"] })).nll == ()"), "true");
    let chance = text("calibration::measure(t.filter(|row| row.id < 12), #{ bins: 20, seed: 1 })");
    assert!(chance.contains("by chance alone: more images or fewer bins say more"), "{chance}");
    // Of one right answer by far and one wrong by far Student's interval is wider than the scores can be.
    let few = "let g = model::from(|x| x.reshape([x.len(), 7]) * 0 + tensor::from([[30.0, 0, 0, 0, 0, 0, 0]]), #{ classes: 7 });";
    let few = format!("{few} let c = calibration::measure(examine(g, ds.only([0, 1]).take(5), how), #{{ seed: 1 }});");
    let ends = text(&format!("{few} [c.nll > 0.0, c.nll_lo, c.brier_lo, c.brier_hi <= 2.0, c.confidence_hi <= 1.0]"));
    assert_eq!(ends, "[true, 0.0, 0.0, true, true]");
    let two = "let half = examine(f, ds.take(100), how); let a = calibration::measure(t, #{ seed: 1 });";
    let figure =
        text(&format!("{two} plot::reliability(#{{ all: a, half: calibration::measure(half, #{{ seed: 1 }}) }})"));
    assert!(figure.contains("the results are of different images"), "{figure}");
    let figure = text(&format!("{two} plot::reliability([a, calibration::measure(t, #{{ bins: 5, seed: 1 }})])"));
    assert!(figure.contains("different bins") && !figure.contains("different images"), "{figure}");
    // Probabilities are taken for scores, and every result says so.
    let doubled = text(
        "let p = model::from(|x| ((x.reshape([x.len(), 7]) - 0.5) * 6).softmax(), #{ classes: 7 });
         calibration::measure(examine(p, ds, how), #{ seed: 1 })",
    );
    assert!(doubled.contains("answers probabilities where scores before the softmax are expected"), "{doubled}");
    for mean in ["p.averaged(#{ over: space::noise(0.1), draws: 2, seed: 1 })", "p.smoothed(#{ sigma: 0.1, draws: 2 })"]
    {
        let of_mean = text(&format!(
            "let p = model::from(|x| ((x.reshape([x.len(), 7]) - 0.5) * 6).softmax(), #{{ classes: 7 }});
             calibration::measure(examine({mean}, ds, how), #{{ seed: 1 }})"
        ));
        assert!(of_mean.contains("answers probabilities"), "{of_mean}");
    }
}
