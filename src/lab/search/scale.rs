//! Whether images, bounds, radii and levels are of one scale: those of bytes on images in [0, 1] would find everything possible.

use super::Examination;
use crate::core::{Cx, Error, ErrorKind, Result, number};
use crate::space::Bounds;

/// Bounds so many times as wide as what the pixels take up are of another scale.
const WIDER: f64 = 50.0;
/// Room for the last digit of a float32 computation.
const SLACK: f64 = 1e-6;

/// Refuses images outside the bounds that the space would move them into, bounds of another scale than the images', and balls that hold
/// everything.
pub(super) fn check(cx: &Cx, plan: &Examination) -> Result<()> {
    let plain = !plan.data.leaves_unit_range();
    let bounds = plan.space.bounds();
    if let Some(bounds) = bounds {
        if plain && !bounds.within_unit() {
            return Err(of_another_scale(plan, bounds, "[0, 1]"));
        }
        if !(plain && bounds.hold_unit()) {
            check_images(cx, plan, bounds)?;
        }
    }
    let (Some(space), true) = (plan.space.differentiable(), plan.space.additive()) else { return Ok(()) };
    let Some(width) = bounds.map(Bounds::width).or(plain.then_some(1.0)) else { return Ok(()) };
    let pixels: f64 = plan.data.shape().iter().map(|side| *side as f64).product();
    // From one corner of what pixels may be to the opposite one.
    let farthest = space.norm().farthest(width, pixels);
    let radii = space.within().map(|radius| ("radius", radius)).into_iter();
    for (what, radius) in radii.chain(plan.levels.last().map(|level| ("levels", *level))) {
        if radius > farthest * (1.0 + SLACK) {
            let of = format!("{}: `{what}` {} holds every image", plan.space.describe(), number(radius));
            return Err(Error::new(
                ErrorKind::Pairing,
                format!("{of}: pixels of {} are {} apart at most", plan.data.name, number(farthest)),
            )
            .hint("radii are in units of pixel values, which are in [0, 1]: 8 of 255 levels are `8.0 / 255`"));
        }
    }
    Ok(())
}

fn check_images(cx: &Cx, plan: &Examination, bounds: Bounds) -> Result<()> {
    let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
    for part in plan.data.stream(cx, 256) {
        cx.check()?;
        let images = plan.data.centre(&part?.canvases)?;
        bounds.check(&images, &plan.data.name)?;
        least = least.min(images.f_min()?.f_double_value(&[])?);
        largest = largest.max(images.f_max()?.f_double_value(&[])?);
    }
    match largest > least && bounds.width() > WIDER * (largest - least) {
        true => Err(of_another_scale(plan, bounds, &format!("[{}, {}]", number(least), number(largest)))),
        false => Ok(()),
    }
}

fn of_another_scale(plan: &Examination, bounds: Bounds, pixels: &str) -> Error {
    let (name, bounds) = (&plan.data.name, bounds.describe());
    Error::new(ErrorKind::Pairing, format!("pixels of {name} are in {pixels}, the space's bounds are {bounds}")).hint(
        "pixels of plain images are in [0, 1]: `bounds: [0, 1]`, and radii likewise, 8 of 255 levels as `8.0 / 255`",
    )
}
