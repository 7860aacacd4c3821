//! Who says whether an image still shows what it was drawn as.

use std::borrow::Borrow;
use std::rc::Rc;

use serde_json::json;

use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Tensor, Value, number};
use crate::data::{Dataset, from_tensor};
use crate::generator::Generator;
use crate::maths::shares::CountedShare;
use crate::model::{AnswersToDraws, Inputs, Model};

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

    /// What it says of tests; `None` if nobody is asked. `made`: how, where the generator is at hand, so that its models can be asked about draws as
    /// they stand.
    pub fn judge(&self, cx: &Cx, images: &Dataset, made: Option<Made>) -> Result<Option<KeptLabels>> {
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
                if let Some(made) = made {
                    made.doubts(cx, &self.models, images, &opinions)?
                        .into_iter()
                        .for_each(|caution| noticed.add(caution));
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

/// What tests were made of.
pub struct Made<'a> {
    pub generator: &'a Generator,
    pub model: &'a Model,
    /// The labels that were drawn, and the seed of the draws.
    pub labels: &'a [i64],
    pub seed: u64,
    /// What the classifier answers to the tests.
    pub predictions: &'a [i64],
}

impl Made<'_> {
    /// What answers to a few draws, as they stand, and to the tests say against judges: one that numbers classes otherwise or was made for other pixels calls
    /// labels lost that are not, and so does one that is the classifier under another name. What a generator draws that was finetuned against a classifier may
    /// have lost its labels, so that errors on it say nothing.
    fn doubts(&self, cx: &Cx, judges: &[Model], tests: &Dataset, opinions: &[Vec<i64>]) -> Result<Vec<String>> {
        const OF_EACH: usize = 10;
        const AT_ALL: [usize; 2] = [40, 250];
        /// Of draws, and in deviations of what two that read alike differ by at most.
        const READS_LESS: f64 = 0.15;
        const DEVIATIONS: f64 = 3.0;
        let Self { generator, model, .. } = self;
        let wanted = (OF_EACH * self.labels.len()).clamp(AT_ALL[0], AT_ALL[1]);
        let (labels, classes): (Vec<i64>, _) = match (generator.encoded(), generator.classes()) {
            (Some(encoded), _) => {
                (encoded.labels(&encoded.in_order(self.seed), 0, wanted.min(encoded.len()))?, encoded.classes().len())
            }
            (None, Some(classes)) => (self.labels.iter().copied().cycle().take(wanted).collect(), classes as usize),
            (None, None) => return Ok(vec![]),
        };
        let batch = self.generator.batch_size(cx)?;
        let mut told = vec![];
        let mut answers: Vec<Vec<i64>> = vec![vec![]; judges.len() + 1];
        for first in (0..labels.len()).step_by(batch) {
            cx.check()?;
            let count = batch.min(labels.len() - first);
            let latents = generator.latents(self.seed, first, count)?;
            let images = generator.images_of(&latents, Some(&labels[first..first + count]))?;
            for (answers, model) in answers.iter_mut().zip(judges.iter().chain([*model])) {
                answers.extend(model.answers(&images)?);
            }
        }
        let own = &answers[judges.len()];
        for (i, judge) in judges.iter().enumerate() {
            let mut read = AnswersToDraws::new();
            labels.iter().zip(&answers[i]).for_each(|(label, answer)| *read.entry((*label, *answer)).or_default() += 1);
            let taught = generator.is_taught_to_be_misread();
            let doubt = judge.doubts_of_draws(&generator.name, classes, &read, taught);
            let right = |answers: &[i64]| {
                let right = answers.iter().zip(&labels).filter(|(answer, label)| answer == label).count();
                right as f64 / labels.len().max(1) as f64
            };
            let (theirs, whose) = (right(&answers[i]), right(own));
            let apart = READS_LESS.max(DEVIATIONS * (0.5 / labels.len().max(1) as f64).sqrt());
            if doubt.is_none() && theirs + apart < whose {
                told.push(format!(
                    "{}, of the oracle, reads {} of {} draws as they were drawn, {} reads {}: labels that it calls lost may be its own errors",
                    judge.name,
                    number(theirs),
                    labels.len(),
                    model.name,
                    number(whose)
                ));
            }
            told.extend(
                doubt.map(|doubt| format!("{doubt}; it is of the oracle, which may call labels lost of that alone")),
            );
            if opinions[i] == self.predictions && self.ranks_as(cx, judge, tests)? {
                told.push(format!(
                    "{}, of the oracle, answers as {} does to all {} tests, and its next two classes are the same: it may be the same classifier in another file, which is \
                     no judge",
                    judge.name,
                    model.name,
                    self.predictions.len()
                ));
            }
        }
        Ok(told)
    }

    /// Whether a judge puts the same three classes first, in the same order, of all tests that are looked at, as no other network does of many.
    fn ranks_as(&self, cx: &Cx, judge: &Model, tests: &Dataset) -> Result<bool> {
        const FEWEST: usize = 10;
        const MOST: usize = 64;
        let n = tests.len().min(MOST);
        if n < FEWEST || judge.classes().is_none_or(|classes| classes < 3) || judge.classes() != self.model.classes() {
            return Ok(false);
        }
        let images = tests.images(&(0..n).collect::<Vec<_>>(), cx.device())?;
        let first = |model: &Model| {
            tch::no_grad(|| -> Result<Tensor> { Ok(model.logits(&images)?.f_topk(3, 1, true, true)?.1) })
        };
        Ok(first(judge)?.f_equal(&first(self.model)?)?)
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
