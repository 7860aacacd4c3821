//! Self-attention: every token becomes a mean over all, weighted by how well they answer it (Vaswani et al. 2017, Section 3.2).

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, See, Step, detached, node};
use super::text::{call, count};
use super::{Kind, Layer, Shape, Site, join};
use crate::core::{Error, Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct Attention {
    #[serde(deserialize_with = "count")]
    heads: i64,
    names: Names,
}

/// What the tensors are called: weight and bias of the layer before, which makes queries, keys and values, and of the one after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// As `torch.nn.MultiheadAttention`.
    Torch,
    /// As timm's `Attention`.
    Timm,
}

impl Names {
    pub const WORDS: [(&'static str, Self); 2] = [("torch", Self::Torch), ("timm", Self::Timm)];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, names)| *names == self).map_or("", |(word, _)| word)
    }

    fn tensors(self) -> [&'static str; 4] {
        match self {
            Self::Torch => ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"],
            Self::Timm => ["qkv.weight", "qkv.bias", "proj.weight", "proj.bias"],
        }
    }
}

impl Layer {
    /// With so many heads.
    pub fn attention(heads: i64, names: Names) -> Self {
        Attention { heads, names }.into()
    }
}

impl Kind for Attention {
    fn script(&self) -> String {
        let word = format!("{:?}", self.names.word());
        call("attention", &[&self.heads], &[("names", &word, self.names != Names::Torch)])
    }

    fn tensors(&self) -> Vec<&'static str> {
        self.names.tensors().into()
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let Self { heads, names } = *self;
        let [_, width] = shape.tokens("attention", &site.at)?;
        let [in_weight, in_bias, out_weight, out_bias] = names.tensors();
        let three = width.map(|n| 3 * n);
        // As PyTorch begins: Glorot and Bengio 2010 before, as any linear layer after, biases 0.
        let bound = width.map_or(0.0, |n| (6.0 / (4 * n) as f64).sqrt());
        let weighted = AttentionWeights {
            in_weight: site.tensor(in_weight, &[three, width], width, Init::Uniform(bound))?,
            in_bias: site.tensor(in_bias, &[three], None, Init::Constant(0.0))?,
            out_weight: site.tensor(out_weight, &[width, width], width, Init::FanIn)?,
            out_bias: site.tensor(out_bias, &[width], None, Init::Constant(0.0))?,
            heads,
            names,
        };
        let wide = weighted.out_weight.size()[0];
        if wide % heads != 0 {
            return Err(Error::model(format!("layer {}: {heads} heads do not divide tokens of {wide}", site.at)));
        }
        Ok((node(weighted), shape.with_features(Some(wide))))
    }
}

struct AttentionWeights {
    in_weight: Tensor,
    in_bias: Tensor,
    out_weight: Tensor,
    out_bias: Tensor,
    heads: i64,
    names: Names,
}

impl Step for AttentionWeights {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let [n, count, wide] = x.size()[..] else {
            return Err(Error::model(format!("attention wants tokens, got {:?}", x.size())));
        };
        let each = wide / self.heads;
        let all = x.f_linear(&self.in_weight, Some(&self.in_bias))?;
        let all = all.f_reshape([n, count, 3, self.heads, each])?.f_permute([2, 0, 3, 1, 4])?;
        let (q, k, v) = (all.f_select(0, 0)?, all.f_select(0, 1)?, all.f_select(0, 2)?);
        // softmax(q k' / sqrt(d)) v
        let answers = q.f_mul_scalar((each as f64).sqrt().recip())?.f_matmul(&k.f_transpose(-2, -1)?)?;
        let mixed = answers.f_softmax(-1, x.kind())?.f_matmul(&v)?;
        let mixed = mixed.f_transpose(1, 2)?.f_reshape([n, count, wide])?;
        Ok(mixed.f_linear(&self.out_weight, Some(&self.out_bias))?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        let tensors = [&self.in_weight, &self.in_bias, &self.out_weight, &self.out_bias];
        for (name, tensor) in self.names.tensors().into_iter().zip(tensors) {
            see(join(at, name), tensor, true);
        }
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self {
            in_weight: detached(&self.in_weight)?,
            in_bias: detached(&self.in_bias)?,
            out_weight: detached(&self.out_weight)?,
            out_bias: detached(&self.out_bias)?,
            ..*self
        })))
    }

    fn gives_fresh(&self) -> bool {
        true
    }
}
