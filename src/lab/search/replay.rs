//! The images of a search along gradients that kept none brought back: the search goes the same way again.

use std::rc::Rc;

use tch::{Device, Kind};

use super::course::Course;
use super::examined::batch_with_gradients;
use super::gradient::{AimedImage, Cases, Place};
use super::read_ahead::ReadAhead;
use super::row::Row;
use super::slopes::Ways;
use super::{Densities, Examination, Search, gradient_search};
use crate::core::{Cx, Error, ErrorKind, Object, Result, Tensor, device_name};
use crate::data::Dataset;
use crate::model::Model;
use crate::objective::{Aim, Objective};
use crate::space::Space;

/// What a transcript keeps of the examination that it came from.
pub(super) struct Replay {
    pub model: Model,
    pub space: Rc<dyn Space>,
    pub search: Rc<dyn Search>,
    pub objective: Objective,
    pub levels: Vec<f64>,
    pub batch: Option<usize>,
    pub seed: u64,
}

/// What is asked of a way that is gone again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplayOutput {
    Images,
    Points,
}

impl Replay {
    /// The images, or the points of the space, where these rows were: each image's way is gone once, as far as its rows need. Up to
    /// rounding, since batches hold other images than they did; what comes back otherwise is told of.
    pub fn bring(&self, cx: &Cx, data: &Dataset, rows: &[Row], wanted: ReplayOutput) -> Result<Tensor> {
        if let Some(device) = self.model.device().filter(|device| *device != cx.device()) {
            let device = device_name(device);
            return Err(Error::new(
                ErrorKind::Device,
                format!("{} lies on {device}, where this search went its way", self.model.name),
            )
            .hint(format!("it goes the same way again there: device(\"{device}\") first")));
        }
        let search = gradient_search(&*self.search)
            .ok_or_else(|| Error::internal("a trajectory without a search along gradients"))?;
        let mut steps: Vec<u32> = vec![];
        if search.length().is_some() {
            steps = rows.iter().filter_map(|row| row.step).collect();
            steps.sort_unstable();
            steps.dedup();
        }
        let plan = Examination {
            model: &self.model,
            data,
            space: self.space.clone(),
            search: self.search.clone(),
            objective: self.objective.clone(),
            levels: self.levels.clone(),
            steps,
            densities: Densities::WhereKnown,
            measures: vec![],
            batch: self.batch,
            seed: self.seed,
        };
        let ways = Ways::of(cx, &plan)?;
        let points = ways.as_ref().map(Ways::points);
        let sights = search.sights(&plan);
        let place = |row: &Row| {
            let fits = |sight: &Place| {
                let level = search.level_by_level() || sight.level.is_none_or(|level| Some(level) == row.level);
                level && sight.step.is_none_or(|step| Some(step) == row.step)
            };
            sights.iter().position(fits).ok_or_else(|| Error::internal("a row that the search never passed"))
        };
        let classes = self.model.classes().unwrap_or_default();
        let all = data.len() * self.objective.aims_per_image(classes);
        let radius = |row: &Row| row.level.filter(|_| search.level_by_level());
        // Rows by case, and cases by image.
        let key = |row: &Row| (row.id, row.target, radius(row).map(f64::to_bits));
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&i| key(&rows[i]));
        let runs: Vec<&[usize]> = order.chunk_by(|&a, &b| key(&rows[a]) == key(&rows[b])).collect();
        let mut found: Vec<Option<Tensor>> = rows.iter().map(|_| None).collect();
        let task = cx.progress("going the way again", Some(runs.len() as u64));
        let batch = batch_with_gradients(cx, &plan);
        let mut otherwise = 0;
        let mut ahead = ReadAhead::new(&plan, (0..plan.data.len()).collect(), batch);
        for part in runs.chunks(batch) {
            cx.check()?;
            let mut by_sight: Vec<Vec<(usize, usize)>> = sights.iter().map(|_| vec![]).collect();
            for (at, run) in part.iter().enumerate() {
                for &i in *run {
                    by_sight[place(&rows[i])?].push((at, i));
                }
            }
            let case = |run: &&[usize]| {
                let row = &rows[run[0]];
                let (row, aim, radius) = (row.id as usize, row.target.map_or(Aim::Away, Aim::To), radius(row));
                AimedImage { row, label: data.labels()[row], aim, radius }
            };
            let cases = Cases::read(cx, (&plan, &mut ahead), points, &sights, all, part.iter().map(case).collect())?;
            Course::begin(&self.model, search, &self.objective, cases)?.go(cx, &mut |sight, _, _| {
                let Some(place) = sight.place else { return Ok(()) };
                let double = |t: &Tensor| t.f_to_kind(Kind::Double);
                let seen = Tensor::f_stack(&[double(&sight.scores.f_argmax(1, false)?)?, double(sight.magnitude)?], 1)?;
                let seen: Vec<f64> = Vec::try_from(&seen.f_to_device(Device::Cpu)?.f_reshape([-1])?)?;
                let told = by_sight[place].iter();
                otherwise += told.filter(|(at, i)| !is_the_same(&rows[*i], seen[2 * at], seen[2 * at + 1])).count();
                let all = if wanted == ReplayOutput::Images { sight.images } else { sight.points };
                for &(at, i) in &by_sight[place] {
                    found[i] = Some(all.f_narrow(0, at as i64, 1)?.f_detach_copy()?);
                }
                Ok(())
            })?;
            task.advance(part.len() as u64);
        }
        if otherwise > 0 {
            cx.warn(format!(
                "{otherwise} of {} images come back otherwise than their rows say: {} does not answer the same again",
                rows.len(),
                self.model.name
            ));
        }
        let found: Option<Vec<Tensor>> = found.into_iter().collect();
        Ok(Tensor::f_cat(&found.ok_or_else(|| Error::internal("a row that the search never passed"))?, 0)?)
    }
}

/// Whether what came back is what the row says, up to what rounding may do.
fn is_the_same(row: &Row, answer: f64, moved: f64) -> bool {
    /// Of the change's size, and of the scores' distance from the border.
    const ROUNDED: f64 = 1e-2;
    let known = f64::from(row.magnitude);
    let answers = answer == f64::from(row.after) || f64::from(row.margin.abs()) < ROUNDED;
    answers && (known - moved).abs() <= ROUNDED * known.max(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_answer_or_another_distance_is_not_the_same() {
        let row = Row { after: 3, magnitude: 0.5, margin: -1.0, ..Row::default() };
        assert!(is_the_same(&row, 3.0, 0.5001) && !is_the_same(&row, 4.0, 0.5) && !is_the_same(&row, 3.0, 0.52));
        // At the border rounding decides.
        assert!(is_the_same(&Row { margin: -1e-6, ..row }, 4.0, 0.5));
    }
}
