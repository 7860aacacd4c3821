//! A panel with axes: its frame, ticks, series and legend.

mod boxes;
mod whiskers;

use super::canvas::{
    Anchor, Canvas, CanvasPoint, Face, Pen, Rect, clip_line, clip_polygon, shortened_apart, text_width, wrapped,
};
use super::figure::{BoxedSample, Layer, Panel, ReferenceLine, Series, Spread};
use super::legend::{Legend, LegendEntry, LegendKey, MOST_BELOW};
use super::marker::{marker, series_width};
use super::palette::{GRID, INK, Marker, Rgb, WHITE, style};
use super::scale::{Scale, Tick};

/// Series with at most so many points have each of them marked.
const FEW_POINTS: usize = 40;
const RULE: Rgb = Rgb(90, 90, 90);
/// One for each of a panel's labels, so that a legend tells them apart.
const RULE_DASHES: [&[f64]; 3] = [&[4.0, 3.0], &[9.0, 3.0], &[6.0, 2.0, 1.2, 2.0]];
/// How much of the ink a shade has.
const SHADE: f64 = 0.12;
/// Of lines that do not mean what they seem to.
const DOTS: &[f64] = &[1.0, 1.6];

/// Room beside a frame.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Insets {
    pub left: f64,
    pub below: f64,
}

/// A panel with axes, laid out.
pub(super) struct Plot<'a> {
    panel: &'a Panel,
    font: f64,
    area: Rect,
    frame: Rect,
    x: Scale,
    y: Scale,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    /// The room for names on the x axis that stand upright.
    turned: Option<f64>,
    /// What stands in a second line below each name, or behind one that stands upright; empty for nothing.
    sizes: Vec<String>,
    legend: Legend<'a>,
    /// Where the legend stands: inside the frame, or else below.
    inside: Option<Rect>,
}

impl<'a> Plot<'a> {
    /// With its own legend, or with none.
    pub(super) fn new(panel: &'a Panel, area: Rect, font: f64, own_legend: bool, least: Insets) -> Self {
        let legend = Legend::new(if own_legend { entries(panel) } else { vec![] }, font, area.width() - font);
        let mut plot = Self::laid_out(panel, area, font, legend, (0.0, least));
        plot.inside = plot.legend.place(plot.frame, &plot.taken());
        if plot.inside.is_some() {
            return plot;
        }
        let legend = plot.legend.within(area.width() - font, MOST_BELOW * area.height());
        let below = legend.height_below(area.width() - font);
        Self::laid_out(panel, area, font, legend, (below, least))
    }

    /// What lies left of the frame and below it.
    pub(super) fn insets(&self) -> Insets {
        Insets { left: self.frame.x0 - self.area.x0, below: self.area.y1 - self.frame.y1 }
    }

    fn laid_out(panel: &'a Panel, area: Rect, font: f64, legend: Legend<'a>, (below, least): (f64, Insets)) -> Self {
        let ticks = font * 0.9;
        let label_lines = |label: &str, room: f64| wrapped(label, font, false, room).len() as f64 * font * 1.25;
        let top = area.y0 + font * 0.8;
        let x_label = label_lines(&panel.x.label, area.width() * 0.8);
        let names = &panel.x.names;
        let sizes = boxes::sizes(panel);
        let shown = names.iter().chain(&sizes);
        let longest = shown.map(|name| text_width(name, ticks, false)).fold(0.0, f64::max);
        // Names that do not fit side by side are turned.
        let turned = longest + ticks * 0.7 > (area.width() - font * 5.0) / names.len().max(1) as f64;
        let beside = sizes.iter().map(|size| text_width(&boxes::beside(size), ticks, false)).fold(0.0, f64::max);
        let names_room = match turned && !names.is_empty() {
            true => (longest + beside).min(area.height() * 0.4),
            false if sizes.is_empty() => ticks,
            false => ticks * 2.25,
        };
        let bottom = area.y1 - (below + x_label + names_room + ticks * 0.5 + font * 0.6).max(least.below);
        let bottom = bottom.max(top + font);
        let (x, y) = scales(panel);
        let y = y.onto(bottom, top);
        let y_ticks = y.ticks(((bottom - top) / (font * 2.8)).clamp(2.0, 8.0) as usize);
        let widest = y_ticks.iter().map(|t| text_width(&t.label, ticks, false)).fold(0.0, f64::max);
        let y_label = label_lines(&panel.y.label, bottom - top);
        let left = area.x0 + (font * 0.9 + widest + y_label).max(least.left);
        // Room for half of the last tick's label.
        let half = match names.is_empty() {
            true => x
                .clone()
                .onto(left, area.x1)
                .ticks(2)
                .iter()
                .map(|t| text_width(&t.label, ticks, false) / 2.0)
                .fold(0.0, f64::max),
            false => 0.0,
        };
        let right = (area.x1 - (font * 1.3).max(half + font * 0.3)).max(left + font);
        let x = if panel.x.reversed { x.onto(right, left) } else { x.onto(left, right) };
        let mut most = ((right - left) / (font * 3.2)).clamp(2.0, 10.0) as usize;
        let x_ticks = loop {
            if !names.is_empty() {
                // Upright names need a line's width each; where there is less, every so many stand there.
                let slot = (right - left) / names.len() as f64;
                let every = if turned { (ticks * 1.15 / slot).ceil().max(1.0) as usize } else { 1 };
                let tick = |(i, name): (usize, &String)| Tick { value: i as f64, label: name.clone() };
                break names.iter().enumerate().step_by(every).map(tick).collect();
            }
            let found = x.ticks(most);
            if most <= 2 || !crowded(&found, &x, ticks) {
                break found;
            }
            most -= 1;
        };
        let frame = Rect::new(left, top, right, bottom);
        let turned = turned.then_some(names_room).filter(|_| !names.is_empty());
        Self { panel, font, area, frame, x, y, x_ticks, y_ticks, turned, sizes, legend, inside: None }
    }

    fn point(&self, x: f64, y: f64) -> Option<CanvasPoint> {
        Some((self.x.at(x)?, self.y.at(y)?))
    }

    /// Points of a series in runs without gaps.
    fn runs(&self, series: &Series) -> Vec<Vec<CanvasPoint>> {
        self.runs_of(series, 0..series.x.len())
    }

    fn runs_of(&self, series: &Series, part: std::ops::Range<usize>) -> Vec<Vec<CanvasPoint>> {
        let mut runs = vec![vec![]];
        for (&x, &y) in series.x[part.clone()].iter().zip(&series.y[part]) {
            match (self.point(x, y), runs.last_mut()) {
                (Some(point), Some(run)) => run.push(point),
                (None, Some(run)) if !run.is_empty() => runs.push(vec![]),
                _ => {}
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    fn bar_boxes(&self, edges: &[f64], heights: &[f64]) -> Vec<Rect> {
        let boxes = edges.windows(2).zip(heights).filter_map(|(edge, &height)| {
            let (x0, x1) = (self.x.at(edge[0])?, self.x.at(edge[1])?);
            let (y0, y1) = (self.y.at_or_below(height)?, self.y.at_or_below(0.0)?);
            Some(Rect::new(x0.max(self.frame.x0), y0.max(self.frame.y0), x1.min(self.frame.x1), y1.min(self.frame.y1)))
        });
        boxes.filter(|b| b.width() > 0.0).collect()
    }

    /// The bar at each name, of the series at this place among those with bars.
    fn columns(&self, place: usize, heights: &[f64]) -> Vec<(usize, Rect)> {
        let many = self.panel.layers.iter().filter(|layer| matches!(layer, Layer::Columns(_))).count();
        let wide = 0.8 / many as f64;
        let left = |i: usize| i as f64 - 0.4 + wide * place as f64;
        let boxes = heights.iter().enumerate().filter_map(|(i, &height)| {
            let (x0, x1) = (self.x.at(left(i))?, self.x.at(left(i) + wide)?);
            let (y0, y1) = (self.y.at_or_below(height)?, self.y.at_or_below(0.0)?);
            let inside = |y: f64| y.clamp(self.frame.y0, self.frame.y1);
            Some((i, Rect::new(x0, inside(y0.min(y1)), x1, inside(y0.max(y1)))))
        });
        boxes.collect()
    }

    /// Places in the frame that are covered by data, close enough together that nothing as large as a letter fits between.
    fn taken(&self) -> Vec<CanvasPoint> {
        let step = self.font * 0.4;
        let mut taken = Vec::new();
        let mut along = |a: CanvasPoint, b: CanvasPoint| {
            let Some((a, b)) = super::canvas::clip_segment(a, b, self.frame) else { return };
            let steps = ((b.0 - a.0).hypot(b.1 - a.1) / step).ceil().max(1.0) as usize;
            for i in 0..=steps {
                let t = i as f64 / steps as f64;
                taken.push((a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1)));
            }
        };
        for layer in &self.panel.layers {
            match layer {
                Layer::Series(series) => {
                    for run in self.runs(series) {
                        run.iter().for_each(|&p| along(p, p));
                        if series.line {
                            thinned(&run).windows(2).for_each(|pair| along(pair[0], pair[1]));
                        }
                    }
                    for run in self.intervals(series) {
                        let posts: Vec<(f64, f64, f64)> = if series.spread == Spread::Band {
                            run.windows(2).flat_map(|pair| between(pair[0], pair[1], step)).collect()
                        } else {
                            run
                        };
                        posts.iter().for_each(|&(x, lo, hi)| along((x, lo), (x, hi)));
                    }
                }
                Layer::Bars(bars) => {
                    for bar in self.bar_boxes(&bars.edges, &bars.heights) {
                        let posts = (bar.width() / step).ceil().max(1.0) as usize;
                        for i in 0..=posts {
                            let x = bar.x0 + bar.width() * i as f64 / posts as f64;
                            along((x, bar.y0), (x, bar.y1));
                        }
                    }
                }
                Layer::Columns(columns) => {
                    // As wide as all bars of a name: where they stand does not matter to a legend.
                    for (i, bar) in self.columns(0, &columns.heights) {
                        let reach = columns.interval.as_ref().and_then(|(_, hi)| self.y.at_or_below(hi[i]));
                        let (x0, x1) = (self.x.at(i as f64 - 0.4), self.x.at(i as f64 + 0.4));
                        let (Some(x0), Some(x1)) = (x0, x1) else { continue };
                        let posts = ((x1 - x0) / step).ceil().max(1.0) as usize;
                        for post in 0..=posts {
                            let x = x0 + (x1 - x0) * post as f64 / posts as f64;
                            along((x, reach.unwrap_or(bar.y0).min(bar.y0)), (x, bar.y1));
                        }
                    }
                }
                Layer::Boxes(boxes) => {
                    self.boxes(boxes).iter().flat_map(boxes::Boxed::posts).for_each(|(a, b)| along(a, b))
                }
                Layer::Rule(rule) => {
                    if let Some((a, b)) = self.rule_ends(rule.horizontal, rule.at) {
                        along(a, b);
                    }
                }
                _ => {}
            }
        }
        taken
    }

    fn rule_ends(&self, horizontal: bool, at: f64) -> Option<(CanvasPoint, CanvasPoint)> {
        let f = self.frame;
        if horizontal {
            let y = self.y.at(at)?;
            (f.y0 <= y && y <= f.y1).then_some(((f.x0, y), (f.x1, y)))
        } else {
            let x = self.x.at(at)?;
            (f.x0 <= x && x <= f.x1).then_some(((x, f.y1), (x, f.y0)))
        }
    }

    pub(super) fn draw(&self, canvas: &mut dyn Canvas) {
        self.draw_shades(canvas);
        self.draw_grid(canvas);
        self.draw_spreads(canvas);
        for (rule, dash) in rules(self.panel) {
            if let Some((a, b)) = self.rule_ends(rule.horizontal, rule.at) {
                canvas.line(&[a, b], Pen { width: series_width(self.font) * 0.6, colour: RULE, dash });
            }
        }
        self.draw_boxes(canvas);
        self.draw_lines(canvas);
        self.draw_axes(canvas);
        match self.inside {
            Some(place) => self.legend.draw_inside(canvas, place),
            None => {
                let top = self.area.y1 - self.legend.height_below(self.area.width() - self.font);
                let half = self.font * 0.5;
                let place = Rect::new(self.area.x0 + half, top - half * 0.6, self.area.x1 - half, self.area.y1);
                self.legend.draw_below(canvas, place);
            }
        }
    }

    fn draw_grid(&self, canvas: &mut dyn Canvas) {
        let pen = Pen::solid(self.font * 0.04, GRID);
        let numbered = self.x_ticks.iter().filter(|_| self.panel.x.names.is_empty());
        for x in numbered.filter(|t| !t.label.is_empty()).filter_map(|t| self.x.at(t.value)) {
            canvas.line(&[(x, self.frame.y0), (x, self.frame.y1)], pen);
        }
        for y in self.y_ticks.iter().filter(|t| !t.label.is_empty()).filter_map(|t| self.y.at(t.value)) {
            canvas.line(&[(self.frame.x0, y), (self.frame.x1, y)], pen);
        }
    }

    /// Cells reach half-way to the next place; those above each other are one, so that no seams show.
    fn draw_shades(&self, canvas: &mut dyn Canvas) {
        let edges = |scale: &Scale, places: &[f64]| -> Vec<f64> {
            let at: Vec<f64> = places.iter().filter_map(|place| scale.at(*place)).collect();
            let (Some(first), Some(last)) = (at.first(), at.last()) else { return vec![] };
            let between = at.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
            std::iter::once(*first).chain(between).chain([*last]).map(f64::round).collect()
        };
        for layer in &self.panel.layers {
            let Layer::Shade(shade) = layer else { continue };
            let (x, y) = (edges(&self.x, &shade.x), edges(&self.y, &shade.y));
            let (across, up) = (shade.x.len(), shade.y.len());
            if x.len() != across + 1 || y.len() != up + 1 {
                continue;
            }
            for (i, column) in shade.holds.chunks_exact(up).enumerate() {
                let mut from = 0;
                for run in column.chunk_by(|a, b| a == b) {
                    let to = from + run.len();
                    if run[0] {
                        canvas.fill(
                            &Rect::new(x[i], y[to].min(y[from]), x[i + 1], y[to].max(y[from])).corners(),
                            INK,
                            SHADE,
                        );
                    }
                    from = to;
                }
            }
        }
    }

    /// What lies below the lines: bands and bars.
    fn draw_spreads(&self, canvas: &mut dyn Canvas) {
        let bars_in_panel = self.panel.layers.iter().filter(|l| matches!(l, Layer::Bars(_))).count();
        let bands = self.panel.layers.iter().filter_map(|layer| layer.spread(Spread::Band)).count();
        // Of many that lie over one another each is fainter, or nothing is seen through all.
        let band = 0.2 * (4.0 / bands as f64).min(1.0);
        let mut columns_before = 0;
        let mut bands_before = 0;
        for ((colour, _, dash), layer) in styled(self.panel) {
            match layer {
                Layer::Columns(columns) => {
                    let boxes = self.columns(columns_before, &columns.heights);
                    columns_before += 1;
                    for (i, bar) in boxes {
                        canvas.fill(&bar.corners(), colour, 0.85);
                        let Some((lo, hi)) = &columns.interval else { continue };
                        let middle = (bar.x0 + bar.x1) / 2.0;
                        let ends = (self.y.at_or_below(lo[i]), self.y.at_or_below(hi[i]));
                        if let (Some(lo), Some(hi)) = ends {
                            self.whisker(canvas, (middle, lo, hi), INK);
                        }
                    }
                }
                Layer::Series(series) if series.spread == Spread::Band => {
                    let own = bands_before;
                    bands_before += usize::from(series.interval.is_some());
                    for run in self.intervals(series) {
                        // A point alone spans no band, nor do several in one place.
                        let alone = self.without_width(&run, own);
                        alone.into_iter().for_each(|point| self.whisker(canvas, point, colour));
                        let upper = run.iter().map(|&(x, _, hi)| (x, hi));
                        let lower = run.iter().rev().map(|&(x, lo, _)| (x, lo));
                        let shape = clip_polygon(&upper.chain(lower).collect::<Vec<_>>(), self.frame);
                        if shape.len() > 2 {
                            canvas.fill(&shape, colour, band);
                        }
                    }
                }
                Layer::Bars(bars) => {
                    let boxes = self.bar_boxes(&bars.edges, &bars.heights);
                    let opacity = if bars_in_panel > 1 { 0.3 } else { 0.8 };
                    // Gaps, or the seams between bars of a fraction of a pixel, would be most of what is seen of narrow ones.
                    let narrow = boxes.iter().any(|bar| bar.width() < 0.3 * self.font);
                    if narrow {
                        let tops = boxes
                            .iter()
                            .flat_map(|bar| [(bar.x0, bar.y1), (bar.x0, bar.y0), (bar.x1, bar.y0), (bar.x1, bar.y1)]);
                        canvas.fill(&tops.collect::<Vec<_>>(), colour, opacity);
                    } else {
                        boxes.iter().for_each(|bar| canvas.fill(&bar.corners(), colour, opacity));
                    }
                    if bars_in_panel > 1 {
                        let outline: Vec<CanvasPoint> =
                            boxes.iter().flat_map(|bar| [(bar.x0, bar.y0), (bar.x1, bar.y0)]).collect();
                        canvas.line(&outline, Pen { width: series_width(self.font), colour, dash });
                    } else if !narrow {
                        let white = Pen::solid(self.font * 0.04, WHITE);
                        boxes.iter().for_each(|b| canvas.line(&[(b.x0, b.y0), (b.x0, b.y1)], white));
                    }
                }
                _ => {}
            }
        }
    }

    fn draw_lines(&self, canvas: &mut dyn Canvas) {
        let width = series_width(self.font);
        let mut bars_before = 0;
        for ((colour, shape, dash), layer) in styled(self.panel) {
            let Layer::Series(series) = layer else { continue };
            if series.spread == Spread::Bars {
                let intervals = self.beside_each_other(series, bars_before);
                intervals.into_iter().for_each(|interval| self.whisker(canvas, interval, colour));
                bars_before += usize::from(series.interval.is_some());
            }
            let firm = series.firm();
            let runs = self.runs_of(series, 0..firm);
            let marked = marked(series);
            if series.line {
                let doubtful = self.runs_of(series, firm.saturating_sub(1)..series.x.len());
                let doubtful = if series.doubtful.is_some() { &doubtful[..] } else { &[] };
                let of = |run: &Vec<CanvasPoint>| clip_line(&thinned(run), self.frame);
                for part in runs.iter().flat_map(of) {
                    canvas.line(&part, Pen { width, colour, dash });
                }
                for part in doubtful.iter().flat_map(of) {
                    canvas.line(&part, Pen { width: width * 0.6, colour, dash: DOTS });
                }
            }
            let mut seen = std::collections::HashSet::new();
            for run in &runs {
                // A point alone between gaps would leave no line to see.
                if !(marked || (series.line && run.len() == 1)) {
                    continue;
                }
                for &(x, y) in run.iter().filter(|&&p| self.frame.holds(p)) {
                    // Markers on the same half pixel add bytes and nothing to see.
                    if seen.insert(((x * 2.0) as i64, (y * 2.0) as i64)) {
                        marker(canvas, shape, (x, y), self.font, colour);
                    }
                }
            }
        }
    }

    fn draw_axes(&self, canvas: &mut dyn Canvas) {
        let (f, font) = (self.frame, self.font);
        let ticks = font * 0.9;
        let pen = Pen::solid(font * 0.05, INK);
        canvas.line(&[(f.x0, f.y0), (f.x0, f.y1), (f.x1, f.y1)], pen);
        let face = |anchor, upwards, size| Face { size, bold: false, anchor, upwards, colour: INK };
        let length = |tick: &Tick| if tick.label.is_empty() { font * 0.14 } else { font * 0.26 };
        let beside =
            |tick: &Tick| self.sizes.get(tick.value as usize).map_or(String::new(), |size| boxes::beside(size));
        let sizes: Vec<String> = self.x_ticks.iter().map(beside).collect();
        let widest = sizes.iter().map(|size| text_width(size, ticks, false)).fold(0.0, f64::max);
        let all = &self.panel.x.names;
        let names = self.turned.map_or(vec![], |room| shortened_apart(all, ticks, room - widest));
        for (i, tick) in self.x_ticks.iter().enumerate() {
            let Some(x) = self.x.at(tick.value) else { continue };
            if let Some(name) = names.get(tick.value as usize) {
                let name = format!("{name}{}", sizes[i]);
                canvas.text(&name, (x + ticks * 0.36, f.y1 + font * 0.35), face(Anchor::End, true, ticks));
                continue;
            }
            canvas.line(&[(x, f.y1), (x, f.y1 + length(tick))], pen);
            if !tick.label.is_empty() {
                canvas.text(&tick.label, (x, f.y1 + font * 0.35 + ticks * 0.8), face(Anchor::Middle, false, ticks));
            }
        }
        for (i, text) in self.sizes.iter().enumerate().filter(|_| self.turned.is_none()) {
            let Some(x) = self.x.at(i as f64) else { continue };
            canvas.text(text, (x, f.y1 + font * 0.35 + ticks * 2.05), face(Anchor::Middle, false, ticks));
        }
        for tick in &self.y_ticks {
            let Some(y) = self.y.at(tick.value) else { continue };
            canvas.line(&[(f.x0 - length(tick), y), (f.x0, y)], pen);
            if !tick.label.is_empty() {
                canvas.text(&tick.label, (f.x0 - font * 0.4, y + ticks * 0.36), face(Anchor::End, false, ticks));
            }
        }
        for (i, line) in wrapped(&self.panel.x.label, font, false, self.area.width() * 0.8).iter().enumerate() {
            let upright = if self.sizes.is_empty() { ticks } else { ticks * 2.25 };
            let names = self.turned.unwrap_or(upright) + ticks * 0.5;
            let at = ((f.x0 + f.x1) / 2.0, f.y1 + names + font * (0.9 + 1.25 * i as f64));
            canvas.text(line, at, face(Anchor::Middle, false, font));
        }
        for (i, line) in wrapped(&self.panel.y.label, font, false, f.height()).iter().enumerate() {
            let at = (self.area.x0 + font * (1.1 + 1.25 * i as f64), (f.y0 + f.y1) / 2.0);
            canvas.text(line, at, face(Anchor::Middle, true, font));
        }
    }
}

fn marked(series: &Series) -> bool {
    series.markers.unwrap_or(!series.line || series.x.len() <= FEW_POINTS)
}

/// Layers that have a colour, each with its look.
fn styled(panel: &Panel) -> impl Iterator<Item = ((Rgb, Marker, &'static [f64]), &Layer)> {
    let looks = panel.layers.iter().filter_map(|layer| match layer {
        Layer::Series(series) => Some((series.look, layer)),
        Layer::Bars(bars) => Some((bars.look, layer)),
        Layer::Columns(columns) => Some((columns.look, layer)),
        _ => None,
    });
    looks.enumerate().map(|(place, (look, layer))| {
        let (colour, marker, dash) = style(look.place.unwrap_or(place));
        ((look.colour.unwrap_or(colour), marker, look.dash.unwrap_or(dash)), layer)
    })
}

/// Reference lines with their dashes; those of one label have one.
fn rules(panel: &Panel) -> Vec<(&ReferenceLine, &'static [f64])> {
    let mut labels: Vec<&str> = vec![];
    let mut rules = vec![];
    for layer in &panel.layers {
        let Layer::Rule(rule) = layer else { continue };
        let known = labels.iter().position(|label| *label == rule.label);
        let place = known.unwrap_or_else(|| {
            labels.push(&rule.label);
            labels.len() - 1
        });
        rules.push((rule, RULE_DASHES[place % RULE_DASHES.len()]));
    }
    rules
}

pub(super) fn entries(panel: &Panel) -> Vec<LegendEntry<'_>> {
    let mut entries = Vec::new();
    for ((colour, shape, dash), layer) in styled(panel) {
        let (label, sample) = match layer {
            Layer::Series(s) if s.line => {
                let marker = marked(s).then_some(shape);
                (&s.label, LegendKey::Line { colour, dash, marker, thin: false })
            }
            Layer::Series(s) => (&s.label, LegendKey::Points { colour, marker: shape }),
            Layer::Bars(b) => (&b.label, LegendKey::Swatch { colour, alpha: 0.6 }),
            Layer::Columns(c) => (&c.label, LegendKey::Swatch { colour, alpha: 0.85 }),
            _ => continue,
        };
        entries.push(LegendEntry { label: label.clone(), sample });
    }
    for (rule, dash) in rules(panel) {
        let sample = LegendKey::Line { colour: RULE, dash, marker: None, thin: true };
        entries.push(LegendEntry { label: rule.label.clone(), sample });
    }
    for layer in &panel.layers {
        if let Layer::Shade(shade) = layer {
            let sample = LegendKey::Swatch { colour: INK, alpha: SHADE };
            entries.push(LegendEntry { label: shade.label.clone(), sample });
        }
    }
    let doubtful = panel.layers.iter().filter_map(|layer| match layer {
        Layer::Series(series) => Some(&series.doubtful.as_ref()?.why),
        _ => None,
    });
    let mut whys: Vec<&String> = doubtful.collect();
    whys.dedup();
    for why in whys {
        let sample = LegendKey::Line { colour: RULE, dash: DOTS, marker: None, thin: true };
        entries.push(LegendEntry { label: why.clone(), sample });
    }
    entries
}

fn scales(panel: &Panel) -> (Scale, Scale) {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    let (mut only_bars, mut base_at_zero) = (true, true);
    for layer in &panel.layers {
        match layer {
            Layer::Series(s) => {
                only_bars = false;
                for (i, (&x, &y)) in s.x.iter().zip(&s.y).enumerate() {
                    if !panel.x.shows(x) {
                        continue;
                    }
                    xs.push(x);
                    ys.push(y);
                    if let Some((lo, hi)) = &s.interval {
                        ys.extend([lo[i], hi[i]]);
                    }
                }
            }
            Layer::Bars(b) => {
                xs.extend(&b.edges);
                ys.extend(&b.heights);
                if !panel.y.log {
                    ys.push(0.0);
                }
            }
            Layer::Columns(c) => {
                xs.extend([-0.5, panel.x.names.len() as f64 - 0.5]);
                ys.extend(&c.heights);
                if let Some((lo, hi)) = &c.interval {
                    ys.extend(lo.iter().chain(hi));
                }
                if !panel.y.log {
                    ys.push(0.0);
                }
            }
            Layer::Boxes(b) => {
                base_at_zero = false;
                xs.extend([-0.5, panel.x.names.len() as f64 - 0.5]);
                ys.extend(b.samples.iter().flat_map(BoxedSample::shown));
            }
            Layer::Rule(rule) if rule.horizontal => ys.push(rule.at),
            Layer::Rule(rule) => xs.push(rule.at),
            _ => {}
        }
    }
    let mut y_axis = panel.y.clone();
    if only_bars && base_at_zero {
        // Bars stand on the axis; on a log axis, on half of the least count.
        let least = ys.iter().copied().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        let base = if panel.y.log { least / 2.0 } else { 0.0 };
        y_axis.min = y_axis.min.or(Some(base).filter(|_| !ys.iter().any(|v| *v < 0.0)));
    }
    (Scale::over(xs.into_iter(), &panel.x, only_bars), Scale::over(ys.into_iter(), &y_axis, false))
}

/// Whether two neighbouring labels would touch.
fn crowded(ticks: &[Tick], scale: &Scale, size: f64) -> bool {
    let mut spans: Vec<(f64, f64)> = ticks
        .iter()
        .filter(|t| !t.label.is_empty())
        .filter_map(|t| Some((scale.at(t.value)?, text_width(&t.label, size, false) / 2.0)))
        .collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    spans.windows(2).any(|pair| pair[1].0 - pair[0].0 < pair[0].1 + pair[1].1 + size * 0.7)
}

/// Columns of a band between two of its points.
fn between(a: (f64, f64, f64), b: (f64, f64, f64), step: f64) -> Vec<(f64, f64, f64)> {
    let steps = ((b.0 - a.0).abs() / step).ceil().clamp(1.0, 4096.0) as usize;
    let mix = |a: f64, b: f64, t: f64| a + t * (b - a);
    (0..=steps)
        .map(|i| i as f64 / steps as f64)
        .map(|t| (mix(a.0, b.0, t), mix(a.1, b.1, t), mix(a.2, b.2, t)))
        .collect()
}

/// A line without the points that nobody can see: of many points in one column of pixels the first, the last and the
/// extremes are kept.
fn thinned(points: &[CanvasPoint]) -> Vec<CanvasPoint> {
    if points.len() < 4000 {
        return points.to_vec();
    }
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        let last = column.len() - 1;
        let extreme = |sign: f64| {
            (0..column.len()).max_by(|&i, &j| (sign * column[i].1).total_cmp(&(sign * column[j].1))).unwrap_or(last)
        };
        let mut order = [0, extreme(1.0), extreme(-1.0), last];
        order.sort_unstable();
        for (i, &at) in order.iter().enumerate() {
            if i == 0 || at != order[i - 1] {
                kept.push(column[at]);
            }
        }
    }
    kept
}
