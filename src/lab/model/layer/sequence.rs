//! Layers one after the other.

use serde::{Deserialize, Serialize};

use super::fold::freeze;
use super::step::{Mode, Node, See, Sharing, Step, node, run, visit_parts};
use super::text::{array, identities};
use super::{Kind, Layer, Part, Shape, Site, own};
use crate::core::{Result, Tensor};

#[derive(Serialize, Deserialize)]
pub struct Sequence {
    parts: Vec<Part>,
}

impl Layer {
    pub fn of_parts(parts: Vec<Part>) -> Self {
        Sequence { parts }.into()
    }

    /// Parts named by their position, as in PyTorch's `Sequential`.
    pub fn sequence(layers: impl IntoIterator<Item = Layer>) -> Self {
        Self::of_parts(layers.into_iter().enumerate().map(|(i, layer)| (i.to_string(), layer)).collect())
    }

    pub fn named<'a>(parts: impl IntoIterator<Item = (&'a str, Layer)>) -> Self {
        Self::of_parts(own(parts))
    }
}

impl Kind for Sequence {
    fn script(&self) -> String {
        array(&self.parts, "")
    }

    fn identity(&self) -> String {
        format!("[{}]", identities(&self.parts))
    }

    fn parts(&self) -> Vec<&Part> {
        self.parts.iter().collect()
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let (parts, after) = site.parts(&self.parts, shape)?;
        Ok((node(SequenceParts { parts }), after))
    }

    fn sequence(&self) -> Option<&[Part]> {
        Some(&self.parts)
    }
}

/// Nodes one after the other, of no layer that is written down.
pub fn in_sequence(nodes: impl IntoIterator<Item = Node>) -> Node {
    node(SequenceParts { parts: nodes.into_iter().enumerate().map(|(i, node)| (i.to_string(), node)).collect() })
}

struct SequenceParts {
    parts: Vec<(String, Node)>,
}

impl Step for SequenceParts {
    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        run(&self.parts, x, mode)
    }

    fn visit(&self, at: &str, see: &mut See) {
        visit_parts(&self.parts, at, see);
    }

    fn frozen(&self, last: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { parts: freeze(&self.parts, last)? })))
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Sequence(&self.parts)
    }
}
