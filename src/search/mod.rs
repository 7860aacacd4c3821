//! How a failing change is looked for, and the loop that pairs a search with a space and an objective.

mod adam;
mod adef;
mod bayes;
mod bim;
mod cautions;
mod combinations;
mod descent;
mod examine;
mod exhaustive;
mod generated;
mod gradient;
mod grid;
mod latent_search;
mod nearest;
mod perturbed;
mod policy;
mod propose;
mod questions;
mod random;
mod random2;
mod replay;
mod rounds;
mod sample;
mod scale;
mod sharing;
mod snr;
mod strongest;
mod sweep;
mod transcript;

use std::rc::Rc;

use crate::core::{Digest, Object};

pub use adam::{Adam, Bound, Shortfall};
pub use adef::{Adef, Candidates};
pub use bayes::{Bayes, Explore, Lengthscales};
pub use bim::{Bim, Gradient, Schedule};
pub use examine::{Densities, Examination, examine};
pub use exhaustive::{Case, Exhaustive, Outcome, Step};
pub use generated::{Drawn, GeneratedTests, Wanted, generated_tests};
pub use gradient::{CaseBatch, GradientSearch, Keeper, Kept, Place, Sight};
pub use grid::{Ball, Grid};
pub use latent_search::{Auxiliary, LatentSearch, latent_search};
pub use nearest::Nearest;
pub use perturbed::{Perturbation, PerturbedTests, Target, perturbed_tests};
pub use policy::Policy;
pub use propose::{Proposals, Proposing};
pub use questions::{Asked, Questions};
pub use random::Random;
pub use random2::Random2;
pub use sample::Sample;
pub use snr::snr;
pub use strongest::Strongest;
pub use sweep::Sweep;
pub use transcript::{COLUMNS, Density, Row, Transcript};

/// The pairs of space and search that work together.
const PAIRS: &str = "pairs that work: space::flip, turn, polarity, their products with each other and with \
                     space::translate, and space::translate with search::strongest, nearest, random or random2; space::render, \
                     noise, rotate, affine, translate with a fill, latent with `directions`, products of these, and \
                     space::factors with search::bayes, search::policy, search::sample and search::sweep, and with \
                     search::strongest where every factor has choices or a `grid` is given; space::pixels and latent with search::bim \
                     and adam; space::deform with search::adef";

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

    /// The search that takes each image down its own gradient until it fails, if it is that one.
    fn descent(&self) -> Option<&Adam> {
        None
    }

    /// The search along gradients, if it is one.
    fn by_gradient(&self) -> Option<&dyn GradientSearch> {
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
