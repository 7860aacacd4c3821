//! What counts as failing: an objective turns scores and labels into a loss and a verdict.

mod aim;
mod classes;
mod each_wrong;
mod failure;
mod goals;
mod labels;
mod least_likely;
mod loss;
mod misclassify;
mod shift;
mod target;
mod top;
mod verdict;
mod way;

use std::rc::Rc;

use crate::core::{Digest, Error, Object, Result, cut};

pub use aim::Aim;
pub use classes::Classes;
pub use each_wrong::EachWrong;
pub use failure::{Failure, Unfit};
pub use goals::Goals;
pub use labels::Labels;
pub use least_likely::LeastLikely;
pub use loss::Loss;
pub use misclassify::Misclassify;
pub use shift::Shift;
pub use target::{Target, Targets};
pub use top::Top;
pub use verdict::{NUMBERS, ScoreVerdict, Verdicts, judge, numbers};
pub use way::Way;

/// What a search tries to bring about, how clearly, and by what it is led there.
#[derive(Debug, Clone)]
pub struct Objective {
    pub failure: Rc<dyn Failure>,
    /// By how much scores are to be beyond what is wanted: the confidence margin c of Dunn's thesis, Definitions 6.1 and 6.2.
    pub lead: f64,
    /// What is followed; where it says none, every search follows its own: those by losses the lead, `bim` the cross entropy, `adam`
    /// the lead.
    pub loss: Option<Loss>,
}

impl<F: Failure + 'static> From<F> for Objective {
    fn from(failure: F) -> Self {
        Self { failure: Rc::new(failure), lead: 0.0, loss: None }
    }
}

/// As scripts write them.
impl PartialEq for Objective {
    fn eq(&self, other: &Self) -> bool {
        self.describe() == other.describe()
    }
}

impl Objective {
    /// How a script writes it.
    pub fn describe(&self) -> String {
        self.with(&|loss| format!(".loss({:?})", loss.word()))
    }

    /// How digests and random streams know it: as `describe` said it first, so that a better name changes no result.
    pub fn identity(&self) -> String {
        self.with(&|loss| match loss {
            Loss::CrossEntropy => ".cross_entropy()".into(),
            loss => format!(".loss({:?})", loss.word()),
        })
    }

    fn with(&self, followed: &dyn Fn(Loss) -> String) -> String {
        let mut text = self.failure.describe();
        if self.lead != 0.0 {
            text.push_str(&format!(".confident({:?})", self.lead));
        }
        self.loss.into_iter().for_each(|loss| text.push_str(&followed(loss)));
        text
    }

    /// Refuses an objective whose outcomes are not what the model predicts, for those who want that.
    pub fn check_predictions(&self, asking: &str) -> Result<()> {
        if self.failure.of_the_highest() {
            return Ok(());
        }
        Err(Error::data(format!(
            "{asking} is of what the model predicts, and rows of objective::{} hold whether that is as wanted in its place",
            cut(&self.describe(), 60)
        ))
        .hint("examine with objective::misclassify() or a target; success_rate() and robustness::worst(..) are of any objective"))
    }

    /// Refuses an objective that can't be met among so many classes by so many images.
    pub fn check(&self, classes: i64, images: usize) -> Result<()> {
        let refused = |Unfit { why, hint }: Unfit| {
            Error::argument(format!("objective::{}: {why}", cut(&self.describe(), 60))).hint(hint)
        };
        if classes < 2 && self.failure.of_classes() {
            return Err(refused(Unfit::new(
                format!("a model of {classes} class can't be wrong"),
                "it needs 2 or more",
            )));
        }
        self.failure.check(classes, images).map_err(refused)?;
        let Some(loss) = self.loss else { return Ok(()) };
        let known = self.failure.losses();
        if !known.contains(&loss) {
            let words: Vec<&str> = known.iter().map(|loss| loss.word()).collect();
            return Err(refused(Unfit::new(
                format!("{:?} is not defined for it", loss.word()),
                format!("what can be followed there: {}", words.join(", ")),
            )));
        }
        let aimed = self.failure.aims(0, 0, classes).iter().any(|aim| *aim != Aim::Away);
        let needed = loss.classes(aimed);
        if classes < needed {
            return Err(refused(Unfit::new(
                format!("{:?} needs {needed} classes, and the model has {classes}", loss.word()),
                ".loss(\"lead\") does with two",
            )));
        }
        Ok(())
    }

    /// What is to become of the image in this row of the data, with this label: one aim, or one after the other.
    pub fn aims(&self, row: usize, label: i64, classes: i64) -> Vec<Aim> {
        self.failure.aims(row, label, classes)
    }

    /// How many aims every image has.
    pub fn aims_per_image(&self, classes: i64) -> usize {
        self.failure.aims_per_image(classes)
    }

    /// Whether any wrong answer will do.
    pub fn any_wrong(&self) -> bool {
        self.failure.any_wrong()
    }

    /// The same, however narrowly: what searches with densities look for.
    pub fn plain(&self) -> bool {
        self.any_wrong() && self.lead == 0.0 && self.loss.is_none()
    }

    /// The loss of a transcript: of losses that are above 0 where the objective is met that part (l_exc of the lead), others whole.
    pub fn loss(&self, followed: f32) -> f32 {
        if self.loss.is_none_or(Loss::signed) { loss(followed) } else { followed }
    }

    /// What stands for an image's label in the row of a transcript.
    pub fn label(&self, label: i32, before: i32) -> i32 {
        self.failure.label(label, before)
    }
}

/// The loss of a search: the part of `excess` above 0, l_exc.
pub fn loss(excess: f32) -> f32 {
    excess.max(0.0)
}

impl Object for Objective {
    fn kind(&self) -> &'static str {
        "Objective"
    }

    fn summary(&self) -> String {
        format!("objective {}", self.describe())
    }

    fn digest(&self) -> Digest {
        Digest::of(format!("objective {}", self.identity()).as_bytes())
    }
}
