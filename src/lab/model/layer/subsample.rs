//! Every `stride`-th pixel, with channels of zeros before and after up to `channels`: the shortcut without parameters
//! (option A) of He et al. 2016.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, Step, node};
use super::text::{call, count};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Clone, Serialize, Deserialize)]
pub struct Subsample {
    #[serde(deserialize_with = "count")]
    stride: i64,
    #[serde(deserialize_with = "count")]
    channels: i64,
}

impl Layer {
    pub fn subsample(stride: i64, channels: i64) -> Self {
        Subsample { stride, channels }.into()
    }
}

impl Kind for Subsample {
    fn script(&self) -> String {
        call("subsample", &[&self.stride, &self.channels], &[])
    }

    fn identity(&self) -> String {
        format!("subsample({}, {})", self.stride, self.channels)
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let Self { stride, channels } = *self;
        let sides = shape.sides("subsample", &site.at)?;
        if shape.features().is_some_and(|c| c > channels || (channels - c) % 2 != 0) {
            return Err(Error::model(format!(
                "layer {}: subsample can't pad {} to {channels} channels evenly",
                site.at,
                shape.describe()
            )));
        }
        let fewer = sides.map(|n| n.map(|n| (n + stride - 1) / stride));
        Ok((node(self.clone()), shape.with_sides(fewer).with_features(Some(channels))))
    }
}

impl Step for Subsample {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let more = (self.channels - x.size()[1]) / 2;
        let fewer = x.f_slice(2, None, None, self.stride)?.f_slice(3, None, None, self.stride)?;
        Ok(fewer.f_pad([0, 0, 0, 0, more, more], "constant", 0.0)?)
    }
}
