//! Images of a generator as a data set that knows what they were drawn of.

use tch::Device;

use super::Generator;
use crate::core::{Cx, Error, Late, Object, Result, Tensor, on_device};
use crate::data::{Dataset, Latents, MisreadBy, drawn};

impl Generator {
    /// The first `n` images of the latent vectors of a seed, with these labels or, where the generator takes none, label 0.
    pub fn sample(&self, cx: &Cx, labels: Option<Vec<i64>>, n: usize, seed: u64) -> Result<Dataset> {
        let task = cx.progress("drawing", Some(n as u64));
        let batch = self.batch_size(cx)?;
        let (mut images, mut latents) = (OnHost::of(n), vec![]);
        for first in (0..n).step_by(batch) {
            cx.check()?;
            let count = batch.min(n - first);
            let z = self.latents_on_host(seed, first, count)?;
            let of = labels.as_ref().map(|labels| &labels[first..first + count]);
            images.take(&self.images_of(&on_device(&z, self.device())?, of)?)?;
            latents.push(z);
            task.advance(count as u64);
        }
        let images = images.all()?;
        let labels = match (labels, self.encoded()) {
            (Some(labels), _) => labels,
            (None, Some(encoded)) => encoded.labels(&encoded.in_order(seed), 0, n)?,
            (None, None) => vec![0; n],
        };
        self.drawn(cx, &images, &Tensor::f_cat(&latents, 0)?, labels)
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
        let set = drawn(images, names, of)?;
        let misread = self.misread_by() != MisreadBy::Nobody;
        let mut set = set.made_for(if misread { MisreadBy::Somebody } else { MisreadBy::Nobody });
        set.name = format!("samples of {}", self.name);
        set.record(cx);
        Ok(set)
    }
}

/// Images of several batches on the CPU. A GPU draws a batch while the one before it is put there.
struct OnHost {
    wanted: usize,
    /// Known once the first batch is there.
    images: Option<Tensor>,
    filled: i64,
    coming: Option<Late>,
}

impl OnHost {
    fn of(wanted: usize) -> Self {
        Self { wanted, images: None, filled: 0, coming: None }
    }

    fn take(&mut self, batch: &Tensor) -> Result<()> {
        if batch.device() == Device::Cpu {
            return self.put(batch);
        }
        let next = Late::of(batch)?;
        match self.coming.replace(next) {
            Some(before) => self.put(&before.told()?),
            None => Ok(()),
        }
    }

    fn put(&mut self, batch: &Tensor) -> Result<()> {
        let size = batch.size();
        let images = match &mut self.images {
            Some(images) => images,
            none => {
                let all = [&[self.wanted as i64], &size[1..]].concat();
                none.insert(Tensor::f_empty(all, (batch.kind(), Device::Cpu))?)
            }
        };
        images.f_narrow(0, self.filled, size[0])?.f_copy_(batch)?;
        self.filled += size[0];
        Ok(())
    }

    fn all(mut self) -> Result<Tensor> {
        if let Some(last) = self.coming.take() {
            self.put(&last.told()?)?;
        }
        let images = self.images.ok_or_else(|| Error::internal("no images were drawn"))?;
        match self.filled == self.wanted as i64 {
            true => Ok(images),
            false => Err(Error::internal("fewer images were drawn than wanted")),
        }
    }
}
