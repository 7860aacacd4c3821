//! What counts as failing: an objective turns scores and labels into a loss and a verdict.

use crate::core::{Digest, Error, Object, Result, Tensor};

/// What a search tries to bring about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Any label but the right one.
    Misclassify,
}

/// What is kept of a batch of scores: two numbers per image.
pub struct Verdicts {
    /// The best score among the other classes minus the label's: above 0 where the image is misclassified, below where it
    /// is not. Its positive part is l_exc of Werpachowski et al. (2019), Appendix B.
    pub excess: Vec<f32>,
    /// The class with the highest score, the first of equal ones.
    pub predicted: Vec<i32>,
    /// The first image of the batch with a score that is not a finite number.
    pub broken: Option<usize>,
}

/// Bytes of one verdict in a record.
const VERDICT: usize = 8;

impl Verdicts {
    /// Adds those of the points after.
    pub fn extend(&mut self, after: Self) {
        self.broken = self.broken.or(after.broken.map(|at| at + self.excess.len()));
        self.excess.extend(after.excess);
        self.predicted.extend(after.predicted);
    }

    /// Verdicts as a journal keeps them, with the batch size that came of them.
    pub fn record(&self, batch: usize) -> Vec<u8> {
        let mut bytes = (batch as u64).to_le_bytes().to_vec();
        for (excess, predicted) in self.excess.iter().zip(&self.predicted) {
            bytes.extend(excess.to_le_bytes());
            bytes.extend(predicted.to_le_bytes());
        }
        bytes
    }

    /// What `record` wrote.
    pub fn from_record(bytes: &[u8]) -> Option<(usize, Self)> {
        let (batch, rest) = bytes.split_first_chunk()?;
        let mut verdicts = Self { excess: vec![], predicted: vec![], broken: None };
        let (numbers, []) = rest.as_chunks::<VERDICT>() else { return None };
        for [a, b, c, d, e, f, g, h] in numbers {
            verdicts.excess.push(f32::from_le_bytes([*a, *b, *c, *d]));
            verdicts.predicted.push(i32::from_le_bytes([*e, *f, *g, *h]));
        }
        let batch = u64::from_le_bytes(*batch) as usize;
        let sound =
            batch > 0 && verdicts.excess.iter().all(|x| x.is_finite()) && verdicts.predicted.iter().all(|&c| c >= 0);
        sound.then_some((batch, verdicts))
    }
}

impl Objective {
    /// How a script writes it.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Misclassify => "misclassify()",
        }
    }

    /// Whether an image with this label and prediction counts as failing.
    pub fn fails(self, label: i32, predicted: i32) -> bool {
        match self {
            Self::Misclassify => predicted != label,
        }
    }

    /// What the search maximises: l_exc.
    pub fn loss(self, excess: f32) -> f32 {
        match self {
            Self::Misclassify => excess.max(0.0),
        }
    }

    /// Judges scores `N x K` for labels `N` (int64, each below K).
    pub fn judge(self, scores: &Tensor, labels: &Tensor) -> Result<Verdicts> {
        let (n, classes) = scores.size2()?;
        if classes < 2 {
            return Err(Error::model(format!("a classifier must answer at least 2 scores per image, got {classes}")));
        }
        let (scores, column) = (scores.f_to_kind(tch::Kind::Float)?, labels.f_reshape([n, 1])?);
        let own = scores.f_gather(1, &column, false)?.f_squeeze_dim(1)?;
        let others = scores.f_scatter_value(1, &column, f64::NEG_INFINITY)?.f_amax([1], false)?;
        let excess = others.f_sub(&own)?;
        let finite = scores.f_isfinite()?.f_all_dim(1, false)?.f_logical_and(&excess.f_isfinite()?)?;
        let predicted = scores.f_argmax(1, false)?;
        // One transfer from the device; class numbers are exact in float32.
        let rows = [excess, predicted, finite].map(|t| t.f_to_kind(tch::Kind::Float));
        let [excess, predicted, finite] = rows;
        let flat =
            Tensor::f_stack(&[excess?, predicted?, finite?], 0)?.f_reshape([-1])?.f_to_device(tch::Device::Cpu)?;
        let numbers = Vec::<f32>::try_from(&flat)?;
        let n = n as usize;
        Ok(Verdicts {
            excess: numbers[..n].to_vec(),
            predicted: numbers[n..2 * n].iter().map(|&class| class as i32).collect(),
            broken: numbers[2 * n..].iter().position(|&finite| finite == 0.0),
        })
    }
}

impl Object for Objective {
    fn kind(&self) -> &'static str {
        "Objective"
    }

    fn summary(&self) -> String {
        format!("objective {}", self.describe())
    }

    fn digest(&self) -> Digest {
        Digest::of(self.summary().as_bytes())
    }
}
