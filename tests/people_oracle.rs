//! People in the place of networks: what they said of tests, found again by pixels, as verdicts, votes and grids.

use std::rc::Rc;

use viva::core::{Cx, Quiet, Value};
use viva::script::Session;

/// A prompt whose files lie in a folder of its own.
struct Lab {
    session: Session,
    _folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut cx = Cx::new(Box::new(Quiet));
        cx.set_folder(folder.path().to_path_buf());
        Self { session: Session::new(Rc::new(cx)), _folder: folder }
    }

    fn run(&mut self, script: &str) -> Result<Value, String> {
        let said = |said: String| said.split_whitespace().collect::<Vec<_>>().join(" ");
        self.session.evaluate("prompt", script).map_err(|diagnostic| said(diagnostic.render(false)))
    }

    fn value(&mut self, script: &str) -> Value {
        self.run(script).unwrap_or_else(|said| panic!("{script}: {said}"))
    }

    fn said(&mut self, script: &str) -> String {
        self.value(script).summary()
    }
}

/// People in the place of networks: found again by pixels and label, in the tests that they saw and in the same ones made anew.
#[test]
fn people_are_an_oracle_of_the_tests_that_they_saw() {
    let mut lab = Lab::new();
    lab.value(
        "let ds = data::glyphs(#{ n: 60, seed: 1 });
         let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });
         let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
         let how = #{ n: 4, labels: [2, 5], draws: 500, seed: 1 };
         let tests = generator::tests(g, f, how);
         let t = people::task(tests, #{ kind: \"label\", n: 6, gold: 0, overlap: 2, seed: 1 });
         let said = [];
         // One of two workers sees a 2 in everything, and both in what is to be one; a tie is not kept.
         for slot in 0..t.workers { for q in t.asked(slot) {
             let word = if q.role == \"check\" { q.right[0] } else if slot == 0 { \"2\" } else { q.label };
             said.push(#{ worker: slot, slot: slot, question: q.question, choice: t.answers.index_of(word), seconds: 2 });
         } }
         let a = people::answers(t, said);",
    );
    let judged = lab.said("let j = tests.judged(a); [j.kept.filter(|k| k == ()).len(), j.kept.filter(|k| k == true).len(), j.judged_by, j.cautions.len()]");
    let twos = lab.said("t.asked(0).filter(|q| q.label == \"2\" && q.role == \"test\").len()");
    assert_eq!(judged, format!("[2, {twos}, 2 people, 5]"));
    assert_eq!(lab.said("generator::tests(g, f, how + #{ oracle: a }).kept == j.kept"), "true");
    assert!(lab.said("j").contains("of the 6 that were judged in the eyes of 2 people"), "{}", lab.said("j"));
    assert!(lab.said("j").contains("of 2 of 8 tests nobody says whether they keep their label"), "{}", lab.said("j"));
    assert!(
        lab.said("j").contains("as many people say that the label is kept as say that it is not"),
        "{}",
        lab.said("j")
    );
    assert!(lab.said("tests").contains("whose label nobody has judged"), "{}", lab.said("tests"));
    // Other people about the same images: two of six are judged otherwise by those who see a 5 in all that is to be one.
    lab.value(
        "let u = people::task(tests, #{ kind: \"label\", folder: \"u\", gold: 0, overlap: 2, seed: 2 });
         let five = [];
         for slot in 0..u.workers { for q in u.asked(slot) {
             five.push(#{ worker: slot, slot: slot, question: q.question, choice: u.answers.index_of(if q.role == \"check\" { q.right[0] } else { \"5\" }), seconds: 2 });
         } }
         let both = a.networks(people::answers(u, five));",
    );
    assert_eq!(
        lab.said("[both.items, both.kept_by_people, both.kept_by_networks, both.agreement]"),
        format!("[6, {twos}, {}, 0.0]", 6 - twos.parse::<i64>().expect("a number"))
    );
    // Images that nobody saw.
    lab.value("let other = generator::tests(g, f, #{ n: 2, labels: [2], draws: 500, seed: 9 }).judged(a);");
    assert_eq!(lab.said("[other.kept, other.kept_share]"), "[[(), ()], ()]");
    // What does not ask whether a label is kept, says nothing of it.
    let real = "let r = people::task(ds, #{ kind: \"realism\", folder: \"r\", gold: 0, n: 2, overlap: 2, seed: 1 });
        tests.judged(people::answers(r, [0, 1].map(|slot| #{ worker: slot, slot: slot, question: 0, choice: 0, seconds: 2 })))";
    assert!(lab.run(real).is_err_and(|said| said.contains("does not say whether tests keep their labels")));
}

/// Seeds that people refuse are not changed again, and what they saw of the others is known.
#[test]
fn people_are_an_oracle_of_seeds() {
    let mut lab = Lab::new();
    lab.value(
        "let ds = data::glyphs(#{ n: 200, size: 28, seed: 1 });
         let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });
         let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
         let how = #{ n: 4, samples: 50, target: \"any\", steps: 20, lr: 0.3, first_radius: 5, seed: 1 };
         let tests = generator::perturb(g, f, how);
         let t = people::task(tests, #{ kind: \"keeps_label\", gold: 0, overlap: 3, seed: 1 });
         let first = t.asked(0)[0].item;
         let said = [];
         // The first item's seed is refused by two of three; of the others two of three see the class.
         for slot in 0..t.workers { for q in t.asked(slot) {
             let choice = if q.item == first && slot > 0 { 4 } else if slot == 0 { 1 } else { 0 };
             said.push(#{ worker: slot, slot: slot, question: q.question, choice: choice, seconds: 2 });
         } }
         let a = people::answers(t, said);
         let j = tests.judged(a);",
    );
    let n = lab.said("tests.images.len()");
    assert_eq!(n, "4", "all seeds become tests here");
    assert_eq!(lab.said("[j.kept.filter(|k| k == ()).len(), j.kept_share]"), "[1, 1.0]");
    lab.value("let again = generator::perturb(g, f, how + #{ oracle: a });");
    assert_eq!(lab.said("[tests.rejected, again.rejected, again.transcript.len()]"), "[0, 1, 4]");
    // The seed that took its place was never shown.
    assert_eq!(lab.said("[again.kept.filter(|k| k == true).len(), again.kept.filter(|k| k == ()).len()]"), "[3, 1]");
}

/// What was said of each item, what it looked like, and grids of both.
#[test]
fn items_come_with_their_pictures_and_votes() {
    let mut lab = Lab::new();
    lab.value(
        "import \"std/crowd\" as crowd;
         let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
         let shown = ds.take(8);
         let t = people::task(shown, #{ kind: \"label\", gold: 0, overlap: 3, facts: #{ target: [0, 0, 0, 0, 1, 1, 1, 1] }, seed: 1 });
         let said = [];
         for slot in 0..t.workers { for q in t.asked(slot) {
             let word = if q.role == \"check\" { q.right[0] } else if slot == 0 && q.target == \"1\" { \"none\" } else { q.label };
             said.push(#{ worker: slot, slot: slot, question: q.question, choice: t.answers.index_of(word), seconds: 2 });
         } }
         let a = people::answers(t, said);
         let j = a.judgements;",
    );
    // Pixel by pixel what the task was made of, in the order that is asked for.
    lab.value(
        "let items = j.by_item(); let ids = items.map(|item| item.item); let images = t.images(#{ items: ids });",
    );
    assert_eq!(lab.said("[images.len(), images.shape]"), "[8, [1, 16, 16]]");
    lab.value("let same = 0; for i in 0..8 { for k in 0..8 { if (images.select([i]).images() - shown.select([k]).images()).abs().max() < 0.002 { same += 1; } } }");
    assert_eq!(lab.said("same"), "8");
    assert_eq!(lab.said("items.filter(|item| item.target == \"1\").map(|item| [item.judgements, item.kept, round(1000.0 * item.disagreement)])"), "[[3, true, 667.0], [3, true, 667.0], [3, true, 667.0], [3, true, 667.0]]");
    lab.value("let grid = crowd::kept(a);");
    assert_eq!(lab.said("grid.by_column.map(|row| [row.target, round(100.0 * row.share)])"), "[[0, 100.0], [1, 67.0]]");
    assert_eq!(lab.said("round(100.0 * grid.all.share)"), "83.0");
    // Those on which people disagree come first.
    assert_eq!(lab.said("crowd::sheet(a, #{ n: 5 }).items.map(|item| item.target)"), "[1, 1, 1, 1, 0]");
    let wrong = |lab: &mut Lab, script: &str, said: &str| {
        assert!(lab.run(script).is_err_and(|error| error.contains(said)), "{script}: {:?}", lab.run(script));
    };
    wrong(&mut lab, "t.images(#{ items: [\"zzz\"] })", "has no item");
    wrong(&mut lab, "t.images(#{ before: true })", "does not show what its images were before");
    wrong(&mut lab, "crowd::not_spotted(a)", "has no made picture among real ones");
    wrong(&mut lab, "plot::heatmap([[1, 2]], #{ lo: [[0, 1]] })", "an interval has two ends");
    wrong(&mut lab, "plot::heatmap([[1, 2]], #{ lo: [[0]], hi: [[1]] })", "`lo` has 1 x 1 cells");
    wrong(
        &mut lab,
        "people::task(ds, #{ kind: \"label\", gold: 0, folder: \"c\", completion: \"javascript:alert(1)\" })",
        "begins with https://",
    );
}
