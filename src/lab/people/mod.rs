//! People as the oracle: what they said of images, how far they agree, and what follows for the tests that they judged.
//!
//! Judgements of one worker are not independent of each other, nor are those of one image. Every interval here allows for both.

mod agreement;
mod answers;
mod dawid_skene;
mod difference;
mod discrimination;
mod import;
mod item_pictures;
mod judgements;
mod kind;
mod networks;
mod oracle;
mod prediction_powered;
mod rules;
mod shares;
mod shown;
mod task;
mod task_result;
mod two_way;
mod votes;

pub use agreement::Agreement;
pub use answers::{ANSWERS_FIELDS, TaskAnswers, WorkerConduct, hashed};
pub use dawid_skene::{Consensus, DAWID_SKENE_STEPS, ItemConsensus, WorkerErrors};
pub use difference::{Counted, SharesApart};
pub use discrimination::{d_prime, share_of_d_prime};
pub use import::{ReadAnswer, ReadAnswers, read_answers};
pub use judgements::{FIELDS, GivenAnswer, ItemFacts, Judgement, Judgements};
pub use kind::{ACCEPTED_SEED, FORBIDDEN, MISSED, QuestionKind, REFUSED_SEED, SPOTTED};
pub use networks::{JudgedImages, NetworksBesidePeople, beside, check_unseen, networks_keep};
pub use oracle::PeopleOracle;
pub use prediction_powered::{PredictionPowered, prediction_powered};
pub use rules::{Conduct, RULES, Rules};
pub use shares::{GroupShare, Wanted};
pub use shown::{ShownImages, pictures};
pub use task::{ANSWERS_LOG, PICTURES, PeopleTask, Question, Role, TASK_FILE, TaskItem, TaskPlan, TaskText};
pub use task_result::TASK_FIELDS;
pub use two_way::Bounded;
pub use votes::ItemVotes;
