//! What was found of models that answer otherwise when they are asked the same again.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::parts::Outcomes;
use super::{Examination, Row, Transcript};
use crate::core::{Cx, Division, Result, with_stream};

/// Rows that are asked about again, at most.
const MOST: usize = 256;

/// Rows that are asked about together.
const TOGETHER: usize = 32;

/// Of a model that has answered the same so far, rows that are asked about again come to no more than this part of what a search has asked.
const PART: u64 = 50;

/// As few of them that are right the next time may be so by rounding.
const FEW: usize = 3;
const SHARE: f64 = 0.2;

/// Seed of the draws of what is asked again, so that none is the one that a search has seen.
const AGAIN: u64 = u64::from_be_bytes(*b"__again_");

impl Transcript {
    /// Of a model that draws and a search that chooses: says that outcomes are the worst of so many askings, and what the model answers once more to what failed, where images are kept or drawn by
    /// settings: a search that goes its way again would find something else. Nothing is asked of closures, which may cost something. Of TorchScript and programs
    /// that have answered the same so far, it says so where many are right the next time: some draw but seldom, or with few images; and where they answer
    /// otherwise to images as they stand.
    pub(super) fn asked_again(self, cx: &Cx, plan: &Examination) -> Self {
        let draws = plan.model.draws();
        let shard = matches!(cx.division(), Division::Shard(_));
        if !shard && let Some(caution) = self.otherwise_as_they_stand(cx, plan) {
            return self.with_word(cx, caution);
        }
        if !plan.search.chooses() || !draws && !plan.model.foreign() {
            return self;
        }
        let Some(asked) = self.rows.iter().map(|row| row.queries).max().filter(|asked| *asked > 1) else { return self };
        if self.of.steps_in_common {
            // Each row is what one step came to.
            return self;
        }
        let model = plan.model;
        // Where rounding alone may have turned an answer, it may turn it back.
        let rounding = plan.model.rounding();
        let is_kept =
            |row: &Row| row.fooled() && !self.goes_again(row) && (draws || f64::from(row.margin).abs() > rounding);
        let failing: Vec<usize> = (0..self.rows.len()).filter(|row| is_kept(&self.rows[*row])).collect();
        let most = match draws && !model.opaque() {
            true => MOST,
            false => TOGETHER.min((self.rows.iter().map(|row| u64::from(row.queries)).sum::<u64>() / PART) as usize),
        };
        let some = &failing[..failing.len().min(most)];
        let measurable = !shard && (!model.opaque() || model.foreign()) && plan.objective.plain() && !some.is_empty();
        // What is known without it is kept whatever happens here.
        let again = if measurable { self.right_again(cx, plan, some).ok() } else { None };
        let of = match some.len() < failing.len() {
            true => format!("the first {} of {}", some.len(), failing.len()),
            false => some.len().to_string(),
        };
        if !draws && again.is_none_or(|right| right < FEW || (right as f64) < SHARE * some.len() as f64) {
            return self;
        }
        let measured = again.map_or(String::new(), |right| {
            format!(": of {of} that failed, {right} are right when they are asked about once more")
        });
        let what = if draws { "draws" } else { "draws now and then, or goes by what else is in a batch" };
        let caution = format!(
            "{} {what}, and outcomes are the worst of up to {asked} askings of an image, so that some fail by chance alone and accuracies are lower than those of \
             one asking{measured}; f.averaged(#{{ draws: 32 }}) goes by the mean of draws",
            model.name
        );
        self.with_word(cx, caution)
    }

    /// What is said of TorchScript and programs that answer otherwise to a few images as they stand than they did before the search.
    fn otherwise_as_they_stand(&self, cx: &Cx, plan: &Examination) -> Option<String> {
        if !plan.model.foreign() || !plan.objective.failure.of_classes() || plan.space.redraws() {
            return None;
        }
        let first = self.first_of_images();
        let before: Vec<i64> = first.iter().map(|row| i64::from(self.rows[*row].before)).collect();
        let images = |places: &[usize]| {
            self.select(&places.iter().map(|place| first[*place]).collect::<Vec<_>>()).images(cx, false)
        };
        // What is known without it is kept whatever happens here.
        plan.model.unlike_before(&before, &images).ok().flatten()
    }

    /// The first row of each image.
    pub(super) fn first_of_images(&self) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        (0..self.rows.len()).filter(|row| seen.insert(self.rows[*row].id)).collect()
    }

    /// The same with one more caution.
    pub(super) fn with_word(mut self, cx: &Cx, caution: String) -> Self {
        match Rc::get_mut(&mut self.of) {
            Some(of) => of.cautions.add(caution),
            // Nobody else holds what was just made.
            None => cx.warn(format!("examine: {caution}")),
        }
        self
    }

    fn right_again(&self, cx: &Cx, plan: &Examination, failing: &[usize]) -> Result<usize> {
        let mut right = 0;
        for some in failing.chunks(TOGETHER) {
            cx.check()?;
            let some = self.select(some);
            let Some(first) = some.rows.iter().map(|row| row.id).next() else { continue };
            let labels = some.rows.iter().map(|row: &Row| row.label);
            let images = some.images(cx, true)?;
            let answers = with_stream(AGAIN ^ plan.seed, u64::from(first), || plan.model.answers(&images))?;
            right += labels.zip(answers).filter(|(label, answer)| i64::from(*label) == *answer).count();
        }
        Ok(right)
    }
}
