//! The contents of large folders of images.

use super::*;

/// Two pictures with as many bytes.
fn pictures() -> [Vec<u8>; 2] {
    [40, 41].map(|level| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let picture = image::GrayImage::from_fn(8, 8, |x, y| image::Luma([if x + y == 3 { level } else { 200 }]));
        picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    })
}

/// More files than were once looked into.
#[test]
fn a_changed_pixel_among_ten_thousand_images_is_noticed_and_others_are_not_read_again() {
    let home = home();
    let [one, other] = pictures();
    assert_eq!(one.len(), other.len());
    let images = home.path().join("images");
    for class in ["0", "1"] {
        std::fs::create_dir_all(images.join(class)).unwrap();
    }
    for i in 0..10_001 {
        std::fs::write(images.join((i % 2).to_string()).join(format!("{i:05}.png")), &one).unwrap();
    }
    std::fs::write(home.path().join("load.rhai"), format!("data::load({images:?}, #{{ resize: 8, crop: 8 }}).hash"))
        .unwrap();
    // The hash, and how many calls to the disk it took.
    let load = |out: &str| {
        let mut command = viva(home.path(), &["run", "load.rhai", "--out", out]);
        let count = home.path().join("count");
        command.env("LD_PRELOAD", shim()).env("VIVA_ROOT", &images).env("VIVA_COUNT", &count);
        well(command);
        let calls: usize = std::fs::read_to_string(count).unwrap().parse().unwrap();
        let run = home.path().join(out);
        let inputs = json(&run.join("manifest.json"))["inputs"].clone();
        let verified = inputs[0]["contents_verified_unix"].as_u64().unwrap_or_else(|| panic!("{inputs}"));
        (json(&run.join("results.json")), calls, verified)
    };
    let (hash, calls, _) = load("first");
    assert!(calls > 10_000, "{calls}");
    // Files are read again while they are so new that their times could not tell of a change.
    let kept = (0..20).map(|i| load(&format!("again-{i}"))).find(|(_, calls, _)| *calls < 100);
    let (again, _, verified) = kept.expect("contents that are known");
    assert_eq!(again, hash);
    well(viva(home.path(), &["report", "again-0"]));
    let page = std::fs::read_to_string(home.path().join("again-0/report.html")).unwrap();
    assert!(page.contains("contents last verified"));

    let path = images.join("1/00777.png");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, &other).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    let (changed, calls, still) = load("changed");
    assert!(changed != hash, "the same name, size and time");
    assert!((1..100).contains(&calls), "{calls}");
    assert_eq!(still, verified, "the oldest counts");

    // A list that is damaged is made anew.
    let list = std::fs::read_dir(home.path().join("cache/viva")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&list).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&list, bytes).unwrap();
    let (once_more, calls, _) = load("damaged");
    assert!(once_more == changed && calls > 10_000, "{calls}");
}

#[test]
fn data_that_changed_while_a_run_was_interrupted_are_told_of_in_what_it_leaves() {
    let home = home();
    let [one, other] = pictures();
    for i in 0..4 {
        let class = home.path().join("images").join((i % 2).to_string());
        std::fs::create_dir_all(&class).unwrap();
        std::fs::write(class.join(format!("{i}.png")), &one).unwrap();
    }
    let script = "let ds = data::load(\"images\");\nlet f = model::train(ds, #{ arch: [net::flatten(), net::linear(2)], epochs: 2 });\n\
                  let p = f.predict(ds).values();\nif arg(\"fail\", true) { throw \"not yet\" }\np";
    let write = |text: &str| std::fs::write(home.path().join("script.rhai"), text).unwrap();
    write(script);
    let run = home.path().join("run");
    assert!(badly(begin(home.path(), &run)).contains("not yet"));
    write(&script.replace("true", "false"));
    std::fs::write(home.path().join("images/1/1.png"), &other).unwrap();
    let mut command = resume(home.path(), &run);
    command.arg("--changed");
    well(command);
    let warnings = json(&run.join("manifest.json"))["warnings"].to_string();
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    for words in ["data images is not what this run, before it was interrupted, read: hash ", "were not made again"] {
        assert!(warnings.contains(words) && report.contains(words), "{words}: {warnings}");
    }
}

#[test]
fn a_run_that_another_build_goes_on_with_says_so() {
    let home = home();
    std::fs::write(home.path().join("script.rhai"), "[1].save(\"a.json\"); if arg(\"fail\", true) { throw \"x\" }")
        .unwrap();
    let run = home.path().join("run");
    badly(begin(home.path(), &run));
    let path = run.join("manifest.json");
    let mut manifest = json(&path);
    let build = manifest["machine"]["viva_build"].as_str().unwrap().to_string();
    manifest["machine"]["viva_build"] = build.replace("opt-level ", "opt-level 9").into();
    manifest.as_object_mut().unwrap().remove("sha256");
    std::fs::write(&path, viva::core::files::sealed(&manifest)).unwrap();
    badly(resume(home.path(), &run));
    let warnings = json(&path)["warnings"].to_string();
    assert!(warnings.contains("by another build") && warnings.contains("opt-level 9"), "{warnings}");
}
