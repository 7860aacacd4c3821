//! What is kept of an image's scores.

use super::goals::Goals;
use super::{Aim, Objective};
use crate::core::{Error, Result, Tensor};

/// What is kept of an image's scores.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScoreVerdict {
    /// How far the scores are beyond what the objective asks for: above 0 where the image fails, below where it does not.
    /// Away from a label it is the best score among the other classes minus the label's, whose positive part is l_exc of
    /// Werpachowski et al. (2019), Appendix B; towards a class it is that class's score minus the best other one; of binary labels
    /// the least of their scores, with the sign that is wanted. What the objective wants beyond that is taken off.
    pub excess: f32,
    /// The class with the highest score, the first of equal ones; of binary labels, how many are as wanted.
    pub predicted: i32,
    /// The highest softmax probability minus the second highest.
    pub softmax_margin: f32,
    /// The class with the lowest score, the first of equal ones.
    pub least: i32,
    /// The signal-to-noise ratio of what was done to the image, in dB; NaN where it was not measured.
    pub snr: f32,
    /// The loss that the objective says is followed; the excess where it says none.
    pub followed: f32,
}

impl ScoreVerdict {
    /// Whether an image with this label fails as it was aimed to, as clearly as the objective asks.
    pub fn fails(&self, aim: Aim, label: i32) -> bool {
        aim.met(label, self.predicted) && self.excess >= 0.0
    }
}

/// Verdicts on a batch of scores.
#[derive(Default)]
pub struct Verdicts {
    pub of: Vec<ScoreVerdict>,
    /// The first image of the batch with a score that is not a finite number.
    pub broken: Option<usize>,
}

/// Rows of [`numbers`].
pub const NUMBERS: usize = 6;

impl Verdicts {
    /// Verdicts from the numbers of scores, `6 x N`.
    pub fn of_numbers(numbers: &Tensor) -> Result<Self> {
        // One transfer from the device.
        let flat = Vec::<f32>::try_from(&numbers.f_to_device(tch::Device::Cpu)?.f_contiguous()?.f_reshape([-1])?)?;
        Ok(Self::of_flat(&flat))
    }

    /// The same of numbers that are no longer on the device, row by row; class numbers are exact in float32.
    pub fn of_flat(flat: &[f32]) -> Self {
        let n = flat.len() / NUMBERS;
        let verdict = |i: usize| ScoreVerdict {
            excess: flat[i],
            predicted: flat[n + i] as i32,
            softmax_margin: flat[2 * n + i],
            least: flat[3 * n + i] as i32,
            snr: f32::NAN,
            followed: flat[5 * n + i],
        };
        let broken = flat[4 * n..5 * n].iter().position(|&finite| finite == 0.0);
        Self { of: (0..n).map(verdict).collect(), broken }
    }
}

/// Judges scores `N x K` for labels and aims, each class below K.
pub fn judge(scores: &Tensor, labels: &[i64], aims: &[Aim], objective: &Objective) -> Result<Verdicts> {
    Verdicts::of_numbers(&numbers(scores, &Goals::of(labels, aims, objective, scores.device())?)?)
}

/// Excess, predicted class, softmax margin, least likely class, whether all is finite, and the loss that is followed, of every image:
/// `6 x N` float32 numbers on the scores' device.
pub fn numbers(scores: &Tensor, goals: &Goals) -> Result<Tensor> {
    let (_, classes) = scores.size2()?;
    if classes < 2 {
        return Err(Error::model(format!("a classifier must answer at least 2 scores per image, got {classes}")));
    }
    let scores = scores.f_to_kind(tch::Kind::Float)?;
    let excess = goals.excess(&scores)?;
    let followed = match goals.loss {
        Some(loss) => goals.followed(&scores, loss)?,
        None => excess.shallow_clone(),
    };
    let (top, _) = scores.f_softmax(1, None)?.f_topk(2, 1, true, true)?;
    let margin = top.f_select(1, 0)?.f_sub(&top.f_select(1, 1)?)?;
    let finite = scores.f_isfinite()?.f_all_dim(1, false)?;
    let finite = finite.f_logical_and(&excess.f_isfinite()?)?.f_logical_and(&followed.f_isfinite()?)?;
    let rows = [excess, goals.answer(&scores)?, margin, scores.f_argmin(1, false)?, finite, followed];
    let rows = rows.iter().map(|t| t.f_to_kind(tch::Kind::Float)).collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Tensor::f_stack(&rows, 0)?)
}
