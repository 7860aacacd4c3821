//! Auto-PGD (Croce and Hein 2020, Algorithm 1): projected gradient ascent with momentum, whose steps are halved where they do not help and
//! begin again where the loss was highest. It needs no step size from its user. In l1 it goes among fewer and fewer pixels (`sparse.rs`).

use std::rc::Rc;

use tch::{Device, Kind};

use super::gradient::{
    Ask, Cases, GradientSearch, Look, Pace, Place, Told, Walk, Wanted, check_balls, check_random_start,
};
use super::{Approach, BimStart, Examination, Search, Variation, sparse};
use crate::core::{Error, Result, Tensor, on_device};
use crate::space::{Differentiable, Norm};

#[derive(Clone, Copy)]
pub struct Apgd {
    /// Of one way.
    pub steps: u32,
    pub start: BimStart,
    /// Ways that are gone, each from another random start.
    pub restarts: u32,
}

/// How much of a step is new; the rest goes on as the step before (alpha).
const NEW: f64 = 0.75;

/// The share of steps since the last checkpoint that have to raise the loss (rho).
const RAISING: f64 = 0.75;

/// What is remembered of each case, by its place among the tensors of a walk.
mod held {
    pub const BEFORE: usize = 1;
    pub const BEST: usize = 2;
    pub const BEST_GRADIENT: usize = 3;
    /// The best of all ways.
    pub const WORST: usize = 4;
    /// One number per case from here on: the size of a step; the loss of the best point, of the last one, of the best at the last
    /// checkpoint, and of the best of all ways; how often it rose since; whether steps were halved there; the radius; whether a gradient was
    /// not 0; and in l1 the share of pixels of a step, and how many had changed at the last checkpoint.
    pub const SIZE: usize = 5;
    pub const BEST_LOSS: usize = 6;
    pub const LAST_LOSS: usize = 7;
    pub const CHECKED_LOSS: usize = 8;
    pub const WORST_LOSS: usize = 9;
    pub const RISES: usize = 10;
    pub const HALVED: usize = 11;
    pub const RADIUS: usize = 12;
    pub const MOVED: usize = 13;
    pub const SHARE: usize = 14;
    pub const CHANGED: usize = 15;
    pub const ALL: usize = 16;
}

/// Steps after which it is looked whether they are to be halved, w_1, w_2, .. of Section 3.1: w_j = ceil(p_j N), p_1 = 0.22,
/// p_{j+1} = p_j + max(p_j - p_{j-1} - 0.03, 0.06).
pub fn checkpoints(steps: u32) -> Vec<u32> {
    // In hundredths, so that no rounding decides.
    let (mut before, mut share) = (0u64, 22u64);
    let mut found = vec![];
    while share <= 100 {
        found.push((share * u64::from(steps)).div_ceil(100) as u32);
        (before, share) = (share, share + (share - before).saturating_sub(3).max(6));
    }
    found.dedup();
    found
}

/// Where a case is on its ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leg {
    Standing,
    Way {
        way: u32,
        step: u32,
    },
    /// Where the loss was highest.
    Worst,
}

impl Apgd {
    fn leg(&self, turn: u32) -> Leg {
        let Some(turn) = turn.checked_sub(1) else { return Leg::Standing };
        match turn / (self.steps + 1) {
            way if way < self.restarts => Leg::Way { way, step: turn % (self.steps + 1) },
            _ => Leg::Worst,
        }
    }

    /// Where cases of these rows begin a way.
    fn set_out(
        &self,
        cases: &Cases,
        walk: &Walk,
        space: &dyn Differentiable,
        rows: &[usize],
        way: u32,
    ) -> Result<Tensor> {
        let index = index(rows, cases.images.device())?;
        let base =
            cases.base.iter().map(|t| t.f_index_select(0, &index)).collect::<std::result::Result<Vec<_>, _>>()?;
        if self.start == BimStart::Image {
            return space.start(&base);
        }
        let streams: Vec<(u64, u64)> =
            rows.iter().map(|&row| (cases.seed ^ u64::from(way).rotate_left(32), cases.of[row].row as u64)).collect();
        let radii = walk.tensors[held::RADIUS].f_index_select(0, &index)?;
        space.scatter(&base, &radii, &streams)?.ok_or_else(|| Error::internal("a space that draws no points"))
    }
}

impl Search for Apgd {
    fn describe(&self) -> String {
        let mut options = vec![format!("steps: {}", self.steps)];
        options.extend((self.start == BimStart::Image).then(|| "start: \"image\"".to_string()));
        options.extend((self.restarts > 1).then(|| format!("restarts: {}", self.restarts)));
        format!("apgd(#{{ {} }})", options.join(", "))
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Gradients(self)]
    }

    fn varied(&self, how: Variation) -> Option<Rc<dyn Search>> {
        Some(Rc::new(match how {
            Variation::Longer(times) => Self { steps: self.steps.saturating_mul(times), ..*self },
            Variation::Restarted(ways) => Self { start: BimStart::Random, restarts: ways, ..*self },
            // Its steps follow from the ball.
            Variation::Farther(..) => *self,
        }))
    }
}

impl GradientSearch for Apgd {
    fn check(&self, plan: &Examination, points: Option<&dyn Differentiable>, _classes: i64) -> Result<()> {
        if !plan.steps.is_empty() {
            return Err(Error::argument("examine: apgd stops each image by itself and has no `at_steps` in common")
                .hint("`levels` are the radii of balls, each of which is searched"));
        }
        let space = check_balls(plan, points)?;
        if plan.levels.is_empty() && space.within().is_none() {
            return Err(Error::argument(format!(
                "examine: {} has no ball, from whose radius apgd takes its steps",
                plan.space.describe()
            ))
            .hint("`radius: 8.0 / 255` of space::pixels, or `levels` of examine, says how far pixels may change"));
        }
        if self.start == BimStart::Random { check_random_start(plan, space) } else { Ok(()) }
    }

    fn norms(&self) -> &'static [Norm] {
        &[Norm::L1, Norm::L2, Norm::Linf]
    }

    fn pace(&self) -> Pace {
        Pace::Alone(1 + self.restarts * (self.steps + 1))
    }

    fn sights(&self, _plan: &Examination) -> Vec<Place> {
        vec![Place { level: None, step: None }]
    }

    fn level_by_level(&self) -> bool {
        true
    }

    fn sets_out_elsewhere(&self) -> bool {
        self.start == BimStart::Random
    }

    /// Cases on their way whose gradients were 0 wherever they were.
    fn flat(&self, walk: &Walk) -> Result<Option<Tensor>> {
        let gone: Vec<bool> = walk.turns.iter().map(|turn| *turn > 1).collect();
        let gone = on_device(&Tensor::f_from_slice(&gone)?, walk.points().device())?;
        Ok(Some(walk.tensors[held::MOVED].f_eq(0.0)?.f_logical_and(&gone)?))
    }

    fn stuck(&self) -> (&'static str, &'static str) {
        ("the search", "an objective with .loss(\"dlr\") has it follow the scores themselves")
    }

    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        let space = cases.differentiable()?;
        let points = space.start(&cases.base)?;
        let on = (points.kind(), points.device());
        let radii: Option<Vec<f64>> = cases.of.iter().map(|case| case.radius.or(space.within())).collect();
        let radii = radii.ok_or_else(|| Error::internal("a search of balls without radii"))?;
        let mut all = vec![points.shallow_clone()];
        for _ in held::BEFORE..held::SIZE {
            all.push(points.f_zeros_like()?);
        }
        for place in held::SIZE..held::ALL {
            all.push(match place {
                held::RADIUS => on_device(&Tensor::f_from_slice(&radii)?.f_to_kind(on.0)?, on.1)?,
                _ => Tensor::f_zeros([radii.len() as i64], on)?,
            });
        }
        Ok(all)
    }

    fn ask(&self, _cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        Ok(Some(Ask { points: walk.points().shallow_clone(), rows: None, graph: true }))
    }

    fn look(&self, _cases: &Cases, _walk: &Walk, _told: &Told) -> Result<Look> {
        Ok(Look { mark: None, wanted: Some(Wanted::Gain) })
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let Some(gradient) = &told.gradient else { return Ok(()) };
        let space = cases.differentiable()?;
        let (device, kind) = (walk.points().device(), walk.points().kind());
        let legs: Vec<Leg> = walk.turns.iter().map(|turn| self.leg(*turn)).collect();
        let marked = |is: &dyn Fn(Leg) -> bool| -> Result<Tensor> {
            on_device(&Tensor::f_from_slice(&legs.iter().map(|leg| is(*leg)).collect::<Vec<_>>())?, device)
        };
        let in_l1 = space.norm() == Norm::L1;
        let checks = match in_l1 {
            true => (1..=self.steps).filter(|step| step % sparse::window(self.steps) == 0).collect(),
            false => checkpoints(self.steps),
        };
        // Steps since the checkpoint before, at checkpoints.
        let window = |leg: Leg| match leg {
            Leg::Way { step, .. } => {
                let place = checks.iter().position(|check| *check == step)?;
                Some(step - place.checked_sub(1).map_or(0, |before| checks[before]))
            }
            _ => None,
        };
        let on_way = marked(&|leg| matches!(leg, Leg::Way { .. }))?;
        let first = marked(&|leg| matches!(leg, Leg::Way { step: 0, .. }))?;
        let very_first = marked(&|leg| leg == Leg::Way { way: 0, step: 0 })?;
        let checked = marked(&|leg| window(leg).is_some())?;
        let asked: Vec<f64> = legs.iter().map(|leg| RAISING * f64::from(window(*leg).unwrap_or(0))).collect();
        let asked = on_device(&Tensor::f_from_slice(&asked)?.f_to_kind(kind)?, device)?;

        let (points, now) = (walk.points().shallow_clone(), told.goals.gains(told.scores)?.f_to_kind(kind)?);
        let of = |place: usize| walk.tensors[place].shallow_clone();
        let column = |flags: &Tensor| flags.f_reshape([vec![-1], vec![1; points.dim() - 1]].concat());
        let none = gradient.of.f_flatten(1, -1)?.f_abs()?.f_amax([1], false)?.f_eq(0.0)?;
        let moved = of(held::MOVED).f_maximum(&on_way.f_logical_and(&none.f_logical_not()?)?.f_to_kind(kind)?)?;

        let better = first.f_logical_or(&on_way.f_logical_and(&now.f_gt_tensor(&of(held::BEST_LOSS))?)?)?;
        let best = points.f_where_self(&column(&better)?, &of(held::BEST))?;
        let best_gradient = gradient.of.f_where_self(&column(&better)?, &of(held::BEST_GRADIENT))?;
        let best_loss = now.f_where_self(&better, &of(held::BEST_LOSS))?;
        let worse = very_first.f_logical_or(&on_way.f_logical_and(&now.f_gt_tensor(&of(held::WORST_LOSS))?)?)?;
        let worst = points.f_where_self(&column(&worse)?, &of(held::WORST))?;
        let worst_loss = now.f_where_self(&worse, &of(held::WORST_LOSS))?;
        let rose = now.f_gt_tensor(&of(held::LAST_LOSS))?.f_to_kind(kind)?;
        let rises = of(held::RISES).f_add(&rose)?.f_where_scalarother(&first.f_logical_not()?, 0.0)?;

        // Conditions 1 and 2 of Section 3.1.
        let seldom = rises.f_lt_tensor(&asked)?;
        let checked_loss = best_loss.f_where_self(&first, &of(held::CHECKED_LOSS))?;
        let halved_before = of(held::HALVED).f_where_scalarother(&first.f_logical_not()?, 0.0)?;
        let no_higher = halved_before.f_eq(0.0)?.f_logical_and(&best_loss.f_le_tensor(&checked_loss)?)?;
        let halve = checked.f_logical_and(&seldom.f_logical_or(&no_higher)?)?;
        let size = of(held::RADIUS).f_mul_scalar(2.0)?.f_where_self(&first, &of(held::SIZE))?;
        let radii = of(held::RADIUS);
        let (share, changed) = (of(held::SHARE), of(held::CHANGED));
        let (halve, size, share, changed) = match in_l1 {
            true => {
                let size = radii.f_where_self(&first, &size)?;
                let share = share.f_where_scalarother(&first.f_logical_not()?, sparse::FIRST_SHARE)?;
                let pixels = points.numel() as f64 / legs.len() as f64;
                let changed = changed.f_where_scalarother(&first.f_logical_not()?, pixels)?;
                let next = sparse::adapted(&best, &space.start(&cases.base)?, &changed, &size, &radii)?;
                (
                    next.anew.f_logical_and(&checked)?,
                    next.sizes.f_where_self(&checked, &size)?,
                    next.shares.f_where_self(&checked, &share)?,
                    next.changed.f_where_self(&checked, &changed)?,
                )
            }
            false => {
                let size = size.f_mul_scalar(0.5)?.f_where_self(&halve, &size)?;
                (halve, size, share, changed)
            }
        };
        let from = best.f_where_self(&column(&halve)?, &points)?;
        let along = best_gradient.f_where_self(&column(&halve)?, &gradient.of)?;

        let direction = if in_l1 { sparse::direction(&along, &share)? } else { space.norm().steepest(&along)?.0 };
        let stepped = from.f_add(&direction.f_mul(&column(&size)?)?)?;
        let stepped = space.keep(&cases.base, &stepped, Some(&radii))?;
        let momentum = from.f_sub(&of(held::BEFORE))?.f_mul_scalar(1.0 - NEW)?;
        let mixed = from.f_add(&stepped.f_sub(&from)?.f_mul_scalar(NEW)?)?.f_add(&momentum)?;
        let mixed = space.keep(&cases.base, &mixed, Some(&radii))?;
        let mut next = if in_l1 { stepped } else { stepped.f_where_self(&column(&first)?, &mixed)? };

        // Cases that begin a way, and those that have gone all.
        let rows = |is: &dyn Fn(Leg) -> bool| -> Vec<usize> { (0..legs.len()).filter(|&row| is(legs[row])).collect() };
        let sets_out = |leg: Leg| match leg {
            Leg::Standing => Some(0),
            Leg::Way { way, step } => (step == self.steps && way + 1 < self.restarts).then_some(way + 1),
            Leg::Worst => None,
        };
        for way in 0..self.restarts {
            let rows = rows(&|leg| sets_out(leg) == Some(way));
            if !rows.is_empty() {
                let starts = self.set_out(cases, walk, space, &rows, way)?;
                next = next.f_index_copy(0, &index(&rows, device)?, &starts)?;
            }
        }
        let ends =
            marked(&|leg| matches!(leg, Leg::Way { way, step } if step == self.steps && way + 1 == self.restarts))?;
        let next = worst.f_where_self(&column(&ends)?, &next)?;

        let checked_loss = best_loss.f_where_self(&checked, &checked_loss)?;
        let halved = halve.f_to_kind(kind)?.f_where_self(&checked, &halved_before)?;
        let rises = rises.f_where_scalarother(&checked.f_logical_not()?, 0.0)?;
        walk.tensors = vec![
            next,
            from,
            best,
            best_gradient,
            worst,
            size,
            best_loss,
            now,
            checked_loss,
            worst_loss,
            rises,
            halved,
            radii,
            moved,
            share,
            changed,
        ];
        walk.turns.iter_mut().for_each(|turn| *turn += 1);
        Ok(())
    }
}

fn index(rows: &[usize], device: Device) -> Result<Tensor> {
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    on_device(&Tensor::f_from_slice(&rows)?.f_to_kind(Kind::Int64)?, device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_those_of_the_paper() {
        assert_eq!(checkpoints(100), [22, 41, 57, 70, 80, 87, 93, 99]);
        assert_eq!(checkpoints(10), [3, 5, 6, 7, 8, 9, 10]);
        assert_eq!(checkpoints(1), [1]);
    }

    #[test]
    fn every_way_begins_after_the_one_before() {
        let apgd = Apgd { steps: 2, start: BimStart::Random, restarts: 2 };
        let legs: Vec<Leg> = (0..8).map(|turn| apgd.leg(turn)).collect();
        let way = |way, step| Leg::Way { way, step };
        assert_eq!(legs, [Leg::Standing, way(0, 0), way(0, 1), way(0, 2), way(1, 0), way(1, 1), way(1, 2), Leg::Worst]);
        assert_eq!(apgd.pace(), Pace::Alone(7));
    }
}
