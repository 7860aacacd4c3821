//! Calibration of a model where a search left its images: whether it is right as often as it says. Each score is a file, listed in
//! `SCORES`; a score that is the mean of a measure of rows needs that measure among the transcript's columns.

mod accuracy;
mod brier;
mod confidence;
mod ece;
mod mce;
mod nll;
mod result;

pub use result::{Calibration, FIELDS, populations};

use super::population::left_out;
use crate::core::{Cx, Error, Result, significant};
use crate::maths::calibration::{Answer, Bin, Binning, KnownError, bins, known};
use crate::maths::means::{skewed, student};
use crate::maths::shares::wilson;
use crate::search::{Measured, Row, Transcript};

/// All scores, in the order in which they are told.
pub const SCORES: &[&Score] =
    &[&ece::ECE, &mce::MCE, &nll::NLL, &brier::BRIER, &accuracy::ACCURACY, &confidence::CONFIDENCE];

/// A number that says how good probabilities are.
pub struct Score {
    /// The field with its value, those with the ends of its interval, and what it is by chance alone where it is known to be too large by
    /// chance.
    pub fields: &'static [&'static str],
    /// How a summary calls it.
    pub title: &'static str,
    /// What it is.
    pub purpose: &'static str,
    /// `None` where the transcript lacks what it follows from.
    pub of: fn(&CalibrationSample) -> Result<Option<KnownError>>,
}

/// What scores are worked out from.
pub struct CalibrationSample<'a> {
    pub bins: &'a [Bin],
    pub answers: &'a [Answer],
    measured: &'a Measured,
    replicates: usize,
    seed: u64,
    cx: &'a Cx,
}

impl CalibrationSample<'_> {
    /// The mean of a measure from 0 to `most`, with Student's interval as far as it lies there.
    fn mean_of(&self, measure: &str, most: f64) -> Option<KnownError> {
        let numbers: Vec<f64> = self.measured.numbers(measure)?.iter().map(|x| f64::from(*x)).collect();
        let (value, lo, hi) = student(&numbers);
        Some(KnownError { value, lo: lo.clamp(0.0, most), hi: hi.clamp(0.0, most), by_chance: f64::NAN })
    }

    /// The share of right answers, with Wilson's interval.
    fn share_of_right(&self) -> KnownError {
        let (n, right) = (self.answers.len(), self.answers.iter().filter(|answer| answer.right).count());
        let (lo, hi) = wilson(right as u64, n as u64);
        KnownError { value: right as f64 / n as f64, lo, hi, by_chance: f64::NAN }
    }

    fn error(&self, error: crate::maths::calibration::Error) -> Result<KnownError> {
        known(self.bins, error, self.replicates, self.seed, &|| self.cx.check())
    }
}

/// How a calibration is estimated.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub bins: usize,
    pub binning: Binning,
    /// How often answers are drawn that are right as often as a law says.
    pub replicates: usize,
    pub seed: u64,
}

impl Settings {
    /// How digests know it, which stays when types and fields get better names.
    fn identity(&self) -> String {
        let Self { bins, binning, replicates, seed } = self;
        let binning = binning.identity();
        format!("Settings {{ bins: {bins}, binning: {binning}, replicates: {replicates}, seed: {seed} }}")
    }
}

/// The calibration of a transcript with one row per image.
pub fn calibration(cx: &Cx, transcript: &Transcript, settings: Settings) -> Result<Calibration> {
    let rows = &transcript.rows;
    if rows.is_empty() {
        return Err(Error::data("a transcript without rows has no calibration"));
    }
    transcript.check_predictions("calibration::measure")?;
    let mut ids: Vec<u32> = rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < rows.len() {
        return Err(Error::data("a calibration is of one row per image, these are several")
            .hint("t.group(\"level\"), t.group(\"step\") or t.group(\"target\") has one transcript for each"));
    }
    let Some(confidences) = transcript.measured.numbers("confidence") else {
        return Err(Error::data("calibration::measure needs the column \"confidence\"")
            .hint("examine(.., #{ measures: [\"confidence\", \"nll\", \"brier\"] })"));
    };
    let answer =
        |(row, confidence): (&Row, &f32)| Answer { confidence: (*confidence).into(), right: !row.wrong_after() };
    let answers: Vec<Answer> = rows.iter().zip(confidences).map(answer).collect();
    let bins = bins(&answers, settings.bins, settings.binning);
    let sample = CalibrationSample {
        bins: &bins,
        answers: &answers,
        measured: &transcript.measured,
        replicates: settings.replicates,
        seed: settings.seed,
        cx,
    };
    let found: Vec<Option<KnownError>> = SCORES.iter().map(|score| (score.of)(&sample)).collect::<Result<_>>()?;
    let mut cautions = transcript.of.cautions.clone();
    if let Some(caution) = chosen(ids.len(), transcript.of.data.len()).or_else(|| left_out(transcript)) {
        cautions.add(caution);
    }
    let of_losses = few_wrong(&sample).map_or_else(|| uneven(&sample), |told| vec![told]);
    mostly_chance(&found).into_iter().chain(of_losses).for_each(|caution| cautions.add(caution));
    Ok(Calibration::new(transcript, settings, found, bins, cautions))
}

/// Rows that are left of a filter may be chosen by how sure or how right the model is.
fn chosen(images: usize, of: usize) -> Option<String> {
    (images < of).then(|| {
        format!(
            "only {images} of {of} images: of rows that are chosen by their outcome no model is calibrated, however good its probabilities"
        )
    })
}

/// Whether too few answers are wrong, which losses are mostly of, for Student's intervals of these.
fn few_wrong(sample: &CalibrationSample) -> Option<String> {
    const FEWEST: usize = 10;
    let wrong = sample.answers.iter().filter(|answer| !answer.right).count();
    let losses = ["nll", "brier"].iter().any(|measure| sample.measured.numbers(measure).is_some());
    (losses && wrong < FEWEST).then(|| {
        format!(
            "{wrong} of the {} answers are wrong: NLL and Brier are mostly of those, and of fewer than {FEWEST} their intervals are mostly too narrow",
            sample.answers.len()
        )
    })
}

/// Whether losses of a few answers lie so far from all others that Student's intervals are too narrow.
fn uneven(sample: &CalibrationSample) -> Vec<String> {
    let told = |(measure, what): (&str, &str)| {
        let numbers: Vec<f64> = sample.measured.numbers(measure)?.iter().map(|x| f64::from(*x)).collect();
        skewed(&numbers, what)
    };
    [("nll", "NLLs"), ("brier", "Brier scores")].into_iter().filter_map(told).collect()
}

/// Errors of which a calibrated model would show half or more.
fn mostly_chance(found: &[Option<KnownError>]) -> Option<String> {
    let doubtful: Vec<(&str, &KnownError)> = SCORES
        .iter()
        .zip(found)
        .filter_map(|(score, known)| Some((score.title, known.as_ref()?)))
        .filter(|(_, known)| known.by_chance > 0.5 * known.value)
        .collect();
    let told = |of: &dyn Fn(&(&str, &KnownError)) -> String| doubtful.iter().map(of).collect::<Vec<_>>().join(" and ");
    (!doubtful.is_empty()).then(|| {
        format!(
            "of {} a calibrated model with these confidences shows {} by chance alone: more images or fewer bins say more",
            told(&|(title, known)| format!("{title} {}", significant(known.value, 3))),
            told(&|(_, known)| significant(known.by_chance, 3))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_know_settings_by_words_that_stay() {
        let settings = Settings { bins: 15, binning: Binning::Mass, replicates: 400, seed: 7 };
        assert_eq!(settings.identity(), "Settings { bins: 15, binning: Mass, replicates: 400, seed: 7 }");
    }
}
