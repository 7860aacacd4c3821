//! What a check found.

/// What it says of the attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it would be if the attack found all that there is.
    Holds,
    /// Not quite so, for no more images than one in a hundred.
    Doubtful,
    /// The attack missed what it should have found, or found what does not last, or the model answers no question as it was asked.
    Fails,
    /// It can't be asked here.
    NotAsked,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Doubtful => "doubtful",
            Self::Fails => "fails",
            Self::NotAsked => "not asked",
        }
    }

    /// That of so many images against the attack, of so many that were examined.
    pub(super) fn against(missed: usize, images: usize) -> Self {
        match missed {
            0 => Self::Holds,
            // At least one, so that one image alone of few is no proof.
            missed if missed <= (images / 100).max(1) => Self::Doubtful,
            _ => Self::Fails,
        }
    }
}

/// One row of an audit.
#[derive(Debug, Clone)]
pub struct Finding {
    pub check: &'static str,
    pub verdict: Verdict,
    /// Images that were asked about.
    pub tried: usize,
    /// Those that speak against the attack.
    pub against: usize,
    /// The share of all images that what was tried here left right; NaN where nothing was attacked.
    pub accuracy: f64,
    pub says: String,
    /// Whether what speaks against the attack are images that it should not have found, in place of some that it should.
    pub too_much: bool,
}

impl Finding {
    pub(super) fn new(verdict: Verdict, (against, tried): (usize, usize), says: impl Into<String>) -> Self {
        Self { check: "", verdict, tried, against, accuracy: f64::NAN, says: says.into(), too_much: false }
    }

    pub(super) fn not_asked(why: impl Into<String>) -> Self {
        Self::new(Verdict::NotAsked, (0, 0), why)
    }

    /// The same where it was to be asked of the images that were left right, and there was none.
    pub(super) fn asked_of_any(self) -> Self {
        match self.verdict {
            Verdict::Holds if self.tried == 0 => {
                Self { verdict: Verdict::NotAsked, says: "the attack left no image to ask it of".into(), ..self }
            }
            _ => self,
        }
    }

    pub(super) fn left(self, accuracy: f64) -> Self {
        Self { accuracy, ..self }
    }
}

/// How many, in words: `1 image`, `3 images`.
pub(super) fn images(n: usize) -> String {
    if n == 1 { "1 image".into() } else { format!("{n} images") }
}
