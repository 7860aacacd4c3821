//! Self-attention: every token becomes a mean over all, weighted by how well they answer it (Vaswani et al. 2017, Section 3.2).

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, See, Step, detached, node};
use super::text::{call, count};
use super::tried_kernel::TriedKernel;
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

impl AttentionWeights {
    /// What becomes of tokens, by a way to mix what they ask, are asked and tell, which lies side by side: `N x tokens x 3 numbers` give
    /// `N x heads x tokens x numbers`.
    fn mixed(&self, x: &Tensor, mix: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        if x.dim() != 3 {
            return Err(Error::model(format!("attention wants tokens, got {:?}", x.size())));
        }
        let all = x.f_linear(&self.in_weight, Some(&self.in_bias))?;
        let mixed = mix(&all)?.f_transpose(1, 2)?.f_flatten(2, 3)?;
        Ok(mixed.f_linear(&self.out_weight, Some(&self.out_bias))?)
    }

    /// Queries, keys and values of all heads.
    fn parts(&self, all: &Tensor) -> Result<[Tensor; 3]> {
        let all = all.f_unflatten(2, [3, self.heads, -1].as_slice())?.f_permute([2, 0, 3, 1, 4])?;
        Ok([all.f_select(0, 0)?, all.f_select(0, 1)?, all.f_select(0, 2)?])
    }

    /// softmax(q k' / sqrt(d)) v
    fn step_by_step(&self, all: &Tensor) -> Result<Tensor> {
        let [q, k, v] = self.parts(all)?;
        let each = q.size()[3] as f64;
        let answers = q.f_mul_scalar(each.sqrt().recip())?.f_matmul(&k.f_transpose(-2, -1)?)?;
        Ok(answers.f_softmax(-1, all.kind())?.f_matmul(&v)?)
    }

    /// The same in one kernel, which holds the answers of a few tokens at a time.
    fn at_once(&self, all: &Tensor) -> Result<Tensor> {
        let [q, k, v] = self.parts(all)?;
        Ok(Tensor::f_scaled_dot_product_attention(&q, &k, &v, None::<&Tensor>, 0.0, false, None, false)?)
    }

    /// With other tensors.
    fn with(&self, of: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        Ok(Self {
            in_weight: of(&self.in_weight)?,
            in_bias: of(&self.in_bias)?,
            out_weight: of(&self.out_weight)?,
            out_bias: of(&self.out_bias)?,
            ..*self
        })
    }
}

impl Step for AttentionWeights {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        self.mixed(x, &|all| self.step_by_step(all))
    }

    fn visit(&self, at: &str, see: &mut See) {
        let tensors = [&self.in_weight, &self.in_bias, &self.out_weight, &self.out_bias];
        for (name, tensor) in self.names.tensors().into_iter().zip(tensors) {
            see(join(at, name), tensor, true);
        }
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(self.with(detached)?)))
    }

    fn without_gradients(&self) -> Option<Node> {
        let of = self.with(|tensor| Ok(tensor.shallow_clone())).ok()?;
        let kernel = TriedKernel::of(&format!("attention of {} heads", self.heads), &[&self.in_weight]);
        Some(node(AttentionAtOnce { of, kernel }))
    }

    fn gives_fresh(&self) -> bool {
        true
    }
}

/// Attention in one kernel.
struct AttentionAtOnce {
    of: AttentionWeights,
    kernel: TriedKernel,
}

impl Step for AttentionAtOnce {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let kernel = |all: &[&Tensor]| self.of.at_once(all[0]);
        let layers = |all: &[&Tensor]| self.of.step_by_step(all[0]);
        self.of.mixed(x, &|all| self.kernel.run(&[all], &[], &kernel, &layers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_kernel_mixes_tokens_as_steps_do() -> Result<()> {
        let draw = |sizes: &[i64]| Tensor::f_randn(sizes, (tch::Kind::Float, tch::Device::Cpu));
        let of = AttentionWeights {
            in_weight: draw(&[48, 16])?,
            in_bias: draw(&[48])?,
            out_weight: draw(&[16, 16])?,
            out_bias: draw(&[16])?,
            heads: 4,
            names: Names::Torch,
        };
        let all = draw(&[3, 21, 48])?;
        let _ = all.f_get(1)?.f_get(20)?.f_narrow(0, 20, 1)?.f_fill_(f64::NAN)?;
        let steps = of.step_by_step(&all)?;
        assert_eq!((steps.size(), steps.f_get(1)?.isnan().any().int64_value(&[])), (vec![3, 4, 21, 4], 1));
        let at_once = of.at_once(&all)?;
        assert!(
            at_once.allclose(&steps, 1e-5, 1e-5, true),
            "{}",
            (at_once - steps).abs().nan_to_num(0.0, 0.0, 0.0).max()
        );
        Ok(())
    }
}
