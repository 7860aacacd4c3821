//! What a script says: keys, captured values, operators, options.

use super::{refused, truths};

/// A transcript `t` of glyphs.
const EXAMINED: &str = r#"
    let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
    let f = model::from(|x| x.reshape([x.shape[0], 256]).matmul(tensor::normal([256, 10], #{ seed: 1 })), #{ classes: 10 });
    let t = examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.0, 0.1] });
"#;

#[test]
fn reading_a_key_that_is_not_there_is_refused_with_the_one_that_is_meant() {
    for (script, words) in [
        ("let o = #{ epochs: 3 }; o.epoch", "did you mean `epochs`?"),
        ("let o = #{ epochs: 3 }; o[\"epoch\"]", "did you mean `epochs`?"),
        ("let o = #{ a: #{ epochs: 3 } }; o.a.epoch", "did you mean `epochs`?"),
        ("let o = #{ epochs: 3 }; o.epoch += 1", "did you mean `epochs`?"),
        ("let o = #{ text: \"a\" }; o.txet += \"b\"", "did you mean `text`?"),
        ("let o = #{ epochs: 3 }; o.epoch ?? 5", "did you mean `epochs`?"),
        ("fn f(o) { o.epoch } f(#{ epochs: 3 })", "did you mean `epochs`?"),
        ("[#{ epochs: 3 }].map(|o| o.epoch)", "did you mean `epochs`?"),
        ("#{}.epoch", "the map is empty"),
    ] {
        refused(script, "there is no key");
        refused(script, words);
    }
    refused(&format!("{EXAMINED} t.filter(|row| row.aftr != row.label).len()"), "did you mean `after`?");
    refused(&format!("{EXAMINED} t[0].margn"), "did you mean `margin`?");
    refused(&format!("{EXAMINED} t.objetive"), "did you mean `objective`?");
    truths(
        r#"
        let o = #{ epochs: 3 };
        o.fresh = 1;
        o["other"] = 2;
        let key = "third";
        o[key] = 3;
        o.inner = #{};
        o.inner.deep = 4;
        o[`computed ${key}`] = 5;
        o.fresh += 1;
        const C = #{ a: 1 };
        let list = [0, 1];
        list[0] = 7;
        list[list.len() - 1] = 8;
        #{
            written: o.fresh == 2 && o.other == 2 && o.third == 3 && o.inner.deep == 4 && o["computed third"] == 5,
            asked: o?.epoch == () && o?.epochs == 3 && o?["epoch"] == () && o?[key] == 3 && (o?.epoch ?? 8) == 8,
            got: o.get("epoch") == () && o.get("epochs") == 3 && !("epoch" in o) && "epochs" in o,
            nothing: ()?.epoch == (),
            constant: C?.b == () && C.a == 1,
            list: list == [7, 8],
        }"#,
    );
}

#[test]
fn a_closure_may_read_what_a_method_is_called_on() {
    truths(&format!(
        r#"{EXAMINED}
        let xs = [3, 1, 2];
        let mean = |row| row.loss >= t.mean("loss");
        let by = xs.map(|x| x + t.len());
        let sorted = xs;
        sorted.sort(|a, b| if sorted.len() == 3 {{ a - b }} else {{ 0 }});
        t = t.filter(|row| row.id < t.len() - 1);
        #{{
            filter: t.filter(|row| row.loss >= t.mean("loss")).len() > 0 && t.filter(mean).len() > 0,
            relabel: ds.relabel(|row| row.label % ds.classes.len()).len() == 12,
            map: by == [27, 25, 26] && xs.map(|x| x * xs.len()) == [9, 3, 6],
            sort: sorted == [1, 2, 3],
        }}"#
    ));
}
