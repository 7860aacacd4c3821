//! What is read: images, classes, tables.

use super::{run_in, truths};

/// A network whose classes are numbered otherwise than those of the data is wrong everywhere, and its outcomes say so themselves.
#[test]
fn an_error_no_better_than_guessing_is_said_in_the_result() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 }).only([3, 5]);
        let f = model::from(|x| tensor::zeros([x.shape[0], 10]), #{ classes: 10 });
        let t = examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.1] });
        t.save("t.json");
        let few = examine(f, ds.take(3), #{ space: space::noise(), search: search::sweep(), levels: [0.1] });
        let other = examine(model::from(|x| tensor::zeros([x.shape[0], 11]), #{ classes: 11 }), ds.take(3), #{
            space: space::noise(), search: search::sweep(), levels: [0.1],
        });
        #{
            said: t.cautions.len() == 1 && t.cautions[0].contains("no better than guessing"),
            enough: few.cautions == [],
            differing: other.cautions[0].contains("answers 11 classes"),
        }"#,
    );
}

/// What is said of outcomes stays with what is made of them: rows that are cut out, curves, figures.
#[test]
fn cautions_go_along() {
    truths(
        r#"
        let ds = data::objects(["mug"], #{ n: 12, size: 32, seed: 1 });
        let f = model::from(|x| tensor::zeros([x.shape[0], 2]) + tensor::from([0.0, 1.0]), #{ classes: 2 });
        let t = examine(f, ds, #{ space: space::render(), search: search::sample(#{ n: 3 }) });
        let worst = t.worst();
        let figure = plot::examiner(#{ a: worst, b: worst });
        #{
            rows: t.filter(|row| row.id < 3).cautions == t.cautions && t.cautions.len() == 1,
            curve: worst.cautions == t.cautions, figure: figure.cautions == t.cautions,
            sheet: plot::grid([figure, figure]).cautions == t.cautions,
        }"#,
    );
}

/// A key that only later rows have is a column all the same.
#[test]
fn tables_keep_every_key_of_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), r#"[#{ a: 1 }, #{ a: 2, caution: "mind" }].save("rows.csv")"#).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("rows.csv")).unwrap(), "a,caution\n1,\n2,mind\n");
}
