//! A network in bfloat16: as far as float32 reaches, with 8 bits of a number in place of 24, and half the bytes.

use std::rc::Rc;

use tch::{Device, Kind};

use super::layer::Node;
use super::layer::cast::cast;
use super::layer::sequence::in_sequence;
use super::module::{Module, steps};
use super::{Mode, Model, Network};
use crate::core::{Error, Result, Tensor};

/// The layers of a model as a copy scores by them.
struct Bfloat16(Module);

impl Network for Bfloat16 {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        self.0.forward(images, Mode::Evaluate)
    }

    fn frozen(&self) -> Option<&Module> {
        Some(&self.0)
    }

    fn on(&self, _device: Device) -> Result<Option<Rc<dyn Network>>> {
        Err(Error::internal("a copy in bfloat16 was moved to another device"))
    }
}

impl Model {
    /// The same model with a copy of its weights, and what flows between layers, in bfloat16; what it answers is float32. Models that are not
    /// made of layers in float32 are refused.
    pub fn in_bfloat16(&self) -> Result<Self> {
        let refused = |why: String| Error::model(format!("{} can't be scored in bfloat16: {why}", self.name));
        let module = self.module().ok_or_else(|| {
            refused("it is not made of layers, so there are no weights to cast".into())
                .hint("load it with `arch`, as layers, or leave `precision` out")
        })?;
        let mut other = None;
        module.visit(&mut |_, tensor, _| {
            if tensor.is_floating_point() && tensor.kind() != Kind::Float {
                other = Some(tensor.kind());
            }
        });
        if let Some(kind) = other {
            return Err(refused(format!("its weights are {kind:?}, and what stands in a report is float32"))
                .hint("leave `precision` out"));
        }
        let module = module.in_bfloat16().map_err(|error| refused(error.message))?;
        Ok(Self { network: Rc::new(Bfloat16(module)), ..self.clone() })
    }
}

impl Module {
    /// The frozen network with weights and activations in bfloat16, on tensors of its own. Batch norm that is folded into no other layer
    /// keeps its float32 numbers, and all is float32 after the last layer with weights but a linear one, which is the last: that costs
    /// nothing, and scores are not rounded.
    fn in_bfloat16(&self) -> Result<Self> {
        let frozen = self.copy()?.frozen_in(true)?;
        let parts: Vec<Node> = steps(&frozen.root).into_iter().cloned().collect();
        let weighs: Vec<usize> = (0..parts.len()).filter(|&at| parts[at].weighs()).collect();
        let end = match weighs[..] {
            [.., before, last] if is_linear(&parts[last]) => before + 1,
            [last] if is_linear(&parts[last]) => 0,
            [.., last] => last + 1,
            [] => 0,
        };
        parts[..end].iter().try_for_each(cast_weights)?;
        let (low, rest) = parts.split_at(end);
        let whole = std::iter::once(cast(Kind::BFloat16)).chain(low.iter().cloned());
        let whole = whole.chain([cast(Kind::Float)]).chain(rest.iter().cloned());
        Ok(Self { root: in_sequence(whole), ..frozen }.with_fused_kernels())
    }
}

fn is_linear(node: &Node) -> bool {
    let mut sizes = Vec::new();
    node.visit("", &mut |_, tensor, _| sizes.push(tensor.dim()));
    matches!(sizes[..], [2] | [2, 1])
}

/// Makes bfloat16 of all weights but those of batch norm.
fn cast_weights(node: &Node) -> Result<()> {
    let mut named = Vec::new();
    node.visit("", &mut |name, tensor, _| named.push((name, tensor.shallow_clone())));
    let norms: Vec<String> =
        named.iter().filter_map(|(name, _)| Some(name.strip_suffix("running_var")?.to_string())).collect();
    let of_norm = |name: &str| name.rfind('.').map_or("", |dot| &name[..=dot]).to_string();
    for (name, mut tensor) in named {
        if !norms.contains(&of_norm(&name)) {
            let low = tensor.f_to_kind(Kind::BFloat16)?;
            tensor.f_set_data(&low)?;
        }
    }
    Ok(())
}
