//! `body(x) + shortcut(x)`, or `+ x` without a shortcut (He et al. 2016).

use serde::{Deserialize, Serialize};

use super::fold::freeze;
use super::step::{Mode, Node, See, Sharing, Step, node, run, visit_parts};
use super::text::{array, call, identities};
use super::{Kind, Layer, Part, Shape, Site};
use crate::core::{Error, Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Residual {
    body: Vec<Part>,
    shortcut: Vec<Part>,
}

impl Layer {
    pub fn residual(body: Vec<Part>, shortcut: Vec<Part>) -> Self {
        Residual { body, shortcut }.into()
    }
}

impl Kind for Residual {
    fn script(&self) -> String {
        let options: [(&str, &dyn std::fmt::Display, bool); 1] =
            [("shortcut", &array(&self.shortcut, "shortcut."), !self.shortcut.is_empty())];
        call("residual", &[&array(&self.body, "")], &options)
    }

    fn identity(&self) -> String {
        match self.shortcut.is_empty() {
            true => format!("residual[{}]", identities(&self.body)),
            false => format!("residual[{} | {}]", identities(&self.body), identities(&self.shortcut)),
        }
    }

    fn parts(&self) -> Vec<&Part> {
        self.body.iter().chain(&self.shortcut).collect()
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let (body, after) = site.parts(&self.body, shape)?;
        let (shortcut, beside) = site.parts(&self.shortcut, shape)?;
        if !after.agrees(beside) {
            return Err(Error::model(format!(
                "layer {}: the body gives {}, its shortcut {}",
                site.at,
                after.describe(),
                beside.describe()
            )));
        }
        Ok((node(Both { body, shortcut }), after))
    }
}

struct Both {
    body: Vec<(String, Node)>,
    shortcut: Vec<(String, Node)>,
}

impl Step for Both {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let body = run(&self.body, x, mode)?;
        match self.shortcut.is_empty() {
            true => Ok(body.f_add(x)?),
            false => Ok(body.f_add(&run(&self.shortcut, x, mode)?)?),
        }
    }

    fn visit(&self, at: &str, see: &mut See) {
        visit_parts(&self.body, at, see);
        visit_parts(&self.shortcut, at, see);
    }

    fn frozen(&self, last: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { body: freeze(&self.body, last)?, shortcut: freeze(&self.shortcut, last)? })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Sum(vec![&self.body, &self.shortcut])
    }

    fn gives_fresh(&self) -> bool {
        true
    }
}
