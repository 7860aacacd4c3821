//! What tests of a generator may be of, and who may be asked about them.

use std::path::Path;
use std::rc::Rc;

use viva::core::Cx;
use viva::script::Session;

use super::{refused, truths};

/// A generator whose images show their labels to `f`; `judge` reads them as well, `shifted` counts its classes from 1, `constant` says 3.
pub(super) const DRAWN: &str = r#"
    let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
    let small = #{ generator: [[net::linear(256), net::reshape(1, 16, 16)]], discriminator: [net::flatten(), net::linear(8)] };
    let g = generator::train(ds, #{ arch: small, steps: 1, batch: 8, latent: 12, seed: 1 });
    let reader = |seed| model::train(g.sample(#{ n: 400, seed: seed }), #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: seed });
    let f = reader.call(1);
    let judge = reader.call(2);
    let shifted = model::from(|x| tensor::concat([tensor::zeros([x.len(), 1]) - 50, f.logits(x)], 1), #{ classes: 11 });
    let constant = model::from(|x| f.logits(x) * 0 + tensor::from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), #{ classes: 10 });
    let told = |cautions, words| cautions.some(|said| said.contains(words));
"#;

#[test]
fn tests_that_are_of_another_numbering_are_told() {
    truths(&format!(
        r#"{DRAWN}
        let how = #{{ n: 8, draws: 300, seed: 1, oracle: [judge] }};
        let tests = generator::tests(g, shifted, how);
        let honest = generator::tests(g, f, how + #{{ n: 1, draws: 2000 }});
        let moved = g.sample(#{{ n: 400, seed: 4 }}).relabel(|row| (row.label + 1) % 10);
        let renumbered = model::train(moved, #{{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 4 }});
        let search = generator::latent_search(g, renumbered, #{{ n: 8, labels: [1, 2, 3], steps: 2, draws: 40, seed: 1, auxiliary: judge }});
        let three = generator::tests(g, f, #{{ n: 6, labels: [3], draws: 20000, seed: 1, oracle: [constant] }});
        #{{
            reads: (f.predict(g.sample(#{{ n: 100, seed: 5 }})) == g.sample(#{{ n: 100, seed: 5 }}).labels).mean() > 0.6,
            tests: told.call(tests.cautions, "number the classes of") && told.call(tests.cautions, "tests may be of that alone"),
            search: told.call(search.cautions, "number the classes of"), honest: !told.call(honest.cautions, "tests may be of that alone"),
            constant: told.call(three.cautions, "tests of one label don't tell whether it reads them"), asked: !told.call(tests.cautions, "answers class"),
        }}"#
    ));
}

/// Errors on tests say nothing against the classifier that they are tests of, but may against another.
#[test]
fn tests_count_their_own_classifiers_errors_as_meant() {
    let script = format!(
        r#"{DRAWN}
        let tests = generator::tests(g, f, #{{ n: 60, draws: 20000, seed: 1 }}).images;
        let against = generator::finetune(g, f, g.sample(#{{ n: 60, seed: 8 }}), #{{ steps: 40, batch: 16, rate: 1.0, lr: 0.01, seed: 1 }});
        let fails = against.sample(#{{ n: 200, seed: 2 }});
        #{{ own: f.accuracy(tests) == 0.0, finetuned: f.accuracy(fails) < 0.3, other: shifted.accuracy(tests) < 0.5 }}"#
    );
    let cx = Rc::new(Cx::default());
    let found = Session::new(cx.clone())
        .run(Path::new("script.rhai"), &script)
        .unwrap_or_else(|error| panic!("{}", error.render(false)));
    truths::hold(&found);
    // What the tests are is said of them.
    let (of_tests, others): (Vec<String>, Vec<String>) = cx
        .warnings()
        .into_iter()
        .partition(|told| ["images of tests", "labels of tests"].iter().any(|of| told.starts_with(of)));
    assert_eq!(of_tests.len(), 2, "{of_tests:?}");
    let [told] = &others[..] else { panic!("{others:?}") };
    assert!(told.contains("answers 11 classes, tests of trained has 10"), "{told}");
}

/// A judge that numbers classes otherwise, that reads half of the draws, or that is the classifier behind another name.
#[test]
fn judges_that_are_none_are_told() {
    truths(&format!(
        r#"{DRAWN}
        let by = |judge| generator::tests(g, f, #{{ n: 6, draws: 20000, seed: 1, oracle: [judge] }});
        let moved = model::from(|x| judge.logits(x).transpose().pick([9, 0, 1, 2, 3, 4, 5, 6, 7, 8]).transpose(), #{{ classes: 10 }});
        let cooler = model::from(|x| f.logits(x) * 0.1, #{{ classes: 10 }});
        // Whose images have lost their labels: nobody is to blame for not reading them.
        let lost = generator::finetune(g, f, g.sample(#{{ n: 60, seed: 8 }}), #{{ steps: 60, batch: 16, rate: 1.0, lr: 0.01, seed: 1 }});
        #{{
            honest: by.call(judge).cautions.filter(|said| said.contains("of the oracle")) == [],
            background: told.call(by.call(shifted).cautions, "it is of the oracle"), moved: told.call(by.call(moved).cautions, "it is of the oracle"),
            lost: judge.accuracy(lost.sample(#{{ n: 100, seed: 5 }})) < 0.5
                && !told.call(generator::tests(lost, f, #{{ n: 6, draws: 20000, seed: 1, oracle: [judge] }}).cautions, "of the oracle"),
            same: told.call(by.call(cooler).cautions, "may be the same classifier in another file"),
            perturbed: told.call(generator::perturb(g, f, #{{ n: 30, steps: 300, increment: 0.2, lr: 0.1, layers: 0..1, samples: 100, seed: 1, oracle: [cooler] }}).cautions, "may be the same classifier"),
        }}"#
    ));
}

/// Nearly one answer to all is right of one label, of which far more are drawn than of the others.
#[test]
fn tests_of_a_classifier_at_chance_are_told() {
    truths(&format!(
        r#"{DRAWN}
        // Seldom another answer, so that there are tests of each label.
        let bright = g.sample(#{{ n: 400, seed: 9 }}).images().reshape([400, -1]).mean(1).quantile(0.95);
        let nearly = model::from(|x| {{
            let seldom = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]) > bright;
            f.logits(x) * 0 + tensor::from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]) + seldom * tensor::from([0, 0, 0, 0, 2, 0, 0, 0, 0, 0])
        }}, #{{ classes: 10 }});
        let at = |f| generator::tests(g, f, #{{ n: 8, draws: 20000, seed: 1 }});
        let tests = at.call(nearly);
        #{{
            lopsided: tests.draws[3] > 50 && tests.draws[3] > 4 * tests.draws[4],
            told: told.call(tests.cautions, "better than guessing") && "tests may be of that alone" in `${{tests}}`,
            able: !told.call(at.call(f).cautions, "better than guessing"),
        }}"#
    ));
}

#[test]
fn networks_beside_people_are_such_as_can_judge() {
    let asked = r#"
        let tests = generator::tests(g, f, #{ n: 1, draws: 3000, seed: 1 });
        let task = people::task(tests, #{ kind: "label", real: g.sample(#{ n: 60, seed: 9 }), overlap: 3, seed: 1 });
        let said = [];
        for slot in 0..task.workers { for q in task.asked(slot) {
            said.push(#{ worker: slot, slot: slot, question: q.question, seconds: 2, choice: task.answers.index_of(if q.role == "test" { q.label } else { q.right[0] }) });
        } }
        let a = people::answers(task, said);
    "#;
    truths(&format!(
        r#"{DRAWN}{asked}
        #{{
            own: told.call(a.networks([f]).cautions, "which then gets them wrong by definition") || tests.images.len() < 5,
            other: !told.call(a.networks([judge]).cautions, "by definition"),
        }}"#
    ));
    refused(&format!("{DRAWN}{asked} a.networks([judge, judge])"), "twice, which would count double");
    refused(
        &format!("{DRAWN}{asked} a.networks([judge], #{{ others: tests.images }})"),
        "are among the tests that people saw",
    );
}

#[test]
fn a_table_of_transfer_knows_whom_tests_were_made_for() {
    let tests = r#"
        import "std/transfer" as transfer;
        let tests = generator::tests(g, f, #{ n: 2, draws: 3000, seed: 1, oracle: [judge] });
    "#;
    truths(&format!(
        r#"{DRAWN}{tests}
        let found = transfer::table(#{{ f: tests }}, #{{ f: f, again: f, judge: judge }}).cautions;
        let other = transfer::table(#{{ f: tests }}, #{{ f: f, other: reader.call(3) }}).cautions;
        #{{
            again: told.call(found, "again answers all"), judge: told.call(found, "judge is among those who judged the labels of tests of f"),
            other: !told.call(other, "other answers all") && !told.call(other, "judged the labels"),
        }}"#
    ));
    refused(
        &format!("{DRAWN}{tests} transfer::table(#{{ judge: tests }}, #{{ judge: judge, f: f }})"),
        "were not made for the classifier of that name",
    );
}

/// A fault that is nowhere, by poles that nothing in the images has to do with.
#[test]
fn checks_of_a_fault_are_held_against_one_answer() {
    let script = r#"
        import "std/faults" as faults;
        let ds = data::glyphs(#{ n: 400, size: 16, seed: 1 });
        let poles = []; for i in 0..400 { poles.push(if i % 20 < 19 { "plain" } else { "marked" }); }
        let how = #{ pair: ["3", "8"], epochs: 1, arch: [net::flatten(), net::linear(10)] };
    "#;
    truths(&format!(
        r#"{script}
        for i in 0..400 {{ if ds.labels[i] == 8 && i % 2 == 0 {{ poles[i] = "marked"; }} }}
        let c = faults::injected_in(ds, "mark", poles, how);
        #{{ regressor: c.cautions.some(|said| said.contains("regressor") && said.contains("always giving the commonest answer")), share: c.commonest.regressor > 0.8 }}"#
    ));
    refused(
        &format!("{script} faults::injected_in(ds, \"mark\", poles, how + #{{ between: [\"plain\", \"Marked\"] }})"),
        "no image is at the pole \"Marked\" of \"mark\", which is",
    );
}

/// One of several dozen judgements says something else: alpha hangs on it.
#[test]
fn agreement_on_nearly_one_answer_is_marked() {
    truths(
        r#"
        let say = |rare| {
            let rows = [];
            for worker in 0..20 { for item in 0..60 {
                let one = item < rare && worker % 2 == 0 || item >= 30 && rare > 20;
                rows.push(#{ worker: worker, item: item, answer: if one { "yes" } else { "no" } });
            } }
            people::judgements(rows, #{ answers: ["yes", "no"] }).agreement()
        };
        let few = say.call(2);
        let many = say.call(25);
        let apart = [];
        for item in 0..20 { apart.push(#{ worker: 0, item: item, answer: "a" }); apart.push(#{ worker: 1, item: item, answer: "b" }); }
        let never = people::judgements(apart).agreement();
        #{
            few: few.cautions.some(|said| said.contains("alpha hangs on these")), many: !many.cautions.some(|said| said.contains("alpha hangs")),
            never: never.alpha_lo == () && never.alpha_hi == (), within: few.alpha_lo >= -1.0 && few.alpha_hi <= 1.0,
        }"#,
    );
}

/// A judge that learned from the images of the classifier under test may share its mistakes.
#[test]
fn a_judge_that_learned_the_same_is_told() {
    truths(&format!(
        r#"{DRAWN}
        let same = model::train(g.sample(#{{ n: 400, seed: 1 }}), #{{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 9 }});
        let said = |judge| {{
            let tests = generator::tests(g, f, #{{ n: 5, draws: 20000, oracle: judge, seed: 1 }});
            told.call(tests.cautions, "learned from 100% of the images that")
        }};
        #{{ same: said.call(same), other: !said.call(judge) }}"#
    ));
}
