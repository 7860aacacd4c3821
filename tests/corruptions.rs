//! Common corruptions against the published implementation (`tests/golden/corruptions.py`): picture by picture given the same random
//! numbers, and in their moments with its own.
#![allow(clippy::unwrap_used)]

use npyz::npz::NpzArchive;
use rayon::prelude::*;
use viva::core::Cx;
use viva::space::{CORRUPTIONS, Corruptions, Frost, Scale};

type Golden = NpzArchive<std::io::BufReader<std::fs::File>>;

fn golden() -> Golden {
    NpzArchive::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/corruptions.npz")).unwrap()
}

/// Values and shape; `None` where the golden file has no such array.
fn array<T: npyz::Deserialize>(golden: &mut Golden, name: &str) -> Option<(Vec<T>, Vec<usize>)> {
    let array = golden.by_name(name).unwrap()?;
    let shape = array.shape().iter().map(|&side| side as usize).collect();
    Some((array.into_vec().unwrap(), shape))
}

const SCALES: [(&str, Scale); 2] = [("imagenet", Scale::ImageNet), ("cifar", Scale::Cifar)];

/// Pictures in place of the photographs of frost: a formula that the golden file's script has as well.
fn frost() -> std::path::PathBuf {
    static FOLDER: std::sync::LazyLock<std::path::PathBuf> = std::sync::LazyLock::new(|| {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("frost");
        std::fs::create_dir_all(&folder).unwrap();
        for (i, name) in ["frost1.png", "frost2.png", "frost3.png", "frost4.jpg", "frost5.jpg"].into_iter().enumerate()
        {
            let i = i as u32;
            let pixel = |x: u32, y: u32| {
                image::Rgb([0, 1, 2].map(|c| ((x * (7 + i) + y * (3 + 2 * i) + c * 50 + x * y / 9) % 256) as u8))
            };
            image::RgbImage::from_fn(231, 187, pixel)
                .save_with_format(folder.join(name), image::ImageFormat::Png)
                .unwrap();
        }
        folder
    });
    FOLDER.clone()
}

/// As it was drawn for the golden file.
const DRAW: f64 = 7.0;

fn space(kind: &str, scale: Scale) -> Corruptions {
    let frost = (kind == "frost").then(|| Frost::read(&Cx::default(), "frost", &frost()).unwrap());
    Corruptions::new(&[kind.into()], [1, 5], Some(scale), frost).unwrap()
}

/// Numpy's exponential differs from libm's in the last digit on some processors, so that the weights of a blur may sum to a last digit more
/// or less than 1: where a surface is even, the byte that is cut off is then one less. Elsewhere all are equal.
#[test]
fn corruptions_are_the_references() {
    let golden = &mut golden();
    for (scale_name, scale) in SCALES {
        let (original, size) = array::<u8>(golden, &format!("{scale_name}_original")).unwrap();
        for kind in CORRUPTIONS {
            let (wanted, _) = array::<u8>(golden, &format!("{scale_name}_{kind}")).unwrap();
            for (severity, wanted) in (1..).zip(wanted.chunks(original.len())) {
                let setting = [0.0, f64::from(severity), DRAW];
                let found = space(kind, scale).corrupted(original.clone(), [size[0], size[1]], &setting).unwrap();
                let away = |least| found.iter().zip(wanted).filter(|(a, b)| a.abs_diff(**b) >= least).count();
                assert_eq!(away(2), 0, "{scale_name} {kind} {severity}");
                assert!(away(1) * 25 <= wanted.len(), "{scale_name} {kind} {severity}: {} differ", away(1));
            }
        }
    }
}

/// Mean, deviation and roughness of 400 corrupted pictures: within five standard errors of the difference from the reference's 400.
#[test]
fn chance_is_distributed_as_the_references() {
    const DRAWS: usize = 400;
    let golden = &mut golden();
    for (scale_name, scale) in SCALES {
        let (original, size) = array::<u8>(golden, &format!("{scale_name}_original")).unwrap();
        for kind in CORRUPTIONS {
            let Some((wanted, _)) = array::<f64>(golden, &format!("{scale_name}_{kind}_moments")) else { continue };
            let moments = |space: &mut Corruptions, draw: usize| {
                let setting = [0.0, 3.0, draw as f64];
                let bytes = space.corrupted(original.clone(), [size[0], size[1]], &setting).unwrap();
                let values: Vec<f64> = bytes.into_iter().map(f64::from).collect();
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
                let steps = values.chunks(3 * size[1]).flat_map(|row| row.iter().zip(&row[3..]));
                let roughness: f64 = steps.map(|(a, b)| (a - b).abs()).sum();
                [mean, variance.sqrt(), roughness / (3 * size[0] * (size[1] - 1)) as f64]
            };
            let drawn: Vec<[f64; 3]> = (0..DRAWS).into_par_iter().map_init(|| space(kind, scale), moments).collect();
            for i in 0..3 {
                let mean = drawn.iter().map(|of| of[i]).sum::<f64>() / DRAWS as f64;
                let error = 2f64.sqrt() * wanted[3 + i];
                let away = (mean - wanted[i]) / error;
                assert!(away.abs() < 5.0, "{scale_name} {kind}, moment {i}: {mean}, {} +- {error}", wanted[i]);
            }
        }
    }
}

#[track_caller]
fn refused(script: &str, words: &str) {
    let mut session = viva::script::Session::new(std::rc::Rc::new(viva::core::Cx::default()));
    let error = session.evaluate("test", script).expect_err("refused").render(false);
    assert!(error.contains(words), "{error}");
}

fn examined(data: &str, options: &str, levels: &str) -> String {
    format!(
        "let ds = {data}; let f = model::train(ds, #{{ arch: [net::flatten(), net::linear(ds.classes.len())], epochs: 1 }});
         examine(f, ds, #{{ space: space::corruptions({options}), search: search::sweep(){levels}, seed: 1 }})"
    )
}

#[test]
fn what_the_reference_does_not_do_is_refused() {
    let of =
        |size: u32, channels: u32| format!("data::glyphs(#{{ n: 2, size: {size}, channels: {channels}, seed: 1 }})");
    refused(&examined(&of(32, 1), "", ""), "grey images");
    refused(&examined(&of(28, 3), "", ""), "32 x 32 pixels at least");
    refused(&examined(&of(40, 3), "#{ benchmark: \"cifar\" }", ""), "for images of 32 x 32");
    refused(&examined(&format!("{}.centre()", of(32, 3)), "", ""), "[0, 1]");
    refused(&examined(&of(32, 3), "", ", levels: [0, 1]"), "a level is a severity");
    refused(&examined(&of(32, 3), "#{ severities: [1, 2] }", ", levels: [3]"), "from 1 to 2");
    refused("space::corruptions(#{ kinds: [\"frost\"] })", "needs its photographs");
    refused("space::corruptions(#{ frost: \"src\" })", "frost1.png");
    refused("space::corruptions(#{ severities: [1, 3] })", "one after the other");
    refused("space::corruptions(#{ severities: [0, 1] })", "from 1 to 5");
    refused("space::corruptions(#{ severities: [] })", "empty");
    refused("space::corruptions(#{ kinds: [] })", "empty");
    refused("space::corruptions(#{ kinds: [\"contrast\", \"contrast\"] })", "twice");
}

#[test]
fn results_without_frost_or_of_other_frost_say_so() {
    let said = |options: &str| {
        let mut session = viva::script::Session::new(std::rc::Rc::new(Cx::default()));
        let data = "data::scenes(#{ n: 3, size: 32, seed: 1 })";
        session.evaluate("test", &examined(data, options, ", levels: [3]")).unwrap().summary()
    };
    assert!(said("").contains("14 of 15 common corruptions: frost needs its photographs"), "{}", said(""));
    let other = format!("#{{ frost: {:?} }}", frost().to_str().unwrap());
    assert!(said(&other).contains("not that of the published photographs"), "{}", said(&other));
    assert!(!said("#{ kinds: [\"contrast\", \"fog\"] }").contains("frost"));
}
