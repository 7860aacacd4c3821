//! What is read and written of tables.

use super::inputs::{Outcome, image, refused_in, truths_in};
use super::run_in;

/// A key that only later rows have is a column all the same.
#[test]
fn tables_keep_every_key_of_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), r#"[#{ a: 1 }, #{ a: 2, caution: "mind" }].save("rows.csv")"#).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("rows.csv")).unwrap(), "a,caution\n1,\n2,mind\n");
}

/// Tables as Parquet hold kinds, nulls and cautions, which CSV has in words.
#[test]
fn tables_as_parquet_keep_kinds_nulls_and_cautions() -> Outcome {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for class in 4..10u8 {
        image(root, &format!("ds/class{class}/0.png"), 20 * class)?;
    }
    run_in(
        root,
        r#"
        let rows = [#{ a: 1, b: (), l: [1, 2.5], s: "\u00e9,", m: 1, f: 0.1, big: 9007199254740993, none: () },
                    #{ a: 2, b: true, l: #{ k: 1 }, s: (), m: 0.5, f: 1.0 / 0.0, big: 0.5, none: () }];
        rows.save("rows.parquet");
        rows.save("two.parquet", #{ column_order: ["s", "a"] });
        let even = model::from(|x| -(x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]) - (tensor::from([0, 20, 40, 60, 80, 100, 120, 140, 160, 180]) / 255.0).reshape([1, -1])).abs(), #{ classes: 10 });
        examine(even, data::load("ds"), #{ space: space::noise(), search: search::sweep(), levels: [0.0001] }).save("t.parquet");
        "#,
    )?;
    let open = |name: &str| SerializedFileReader::new(std::fs::File::open(root.join(name)).expect(name)).expect(name);
    let lines = |name: &str| -> Vec<String> {
        open(name).get_row_iter(None).expect(name).map(|row| row.expect("a row").to_string()).collect()
    };
    assert_eq!(
        lines("rows.parquet"),
        [
            "{a: 1, b: null, big: \"9007199254740993\", f: 0.1, l: \"[1,2.5]\", m: 1.0, none: null, s: \"\u{e9},\"}",
            "{a: 2, b: true, big: \"0.5\", f: inf, l: \"{\"k\":1}\", m: 0.5, none: null, s: null}",
        ]
    );
    assert_eq!(lines("two.parquet"), ["{s: \"\u{e9},\", a: 1}", "{s: null, a: 2}"]);
    let transcript = open("t.parquet");
    let said = transcript.metadata().file_metadata().key_value_metadata().expect("pairs");
    let said = said.iter().find(|pair| pair.key == "viva").and_then(|pair| pair.value.clone()).expect("what it is");
    let said: serde_json::Value = serde_json::from_str(&said)?;
    let caution = said["cautions"][0].as_str().expect("a caution");
    assert!(caution.contains("answers 10 classes") && said["type"] == "Transcript", "{said}");
    let rows = lines("t.parquet");
    assert!(rows.len() == 6 && rows.iter().all(|row| row.contains(&format!("cautions: \"{caution}"))), "{rows:?}");
    Ok(())
}

/// A table in which a file stands twice would count it twice, with either label.
#[test]
fn a_file_that_stands_in_a_table_twice_is_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    image(root, "set/a.png", 101)?;
    image(root, "set/b.png", 102)?;
    for (table, text, words) in [
        ("classes.csv", "index,file\n0,a.png\n1,b.png\n1,a.png\n", "a.png stands there twice: line 2 and line 4"),
        ("classes.csv", "index,file\n0,a.png\n0,./a.png\n", "stands there twice"),
        (
            "labels.json",
            r#"{"a.png": 0, "b.png": 1, "a.png": 1}"#,
            "a.png stands there twice: with label 0 and with label 1",
        ),
        ("labels.json", r#"{"a.png": 0, "sub/../a.png": 0}"#, "stands there twice"),
    ] {
        std::fs::write(root.join("set").join(table), text)?;
        refused_in(root, "data::load(\"set\")", &[words, table]);
        std::fs::remove_file(root.join("set").join(table))?;
    }
    Ok(())
}

/// A quote that is not closed takes what follows into one field.
#[test]
fn a_quote_that_is_not_closed_is_an_error_with_its_line() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    image(root, "set/a.png", 101)?;
    image(root, "set/b.png", 102)?;
    for (text, line) in [
        ("index,file\n0,a.png\n1,\"b.png\n", "line 3"),
        ("index,file\n0,\"a.png\n1,\"b.png\"\n", "line 2"),
        ("index,file\n0,\"a.png\"x\n1,b.png\n", "line 2"),
        ("index,\"file\n0,a.png\n1,b.png\n", "line 1"),
    ] {
        for (table, script) in
            [("classes.csv", "data::load(\"set\")"), ("answers.csv", "data::csv(\"set/answers.csv\")")]
        {
            std::fs::write(root.join("set").join(table), text)?;
            refused_in(root, script, &[&format!("{line}: a quote is opened and not closed"), table]);
            std::fs::remove_file(root.join("set").join(table))?;
        }
    }
    std::fs::write(root.join("set/meshes.csv"), "class,file\nmug,\"a.obj\n")?;
    refused_in(root, "data::objects(\"set\")", &["line 2: a quote is opened and not closed", "meshes.csv"]);
    // What is written is read again: quotes, commas, ends of lines.
    truths_in(
        root,
        r#"
        let rows = [#{ text: "a \"b\", c" }, #{ text: "two\nlines" }, #{ text: "carriage\rreturn" }, #{ text: "\"" }];
        rows.save("rows.csv");
        #{ same: data::csv("rows.csv") == rows }"#,
    );
    Ok(())
}

#[test]
fn pictures_that_a_table_does_not_list_are_counted() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for file in ["ds/a.png", "ds/b.png", "ds/more/c.PNG", "ds/more/d.png", "ds/elsewhere/e.png"] {
        image(root, file, 103)?;
    }
    std::fs::write(root.join("ds/classes.csv"), "index,name,file\n0,cat,a.png\n1,dog,more/c.PNG\n")?;
    std::fs::write(root.join("ds/labels.txt"), "no picture")?;
    image(root, "all/a.png", 103)?;
    std::fs::write(root.join("all/labels.json"), r#"{"a.png": 0}"#)?;
    truths_in(
        root,
        r#"#{
            said: data::load("ds").numbered == "as classes.csv says, which leaves out 3 pictures that lie beside those",
            shown: `${data::load("ds")}`.contains("leaves out 3 pictures"),
            nothing: data::load("all").numbered == "as labels.json says",
        }"#,
    );
    Ok(())
}

#[test]
fn ids_that_are_no_numbers_stay_texts() -> Outcome {
    let folder = tempfile::tempdir()?;
    std::fs::write(
        folder.path().join("ids.csv"),
        "id,n\n12e4,1.50\n120e3,1e-3\n123456789012345678901,-2.5e+7\n123456789012345678902,5.0\n",
    )?;
    truths_in(
        folder.path(),
        r#"
        let rows = data::csv("ids.csv");
        let ids = #{};
        for row in rows { ids[row.id] = true; }
        #{ ids: ids.len() == 4, numbers: rows.map(|row| row.n) == [1.5, 0.001, -25000000.0, 5.0] }"#,
    );
    Ok(())
}

/// Lists of files and labels, as Caffe and Tiny ImageNet have them, are no labels in the order of pictures.
#[test]
fn labels_stand_behind_the_names_of_their_files() -> Outcome {
    let folder = tempfile::tempdir()?;
    let tiny = folder.path().join("tiny");
    for (at, file) in ["a 3.png", "b 1.png", "c 2.png"].into_iter().enumerate() {
        for place in ["flat", "tiny/val/images", "tiny/test/images"] {
            image(folder.path(), &format!("{place}/{file}"), 40 * (at as u8 + 1))?;
        }
        for class in ["n01443537", "n01629819"] {
            image(folder.path(), &format!("tiny/train/{class}/images/{class}_{at}.png"), 40 * (at as u8 + 1))?;
            std::fs::write(tiny.join(format!("train/{class}/{class}_boxes.txt")), "")?;
        }
    }
    std::fs::write(folder.path().join("caffe.txt"), "flat/c 2.png 0\nflat/a 3.png 2\nflat/b 1.png 1\n")?;
    std::fs::write(folder.path().join("stems.txt"), "a 3 2\nc 2 0\nb 1 1\n")?;
    std::fs::write(folder.path().join("odd.txt"), "a 3.png 2\nc 2.png\nb 1.png 1\n")?;
    std::fs::write(
        tiny.join("val/val_annotations.txt"),
        "a 3.png\tn01629819\t0\t0\t9\t9\nb 1.png\tn01443537\t0\t0\t9\t9\nc 2.png\tn01629819\t0\t0\t9\t9\n",
    )?;
    std::fs::write(tiny.join("wnids.txt"), "n01629819\nn01443537\n")?;
    truths_in(
        folder.path(),
        r#"
        let labels = |path, how| data::load(path, how).labels.values();
        #{
            caffe: labels.call("flat", #{ labels_file: "caffe.txt" }) == [2, 1, 0],
            stems: labels.call("flat", #{ labels_file: "stems.txt" }) == [2, 1, 0],
            train: labels.call("tiny", #{ split: "train", classes: "alphabetical" }) == [0, 0, 0, 1, 1, 1],
            val: labels.call("tiny", #{ split: "val", classes: "alphabetical" }) == [1, 0, 1],
            images: labels.call("tiny/val/images", #{ classes: "tiny/wnids.txt" }) == [0, 1, 0],
            known: data::load("tiny/val").classes.len() == 1000,
        }"#,
    );
    refused_in(
        folder.path(),
        r#"data::load("flat", #{ labels_file: "odd.txt" })"#,
        &["line 2", "no picture's file and, behind it, its one label"],
    );
    refused_in(folder.path(), r#"data::load("tiny")"#, &["not as classes: test, train, val", "loads one part"]);
    refused_in(folder.path(), r#"data::load("tiny/test")"#, &["not as classes: images"]);
    std::fs::write(folder.path().join("mixed.csv"), "file,label\na 3,1\nb 1,dog\nc 2,2\n")?;
    let mixed = ["some labels are numbers, such as \"1\" in line 2", "\"dog\" in line 3"];
    refused_in(folder.path(), r#"data::load("flat", #{ labels_file: "mixed.csv" })"#, &mixed);
    Ok(())
}

/// Lists that are no plain "file label" are refused or read as they say, and never as one label a line.
#[test]
fn lines_that_name_pictures_are_no_labels() -> Outcome {
    let folder = tempfile::tempdir()?;
    for file in 1..=4 {
        image(folder.path(), &format!("a/img_{file}.png"), 50 * file)?;
        image(folder.path(), &format!("n/{file}.png"), 50 * file)?;
    }
    let list = |name: &str, line: &dyn Fn(u8, &str) -> String| {
        let lines: Vec<String> =
            [(3, "cat"), (1, "dog"), (4, "cat"), (2, "dog")].iter().map(|(n, c)| line(*n, c)).collect();
        std::fs::write(folder.path().join(name), lines.join("\n") + "\n")
    };
    list("comma.txt", &|n, class| format!("img_{n}.png,{class}"))?;
    list("semicolon.txt", &|n, class| format!("img_{n};{class}"))?;
    list("words.txt", &|n, class| format!("img_{n}.png hot {class}"))?;
    list("paths.txt", &|n, class| format!("val/a/img_{n}.png {class}"))?;
    list("digits.txt", &|n, class| format!("{n}.png {}", if class == "cat" { 1 } else { 2 }))?;
    list("first.txt", &|n, class| format!("{class} img_{n}.png"))?;
    list("hot.txt", &|n, _| format!("img_{n}.png 1 0"))?;
    list("colon.txt", &|n, class| format!("img_{n}.png: {class}"))?;
    truths_in(
        folder.path(),
        r#"
        let named = |list, at| { let ds = data::load(at, #{ labels_file: list }); ds.labels.values().map(|l| ds.classes[l]) };
        let read = ["dog", "dog", "cat", "cat"];
        #{
            comma: named.call("comma.txt", "a") == read, semicolon: named.call("semicolon.txt", "a") == read, paths: named.call("paths.txt", "a") == read,
            words: named.call("words.txt", "a") == read.map(|class| "hot " + class),
            digits: data::load("n", #{ labels_file: "digits.txt" }).labels.values() == [2, 2, 1, 1],
        }"#,
    );
    list("names.txt", &|n, _| format!("img_{n}.png"))?;
    list("stems.txt", &|n, class| format!("{class}/img_{n}"))?;
    list("sizes.txt", &|n, class| format!("img_{n}.png\t640\t480\t{class}"))?;
    for list in ["first.txt", "hot.txt", "colon.txt", "names.txt", "stems.txt", "sizes.txt"] {
        let script = format!(r#"data::load("a", #{{ labels_file: "{list}" }})"#);
        refused_in(folder.path(), &script, &["is no picture's file and, behind it, its one label"]);
    }
    std::fs::write(folder.path().join("order.txt"), "dog 1\ncat 0\n")?;
    refused_in(
        folder.path(),
        r#"data::load("a", #{ labels_file: "comma.txt", classes: "order.txt" })"#,
        &["numbers beside names"],
    );
    std::fs::write(
        folder.path().join("rows.csv"),
        "index,file,name\n0,img_1.png,cat\n1,img_2.png,cat\n2,img_3.png,dog\n3,img_4.png,dog\n",
    )?;
    refused_in(
        folder.path(),
        r#"data::load("a", #{ labels_file: "rows.csv" })"#,
        &["\"cat\" has the index 1 here and 0 before"],
    );
    std::fs::write(folder.path().join("one.csv"), "file,label\nimg_1.png,1\nimg_2.png,2\nimg_3.png,1\nimg_4.png,2\n")?;
    std::fs::write(folder.path().join("tabs.csv"), "file\tlabel\nimg_1.png\t1\n")?;
    refused_in(folder.path(), r#"data::csv("tabs.csv")"#, &["set apart by", "not by commas"]);
    truths_in(
        folder.path(),
        r#"
        let ds = data::load("a", #{ labels_file: "one.csv" });
        let f = model::from(|x| tensor::zeros([x.shape[0], 3]));
        let told = |f, ds| examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }) }).cautions.some(|said| said.contains("they may be numbered from 1"));
        let g = model::from(|x| tensor::zeros([x.shape[0], 4]));
        let of = |labels| data::from(tensor::uniform([6, 1, 4, 4], #{ seed: 1 }), labels);
        #{ of_arrays: told.call(g, of.call([1, 2, 3, 1, 2, 3])) && !told.call(g, of.call([0, 1, 2, 0, 1, 2])), from_one: told.call(f, ds), part: told.call(f, ds.take(1)), joined: told.call(f, ds.join(ds.take(1))), mended: !told.call(f, ds.relabel(|row| row.label - 1)) }"#,
    );
    Ok(())
}

/// What a file says of a seed can be given back, and a data set says how many of its classes are there.
#[test]
fn seeds_and_classes_are_told_as_they_are() -> Outcome {
    let folder = tempfile::tempdir()?;
    let found = run_in(
        folder.path(),
        r#"
        let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }), seed: -3 }).save("t.json");
        `${ds.relabel(|row| row.label % 3)}; ${ds}`"#,
    )?;
    let said = found.summary();
    assert!(said.contains("10 classes of which 3 occur,") && said.matches("occur").count() == 1, "{said}");
    let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.path().join("t.json"))?)?;
    assert_eq!(saved["seed"], -3);
    Ok(())
}
