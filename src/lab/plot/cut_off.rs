//! What the axes and colours of a figure have no place for, which the figure says itself.

use super::figure::{Axis, HeatMap, Layer, Panel};
use super::scale::LARGEST;
use crate::core::{Cautions, number};

/// How much of a figure is not where it should be, of each kind.
#[derive(Default)]
pub(super) struct CutOff {
    not_positive: usize,
    beyond: usize,
    bars: usize,
    /// Of a histogram, with something in them.
    bins: usize,
    intervals: usize,
    coloured: usize,
    infinite: usize,
    endless: usize,
    sunk: usize,
    /// Reference lines, in words.
    lines: Vec<String>,
}

impl CutOff {
    pub(super) fn of(panels: &[Panel]) -> Self {
        let mut cut_off = CutOff::default();
        panels.iter().for_each(|panel| panel.layers.iter().for_each(|layer| cut_off.see(panel, layer)));
        cut_off
    }

    fn see(&mut self, panel: &Panel, layer: &Layer) {
        let Panel { x: across, y: up, .. } = panel;
        let interval = match layer {
            Layer::Series(series) => {
                for (&x, &y) in series.x.iter().zip(&series.y) {
                    self.not_positive += usize::from(not_positive(across, x) || not_positive(up, y));
                    let shown = across.shows(x) && up.shows(y);
                    self.beyond += usize::from(shown && (outside(across, x) || outside(up, y)));
                }
                &series.interval
            }
            Layer::Columns(columns) => {
                self.not_positive += columns.heights.iter().filter(|height| not_positive(up, **height)).count();
                self.bars +=
                    columns.heights.iter().filter(|height| height.is_finite() && outside(up, **height)).count();
                self.infinite += columns.heights.iter().filter(|height| height.is_infinite()).count();
                &columns.interval
            }
            Layer::Bars(bars) => {
                // A bin that begins at 0 or below has no place on a log axis, whatever lies further up in it.
                let placed = bars.edges.windows(2).zip(&bars.heights);
                let hidden = placed.filter(|(edge, height)| **height > 0.0 && not_positive(across, edge[0]));
                self.bins += hidden.count();
                return;
            }
            Layer::HeatMap(HeatMap { values, range: Some((lo, hi)), .. }) => {
                self.coloured += values.iter().filter(|v| v.is_finite() && (*v < lo || *v > hi)).count();
                return;
            }
            Layer::Rule(rule) => {
                let (axis, name) = if rule.horizontal { (up, "y") } else { (across, "x") };
                if outside(axis, rule.at) || !axis.shows(rule.at) {
                    let label = if rule.label.is_empty() { String::new() } else { format!(" {:?}", rule.label) };
                    self.lines.push(format!("the line{label} at {name} = {} lies beyond the axis", number(rule.at)));
                }
                return;
            }
            _ => return,
        };
        for (lo, hi) in interval.iter().flat_map(|(lo, hi)| lo.iter().zip(hi)) {
            self.endless += usize::from(lo.is_infinite() || hi.is_infinite());
            self.intervals += usize::from([lo, hi].iter().any(|end| up.shows(**end) && outside(up, **end)));
            self.sunk += usize::from(up.log && *lo <= 0.0 && *hi > 0.0);
        }
    }

    pub(super) fn say(self, all: &mut Cautions) {
        let counted = [
            (
                self.not_positive,
                "point is not positive and has no place on a log axis",
                "points are not positive and have no place on a log axis",
            ),
            (self.beyond, "point lies beyond the axes", "points lie beyond the axes"),
            (self.bars, "bar ends beyond the axis", "bars end beyond the axis"),
            (
                self.bins,
                "bin begins at 0 or below and is left out of a log axis, with all that lies in it",
                "bins begin at 0 or below and are left out of a log axis, with all that lies in them",
            ),
            (self.intervals, "interval reaches beyond the axes", "intervals reach beyond the axes"),
            (
                self.coloured,
                "cell lies beyond the colours and has the nearest one",
                "cells lie beyond the colours and have the nearest one",
            ),
            (
                self.infinite,
                "bar is infinite: where it ends is the end of the axis",
                "bars are infinite: where they end is the end of the axis",
            ),
            (
                self.endless,
                "interval has an end at infinity, which is drawn at the end of the axis",
                "intervals have an end at infinity, which is drawn at the end of the axis",
            ),
            (
                self.sunk,
                "interval reaches to 0 or below, where a log axis ends before it",
                "intervals reach to 0 or below, where a log axis ends before them",
            ),
        ];
        for (n, one, many) in counted.into_iter().filter(|(n, ..)| *n > 0) {
            all.add(format!("{n} {}", if n == 1 { one } else { many }));
        }
        self.lines.into_iter().for_each(|line| all.add(line));
    }
}

fn not_positive(axis: &Axis, v: f64) -> bool {
    axis.log && v.is_finite() && v <= 0.0
}

/// Beyond an end that was given: where none was, the axis reaches over all that has a place.
fn outside(axis: &Axis, v: f64) -> bool {
    v.is_finite() && v.abs() > LARGEST || axis.min.is_some_and(|min| v < min) || axis.max.is_some_and(|max| v > max)
}
