//! Adam (Kingma and Ba 2015) on the points of a space, for each image until it first fails, within a ball that begins small and grows:
//! the procedure of Dunn's thesis, Sections 5.1.3 and 5.2.4.

use std::rc::Rc;

use super::gradient::{Ask, Cases, GradientSearch, Look, Pace, Place, Told, Walk, Wanted};
use super::{Approach, Examination, Search, Variation};
use crate::core::{Error, Result, Tensor, on_device};
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
    pub lr: f64,
    pub betas: (f64, f64),
    pub bound: Option<Bound>,
}

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
            Variation::Longer(times) => Some(Rc::new(Self { steps: self.steps.saturating_mul(times), ..*self })),
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
    fn check(&self, plan: &Examination, _points: Option<&dyn Differentiable>, _classes: i64) -> Result<()> {
        if !plan.levels.is_empty() {
            let search = self.describe();
            return Err(Error::argument(format!(
                "examine: {search} has no `levels`: it finds how far each image has to go"
            ))
            .hint("`magnitude` of the rows tells"));
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

    /// Points and their two moments.
    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        let points = cases.differentiable()?.start(&cases.base)?;
        let moments = [points.f_zeros_like()?, points.f_zeros_like()?];
        Ok(std::iter::once(points).chain(moments).collect())
    }

    fn ask(&self, _cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        Ok(Some(Ask { points: walk.points().shallow_clone(), rows: None, graph: true }))
    }

    fn look(&self, _cases: &Cases, _walk: &Walk, _told: &Told) -> Result<Look> {
        Ok(Look { mark: None, wanted: Some(Wanted::Shortfall) })
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let Some(gradient) = &told.gradient else { return Ok(()) };
        let (space, points) = (cases.differentiable()?, walk.points().f_detach()?);
        let steps = AdamSteps { lr: self.lr, betas: self.betas, eps: 1e-8 };
        steps.step_rows([&points, &gradient.of, &walk.tensors[1], &walk.tensors[2]], &walk.turns)?;
        let ball = |gone: &u32| {
            let grown = self.bound.map_or(f64::INFINITY, |bound| bound.after(gone + 1));
            grown.min(space.within().unwrap_or(f64::INFINITY))
        };
        let radii: Vec<f64> = walk.turns.iter().map(ball).collect();
        let radii = match radii.iter().any(|radius| radius.is_finite()) {
            true => Some(on_device(&Tensor::f_from_slice(&radii)?.f_to_kind(points.kind())?, points.device())?),
            false => None,
        };
        walk.tensors[0] = space.keep(&cases.base, &points, radii.as_ref())?;
        walk.turns.iter_mut().for_each(|gone| *gone += 1);
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
        format!("adam(#{{ {} }})", options.join(", "))
    }
}
