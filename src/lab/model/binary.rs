//! Several yes-or-no classifiers as one model.

use std::rc::Rc;

use tch::Device;

use super::asked::Asked;
use super::{Model, Network, ONE_SCORE};
use crate::core::{Digest, Error, Object, Result, Tensor};

/// One score per classifier of two classes: by how much the second leads.
struct Binary(Vec<Model>);

impl Network for Binary {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let lead = |model: &Model| -> Result<Tensor> {
            let scores = model.logits(images)?;
            if scores.size()[1] != 2 {
                return Err(two_classes(model, scores.size()[1]));
            }
            Ok(scores.f_narrow(1, 1, 1)?.f_sub(&scores.f_narrow(1, 0, 1)?)?)
        };
        Ok(Tensor::f_cat(&self.0.iter().map(lead).collect::<Result<Vec<_>>>()?, 1)?)
    }

    fn differentiable(&self) -> bool {
        self.0.iter().all(Model::differentiable)
    }

    fn foreign(&self) -> bool {
        self.0.iter().any(Model::foreign)
    }

    fn opaque(&self) -> bool {
        self.0.iter().any(Model::opaque)
    }

    fn device(&self) -> Option<Device> {
        self.0.iter().find_map(Object::device)
    }

    fn asked(&self) -> Option<Asked> {
        let each: Vec<Asked> = self.0.iter().filter_map(|model| model.network.asked()).collect();
        (!each.is_empty()).then(|| each.into_iter().flatten().collect())
    }

    fn of_binary_labels(&self) -> bool {
        true
    }

    fn on(&self, device: Device) -> Result<Option<Rc<dyn Network>>> {
        Ok(Some(Rc::new(Self(self.0.iter().map(|model| model.to(device)).collect::<Result<_>>()?))))
    }
}

fn two_classes(model: &Model, classes: i64) -> Error {
    let error = Error::argument(format!("{} tells {classes} classes; a label is yes or no", model.name));
    if classes == 1 { error.hint(ONE_SCORE) } else { error }
}

/// A model of as many binary labels as there are classifiers of two classes.
pub fn binary(models: Vec<Model>) -> Result<Model> {
    if models.is_empty() {
        return Err(Error::argument("there are no classifiers"));
    }
    let first = models.iter().find(|model| model.input().is_some()).unwrap_or(&models[0]);
    for model in &models {
        if model.classes().is_some_and(|classes| classes != 2) {
            return Err(two_classes(model, model.classes().unwrap_or_default()));
        }
        if let (Some(input), Some(other)) = (first.input(), model.input())
            && input != other
        {
            return Err(Error::argument(format!("{} takes images {input:?}, {} {other:?}", first.name, model.name)));
        }
    }
    let digests: Vec<Digest> = models.iter().map(Object::digest).collect();
    let parts: Vec<&[u8]> = std::iter::once(&b"binary"[..]).chain(digests.iter().map(|d| &d.0[..])).collect();
    let (digest, input, classes) = (Digest::of_parts(&parts), first.input(), models.len() as i64);
    let all = Model::new(format!("{classes} binary labels"), Box::new(Binary(models.clone())), digest);
    let all = models.iter().fold(all, |all, model| all.that_learned_as(model));
    Ok(all.with_classes(classes).with_input(input))
}
