//! Adam (Kingma and Ba 2015) on the points of a space, for each image until it first fails, within a ball that begins small and grows:
//! the procedure of Dunn's thesis, Sections 5.1.3 and 5.2.4. Where it is asked to, it then looks for the least change that fails.

use std::rc::Rc;

use super::gradient::{Ask, Cases, GradientSearch, Look, Pace, Place, Told, ToldGradient, Walk, Wanted};
use super::polish::{Leg, Polish, Rows};
use super::{Approach, Examination, Search, Variation};
use crate::core::{Error, ErrorKind, Result, Tensor, on_device};
use crate::optimiser::AdamSteps;
use crate::space::Differentiable;

/// The radius of the ball that points stay in: `first`, and after every step `factor` times as large and larger by `increment`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub first: f64,
    pub factor: f64,
    pub increment: f64,
}

impl Bound {
    /// The radius that holds after this step, counted from 1.
    pub fn after(self, step: u32) -> f64 {
        let Self { first, factor, increment } = self;
        let grown = factor.powi(step as i32 - 1);
        let added = if factor == 1.0 { f64::from(step - 1) } else { (grown - 1.0) / (factor - 1.0) };
        (first * grown + increment * added).min(f64::MAX)
    }
}

#[derive(Clone, Copy)]
pub struct Adam {
    /// At most.
    pub steps: u32,
    /// Over factors in shares of the way to their ends.
    pub lr: f64,
    pub betas: (f64, f64),
    pub bound: Option<Bound>,
    /// Steps of the polish after the first failure; 0: none.
    pub polish: u32,
}

/// Places among what is remembered of each case, after the points.
const MEAN: usize = 1;
const SQUARE: usize = 2;
/// Where what the polish remembers begins.
const HELD: usize = 3;

impl Search for Adam {
    fn describe(&self) -> String {
        self.said("first_radius", "growth")
    }

    fn identity(&self) -> String {
        self.said("bound", "factor")
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Gradients(self)]
    }

    fn varied(&self, how: Variation) -> Option<Rc<dyn Search>> {
        match how {
            Variation::Longer(times) => {
                let polish = self.polish.saturating_mul(times);
                Some(Rc::new(Self { steps: self.steps.saturating_mul(times), polish, ..*self }))
            }
            Variation::Restarted(_) => None,
            Variation::Farther(times, _) => {
                let wider = |Bound { first, factor, increment }: Bound| Bound {
                    first: first * times,
                    factor,
                    increment: increment * times,
                };
                Some(Rc::new(Self { lr: self.lr * times, bound: self.bound.map(wider), ..*self }))
            }
        }
    }
}

impl GradientSearch for Adam {
    fn goes_by_the_lead(&self) -> bool {
        true
    }

    fn check(&self, plan: &Examination, points: Option<&dyn Differentiable>, _classes: i64) -> Result<()> {
        if !plan.levels.is_empty() {
            let search = self.describe();
            return Err(Error::argument(format!(
                "examine: {search} has no `levels`: it finds how far each image has to go"
            ))
            .hint("`magnitude` of the rows tells"));
        }
        if self.polish > 0 && !plan.steps.is_empty() {
            return Err(Error::argument("examine: `at_steps` looks at images on Adam's way, which `polish` leaves")
                .hint("leave out one of the two"));
        }
        if self.polish > 0 && points.is_some_and(|points| !points.flows()) {
            let space = plan.space.describe();
            return Err(Error::new(
                ErrorKind::Pairing,
                format!("examine: `polish` can't go over {space}, whose gradients are differences"),
            )
            .hint("leave `polish` out; search::fmn looks for the nearest failing setting"));
        }
        match plan.steps.iter().find(|step| **step > self.steps) {
            Some(step) => Err(Error::argument(format!("examine: `at_steps` asks for step {step} of {}", self.steps))),
            None => Ok(()),
        }
    }

    fn pace(&self) -> Pace {
        Pace::Alone(self.steps)
    }

    fn sights(&self, plan: &Examination) -> Vec<Place> {
        match plan.steps.is_empty() {
            true => vec![Place { level: None, step: None }],
            false => plan.steps.iter().map(|&step| Place { level: None, step: Some(step) }).collect(),
        }
    }

    fn stuck(&self) -> (&'static str, &'static str) {
        ("search::adam", "")
    }

    fn after_failing(&self) -> u32 {
        self.polish().map_or(0, Polish::looks)
    }

    /// Ways that differ by their last digits lead elsewhere.
    fn apart(&self) -> bool {
        self.polish > 0
    }

    /// Points and their two moments, and what the polish remembers.
    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        let points = cases.differentiable()?.start(&cases.base)?;
        let moments = [points.f_zeros_like()?, points.f_zeros_like()?];
        let held = if self.polish > 0 { Polish::begin(&points)? } else { vec![] };
        Ok(std::iter::once(points).chain(moments).chain(held).collect())
    }

    fn ask(&self, _cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        Ok(Some(Ask { points: walk.points().shallow_clone(), rows: None, graph: true }))
    }

    fn look(&self, _cases: &Cases, _walk: &Walk, _told: &Told) -> Result<Look> {
        Ok(Look { mark: None, wanted: Some(Wanted::Shortfall) })
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let Some(gradient) = &told.gradient else { return Ok(()) };
        let space = cases.differentiable()?;
        match self.polish() {
            Some(polish) if walk.failed.iter().any(Option::is_some) => {
                self.step_apart(polish, cases, walk, (told, gradient))?;
            }
            _ => {
                let points = walk.points().f_detach()?;
                let moments = [&walk.tensors[MEAN], &walk.tensors[SQUARE]];
                walk.tensors[0] = self.descend(space, &cases.base, (points, &gradient.of), moments, &walk.turns)?;
            }
        }
        walk.turns.iter_mut().for_each(|gone| *gone += 1);
        Ok(())
    }
}

impl Adam {
    fn polish(&self) -> Option<Polish> {
        (self.polish > 0).then_some(Polish { steps: self.polish })
    }

    /// Where a step leads from these points, which are changed in place, as their moments are.
    fn descend(
        &self,
        space: &dyn Differentiable,
        base: &[Tensor],
        (points, gradient): (Tensor, &Tensor),
        [mean, square]: [&Tensor; 2],
        turns: &[u32],
    ) -> Result<Tensor> {
        let steps = AdamSteps { lr: self.lr * space.stride(), betas: self.betas, eps: 1e-8 };
        steps.step_rows([&points, gradient, mean, square], turns)?;
        let ball = |gone: &u32| {
            let grown = self.bound.map_or(f64::INFINITY, |bound| bound.after(gone + 1));
            grown.min(space.within().unwrap_or(f64::INFINITY))
        };
        let radii: Vec<f64> = turns.iter().map(ball).collect();
        let radii = match radii.iter().any(|radius| radius.is_finite()) {
            true => Some(on_device(&Tensor::f_from_slice(&radii)?.f_to_kind(points.kind())?, points.device())?),
            false => None,
        };
        space.keep(base, &points, radii.as_ref())
    }

    /// Takes each case on where it is: those that have not failed, and those in the same part of their polish together.
    fn step_apart(
        &self,
        polish: Polish,
        cases: &Cases,
        walk: &mut Walk,
        (told, gradient): (&Told, &ToldGradient),
    ) -> Result<()> {
        let space = cases.differentiable()?;
        let leg = |(turn, failed): (&u32, &Option<u32>)| failed.map(|failed| polish.leg(turn - failed));
        let legs: Vec<Option<Leg>> = walk.turns.iter().zip(&walk.failed).map(leg).collect();
        let [excess, shortfall] = [told.goals.excess(told.scores)?, told.goals.shortfalls(told.scores)?];
        let places = |is: &dyn Fn(Option<Leg>) -> bool| (0..legs.len()).filter(|&place| is(legs[place])).collect();
        let last = Some(Leg::Step(polish.steps));
        let parts: [Vec<usize>; 5] = [
            places(&|leg| leg.is_none()),
            places(&|leg| leg == Some(Leg::Found)),
            places(&|leg| matches!(leg, Some(Leg::Step(_))) && leg != last),
            places(&|leg| leg == last),
            places(&|leg| matches!(leg, Some(Leg::Halving(_)))),
        ];
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let numbers: Vec<i64> = part.iter().map(|&place| place as i64).collect();
            let index = on_device(&Tensor::f_from_slice(&numbers)?, walk.points().device())?;
            let of = |t: &Tensor| t.f_index_select(0, &index);
            let all = |of_all: &[Tensor]| of_all.iter().map(of).collect::<std::result::Result<Vec<_>, _>>();
            let mut mine = all(&walk.tensors)?;
            let held = mine.split_off(HELD);
            let (base, slopes) = (all(&cases.base)?, of(&gradient.of)?);
            let points = mine[0].shallow_clone();
            let mut rows = Rows { space, base, points, held, excess: of(&excess)? };
            let at: Vec<u32> = part.iter().map(|&place| walk.turns[place] - walk.failed[place].unwrap_or(0)).collect();
            match legs[part[0]] {
                None => {
                    let moments = [&mine[MEAN], &mine[SQUARE]];
                    rows.points = self.descend(space, &rows.base, (rows.points, &slopes), moments, &at)?;
                }
                Some(Leg::Found) => Polish::found(&mut rows)?,
                Some(Leg::Step(step)) => {
                    polish.descend(cases.space, &mut rows, &slopes, &of(&shortfall)?, &at)?;
                    if step == polish.steps {
                        Polish::halve(&mut rows, &vec![0; part.len()])?;
                    }
                }
                Some(Leg::Halving(_)) => {
                    let halvings: Vec<u32> = at.iter().map(|since| since - polish.steps).collect();
                    Polish::halve(&mut rows, &halvings)?;
                }
                Some(Leg::Over) => {}
            }
            mine[0] = rows.points;
            for (into, from) in walk.tensors.iter_mut().zip(mine.iter().chain(&rows.held)) {
                let _ = into.f_index_copy_(0, &index, from)?;
            }
        }
        Ok(())
    }
}

impl Adam {
    /// `radius` and `growth`: what its bound and the factor that this grows by are called.
    fn said(&self, radius: &str, growth: &str) -> String {
        let mut options = vec![format!("lr: {:?}", self.lr), format!("steps: {}", self.steps)];
        if self.betas != (0.9, 0.999) {
            options.push(format!("betas: [{:?}, {:?}]", self.betas.0, self.betas.1));
        }
        if let Some(Bound { first, factor, increment }) = self.bound {
            options.push(format!("{radius}: {first:?}"));
            options.extend((factor != 1.0).then(|| format!("{growth}: {factor:?}")));
            options.extend((increment != 0.0).then(|| format!("increment: {increment:?}")));
        }
        options.extend((self.polish > 0).then(|| format!("polish: {}", self.polish)));
        format!("adam(#{{ {} }})", options.join(", "))
    }
}
