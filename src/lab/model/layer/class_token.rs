//! Puts a learned token before the others, the same one for every image, which gathers what scores are made of.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, See, Step, detached, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct ClassToken {}

impl Layer {
    pub fn class_token() -> Self {
        ClassToken {}.into()
    }
}

impl Kind for ClassToken {
    fn script(&self) -> String {
        call("class_token", &[], &[])
    }

    fn tensors(&self) -> Vec<&'static str> {
        vec![""]
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let [count, width] = shape.tokens("class_token", &site.at)?;
        let token = site.tensor("", &[Some(1), Some(1), width], None, Init::Constant(0.0))?;
        Ok((node(LearnedToken { token }), Shape::Tokens { count: count.map(|n| n + 1), width }))
    }
}

struct LearnedToken {
    token: Tensor,
}

impl Step for LearnedToken {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let token = self.token.f_expand([x.size()[0], -1, -1], false)?;
        Ok(Tensor::f_cat(&[&token, x], 1)?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        see(at.into(), &self.token, true);
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { token: detached(&self.token)? })))
    }
}
