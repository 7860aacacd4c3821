//! Where the boundary between what a model reads rightly and wrongly runs in two factors: a Gaussian process classifier of each object's answers.

use super::factor_parts::check_counts;
use super::one_each::{check_no_levels, check_one_each};
use super::population::left_out;
use super::subject::{Subject, named, subject};
use crate::core::{
    Cautions, Cx, Digest, Error, Object, Result, Table, Value, in_parallel, json_of_fields, number, significant,
    suggestion,
};
use crate::maths::contour::contours;
use crate::maths::gaussian_classifier::{GaussianClassifier, LabelledPoints};
use crate::maths::shares::{ProbableHits, few_groups};
use crate::search::{Origin, Transcript};
use crate::space::Axis;
use statrs::distribution::{ContinuousCDF, Normal};

/// Questions about one object that a classifier learns from, at most: its time grows with their third power.
const QUESTIONS: usize = 600;
const REACH: f64 = 1.96;

/// A share of wrong answers at every place of a grid, and where it crosses the boundary.
pub struct Boundary {
    pub factors: [String; 2],
    /// What the numbers of the factors are in; empty where they have no unit.
    pub units: [&'static str; 2],
    axes: [Axis; 2],
    /// The values of either factor, places of the grid.
    pub values: [Vec<f64>; 2],
    /// Row by row, a row for each value of the first factor: the share that is wrong, and its interval at 95%.
    wrong: [Vec<f64>; 3],
    pub boundary: f64,
    /// Every question that counts: both factors, and whether the answer was wrong.
    pub asked: Vec<(f64, f64, bool)>,
    /// Whether a search chose some of them, so that where it was wrong tells where it was asked.
    pub chosen: bool,
    /// Questions that a search chose, where other factors vary as well: they are left out.
    left_out: usize,
    objects: usize,
    of: Subject,
    pub cautions: Cautions,
    digest: Digest,
}

/// Lines through values of the two factors.
pub type BoundaryLine = Vec<(f64, f64)>;

pub fn boundary(cx: &Cx, transcript: &Transcript, factors: [&str; 2], grid: usize, boundary: f64) -> Result<Boundary> {
    const NAME: &str = "robustness::boundary";
    check_no_levels(transcript, NAME)?;
    check_one_each(transcript, NAME)?;
    let (questions, asked) = transcript.questions()?;
    let names = || questions.names.iter().map(String::as_str);
    let mut places = [0; 2];
    for (place, name) in places.iter_mut().zip(factors) {
        *place = names()
            .position(|known| known == name)
            .ok_or_else(|| Error::argument(format!("{NAME}: no factor {name:?}")).hint(suggestion(name, names())))?;
    }
    if places[0] == places[1] {
        return Err(Error::argument(format!("{NAME}: {:?} and itself make no plane", factors[0])));
    }
    let axes = places.map(|place| questions.axes[place]);
    for (axis, name) in axes.iter().zip(factors) {
        if matches!(axis, Axis::Choices(_) | Axis::Chance) || !axis.varies() {
            return Err(Error::argument(format!(
                "{NAME}: {name:?} has no range of numbers, across which a line could run"
            ))
            .hint("robustness::level_set takes choices as well"));
        }
    }
    for (place, name) in places.into_iter().zip(factors) {
        check_counts(&asked, (questions.names.len(), place), name, NAME)?;
    }
    let width = questions.names.len();
    let others = (0..width).filter(|place| !places.contains(place));
    let others: Vec<&str> =
        others.filter(|&place| questions.axes[place].varies()).map(|place| questions.names[place].as_str()).collect();
    let mut cautions = transcript.of.cautions.clone();
    let told = [left_out(transcript), few_groups(transcript.len(), "objects")];
    told.into_iter().flatten().for_each(|caution| cautions.add(caution));
    let (mut left_out, mut all, mut answers, mut chosen) = (0, vec![], vec![], false);
    for asked in &asked {
        let mut own = LabelledPoints { width: 2, points: vec![], yes: vec![] };
        for (i, setting) in asked.settings.chunks_exact(width).enumerate() {
            // Where others vary, what was chosen says nothing of their mean.
            if asked.origins[i] == Origin::Again || (!others.is_empty() && asked.origins[i] != Origin::Random) {
                left_out += 1;
                continue;
            }
            chosen |= asked.origins[i] != Origin::Random;
            let wrong = asked.failed[i];
            own.points.extend([0, 1].map(|k| axes[k].share(setting[places[k]])));
            own.yes.push(wrong);
            all.push((setting[places[0]], setting[places[1]], wrong));
        }
        answers.push(own);
    }
    if answers.iter().any(|own| own.yes.is_empty()) {
        return Err(Error::data(format!(
            "{NAME}: {} vary beside {} and {}, and of some objects no question was drawn at random",
            others.join(", "),
            factors[0],
            factors[1]
        ))
        .hint("examine over a space in which these two alone vary, or with search::random"));
    }
    if let Some(many) = answers.iter().map(|own| own.yes.len()).max().filter(|n| *n > QUESTIONS) {
        return Err(Error::data(format!("{NAME}: {many} questions about one object, more than {QUESTIONS}")));
    }
    if !others.is_empty() {
        cautions.add(format!(
            "{} vary as well: shares are means over them, and one line may hold for none of their values",
            others.join(", ")
        ));
    }
    let share = |i: usize| i as f64 / (grid - 1) as f64;
    let mut each = vec![];
    let mut contrary = Contrary::default();
    for own in &answers {
        let fitted = GaussianClassifier::fit(own, || cx.check())?;
        // Where others vary, answers at one place differ.
        if others.is_empty() {
            contrary.count(&fitted, own, boundary);
        }
        let mut latent = vec![(0.0, 0.0); grid * grid];
        in_parallel(|| {
            use rayon::prelude::*;
            latent
                .par_iter_mut()
                .enumerate()
                .for_each(|(i, at)| *at = fitted.latent(&[share(i / grid), share(i % grid)]));
        })?;
        each.push(latent);
    }
    cautions.extend(&contrary.told(answers.len()));
    let mut wrong = [vec![], vec![], vec![]];
    let hits = ProbableHits::new(each.len());
    let shares = in_parallel(|| {
        use rayon::prelude::*;
        let at = |place: usize| each.iter().map(|own| own[place]).collect::<Vec<_>>();
        (0..grid * grid).into_par_iter().map(|place| over_objects(&at(place), &hits)).collect::<Vec<_>>()
    })?;
    for values in shares {
        for (column, value) in wrong.iter_mut().zip(values) {
            column.push(value);
        }
    }
    let right: Vec<[f64; 2]> = (0..grid * grid)
        .filter(|&place| wrong[2][place] < boundary)
        .map(|place| [share(place / grid), share(place % grid)])
        .collect();
    if let Some(caution) = between_questions(cx, &answers, &right)? {
        cautions.add(caution);
    }
    Ok(Boundary {
        factors: factors.map(String::from),
        units: places.map(|place| transcript.unit_of(place)),
        axes,
        values: axes.map(|axis| (0..grid).map(|i| at_share(axis, share(i))).collect()),
        wrong,
        boundary,
        asked: all,
        left_out,
        chosen,
        objects: answers.len(),
        of: subject(transcript),
        cautions,
        digest: Digest::of_parts(&[
            &transcript.digest().0,
            format!("boundary {factors:?} {grid} {boundary:?}").as_bytes(),
        ]),
    })
}

/// What is to be said of places that are told to be right and lie far from every question: the classifier takes them to be as what is near, which
/// nothing shows of objects that never failed.
fn between_questions(cx: &Cx, answers: &[LabelledPoints], right: &[[f64; 2]]) -> Result<Option<String>> {
    /// A part of the plane that is worth a word wherever it is.
    const LARGE: f64 = 0.05;
    /// Of more the mean is hardly another one.
    const OBJECTS: usize = 30;
    if right.is_empty() {
        return Ok(None);
    }
    let mut empty = vec![];
    for own in answers.iter().take(OBJECTS) {
        cx.check()?;
        let nearest = |place: &[f64; 2]| {
            let points = own.points.chunks_exact(own.width);
            let squares = points.map(|point| (point[0] - place[0]).powi(2) + (point[1] - place[1]).powi(2));
            squares.fold(f64::INFINITY, f64::min)
        };
        let emptiest = right.iter().map(|place| (place, nearest(place))).max_by(|a, b| a.1.total_cmp(&b.1));
        empty.extend(emptiest.map(|(center, square)| circle_in_plane(center, square)));
    }
    let empty = empty.iter().sum::<f64>() / empty.len() as f64;
    let never = answers.iter().filter(|own| !own.yes.contains(&true)).count();
    let whose = match (never, answers.len()) {
        (0, _) if empty < LARGE => return Ok(None),
        (0, _) => String::new(),
        (_, 1) => "no answer was wrong, so that how sharp lines are does not show; ".into(),
        (never, all) => format!(
            "no answer about {never} of {all} objects was wrong, so that how sharp their lines are does not show; "
        ),
    };
    let each = if answers.len() == 1 { "" } else { " about one object (on average)" };
    Ok(Some(format!(
        "{whose}where the model is told to be right a round part as large as {}% of the plane, or more of another shape, lies between the questions{each}: \
         what fails there is not seen",
        significant(100.0 * empty, 2).trim_end_matches(".0")
    )))
}

/// The share of a plane from 0 to 1 that lies within a circle, by places of a grid.
fn circle_in_plane(center: &[f64; 2], square_of_radius: f64) -> f64 {
    const SIDE: usize = 60;
    let inside = (0..SIDE * SIDE).filter(|cell| {
        let at = [cell / SIDE, cell % SIDE].map(|k| (k as f64 + 0.5) / SIDE as f64);
        (at[0] - center[0]).powi(2) + (at[1] - center[1]).powi(2) < square_of_radius
    });
    inside.count() as f64 / (SIDE * SIDE) as f64
}

/// Questions of which the classifier that learned from them tells the other side.
#[derive(Default)]
struct Contrary {
    /// That failed, and that were right: all, and those whose places are told otherwise.
    failed: [usize; 2],
    right: [usize; 2],
}

impl Contrary {
    fn count(&mut self, fitted: &GaussianClassifier, own: &LabelledPoints, boundary: f64) {
        for (point, &wrong) in own.points.chunks_exact(own.width).zip(&own.yes) {
            let [_, lo, hi] = of_one(fitted.latent(point));
            let (counts, otherwise) =
                if wrong { (&mut self.failed, hi < boundary) } else { (&mut self.right, lo > boundary) };
            counts[0] += 1;
            counts[1] += usize::from(otherwise);
        }
    }

    fn told(&self, objects: usize) -> Cautions {
        /// Intervals at 95% leave out as many.
        const SHARE: f64 = 0.05;
        let whose = if objects == 1 { "the" } else { "their object's" };
        let said = |[all, otherwise]: [usize; 2], what: &str, side: &str| {
            (otherwise as f64 > SHARE * all as f64).then(|| {
                format!(
                    "{otherwise} of the {all} questions that {what} lie where {whose} classifier tells that the model is {side}: parts that are small for the \
                     distances between questions are smoothed away"
                )
            })
        };
        let both = [said(self.failed, "failed", "right"), said(self.right, "were right", "wrong")];
        both.into_iter().flatten().collect()
    }
}

/// Whole numbers are a line's places too.
fn at_share(axis: Axis, share: f64) -> f64 {
    match axis {
        Axis::Whole { min, max } => Axis::Range { min: min.into(), max: max.into() }.at_share(share),
        axis => axis.at_share(share),
    }
}

/// The share of wrong answers and its interval, from mean and deviation of each object's latent function: of one object the classifier's, of several
/// that of the population they stand for.
fn over_objects(latent: &[(f64, f64)], hits: &ProbableHits) -> [f64; 3] {
    if let [one] = latent {
        return of_one(*one);
    }
    let shares: Vec<f64> = latent.iter().map(|one| of_one(*one)[0]).collect();
    let (lo, hi) = hits.interval(&shares);
    [shares.iter().sum::<f64>() / shares.len() as f64, lo, hi]
}

/// The same of one object.
fn of_one((mean, sd): (f64, f64)) -> [f64; 3] {
    let phi = |x: f64| Normal::standard().cdf(x);
    [phi(mean / (1.0 + sd * sd).sqrt()), phi(mean - REACH * sd), phi(mean + REACH * sd)]
}

const FIELDS: [&str; 14] = [
    "factors",
    "rows",
    "columns",
    "wrong",
    "wrong_lo",
    "wrong_hi",
    "side",
    "told",
    "lines",
    "questions",
    "left_out",
    "objects",
    "boundary",
    "cautions",
];

impl Boundary {
    fn side(&self, place: usize) -> f64 {
        if self.wrong[1][place] > self.boundary {
            1.0
        } else if self.wrong[2][place] < self.boundary {
            0.0
        } else {
            f64::NAN
        }
    }

    /// The share of the plane whose side is told.
    pub fn told(&self) -> f64 {
        let all = self.wrong[0].len();
        (0..all).filter(|&place| !self.side(place).is_nan()).count() as f64 / all as f64
    }

    fn through(&self, values: &[f64]) -> Vec<BoundaryLine> {
        let [rows, columns] = [self.values[0].len(), self.values[1].len()];
        let at = |k: usize, place: f64| at_share(self.axes[k], place / (self.values[k].len() - 1) as f64);
        let lines = contours(values, [rows, columns], self.boundary);
        lines.iter().map(|line| line.iter().map(|&(row, column)| (at(0, row), at(1, column))).collect()).collect()
    }

    /// Where the share crosses the boundary.
    pub fn lines(&self) -> Vec<BoundaryLine> {
        self.through(&self.wrong[0])
    }

    /// Where the ends of its interval do: between these lines the side is not told.
    pub fn limits(&self) -> Vec<BoundaryLine> {
        [1, 2].into_iter().flat_map(|end| self.through(&self.wrong[end])).collect()
    }

    /// `by azimuth and elevation the side is told of 94% of the plane; 31% of all lies above 50% wrong by the best guess; 60 questions, 1 object`
    pub fn sentence(&self) -> String {
        let percent = |x: f64| format!("{}%", significant(100.0 * x, 2).trim_end_matches(".0"));
        let above = self.wrong[0].iter().filter(|share| **share > self.boundary).count() as f64;
        format!(
            "by {} and {} the side is told of {} of the plane; {} of all lies above {} wrong by the best guess; {} questions, {} object{}",
            self.factors[0],
            self.factors[1],
            percent(self.told()),
            percent(above / self.wrong[0].len() as f64),
            percent(self.boundary),
            self.asked.len(),
            self.objects,
            if self.objects == 1 { "" } else { "s" }
        )
    }

    /// For every place of the grid, whether the share is above the boundary.
    pub fn above(&self) -> Vec<bool> {
        self.wrong[0].iter().map(|share| *share > self.boundary).collect()
    }

    fn matrix(&self, of: impl Fn(usize) -> f64) -> Value {
        let columns = self.values[1].len();
        let rows =
            (0..self.values[0].len()).map(|row| Value::floats((0..columns).map(|column| of(row * columns + column))));
        Value::Array(rows.collect())
    }
}

impl Object for Boundary {
    fn kind(&self) -> &'static str {
        "Boundary"
    }

    fn summary(&self) -> String {
        format!("{}{}", self.sentence(), self.cautions.ending())
    }

    fn details(&self, _width: usize) -> String {
        let [model, data, space, search, objective] = &self.of.words;
        let mut lines = vec![
            self.sentence(),
            format!("{model} on {data}: {search} over {space}, {objective}"),
            format!("boundary {}, {} by {} places", number(self.boundary), self.values[0].len(), self.values[1].len()),
        ];
        if self.left_out > 0 {
            lines.push(format!("{} other questions are left out", self.left_out));
        }
        lines.extend(self.cautions.lines());
        lines.join("\n")
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let pair = |&(a, b): &(f64, f64)| Value::floats([a, b]);
        Ok(Some(match name {
            "factors" => Value::Array(self.factors.iter().cloned().map(Value::Str).collect()),
            "rows" => Value::floats(self.values[0].iter().copied()),
            "columns" => Value::floats(self.values[1].iter().copied()),
            "wrong" => self.matrix(|place| self.wrong[0][place]),
            "wrong_lo" => self.matrix(|place| self.wrong[1][place]),
            "wrong_hi" => self.matrix(|place| self.wrong[2][place]),
            "side" => self.matrix(|place| self.side(place)),
            "told" => Value::Float(self.told()),
            "lines" => {
                Value::Array(self.lines().iter().map(|line| Value::Array(line.iter().map(pair).collect())).collect())
            }
            "questions" => Value::Int(self.asked.len() as i64),
            "left_out" => Value::Int(self.left_out as i64),
            "objects" => Value::Int(self.objects as i64),
            "boundary" => Value::Float(self.boundary),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, named(&self.of))
    }

    fn table(&self) -> Option<Table> {
        let columns = self.values[1].len();
        let places = || 0..self.wrong[0].len();
        let column = |of: &dyn Fn(usize) -> f64| places().map(|place| Value::Float(of(place))).collect();
        let rows = Table::default()
            .column(self.factors[0].as_str(), column(&|place| self.values[0][place / columns]))
            .column(self.factors[1].as_str(), column(&|place| self.values[1][place % columns]))
            .column("wrong", column(&|place| self.wrong[0][place]))
            .column("wrong_lo", column(&|place| self.wrong[1][place]))
            .column("wrong_hi", column(&|place| self.wrong[2][place]));
        Some(self.cautions.beside(rows))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
