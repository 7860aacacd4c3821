//! What counts as failing: an objective turns scores and labels into a loss and a verdict.

use std::rc::Rc;

use crate::core::{Digest, Error, Object, Result, Tensor, cut};

/// What a search tries to bring about, and how clearly.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    pub wanted: Wanted,
    /// By how much scores are to be beyond what is wanted: the confidence margin c of Dunn's thesis, Definitions 6.1 and 6.2.
    pub lead: f64,
    /// Whether searches by losses make the cross entropy larger in place of the lead of scores.
    pub cross_entropy: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Any label but the right one.
    Misclassify,
    /// This class.
    Target(i64),
    /// A class for every image.
    Targets(Rc<[i64]>),
    /// The class so many after the label, counted in a circle: "one-tgt" of Galloway et al. (2018) with 1.
    Shift(i64),
    /// Every wrong class in turn, in ascending order: "all-tgt" of Galloway et al. (2018).
    EachWrong,
    /// The class with the lowest score of the image as it stands, the first of equal ones.
    LeastLikely,
    /// Scores of so many binary labels above 0, or below, all at once; the image's own label has no part in it.
    Labels(Rc<Labels>),
}

/// Binary labels by the places of their scores, each of them once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    pub positive: Vec<i64>,
    pub negative: Vec<i64>,
}

impl Labels {
    /// All places, the positive ones first.
    fn places(&self) -> Vec<i64> {
        [&self.positive[..], &self.negative].concat()
    }

    fn count(&self) -> usize {
        self.positive.len() + self.negative.len()
    }
}

impl From<Wanted> for Objective {
    fn from(wanted: Wanted) -> Self {
        Self { wanted, lead: 0.0, cross_entropy: false }
    }
}

/// What is to become of one image's prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Anything but the label.
    Away,
    /// This class.
    To(i32),
    /// The class that is least likely as the image stands, which is not known before it is scored.
    ToLeast,
    /// All of so many binary labels.
    Labels(i32),
}

impl Aim {
    /// The class that is aimed at, where that is known; of binary labels, how many.
    pub fn target(self) -> Option<i32> {
        match self {
            Self::To(target) | Self::Labels(target) => Some(target),
            _ => None,
        }
    }

    /// Whether an image with this label and prediction counts as failing.
    pub fn met(self, label: i32, predicted: i32) -> bool {
        match self {
            Self::Away => predicted != label,
            Self::To(target) | Self::Labels(target) => predicted == target,
            Self::ToLeast => false,
        }
    }
}

/// What is kept of an image's scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
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
    /// The cross entropy of the class that is left, in nats, or minus that of the class that is aimed at; of binary labels the log
    /// of the probability that all are as wanted. Worked out where the objective asks for it, else 0.
    pub gain: f32,
}

/// Verdicts on a batch of scores.
#[derive(Default)]
pub struct Verdicts {
    pub of: Vec<Verdict>,
    /// The first image of the batch with a score that is not a finite number.
    pub broken: Option<usize>,
}

impl Verdicts {
    /// Verdicts from the numbers of scores, `5 x N`.
    pub fn of_numbers(numbers: &Tensor) -> Result<Self> {
        let n = numbers.size()[1] as usize;
        // One transfer from the device; class numbers are exact in float32.
        let flat = Vec::<f32>::try_from(&numbers.f_to_device(tch::Device::Cpu)?.f_contiguous()?.f_reshape([-1])?)?;
        let verdict = |i: usize| Verdict {
            excess: flat[i],
            predicted: flat[n + i] as i32,
            softmax_margin: flat[2 * n + i],
            least: flat[3 * n + i] as i32,
            snr: f32::NAN,
            gain: 0.0,
        };
        Ok(Self { of: (0..n).map(verdict).collect(), broken: flat[4 * n..].iter().position(|&finite| finite == 0.0) })
    }
}

impl Objective {
    /// How a script writes it.
    pub fn describe(&self) -> String {
        let list = |numbers: &[i64]| format!("{numbers:?}");
        let wanted = match &self.wanted {
            Wanted::Misclassify => "misclassify()".into(),
            Wanted::Target(class) => format!("target({class})"),
            Wanted::Targets(classes) => format!("target({})", list(classes)),
            Wanted::Shift(k) => format!("shift({k})"),
            Wanted::EachWrong => "each_wrong()".into(),
            Wanted::LeastLikely => "least_likely()".into(),
            Wanted::Labels(labels) if labels.negative.is_empty() => format!("labels({})", list(&labels.positive)),
            Wanted::Labels(labels) => {
                format!("labels({}, #{{ negative: {} }})", list(&labels.positive), list(&labels.negative))
            }
        };
        let led = if self.lead == 0.0 { wanted } else { format!("{wanted}.confident({:?})", self.lead) };
        if self.cross_entropy { format!("{led}.cross_entropy()") } else { led }
    }

    /// Refuses an objective that can't be met among so many classes by so many images.
    pub fn check(&self, classes: i64, images: usize) -> Result<()> {
        let refused = |why: String, hint: &str| {
            Err(Error::argument(format!("objective::{}: {why}", cut(&self.describe(), 60))).hint(hint.to_string()))
        };
        let outside = |class: &&i64| !(0..classes).contains(*class);
        match &self.wanted {
            Wanted::Labels(labels) => match labels.places().iter().find(outside) {
                Some(place) => refused(format!("the model has no label {place}"), "its scores count from 0"),
                None => Ok(()),
            },
            _ if classes < 2 => refused(format!("a model of {classes} class can't be wrong"), "it needs 2 or more"),
            Wanted::Target(class) if outside(&class) => {
                refused(format!("the model has the classes 0 to {}", classes - 1), "classes count from 0")
            }
            Wanted::Targets(targets) if targets.len() != images => {
                refused(format!("{} targets for {images} images", targets.len()), "give one for each, or one for all")
            }
            Wanted::Targets(targets) => match targets.iter().find(outside) {
                Some(class) => {
                    refused(format!("class {class} of a model that has 0 to {}", classes - 1), "classes count from 0")
                }
                None => Ok(()),
            },
            Wanted::Shift(k) if k % classes == 0 => refused(
                format!("{k} classes on from a label, among {classes}, is the label itself"),
                "shift(1) aims at the next class",
            ),
            Wanted::LeastLikely if classes == 2 => refused(
                "of two classes the less likely one is the only other one, and the label itself where the model is wrong".into(),
                "objective::misclassify() is what two classes allow",
            ),
            _ => Ok(()),
        }
    }

    /// What is to become of the image in this row of the data, with this label: one aim, or one after the other.
    pub fn aims(&self, row: usize, label: i64, classes: i64) -> Vec<Aim> {
        match &self.wanted {
            Wanted::Misclassify => vec![Aim::Away],
            Wanted::Target(class) => vec![Aim::To(*class as i32)],
            Wanted::Targets(targets) => vec![targets.get(row).map_or(Aim::Away, |class| Aim::To(*class as i32))],
            Wanted::Shift(k) => vec![Aim::To((label + k).rem_euclid(classes) as i32)],
            Wanted::EachWrong => {
                (0..classes).filter(|&class| class != label).map(|class| Aim::To(class as i32)).collect()
            }
            Wanted::LeastLikely => vec![Aim::ToLeast],
            Wanted::Labels(labels) => vec![Aim::Labels(labels.count() as i32)],
        }
    }

    /// How many aims every image has.
    pub fn aims_per_image(&self, classes: i64) -> usize {
        if self.wanted == Wanted::EachWrong { (classes - 1).max(1) as usize } else { 1 }
    }

    /// What a search by losses makes larger: above 0 exactly where the objective is met, or else the cross entropy.
    pub fn sought(&self, verdict: &Verdict) -> f32 {
        if self.cross_entropy { verdict.gain } else { verdict.excess }
    }

    /// The loss of a transcript: l_exc, or else the cross entropy.
    pub fn loss(&self, verdict: &Verdict) -> f32 {
        if self.cross_entropy { verdict.gain } else { loss(verdict.excess) }
    }

    /// What stands for an image's label in the row of a transcript: of binary labels, how many were as wanted.
    pub fn label(&self, label: i32, before: i32) -> i32 {
        if matches!(self.wanted, Wanted::Labels(_)) { before } else { label }
    }
}

/// The loss of a search: the part of `excess` above 0, l_exc.
pub fn loss(excess: f32) -> f32 {
    excess.max(0.0)
}

/// Judges scores `N x K` for labels and aims, each class below K.
pub fn judge(scores: &Tensor, labels: &[i64], aims: &[Aim], objective: &Objective) -> Result<Verdicts> {
    let goals = Goals::of(labels, aims, objective, scores.device())?;
    let mut verdicts = Verdicts::of_numbers(&numbers(scores, &goals)?)?;
    if objective.cross_entropy {
        let gains = goals.gains(&scores.f_to_kind(tch::Kind::Float)?)?.f_to_device(tch::Device::Cpu)?;
        let gains: Vec<f32> = Vec::try_from(&gains.f_contiguous()?)?;
        let infinite = gains.iter().position(|gain| !gain.is_finite());
        verdicts.broken = verdicts.broken.or(infinite);
        verdicts.of.iter_mut().zip(gains).for_each(|(verdict, gain)| verdict.gain = gain);
    }
    Ok(verdicts)
}

/// Labels and aims of a batch on a device: which way its scores are to go, and how far.
pub struct Goals {
    way: Way,
    lead: f64,
}

enum Way {
    Classes {
        /// The class that is left or aimed at, `N x 1`.
        class: Tensor,
        /// 1 where it is aimed at, -1 where it is left.
        sign: Tensor,
    },
    Labels {
        /// Places of the scores that have a say, `L`.
        places: Tensor,
        /// 1 where a score is to be positive, -1 where negative.
        sign: Tensor,
    },
}

impl Goals {
    /// Aims whose class is not known yet count as away from the label.
    pub fn of(labels: &[i64], aims: &[Aim], objective: &Objective, device: tch::Device) -> Result<Self> {
        let lead = objective.lead;
        if let Wanted::Labels(labels) = &objective.wanted {
            let signs = [vec![1f32; labels.positive.len()], vec![-1.0; labels.negative.len()]].concat();
            let places = Tensor::f_from_slice(&labels.places())?.f_to_device(device)?;
            return Ok(Self {
                way: Way::Labels { places, sign: Tensor::f_from_slice(&signs)?.f_to_device(device)? },
                lead,
            });
        }
        let classes: Vec<i64> = labels.iter().zip(aims).map(|(&y, aim)| aim.target().map_or(y, i64::from)).collect();
        let signs: Vec<f32> = aims.iter().map(|aim| if aim.target().is_some() { 1.0 } else { -1.0 }).collect();
        let class = Tensor::f_from_slice(&classes)?.f_reshape([-1, 1])?.f_to_device(device)?;
        Ok(Self { way: Way::Classes { class, sign: Tensor::f_from_slice(&signs)?.f_to_device(device)? }, lead })
    }

    /// The goal of every image: this class, or any but its label (`N` int64).
    pub fn all(labels: &Tensor, target: Option<i64>) -> Result<Self> {
        let (class, sign) = match target {
            Some(target) => (labels.f_full_like(target)?, 1.0),
            None => (labels.shallow_clone(), -1.0),
        };
        let sign = Tensor::f_full([1], sign, (tch::Kind::Float, labels.device()))?;
        Ok(Self { way: Way::Classes { class: class.f_unsqueeze(1)?, sign }, lead: 0.0 })
    }

    /// How far scores `N x K` are beyond what is asked for, as [`Verdict::excess`]: `N`.
    pub fn excess(&self, scores: &Tensor) -> Result<Tensor> {
        let beyond = match &self.way {
            Way::Classes { class, sign } => {
                let own = scores.f_gather(1, class, false)?.f_squeeze_dim(1)?;
                let others = scores.f_scatter_value(1, class, f64::NEG_INFINITY)?.f_amax([1], false)?;
                own.f_sub(&others)?.f_mul(&sign.f_to_kind(scores.kind())?)?
            }
            Way::Labels { places, sign } => signed(scores, places, sign)?.f_amin([1], false)?,
        };
        if self.lead == 0.0 { Ok(beyond) } else { Ok(beyond.f_sub_scalar(self.lead)?) }
    }

    /// The sum over images of what a search along gradients makes larger: the cross entropy of the class that is left, or
    /// minus that of the class that is aimed at; of binary labels the log of the probability that each is as wanted.
    pub fn gain(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(self.gains(scores)?.f_sum(scores.kind())?)
    }

    /// As [`Goals::gain`], image by image: `N`.
    fn gains(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(match &self.way {
            Way::Classes { class, sign } => {
                let own = scores.f_log_softmax(1, None)?.f_gather(1, class, false)?.f_squeeze_dim(1)?;
                own.f_mul(sign)?
            }
            Way::Labels { places, sign } => signed(scores, places, sign)?.f_log_sigmoid()?.f_sum_dim_intlist(
                [1i64].as_slice(),
                false,
                scores.kind(),
            )?,
        })
    }

    /// What a search that stops when the objective is met makes smaller, summed over images: max_{c != t} f_c - f_t, or
    /// f_y - max_{c != y} f_c (Carlini and Wagner 2017; Dunn's thesis, Section 5.1.3). Of binary labels minus the sum of
    /// sign(l) |l|^(1/10), l their scores with the sign that is wanted: steep for those that are about to change, and almost flat
    /// for those that are as wanted by far (Section 5.2.6).
    pub fn shortfall(&self, scores: &Tensor) -> Result<Tensor> {
        // Where the root is too steep for a step.
        const FLAT: f64 = 1e-3;
        let loss = match &self.way {
            Way::Classes { .. } => self.excess(scores)?,
            Way::Labels { places, sign } => {
                let l = signed(scores, places, sign)?.f_sub_scalar(self.lead)?;
                l.f_sign()?.f_mul(&l.f_abs()?.f_add_scalar(FLAT)?.f_pow_tensor_scalar(0.1)?)?
            }
        };
        Ok(loss.f_sum(scores.kind())?.f_neg()?)
    }

    /// The sum over images of the probability of the class that is left: the loss of Dunn's thesis for tests without a target. Of
    /// images with one it is as [`Goals::shortfall`].
    pub fn confidence(&self, scores: &Tensor) -> Result<Tensor> {
        match &self.way {
            Way::Classes { class, sign } => {
                let own = scores.f_softmax(1, None)?.f_gather(1, class, false)?.f_squeeze_dim(1)?;
                let towards = self.excess(scores)?.f_neg()?;
                Ok(towards.f_where_self(&sign.f_gt(0.0)?, &own)?.f_sum(scores.kind())?)
            }
            Way::Labels { .. } => self.shortfall(scores),
        }
    }

    /// The class with the highest score, or how many labels are as wanted.
    fn answer(&self, scores: &Tensor) -> Result<Tensor> {
        match &self.way {
            Way::Classes { .. } => Ok(scores.f_argmax(1, false)?),
            Way::Labels { places, sign } => {
                let met = signed(scores, places, sign)?.f_gt(self.lead)?;
                Ok(met.f_sum_dim_intlist([1i64].as_slice(), false, tch::Kind::Int64)?)
            }
        }
    }
}

/// Scores of binary labels, larger than 0 where they are as wanted: `N x L`.
fn signed(scores: &Tensor, places: &Tensor, sign: &Tensor) -> Result<Tensor> {
    Ok(scores.f_index_select(1, places)?.f_mul(&sign.f_to_kind(scores.kind())?)?)
}

/// Excess, predicted class, softmax margin, least likely class and whether all is finite, of every image: `5 x N` float32
/// numbers on the scores' device.
pub fn numbers(scores: &Tensor, goals: &Goals) -> Result<Tensor> {
    let (_, classes) = scores.size2()?;
    if classes < 2 {
        return Err(Error::model(format!("a classifier must answer at least 2 scores per image, got {classes}")));
    }
    let scores = scores.f_to_kind(tch::Kind::Float)?;
    let excess = goals.excess(&scores)?;
    let (top, _) = scores.f_softmax(1, None)?.f_topk(2, 1, true, true)?;
    let margin = top.f_select(1, 0)?.f_sub(&top.f_select(1, 1)?)?;
    let finite = scores.f_isfinite()?.f_all_dim(1, false)?.f_logical_and(&excess.f_isfinite()?)?;
    let rows = [excess, goals.answer(&scores)?, margin, scores.f_argmin(1, false)?, finite];
    let rows = rows.iter().map(|t| t.f_to_kind(tch::Kind::Float)).collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Tensor::f_stack(&rows, 0)?)
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
