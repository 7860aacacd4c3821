//! ADef (Alaifari, Alberti and Gauksson, "ADef: an iterative algorithm to construct adversarial deformations", ICLR 2019): steps
//! of DeepFool in the space of vector fields.
//!
//! Where the bound on the T-norm differs, trajectories differ only by where they end: a smaller bound stops on the way of a larger
//! one. So one trajectory gives the outcome for all bounds.

use tch::Kind;

use super::trajectories::{CaseBatch, GradientSearch, Place, Sight};
use super::{Approach, Examination, Need, Search};
use crate::core::{Error, Graph, Result, Tensor, gradients};
use crate::objective::Objective;
use crate::space::Deform;

/// Which labels an image may be deformed towards: places in the order of its scores, the highest first, where 0 is the label that
/// the model gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidates {
    All,
    Places(Vec<usize>),
}

/// One image's way: tau <- tau + tau_k, tau_k = -f_k alpha / |alpha|^2 for the candidate k with which the T-norm stays smallest,
/// f_k = F_k - F_c, c the current label, alpha = S (grad f_k . grad x), S a Gaussian filter.
pub struct Adef {
    pub steps: u32,
    pub candidates: Candidates,
    /// The Gaussian filter's standard deviation in pixels; 0 for none.
    pub sigma: f64,
    /// What the field of an image that does not fail, or lies on a boundary, is multiplied with at the end, at most.
    pub overshoot: f64,
}

/// Two scores closer than this lie on a boundary, and two T-norms closer than the other are no progress.
const BOUNDARY: f64 = 1e-6;
const PROGRESS: f64 = 1e-10;

/// Of so many images the gradients towards all labels are taken in one pass.
const FEW: i64 = 16;

impl Search for Adef {
    fn describe(&self) -> String {
        let mut options = vec![format!("steps: {}", self.steps)];
        if let Candidates::Places(places) = &self.candidates {
            options.push(format!("candidates: {places:?}"));
        }
        options.push(format!("sigma: {:?}", self.sigma));
        options.push(format!("overshoot: {:?}", self.overshoot));
        format!("adef(#{{ {} }})", options.join(", "))
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Trajectories(self)]
    }
}

impl GradientSearch for Adef {
    fn need(&self) -> Need {
        Need::Fields
    }

    /// It goes to where another class gets the highest score, and stops there.
    fn looks_for(&self, objective: &Objective) -> bool {
        objective.failure.of_the_highest() && objective.lead == 0.0 && objective.loss.is_none()
    }

    fn check(&self, plan: &Examination, classes: i64) -> Result<()> {
        if !plan.steps.is_empty() {
            return Err(Error::argument("examine: adef stops each image by itself and has no `steps` in common")
                .hint("`levels` are bounds on the T-norm; one trajectory gives them all"));
        }
        if let Candidates::Places(places) = &self.candidates
            && let Some(place) = places.iter().find(|place| **place as i64 >= classes)
        {
            return Err(Error::argument(format!(
                "search::adef: `candidates` asks for place {place} among {classes} classes"
            ))
            .hint(format!("places count from 0, the label that the model gives, to {}", classes - 1)));
        }
        if let (Some(within), Some(level)) = (
            plan.space.deform().and_then(Deform::within),
            plan.levels
                .last()
                .filter(|level| plan.space.deform().and_then(Deform::within).is_some_and(|within| **level > within)),
        ) {
            return Err(Error::argument(format!(
                "examine: level {level} is beyond the bound of {}, {within}",
                plan.space.describe()
            )));
        }
        if plan.levels.first().is_some_and(|level| *level <= 0.0) {
            return Err(Error::argument(
                "examine: a level of space::deform bounds the T-norm and must be larger than 0",
            ));
        }
        Ok(())
    }

    fn sights(&self, plan: &Examination) -> Vec<Place> {
        match plan.levels.is_empty() {
            true => vec![Place { level: None, step: None }],
            false => plan.levels.iter().map(|&level| Place { level: Some(level), step: None }).collect(),
        }
    }

    fn level_by_level(&self) -> bool {
        false
    }

    fn follow(&self, cases: &CaseBatch, see: &mut dyn FnMut(&Sight) -> Result<()>) -> Result<()> {
        let space = cases.space.deform().ok_or_else(|| Error::internal("a space without deformations"))?;
        let bounds: Vec<f64> =
            cases.sights.iter().map(|place| place.level.or(space.within()).unwrap_or(f64::INFINITY)).collect();
        let images = cases.images;
        let (n, device) = (images.size()[0], images.device());
        let standing = tch::no_grad(|| cases.model.logits(images))?;
        let none = Deform::none(images)?;
        see(&Sight {
            place: None,
            images,
            scores: &standing,
            points: &none,
            magnitude: &Tensor::f_zeros([n], (Kind::Float, device))?,
            steps: &Tensor::f_zeros([n], (Kind::Int64, device))?,
            vanished: &Tensor::f_zeros([n], (Kind::Bool, device))?,
        })?;
        // Of equal scores the first class, as everywhere.
        let order = standing.f_argsort_stable(true, 1, true)?;
        let places: Vec<i64> = match &self.candidates {
            Candidates::All => (1..standing.size()[1]).collect(),
            // The model's own label is where the way begins, not where it leads.
            Candidates::Places(places) => {
                places.iter().filter(|place| **place > 0).map(|&place| place as i64).collect()
            }
        };
        let candidates = order.f_index_select(1, &Tensor::f_from_slice(&places)?.f_to_device(device)?)?;
        let own: Vec<i64> = Vec::try_from(&order.f_select(1, 0)?.f_to_device(tch::Device::Cpu)?)?;
        let mut deformations =
            Deformations { adef: self, cases, bounds, own, candidates, ends: vec![], steps: vec![], vanished: vec![] };
        deformations.ends = (0..deformations.bounds.len()).map(|_| Ok(none.f_detach_copy()?)).collect::<Result<_>>()?;
        deformations.steps = vec![vec![0; n as usize]; deformations.bounds.len()];
        deformations.vanished = vec![vec![false; n as usize]; deformations.bounds.len()];
        deformations.go()?;
        deformations.show(see)
    }
}

/// A batch of images on their ways.
struct Deformations<'a> {
    adef: &'a Adef,
    cases: &'a CaseBatch<'a>,
    /// On the T-norm, one per sight.
    bounds: Vec<f64>,
    /// The labels that the model gives the images as they stand.
    own: Vec<i64>,
    /// `B x K`.
    candidates: Tensor,
    /// By sight: the fields of all images where they ended, and after how many steps.
    ends: Vec<Tensor>,
    steps: Vec<Vec<i64>>,
    vanished: Vec<Vec<bool>>,
}

/// What one step would do to the images that are still on their deformations.
struct Proposed {
    fields: Tensor,
    /// Infinite where no candidate gives a field.
    norms: Vec<f64>,
}

fn index(places: &[usize], device: tch::Device) -> Result<Tensor> {
    let places: Vec<i64> = places.iter().map(|&place| place as i64).collect();
    Ok(Tensor::f_from_slice(&places)?.f_to_device(device)?)
}

impl Deformations<'_> {
    /// Takes every image as far as it goes, and keeps where it was when its norm reached each bound.
    fn go(&mut self) -> Result<()> {
        let device = self.cases.images.device();
        let largest = self.bounds.iter().copied().fold(0.0, f64::max);
        let mut active: Vec<usize> = (0..self.own.len()).collect();
        let mut fields = Deform::none(self.cases.images)?;
        let mut norms = vec![0.0; active.len()];
        let mut open = vec![vec![true; active.len()]; self.bounds.len()];
        for step in 1..=self.adef.steps {
            self.cases.cx.check()?;
            let chosen = index(&active, device)?;
            let images = self.cases.images.f_index_select(0, &chosen)?;
            let here = tch::no_grad(|| Deform::deform(&images, &fields))?;
            let leaf = here.f_detach()?.f_set_requires_grad(true)?;
            let scores = self.cases.model.logits(&leaf)?;
            let labels: Vec<i64> = Vec::try_from(&scores.f_argmax(1, false)?.f_to_device(tch::Device::Cpu)?)?;
            let going: Vec<usize> = (0..active.len()).filter(|&i| !self.arrived(active[i], labels[i])).collect();
            let proposed = match going.is_empty() {
                true => Proposed { fields: fields.shallow_clone(), norms: vec![] },
                false => self.step(&leaf, &scores, &fields, &active)?,
            };
            // Images that have arrived, found no way, or make no progress, end here for all bounds that are still open.
            let mut still = vec![];
            let mut goes_on = vec![false; active.len()];
            for &i in &going {
                let norm = proposed.norms[i];
                let case = active[i];
                if norm.is_infinite() {
                    (0..open.len()).filter(|&bound| open[bound][i]).for_each(|bound| self.vanished[bound][case] = true);
                } else if norm < largest && (norm - norms[i]).abs() > PROGRESS {
                    still.push(i);
                    goes_on[i] = true;
                }
            }
            for (bound, open) in open.iter_mut().enumerate() {
                let ends: Vec<usize> = (0..active.len())
                    .filter(|i| open[*i] && (!goes_on[*i] || proposed.norms[*i] >= self.bounds[bound]))
                    .collect();
                if !ends.is_empty() {
                    let to = ends.iter().map(|&i| active[i]).collect::<Vec<_>>();
                    let from = fields.f_index_select(0, &index(&ends, device)?)?;
                    let _ = self.ends[bound].f_index_copy_(0, &index(&to, device)?, &from)?;
                }
                ends.iter().for_each(|&i| {
                    open[i] = false;
                    self.steps[bound][active[i]] = i64::from(step) - 1;
                });
                *open = still.iter().map(|&i| open[i]).collect();
            }
            fields = proposed.fields.f_index_select(0, &index(&still, device)?)?;
            norms = still.iter().map(|&i| proposed.norms[i]).collect();
            active = still.iter().map(|&i| active[i]).collect();
            if active.is_empty() {
                break;
            }
        }
        for (bound, open) in open.iter().enumerate() {
            let ends: Vec<usize> = (0..active.len()).filter(|i| open[*i]).collect();
            if ends.is_empty() {
                continue;
            }
            let to: Vec<usize> = ends.iter().map(|&i| active[i]).collect();
            let from = fields.f_index_select(0, &index(&ends, device)?)?;
            let _ = self.ends[bound].f_index_copy_(0, &index(&to, device)?, &from)?;
            to.iter().for_each(|&case| self.steps[bound][case] = i64::from(self.adef.steps));
        }
        Ok(())
    }

    /// Whether an image with this label now is where the objective wants it.
    fn arrived(&self, case: usize, label: i64) -> bool {
        match self.cases.aims[case].target() {
            Some(target) => label == i64::from(target),
            None => label != self.own[case],
        }
    }

    /// The candidate fields with the smallest T-norm, the first of equal ones.
    fn step(&self, leaf: &Tensor, scores: &Tensor, fields: &Tensor, active: &[usize]) -> Result<Proposed> {
        let current = scores.f_detach()?.f_argmax(1, true)?;
        let towards = self.towards(active, leaf.device())?;
        let (gaps, gradients) = match leaf.size()[0] {
            few if few <= FEW => self.together(&leaf.f_detach()?, &towards, &current)?,
            _ => one_by_one(&self.cases.model.name, leaf, scores, &towards, &current)?,
        };
        tch::no_grad(|| {
            let (slope_x, slope_y) = slopes(&leaf.f_detach()?)?;
            let (k, n, _, height, width) = gradients.size5()?;
            let along = |slope: &Tensor| -> Result<Tensor> {
                Ok(gradients.f_mul(slope)?.f_sum_dim_intlist([2i64].as_slice(), false, leaf.kind())?)
            };
            let alpha = self.smooth(&Tensor::f_stack(&[along(&slope_x)?, along(&slope_y)?], 2)?)?;
            let squares = alpha.f_square()?.f_sum_dim_intlist([2i64, 3, 4].as_slice(), true, leaf.kind())?;
            let share = gaps.f_reshape([k, n, 1, 1, 1])?.f_neg()?.f_div(&squares)?;
            let steps = self.smooth(&alpha)?.f_mul_(&share)?;
            // Planes of horizontal and vertical displacements, where fields have both at every pixel.
            let totals = steps.f_add(&fields.f_permute([0, 3, 1, 2])?)?;
            let norms = totals.f_square()?.f_sum_dim_intlist([2i64].as_slice(), false, leaf.kind())?;
            let norms = norms.f_amax([2, 3], false)?.f_sqrt()?;
            // No slope anywhere: 0 / 0.
            let norms = norms.f_nan_to_num(f64::INFINITY, f64::INFINITY, f64::INFINITY)?;
            let (least, which) = norms.f_min_dim(0, false)?;
            let chosen = which.f_mul_scalar(n)?.f_add(&Tensor::f_arange(n, (Kind::Int64, leaf.device()))?)?;
            let fields = totals.f_reshape([k * n, 2, height, width])?.f_index_select(0, &chosen)?;
            let fields = fields.f_permute([0, 2, 3, 1])?.f_contiguous()?;
            let norms = Vec::<f64>::try_from(&least.f_to_kind(Kind::Double)?.f_to_device(tch::Device::Cpu)?)?;
            Ok(Proposed { fields, norms })
        })
    }

    /// The gaps `K x N` between the scores of the labels to go to and the current ones, and their gradients `K x N x C x H x W`, from
    /// one pass with a copy of the images per label: what is fastest for a few images.
    fn together(&self, images: &Tensor, towards: &Tensor, current: &Tensor) -> Result<(Tensor, Tensor)> {
        let (n, c, height, width) = images.size4()?;
        let k = towards.size()[1];
        let copies = images.f_unsqueeze(0)?.f_expand([k, n, c, height, width], false)?;
        let leaf = copies.f_reshape([k * n, c, height, width])?.f_detach_copy()?.f_set_requires_grad(true)?;
        let scores = self.cases.model.logits(&leaf)?;
        let towards = towards.f_transpose(0, 1)?.f_reshape([k * n, 1])?;
        let current = current.f_unsqueeze(0)?.f_expand([k, n, 1], false)?.f_reshape([k * n, 1])?;
        let gaps = scores.f_gather(1, &towards, false)?.f_sub(&scores.f_gather(1, &current, false)?)?;
        let name = &self.cases.model.name;
        let gradient = gradients(name, &gaps.f_sum(scores.kind())?, &[&leaf], Graph::Free)?;
        Ok((gaps.f_detach()?.f_reshape([k, n])?, gradient[0].f_reshape([k, n, c, height, width])?))
    }

    /// The labels that each image may go to, `N x K`.
    fn towards(&self, active: &[usize], device: tch::Device) -> Result<Tensor> {
        let targets: Option<Vec<i64>> =
            active.iter().map(|&case| self.cases.aims[case].target().map(i64::from)).collect();
        match targets {
            Some(targets) => Ok(Tensor::f_from_slice(&targets)?.f_reshape([-1, 1])?.f_to_device(device)?),
            None => Ok(self.candidates.f_index_select(0, &index(active, device)?)?),
        }
    }

    /// Planes `... x H x W` under a normalised Gaussian with zeros around them: as products with banded matrices, which are many
    /// times faster than convolutions of single planes.
    fn smooth(&self, planes: &Tensor) -> Result<Tensor> {
        let sigma = self.adef.sigma;
        if sigma == 0.0 {
            return Ok(planes.shallow_clone());
        }
        let reach = (4.0 * sigma + 0.5) as i64;
        let weight = |distance: i64| (-0.5 * (distance as f64 / sigma).powi(2)).exp();
        let sum: f64 = (-reach..=reach).map(weight).sum();
        let banded = |side: i64| -> Result<Tensor> {
            let entry = |from: i64, to: i64| if (from - to).abs() > reach { 0.0 } else { weight(from - to) / sum };
            let entries: Vec<f64> = (0..side).flat_map(|from| (0..side).map(move |to| entry(from, to))).collect();
            let matrix = Tensor::f_from_slice(&entries)?.f_reshape([side, side])?;
            Ok(matrix.f_to_kind(planes.kind())?.f_to_device(planes.device())?)
        };
        let size = planes.size();
        let (height, width) = (size[size.len() - 2], size[size.len() - 1]);
        Ok(banded(height)?.f_matmul(&planes.f_matmul(&banded(width)?)?)?)
    }

    /// Shows where the images ended at each bound, those that do not fail taken a little further.
    fn show(&self, see: &mut dyn FnMut(&Sight) -> Result<()>) -> Result<()> {
        let (images, device) = (self.cases.images, self.cases.images.device());
        for (place, fields) in self.ends.iter().enumerate() {
            self.cases.cx.check()?;
            tch::no_grad(|| -> Result<()> {
                let mut fields = fields.shallow_clone();
                let mut norms = Deform::t_norm(&fields)?;
                let mut deformed = Deform::deform(images, &fields)?;
                let mut scores = self.cases.model.logits(&deformed)?;
                let (top, _) = scores.f_topk(2, 1, true, true)?;
                let labels: Vec<i64> = Vec::try_from(&scores.f_argmax(1, false)?.f_to_device(tch::Device::Cpu)?)?;
                let short: Vec<bool> =
                    labels.iter().enumerate().map(|(case, &label)| !self.arrived(case, label)).collect();
                let close = top.f_select(1, 0)?.f_sub(&top.f_select(1, 1)?)?.f_le(BOUNDARY)?;
                let short = Tensor::f_from_slice(&short)?.f_to_device(device)?.f_logical_or(&close)?;
                if self.adef.overshoot > 1.0 && short.f_any()?.f_int64_value(&[])? != 0 {
                    // A little less than the bound, which rounding must not exceed.
                    let room = norms.f_reciprocal()?.f_mul_scalar(self.bounds[place] * (1.0 - 1e-6))?;
                    let factor = room.f_clamp(1.0, self.adef.overshoot)?;
                    let factor = factor.f_where_scalarother(&short, 1.0)?.f_reshape([-1, 1, 1, 1])?;
                    fields = fields.f_mul(&factor)?;
                    norms = Deform::t_norm(&fields)?;
                    deformed = Deform::deform(images, &fields)?;
                    scores = self.cases.model.logits(&deformed)?;
                }
                see(&Sight {
                    place: Some(place),
                    images: &deformed,
                    scores: &scores,
                    points: &fields,
                    magnitude: &norms,
                    steps: &Tensor::f_from_slice(&self.steps[place])?.f_to_device(device)?,
                    vanished: &Tensor::f_from_slice(&self.vanished[place])?.f_to_device(device)?,
                })
            })?;
        }
        Ok(())
    }
}

/// As `together`, from one pass forward and one back per label.
fn one_by_one(
    name: &str,
    leaf: &Tensor,
    scores: &Tensor,
    towards: &Tensor,
    current: &Tensor,
) -> Result<(Tensor, Tensor)> {
    let count = towards.size()[1];
    let base = scores.f_gather(1, current, false)?;
    let (mut gaps, mut found) = (vec![], vec![]);
    for k in 0..count {
        let gap = scores.f_gather(1, &towards.f_narrow(1, k, 1)?, false)?.f_sub(&base)?.f_squeeze_dim(1)?;
        let graph = if k + 1 < count { Graph::Keep } else { Graph::Free };
        let gradient = gradients(name, &gap.f_sum(scores.kind())?, &[leaf], graph)?;
        found.push(gradient[0].shallow_clone());
        gaps.push(gap.f_detach()?);
    }
    Ok((Tensor::f_stack(&gaps, 0)?, Tensor::f_stack(&found, 0)?))
}

/// How images change along columns and along rows: half the difference of the neighbours, at the border the difference to the one
/// neighbour.
fn slopes(images: &Tensor) -> Result<(Tensor, Tensor)> {
    let along = |dim: i64| -> Result<Tensor> {
        let side = images.size()[dim as usize];
        if side < 2 {
            return Ok(images.f_zeros_like()?);
        }
        let difference = |from: i64, to: i64, n: i64| -> Result<Tensor> {
            Ok(images.f_narrow(dim, to, n)?.f_sub(&images.f_narrow(dim, from, n)?)?)
        };
        let inner = difference(0, 2, side - 2)?.f_div_scalar(2.0)?;
        Ok(Tensor::f_cat(&[difference(0, 1, 1)?, inner, difference(side - 2, side - 1, 1)?], dim)?)
    };
    Ok((along(3)?, along(2)?))
}
