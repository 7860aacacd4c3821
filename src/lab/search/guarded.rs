//! What is told of points that were scored in lower precision, and of how far it was right to go by them.

use std::collections::BTreeMap;

use crate::core::{Value, significant};

/// How points were scored in bfloat16, by all searches that were asked for together.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarded {
    /// How far the difference of two scores may be off.
    pub margin: f32,
    /// Points scored in bfloat16.
    pub scored: u64,
    /// How many of them were scored in float32 again, as the outcome could hang on them.
    pub again: u64,
    /// How many of the others were drawn, and scored in float32 to check the margin.
    pub checked: u64,
    /// How many of these two differed by more than the margin.
    pub beyond: u64,
    /// The largest difference, of the sample that the margin comes of as well.
    pub largest: f32,
}

impl Guarded {
    /// The share of the points that were scored in float32 as well.
    pub fn share_again(&self) -> f64 {
        (self.again + self.checked) as f64 / self.scored.max(1) as f64
    }

    /// Notes a point that was scored both ways.
    pub(super) fn compare(&mut self, apart: f32, margin: f32, check: bool) {
        *(if check { &mut self.checked } else { &mut self.again }) += 1;
        self.beyond += u64::from(apart > margin);
        self.largest = self.largest.max(apart);
    }

    /// Why outcomes may be others than those of float32.
    pub(super) fn caution(&self) -> Option<String> {
        (self.beyond > 0).then(|| {
            format!(
                "{} of {} crops that were scored both ways differed in bfloat16 by more than the margin of {}, by up to {}: their images were \
                 examined again with a wider one, but others may have an outcome that is not that of float32",
                self.beyond,
                self.again + self.checked,
                significant(self.margin.into(), 3),
                significant(self.largest.into(), 3)
            )
        })
    }

    /// In a few words, beside a result.
    pub fn short(&self) -> String {
        format!("scored in bfloat16 and {} % of it in float32", significant(100.0 * self.share_again(), 3))
    }

    /// What came of checking the margin.
    pub fn checks(&self) -> String {
        let (margin, largest) = (significant(self.margin.into(), 3), significant(self.largest.into(), 3));
        let beyond = match self.beyond {
            0 => "none differed".into(),
            n => format!("{n} differed"),
        };
        format!(
            "{} crops drawn at random and {} in doubt were scored both ways, {beyond} by more than {margin} (at most {largest})",
            self.checked, self.again
        )
    }

    /// How it was done, for the section on methods.
    pub fn sentence(&self) -> String {
        format!(
            "{} crops were scored in bfloat16, and in float32 again wherever the outcome could have been another one: {}; what is reported is of float32",
            self.scored,
            self.checks()
        )
    }

    pub fn value(&self) -> Value {
        let whole = |n: u64| Value::Int(n as i64);
        let all = [
            ("margin", Value::Float(self.margin.into())),
            ("scored", whole(self.scored)),
            ("again", whole(self.again)),
            ("checked", whole(self.checked)),
            ("beyond", whole(self.beyond)),
            ("largest", Value::Float(self.largest.into())),
        ];
        Value::Map(BTreeMap::from(all.map(|(name, value)| (name.to_string(), value))))
    }
}
