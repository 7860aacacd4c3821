//! How an object is looked at: the factors of light, matter and camera. The first twelve are the factors of the Adversarial Examiner's renderer. Which twelve, their ranges and the view
//! that counts as canonical are this program's own: the paper does not publish them.

use super::backdrop::BACKDROPS;

/// Where the camera and the light are, and what object and backdrop are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Degrees around the object: 0 in front of it, 90 to its left, so that it is seen from there.
    pub azimuth: f32,
    /// Degrees above the horizon.
    pub elevation: f32,
    /// From the object's middle, in radii of the sphere around it; at least [`View::NEAREST`].
    pub distance: f32,
    /// Degrees that the object is turned in the picture, clockwise.
    pub roll: f32,
    /// How far the object is moved to the right and down in the picture, in shares of its side.
    pub shift_x: f32,
    pub shift_y: f32,
    /// Degrees around the object, as the camera's.
    pub light_azimuth: f32,
    pub light_elevation: f32,
    /// 1 shows a surface that faces the light in its own colour.
    pub light_energy: f32,
    pub light: Light,
    pub material: Material,
    pub background: Background,
    /// Whether what stands between a light and a surface keeps its light away.
    pub shadows: bool,
    /// How many points along either side an area light is seen through.
    pub lamps: usize,
    /// Stops: how often the light that reaches the picture is doubled.
    pub exposure: f32,
    /// The standard deviation of a Gaussian that the picture is blurred by, in shares of its side.
    pub blur: f32,
    /// The standard deviation of what is added to every pixel, in shares of full brightness.
    pub noise: f32,
    /// The quality that the picture is saved with, from 1 to 100; `None` where it is not.
    pub jpeg: Option<u8>,
    /// Degrees that colours are turned around grey.
    pub hue: f32,
    /// Of highlights, above 0, at most 1; `None` for that of the material.
    pub roughness: Option<f32>,
    /// Which object of the scenery stands half-way between the camera and the nearest that this one may reach.
    pub occluder: Option<usize>,
    /// Where that one is seen, right and down of the picture's middle, in shares of its side.
    pub occluder_x: f32,
    pub occluder_y: f32,
    /// The diameter of the ball around it, in shares of the side.
    pub occluder_size: f32,
    /// Whether the object also keeps the light that comes from everywhere away from itself.
    pub ambient_occlusion: bool,
}

/// Which light there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Light {
    /// From so far away that it is parallel.
    Sun,
    /// At three radii, weaker with the square of the distance.
    Point,
    /// A square of side 4 at three radii, seen through the middles of equal squares, four unless [`View::lamps`] says more.
    Area,
}

/// How a surface throws light back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Material {
    /// Equally in all directions.
    Matte,
    /// With white highlights.
    Glossy,
    /// Mostly in highlights of its own colour.
    Metal,
}

/// The number of a backdrop in [`BACKDROPS`], or of a photograph of the scenery after these.
pub type Background = usize;

/// What a factor of a view can be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Span {
    Range {
        min: f64,
        max: f64,
    },
    /// Even in the logarithm.
    Log {
        min: f64,
        max: f64,
    },
    Choices(&'static [&'static str]),
}

/// A factor of a view: what it is called, its default range, how far a range may go, and its canonical value (the place of a choice).
#[derive(Debug, Clone, Copy)]
pub struct ViewFactor {
    pub name: &'static str,
    pub span: Span,
    pub limits: [f64; 2],
    pub canonical: f64,
    pub unit: &'static str,
    /// Whether it stays canonical unless it is asked for by name. Below the smallest limit or above the largest, that is without it.
    pub asked: bool,
}

impl ViewFactor {
    /// Whether a value says that the picture is made without this.
    pub fn is_without(&self, x: f64) -> bool {
        self.asked && !matches!(self.span, Span::Choices(_)) && !(self.limits[0]..=self.limits[1]).contains(&x)
    }
}

const fn range(
    name: &'static str,
    [min, max]: [f64; 2],
    limits: [f64; 2],
    canonical: f64,
    unit: &'static str,
) -> ViewFactor {
    ViewFactor { name, span: Span::Range { min, max }, limits, canonical, unit, asked: false }
}

const fn choice(name: &'static str, choices: &'static [&'static str]) -> ViewFactor {
    ViewFactor { name, span: Span::Choices(choices), limits: [0.0, 0.0], canonical: 0.0, unit: "", asked: false }
}

const fn asked(factor: ViewFactor) -> ViewFactor {
    ViewFactor { asked: true, ..factor }
}

/// A view as one number per factor, in the order of [`VIEW_FACTORS`]: a value, or the place of a choice.
pub type ViewNumbers = [f64; 25];

/// The factors in the order in which settings hold them.
pub static VIEW_FACTORS: [ViewFactor; 25] = [
    range("azimuth", [0.0, 360.0], [-360.0, 720.0], 35.0, "degrees"),
    range("elevation", [-30.0, 60.0], [-90.0, 90.0], 20.0, "degrees"),
    range("distance", [1.5, 4.0], [1.1, 100.0], 2.5, "radii"),
    range("roll", [-30.0, 30.0], [-360.0, 360.0], 0.0, "degrees"),
    range("shift_x", [-0.2, 0.2], [-1.0, 1.0], 0.0, "of the side"),
    range("shift_y", [-0.2, 0.2], [-1.0, 1.0], 0.0, "of the side"),
    range("light_azimuth", [0.0, 360.0], [-360.0, 720.0], 70.0, "degrees"),
    range("light_elevation", [0.0, 90.0], [-90.0, 90.0], 50.0, "degrees"),
    ViewFactor {
        name: "light_energy",
        span: Span::Log { min: 0.2, max: 3.0 },
        limits: [1e-3, 1e3],
        canonical: 1.0,
        unit: "",
        asked: false,
    },
    choice("light", &["sun", "point", "area"]),
    choice("material", &["matte", "glossy", "metal"]),
    choice("background", &BACKDROPS),
    asked(choice("shadows", &["none", "cast"])),
    asked(choice("lamps", &["4", "9", "16", "25"])),
    asked(range("exposure", [-2.0, 2.0], [-10.0, 10.0], 0.0, "stops")),
    asked(range("blur", [0.0, 0.02], [0.0, 0.25], 0.0, "of the side")),
    asked(range("noise", [0.0, 0.1], [0.0, 1.0], 0.0, "")),
    asked(range("jpeg", [10.0, 95.0], [1.0, 100.0], 101.0, "")),
    asked(range("hue", [-180.0, 180.0], [-360.0, 360.0], 0.0, "degrees")),
    asked(range("roughness", [0.2, 0.9], [0.1, 1.0], 0.0, "")),
    asked(choice("occluder", &["none"])),
    asked(range("occluder_x", [-0.4, 0.4], [-1.0, 1.0], 0.0, "of the side")),
    asked(range("occluder_y", [-0.4, 0.4], [-1.0, 1.0], 0.0, "of the side")),
    asked(range("occluder_size", [0.1, 0.5], [0.01, 1.0], 0.3, "of the side")),
    asked(choice("ambient_occlusion", &["none", "cast"])),
];

impl View {
    /// No vertex comes nearer to the camera than a tenth of a radius.
    pub const NEAREST: f32 = 1.1;

    pub fn of(numbers: &ViewNumbers) -> Self {
        let x = numbers.map(|x| x as f32);
        Self {
            azimuth: x[0],
            elevation: x[1],
            distance: x[2],
            roll: x[3],
            shift_x: x[4],
            shift_y: x[5],
            light_azimuth: x[6],
            light_elevation: x[7],
            light_energy: x[8],
            light: match numbers[9] as usize {
                0 => Light::Sun,
                1 => Light::Point,
                _ => Light::Area,
            },
            material: match numbers[10] as usize {
                0 => Material::Matte,
                1 => Material::Glossy,
                _ => Material::Metal,
            },
            background: numbers[11] as usize,
            shadows: numbers[12] as usize == 1,
            lamps: 2 + numbers[13] as usize,
            exposure: x[14],
            blur: x[15],
            noise: x[16],
            jpeg: (numbers[17] <= 100.0).then_some(numbers[17].round() as u8),
            hue: x[18],
            roughness: (x[19] > 0.0).then_some(x[19]),
            occluder: (numbers[20] as usize).checked_sub(1),
            occluder_x: x[21],
            occluder_y: x[22],
            occluder_size: x[23],
            ambient_occlusion: numbers[24] as usize == 1,
        }
    }

    /// The numbers of the view from which every object of the embedded set can be told.
    pub fn canonical() -> ViewNumbers {
        VIEW_FACTORS.each_ref().map(|factor| factor.canonical)
    }
}
