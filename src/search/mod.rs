//! How a failing change is looked for, and the loop that pairs a search with a space and an objective.

mod combinations;
mod examine;
mod exhaustive;
mod grid;
mod nearest;
mod propose;
mod random;
mod random2;
mod rounds;
mod sample;
mod sharing;
mod strongest;
mod transcript;

use std::rc::Rc;

use crate::core::{Digest, Object};

pub use examine::{Densities, Examination, examine};
pub use exhaustive::{Case, Exhaustive, Outcome, Step};
pub use grid::{Ball, Grid};
pub use nearest::Nearest;
pub use propose::{Proposals, Proposing};
pub use random::Random;
pub use random2::Random2;
pub use sample::Sample;
pub use strongest::Strongest;
pub use transcript::{Density, Row, Transcript};

/// A way to look.
pub trait Search {
    /// How a script writes it: `strongest()`.
    fn describe(&self) -> String;

    /// The search over a finite space, if it is one.
    fn exhaustive(&self) -> Option<&dyn Exhaustive> {
        None
    }

    /// The search over settings of factors, if it needs no more than losses.
    fn proposing(&self) -> Option<&dyn Proposing> {
        None
    }
}

/// A search as a value of scripts.
#[derive(Clone)]
pub struct AnySearch(pub Rc<dyn Search>);

impl Object for AnySearch {
    fn kind(&self) -> &'static str {
        "Search"
    }

    fn summary(&self) -> String {
        format!("search {}", self.0.describe())
    }

    fn digest(&self) -> Digest {
        Digest::of(self.summary().as_bytes())
    }
}
