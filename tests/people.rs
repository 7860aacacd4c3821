//! What people said: agreement, consensus and prediction-powered means against published programs (tests/golden/people.py), intervals by
//! simulation, and what is refused.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use rand::Rng;
use viva::core::{Cx, Quiet, Value, random};
use viva::estimate::tolerance::Resampling;
use viva::people::{
    Bounded, Counted, GivenAnswer, Judgements, SharesApart, Wanted, d_prime, prediction_powered, share_of_d_prime,
};
use viva::script::Session;

fn run(script: &str) -> Result<Value, String> {
    let mut session = Session::new(Rc::new(Cx::new(Box::new(Quiet))));
    session.run(Path::new("script.rhai"), script).map_err(|diagnostic| diagnostic.render(false))
}

fn said(script: &str) -> String {
    let said = run(script).err().unwrap_or_else(|| panic!("{script} runs"));
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn given(worker: usize, item: usize, answer: impl ToString) -> GivenAnswer {
    GivenAnswer {
        worker: worker.to_string(),
        item: item.to_string(),
        answer: Some(answer.to_string()),
        ..GivenAnswer::default()
    }
}

fn judgements(rows: &[GivenAnswer]) -> Judgements {
    Judgements::new(rows, None).expect("judgements")
}

/// The crowd of tests/golden/people.py.
fn crowd() -> Vec<GivenAnswer> {
    let mut rows = vec![];
    for w in 0..5 {
        for i in (0..40).filter(|i| (w * 3 + i * 5) % 7 != 0) {
            let h = (w * 7919 + i * 104_729 + w * i * 31) % 100;
            let errs = h >= [90, 80, 70, 60, 40][w];
            let mut row = given(w, i, if errs { (i % 3 + 1 + h % 2) % 3 } else { i % 3 });
            row.about.insert("intended".into(), (i % 3).to_string());
            rows.push(row);
        }
    }
    rows
}

const HOW: Resampling = Resampling { replicates: 200, delta: 0.05, seed: 1 };

fn close(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() < within, "{found}, not {wanted}");
}

/// krippendorff 0.9.0 and irrCAC 0.4.4; the first three are also the examples A, B and C of Krippendorff (2011), who prints 0.095, 0.692 and
/// 0.743. Twelve digits, as irrCAC was asked for.
#[test]
fn agreement_is_what_krippendorff_and_irrcac_say() {
    let text = |lines: &[&str]| {
        let mut rows = vec![];
        for (worker, line) in lines.iter().enumerate() {
            let each = line.chars().enumerate().filter(|(_, answer)| *answer != '.');
            rows.extend(each.map(|(item, answer)| given(worker, item, answer)));
        }
        rows
    };
    let mut skewed = vec![];
    for w in 0..4 {
        skewed.extend((0..50).map(|i| given(w, i, usize::from((w * 7919 + i * 104_729 + w * i * 31) % 100 >= 95))));
    }
    let cases = [
        (text(&["0100000010", "1110010000"]), 0.095_238_095_238_1, 0.310_344_827_586, 0.6),
        (
            text(&["aabbdcccedda", "babbbcccedddd".get(..12).expect("twelve")]),
            0.691_964_285_714_3,
            0.689_655_172_414,
            0.75,
        ),
        (
            text(&["123321412...", "1233224125.3", ".3332342251.", "12332441251."]),
            0.743_421_052_631_6,
            0.775_444_068_127,
            0.818_181_818_182,
        ),
        (crowd(), 0.268_933_224_755_7, 0.266_225_060_192, 0.51),
        // Nearly all say 0: alpha falls below chance, AC1 does not.
        (skewed, -0.052_910_052_910_1, 0.792_713_067_049, 0.826_666_666_667),
    ];
    for (rows, alpha, ac1, percent) in cases {
        let found = judgements(&rows).agreement(&Cx::default(), &HOW).expect("agreement");
        close(found.alpha.expect("an alpha").value, alpha, 1e-11);
        close(found.ac1.value, ac1, 1e-11);
        close(found.percent.value, percent, 1e-11);
        for Bounded { value, lo, hi } in [found.alpha.expect("an alpha"), found.ac1, found.percent] {
            assert!(lo < value && value < hi, "{lo} {value} {hi}");
        }
    }
}

/// crowd-kit 1.4.2 with 3000 steps. It stops rounding at 1e-10, and neither is at the very end of its way: seven digits.
#[test]
fn consensus_is_what_crowd_kit_says() {
    let judgements = judgements(&crowd());
    let found = judgements.consensus(&Cx::default(), 3000).expect("a consensus");
    let word = |name: &str| judgements.number_of(name).expect("a word") as usize;
    let places = [0, 1, 2].map(|name| word(&name.to_string()));
    let of = |values: &[f64]| places.map(|place| values[place]);
    let all_close = |found: [f64; 3], wanted: [f64; 3]| (0..3).for_each(|i| close(found[i], wanted[i], 1e-7));
    all_close(of(&found.prior), [0.348_296_891, 0.359_201_533, 0.292_501_575]);
    let wanted = BTreeMap::from([
        ("0", [0.976_046_775, 0.023_953_225, 0.0]),
        ("1", [0.0, 0.997_409_888, 0.002_590_112]),
        ("5", [0.0, 0.804_576_963, 0.195_423_037]),
        ("16", [0.0, 0.887_975_424, 0.112_024_576]),
        ("23", [0.0, 0.205_823_383, 0.794_176_617]),
        ("38", [0.0, 0.355_637_093, 0.644_362_907]),
    ]);
    let mut seen = 0;
    for item in &found.items {
        if let Some(wanted) = wanted.get(judgements.items[item.item as usize].as_str()) {
            all_close(of(&item.probability), *wanted);
            seen += 1;
        }
    }
    assert_eq!(seen, wanted.len());
    let careless = found.workers.iter().find(|worker| worker.worker == "4").expect("the last worker");
    all_close(of(&careless.answers[word("1")]), [0.191_840_340, 0.642_914_502, 0.165_245_158]);
    let right =
        |item: &&viva::people::ItemConsensus| judgements.intended(item.item) == item.answer().map(|word| word as u32);
    assert_eq!(found.items.iter().filter(right).count(), 37);
}

/// ppi-python 0.2.3, with and without its tuned lambda.
#[test]
fn prediction_powered_means_are_those_of_ppi_python() {
    let network = |i: usize| 0.05 + 0.9 * (i * 37 % 101) as f64 / 100.0;
    let person = |i: usize| f64::from((i * 37 % 101) as f64 / 100.0 + 1.5 * ((i * 53 % 29) as f64 / 29.0 - 0.5) > 0.45);
    let people: Vec<f64> = (0..60).map(person).collect();
    let seen: Vec<f64> = (0..60).map(network).collect();
    let others: Vec<f64> = (60..560).map(network).collect();
    for (tuned, wanted) in [
        (false, [0.504_476, 0.388_289_133_248_722_3, 0.620_662_866_751_277_8]),
        (true, [0.503_362_757_740_466_1, 0.388_469_356_776_306_8, 0.618_256_158_704_625_4]),
    ] {
        let found = prediction_powered(&people, &seen, &others, tuned, 0.05).expect("a mean").mean;
        [found.value, found.lo, found.hi].iter().zip(wanted).for_each(|(found, wanted)| close(*found, wanted, 1e-9));
    }
}

/// Where all but a few answers are equal an interval by the normal distribution is too narrow: exact coverage of 100 answers with a share of 0.97 is 0.84.
#[test]
fn shares_near_one_are_told_of() {
    let with = |differ: usize| {
        let people: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i >= differ))).collect();
        let network: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
        prediction_powered(&people, &network, &network, true, 0.05).expect("a mean").cautions.text()
    };
    assert!(with(3).contains("of 100 of people's answers all but 3 are equal") && with(20).is_empty(), "{}", with(20));
    let unknown = prediction_powered(&[1.0, f64::NAN], &[1.0, 0.0], &[1.0, 0.0], true, 0.05);
    assert!(unknown.is_err_and(|error| error.message.contains("no finite number")));
}

/// Of six workers five are one person; of a crowd that errs by itself nobody is told of.
#[test]
fn one_person_under_several_names_is_told_of() {
    let mut rows = vec![];
    for item in 0..40 {
        let of = |worker: usize| (item + usize::from((item * 7 + worker * 13) % 10 < 3)) % 3;
        rows.extend((0..5).map(|worker| given(worker, item, of(0))));
        rows.push(given(5, item, of(5)));
    }
    let told = judgements(&rows).cautions.text();
    assert!(
        told.contains(
            "10 pairs of workers answered all alike that they both judged, the first of them 0 and 1 on 40 items"
        ),
        "{told}"
    );
    assert_eq!(judgements(&crowd()).cautions.text(), "");
}

/// scipy 1.12.0, by quadrature and root finding; for two, sqrt(2) Phi^-1(P) as well.
#[test]
fn d_prime_is_what_quadrature_says() {
    for (share, alternatives, wanted) in [
        (0.5, 10, 1.474_827_258_981_483),
        (0.76, 2, 0.998_862_663_507_324_9),
        (0.6, 10, 1.769_962_195_087_474_7),
        (0.05, 10, -0.413_439_527_698_346_6),
        (0.99, 4, 3.796_956_017_801_571_5),
        (0.1, 10, 0.0),
        (0.5, 2, 0.0),
    ] {
        close(d_prime(share, alternatives), wanted, 1e-8);
        close(share_of_d_prime(wanted, alternatives), share, 1e-9);
    }
    assert_eq!(d_prime(1.0, 10), f64::INFINITY);
    assert_eq!(d_prime(0.0, 10), f64::NEG_INFINITY);
}

/// Crowds in which workers and items differ, and in which they don't: of 300 crowds each four deviations of 0.95 are 0.05. As fewer workers
/// are as different as they get, intervals may hold more than they say, but not less.
#[test]
fn intervals_of_shares_hold_the_share_as_often_as_they_say() {
    // Workers, items, judgements of each item; how far logits of workers and of items spread.
    for (workers, items, each, spread) in
        [(20, 60, 5, [0.0, 0.0]), (20, 60, 5, [0.6, 1.0]), (30, 40, 6, [1.0, 0.3]), (5, 60, 5, [0.5, 0.5])]
    {
        let mean = 1.2;
        let normal = |rng: &mut rand_pcg::Pcg64Mcg| (0..12).map(|_| rng.gen_range(0.0..1.0)).sum::<f64>() - 6.0;
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        let mut rng = random(99, 0);
        let truth = (0..200_000)
            .map(|_| logistic(mean + spread[0] * normal(&mut rng) + spread[1] * normal(&mut rng)))
            .sum::<f64>()
            / 200_000.0;
        const CROWDS: u64 = 300;
        let mut held = 0;
        for number in 0..CROWDS {
            let mut rng = random(7, number);
            let of_worker: Vec<f64> = (0..workers).map(|_| spread[0] * normal(&mut rng)).collect();
            let of_item: Vec<f64> = (0..items).map(|_| spread[1] * normal(&mut rng)).collect();
            let mut rows = vec![];
            for (item, of_item) in of_item.iter().enumerate() {
                for turn in 0..each {
                    // Every worker meets every other sooner or later.
                    let worker = (item + turn * (1 + item / workers % 3) * 7 + turn) % workers;
                    let yes = rng.gen_bool(logistic(mean + of_worker[worker] + of_item));
                    rows.push(given(worker, item, if yes { "yes" } else { "no" }));
                }
            }
            let how = Resampling { replicates: 100, delta: 0.05, seed: number };
            let wanted = Wanted { words: Some(vec!["yes".into()]), among: None };
            let found = judgements(&rows).shares(&Cx::default(), &wanted, &[], &how).expect("a share");
            held += i32::from(found[0].share.lo <= truth && truth <= found[0].share.hi);
        }
        let share = f64::from(held) / CROWDS as f64;
        assert!(share >= 0.90, "{workers} workers, {spread:?}: {share}");
        assert!(share <= 0.995 || workers == 5, "{workers} workers, {spread:?}: {share}");
    }
}

#[test]
fn ties_are_not_kept_and_unanswered_questions_have_no_say() {
    let found = run(r#"
        let rows = [];
        // Items 0 to 3: four, three, two and one of four say 3; of item 4 two say nothing and two say 3.
        for item in 0..5 { for worker in 0..4 {
            let answer = if item == 4 { if worker < 2 { () } else { "3" } } else if worker < 4 - item { "3" } else { "8" };
            rows.push(#{ worker: worker, item: item, intended: "3", target: item % 2, answer: answer });
        } }
        let j = people::judgements(rows, #{ answers: ["3", "8", "none"] });
        let m = j.majority(#{ seed: 1 })[0];
        let by = j.majority(#{ by: "target", seed: 1 });
        let s = j.shares(#{ seed: 1 })[0];
        [m.kept, m.ties, m.judgements, by[0].kept, by[1].kept, by[0].target, s.share, j.unanswered]"#)
    .expect("runs");
    assert_eq!(found.summary(), "[0.6, 1, 18, 0.666667, 0.5, 0, 0.666667, 2]");
}

#[test]
fn what_nobody_can_know_is_marked() {
    let found = run(r#"
        let say = |workers, items, answer| {
            let rows = [];
            for worker in 0..workers { for item in 0..items { rows.push(#{ worker: worker, item: item, answer: answer }); } }
            people::judgements(rows, #{ answers: ["yes", "no"] })
        };
        let one = say.call(1, 20, "yes").shares(#{ answer: "yes" })[0];
        let alike = say.call(10, 20, "yes");
        let all = alike.shares(#{ answer: "yes" })[0];
        let agreed = alike.agreement();
        [one.share_lo, one.share_hi, one.cautions.len, all.share_lo > 0.7 && all.share_lo < 0.9, all.share_hi, all.cautions.len,
         agreed.alpha, agreed.percent, agreed.percent_lo, agreed.percent_hi, agreed.cautions.len]"#)
    .expect("runs");
    let Value::Array(found) = found else { panic!("an array") };
    let found: Vec<String> = found.iter().map(Value::summary).collect();
    assert_eq!(found, ["0.0", "1.0", "1", "true", "1.0", "2", "()", "1.0", "()", "()", "3"]);
}

/// Majorities that single votes hardly endanger are known better than those that one vote decided, and no worse for being unanimous.
#[test]
fn majorities_near_all_are_known_well() {
    let found = run(r#"
        // One of five errs about every other item, another one each time.
        let crowd = |kept| {
            let rows = [];
            for item in 0..60 { for k in 0..5 {
                let worker = (item * 7 + k * 5) % 30;
                let errs = if item < kept { k == 0 && item % 2 == 0 } else { k < 4 };
                rows.push(#{ worker: worker, item: item, intended: "a", answer: if errs { "b" } else { "a" } });
            } }
            people::judgements(rows, #{ answers: ["a", "b"] })
        };
        let all = crowd.call(60).majority(#{ seed: 1 })[0];
        let most = crowd.call(58).majority(#{ seed: 1 })[0];
        let half = crowd.call(30).majority(#{ seed: 1 })[0];
        [all.kept, all.kept_lo > 0.85 && all.kept_lo < 0.98, all.cautions.some(|said| said.contains("the same for every item: ")),
         most.kept_lo > 0.8, most.kept_hi < 1, half.kept_lo > 0.3 && half.kept_hi < 0.7, people::difference(crowd.call(60), crowd.call(30)).p < 0.0001]"#)
    .expect("runs");
    assert_eq!(found.summary(), "[1.0, true, true, true, true, true, true]");
}

/// Names that are perhaps one, and words for no answer, count as they stand and are told; careful workers who agree are not.
#[test]
fn answers_that_are_perhaps_others_are_told() {
    let cautions = |answers: &[&str], worker: &dyn Fn(usize) -> String| {
        let rows: Vec<GivenAnswer> =
            (0..40).map(|k| GivenAnswer { worker: worker(k), ..given(0, k / 2, answers[k % answers.len()]) }).collect();
        judgements(&rows).cautions.text()
    };
    let two = |k: usize| ["Ann", "Bob"][k % 2].to_string();
    assert_eq!(cautions(&["cat", "dog", "dog"], &two), "");
    let told = cautions(&["cat", "Cat", "dog", "NA"], &two);
    assert!(told.contains("answers differ by case or blanks alone, and each counts by itself: \"Cat\" (10 times) and \"cat\" (10 times)"), "{told}");
    assert!(told.contains("\"NA\" count as answers"), "{told}");
    let told =
        cautions(&["cat", "dog", "dog"], &|k| ["Ann", "ann ", "Bob"][if k < 20 { k % 2 } else { 1 + k % 2 }].into());
    assert!(told.contains("workers differ by case or blanks alone"), "{told}");
    let mut rows = vec![];
    for item in 0..60 {
        rows.extend((0..4).map(|worker| given(worker, item, item % 10)));
        rows.extend((4..8).map(|worker| {
            given(worker, item, (item + if (item * 7 + worker * worker * 11) % 10 < 3 { worker } else { 0 }) % 10)
        }));
    }
    let told = judgements(&rows).cautions.text();
    assert!(!told.contains("0 and 1 on"), "{told}");
}

/// Two against two: no answer is more likely, and none is kept.
#[test]
fn a_tie_has_no_most_likely_answer() {
    let found = run(r#"
        let rows = [];
        for item in 0..6 { for worker in 0..4 {
            rows.push(#{ worker: worker, item: item, intended: "a", answer: if worker < 2 { "a" } else { "b" } });
        } }
        let d = people::judgements(rows).dawid_skene();
        [d.kept, d.kept_by_vote, d.ties, d.items[0].answer, d.items[0].probability, d.changed]"#)
    .expect("runs");
    assert_eq!(found.summary(), "[0.0, 0.0, 6, (), 0.5, 0]");
}

#[test]
fn what_is_no_judgement_is_refused() {
    for (script, wanted) in [
        ("people::judgements([])", "there are no judgements"),
        ("people::judgements([3])", "`rows` must hold maps, row 0 is a int"),
        ("people::judgements([#{ worker: 1, item: 2 }])", "row 0 has no `answer`"),
        ("people::judgements([#{ worker: 1, answer: 2 }])", "row 0 has no `item`"),
        ("people::judgements([#{ worker: 1, item: 2, answer: 3.5 }])", "`answer` must be a text or a whole number"),
        (
            r#"people::judgements([#{ worker: 1, item: 2, answer: "doog" }], #{ answers: ["cat", "dog"] })"#,
            "\"doog\" is none of the answers that could be given",
        ),
        ("people::judgements([#{ worker: 1, item: 2, answer: 3, seconds: -1 }])", "-1.0 seconds"),
        (
            "people::judgements([#{ worker: 1, item: 2, answer: 3, intended: 3 }, #{ worker: 2, item: 2, answer: 3, intended: 4 }])",
            "was intended as one answer here and as another there",
        ),
        (
            "people::judgements([#{ worker: 1, item: 2, answer: 3 }]).shares()",
            "nothing says what item \"2\" was intended as",
        ),
        (
            "people::judgements([#{ worker: 1, item: 2, answer: 3 }]).shares(#{ answer: \"4\" })",
            "\"4\" is none of the answers",
        ),
        (
            "people::judgements([#{ worker: 1, item: 2, answer: 3, intended: 3 }]).shares(#{ by: \"target\" })",
            "items can't be grouped by \"target\"",
        ),
        ("people::judgements([#{ worker: 1, item: 2, answer: 3 }]).agreement()", "no item was judged by two workers"),
        (
            "people::judgements([#{ worker: 1, item: 2, answer: 3 }]).not_spotted(10)",
            "\"spotted\" is none of the answers",
        ),
        ("people::prediction_powered([1, 0], [1], [1, 0])", "people judged 2 items, the network 1"),
        ("people::prediction_powered([1], [1], [1, 0])", "too few"),
        (
            "people::judgements([#{ worker: 1, item: 2, answer: () }], #{ answers: [\"a\", \"b\"] }).dawid_skene()",
            "nobody answered anything",
        ),
        ("people::d_prime(1.2, 10)", "`share` must be from 0 to 1"),
    ] {
        let found = said(script);
        assert!(found.contains(wanted), "{script}: {found}");
    }
}

#[test]
fn a_second_judgement_of_an_item_does_not_count() {
    let found = run(r#"
        let say = |answer| #{ worker: "w", item: "i", answer: answer };
        let j = people::judgements([say.call("a"), say.call("a"), say.call("b")]);
        [j.judgements, j.repeated, j.cautions[0].contains("1 of 2 judgements"), j.shares(#{ answer: "a" })[0].share]"#)
    .expect("runs");
    assert_eq!(found.summary(), "[1, 2, true, 1.0]");
}

/// An answer that nobody ever gave is true of nothing, and workers who are few are told of.
#[test]
fn an_answer_that_nobody_gave_is_true_of_no_item() {
    let found = run(r#"
        let rows = [];
        for item in 0..60 { for worker in 0..5 {
            let cat = item % 2 == 0;
            let errs = (item * 7 + worker * 13) % 10 < 3;
            rows.push(#{ worker: worker, item: item, answer: if cat != errs { "cat" } else { "dog" } });
        } }
        let of = |words| people::judgements(rows, #{ answers: words });
        let two = of.call(["cat", "dog"]).dawid_skene();
        let three = of.call(["cat", "dog", "none"]).dawid_skene();
        let alike = |a, b| { let same = true; for i in 0..60 { if a.items[i].answer != b.items[i].answer { same = false; } } same };
        let same = |n, of| { let all = []; for i in 0..n { all.push(if of > 1 && i % of == 2 { 0 } else { 1 }); } all };
        let none = people::prediction_powered(same.call(40, 1), same.call(40, 4), same.call(400, 4));
        [three.prior.none, alike.call(two, three), of.call(["cat", "dog"]).shares(#{ answer: "cat" })[0].cautions.some(|said| said.contains("5 workers are few")),
         none.cautions.some(|said| said.contains("people say the same of all 40 items"))]"#)
    .expect("runs");
    assert_eq!(found.summary(), "[0.0, true, true, true]");
}

/// Whether two sets of items differ is asked of other workers, too: where each worker has a share of their own, by the same law for both sets, a test
/// that takes items for independent rejects a third of the time.
#[test]
fn a_difference_between_sets_is_not_that_of_their_workers() {
    let cx = Cx::new(Box::new(Quiet));
    let wanted = Wanted { words: Some(vec!["yes".into()]), among: None };
    let (mut of_shares, mut of_fisher, mut covered, studies) = (0, 0, 0, 300);
    for study in 0..studies {
        let mut rng = random(7, study);
        let mut half = |items: usize, workers: usize, each: usize| {
            let lenient: Vec<f64> = (0..workers).map(|_| rng.r#gen()).collect();
            let mut rows = vec![];
            for item in 0..items {
                for place in 0..each {
                    let worker = (item * each + place) % workers;
                    let yes = rng.r#gen::<f64>() < lenient[worker];
                    rows.push(given(worker, item, if yes { "yes" } else { "no" }));
                }
            }
            Judgements::new(&rows, Some(vec!["yes".into(), "no".into()])).expect("judgements")
        };
        let (first, second) = (half(45, 9, 3), half(45, 9, 3));
        let how = Resampling { seed: study, ..HOW };
        let found = SharesApart::new(&cx, [&first, &second], &wanted, Counted::Items, &how).expect("a difference");
        of_shares += usize::from(found.p < 0.05);
        covered += usize::from(found.difference.lo <= 0.0 && found.difference.hi >= 0.0);
        // Zou and Donner's Equation 2, of the intervals of both.
        let (a, b, apart) = (found.first.share, found.second.share, found.difference);
        close(apart.lo, apart.value - ((a.value - a.lo).powi(2) + (b.hi - b.value).powi(2)).sqrt(), 1e-12);
        close(apart.hi, apart.value + ((a.hi - a.value).powi(2) + (b.value - b.lo).powi(2)).sqrt(), 1e-12);
        assert!((found.p < 0.025) == (apart.lo > 0.0), "{}", found.p);
        let kept = |share: f64| (share * 45.0).round() as u64;
        let fisher = viva::maths::shares::fisher(kept(found.first.share.value), 45, kept(found.second.share.value), 45);
        of_fisher += usize::from(fisher.expect("a p-value") < 0.05);
    }
    assert!(of_shares < 25 && covered > 275 && of_fisher > 45, "{of_shares} {of_fisher} {covered} of {studies}");
}
