//! Where failures gather: rules that are found on one part of the questions and confirmed on another, against what was planted.

#![allow(clippy::unwrap_used)]

use std::rc::Rc;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use viva::core::{Cx, Value};
use viva::maths::shares::CountedShare;
use viva::maths::weakness::{BinnedQuestions, Bins, Rule, RuleSearch, Stratum, clustered_p, stratified_p};
use viva::script::{Diagnostic, Session};

const HOW: RuleSearch = RuleSearch { rules: 5, conditions: 3, fewest: 20 };

/// A condition of what is planted: a factor and its bins from one to before another.
type Planted = Vec<(usize, usize, usize)>;

/// Questions to objects that fail by chance, each as often as it does, and under the planted conditions with probability `inside`.
fn asked(rng: &mut Pcg64Mcg, objects: usize, each: usize, planted: &Planted, inside: f64) -> BinnedQuestions {
    let ordered = Bins { count: 40, ordered: true };
    let factors =
        [vec![ordered; 7], vec![Bins { count: 3, ordered: false }, Bins { count: 5, ordered: false }]].concat();
    let mut questions = BinnedQuestions { factors: factors.clone(), ..Default::default() };
    for object in 0..objects {
        // Some fail nearly always, wherever they are looked at from.
        let own = if rng.gen_bool(0.05) { 0.9 } else { 0.2 * rng.r#gen::<f64>() };
        for _ in 0..each {
            let setting: Vec<u16> = factors.iter().map(|factor| rng.gen_range(0..factor.count) as u16).collect();
            let within = planted.iter().all(|(factor, from, to)| (*from..*to).contains(&usize::from(setting[*factor])));
            questions.bins.extend(&setting);
            questions.objects.push(object as u32);
            questions.failed.push(rng.gen_bool(if within && !planted.is_empty() { own.max(inside) } else { own }));
        }
    }
    questions
}

fn planted(rng: &mut Pcg64Mcg, conditions: usize) -> Planted {
    let mut planted: Planted = vec![];
    while planted.len() < conditions {
        let factor = rng.gen_range(0..9);
        if planted.iter().any(|known| known.0 == factor) {
            continue;
        }
        planted.push(match factor {
            7 => {
                let choice = rng.gen_range(0..3);
                (7, choice, choice + 1)
            }
            8 => {
                let choice = rng.gen_range(0..5);
                (8, choice, choice + 1)
            }
            _ => {
                let from = [0, 28, rng.gen_range(1..28)][rng.gen_range(0..3)];
                (factor, from, from + 12)
            }
        });
    }
    planted.sort_unstable();
    planted
}

/// What is confirmed at 0.05 on the questions between those that rules were found on.
fn confirmed(questions: &BinnedQuestions) -> Vec<Rule> {
    let rules = questions.filter(|question| question % 2 == 0).rules::<()>(&HOW, || Ok(())).expect("nothing stops it");
    let fresh = questions.filter(|question| question % 2 == 1);
    let mut left = fresh.clone();
    let count = rules.len() as f64;
    let mut named = vec![];
    for rule in rules {
        if stratified_p(&left.strata(&rule)) * count <= 0.05 {
            named.push(rule.clone());
        }
        left = left.filter(|question| !rule.holds(left.setting(question)));
    }
    named
}

/// Of 20 conjunctions of two factors and 20 of three, at least 18 are named, by their own factors; of 40 models whose failures have nothing to
/// do with any factor no more than 1 in 20 has one named.
#[test]
fn planted_weaknesses_are_named_and_healthy_models_have_none() {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    for conditions in [2, 3] {
        let mut found = 0;
        let mut like = vec![];
        for _ in 0..20 {
            let planted = planted(&mut rng, conditions);
            let questions = asked(&mut rng, 60, 100, &planted, 0.7);
            let Some(first) = confirmed(&questions).into_iter().next() else { continue };
            let factors: Vec<usize> = first.conditions.iter().map(|condition| condition.factor).collect();
            found += usize::from(factors == planted.iter().map(|known| known.0).collect::<Vec<_>>());
            let (mut both, mut either) = (0, 0);
            for question in 0..questions.len() {
                let setting = questions.setting(question);
                let wanted =
                    planted.iter().all(|(factor, from, to)| (*from..*to).contains(&usize::from(setting[*factor])));
                both += usize::from(wanted && first.holds(setting));
                either += usize::from(wanted || first.holds(setting));
            }
            like.push(both as f64 / either as f64);
        }
        like.sort_by(f64::total_cmp);
        assert!(found >= 18, "{found} of 20 with {conditions} conditions");
        assert!(like[like.len() / 2] > 0.85, "{like:?}");
    }
    let named = (0..40).filter(|_| !confirmed(&asked(&mut rng, 60, 100, &vec![], 0.0)).is_empty()).count();
    assert!(named <= 2, "{named} of 40 healthy models");
}

/// Against all ways in which failures can fall among an object's questions, counted one by one.
#[test]
fn the_exact_probability_is_that_of_counting() {
    let strata = [
        Stratum { asked: 5, failed: 2, within: 2, failed_within: 2 },
        Stratum { asked: 4, failed: 3, within: 2, failed_within: 2 },
        Stratum { asked: 3, failed: 3, within: 1, failed_within: 1 },
    ];
    let seen: u64 = strata.iter().map(|stratum| stratum.failed_within).sum();
    let ways = |stratum: &Stratum| -> Vec<u64> {
        (0u32..1 << stratum.asked)
            .filter(|set| u64::from(set.count_ones()) == stratum.failed)
            .map(|set| u64::from((set & ((1 << stratum.within) - 1)).count_ones()))
            .collect()
    };
    let [a, b, c] = [&strata[0], &strata[1], &strata[2]].map(ways);
    let (mut many, mut all) = (0, 0);
    for x in &a {
        for y in &b {
            for z in &c {
                many += u64::from(x + y + z >= seen);
                all += 1;
            }
        }
    }
    let found = stratified_p(&strata);
    assert!((found - many as f64 / all as f64).abs() < 1e-12, "{found} where {many} of {all}");
    assert_eq!(stratified_p(&[]), 1.0);
    assert_eq!(
        stratified_p(&[Stratum { asked: 4, failed: 4, within: 2, failed_within: 2 }]),
        1.0,
        "failing everywhere says nothing"
    );
}

/// Objects of which some fail much more often than others: the interval over objects holds the share in 92 to 99% of crowds, that
/// of independent questions in far fewer.
#[test]
fn intervals_over_objects_hold_the_share() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let (truth, times) = (0.3, 1000);
    let (mut inside, mut by_question) = (0, 0);
    for _ in 0..times {
        let groups: Vec<(u64, u64)> = (0..25)
            .map(|_| {
                let own = if rng.gen_bool(truth) { 0.9 } else { 0.3 * (1.0 - 0.9) / (1.0 - 0.3) };
                let of = rng.gen_range(5..30);
                ((0..of).filter(|_| rng.gen_bool(own)).count() as u64, of)
            })
            .collect();
        let truth = truth * 0.9 + (1.0 - truth) * (0.3 * (1.0 - 0.9) / (1.0 - 0.3));
        let holds = |share: CountedShare| (share.lo..=share.hi).contains(&truth);
        inside += usize::from(holds(CountedShare::clustered(&groups)));
        let (yes, of) = groups.iter().fold((0, 0), |(yes, of), group| (yes + group.0, of + group.1));
        by_question += usize::from(holds(CountedShare::new(yes as usize, of as usize)));
    }
    assert!((920..=990).contains(&inside), "{inside} of {times}");
    assert!(by_question < 700, "{by_question} of {times}");
}

/// Grey images of ten objects, wrong from a height of 6 up where the light is below 0.2 and the ground is not sand.
const LIT: &str = r#"
let factors = [
    #{ name: "height", min: 0, max: 10 }, #{ name: "light", min: 0.01, max: 1, log: true },
    #{ name: "ground", choices: ["sand", "snow", "grass"] }, #{ name: "tilt", min: -30, max: 30 },
];
let space = space::factors(factors, |z, s| z * 0 + if s.height >= 6 && s.light < 0.1 && s.ground != "sand" { 1.0 } else { 0.0 });
let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.5, on], 1) }, #{ classes: 2 });
let ds = data::from(tensor::zeros([10, 1, 1, 1]), tensor::zeros([10]).values(), #{ classes: ["off", "on"] });
let asked = |search, seed| examine(f, ds, #{ space: space, search: search, seed: seed });
let t = asked.call(search::random(#{ questions: 200 }), 1);
"#;

fn run(script: &str) -> std::result::Result<Value, Box<Diagnostic>> {
    Session::new(Rc::new(Cx::default())).evaluate("test", &format!("{LIT}{script}"))
}

fn told(script: &str) -> String {
    run(script).unwrap_or_else(|error| panic!("{}", error.render(false))).summary()
}

#[test]
fn a_weakness_is_said_in_the_factors_own_words() {
    assert_eq!(
        told("robustness::weaknesses(t).named.map(|w| w.rule)"),
        "[height above 6 and light below 0.1 and ground not sand]"
    );
    let conditions = told("robustness::weaknesses(t).named[0].conditions");
    assert!(conditions.contains("height: [6.0, 10.0]") && conditions.contains("ground: [snow, grass]"), "{conditions}");
    // Four tenths of the heights, half of the light's range in the logarithm, two grounds of three.
    let share = told(
        "let w = robustness::weaknesses(t).named[0]; abs(w.settings - 0.4 * 0.5 * 2 / 3) < 1e-9 && w.wrong == 1.0 && w.failing == 10",
    );
    assert_eq!(share, "true");
    assert_eq!(told("robustness::weaknesses(t).elsewhere"), "0.0");
    let sentence = told("robustness::weaknesses(t)");
    assert!(sentence.contains("100% [") && sentence.contains("13% of settings, 10 of 10 objects"), "{sentence}");
}

#[test]
fn examples_are_fresh_questions_that_failed_objects_in_turn() {
    let all = told(
        "let e = robustness::weaknesses(t).examples(0, #{ n: 12 }); [e.id == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1], e.answered[0], e.label[0], e.images.min(), e.rule]",
    );
    assert!(all.starts_with("[true, on, off, 1.0, height above 6"), "{all}");
    let error = run("robustness::weaknesses(t).examples(3)").err().unwrap().render(false);
    assert!(error.contains("no weakness 3: 1 is named"), "{error}");
}

#[test]
fn a_model_that_fails_anywhere_alike_has_none() {
    let never = told(
        "robustness::weaknesses(examine(model::from(|x| tensor::concat([x.reshape([-1, 1]) * 0 + 1, x.reshape([-1, 1]) * 0], 1), #{ classes: 2 }), ds, \
        #{ space: space, search: search::random(#{ questions: 50 }), seed: 1 }))",
    );
    assert!(
        never.starts_with(
            "no weakness named, of 0 rules found on 250 questions and asked again on 250; 0% wrong elsewhere"
        ),
        "{never}"
    );
}

#[test]
fn what_was_chosen_confirms_nothing() {
    let refused = |script: &str| run(script).err().unwrap().render(false);
    let chosen = refused("robustness::weaknesses(asked.call(search::bayes(#{ questions: 5 }), 1))");
    assert!(chosen.contains("no uniform draws") && chosen.contains("`fresh`"), "{chosen}");
    assert!(
        refused("robustness::weaknesses(t, #{ fresh: asked.call(search::bayes(#{ questions: 5 }), 2) })")
            .contains("no uniform draws")
    );
    assert!(refused("robustness::weaknesses(t, #{ fresh: t })").contains("has questions that rules were found on"));
    assert!(refused("robustness::weaknesses(asked.call(search::random(#{ questions: 2 }), 1))").contains("too few"));
    let other = "let more = data::from(tensor::zeros([3, 1, 1, 1]), [0, 0, 0], #{ classes: [\"off\", \"up\"] }); \
        robustness::weaknesses(t, #{ fresh: examine(f, more, #{ space: space, search: search::random(#{ questions: 50 }), seed: 2 }) })";
    assert!(refused(other).contains("another set of classes"), "{}", refused(other));
    assert!(refused("robustness::weaknesses(t, #{ conditions: 0 })").contains("conditions"));
    // With another seed they are fresh, and what was chosen may be where rules are found.
    assert_eq!(
        told(
            "let fresh = asked.call(search::random(#{ questions: 100 }), 2); robustness::weaknesses(t, #{ fresh: fresh }).named[0].questions > 80"
        ),
        "true"
    );
}

/// Rules that were found and confirmed on the same objects are of these, which is said; of other objects they are confirmed object by object.
#[test]
fn what_holds_of_these_objects_need_not_hold_of_others() {
    let same =
        told("robustness::weaknesses(t).cautions.some(|said| said.contains(\"confirmed on the same 10 objects\"))");
    assert_eq!(same, "true");
    let others = "let more = data::from(tensor::zeros([30, 1, 1, 1]) + 0.1, tensor::zeros([30]).values(), #{ classes: [\"off\", \"on\"] }); \
        let fresh = examine(f, more, #{ space: space, search: search::random(#{ questions: 50 }), seed: 2 }); \
        let w = robustness::weaknesses(t, #{ fresh: fresh });";
    assert_eq!(told(&format!("{others} w.named.len()")), "1");
    assert_eq!(told(&format!("{others} w.cautions.some(|said| said.contains(\"the same\"))")), "false");
    assert_eq!(told(&format!("{others} w.objects")), "30");
}

/// Objects that fail under a rule and objects that fail elsewhere, as many of each: of such objects no rule is more than chance, however many
/// questions each was asked.
#[test]
fn a_few_objects_decide_by_how_they_differ() {
    let stratum = |within: u64, without: u64| Stratum {
        asked: 200,
        failed: within + without,
        within: 100,
        failed_within: within,
    };
    let uneven: Vec<Stratum> =
        [(90, 10), (85, 5), (10, 70), (20, 60), (80, 30), (15, 75)].map(|(a, b)| stratum(a, b)).into();
    let mut more = uneven.clone();
    more.push(stratum(99, 1));
    assert!(stratified_p(&more) < 1e-9);
    assert!(clustered_p(&more) > 0.1, "{}", clustered_p(&more));
    // scipy.stats.ttest_1samp([0.8, 0.8, -0.6, -0.4, 0.5, -0.6, 0.98], 0, alternative="greater").pvalue
    assert!((clustered_p(&more) - 0.231_532_174_8).abs() < 1e-9, "{}", clustered_p(&more));
    let alike: Vec<Stratum> = [(90, 10), (85, 5), (80, 20), (95, 12)].map(|(a, b)| stratum(a, b)).into();
    // No less than by the sign test: four objects can't tell more, however alike they are.
    assert_eq!(clustered_p(&alike), 0.0625);
    assert_eq!(clustered_p(&[stratum(90, 1)]), 1.0);
}
