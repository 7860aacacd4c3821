//! What a reader of a figure could mistake, which the figure says itself.

use std::collections::BTreeSet;

use super::axes::entries;
use super::cut_off::CutOff;
use super::figure::{Figure, Layer, Panel};
use super::glyphs::has_glyph;
use super::label;
use super::legend::{LegendEntry, LegendKey};
use crate::core::Cautions;

impl Figure {
    /// Its cautions, and what its axes and colours have no place for.
    pub fn all_cautions(&self) -> Cautions {
        let mut all = self.cautions.clone();
        CutOff::of(&self.panels).say(&mut all);
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
