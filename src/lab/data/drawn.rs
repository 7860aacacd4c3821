//! Images that a generator drew, with what it drew them of, so that they can be drawn again with changes on the way.

use std::sync::Arc;

use super::latents::Latents;
use super::memory::from_tensor;
use super::{Dataset, Source};
use crate::core::{Result, Tensor, Value};

struct DrawnImages {
    images: Arc<dyn Source>,
    of: Latents,
}

impl Source for DrawnImages {
    fn len(&self) -> usize {
        self.images.len()
    }

    fn shape(&self) -> [usize; 3] {
        self.images.shape()
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.images.read(index, pixels)
    }

    fn attributes(&self, index: usize) -> Vec<(&'static str, Value)> {
        self.images.attributes(index)
    }

    fn latents(&self) -> Option<&Latents> {
        Some(&self.of)
    }
}

/// A data set of images `N x C x H x W` that a generator drew; their labels are those that it was asked for.
pub fn drawn(images: &Tensor, classes: Vec<String>, of: Latents) -> Result<Dataset> {
    let set = from_tensor(images, of.labels.to_vec(), Some(classes), false)?;
    Ok(set.with_source(|images| Arc::new(DrawnImages { images, of })))
}

impl Dataset {
    /// What the images in these rows were drawn of; `None` where that is not known, or where they are prepared for a model.
    pub fn latents(&self, rows: &[usize]) -> Option<Latents> {
        let all = self.source_latents()?;
        let at = self.source_rows(rows);
        let values = at.iter().flat_map(|&i| all.values[i * all.width..(i + 1) * all.width].iter().copied()).collect();
        let labels = at.iter().map(|&i| all.labels[i]).collect();
        Some(Latents { by: all.by, width: all.width, values, labels, cautions: all.cautions.clone() })
    }
}
