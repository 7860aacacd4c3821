//! A task: what people are asked, who is asked what in which order, and by which rules answers count. It is kept in a folder as pictures and one
//! sealed file, whose digest answers carry.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::judgements::INTENDED;
use super::kind::{NEVER, NONE, QuestionKind, SHOWN};
use super::rules::Rules;
use super::shown::ShownImages;
use crate::core::files::{broken_seal, read, sealed};
use crate::core::{Budget, Cautions, Cx, Digest, Error, Result, random, strict_json};
use crate::plot::Picture;

/// The file that says all of a task.
pub const TASK_FILE: &str = "task.json";
/// What `viva label` writes down beside it: one answer in each line.
pub const ANSWERS_LOG: &str = "answers.jsonl";
/// The folder of its pictures.
pub const PICTURES: &str = "pictures";

/// Questions of all workers together, at most.
const MOST_QUESTIONS: usize = 500_000;

/// Bytes of a task's file, at most, and of a picture.
const LARGEST: u64 = 512 << 20;
const LARGEST_PICTURE: u64 = 64 << 20;

/// What a task is made by.
#[derive(Debug, Clone)]
pub struct TaskPlan {
    pub kind: QuestionKind,
    /// Items that are drawn from the images; all where there are no more.
    pub n: Option<usize>,
    /// Workers who judge an item.
    pub overlap: usize,
    /// Items that a worker judges, at most, beside questions whose answer is known.
    pub per_worker: usize,
    /// Questions whose answer is known, of each worker.
    pub gold: usize,
    /// Questions at the beginning whose answer the instructions give.
    pub checks: usize,
    pub least_seconds: f64,
    pub pause: f64,
    /// Seconds that real pictures are looked at before the first question.
    pub study: f64,
    /// Where who has answered everything is sent; nowhere where it is empty.
    pub completion: String,
    pub rules: Rules,
    /// What there is to be more of, and of each image whether more of it tells.
    pub attribute: Option<(String, Vec<bool>)>,
    /// What else was used, such as a model: what, its name, its hash.
    pub of: Vec<[String; 3]>,
    pub seed: u64,
}

/// An image that people are asked about.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskItem {
    pub id: String,
    pub picture: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// What it is grouped by: `label`, `target` and others.
    pub about: BTreeMap<String, String>,
    /// Whether there is more of an attribute where it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<bool>,
    /// The words that are right, where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub right: Vec<String>,
}

/// What a question is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Test,
    /// Its answer is known.
    Known,
    /// The instructions say what to answer.
    Check,
}

/// A question as one worker sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Question {
    pub item: String,
    pub role: Role,
    /// From left to right and from top to bottom.
    pub pictures: Vec<String>,
    /// Where the generated picture stands, or the one in which more tells.
    #[serde(default)]
    pub place: usize,
}

/// All that a task's file says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskText {
    pub viva: String,
    pub kind: QuestionKind,
    pub question: String,
    pub instructions: Vec<String>,
    pub choices: Vec<String>,
    pub words: Vec<String>,
    pub classes: Vec<String>,
    #[serde(default)]
    pub attribute: String,
    pub seed: u64,
    pub overlap: usize,
    pub per_worker: usize,
    /// The word that the first questions must be answered with.
    pub check: String,
    pub least_seconds: f64,
    pub pause: f64,
    pub study_seconds: f64,
    #[serde(default)]
    pub completion: String,
    /// Width and height of every picture.
    #[serde(default)]
    pub size: [usize; 2],
    pub rules: Rules,
    /// What the images are of, and what was used.
    pub of: Vec<[String; 3]>,
    pub cautions: Vec<String>,
    pub items: Vec<TaskItem>,
    /// Items whose answer is known.
    pub known: Vec<TaskItem>,
    /// Real pictures to look at first.
    pub study: Vec<String>,
    /// What each worker is asked, in this order.
    pub slots: Vec<Vec<Question>>,
}

/// What people are asked.
#[derive(Debug, Clone)]
pub struct PeopleTask {
    pub folder: PathBuf,
    pub text: TaskText,
    /// Of its file.
    pub digest: Digest,
}

/// Pictures by what their file is called: nothing that tells what they show.
#[derive(Default)]
struct Album(BTreeMap<String, Vec<u8>>);

/// What a picture's file is called.
fn album_name(png: &[u8]) -> String {
    Digest::of(png).hex()[..20].to_string()
}

impl Album {
    fn add(&mut self, picture: &Picture) -> Result<String> {
        let png = picture.png()?;
        let name = album_name(&png);
        self.0.insert(name.clone(), png);
        Ok(name)
    }
}

/// A picture that nobody takes for a real one: grey noise of the same size.
fn noise(like: &Picture, rng: &mut impl Rng) -> Result<Picture> {
    let grey = (0..like.width * like.height).flat_map(|_| [rng.r#gen::<u8>(); 3]);
    Picture::new(like.width, like.height, grey.collect())
}

/// Parts of the seed's stream.
const CHOSEN: u64 = 1;
const KNOWN: u64 = 2;
const ROUNDS: u64 = 3;
const SLOTS: u64 = 1 << 20;

struct Maker<'a> {
    plan: &'a TaskPlan,
    shown: &'a ShownImages,
    real: Option<&'a ShownImages>,
    album: Album,
}

impl Maker<'_> {
    fn check(&self) -> Result<()> {
        let (kind, plan) = (self.plan.kind, self.plan);
        let name = kind.name();
        let wrong = |what: String, hint: &str| Err(Error::argument(what).hint(hint));
        if self.shown.originals.is_none() && matches!(kind, QuestionKind::KeepsLabel | QuestionKind::Attribute) {
            return wrong(
                format!("{name:?} shows what each image was before it was changed, and nobody says what that is"),
                "give `originals`, or a transcript or PerturbedTests, which know",
            );
        }
        if kind == QuestionKind::Attribute && plan.attribute.is_none() {
            return wrong(
                format!("{name:?} asks in which picture there is more of something"),
                "name it: `attribute: \"red in the ball\"`, and by `more` whether more of it tells",
            );
        }
        if plan.checks > 0 && !kind.takes_checks() {
            return wrong(
                format!("{name:?} takes no `instructed` questions"),
                "its first questions can't be answered alike whatever they show",
            );
        }
        let needs_real = match kind {
            QuestionKind::Pair | QuestionKind::OddOneOut => Some("it shows real pictures beside generated ones"),
            QuestionKind::Label | QuestionKind::KeepsLabel if plan.gold > 0 => {
                Some("`gold` questions, whose answers are known, are made of real images")
            }
            _ => None,
        };
        if let (None, Some(why)) = (self.real, needs_real) {
            return wrong(
                format!("{name:?} needs `real`: {why}"),
                "give a data set with the same classes; or `gold: 0`, if no careless worker is to be found",
            );
        }
        if let (QuestionKind::Label, Some(class)) =
            (kind, self.shown.classes.iter().find(|class| class.trim().eq_ignore_ascii_case(NONE)))
        {
            return wrong(
                format!("a class is called {class:?}, which is also what says that a picture shows none of them"),
                "ds.relabel(.., #{ classes: .. }) gives it another name, such as \"background\"",
            );
        }
        let named_twice = |class: &String| {
            self.shown.classes.iter().filter(|other| *other == class).count() > 1
                && (kind == QuestionKind::Label
                    || (0..self.shown.labels.len()).any(|place| self.shown.intended(place) == *class))
        };
        if let (QuestionKind::Label | QuestionKind::KeepsLabel, Some(class)) =
            (kind, self.shown.classes.iter().find(|class| named_twice(class)))
        {
            return wrong(
                format!("two classes are called {class:?}, and nobody could say which of them a picture shows"),
                "ds.relabel(.., #{ classes: .. }) gives each a name of its own",
            );
        }
        let Some(real) = self.real else { return Ok(()) };
        if real.classes != self.shown.classes {
            return wrong(
                format!(
                    "the real images have classes {}, the tests {}",
                    real.classes.join(", "),
                    self.shown.classes.join(", ")
                ),
                "ds.relabel(.., #{ classes: .. }) names those of a data set",
            );
        }
        let size = |shown: &ShownImages| shown.pictures.first().map(|picture| (picture.width, picture.height));
        if size(real) != size(self.shown) {
            return wrong(
                "the real images are of another size than the tests: that would tell".into(),
                "load both at one size",
            );
        }
        let beside = if kind == QuestionKind::OddOneOut { SHOWN - 1 } else { 1 };
        if matches!(kind, QuestionKind::Pair | QuestionKind::OddOneOut) {
            for label in self.shown.labels.iter().collect::<BTreeSet<_>>() {
                let n = real.labels.iter().filter(|own| *own == label).count();
                if n < beside {
                    let class = &self.shown.classes[*label as usize];
                    return wrong(
                        format!("{n} real images of {class}, {beside} stand beside each test of it"),
                        "give more of them",
                    );
                }
            }
        }
        Ok(())
    }

    /// The tests that are asked about, each once.
    fn items(&mut self, cautions: &mut Cautions) -> Result<Vec<(usize, TaskItem)>> {
        let mut places: Vec<usize> = (0..self.shown.pictures.len()).collect();
        places.shuffle(&mut random(self.plan.seed, CHOSEN));
        let (mut seen, mut items, mut again, mut alike) = (BTreeSet::new(), vec![], 0, 0);
        let of: Vec<u8> = self
            .shown
            .of
            .iter()
            .chain(&self.plan.of)
            .flatten()
            .flat_map(|text| [text.as_bytes(), b"\n"].concat())
            .collect();
        for place in places {
            if items.len() == self.plan.n.unwrap_or(usize::MAX) {
                break;
            }
            let mut about: BTreeMap<String, String> = self
                .shown
                .about
                .iter()
                .map(|(column, values)| (column.clone(), values[place].clone()))
                .filter(|(_, value)| !value.is_empty())
                .collect();
            about.insert("label".into(), self.shown.intended(place));
            let original = self.shown.originals.as_ref().map(|originals| &originals[place]);
            let facts: String = about.iter().map(|(column, value)| format!("{column}={value}\n")).collect();
            let before = original.map_or(&[][..], |picture| &picture.rgb);
            let id = Digest::of_parts(&[&self.shown.pictures[place].rgb, before, facts.as_bytes(), &of]).hex()[..16]
                .to_string();
            if !seen.insert(id.clone()) {
                again += 1;
                continue;
            }
            alike += usize::from(original.is_some_and(|before| before.rgb == self.shown.pictures[place].rgb));
            let shows_original = matches!(self.plan.kind, QuestionKind::KeepsLabel | QuestionKind::Attribute);
            let original = original.filter(|_| shows_original).map(|picture| self.album.add(picture)).transpose()?;
            let more = self.plan.attribute.as_ref().map(|(_, more)| more[place]);
            let picture = self.album.add(&self.shown.pictures[place])?;
            items.push((place, TaskItem { id, picture, original, about, more, right: vec![] }));
        }
        if again > 0 {
            cautions.add(format!(
                "{again} images were there twice, with all that is known of them, and are asked about once"
            ));
        }
        if alike > 0 {
            cautions.add(format!(
                "{alike} of {} items are, at 8 bits per channel, what they were before: people can't see what changed, and models may not either",
                items.len()
            ));
        }
        if items.is_empty() {
            return Err(Error::data("there is nothing to ask about"));
        }
        Ok(items)
    }

    /// Items whose answer is known: real images with their labels, planted wrong ones, and what nobody takes for real.
    fn known(&mut self) -> Result<Vec<TaskItem>> {
        const POOL: usize = 40;
        let rng = &mut random(self.plan.seed, KNOWN);
        let mut known = vec![];
        if self.plan.gold == 0 {
            return Ok(known);
        }
        let item = |picture: String, original: Option<String>, label: String, right: &str| {
            // Ids are in the hands of workers, and tell nothing.
            let before = original.as_deref().unwrap_or("");
            let id = Digest::of_parts(&[b"known", picture.as_bytes(), before.as_bytes(), label.as_bytes()]).hex()[..16]
                .to_string();
            let about = BTreeMap::from([("label".to_string(), label)]);
            TaskItem { id, picture, original, about, more: None, right: vec![right.into()] }
        };
        match (self.plan.kind, self.real) {
            (QuestionKind::Label, Some(real)) => {
                for place in rand::seq::index::sample(rng, real.pictures.len(), POOL.min(real.pictures.len())) {
                    let picture = self.album.add(&real.pictures[place])?;
                    known.push(item(picture, None, real.intended(place), &real.intended(place)));
                }
            }
            (QuestionKind::KeepsLabel, Some(real)) => {
                for turn in 0..POOL {
                    let first = rng.gen_range(0..real.pictures.len());
                    // Every second one shows another class than it is to.
                    let fits = |place: &usize| {
                        *place != first && (real.labels[*place] == real.labels[first]) == (turn % 2 == 0)
                    };
                    let places: Vec<usize> = (0..real.pictures.len()).filter(fits).collect();
                    let Some(&second) = places.choose(rng) else { continue };
                    let (before, after) =
                        (self.album.add(&real.pictures[first])?, self.album.add(&real.pictures[second])?);
                    known.push(item(
                        after,
                        Some(before),
                        real.intended(first),
                        if turn % 2 == 0 { "shows" } else { "other" },
                    ));
                }
            }
            (QuestionKind::Attribute, _) => {
                for _ in 0..POOL {
                    let place = rng.gen_range(0..self.shown.pictures.len());
                    let picture = self.album.add(&self.shown.pictures[place])?;
                    known.push(item(picture.clone(), Some(picture), self.shown.intended(place), "no_difference"));
                }
            }
            (kind, real) => {
                for turn in 0..POOL {
                    // Whoever says that nothing is real is to be found out as well.
                    if let (QuestionKind::Realism, Some(real), 0) = (kind, real, turn % 2) {
                        let place = rng.gen_range(0..real.pictures.len());
                        let picture = self.album.add(&real.pictures[place])?;
                        known.push(item(picture, None, real.intended(place), "real"));
                        continue;
                    }
                    let place = rng.gen_range(0..self.shown.pictures.len());
                    let picture = self.album.add(&noise(&self.shown.pictures[place], rng)?)?;
                    let right = if kind == QuestionKind::Realism { "generated" } else { super::kind::SPOTTED };
                    known.push(item(picture, None, self.shown.intended(place), right));
                }
            }
        }
        let mut seen = BTreeSet::new();
        known.retain(|item| seen.insert(item.id.clone()));
        Ok(known)
    }

    /// A question on an item, as one worker sees it.
    fn question(&mut self, item: &TaskItem, role: Role, rng: &mut impl Rng) -> Result<Question> {
        let (mut pictures, mut place) = (vec![item.picture.clone()], 0);
        match self.plan.kind {
            QuestionKind::Label | QuestionKind::Realism => {}
            QuestionKind::KeepsLabel => pictures.insert(0, item.original.clone().unwrap_or_default()),
            QuestionKind::Attribute => {
                // What tells is more in the changed one, or more in the one that it was.
                pictures.insert(0, item.original.clone().unwrap_or_default());
                place = usize::from(item.more.unwrap_or(true));
                if rng.r#gen() {
                    pictures.reverse();
                    place = 1 - place;
                }
            }
            kind => {
                let real = self.real.ok_or_else(|| Error::internal("real images were checked"))?;
                let label = &item.about["label"];
                let same: Vec<usize> =
                    (0..real.pictures.len()).filter(|&place| real.intended(place) == *label).collect();
                let odd = kind == QuestionKind::OddOneOut;
                let beside = if odd { SHOWN - 1 } else { 1 };
                let mut others = vec![];
                for at in rand::seq::index::sample(rng, same.len(), beside) {
                    others.push(self.album.add(&real.pictures[same[at]])?);
                }
                let free: Vec<usize> = (0..=beside).filter(|place| !odd || !NEVER.contains(place)).collect();
                place = free[rng.gen_range(0..free.len())];
                others.insert(place, item.picture.clone());
                pictures = others;
            }
        }
        Ok(Question { item: item.id.clone(), role, pictures, place })
    }

    /// Each round asks about every item once, of as many workers as are needed.
    fn slots(&mut self, items: &[TaskItem], known: &[TaskItem]) -> Result<Vec<Vec<Question>>> {
        let workers = items.len().div_ceil(self.plan.per_worker);
        let each = items.len().div_ceil(workers) + self.plan.gold + self.plan.checks;
        if workers.saturating_mul(self.plan.overlap).saturating_mul(each) > MOST_QUESTIONS {
            return Err(Error::argument(format!(
                "{} items with {} judgements each are more than {MOST_QUESTIONS} questions",
                items.len(),
                self.plan.overlap
            ))
            .hint("ask about fewer: `n` draws so many at random"));
        }
        let mut slots = vec![];
        for round in 0..self.plan.overlap {
            let mut order: Vec<usize> = (0..items.len()).collect();
            order.shuffle(&mut random(self.plan.seed, ROUNDS + round as u64));
            for worker in 0..workers {
                // As even as they can be.
                let part = &order[worker * items.len() / workers..(worker + 1) * items.len() / workers];
                let rng = &mut random(self.plan.seed, SLOTS + slots.len() as u64);
                let mut questions = vec![];
                for &place in part {
                    questions.push(self.question(&items[place], Role::Test, rng)?);
                }
                for at in rand::seq::index::sample(rng, known.len(), self.plan.gold.min(known.len())) {
                    questions.push(self.question(&known[at], Role::Known, rng)?);
                }
                questions.shuffle(rng);
                for number in 0..self.plan.checks {
                    let item = &items[rng.gen_range(0..items.len())];
                    let mut question = self.question(item, Role::Check, rng)?;
                    let place = format!("check {number} of {} {}", slots.len(), self.plan.seed);
                    question.item = Digest::of(place.as_bytes()).hex()[..16].to_string();
                    questions.insert(number, question);
                }
                slots.push(questions);
            }
        }
        Ok(slots)
    }
}

/// The answer that the first questions want: one that few pictures suggest.
fn check_word(plan: &TaskPlan, words: &[String], choices: &[String]) -> [String; 2] {
    let place = match plan.kind {
        QuestionKind::Label => random(plan.seed, KNOWN + 1).gen_range(0..words.len() - 1),
        QuestionKind::Attribute => 2,
        _ => 1,
    };
    [words[place].clone(), choices[place].clone()]
}

impl PeopleTask {
    /// Makes a task, and keeps it in a folder below those that may be written.
    pub fn make(
        cx: &Cx,
        folder: &str,
        shown: &ShownImages,
        real: Option<&ShownImages>,
        plan: &TaskPlan,
    ) -> Result<Self> {
        let mut maker = Maker { plan, shown, real, album: Album::default() };
        maker.check()?;
        let target = cx.writable(&format!("{folder}/{TASK_FILE}"))?;
        let mut cautions = shown.cautions.clone();
        let items: Vec<TaskItem> = maker.items(&mut cautions)?.into_iter().map(|(_, item)| item).collect();
        let known = maker.known()?;
        let words = plan.kind.words(&shown.classes);
        let choices = plan.kind.choices(&shown.classes);
        if plan.gold == 0 {
            cautions.add("no question has an answer that is known: careless workers can't be told from others by it");
        } else if known.len() < plan.gold {
            cautions.add(format!("only {} questions have an answer that is known", known.len()));
        }
        if plan.kind == QuestionKind::Realism && plan.gold > 0 && real.is_none() {
            cautions.add("all questions whose answer is known show what is not real, so that whoever takes nothing for real is never found out: give `real`");
        }
        if plan.overlap < 2 {
            cautions.add("each item is judged once: nothing is known of how far people agree");
        }
        let [word, button] = check_word(plan, &words, &choices);
        let slots = maker.slots(&items, &known)?;
        let mut study = vec![];
        if let (QuestionKind::OddOneOut | QuestionKind::Pair, Some(real)) = (plan.kind, real) {
            let rng = &mut random(plan.seed, KNOWN + 2);
            for place in rand::seq::index::sample(rng, real.pictures.len(), real.pictures.len().min(30)) {
                study.push(maker.album.add(&real.pictures[place])?);
            }
        }
        let attribute = plan.attribute.as_ref().map_or(String::new(), |(name, _)| name.clone());
        let text = TaskText {
            viva: env!("CARGO_PKG_VERSION").into(),
            kind: plan.kind,
            question: plan.kind.question(&attribute),
            instructions: plan.kind.instructions(plan.checks, &button, plan.gold > 0),
            choices,
            words,
            classes: shown.classes.clone(),
            attribute,
            seed: plan.seed,
            overlap: plan.overlap,
            per_worker: plan.per_worker,
            check: if plan.checks > 0 { word } else { String::new() },
            least_seconds: plan.least_seconds,
            pause: plan.pause,
            study_seconds: if study.is_empty() { 0.0 } else { plan.study },
            completion: plan.completion.clone(),
            size: shown.pictures.first().map_or([0, 0], |picture| [picture.width, picture.height]),
            rules: plan.rules,
            of: shown.of.iter().chain(&plan.of).cloned().collect(),
            cautions: cautions.iter().map(String::from).collect(),
            items,
            known,
            study,
            slots,
        };
        let sealed = sealed(&text);
        let home = target.parent().unwrap_or(Path::new(".")).to_path_buf();
        // A run that goes on makes it again, and writes what is not there as it was.
        let kept = if target.exists() { Some(read(&target, LARGEST)?) } else { None };
        let as_it_was = kept.as_deref() == Some(sealed.as_bytes());
        if let Some(kept) = kept.filter(|_| !as_it_was) {
            let damaged = std::str::from_utf8(&kept).map_or(Some("not a text"), broken_seal);
            let answered = home.join(ANSWERS_LOG).exists();
            match damaged {
                Some(problem) if answered => {
                    return Err(Error::file(&target, format!("{problem}, and answers to it are there"))
                        .hint(crate::core::files::COPY_AGAIN));
                }
                Some(_) => {}
                None => {
                    return Err(Error::file(&home, "another task is kept here")
                        .hint("answers belong to it: give this one another `folder`"));
                }
            }
        }
        let progress = cx.progress("pictures", Some(maker.album.0.len() as u64));
        for (name, png) in &maker.album.0 {
            cx.check()?;
            let path = cx.writable(&format!("{folder}/{PICTURES}/{name}.png"))?;
            match read(&path, LARGEST_PICTURE).is_ok_and(|kept| kept == *png) {
                true => cx.note_unchanged(&path)?,
                false => cx.write_with(&path, |place| std::fs::write(place, png).map_err(|e| Error::file(place, e)))?,
            }
            progress.advance(1);
        }
        // Last, so that a folder with it is whole.
        match as_it_was {
            true => cx.note_unchanged(&target)?,
            false => {
                cx.write_with(&target, |place| std::fs::write(place, &sealed).map_err(|e| Error::file(place, e)))?
            }
        }
        Self::open(cx, &home)
    }

    /// The task that a folder keeps; refused where it is not as it was written.
    pub fn open(cx: &Cx, folder: &Path) -> Result<Self> {
        let path = folder.join(TASK_FILE);
        let refused = |problem: String| Error::file(&path, problem).hint("wanted is a folder that people::task kept");
        if !path.exists() {
            return Err(refused("no such file".into()));
        }
        let bytes = read(&path, LARGEST)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| refused("not a text".into()))?;
        if let Some(problem) = broken_seal(text) {
            return Err(refused(problem.into()));
        }
        let budget = Budget::of(cx, &path, Budget::TEXT)?;
        let mut json = strict_json(&bytes, &budget, refused)?;
        if let Some(object) = json.as_object_mut() {
            object.remove("sha256");
        }
        let text: TaskText = serde_json::from_value(json).map_err(|e| refused(format!("not a task: {e}")))?;
        let pictures = text.slots.iter().flatten().flat_map(|question| &question.pictures).chain(&text.study);
        let items = text.items.iter().chain(&text.known).flat_map(|item| [Some(&item.picture), item.original.as_ref()]);
        let known: BTreeSet<&String> = pictures.chain(items.flatten()).collect();
        if let Some(bad) =
            known.iter().find(|name| name.len() != 20 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            return Err(refused(format!("{bad:?} is no name of a picture")));
        }
        for name in known {
            cx.check()?;
            let path = folder.join(PICTURES).join(format!("{name}.png"));
            let problem = match read(&path, LARGEST_PICTURE) {
                _ if !path.is_file() => "the picture is missing".into(),
                Ok(png) if album_name(&png) == *name => continue,
                Ok(_) => "the picture is not as it was written".into(),
                Err(error) => error.message,
            };
            return Err(Error::file(&path, problem).hint(crate::core::files::COPY_AGAIN));
        }
        Ok(Self { folder: folder.to_path_buf(), digest: Digest::of(&bytes), text })
    }

    /// What answers must carry.
    pub fn mark(&self) -> String {
        self.digest.hex()[..16].to_string()
    }

    /// What choosing a button says.
    pub fn word(&self, question: &Question, choice: usize) -> Option<String> {
        self.text.kind.word(&self.text.classes, choice, question.place)
    }

    /// What is known of a test, as judgements carry it.
    pub fn facts(&self, item: &TaskItem) -> BTreeMap<String, String> {
        let mut about = item.about.clone();
        let intended = match self.text.kind {
            QuestionKind::Label => about.get("label").cloned(),
            QuestionKind::KeepsLabel => Some("shows".into()),
            QuestionKind::Attribute => Some("telling".into()),
            _ => None,
        };
        about.extend(intended.map(|intended| (INTENDED.to_string(), intended)));
        about
    }

    /// Pictures of every question.
    pub fn questions(&self) -> usize {
        self.text.slots.iter().map(Vec::len).sum()
    }
}
