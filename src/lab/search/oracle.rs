//! Who says whether an image still shows what it was drawn as.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::json;

use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Tensor, Value, number, on_device};
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
    /// `own` is what the classifier under test answers to them.
    pub(super) fn accepts(
        &self,
        cx: &Cx,
        images: &Tensor,
        (labels, own): (&[i64], &[i64]),
        draws: &mut JudgedDraws,
    ) -> Result<Vec<bool>> {
        if let Some(witnesses) = &self.witnesses {
            let seeds = from_tensor(images, labels.to_vec(), None, false)?;
            return Ok(witnesses.accepts(cx, &seeds)?.into_iter().map(|said| said.unwrap_or(true)).collect());
        }
        let opinions = self.opinions(images)?;
        draws.note(&opinions, labels, own);
        Ok(self.most(&opinions, labels))
    }

    /// What each of its models answers to a batch on their device.
    fn opinions(&self, images: &Tensor) -> Result<Vec<Vec<i64>>> {
        self.models.iter().map(|model| model.answers(images)).collect()
    }

    fn most(&self, opinions: &[Vec<i64>], labels: &[i64]) -> Vec<bool> {
        let right = |i: usize, label: i64| opinions.iter().filter(|read| read[i] == label).count();
        let most = labels.iter().enumerate().map(|(i, &label)| 2 * right(i, label) > self.models.len());
        most.map(|most| most || self.is_empty()).collect()
    }

    /// What it says of tests; `None` if nobody is asked. `of`: what they are of, where that is at hand.
    pub(super) fn judge(&self, cx: &Cx, images: &Dataset, of: Option<&TestsOf>) -> Result<Option<KeptLabels>> {
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
                let doubts = of.map(|of| of.doubts(cx, &self.models, images, &opinions)).transpose()?;
                doubts.into_iter().flatten().for_each(|caution| noticed.add(caution));
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

/// What a few draws, as they stand, were read as by the models of an oracle and by the classifier under test.
pub(super) struct JudgedDraws {
    /// Of each label, at most.
    of_each: usize,
    labels: Vec<i64>,
    /// Judge by judge.
    opinions: Vec<Vec<i64>>,
    /// The classifier's.
    own: Vec<i64>,
}

impl JudgedDraws {
    const AT_ALL: usize = 250;

    /// None yet, of draws of so many labels.
    pub fn of_labels(labels: usize) -> Self {
        // Few labels are asked about more often: of ten images little is to be told.
        let of_each = 40usize.div_ceil(labels.max(1)).max(10).min(Self::AT_ALL / labels.max(1)).max(1);
        Self { of_each, labels: vec![], opinions: vec![], own: vec![] }
    }

    /// Which of these are still wanted.
    fn wanted(&self, labels: &[i64]) -> Vec<usize> {
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        self.labels.iter().for_each(|label| *counts.entry(*label).or_default() += 1);
        let mut wants = |label: i64| {
            let count = counts.entry(label).or_default();
            *count += 1;
            *count <= self.of_each
        };
        let rows = (0..labels.len()).filter(|&i| wants(labels[i]));
        rows.take(Self::AT_ALL - self.labels.len()).collect()
    }

    fn keep(
        &mut self,
        rows: &[usize],
        labels: &[i64],
        own: &[i64],
        opinion: &dyn Fn(usize, usize) -> i64,
        judges: usize,
    ) {
        self.opinions.resize(judges, vec![]);
        for (i, &row) in rows.iter().enumerate() {
            self.labels.push(labels[row]);
            self.own.push(own[row]);
            self.opinions.iter_mut().enumerate().for_each(|(judge, all)| all.push(opinion(judge, i)));
        }
    }

    /// Asks the models of an oracle about those of a batch `N x C x H x W` that are still wanted; `own` is what the classifier answers to it.
    pub fn ask(&mut self, oracle: &Oracle, images: &Tensor, labels: &[i64], own: &[i64]) -> Result<()> {
        let rows = self.wanted(labels);
        if rows.is_empty() || oracle.models.is_empty() {
            return Ok(());
        }
        let places = rows.iter().map(|row| *row as i64).collect::<Vec<_>>();
        let some = images.f_index_select(0, &on_device(&Tensor::f_from_slice(&places)?, images.device())?)?;
        let opinions = oracle.opinions(&some)?;
        self.keep(&rows, labels, own, &|judge, i| opinions[judge][i], opinions.len());
        Ok(())
    }

    /// Of a batch that the models were asked about anyway.
    fn note(&mut self, opinions: &[Vec<i64>], labels: &[i64], own: &[i64]) {
        let rows = self.wanted(labels);
        self.keep(&rows, labels, own, &|judge, i| opinions[judge][rows[i]], opinions.len());
    }
}

/// Whose tests they are, for those who judge them.
pub(super) struct TestsOf<'a> {
    pub generator: &'a Generator,
    pub model: &'a Model,
    /// What the classifier answers to the tests.
    pub predictions: &'a [i64],
    pub draws: &'a JudgedDraws,
}

impl TestsOf<'_> {
    /// What answers to a few draws, as they stand, and to the tests say against judges: one that numbers classes otherwise or was made for other pixels calls
    /// labels lost that are not, and so does one that is the classifier under another name. What a generator draws that was finetuned against a classifier may
    /// have lost its labels, so that errors on it say nothing.
    fn doubts(&self, cx: &Cx, judges: &[Model], tests: &Dataset, opinions: &[Vec<i64>]) -> Result<Vec<String>> {
        let mut told = vec![];
        for ((judge, of_tests), of_draws) in judges.iter().zip(opinions).zip(&self.draws.opinions) {
            told.extend(self.doubt_of_draws(judge, of_draws));
            told.extend(self.doubt_of_lessons(judge));
            if of_tests == self.predictions && self.ranks_as(cx, judge, tests)? {
                told.push(format!(
                    "{}, of the oracle, answers as {} does to all {} tests, and its next two classes are the same: it may be the same classifier in another file, which is \
                     no judge",
                    judge.name,
                    self.model.name,
                    self.predictions.len()
                ));
            }
        }
        Ok(told)
    }

    fn doubt_of_lessons(&self, judge: &Model) -> Option<String> {
        /// Fewer images in common teach few mistakes in common.
        const IN_COMMON: f64 = 0.1;
        let share = judge.share_learned_with(self.model).filter(|share| *share >= IN_COMMON)?;
        Some(format!(
            "{}, of the oracle, learned from {:.0}% of the images that {} learned from: it may share its mistakes, and keep labels that people would not",
            judge.name,
            100.0 * share,
            self.model.name
        ))
    }

    fn doubt_of_draws(&self, judge: &Model, answers: &[i64]) -> Option<String> {
        /// Of draws, and in deviations of what two that read alike differ by at most.
        const READS_LESS: f64 = 0.15;
        const DEVIATIONS: f64 = 3.0;
        let Self { generator, model, draws, .. } = self;
        let classes = drawn_classes(generator)?;
        let mut read = AnswersToDraws::new();
        draws.labels.iter().zip(answers).for_each(|of| *read.entry((*of.0, *of.1)).or_default() += 1);
        let taught = generator.misread_by();
        if let Some(doubt) = judge.doubts_of_draws(&generator.name, classes, &read, taught) {
            return Some(format!("{doubt}; it is of the oracle, which may call labels lost of that alone"));
        }
        let n = draws.labels.len() as f64;
        let right = |answers: &[i64]| {
            answers.iter().zip(&draws.labels).filter(|(answer, label)| answer == label).count() as f64 / n
        };
        let (theirs, own) = (right(answers), right(&draws.own));
        (theirs + READS_LESS.max(DEVIATIONS * (0.5 / n).sqrt()) < own).then(|| {
            format!(
                "{}, of the oracle, reads {} of {n} draws as they were drawn, {} reads {}: labels that it calls lost may be its own errors",
                judge.name,
                number(theirs),
                model.name,
                number(own)
            )
        })
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

/// Among how many classes a generator draws; none where it takes no labels.
pub(super) fn drawn_classes(generator: &Generator) -> Option<usize> {
    match generator.encoded() {
        Some(encoded) => Some(encoded.classes().len()),
        None => usize::try_from(generator.classes()?).ok(),
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
