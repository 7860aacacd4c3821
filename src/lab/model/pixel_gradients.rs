//! Pixels whose gradient is no number, or 0 where they matter: searches along it leave them where they are.

use tch::{Device, Kind};

use super::Model;
use super::probe::OWN;
use super::slope::Lead;
use crate::core::{Result, Tensor, significant, with_stream};

/// Of the pixels of an image, those of gradient 0 that are worth a question, and how far these are moved then.
const DEAD: f64 = 0.3;
const OUT_OF_IT: f64 = 0.2;
/// The steps of a search that are gone to see whether they come alive, and the share of them that do not.
const WALKED: usize = 8;
const STILL: f64 = 0.97;
/// Of what the other pixels change where they are moved as far, what those of gradient 0 change at least to be missed.
const AS_MUCH: f64 = 0.25;

impl Model {
    /// What is said where the gradient of the best score less the next one is no number, or infinite, at images as they stand.
    pub(super) fn pixels_without_gradient(&self, images: &Tensor, answers: &Tensor) -> Result<Option<String>> {
        if answers.size()[1] < 2 {
            return Ok(None);
        }
        let told = self.lead_at(images, answers.f_topk(2, 1, true, true)?.1).and_then(|lead| {
            let told = self.broken_at_pixels(&lead.gradient)?;
            if told.is_some() { Ok(told) } else { self.pixels_in_dead_zones(images, &lead) }
        });
        match told {
            Err(error) if error.is_interrupted() || error.is_out_of_memory() => Err(error),
            // Refused by name where it is asked for.
            Err(_) => Ok(None),
            told => told,
        }
    }

    fn broken_at_pixels(&self, gradient: &Tensor) -> Result<Option<String>> {
        let of_pixels = gradient.f_isfinite()?.f_logical_not()?.f_flatten(1, -1)?.f_to_kind(Kind::Double)?;
        let share = of_pixels.f_mean(Kind::Double)?.f_double_value(&[])?;
        let of_images = of_pixels.f_amax([1i64].as_slice(), false)?.f_sum(Kind::Double)?.f_double_value(&[])?;
        Ok((share > 0.0).then(|| {
            format!(
                "the gradient of {} is no number or infinite at {}% of the pixels of {of_images} of {} images: searches along it do not know \
                 where these pixels are to go, and what they leave right says little of what {} bears",
                self.name,
                significant(100.0 * share, 2),
                gradient.size()[0],
                self.name
            )
        }))
    }

    /// What is said where many pixels have a gradient of 0, here and a little beside, and yet change the scores once they are moved farther, as below a
    /// threshold: of flat images a maximum or a rectifier does so for a few, so that they are set beside the others.
    fn pixels_in_dead_zones(&self, images: &Tensor, here: &Lead) -> Result<Option<String>> {
        let best = || here.best.shallow_clone();
        let dead_in = |gradient: &Tensor| -> Result<Tensor> { Ok(gradient.f_eq(0.0)?) };
        let share = |dead: &Tensor| -> Result<f64> {
            Ok(dead.f_to_kind(Kind::Double)?.f_mean(Kind::Double)?.f_double_value(&[])?)
        };
        let dead = dead_in(&here.gradient)?;
        let within = images.f_min()?.f_double_value(&[])? >= 0.0 && images.f_max()?.f_double_value(&[])? <= 1.0;
        let of = share(&dead)?;
        if of < DEAD || of == 1.0 || !within || self.copies() > 1 {
            return Ok(None);
        }
        let random = |k: u64| -> Result<Tensor> {
            let drawn = with_stream(OWN, k, || Tensor::f_rand(images.size(), (Kind::Float, Device::Cpu)))?;
            Ok(drawn.f_sub_scalar(0.5)?.f_to_device(images.device())?.f_to_kind(images.kind())?)
        };
        let shaken = images.f_add(&random(100)?.f_mul_scalar(0.04)?)?.f_clamp(0.0, 1.0)?;
        let lead = self.lead_at(&shaken, best())?;
        let dead = dead.f_logical_and(&dead_in(&lead.gradient)?)?;
        let of = share(&dead)?;
        if of < DEAD {
            return Ok(None);
        }
        // What a maximum or a rectifier leaves out is let in as a search goes on; what lies below a threshold is not.
        let (mut there, mut gradient, mut still) =
            (shaken.shallow_clone(), lead.gradient.shallow_clone(), dead.shallow_clone());
        for _ in 0..WALKED {
            let step = gradient.f_sign()?.f_mul_scalar(-OUT_OF_IT / WALKED as f64)?.f_to_kind(images.kind())?;
            there = there.f_add(&step)?.f_clamp(0.0, 1.0)?;
            gradient = self.lead_at(&there, best())?.gradient;
            still = still.f_logical_and(&dead_in(&gradient)?)?;
        }
        if share(&still)? < STILL * of {
            return Ok(None);
        }
        let dead = dead.f_to_kind(images.kind())?;
        let live = dead.f_neg()?.f_add_scalar(1.0)?;
        let (mut by_dead, mut by_live) = (vec![0.0; lead.here.len()], vec![0.0; lead.here.len()]);
        for k in 0..2 {
            let far = random(101 + k)?.f_sign()?.f_mul_scalar(OUT_OF_IT)?;
            for (moved, sums) in [(&dead, &mut by_dead), (&live, &mut by_live)] {
                let there = self.lead(&shaken.f_add(&far.f_mul(moved)?)?.f_clamp(0.0, 1.0)?, &lead)?;
                sums.iter_mut()
                    .zip(&there)
                    .zip(&lead.here)
                    .for_each(|((sum, there), here)| *sum += (there - here).powi(2));
            }
        }
        let missed = by_dead
            .iter()
            .zip(&by_live)
            .filter(|(dead, live)| **dead > AS_MUCH.powi(2) * **live && **dead > 0.0)
            .count();
        Ok((2 * missed > by_dead.len()).then(|| {
            format!(
                "the gradient of {} is exactly 0 at {}% of the pixels, which change its scores where they are moved by {OUT_OF_IT} ({missed} of {} images): searches \
                 along it do not move them, and what they leave right says little of what {} bears",
                self.name,
                significant(100.0 * of, 2),
                by_dead.len(),
                self.name
            )
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Network;
    use super::super::slope::tests::Net;
    use super::*;
    use crate::core::Digest;

    /// Whose pixels below a tenth are 0 to it, as of a threshold that takes noise away.
    struct Thresholded(Net);

    impl Network for Thresholded {
        fn forward(&self, images: &Tensor) -> Result<Tensor> {
            self.0.forward(&(images - 0.1).relu())
        }
    }

    #[test]
    fn pixels_below_a_threshold_are_told_of() {
        let floats = (Kind::Float, Device::Cpu);
        let mut of_threshold = 0;
        for seed in 0..20u64 {
            let draw = |shape: &[i64], scale: f64| Tensor::randn(shape, floats) * scale;
            let weights = || with_stream(seed, 0, || [draw(&[4, 1, 3, 3], 0.5), draw(&[4 * 16, 5], 1.0)]);
            let net = || Net { weights: weights(), end: |scores| scores };
            // Mostly dark, with a spot that is not.
            let images = with_stream(seed, 1, || Tensor::rand([8, 1, 8, 8], floats).ge(0.8).to_kind(Kind::Float) * 0.9);
            let told = |network: Box<dyn Network>| {
                let model = Model::new("net", network, Digest::of(b"net"));
                let answers = tch::no_grad(|| model.logits(&images)).expect("scores").to_kind(Kind::Double);
                model.pixels_without_gradient(&images, &answers).expect("an answer").unwrap_or_default()
            };
            of_threshold += usize::from(told(Box::new(Thresholded(net()))).contains("exactly 0 at"));
            let plain = told(Box::new(net()));
            assert!(plain.is_empty(), "{seed}: {plain:?}");
        }
        // Some weights make little of dark pixels, wherever they are moved.
        assert!(of_threshold >= 16, "{of_threshold}");
    }
}
