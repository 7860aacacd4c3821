//! People as the oracle: what they said of images, how far they agree, and what follows for the tests that they judged.
//!
//! Judgements of one worker are not independent of each other, nor are those of one image. Every interval here allows for both.

mod agreement;
mod dawid_skene;
mod discrimination;
mod judgements;
mod prediction_powered;
mod shares;
mod two_way;

pub use agreement::Agreement;
pub use dawid_skene::{Consensus, DAWID_SKENE_STEPS, ItemConsensus, WorkerErrors};
pub use discrimination::{d_prime, share_of_d_prime};
pub use judgements::{FIELDS, GivenAnswer, ItemFacts, Judgement, Judgements};
pub use prediction_powered::{PredictionPowered, prediction_powered};
pub use shares::{GroupShare, Wanted};
pub use two_way::Bounded;
