//! A layer at work: what it does with its tensors.

use std::rc::Rc;

use super::convolution::Convolution;
use super::folded_norm::FoldedNorm;
use super::join;
use crate::core::{Error, Result, Tensor};
use crate::model::shift::Sliding;

/// Whether dropout drops and batch norm uses the batch's own statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Train,
    Evaluate,
}

/// A layer with its tensors. A clone is another handle on the same one.
pub type Node = Rc<dyn Step>;

/// Hears of a tensor: its name, and whether training changes it by gradients.
pub type See<'a> = dyn FnMut(String, &Tensor, bool) + 'a;

/// What a layer does. All but `forward` has an answer that is right, if not fast, for any layer without tensors.
pub trait Step {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor>;

    /// Its tensors, in the order of its names.
    fn visit(&self, _at: &str, _see: &mut See) {}

    /// The same without gradients to its tensors, with kernels channels-last if `last`; `None` where it has none.
    fn frozen(&self, _last: bool) -> Result<Option<Node>> {
        Ok(None)
    }

    /// What the crops of one canvas can share of it.
    fn sharing(&self) -> Sharing<'_> {
        Sharing::Nothing
    }

    /// What a sliding window makes of images that are padded already.
    fn unpadded(&self, _x: &Tensor) -> Result<Tensor> {
        Err(Error::internal("a layer without a window"))
    }

    /// Whether what it gives is a tensor that nothing else holds.
    fn gives_fresh(&self) -> bool {
        false
    }

    /// Whether what it gives lies where its input lay.
    fn overwrites(&self) -> bool {
        false
    }

    /// The same on a tensor that nothing else reads.
    fn in_place(&self) -> Option<Node> {
        None
    }

    /// Whether it comes to the same, gradients included, before a rectifier and after it, where it has fewer numbers to see.
    fn before_rectifier(&self) -> bool {
        false
    }

    /// Whether it is max(0, x).
    fn rectifies(&self) -> bool {
        false
    }

    /// The same on a GPU in fewer kernels that have no gradients, where there are such.
    fn without_gradients(&self) -> Option<Node> {
        None
    }

    /// What it does where that is one convolution.
    fn convolution(&self) -> Option<Convolution<'_>> {
        None
    }

    /// Whether it is an activation function, which gradients may stop at.
    fn activates(&self) -> bool {
        false
    }

    /// Whether it has numbers that were learned or given.
    fn weighs(&self) -> bool {
        let mut any = false;
        self.visit("", &mut |_, _, _| any = true);
        any
    }

    /// What it does in evaluation to every channel, if that is one scale and one shift.
    fn affine(&self) -> Result<Option<FoldedNorm>> {
        Ok(None)
    }

    /// The one layer that does what this one and then `after` do.
    fn fold(&self, _after: &FoldedNorm) -> Result<Option<Node>> {
        Ok(None)
    }
}

/// Nodes that follow one another.
pub type Branch<'a> = &'a [(String, Node)];

/// What the crops of one canvas can share of a layer.
pub enum Sharing<'a> {
    /// It sees the whole picture.
    Nothing,
    /// It does the same at every position, from that position alone.
    Point(Option<Work>),
    /// It slides a window.
    Window(Sliding, Option<Work>),
    Sequence(Branch<'a>),
    /// What the branches give, added in order.
    Sum(Vec<Branch<'a>>),
    /// The channels that the branches give, side by side.
    Concat(Vec<Branch<'a>>),
}

/// What changes the channels.
#[derive(Clone, Copy)]
pub struct Work {
    /// How many come out.
    pub channels: i64,
    /// Multiplications with addition per position.
    pub each: f64,
}

pub fn node(step: impl Step + 'static) -> Node {
    Rc::new(step)
}

/// The nodes one after the other.
pub fn run(parts: Branch, x: &Tensor, mode: Mode) -> Result<Tensor> {
    let mut x = x.shallow_clone();
    for (_, node) in parts {
        x = node.forward(&x, mode)?;
    }
    Ok(x)
}

pub fn visit_parts(parts: Branch, at: &str, see: &mut See) {
    parts.iter().for_each(|(name, node)| node.visit(&join(at, name), see));
}

/// A tensor without its gradients.
pub fn detached(tensor: &Tensor) -> Result<Tensor> {
    Ok(tensor.f_detach()?)
}

pub fn detached_bias(bias: &Option<Tensor>) -> Result<Option<Tensor>> {
    bias.as_ref().map(detached).transpose()
}
