//! What is read: data sets and their classes.

use std::path::Path;

use super::pictures::lying;
use super::{run_in, truths};

pub(super) type Outcome = Result<(), Box<dyn std::error::Error>>;

/// An image of one grey.
pub(super) fn image(root: &Path, file: &str, level: u8) -> Outcome {
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    Ok(image::RgbImage::from_pixel(8, 8, image::Rgb([level; 3])).save(path)?)
}

#[track_caller]
pub(super) fn truths_in(root: &Path, script: &str) {
    crate::truths::hold(&run_in(root, script).unwrap_or_else(|error| panic!("{error}")));
}

#[track_caller]
pub(super) fn refused_in(root: &Path, script: &str, words: &[&str]) {
    let error = run_in(root, script).map(|value| value.summary()).expect_err(script);
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    words.iter().for_each(|words| assert!(error.contains(words), "{script}: {error}, wanted {words:?}"));
}

/// A network whose classes are numbered otherwise than those of the data is wrong everywhere, and its outcomes say so themselves.
#[test]
fn an_error_no_better_than_guessing_is_said_in_the_result() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 }).only([3, 5]);
        let constant = |classes| {
            let scores = [2.0];
            scores.pad(classes, 0.0);
            model::from(|x| tensor::zeros([x.shape[0], classes]) + tensor::from(scores), #{ classes: classes })
        };
        let f = constant.call(10);
        let t = examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.1] });
        t.save("t.json");
        let few = examine(f, ds.take(3), #{ space: space::noise(), search: search::sweep(), levels: [0.1] });
        let other = examine(constant.call(11), ds.take(3), #{
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
        let f = model::from(|x| tensor::zeros([x.shape[0], 2]) + tensor::from([0.0, 2.0]), #{ classes: 2 });
        let t = examine(f, ds, #{ space: space::render(), search: search::random(#{ questions: 3 }) });
        let worst = robustness::worst(t);
        let figure = plot::examiner(#{ a: worst, b: worst });
        #{
            rows: t.filter(|row| row.id < 3).cautions == t.cautions && t.cautions.len() == 2,
            curve: t.cautions.all(|said| said in worst.cautions) && worst.cautions.some(|said| said.contains("12 objects are few")),
            figure: figure.cautions == worst.cautions, sheet: plot::grid([figure, figure]).cautions == worst.cautions,
        }"#,
    );
}

/// Folders 0 1 2 3 10 are these classes, and a network that is right about all of them has error 0.
#[test]
fn class_folders_that_are_numbers_count_as_these() -> Outcome {
    let folder = tempfile::tempdir()?;
    for class in ["0", "1", "2", "3", "10"] {
        image(folder.path(), &format!("ds/{class}/a.png"), 20 * class.parse::<u8>()?)?;
    }
    image(folder.path(), "padded/007/a.png", 70)?;
    image(folder.path(), "padded/012/a.png", 70)?;
    for mixed in [
        "one/3/a.png",
        "one/cat/a.png",
        "twice/1/a.png",
        "twice/01/a.png",
        "years/20261122/a.png",
        "years/20261123/a.png",
    ] {
        image(folder.path(), mixed, 0)?;
    }
    truths_in(
        folder.path(),
        r#"
        let ds = data::load("ds");
        let levels = tensor::from([0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200]) / 255.0;
        let right = model::from(|x| -(x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]) - levels.reshape([1, -1])).abs(), #{ classes: 11 });
        ds.save("ds.json");
        let padded = data::load("padded");
        let named = data::load("ds", #{ classes: "alphabetical" });
        #{
            labels: ds.labels.values() == [0, 1, 10, 2, 3],
            error: right.error(ds) == 0.0,
            classes: ds.classes.len() == 11 && ds.classes[4] == "4",
            summary: `${ds}`.contains("11 classes numbered by their names"),
            field: ds.numbered == "by their names" && ds.take(2).grey().numbered == ds.numbered,
            padded: padded.labels.values() == [7, 12] && padded.classes[7] == "007" && padded.classes[6] == "6",
            asked: named.labels.values() == [0, 1, 2, 3, 4] && named.numbered == "in alphabetical order",
        }"#,
    );
    refused_in(
        folder.path(),
        "data::load(\"one\")",
        &["called by numbers, such as \"3\"", "such as \"cat\"", "classes: [\"first\""],
    );
    refused_in(folder.path(), "data::load(\"twice\")", &["\"01\" and \"1\" both mean class 1"]);
    refused_in(folder.path(), "data::load(\"years\")", &["a class called 20261122"]);
    Ok(())
}

/// A few of ImageNet's folders have ImageNet's numbers, whatever follows the ids, and so have files that are named so.
#[test]
fn wordnet_ids_find_their_imagenet_numbers() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for file in [
        "few/n01440764/a.png",
        "few/n02123045/a.png",
        "few/n15075141/a.png",
        "words/n01443537_goldfish/a.png",
        "words/n02123045-tabby/a.png",
        "flat/n01440764_tench.png",
        "flat/n02123045_1.png",
        "flat/n02123045_2.png",
        "mixed/n01440764/a.png",
        "mixed/n00000001/a.png",
        "stray/n01440764_tench.png",
        "stray/other.png",
        "twice/n01440764/a.png",
        "twice/n01440764_tench/a.png",
    ] {
        image(root, file, 90)?;
    }
    truths_in(
        root,
        r#"
        let few = data::load("few");
        let words = data::load("words");
        let flat = data::load("flat");
        let own = data::load("few", #{ classes: ["n02123045", "n01440764", "n15075141"] });
        #{
            few: few.labels.values() == [0, 281, 999] && few.classes.len() == 1000 && few.classes[1] == "n01443537",
            said: few.numbered.contains("ImageNet-1k") && `${few}`.contains("ImageNet-1k"),
            words: words.labels.values() == [1, 281] && words.classes[281] == "n02123045-tabby",
            flat: flat.labels.values() == [0, 281, 281] && flat.classes.len() == 1000,
            own: own.labels.values() == [1, 0, 2] && own.classes.len() == 3,
        }"#,
    );
    refused_in(root, "data::load(\"mixed\")", &["\"n01440764\" is a class of ImageNet-1k, \"n00000001\" is none"]);
    refused_in(
        root,
        "data::load(\"stray\")",
        &["n01440764_tench.png begins with the WordNet id", "other.png does not"],
    );
    refused_in(root, "data::load(\"twice\")", &["both mean class 0"]);
    Ok(())
}

/// A part without images of some class has the numbers that a classifier learned from the training images beside it.
#[test]
fn parts_of_a_folder_are_numbered_alike() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for (i, file) in [
        "pets/train/cat/a.png",
        "pets/train/cow/a.png",
        "pets/train/dog/a.png",
        "pets/test/cat/b.png",
        "pets/test/dog/b.png",
        "pets/val/cat/c.png",
        "pets/val/ape/c.png",
        "pets/val/dog/c.png",
        "digits/train/0/a.png",
        "digits/train/1/a.png",
        "digits/train/2/a.png",
        "seg_train/sea/a.png",
        "seg_train/sky/a.png",
        "seg_test/sky/b.png",
        "empty/train/sea/a.png",
        "empty/test/sea/b.png",
        "digits/test/1/b.png",
        "other/train/sea/a.png",
        "other/test/cat/b.png",
        "other/test/dog/b.png",
    ]
    .iter()
    .enumerate()
    {
        image(root, file, 100 + i as u8)?;
    }
    std::fs::create_dir_all(root.join("pets/test/cow"))?;
    std::fs::create_dir_all(root.join("empty/train/reef"))?;
    truths_in(
        root,
        r#"
        let test = data::load("pets", #{ split: "test" });
        let val = data::load("pets/val");
        let digits = data::load("digits/test");
        let told = |path| `${examine(model::from(|x| tensor::zeros([x.shape[0], 3])), data::load(path), #{ space: space::noise(), search: search::sweep(), levels: [0] }).cautions}`;
        #{
            train: data::load("pets", #{ split: "train" }).numbered == "in alphabetical order",
            missing: test.labels.values() == [0, 2] && test.classes == ["cat", "cow", "dog"],
            said: test.numbered == "in alphabetical order of the folders of train, without images of 1",
            more: val.labels.values() == [3, 0, 2] && val.classes == ["cat", "cow", "dog", "ape"] && val.numbered.contains("which lacks 1"),
            digits: digits.classes.len() == 3 && digits.labels.values() == [1] && digits.numbered.contains("by their names of the folders of train"),
            of_its_own: data::load("pets/test", #{ classes: ["dog", "cat"] }).labels.values() == [1, 0],
            words: data::load("seg_test").labels.values() == [1],
            strange: data::load("other/test").numbered == "in alphabetical order" && told.call("other/test").contains("none of its folders is called as one of train"),
            unknown: told.call("empty/test").contains("1 folders of train beside it are empty"),
        }"#,
    );
    Ok(())
}

/// `classes` names the order, in an array or a file, and a folder that it does not name is refused.
#[test]
fn the_order_of_classes_can_be_named() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    image(root, "ds/cat/a.png", 101)?;
    image(root, "ds/dog/a.png", 102)?;
    image(root, "gap/cat/a.png", 101)?;
    std::fs::create_dir_all(root.join("gap/cow"))?;
    image(root, "gap/dog/a.png", 102)?;
    for (file, text) in [
        ("names.txt", "dog\nowl\ncat\n"),
        ("index.csv", "index,family,wnid\n0,beast,dog\n2,beast,cat\n"),
        ("index.json", r#"{"dog": 0, "cat": 2}"#),
        ("list.json", r#"["dog", "owl", "cat"]"#),
        ("twice.txt", "dog\ncat\ndog\n"),
        ("hole.txt", "dog\n\ncat\n"),
        ("open.csv", "index,name\n0,dog\n1,\"cat\n"),
    ] {
        std::fs::write(root.join(file), text)?;
    }
    truths_in(
        root,
        r#"
        let of = |classes| data::load("ds", #{ classes: classes });
        let labels = |classes| of.call(classes).labels.values();
        #{
            plain: data::load("ds").labels.values() == [0, 1] && data::load("ds").numbered == "in alphabetical order",
            array: labels.call(["dog", "cat"]) == [1, 0] && of.call(["dog", "cat"]).classes == ["dog", "cat"],
            text: labels.call("names.txt") == [2, 0] && of.call("names.txt").classes == ["dog", "owl", "cat"],
            csv: labels.call("index.csv") == [2, 0] && of.call("index.csv").classes == ["dog", "1", "cat"],
            map: labels.call("index.json") == [2, 0] && labels.call("list.json") == [2, 0],
            said: of.call("names.txt").numbered == "as names.txt says",
            gap: data::load("gap", #{ classes: ["cat", "cow", "dog"] }).labels.values() == [0, 2],
        }"#,
    );
    for (classes, words) in [
        ("[\"dog\", \"owl\"]", "the class \"cat\" is not among `classes`"),
        ("\"twice.txt\"", "class 2 is called \"dog\", as one before it"),
        ("\"hole.txt\"", "class 1 has no name"),
        ("\"open.csv\"", "line 3: a quote is opened and not closed"),
        ("\"none.txt\"", "none.txt"),
    ] {
        refused_in(root, &format!("data::load(\"ds\", #{{ classes: {classes} }})"), &[words]);
    }
    refused_in(root, "data::load(\"gap\")", &["gap/cow", "no images in this folder"]);
    Ok(())
}

/// A few classes that a network numbers otherwise: the outcomes say it.
#[test]
fn a_part_of_the_classes_that_is_numbered_otherwise_is_marked() -> Outcome {
    let folder = tempfile::tempdir()?;
    for class in 4..10u8 {
        for i in 0..3 {
            image(folder.path(), &format!("ds/class{class}/{i}.png"), 20 * class + i)?;
        }
    }
    truths_in(
        folder.path(),
        r#"
        let ds = data::load("ds");
        let levels = tensor::from([0, 20, 40, 60, 80, 100, 120, 140, 160, 180]) / 255.0;
        let right = model::from(|x| -(x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]) - levels.reshape([1, -1])).abs(), #{ classes: 10 });
        let t = examine(right, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.0001] });
        #{
            alphabetical: ds.labels.values()[17] == 5 && right.error(ds) > 0.8,
            marked: t.cautions.len() == 1 && t.cautions[0].contains("seems to number the classes of ds otherwise: its answer is the label plus 4 for 18 of 18 images"),
        }"#,
    );
    Ok(())
}

/// Tables that leave the classes open, and folders whose images would be left out.
#[test]
fn classes_that_are_not_clear_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    image(root, "ds/cat/a.png", 101)?;
    image(root, "ds/dog/a.png", 102)?;
    image(root, "deep/cat/a.png", 101)?;
    image(root, "deep/cat/more/b.png", 101)?;
    image(root, "flat/a.png", 101)?;
    image(root, "flat/b.png", 101)?;
    std::fs::write(root.join("head.csv"), "index,name\n")?;
    std::fs::write(root.join("only.csv"), "index\n0\n")?;
    std::fs::write(root.join("huge.json"), r#"{"cat": 9223372036854775807}"#)?;
    std::fs::write(root.join("flat/classes.csv"), "index,file,name\n1,a.png,dog\n1,b.png,cat\n")?;
    for (script, words) in [
        ("data::load(\"ds\", #{ classes: \"head.csv\" })", "no names of classes"),
        ("data::load(\"ds\", #{ classes: \"only.csv\" })", "only.csv"),
        ("data::load(\"ds\", #{ classes: \"huge.json\" })", "class numbers count from 0"),
        ("data::load(\"deep\")", "a folder beside the images of a class"),
        ("data::load(\"flat\")", "class 1 is called \"cat\" here and \"dog\" before"),
    ] {
        refused_in(root, script, &[words]);
    }
    Ok(())
}

/// The parts of a data set are no classes, unless the caller says so.
#[test]
fn parts_of_a_data_set_are_no_classes() -> Outcome {
    let folder = tempfile::tempdir()?;
    for file in ["pets/train/cat.png", "pets/Val/dog.png", "cars/train/a.png", "cars/bus/b.png"] {
        image(folder.path(), file, 90)?;
    }
    refused_in(folder.path(), r#"data::load("pets")"#, &["called as parts of a data set", "Val, train"]);
    truths_in(
        folder.path(),
        r#"#{
            said: data::load("pets", #{ classes: "alphabetical" }).classes == ["Val", "train"],
            cars: data::load("cars").classes == ["bus", "train"],
        }"#,
    );
    Ok(())
}

/// A class that can't be seen would renumber those behind it.
#[cfg(unix)]
#[test]
fn classes_that_are_not_reached_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    for file in ["gone/b/1.png", "gone/c/1.png", "deep/0/1.png", "deep/1/images/1.png", "deep/2/1.png"] {
        image(folder.path(), file, 80)?;
    }
    std::os::unix::fs::symlink("/nowhere/a", folder.path().join("gone/a"))?;
    refused_in(folder.path(), r#"data::load("gone")"#, &["a link to what is not there"]);
    refused_in(
        folder.path(),
        r#"data::load("deep")"#,
        &["pictures in a folder inside of a class folder that has none itself"],
    );
    for file in [
        "seg/seg_train/1.png",
        "seg/seg_test/1.png",
        "parts/train/1.png",
        "parts/extra/1.png",
        "parts/more/1.png",
        "places/train_station/1.png",
        "places/train_interior/1.png",
        "places/zoo/1.png",
    ] {
        image(folder.path(), file, 80)?;
    }
    for parts in ["seg", "parts"] {
        refused_in(folder.path(), &format!("data::load({parts:?})"), &["not as classes"]);
    }
    std::fs::copy(folder.path().join("places/zoo/1.png"), folder.path().join("places/zoo/2"))?;
    std::fs::create_dir_all(folder.path().join("both/x"))?;
    std::fs::write(folder.path().join("both/classes.csv"), "index,file\n0,x/1.png\n")?;
    std::fs::write(folder.path().join("both/labels.json"), "{\"x/1.png\": 1}")?;
    refused_in(folder.path(), r#"data::load("both")"#, &["of which one is to say the labels"]);
    truths_in(
        folder.path(),
        r#"#{ trains: data::load("places").classes.len() == 3, unnamed: data::load("places").numbered.contains("1 pictures whose names do not end") }"#,
    );
    Ok(())
}

/// What is saved is what is loaded again: its classes, and what is to be said of it.
#[test]
fn a_saved_data_set_keeps_its_classes_and_marks() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (at, file) in ["cat/1.jpg", "cat/2.jpg", "dog/3.jpg", "eel/4.jpg"].into_iter().enumerate() {
        lying(folder.path(), &format!("pets/{file}"), if at == 0 { 6 } else { 1 })?;
    }
    truths_in(
        folder.path(),
        r#"
        let ds = data::load("pets").take(3);
        ds.save("x.npz");
        let again = data::load("x.npz");
        let f = model::from(|x| tensor::zeros([x.shape[0], 3]));
        let said = examine(f, again, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }) }).cautions;
        let refused = "";
        try { ds.centre().save("y.npz"); } catch (e) { refused = e.message; }
        let glyphs = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        glyphs.save("g.npz");
        let flipped = |ds| risk::estimate(model::from(|x| tensor::zeros([x.shape[0], 10])), ds, #{ space: space::flip() }).cautions
            .some(|s| s.contains("a mirrored digit is no digit"));
        #{
            changes: flipped.call(glyphs) && flipped.call(data::load("g.npz")),
            classes: again.classes == ["cat", "dog", "eel"], pixels: (again.images() - ds.images()).abs().max() == 0.0,
            turned: said.some(|s| s.contains("1 of the 3 pictures of pets are to be turned")), refused: refused.contains("leave [0, 1]"),
        }"#,
    );
    Ok(())
}

/// A number is a class by its name, where names are known.
#[test]
fn classes_that_are_others_under_the_same_number_are_told_or_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (set, classes) in
        [("train", ["ape", "bee", "cat"]), ("later", ["ape", "cat", "dog"]), ("same", ["ape", "bee", "cat"])]
    {
        for (class, name) in classes.iter().enumerate() {
            for copy in 0..4u8 {
                image(
                    folder.path(),
                    &format!("{set}/{name}/{copy}.png"),
                    60 * class as u8 + 10 * copy + u8::from(set == "same"),
                )?;
            }
        }
    }
    truths_in(
        folder.path(),
        r#"
        let f = model::train(data::load("train"), #{ arch: [net::flatten(), net::linear(3)], epochs: 3, seed: 1 });
        f.save("f.safetensors");
        let told = |f, path| examine(f, data::load(path), #{ space: space::noise(0.01), search: search::random(#{ questions: 1 }), seed: 1 })
            .cautions.some(|said| said.contains("2 of the classes of later are others under the numbers that") && said.contains("the first of them 1, which is \"cat\" there and \"bee\" here"));
        #{
            val: told.call(f, "later"), same: !told.call(f, "same"), saved: told.call(model::load("f.safetensors"), "later"),
            onwards: told.call(model::train(data::from(data::load("train").images(), data::load("train").labels), #{ from: f, epochs: 1, seed: 1 }), "later"),
            spelt: examine(f, data::from(data::load("same").images(), data::load("same").labels, #{ classes: ["Ape", "BEE", "cat"] }), #{ space: space::noise(0.01), search: search::random(#{ questions: 1 }), seed: 1 })
                .cautions.all(|said| !said.contains("of the classes of")),
            changed: told.call(f.averaged(#{ over: space::noise(0.1), draws: 2, seed: 1 }), "later"),
        }"#,
    );
    let numerals = "data::from(tensor::zeros([3, 1, 2, 2]), [0, 1, 2]).join(data::from(tensor::zeros([3, 1, 2, 2]), [0, 1, 2], #{ classes: [\"1\", \"2\", \"3\"] }))";
    let numerals = run_in(folder.path(), numerals).map(|value| value.summary());
    assert!(numerals.as_ref().is_err_and(|told| told.contains("class 0 is \"0\"")), "{numerals:?}");
    let join = run_in(folder.path(), "data::load(\"train\").join(data::load(\"later\"))").map(|value| value.summary());
    assert!(
        join.as_ref().is_err_and(|told| told.contains("class 1 is \"bee\" in train and \"cat\" in later")),
        "{join:?}"
    );
    Ok(())
}

/// A network that reads classes in another order is told of in every order, and so is one that answers one class alone.
#[test]
fn other_orders_of_classes_are_told_of() -> Outcome {
    truths(
        r#"let ds = data::glyphs(#{ n: 300, size: 16, position: "centred", margin: 0, seed: 1 });
        let taught = data::glyphs(#{ n: 1000, size: 16, position: "centred", margin: 0, seed: 2 });
        let f = model::train(taught, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        let told = |order| {
            let other = ds.relabel(|row| order[row.label]);
            examine(f, other, #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 }).cautions
        };
        let orders = [[0, 2, 1, 3, 4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]];
        let constant = model::from(|x| tensor::zeros([x.shape[0], 10]) + tensor::from([0, 1, 0, 0, 0, 0, 0, 0, 0, 0]));
        let labels = ds.labels.values();
        let rows = [];
        for label in 0..10 { for row in 0..300 { if labels[row] == label { rows.push(row); } } }
        let parts = ds.select(rows).split(0.8);
        #{
            right: f.accuracy(ds) > 0.85 && told.call([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) == [],
            others: orders.all(|order| told.call(order).some(|said| said.contains("seems to number the classes"))),
            constant: examine(constant, ds, #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 }).cautions.some(|said| said.contains("answers class 1 to all 300")),
            part: examine(f, parts[1], #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 }).cautions.some(|said| said.contains("of 10 are left: shuffle it before it is cut")),
            shuffled: !examine(f, ds.split(0.8)[1], #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 }).cautions.some(|said| said.contains("lies in the order of its classes")),
        }"#,
    );
    let folder = tempfile::tempdir()?;
    // What a bare number can't say is among the run's warnings.
    let said = run_in(
        folder.path(),
        "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 }); model::from(|x| tensor::zeros([x.shape[0], 10]) + tensor::from([0, 1, 0, 0, 0, 0, 0, 0, 0, 0])).accuracy(ds)",
    );
    assert!(said.is_ok(), "{said:?}");
    Ok(())
}

/// Folders of classes are read one after the other: the first images are of the first ones.
#[test]
fn images_that_are_cut_from_a_set_in_the_order_of_its_classes_say_so() -> Outcome {
    let folder = tempfile::tempdir()?;
    for at in 0..12 {
        lying(folder.path(), &format!("pets/{}/{at:02}.jpg", ["cat", "dog", "eel"][at / 4]), 1)?;
    }
    truths_in(
        folder.path(),
        r#"
        let f = model::from(|x| tensor::zeros([x.shape[0], 3]));
        let told = |ds| examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 1 }) }).cautions
            .filter(|said| said.contains("lies in the order of its classes"));
        let whole = data::load("pets");
        let cut = told.call(data::load("pets", #{ limit: 6 }));
        #{
            limit: cut.len() == 1 && cut[0].contains("images of pets were cut") && cut[0].contains("of which 2 of 3 are left"),
            take: told.call(whole.take(3)).len() == 1, skip: told.call(whole.skip(4)).len() == 1, split: told.call(whole.split(0.5)[1]).len() == 1,
            whole: told.call(whole) == [], every: told.call(whole.take(9)) == [], one: told.call(whole.take(1)) == [],
            shuffled: told.call(data::load("pets", #{ limit: 6, shuffle: 1 })) == [] && told.call(whole.shuffle(#{ seed: 1 }).take(3)) == [],
            fewer: told.call(data::load("pets", #{ limit: 3, shuffle: 5 })) == [],
            chosen: told.call(whole.only([0])) == [], rejoined: told.call(whole.take(6).join(whole.skip(6))) == [],
        }"#,
    );
    Ok(())
}
