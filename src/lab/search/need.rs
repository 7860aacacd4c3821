//! What points must be for a search to go over them.

use super::slopes::has_slopes;
use crate::space::Space;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Elements,
    Settings,
    Changes,
    Gradients,
    Fields,
}

impl Need {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Elements => "points that can be gone through one by one",
            Self::Settings => "settings of factors",
            Self::Changes => "pixels that change one by one",
            Self::Gradients => "points that gradients flow to",
            Self::Fields => "fields that deform images",
        }
    }

    /// Whether the points of a space are that.
    pub fn met_by(self, space: &dyn Space) -> bool {
        match self {
            Self::Elements => space.finite().is_some(),
            Self::Settings => space.factored().is_some() || space.finite().is_some(),
            Self::Changes => space.differentiable().is_some() && space.additive(),
            Self::Gradients => space.differentiable().is_some() || has_slopes(space),
            Self::Fields => space.deform().is_some(),
        }
    }
}
