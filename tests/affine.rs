//! Rotations, shifts and turns of the hue: against scikit-image and NumPy, and in the units that they say.
#![allow(clippy::unwrap_used)]

use tch::Kind;
use viva::core::{Cx, Tensor};
use viva::space::{About, Affine, Domain, Factored, Fill, Hue, Space};

fn apart(a: &Tensor, b: &Tensor) -> f64 {
    (a.to_kind(Kind::Double) - b.to_kind(Kind::Double)).abs().max().double_value(&[])
}

/// One image at one setting.
fn drawn(space: &Affine, image: &Tensor, setting: &[f64]) -> Tensor {
    let data = viva::data::from_tensor(&image.to_kind(tch::Kind::Float).clamp(0.0, 1.0), vec![0], None, false).unwrap();
    let of = viva::space::Originals { data: Some(&data), ids: &[0], images: image, rows: &[0] };
    space.draw(&Cx::default(), &of, &[setting]).unwrap()
}

/// scikit-image 0.26: warp(img / 10, SimilarityTransform(rotation=deg2rad(20)), mode="wrap") * 10 with img = (arange(30)**2 % 17) / 17.
#[test]
fn corner_wrapped_rotations_are_those_of_scikit_image() {
    let image: Vec<f64> = (0..30).map(|i| f64::from(i * i % 17) / 17.0).collect();
    let image = Tensor::from_slice(&image).reshape([1, 1, 5, 6]);
    let space = Affine::new(20.0, 0.0, false, About::Corner, Fill::Wrap).unwrap();
    let turned = drawn(&space, &image, &[20.0]);
    #[rustfmt::skip]
    let wanted = [
        0.0, 0.322379916, 0.600414416, 0.752295922, 0.576963084, 0.113548201,
        0.120258585, 0.624597586, 0.757243602, 0.401964003, 0.341276729, 0.237296417,
        0.144943058, 0.48308041, 0.540719235, 0.576002493, 0.886013339, 0.263445407,
        0.104173162, 0.19002532, 0.497471325, 0.718840282, 0.776023105, 0.6000068,
        0.31821425, 0.655122782, 0.471438986, 0.273170523, 0.402783054, 0.730213426,
    ];
    // Nine digits were written down.
    assert!(apart(&turned.reshape([30]), &Tensor::from_slice(&wanted)) < 1e-8);
}

#[test]
fn quarter_turns_and_whole_shifts_are_exact() {
    let image = Tensor::from_slice(&(0..25).map(f64::from).collect::<Vec<_>>()).reshape([1, 1, 5, 5]);
    let draw = |space: &Affine, setting: &[f64]| drawn(space, &image, setting);
    let rotate = Affine::new(90.0, 0.0, false, About::Centre, Fill::Value(0.0)).unwrap();
    // Rounding of the sine of a right angle.
    assert!(apart(&draw(&rotate, &[90.0]), &image.rot90(1, [2, 3])) < 1e-12, "counter-clockwise");
    for (fill, wanted) in [
        (Fill::Value(7.0), vec![7.0; 5]),
        (Fill::Edge, vec![0.0, 0.0, 1.0, 2.0, 3.0]),
        (Fill::Wrap, vec![24.0, 20.0, 21.0, 22.0, 23.0]),
        (Fill::Reflect, vec![6.0, 5.0, 6.0, 7.0, 8.0]),
    ] {
        let shift = Affine::new(0.0, 2.0, true, About::Centre, fill).unwrap();
        let moved = draw(&shift, &[1.0, 1.0]);
        assert_eq!(Vec::<f64>::try_from(moved.get(0).get(0).get(0)).unwrap(), wanted, "{fill:?}");
        assert_eq!(moved.double_value(&[0, 0, 1, 1]), 0.0, "down and to the right");
    }
    // Mirrored at both ends and back again, as numpy.pad's "reflect".
    let far = Affine::new(0.0, 7.0, true, About::Centre, Fill::Reflect).unwrap();
    for (dx, wanted) in
        [(-3.0, [3.0, 4.0, 3.0, 2.0, 1.0]), (6.0, [2.0, 3.0, 4.0, 3.0, 2.0]), (-7.0, [1.0, 0.0, 1.0, 2.0, 3.0])]
    {
        let moved = draw(&far, &[0.0, dx]);
        assert_eq!(Vec::<f64>::try_from(moved.get(0).get(0).get(0)).unwrap(), wanted, "{dx}");
    }
}

/// A level is in the unit that a space says: degrees, pixels, or the share of both where both vary; so is the magnitude of a change.
#[test]
fn levels_and_magnitudes_of_turns_and_shifts_are_in_their_unit() {
    let at = |space: &dyn Factored, level: f64| {
        let factors = space.at(level).map_err(|error| error.to_string())?.expect("levels");
        Ok(factors
            .iter()
            .map(|factor| match factor.domain {
                Domain::Range { min, max } => (factor.name.clone(), min, max),
                Domain::Whole { min, max } => (format!("whole {}", factor.name), min.into(), max.into()),
                _ => panic!("{}", factor.name),
            })
            .collect::<Vec<(String, f64, f64)>>())
    };
    let ranges = |of: &[(&str, f64)]| -> std::result::Result<Vec<(String, f64, f64)>, String> {
        Ok(of.iter().map(|&(name, limit)| (name.to_string(), -limit, limit)).collect())
    };
    let affine = |rotate, shift, whole| Affine::new(rotate, shift, whole, About::Centre, Fill::Edge).unwrap();
    let both = affine(20.0, 3.0, false);
    assert_eq!(both.unit(), "share of the largest rotation and shift");
    assert_eq!(at(&both, 0.5), ranges(&[("dy", 1.5), ("dx", 1.5), ("angle", 10.0)]));
    assert_eq!(at(&both, 1.0), ranges(&[("dy", 3.0), ("dx", 3.0), ("angle", 20.0)]));
    assert!(at(&both, 1.01).unwrap_err().contains("beyond its limit of 1"));
    assert_eq!(both.magnitude(&[0.6, -1.2, 15.0]), Some(0.75));
    assert_eq!(both.magnitude(&[0.6, -2.4, -15.0]), Some(2.4 / 3.0));
    let turn = affine(20.0, 0.0, false);
    assert_eq!(turn.unit(), "rotation (degrees)");
    assert_eq!(at(&turn, 10.0), ranges(&[("angle", 10.0)]));
    assert_eq!(at(&turn, 20.0), ranges(&[("angle", 20.0)]));
    assert!(at(&turn, 20.5).unwrap_err().contains("beyond its limit of 20"));
    assert_eq!((turn.magnitude(&[-7.0]), turn.magnitude(&[19.5])), (Some(7.0), Some(19.5)));
    let shift = affine(0.0, 3.0, true);
    assert_eq!(shift.unit(), "shift (pixels)");
    assert_eq!(at(&shift, 2.0), ranges(&[("whole dy", 2.0), ("whole dx", 2.0)]));
    assert!(at(&shift, 1.5).unwrap_err().contains("no whole number"));
    assert!(at(&shift, 4.0).unwrap_err().contains("beyond its limit of 3"));
    assert_eq!((shift.magnitude(&[-2.0, 1.0]), shift.magnitude(&[0.0, 3.0])), (Some(2.0), Some(3.0)));
    let part = shift.at_share(0.9).expect("a share");
    assert!(matches!(part[0].domain, Domain::Whole { min: -2, max: 2 }));
    assert_eq!(both.describe(), "affine(#{ rotate: 20.0, shift: 3.0, fill: \"edge\" })");
    assert_eq!(turn.describe(), "rotate(20.0, #{ fill: \"edge\" })");
    assert_eq!(shift.describe(), "translate(3, #{ fill: \"edge\" })");
    assert_eq!(affine(0.0, 2.5, false).describe(), "affine(#{ rotate: 0.0, shift: 2.5, fill: \"edge\" })");
    let corner = Affine::new(5.0, 0.0, false, About::Corner, Fill::Value(0.5)).unwrap();
    assert_eq!(corner.describe(), "rotate(5.0, #{ about: \"corner\", fill: 0.5 })");
    let hue = Hue::new(90.0).unwrap();
    assert_eq!(hue.describe(), "hue(90.0)");
    assert_eq!(hue.unit(), "turn of the hue (degrees)");
    assert_eq!(at(&hue, 30.0), ranges(&[("hue", 30.0)]));
    assert!(at(&hue, 91.0).unwrap_err().contains("beyond its limit of 90"));
    assert_eq!((hue.magnitude(&[-12.0]), hue.magnitude(&[90.0])), (Some(12.0), Some(90.0)));
}
