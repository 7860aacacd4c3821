//! Intervals as lines with caps, those above one x beside each other.

use super::Plot;
use crate::plot::canvas::{Canvas, Pen, clip_segment};
use crate::plot::figure::{Series, Spread};
use crate::plot::marker::series_width;
use crate::plot::palette::Rgb;

/// The place of an interval, and of its lower and its upper end.
pub(super) type Whisker = (f64, f64, f64);

impl<'a> Plot<'a> {
    /// Place, lower end and upper end of every interval, in runs without gaps.
    pub(super) fn intervals(&self, series: &Series) -> Vec<Vec<Whisker>> {
        let Some((lo, hi)) = &series.interval else { return vec![] };
        let mut runs = vec![vec![]];
        for ((&x, &lo), &hi) in series.x.iter().zip(lo).zip(hi).take(series.firm()) {
            match (self.x.at(x), self.y.at_or_below(lo), self.y.at_or_below(hi)) {
                (Some(x), Some(lo), Some(hi)) => runs.last_mut().map(|run: &mut Vec<_>| run.push((x, lo, hi))),
                _ => {
                    let _: () = runs.push(vec![]);
                    Some(())
                }
            };
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    /// Of a run of intervals those that no band shows, to its left or to its right: where one or several are all there is above one x. Each stands beside
    /// the others in its place, those of other series among them: this is the series at place `own` of those with bands.
    pub(super) fn without_width(&self, run: &[Whisker], own: usize) -> Vec<Whisker> {
        let series = || self.panel.layers.iter().filter_map(|layer| layer.spread(Spread::Band));
        let has =
            |series: &Series, at: f64| series.x.iter().any(|&x| self.x.at(x).is_some_and(|x| self.in_one_place(x, at)));
        let groups: Vec<&[Whisker]> = run.chunk_by(|a, b| self.in_one_place(a.0, b.0)).collect();
        let mut found = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            let (first, last) = (place == 0, place + 1 == groups.len());
            let shown = |i: usize| (i == 0 && !first) || (i + 1 == group.len() && !last);
            if (0..group.len()).all(shown) {
                continue;
            }
            let there: Vec<usize> =
                series().enumerate().filter(|(_, series)| has(series, group[0].0)).map(|(i, _)| i).collect();
            let before = there.iter().filter(|i| **i < own).count();
            let places = group.len() * there.len().max(1);
            let hidden = group.iter().enumerate().filter(|(i, _)| !shown(*i));
            found.extend(hidden.map(|(i, &(x, lo, hi))| (x + self.beside(i * there.len() + before, places), lo, hi)));
        }
        found
    }

    /// All intervals of the series at place `own` of those with bars, those above one x beside each other and beside those of other series.
    pub(super) fn beside_each_other(&self, series: &Series, own: usize) -> Vec<Whisker> {
        let mut found = Vec::new();
        let others: Vec<(usize, Vec<f64>)> = (self.panel.layers.iter().filter_map(|layer| layer.spread(Spread::Bars)))
            .enumerate()
            .filter(|(place, _)| *place != own)
            .map(|(place, other)| {
                let mut places: Vec<f64> = self.intervals(other).concat().into_iter().map(|(x, ..)| x).collect();
                places.sort_by(f64::total_cmp);
                (place, places)
            })
            .collect();
        for run in self.intervals(series) {
            for group in run.chunk_by(|a, b| self.in_one_place(a.0, b.0)) {
                let at = group[0].0;
                let there = |places: &[f64]| {
                    let next = places.partition_point(|place| *place < at && !self.in_one_place(*place, at));
                    places.get(next).is_some_and(|place| self.in_one_place(*place, at))
                };
                let there: Vec<usize> =
                    others.iter().filter(|(_, places)| there(places)).map(|(place, _)| *place).collect();
                let before = there.iter().filter(|place| **place < own).count();
                let each = there.len() + 1;
                let shifted = group
                    .iter()
                    .enumerate()
                    .map(|(i, &(x, lo, hi))| (x + self.beside(i * each + before, group.len() * each), lo, hi));
                found.extend(shifted);
            }
        }
        found
    }

    fn in_one_place(&self, a: f64, b: f64) -> bool {
        (a - b).abs() < 0.01 * self.font
    }

    /// How far the whisker at one of so many places stands beside its point. None but a lone one is on it, where a line from point to point would cover it.
    fn beside(&self, place: usize, places: usize) -> f64 {
        // As far from the outermost point as a marker is wide, however many there are.
        let apart = self.font * (1.4 / places as f64).min(0.45);
        let odd = if places > 1 && places % 2 == 1 { 0.5 } else { 0.0 };
        apart * (place as f64 - (places - 1) as f64 / 2.0 + odd)
    }

    /// An interval as a line with caps.
    pub(super) fn whisker(&self, canvas: &mut dyn Canvas, (x, lo, hi): Whisker, colour: Rgb) {
        let pen = Pen::solid(series_width(self.font) * 0.7, colour);
        let cap = self.font * 0.22;
        let Some((a, b)) = clip_segment((x, lo), (x, hi), self.frame) else { return };
        canvas.line(&[a, b], pen);
        for y in [lo, hi].into_iter().filter(|&y| self.frame.holds((x, y))) {
            canvas.line(&[(x - cap, y), (x + cap, y)], pen);
        }
    }
}
