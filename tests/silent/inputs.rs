//! What is read: images, classes, tables.

use std::io::Write;
use std::path::Path;

use image::ImageEncoder;
use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder};
use rand::Rng;
use viva::core::{Cx, Value, random};
use viva::data::{Load, load, picture};

use super::{run_in, truths};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// An image of one grey.
fn image(root: &Path, file: &str, level: u8) -> Outcome {
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    Ok(image::RgbImage::from_pixel(8, 8, image::Rgb([level; 3])).save(path)?)
}

#[track_caller]
fn truths_in(root: &Path, script: &str) {
    crate::truths::hold(&run_in(root, script).unwrap_or_else(|error| panic!("{error}")));
}

#[track_caller]
fn refused_in(root: &Path, script: &str, words: &[&str]) {
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
            marked: t.cautions.len() == 1 && t.cautions[0].contains("numbered differently"),
        }"#,
    );
    Ok(())
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

/// Files of every format, each as it is and cut at twenty places.
#[test]
fn files_that_are_cut_short_are_refused_by_name() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    let mut numbers = random(16, 0);
    let picture = image::RgbImage::from_fn(61, 47, |x, y| {
        image::Rgb([(x * 4) as u8, (y * 5) as u8, (x * y) as u8 ^ (numbers.r#gen::<u8>() / 8)])
    });
    std::fs::create_dir_all(root.join("ds/a"))?;
    let mut files: Vec<(String, String, Vec<u8>)> = vec![];
    for ending in ["png", "jpg", "gif", "webp", "tif"] {
        let file = format!("ds/a/picture.{ending}");
        picture.save(root.join(&file))?;
        files.push(("ds".into(), file.clone(), std::fs::read(root.join(&file))?));
        std::fs::remove_file(root.join(&file))?;
    }
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    for (name, file) in [("progressive", "progressive.jpg"), ("restarts", "restarts.jpg")] {
        files.push(("ds".into(), format!("ds/a/{name}.jpg"), std::fs::read(format!("{golden}/{file}"))?));
    }
    for file in ["svhn.mat", "svhn_plain.mat", "readers.parquet", "readers_zstd.parquet"] {
        files.push((file.into(), file.into(), std::fs::read(format!("{golden}/{file}"))?));
    }
    run_in(root, "data::glyphs(#{ n: 5, size: 16, seed: 1 }).save(\"five.npz\")")?;
    files.push(("five.npz".into(), "five.npz".into(), std::fs::read(root.join("five.npz"))?));
    files.push(("batch.bin".into(), "batch.bin".into(), [vec![1], vec![9; 3072], vec![2], vec![8; 3072]].concat()));
    let idx = |magic: u8, sizes: &[u8], bytes: &[u8]| -> std::io::Result<Vec<u8>> {
        let header = sizes.iter().flat_map(|&size| [0, 0, 0, size]);
        let all: Vec<u8> = [0, 0, 8, magic].into_iter().chain(header).chain(bytes.iter().copied()).collect();
        let mut packer = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        packer.write_all(&all)?;
        packer.finish()
    };
    let pixels: Vec<u8> = (0..3 * 64).map(|i| (i * 7) as u8).collect();
    let (images, labels) = ("x-images-idx3-ubyte.gz", "x-labels-idx1-ubyte.gz");
    files.push((images.into(), labels.into(), idx(1, &[3], &[0, 1, 2])?));
    std::fs::write(root.join(labels), &files[files.len() - 1].2)?;
    files.push((images.into(), images.into(), idx(3, &[3, 8, 8], &pixels)?));
    for (path, file, whole) in &files {
        let ending = file.rsplit('/').next().unwrap_or(file);
        let script = format!("data::load(\"{path}\").images().shape[0]");
        if file != labels {
            std::fs::write(root.join(file), whole)?;
            run_in(root, &script).map_err(|error| format!("{file}: {error}"))?;
        } else {
            std::fs::write(root.join(images), idx(3, &[3, 8, 8], &pixels)?)?;
        }
        let ends = [0, 1, 2, 3, whole.len() - 3, whole.len() - 2, whole.len() - 1];
        let cuts: Vec<usize> = ends.into_iter().chain((0..20).map(|_| numbers.gen_range(4..whole.len() - 3))).collect();
        for cut in cuts {
            std::fs::write(root.join(file), &whole[..cut])?;
            refused_in(root, &script, &[ending]);
        }
        match file.starts_with("ds/") {
            true => std::fs::remove_file(root.join(file))?,
            false => std::fs::write(root.join(file), whole)?,
        }
    }
    Ok(())
}

/// A picture that is damaged after its data set was made is an error where it is used; what follows its end does not matter.
#[test]
fn damaged_pictures_are_noticed_when_they_are_used() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for ending in ["png", "jpg", "gif", "webp", "tif"] {
        let set = format!("of_{ending}");
        image(root, &format!("{set}/a/1.{ending}"), 90)?;
        let whole = std::fs::read(root.join(format!("{set}/a/1.{ending}")))?;
        std::fs::write(root.join(format!("{set}/a/1.{ending}")), [&whole[..], b"whatever follows"].concat())?;
        let cx = Cx::default();
        let ds = load(&cx, &root.join(&set).display().to_string(), &Load::default())?;
        assert_eq!(ds.canvases(&[0], tch::Device::Cpu)?.size(), [1, 3, 8, 8]);
        for cut in [1, whole.len() / 2] {
            std::fs::write(root.join(format!("{set}/a/1.{ending}")), &whole[..whole.len() - cut])?;
            let error = ds.canvases(&[0], tch::Device::Cpu).err().ok_or("a damaged picture was read")?;
            assert!(error.message.contains(&format!("a/1.{ending}")), "{error}");
        }
    }
    Ok(())
}

/// JPEG files hold the pixels that Pillow reads from them, and one that lost or changed a part of its data none, even where its end is
/// put back.
#[test]
fn jpeg_files_are_read_as_by_pillow_or_not_at_all() -> Outcome {
    let golden = viva::core::Tensor::read_npz(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/jpeg.npz"))?;
    let find = |name: &str| {
        golden.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor.contiguous().reshape([-1]))
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("1.jpg");
    let (mut numbers, mut read, mut noticed, mut tried) = (random(17, 0), 0, 0, 0);
    while let (Some(file), Some(pixels)) = (find(&format!("file_{read}")), find(&format!("pixels_{read}"))) {
        let (file, pixels) = (Vec::<u8>::try_from(&file)?, Vec::<u8>::try_from(&pixels)?);
        std::fs::write(&path, &file)?;
        assert!(picture::read(&path)?.into_rgb8().into_raw() == pixels, "file {read}");
        std::fs::write(&path, [&file[..], b"more"].concat())?;
        assert!(picture::read(&path)?.into_rgb8().into_raw() == pixels, "file {read} with more behind it");
        read += 1;
        let scan = file.windows(2).position(|two| two == [0xff, 0xda]).ok_or("no scan")? + 14;
        for _ in 0..5 {
            let cut = numbers.gen_range(scan..file.len() - 2);
            std::fs::write(&path, [&file[..cut], &[0xff, 0xd9]].concat())?;
            tried += 1;
            noticed += usize::from(picture::read(&path).is_err());
        }
    }
    assert_eq!(read, 30);
    assert_eq!(noticed, tried, "files that were cut and closed");
    Ok(())
}

/// Resized pixels are those that Pillow makes, to the last bit.
#[test]
fn resizing_gives_pillows_bytes() -> Outcome {
    let golden = viva::core::Tensor::read_npz(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/resample.npz"))?;
    let find = |name: &str| {
        golden.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor.copy()).ok_or(name.to_string())
    };
    let bytes = |tensor: &viva::core::Tensor| Vec::<u8>::try_from(&tensor.contiguous().reshape([-1]));
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    let sides = [11, 40, 12, 20, 13, 7, 5, 25];
    for (k, side) in sides.into_iter().enumerate() {
        let whole = find(&format!("in_{k}"))?;
        let [h, w, c] = whole.size()[..] else { return Err("no picture".into()) };
        let path = root.join(format!("set{k}/a/1.png"));
        std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        let colour = if c == 3 { image::ColorType::Rgb8 } else { image::ColorType::L8 };
        image::save_buffer(&path, &bytes(&whole)?, w as u32, h as u32, colour)?;
        // The same in memory, as bytes and as floats.
        let planes = whole.permute([2, 0, 1]).unsqueeze(0).contiguous();
        let floats = planes.narrow(1, 0, 1).to_kind(tch::Kind::Float) / 255.0;
        let labels = viva::core::Tensor::from_slice(&[0i64]);
        viva::core::Tensor::write_npz(
            &[("images", planes), ("labels", labels.copy())],
            root.join(format!("bytes{k}.npz")),
        )?;
        viva::core::Tensor::write_npz(&[("images", floats), ("labels", labels)], root.join(format!("floats{k}.npz")))?;
        for filter in ["bilinear", "bicubic"] {
            let read = |what: &str| -> Result<viva::core::Tensor, Box<dyn std::error::Error>> {
                let script = format!("data::load(\"{what}\", #{{ resize: {side}, filter: \"{filter}\" }}).images()");
                match run_in(root, &script)? {
                    Value::Tensor(tensor) => Ok(tensor.squeeze_dim(0).permute([1, 2, 0]).contiguous()),
                    other => Err(other.summary().into()),
                }
            };
            let wanted = find(&format!("{k}_{filter}"))?;
            let as_bytes = |x: viva::core::Tensor| bytes(&(x * 255.0).round().to_kind(tch::Kind::Uint8));
            let from_file = read(&format!("set{k}"))?;
            assert_eq!(from_file.size()[..2], wanted.size()[..2], "picture {k}");
            assert_eq!(as_bytes(from_file.narrow(2, 0, c))?, bytes(&wanted)?, "picture {k}, {filter}");
            assert_eq!(as_bytes(read(&format!("bytes{k}.npz"))?)?, bytes(&wanted)?, "bytes {k}, {filter}");
            let apart =
                read(&format!("floats{k}.npz"))?.squeeze_dim(2) - find(&format!("{k}_{filter}_float"))?.clamp(0.0, 1.0);
            assert!(apart.abs().max().double_value(&[]) == 0.0, "floats {k}, {filter}");
        }
    }
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

/// Images that are there several times are no several samples.
#[test]
fn copies_of_images_are_told_of() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });
        let told = |set| examine(f, set, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 })
            .cautions.some(|said| said.contains("are copies of others"));
        let held = data::from(ds.images(), ds.labels);
        #{
            single: !told.call(ds) && !told.call(held), joined: told.call(ds.join(ds)), equal: told.call(held.join(data::from(ds.images(), ds.labels))),
            report: risk::estimate(f, ds.join(ds), #{ radius: 1 }).cautions.some(|said| said.contains("20 of the 40 images")),
        }"#,
    );
}

/// Also where each copy is a file of its own, and where the copies bear two labels.
#[test]
fn copies_in_files_of_their_own_are_told_of() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (at, seed) in [("apples/1.png", 101), ("apples/2.png", 102), ("pears/3.png", 103)] {
        image(folder.path(), &format!("clean/{at}"), seed)?;
        image(folder.path(), &format!("copied/{at}"), seed)?;
    }
    image(folder.path(), "copied/apples/again.png", 101)?;
    image(folder.path(), "copied/pears/twin.png", 102)?;
    truths_in(
        folder.path(),
        r#"
        let f = model::train(data::load("clean"), #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });
        let said = |path| examine(f, data::load(path), #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 }).cautions;
        #{
            clean: !said.call("clean").some(|s| s.contains("copies of others")),
            copied: said.call("copied").some(|s| s.contains("2 of the 5 images of copied are copies of others, 1 of them under another label")),
        }"#,
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
        #{ from_one: told.call(f, ds), part: told.call(f, ds.take(1)), joined: told.call(f, ds.join(ds.take(1))), mended: !told.call(f, ds.relabel(|row| row.label - 1)) }"#,
    );
    Ok(())
}

/// Nothing says how many of 16 bits of grey are used.
#[test]
fn pictures_of_16_bits_of_grey_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x/a/1.png");
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    image::ImageBuffer::from_fn(8, 8, |x, y| image::Luma([(500 * x + y) as u16])).save(path)?;
    refused_in(folder.path(), r#"data::load("x")"#, &["1.png", "grey of 16 bits", "save it with 8 bits"]);
    Ok(())
}

/// Masks of 0 and 1 would be next to black.
#[test]
fn pictures_of_which_none_is_bright_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (file, level) in
        [("masks/a/1.png", 0), ("masks/b/1.png", 1), ("night/a/1.png", 1), ("night/b/1.png", 32), ("black/a/1.png", 0)]
    {
        image(folder.path(), file, level)?;
    }
    let words = ["a/1.png and of 1 more is brighter than 1 of 255", "save them with 255"];
    refused_in(folder.path(), r#"data::load("masks")"#, &words);
    truths_in(folder.path(), r#"#{ night: data::load("night").len() == 2, black: data::load("black").len() == 1 }"#);
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

/// A picture whose file says which way it lies (EXIF, tag 0x0112), as cameras store them.
fn lying(root: &Path, file: &str, orientation: u8) -> Outcome {
    let exif = || [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", &[orientation, 0, 0, 0, 0, 0, 0, 0][..]].concat();
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    let shade = |x, y| image::Rgb([(20 * x + 3 * y) as u8; 3]);
    let (picture, written) = (image::RgbImage::from_fn(8, 8, shade), std::fs::File::create(&path)?);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("jpg") => {
            let mut encoder = JpegEncoder::new(written);
            encoder.set_exif_metadata(exif())?;
            picture.write_with_encoder(encoder)?;
        }
        Some("png") => {
            let mut encoder = PngEncoder::new(written);
            encoder.set_exif_metadata(exif())?;
            picture.write_with_encoder(encoder)?;
        }
        _ => {
            let mut encoder = WebPEncoder::new_lossless(written);
            encoder.set_exif_metadata(exif())?;
            picture.write_with_encoder(encoder)?;
        }
    }
    Ok(())
}

/// Turned pictures are read as they are stored, which their results say.
#[test]
fn pictures_that_are_to_be_turned_are_told_of() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (at, file) in ["a/1.jpg", "a/2.png", "a/3.webp", "b/4.jpg", "b/5.png", "b/6.webp"].into_iter().enumerate() {
        lying(folder.path(), &format!("upright/{file}"), 1)?;
        lying(folder.path(), &format!("phone/{file}"), if at < 3 { 6 } else { 1 })?;
    }
    truths_in(
        folder.path(),
        r#"
        let upright = data::load("upright");
        let phone = data::load("phone");
        let f = model::train(upright, #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });
        let said = |ds| examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 }).cautions;
        let turned = |cautions| cautions.filter(|s| s.contains("are to be turned or mirrored"));
        #{
            upright: turned.call(said.call(upright)).len() == 0 && !`${upright}`.contains("turned"),
            phone: turned.call(said.call(phone))[0].contains("3 of the 6 pictures of phone"),
            shown: `${phone}`.contains("3 not turned as EXIF says") && `${phone.take(2)}`.contains("2 not turned"),
            joined: turned.call(said.call(upright.join(phone)))[0].contains("3 of the 12 pictures"),
        }"#,
    );
    Ok(())
}

/// A number is a class by its name, where names are known.
#[test]
fn classes_that_are_others_under_the_same_number_are_told_or_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (set, classes) in
        [("train", ["ape", "bee", "cat"]), ("val", ["ape", "cat", "dog"]), ("same", ["ape", "bee", "cat"])]
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
            .cautions.some(|said| said.contains("2 of the classes of val are others under the numbers that") && said.contains("the first of them 1, which is \"cat\" there and \"bee\" here"));
        #{
            val: told.call(f, "val"), same: !told.call(f, "same"), saved: told.call(model::load("f.safetensors"), "val"),
            onwards: told.call(model::train(data::from(data::load("train").images(), data::load("train").labels), #{ from: f, epochs: 1, seed: 1 }), "val"),
            spelt: examine(f, data::from(data::load("same").images(), data::load("same").labels, #{ classes: ["Ape", "BEE", "cat"] }), #{ space: space::noise(0.01), search: search::random(#{ questions: 1 }), seed: 1 })
                .cautions.all(|said| !said.contains("of the classes of")),
            changed: told.call(f.averaged(#{ over: space::noise(0.1), draws: 2, seed: 1 }), "val"),
        }"#,
    );
    let numerals = "data::from(tensor::zeros([3, 1, 2, 2]), [0, 1, 2]).join(data::from(tensor::zeros([3, 1, 2, 2]), [0, 1, 2], #{ classes: [\"1\", \"2\", \"3\"] }))";
    let numerals = run_in(folder.path(), numerals).map(|value| value.summary());
    assert!(numerals.as_ref().is_err_and(|told| told.contains("class 0 is \"0\"")), "{numerals:?}");
    let join = run_in(folder.path(), "data::load(\"train\").join(data::load(\"val\"))").map(|value| value.summary());
    assert!(
        join.as_ref().is_err_and(|told| told.contains("class 1 is \"bee\" in train and \"cat\" in val")),
        "{join:?}"
    );
    Ok(())
}

/// What is left out is listed, and endings that browsers give are read.
#[test]
fn pictures_and_objects_of_other_endings_are_read_or_listed() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for name in ["a/1.jpg", "a/2.jpg", "b/3.jpg"] {
        image(root, &format!("pictures/{name}"), 90)?;
    }
    std::fs::rename(root.join("pictures/a/1.jpg"), root.join("pictures/a/1.jfif"))?;
    std::fs::rename(root.join("pictures/b/3.jpg"), root.join("pictures/b/3.jpe"))?;
    std::fs::create_dir_all(root.join("objects/chair"))?;
    std::fs::write(root.join("objects/chair/a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
    std::fs::write(root.join("objects/chair/z.off"), "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")?;
    image(root, "pictures/top.png", 90)?;
    truths_in(
        root,
        r#"
        let objects = data::objects("objects", #{ size: 16 });
        #{
            pictures: data::load("pictures").len == 3 && data::load("pictures").numbered.contains("leaves out a picture that lies beside those"), objects: objects.len == 1,
            skipped: objects.skipped.some(|left| left.name == "chair/z.off" && left.why.contains("can't be read")),
            near: space::render(#{ factors: #{ distance: 1.1 } }) != (),
        }"#,
    );
    image(root, "flat/1.png", 90)?;
    std::fs::write(root.join("flat/labels.csv"), "file,label,label\n1.png,0,1\n")?;
    let twice =
        run_in(root, "data::load(\"flat\", #{ labels_file: \"flat/labels.csv\" })").map(|value| value.summary());
    assert!(twice.as_ref().is_err_and(|told| told.contains("two columns are called `label`")), "{twice:?}");
    Ok(())
}
