//! Images of another size: bilinear, `align_corners=False`.

use serde_json::{Value as Json, json};

use super::step::{Mode, Node, Step, node};
use super::text::{Fields, call};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Clone)]
pub struct Resize {
    size: [i64; 2],
}

impl Layer {
    /// To this height and width.
    pub fn resize(size: [i64; 2]) -> Self {
        Resize { size }.into()
    }
}

pub fn read(fields: &Fields) -> Option<Layer> {
    Some(Layer::resize([fields.count(1)?, fields.count(2)?]))
}

impl Kind for Resize {
    fn script(&self) -> String {
        call("resize", &[&self.size[0], &self.size[1]], &[])
    }

    fn json(&self) -> Json {
        json!(["resize", self.size[0], self.size[1]])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        shape.sides("resize", &site.at)?;
        Ok((node(self.clone()), shape.with_sides(self.size.map(Some))))
    }
}

impl Step for Resize {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_upsample_bilinear2d(self.size, false, None::<f64>, None::<f64>)?)
    }
}
