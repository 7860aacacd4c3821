//! Which of an image's points share the network's first layers.

use std::cell::OnceCell;

use super::grid::Ball;
use crate::core::{Error, Result, Tensor};
use crate::model::{Model, Shared, ShiftPlan};
use crate::space::{Element, Group, Windows};

/// How many times larger batches are where crops share: of the maps at the cut more fit into the cache than of images.
pub(super) const LARGER_BATCHES: usize = 3;

/// What the points of a ball can share.
pub(super) struct BallSharing<'a> {
    model: &'a Model,
    plan: ShiftPlan<'a>,
    windows: &'a dyn Windows,
}

/// Crops of one canvas that share: a rectangle of them, one pixel apart.
pub(super) struct CropGrid {
    canvas: i64,
    first: [i64; 2],
    crops: [i64; 2],
    /// Worked out when the first of them is asked for.
    shared: OnceCell<Shared>,
}

impl CropGrid {
    /// The smallest around windows on one canvas.
    fn around(canvas: i64, windows: impl Iterator<Item = [i64; 2]>) -> Option<Self> {
        let mut span: Option<([i64; 2], [i64; 2])> = None;
        for at in windows {
            let (low, high) = span.unwrap_or((at, at));
            span = Some(([low[0].min(at[0]), low[1].min(at[1])], [high[0].max(at[0]), high[1].max(at[1])]));
        }
        let (first, last) = span?;
        let crops = [last[0] - first[0] + 1, last[1] - first[1] + 1];
        Some(Self { canvas, first, crops, shared: OnceCell::new() })
    }

    /// What its crops share of the image held at a place.
    fn shared(&self, sharing: &BallSharing, held: &Tensor, place: usize) -> Result<&Shared> {
        if self.shared.get().is_none() {
            let canvas = sharing.windows.canvas(held, place as i64, self.canvas)?;
            // Only an empty cell is filled.
            let _ = self.shared.set(sharing.plan.share(&canvas, self.first, self.crops)?);
        }
        self.shared.get().ok_or_else(|| Error::internal("a frame without what it shares"))
    }

    /// The number of a window among the crops, if it is one of them.
    fn number(&self, (canvas, at): (i64, [i64; 2])) -> Option<[i64; 2]> {
        let number = [at[0] - self.first[0], at[1] - self.first[1]];
        let within = |axis: usize| (0..self.crops[axis]).contains(&number[axis]);
        (canvas == self.canvas && within(0) && within(1)).then_some(number)
    }
}

impl<'a> BallSharing<'a> {
    /// What an examination over the ball shares; `None` where that saves nothing.
    pub fn of(model: &'a Model, ball: &'a Ball, crop: [i64; 2]) -> Option<Self> {
        let windows = ball.group.windows()?;
        let near = std::iter::once(&Element::IDENTITY).chain(ball.group.candidates()).map(|e| windows.window(*e));
        let first = CropGrid::around(0, near.filter(|(canvas, _)| *canvas == 0).map(|(_, at)| at))?;
        Some(Self { model, plan: model.shift_plan(crop, first.crops)?, windows })
    }

    /// Brings an image's frames up to date: it asks for `now`, and may ask for `later`. A pure function of what was asked.
    pub fn frame(&self, frames: &mut Vec<CropGrid>, ball: &Ball, now: &[u32], later: &[u32]) {
        let window = |points: &[u32]| -> Vec<(i64, [i64; 2])> {
            points.iter().map(|&point| self.windows.window(ball.element(point))).collect()
        };
        let (now, later) = (window(now), window(later));
        let all = || now.iter().chain(&later);
        frames.retain(|frame| all().any(|window| frame.number(*window).is_some()));
        let mut canvases: Vec<i64> = all().map(|(canvas, _)| *canvas).collect();
        canvases.sort_unstable();
        canvases.dedup();
        for canvas in canvases {
            let on = |windows: &[(i64, [i64; 2])]| windows.iter().filter(|(c, _)| *c == canvas).count();
            let here = || all().filter(|(c, _)| *c == canvas);
            if frames.iter().any(|frame| here().all(|window| frame.number(*window).is_some())) {
                continue;
            }
            frames.retain(|frame| frame.canvas != canvas);
            let frame = CropGrid::around(canvas, here().map(|(_, at)| *at));
            // About half of what may be asked for turns out needless.
            let wanted = on(&now) + on(&later) / 2;
            frames.extend(frame.filter(|frame| self.plan.pays(frame.crops, wanted)));
        }
    }

    /// Scores of points of the images that are held: for each the place of its image, and the element. `frames` are an image's.
    pub fn scores<'f>(
        &self,
        group: &dyn Group,
        held: &Tensor,
        points: &[(usize, Element)],
        frames: impl Fn(usize) -> &'f [CropGrid],
    ) -> Result<Tensor> {
        let frame_of = |&(place, element): &(usize, Element)| {
            let window = self.windows.window(element);
            frames(place).iter().find_map(|frame| Some((frame, frame.number(window)?)))
        };
        if points.iter().all(|point| frame_of(point).is_none()) {
            return self.model.logits(&draw(group, held, points)?);
        }
        let frame_alone = |point: &(usize, Element)| frame_of(point).map(|(frame, _)| std::ptr::from_ref(frame));
        let mut maps = Vec::new();
        for run in points.chunk_by(|a, b| frame_alone(a) == frame_alone(b)) {
            let numbers: Option<Vec<[i64; 2]>> = run.iter().map(|point| Some(frame_of(point)?.1)).collect();
            maps.push(match (frame_of(&run[0]), numbers) {
                (Some((frame, _)), Some(numbers)) => self.plan.crops(frame.shared(self, held, run[0].0)?, &numbers)?,
                _ => self.plan.maps(&draw(group, held, run)?)?,
            });
        }
        self.plan.scores(&Tensor::f_cat(&maps, 0)?)
    }
}

/// The images of points, whose places are rows of `held`.
pub(super) fn draw(group: &dyn Group, held: &Tensor, points: &[(usize, Element)]) -> Result<Tensor> {
    let (rows, elements): (Vec<i64>, Vec<Element>) = points.iter().map(|&(place, e)| (place as i64, e)).unzip();
    group.draw(held, &rows, &elements)
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;
    use crate::data::{Glyphs, Position};
    use crate::model::{Layer, Module};
    use crate::space::{Composed, Finite, Flip, Space, Translate};

    /// Every point around an image comes out of a frame, on all kinds of sets and spaces, and scores as an image of its own.
    #[test]
    fn neighbours_share_and_score_alike() -> Result<()> {
        let layers = Layer::sequence([
            Layer::conv(32, 5, 1, 2),
            Layer::relu(),
            Layer::max_pool(2, 2),
            Layer::conv(32, 3, 1, 1),
            Layer::relu(),
            Layer::flatten(),
            Layer::linear(10),
        ]);
        let model = Model::of_module("toy", Module::fresh(&layers, [1, 64, 64], 3, Device::Cpu)?)?;
        let translate = Translate::new(2)?;
        let composed = Composed::new(&translate, &Flip)?;
        for position in [Position::Torus, Position::Margin] {
            let set = Glyphs { n: 2, size: 64, margin: 6, position, ..Glyphs::default() }.dataset()?;
            for (space, canvases) in [(translate.finite(), 1), (composed.finite(), 2)] {
                let space: &dyn Finite = space.ok_or_else(|| Error::internal("a finite space"))?;
                let ball = Ball::new(space.on(&set, 3)?, 3);
                let sharing = BallSharing::of(&model, &ball, [64, 64]).ok_or_else(|| Error::internal("no sharing"))?;
                let near: Vec<u32> = std::iter::once(&0).chain(ball.around(0)).copied().collect();
                let mut frames = Vec::new();
                sharing.frame(&mut frames, &ball, &near, &[]);
                let name = format!("{position:?}, {canvases} canvases");
                assert_eq!(frames.len(), canvases, "{name}");
                let points: Vec<(usize, Element)> = near.iter().map(|&point| (1, ball.element(point))).collect();
                for (_, element) in &points {
                    let window = sharing.windows.window(*element);
                    assert!(frames.iter().any(|frame| frame.number(window).is_some()), "{name}: {element:?}");
                }
                let held = ball.group.prepare(&set.canvases(&[0, 1], Device::Cpu)?)?;
                let shared = tch::no_grad(|| sharing.scores(&*ball.group, &held, &points, |_| &frames))?;
                let alone = tch::no_grad(|| model.logits(&draw(&*ball.group, &held, &points)?))?;
                let apart = shared.f_sub(&alone)?.f_abs()?.f_max()?.f_double_value(&[])?;
                assert!(apart < 1e-5 * alone.abs().max().double_value(&[]).max(1.0), "{name}: {apart}");
                assert_eq!(shared.kind(), Kind::Float);
            }
        }
        Ok(())
    }
}
