//! Whether a search went by a cross entropy that hardly tells classes apart.

use tch::Kind;

use super::{Examination, Transcript, gradient_search};
use crate::core::{Cx, Division, Result, significant};
use crate::objective::{Loss, Objective};

/// Of what the share of images that are right is beyond guessing, which a softmax that says how sure it is gives them. With less a fifth of what the same
/// search finds by the scores was missed, on linear models of glyphs and on LeNet of MNIST.
const PART: f64 = 0.75;
/// Fewer right ones say little of how sure it may be.
const MANY: f64 = 0.5;
/// Images that are asked about.
const ASKED: usize = 16;

impl Transcript {
    /// Of a search along gradients by the cross entropy: says where this is nearly linear in the scores, as where these are a tenth of what they might be. It
    /// pulls at all classes alike then and not at the next one, of which two classes have but one.
    pub(super) fn told_of_flat_softmax(self, cx: &Cx, plan: &Examination) -> Self {
        let by = Objective { loss: Some(Loss::CrossEntropy), ..plan.objective.clone() };
        let goes = gradient_search(&*plan.search).is_some_and(|search| {
            let said = match plan.objective.loss {
                None => !search.goes_by_the_lead(),
                Some(loss) => loss == Loss::CrossEntropy,
            };
            said && search.looks_for(&by)
        });
        // A mean of probabilities is less sure than what it is the mean of.
        let mean = plan.model.copies() > 1;
        if !plan.objective.any_wrong()
            || !goes
            || mean
            || plan.model.draws()
            || matches!(cx.division(), Division::Shard(_))
        {
            return self;
        }
        // What is known without it is kept whatever happens here.
        match self.flat_softmax(cx, plan) {
            Ok(Some(caution)) => self.with_word(cx, caution),
            _ => self,
        }
    }

    fn flat_softmax(&self, cx: &Cx, plan: &Examination) -> Result<Option<String>> {
        let first = self.first_of_images();
        let right: Vec<usize> = first.iter().copied().filter(|row| !self.rows[*row].wrong_before()).collect();
        let (share, classes) =
            (right.len() as f64 / first.len().max(1) as f64, plan.model.classes().unwrap_or_default());
        if right.is_empty() || share < MANY || classes < 3 {
            return Ok(None);
        }
        let n = right.len().min(ASKED);
        let asked: Vec<usize> = (0..n).map(|i| right[i * right.len() / n]).collect();
        let images = self.select(&asked).images(cx, false)?;
        let scores = tch::no_grad(|| plan.model.logits(&images))?;
        let sure = scores.f_softmax(1, Kind::Double)?.f_amax([1i64].as_slice(), false)?.f_mean(Kind::Double)?;
        let (sure, guessing) = (sure.f_double_value(&[])?, 1.0 / classes as f64);
        Ok((sure - guessing < PART * (share - guessing)).then(|| {
            format!(
                "scores of {} lie so near to one another that a softmax gives its answers {} on average where they are right, as {} of them are: the cross entropy that the \
                 search goes by pulls at all classes alike, and may find less than the same search by the scores themselves, objective::misclassify().loss(\"dlr\")",
                plan.model.name,
                significant(sure, 2),
                significant(share, 2)
            )
        }))
    }
}
