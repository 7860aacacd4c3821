//! A space that a script writes down: named factors, and a closure that draws an image at a setting of them.

use std::cell::Cell;
use std::rc::Rc;

use super::Space;
use super::factor::{self, Domain, Factor, Factored, Originals};
use crate::core::{Callback, Cautions, Cx, Error, Result, Tensor, Value, number, on_device};

/// How far beyond [0, 1] a pixel may lie by rounding; it is moved to the bound.
const ROUNDING: f64 = 1e-4;

/// Factors and the closure `|z, s| image` that applies them, called once per image that is drawn.
pub struct Factors {
    factors: Rc<[Factor]>,
    /// Whether it was seen that images stay as they are where the factors say so.
    tried: Cell<bool>,
    /// Whether it was asked twice about one image.
    asked_again: Cell<bool>,
    apply: Callback,
}

impl Factors {
    pub fn new(factors: Vec<Factor>, apply: Callback) -> Result<Self> {
        factor::check(&factors)?;
        for factor in &factors {
            if let Some(x) = factor.still.filter(|x| !factor.domain.holds(*x)) {
                let name = &factor.name;
                return Err(Error::argument(format!(
                    "factor {name:?}: `identity` {} is not among its values",
                    number(x)
                ))
                .hint("the number from `min` to `max` at which images stay as they are; a list of choices has none"));
            }
        }
        Ok(Self { factors: factors.into(), tried: Cell::new(false), asked_again: Cell::new(false), apply })
    }

    fn has_choices(&self) -> bool {
        self.factors.iter().any(|factor| matches!(factor.domain, Domain::Choices(_)))
    }

    /// Whether levels can scale it: every factor that has no choices says where images stay as they are, and one does.
    fn can_be_scaled(&self) -> bool {
        let said = |factor: &Factor| factor.still.is_some() || matches!(factor.domain, Domain::Choices(_));
        self.factors.iter().all(said) && self.factors.iter().any(|factor| factor.still.is_some())
    }

    /// Refuses numbers at which images are said to stay as they are and do not.
    fn try_identity(&self, z: &Tensor) -> Result<()> {
        if self.tried.get() || !self.can_be_scaled() || self.has_choices() {
            return Ok(());
        }
        let still: Vec<f64> = self.factors.iter().filter_map(|factor| factor.still).collect();
        let answer = self.apply.call(&[Value::tensor(z.f_detach_copy()?), factor::value(&self.factors, &still)])?;
        // Answers of another kind or size are refused as such where points are drawn.
        let Value::Tensor(image) = answer else { return Ok(()) };
        if image.size() == z.size() {
            let image = on_device(&image.f_to_kind(tch::Kind::Float)?, z.device())?;
            let far = image.f_sub(z)?.f_abs()?.f_max()?.f_double_value(&[])?;
            if far.is_nan() || far > ROUNDING {
                return Err(self
                    .wrong(format!("an image that is {} away from the one that it was given", number(far)), &still)
                    .hint("`identity` of a factor is the value at which images stay as they are, from which levels are counted"));
            }
            self.tried.set(true);
        }
        Ok(())
    }

    /// Refuses a closure that answers an image and a setting otherwise the second time. Of one that draws random numbers it is told that it does.
    fn try_again(&self, cx: &Cx, z: &Tensor, setting: &[f64], first: &Tensor) -> Result<()> {
        if self.asked_again.replace(true) || cx.has_drawn() {
            return Ok(());
        }
        let Value::Tensor(again) =
            self.apply.call(&[Value::tensor(z.f_detach_copy()?), factor::value(&self.factors, setting)])?
        else {
            return Err(self.wrong("no image when it was asked again".into(), setting));
        };
        let alike = again.size() == first.size() && {
            let again = on_device(&again.f_to_kind(tch::Kind::Float)?, first.device())?;
            again.f_sub(first)?.f_abs()?.f_max()?.f_double_value(&[])? <= ROUNDING
        };
        match alike || cx.has_drawn() {
            true => Ok(()),
            false => Err(self.wrong("another image when it was asked again about the same one".into(), setting).hint(
                "an image must follow from `z` and the setting alone, and not from what the closure counts or keeps",
            )),
        }
    }

    fn wrong(&self, what: String, setting: &[f64]) -> Error {
        let at = factor::value(&self.factors, setting).summary();
        Error::argument(format!("the closure of space::factors answered {what} at {at}"))
    }

    /// Pixels within rounding of [0, 1] are moved into it; the first image with others is refused. `given`: the images that were changed, and which of
    /// them for each.
    fn checked(&self, images: Tensor, given: (&Tensor, &[i64]), settings: &[&[f64]]) -> Result<Tensor> {
        // Not a number stays so through both; one transfer from the device.
        let ends = |images: &Tensor| -> Result<Vec<f32>> {
            let flat = images.f_flatten(1, -1)?;
            let ends = Tensor::f_stack(&[flat.f_amin([1], false)?, flat.f_amax([1], false)?], 1)?;
            Ok(Vec::<f32>::try_from(&ends.f_reshape([-1])?.f_to_device(tch::Device::Cpu)?)?)
        };
        for ((ends_of, setting), row) in ends(&images)?.chunks(2).zip(settings).zip(given.1) {
            let (lo, hi) = (f64::from(ends_of[0]), f64::from(ends_of[1]));
            if lo.is_nan() || lo.is_infinite() || hi.is_infinite() {
                return Err(self
                    .wrong("an image with pixels that are not finite".into(), setting)
                    .hint("look for a division by 0, or a logarithm or root of a negative number"));
            }
            if lo < -ROUNDING || hi > 1.0 + ROUNDING {
                let before = ends(&given.0.f_narrow(0, *row, 1)?)?;
                let (from, to) = (f64::from(before[0]), f64::from(before[1]));
                if from < -ROUNDING || to > 1.0 + ROUNDING {
                    let what = format!(
                        "pixels from {} to {}, of an image with pixels from {} to {}",
                        number(lo),
                        number(hi),
                        number(from),
                        number(to)
                    );
                    return Err(self.wrong(what, setting).hint(
                        "what comes before it in the space takes images out of [0, 1]: put the closure first, `space::factors(..) * space::noise(..)`, or \
                         let it end with `.clamp(0, 1)`",
                    ));
                }
                return Err(self.wrong(format!("pixels from {} to {}", number(lo), number(hi)), setting).hint(
                    "images live in [0, 1]: end the closure with `.clamp(0, 1)` if cutting off is what you mean",
                ));
            }
        }
        Ok(images.f_clamp(0.0, 1.0)?)
    }
}

impl Space for Factors {
    fn describe(&self) -> String {
        let factors: Vec<String> = self.factors.iter().map(|factor| factor.describe(&self.factors)).collect();
        format!("factors([{}], closure)", factors.join(", "))
    }

    fn cautions(&self, at_levels: bool) -> Cautions {
        let free = at_levels && self.can_be_scaled() && self.has_choices();
        free.then_some("levels leave choices free, so that level 0 is not the images as they stand")
            .into_iter()
            .collect()
    }

    fn unit(&self) -> &'static str {
        "share of the limits"
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }
}

impl Factored for Factors {
    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// A level is the share of the way from `identity` to the ends of every factor.
    fn at(&self, level: f64) -> Result<Option<Vec<Factor>>> {
        if !self.can_be_scaled() {
            let choices = |factor: &&Factor| matches!(factor.domain, Domain::Choices(_));
            let all = || self.factors.iter().filter(|factor| factor.still.is_none());
            // One without choices, which need none, if there is any.
            let without = all().find(|factor| !choices(factor)).or_else(|| all().next());
            let name = without.map_or("", |factor| &factor.name);
            return Err(Error::argument(format!("space::factors has no `levels`: factor {name:?} has no `identity`"))
                .hint("`identity: 0` in a factor's map says at which value images stay as they are; a level is the share of the way from there to `min` and `max`"));
        }
        factor::check_share("space::factors", level)?;
        Ok(self.at_share(level))
    }

    fn at_share(&self, share: f64) -> Option<Vec<Factor>> {
        let scaled = |factor: &Factor| Factor {
            domain: factor.domain.scaled(factor.still.unwrap_or_default(), share),
            ..factor.clone()
        };
        self.can_be_scaled().then(|| self.factors.iter().map(scaled).collect())
    }

    /// The largest share among the factors.
    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        self.share(setting)
    }

    fn share(&self, setting: &[f64]) -> Option<f64> {
        let share = |(factor, x): (&Factor, &f64)| factor.domain.share_from(factor.still.unwrap_or_default(), *x);
        self.can_be_scaled().then(|| self.factors.iter().zip(setting).map(share).fold(0.0, f64::max))
    }

    fn opaque(&self) -> bool {
        true
    }

    fn draw(&self, cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let images = of.images;
        if let Some(&row) = of.rows.first() {
            self.try_identity(&images.f_get(row)?)?;
        }
        let shape = &images.size()[1..];
        let mut drawn = Vec::with_capacity(settings.len());
        let mut held: Option<(i64, Value)> = None;
        for (&row, setting) in of.rows.iter().zip(settings) {
            cx.check()?;
            let z = match held.take() {
                Some((same, z)) if same == row => z,
                // A copy, since a closure may keep what it was given.
                _ => Value::tensor(images.f_get(row)?.f_detach_copy()?),
            };
            let answer = self.apply.call(&[z.clone(), factor::value(&self.factors, setting)])?;
            held = Some((row, z));
            let wanted = || format!("it must answer an image like `z`, a tensor {shape:?}");
            let Value::Tensor(image) = answer else {
                return Err(self.wrong(format!("{} {}", answer.kind(), answer.summary()), setting).hint(wanted()));
            };
            if image.size() != shape {
                return Err(self.wrong(format!("a tensor {:?}", image.size()), setting).hint(wanted()));
            }
            drawn.push(on_device(&image.f_to_kind(tch::Kind::Float)?, images.device())?.f_detach()?);
        }
        let all = self.checked(Tensor::f_stack(&drawn, 0)?, (images, of.rows), settings)?;
        if let (Some(first), Some(&row), Some(setting)) = (drawn.first(), of.rows.first(), settings.first()) {
            self.try_again(cx, &images.f_get(row)?, setting, first)?;
        }
        Ok(all)
    }
}
