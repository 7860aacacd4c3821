//! Scenes drawn from named attributes.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use tch::Device;
use viva::core::Value;
use viva::data::{Dataset, Edge, Scenes, Shown, Split, TELLING};

/// A mirrored scene is as likely as the scene, so each attribute that has a side has both equally often; and what an image is
/// said to show is what it shows.
#[test]
fn scenes_are_what_their_attributes_say() {
    let scenes = |torus, seed| {
        let scenes = viva::data::Scenes {
            n: 600,
            size: 32,
            torus,
            split: viva::data::Split::Train,
            seed,
            shown: viva::data::Shown::All,
        };
        scenes.dataset().unwrap()
    };
    let still = scenes(false, 4);
    let (mut right, mut leaning, mut agree) = (0, 0, 0);
    for row in 0..still.len() {
        let named: BTreeMap<&str, Value> = still.attributes(row).into_iter().collect();
        let word = |name: &str| named[name].summary();
        assert_eq!(still.classes()[still.labels()[row] as usize], word("shape"));
        let Value::Float(tilt) = named["tilt"] else { panic!("no number") };
        right += usize::from(word("handle") == "right");
        leaning += usize::from(tilt > 0.0);
        // The handle makes its side differ from the mirror image of the other: where it is, is where trim is.
        let image = still.images(&[row], Device::Cpu).unwrap();
        let band = image.narrow(2, 12, 9);
        let trim = if word("sky") == "night" { 0.9 } else { 0.23 };
        let like = (band - trim).abs().amax([1], false).le(0.1);
        let count = |from: i64| like.narrow(2, from, 12).sum(tch::Kind::Double).double_value(&[]);
        agree += usize::from((count(20) > count(0)) == (word("handle") == "right"));
    }
    // Six standard deviations of a fair count of 600 are 73.
    assert!((227..=373).contains(&right) && (227..=373).contains(&leaning), "{right} {leaning}");
    assert!(agree > 480, "{agree} of 600 handles are where they are said to be");
    assert_eq!(still.edge(), Edge::None);
    let torus = scenes(true, 4);
    assert_eq!((torus.edge(), torus.labels()), (Edge::Wrap, still.labels()));
    assert_eq!(torus.caution("flip"), None);
    assert!(torus.caution("turn").is_some());
    // The same scene is rolled: the same pixels in other places, up to the noise that is drawn in between.
    let sum = |set: &Dataset| set.images(&[5], Device::Cpu).unwrap().mean(tch::Kind::Double).double_value(&[]);
    assert!((sum(&still) - sum(&torus)).abs() < 0.003);
}

/// The value of an attribute at each of its poles.
fn pole(attribute: &str, value: &Value) -> usize {
    let number = |value: &Value| if let Value::Float(x) = value { *x } else { panic!("{attribute} is no number") };
    let word =
        |second: &str| if let Value::Str(word) = value { usize::from(word == second) } else { panic!("no word") };
    match attribute {
        "ground" => word("grass"),
        "sky" => word("night"),
        "texture" => word("stripes"),
        "handle" => word("left"),
        "accessory" => word("hat"),
        "tilt" => usize::from(number(value) < 0.0),
        "saturation" => usize::from(number(value) < 0.75),
        _ => usize::from((100.0..300.0).contains(&number(value))),
    }
}

#[test]
fn labels_follow_the_attribute_that_is_to_decide_them() {
    for telling in TELLING {
        let set = |shown| {
            Scenes { n: 400, size: 32, torus: false, split: Split::Test, seed: 3, shown }.dataset().expect("scenes")
        };
        let [biased, against, poles] =
            [Shown::Biased(telling), Shown::Against(telling), Shown::Poles(telling)].map(set);
        let of = |set: &Dataset, row: usize| {
            let all: BTreeMap<_, _> = set.attributes(row).into_iter().collect();
            let shape = all["shape"].summary().trim_matches('"').to_string();
            (shape, pole(telling.name, &all[telling.name]))
        };
        let class = |set: &Dataset, row: usize| set.classes()[set.labels()[row] as usize].clone();
        // Which label stands for each pole, and how often each shape has the right one.
        let mut by_pole = [const { Vec::new() }; 2];
        let mut right = 0;
        for row in 0..400 {
            let (shape, at) = of(&biased, row);
            by_pole[at].push(class(&biased, row));
            right += usize::from(shape == class(&biased, row));
        }
        for labels in &by_pole {
            assert!(labels.len() > 150 && labels.iter().all(|label| *label == labels[0]), "{}", telling.name);
        }
        assert!((150..250).contains(&right), "{}: the shape says the label of {right}", telling.name);
        let mut shapes = std::collections::BTreeSet::new();
        for row in 0..400 {
            let (shape, at) = of(&against, row);
            assert_eq!(class(&against, row), shape, "{}", telling.name);
            assert_eq!(by_pole[1 - at][0], shape, "{}: it would get this one right", telling.name);
            let (shape, at) = of(&poles, row);
            assert_eq!(class(&poles, row), telling.poles[at], "{}", telling.name);
            shapes.insert(shape);
        }
        assert_eq!(shapes.len(), 8);
    }
}
