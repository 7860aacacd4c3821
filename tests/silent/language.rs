//! What a script says: keys, captured values, operators, options.

use super::{refused, run, run_in, truths};

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

#[test]
fn what_the_caller_says_of_a_file_counts_or_is_refused_with_what_the_file_says() {
    let saved = r#"
        let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        let layers = [net::flatten(), net::linear(10)];
        let f = model::train(ds, #{ arch: layers, epochs: 1, seed: 1 });
        f.save("f.safetensors");
    "#;
    for (options, words) in [
        ("arch: \"resnet18\"", "the file says that its layers are"),
        ("arch: \"resnet18\"", "`arch` says \"resnet18\""),
        ("arch: [net::flatten(), net::linear(5), net::linear(10)]", "`arch` says"),
        ("classes: 7", "`classes` says 7"),
        ("input: [1, 20, 20]", "256"),
    ] {
        refused(&format!("{saved} model::load(\"f.safetensors\", #{{ {options} }})"), words);
    }
    truths(&format!(
        r#"{saved}
        let squashed = model::load("f.safetensors", #{{ arch: [net::flatten(), net::linear(10), net::sigmoid()] }});
        #{{
            same: model::load("f.safetensors", #{{ arch: layers }}).hash == f.hash,
            other: squashed.logits(ds).max() <= 1.0,
            normalised: model::load("f.safetensors", #{{ mean: [0.5], std: [0.5] }}).hash != f.hash,
        }}"#
    ));
    let generator = r#"
        let g = generator::train(data::glyphs(#{ n: 40, seed: 1 }), #{ steps: 1, batch: 8, seed: 1 });
        g.save("g.safetensors");
    "#;
    for (options, words) in [
        ("classes: 3", "`classes` says 3, the generator has 10"),
        ("latent: 3", "`latent` says 3"),
        ("shape: [3, 64, 64]", "`shape` says [3, 64, 64]"),
        ("truncation: 0.5", "BigGAN's alone"),
        ("discriminator: \"g.safetensors\"", "`discriminator` goes with `arch`"),
    ] {
        refused(&format!("{generator} generator::load(\"g.safetensors\", #{{ {options} }})"), words);
    }
}

#[test]
fn numbers_that_mean_something_else_elsewhere_are_refused_with_the_clear_spellings() {
    for script in ["log(10)", "log(10.0)", "let x = 3; x.log()"] {
        refused(script, "log10(x)");
    }
    for script in ["2 ^ 3", "let a = 2; a ^= 3; a", "2.0 ^ 3", "fn f(a) { a ^ 2 } f(3)"] {
        refused(script, "a ** b");
    }
    truths(
        r#"#{
            logarithms: log10(100) == 2.0 && log10(0.1) == -1.0 && log2(8) == 3.0 && log(8, 2) == 3.0 && log(9.0, 3) == 2.0 && ln(1) == 0.0,
            powers: 2 ** 3 == 8 && xor(2, 3) == 1 && xor(true, false) && (true ^ false),
        }"#,
    );
}

#[test]
fn two_slashes_between_operands_are_noticed() {
    use viva::core::Cx;
    use viva::script::{Session, check};
    let cx = std::rc::Rc::new(Cx::default());
    let mut session = Session::new(cx.clone());
    session.evaluate("prompt", "let n = 7;").unwrap();
    assert_eq!(session.evaluate("prompt", "let half = n // 2;").unwrap().summary(), "()");
    assert_eq!(cx.warnings().len(), 1, "{:?}", cx.warnings());
    assert!(cx.warnings()[0].contains("div(n, 2)"), "{:?}", cx.warnings());
    let text = "let a = 7;\nlet b = a; // a number\na // 2\n";
    let found = check(&session, &session.compile("script", text).unwrap(), text);
    assert_eq!(found.iter().map(|f| (f.line, f.column)).collect::<Vec<_>>(), [(3, 3)], "{found:?}");
}

#[test]
fn the_home_folder_is_no_folder_called_tilde() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["~/viva-never-written.json", "~nobody/x.json"] {
        let error = run_in(folder.path(), &format!("save([1], {path:?})")).unwrap_err();
        assert!(error.contains("may not write to") || error.contains("only as ~/"), "{error}");
    }
    assert!(run_in(folder.path(), "data::csv(\"~/viva-never-written.csv\")").is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn a_function_that_reads_an_outer_variable_is_told_what_to_do() {
    for (script, words) in [
        ("let ds = 3; fn f() { ds + 1 } f()", "there is no variable `ds` inside the function `f`"),
        ("let ds = 3; fn f(a) { a + ds } f(1)", "fn f(a, ds) { ... }"),
        ("let ds = 3; fn f() { ds + 1 } f()", "fn f(ds) { ... }"),
    ] {
        refused(script, words);
    }
    let session = viva::script::Session::new(Default::default());
    let text = "let ds = 3;\nlet g = |x| x + ds;\nfn f(a) { let b = 1; #{ ds: a + b }.ds + ds }\nf(g.call(1))\n";
    let found = viva::script::check(&session, &session.compile("script", text).unwrap(), text);
    assert_eq!(found.iter().map(|f| (f.line, f.column)).collect::<Vec<_>>(), [(3, 42)], "{found:?}");
}

#[test]
fn a_closure_that_answers_something_else_than_was_asked_is_refused() {
    for (script, words) in [
        ("[1, 2].sort(|a, b| a.los - b.los)", "int has no `los`"),
        ("[#{ loss: 2 }, #{ loss: 1 }].sort(|a, b| a.los - b.los)", "did you mean `loss`?"),
        ("[#{ loss: 2 }, #{ loss: 1 }].order(|a, b| a.los - b.los)", "did you mean `loss`?"),
        ("[1, 2].sort(|a, b| \"a\")", "must answer a number"),
        ("[1, 2].sort(|a, b| 0.0 / 0.0)", "must answer a number"),
        ("[1, 2].filter(|x| x)", "must answer true or false, got an int"),
        ("[1, 2].some(|x| 0.5)", "must answer true or false, got a float"),
        ("[1, 2].all(|x| ())", "must answer true or false"),
        ("[1, 2].find(|x| \"\")", "must answer true or false"),
        ("[1, 2].index_of(|x| x)", "must answer true or false"),
        ("let v = [1, 2]; v.drain(|x| x)", "must answer true or false"),
        ("let v = [1, 2]; v.retain(|x| x)", "must answer true or false"),
        ("let v = [1, 2]; v.dedup(|a, b| a)", "must answer true or false"),
        ("#{ a: 1 }.filter(|key, value| value)", "must answer true or false"),
    ] {
        refused(script, words);
    }
    truths(
        r#"
        let rows = [#{ loss: 0.3 }, #{ loss: 0.1 }, #{ loss: 0.2 }];
        rows.sort(|a, b| a.loss - b.loss);
        let stable = [[1, 2], [0, 1], [1, 1], [0, 2]];
        stable.sort(|a, b| a[0] - b[0]);
        let v = [1, 1, 2, 3, 3];
        v.dedup(|a, b| a == b);
        let drained = [1, 2, 3, 4];
        let gone = drained.drain(|x| x > 2);
        let kept = [1, 2, 3, 4];
        let left = kept.retain(|x, i| i > 0);
        let m = #{ a: 1, b: 2 };
        const FIXED = [3, 1, 2];
        #{
            floats: rows.map(|row| row.loss) == [0.1, 0.2, 0.3],
            stable: stable == [[0, 1], [0, 2], [1, 2], [1, 1]],
            bools: [3, 1, 2].order(|a, b| a > b) == [3, 2, 1],
            dedup: v == [1, 2, 3],
            drain: drained == [1, 2] && gone == [3, 4],
            retain: kept == [2, 3, 4] && left == [1],
            filter: FIXED.filter(|x| x > 1) == [3, 2] && [5, 6].filter(|x, i| i == 1) == [6],
            search: FIXED.find(|x| x < 3) == 1 && FIXED.index_of(|x| x == 2) == 2 && FIXED.index_of(|x| x < 3, -1) == 2,
            some: FIXED.some(|x| x == 1) && FIXED.all(|x| x > 0) && ![].some(|x| x > 0),
            bound: [1, 2].filter(|| this > 1) == [2],
            map: m.filter(|key, value| value > 1) == #{ b: 2 },
        }"#,
    );
}

/// A word is listed and understood by one table, `Words`: a list of its own beside a `match` could know a word that the match does not.
#[test]
fn no_option_s_words_are_listed_beside_what_they_mean() {
    fn sources(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { sources(&path, found) } else { found.push(path) }
        }
    }
    let mut files = Vec::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/primitives");
    sources(&root, &mut files);
    assert!(files.len() > 100);
    // What a script declares it understands by itself.
    for file in
        files.iter().filter(|file| !["param.rs", "words.rs", "comment.rs"].iter().any(|own| file.ends_with(own)))
    {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(!text.contains("Kind::Choice("), "{}: make a table of Words", file.display());
    }
}

/// A text that is one of several words can't be read as a text: the calls that are quick show it, with every word.
#[test]
fn every_word_of_every_option_is_understood() {
    let mut session = viva::script::Session::new(Default::default());
    session.evaluate("setting", EXAMINED).unwrap();
    session.evaluate("setting", "let curve = tolerance::curve(t);").unwrap();
    let mut called = 0;
    for primitive in viva::primitives::PRIMITIVES {
        for param in primitive.params.iter().chain(primitive.options) {
            for word in param.kind.choices().unwrap_or_default() {
                let (option, word) = (param.name, format!("{word:?}"));
                let call = match primitive.path {
                    path if path.starts_with("generator::")
                        || path.starts_with("model::")
                        || path == "tolerance::measure" =>
                    {
                        continue;
                    }
                    "examine" | "plot::examiner" => continue,
                    "risk::estimate" => format!("risk::estimate(f, ds, #{{ radius: 1, {option}: {word} }})"),
                    "data::glyphs" | "data::scenes" => format!("{}(#{{ n: 2, {option}: {word} }})", primitive.path),
                    "space::pixels" => format!("space::pixels({word})"),
                    "space::rotate" | "space::translate" => format!("{}(1, #{{ {option}: {word} }})", primitive.path),
                    "Transcript.images" => format!("t.images({word})"),
                    "plot::tolerance" | "tolerance::summary" => {
                        format!("{}(curve, #{{ {option}: {word} }})", primitive.path)
                    }
                    "plot::line" => format!("plot::line([1, 2], #{{ lo: [0, 1], hi: [2, 3], {option}: {word} }})"),
                    "info::mutual_information" => {
                        format!("info::mutual_information([0, 1], [0, 1], #{{ {option}: {word} }})")
                    }
                    "info::entropy" => format!("info::entropy([0, 1], #{{ {option}: {word} }})"),
                    path => format!("{path}(#{{ {option}: {word} }})"),
                };
                match session.evaluate("word", &call) {
                    Ok(_) => called += 1,
                    // What else such a call asks for is not the matter here.
                    Err(error) => assert!(error.kind != "internal", "{call}: {}", error.render(false)),
                }
            }
        }
    }
    assert!(called >= 30, "{called} of the calls went well");
}

/// Every method that takes a closure, on a variable that the closure reads.
#[test]
fn every_method_may_be_given_a_closure_that_reads_its_own_value() {
    let calls = [
        ("Transcript.filter", "t.filter(|row| row.id < t.len()).len() == t.len()"),
        ("Dataset.relabel", "ds.relabel(|row| row.label % ds.classes.len()).len() == ds.len()"),
        ("map", "xs.map(|x| x + xs.len()) == [6, 4, 5]"),
        ("filter", "xs.filter(|x| x < xs.len()) == [1, 2]"),
        ("find", "xs.find(|x| x < xs.len()) == 1"),
        ("find_map", "xs.find_map(|x| if x < xs.len() { x * 2 } else { () }) == 2"),
        ("some", "xs.some(|x| x == xs.len())"),
        ("all", "xs.all(|x| x <= xs.len())"),
        ("reduce", "xs.reduce(|sum, x| (sum ?? 0) + x + xs.len()) == 15"),
        ("reduce_rev", "xs.reduce_rev(|sum, x| (sum ?? 0) + x + xs.len()) == 15"),
        ("index_of", "xs.index_of(|x| x < xs.len()) == 1"),
        ("zip", "xs.zip([1, 1, 1], |a, b| a + b + xs.len()) == [7, 5, 6]"),
        ("order", "xs.order(|a, b| (a - b) * xs.len()) == [1, 2, 3]"),
        ("order_by", "xs.order_by(|a, b| (a - b) * xs.len()) == [1, 2, 3]"),
        ("chain", "xs.extract(0..2).map(|x| x + xs.len()).filter(|x| x > xs[0]) == [6, 4]"),
        ("field", "m.list.map(|x| x + m.list.len()) == [4, 5, 6]"),
        ("index", "nested[0].map(|x| x + nested.len()) == [2, 3]"),
        ("in a variable", "{ let f = |x| x + xs.len(); xs.map(f) == [6, 4, 5] }"),
        ("in a closure", "{ let f = || xs.map(|x| x + xs.len()); f.call() == [6, 4, 5] }"),
        ("map.map", "m.map(|key, value| m.len()) == #{ list: 2, n: 2 }"),
        ("map.filter", "m.filter(|key, value| m.len() == 2).len() == 2"),
        ("sort", "{ let v = xs; v.sort(|a, b| (a - b) * v.len()); v == [1, 2, 3] }"),
        ("sort_by", "{ let v = xs; v.sort_by(|a, b| (a - b) * v.len()); v == [1, 2, 3] }"),
        ("dedup", "{ let v = [1, 1, 2]; v.dedup(|a, b| a == b && v.len() == 3); v == [1, 2] }"),
        ("drain", "{ let v = xs; let gone = v.drain(|x| x == v.len()); v == [1, 2] && gone == [3] }"),
        ("retain", "{ let v = xs; let gone = v.retain(|x| x < v.len()); v == [1, 2] && gone == [3] }"),
        ("for_each", "{ let v = xs; v.for_each(|| this += v.len()); v == [6, 4, 5] }"),
        ("map.drain", "{ let v = m; v.drain(|key, value| v.len() == 2 && key == \"n\"); v.len() == 1 }"),
        ("map.retain", "{ let v = m; v.retain(|key, value| v.len() == 2 && key == \"n\"); v.len() == 1 }"),
        ("changed twice", "{ let v = xs; v = v.map(|x| x + v.len()); v = v.filter(|x| x > v.len() + 1); v == [6, 5] }"),
    ];
    for primitive in viva::primitives::PRIMITIVES.iter().filter(|p| p.receiver().is_some()) {
        let takes = primitive
            .params
            .iter()
            .chain(primitive.options)
            .any(|param| param.kind == viva::primitives::Kind::Callback);
        assert!(!takes || calls.iter().any(|(name, _)| *name == primitive.path), "{} has no case", primitive.path);
    }
    let setting = "let xs = [3, 1, 2]; let m = #{ list: [1, 2, 3], n: 1 }; let nested = [[0, 1], []];";
    let mut session = viva::script::Session::new(Default::default());
    session.evaluate("setting", &format!("{EXAMINED} {setting}")).unwrap();
    for (name, call) in calls {
        let answer = session.evaluate(name, call).unwrap_or_else(|error| panic!("{name}: {}", error.render(false)));
        assert_eq!(answer.summary(), "true", "{name}: {call}");
    }
}

#[test]
fn check_and_the_tab_key_know_the_columns_of_rows() {
    use viva::script::{Session, check};
    let mut session = Session::new(Default::default());
    let text = "let ds = data::glyphs();\nlet t = examine(f, ds, #{ space: s });\nt.filter(|row| row.aftr != row.label).len();\n\
                ds.relabel(|r| r.lable);\nlet o = #{ epochs: 3 };\no.more = 1;\no.epoch + o.epochs + o.more + o?.maybe;\n\
                let fewer = t.filter(|row| row.fooled);\nfewer.highest(\"loss\", 3).filter(|row| row.losss > 0);\n\
                fn f(options) { let options = #{ n: 1 }; options.m ?? options.n }\n\
                [#{ a: 1 }].filter(|row| row.aftr > 1);\nlet p = #{ a: 1 };\np += #{ b: 2 };\np.b\n";
    let found = check(&session, &session.compile("script", text).unwrap(), text);
    let lines: Vec<usize> = found.iter().filter(|f| f.message.contains("no key")).map(|f| f.line).collect();
    assert_eq!(lines, [3, 4, 7, 9, 10], "{found:?}");
    assert!(found.iter().any(|f| f.message.contains("did you mean `after`?")), "{found:?}");
    session.evaluate("setting", EXAMINED).unwrap();
    for line in ["t.filter(|row| row.", "let s = t.filter(|row| row.label == 1 && row.", "t[0].", "t.filter(|t| t."] {
        let (_, offers) = viva::assist::complete(&session, &[], line, line.len());
        let words: Vec<&str> = offers.iter().map(|offer| offer.text.as_str()).collect();
        assert!(words.contains(&"after") && words.contains(&"margin"), "{line}: {words:?}");
    }
}

/// A measure is a key of rows where it was asked for, or where the text does not tell.
#[test]
fn check_and_the_tab_key_know_the_measures_of_rows() {
    use viva::script::{Session, check};
    let mut session = Session::new(Default::default());
    let text = "let ds = data::glyphs();\nlet t = examine(f, ds, #{ space: s, measures: [\"nll\"] });\n\
                t.filter(|row| row.nll > 1).filter(|row| row.brier > 1);\nlet how = #{ space: s };\n\
                examine(f, ds, how).filter(|row| row.brier > 1);\nexamine(f, ds, how + #{ search: s }).filter(|row| row.brier > 1);\n\
                examine(f, ds, #{ space: s }).filter(|row| row.brier > 1);\nlet few = t.filter(|row| row.fooled);\n\
                few.highest(\"nll\").filter(|row| row.nll > 1 && row.rank > 1);\n\
                examine(f, ds, #{ measures: names, space: s }).filter(|row| row.rank > 1);\n";
    let found = check(&session, &session.compile("script", text).unwrap(), text);
    let lines: Vec<usize> = found.iter().filter(|f| f.message.contains("no key")).map(|f| f.line).collect();
    assert_eq!(lines, [3, 7, 9], "{found:?}");
    session.evaluate("setting", EXAMINED).unwrap();
    let more =
        "let u = examine(f, ds, #{ space: space::translate(1), search: search::strongest(), measures: [\"nll\"] });";
    session.evaluate("more", more).unwrap();
    let offered = |line: &str| -> Vec<String> {
        let (_, offers) = viva::assist::complete(&session, &[], line, line.len());
        offers.into_iter().map(|offer| offer.text).collect()
    };
    for (line, measured) in [
        ("u.filter(|row| row.", true),
        ("u[0].", true),
        ("t.filter(|row| row.", false),
        ("t[0].", false),
        ("examine(f, ds, #{ measures: [\"nll\"] }).filter(|row| row.", true),
        ("examine(f, ds, #{ space: s }).filter(|row| row.", false),
    ] {
        let words = offered(line);
        let has = |word: &str| words.iter().any(|offer| offer == word);
        assert!(has("after") && has("nll") == measured && !has("brier"), "{line}: {words:?}");
    }
    for line in
        ["examine(f, ds, #{ measures: [\"entr", "examine(f, ds, #{ measures: [\"nll\", \"entr", "u.column(\"entr"]
    {
        assert_eq!(offered(line), ["entropy\""], "{line}");
    }
}

/// What a program's text becomes on its way to the interpreter changes nothing that was said.
#[test]
fn what_a_script_says_stays_as_it_was_said() {
    truths(
        r####"
        let m = #{};
        let raw = #"a "m.x = 3" b"#;
        m.path = #"C:\data\"#;
        m[#"q"#] = 1;
        let counts = [4, 5];
        let k = 1;
        let best = [#{ a: 2 }, #{ a: 1 }, #{ a: 1 }];
        best.sort(|x, y| x.a < y.a);
        #{
            raw: raw == "a \"m.x = 3\" b" && raw.len == 13, path: m.path == "C:\\data\\", key: m.q == 1,
            asked: m?.start == () && m?.len == () && "abc"?.len == 3 && counts?.len == 2,
            element: counts.get(k) == 5, sorted: best.map(|x| x.a) == [1, 1, 2],
            caught: { let said = ""; try { nowhere() } catch (e) { said = e?.message ?? "" } said != "" },
        }"####,
    );
    for (script, words) in [
        ("let q = [3, 2]; q.for_each(|x| q.push(x)); q", "ata race"),
        ("let xs = [3, 1, 2]; xs.retain(|x| { if x == 3 { xs = [7]; } true }); xs", "ata race"),
        ("const M = #{ a: 1 }; M.b = 2; M", "no key `b`"),
        (
            "let c = #{ n: 0, mean: |k| { this.n += k; this.n } }; let k = 2; c.mean(k.max(1)); let f = |x| x; c.mean(f.call(k))",
            "",
        ),
        (
            "let c = #{ n: 0, filter: |k| { this.n += 1; } }; let keep = |x| true; c.filter(keep); c.n",
            "give it another name",
        ),
    ] {
        if words.is_empty() {
            run(script).unwrap_or_else(|error| panic!("{error}"));
        } else {
            refused(script, words);
        }
    }
    truths(
        "let c = #{ n: 0, mean: |k| { this.n += k; this.n } }; let k = 2; [c.mean(k), c.mean(k)]; #{ kept: c.n == 4 }",
    );
}

/// Text in a column of numbers would leave every row out of a filter.
#[test]
fn what_has_no_order_is_not_compared() {
    refused("[#{ n: \"7\" }].filter(|row| row.n > 5)", "the string \"7\" and an int have no order");
    refused("[#{ n: \"7\" }].filter(|row| row.n > 5)", "parse_float(text)");
    refused("let n = (); n <= 10", "() and an int have no order");
    refused("[1] < [2]", "an array and an array have no order");
    refused("tensor::from([1]) > \"a\"", "have no order");
    truths(
        r#"#{
            numbers: 1 < 2 && 1 < 2.5 && 2.5 > 1 && 2 <= 2 && 2 >= 2.0, texts: "a" < "b" && 'a' < "b" && "b" > 'a', bools: false < true,
            tensors: (1 < tensor::from([0, 2])).values() == [0, 1] && (tensor::from([0, 2]) > 1).values() == [0, 1],
            equal: (2 == tensor::from([0, 2])).values() == [0, 1], others: "3" != 3 && () != 0,
        }"#,
    );
}

/// A field that is called as in Python is not said to be missing.
#[test]
fn fields_that_are_called_are_told_to_be_fields() {
    refused("data::glyphs(#{ n: 3, seed: 1 }).shape()", "write .shape alone");
    refused("data::glyphs(#{ n: 3, seed: 1 }).labels()", "write .labels alone");
    refused("data::glyphs(#{ n: 3, margin: 4, seed: 1 })", "for images that are not on a torus");
    refused("plot::line([1, 2], [3, 4]).caution(\"\")", "must not be empty");
}
