//! Scenes drawn from named attributes.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use tch::Device;
use viva::core::Value;
use viva::data::{Dataset, Edge};

/// A mirrored scene is as likely as the scene, so each attribute that has a side has both equally often; and what an image is
/// said to show is what it shows.
#[test]
fn scenes_are_what_their_attributes_say() {
    let scenes = |torus, seed| {
        let scenes = viva::data::Scenes { n: 600, size: 32, torus, split: viva::data::Split::Train, seed };
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
