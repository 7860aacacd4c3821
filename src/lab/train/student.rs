//! A classifier that learns from what a generator draws to fail it (Dunn's thesis, Section 4.4).

use tch::{Reduction, Tensor};

use crate::core::{Graph, Result, gradients};
use crate::model::{Mode, Model, Module};
use crate::optimiser::{Optimiser, Rule};

/// The classifier under test, where it learns from what is drawn to fail it.
pub(super) struct Student {
    pub(super) module: Module,
    pub(super) parameters: Vec<Tensor>,
    pub(super) optimiser: Optimiser,
}

impl Student {
    pub(super) fn new(model: &Model, lr: f64) -> Result<Self> {
        let module = model.trainable_copy()?;
        let parameters = module.parameters();
        let optimiser = Optimiser::new(Rule::ADAM, lr, 0.0, &parameters)?;
        Ok(Self { module, parameters, optimiser })
    }

    /// One step on images in [0, 1] of these labels.
    pub(super) fn step(&mut self, model: &Model, images: &Tensor, labels: &Tensor) -> Result<()> {
        let scores = self.module.forward(&model.normalise(&images.f_detach()?)?, Mode::Train)?;
        let loss = scores.f_cross_entropy_loss(labels, None::<&Tensor>, Reduction::Mean, -100, 0.0)?;
        let gradients = gradients(&model.name, &loss, &self.parameters, Graph::Free)?;
        self.optimiser.step(&self.parameters, &gradients)
    }

    /// The classifier as it is now, on its own tensors.
    pub(super) fn model(&self, model: &Model) -> Result<Model> {
        let trained = Model::of_module(format!("{} trained online", model.name), self.module.copy()?)?;
        let trained = trained.with_class_names(model.class_names().unwrap_or_default()).that_learned_as(model);
        trained.normalised_as(model)
    }
}
