//! A classifier whose scores are multiplied by a number: it answers the same, and is as tolerant, whatever the number is.

use std::cell::Cell;
use std::rc::Rc;

use tch::Device;

use super::asked::Asked;
use super::{Model, Network};
use crate::core::{Digest, Result, Tensor};

struct Scaled {
    network: Rc<dyn Network>,
    by: f64,
}

impl Network for Scaled {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        Ok(self.network.forward(images)?.f_mul_scalar(self.by)?)
    }

    fn of_binary_labels(&self) -> bool {
        self.network.of_binary_labels()
    }

    fn asked(&self) -> Option<Asked> {
        self.network.asked()
    }

    fn differentiable(&self) -> bool {
        self.network.differentiable()
    }

    fn copies(&self) -> usize {
        self.network.copies()
    }

    fn foreign(&self) -> bool {
        self.network.foreign()
    }

    fn opaque(&self) -> bool {
        self.network.opaque()
    }

    fn device(&self) -> Option<Device> {
        self.network.device()
    }

    fn on(&self, device: Device) -> Result<Option<Rc<dyn Network>>> {
        let moved = self.network.on(device)?;
        Ok(moved.map(|network| Rc::new(Self { network, by: self.by }) as Rc<dyn Network>))
    }
}

impl Model {
    /// The same model with its scores multiplied by a number above 0.
    pub fn with_scores_scaled(&self, by: f64) -> Self {
        let with = |digest: Digest| Digest::of_parts(&[&digest.0, format!("scores by {by:?}").as_bytes()]);
        Self {
            name: format!("{} with scores times {by}", self.name),
            network: Rc::new(Scaled { network: self.network.clone(), by }),
            digest: with(self.digest),
            asks: self.sources(),
            made_by: self.made_by.map(with),
            rounding_of_scores: Rc::new(Cell::new(by.abs() * self.rounding_of_scores.get())),
            ..self.clone()
        }
    }
}
