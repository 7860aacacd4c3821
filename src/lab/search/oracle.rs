//! Who says whether an image still shows what it was drawn as.

use serde_json::json;

use crate::core::{Cx, Error, Object, Result, Tensor, Value};
use crate::data::Dataset;
use crate::maths::shares::CountedShare;
use crate::model::{Inputs, Model};

/// Models in place of people: an image shows what it was drawn as where most of them read it so. Without models, nobody says.
#[derive(Clone, Default)]
pub struct Oracle(Vec<Model>);

impl Oracle {
    /// `tested` gets its own tests wrong by definition, so it is no judge of them; and nobody has two votes.
    pub fn of_models(models: Vec<Model>, tested: &Model) -> Result<Self> {
        for (i, judge) in models.iter().enumerate() {
            if judge.digest() == tested.digest() {
                return Err(Error::argument(format!("the oracle has {}, the classifier under test", judge.name))
                    .hint("take classifiers of other makes that learned from other images"));
            }
            if models[..i].iter().any(|other| other.digest() == judge.digest()) {
                return Err(Error::argument(format!("the oracle has {} twice, which would count double", judge.name)));
            }
        }
        Ok(Self(models))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn models(&self) -> &[Model] {
        &self.0
    }

    /// Who they are, as results say it.
    pub fn judged_by(&self) -> String {
        let named = |model: &Model| format!("{} ({})", model.name, model.digest().short());
        match &self.0[..] {
            [] => "nobody".into(),
            [one] => named(one),
            all => format!("most of {}", all.iter().map(named).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Whether most read each image as its label.
    pub fn read_as_drawn(&self, cx: &Cx, images: &Dataset) -> Result<Vec<bool>> {
        let opinions = self.0.iter().map(|model| model.predictions(cx, &Inputs::Data(images)));
        Ok(self.most(&opinions.collect::<Result<Vec<_>>>()?, images.labels()))
    }

    /// As `read_as_drawn`, of a batch `N x C x H x W` on the models' device.
    pub fn read_batch_as_drawn(&self, images: &Tensor, labels: &[i64]) -> Result<Vec<bool>> {
        let opinions = self.0.iter().map(|model| model.answers(images)).collect::<Result<Vec<_>>>()?;
        Ok(self.most(&opinions, labels))
    }

    fn most(&self, opinions: &[Vec<i64>], labels: &[i64]) -> Vec<bool> {
        let right = |i: usize, label: i64| opinions.iter().filter(|read| read[i] == label).count();
        labels.iter().enumerate().map(|(i, &label)| 2 * right(i, label) > self.0.len()).collect()
    }

    /// What it says of tests; `None` if nobody is asked.
    pub fn judge(&self, cx: &Cx, images: &Dataset) -> Result<Option<KeptLabels>> {
        if self.is_empty() {
            return Ok(None);
        }
        Ok(Some(KeptLabels { kept: self.read_as_drawn(cx, images)?, judged_by: self.judged_by() }))
    }
}

/// Which tests still show what they were drawn as, and who says so.
#[derive(Debug, Clone)]
pub struct KeptLabels {
    /// Test by test.
    pub kept: Vec<bool>,
    pub judged_by: String,
}

/// What scripts read of tests that were judged, or were not.
pub const KEPT_FIELDS: [&str; 5] = ["kept", "kept_share", "kept_lo", "kept_hi", "judged_by"];

impl KeptLabels {
    pub fn share(&self) -> CountedShare {
        CountedShare::of_marks(self.kept.iter().copied())
    }
}

/// One of [`KEPT_FIELDS`]; () where nobody judged.
pub fn kept_field(judged: Option<&KeptLabels>, name: &str) -> Option<Value> {
    if !KEPT_FIELDS.contains(&name) {
        return None;
    }
    let Some(judged) = judged else { return Some(Value::Unit) };
    let share = judged.share();
    Some(match name {
        "kept" => Value::Array(judged.kept.iter().map(|kept| Value::Bool(*kept)).collect()),
        "kept_share" => Value::Float(share.value),
        "kept_lo" => Value::Float(share.lo),
        "kept_hi" => Value::Float(share.hi),
        _ => Value::Str(judged.judged_by.clone()),
    })
}

/// How many tests of `model` there are: candidates, as long as nobody has said what they show.
pub fn counted(n: usize, model: &str, judged: Option<&KeptLabels>) -> String {
    match judged {
        Some(_) => format!("{n} tests of {model}"),
        None => format!("{n} candidates of {model}, whose label nobody has judged,"),
    }
}

/// What a summary says behind the share that is misread; nothing where nobody judged, which `counted` says.
pub fn kept_words(judged: Option<&KeptLabels>) -> String {
    judged.map_or(String::new(), |judged| {
        format!("; label kept by {} of them in the eyes of {}", judged.share().words(), judged.judged_by)
    })
}

/// The members that files have of a judgement, null where there is none.
pub fn kept_json(judged: Option<&KeptLabels>) -> serde_json::Value {
    judged.map_or(serde_json::Value::Null, |judged| {
        let share = judged.share();
        json!({ "by": judged.judged_by, "share": share.value, "lo": share.lo, "hi": share.hi, "tests": judged.kept })
    })
}
