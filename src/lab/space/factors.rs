//! A space that a script writes down: named factors, and a closure that draws an image at a setting of them.

use std::rc::Rc;

use super::Space;
use super::factor::{self, Domain, Factor, Factored, Originals};
use crate::core::{Callback, Cx, Error, Result, Tensor, Value, number, on_device};

/// How far beyond [0, 1] a pixel may lie by rounding; it is moved to the bound.
const ROUNDING: f64 = 1e-4;

/// Factors and the closure `|z, s| image` that applies them, called once per image that is drawn.
pub struct Factors {
    factors: Rc<[Factor]>,
    /// For each factor the number that leaves images as they are, where the script says one.
    still: Rc<[Option<f64>]>,
    apply: Callback,
}

impl Factors {
    /// `still`: for each factor the number that leaves images as they are, if it is known; levels need it of all that are not choices.
    pub fn new(factors: Vec<Factor>, still: Vec<Option<f64>>, apply: Callback) -> Result<Self> {
        factor::check(&factors)?;
        for (factor, still) in factors.iter().zip(&still) {
            if let Some(x) = still.filter(|x| !factor.domain.holds(*x)) {
                return Err(Error::argument(format!(
                    "factor {:?}: `identity` {} is not among its values",
                    factor.name,
                    number(x)
                ))
                .hint("the number from `min` to `max` at which images stay as they are; a list of choices has none"));
            }
        }
        Ok(Self { factors: factors.into(), still: still.into(), apply })
    }

    /// The factors that levels can't scale.
    fn without_identity(&self) -> impl Iterator<Item = &Factor> {
        let of = |(factor, still): (&'_ Factor, &Option<f64>)| {
            still.is_none() && !matches!(factor.domain, Domain::Choices(_))
        };
        self.factors
            .iter()
            .zip(self.still.iter())
            .filter(move |(factor, still)| of((*factor, *still)))
            .map(|(factor, _)| factor)
    }

    fn wrong(&self, what: String, setting: &[f64]) -> Error {
        let at = factor::value(&self.factors, setting).summary();
        Error::argument(format!("the closure of space::factors answered {what} at {at}"))
    }

    /// Pixels within rounding of [0, 1] are moved into it; the first image with others is refused.
    fn checked(&self, images: Tensor, settings: &[&[f64]]) -> Result<Tensor> {
        let flat = images.f_flatten(1, -1)?;
        // Not a number stays so through both; one transfer from the device.
        let ends = Tensor::f_stack(&[flat.f_amin([1], false)?, flat.f_amax([1], false)?], 1)?;
        let ends = Vec::<f32>::try_from(&ends.f_reshape([-1])?.f_to_device(tch::Device::Cpu)?)?;
        for (ends, setting) in ends.chunks(2).zip(settings) {
            let (lo, hi) = (f64::from(ends[0]), f64::from(ends[1]));
            if lo.is_nan() || lo.is_infinite() || hi.is_infinite() {
                return Err(self
                    .wrong("an image with pixels that are not finite".into(), setting)
                    .hint("look for a division by 0, or a logarithm or root of a negative number"));
            }
            if lo < -ROUNDING || hi > 1.0 + ROUNDING {
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
        let said = |(factor, still): (&Factor, &Option<f64>)| match still {
            Some(still) => format!("{}, identity: {still:?} }}", factor.describe().trim_end_matches(" }")),
            None => factor.describe(),
        };
        let factors: Vec<String> = self.factors.iter().zip(self.still.iter()).map(said).collect();
        format!("factors([{}], closure)", factors.join(", "))
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
        if let Some(factor) = self.without_identity().next() {
            return Err(Error::argument(format!("space::factors has no `levels`: factor {:?} has no `identity`", factor.name))
                .hint("`identity: 0` in a factor's map says at which value images stay as they are; a level is the share of the way from there to `min` and `max`"));
        }
        factor::check_share("space::factors", level)?;
        Ok(self.at_share(level))
    }

    fn at_share(&self, share: f64) -> Option<Vec<Factor>> {
        if self.without_identity().next().is_some() {
            return None;
        }
        let scaled = |(factor, still): (&Factor, &Option<f64>)| Factor {
            name: factor.name.clone(),
            domain: factor.domain.scaled(still.unwrap_or_default(), share),
        };
        Some(self.factors.iter().zip(self.still.iter()).map(scaled).collect())
    }

    /// The largest share among the factors.
    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        if self.without_identity().next().is_some() {
            return None;
        }
        let shares = self.factors.iter().zip(self.still.iter()).zip(setting);
        Some(
            shares
                .map(|((factor, still), x)| factor.domain.share_from(still.unwrap_or_default(), *x))
                .fold(0.0, f64::max),
        )
    }

    fn opaque(&self) -> bool {
        true
    }

    fn draw(&self, cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let images = of.images;
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
        self.checked(Tensor::f_stack(&drawn, 0)?, settings)
    }
}
