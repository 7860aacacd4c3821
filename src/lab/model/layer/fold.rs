//! Layers in the form that evaluates fastest: batch norm folded into what comes before it, rectifiers in place.

use super::Node;
use crate::core::Result;

/// A node in the form that evaluates fastest.
pub fn of_node(node: &Node, last: bool) -> Result<Node> {
    Ok(node.frozen(last)?.unwrap_or_else(|| node.clone()))
}

/// Nodes that get the same input.
pub fn freeze_each(parts: &[(String, Node)], last: bool) -> Result<Vec<(String, Node)>> {
    parts.iter().map(|(name, node)| Ok((name.clone(), of_node(node, last)?))).collect()
}

/// Nodes that follow one another.
pub fn freeze(parts: &[(String, Node)], last: bool) -> Result<Vec<(String, Node)>> {
    let mut frozen: Vec<(String, Node)> = Vec::with_capacity(parts.len());
    for (name, node) in parts {
        let frozen_node = of_node(node, last)?;
        let Some((_, before)) = frozen.last_mut() else {
            frozen.push((name.clone(), frozen_node));
            continue;
        };
        let folded = node.affine()?.map(|norm| before.fold(&norm)).transpose()?.flatten();
        if let Some(folded) = folded {
            *before = of_node(&folded, last)?;
        } else if before.overwrites() && node.before_rectifier() {
            let rectifier = std::mem::replace(before, frozen_node);
            frozen.push((name.clone(), rectifier));
        } else if let Some(in_place) = node.in_place().filter(|_| before.gives_fresh()) {
            frozen.push((name.clone(), in_place));
        } else {
            frozen.push((name.clone(), frozen_node));
        }
    }
    Ok(frozen)
}
