//! Tests that a generator draws: images that a classifier does not take for what they were drawn as.

use std::time::{Duration, Instant};

use serde_json::json;
use tch::Device;

use super::oracle::{
    JudgedDraws, KeptLabels, Oracle, TestsOf, counted, drawn_classes, kept_field, kept_json, kept_words,
};
use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Table, Tensor, Value, on_device};
use crate::data::{Dataset, MisreadBy, from_tensor, repeated};
use crate::generator::Generator;
use crate::maths::shares::CountedShare;
use crate::model::{AnswersToDraws, Model};

/// What is asked of a generator.
#[derive(Clone)]
pub struct WantedTests {
    /// Tests of each label.
    pub n: usize,
    /// What the classifier is to answer; `None`: anything but the label.
    pub target: Option<i64>,
    /// The labels that images are drawn as.
    pub labels: Vec<i64>,
    /// Images drawn per label, at most.
    pub draws: usize,
    /// Time per label, at most.
    pub seconds: Option<f64>,
    /// Is asked whether tests keep their label.
    pub oracle: Oracle,
    pub seed: u64,
}

/// What came of one label.
#[derive(Debug, Clone)]
pub struct LabelDraws {
    pub label: i64,
    /// Images that were kept, and images that were drawn up to the last of them or to the end.
    pub tests: usize,
    pub draws: usize,
    /// Whether the draws ended with the last test that was wanted.
    pub enough: bool,
    pub seconds: f64,
    /// How often the classifier gave each class among the images that were drawn, but those that a search took to where it gives none.
    pub answers: Vec<u64>,
    /// How often it gave each class among them as they were drawn, before any search.
    pub read: Vec<u64>,
}

impl LabelDraws {
    /// The share of its images that are misread, of all that could be drawn.
    pub fn misread(&self) -> CountedShare {
        match self.enough {
            true => CountedShare::sequential(self.tests, self.draws),
            false => CountedShare::new(self.tests, self.draws),
        }
    }
}

/// Tests with the labels that they were drawn as.
#[derive(Clone)]
pub struct GeneratedTests {
    pub images: Dataset,
    /// What the classifier answers to each.
    pub predictions: Vec<i64>,
    pub drawn: Vec<LabelDraws>,
    pub target: Option<i64>,
    /// Which of them keep their label, if anybody was asked.
    pub kept: Option<KeptLabels>,
    /// Whether the search began at what was drawn and looked on from there: shares are then of starts that became tests.
    searched: bool,
    /// The generator and the model, by name and digest.
    of: [(String, Digest); 2],
    cautions: Cautions,
    digest: Digest,
}

/// Latent vectors of different labels lie so far apart in the sequence of a seed.
const APART: usize = 1 << 40;

/// Tests that were kept so far.
pub(super) struct FoundTests {
    draws: JudgedDraws,
    images: Vec<Tensor>,
    labels: Vec<i64>,
    predictions: Vec<i64>,
    drawn: Vec<LabelDraws>,
}

/// One label's turn.
pub(super) struct LabelTurn {
    pub of: LabelDraws,
    /// How many can be drawn of it, where they are those of images.
    most: usize,
    began: Instant,
}

impl LabelTurn {
    pub fn new(generator: &Generator, label: i64, classes: usize) -> Self {
        let most = generator.encoded().map_or(usize::MAX, |encoded| encoded.count(label));
        let of = LabelDraws {
            label,
            tests: 0,
            draws: 0,
            enough: false,
            seconds: 0.0,
            answers: vec![0; classes],
            read: vec![0; classes],
        };
        Self { of, most, began: Instant::now() }
    }

    /// How many images are to be drawn next, at most `batch`; none if that is all.
    pub fn next(&self, wanted: &WantedTests, batch: usize) -> Option<usize> {
        let draws = wanted.draws.min(self.most);
        let enough = self.of.tests >= wanted.n || self.of.draws >= draws;
        (!enough && !self.late(wanted)).then(|| batch.min(draws - self.of.draws))
    }

    /// Whether the time is up.
    pub fn late(&self, wanted: &WantedTests) -> bool {
        let limit = wanted.seconds.map(|seconds| Duration::from_secs_f64(seconds.min(1e9)));
        limit.is_some_and(|limit| self.began.elapsed() >= limit)
    }
}

impl FoundTests {
    pub fn none(wanted: &WantedTests) -> Self {
        let draws = JudgedDraws::of_labels(wanted.labels.len());
        Self { draws, images: vec![], labels: vec![], predictions: vec![], drawn: vec![] }
    }

    /// Asks the oracle about a few images as they were drawn; `read` is what the classifier answered to them.
    pub fn ask(&mut self, oracle: &Oracle, images: &Tensor, label: i64, read: &[i64]) -> Result<()> {
        self.draws.ask(oracle, images, &vec![label; read.len()], read)
    }

    /// Adds those of a batch's images that are tests, up to the last that is wanted; how many these are. `read` is what the classifier answered to them
    /// as they were drawn.
    pub fn add(
        &mut self,
        turn: &mut LabelTurn,
        wanted: &WantedTests,
        images: &Tensor,
        (answers, read): (&[Option<i64>], &[i64]),
        test: impl Fn(usize) -> bool,
    ) -> Result<usize> {
        let mut chosen = vec![];
        for (i, &answer) in answers.iter().enumerate() {
            turn.of.draws += 1;
            if let Some(n) = usize::try_from(read[i]).ok().and_then(|class| turn.of.read.get_mut(class)) {
                *n += 1;
            }
            turn.of.answers.iter_mut().zip(0..).for_each(|(n, class)| *n += u64::from(answer == Some(class)));
            if let Some(answer) = answer.filter(|_| test(i)) {
                chosen.push(i as i64);
                self.predictions.push(answer);
                self.labels.push(turn.of.label);
                turn.of.tests += 1;
                if turn.of.tests == wanted.n {
                    turn.of.enough = true;
                    break;
                }
            }
        }
        if !chosen.is_empty() {
            let chosen = on_device(&Tensor::f_from_slice(&chosen)?, images.device())?;
            self.images.push(images.f_index_select(0, &chosen)?.f_to_device(Device::Cpu)?);
        }
        Ok(chosen.len())
    }

    pub fn end(&mut self, turn: LabelTurn) {
        self.drawn.push(LabelDraws { seconds: turn.began.elapsed().as_secs_f64(), ..turn.of });
    }

    /// What was found; `hint` is for the error if that is nothing. `searched`: whether what was drawn are starts of a search.
    pub fn tests(
        self,
        cx: &Cx,
        (generator, model): (&Generator, &Model),
        wanted: &WantedTests,
        (searched, hint): (bool, &str),
    ) -> Result<GeneratedTests> {
        if self.images.is_empty() {
            let draws: usize = self.drawn.iter().map(|of| of.draws).sum();
            if draws == 0 {
                return Err(Error::data("no image was drawn in that time").hint("allow more `seconds`"));
            }
            return Err(Error::data(format!(
                "none of {draws} {} gave a test of {}{}",
                if searched { "starts" } else { "images" },
                model.name,
                generator.cautions().ending()
            ))
            .hint(hint.to_string()));
        }
        let [c, h, w] = generator.image_shape()?;
        let pixels = Tensor::f_cat(&self.images, 0)?.f_reshape([-1, c, h, w])?;
        let names = match generator.encoded() {
            Some(encoded) => encoded.classes().to_vec(),
            None => (0..generator.classes().unwrap_or(1)).map(|label| label.to_string()).collect(),
        };
        let images = from_tensor(&pixels, self.labels, Some(names), false)?;
        let mut images = images.made_for(MisreadBy::Model(model.digest()));
        images.name = format!("tests of {}", model.name);
        images.record(cx);
        model.probe_on(cx, &images)?;
        let digest = Digest::of_parts(&[&images.digest().0, &model.digest().0, &generator.digest().0]);
        let of = [(generator.name.clone(), generator.digest()), (model.name.clone(), model.digest())];
        let mut cautions = model.cautions();
        cautions.extend(&generator.cautions());
        cautions.extend(&images.noticed());
        repeated(cx, &images, "tests", true)?.into_iter().for_each(|told| cautions.add(told));
        let made = TestsOf { generator, model, predictions: &self.predictions, draws: &self.draws };
        let kept = wanted.oracle.judge(cx, &images, Some(&made))?;
        let Self { predictions, drawn, .. } = self;
        let mut read = AnswersToDraws::new();
        for of in &drawn {
            let given = of.read.iter().enumerate().filter(|(_, n)| **n > 0);
            given.for_each(|(class, n)| *read.entry((of.label, class as i64)).or_default() += n);
        }
        if let Some(doubt) = misread_throughout(generator, model, &read) {
            cautions.add(doubt);
        }
        let images = images.chosen(&format!("{} misreads them", model.name));
        Ok(GeneratedTests { images, predictions, drawn, target: wanted.target, kept, searched, of, cautions, digest })
    }
}

/// What the answers to what a generator draws, each behind its label, say against the classifier, so that tests are of pixels or numbers that
/// it was not made for.
pub(super) fn misread_throughout(generator: &Generator, model: &Model, read: &AnswersToDraws) -> Option<String> {
    let classes = drawn_classes(generator)?;
    let doubt = model.doubts_of_draws(&generator.name, classes, read, generator.misread_by());
    doubt.map(|doubt| format!("{doubt}; tests may be of that alone"))
}

/// Draws images of each label and keeps those that the classifier gets wrong (as the target), until there are enough, the draws are used
/// up, or the time is.
pub fn generated_tests(cx: &Cx, generator: &Generator, model: &Model, wanted: &WantedTests) -> Result<GeneratedTests> {
    let classes = model.classes().ok_or_else(|| Error::internal("a model without classes"))? as usize;
    let batch = generator.batch_size(cx)?;
    let task = cx.progress("drawing tests", Some((wanted.n * wanted.labels.len()) as u64));
    let mut found = FoundTests::none(wanted);
    for &label in &wanted.labels {
        let mut turn = LabelTurn::new(generator, label, classes);
        while let Some(count) = turn.next(wanted, batch) {
            cx.check()?;
            let latents = wanted.latents(generator, &turn, count)?;
            let given = latents.f_new_full([count as i64], label, (tch::Kind::Int64, latents.device()))?;
            let (images, answers) = tch::no_grad(|| {
                let images = generator.images(&latents, Some(&given))?;
                let answers = model.answers(&images)?;
                Ok::<_, Error>((images, answers))
            })?;
            found.ask(&wanted.oracle, &images, label, &answers)?;
            let read = answers.clone();
            let answers: Vec<_> = answers.into_iter().map(Some).collect();
            let test = |i: usize| answers[i].is_some_and(|answer| wanted.met(label, answer));
            task.advance(found.add(&mut turn, wanted, &images, (&answers, &read), test)? as u64);
        }
        found.end(turn);
    }
    let hint =
        "finetune the generator against this classifier first: generator::finetune(g, f, ds), or allow more `draws`";
    found.tests(cx, (generator, model), wanted, (false, hint))
}

impl WantedTests {
    /// Whether an image drawn as `label` that is answered so fails the classifier.
    pub(super) fn met(&self, label: i64, answer: i64) -> bool {
        self.target.map_or(answer != label, |target| answer == target)
    }

    /// The next latent vectors of a label.
    pub(super) fn latents(&self, generator: &Generator, turn: &LabelTurn, count: usize) -> Result<Tensor> {
        if let Some(encoded) = generator.encoded() {
            let of_label = encoded.of_label(self.seed, turn.of.label);
            return on_device(&encoded.latents(&of_label, turn.of.draws, count)?, generator.device());
        }
        generator.latents(self.seed, turn.of.label as usize * APART + turn.of.draws, count)
    }
}

impl GeneratedTests {
    fn table(&self) -> Table {
        let of = |f: &dyn Fn(&LabelDraws) -> Value| self.drawn.iter().map(f).collect();
        let misread = |which: fn(CountedShare) -> f64| of(&|d| Value::Float(which(d.misread())));
        let table = Table::default()
            .column("label", of(&|d| Value::Int(d.label)))
            .column("tests", of(&|d| Value::Int(d.tests as i64)))
            .column("draws", of(&|d| Value::Int(d.draws as i64)))
            .column(self.share_name(), misread(|share| share.value))
            .column(format!("{}_lo", self.share_name()), misread(|share| share.lo))
            .column(format!("{}_hi", self.share_name()), misread(|share| share.hi));
        let Some(judged) = &self.kept else {
            return table.column("judged_by", of(&|_| Value::Str("nobody".into())));
        };
        let kept = |label: i64| {
            let own = self.images.labels().iter().zip(&judged.kept).filter(move |(own, _)| **own == label);
            CountedShare::of_marks(own.filter_map(|(_, kept)| *kept))
        };
        let kept = |which: fn(CountedShare) -> f64| of(&|d| Value::Float(which(kept(d.label))));
        table
            .column("label_kept", kept(|share| share.value))
            .column("kept_lo", kept(|share| share.lo))
            .column("kept_hi", kept(|share| share.hi))
            .column("judged_by", of(&|_| Value::Str(judged.judged_by.clone())))
    }

    /// What is counted: images that are misread, or starts that a search made tests of.
    fn share_name(&self) -> &'static str {
        if self.searched { "found" } else { "misread" }
    }

    /// Images of all labels that were drawn and that became tests.
    fn totals(&self) -> (usize, usize) {
        let sum = |f: fn(&LabelDraws) -> usize| self.drawn.iter().map(f).sum();
        (sum(|d| d.draws), sum(|d| d.tests))
    }

    /// The same tests, and what others say of them.
    pub fn judged(&self, cx: &Cx, oracle: &Oracle) -> Result<Self> {
        Ok(Self { kept: oracle.judge(cx, &self.images, None)?, ..self.clone() })
    }

    pub fn cautions(&self) -> Cautions {
        let mut cautions = self.cautions.clone();
        self.kept.iter().for_each(|judged| cautions.extend(&judged.cautions));
        let named = |which: &dyn Fn(&LabelDraws) -> bool| {
            let labels: Vec<String> = self.drawn.iter().filter(|d| which(d)).map(|d| d.label.to_string()).collect();
            (!labels.is_empty()).then(|| labels.join(", "))
        };
        if let Some(labels) = named(&|d| d.draws == 0) {
            cautions.add(format!("no image of {labels} was drawn in that time, so the share is of the other labels"));
        }
        if let Some(labels) = named(&|d| d.enough && d.tests == 1) {
            cautions.add(format!("draws of {labels} ended with their first test, which says too large a share on average: want two or more"));
        }
        let (draws, _) = self.totals();
        let answered: u64 = self.drawn.iter().flat_map(|d| &d.answers).sum();
        if let Some(lost @ 1..) = (draws as u64).checked_sub(answered) {
            cautions.add(format!(
                "{lost} of {draws} starts were taken to where scores are no finite numbers, and count as none that became tests: take a smaller `lr`"
            ));
        }
        cautions
    }

    /// The share of images that are misread, each label counting alike.
    fn share(&self) -> CountedShare {
        let mean = CountedShare::mean(&self.drawn.iter().map(LabelDraws::misread).collect::<Vec<_>>());
        // About a value that is too large on average no interval can be laid.
        if !self.drawn.iter().any(|d| d.enough && d.tests == 1) {
            return mean;
        }
        let known: Vec<&LabelDraws> = self.drawn.iter().filter(|d| d.draws > 0).collect();
        let ends = known.iter().map(|d| CountedShare::ends(d.tests, d.draws, d.enough, known.len()));
        let (lo, hi) = ends.fold((0.0, 0.0), |(lo, hi), end| (lo + end.0, hi + end.1));
        CountedShare { lo: lo / known.len() as f64, hi: hi / known.len() as f64, ..mean }
    }
}

impl Object for GeneratedTests {
    fn kind(&self) -> &'static str {
        "GeneratedTests"
    }

    fn summary(&self) -> String {
        let (draws, tests) = self.totals();
        let target = self.target.map_or(String::new(), |target| format!(" as {target}"));
        let none: Vec<String> = self.drawn.iter().filter(|of| of.tests == 0).map(|of| of.label.to_string()).collect();
        let never = if none.is_empty() { String::new() } else { format!("; none was drawn as {}", none.join(", ")) };
        let share = match self.searched {
            true => format!("{draws} starts, {} of which became tests{target}", self.share().words()),
            false => format!("{draws} drawn, {} misread{target}", self.share().words()),
        };
        format!(
            "{} from {}: {share}{}{never}{}",
            counted(tests, &self.of[1].0, self.kept.as_ref()),
            self.of[0].0,
            kept_words(self.kept.as_ref()),
            self.cautions().ending()
        )
    }

    fn details(&self, width: usize) -> String {
        format!("{}\n{}", self.summary(), self.table().text(width, 40))
    }

    fn fields(&self) -> &'static [&'static str] {
        &[
            "images",
            "predictions",
            "target",
            "labels",
            "tests",
            "draws",
            "share",
            "share_lo",
            "share_hi",
            "kept",
            "kept_share",
            "kept_lo",
            "kept_hi",
            "judged_by",
            "missing",
            "answers",
            "seconds_per_test",
            "cautions",
        ]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        if let Some(value) = kept_field(self.kept.as_ref(), name) {
            return Ok(Some(value));
        }
        let (_, tests) = self.totals();
        let ints = |f: &dyn Fn(&LabelDraws) -> i64| Value::ints(self.drawn.iter().map(f));
        Ok(Some(match name {
            "images" => Value::object(match self.kept {
                Some(_) => self.images.clone(),
                None => self.images.clone().with_noticed(vec![format!(
                    "labels of {} are as intended, nobody has judged them",
                    self.images.name
                )]),
            }),
            "predictions" => Value::ints(self.predictions.iter().copied()),
            "target" => self.target.map_or(Value::Unit, Value::Int),
            "cautions" => self.cautions().value(),
            "tests" => ints(&|of| of.tests as i64),
            "draws" => ints(&|of| of.draws as i64),
            "share" => Value::Float(self.share().value),
            "share_lo" => Value::Float(self.share().lo),
            "share_hi" => Value::Float(self.share().hi),
            "seconds_per_test" => {
                Value::Float(self.drawn.iter().map(|of| of.seconds).sum::<f64>() / tests.max(1) as f64)
            }
            "labels" => ints(&|of| of.label),
            "missing" => Value::ints(self.drawn.iter().filter(|of| of.tests == 0).map(|of| of.label)),
            "answers" => {
                let counts: Vec<i64> = self.drawn.iter().flat_map(|of| of.answers.iter().map(|&n| n as i64)).collect();
                let rows = self.drawn.len() as i64;
                Value::tensor(Tensor::f_from_slice(&counts)?.f_reshape([rows, -1])?)
            }
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        match &self.kept {
            None => self.digest,
            Some(judged) => Digest::of_parts(&[&self.digest.0, &judged.digest().0]),
        }
    }

    fn json(&self) -> serde_json::Value {
        let rows = self
            .drawn
            .iter()
            .map(|of| json!({ "label": of.label, "tests": of.tests, "draws": of.draws, self.share_name(): of.misread().json(), "answers": of.answers }));
        let per_label: Vec<serde_json::Value> = rows.collect();
        json!({
            self.share_name(): self.share().json(),
            "label_kept": kept_json(self.kept.as_ref()),
            "generator": self.of[0].0,
            "generator_hash": self.of[0].1.hex(),
            "model": self.of[1].0,
            "model_hash": self.of[1].1.hex(),
            "version": env!("CARGO_PKG_VERSION"),
            "target": self.target,
            "labels": per_label,
            "intended": self.images.labels(),
            "predictions": self.predictions,
            "cautions": self.cautions().json(),
        })
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions().beside(Self::table(self)))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
