//! What people are asked and what came of it: tasks, the files that answers come in, and the rules by which they count.

use std::path::Path;
use std::rc::Rc;

use viva::core::files::sealed_line;
use viva::core::{Cx, Quiet, Value};
use viva::script::Session;

/// A session whose files lie in a folder of its own.
struct Place {
    folder: tempfile::TempDir,
    session: Session,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut cx = Cx::new(Box::new(Quiet));
        cx.set_folder(folder.path().to_path_buf());
        Self { session: Session::new(Rc::new(cx)), folder }
    }

    fn run(&mut self, script: &str) -> Result<Value, String> {
        self.session.run(Path::new("script.rhai"), script).map_err(|diagnostic| diagnostic.render(false))
    }

    fn value(&mut self, script: &str) -> Value {
        self.run(script).unwrap_or_else(|said| panic!("{script}: {said}"))
    }

    fn said(&mut self, script: &str) -> String {
        let said = self.run(script).err().unwrap_or_else(|| panic!("{script} runs"));
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("a file");
    }
}

/// Lines as `viva label` writes them, with their digests.
fn sealed(lines: &str) -> String {
    lines.lines().map(|line| sealed_line(&serde_json::from_str(line).expect("JSON"))).collect()
}

fn all(value: Value) -> Vec<String> {
    let Value::Array(values) = value else { panic!("an array") };
    values.iter().map(Value::summary).collect()
}

const TASK: &str = r#"
    let ds = data::glyphs(#{ n: 80, size: 16, seed: 1 });
    let t = people::task(ds.take(30), #{ kind: "label", real: ds.skip(30), overlap: 3, per_worker: 10, seed: 4 });
"#;

/// Choices that are right throughout, as maps.
const HONEST: &str = r#"
    let right = |q| t.answers.index_of(if q.role == "test" { q.label } else { q.right[0] });
    let said = [];
    for slot in 0..t.workers { for q in t.asked(slot) {
        said.push(#{ worker: slot, slot: slot, question: q.question, choice: right.call(q), seconds: 2 });
    } }
"#;

#[test]
fn every_item_is_judged_as_often_as_the_task_says() {
    let mut place = Place::new();
    let found = place.value(&format!(
        r#"{TASK}
        let times = #{{}};
        let most = 0;
        let firsts = 0;
        let gold = 0;
        for slot in 0..t.workers {{
            let tests = t.asked(slot).filter(|q| q.role == "test");
            if tests.len() > most {{ most = tests.len(); }}
            let seen = #{{}};
            for q in tests {{
                if q.item in seen {{ throw "an item twice"; }}
                seen[q.item] = true;
                times[q.item] = (times?[q.item] ?? 0) + 1;
            }}
            let asked = t.asked(slot);
            if asked[0].role == "check" && asked[1].role == "check" && asked[0].right == asked[1].right {{ firsts += 1; }}
            gold += asked.filter(|q| q.role == "known").len();
        }}
        let counts = times.values();
        [t.workers, counts.len, counts.filter(|n| n == 3).len, most, firsts, gold]"#
    ));
    assert_eq!(all(found), ["9", "30", "30", "10", "9", "18"]);
}

#[test]
fn ids_stay_and_orders_follow_the_seed() {
    let mut place = Place::new();
    let found = place.value(&format!(
        r#"{TASK}
        let ids = |t| {{ let ids = []; for slot in 0..t.workers {{ for q in t.asked(slot) {{ ids.push(q.item); }} }} ids }};
        let how = #{{ kind: "label", real: ds.skip(30), overlap: 3, per_worker: 10, seed: 4, folder: "again" }};
        let again = people::task(ds.take(30), how);
        how.folder = "other";
        how.seed = 5;
        let other = people::task(ds.take(30), how);
        let tests = |t| {{
            let ids = [];
            for slot in 0..t.workers {{ for q in t.asked(slot) {{ if q.role == "test" {{ ids.push(q.item); }} }} }}
            ids.sort();
            ids
        }};
        // The same call a second time finds the folder as it is.
        let same = people::task(ds.take(30), how);
        [again.digest == t.digest, ids.call(again) == ids.call(t), other.digest == t.digest, ids.call(other) == ids.call(t),
         tests.call(other) == tests.call(t), same.digest == other.digest]"#
    ));
    assert_eq!(all(found), ["true", "true", "false", "false", "true", "true"]);
    let said = place.said(
        r#"let ds = data::glyphs(#{ n: 80, size: 16, seed: 1 });
        people::task(ds.take(29), #{ kind: "label", real: ds.skip(30), seed: 4 })"#,
    );
    assert!(said.contains("another task is kept here"), "{said}");
}

/// Places of an odd one out are even, but for the two that are never right; pairs stand either way.
#[test]
fn made_pictures_stand_where_they_may() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 400, size: 16, seed: 1 });
        let t = people::task(ds.take(60), #{ kind: "odd_one_out", real: ds.skip(60), overlap: 5, gold: 1, seed: 2 });
        let at = #{};
        let alike = true;
        for slot in 0..t.workers { for q in t.asked(slot) {
            at[`${q.place}`] = (at?[`${q.place}`] ?? 0) + 1;
            if q.pictures.len() != 12 { alike = false; }
        } }
        let p = people::task(ds.take(60), #{ kind: "pair", real: ds.skip(60), overlap: 5, gold: 0, folder: "pair", seed: 2 });
        let firsts = 0;
        for slot in 0..p.workers { for q in p.asked(slot) { if q.place == 0 { firsts += 1; } } }
        let least = at.values();
        least.sort();
        [at.len(), "1" in at, "2" in at, least[0] > 15, least[9] < 55, alike, firsts > 120 && firsts < 180, p.cautions.len]"#,
    );
    assert_eq!(all(found), ["10", "false", "false", "true", "true", "true", "true", "1"]);
}

/// What choosing a button says, by kind.
#[test]
fn answers_mean_what_the_places_say() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 300, size: 16, seed: 1 });
        let found = [];
        for kind in ["pair", "odd_one_out"] {
            let t = people::task(ds.take(20), #{ kind: kind, real: ds.skip(20), overlap: 2, gold: 2, folder: kind, seed: 2,
                reject: #{ straight: 1, alike: 1, forbidden: 1 } });
            for way in ["right", "wrong", "never"] {
                let said = [];
                for slot in 0..t.workers { for q in t.asked(slot) {
                    let choice = if kind == "pair" { if way == "right" { 1 - q.place } else { q.place } }
                        else if way == "right" { q.place } else if way == "never" { 1 } else { (q.place + 4) % 12 };
                    said.push(#{ worker: slot, slot: slot, question: q.question, choice: choice });
                } }
                let a = people::answers(t, said);
                found.push(a.raw.not_spotted(if kind == "pair" { 2 } else { 10 })[0].not_spotted);
                found.push(a.rejected);
            }
        }
        // More of it tells, so that it is the changed picture; where less tells, it is the one before.
        for more in [true, false] {
            let t = people::task(ds.take(20), #{ kind: "attribute", attribute: "ink", more: more, originals: ds.take(20), overlap: 2, gold: 1,
                folder: `${more}`, seed: 2 });
            let said = [];
            for slot in 0..t.workers { for q in t.asked(slot) {
                said.push(#{ worker: slot, slot: slot, question: q.question, choice: if q.role == "known" { 2 } else { q.place } });
            } }
            let s = people::answers(t, said).judgements.shares()[0];
            found.push(s.share);
        }
        found"#,
    );
    assert_eq!(all(found), ["0.0", "0", "1.0", "2", "1.0", "2", "0.0", "0", "1.0", "2", "1.0", "2", "1.0", "1.0"]);
}

/// The seed is judged first: tests of seeds that most reject are left out, as in Dunn's Table 5.5.
#[test]
fn tests_count_only_among_accepted_seeds() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let t = people::task(ds.take(20), #{ kind: "keeps_label", originals: ds.take(20), real: ds.skip(20), overlap: 3, seed: 2,
            facts: #{ half: range(0, 20).map(|i| if i < 10 { "first" } else { "second" }) } });
        let said = [];
        let places = #{};
        for slot in 0..t.workers { for q in t.asked(slot) {
            let word = "shows";
            if q.role == "known" { word = q.right[0]; }
            else {
                if !(q.item in places) { places[q.item] = places.len(); }
                let number = places[q.item];
                // Five seeds are rejected by two of three, five tests of the others are kept by one of three.
                if number < 5 { if slot > 0 { word = "seed_other"; } }
                else if number < 10 && slot > 0 { word = "other"; }
            }
            said.push(#{ worker: slot, slot: slot, question: q.question, choice: t.answers.index_of(word), seconds: 2 });
        } }
        let j = people::answers(t, said).judgements;
        let seen = ["shows", "other", "unclear", "nothing"];
        let kept = j.majority(#{ among: seen })[0];
        let by = j.majority(#{ among: seen, by: "half" });
        [j.majority()[0].kept, kept.kept, kept.items, kept.left_out, by[0].half, by[0].left_out + by[1].left_out]"#
            .replace("range(0, 20).map(|i| if i < 10 { \"first\" } else { \"second\" })", "halves")
            .replace("let ds = data", "let halves = []; for i in 0..20 { halves.push(if i < 10 { \"first\" } else { \"second\" }); }\nlet ds = data")
            .as_str(),
    );
    assert_eq!(all(found), ["0.5", "0.666667", "15", "5", "first", "5"]);
}

/// A class may be called as the words begin that refuse a seed.
#[test]
fn names_of_classes_refuse_no_seeds() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 }).relabel(|row| row.label % 2, #{ classes: ["seed_wheat", "b"] });
        let t = people::task(ds, #{ kind: "label", gold: 0, overlap: 2, instructed: 0, reject: #{ alike: 1, straight: 1 }, seed: 2 });
        let said = [];
        for slot in 0..t.workers { for q in t.asked(slot) { said.push(#{ worker: slot, slot: slot, question: q.question, choice: 0, seconds: 2 }); } }
        let a = people::answers(t, said);
        let n = a.networks(model::from(|x| tensor::zeros([x.len(), 2]), #{ classes: 2 }));
        let kept = ds.labels.values().filter(|label| label == 0).len();
        // Of people whose answers have nothing to do with labels a network sees no more than chance makes.
        let by_chance = |cautions| cautions.some(|said| said.contains("if networks said the same of as many at random"));
        let places = #{};
        let other = [];
        for slot in 0..t.workers { for q in t.asked(slot) {
            if !(q.item in places) { places[q.item] = places.len(); }
            let right = t.answers.index_of(q.label);
            other.push(#{ worker: slot, slot: slot, question: q.question, choice: if places[q.item] % 2 == 0 { right } else { 1 - right }, seconds: 2 });
        } }
        let m = people::answers(t, other).networks(model::from(|x| tensor::zeros([x.len(), 2]), #{ classes: 2 }));
        [n.items, kept > 0 && kept < 12 && n.kept_by_people == kept, by_chance.call(n.cautions), by_chance.call(m.cautions)]"#,
    );
    assert_eq!(all(found), ["12", "true", "false", "true"]);
}

/// Who is left out for one slip on a known answer is told of; who knows none of them is not.
#[test]
fn one_slip_that_leaves_a_worker_out_is_told() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let t = people::task(ds.take(20), #{ kind: "label", real: ds.skip(20), overlap: 4, per_worker: 20, gold: 2, seed: 4 });
        let told = |slips| {
            let said = [];
            for slot in 0..t.workers {
                let left = if slot == 1 { slips } else { 0 };
                for q in t.asked(slot) {
                    let choice = t.answers.index_of(if q.role == "test" { q.label } else { q.right[0] });
                    if q.role == "known" && left > 0 { choice = (choice + 1) % 10; left -= 1; }
                    said.push(#{ worker: slot, slot: slot, question: q.question, choice: choice, seconds: 2 });
                }
            }
            let a = people::answers(t, said);
            [a.rules["gold"], a.cautions.some(|said| said.contains("1 of 4 workers are left out for one wrong answer of 2 or fewer that are known"))]
        };
        [told.call(0), told.call(1), told.call(2)]"#,
    );
    assert_eq!(found.summary(), "[[0, false], [1, true], [1, false]]");
}

/// Who takes everything for generated is found out as well as who takes nothing for it.
#[test]
fn real_pictures_are_among_the_known_ones_where_there_are_some() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let how = #{ kind: "realism", gold: 4, overlap: 2, per_worker: 10, seed: 2 };
        let alone = people::task(ds.take(20), how);
        how.real = ds.skip(20);
        how.folder = "real";
        let t = people::task(ds.take(20), how);
        let right = #{};
        for slot in 0..t.workers { for q in t.asked(slot) { if q.role == "known" { right[q.right[0]] = (right?[q.right[0]] ?? 0) + 1; } } }
        let blind = |cautions| cautions.some(|said| said.contains("whoever takes nothing for real is never found out"));
        [right.keys(), right["real"] > 2, blind.call(alone.cautions), blind.call(t.cautions)]"#,
    );
    assert_eq!(all(found), ["[generated, real]", "true", "true", "false"]);
}

/// Items whose judges stayed away are told of beside all that comes of them.
#[test]
fn items_with_fewer_judgements_than_planned_are_counted() {
    let mut place = Place::new();
    let found = place.value(&format!(
        r#"{TASK}{HONEST}
        let told = |rows| people::answers(t, rows).judgements.cautions.filter(|c| c.contains("fewer judgements"));
        let a = people::answers(t, said.filter(|row| row.slot != 3));
        let short = a.judgements.by_item().filter(|item| item.judgements < 3).len;
        [told.call(said).len, told.call(said.filter(|row| row.slot != 3))[0] == `${{short}} of 30 items have fewer judgements that count than the 3 planned`, short > 5]"#
    ));
    assert_eq!(all(found), ["0", "true", "true"]);
}

/// Attentive workers press one button where nothing can be read, nothing was moved, or nearly all pictures show one class; who presses one
/// whatever is shown is told from them by what others say.
#[test]
fn one_button_is_held_against_nobody_whom_the_pictures_make_press_it() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 120, size: 16, seed: 1 });
        let u = tensor::uniform([30, 60], #{ seed: 6 });
        let said = |t, choice| {
            let all = [];
            for slot in 0..t.workers { for q in t.asked(slot) {
                let right = if q.role == "test" { q.label } else { q.right[0] };
                all.push(#{ worker: slot, slot: slot, question: q.question, choice: choice.call(slot, q, right), seconds: 3 });
            } }
            people::answers(t, all)
        };
        let told = |a| [a.rejected, a.rules.straight, a.cautions.filter(|c| c.contains("one button")).len, a.judgements.cautions.filter(|c| c.contains("fell to a rule")).len];
        let label = people::task(ds.take(60), #{ kind: "label", real: ds.skip(60), overlap: 5, per_worker: 20, seed: 2, folder: "label" });
        let none = label.answers.len - 1;
        let unreadable = said.call(label, |slot, q, right| if q.role != "test" || u[slot][q.question] < 0.04 { label.answers.index_of(right) } else { none });
        // Three of 15 press one button for all tests of readable pictures.
        let few = said.call(label, |slot, q, right| if q.role == "test" && slot < 4 { 4 } else { label.answers.index_of(right) });
        let t = people::task(ds.take(60), #{ kind: "attribute", attribute: "sky", originals: ds.take(60), gold: 0, overlap: 5, per_worker: 20, seed: 3, folder: "sky" });
        let unmoved = said.call(t, |slot, q, right| if u[slot][q.question] < 0.04 { q.place } else { 2 });
        // Where the picture stands was drawn: one side throughout is nobody's judgement.
        let side = said.call(t, |slot, q, right| if slot == 0 { 1 } else if u[slot][q.question] < 0.5 { q.place } else { 2 });
        // Careless workers, who fall to their known answers, say nothing against those who read nothing.
        let clicked = said.call(label, |slot, q, right| if slot < 8 { 0 } else if q.role != "test" { label.answers.index_of(right) } else { none });
        let twice = people::difference(few.judgements, few.judgements, #{ replicates: 50 });
        [told.call(unreadable), told.call(few), told.call(unmoved), told.call(side), [clicked.rejected, clicked.rules.gold],
         [twice.p, twice.difference, twice.cautions.filter(|c| c.contains("11 workers judged both sets")).len], few.judgements.cautions.filter(|c| c.contains("fell to a rule"))[0]]"#,
    );
    assert_eq!(
        all(found),
        [
            "[0, 0, 1, 0]",
            "[4, 4, 0, 1]",
            "[0, 0, 1, 0]",
            "[1, 1, 0, 0]",
            "[8, 8]",
            "[0.5, 0.0, 1]",
            "4 of 15 workers fell to a rule (straight 4); as intended are 1.0 of what counts, 0.77 of all",
        ]
    );
}

/// One who clicks one button, one who clicks at random, one who is too fast, one who leaves out, and two who are one.
#[test]
fn each_rule_finds_whom_it_is_there_for() {
    let mut place = Place::new();
    let found = place.value(&format!(
        r#"{TASK}{HONEST}
        let changed = |slot, change| said.map(|row| if row.slot == slot {{ change.call(row) }} else {{ row }});
        let fell = |rows| {{
            let a = people::answers(t, rows);
            let out = a.conduct.filter(|c| !c.counts);
            [a.rejected, if out.len == 0 {{ "" }} else {{ `${{out[0].worker}} ${{out[0].fell_to}}` }}]
        }};
        let straight = changed.call(3, |row| {{ row.choice = 4; row }});
        let random = changed.call(3, |row| {{ row.choice = (row.question * 7 + 3) % 11; row }});
        let fast = changed.call(3, |row| {{ row.seconds = 0.2; row }});
        let empty = changed.call(3, |row| {{ if row.question == 6 {{ row.choice = (); }} row }});
        [fell.call(said), fell.call(straight), fell.call(random), fell.call(fast), fell.call(empty)]"#
    ));
    assert_eq!(
        all(found),
        [
            "[0, ]",
            "[1, 3 instructed, gold, straight]",
            "[1, 3 instructed, gold]",
            "[1, 3 seconds]",
            "[1, 3 unanswered]"
        ]
    );
    // Two workers who see the same items and are wrong in the same way, among three who are right.
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let t = people::task(ds.take(20), #{ kind: "label", real: ds.skip(20), overlap: 6, per_worker: 20, seed: 4, folder: "alike" });
        let said = [];
        for slot in 0..t.workers { for q in t.asked(slot) {
            let right = t.answers.index_of(if q.role == "test" { q.label } else { q.right[0] });
            let errs = q.role == "test" && slot < 2 && right % 3 != 0;
            // The third errs as often, in its own way.
            if q.role == "test" && slot == 2 && right % 3 == 1 { right += 2; }
            said.push(#{ worker: slot, slot: slot, question: q.question, choice: if errs { (right + 1) % 10 } else { right }, seconds: 2 });
        } }
        let a = people::answers(t, said);
        [a.rules["alike"], a.conduct.filter(|c| !c.counts).map(|c| c.worker), a.judgements.workers, a.raw.workers]"#,
    );
    assert_eq!(all(found), ["2", "[0, 1]", "4", "6"]);
}

/// Two whose eyes are worse miss the same places that were drawn, each by a place of their own: there is but one way to dissent, so they count, whatever another
/// presses by mistake.
#[test]
fn who_could_dissent_in_one_way_alone_counts() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        let ds = data::glyphs(#{ n: 400, size: 16, seed: 1 });
        let t = people::task(ds.take(30), #{ kind: "odd_one_out", real: ds.skip(60), overlap: 8, per_worker: 30, gold: 0, seed: 2, folder: "one_way" });
        let told = |slips| {
            let said = [];
            for slot in 0..t.workers { let first = slips; for q in t.asked(slot) {
                let choice = q.place;
                if q.role == "test" && slot >= 6 && q.label in ["0", "2", "4", "6", "8"] {
                    choice = (q.place + 3 + (slot - 5) * 2) % 12;
                    if choice == 1 || choice == 2 { choice += 3; }
                    if choice == q.place { choice = (choice + 4) % 12; }
                }
                if q.role == "test" && slot == 0 && first { choice = 1; first = false; }
                said.push(#{ worker: slot, slot: slot, question: q.question, choice: choice, seconds: 2 });
            } }
            let a = people::answers(t, said);
            [a.rules["alike"], a.cautions.some(|said| said.contains("2 of 8 workers dissent from others alike, and count"))]
        };
        [told.call(false), told.call(true)]"#,
    );
    assert_eq!(found.summary(), "[[0, true], [0, true]]");
}

/// Worker, question, button and item.
type Row = (usize, usize, usize, String);

/// The answers of one honest worker as each program exports them: the same judgements come of all.
#[test]
fn every_file_format_gives_the_same_judgements() {
    let mut place = Place::new();
    let digest = place.value(&format!("{TASK} t.digest")).summary();
    let Value::Array(asked) = place.value(&format!(
        "{TASK}{HONEST} said.map(|row| [row.slot, row.question, row.choice, t.asked(row.slot)[row.question].item])"
    )) else {
        panic!("an array")
    };
    let rows: Vec<Row> = asked
        .iter()
        .map(|row| {
            let parts = all(row.clone());
            let number = |i: usize| parts[i].parse().expect("a number");
            (number(0), number(1), number(2), parts[3].clone())
        })
        .collect();
    let choices: Vec<String> = (0..10).map(|n| n.to_string()).chain(["None".to_string()]).collect();
    let viva = |(slot, question, _, item): &Row| {
        format!(r#"{{"task":"{digest}","slot":{slot},"question":{question},"item":"{item}"}}"#)
    };
    let lines = |line: &dyn Fn(&Row) -> String| rows.iter().map(|row| line(row) + "\n").collect::<String>();
    let list = |entry: &dyn Fn(&Row) -> String| format!("[{}]", rows.iter().map(entry).collect::<Vec<_>>().join(","));
    let batch = |slot: usize, worker: &str| {
        let answers: Vec<String> = rows
            .iter()
            .filter(|row| row.0 == slot)
            .map(|(_, question, choice, item)| {
                format!(r#"{{"question":{question},"item":"{item}","choice":{choice},"seconds":2}}"#)
            })
            .collect();
        format!(r#"{{"task":"{digest}","slot":{slot},{worker}"answers":[{}]}}"#, answers.join(","))
    };
    let log = lines(&|row @ (slot, _, choice, _)| {
        viva(row).replace('}', &format!(r#","worker":"{slot}","choice":{choice},"seconds":2}}"#))
    });
    place.write("log.jsonl", &sealed(&log));
    let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    let table = |head: &str| {
        let rows: String = (0..9).map(|slot| format!("A{slot},{}\n", quoted(batch(slot, "")))).collect();
        format!("{head}\n{rows}")
    };
    place.write("mturk.csv", &table("WorkerId,Answer.viva"));
    // What MTurk's site gives of a batch, and of a crowd form, whose fields it puts into one.
    let names = "HITId HITTypeId Title Description Keywords Reward CreationTime MaxAssignments RequesterAnnotation \
        AssignmentDurationInSeconds AutoApprovalDelayInSeconds Expiration NumberOfSimilarHITs LifetimeInSeconds AssignmentId WorkerId \
        AssignmentStatus AcceptTime SubmitTime AutoApprovalTime ApprovalTime RejectionTime RequesterFeedback WorkTimeInSeconds \
        LifetimeApprovalRate Last30DaysApprovalRate Last7DaysApprovalRate Input.slot Answer.taskAnswers Approve Reject";
    let names: Vec<&str> = names.split_whitespace().collect();
    let mut batch_of_mturk = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",") + "\n";
    for slot in 0..10 {
        let cell = |name: &&str| match *name {
            "WorkerId" => format!("A{slot}"),
            "AssignmentStatus" => (if slot == 9 { "Rejected" } else { "Approved" }).into(),
            "Answer.taskAnswers" => format!("[{{\"viva\":{}}}]", serde_json::Value::from(batch(slot % 9, ""))),
            "SubmitTime" => "Tue Nov 24 03:54:01 PST 2026".into(),
            other => format!("{other}, \"quoted\""),
        };
        batch_of_mturk += &(names.iter().map(|name| quoted(cell(name))).collect::<Vec<_>>().join(",") + "\n");
    }
    place.write("mturk_batch.csv", &batch_of_mturk);
    place.write("prolific.csv", &table("Participant id,viva"));
    let plain: String = rows
        .iter()
        .map(|(slot, question, choice, item)| format!("{slot},{digest},{slot},{question},{item},{choice},2\n"))
        .collect();
    place.write("plain.csv", &format!("worker,task,slot,question,item,choice,seconds\n{plain}"));
    let batches: Vec<String> = (0..9).map(|slot| batch(slot, &format!(r#""worker":"P{slot}","#))).collect();
    place.write("batches.json", &format!("[{}]", batches.join(",")));
    place.write("batches.jsonl", &(batches.join("\n") + "\n"));
    place.write(
        "label_studio.json",
        &list(&|row| {
            format!(
                r#"{{"id":1,"data":{{"viva":{}}},"annotations":[{{"completed_by":{},"lead_time":2.5,"was_cancelled":false,"result":[{{"type":"choices","value":{{"choices":["{}"]}}}}]}}]}}"#,
                viva(row), row.0, choices[row.2]
            )
        }),
    );
    // As label-studio-sdk 2.1.2 converts it to JSON-MIN and CSV.
    place.write(
        "label_studio_min.json",
        &list(&|row| {
            format!(
                r#"{{"viva":{},"text":"Which?","picture1":"data:image/png;base64,AA","id":7,"answer":"{}","annotator":"w{}@example.org","annotation_id":11,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","lead_time":3.25}}"#,
                viva(row), choices[row.2], row.0
            )
        }),
    );
    let rows_of_table: String = rows
        .iter()
        .map(|row| {
            format!("11,\"w{}@example.org\",\"{}\",7,3.25,\"Which?\",{}\n", row.0, choices[row.2], quoted(viva(row)))
        })
        .collect();
    place.write(
        "label_studio.csv",
        &format!("\"annotation_id\",\"annotator\",\"answer\",\"id\",\"lead_time\",\"text\",\"viva\"\n{rows_of_table}"),
    );
    place.write(
        "argilla.json",
        &list(&|row| {
            format!(
                r#"{{"metadata":{{"viva":{}}},"responses":[{{"user_id":"u{}","status":"submitted","values":{{"answer":{{"value":"{}"}}}}}}]}}"#,
                viva(row), row.0, choices[row.2]
            )
        }),
    );
    place.write(
        "prodigy.jsonl",
        &lines(&|row| {
            format!(
                r#"{{"meta":{{"viva":{}}},"answer":"accept","accept":["{}"],"_annotator_id":"a{}"}}"#,
                viva(row),
                choices[row.2],
                row.0
            )
        }),
    );
    let files = [
        "log.jsonl",
        "mturk.csv",
        "prolific.csv",
        "plain.csv",
        "batches.json",
        "batches.jsonl",
        "label_studio.json",
        "argilla.json",
        "prodigy.jsonl",
        "mturk_batch.csv",
        "label_studio_min.json",
        "label_studio.csv",
    ];
    for file in files {
        // What the file can't say is said.
        let cautions = ["mturk_batch.csv", "label_studio_min.json", "label_studio.csv"].contains(&file);
        let found = place.value(&format!(
            r#"let t = people::load("task");
            let a = people::answers(t, "{file}", #{{ salt: "s" }});
            [a.workers, a.rejected, a.raw.judgements, a.judgements.shares()[0].share, a.unfinished, a.cautions.len]"#
        ));
        assert_eq!(all(found), ["9", "0", "90", "1.0", "0", if cautions { "1" } else { "0" }], "{file}");
    }
    // The same file twice counts once; with a salt nobody's name is left, and the same salt gives the same names.
    let found = place.value(
        r#"let t = people::load("task");
        let a = people::answers(t, ["mturk.csv", "mturk.csv"], #{ salt: "s" });
        let b = people::answers(t, "mturk.csv", #{ keep_ids: true });
        let c = people::answers(t, "mturk.csv", #{ salt: "other" });
        let names = |a| a.conduct.map(|c| c.worker);
        [a.repeated, a.raw.judgements, names.call(a)[0].starts_with("w-"), names.call(b)[0], names.call(a) == names.call(c)]"#,
    );
    assert_eq!(all(found), ["126", "90", "true", "A0", "false"]);
    // What is no answer to this task.
    let refused = |place: &mut Place, name: &str, text: String, wanted: &str| {
        place.write(name, &text);
        let said = place.said(&format!(r#"people::answers(people::load("task"), "{name}", #{{ salt: "s" }})"#));
        assert!(said.contains(wanted), "{name}: {said}");
    };
    refused(
        &mut place,
        "other.jsonl",
        sealed(&log.replacen(&digest, "0123456789abcdef", 1)),
        "an answer to the task \"0123456789abcdef\"",
    );
    refused(
        &mut place,
        "item.jsonl",
        sealed(&log.replacen("\"question\":3", "\"question\":4", 1)),
        "question 4 of worker 0 is about",
    );
    refused(
        &mut place,
        "slot.jsonl",
        sealed(&log.replacen("\"slot\":0", "\"slot\":99", 1)),
        "there is no question 0 of a worker 99",
    );
    refused(
        &mut place,
        "choice.jsonl",
        sealed(&log.replacen("\"choice\":", "\"choice\":9", 1)),
        "is none of 11 buttons",
    );
    refused(&mut place, "flipped.jsonl", sealed(&log).replacen("\"choice\":1", "\"choice\":3", 1), "damaged");
    refused(&mut place, "bare.jsonl", log.clone(), "line 1: it carries no digest");
    refused(&mut place, "half.jsonl", log.replacen("\"seconds\":2}", "\"seconds\":", 1), "line 1: ");
    refused(&mut place, "text.txt", "hello".into(), "neither a table, nor JSON");
    refused(&mut place, "none.csv", "a,b\n1,2\n".into(), "no column says who answered");
    refused(&mut place, "empty.jsonl", "{}\n".into(), "it carries no digest");
    // Of two columns nothing says which counts; a line is that of the file, whatever ends it.
    refused(
        &mut place,
        "both.csv",
        table("WorkerId,Answer.viva").replacen("WorkerId,", "WorkerId,Worker,", 1).replace("\nA", "\nB,A"),
        "`WorkerId` and `Worker` differ",
    );
    let table_of =
        |head: &str, end: &str| format!("worker,task,slot,question,item,choice,{head}\n{plain}").replace('\n', end);
    refused(&mut place, "twice.csv", table_of("choice", "\n"), "the columns `choice` and `choice` differ");
    let windows = table_of("seconds", "\r\n").replacen(",2\r\n", ",soon\r\n", 1);
    refused(&mut place, "windows.csv", windows, "line 2: ");
    let statuses =
        plain.lines().enumerate().map(|(k, line)| format!("{line},{}\n", ["ACTIVE", "Rejected"][usize::from(k < 10)]));
    place.write(
        "statuses.csv",
        &format!("worker,task,slot,question,item,choice,seconds,Assignment Status\n{}", statuses.collect::<String>()),
    );
    let found = place.value(
        r#"let a = people::answers(people::load("task"), "statuses.csv", #{ salt: "s" });
        [a.raw.judgements, a.cautions.some(|said| said.contains("of the status \"active\" ("))]"#,
    );
    assert_eq!(found.summary(), "[84, true]");
    // Answers that are no words of one are not taken for none.
    let with = |json: &str| format!("[{}]", json.replace("VIVA", &viva(&rows[0])));
    for (name, json, wanted) in [
        (
            "list.json",
            r#"{"metadata":{"viva":VIVA},"responses":{"answer":[{"value":["1"],"user_id":"u"}]}}"#,
            "must be one label",
        ),
        ("number.json", r#"{"viva":VIVA,"answer":"accept","accept":[3],"_annotator_id":"a"}"#, "must be a text"),
        (
            "stars.json",
            r#"{"data":{"viva":VIVA},"annotations":[{"completed_by":1,"result":[{"value":{"rating":3}}]}]}"#,
            "holds no `choices`",
        ),
        ("two.json", r#"{"viva":VIVA,"answer":["1","2"],"annotator":1,"annotation_id":2}"#, "must be one choice"),
        (
            "named.json",
            r#"{"viva":VIVA,"answer":"accept","accept":["1"],"_annotator_id":"a\u0007"}"#,
            "is no name of a worker",
        ),
    ] {
        refused(&mut place, name, with(json), wanted);
    }
    refused(&mut place, "ls.json", "[{\"data\":{},\"annotations\":[]}]".into(), "it carries no `viva`");
    let said = place.said(r#"people::answers(people::load("task"), "mturk.csv")"#);
    assert!(said.contains("give `salt`"), "{said}");
    // A log that was cut off in its last line is read to there, and says so.
    let log = sealed(&log);
    place.write("cut.jsonl", &log[..log.len() - 20]);
    let found = place.value(
        r#"let a = people::answers(people::load("task"), "cut.jsonl");
        [a.raw.judgements + a.unfinished > 88, a.cautions.len > 0]"#,
    );
    assert_eq!(all(found), ["true", "true"]);
}

#[test]
fn an_answer_that_is_taken_back_does_not_count() {
    let mut place = Place::new();
    let digest = place.value(&format!("{TASK} t.digest")).summary();
    let item = place.value(&format!("{TASK} t.asked(0)[5].item")).summary();
    let line = |rest: &str| {
        sealed(&format!(r#"{{"task":"{digest}","slot":0,"question":5,"item":"{item}","worker":"0",{rest}}}"#))
    };
    place.write(
        "log.jsonl",
        &[line("\"choice\":1"), line("\"undo\":true"), line("\"choice\":2"), line("\"choice\":3")].concat(),
    );
    let found = place.value(
        r#"let t = people::load("task");
        let a = people::answers(t, "log.jsonl");
        [a.undone, a.repeated, a.unfinished, a.raw.judgements, a.cautions.filter(|c| c.contains("came again")).len]"#,
    );
    let is_test = place.value(&format!("{TASK} t.asked(0)[5].role")).summary() == "test";
    assert!(is_test, "take another question: this one is no test");
    assert_eq!(all(found), ["1", "1", "1", "1", "1"]);
}

/// Prolific's table of submissions holds no answers; beside the log it says whose do not count. Names that a spreadsheet would work out are
/// never written down.
#[test]
fn what_a_platform_does_not_count_is_left_out_and_said() {
    let mut place = Place::new();
    let digest = place.value(&format!("{TASK} t.digest")).summary();
    let Value::Array(asked) = place.value(&format!(
        "{TASK}{HONEST} said.map(|row| [row.slot, row.question, row.choice, t.asked(row.slot)[row.question].item])"
    )) else {
        panic!("an array")
    };
    let names = ["5e90a0", "5e90a1", "5e90a2", "5e90a3"];
    let log = |name: &dyn Fn(usize) -> String| -> String {
        let lines =
            asked.iter().map(|row| all(row.clone())).filter(|row| row[0].parse::<usize>().is_ok_and(|slot| slot < 4));
        let line = |row: Vec<String>| {
            let name = name(row[0].parse().expect("a number"));
            format!(
                r#"{{"task":"{digest}","slot":{},"question":{},"choice":{},"item":"{}","worker":"{}","platform":"{name}","seconds":2}}"#,
                row[0], row[1], row[2], row[3], row[0]
            ) + "\n"
        };
        sealed(&lines.map(line).collect::<String>())
    };
    place.write("log.jsonl", &log(&|slot| names[slot].into()));
    place.write("formula.jsonl", &log(&|slot| format!("=HYPERLINK({slot})")));
    let head = "Submission id,Participant id,Status,Started at,Completed at,Time taken,Completion code,Age";
    let statuses = ["APPROVED", "RETURNED", "AWAITING REVIEW", "TIMED-OUT"];
    let rows = statuses.iter().zip(names).map(|(status, name)| {
        format!("67{name},{name},{status},2026-11-24T03:00:00Z,2026-11-24T03:10:00Z,600,C0DE,30\n")
    });
    let rows: Vec<String> = rows.collect();
    place.write("submissions.csv", &format!("{head}\n{}", rows.concat()));
    place.write("three.csv", &format!("{head}\n{}", rows[1..].concat()));
    let ask = |files: &str, how: &str| {
        format!(
            r#"let a = people::answers(people::load("task"), {files}, #{{ {how} }});
            [a.workers, a.conduct[0].worker, a.raw.judgements, a.cautions.filter(|c| c.contains("left out, of everybody")).len, a.cautions.filter(|c| c.contains("not in the platform")).len]"#
        )
    };
    let mut found = |files: &str, how: &str| all(place.value(&ask(files, how)));
    assert_eq!(found(r#""log.jsonl""#, "keep_ids: true"), ["4", "5e90a0", "40", "0", "0"]);
    let both = r#"["log.jsonl", "submissions.csv"]"#;
    // One was returned, one timed out.
    assert_eq!(found(both, "keep_ids: true"), ["2", "5e90a0", "20", "2", "0"]);
    let hashed = found(both, r#"salt: "s""#);
    assert!(hashed[0] == "2" && hashed[1].starts_with("w-") && hashed[3] == "2", "{hashed:?}");
    assert_eq!(found(r#"["log.jsonl", "three.csv"]"#, "keep_ids: true")[4], "1");
    assert!(place.said(&ask(r#""log.jsonl""#, "")).contains("give `salt`"));
    assert!(place.said(&ask(r#""submissions.csv""#, "keep_ids: true")).contains("there are no answers"));
    assert!(
        place
            .said(&ask(r#""formula.jsonl""#, "keep_ids: true"))
            .contains("a spreadsheet that opens the results would work out")
    );
    place.value(&ask(r#""formula.jsonl""#, r#"salt: "s""#));
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let mut place = Place::new();
    let ds = "let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });";
    for (script, wanted) in [
        ("people::task(ds, #{})", "the option `kind` is needed"),
        ("people::task(ds, #{ kind: \"lable\" })", "did you mean `label`"),
        ("people::task(ds, #{ kind: \"label\", gold: 2 })", "needs `real`"),
        ("people::task(ds, #{ kind: \"pair\" })", "needs `real`"),
        ("people::task(ds, #{ kind: \"odd_one_out\", real: ds })", "11 stand beside each test"),
        ("people::task(ds, #{ kind: \"keeps_label\", real: ds })", "nobody says what that is"),
        ("people::task(ds, #{ kind: \"keeps_label\", real: ds, originals: ds.take(3) })", "`originals` are 3 images"),
        ("people::task(ds, #{ kind: \"attribute\", originals: ds })", "name it: `attribute"),
        (
            "people::task(ds, #{ kind: \"attribute\", originals: ds, attribute: \"ink\", more: [true] })",
            "an array of 40",
        ),
        ("people::task(ds, #{ kind: \"realism\", reject: #{ gould: 1 } })", "did you mean `gold`"),
        (
            "people::task(ds.relabel(|row| row.label % 3, #{ classes: [\"crane\", \"crane\", \"dog\"] }), #{ kind: \"label\", gold: 0 })",
            "two classes are called \"crane\"",
        ),
        ("people::task(ds, #{ kind: \"realism\", reject: #{ gold: 2 } })", "`reject.gold` must be from 0 to 1"),
        (
            "people::task(ds, #{ kind: \"pair\", real: data::glyphs(#{ n: 90, size: 20 }) })",
            "of another size than the tests",
        ),
        ("people::task(ds, #{ kind: \"pair\", real: ds, instructed: 1 })", "takes no `instructed`"),
        ("people::task(ds.centre(), #{ kind: \"realism\" })", "people would not see what models do"),
        (
            "people::task(ds, #{ kind: \"realism\", facts: #{ layer: [1] } })",
            "says something of 1 images, there are 40",
        ),
        ("people::task(ds, #{ kind: \"realism\", facts: #{ label: [1] } })", "can't say \"label\""),
        ("people::task(ds, #{ kind: \"realism\", folder: \"../elsewhere\" })", "may not write"),
        (
            "people::task(data::glyphs(#{ n: 4, size: 16 }).relabel(|row| row.label % 2, #{ classes: [\"cat\", \" None\"] }), #{ kind: \"label\", gold: 0 })",
            "a class is called \" None\"",
        ),
        ("people::load(\"nowhere\")", "no such file or folder"),
    ] {
        let said = place.said(&format!("{ds} {script}"));
        assert!(said.contains(wanted), "{script}: {said}");
    }
}

/// A task is a folder that may come from anybody.
#[test]
fn a_task_that_was_changed_is_refused() {
    let mut place = Place::new();
    place.value(TASK);
    let path = place.folder.path().join("task/task.json");
    let text = std::fs::read_to_string(&path).expect("a task");
    for (from, to) in [("\"gold\": 0.7", "\"gold\": 0.1"), ("\"overlap\": 3", "\"overlap\": 4")] {
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replacen(from, to, 1)).expect("a file");
        assert!(place.said("people::load(\"task\")").contains("damaged"), "{from}");
    }
    std::fs::write(&path, &text).expect("a file");
    let mut pictures = std::fs::read_dir(place.folder.path().join("task/pictures")).expect("pictures");
    let [one, other] = [0, 1].map(|_| pictures.next().expect("one").expect("one").path());
    // One picture in another's place is what everybody would judge wrongly.
    std::fs::copy(&one, &other).expect("copied");
    assert!(place.said("people::load(\"task\")").contains("the picture is not as it was written"));
    // The same call makes it whole again, as long as nothing else has been asked there.
    place.value(TASK);
    std::fs::remove_file(other).expect("removed");
    assert!(place.said("people::load(\"task\")").contains("is missing"));
    std::fs::write(&path, &text[..100]).expect("a file");
    place.value(TASK);
    place.value("people::load(\"task\")");
    std::fs::write(&path, &text[..100]).expect("a file");
    std::fs::write(place.folder.path().join("task/answers.jsonl"), "").expect("a log");
    assert!(place.said(TASK).contains("and answers to it are there"));
    std::fs::create_dir(place.folder.path().join("empty")).expect("a folder");
    assert!(place.said("people::load(\"empty\")").contains("wanted is a folder that people::task kept"));
}

/// Networks that err where people do not, and the other way round, in numbers that are known.
#[test]
fn networks_stand_beside_people_in_known_numbers() {
    let mut place = Place::new();
    let found = place.value(
        r#"
        // Images of four pixels whose first says their class; the second, whether the network reads it so.
        let image = |label, misread| [label * 0.5, if misread { 1.0 } else { 0.0 }, 0.0, 0.0];
        let pixels = [];
        let labels = [];
        for i in 0..40 { labels.push(i % 2); pixels += image.call(i % 2, i % 4 == 0) + []; pixels[pixels.len() - 2] = i / 64; }
        let ds = data::from(tensor::from(pixels).reshape([40, 1, 2, 2]), labels);
        let f = model::from(|x| {
            let flat = x.reshape([x.len(), 4]);
            let one = (flat.matmul(tensor::from([1.0, 0.0, 0.0, 0.0]).reshape([4, 1])) * 4 - 1)
                * (1 - flat.matmul(tensor::from([0.0, 1.0, 0.0, 0.0]).reshape([4, 1])) * 2);
            tensor::concat([one * -1, one], 1)
        }, #{ classes: 2 });
        let t = people::task(ds.take(32), #{ kind: "label", overlap: 3, per_worker: 32, instructed: 0, reject: #{ alike: 1, straight: 1 }, seed: 1 });
        let places = #{};
        let said = [];
        for slot in 0..t.workers { for q in t.asked(slot) {
            if !(q.item in places) { places[q.item] = places.len(); }
            // Of eight tests two of three people say none.
            let choice = if places[q.item] < 8 && slot > 0 { 2 } else { parse_int(q.label) };
            said.push(#{ worker: slot, slot: slot, question: q.question, choice: choice, seconds: 2 });
        } }
        let a = people::answers(t, said);
        let n = a.networks([f], #{ others: ds.skip(32) });
        [n.items, n.kept_by_people, n.kept_by_networks, f.predict(ds).len() == 40, n.seen, n.others, n.people, n.network,
         n.mean_lo <= n.mean && n.mean <= n.mean_hi]"#,
    );
    assert_eq!(all(found), ["32", "24", "24", "true", "32", "8", "0.75", "0.75", "true"]);
    let said = place.said(
        r#"let t = people::task(data::glyphs(#{ n: 6, size: 16, seed: 1 }), #{ kind: "realism", gold: 0, seed: 1, folder: "real" });
        people::answers(t, t.asked(0).map(|q| #{ worker: 1, slot: 0, question: q.question, choice: 0 }))
            .networks(model::from(|x| tensor::zeros([x.len(), 10])))"#,
    );
    assert!(said.contains("does not say whether tests keep their labels"), "{said}");
}
