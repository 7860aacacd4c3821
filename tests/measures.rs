//! Measures of rows: what they are, that asking for them changes nothing else, and what is refused.

use std::path::Path;
use std::rc::Rc;

use viva::core::{Cx, Quiet, Value};
use viva::script::Session;

const MODEL: &str = r#"
    let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });
    let all = measures().map(|measure| measure.name);
    let few = ds.take(12);
"#;

fn run(script: &str) -> Result<Value, String> {
    let text = format!("{MODEL}\n{script}");
    Session::new(Rc::new(Cx::new(Box::new(Quiet))))
        .run(Path::new("script.rhai"), &text)
        .map_err(|diagnostic| diagnostic.render(false))
}

fn floats(value: &Value) -> Vec<f64> {
    let Value::Array(values) = value else { panic!("{}", value.summary()) };
    let number = |value: &Value| match value {
        Value::Float(x) => *x,
        Value::Int(i) => *i as f64,
        Value::Bool(b) => f64::from(u8::from(*b)),
        other => panic!("{}", other.summary()),
    };
    values.iter().map(number).collect()
}

/// Every way to examine, with options that are written down.
const WAYS: [(&str, &str); 12] = [
    ("f", "space: space::translate(1), search: search::strongest()"),
    ("f", "space: space::translate(2) * space::flip(), search: search::nearest(), batch: 50"),
    ("black", "space: space::translate(1), search: search::random()"),
    ("f", "space: space::noise(), search: search::sweep(), levels: [0, 0.3, 1]"),
    ("f", "space: space::rotate(30), search: search::bayes(#{ questions: 6, candidates: 40 })"),
    ("black", "space: space::rotate(30), search: search::policy(#{ questions: 6, batch: 2, hidden: 8 })"),
    (
        "f",
        "space: space::factors([#{ name: \"gain\", min: 0.2, max: 1.0 }], |z, s| z * s.gain), search: search::random(#{ questions: 5 })",
    ),
    (
        "black",
        "space: space::pixels(\"linf\", #{ radius: 0.1, bounds: [0, 1] }), search: search::square(#{ questions: 9 })",
    ),
    (
        "f",
        "space: space::pixels(\"l2\"), search: search::bim(#{ steps: 3 }), at_steps: [0, 3], objective: objective::each_wrong()",
    ),
    (
        "f",
        "space: space::pixels(\"linf\", #{ radius: 0.1 }), search: search::bim(#{ steps: 2, start: \"random\", restarts: 2 })",
    ),
    (
        "f",
        "space: space::pixels(\"linf\", #{ bounds: [0, 1] }), search: search::adam(#{ lr: 0.05, steps: 5 }), at_steps: [2, 4]",
    ),
    ("f", "space: space::deform(), search: search::adef(#{ steps: 3 }), levels: [0.5, 2]"),
];

/// Each measure of each row against what its images and their logits say, in double precision; float32 scores of images that are drawn again
/// leave 1e-5.
#[test]
fn measures_are_of_the_image_where_the_search_left_it() {
    for (model, how) in WAYS {
        let found = run(&format!(
            "let black = model::from(|x| f.logits(x), #{{ classes: 10 }});
             let t = examine({model}, few, #{{ {how}, seed: 7, measures: all }});
             let x = t.images();
             let columns = all.map(|name| t.column(name));
             [f.logits(x).values(), t.column(\"label\"), x.reshape([t.len(), 256]).mean(1).values()] + columns"
        ))
        .unwrap_or_else(|said| panic!("{how}: {said}"));
        let Value::Array(found) = found else { panic!("{how}") };
        let [logits, labels, bright] = [0, 1, 2].map(|i| match &found[i] {
            // Logits are nested, row by row.
            Value::Array(rows) if matches!(rows[0], Value::Array(_)) => {
                rows.iter().flat_map(floats).collect::<Vec<f64>>()
            }
            flat => floats(flat),
        });
        let columns: Vec<Vec<f64>> = found[3..].iter().map(floats).collect();
        assert!(!labels.is_empty() && columns.len() == 8, "{how}");
        for (row, label) in labels.iter().enumerate() {
            let scores = &logits[row * 10..][..10];
            let y = *label as usize;
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|z| (z - most).exp()).sum();
            let p: Vec<f64> = scores.iter().map(|z| (z - most).exp() / sum).collect();
            let rank = 1 + scores.iter().filter(|z| **z > scores[y]).count();
            let one_hot = |k: usize| if k == y { 1.0 } else { 0.0 };
            let wanted = [
                p.iter().copied().fold(0.0, f64::max),
                p[y],
                -p.iter().map(|p| p * p.log2()).sum::<f64>(),
                -p[y].ln(),
                p.iter().enumerate().map(|(k, p)| (p - one_hot(k)).powi(2)).sum(),
                if rank <= 5 { 1.0 } else { 0.0 },
                rank as f64,
                bright[row],
            ];
            for (column, wanted) in columns.iter().zip(wanted) {
                let near = (column[row] - wanted).abs() <= 1e-5 * (1.0 + wanted.abs());
                assert!(near, "{how}: row {row}: {} in place of {wanted}", column[row]);
            }
        }
    }
}

#[test]
fn what_is_measured_changes_nothing_else() {
    for (model, how) in WAYS {
        let rows = |more: &str, seed: &str| {
            let text = format!(
                "let black = model::from(|x| f.logits(x), #{{ classes: 10 }});
                 let t = examine({model}, few, #{{ {how}{seed}{more} }});
                 [\"after\", \"level\", \"step\", \"snr\", \"magnitude\", \"loss\", \"softmax_margin\", \"queries\", \"point\", \"weight\"].map(|name| t.column(name))"
            );
            run(&text).unwrap_or_else(|said| panic!("{how}: {said}")).json()
        };
        assert_eq!(rows("", ""), rows(", measures: all", ""), "{how}");
    }
}

#[test]
fn measures_are_columns_like_the_others() {
    let found = run(
        "let t = examine(f, few, #{ space: space::translate(1), search: search::strongest(), measures: [\"top5\", \"entropy\"] });
         let none = examine(f, few, #{ space: space::translate(1), search: search::strongest() });
         let sure = t.filter(|row| row.entropy < 2.5);
         [t.mean(\"entropy\") > 0.0, t[0].top5 == t.column(\"top5\")[0], t.highest(\"entropy\", 1)[0].entropy == t.column(\"entropy\").reduce(|a, b| max(a, b), 0.0), \
          t.group(\"top5\")[\"true\"].column(\"top5\").all(|x| x), sure.len() < t.len() && sure.column(\"entropy\").all(|x| x < 2.5), \
          none[0].keys().contains(\"entropy\")]",
    )
    .expect("runs");
    assert_eq!(found.summary(), "[true, true, true, true, true, false]");
    let t = run(
        "examine(f, few, #{ space: space::translate(1), search: search::strongest(), measures: [\"top5\", \"entropy\"] })",
    );
    let Value::Object(t) = t.expect("runs") else { panic!("a transcript") };
    let keys: Vec<String> = t.json()["rows"][0].as_object().expect("a row").keys().cloned().collect();
    assert_eq!(keys[15..], ["point", "weight", "top5", "entropy"]);
    assert!(t.details(400).contains("top5") && t.json()["rows"][0]["top5"].is_boolean());
}

#[test]
fn generated_tests_are_measured_too() {
    let found = run("let digits = data::glyphs(#{ n: 60, size: 28, seed: 1 });
         let g = generator::train(digits, #{ steps: 1, batch: 8, seed: 1 });
         let m = model::train(digits, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
         let how = #{ n: 3, samples: 50, layers: 0..3, steps: 5 };
         let t = generator::perturb(g, m, how + #{ measures: [\"confidence\"] }).transcript;
         let p = m.logits(t.images()).softmax();
         let near = true;
         for i in 0..3 { near = near && abs(p[i].max() - t[i].confidence) < 1e-5; }
         near");
    assert_eq!(found.expect("runs").summary(), "true");
}

#[test]
fn what_measures_can_not_say_is_refused() {
    let refused = |script: &str, words: &str| {
        let said = run(script).err().unwrap_or_else(|| panic!("{script} runs"));
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(words), "{script}: {said}");
    };
    let how = "space: space::translate(1), search: search::strongest()";
    refused(&format!("examine(f, few, #{{ {how}, measures: [\"entropie\"] }})"), "did you mean `entropy`?");
    refused(&format!("examine(f, few, #{{ {how}, measures: \"entropy\" }})"), "an array of \"confidence\"");
    refused(&format!("examine(f, few, #{{ {how}, measures: [\"nll\", \"nll\"] }})"), "has \"nll\" twice");
    refused(
        &format!("examine(f, few, #{{ {how} }}).mean(\"nll\")"),
        "ask for it: examine(.., #{ measures: [\"nll\"] })",
    );
    refused(
        &format!("let two = model::from(|x| tensor::zeros([x.len(), 2]) + x.reshape([x.len(), 256]).mean(1).reshape([x.len(), 1]), #{{ classes: 2 }});
                  examine(two, few.only([0, 1]), #{{ {how}, measures: [\"top5\"] }})"),
        "\"top5\" says nothing of a model of 2 classes",
    );
    refused(
        &format!(
            "let five = model::from(|x| x.reshape([x.len(), 256]).matmul(tensor::normal([256, 5], #{{ seed: 1 }})));
             examine(five, ds.only([0, 1]), #{{ {how}, measures: [\"top5\"] }})"
        ),
        "\"top5\" says nothing of a model of 5 classes",
    );
    refused(
        "examine(f, few, #{ space: space::noise(), search: search::random(#{ questions: 3 }), objective: objective::labels([1]), measures: [\"nll\"] })",
        "of binary labels",
    );
}

/// Equal scores: of these the earlier class stands first, as where a model answers.
#[test]
fn equal_scores_have_ranks() {
    let found = run(
        "let flat = model::from(|x| tensor::zeros([x.len(), 10]), #{ classes: 10 });
         let t = examine(flat, ds, #{ space: space::translate(1), search: search::strongest(), measures: [\"rank\", \"top5\"] });
         [0, 1].map(|i| t.filter(|row| row.label == [4, 5][i])[0]).map(|row| [row.rank, row.top5, row.label])",
    );
    assert_eq!(found.expect("runs").summary(), "[[5, true, 4], [6, false, 5]]");
}
