//! The legend: in a free place of the plot, or below it; never over data.

use super::canvas::{
    Anchor, Canvas, CanvasPoint, Face, Pen, Rect, shortened, shortened_apart, shortened_before_remark, text_width,
};
use super::marker::{marker, series_width};
use super::palette::{GRID, INK, Marker, Rgb, WHITE};

/// The part of a height that a legend below a plot may take.
pub const MOST_BELOW: f64 = 0.4;

/// How one entry looks.
#[derive(Debug, Clone, PartialEq)]
pub enum LegendKey<'a> {
    Line { colour: Rgb, dash: &'a [f64], marker: Option<Marker>, thin: bool },
    Points { colour: Rgb, marker: Marker },
    Swatch { colour: Rgb, alpha: f64 },
}

pub struct LegendEntry<'a> {
    pub label: String,
    pub sample: LegendKey<'a>,
}

pub struct Legend<'a> {
    entries: Vec<LegendEntry<'a>>,
    font: f64,
    /// What stands for entries that have no place.
    rest: Option<String>,
}

impl<'a> Legend<'a> {
    /// Of several panels, each label once.
    pub fn shared(all: impl Iterator<Item = LegendEntry<'a>>, font: f64, width: f64) -> Self {
        let mut entries: Vec<LegendEntry> = Vec::new();
        for entry in all {
            if entries.iter().all(|known| known.label != entry.label) {
                entries.push(entry);
            }
        }
        Self::new(entries, font, width)
    }

    /// `font` is the em of the panel's labels; labels that are wider than `width` leaves are cut.
    pub fn new(entries: Vec<LegendEntry<'a>>, font: f64, width: f64) -> Self {
        let entries: Vec<LegendEntry> = entries.into_iter().filter(|e| !e.label.trim().is_empty()).collect();
        let mut legend = Self { entries, font: font * 0.9, rest: None };
        let room = width - legend.sample_width() - legend.font * 1.4;
        let kept = |entry: &LegendEntry| shortened_before_remark(&entry.label, legend.font, room);
        let labels: Vec<String> = legend.entries.iter().map(kept).collect();
        let shown = shortened_apart(&labels, legend.font, room);
        legend.entries.iter_mut().zip(shown).for_each(|(entry, label)| entry.label = label);
        legend
    }

    fn row(&self) -> f64 {
        self.font * 1.35
    }

    fn sample_width(&self) -> f64 {
        self.font * 2.6
    }

    fn entry_width(&self, entry: &LegendEntry) -> f64 {
        self.sample_width() + self.font * 0.4 + text_width(&entry.label, self.font, false)
    }

    fn widest(&self) -> f64 {
        self.entries.iter().map(|e| self.entry_width(e)).fold(0.0, f64::max)
    }

    /// A free place inside the plot, if there is one; corners first.
    pub fn place(&self, plot: Rect, taken: &[CanvasPoint]) -> Option<Rect> {
        if self.entries.is_empty() {
            return Some(Rect::new(0.0, 0.0, 0.0, 0.0));
        }
        let (w, h) = (self.widest() + self.font, self.row() * self.entries.len() as f64 + self.font * 0.6);
        if w > 0.7 * plot.width() || h > 0.7 * plot.height() {
            return None;
        }
        let gap = self.font * 0.5;
        let (left, middle, right) = (plot.x0 + gap, (plot.x0 + plot.x1 - w) / 2.0, plot.x1 - gap - w);
        let (top, centre, bottom) = (plot.y0 + gap, (plot.y0 + plot.y1 - h) / 2.0, plot.y1 - gap - h);
        let places = [
            (right, top),
            (left, top),
            (right, bottom),
            (left, bottom),
            (right, centre),
            (left, centre),
            (middle, top),
            (middle, bottom),
        ];
        places.into_iter().map(|(x, y)| Rect::new(x, y, x + w, y + h)).find(|place| {
            let wide = Rect::new(place.x0 - gap, place.y0 - gap, place.x1 + gap, place.y1 + gap);
            !taken.iter().any(|&p| wide.holds(p))
        })
    }

    /// Entries per row below a plot, where they have this width.
    fn per_row(&self, width: f64) -> usize {
        ((width / (self.widest() + self.font)) as usize).clamp(1, self.entries.len().max(1))
    }

    /// The same with as many entries as fit into a height below a plot, in smaller letters where more do then; if not all do, the last says how
    /// many others there are.
    pub fn within(mut self, width: f64, height: f64) -> Self {
        const SMALLER: [f64; 3] = [0.9, 0.8, 0.7];
        let all = self.entries.len();
        let rows = |own: &Self| (((height - own.font * 0.5) / own.row()) as usize).max(1);
        let font = self.font;
        let sizes = std::iter::once(1.0).chain(SMALLER);
        let fits = sizes.map(|size| size * font).find(|&size| {
            self.font = size;
            all <= rows(&self) * self.per_row(width)
        });
        self.font = fits.unwrap_or(font);
        let rows = rows(&self);
        if fits.is_none() {
            let kept = (rows - 1) * self.per_row(width);
            self.entries.truncate(kept);
            let rest = format!("and {} others that have no place here", all - kept);
            self.rest = Some(shortened(&rest, self.font, width - self.font * 1.4));
        }
        self
    }

    /// The height it takes below a plot.
    pub fn height_below(&self, width: f64) -> f64 {
        let rows = self.entries.len().div_ceil(self.per_row(width)) + usize::from(self.rest.is_some());
        rows as f64 * self.row() + self.font * 0.5
    }

    pub fn draw_inside(&self, canvas: &mut dyn Canvas, place: Rect) {
        if self.entries.is_empty() {
            return;
        }
        canvas.fill(&place.corners(), WHITE, 0.9);
        let mut border = place.corners().to_vec();
        border.push(border[0]);
        canvas.line(&border, Pen::solid(self.font * 0.05, GRID));
        for (i, entry) in self.entries.iter().enumerate() {
            let middle = place.y0 + self.font * 0.3 + (i as f64 + 0.5) * self.row();
            self.entry(canvas, entry, place.x0 + self.font * 0.5, middle);
        }
    }

    pub fn draw_below(&self, canvas: &mut dyn Canvas, place: Rect) {
        let columns = self.per_row(place.width());
        let cell = self.widest() + self.font;
        let left = place.x0 + ((place.width() - cell * columns as f64) / 2.0).max(0.0);
        for (i, entry) in self.entries.iter().enumerate() {
            let (row, column) = (i / columns, i % columns);
            let middle = place.y0 + self.font * 0.5 + (row as f64 + 0.5) * self.row();
            self.entry(canvas, entry, left + column as f64 * cell + self.font * 0.5, middle);
        }
        if let Some(rest) = &self.rest {
            let row = self.entries.len().div_ceil(columns) as f64;
            let baseline = place.y0 + self.font * 0.85 + (row + 0.5) * self.row();
            canvas.text(rest, ((place.x0 + place.x1) / 2.0, baseline), self.face(Anchor::Middle));
        }
    }

    fn face(&self, anchor: Anchor) -> Face {
        Face { size: self.font, bold: false, anchor, upwards: false, colour: INK }
    }

    fn entry(&self, canvas: &mut dyn Canvas, entry: &LegendEntry, x: f64, y: f64) {
        let (from, to) = (x, x + self.sample_width());
        let centre = ((from + to) / 2.0, y);
        let width = series_width(self.font);
        match &entry.sample {
            LegendKey::Line { colour, dash, marker: shape, thin } => {
                let width = if *thin { width * 0.6 } else { width };
                canvas.line(&[(from, y), (to, y)], Pen { width, colour: *colour, dash });
                if let Some(shape) = shape {
                    marker(canvas, *shape, centre, self.font, *colour);
                }
            }
            LegendKey::Points { colour, marker: shape } => marker(canvas, *shape, centre, self.font, *colour),
            LegendKey::Swatch { colour, alpha } => {
                let half = self.font * 0.35;
                let box_ = Rect::new(from, y - half, to, y + half);
                canvas.fill(&box_.corners(), *colour, *alpha);
            }
        }
        canvas.text(&entry.label, (to + self.font * 0.4, y + self.font * 0.35), self.face(Anchor::Start));
    }
}
