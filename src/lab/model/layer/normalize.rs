//! Subtracts a mean and divides by a deviation, one number per channel or one for all.

use serde::{Deserialize, Serialize};
use tch::Kind as Number;

use super::step::{Mode, Node, Sharing, Step, detached, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Normalize {
    mean: Vec<f64>,
    std: Vec<f64>,
}

impl Layer {
    pub fn normalize(mean: Vec<f64>, std: Vec<f64>) -> Self {
        Normalize { mean, std }.into()
    }
}

impl Kind for Normalize {
    fn script(&self) -> String {
        call("normalize", &[&format!("{:?}", self.mean), &format!("{:?}", self.std)], &[])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let Self { mean, std } = self;
        shape.sides("normalize", &site.at)?;
        if let Some(c) = shape.features()
            && [mean, std].iter().any(|numbers| numbers.len() != 1 && numbers.len() as i64 != c)
        {
            return Err(Error::model(format!(
                "layer {}: normalize has {} means and {} deviations for {c} channels",
                site.at,
                mean.len(),
                std.len()
            )));
        }
        let of = |numbers: &[f64]| -> Result<Tensor> {
            let numbers = Tensor::f_from_slice(numbers)?.f_to_kind(Number::Float)?;
            Ok(numbers.f_reshape([1, -1, 1, 1])?.f_to_device(site.device)?)
        };
        Ok((node(Numbers { mean: of(mean)?, std: of(std)? }), shape))
    }
}

struct Numbers {
    mean: Tensor,
    std: Tensor,
}

impl Step for Numbers {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_sub(&self.mean)?.f_div(&self.std)?.f_to_kind(x.kind())?)
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { mean: detached(&self.mean)?, std: detached(&self.std)? })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }

    fn weighs(&self) -> bool {
        true
    }
}
