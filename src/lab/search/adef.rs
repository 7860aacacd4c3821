//! ADef (Alaifari, Alberti and Gauksson, "ADef: an iterative algorithm to construct adversarial deformations", ICLR 2019): steps
//! of DeepFool in the space of vector fields.
//!
//! Where the bound on the T-norm differs, trajectories differ only by where they end: a smaller bound stops on the way of a larger
//! one. So one trajectory gives the outcome for all bounds.

use tch::Kind;

use super::gradient::{Ask, Cases, GradientSearch, Look, Mark, Place, Told, ToldGradient, Walk, Wanted};
use super::on_their_way::at_hand;
use super::{Approach, Examination, Need, Search};
use crate::core::{Error, Result, Tensor, on_device};
use crate::objective::Objective;
use crate::space::{Deform, Differentiable};

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

/// Two scores closer than this lie on a boundary, as a share of the largest: single precision on the way to them makes a tenth of it. Two T-norms
/// closer than the other are no progress.
const BOUNDARY: f64 = 1e-5;
const PROGRESS: f64 = 1e-10;

/// Places among what is remembered of a batch. Fields come first. `BOUNDS` to `VANISHED` have a column per sight: the bound on the T-norm,
/// whether it is not reached yet, the field and the steps where it was, and whether no candidate gave a field. Then which images the
/// next step goes by.
const NORMS: usize = 1;
const BOUNDS: usize = 2;
const OPEN: usize = 3;
const ENDS: usize = 4;
const GONE: usize = 5;
const VANISHED: usize = 6;
const GOES_BY: usize = 7;
/// Known once the images were scored as they stand: the label that the model gives them, the one that is aimed at or -1, and those that
/// they may go to.
const OWN: usize = 8;
const TARGET: usize = 9;
const CANDIDATES: usize = 10;

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

    fn finds_least(&self) -> bool {
        true
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Gradients(self)]
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

    fn check(&self, plan: &Examination, _points: Option<&dyn Differentiable>, classes: i64) -> Result<()> {
        if !plan.steps.is_empty() {
            return Err(Error::argument("examine: adef stops each image by itself and has no `at_steps` in common")
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

    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        let (n, sights, device) = (cases.of.len() as i64, cases.sights.len() as i64, cases.images.device());
        let fields = Deform::none(&cases.images)?;
        let norms = Tensor::f_zeros([n], (Kind::Double, device))?;
        let bounds = on_device(&Tensor::f_from_slice(&bounds(cases))?, device)?.f_repeat([n, 1])?;
        let open = Tensor::f_ones([n, sights], (Kind::Bool, device))?;
        let ends = fields.f_unsqueeze(1)?.f_repeat([1, sights, 1, 1, 1])?;
        let gone = Tensor::f_zeros([n, sights], (Kind::Int64, device))?;
        let vanished = open.f_zeros_like()?;
        let goes_by = Tensor::f_ones([n], (Kind::Bool, device))?;
        Ok(vec![fields, norms, bounds, open, ends, gone, vanished, goes_by])
    }

    fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        let fields = walk.points();
        Ok(match self.leg(cases, walk.turn()) {
            Some(Leg::Standing) => Some(Ask { points: fields.shallow_clone(), rows: None, graph: false }),
            Some(Leg::Step(_)) => {
                let rows = walk.going.rows(&walk.tensors[GOES_BY])?;
                Some(Ask { points: fields.f_index_select(0, &rows)?, rows: Some(rows), graph: true })
            }
            Some(Leg::End { sight, .. }) => Some(Ask { points: end(walk, sight)?, rows: None, graph: false }),
            None => None,
        })
    }

    fn look(&self, cases: &Cases, walk: &Walk, told: &Told) -> Result<Look> {
        let (place, sight) = match self.leg(cases, walk.turn()) {
            Some(Leg::Standing) => (None, 0),
            Some(Leg::End { further: false, .. }) if self.short(walk, told)?.is_some() => return Ok(Look::default()),
            Some(Leg::End { sight, .. }) => (Some(sight), sight as i64),
            Some(Leg::Step(_)) => {
                let towards = rows(&walk.tensors[CANDIDATES], told)?;
                let arrived = arrived(walk, told)?;
                let wanted = !at_hand(&arrived) || any(&arrived.f_logical_not()?)?;
                return Ok(Look { mark: None, wanted: wanted.then_some(Wanted::Gaps(towards)) });
            }
            None => return Ok(Look::default()),
        };
        let of = |part: usize| walk.tensors[part].f_select(1, sight);
        Ok(Look { mark: Some(Mark { places: vec![place], steps: of(GONE)?, vanished: of(VANISHED)? }), wanted: None })
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let turn = walk.turn();
        let mut next = turn + 1;
        match self.leg(cases, turn) {
            Some(Leg::Standing) => self.order(cases, walk, told.scores)?,
            Some(Leg::Step(step)) => {
                let open = |walk: &Walk| walk.tensors[OPEN].f_any_dim(1, false);
                let were = open(walk)?;
                self.deform(cases, walk, step, told)?;
                let are = open(walk)?;
                let (goes_by, any) = walk.going.after(&were, &are)?;
                walk.tensors[GOES_BY] = goes_by;
                next = if any { next } else { self.steps + 1 };
            }
            Some(Leg::End { further: false, sight }) => match self.short(walk, told)? {
                Some(short) => {
                    let fields = end(walk, sight)?;
                    // A little less than the bound, which rounding must not exceed.
                    let room = Deform::t_norm(&fields)?.f_reciprocal()?;
                    let room = room.f_mul_scalar(bounds(cases)[sight] * (1.0 - 1e-6))?;
                    let factor = room.f_clamp(1.0, self.overshoot)?;
                    let factor = factor.f_where_scalarother(&short, 1.0)?.f_reshape([-1, 1, 1, 1])?;
                    walk.tensors[ENDS].f_select(1, sight as i64)?.f_copy_(&fields.f_mul(&factor)?)?;
                }
                None => next += 1,
            },
            Some(Leg::End { .. }) | None => {}
        }
        if turn <= self.steps && next > self.steps {
            // Images that are still on their way at the last step end there.
            close(walk, &walk.tensors[OPEN].shallow_clone(), self.steps)?;
        }
        walk.turn_to(next);
        Ok(())
    }
}

/// What a batch is at.
enum Leg {
    /// The images as they stand.
    Standing,
    Step(u32),
    /// Where the images ended at a sight; and `further`, where those that do not fail were taken.
    End {
        sight: usize,
        further: bool,
    },
}

/// On the T-norm, one per sight.
fn bounds(cases: &Cases) -> Vec<f64> {
    let within = cases.space.deform().and_then(Deform::within);
    cases.sights.iter().map(|place| place.level.or(within).unwrap_or(f64::INFINITY)).collect()
}

/// The host would wait for a device here.
fn any(t: &Tensor) -> Result<bool> {
    Ok(t.f_any()?.f_int64_value(&[])? != 0)
}

/// Of what is remembered of all images, that of those which were asked about.
fn rows(all: &Tensor, told: &Told) -> Result<Tensor> {
    Ok(told.rows.map_or_else(|| Ok(all.shallow_clone()), |rows| all.f_index_select(0, rows))?)
}

/// The fields where images ended at a sight.
fn end(walk: &Walk, sight: usize) -> Result<Tensor> {
    Ok(walk.tensors[ENDS].f_select(1, sight as i64)?.f_contiguous()?)
}

/// Images end at sights, `N x S` truths, after so many steps, where their fields are now.
fn close(walk: &mut Walk, ends: &Tensor, gone: u32) -> Result<()> {
    let here = walk.points().f_unsqueeze(1)?;
    walk.tensors[ENDS] = here.f_where_self(&ends.f_reshape([ends.size()[0], -1, 1, 1, 1])?, &walk.tensors[ENDS])?;
    walk.tensors[GONE] = walk.tensors[GONE].f_masked_fill(ends, i64::from(gone))?;
    walk.tensors[OPEN] = walk.tensors[OPEN].f_logical_and(&ends.f_logical_not()?)?;
    Ok(())
}

/// Whether images are where the objective wants them.
fn arrived(walk: &Walk, told: &Told) -> Result<Tensor> {
    let labels = told.scores.f_argmax(1, false)?;
    let (own, target) = (rows(&walk.tensors[OWN], told)?, rows(&walk.tensors[TARGET], told)?);
    Ok(labels.f_eq_tensor(&target)?.f_logical_or(&labels.f_ne_tensor(&own)?.f_logical_and(&target.f_lt(0)?)?)?)
}

impl Adef {
    /// What follows after so many.
    fn leg(&self, cases: &Cases, turn: u32) -> Option<Leg> {
        let Some(ended) = turn.checked_sub(self.steps + 1) else {
            return Some(if turn == 0 { Leg::Standing } else { Leg::Step(turn) });
        };
        let sight = ended as usize / 2;
        (sight < cases.sights.len()).then_some(Leg::End { sight, further: ended % 2 == 1 })
    }

    /// The labels of the images as they stand, and those that they may go to.
    fn order(&self, cases: &Cases, walk: &mut Walk, standing: &Tensor) -> Result<()> {
        let index = |all: &[i64]| on_device(&Tensor::f_from_slice(all)?, standing.device());
        // Of equal scores the first class, as everywhere.
        let order = standing.f_argsort_stable(true, 1, true)?;
        let places: Vec<i64> = match &self.candidates {
            Candidates::All => (1..standing.size()[1]).collect(),
            // The model's own label is where the way begins, not where it leads.
            Candidates::Places(places) => {
                places.iter().filter(|place| **place > 0).map(|&place| place as i64).collect()
            }
        };
        let targets: Vec<i64> = cases.of.iter().map(|case| case.aim.target().map_or(-1, i64::from)).collect();
        let target = index(&targets)?;
        let candidates = match targets.contains(&-1) {
            true => order.f_index_select(1, &index(&places)?)?,
            false => target.f_unsqueeze(1)?,
        };
        walk.tensors.extend([order.f_select(1, 0)?.f_contiguous()?, target, candidates]);
        Ok(())
    }

    /// Which images are to be taken a little further, if any: those that do not fail or lie on a boundary.
    fn short(&self, walk: &Walk, told: &Told) -> Result<Option<Tensor>> {
        if self.overshoot <= 1.0 {
            return Ok(None);
        }
        let (top, _) = told.scores.f_topk(2, 1, true, true)?;
        let largest = told.scores.f_abs()?.f_amax([1i64].as_slice(), false)?;
        let close = top.f_select(1, 0)?.f_sub(&top.f_select(1, 1)?)?.f_le_tensor(&(largest * BOUNDARY))?;
        let short = arrived(walk, told)?.f_logical_not()?.f_logical_or(&close)?;
        // To score them all again takes a GPU less time than the host's question whether there is one.
        Ok((!at_hand(&short) || any(&short)?).then_some(short))
    }

    /// Takes the images that are on their way a step on. Those that have arrived, found no way, or make no progress, end for all bounds
    /// that are still open; the others for the bounds that the step would go beyond.
    fn deform(&self, cases: &Cases, walk: &mut Walk, step: u32, told: &Told) -> Result<()> {
        let asked = told.rows.ok_or_else(|| Error::internal("a step of no images"))?;
        let largest = bounds(cases).into_iter().fold(0.0, f64::max);
        let mut fields = walk.points().shallow_clone();
        let mut norms = walk.tensors[NORMS].f_full_like(f64::INFINITY)?;
        if let Some(ToldGradient { of, gaps: Some(gaps) }) = &told.gradient {
            let (proposed, least) = self.propose(told.images, &rows(&fields, told)?, gaps, of)?;
            fields = fields.f_index_copy(0, asked, &proposed)?;
            norms = norms.f_index_copy(0, asked, &least)?;
        }
        let open = walk.tensors[OPEN].shallow_clone();
        let going = open.f_any_dim(1, false)?.f_index_copy(0, asked, &arrived(walk, told)?.f_logical_not()?)?;
        let lost = going.f_logical_and(&norms.f_isinf()?)?.f_unsqueeze(1)?;
        walk.tensors[VANISHED] = walk.tensors[VANISHED].f_logical_or(&open.f_logical_and(&lost)?)?;
        let progress = norms.f_sub(&walk.tensors[NORMS])?.f_abs()?.f_gt(PROGRESS)?;
        let goes_on = going.f_logical_and(&norms.f_lt(largest)?)?.f_logical_and(&progress)?.f_unsqueeze(1)?;
        let beyond = norms.f_unsqueeze(1)?.f_ge_tensor(&walk.tensors[BOUNDS])?;
        close(walk, &open.f_logical_and(&goes_on.f_logical_not()?.f_logical_or(&beyond)?)?, step - 1)?;
        (walk.tensors[0], walk.tensors[NORMS]) = (fields, norms);
        Ok(())
    }

    /// The candidate fields with the smallest T-norm, the first of equal ones, and these norms, infinite where no candidate gives a field.
    fn propose(&self, images: &Tensor, fields: &Tensor, gaps: &Tensor, gradients: &Tensor) -> Result<(Tensor, Tensor)> {
        let (slope_x, slope_y) = slopes(images)?;
        let (k, n, _, height, width) = gradients.size5()?;
        let along = |slope: &Tensor| -> Result<Tensor> {
            Ok(gradients.f_mul(slope)?.f_sum_dim_intlist([2i64].as_slice(), false, images.kind())?)
        };
        let blur = match self.sigma == 0.0 {
            true => None,
            false => Some((self.banded(height, images)?, self.banded(width, images)?)),
        };
        let smooth = |planes: &Tensor| -> Result<Tensor> {
            let Some((rows, columns)) = &blur else { return Ok(planes.shallow_clone()) };
            Ok(rows.f_matmul(&planes.f_matmul(columns)?)?)
        };
        let alpha = smooth(&Tensor::f_stack(&[along(&slope_x)?, along(&slope_y)?], 2)?)?;
        let squares = alpha.f_square()?.f_sum_dim_intlist([2i64, 3, 4].as_slice(), true, images.kind())?;
        let share = gaps.f_reshape([k, n, 1, 1, 1])?.f_neg()?.f_div(&squares)?;
        let steps = smooth(&alpha)?.f_mul_(&share)?;
        // Planes of horizontal and vertical displacements, where fields have both at every pixel.
        let totals = steps.f_add(&fields.f_permute([0, 3, 1, 2])?)?;
        let norms = totals.f_square()?.f_sum_dim_intlist([2i64].as_slice(), false, images.kind())?;
        let norms = norms.f_amax([2, 3], false)?.f_sqrt()?;
        // No slope anywhere: 0 / 0.
        let norms = norms.f_nan_to_num(f64::INFINITY, f64::INFINITY, f64::INFINITY)?;
        let (least, which) = norms.f_min_dim(0, false)?;
        let chosen = which.f_mul_scalar(n)?.f_add(&Tensor::f_arange(n, (Kind::Int64, images.device()))?)?;
        let fields = totals.f_reshape([k * n, 2, height, width])?.f_index_select(0, &chosen)?;
        Ok((fields.f_permute([0, 2, 3, 1])?.f_contiguous()?, least.f_to_kind(Kind::Double)?))
    }

    /// A normalised Gaussian with zeros around planes of this many rows or columns: a product with a banded matrix, which is many times
    /// faster than convolutions of single planes.
    fn banded(&self, side: i64, like: &Tensor) -> Result<Tensor> {
        let sigma = self.sigma;
        let reach = (4.0 * sigma + 0.5) as i64;
        let weight = |distance: i64| (-0.5 * (distance as f64 / sigma).powi(2)).exp();
        let sum: f64 = (-reach..=reach).map(weight).sum();
        let entry = |from: i64, to: i64| if (from - to).abs() > reach { 0.0 } else { weight(from - to) / sum };
        let entries: Vec<f64> = (0..side).flat_map(|from| (0..side).map(move |to| entry(from, to))).collect();
        let matrix = Tensor::f_from_slice(&entries)?.f_reshape([side, side])?;
        on_device(&matrix.f_to_kind(like.kind())?, like.device())
    }
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
