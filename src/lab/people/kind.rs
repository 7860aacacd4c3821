//! Kinds of questions: what is asked, what can be answered, and what an answer means. The thesis's own are in Dunn (2022), Sections 4.3.2
//! and B.2 (`label`), 5.2.5 (`keeps_label`), 4.5 and B.3 (`pair`, `odd_one_out`), 6.1.4 (`attribute`).

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Which class a picture shows best, or none.
    Label,
    /// Whether the seed shows its class, and if so whether the test still does.
    KeepsLabel,
    /// Which of two pictures is a real one.
    Pair,
    /// Which of twelve is the generated one, two places of which are never right.
    OddOneOut,
    /// In which of two pictures there is more of something; which of them was changed is not said.
    Attribute,
    /// Whether a picture looks real.
    Realism,
}

/// What speaks against one button again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// Where the right picture stands was drawn, so nobody attentive presses one button throughout.
    Chance,
    /// Known answers and what others say of the same pictures: all pictures may show the same, or nothing.
    Others,
    /// Each may think so.
    Nothing,
}

/// Pictures of an odd one out, and its places that are never right: the second and third of the top row.
pub const SHOWN: usize = 12;
pub const NEVER: [usize; 2] = [1, 2];

/// What judgements of generated pictures among real ones say.
pub const SPOTTED: &str = "spotted";
pub const MISSED: &str = "missed";
pub const FORBIDDEN: &str = "forbidden";

/// How words begin by which the picture before is not taken for its class, and what stands on the button that takes it for it.
pub const REFUSED_SEED: &str = "seed_";
pub const ACCEPTED_SEED: &str = "it does";

/// What stands for a picture that shows no class.
pub const NONE: &str = "none";

const KEEPS: [&str; 7] = ["shows", "other", "unclear", "nothing", "seed_other", "seed_unclear", "seed_nothing"];
const CHOICE_OF_PLACE: [&str; 3] = [SPOTTED, MISSED, FORBIDDEN];
const CHANGE: [&str; 3] = ["telling", "other_way", "no_difference"];
const REALISM: [&str; 2] = ["real", "generated"];

impl QuestionKind {
    pub const ALL: [Self; 6] =
        [Self::Label, Self::KeepsLabel, Self::Pair, Self::OddOneOut, Self::Attribute, Self::Realism];

    pub fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::KeepsLabel => "keeps_label",
            Self::Pair => "pair",
            Self::OddOneOut => "odd_one_out",
            Self::Attribute => "attribute",
            Self::Realism => "realism",
        }
    }

    /// The words that judgements say.
    pub fn words(self, classes: &[String]) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        match self {
            Self::Label => classes.iter().cloned().chain([NONE.to_string()]).collect(),
            Self::KeepsLabel => words(&KEEPS),
            Self::Pair => words(&CHOICE_OF_PLACE[..2]),
            Self::OddOneOut => words(&CHOICE_OF_PLACE),
            Self::Attribute => words(&CHANGE),
            Self::Realism => words(&REALISM),
        }
    }

    /// What stands on the buttons, in their order.
    pub fn choices(self, classes: &[String]) -> Vec<String> {
        let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
        match self {
            Self::Label => classes.iter().cloned().chain(["None".to_string()]).collect(),
            Self::KeepsLabel => texts(&[
                "shows the class",
                "shows something else",
                "is unclear",
                "shows nothing meaningful",
                "the first shows something else",
                "the first is unclear",
                "the first shows nothing meaningful",
            ]),
            Self::Pair => texts(&["the first", "the second"]),
            Self::OddOneOut => (1..=SHOWN).map(|place| place.to_string()).collect(),
            Self::Attribute => texts(&["the first", "the second", "no difference"]),
            Self::Realism => texts(&["real", "generated"]),
        }
    }

    /// What choosing a button says, where the generated picture, or the one with more of what tells, stands in `place`.
    pub fn word(self, classes: &[String], choice: usize, place: usize) -> Option<String> {
        let words = self.words(classes);
        match self {
            Self::Label | Self::KeepsLabel | Self::Realism => words.get(choice).cloned(),
            // What is chosen is taken for real.
            Self::Pair => (choice < 2).then(|| words[usize::from(choice == place)].clone()),
            Self::OddOneOut => (choice < SHOWN).then(|| {
                let said = if choice == place { 0 } else { 1 + usize::from(NEVER.contains(&choice)) };
                words[said].clone()
            }),
            Self::Attribute => {
                (choice < 3).then(|| words[if choice == 2 { 2 } else { usize::from(choice != place) }].clone())
            }
        }
    }

    /// Among how many places guessing chooses.
    pub fn alternatives(self) -> Option<usize> {
        match self {
            Self::Pair => Some(2),
            Self::OddOneOut => Some(SHOWN - NEVER.len()),
            _ => None,
        }
    }

    /// Least seconds before an answer can be chosen, and seconds of pause behind each.
    pub fn seconds(self) -> [f64; 2] {
        match self {
            Self::Label | Self::KeepsLabel | Self::Attribute | Self::Realism => [1.0, 0.0],
            Self::Pair => [1.0, 3.0],
            Self::OddOneOut => [1.0, 4.0],
        }
    }

    /// Whether questions can be put at the beginning whose answer the instructions give.
    pub fn takes_checks(self) -> bool {
        matches!(self, Self::Label | Self::Realism | Self::Attribute)
    }

    /// What tells that somebody presses this button whatever is asked.
    pub fn against(self, choice: usize) -> Against {
        match self {
            Self::Pair | Self::OddOneOut => Against::Chance,
            Self::Attribute if choice < 2 => Against::Chance,
            Self::Label | Self::Attribute => Against::Others,
            Self::KeepsLabel | Self::Realism => Against::Nothing,
        }
    }

    pub fn question(self, attribute: &str) -> String {
        match self {
            Self::Label => "Which of these does the picture show best?".into(),
            Self::KeepsLabel => "What does the picture show?".into(),
            Self::Pair => {
                "One of these pictures is real, the other was made by a computer. Which is the real one?".into()
            }
            Self::OddOneOut => "One of these pictures was made by a computer, the others are real. Which one?".into(),
            Self::Attribute => format!("In which picture is there more of this: {attribute}?"),
            Self::Realism => "Is this picture real, or was it made by a computer?".into(),
        }
    }

    /// What is said before the first question; `gold`: whether there are others whose answer is known.
    pub fn instructions(self, checks: usize, check: &str, gold: bool) -> Vec<String> {
        let mut lines = match self {
            Self::Label => vec![
                "You will see one picture after the other. Choose what it shows best.".to_string(),
                "Choose “None” only if you truly cannot recognise anything in it.".into(),
            ],
            Self::KeepsLabel => vec![
                "You will see a picture and what it is meant to show. Say whether it does.".to_string(),
                "If it does, a second picture appears beside it: a changed one. Say what that one shows.".into(),
            ],
            Self::Pair => vec![
                "You will see two pictures. One is real, the other was made by a computer. Find the real one.".into(),
            ],
            Self::OddOneOut => vec![
                format!(
                    "First look at real pictures. Then you will see {SHOWN} pictures, of which one was made by a computer: find it."
                ),
                "It is never the second or the third of the top row. Never choose these.".into(),
            ],
            Self::Attribute => {
                vec!["You will see two pictures. Say in which there is more of what the question names.".into()]
            }
            Self::Realism => vec![
                "You will see one picture after the other. Say whether it is real or was made by a computer.".into(),
            ],
        };
        if checks > 0 {
            let first = if checks == 1 { "question".into() } else { format!("{checks} questions") };
            lines.push(format!("The first {first} must be answered “{check}”, whatever the picture shows."));
        }
        if gold {
            lines.push("Some answers are known. Work that clicks at random is not accepted.".into());
        }
        lines
    }
}
