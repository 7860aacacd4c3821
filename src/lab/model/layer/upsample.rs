//! Every pixel repeated so many times in both directions.

use serde::{Deserialize, Serialize};

use super::shape::enlarged;
use super::step::{Mode, Node, Step, node};
use super::text::{call, count};
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};

#[derive(Clone, Serialize, Deserialize)]
pub struct Upsample {
    #[serde(deserialize_with = "count")]
    factor: i64,
}

impl Layer {
    pub fn upsample(factor: i64) -> Self {
        Upsample { factor }.into()
    }
}

impl Kind for Upsample {
    fn script(&self) -> String {
        call("upsample", &[&self.factor], &[])
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let [height, width] = shape.sides("upsample", &site.at)?;
        let more = |n: Option<i64>| n.map(|n| enlarged(n * self.factor, &site.at)).transpose();
        let after = shape.with_sides([more(height)?, more(width)?]);
        Ok((node(self.clone()), after))
    }
}

impl Step for Upsample {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let (_, _, height, width) = x.size4()?;
        Ok(x.f_upsample_nearest2d([height * self.factor, width * self.factor], None::<f64>, None::<f64>)?)
    }
}
