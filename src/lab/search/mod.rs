//! How a failing change is looked for, and the loop that pairs a search with a space and an objective.

mod adam;
mod adef;
mod along;
mod answers;
mod apgd;
mod average;
mod ball;
mod bayes;
mod bim;
mod blind;
mod blind_or_stay;
mod blocks;
mod carlini_wagner;
mod case_log;
mod cautions;
mod column;
mod combinations;
mod counterfactual;
mod course;
mod cube;
mod ddn;
mod deepfool;
mod evolution;
mod examination;
mod examine;
mod examined;
mod exhaustive;
mod flat_softmax;
mod fmn;
mod generated;
mod gradient;
mod grid;
mod ground;
mod guard;
mod guarded;
mod hopskipjump;
mod latent_search;
mod lessons;
pub mod measure;
mod measured;
mod minimum_norm;
mod nearer;
mod nearest;
mod need;
mod on_their_way;
mod oracle;
mod over_elements;
mod over_pixels;
mod own_ball;
mod pairing;
mod parts;
mod perturbed;
mod policy;
mod polish;
mod preparation;
mod proposals;
mod propose;
mod questions;
mod radial;
mod random;
mod read_ahead;
mod recorded_slope;
mod replay;
mod rounds;
mod row;
mod rows;
mod scale;
mod sharing;
mod slopes;
mod slots;
mod snr;
mod so_far;
mod sobol;
mod sparse;
mod square;
mod straddle;
mod strongest;
mod sweep;
mod transcript;
mod unseen;
mod unsteady;
mod variation;
mod worst;

use std::rc::Rc;

use crate::core::{Digest, Object};
use crate::data::Dataset;
use crate::model::Model;

pub use adam::{Adam, Bound};
pub use adef::{Adef, Candidates};
pub use apgd::{Apgd, checkpoints};
pub use average::{Average, AverageDoubt};
pub use ball::{PixelBall, PixelChange, PixelSource};
pub use bayes::{Bayes, Explore, Lengthscales};
pub use bim::{Bim, BimStart, Gradient, Schedule};
pub use blind::Blind;
pub use blind_or_stay::BlindOrStay;
pub use carlini_wagner::CarliniWagner;
pub use column::COLUMNS;
pub use counterfactual::{Counterfactual, LeastChange, Shrunk};
pub use course::{Course, Sight};
pub use ddn::Ddn;
pub use deepfool::DeepFool;
pub use evolution::Evolution;
pub use examination::{Densities, Examination};
pub use examine::examine;
pub(crate) use examine::in_whole;
pub use exhaustive::{Case, Contrast, Exhaustive, ExhaustiveOutcome, ExhaustiveStep};
pub use fmn::Fmn;
pub use generated::{GeneratedTests, LabelDraws, WantedTests, generated_tests};
pub use gradient::{AimedImage, Ask, Cases, GradientSearch, Look, Mark, Pace, Place, Told, ToldGradient, Walk, Wanted};
pub use grid::{Ball, Grid, GridView};
pub use ground::Room;
pub use guard::LowerPrecision;
pub use guarded::Guarded;
pub use hopskipjump::{HopSkipJump, Starts};
pub use latent_search::{Auxiliary, LatentSearch, latent_search};
pub use lessons::Lessons;
pub use measured::Measured;
pub use nearest::Nearest;
pub use need::Need;
pub use on_their_way::OnTheirWay;
pub use oracle::{KeptLabels, Oracle, Witnesses, each_once};
pub use over_elements::{Asked, Until, compared_and_range, examine_together};
pub use pairing::{Approach, SEARCHES, SPACES, gradient_search};
pub use parts::MemberTally;
pub use perturbed::{Perturbation, PerturbedTests, WantedAnswer, perturbed_tests};
pub use policy::Policy;
pub use proposals::{Examinee, Origin, Proposals, Proposing};
pub use questions::{AskedQuestions, Questions};
pub use radial::{Radial, StarPoints};
pub use random::Random;
pub use row::{Row, why_stuck};
pub use rows::Rows;
pub use snr::snr;
pub use so_far::BetSoFar;
pub use square::Square;
pub use straddle::Straddle;
pub use strongest::Strongest;
pub use sweep::Sweep;
pub use transcript::{DREW, Density, Transcript};
pub use variation::Variation;
pub use worst::{Member, Worst};

/// A way to look.
pub trait Search {
    /// How a script writes it: `strongest()`.
    fn describe(&self) -> String;

    /// How digests and random streams know it: as `describe` said it first, so that a better name changes no result.
    fn identity(&self) -> String {
        self.describe()
    }

    /// How it goes about it, the first that fits counts.
    fn approaches(&self) -> Vec<Approach<'_>>;

    /// The searches that it is made of, if it is an ensemble: they are asked in its place.
    fn members(&self) -> Option<&[Member]> {
        None
    }

    /// How it makes changes smaller, if that is what it does: its questions are read by this.
    fn counterfactual(&self) -> Option<&Counterfactual> {
        None
    }

    /// Whether it looks for the least change that fails, and leaves images as they stand where none does.
    fn finds_least(&self) -> bool {
        false
    }

    /// Whether it keeps one of the answers that it asks for, by what they are.
    fn chooses(&self) -> bool {
        true
    }

    /// Why what it finds may not mean what it seems to, as it is set.
    fn caution(&self, _factors: usize) -> Option<String> {
        None
    }

    /// What it is known to miss, which is said where it left images that did not fail.
    fn misses(&self, _factors: usize) -> Option<&'static str> {
        None
    }

    /// The same of these images and this model.
    fn caution_about(&self, _data: &Dataset, _model: &Model) -> Option<String> {
        None
    }

    /// The same search in another measure; `None` where it has none of that kind.
    fn varied(&self, _how: Variation) -> Option<Rc<dyn Search>> {
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
        Digest::of(format!("search {}", self.0.identity()).as_bytes())
    }
}
