//! Colours turned around the colour circle, their saturation and value kept: the hue of HSV (Smith 1978), as torchvision's adjust_hue.

use super::Space;
use super::factor::{Domain, Factor, Factored, Originals};
use crate::core::{Cx, Error, Result, Tensor, on_device};
use crate::data::Dataset;

/// Every colour turned by the same angle.
pub struct Hue {
    degrees: f64,
    factors: [Factor; 1],
}

impl Hue {
    /// At most so far either way, above 0 and up to 180 degrees.
    pub fn new(degrees: f64) -> Result<Self> {
        if !(degrees > 0.0 && degrees <= 180.0) {
            return Err(Error::argument(format!("a hue turns by more than 0 and up to 180 degrees, got {degrees}")));
        }
        Ok(Self { degrees, factors: factors(degrees) })
    }
}

fn factors(degrees: f64) -> [Factor; 1] {
    [Factor::new("hue", Domain::Range { min: -degrees, max: degrees })]
}

impl Space for Hue {
    fn describe(&self) -> String {
        format!("hue({:?})", self.degrees)
    }

    fn unit(&self) -> &'static str {
        "turn of the hue (degrees)"
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }

    fn check(&self, data: &Dataset) -> Result<()> {
        match data.shape() {
            [3, ..] => Ok(()),
            [channels, ..] => Err(Error::data(format!(
                "{} turns colours of red, green and blue; images of {} have {channels} channels",
                self.describe(),
                data.name
            ))),
        }
    }
}

impl Factored for Hue {
    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    fn unit_of(&self, _factor: usize) -> &'static str {
        "degrees"
    }

    /// A level is the largest angle in degrees.
    fn at(&self, level: f64) -> Result<Option<Vec<Factor>>> {
        if level > self.degrees {
            let limit = self.degrees;
            return Err(Error::argument(format!("{}: level {level} is beyond its limit of {limit}", self.describe())));
        }
        Ok(Some(factors(level).into()))
    }

    fn at_share(&self, share: f64) -> Option<Vec<Factor>> {
        Some(factors(share * self.degrees).into())
    }

    fn share(&self, setting: &[f64]) -> Option<f64> {
        Some(self.magnitude(setting)? / self.degrees)
    }

    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        setting.first().map(|degrees| degrees.abs())
    }

    fn draw(&self, _cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let images = of.chosen()?;
        let turns: Vec<f64> = settings.iter().map(|setting| setting.first().copied().unwrap_or(0.0) / 360.0).collect();
        let turns = on_device(&Tensor::f_from_slice(&turns)?.f_to_kind(images.kind())?, images.device())?;
        turned(&images, &turns.f_reshape([-1, 1, 1])?)
    }
}

/// Images `N x 3 x H x W` with hues that are larger by shares `N x 1 x 1` of the circle.
fn turned(images: &Tensor, turns: &Tensor) -> Result<Tensor> {
    let (value, most) = images.f_max_dim(1, false)?;
    let chroma = value.f_sub(&images.f_amin([1], false)?)?;
    let grey = chroma.f_eq(0.0)?;
    let divisor = chroma.f_masked_fill(&grey, 1.0)?;
    let channel = |i: i64| images.f_select(1, i);
    let (red, green, blue) = (channel(0)?, channel(1)?, channel(2)?);
    // Sixths of the circle, counted from the channel that is largest.
    let sixths =
        |from: f64, a: &Tensor, b: &Tensor| -> Result<Tensor> { Ok(a.f_sub(b)?.f_div(&divisor)?.f_add_scalar(from)?) };
    let of_blue = sixths(4.0, &red, &green)?;
    let others = sixths(2.0, &blue, &red)?.f_where_self(&most.f_eq(1)?, &of_blue)?;
    let hue = sixths(0.0, &green, &blue)?.f_where_self(&most.f_eq(0)?, &others)?;
    let hue = hue.f_add(&turns.f_mul_scalar(6.0)?)?;
    // Each channel is the value less as much of the chroma as the hue is away from it.
    let channels = [5.0, 3.0, 1.0].map(|from| -> Result<Tensor> {
        let at = hue.f_add_scalar(from)?.f_remainder(6.0)?;
        let share = at.f_minimum(&at.f_neg()?.f_add_scalar(4.0)?)?.f_clamp(0.0, 1.0)?;
        Ok(value.f_sub(&chroma.f_mul(&share)?)?)
    });
    let channels = channels.into_iter().collect::<Result<Vec<_>>>()?;
    let drawn = Tensor::f_stack(&channels, 1)?;
    // A turn by nothing leaves the very pixels.
    Ok(images.f_where_self(&turns.f_eq(0.0)?.f_unsqueeze(1)?, &drawn)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// torchvision 0.26, on ((arange(72) * 37) % 101).reshape(2, 3, 3, 4) / 100 with one pixel grey:
    /// torchvision.transforms.v2.functional.adjust_hue(image, degrees / 360).
    #[test]
    fn hues_are_torchvisions() {
        let wanted: [[f32; 36]; 2] = [
            [
                0.5, 0.16, 0.74, 0.1, 0.26, 0.84, 0.2, 0.36, 0.94, 0.09, 0.67, 0.03, 0.5, 0.77, 0.13, 0.1, 0.87, 0.23,
                0.2, 0.97, 0.33, 0.7, 0.06, 0.03, 0.5, 0.255, 0.225, 0.9, 0.355, 0.325, 1.0, 0.455, 0.425, 0.185,
                0.155, 0.83,
            ],
            [
                0.656666, 0.96, 0.32, 0.69, 0.05, 0.486666, 0.79, 0.15, 0.586666, 0.89, 0.25, 0.62, 0.99, 0.35,
                0.770833, 0.08, 0.500833, 0.82, 0.18, 0.600833, 0.92, 0.28, 0.700833, 0.01, 0.19, 0.610833, 0.93,
                0.340833, 0.66, 0.02, 0.440833, 0.76, 0.12, 0.540833, 0.86, 0.270833,
            ],
        ];
        let mut pixels: Vec<f32> = (0..72).map(|i| ((i * 37) % 101) as f32 / 100.0).collect();
        for i in [0, 12, 24] {
            pixels[i] = 0.5;
        }
        let images = Tensor::from_slice(&pixels).reshape([2, 3, 3, 4]);
        let turns = Tensor::from_slice(&[30f32 / 360.0, -125.0 / 360.0]).reshape([2, 1, 1]);
        let found: Vec<f32> = Vec::try_from(turned(&images, &turns).expect("images").reshape([-1])).expect("numbers");
        for (i, (found, wanted)) in found.iter().zip(wanted.iter().flatten()).enumerate() {
            // Written with six digits.
            assert!((found - wanted).abs() < 3e-6, "{i}: {found}, {wanted}");
        }
        let still = turned(&images, &turns.zeros_like()).expect("images");
        assert_eq!(still, images, "no turn leaves the very pixels");
    }
}
