//! Who says whether an image still shows what it was drawn as.

use std::borrow::Borrow;
use std::rc::Rc;

use serde_json::json;

use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Tensor, Value};
use crate::data::{Dataset, from_tensor};
use crate::maths::shares::CountedShare;
use crate::model::{Inputs, Model};

/// Others than models who judge, such as people, who know of the images that they saw alone.
pub trait Witnesses {
    /// Who they are, as results say it.
    fn judged_by(&self) -> String;
    /// Whether each image shows its label, where they saw it.
    fn keeps(&self, cx: &Cx, images: &Dataset) -> Result<Vec<Option<bool>>>;
    /// Whether each seed shows its label, where they saw it.
    fn accepts(&self, cx: &Cx, seeds: &Dataset) -> Result<Vec<Option<bool>>>;
    /// What must be known of all that they say.
    fn cautions(&self) -> Cautions;
}

/// Models in place of people, of which most must read an image as it was drawn, or people themselves. Without either, nobody says.
#[derive(Clone, Default)]
pub struct Oracle {
    models: Vec<Model>,
    witnesses: Option<Rc<dyn Witnesses>>,
}

impl Oracle {
    /// `tested` gets its own tests wrong by definition, so it is no judge of them; and nobody has two votes.
    pub fn of_models(models: Vec<Model>, tested: &Model) -> Result<Self> {
        for judge in &models {
            if judge.answers_as(tested) {
                let what = if judge.digest() == tested.digest() { "" } else { "which answers as " };
                return Err(Error::argument(format!("the oracle has {}, {what}the classifier under test", judge.name))
                    .hint("take classifiers of other makes that learned from other images"));
            }
        }
        each_once(&models, "the oracle")?;
        Ok(Self { models, witnesses: None })
    }

    pub fn of_witnesses(witnesses: Rc<dyn Witnesses>) -> Self {
        Self { models: vec![], witnesses: Some(witnesses) }
    }

    pub fn is_empty(&self) -> bool {
        self.models.is_empty() && self.witnesses.is_none()
    }

    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// Who they are, as results say it.
    pub fn judged_by(&self) -> String {
        if let Some(witnesses) = &self.witnesses {
            return witnesses.judged_by();
        }
        let named = |model: &Model| format!("{} ({})", model.name, model.digest().short());
        match &self.models[..] {
            [] => "nobody".into(),
            [one] => named(one),
            all => format!("most of {}", all.iter().map(named).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Which seeds are taken for what they were drawn as: of people all that they did not refuse. `images` is `N x C x H x W` on the models' device.
    pub fn accepts(&self, cx: &Cx, images: &Tensor, labels: &[i64]) -> Result<Vec<bool>> {
        if let Some(witnesses) = &self.witnesses {
            let seeds = from_tensor(images, labels.to_vec(), None, false)?;
            return Ok(witnesses.accepts(cx, &seeds)?.into_iter().map(|said| said.unwrap_or(true)).collect());
        }
        let opinions = self.models.iter().map(|model| model.answers(images)).collect::<Result<Vec<_>>>()?;
        Ok(self.most(&opinions, labels))
    }

    fn most(&self, opinions: &[Vec<i64>], labels: &[i64]) -> Vec<bool> {
        let right = |i: usize, label: i64| opinions.iter().filter(|read| read[i] == label).count();
        let most = labels.iter().enumerate().map(|(i, &label)| 2 * right(i, label) > self.models.len());
        most.map(|most| most || self.is_empty()).collect()
    }

    /// What it says of tests; `None` if nobody is asked.
    pub fn judge(&self, cx: &Cx, images: &Dataset) -> Result<Option<KeptLabels>> {
        if self.is_empty() {
            return Ok(None);
        }
        let (kept, mut cautions): (Vec<Option<bool>>, _) = match &self.witnesses {
            Some(witnesses) => (witnesses.keeps(cx, images)?, witnesses.cautions()),
            None => {
                let opinions = self.models.iter().map(|model| model.predictions(cx, &Inputs::Data(images)));
                let opinions = opinions.collect::<Result<Vec<_>>>()?;
                let most = self.most(&opinions, images.labels());
                let mut noticed = Cautions::default();
                for (model, read) in self.models.iter().zip(&opinions) {
                    noticed.extend(&model.cautions());
                    model.reads_nothing(images.labels(), read).into_iter().for_each(|caution| noticed.add(caution));
                }
                (most.into_iter().map(Some).collect(), noticed)
            }
        };
        let unknown = kept.iter().filter(|kept| kept.is_none()).count();
        if unknown > 0 {
            cautions.add(format!("of {unknown} of {} tests nobody says whether they keep their label", kept.len()));
        }
        Ok(Some(KeptLabels { kept, judged_by: self.judged_by(), cautions }))
    }
}

/// Nobody has two votes.
pub fn each_once(judges: &[impl Borrow<Model>], who: &str) -> Result<()> {
    for (i, judge) in judges.iter().map(Borrow::borrow).enumerate() {
        if judges[..i].iter().any(|other| other.borrow().answers_as(judge)) {
            return Err(Error::argument(format!("{who} has {} twice, which would count double", judge.name)));
        }
    }
    Ok(())
}

/// Which tests still show what they were drawn as, and who says so.
#[derive(Debug, Clone)]
pub struct KeptLabels {
    /// Test by test; not known of those that people did not see.
    pub kept: Vec<Option<bool>>,
    pub judged_by: String,
    pub cautions: Cautions,
}

/// What scripts read of tests that were judged, or were not.
pub const KEPT_FIELDS: [&str; 5] = ["kept", "kept_share", "kept_lo", "kept_hi", "judged_by"];

impl KeptLabels {
    pub(super) fn digest(&self) -> Digest {
        let marks: Vec<u8> = self.kept.iter().map(|kept| kept.map_or(2, u8::from)).collect();
        Digest::of_parts(&[b"kept", self.judged_by.as_bytes(), &marks])
    }

    pub fn share(&self) -> CountedShare {
        CountedShare::of_marks(self.kept.iter().copied().flatten())
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
        "kept" => Value::Array(judged.kept.iter().map(|kept| kept.map_or(Value::Unit, Value::Bool)).collect()),
        "kept_share" => Some(share.value).filter(|share| !share.is_nan()).map_or(Value::Unit, Value::Float),
        "kept_lo" => Value::Float(share.lo),
        "kept_hi" => Value::Float(share.hi),
        _ => Value::Str(judged.judged_by.clone()),
    })
}

/// How many tests of `model` there are: candidates, as long as nobody has said what they show.
pub fn counted(n: usize, model: &str, judged: Option<&KeptLabels>) -> String {
    match judged {
        // Of no test it can't be told whether anybody was there to judge it.
        _ if n == 0 => format!("no tests of {model}"),
        Some(_) => format!("{n} tests of {model}"),
        None => format!("{n} candidates of {model}, whose label nobody has judged,"),
    }
}

/// What a summary says behind the share that is misread; nothing where nobody judged, which `counted` says.
pub fn kept_words(judged: Option<&KeptLabels>) -> String {
    judged.map_or(String::new(), |judged| {
        let of = match judged.share().of {
            0 => return format!("; {} say nothing of whether they keep their label", judged.judged_by),
            n if n < judged.kept.len() => format!("the {n} that were judged"),
            _ => "them".into(),
        };
        format!("; label kept by {} of {of} in the eyes of {}", judged.share().words(), judged.judged_by)
    })
}

/// The members that files have of a judgement, null where there is none.
pub fn kept_json(judged: Option<&KeptLabels>) -> serde_json::Value {
    judged.map_or(serde_json::Value::Null, |judged| {
        let share = judged.share();
        json!({ "by": judged.judged_by, "share": share.value, "lo": share.lo, "hi": share.hi, "tests": judged.kept })
    })
}
