//! Rotations and translations of the whole image with bilinear interpolation, and a named fill for what comes in from beyond
//! its border: the spatial faults of Engstrom et al. (2017) and of Galloway, Golubeva and Taylor (2018), Section 3.

use tch::Kind;

use super::Space;
use super::factor::{Domain, Factor, Factored, Originals};
use super::interpolation::{Fill, bilinear, by_pixel};
use crate::core::{Cx, Error, Result, Tensor, on_device};

/// What a rotation leaves in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    Centre,
    /// The middle of the pixel in the upper left corner, as in the published code of Galloway et al. (2018).
    Corner,
}

/// First a rotation by `angle` degrees, counter-clockwise where positive, then a shift by `dy` pixels down and `dx` to the right.
pub struct Affine {
    /// The largest rotation either way, in degrees; 0 for none.
    rotate: f64,
    /// The largest shift along either axis, in pixels; 0 for none.
    shift: f64,
    /// Whether shifts are by whole pixels.
    whole: bool,
    about: About,
    fill: Fill,
    factors: Vec<Factor>,
}

impl Affine {
    /// `rotate` in degrees from 0 to 180 and `shift` in pixels from 0, not both 0.
    pub fn new(rotate: f64, shift: f64, whole: bool, about: About, fill: Fill) -> Result<Self> {
        if !((0.0..=180.0).contains(&rotate) && shift >= 0.0 && shift.is_finite()) {
            return Err(Error::argument(format!(
                "a rotation is from 0 to 180 degrees and a shift from 0 pixels, got {rotate} and {shift}"
            )));
        }
        if rotate == 0.0 && shift == 0.0 {
            return Err(Error::argument("an affine space needs a rotation or a shift larger than 0"));
        }
        let mut space = Self { rotate, shift, whole, about, fill, factors: vec![] };
        space.factors = space.limited(rotate, shift);
        Ok(space)
    }

    fn limited(&self, rotate: f64, shift: f64) -> Vec<Factor> {
        let mut factors = vec![];
        let mut factor = |name: &str, domain| factors.push(Factor::new(name, domain));
        if self.shift > 0.0 {
            for name in ["dy", "dx"] {
                factor(
                    name,
                    match self.whole {
                        true => Domain::Whole { min: -shift as i32, max: shift as i32 },
                        false => Domain::Range { min: -shift, max: shift },
                    },
                );
            }
        }
        if self.rotate > 0.0 {
            factor("angle", Domain::Range { min: -rotate, max: rotate });
        }
        factors
    }

    /// Shift down, shift to the right and angle of a setting.
    fn parts(&self, setting: &[f64]) -> [f64; 3] {
        match *setting {
            [dy, dx, angle] => [dy, dx, angle],
            [dy, dx] => [dy, dx, 0.0],
            [angle] => [0.0, 0.0, angle],
            _ => [0.0; 3],
        }
    }
}

impl Space for Affine {
    fn describe(&self) -> String {
        let mut options = vec![];
        if self.about == About::Corner {
            options.push("about: \"corner\"".to_string());
        }
        options.push(format!("fill: {}", self.fill.describe()));
        let options = options.join(", ");
        match (self.rotate > 0.0, self.shift > 0.0) {
            (true, false) => format!("rotate({:?}, #{{ {options} }})", self.rotate),
            (false, _) if self.whole => format!("translate({}, #{{ {options} }})", self.shift),
            _ => format!("affine(#{{ rotate: {:?}, shift: {:?}, {options} }})", self.rotate, self.shift),
        }
    }

    fn unit(&self) -> &'static str {
        match (self.rotate > 0.0, self.shift > 0.0) {
            (true, true) => "share of the largest rotation and shift",
            (true, false) => "rotation (degrees)",
            _ => "shift (pixels)",
        }
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }
}

impl Factored for Affine {
    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    fn unit_of(&self, factor: usize) -> &'static str {
        if self.factors[factor].name == "angle" { "degrees" } else { "pixels" }
    }

    /// A level is the largest angle in degrees, or the largest shift in pixels, or, where both vary, the share of both limits.
    fn at(&self, level: f64) -> Result<Option<Vec<Factor>>> {
        let limit = match (self.rotate > 0.0, self.shift > 0.0) {
            (true, true) => 1.0,
            (true, false) => self.rotate,
            _ => self.shift,
        };
        let refused = |what: String| Err(Error::argument(format!("{}: level {level} {what}", self.describe())));
        if level > limit {
            return refused(format!("is beyond its limit of {limit}"));
        }
        if self.whole && level.fract() != 0.0 {
            return refused("is no whole number of pixels".into());
        }
        Ok(Some(match (self.rotate > 0.0, self.shift > 0.0) {
            (true, true) => self.limited(self.rotate * level, self.shift * level),
            (true, false) => self.limited(level, 0.0),
            _ => self.limited(0.0, level),
        }))
    }

    fn at_share(&self, share: f64) -> Option<Vec<Factor>> {
        let shift = share * self.shift;
        // A share of pixels may fall short of a whole one by rounding.
        Some(self.limited(self.rotate * share, if self.whole { (shift + 1e-9).floor() } else { shift }))
    }

    fn share(&self, setting: &[f64]) -> Option<f64> {
        let [dy, dx, angle] = self.parts(setting).map(f64::abs);
        let share = |x: f64, limit: f64| if limit > 0.0 { x / limit } else { 0.0 };
        Some(share(dy.max(dx), self.shift).max(share(angle, self.rotate)))
    }

    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        let [dy, dx, angle] = self.parts(setting).map(f64::abs);
        match (self.rotate > 0.0, self.shift > 0.0) {
            (true, true) => self.share(setting),
            (true, false) => Some(angle),
            _ => Some(dy.max(dx)),
        }
    }

    fn takes_any_range(&self) -> bool {
        true
    }

    fn draw(&self, _cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let images = of.images;
        let (_, _, height, width) = images.size4()?;
        let centre = match self.about {
            About::Centre => [(height - 1) as f64 / 2.0, (width - 1) as f64 / 2.0],
            About::Corner => [0.0; 2],
        };
        // Where each pixel of the result comes from: p -> c + R (p - d - c), R counter-clockwise as seen with y pointing down.
        let mut sources = Vec::with_capacity(settings.len() * 6);
        for setting in settings {
            let [dy, dx, angle] = self.parts(setting);
            let (sin, cos) = angle.to_radians().sin_cos();
            let (y0, x0) = (-dy - centre[0], -dx - centre[1]);
            sources.extend([cos, sin, centre[0] + cos * y0 + sin * x0, -sin, cos, centre[1] - sin * y0 + cos * x0]);
        }
        let at = |image: usize, y: usize, x: usize| {
            let place = |[a, b, c]: [f64; 3]| a * y as f64 + b * x as f64 + c;
            let of = &sources[6 * image..][..6];
            [place([of[0], of[1], of[2]]), place([of[3], of[4], of[5]])]
        };
        if let Some(drawn) = by_pixel(images, of.rows, self.fill, at)? {
            return Ok(drawn);
        }
        let device = images.device();
        let sources = on_device(&Tensor::f_from_slice(&sources)?.f_reshape([-1, 6, 1, 1])?, device)?;
        let part = |place: i64| sources.f_select(1, place);
        let line = |n: i64, size: [i64; 3]| -> Result<Tensor> {
            Ok(Tensor::f_arange(n, (Kind::Double, device))?.f_reshape(size)?)
        };
        let (y, x) = (line(height, [1, height, 1])?, line(width, [1, 1, width])?);
        let along = |a: i64| -> Result<Tensor> {
            Ok(part(a)?.f_mul(&y)?.f_add(&part(a + 1)?.f_mul(&x)?)?.f_add(&part(a + 2)?)?)
        };
        bilinear(&of.chosen()?, &along(0)?, &along(3)?, self.fill)
    }
}
