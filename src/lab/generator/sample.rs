//! Images of a generator as a data set that knows what they were drawn of.

use tch::Device;

use super::Generator;
use crate::core::{Cx, Object, Result, Tensor, on_device};
use crate::data::{Dataset, Latents, drawn};

impl Generator {
    /// The first `n` images of the latent vectors of a seed, with these labels or, where the generator takes none, label 0.
    pub fn sample(&self, cx: &Cx, labels: Option<Vec<i64>>, n: usize, seed: u64) -> Result<Dataset> {
        let task = cx.progress("drawing", Some(n as u64));
        let batch = self.batch_size(cx)?;
        let (mut images, mut latents) = (vec![], vec![]);
        for first in (0..n).step_by(batch) {
            cx.check()?;
            let count = batch.min(n - first);
            let z = self.latents(seed, first, count)?;
            let of = labels.as_ref().map(|labels| &labels[first..first + count]);
            images.push(self.images_of(&z, of)?.f_to_device(Device::Cpu)?);
            latents.push(z.f_to_device(Device::Cpu)?);
            task.advance(count as u64);
        }
        let labels = match (labels, self.encoded()) {
            (Some(labels), _) => labels,
            (None, Some(encoded)) => encoded.labels(&encoded.in_order(seed), 0, n)?,
            (None, None) => vec![0; n],
        };
        self.drawn(cx, &Tensor::f_cat(&images, 0)?, &Tensor::f_cat(&latents, 0)?, labels)
    }

    /// Images of latent vectors with one label each, without gradients.
    pub fn images_of(&self, latents: &Tensor, labels: Option<&[i64]>) -> Result<Tensor> {
        let labels = labels.map(|labels| on_device(&Tensor::f_from_slice(labels)?, self.device())).transpose()?;
        tch::no_grad(|| self.images(&latents.f_to_kind(self.kind())?, labels.as_ref()))
    }

    /// Images that it drew of these latent vectors and labels, as a data set.
    pub fn drawn(&self, cx: &Cx, images: &Tensor, latents: &Tensor, labels: Vec<i64>) -> Result<Dataset> {
        let names = match (self.encoded(), self.classes()) {
            (Some(encoded), _) => encoded.classes().to_vec(),
            (None, None) => vec!["image".to_string()],
            (None, Some(classes)) => (0..classes).map(|label| label.to_string()).collect(),
        };
        let flat = latents.f_to_device(Device::Cpu)?.f_to_kind(tch::Kind::Float)?.f_reshape([-1])?;
        let of = Latents {
            by: self.digest(),
            width: self.latent() as usize,
            values: Vec::<f32>::try_from(&flat)?.into(),
            labels: labels.into(),
            cautions: self.cautions(),
        };
        let mut set = drawn(images, names, of)?;
        set.name = format!("samples of {}", self.name);
        set.record(cx);
        Ok(set)
    }
}
