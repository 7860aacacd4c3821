//! A batch of cases on its way: what its search asks is drawn, scored, shown, and told with its gradient.

use std::rc::Rc;

use tch::Device;

use super::gradient::{AimedImage, Ask, Cases, GradientSearch, Look, Place, Told, ToldGradient, Walk, Wanted};
use super::read_ahead::ReadAhead;
use super::recorded_slope::{PointsAndSlope, RecordedSlope, SlopeOf};
use super::{Examination, OnTheirWay};
use crate::core::{Cx, Error, Graph, Result, Tensor, finite, gradients, no_gradient, on_device};
use crate::model::Model;
use crate::objective::{Aim, Goals, Objective, Verdicts, numbers};
use crate::space::{Deform, Differentiable};

/// Of so many images the gradients towards all labels are taken in one pass.
const FEW: i64 = 16;

/// A batch of cases and where they are.
pub struct Course<'a> {
    model: &'a Model,
    pub(super) search: &'a dyn GradientSearch,
    objective: &'a Objective,
    pub(super) cases: Cases<'a>,
    pub(super) walk: Walk,
    pub(super) goals: Goals,
    /// Of all batches of the examination; none where that does not pay.
    recorded: Option<Rc<RecordedSlope>>,
}

/// A batch of cases somewhere on their way.
pub struct Sight<'a> {
    /// Which of the sights; `None`: the images as they stand.
    pub place: Option<usize>,
    pub images: &'a Tensor,
    pub scores: &'a Tensor,
    /// What the objective says of them.
    pub verdicts: &'a Tensor,
    /// The points of the space.
    pub points: &'a Tensor,
    /// How large each change is.
    pub magnitude: &'a Tensor,
    /// How many steps each case has gone.
    pub steps: &'a Tensor,
    /// Where the gradient was 0 at some step, or below the floor of a mean.
    pub vanished: &'a Tensor,
}

/// Points that were scored.
pub(super) struct Scored {
    ask: Ask,
    /// What gradients are of.
    leaf: Tensor,
    pub drawn: Tensor,
    pub scores: Tensor,
    /// What is known already: what the objective says of the scores, and a gradient.
    known: Option<(Tensor, SlopeOf, Tensor)>,
}

/// Is shown a batch at a sight.
pub type Visitor<'v> = dyn FnMut(&Sight, &Cases, &Goals) -> Result<()> + 'v;

/// Images of the data, and what points are changes of.
pub(super) fn read(
    cx: &Cx,
    (plan, ahead): (&Examination, &mut ReadAhead),
    points: Option<&dyn Differentiable>,
    rows: &[usize],
) -> Result<(Tensor, Vec<Tensor>)> {
    let images = ahead.images(cx, rows)?;
    let base = points.map(|points| points.base(plan.data, rows, &images)).transpose()?;
    Ok((images, base.unwrap_or_default()))
}

impl<'a> Cases<'a> {
    /// Images in ascending order, read from the data. `all`: of how many a mean is.
    pub(super) fn read(
        cx: &Cx,
        (plan, ahead): (&'a Examination, &mut ReadAhead),
        points: Option<&'a dyn Differentiable>,
        sights: &'a [Place],
        all: usize,
        of: Vec<AimedImage>,
    ) -> Result<Self> {
        let mut rows: Vec<usize> = of.iter().map(|case| case.row).collect();
        rows.dedup();
        // Cases of one image stand together.
        let mut at = 0;
        let place = (0..of.len()).map(|case| {
            at += i64::from(case > 0 && of[case].row != of[case - 1].row);
            at
        });
        let place = on_device(&Tensor::f_from_slice(&place.collect::<Vec<_>>())?, cx.device())?;
        let at_place = |t: &Tensor| t.f_index_select(0, &place);
        let (images, base) = read(cx, (plan, ahead), points, &rows)?;
        let base = base.iter().map(at_place).collect::<std::result::Result<_, _>>()?;
        Ok(Self { of, space: &*plan.space, points, images: at_place(&images)?, base, sights, seed: plan.seed, all })
    }
}

impl<'a> Course<'a> {
    /// At the beginning.
    pub fn begin(
        model: &'a Model,
        search: &'a dyn GradientSearch,
        objective: &'a Objective,
        cases: Cases<'a>,
    ) -> Result<Self> {
        let count = cases.of.len();
        let (turns, failed, going) = (vec![0; count], vec![None; count], OnTheirWay::all(count));
        let walk = Walk { tensors: search.begin(&cases)?, turns, failed, going };
        Self::at(model, search, objective, cases, walk)
    }

    /// Somewhere on the way.
    pub(super) fn at(
        model: &'a Model,
        search: &'a dyn GradientSearch,
        objective: &'a Objective,
        cases: Cases<'a>,
        walk: Walk,
    ) -> Result<Self> {
        let goals = cases.goals(objective)?;
        Ok(Self { model, search, objective, cases, walk, goals, recorded: None })
    }

    /// What may be recorded of its steps is, beside those of other batches.
    pub(super) fn recorded_by(self, recorded: Option<Rc<RecordedSlope>>) -> Self {
        Self { recorded, ..self }
    }

    /// Goes all the way.
    pub fn go(&mut self, cx: &Cx, see: &mut Visitor) -> Result<()> {
        while self.advance(see)? {
            cx.check()?;
        }
        Ok(())
    }

    /// Takes the cases on once; `false` where they have come to their ends.
    pub(super) fn advance(&mut self, see: &mut Visitor) -> Result<bool> {
        let Some(scored) = self.score()? else { return Ok(false) };
        let Look { mark, wanted } = tch::no_grad(|| self.look(&scored))?;
        if let Some(mark) = mark {
            tch::no_grad(|| {
                let (images, scores) = (scored.drawn.f_detach()?, scored.scores.f_detach()?);
                let verdicts = scored.verdicts(&self.goals)?;
                let magnitude = self.magnitude(&self.cases.base, &scored.ask.points)?;
                for place in mark.places {
                    let sight = Sight {
                        place,
                        images: &images,
                        scores: &scores,
                        verdicts: &verdicts,
                        points: &scored.ask.points,
                        magnitude: &magnitude,
                        steps: &mark.steps,
                        vanished: &mark.vanished,
                    };
                    see(&sight, &self.cases, &self.goals)?;
                }
                Ok::<_, Error>(())
            })?;
        }
        let gradient = wanted.map(|wanted| self.gradient(&scored, &wanted)).transpose()?;
        self.step(&scored, gradient)?;
        Ok(true)
    }

    /// Scores the points that the search asks about, and makes known which class is least likely where that is aimed at.
    pub(super) fn score(&mut self) -> Result<Option<Scored>> {
        let Some(ask) = tch::no_grad(|| self.search.ask(&self.cases, &self.walk))? else { return Ok(None) };
        let scored = match ask.graph {
            true => self.draw(ask)?,
            false => tch::no_grad(|| self.draw(ask))?,
        };
        if self.cases.of.iter().any(|case| case.aim == Aim::ToLeast) {
            let verdicts = tch::no_grad(|| Verdicts::of_numbers(&numbers(&scored.scores, &self.goals)?))?;
            for (case, verdict) in self.cases.of.iter_mut().zip(&verdicts.of) {
                case.aim = if case.aim == Aim::ToLeast { Aim::To(verdict.least) } else { case.aim };
            }
            self.aim()?;
        }
        Ok(Some(scored))
    }

    /// Makes the goals anew, after other cases or aims came in.
    pub(super) fn aim(&mut self) -> Result<()> {
        self.goals = self.cases.goals(self.objective)?;
        Ok(())
    }

    fn draw(&self, ask: Ask) -> Result<Scored> {
        let base = || self.cases.base.iter().map(|t| ask.of(t)).collect::<Result<Vec<_>>>();
        // Elsewhere batches are what makes it fast.
        let apart = self.search.apart() && ask.points.device() == Device::Cpu && ask.points.size()[0] > 1;
        let (leaf, drawn) = match self.cases.points {
            Some(space) if space.flows() => {
                let base = base()?;
                if let Some(sloped) = self.sloped(space, &base, &ask)? {
                    let PointsAndSlope { slope, drawn, scores, verdicts, gradient } = sloped;
                    let leaf = ask.points.shallow_clone();
                    return Ok(Scored { ask, leaf, drawn, scores, known: Some((verdicts, slope, gradient)) });
                }
                let leaf = ask.points.f_detach()?.f_set_requires_grad(ask.graph)?;
                if apart {
                    return self.draw_apart(space, &base, ask, leaf);
                }
                let drawn = space.draw(&base, &leaf)?;
                if ask.graph && !drawn.requires_grad() {
                    return Err(no_gradient(&self.cases.space.describe()));
                }
                (leaf, drawn)
            }
            // What gradients of other points begin with are those of the images.
            other => {
                let drawn = tch::no_grad(|| match other {
                    Some(space) => space.draw(&base()?, &ask.points),
                    None => Deform::deform(&ask.of(&self.cases.images)?, &ask.points),
                })?;
                let leaf = drawn.f_detach()?.f_set_requires_grad(ask.graph)?;
                (leaf.shallow_clone(), leaf)
            }
        };
        let scores = self.model.logits(&drawn)?;
        Ok(Scored { ask, leaf, drawn, scores, known: None })
    }

    /// Scores and the gradient that the last step wanted, where such a step may be recorded.
    fn sloped(&self, space: &dyn Differentiable, base: &[Tensor], ask: &Ask) -> Result<Option<PointsAndSlope>> {
        let known = self.cases.of.iter().all(|case| case.aim != Aim::ToLeast);
        match &self.recorded {
            Some(recorded) if ask.graph && ask.rows.is_none() && known => {
                recorded.at(self.model, space, (base, &ask.points), &self.goals)
            }
            _ => Ok(None),
        }
    }

    /// Every row by itself: what comes of a row has the same bits whatever the others are.
    fn draw_apart(&self, space: &dyn Differentiable, base: &[Tensor], ask: Ask, leaf: Tensor) -> Result<Scored> {
        let (mut drawn, mut scores) = (vec![], vec![]);
        for (row, point) in leaf.f_split(1, 0)?.iter().enumerate() {
            let own = base.iter().map(|t| t.f_narrow(0, row as i64, 1)).collect::<std::result::Result<Vec<_>, _>>()?;
            let image = space.draw(&own, point)?;
            if ask.graph && !image.requires_grad() {
                return Err(no_gradient(&self.cases.space.describe()));
            }
            scores.push(self.model.logits(&image)?);
            drawn.push(image);
        }
        let [drawn, scores] = [Tensor::f_cat(&drawn, 0)?, Tensor::f_cat(&scores, 0)?];
        Ok(Scored { ask, leaf, drawn, scores, known: None })
    }

    /// How large the changes of images at these points are.
    pub(super) fn magnitude(&self, base: &[Tensor], points: &Tensor) -> Result<Tensor> {
        match self.cases.points {
            Some(space) => space.magnitude(base, points),
            None => Deform::t_norm(points),
        }
    }

    /// What the search wants to know of points that were scored.
    pub(super) fn look(&self, scored: &Scored) -> Result<Look> {
        scored.told(&self.goals, None, |told| self.search.look(&self.cases, &self.walk, told))
    }

    pub(super) fn gradient(&self, scored: &Scored, wanted: &Wanted) -> Result<ToldGradient> {
        let slope = SlopeOf::of(wanted);
        self.recorded.iter().for_each(|recorded| recorded.wants(slope));
        match &scored.known {
            Some((_, known, gradient)) if slope == Some(*known) => {
                return Ok(ToldGradient { of: gradient.shallow_clone(), gaps: None });
            }
            // Another one than before: no graph leads to it.
            Some(_) => return self.gradient(&self.draw(scored.ask.again())?, wanted),
            None => {}
        }
        let loss = match wanted {
            Wanted::Gain => self.goals.gain(&scored.scores)?,
            Wanted::Shortfall => self.goals.shortfall(&scored.scores)?,
            Wanted::Gaps(towards) => {
                let current = scored.scores.f_detach()?.f_argmax(1, true)?;
                // Copies of a few points go through the network side by side, where points are images.
                let images = self.cases.space.differentiable().is_none() || self.cases.space.additive();
                let told = match scored.leaf.size()[0] {
                    few if few <= FEW && images => together(self.model, &scored.leaf.f_detach()?, towards, &current)?,
                    _ => one_by_one(&self.model.name, scored, towards, &current)?,
                };
                let found = finite(told.of)?;
                let each = (0..towards.size()[1]).map(|k| self.at_points(scored, found.f_select(0, k)?));
                let of = Tensor::f_stack(&each.collect::<Result<Vec<_>>>()?, 0)?;
                return Ok(ToldGradient { of, gaps: told.gaps });
            }
        };
        let of = gradients(&self.model.name, &loss, &[&scored.leaf], Graph::Free)?.remove(0);
        Ok(ToldGradient { of: self.at_points(scored, finite(of)?)?, gaps: None })
    }

    /// What a gradient at the leaf is at the points.
    fn at_points(&self, scored: &Scored, of: Tensor) -> Result<Tensor> {
        match self.cases.points {
            Some(space) if !space.flows() => {
                let base = self.cases.base.iter().map(|t| scored.ask.of(t)).collect::<Result<Vec<_>>>()?;
                space.pull(&base, &scored.ask.points, &of)
            }
            _ => Ok(of),
        }
    }

    pub(super) fn step(&mut self, scored: &Scored, gradient: Option<ToldGradient>) -> Result<()> {
        let Self { search, cases, walk, goals, .. } = self;
        tch::no_grad(|| scored.told(goals, gradient, |told| search.step(cases, walk, told)))
    }

    /// All tensors with one row per case.
    pub(super) fn tensors(&mut self) -> Vec<&mut Tensor> {
        let cases = std::iter::once(&mut self.cases.images).chain(&mut self.cases.base);
        cases.chain(&mut self.walk.tensors).collect()
    }

    /// Puts one case in a place. What is put in and taken out counts when `aim` is called.
    pub(super) fn put(&mut self, place: usize, mut one: Self) -> Result<()> {
        for (into, from) in self.tensors().into_iter().zip(one.tensors()) {
            into.f_narrow(0, place as i64, 1)?.f_copy_(from)?;
        }
        self.cases.of[place] = one.cases.of[0];
        self.walk.turns[place] = 0;
        self.walk.failed[place] = None;
        Ok(())
    }

    /// Goes on with some of the cases, or with several like them.
    pub(super) fn select(&mut self, rows: &[usize]) -> Result<()> {
        let index = Tensor::f_from_slice(&rows.iter().map(|&row| row as i64).collect::<Vec<_>>())?;
        let index = on_device(&index, self.cases.images.device())?;
        for tensor in self.tensors() {
            *tensor = tensor.f_index_select(0, &index)?;
        }
        self.cases.of = rows.iter().map(|&row| self.cases.of[row]).collect();
        self.walk.turns = rows.iter().map(|&row| self.walk.turns[row]).collect();
        self.walk.failed = rows.iter().map(|&row| self.walk.failed[row]).collect();
        self.walk.going = OnTheirWay::default();
        Ok(())
    }
}

impl Scored {
    /// What the objective says of the scores, as [`numbers`].
    pub(super) fn verdicts(&self, goals: &Goals) -> Result<Tensor> {
        match &self.known {
            Some((verdicts, ..)) => Ok(verdicts.shallow_clone()),
            None => numbers(&self.scores, goals),
        }
    }

    fn told<T>(
        &self,
        goals: &Goals,
        gradient: Option<ToldGradient>,
        tell: impl FnOnce(&Told) -> Result<T>,
    ) -> Result<T> {
        let (images, scores) = (&self.drawn.f_detach()?, &self.scores.f_detach()?);
        tell(&Told { rows: self.ask.rows.as_ref(), images, scores, goals, gradient })
    }
}

/// The gaps `K x N` between the scores of the labels to go to and the current ones, and their gradients `K x N x C x H x W`, from
/// one pass with a copy of the images per label: what is fastest for a few images.
fn together(model: &Model, images: &Tensor, towards: &Tensor, current: &Tensor) -> Result<ToldGradient> {
    let (n, k) = (images.size()[0], towards.size()[1]);
    // Inputs of any shape: `K` copies of the batch, one after another.
    let shape = |first: &[i64]| [first, &images.size()[1..]].concat();
    let copies = images.f_unsqueeze(0)?.f_expand(shape(&[k, n]), false)?;
    let leaf = copies.f_reshape(shape(&[k * n]))?.f_detach_copy()?.f_set_requires_grad(true)?;
    let scores = model.logits(&leaf)?;
    let towards = towards.f_transpose(0, 1)?.f_reshape([k * n, 1])?;
    let current = current.f_unsqueeze(0)?.f_expand([k, n, 1], false)?.f_reshape([k * n, 1])?;
    let gaps = scores.f_gather(1, &towards, false)?.f_sub(&scores.f_gather(1, &current, false)?)?;
    let gradient = gradients(&model.name, &gaps.f_sum(scores.kind())?, &[&leaf], Graph::Free)?;
    let of = gradient[0].f_reshape(shape(&[k, n]))?;
    Ok(ToldGradient { of, gaps: Some(gaps.f_detach()?.f_reshape([k, n])?) })
}

/// As `together`, from one pass forward and one back per label.
fn one_by_one(name: &str, scored: &Scored, towards: &Tensor, current: &Tensor) -> Result<ToldGradient> {
    let (scores, count) = (&scored.scores, towards.size()[1]);
    let base = scores.f_gather(1, current, false)?;
    let (mut gaps, mut found) = (vec![], vec![]);
    for k in 0..count {
        let gap = scores.f_gather(1, &towards.f_narrow(1, k, 1)?, false)?.f_sub(&base)?.f_squeeze_dim(1)?;
        let graph = if k + 1 < count { Graph::Keep } else { Graph::Free };
        let gradient = gradients(name, &gap.f_sum(scores.kind())?, &[&scored.leaf], graph)?;
        found.push(gradient[0].shallow_clone());
        gaps.push(gap.f_detach()?);
    }
    Ok(ToldGradient { of: Tensor::f_stack(&found, 0)?, gaps: Some(Tensor::f_stack(&gaps, 0)?) })
}
