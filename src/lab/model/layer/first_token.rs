//! The first token of every image as flat numbers.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Step, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct FirstToken {}

impl Layer {
    pub fn first_token() -> Self {
        FirstToken {}.into()
    }
}

impl Kind for FirstToken {
    fn script(&self) -> String {
        call("first_token", &[], &[])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let [_, width] = shape.tokens("first_token", &site.at)?;
        Ok((node(FirstToken {}), Shape::Flat(width)))
    }
}

impl Step for FirstToken {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_select(1, 0)?)
    }
}
