//! A model that answers the mean of another one over Gaussian noise: the soft smoothed classifier of Salman, Li, Razenshteyn, Zhang,
//! Zhang, Bubeck and Yang (NeurIPS 2019), "Provably Robust Deep Learning via Adversarially Trained Smoothed Classifiers".

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tch::{Device, Kind};

use super::asked::Asked;
use super::votes::gaussian;
use super::{Model, Network};
use crate::core::{Cx, Digest, Error, Object, Result, Tensor, memory, on_device};

/// What the cautions of such a model say, in part.
pub const STANDS_IN: &str = "stands in for the smoothed classifier";

/// The logarithm of (1/m) sum_i softmax(f(x + noise_i)), over draws that are the same for every image.
struct Smoothed {
    model: Model,
    sigma: f64,
    draws: u32,
    seed: u64,
    stop: Arc<AtomicBool>,
    /// All draws for images of one shape, kind and device, `M x C x H x W`.
    noise: RefCell<Option<Tensor>>,
}

impl Smoothed {
    fn noise(&self, images: &Tensor) -> Result<Tensor> {
        let shape = &images.size()[1..];
        let known = |noise: &&Tensor| {
            noise.size()[1..] == *shape && noise.device() == images.device() && noise.kind() == images.kind()
        };
        if let Some(noise) = self.noise.borrow().as_ref().filter(known) {
            return Ok(noise.shallow_clone());
        }
        let numbers = shape.iter().map(|side| *side as u128).product::<u128>() * u128::from(self.draws);
        memory::check_room(numbers * 4, "noise to smooth a model by")?;
        // No image has this number, so no draw is one that an image is certified by.
        let draws =
            (0..self.draws).map(|draw| gaussian(self.seed, u32::MAX, draw, shape)).collect::<Result<Vec<_>>>()?;
        let noise = Tensor::f_stack(&draws, 0)?.f_mul_scalar(self.sigma)?.f_to_kind(images.kind())?;
        let noise = on_device(&noise, images.device())?;
        self.noise.replace(Some(noise.shallow_clone()));
        Ok(noise)
    }
}

impl Network for Smoothed {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let noise = self.noise(images)?;
        let (size, draws) = (images.size(), i64::from(self.draws));
        let several = self.model.copies_at_once(&size).min(draws);
        let some = |first: i64| -> Result<Tensor> {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::interrupted());
            }
            let noise = noise.f_narrow(0, first, several.min(draws - first))?;
            let noisy = images.f_unsqueeze(0)?.f_add(&noise.f_unsqueeze(1)?)?.f_flatten(0, 1)?;
            let scores = self.model.logits(&noisy)?;
            Ok(scores.f_log_softmax(1, None::<Kind>)?.f_view([-1, size[0], scores.size()[1]])?)
        };
        let all = (0..draws).step_by(several as usize).map(some).collect::<Result<Vec<_>>>()?;
        let sum = Tensor::f_cat(&all, 0)?.f_logsumexp([0i64].as_slice(), false)?;
        Ok(sum.f_sub_scalar((draws as f64).ln())?)
    }

    fn asked(&self) -> Option<Asked> {
        self.model.network.asked()
    }

    fn differentiable(&self) -> bool {
        self.model.differentiable()
    }

    fn stands_for(&self) -> Option<&Model> {
        Some(&self.model)
    }

    fn copies(&self) -> usize {
        self.draws as usize * self.model.copies()
    }

    fn foreign(&self) -> bool {
        self.model.foreign()
    }

    fn opaque(&self) -> bool {
        self.model.opaque()
    }

    fn device(&self) -> Option<Device> {
        Object::device(&self.model)
    }

    fn on(&self, device: Device) -> Result<Option<Rc<dyn Network>>> {
        let Self { sigma, draws, seed, .. } = *self;
        let (model, stop) = (self.model.to(device)?, self.stop.clone());
        Ok(Some(Rc::new(Self { model, sigma, draws, seed, stop, noise: RefCell::default() })))
    }
}

impl Model {
    /// The soft smoothed classifier over `draws` fixed draws of Gaussian noise: differentiable where the model is. It stands in for the
    /// smoothed classifier where gradients are wanted, and is another one.
    pub fn smoothed(&self, cx: &Cx, sigma: f64, draws: u32, seed: u64) -> Result<Self> {
        if !(sigma > 0.0 && sigma.is_finite()) || draws == 0 {
            return Err(Error::argument(format!(
                "noise to smooth a model by has a standard deviation above 0 and at least one draw, got {sigma} and {draws}"
            )));
        }
        self.check_of_classes("a smoothed model")?;
        let settings = format!("{sigma:?} {draws} {seed}");
        let digest = Digest::of_parts(&[b"smoothed", &Object::digest(self).0, settings.as_bytes()]);
        let (model, stop) = (self.clone(), cx.stop_flag());
        let network = Smoothed { model, sigma, draws, seed, stop, noise: RefCell::default() };
        let name = format!("{} smoothed (sigma {sigma}, mean of {draws} draws)", self.name);
        let model = Self::new(name, Box::new(network), digest).with_input(self.input()).that_asks(self);
        self.cautions().iter().for_each(|caution| model.notice(caution));
        model.notice(format!(
            "the mean of {draws} fixed draws {STANDS_IN}, which answers by the majority of all noise: what fails here need not fail there; \
             robustness::certify tells of a transcript's images"
        ));
        Ok(match self.classes() {
            Some(classes) => model.with_classes(classes),
            None => model,
        })
    }
}
