//! Tests made by changing the activations of a generator while it draws (Dunn's thesis, chapter 5): fresh seeds that the classifier reads
//! as they were drawn, each changed until it fails.

use std::rc::Rc;

use rand::Rng;
use serde_json::json;
use tch::{Device, Kind};

use super::generated::misread_throughout;
use super::measure::Measure;
use super::oracle::{JudgedDraws, KeptLabels, Oracle, TestsOf, counted, kept_field, kept_json, kept_words};
use super::{Densities, Examination, Search, Transcript};
use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Table, Tensor, Value, on_device, random};
use crate::data::{Dataset, MisreadBy, from_tensor, repeated};
use crate::generator::Generator;
use crate::maths::shares::CountedShare;
use crate::model::{AnswersToDraws, Model};
use crate::objective::{Loss, Misclassify, Objective, Targets};
use crate::space::Latent;

/// What the classifier is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedAnswer {
    /// Anything but the label.
    Any,
    Class(i64),
    /// A wrong class for each seed, drawn uniformly; the same one whatever the classifier.
    Random,
}

pub struct Perturbation {
    pub space: Rc<Latent>,
    pub search: Rc<dyn Search>,
    pub target: WantedAnswer,
    /// By how much scores are to lead.
    pub lead: f64,
    /// What is followed, if not the lead.
    pub loss: Option<Loss>,
    /// Seeds that are changed.
    pub n: usize,
    /// Seeds that are drawn, at most.
    pub draws: usize,
    /// What seeds are drawn as, in turn.
    pub labels: Vec<i64>,
    /// Must read a seed as it was drawn.
    pub oracle: Oracle,
    /// What is measured of every row.
    pub measures: Vec<&'static Measure>,
    pub batch: Option<usize>,
    pub seed: u64,
}

/// What became of the seeds.
#[derive(Clone)]
pub struct PerturbedTests {
    /// One row per seed that was changed.
    pub transcript: Transcript,
    pub seeds: Dataset,
    /// Where each seed stands in the sequence that is drawn, the same for all classifiers and layers.
    pub places: Vec<usize>,
    /// The tests, with the labels that they were drawn as; `None` where no seed became one.
    pub images: Option<Dataset>,
    /// Seeds that were drawn, that the classifier got wrong, and that the oracle does not take for what they were drawn as.
    pub drawn: usize,
    pub misread: usize,
    pub rejected: usize,
    /// Which tests the oracle still reads as they were drawn, if there is one.
    pub kept: Option<KeptLabels>,
    /// The generator and the model, by name and digest.
    of: [(String, Digest); 2],
    /// What the answers to all that was drawn say against the classifier.
    doubt: Option<String>,
    /// What is to be said of seeds that are copies of others.
    repeated: Option<String>,
}

/// Parts of the stream that targets are drawn from.
const TARGETS: u64 = 1 << 58;

pub fn perturbed_tests(cx: &Cx, generator: &Generator, model: &Model, how: &Perturbation) -> Result<PerturbedTests> {
    let classes = model.classes().ok_or_else(|| Error::internal("a model without classes"))?;
    let chosen = choose(cx, generator, model, how, classes)?;
    let n = chosen.seeds.len();
    let objective: Objective = match how.target {
        WantedAnswer::Any => Misclassify.into(),
        WantedAnswer::Class(class) => crate::objective::Target(class).into(),
        WantedAnswer::Random => Targets(chosen.targets.into()).into(),
    };
    let plan = Examination {
        model,
        data: &chosen.seeds,
        space: how.space.clone(),
        search: how.search.clone(),
        objective: Objective { lead: how.lead, loss: how.loss, ..objective },
        levels: vec![],
        steps: vec![],
        densities: Densities::WhereKnown,
        measures: how.measures.clone(),
        batch: how.batch,
        seed: how.seed,
    };
    // What seeds and images are of must be one.
    let _in_whole = super::in_whole(cx, "generator::perturb");
    let transcript = super::examine(cx, &plan)?;
    let repeated = repeated(cx, &chosen.seeds, "seeds", false)?;
    let tests = transcript.fooled();
    let (mut images, mut kept) = (None, None);
    if !tests.is_empty() {
        let labels = tests.rows.iter().map(|row| i64::from(row.label)).collect();
        let pixels = tests.images(cx, true)?;
        let set = from_tensor(&pixels, labels, Some(chosen.seeds.classes().to_vec()), false)?;
        let mut set = set.made_for(MisreadBy::Model(model.digest()));
        set.name = format!("tests of {}", model.name);
        set.record(cx);
        let predictions: Vec<i64> = tests.rows.iter().map(|row| i64::from(row.after)).collect();
        let made = TestsOf { generator, model, predictions: &predictions, draws: &chosen.judged };
        kept = how.oracle.judge(cx, &set, Some(&made))?;
        images = Some(set.chosen(&format!("{} misreads them", model.name)));
    }
    debug_assert_eq!(n, transcript.len());
    let Chosen { seeds, places, drawn, misread, rejected, doubt, .. } = chosen;
    let seeds = seeds.chosen(&format!("{} reads them as they are labelled", model.name));
    let of = [(generator.name.clone(), generator.digest()), (model.name.clone(), model.digest())];
    Ok(PerturbedTests { transcript, seeds, places, images, drawn, misread, rejected, kept, of, doubt, repeated })
}

/// Seeds that are worth changing.
struct Chosen {
    seeds: Dataset,
    places: Vec<usize>,
    targets: Vec<i64>,
    drawn: usize,
    misread: usize,
    rejected: usize,
    doubt: Option<String>,
    judged: JudgedDraws,
}

fn choose(cx: &Cx, generator: &Generator, model: &Model, how: &Perturbation, classes: i64) -> Result<Chosen> {
    let task = cx.progress("drawing seeds", Some(how.n as u64));
    let batch = generator.batch_size(cx)?;
    let (mut images, mut latents, mut asked, mut labels, mut targets) = (vec![], vec![], vec![], vec![], vec![]);
    let (mut places, mut drawn, mut misread, mut rejected) = (vec![], 0, 0, 0);
    let mut answers = AnswersToDraws::new();
    let mut judged = JudgedDraws::of_labels(how.labels.len());
    let draws = generator.encoded().map_or(how.draws, |encoded| how.draws.min(encoded.len()));
    while labels.len() < how.n && drawn < draws {
        cx.check()?;
        let count = batch.min(draws - drawn);
        let z = generator.latents(how.seed, drawn, count)?;
        let of: Vec<i64> = match (generator.encoded(), generator.classes()) {
            (Some(encoded), _) => encoded.labels(&encoded.in_order(how.seed), drawn, count)?,
            (None, Some(_)) => (drawn..drawn + count).map(|i| how.labels[i % how.labels.len()]).collect(),
            (None, None) => vec![0; count],
        };
        let pictures = generator.images_of(&z, Some(&of))?;
        let read = model.answers(&pictures)?;
        // Where nothing says what an image shows, the classifier is taken to be right to begin with.
        let said = generator.classes().is_some() || generator.encoded().is_some();
        let intended: Vec<i64> = if said { of.clone() } else { read.clone() };
        let shown = how.oracle.accepts(cx, &pictures, (&intended, &read), &mut judged)?;
        let mut rows = vec![];
        let before = labels.len();
        for i in 0..count {
            let number = drawn + i;
            if labels.len() == how.n {
                drawn = number;
                break;
            }
            if said {
                *answers.entry((of[i], read[i])).or_default() += 1;
            }
            if read[i] != intended[i] {
                misread += 1;
            } else if !shown[i] {
                rejected += 1;
            } else {
                rows.push(i as i64);
                labels.push(intended[i]);
                asked.push(of[i]);
                places.push(number);
                let other = random(how.seed, TARGETS + number as u64).gen_range(0..classes - 1);
                targets.push(other + i64::from(other >= intended[i]));
            }
            if i + 1 == count {
                drawn = number + 1;
            }
        }
        if !rows.is_empty() {
            let rows = on_device(&Tensor::f_from_slice(&rows)?, z.device())?;
            images.push(pictures.f_index_select(0, &rows)?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?);
            latents.push(z.f_index_select(0, &rows)?.f_to_device(Device::Cpu)?);
        }
        task.advance((labels.len() - before) as u64);
    }
    if labels.is_empty() {
        return Err(Error::data(format!(
            "of {drawn} seeds {misread} are misread by {} and {rejected} rejected by the oracle, none is left",
            model.name
        ))
        .hint("does the classifier know these images? g.sample(..) draws what it is shown"));
    }
    if labels.len() < how.n {
        cx.warn(format!(
            "only {} seeds of {} wanted: {drawn} were drawn, {misread} misread, {rejected} rejected",
            labels.len(),
            how.n
        ));
    }
    let mut seeds = generator.drawn(cx, &Tensor::f_cat(&images, 0)?, &Tensor::f_cat(&latents, 0)?, asked)?;
    if generator.classes().is_none() && generator.encoded().is_none() {
        // Labels are the classifier's answers, of which the last class need not be among these.
        let numbered = || model.classes().map(|classes| (0..classes).map(|label| label.to_string()).collect());
        let names = model.class_names().map(<[String]>::to_vec).or_else(numbered);
        seeds = seeds.relabelled(labels, names)?;
    }
    let doubt = misread_throughout(generator, model, &answers);
    Ok(Chosen { seeds, places, targets, drawn, misread, rejected, doubt, judged })
}

impl PerturbedTests {
    /// The same tests, and what others say of them.
    pub fn judged(&self, cx: &Cx, oracle: &Oracle) -> Result<Self> {
        let kept = self.images.as_ref().map(|images| oracle.judge(cx, images, None)).transpose()?;
        Ok(Self { kept: kept.flatten(), ..self.clone() })
    }

    pub fn cautions(&self) -> Cautions {
        let mut cautions = self.transcript.of.cautions.clone();
        [&self.doubt, &self.repeated].into_iter().flatten().for_each(|told| cautions.add(told.clone()));
        // They were chosen as those that are read rightly.
        let before = self.transcript.rows.iter().filter(|row| row.wrong_before()).count();
        if before > 0 {
            cautions.add(format!(
                "{before} of {} seeds that were read as intended are not when they are drawn again, before any change: the share counts them as seeds that \
                 no change made fail, and sizes of changes are of the others",
                self.transcript.len()
            ));
        }
        self.kept.iter().for_each(|judged| cautions.extend(&judged.cautions));
        cautions
    }

    /// Seeds that became tests, of those that were changed.
    fn share(&self) -> CountedShare {
        CountedShare::of_marks(self.transcript.rows.iter().map(|row| row.fooled()))
    }
}

impl Object for PerturbedTests {
    fn kind(&self) -> &'static str {
        "PerturbedTests"
    }

    fn summary(&self) -> String {
        let tests = self.images.as_ref().map_or(0, Dataset::len);
        format!(
            "{} from {} seeds of {}: share {}{}; {} drawn, {} misread, {} rejected{}",
            counted(tests, &self.of[1].0, self.kept.as_ref()),
            self.transcript.len(),
            self.of[0].0,
            self.share().words(),
            kept_words(self.kept.as_ref()),
            self.drawn,
            self.misread,
            self.rejected,
            self.cautions().ending()
        )
    }

    fn details(&self, width: usize) -> String {
        format!("{}\n{}", self.summary(), self.transcript.details(width))
    }

    fn fields(&self) -> &'static [&'static str] {
        &[
            "images",
            "originals",
            "targets",
            "predictions",
            "magnitudes",
            "steps",
            "share",
            "share_lo",
            "share_hi",
            "kept",
            "kept_share",
            "kept_lo",
            "kept_hi",
            "judged_by",
            "drawn",
            "misread",
            "rejected",
            "seeds",
            "places",
            "transcript",
            "cautions",
        ]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let tests = self.transcript.fooled();
        let ints = |f: &dyn Fn(&super::Row) -> i64| Value::ints(tests.rows.iter().map(f));
        if let Some(value) = kept_field(self.kept.as_ref(), name) {
            return Ok(Some(value));
        }
        Ok(Some(match name {
            "transcript" => Value::object(self.transcript.clone()),
            "cautions" => self.cautions().value(),
            "seeds" => Value::object(self.seeds.clone()),
            "places" => Value::ints(self.places.iter().map(|&place| place as i64)),
            "images" => self.images.clone().map_or(Value::Unit, Value::object),
            "originals" if tests.is_empty() => Value::Unit,
            "originals" => {
                let rows: Vec<usize> = tests.rows.iter().map(|row| row.id as usize).collect();
                Value::object(self.seeds.select(&rows)?)
            }
            "targets" => Value::Array(
                tests
                    .rows
                    .iter()
                    .map(|row| row.target.map_or(Value::Unit, |target| Value::Int(target.into())))
                    .collect(),
            ),
            "predictions" => ints(&|row| row.after.into()),
            "magnitudes" => Value::floats(tests.rows.iter().map(|row| f64::from(row.magnitude))),
            "steps" => ints(&|row| row.step.unwrap_or(0).into()),
            "share" => Value::Float(self.share().value),
            "share_lo" => Value::Float(self.share().lo),
            "share_hi" => Value::Float(self.share().hi),
            "drawn" => Value::Int(self.drawn as i64),
            "misread" => Value::Int(self.misread as i64),
            "rejected" => Value::Int(self.rejected as i64),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        match &self.kept {
            None => self.transcript.digest(),
            Some(judged) => Digest::of_parts(&[&self.transcript.digest().0, &judged.digest().0]),
        }
    }

    fn json(&self) -> serde_json::Value {
        let share = self.share();
        json!({
            "generator": self.of[0].0, "generator_hash": self.of[0].1.hex(), "model": self.of[1].0, "model_hash": self.of[1].1.hex(), "drawn": self.drawn, "misread": self.misread,
            "rejected": self.rejected, "share": share.value, "share_lo": share.lo, "share_hi": share.hi,
            "label_kept": kept_json(self.kept.as_ref()), "cautions": self.cautions().json(), "transcript": self.transcript.json(),
        })
    }

    fn table(&self) -> Option<Table> {
        let mut kept = self.kept.iter().flat_map(|judged| &judged.kept);
        let of_row = |row: &super::Row| match row.fooled() {
            true => kept.next().copied().flatten().map_or(Value::Unit, Value::Bool),
            false => Value::Unit,
        };
        let marks = self.transcript.rows.iter().map(of_row).collect();
        let by = self.kept.as_ref().map_or("nobody", |judged| &judged.judged_by);
        let by = vec![Value::Str(by.into()); self.transcript.len()];
        Some(self.transcript.table()?.column("label_kept", marks).column("judged_by", by))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
