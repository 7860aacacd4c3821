//! A space that a script writes down: named factors, and a closure that draws an image at a setting of them.

use std::rc::Rc;

use super::Space;
use super::factor::{self, Factor, Factored, Originals};
use crate::core::{Callback, Cx, Error, Result, Tensor, Value, number, on_device};

/// How far beyond [0, 1] a pixel may lie by rounding; it is moved to the bound.
const ROUNDING: f64 = 1e-4;

/// Factors and the closure `|z, s| image` that applies them, called once per image that is drawn.
pub struct Factors {
    factors: Rc<[Factor]>,
    apply: Callback,
}

impl Factors {
    pub fn new(factors: Vec<Factor>, apply: Callback) -> Result<Self> {
        factor::check(&factors)?;
        Ok(Self { factors: factors.into(), apply })
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
        let factors: Vec<String> = self.factors.iter().map(Factor::describe).collect();
        format!("factors([{}], closure)", factors.join(", "))
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }
}

impl Factored for Factors {
    fn factors(&self) -> &[Factor] {
        &self.factors
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
