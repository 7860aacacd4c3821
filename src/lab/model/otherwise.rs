//! Whether a model would read the same images far better, had their pixels been prepared otherwise: as it may have been trained on them.

use tch::Device;

use super::Model;
use crate::core::{Cx, Object, Result, Tensor, on_device};
use crate::data::Dataset;

/// Images that are asked about, and the fewest that say something.
const ASKED: usize = 40;
const FEWEST: usize = 10;
/// The share of right answers from which on nothing is asked.
const READ: f64 = 0.7;
/// By how large a share of the images more have to be read.
const BETTER: f64 = 0.25;

/// What else pixels may be, of images `N x C x H x W` on the CPU, from 0 to 1.
enum Prepared {
    Inverted,
    Bytes,
    Centred,
    ImageNet,
    Bgr,
    Transposed,
}

const ALL: [Prepared; 6] =
    [Prepared::Inverted, Prepared::Bytes, Prepared::Centred, Prepared::ImageNet, Prepared::Bgr, Prepared::Transposed];

impl Prepared {
    /// `None` where images of this shape can't be.
    fn of(&self, images: &Tensor) -> Result<Option<Tensor>> {
        let [_, channels, height, width] = images.size()[..] else { return Ok(None) };
        Ok(match self {
            Self::Inverted => Some(images.f_mul_scalar(-1.0)?.f_add_scalar(1.0)?),
            Self::Bytes => Some(images.f_mul_scalar(255.0)?),
            Self::Centred => Some(images.f_mul_scalar(2.0)?.f_sub_scalar(1.0)?),
            Self::ImageNet if channels == 3 => {
                let of = |numbers: [f64; 3]| -> Result<Tensor> {
                    Ok(Tensor::f_from_slice(&numbers)?.f_reshape([1, 3, 1, 1])?.f_to_kind(images.kind())?)
                };
                Some(images.f_sub(&of([0.485, 0.456, 0.406])?)?.f_div(&of([0.229, 0.224, 0.225])?)?)
            }
            Self::Bgr if channels == 3 => Some(images.f_flip([1i64].as_slice())?),
            Self::Transposed if height == width && height > 1 => Some(images.f_transpose(2, 3)?.f_contiguous()?),
            _ => None,
        })
    }

    fn said(&self) -> &'static str {
        match self {
            Self::Inverted => "their brightness is inverted (1 - x)",
            Self::Bytes => "pixels go from 0 to 255",
            Self::Centred => "pixels go from -1 to 1 (`mean: [0.5], std: [0.5]` of model::load)",
            Self::ImageNet => {
                "pixels are standardised as for ImageNet (`mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]` of model::load)"
            }
            Self::Bgr => "their colours are in the order blue, green, red",
            Self::Transposed => "rows and columns are exchanged",
        }
    }
}

impl Model {
    /// What to say where few of so many answers are right, each behind its label, and the model reads the same images far better prepared in another way.
    /// Not asked of closures and programs, which may go by what they were asked, or do more than answer.
    pub fn reads_better_otherwise(&self, cx: &Cx, set: &Dataset, read: &[(i64, i64)]) -> Result<Option<String>> {
        let right = read.iter().filter(|(label, answer)| label == answer).count();
        let well = right as f64 >= READ * read.len() as f64;
        let whole = read.len() == set.len() && set.len() >= FEWEST;
        // Of one class alone every answer is of that class or of none, and says nothing of how images are prepared.
        let one_label = read.iter().all(|(label, _)| *label == read[0].0);
        let guessed = 1.0 / self.classes().unwrap_or(2).max(2) as f64;
        let beyond_guessing = whole && !one_label && right as f64 >= (guessed + BETTER) * read.len() as f64;
        if well && beyond_guessing {
            self.read_well.set(true);
        }
        if well || !whole || one_label || self.opaque() || self.may_draw() || self.is_not_to_read(set) {
            return Ok(None);
        }
        // How these were prepared is what it learned.
        if self.learned_from_these(set) {
            return Ok(None);
        }
        let device = format!("{:?}", cx.device());
        let mut call = cx.long_call("preparation", &[&self.digest.0, &set.digest().0, device.as_bytes()], false);
        if let Some(record) = call.replay()? {
            let told: Option<String> = serde_json::from_slice(&record).map_err(|_| call.unfit())?;
            return Ok(self.with_its_reading(told, beyond_guessing));
        }
        let told = match self.other_preparation(cx, set, read) {
            Err(error) if error.is_interrupted() => return Err(error),
            // What was asked for is known without it.
            told => told.unwrap_or(None),
        };
        call.append(serde_json::json!(told).to_string().as_bytes())?;
        Ok(self.with_its_reading(told, beyond_guessing))
    }

    /// What was noticed with what it may mean, which goes by what the model read before: no part of what is recorded of these images.
    fn with_its_reading(&self, told: Option<String>, beyond_guessing: bool) -> Option<String> {
        if told.is_none() && beyond_guessing {
            self.read_well.set(true);
        }
        // What is done to images that a model was made to fail on may be undone as well as a change.
        let why = match self.read_well.get() {
            true => {
                "it read others as they are, so that these may be prepared otherwise, or be what it was made to fail on"
            }
            false => "it may have been made for such",
        };
        told.map(|told| format!("{told}: {why}"))
    }

    fn other_preparation(&self, cx: &Cx, set: &Dataset, read: &[(i64, i64)]) -> Result<Option<String>> {
        let n = set.len().min(ASKED);
        // Sets may lie class by class.
        let rows: Vec<usize> = (0..n).map(|i| i * set.len() / n).collect();
        let images = set.images(&rows, Device::Cpu)?;
        if images.f_min()?.f_double_value(&[])? < 0.0 || images.f_max()?.f_double_value(&[])? > 1.0 {
            return Ok(None);
        }
        let (mut ways, mut all) = (vec![], vec![]);
        for prepared in &ALL {
            if let Some(other) = prepared.of(&images)? {
                ways.push(prepared);
                all.push(other);
            }
        }
        let all = on_device(&Tensor::f_cat(&all, 0)?, cx.device())?;
        let at_once = (Self::batch_size(cx, set.shape()) / self.copies()).max(1);
        let mut answers = vec![];
        for some in all.f_split(at_once as i64, 0)? {
            cx.check()?;
            answers.push(tch::no_grad(|| self.logits(&some))?.f_argmax(1, false)?);
        }
        let answers = Vec::<i64>::try_from(Tensor::f_cat(&answers, 0)?.f_to_device(Device::Cpu)?)?;
        let right =
            |answers: &[i64]| answers.iter().zip(&rows).filter(|(answer, row)| **answer == read[**row].0).count();
        let own = rows.iter().filter(|row| read[**row].0 == read[**row].1).count();
        let best = answers.chunks(n).map(right).zip(ways).rev().max_by_key(|(found, _)| *found);
        let best = best.filter(|(found, _)| *found as f64 >= own as f64 + BETTER * n as f64);
        Ok(best.map(|(found, prepared)| {
            format!(
                "{} reads {own} of {n} images of {} as they are labelled, and {found} where {}",
                self.name,
                set.name,
                prepared.said()
            )
        }))
    }
}
