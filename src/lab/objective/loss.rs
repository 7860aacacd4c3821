//! What a search makes larger on its way to what the objective asks for.

/// The loss that is followed; each one grows towards what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The best score among the other classes minus the label's; towards a class that class's score minus the best other one (Carlini
    /// and Wagner 2017), less the lead that is asked for.
    Lead,
    /// The same of softmax probabilities, in place of scores.
    Margin,
    /// The cross entropy of the class that is left, in nats, or minus that of the class that is aimed at.
    CrossEntropy,
    /// The difference of logits ratio of Croce and Hein 2020, Equations 6 and 7: the lead, whatever scores are multiplied by.
    Dlr,
    /// Minus the probability of the class that is left (Dunn's thesis, Section 5.1.3); towards a class as the lead.
    Confidence,
}

impl Loss {
    /// How scripts call it.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("lead", Self::Lead),
        ("margin", Self::Margin),
        ("cross_entropy", Self::CrossEntropy),
        ("dlr", Self::Dlr),
        ("confidence", Self::Confidence),
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, loss)| *loss == self).map_or("", |(word, _)| word)
    }

    /// What the column `loss` holds, for the axis of a figure.
    pub fn axis(self) -> &'static str {
        match self {
            Self::Lead => "lead of the best wrong score",
            Self::Margin => "lead of the best wrong probability",
            Self::CrossEntropy => "cross entropy (nats)",
            Self::Dlr => "difference of logits ratio",
            Self::Confidence => "minus the probability of the label",
        }
    }

    /// Whether it is above 0 where the prediction is as wanted, and below where not.
    pub fn signed(self) -> bool {
        matches!(self, Self::Lead | Self::Margin | Self::Dlr)
    }

    /// Whether it goes by the scores themselves, which no softmax flattens.
    pub fn of_scores(self) -> bool {
        matches!(self, Self::Lead | Self::Dlr)
    }

    /// How many scores it needs of an image: the ratio divides by the third highest, and towards a class by the fourth too.
    pub fn classes(self, aimed: bool) -> i64 {
        match (self, aimed) {
            (Self::Dlr, false) => 3,
            (Self::Dlr, true) => 4,
            _ => 2,
        }
    }
}
