//! What a run keeps of the questions of an examination, for its page: their numbers, and a sheet of the pictures of some. Pictures are drawn
//! from the settings that were asked, while objects and images are still those of the run; nothing is scored.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::Picture;
use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::objective::Loss;
use crate::search::{AskedQuestions, Questions, Transcript};
use crate::space::Axis;

/// Objects that are listed, questions whose numbers are kept, and pictures of questions, of one transcript at most; pictures have as many pixels
/// together, worst cases and first failures not counted.
const OBJECTS: usize = 500;
const QUESTIONS: usize = 10_000;
const PICTURES: usize = 1500;
const PIXELS: usize = 1 << 20;
/// Of these pictures, worst cases and first failures.
const WORST: usize = 120;
const FIRST: usize = 80;
/// Larger pictures are made smaller, in pixels of their longer side.
const SIDE: usize = 96;
/// Names of classes that are kept.
const CLASSES: usize = 10_000;
/// Signs of a name or a description.
const WORDS: usize = 2000;

/// The beginning of the numbers, by which a page knows them.
pub const QUESTION_SHEET: &str = "viva questions 1";

/// Why a question's picture is on the sheet, by number.
pub const REASONS: [&str; 3] = ["worst", "first_failure", "spread"];

pub struct QuestionSheet {
    pub numbers: Json,
    /// Rows of equal cells, one for each picture; `None` where none could be drawn, and the numbers say why.
    pub pictures: Option<Picture>,
}

/// A row of the transcript as it is listed.
struct ListedObject<'a> {
    row: usize,
    asked: &'a AskedQuestions,
    /// The question with the largest loss, the first of equal ones.
    worst: usize,
    first_failure: Option<usize>,
    failing: usize,
}

/// The sheet of a transcript whose search asked questions; `None` of others.
pub fn question_sheet(cx: &Cx, transcript: &Transcript) -> Result<Option<QuestionSheet>> {
    if !transcript.asks() || transcript.is_empty() {
        return Ok(None);
    }
    let mut numbers = head(transcript);
    let (questions, asked) = match transcript.questions() {
        Ok(known) => known,
        Err(error) => {
            numbers["undrawn"] = json!(error.message);
            return Ok(Some(QuestionSheet { numbers, pictures: None }));
        }
    };
    let mut listed: Vec<ListedObject> = asked
        .iter()
        .enumerate()
        .filter(|(_, asked)| !asked.is_empty())
        .map(|(row, asked)| {
            let failing = |&question: &usize| asked.failed[question];
            let worst = (0..asked.len()).rev().max_by(|a, b| {
                let (failed, losses) = (&asked.failed, &asked.losses);
                (failed[*a].cmp(&failed[*b])).then(rank(losses[*a]).total_cmp(&rank(losses[*b])))
            });
            ListedObject {
                row,
                asked,
                worst: worst.unwrap_or(0),
                first_failure: (0..asked.len()).find(failing),
                failing: (0..asked.len()).filter(failing).count(),
            }
        })
        .collect();
    let all = listed.len();
    let total: usize = listed.iter().map(|of| of.asked.len()).sum();
    let failing = listed.iter().filter(|of| of.failing > 0).count();
    listed.sort_by(|a, b| rank(b.asked.losses[b.worst]).total_cmp(&rank(a.asked.losses[a.worst])));
    listed.truncate(OBJECTS);

    let cell = cell(transcript);
    let pictured = pictured(&listed, PICTURES.min(PIXELS / (cell[0] * cell[1])));
    let kept = kept(&listed, &pictured);
    let drawn = match transcript.opaque() {
        // To call it once more may print, draw random numbers, or make another picture.
        true => {
            Err(Error::data("a closure of the script makes them, and nothing says that it would make the same again"))
        }
        false => sheet(cx, transcript, &listed, &pictured, cell),
    };
    let (drawn, pictures) = match drawn {
        Ok((drawn, pictures)) => (drawn, Some(pictures)),
        Err(error) if error.is_interrupted() => return Err(error),
        // The numbers are worth keeping without pictures.
        Err(error) => (json!({ "undrawn": error.message }), None),
    };
    for (key, value) in drawn.as_object().into_iter().flatten() {
        numbers[key] = value.clone();
    }
    numbers["asked"] = json!({ "objects": all, "questions": total, "failing_objects": failing });
    numbers["factors"] = factors(transcript, questions);
    numbers["objects"] = listed
        .iter()
        .enumerate()
        .map(|(place, of)| {
            object(transcript, of, (pictures.is_some() && place < WORST).then_some(pictured.len() + place))
        })
        .collect();
    numbers["questions"] = told(questions, &listed, &kept, pictures.as_ref().map(|_| &pictured));
    Ok(Some(QuestionSheet { numbers, pictures }))
}

/// Losses in their order, with what is no number at the end.
fn rank(loss: f32) -> f32 {
    if loss.is_nan() { f32::NEG_INFINITY } else { loss }
}

fn words(text: &str) -> String {
    text.chars().take(WORDS).collect()
}

fn head(transcript: &Transcript) -> Json {
    let of = &transcript.of;
    let classes: Vec<String> = of.data.classes().iter().take(CLASSES).map(|name| words(name)).collect();
    json!({
        "kind": QUESTION_SHEET, "model": words(&of.model.0), "data": words(&of.data.name), "space": words(&of.space), "search": words(&of.search),
        "objective": words(&of.objective.describe()), "loss": of.objective.loss.unwrap_or(Loss::Lead).axis(),
        "answers_are_classes": of.objective.failure.of_the_highest(), "cautions": of.cautions.json(), "rows": transcript.len(), "examined": of.rows, "classes": classes,
    })
}

fn factors(transcript: &Transcript, questions: &Questions) -> Json {
    let of = |(place, name): (usize, &String)| {
        let choices = match questions.axes[place] {
            Axis::Choices(n) => {
                (0..n).map(|choice| Json::from(words(&transcript.choice(place, choice).summary()))).collect()
            }
            _ => Json::Null,
        };
        json!({ "name": words(name), "unit": transcript.unit_of(place), "choices": choices })
    };
    questions.names.iter().enumerate().map(of).collect()
}

fn object(transcript: &Transcript, of: &ListedObject, standing: Option<usize>) -> Json {
    let row = &transcript.rows[of.row];
    let about = transcript.of.data.attributes(row.id as usize);
    let name = about.iter().find(|(key, _)| *key == "object").map(|(_, name)| words(&name.summary()));
    json!({
        "id": row.id, "name": name, "label": row.label, "level": row.level, "target": row.target, "before": row.before,
        "asked": of.asked.len(), "failing": of.failing, "standing": standing,
    })
}

/// The questions that are drawn, by the object's place in the list and their number, in order, and why.
type PicturedQuestions = BTreeMap<(usize, usize), usize>;

fn pictured(listed: &[ListedObject], room: usize) -> PicturedQuestions {
    let mut chosen = PicturedQuestions::new();
    for (place, of) in listed.iter().take(WORST).enumerate() {
        chosen.insert((place, of.worst), 0);
    }
    let firsts = listed.iter().enumerate().filter_map(|(place, of)| Some((place, of.first_failure?)));
    for first in firsts.filter(|first| !chosen.contains_key(first)).take(FIRST).collect::<Vec<_>>() {
        chosen.insert(first, 1);
    }
    let rest: Vec<(usize, usize)> = pairs(listed).filter(|pair| !chosen.contains_key(pair)).collect();
    let room = room.saturating_sub(chosen.len());
    chosen.extend(spread(&rest, room).map(|pair| (pair, 2)));
    chosen
}

/// The questions whose numbers are kept: all where there is room, else those with pictures, every object's worst and a spread of the others.
fn kept(listed: &[ListedObject], pictured: &PicturedQuestions) -> Vec<(usize, usize)> {
    if pairs(listed).count() <= QUESTIONS {
        return pairs(listed).collect();
    }
    let worst = listed.iter().enumerate().map(|(place, of)| (place, of.worst));
    let mut kept: std::collections::BTreeSet<(usize, usize)> = pictured.keys().copied().chain(worst).collect();
    let rest: Vec<(usize, usize)> = pairs(listed).filter(|pair| !kept.contains(pair)).collect();
    let room = QUESTIONS - kept.len();
    kept.extend(spread(&rest, room));
    kept.into_iter().collect()
}

fn pairs(listed: &[ListedObject]) -> impl Iterator<Item = (usize, usize)> {
    listed.iter().enumerate().flat_map(|(place, of)| (0..of.asked.len()).map(move |question| (place, question)))
}

/// At most so many, one of each of equal parts: not at the same place of each, where objects that were asked alike would all be shown at the same
/// questions.
fn spread(of: &[(usize, usize)], room: usize) -> impl Iterator<Item = (usize, usize)> {
    let n = of.len().min(room);
    (0..n).map(move |i| {
        let (from, to) = (i * of.len() / n, (i + 1) * of.len() / n);
        let aside = (i as f64 * GOLDEN).fract();
        of[from + (aside * (to - from) as f64) as usize]
    })
}

/// Multiples of the golden section fill a range evenly (Weyl).
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Width and height of a picture as it is shown.
fn cell(transcript: &Transcript) -> [usize; 2] {
    let [_, height, width] = transcript.of.data.shape();
    let longer = height.max(width);
    [width, height].map(|side| if longer > SIDE { (side * SIDE / longer).max(1) } else { side })
}

/// The pictures of questions, then of the objects as they stand, and what is said of them.
fn sheet(
    cx: &Cx,
    transcript: &Transcript,
    listed: &[ListedObject],
    pictured: &PicturedQuestions,
    cell: [usize; 2],
) -> Result<(Json, Picture)> {
    let [_, height, width] = transcript.of.data.shape();
    let mut clipped = false;
    let mut pictures = Vec::new();
    let mut add = |images: &Tensor| -> Result<()> {
        let images = &images.f_to_device(tch::Device::Cpu)?;
        let outside = images.f_lt(-1e-6)?.f_logical_or(&images.f_gt(1.0 + 1e-6)?)?.f_any()?;
        clipped |= outside.f_int64_value(&[])? != 0;
        pictures.extend(Picture::of_tensor(images)?.iter().map(|picture| picture.resized(cell[0], cell[1])));
        Ok(())
    };
    let asked: Vec<(usize, usize)> = pictured.keys().map(|(place, question)| (listed[*place].row, *question)).collect();
    for part in asked.chunks(32) {
        cx.check()?;
        add(&transcript.question_images(cx, part)?)?;
    }
    let standing: Vec<usize> = listed.iter().take(WORST).map(|of| transcript.rows[of.row].id as usize).collect();
    for part in standing.chunks(32) {
        cx.check()?;
        add(&transcript.of.data.images(part, cx.device())?)?;
    }
    let columns = (pictures.len() as f64).sqrt().ceil() as usize;
    let sheet = tiled(&pictures, columns, cell)?;
    let held = |reason: usize| pictured.values().filter(|own| **own == reason).count();
    let told = json!({
        "sheet": { "columns": columns, "width": cell[0], "height": cell[1], "pictures": pictures.len(), "of_width": width, "of_height": height },
        "held": { REASONS[0]: held(0), REASONS[1]: held(1), REASONS[2]: held(2), "standing": standing.len() },
        "clipped": clipped,
    });
    Ok((told, sheet))
}

fn tiled(pictures: &[Picture], columns: usize, [width, height]: [usize; 2]) -> Result<Picture> {
    let rows = pictures.len().div_ceil(columns.max(1));
    let line = 3 * columns * width;
    let mut rgb = vec![0; line * rows * height];
    for (i, picture) in pictures.iter().enumerate() {
        let (left, top) = (3 * (i % columns) * width, i / columns * height);
        for (y, own) in picture.rgb.chunks_exact(3 * width).enumerate() {
            rgb[(top + y) * line + left..][..3 * width].copy_from_slice(own);
        }
    }
    Picture::new(columns * width, rows * height, rgb)
}

/// A number in single precision, in as few digits as tell it apart.
fn single(x: f32) -> Json {
    match x.fract() == 0.0 && x.abs() < 1e7 {
        true => (x as i64).into(),
        false => Value::Float(x.to_string().parse().unwrap_or(f64::NAN)).json(),
    }
}

/// A factor's number: a whole one, such as what chance drew, with all its digits.
fn setting(x: f64) -> Json {
    match x.fract() == 0.0 && x.abs() < (1u64 << f64::MANTISSA_DIGITS) as f64 {
        true => (x as i64).into(),
        false => single(x as f32),
    }
}

/// Column by column.
fn told(
    questions: &Questions,
    listed: &[ListedObject],
    kept: &[(usize, usize)],
    pictured: Option<&PicturedQuestions>,
) -> Json {
    let width = questions.names.len();
    let place: BTreeMap<(usize, usize), usize> =
        pictured.into_iter().flatten().enumerate().map(|(i, (pair, _))| (*pair, i)).collect();
    let column =
        |of: &dyn Fn(usize, usize) -> Json| kept.iter().map(|&(place, question)| of(place, question)).collect::<Json>();
    let settings =
        (0..width).map(|factor| column(&|at, question| setting(listed[at].asked.settings[question * width + factor])));
    json!({
        "object": column(&|at, _| at.into()),
        "number": column(&|_, question| (question + 1).into()),
        "loss": column(&|at, question| single(listed[at].asked.losses[question])),
        "answer": column(&|at, question| listed[at].asked.predicted[question].into()),
        "fails": column(&|at, question| listed[at].asked.failed[question].into()),
        "worst": column(&|at, question| (listed[at].worst == question).into()),
        "picture": column(&|at, question| place.get(&(at, question)).map_or(Json::Null, |i| (*i).into())),
        "why": column(&|at, question| pictured.and_then(|all| all.get(&(at, question))).map_or(Json::Null, |why| REASONS[*why].into())),
        "settings": settings.collect::<Json>(),
    })
}
