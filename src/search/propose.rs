//! Searches that learn from losses alone: the Adversarial Examiner's protocol (Shu, Liu, Qiu and Yuille, AAAI 2020,
//! Algorithm 1). Each image has a search of its own, which proposes settings of the space's factors and hears how far each
//! of them fails; proposals of several images fill one batch.

use super::Examination;
use super::rounds::{self, Settled, Work};
use super::transcript::{Row, Transcript};
use crate::core::{Cx, Error, Result, Tensor};
use crate::objective::Verdicts;
use crate::space::{Factor, Factored, Point, Setting, factor};

/// A search over settings of factors that needs no more than losses.
pub trait Proposing {
    /// The search of one image with its own random stream, the call's seed and the image's row; or why these factors do not
    /// suit it.
    fn begin(&self, factors: &[Factor], stream: (u64, u64)) -> Result<Box<dyn Proposals>>;
}

/// The search of one image under way: a pure function of its stream and of what it was told.
pub trait Proposals {
    /// Settings to try next, none when it is done. They are scored together where that is faster.
    fn propose(&mut self) -> Vec<Setting>;

    /// How far the settings of the last proposal fail, in their order: the best other score minus the label's, which is
    /// above 0 where the image is misclassified and tells apart settings that do not fail as well.
    fn update(&mut self, _losses: &[f32]) {}
}

/// One row per image: where the search found the largest loss.
pub(super) fn examine(cx: &Cx, plan: &Examination, space: &dyn Factored, search: &dyn Proposing) -> Result<Transcript> {
    // Factors that do not suit the search are refused before the model is asked anything.
    search.begin(space.factors(), (plan.seed, 0))?;
    if plan.data.depends_on_whole_image() {
        return Err(Error::data(format!(
            "{}: the images are centred or standardised, factors act on [0, 1]",
            plan.data.name
        ))
        .hint("examine the plain images; a model's own `mean` and `std` do the normalising"));
    }
    plan.model.check_fits(cx, plan.data)?;
    // One proposal per image must be able to fill a batch.
    let batch = rounds::batch_of(cx, plan);
    let places = batch.min(plan.data.len());
    let mut work = Searches {
        cx,
        plan,
        space,
        search,
        active: (0..places).map(|_| None).collect(),
        settings: vec![0.0; plan.data.len() * space.factors().len()],
    };
    let (rows, outcome) = rounds::examine(cx, plan, &mut work, (batch, places), true);
    rounds::answer(cx, Transcript::of_settings(plan, work.settings, rows), outcome)
}

/// An image under examination.
struct Active {
    row: usize,
    label: i32,
    search: Box<dyn Proposals>,
    proposed: Vec<Setting>,
    /// Of the proposed settings, as far as they are known.
    losses: Vec<f32>,
    /// Points asked for and not yet answered.
    pending: usize,
    queries: u32,
    /// The predicted class as it stands.
    before: i32,
    worst: Option<Worst>,
}

/// The setting with the largest loss so far, the first of equal ones.
struct Worst {
    setting: Setting,
    excess: f32,
    predicted: i32,
}

/// A point to score: the image in a place as it stands, or at one of the settings that its search proposed.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    place: usize,
    proposal: Option<usize>,
}

/// The searches of the images under examination, one place each.
struct Searches<'a> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    space: &'a dyn Factored,
    search: &'a dyn Proposing,
    active: Vec<Option<Active>>,
    /// The outcome of every row, one number per factor.
    settings: Vec<f64>,
}

impl Work for Searches<'_> {
    type Point = Asked;

    fn prepare(&self, canvases: &Tensor) -> Result<Tensor> {
        self.plan.data.centre(canvases)
    }

    /// Images as they stand come first, since they need no drawing; the others keep their order.
    fn arrange(&self, batch: &mut [Asked]) {
        batch.sort_by_key(|asked| asked.proposal.is_some());
    }

    fn admit(&mut self, place: usize, row: usize) -> Result<Vec<Asked>> {
        self.active[place] = Some(Active {
            row,
            label: self.plan.data.labels()[row] as i32,
            search: self.search.begin(self.space.factors(), (self.plan.seed, row as u64))?,
            proposed: vec![],
            losses: vec![],
            pending: 1,
            queries: 0,
            before: 0,
            worst: None,
        });
        let mut settled = Settled { asked: vec![Asked { place, proposal: None }], done: vec![] };
        self.advance(place, &mut settled)?;
        Ok(settled.asked)
    }

    /// The model's answers to a batch of points: the one place where anything is drawn or asked.
    fn verdicts(&self, images: &Tensor, asked: &[Asked]) -> Result<Verdicts> {
        let active =
            |asked: &Asked| self.active[asked.place].as_ref().ok_or_else(|| Error::internal("no image in a place"));
        let (mut standing, mut places, mut settings, mut labels) = (vec![], vec![], vec![], vec![]);
        for point in asked {
            let active = active(point)?;
            labels.push(i64::from(active.label));
            match point.proposal {
                None => standing.push(point.place as i64),
                Some(proposal) => {
                    places.push(point.place as i64);
                    settings.push(active.proposed[proposal].as_slice());
                }
            }
        }
        let mut parts = vec![];
        if !standing.is_empty() {
            parts.push(images.f_index_select(0, &Tensor::f_from_slice(&standing)?.f_to_device(images.device())?)?);
        }
        if !places.is_empty() {
            parts.push(self.space.draw(self.cx, images, &places, &settings)?);
        }
        let verdicts = tch::no_grad(|| {
            let labels = Tensor::f_from_slice(&labels)?.f_to_device(images.device())?;
            let scores = self.plan.model.logits(&Tensor::f_cat(&parts, 0)?)?;
            self.plan.objective.judge(&scores, &labels)
        })?;
        if let Some(bad) = verdicts.broken {
            let active = active(&asked[bad])?;
            let at = match asked[bad].proposal {
                Some(proposal) => factor::value(self.space.factors(), &active.proposed[proposal]).summary(),
                None => "its place in the data".into(),
            };
            return Err(Error::model(format!(
                "{} answered scores that are not finite for image {} of {} at {at}",
                self.plan.model.name, active.row, self.plan.data.name
            ))
            .hint("a model that answers NaN or infinity can't be examined: check its weights and its normalisation"));
        }
        Ok(verdicts)
    }

    /// An image goes on when it has all that it asked for.
    fn settle(&mut self, asked: &[Asked], verdicts: &Verdicts) -> Result<Settled<Asked>> {
        let mut complete = vec![];
        for (i, point) in asked.iter().enumerate() {
            let (excess, predicted) = (verdicts.excess[i], verdicts.predicted[i]);
            let Some(active) = &mut self.active[point.place] else { continue };
            active.pending -= 1;
            active.queries += 1;
            match point.proposal {
                None => active.before = predicted,
                Some(proposal) => {
                    active.losses.push(excess);
                    let fails = |predicted| self.plan.objective.fails(active.label, predicted);
                    // Scores that tie exactly between the label and another class have excess 0 on both sides.
                    let worse = active
                        .worst
                        .as_ref()
                        .is_none_or(|worst| (excess, fails(predicted)) > (worst.excess, fails(worst.predicted)));
                    if worse {
                        let setting = active.proposed[proposal].clone();
                        active.worst = Some(Worst { setting, excess, predicted });
                    }
                }
            }
            if active.pending == 0 {
                complete.push(point.place);
            }
        }
        let mut settled = Settled { asked: vec![], done: vec![] };
        for place in complete {
            self.advance(place, &mut settled)?;
        }
        Ok(settled)
    }
}

impl Searches<'_> {
    /// Tells the search of an image what it asked, and asks what it wants next.
    fn advance(&mut self, place: usize, settled: &mut Settled<Asked>) -> Result<()> {
        let Some(active) = &mut self.active[place] else { return Ok(()) };
        if !active.proposed.is_empty() {
            active.search.update(&active.losses);
        }
        active.losses.clear();
        active.proposed = active.search.propose();
        active.pending += active.proposed.len();
        let asked = (0..active.proposed.len()).map(|proposal| Asked { place, proposal: Some(proposal) });
        settled.asked.extend(asked);
        if active.pending > 0 {
            return Ok(());
        }
        let worst = active.worst.as_ref().ok_or_else(|| Error::internal("a search proposed nothing"))?;
        let width = self.space.factors().len();
        if worst.setting.len() != width {
            return Err(Error::internal("a search proposed a setting of other factors"));
        }
        self.settings[active.row * width..(active.row + 1) * width].copy_from_slice(&worst.setting);
        let row = Row {
            id: active.row as u32,
            label: active.label,
            target: None,
            before: active.before,
            after: worst.predicted,
            loss: self.plan.objective.loss(worst.excess),
            margin: -worst.excess,
            magnitude: 0.0,
            queries: active.queries,
            point: Point::Setting(active.row as u32),
            weight: None,
        };
        settled.done.push((place, row));
        self.active[place] = None;
        Ok(())
    }
}
