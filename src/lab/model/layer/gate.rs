//! `x` times what the parts give of it, one factor per channel: squeeze and excitation (Hu et al. 2018).

use serde::{Deserialize, Serialize};

use super::fold::freeze;
use super::step::{Mode, Node, See, Step, node, run, visit_parts};
use super::text::{array, call, identities};
use super::{Kind, Layer, Part, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Gate {
    parts: Vec<Part>,
}

impl Layer {
    pub fn gate(parts: Vec<Part>) -> Self {
        Gate { parts }.into()
    }
}

impl Kind for Gate {
    fn script(&self) -> String {
        call("gate", &[&array(&self.parts, "")], &[])
    }

    fn identity(&self) -> String {
        format!("gate[{}]", identities(&self.parts))
    }

    fn parts(&self) -> Vec<&Part> {
        self.parts.iter().collect()
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let (parts, factors) = site.parts(&self.parts, shape)?;
        let one_each = Shape::Image { channels: shape.features(), height: Some(1), width: Some(1) };
        if !factors.agrees(one_each) {
            return Err(Error::model(format!(
                "layer {}: a gate needs one factor per channel of {}, its parts give {}",
                site.at,
                shape.describe(),
                factors.describe()
            ))
            .hint("begin them with net::avg_pool(), end them with a net::conv(channels, 1) and net::sigmoid()"));
        }
        Ok((node(GateFactors { parts }), shape))
    }
}

struct GateFactors {
    parts: Vec<(String, Node)>,
}

impl Step for GateFactors {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        Ok(x.f_mul(&run(&self.parts, x, mode)?)?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        visit_parts(&self.parts, at, see);
    }

    fn frozen(&self, last: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { parts: freeze(&self.parts, last)? })))
    }
}
