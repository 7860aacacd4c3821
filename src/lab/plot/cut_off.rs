//! What the axes and colours of a figure have no place for, which the figure says itself.

use std::collections::BTreeSet;

use super::axes::entries;
use super::figure::{Axis, Figure, HeatMap, Layer, Panel};
use super::glyphs::has_glyph;
use super::label;
use super::legend::{LegendEntry, LegendKey};
use super::scale::LARGEST;
use crate::core::{Cautions, number};

/// How much of a figure is not where it should be, of each kind.
#[derive(Default)]
struct CutOff {
    not_positive: usize,
    beyond: usize,
    bars: usize,
    intervals: usize,
    coloured: usize,
    infinite: usize,
    endless: usize,
    sunk: usize,
    /// Reference lines, in words.
    lines: Vec<String>,
}

impl CutOff {
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

    fn say(self, all: &mut Cautions) {
        let counted = [
            (
                self.not_positive,
                "point is not positive and has no place on a log axis",
                "points are not positive and have no place on a log axis",
            ),
            (self.beyond, "point lies beyond the axes", "points lie beyond the axes"),
            (self.bars, "bar ends beyond the axis", "bars end beyond the axis"),
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

/// What two layers of a panel are called that a legend has to tell apart.
fn called_alike(panel: &Panel) -> Option<String> {
    let labels = panel.layers.iter().filter_map(|layer| match layer {
        Layer::Series(series) => Some(&series.label),
        Layer::Columns(columns) => Some(&columns.label),
        Layer::Bars(bars) => Some(&bars.label),
        _ => None,
    });
    let mut known = BTreeSet::new();
    let twice = labels.filter(|label| !label.is_empty()).find(|label| !known.insert(*label))?;
    Some(format!("two series are called {twice:?}: the legend can't tell which is which"))
}

/// Series that a legend has to tell apart and that are drawn alike.
fn drawn_alike<'a>(panels: impl Iterator<Item = &'a Panel>) -> Option<String> {
    let mut known: Vec<LegendEntry> = vec![];
    let mut twins = None;
    let (mut looks, mut count) = (0, 0);
    let mut names = BTreeSet::new();
    // Rules look alike and say which they are by where they stand.
    let rule = |entry: &LegendEntry| matches!(entry.sample, LegendKey::Line { thin: true, .. });
    for entry in panels.flat_map(entries).filter(|entry| !entry.label.trim().is_empty() && !rule(entry)) {
        if !names.insert(entry.label.clone()) {
            continue;
        }
        count += 1;
        match known.iter().find(|before| before.sample == entry.sample) {
            Some(before) => {
                twins.get_or_insert_with(|| (before.label.clone(), entry.label));
            }
            None => {
                looks += 1;
                known.push(entry);
            }
        }
    }
    let (first, second) = twins?;
    Some(format!(
        "{first:?} and {second:?} are drawn alike: there are {looks} looks for {count} series, and the legend can't tell which is which"
    ))
}

/// Rows or columns of a heat map from which on several cells may share a pixel.
const MANY_CELLS: usize = 400;

/// What pixels leave out of a heat map.
fn shared_pixels(panel: &Panel) -> Option<String> {
    let Some(Layer::HeatMap(map)) = panel.layers.first() else { return None };
    (map.rows.max(map.columns) > MANY_CELLS).then(|| {
        format!(
            "{} x {} cells: where several share a pixel it shows the one farthest from the median; all are in .svg",
            map.rows, map.columns
        )
    })
}

impl Figure {
    /// Its cautions, and what its axes and colours have no place for.
    pub fn all_cautions(&self) -> Cautions {
        let mut cut_off = CutOff::default();
        self.panels.iter().for_each(|panel| panel.layers.iter().for_each(|layer| cut_off.see(panel, layer)));
        let mut all = self.cautions.clone();
        cut_off.say(&mut all);
        self.panels.iter().filter_map(called_alike).for_each(|caution| all.add(caution));
        match self.one_legend {
            true => drawn_alike(self.panels.iter()).into_iter().for_each(|caution| all.add(caution)),
            false => {
                let each = self.panels.iter().filter_map(|panel| drawn_alike(std::iter::once(panel)));
                each.for_each(|caution| all.add(caution));
            }
        }
        self.panels.iter().filter_map(shared_pixels).for_each(|caution| all.add(caution));
        self.boxes_for_letters().into_iter().for_each(|caution| all.add(caution));
        all
    }

    /// Which letters the embedded font lacks: a reader can't tell their boxes apart.
    fn boxes_for_letters(&self) -> Option<String> {
        let beside = self.panels.iter().flat_map(|panel| &panel.layers).flat_map(|layer| match layer {
            Layer::HeatMap(map) => map.row_names.iter().chain(&map.column_names).collect::<Vec<_>>(),
            Layer::Tiles(tiles) => tiles.captions.iter().collect(),
            _ => vec![],
        });
        let texts = self.texts().into_iter().map(label::plain).chain(beside.map(|text| label::plain(text)));
        let missing: BTreeSet<char> =
            texts.flat_map(|text| text.chars().filter(|sign| !has_glyph(*sign)).collect::<Vec<_>>()).collect();
        let first = missing.first().map(|sign| format!("U+{:04X}", u32::from(*sign)))?;
        Some(match missing.len() {
            1 => format!("the font has no {first}: a box stands for it but in .svg"),
            n => format!("the font lacks {n} letters, {first} and others: boxes stand for them but in .svg"),
        })
    }
}
