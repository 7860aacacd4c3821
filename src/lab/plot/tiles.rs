//! Image sheets and heat maps: panels made of cells.

use super::canvas::{Anchor, Canvas, CanvasPoint, Face, Pen, Rect, shortened_apart, text_width};
use super::figure::{Axis, HeatMap, Tiles};
use super::palette::{BLACK, INK, MISSING, SERIES, WHITE, diverging, viridis};
use super::scale::Scale;
use super::{Picture, figure::Panel};
use crate::core::{number, significant};

/// The side that small images are enlarged to, about.
const COMFORTABLE: usize = 96;

impl Tiles {
    fn largest(&self) -> (usize, usize) {
        let most = |side: fn(&Picture) -> usize| self.images.iter().map(side).max().unwrap_or(1);
        (most(|i| i.width), most(|i| i.height))
    }

    fn rows(&self) -> usize {
        self.images.len().div_ceil(self.columns.max(1)).max(1)
    }

    fn captioned(&self) -> bool {
        self.captions.iter().any(|c| !c.is_empty())
    }

    /// Room for a caption under a tile of this width.
    fn caption_height(&self, width: f64) -> f64 {
        let lines = self.captions.iter().map(|caption| caption.lines().count()).max().unwrap_or(0);
        if self.captioned() { self.caption_size(width) * (0.3 + 1.2 * lines as f64) } else { 0.0 }
    }

    /// The em of captions under tiles of this width: smaller where that makes the longest one fit.
    fn caption_size(&self, width: f64) -> f64 {
        let lines = self.captions.iter().flat_map(|caption| caption.lines());
        let longest = lines.map(|line| text_width(line, 1.0, false)).fold(0.1, f64::max);
        (width * 0.17).min((width * 1.04 / longest).max(width * 0.075)).clamp(6.0, 24.0)
    }

    /// The size in pixels at which small images are comfortable to look at, without a title.
    pub fn natural_size(&self) -> (f64, f64) {
        let (w, h) = self.largest();
        let factor = (COMFORTABLE / w.max(h)).max(1);
        let (w, h) = ((w * factor) as f64, (h * factor) as f64);
        let gap = gap(w);
        let columns = self.columns.clamp(1, self.images.len().max(1)) as f64;
        let rows = self.rows() as f64;
        (columns * (w + gap) + gap, rows * (h + gap + self.caption_height(w)) + gap)
    }

    /// Tiles in `area`, at the largest whole factor that fits; shrunk if none does.
    pub fn draw(&self, canvas: &mut dyn Canvas, area: Rect) {
        let (w, h) = self.largest();
        let (columns, rows) = (self.columns.clamp(1, self.images.len().max(1)) as f64, self.rows() as f64);
        let fits = |scale: f64| {
            let (w, h) = (w as f64 * scale, h as f64 * scale);
            let gap = gap(w);
            columns * (w + gap) + gap <= area.width() + 0.5
                && rows * (h + gap + self.caption_height(w)) + gap <= area.height() + 0.5
        };
        let mut scale = 1.0;
        if fits(1.0) {
            while fits(scale + 1.0) && scale < 4096.0 {
                scale += 1.0;
            }
        } else {
            while !fits(scale) && scale > 1e-3 {
                scale *= 0.95;
            }
        }
        let (w, h) = (w as f64 * scale, h as f64 * scale);
        let (gap, caption) = (gap(w), self.caption_height(w));
        let left = area.x0 + (area.width() - columns * (w + gap) + gap) / 2.0;
        let size = self.caption_size(w);
        let lines = self.captions.iter().map(|caption| caption.lines().count()).max().unwrap_or(0);
        let shown: Vec<Vec<String>> = (0..lines)
            .map(|line| {
                let texts: Vec<String> =
                    self.captions.iter().map(|caption| caption.lines().nth(line).unwrap_or("").into()).collect();
                shortened_apart(&texts, size, w + gap * 0.6)
            })
            .collect();
        for (i, image) in self.images.iter().enumerate() {
            let (row, column) = ((i / columns as usize) as f64, (i % columns as usize) as f64);
            let x = (left + column * (w + gap)).round();
            let y = (area.y0 + gap + row * (h + gap + caption)).round();
            let (iw, ih) = (image.width as f64 * scale, image.height as f64 * scale);
            canvas.image(image, Rect::new(x, y, x + iw.max(1.0), y + ih.max(1.0)));
            for &[x0, y0, x1, y1] in self.arrows.get(i).map_or(&[][..], Vec::as_slice) {
                arrow(canvas, (x + x0 * scale, y + y0 * scale), (x + x1 * scale, y + y1 * scale), scale);
            }
            for (line, text) in shown.iter().enumerate().filter_map(|(line, all)| Some((line, all.get(i)?))) {
                let face = Face { size, bold: false, anchor: Anchor::Middle, upwards: false, colour: INK };
                let below = y + h + size * (1.1 + 1.2 * line as f64);
                canvas.text(text, (x + w / 2.0, below), face);
            }
        }
    }
}

/// An arrow on whatever is below: dark with a light edge.
fn arrow(canvas: &mut dyn Canvas, from: CanvasPoint, to: CanvasPoint, scale: f64) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 0.5 {
        return;
    }
    let head = (length * 0.45).min(scale * 0.45);
    let (ux, uy) = (dx / length, dy / length);
    let wing = |side: f64| (to.0 - head * (ux * 0.87 - side * uy * 0.5), to.1 - head * (uy * 0.87 + side * ux * 0.5));
    let tip = [wing(1.0), to, wing(-1.0)];
    let width = (scale * 0.12).max(0.8);
    for (width, colour) in [(width * 2.2, WHITE), (width, SERIES[1])] {
        canvas.line(&[from, to], Pen::solid(width, colour));
        canvas.line(&tip, Pen::solid(width, colour));
    }
}

fn gap(width: f64) -> f64 {
    (width * 0.08).max(2.0).round()
}

impl HeatMap {
    fn bounds(&self) -> (f64, f64) {
        let finite = || self.values.iter().copied().filter(|v| v.is_finite());
        let (lo, hi) = self
            .range
            .unwrap_or_else(|| (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max)));
        let (lo, hi) = if lo < hi { (lo, hi) } else { (lo - 0.5, lo + 0.5) };
        match self.centre {
            None => (lo, hi),
            Some(centre) => {
                let reach = (hi - centre).abs().max((centre - lo).abs());
                (centre - reach, centre + reach)
            }
        }
    }

    /// Of cells that share a pixel the one that is farthest from the middle of all: a mean of colours would be none of the scale's, and few cells
    /// among many would vanish in a mean of values.
    fn fitting(&self, width: usize, height: usize) -> Vec<f64> {
        if (width, height) == (self.columns, self.rows) {
            return self.values.clone();
        }
        let mut finite: Vec<f64> = self.values.iter().copied().filter(|v| v.is_finite()).collect();
        let middle = finite.len() / 2;
        let median = match finite.is_empty() {
            true => 0.0,
            false => *finite.select_nth_unstable_by(middle, f64::total_cmp).1,
        };
        let span = |i: usize, new: usize, old: usize| i * old / new..((i + 1) * old / new).max(i * old / new + 1);
        let mut shown = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let cells = span(y, height, self.rows).flat_map(|row| {
                    span(x, width, self.columns).map(move |column| self.values[row * self.columns + column])
                });
                let apart = |v: &f64| (v - median).abs();
                shown.push(
                    cells.filter(|v| v.is_finite()).max_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap_or(f64::NAN),
                );
            }
        }
        shown
    }

    /// Whether cells are big enough to hold their numbers.
    fn numbered(&self) -> bool {
        self.numbers.unwrap_or(self.rows <= 12 && self.columns <= 12)
    }

    /// Cells, names, numbers and a colour bar within `area`; `font` is the em of labels.
    pub fn draw(&self, canvas: &mut dyn Canvas, panel: &Panel, area: Rect, font: f64) {
        let ticks = font * 0.9;
        let (lo, hi) = self.bounds();
        let name = |names: &[String], i: usize| names.get(i).cloned().unwrap_or_else(|| i.to_string());
        let row_names: Vec<String> = (0..self.rows).map(|i| name(&self.row_names, i)).collect();
        let column_names: Vec<String> = (0..self.columns).map(|i| name(&self.column_names, i)).collect();
        let longest = |names: &[String]| names.iter().map(|n| text_width(n, ticks, false)).fold(0.0, f64::max);

        let bar_axis = Axis { min: Some(lo), max: Some(hi), ..Axis::default() };
        let bar_scale = Scale::over([lo, hi].into_iter(), &bar_axis, true);
        let bar_ticks = bar_scale.ticks(5);
        let bar_labels = bar_ticks.iter().map(|t| text_width(&t.label, ticks, false)).fold(0.0, f64::max);
        let bar_label = if self.label.is_empty() { 0.0 } else { font * 1.5 };
        let bar_room = font * 2.4 + bar_labels + bar_label;

        let y_label = if panel.y.label.is_empty() { 0.0 } else { font * 1.5 };
        let x_label = if panel.x.label.is_empty() { 0.0 } else { font * 1.5 };
        let left_room = longest(&row_names).min(area.width() * 0.3) + font * 0.8 + y_label;
        let wide = area.width() - left_room - bar_room;
        // Square cells, unless that would leave most of the room empty.
        let cell_size = |names_room: f64| {
            let high = area.height() - names_room - font * 0.9 - x_label;
            let (w, h) = ((wide / self.columns as f64).max(0.1), (high / self.rows as f64).max(0.1));
            if w / h < 4.0 && h / w < 4.0 { (w.min(h), w.min(h)) } else { (w, h) }
        };
        // Names that do not fit side by side are turned.
        let turned = !self.column_names.is_empty() && longest(&column_names) + ticks * 0.5 > cell_size(ticks).0;
        let names_room = if turned { longest(&column_names).min(area.height() * 0.35) } else { ticks };
        let (w, h) = cell_size(names_room);
        let left = (area.x0 + left_room + (wide - w * self.columns as f64) / 2.0).round();
        let top = area.y0.round();
        let plot = Rect::new(left, top, (left + w * self.columns as f64).round(), (top + h * self.rows as f64).round());

        let shade = if self.centre.is_some() { diverging } else { viridis };
        let colour = |v: f64| if v.is_finite() { shade((v - lo) / (hi - lo)) } else { MISSING };
        let edge_x = |i: usize| (plot.x0 + plot.width() * i as f64 / self.columns as f64).round();
        let edge_y = |i: usize| (plot.y0 + plot.height() * i as f64 / self.rows as f64).round();
        if self.values.len() > 4096 || w < 1.5 || h < 1.5 {
            let [across, down] = canvas.pixels(plot).unwrap_or([self.columns, self.rows]);
            let (width, height) = (self.columns.min(across), self.rows.min(down));
            let rgb = self.fitting(width, height).into_iter().map(colour).flat_map(|c| [c.0, c.1, c.2]).collect();
            canvas.image(&Picture { width, height, rgb }, plot);
        } else {
            for (i, &v) in self.values.iter().enumerate() {
                let (row, column) = (i / self.columns, i % self.columns);
                let cell = Rect::new(edge_x(column), edge_y(row), edge_x(column + 1), edge_y(row + 1));
                canvas.fill(&cell.corners(), colour(v), 1.0);
            }
        }
        if self.numbered() {
            let largest = hi.abs().max(lo.abs());
            let texts: Vec<String> = self.values.iter().map(|&v| cell_text(v, largest)).collect();
            let ends: Vec<String> = match &self.interval {
                Some((below, above)) => {
                    let ends = texts.iter().zip(below.iter().zip(above));
                    ends.map(|(text, (lo, hi))| interval_text(text, *lo, *hi, largest)).collect()
                }
                None => vec![],
            };
            let widest = |texts: &[String]| texts.iter().map(|t| text_width(t, 1.0, false)).fold(0.1, f64::max);
            let lines = if ends.is_empty() { 1.0 } else { 1.9 };
            let size = (w * 0.85 / widest(&texts)).min(h * 0.45 / lines).min(ticks);
            let small = (w * 0.92 / widest(&ends)).min(size * 0.8);
            for (i, text) in texts.iter().enumerate().filter(|_| size >= 5.0) {
                let (x, y) = ((i % self.columns) as f64 + 0.5, (i / self.columns) as f64 + 0.5);
                let ink = if colour(self.values[i]).lightness() > 0.45 { BLACK } else { WHITE };
                let face = Face { size, bold: false, anchor: Anchor::Middle, upwards: false, colour: ink };
                let (x, y) = (plot.x0 + x * w, plot.y0 + y * h);
                let interval = ends.get(i).filter(|ends| !ends.is_empty() && small >= 4.5);
                let up = if interval.is_some() { size * 0.5 } else { 0.0 };
                canvas.text(text, (x, y + size * 0.36 - up), face);
                if let Some(interval) = interval {
                    canvas.text(interval, (x, y + small * 0.36 + size * 0.6), Face { size: small, ..face });
                }
            }
        }

        let plain = |anchor, upwards| Face { size: ticks, bold: false, anchor, upwards, colour: INK };
        let every = every(ticks * 1.15 / h, self.row_names.is_empty());
        let shown = shortened_apart(&row_names, ticks, area.width() * 0.3);
        for (i, text) in shown.iter().enumerate().step_by(every) {
            let y = plot.y0 + (i as f64 + 0.5) * h + ticks * 0.36;
            canvas.text(text, (plot.x0 - font * 0.4, y), plain(Anchor::End, false));
        }
        let width = if turned { ticks * 1.15 } else { longest(&column_names) + ticks * 0.6 };
        let every = self::every(width / w, self.column_names.is_empty());
        let shown = if turned { shortened_apart(&column_names, ticks, area.height() * 0.35) } else { column_names };
        for (i, text) in shown.iter().enumerate().step_by(every) {
            let x = plot.x0 + (i as f64 + 0.5) * w;
            if turned {
                canvas.text(text, (x + ticks * 0.36, plot.y1 + font * 0.4), plain(Anchor::End, true));
            } else {
                canvas.text(text, (x, plot.y1 + font * 0.3 + ticks * 0.8), plain(Anchor::Middle, false));
            }
        }
        let label = |anchor, upwards| Face { size: font, ..plain(anchor, upwards) };
        if !panel.x.label.is_empty() {
            let y = plot.y1 + names_room + font * 0.6 + font;
            canvas.text(&panel.x.label, ((plot.x0 + plot.x1) / 2.0, y), label(Anchor::Middle, false));
        }
        if !panel.y.label.is_empty() {
            let x = plot.x0 - left_room + font;
            canvas.text(&panel.y.label, (x, (plot.y0 + plot.y1) / 2.0), label(Anchor::Middle, true));
        }

        let bar = Rect::new(plot.x1 + font * 0.8, plot.y0, plot.x1 + font * 1.6, plot.y1);
        // Each step reaches down to the end, under those that follow, so that no seam shows between them.
        for i in 0..128 {
            let top = bar.y0 + bar.height() * f64::from(i) / 128.0;
            canvas.fill(&Rect { y0: top, ..bar }.corners(), shade(1.0 - f64::from(i) / 127.0), 1.0);
        }
        let scale = bar_scale.onto(bar.y1, bar.y0);
        for tick in bar_ticks {
            let Some(y) = scale.at(tick.value) else { continue };
            canvas.line(&[(bar.x1, y), (bar.x1 + font * 0.2, y)], Pen::solid(font * 0.05, INK));
            canvas.text(&tick.label, (bar.x1 + font * 0.4, y + ticks * 0.36), plain(Anchor::Start, false));
        }
        if !self.label.is_empty() {
            let x = bar.x1 + font * 0.4 + bar_labels + font * 1.1;
            // A long one stands as large as there is room for.
            let middle = (bar.y0 + bar.y1) / 2.0;
            let room = 2.0 * (middle - area.y0).min(area.y1 - middle);
            let size = font.min(room / text_width(&self.label, 1.0, false));
            canvas.text(&self.label, (x, middle), Face { size, ..label(Anchor::Middle, true) });
        }
    }
}

/// Every how many cells one is named, where a name needs the room of `cells`; numbers come at round steps and with more room.
fn every(cells: f64, numbered: bool) -> usize {
    let cells = if numbered && cells > 1.0 { cells * 2.0 } else { cells };
    let least = cells.ceil().max(1.0) as usize;
    if !numbered {
        return least;
    }
    let steps = [1, 2, 5].into_iter().cycle().zip([1, 1, 1, 10, 10, 10, 100, 100, 100, 1000, 1000, 1000]);
    steps.map(|(digit, power)| digit * power).find(|step| *step >= least).unwrap_or(least)
}

/// What stands under a cell's number; nothing where that is empty.
fn interval_text(cell: &str, lo: f64, hi: f64, largest: f64) -> String {
    if cell.is_empty() || !lo.is_finite() || !hi.is_finite() {
        return String::new();
    }
    // Both ends as exactly, and an end that is hardly above 0 no larger than it is.
    let small = [lo, hi].iter().any(|end| end.fract() != 0.0 && end.abs() < 0.1 * largest.min(1.0));
    let text = |end: f64| if small { significant(end, 2) } else { cell_text(end, largest) };
    format!("{}\u{2013}{}", text(lo), text(hi))
}

/// A number of a cell: whole, or with three digits.
fn cell_text(v: f64, largest: f64) -> String {
    if !v.is_finite() {
        return String::new();
    }
    if v.fract() == 0.0 && v.abs() < 1e6 {
        return format!("{v:.0}");
    }
    if (0.01..1000.0).contains(&largest) {
        let decimals = if largest < 1.0001 { 2 } else { usize::from(largest < 100.0) };
        // What is small beside the others is not nothing.
        return match v.abs() < 0.5 * 10f64.powi(-(decimals as i32)) {
            true => significant(v, 1),
            false => format!("{v:.decimals$}"),
        };
    }
    match v.abs() < 5e-4 {
        true => significant(v, 1),
        false => number((v * 1e3).round() / 1e3),
    }
}
