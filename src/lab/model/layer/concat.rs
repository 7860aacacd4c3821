//! The channels of every branch, side by side.

use serde::{Deserialize, Serialize};

use super::fold::freeze_each;
use super::step::{Mode, Node, See, Sharing, Step, node, visit_parts};
use super::text::{array, call, identities};
use super::{Kind, Layer, Part, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Concat {
    branches: Vec<Part>,
}

impl Layer {
    pub fn concat(branches: Vec<Part>) -> Self {
        Concat { branches }.into()
    }
}

impl Kind for Concat {
    fn script(&self) -> String {
        call("concat", &[&array(&self.branches, "")], &[])
    }

    fn identity(&self) -> String {
        format!("concat[{}]", identities(&self.branches))
    }

    fn parts(&self) -> Vec<&Part> {
        self.branches.iter().collect()
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let mut branches = Vec::with_capacity(self.branches.len());
        let mut whole: Option<Shape> = None;
        for (name, layer) in &self.branches {
            let (node, after) = site.part(name, layer, shape)?;
            branches.push((name.clone(), node));
            let before = whole.unwrap_or(after.with_features(Some(0)));
            let all = before.features().zip(after.features()).map(|(a, b)| a + b);
            if !before.with_features(None).agrees(after) || matches!(after, Shape::Tokens { .. }) {
                return Err(Error::model(format!("layer {}: branches of different shapes", site.at))
                    .hint("channels of images of one height and width, or flat numbers, can stand side by side"));
            }
            whole = Some(after.with_features(all));
        }
        Ok((node(ConcatBranches { branches }), whole.unwrap_or(shape)))
    }
}

struct ConcatBranches {
    branches: Vec<(String, Node)>,
}

impl Step for ConcatBranches {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let outs = self.branches.iter().map(|(_, node)| node.forward(x, mode)).collect::<Result<Vec<_>>>()?;
        Ok(Tensor::f_cat(&outs, 1)?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        visit_parts(&self.branches, at, see);
    }

    fn frozen(&self, last: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { branches: freeze_each(&self.branches, last)? })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Concat(self.branches.chunks(1).collect())
    }

    fn gives_fresh(&self) -> bool {
        true
    }
}
