//! The sum of what several branches give.

use serde::{Deserialize, Serialize};

use super::fold::freeze_each;
use super::step::{Mode, Node, See, Sharing, Step, node, visit_parts};
use super::text::{array, call, some};
use super::{Kind, Layer, Part, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Add {
    #[serde(deserialize_with = "some")]
    branches: Vec<Part>,
}

impl Layer {
    pub fn add(branches: Vec<Part>) -> Self {
        Add { branches }.into()
    }
}

impl Kind for Add {
    fn script(&self) -> String {
        call("add", &[&array(&self.branches, "")], &[])
    }

    fn parts(&self) -> Vec<&Part> {
        self.branches.iter().collect()
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let mut branches = Vec::with_capacity(self.branches.len());
        let mut sum: Option<Shape> = None;
        for (name, layer) in &self.branches {
            let (node, after) = site.part(name, layer, shape)?;
            branches.push((name.clone(), node));
            let before = *sum.get_or_insert(after);
            if !before.agrees(after) {
                return Err(Error::model(format!(
                    "layer {}: one branch gives {}, another {}",
                    site.at,
                    before.describe(),
                    after.describe()
                )));
            }
        }
        Ok((node(SummedBranches { branches }), sum.unwrap_or(shape)))
    }
}

struct SummedBranches {
    branches: Vec<(String, Node)>,
}

impl Step for SummedBranches {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let mut sum: Option<Tensor> = None;
        for (_, branch) in &self.branches {
            let next = branch.forward(x, mode)?;
            sum = Some(match sum {
                Some(sum) => sum.f_add(&next)?,
                None => next,
            });
        }
        sum.ok_or_else(|| Error::internal("a sum of no branches"))
    }

    fn visit(&self, at: &str, see: &mut See) {
        visit_parts(&self.branches, at, see);
    }

    fn frozen(&self, last: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { branches: freeze_each(&self.branches, last)? })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Sum(self.branches.chunks(1).collect())
    }
}
