//! Lays a figure out and draws it on a canvas; the same code serves SVG and the terminal.

use super::axes::{Insets, Plot, entries};
use super::backend::{MILLIMETRE, Pictures, Unit};
use super::canvas::{Anchor, Canvas, Face, Rect, wrapped};
use super::figure::{Figure, Layer, Panel};
use super::legend::{Legend, MOST_BELOW};
use super::palette::{INK, WARNING};
use super::{Picture, backend, rendering};
use crate::core::{Cautions, Result};

impl Figure {
    /// Width and height in pixels.
    pub fn dimensions(&self) -> (u32, u32) {
        if let Some(paper) = self.paper {
            let dots = |mm: f64| (mm / 25.4 * DOTS_PER_INCH).round() as u32;
            return (dots(paper.width_mm), dots(paper.height_mm));
        }
        if let Some(size) = self.size {
            return size;
        }
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns).max(1);
        let sheets: Option<Vec<_>> = self.panels.iter().map(Panel::sheet).collect();
        let (w, h) = if let Some(sheets) = sheets {
            let sizes: Vec<(f64, f64)> = sheets.iter().map(|sheet| sheet.natural_size()).collect();
            let (cell_w, cell_h) = sizes.iter().fold((200.0f64, 0.0f64), |(w, h), size| (w.max(size.0), h.max(size.1)));
            let (w, h) = (cell_w * columns as f64, cell_h * rows as f64);
            let font = sheet_font(cell_w);
            let titles = self.panels.iter().map(|panel| title_height(&panel.title, font, cell_w));
            (w, h + title_height(&self.title, font, w) + rows as f64 * titles.fold(0.0, f64::max) + 1.0)
        } else if columns == 1 && rows == 1 {
            (960.0, 640.0)
        } else {
            (720.0 * columns as f64, 520.0 * rows as f64)
        };
        let font = self.font(w, h);
        let h = h + lines_height(caution_lines(&self.all_cautions(), font, w).len(), font);
        (w.clamp(64.0, 8192.0).ceil() as u32, h.clamp(64.0, 8192.0).ceil() as u32)
    }

    /// The em of its labels at this size.
    fn font(&self, width: f64, height: f64) -> f64 {
        if let Some(paper) = self.paper {
            return paper.type_size * POINT * width / (paper.width_mm * MILLIMETRE);
        }
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns).max(1);
        match self.panels.iter().all(|panel| panel.sheet().is_some()) {
            true => sheet_font(width / columns as f64),
            false => base_font(width / columns as f64, height / rows as f64),
        }
    }

    /// The figure as an SVG file.
    pub fn svg(&self) -> Result<String> {
        self.vectors(self.dimensions(), Pictures::Whole)
    }

    /// The figure as a PDF file, as wide as its pixels are at 96 to an inch.
    pub fn pdf(&self) -> Result<Vec<u8>> {
        rendering::page(&self.svg()?)
    }

    /// Laid out at this size, or at that on paper.
    fn vectors(&self, (width, height): (u32, u32), pictures: Pictures) -> Result<String> {
        let figure = self.clone().checked()?;
        let (unit, size) = match self.paper {
            None => (Unit::Pixels, (f64::from(width), f64::from(height))),
            Some(paper) => (Unit::Millimetres, (paper.width_mm * MILLIMETRE, paper.height_mm * MILLIMETRE)),
        };
        backend::svg(size, unit, pictures, |canvas| draw(&figure, canvas, size.0, size.1))
    }

    /// The figure as a PNG file.
    pub fn png(&self) -> Result<Vec<u8>> {
        let (w, h) = self.dimensions();
        self.raster(w, h)?.png()
    }

    /// The figure as rows of RGB bytes, with its width and height in pixels.
    pub fn render_rgb(&self, width: u32, height: u32) -> Result<(Vec<u8>, u32, u32)> {
        let (width, height) = (width.clamp(1, 8192), height.clamp(1, 8192));
        Ok((self.raster(width, height)?.rgb, width, height))
    }

    /// Lays the figure out on a canvas of this size.
    pub fn draw_on(&self, canvas: &mut dyn Canvas, width: f64, height: f64) -> Result<()> {
        // A terminal's letters have one size.
        draw(&Self { paper: None, ..self.clone() }.checked()?, canvas, width, height);
        Ok(())
    }

    pub(super) fn raster(&self, width: u32, height: u32) -> Result<Picture> {
        let dots = self.paper.map_or(1.0, |paper| f64::from(width) / (paper.width_mm * MILLIMETRE));
        rendering::pixels(&self.vectors((width, height), Pictures::Fitting(dots))?, width, height)
    }
}

/// Pixels of a PNG of a figure that has its size on paper.
const DOTS_PER_INCH: f64 = 300.0;
/// Pixels of an SVG in a point.
const POINT: f64 = 96.0 / 72.0;

/// The em of labels: about 7 points when the panel is printed as wide as a paper's column.
fn base_font(width: f64, height: f64) -> f64 {
    (width / 34.0).min(height / 21.0).clamp(7.0, 60.0)
}

/// The em of titles over image sheets of this width.
fn sheet_font(width: f64) -> f64 {
    (width / 45.0).clamp(9.0, 24.0)
}

fn title_height(title: &str, font: f64, width: f64) -> f64 {
    if title.trim().is_empty() {
        return 0.0;
    }
    wrapped(title, font * 1.1, true, width - font).len() as f64 * font * 1.4 + font * 0.4
}

/// The em of cautions, beside that of labels.
const CAUTION: f64 = 0.85;

fn caution_lines(cautions: &Cautions, font: f64, width: f64) -> Vec<String> {
    let size = font * CAUTION;
    cautions.lines().iter().flat_map(|caution| wrapped(caution, size, false, width - 2.0 * font)).collect()
}

fn lines_height(lines: usize, font: f64) -> f64 {
    if lines == 0 { 0.0 } else { (lines as f64 * 1.3 * CAUTION + 0.7) * font }
}

/// The lines of cautions that a figure of a size that was asked for has room for, in four tenths of it; the last one says how many more there are.
fn fitting(mut lines: Vec<String>, font: f64, height: f64) -> Vec<String> {
    let room = (1..=lines.len()).take_while(|n| lines_height(*n, font) <= 0.4 * height).last().unwrap_or(1);
    if lines.len() > room {
        let more = lines.len() + 1 - room;
        lines.truncate(room - 1);
        lines.push(format!("… {more} more lines: see `cautions`"));
    }
    lines
}

/// Below everything else, from `top` on.
fn draw_cautions(canvas: &mut dyn Canvas, lines: &[String], font: f64, top: f64) {
    let size = font * CAUTION;
    for (i, line) in lines.iter().enumerate() {
        let at = (font, top + size * (1.2 + 1.3 * i as f64));
        canvas.text(line, at, Face { size, bold: false, anchor: Anchor::Start, upwards: false, colour: WARNING });
    }
}

fn draw_title(canvas: &mut dyn Canvas, title: &str, font: f64, area: Rect) {
    for (i, line) in wrapped(title, font * 1.1, true, area.width() - font).iter().enumerate() {
        let at = ((area.x0 + area.x1) / 2.0, area.y0 + font * (1.3 + 1.4 * i as f64));
        canvas.text(
            line,
            at,
            Face { size: font * 1.1, bold: true, anchor: Anchor::Middle, upwards: false, colour: INK },
        );
    }
}

fn draw(figure: &Figure, canvas: &mut dyn Canvas, width: f64, height: f64) {
    let columns = figure.columns.clamp(1, figure.panels.len());
    let rows = figure.panels.len().div_ceil(columns);
    let font = figure.font(width, height);
    let cautions = figure.all_cautions();
    let lines = caution_lines(&cautions, font, width);
    // Of no other size is the height made for them.
    let lines = if figure.size.is_some() || figure.paper.is_some() { fitting(lines, font, height) } else { lines };
    let height = (height - lines_height(lines.len(), font)).max(1.0);
    draw_cautions(canvas, &lines, font, height);
    let top = title_height(&figure.title, font, width);
    draw_title(canvas, &figure.title, font, Rect::new(0.0, 0.0, width, top));
    let shared = figure.one_legend.then(|| {
        let all = figure.panels.iter().flat_map(entries);
        Legend::shared(all, font, width - font).within(width - font, MOST_BELOW * height)
    });
    let legend_room = shared.as_ref().map_or(0.0, |legend| legend.height_below(width - font));
    if let Some(legend) = &shared {
        let place = Rect::new(font * 0.5, height - legend_room, width - font * 0.5, height);
        legend.draw_below(canvas, place);
    }
    let (w, h) = (width / columns as f64, (height - top - legend_room).max(1.0) / rows as f64);
    let mut plots = Vec::new();
    for (i, panel) in figure.panels.iter().enumerate() {
        let (x, y) = ((i % columns) as f64 * w, top + (i / columns) as f64 * h);
        let mut area = Rect::new(x, y, x + w, y + h);
        draw_title(canvas, &panel.title, font, area);
        // Panels side by side begin at the same height, with a title or without.
        let row = figure.panels.chunks(columns).nth(i / columns).unwrap_or_default();
        area.y0 += row.iter().map(|panel| title_height(&panel.title, font, w)).fold(0.0, f64::max);
        match panel.layers.first() {
            Some(Layer::Tiles(tiles)) => tiles.draw(canvas, area),
            Some(Layer::HeatMap(map)) => {
                let pad = font * 0.6;
                map.draw(canvas, panel, Rect::new(area.x0 + pad, area.y0 + pad, area.x1 - pad, area.y1 - pad), font);
            }
            _ => plots.push((i, panel, area)),
        }
    }
    // Frames of a column begin at one place, and those of a row end at one.
    let lay_out = |panel, area, least| Plot::new(panel, area, font, shared.is_none(), least);
    let insets: Vec<(usize, Insets)> =
        plots.iter().map(|&(i, panel, area)| (i, lay_out(panel, area, Insets::default()).insets())).collect();
    for (i, panel, area) in plots {
        let most = |alike: &dyn Fn(usize) -> bool, of: fn(&Insets) -> f64| {
            insets.iter().filter(|(j, _)| alike(*j)).map(|(_, insets)| of(insets)).fold(0.0, f64::max)
        };
        let left = most(&|j| j % columns == i % columns, |insets| insets.left);
        let below = most(&|j| j / columns == i / columns, |insets| insets.below);
        lay_out(panel, area, Insets { left, below }).draw(canvas);
    }
}
