//! A model that looks at images of another size than its own, brought to its own as Pillow does it.

use std::rc::Rc;

use tch::Device;

use super::asked::Asked;
use super::{Model, Network};
use crate::core::{Digest, Error, Object, Result, Tensor, on_device};
use crate::data::{Filter, resampling};

struct Resized {
    model: Model,
    /// What rows and columns are made of.
    rows: Tensor,
    columns: Tensor,
}

impl Network for Resized {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let of = |matrix: &Tensor| matrix.f_to_kind(images.kind());
        let across = images.f_matmul(&of(&self.columns)?.f_transpose(0, 1)?)?;
        // A bicubic filter leaves the range beside edges.
        self.model.logits(&of(&self.rows)?.f_matmul(&across)?.f_clamp(0.0, 1.0)?)
    }

    fn of_binary_labels(&self) -> bool {
        self.model.network.of_binary_labels()
    }

    fn asked(&self) -> Option<Asked> {
        self.model.network.asked()
    }

    fn differentiable(&self) -> bool {
        self.model.differentiable()
    }

    fn copies(&self) -> usize {
        self.model.copies()
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
        let (rows, columns) = (on_device(&self.rows, device)?, on_device(&self.columns, device)?);
        Ok(Some(Rc::new(Self { model: self.model.to(device)?, rows, columns })))
    }
}

impl Model {
    /// The filter that brings images to its size, where it is known which its published weights want.
    pub fn filter(&self) -> Filter {
        self.filter
    }

    pub fn with_filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// The same model for images `[C, H, W]`, which it sees at its own size, or at `own`, where it has none.
    pub fn resized(&self, from: [i64; 3], own: Option<[i64; 3]>, filter: Filter, device: Device) -> Result<Self> {
        let own = match (self.input(), own) {
            (Some(input), Some(own)) if input != own => {
                return Err(
                    Error::argument(format!("{} takes {input:?}, not {own:?}", self.name)).hint("leave `input` out")
                );
            }
            (Some(own), _) | (None, Some(own)) => own,
            (None, None) => {
                return Err(Error::model(format!("{} does not say at which size it looks at images", self.name))
                    .hint("input: [3, 224, 224]"));
            }
        };
        if own[0] != from[0] {
            return Err(Error::model(format!("{} takes {} channels, the images have {}", self.name, own[0], from[0])));
        }
        let digest = Digest::of_parts(&[
            b"resized",
            &Object::digest(self).0,
            format!("{from:?} {own:?} {}", filter.name()).as_bytes(),
        ]);
        let matrix = |side: usize| on_device(&resampling(filter, from[side] as usize, own[side] as usize)?, device);
        let network = Resized { model: self.clone(), rows: matrix(1)?, columns: matrix(2)? };
        let model = Self::new(self.name.clone(), Box::new(network), digest).with_input(Some(from)).that_asks(self);
        self.cautions().iter().for_each(|caution| model.notice(caution));
        Ok(match self.classes() {
            Some(classes) => model.with_classes(classes),
            None => model,
        })
    }
}
