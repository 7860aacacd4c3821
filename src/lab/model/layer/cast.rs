//! Numbers of another kind from here on. No script writes it down: it stands where a network's arithmetic changes.

use super::step::{Mode, Node, Sharing, Step, node};
use crate::core::{Result, Tensor};

struct Cast(tch::Kind);

/// What gives its input as numbers of that kind.
pub fn cast(kind: tch::Kind) -> Node {
    node(Cast(kind))
}

impl Step for Cast {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        Ok(x.f_to_kind(self.0)?)
    }

    fn sharing(&self) -> Sharing<'_> {
        Sharing::Point(None)
    }
}
