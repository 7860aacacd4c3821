//! How much of a space fails, and on which side of a boundary its parts lie, in two factors.

use std::collections::BTreeSet;

use super::factor_parts::{check_counts, ends, part_of, parts};
use super::one_each::{check_no_levels, check_one_each};
use super::population::left_out;
use super::subject::{Subject, named, subject};
use crate::core::{
    Cautions, Digest, Error, Object, Result, Table, Value, json_of_fields, number, significant, suggestion,
};
use crate::maths::shares::{CountedShare, few_groups, one_group};
use crate::search::{AskedQuestions, Origin, Transcript};
use crate::space::Axis;

/// The failing volume, and the share that fails by two factors.
pub struct LevelSet {
    /// Of all settings, the share at which an object fails, on average over objects.
    pub volume: CountedShare,
    pub objects: usize,
    /// Questions that were asked beside those that count, of each object as many of those drawn at random.
    chosen: usize,
    boundary: f64,
    factors: [String; 2],
    part_names: [Vec<String>; 2],
    /// Row by row, a row for each part of the first factor.
    cells: Vec<CountedShare>,
    of: Subject,
    pub cautions: Cautions,
    digest: Digest,
}

/// What the random questions of a transcript say, with these factors cut into parts.
pub fn level_set(transcript: &Transcript, factors: [&str; 2], bins: usize, boundary: f64) -> Result<LevelSet> {
    check_no_levels(transcript, "robustness::level_set")?;
    check_one_each(transcript, "robustness::level_set")?;
    let (questions, asked) = transcript.questions()?;
    let names = || questions.names.iter().map(String::as_str);
    let mut places = [0; 2];
    for (place, name) in places.iter_mut().zip(factors) {
        *place = names().position(|known| known == name).ok_or_else(|| {
            Error::argument(format!("robustness::level_set: no factor {name:?}")).hint(suggestion(name, names()))
        })?;
    }
    if places[0] == places[1] {
        return Err(Error::argument(format!("robustness::level_set: {:?} and itself make no map", factors[0])));
    }
    let mut counts = [0; 2];
    for (count, place) in counts.iter_mut().zip(places) {
        *count = parts(questions.axes[place], bins).ok_or_else(|| {
            Error::argument(format!("factor {:?} is chance, which has no order to show", questions.names[place]))
        })?;
        check_counts(&asked, (questions.names.len(), place), &questions.names[place], "robustness::level_set")?;
    }
    let (width, objects) = (questions.names.len(), transcript.len());
    let mut all = vec![(0u64, 0u64); objects];
    let mut cells = vec![vec![(0u64, 0u64); objects]; counts[0] * counts[1]];
    let drawn = |asked: &AskedQuestions| asked.origins.iter().filter(|origin| **origin == Origin::Random).count();
    let fewest = asked.iter().map(|asked| drawn(asked)).min().unwrap_or(0);
    let mut cautions = transcript.of.cautions.clone();
    if fewest > 0 && asked.iter().any(|asked| drawn(asked) > fewest) {
        // Those that are hard to fail would count more: a search draws on where nothing fails.
        cautions.add(format!(
            "answers led {} to draw more often at random for some objects: the first {fewest} of each count",
            transcript.of.search
        ));
    }
    let told = [left_out(transcript), few_groups(objects, "objects"), one_group(objects, "objects")];
    told.into_iter().flatten().for_each(|caution| cautions.add(caution));
    let mut chosen = 0;
    for (object, asked) in asked.iter().enumerate() {
        let mut counted = 0;
        for (i, setting) in asked.settings.chunks_exact(width).enumerate() {
            if asked.origins[i] != Origin::Random || counted == fewest {
                chosen += 1;
                continue;
            }
            counted += 1;
            let wrong = u64::from(asked.failed[i]);
            let [a, b] = [0, 1].map(|k| part_of(questions.axes[places[k]], counts[k], setting[places[k]]));
            for (yes, of) in [&mut all[object], &mut cells[a * counts[1] + b][object]] {
                *yes += wrong;
                *of += 1;
            }
        }
    }
    if fewest == 0 {
        return Err(Error::data(format!(
            "robustness::level_set: of some objects none of the questions of {} was drawn at random: those that a search chose say nothing of a share of settings",
            transcript.of.search
        ))
        .hint("examine with search::random"));
    }
    let part_names = [0, 1].map(|k| {
        let (axis, place) = (questions.axes[places[k]], places[k]);
        // As few digits as tell the ends apart.
        let all = || (0..counts[k]).flat_map(|part| ends(axis, counts[k], part));
        let told = |digits: &usize| {
            let distinct =
                |text: fn(f64, usize) -> String| all().map(|x| text(x, *digits)).collect::<BTreeSet<_>>().len();
            distinct(significant) == distinct(|x, _| significant(x, 6))
        };
        let digits = if matches!(axis, Axis::Choices(_)) { 6 } else { (2..6).find(told).unwrap_or(6) };
        (0..counts[k])
            .map(|part| match axis {
                Axis::Choices(_) => transcript.choice(place, part).summary(),
                _ => {
                    let [from, to] = ends(axis, counts[k], part).map(|x| significant(x, digits));
                    let [from, to] = [from, to].map(|x| x.trim_end_matches(".0").to_string());
                    if from == to { from } else { format!("{from} to {to}") }
                }
            })
            .collect()
    });
    Ok(LevelSet {
        volume: CountedShare::of_groups(&all),
        objects,
        chosen,
        boundary,
        factors: factors.map(String::from),
        part_names,
        cells: cells.iter().map(|cell| CountedShare::of_groups(cell)).collect(),
        of: subject(transcript),
        cautions,
        digest: Digest::of_parts(&[
            &transcript.digest().0,
            format!("level_set {factors:?} {bins} {boundary:?}").as_bytes(),
        ]),
    })
}

const FIELDS: [&str; 15] = [
    "volume",
    "volume_lo",
    "volume_hi",
    "questions",
    "objects",
    "chosen",
    "factors",
    "row_names",
    "column_names",
    "wrong",
    "wrong_lo",
    "wrong_hi",
    "side",
    "boundary",
    "cautions",
];

impl LevelSet {
    /// 1 where more than the boundary's share is wrong, 0 where less; not a number where the interval holds both.
    fn side(&self, cell: &CountedShare) -> f64 {
        if cell.lo > self.boundary {
            1.0
        } else if cell.hi < self.boundary {
            0.0
        } else {
            f64::NAN
        }
    }

    /// `3.1% of settings fail [2.0%, 4.8%]; by azimuth and elevation 4 of 64 parts lie above 50%, 51 below, 9 are not told apart`
    pub fn sentence(&self) -> String {
        let percent = |x: f64| format!("{}%", significant(100.0 * x, 2).trim_end_matches(".0"));
        let count = |wanted: f64| self.cells.iter().filter(|cell| self.side(cell) == wanted).count();
        let (above, below) = (count(1.0), count(0.0));
        format!(
            "{} of settings fail [{}, {}]; by {} and {} {above} of {} parts lie above {} wrong, {below} below, {} can't be told",
            percent(self.volume.value),
            percent(self.volume.lo),
            percent(self.volume.hi),
            self.factors[0],
            self.factors[1],
            self.cells.len(),
            percent(self.boundary),
            self.cells.len() - above - below,
        )
    }

    fn matrix(&self, of: impl Fn(&CountedShare) -> f64) -> Value {
        Value::Array(
            self.cells.chunks(self.part_names[1].len()).map(|row| Value::floats(row.iter().map(&of))).collect(),
        )
    }

    fn rows(&self) -> Table {
        let width = self.part_names[1].len();
        let name = |k: usize, part: usize| Value::Str(self.part_names[k][part].clone());
        let places = || 0..self.cells.len();
        let column = |of: &dyn Fn(&CountedShare) -> f64| self.cells.iter().map(|cell| Value::Float(of(cell))).collect();
        Table::default()
            .column(self.factors[0].as_str(), places().map(|i| name(0, i / width)).collect())
            .column(self.factors[1].as_str(), places().map(|i| name(1, i % width)).collect())
            .column("wrong", column(&|cell| cell.value))
            .column("wrong_lo", column(&|cell| cell.lo))
            .column("wrong_hi", column(&|cell| cell.hi))
            .column("questions", self.cells.iter().map(|cell| Value::Int(cell.of as i64)).collect())
    }
}

impl Object for LevelSet {
    fn kind(&self) -> &'static str {
        "LevelSet"
    }

    fn summary(&self) -> String {
        format!("{}{}", self.sentence(), self.cautions.ending())
    }

    fn details(&self, width: usize) -> String {
        let [model, data, space, search, objective] = &self.of.words;
        let mut lines = vec![
            self.sentence(),
            format!("{model} on {data}: {search} over {space}, {objective}"),
            format!(
                "{} questions drawn at random, {} objects, boundary {}; of parts above or below one in 40 may be told wrongly by chance",
                self.volume.of,
                self.objects,
                number(self.boundary)
            ),
        ];
        if self.chosen > 0 {
            lines.push(format!("{} other questions are left out", self.chosen));
        }
        lines.extend(self.cautions.lines());
        lines.push(self.rows().text(width, 30));
        lines.join("\n")
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let words = |all: &[String]| Value::Array(all.iter().cloned().map(Value::Str).collect());
        Ok(Some(match name {
            "volume" => Value::Float(self.volume.value),
            "volume_lo" => Value::Float(self.volume.lo),
            "volume_hi" => Value::Float(self.volume.hi),
            "questions" => Value::Int(self.volume.of as i64),
            "objects" => Value::Int(self.objects as i64),
            "chosen" => Value::Int(self.chosen as i64),
            "factors" => words(&self.factors),
            "row_names" => words(&self.part_names[0]),
            "column_names" => words(&self.part_names[1]),
            "wrong" => self.matrix(|cell| cell.value),
            "wrong_lo" => self.matrix(|cell| cell.lo),
            "wrong_hi" => self.matrix(|cell| cell.hi),
            "side" => self.matrix(|cell| self.side(cell)),
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
        Some(self.cautions.beside(self.rows()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
