//! What must be said of curves that are drawn into one figure.

use super::{Curve, CurveAxis};
use crate::core::{Cautions, Object, cut, number, significant};

/// What to say of curves side by side: their own cautions, by name, and whether they are of different images. Curves of one name, of models that
/// were trained alike, are counted. `of`: without what is said of curves of other names alone.
pub fn populations(curves: &[(String, &Curve)], of: Option<&str>) -> Cautions {
    let mut cautions = Cautions::default();
    for (i, (name, curve)) in curves.iter().enumerate() {
        if of.is_some_and(|of| of != name) {
            continue;
        }
        let alike = |curves: &[(String, &Curve)]| curves.iter().filter(|(other, _)| other == name).count();
        let of = match (curves.len(), alike(curves)) {
            (1, _) => String::new(),
            (_, 1) if name.is_empty() => String::new(),
            (_, 1) => format!("{name}: "),
            _ => format!("{} {}: ", if name.is_empty() { "curve" } else { name }, alike(&curves[..=i])),
        };
        // What holds of all of them is said once.
        let alone = |caution: &str| curves.iter().all(|(_, other)| other.cautions.iter().any(|said| said == caution));
        curve.cautions.iter().for_each(|caution| match alone(caution) {
            true => cautions.add(caution),
            false => cautions.add(format!("{of}{caution}")),
        });
    }
    let Some((_, first)) = curves.first() else { return cautions };
    if curves.iter().any(|(_, curve)| !curve.population.same_labels(&first.population)) {
        let of: Vec<String> = curves
            .iter()
            .map(|(name, curve)| format!("{name} of {} with H(Y) = {} bits", curve.images, number(curve.bound)))
            .collect();
        cautions
            .add(format!("the curves are of different images, so no curve says what another would: {}", of.join(", ")));
    } else if curves.iter().any(|(_, curve)| curve.population != first.population) {
        cautions.add("the curves are of different images with the same labels");
    }
    if curves.iter().any(|(_, curve)| curve.settings.estimator != first.settings.estimator) {
        let of: Vec<String> = curves.iter().map(|(name, curve)| format!("{name} by {}", curve.estimator)).collect();
        cautions.add(format!("I(T; Y) is estimated in different ways: {}", of.join(", ")));
    }
    let with_bands = || curves.iter().filter(|(_, curve)| curve.settings.replicates > 0);
    if with_bands().any(|(_, curve)| curve.settings.delta != first.settings.delta) {
        let of: Vec<String> = with_bands()
            .map(|(name, curve)| format!("{name} at {}%", significant(100.0 * (1.0 - curve.settings.delta), 4)))
            .collect();
        cautions.add(format!(
            "bands are not at the same level, and the widths of two say nothing of each other: {}",
            of.join(", ")
        ));
    }
    let stepped = curves.iter().all(|(_, curve)| curve.axis == CurveAxis::Step);
    for (place, what) in [(3, "searches"), (4, "objectives"), (2, "spaces")] {
        if stepped && curves.iter().any(|(_, curve)| curve.of[place] != first.of[place]) {
            let of: Vec<String> =
                curves.iter().map(|(name, curve)| format!("{name} of {}", cut(&curve.of[place], 60))).collect();
            cautions.add(format!("steps are of different {what}, so as many are not as much: {}", of.join(", ")));
            break;
        }
    }
    let again = |i: usize| {
        let (name, curve) = &curves[i];
        curves[..i].iter().any(|(other, before)| other == name && Object::digest(*before) == Object::digest(*curve))
    };
    let repeated = (0..curves.len()).filter(|&i| again(i)).count();
    if repeated > 0 {
        let of = curves.len();
        cautions.add(format!(
            "a curve that is given twice is no second model: of the {of} curves {repeated} repeat others, and means and spreads are of fewer models than they say"
        ));
    }
    cautions
}
