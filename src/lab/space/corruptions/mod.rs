//! The common corruptions of Hendrycks and Dietterich, "Benchmarking Neural Network Robustness to Common Corruptions and Perturbations",
//! ICLR 2019, with the numbers of their ImageNet-C, as Michaelis et al. 2019 made them for images of any size (the Python package
//! imagecorruptions 1.1.2), or of their CIFAR-10-C (make_cifar_c.py). Pictures are worked on in 8 bits, as they are there.

mod blur;
mod colour;
mod digital;
mod draws;
mod filters;
mod frost;
mod noise;
mod picture;
mod spatter;
mod weather;

use std::sync::atomic::Ordering;

use rayon::prelude::*;
use tch::Device;

use super::Space;
use super::factor::{Domain, Factor, Factored, Originals};
use crate::core::{Cautions, Cx, Error, Result, Tensor, Value, in_parallel, number, on_device, suggestion};
use crate::data::Dataset;
use draws::Draws;
pub use frost::Frost;
use picture::Picture;

/// Whose numbers say how strong a severity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Those of ImageNet-C.
    ImageNet,
    /// Those of CIFAR-10-C, for images of 32 x 32 pixels.
    Cifar,
}

/// How strong a corruption is.
#[derive(Clone, Copy)]
struct Strength {
    scale: Scale,
    /// From 1 to 5.
    severity: usize,
}

impl Strength {
    /// The number of this severity in one of two lists.
    fn of<T: Copy>(self, imagenet: [T; 5], cifar: [T; 5]) -> T {
        match self.scale {
            Scale::ImageNet => imagenet[self.severity - 1],
            Scale::Cifar => cifar[self.severity - 1],
        }
    }
}

type Change = fn(&Picture, Strength, &mut Draws) -> Picture;

/// A kind of corruption.
struct Kind {
    name: &'static str,
    /// Its part of the random streams.
    stream: u64,
    /// None of the one that needs photographs.
    change: Option<Change>,
}

const fn kind(name: &'static str, stream: u64, change: Change) -> Kind {
    Kind { name, stream, change: Some(change) }
}

/// Those of the benchmark, then those that are kept for validation.
const KINDS: [Kind; 19] = [
    kind("gaussian_noise", 0, noise::gaussian),
    kind("shot_noise", 1, noise::shot),
    kind("impulse_noise", 2, noise::impulse),
    kind("defocus_blur", 3, blur::defocus),
    kind("glass_blur", 4, blur::glass),
    kind("motion_blur", 5, blur::by_motion),
    kind("zoom_blur", 6, blur::by_zoom),
    kind("snow", 7, weather::snow),
    Kind { name: FROST, stream: 8, change: None },
    kind("fog", 9, weather::fog),
    kind("brightness", 10, colour::brightness),
    kind("contrast", 11, colour::contrast),
    kind("elastic_transform", 12, digital::elastic),
    kind("pixelate", 13, digital::pixelate),
    kind("jpeg_compression", 14, digital::jpeg),
    kind("speckle_noise", 15, noise::speckle),
    kind("gaussian_blur", 16, blur::by_gaussian),
    kind("spatter", 17, weather::spatter),
    kind("saturate", 18, colour::saturate),
];

/// What needs photographs.
const FROST: &str = "frost";

/// How many of them are the benchmark's.
const COMMON: usize = 15;

/// The names of all kinds, those of the benchmark first.
pub const CORRUPTIONS: [&str; KINDS.len()] = {
    let mut names = [""; KINDS.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = KINDS[place].name;
        place += 1;
    }
    names
};

/// The least side of an image, as the reference has it.
const LEAST_SIDE: usize = 32;

/// Common corruptions as settings of three factors: the kind, the severity, and which of many draws.
pub struct Corruptions {
    recipe: Recipe,
    severities: [i32; 2],
    factors: Vec<Factor>,
}

/// All that a picture's corruption follows from beside the setting.
struct Recipe {
    kinds: Vec<&'static Kind>,
    scale: Option<Scale>,
    frost: Option<Frost>,
}

impl Corruptions {
    /// Of these kinds, none being those of the benchmark, frost only where it is given, at severities from the one to the other; where no
    /// scale is given, images of 32 x 32 pixels have that of CIFAR-10-C.
    pub fn new(kinds: &[String], severities: [i32; 2], scale: Option<Scale>, frost: Option<Frost>) -> Result<Self> {
        let known = |name: &String| {
            KINDS
                .iter()
                .find(|kind| kind.name == name)
                .ok_or_else(|| Error::argument(format!("no corruption {name:?}")).hint(suggestion(name, CORRUPTIONS)))
        };
        let kinds: Vec<&Kind> = match kinds {
            [] => KINDS[..COMMON].iter().filter(|kind| kind.name != FROST || frost.is_some()).collect(),
            names => names.iter().map(known).collect::<Result<_>>()?,
        };
        let icy = kinds.iter().any(|kind| kind.name == FROST);
        match (&frost, icy) {
            (None, true) => {
                return Err(Error::argument("the corruption frost needs its photographs, which viva does not have").hint(
                    "frost: \"DIR\", the folder `frost` of the Python package imagecorruptions, in which frost1.png and the others lie",
                ));
            }
            (Some(_), false) => return Err(Error::argument("`frost` is given, but frost is not among `kinds`")),
            _ => {}
        }
        let [least, largest] = severities;
        if !(1 <= least && least <= largest && largest <= 5) {
            return Err(Error::argument(format!("severities go from 1 to 5, got {least} to {largest}")));
        }
        let factors = factors(&kinds, severities);
        super::factor::check(&factors)?;
        Ok(Self { recipe: Recipe { kinds, scale, frost }, severities, factors })
    }

    /// A picture of `[height, width]`, red, green and blue of each pixel row by row, as a setting leaves it.
    pub fn corrupted(&self, bytes: Vec<u8>, size: [usize; 2], setting: &[f64]) -> Result<Vec<u8>> {
        self.recipe.corrupted(bytes, size, setting)
    }
}

impl Recipe {
    fn scale(&self, size: [usize; 2]) -> Scale {
        self.scale.unwrap_or(if size == [LEAST_SIDE; 2] { Scale::Cifar } else { Scale::ImageNet })
    }

    fn corrupted(&self, bytes: Vec<u8>, [height, width]: [usize; 2], setting: &[f64]) -> Result<Vec<u8>> {
        let &[kind, severity, draw] = setting else { return Err(Error::internal("corruptions have three factors")) };
        let kind = self.kinds.get(kind as usize).ok_or_else(|| Error::internal("no such corruption"))?;
        let strength = Strength { scale: self.scale([height, width]), severity: (severity as usize).clamp(1, 5) };
        let (picture, mut draws) = (Picture { height, width, bytes }, Draws::new(draw as u64, kind.stream));
        let corrupted = match (kind.change, &self.frost) {
            (Some(change), _) => change(&picture, strength, &mut draws),
            (None, Some(photographs)) => frost::frost(&picture, strength, &mut draws, photographs),
            (None, None) => return Err(Error::internal("frost without photographs")),
        };
        Ok(corrupted.bytes)
    }
}

fn factors(kinds: &[&Kind], [min, max]: [i32; 2]) -> Vec<Factor> {
    let names = kinds.iter().map(|kind| Value::Str(kind.name.into())).collect();
    vec![
        Factor::new("kind", Domain::Choices(names)),
        Factor::new("severity", Domain::Whole { min, max }),
        Factor::new("draw", Domain::Chance),
    ]
}

impl Corruptions {
    /// How it is written where the photographs of frost have this name.
    fn said(&self, frost: impl Fn(&Frost) -> String) -> String {
        let kinds: Vec<String> = self.recipe.kinds.iter().map(|kind| format!("{:?}", kind.name)).collect();
        let severities: Vec<String> = (self.severities[0]..=self.severities[1]).map(|s| s.to_string()).collect();
        let scale = match self.recipe.scale {
            None => "side",
            Some(Scale::ImageNet) => "imagenet",
            Some(Scale::Cifar) => "cifar",
        };
        let (kinds, severities) = (kinds.join(", "), severities.join(", "));
        let frost = self
            .recipe
            .frost
            .as_ref()
            .map_or(String::new(), |photographs| format!(", frost: {:?}", frost(photographs)));
        format!("corruptions(#{{ kinds: [{kinds}], severities: [{severities}], benchmark: {scale:?}{frost} }})")
    }
}

impl Space for Corruptions {
    fn describe(&self) -> String {
        self.said(|frost| frost.name.clone())
    }

    fn identity(&self) -> String {
        self.said(|frost| frost.digest.hex())
    }

    fn cautions(&self, _at_levels: bool) -> Cautions {
        let all_but_one = KINDS[..COMMON].iter().filter(|kind| kind.name != FROST).map(|kind| kind.name);
        let lacks_frost = self.recipe.kinds.iter().map(|kind| kind.name).eq(all_but_one);
        let missing =
            lacks_frost.then(|| format!("{} of {COMMON} common corruptions: frost needs its photographs", COMMON - 1));
        let other = self.recipe.frost.as_ref().filter(|frost| !frost.published);
        let other = other.map(|_| "frost is not that of the published photographs".to_string());
        missing.into_iter().chain(other).collect()
    }

    fn unit(&self) -> &'static str {
        "severity of the corruption"
    }

    fn factored(&self) -> Option<&dyn Factored> {
        Some(self)
    }

    fn check(&self, data: &Dataset) -> Result<()> {
        let [channels, height, width] = data.shape();
        let problem = |text: String| Err(Error::data(format!("space::corruptions: {text}; {}", data.name)));
        if channels != 3 {
            return problem(format!(
                "the reference makes three channels of grey images, whose corruptions have colours: images need 3 channels, not {channels}"
            ))
            .map_err(|error| {
                error.hint("over grey images go space::noise, affine and closures of space::factors, which may darken, blur or cover them")
            });
        }
        if height.min(width) < LEAST_SIDE {
            return problem(format!("images need {LEAST_SIDE} x {LEAST_SIDE} pixels at least, not {height} x {width}"))
                .map_err(|error| {
                    error.hint(
                        "data::load(.., #{ resize }) has larger ones, and f.resized(shape) a model that takes them",
                    )
                });
        }
        if self.recipe.scale == Some(Scale::Cifar) && [height, width] != [LEAST_SIDE; 2] {
            return problem(format!(
                "the numbers of CIFAR-10-C are for images of 32 x 32 pixels, not {height} x {width}"
            ));
        }
        let size = [height, width];
        if self.recipe.frost.as_ref().is_some_and(|frost| !frost.cover(self.recipe.scale(size), size)) {
            return problem("the photographs of frost are too small for these images".into());
        }
        Ok(())
    }
}

impl Factored for Corruptions {
    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// A level is a severity.
    fn at(&self, level: f64) -> Result<Option<Vec<Factor>>> {
        let [least, largest] = self.severities;
        if level.fract() != 0.0 || !(f64::from(least)..=f64::from(largest)).contains(&level) {
            return Err(Error::argument(format!(
                "space::corruptions: a level is a severity, a whole number from {least} to {largest}, got {}",
                number(level)
            )));
        }
        Ok(Some(factors(&self.recipe.kinds, [level as i32; 2])))
    }

    fn magnitude(&self, setting: &[f64]) -> Option<f64> {
        setting.get(1).copied()
    }

    fn draw(&self, cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        cx.check()?;
        let (_, channels, height, width) = of.images.size4()?;
        let size = [height as usize, width as usize];
        let (plane, values) = (size[0] * size[1], channels as usize * size[0] * size[1]);
        // The CPU's, so that every device sees the same.
        let images = of.images.f_to_device(Device::Cpu)?.f_to_kind(tch::Kind::Float)?.f_reshape([-1])?;
        let images = Vec::<f32>::try_from(&images)?;
        let mut drawn = vec![0f32; settings.len() * values];
        let rows = of.rows;
        let (stop, recipe) = (cx.stop_flag(), &self.recipe);
        in_parallel(|| {
            let jobs = drawn.par_chunks_mut(values).zip(rows).zip(settings);
            jobs.try_for_each(|((into, &row), setting)| {
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::interrupted());
                }
                let image = images.get(row as usize * values..).and_then(|from| from.get(..values));
                let image = image.ok_or_else(|| Error::internal("no image in a place"))?;
                let bytes = recipe.corrupted(bytes_of(image, plane)?, size, setting)?;
                for (i, byte) in bytes.into_iter().enumerate() {
                    into[i % 3 * plane + i / 3] = f32::from(byte) / 255.0;
                }
                Ok(())
            })
        })??;
        let images = Tensor::f_from_slice(&drawn)?.f_reshape([settings.len() as i64, channels, height, width])?;
        on_device(&images, of.images.device())
    }
}

/// The nearest bytes to three planes of numbers from 0 to 1, pixel by pixel.
fn bytes_of(image: &[f32], plane: usize) -> Result<Vec<u8>> {
    // Room for the last digit of a float32 computation.
    const SLACK: f32 = 1e-5;
    let outside = image.iter().find(|x| !(-SLACK..=1.0 + SLACK).contains(*x));
    if let Some(&x) = outside {
        return Err(Error::data(format!("space::corruptions: images must be in [0, 1], got a pixel {x}")));
    }
    Ok((0..3 * plane).map(|i| (image[i % 3 * plane + i / 3] * 255.0).round() as u8).collect())
}
