//! A figure as data: panels with axes and layers. It is never changed; every method returns a changed copy.

use std::path::Path;

use serde_json::json;

use super::palette::Rgb;
use super::{Picture, label};
use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Value, number};
use crate::maths::quartiles::{Quartiles, quartiles};

/// How an interval around a line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    Band,
    Bars,
}

/// From where on a line does not mean what it seems to, and why: it goes on dotted, without its band.
#[derive(Clone)]
pub struct Doubtful {
    pub from: usize,
    /// Its entry in the legend.
    pub why: String,
}

/// What of a series' look does not follow from its place among those of its panel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SeriesLook {
    pub colour: Option<Rgb>,
    pub dash: Option<&'static [f64]>,
    /// The place that colour, marker and dash otherwise follow from.
    pub place: Option<usize>,
}

/// Points in order, joined or not. A point with a NaN is a gap.
#[derive(Clone)]
pub struct Series {
    /// Its entry in the legend; empty for none.
    pub label: String,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// Lower and upper ends of an interval at every point.
    pub interval: Option<(Vec<f64>, Vec<f64>)>,
    pub spread: Spread,
    pub line: bool,
    /// Whether points are marked; where absent, they are if there are few.
    pub markers: Option<bool>,
    pub look: SeriesLook,
    pub doubtful: Option<Doubtful>,
}

/// A histogram: `heights[i]` stands over `edges[i]` to `edges[i + 1]`.
#[derive(Clone)]
pub struct Bars {
    pub label: String,
    pub look: SeriesLook,
    pub edges: Vec<f64>,
    pub heights: Vec<f64>,
}

/// A bar for each of an axis's names, beside those of other series; a NaN is none.
#[derive(Clone)]
pub struct Columns {
    pub label: String,
    pub look: SeriesLook,
    pub heights: Vec<f64>,
    /// Lower and upper ends of an interval at every bar.
    pub interval: Option<(Vec<f64>, Vec<f64>)>,
}

/// A sample for each of an axis's names: a box with whiskers, or points.
#[derive(Clone)]
pub struct Boxes {
    pub samples: Vec<BoxedSample>,
}

#[derive(Clone)]
pub struct BoxedSample {
    /// How many values it has.
    pub n: usize,
    /// Absent where they are too few.
    pub quartiles: Option<Quartiles>,
    /// What is drawn beside a box: its outliers, or all values where there is none.
    pub points: Vec<f64>,
}

/// A dashed reference line across the panel.
#[derive(Clone)]
pub struct ReferenceLine {
    pub label: String,
    /// The value on the y axis (a horizontal line), or else on the x axis.
    pub horizontal: bool,
    pub at: f64,
}

/// A part of the plane, as the cells of a grid that are in it, behind all else.
#[derive(Clone)]
pub struct Shade {
    pub label: String,
    /// The grid's places, ascending.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// For each place of x those of y.
    pub holds: Vec<bool>,
}

/// A matrix in colour with row 0 on top.
#[derive(Clone)]
pub struct HeatMap {
    pub rows: usize,
    pub columns: usize,
    /// Row by row.
    pub values: Vec<f64>,
    /// The intervals of the values, below and above, which stand under their numbers.
    pub interval: Option<(Vec<f64>, Vec<f64>)>,
    /// Empty: rows are numbered.
    pub row_names: Vec<String>,
    pub column_names: Vec<String>,
    /// What the colour means; stands at the colour bar.
    pub label: String,
    /// Whether cells show their number; where absent, they do if there are few.
    pub numbers: Option<bool>,
    /// Values of the darkest and the lightest colour; where absent, the least and the largest.
    pub range: Option<(f64, f64)>,
    /// Where colours part that lead from one to another by way of white; where absent, they grow lighter with the value.
    pub centre: Option<f64>,
}

/// Pictures side by side with captions below.
#[derive(Clone)]
pub struct Tiles {
    pub images: Vec<Picture>,
    /// One per image, or none at all.
    pub captions: Vec<String>,
    /// Arrows over each image, from a place in it to another, in its pixels; one list per image, or none at all.
    pub arrows: Vec<Vec<[f64; 4]>>,
    pub columns: usize,
}

#[derive(Clone)]
pub enum Layer {
    Series(Series),
    Bars(Bars),
    Columns(Columns),
    Boxes(Boxes),
    Rule(ReferenceLine),
    Shade(Shade),
    HeatMap(HeatMap),
    Tiles(Tiles),
}

#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    pub log: bool,
    /// Whether values fall from left to right, on an x axis.
    pub reversed: bool,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// What stands at 0, 1, 2, … in place of numbers.
    pub names: Vec<String>,
}

#[derive(Clone, Default)]
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub layers: Vec<Layer>,
}

#[derive(Clone)]
pub struct Figure {
    pub title: String,
    pub panels: Vec<Panel>,
    /// Panels per row.
    pub columns: usize,
    /// Width and height in pixels; where absent, from the number and kind of the panels.
    pub size: Option<(u32, u32)>,
    /// The size on paper, which stands before that in pixels.
    pub paper: Option<Paper>,
    /// Whether the series of all panels have one legend below them.
    pub one_legend: bool,
    /// Why it may not mean what it seems to; stands below the panels.
    pub cautions: Cautions,
}

/// A size on paper, and that of letters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paper {
    pub width_mm: f64,
    pub height_mm: f64,
    /// Of labels, in points of 1/72 inch.
    pub type_size: f64,
}

/// Width and height that a figure may have, in pixels.
pub const SIZES: (i64, i64) = (64, 8192);

impl Series {
    pub fn line(label: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self {
            label: label.into(),
            x,
            y,
            interval: None,
            spread: Spread::Band,
            line: true,
            markers: None,
            look: SeriesLook::default(),
            doubtful: None,
        }
    }

    pub fn points(label: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { line: false, markers: Some(true), spread: Spread::Bars, ..Self::line(label, x, y) }
    }

    pub fn within(mut self, lo: Vec<f64>, hi: Vec<f64>) -> Self {
        self.interval = Some((lo, hi));
        self
    }

    /// Doubtful from the point of this number on.
    pub fn doubtful_from(mut self, from: Option<usize>, why: &str) -> Self {
        self.doubtful = from.map(|from| Doubtful { from, why: why.into() });
        self
    }

    /// How many points mean what they seem to.
    pub(super) fn firm(&self) -> usize {
        self.doubtful.as_ref().map_or(self.x.len(), |doubtful| doubtful.from.min(self.x.len()))
    }
}

/// Counts of values in `bins` equal parts of `lo` to `hi`, both ends included; values outside are not counted.
pub fn histogram(values: &[f64], bins: usize, (lo, hi): (f64, f64)) -> (Vec<f64>, Vec<f64>) {
    let bins = bins.max(1);
    let width = (hi - lo) / bins as f64;
    let edges = (0..=bins).map(|i| if i == bins { hi } else { lo + width * i as f64 }).collect();
    let mut counts = vec![0.0; bins];
    for &v in values.iter().filter(|v| lo <= **v && **v <= hi) {
        counts[(((v - lo) / width) as usize).min(bins - 1)] += 1.0;
    }
    (edges, counts)
}

/// A box of fewer values than this shows less than they do themselves.
pub const FEWEST_BOXED: usize = 5;

impl BoxedSample {
    /// Of values that are finite, as is the distance between any two of them.
    pub fn of(values: &[f64]) -> Self {
        let quartiles = quartiles(values).filter(|_| values.len() >= FEWEST_BOXED);
        let points = quartiles.as_ref().map_or(values, |quartiles| &quartiles.outliers).to_vec();
        Self { n: values.len(), quartiles, points }
    }

    /// What of it has a place on an axis.
    pub fn shown(&self) -> impl Iterator<Item = f64> {
        let ends = self.quartiles.as_ref().map(|q| [q.whiskers.0, q.whiskers.1, q.lower, q.upper]);
        self.points.iter().copied().chain(ends.into_iter().flatten())
    }
}

impl Panel {
    /// The image sheet, of a panel that is one.
    pub(super) fn sheet(&self) -> Option<&Tiles> {
        match self.layers.first() {
            Some(Layer::Tiles(tiles)) => Some(tiles),
            _ => None,
        }
    }

    /// The first problem that keeps this panel from being drawn.
    fn check(&self) -> Result<()> {
        let name = if self.title.is_empty() { String::new() } else { format!(" in {:?}", self.title) };
        for layer in &self.layers {
            let lengths = match layer {
                Layer::Series(s) => {
                    let interval = s.interval.as_ref().map_or([s.x.len(); 2], |(lo, hi)| [lo.len(), hi.len()]);
                    [s.y.len(), interval[0], interval[1]].into_iter().find(|n| *n != s.x.len()).map(|n| (s.x.len(), n))
                }
                Layer::Bars(b) if b.edges.len() != b.heights.len() + 1 => Some((b.edges.len(), b.heights.len())),
                Layer::Columns(c) => {
                    let interval = c.interval.as_ref().map_or([c.heights.len(); 2], |(lo, hi)| [lo.len(), hi.len()]);
                    let names = self.x.names.len();
                    [c.heights.len(), interval[0], interval[1]].into_iter().find(|n| *n != names).map(|n| (names, n))
                }
                Layer::Boxes(b) if b.samples.len() != self.x.names.len() => Some((self.x.names.len(), b.samples.len())),
                Layer::HeatMap(h) => {
                    let interval = h.interval.as_ref().map_or([h.values.len(); 2], |(lo, hi)| [lo.len(), hi.len()]);
                    let cells = h.rows * h.columns;
                    [h.values.len(), interval[0], interval[1]].into_iter().find(|n| *n != cells).map(|n| (cells, n))
                }
                Layer::Tiles(t) if !t.captions.is_empty() && t.captions.len() != t.images.len() => {
                    Some((t.images.len(), t.captions.len()))
                }
                _ => None,
            };
            if let Some((a, b)) = lengths {
                return Err(Error::data(format!("arrays of different lengths{name}: {a} and {b}")));
            }
        }
        if self.x.log && !self.x.names.is_empty() {
            return Err(
                Error::argument("names along the x axis have no logarithm").hint("`log_y` is what bars and boxes have")
            );
        }
        for (axis, name) in [(&self.x, "x"), (&self.y, "y")] {
            if let Some(end) = [axis.min, axis.max].into_iter().flatten().find(|end| !axis.shows(*end)) {
                return Err(Error::argument(format!("a log axis can't begin or end at {}", number(end)))
                    .hint(format!("`{name}_min` and `{name}_max` must be above 0 there")));
            }
        }
        self.check_boxes()?;
        let drawable = self.layers.iter().any(|layer| match layer {
            Layer::Series(s) => s.x.iter().zip(&s.y).any(|(&x, &y)| self.x.shows(x) && self.y.shows(y)),
            Layer::Bars(b) => b.heights.iter().any(|h| self.y.shows(*h)),
            Layer::Columns(c) => c.heights.iter().any(|h| self.y.shows(*h)),
            Layer::Boxes(b) => b.samples.iter().any(|sample| sample.n > 0),
            Layer::HeatMap(h) => h.values.iter().any(|v| v.is_finite()),
            Layer::Tiles(t) => !t.images.is_empty(),
            Layer::Rule(_) | Layer::Shade(_) => false,
        });
        if drawable {
            return Ok(());
        }
        let error = Error::data(format!("there is nothing to draw{name}: not one point with finite coordinates"));
        Err(if self.x.log || self.y.log { error.hint("a log axis shows positive numbers only") } else { error })
    }

    /// A box without its lower part would be taken for another one.
    fn check_boxes(&self) -> Result<()> {
        let boxes =
            self.layers.iter().filter_map(|layer| if let Layer::Boxes(boxes) = layer { Some(boxes) } else { None });
        for (sample, name) in boxes.flat_map(|boxes| boxes.samples.iter().zip(&self.x.names)) {
            if let Some(value) = sample.shown().find(|value| !self.y.shows(*value)) {
                let of = if name.is_empty() { String::new() } else { format!(" of {name:?}") };
                return Err(Error::data(format!("a log axis has no place for {}{of}", number(value)))
                    .hint("a linear axis shows zeros and negative numbers"));
            }
        }
        Ok(())
    }
}

impl Axis {
    /// Whether the axis has a place for this value.
    pub fn shows(&self, v: f64) -> bool {
        v.is_finite() && (!self.log || v > 0.0)
    }
}

impl Figure {
    /// A figure of one panel.
    pub fn new(panel: Panel) -> Result<Self> {
        Self::of(vec![panel], 1).checked()
    }

    /// Panels, `columns` in a row.
    pub fn of(panels: Vec<Panel>, columns: usize) -> Self {
        Self {
            title: String::new(),
            panels,
            columns,
            size: None,
            paper: None,
            one_legend: false,
            cautions: Cautions::default(),
        }
    }

    /// With these cautions below the panels as well.
    pub fn cautioned(mut self, cautions: &Cautions) -> Self {
        self.cautions.extend(cautions);
        self
    }

    /// The figure, or why it can't be drawn.
    pub fn checked(self) -> Result<Self> {
        if self.panels.is_empty() {
            return Err(Error::data("a figure needs at least one panel"));
        }
        self.panels.iter().try_for_each(Panel::check)?;
        self.texts().into_iter().try_for_each(label::check)?;
        Ok(self)
    }

    /// One legend below all panels; what has the same label looks the same in each.
    pub fn with_one_legend(&self) -> Result<Self> {
        let mut figure = Self { one_legend: true, ..self.clone() };
        let mut known: Vec<(String, SeriesLook)> = Vec::new();
        for layer in figure.panels.iter_mut().flat_map(|panel| &mut panel.layers) {
            let Some((label, look)) = layer.labelled_look() else { continue };
            let label = label.to_string();
            match known.iter().find(|(name, _)| *name == label) {
                Some((_, seen)) if seen.colour.or(look.colour) != look.colour.or(seen.colour) => {
                    return Err(Error::argument(format!("{label:?} has two colours, and one legend can't show both")));
                }
                Some((_, seen)) => *look = *seen,
                None => {
                    look.place = Some(look.place.unwrap_or(known.len()));
                    known.push((label, *look));
                }
            }
        }
        Ok(figure)
    }

    fn each_panel(&self, change: impl Fn(&mut Panel)) -> Self {
        let mut figure = self.clone();
        figure.panels.iter_mut().for_each(change);
        figure
    }

    /// A title over the whole figure.
    pub fn titled(&self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self.clone() }
    }

    /// What the axes of every panel show, with units.
    pub fn labelled(&self, x: &str, y: &str) -> Self {
        self.each_panel(|panel| {
            panel.x.label = x.into();
            panel.y.label = y.into();
        })
    }

    /// Logarithmic x axes.
    pub fn log_x(&self) -> Result<Self> {
        self.each_panel(|panel| panel.x.log = true).checked()
    }

    /// Logarithmic y axes.
    pub fn log_y(&self) -> Result<Self> {
        self.each_panel(|panel| panel.y.log = true).checked()
    }

    /// Width and height in pixels, 64 to 8192.
    pub fn sized(&self, width: u32, height: u32) -> Self {
        let limit = |v: u32| v.clamp(SIZES.0 as u32, SIZES.1 as u32);
        Self { size: Some((limit(width), limit(height))), paper: None, ..self.clone() }
    }

    /// This size on paper.
    pub fn on_paper(&self, paper: Paper) -> Self {
        Self { paper: Some(paper), ..self.clone() }
    }

    /// Texts that are drawn: labels, which may hold mathematics.
    pub(super) fn texts(&self) -> Vec<&str> {
        let mut texts = vec![self.title.as_str()];
        for panel in &self.panels {
            texts.extend([panel.title.as_str(), panel.x.label.as_str(), panel.y.label.as_str()]);
            texts.extend(panel.layers.iter().map(|layer| match layer {
                Layer::Series(series) => series.label.as_str(),
                Layer::Bars(bars) => bars.label.as_str(),
                Layer::Columns(columns) => columns.label.as_str(),
                Layer::Rule(rule) => rule.label.as_str(),
                Layer::Shade(shade) => shade.label.as_str(),
                Layer::HeatMap(map) => map.label.as_str(),
                Layer::Tiles(_) | Layer::Boxes(_) => "",
            }));
            texts.extend(panel.x.names.iter().map(String::as_str));
        }
        texts
    }

    fn kinds(&self) -> Vec<(&'static str, usize)> {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for layer in self.panels.iter().flat_map(|panel| &panel.layers) {
            let kind = match layer {
                Layer::Series(s) if s.line => "line",
                Layer::Series(_) => "scatter",
                Layer::Bars(_) => "histogram",
                Layer::Columns(_) => "bar chart",
                Layer::Boxes(_) => "box plot",
                Layer::HeatMap(_) => "heat map",
                Layer::Tiles(_) => "image sheet",
                Layer::Rule(_) | Layer::Shade(_) => continue,
            };
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((kind, 1)),
            }
        }
        kinds
    }
}

fn numbers(values: &[f64]) -> serde_json::Value {
    values.iter().map(|v| Value::Float(*v).json()).collect()
}

impl Axis {
    fn json(&self) -> serde_json::Value {
        let mut map = json!({ "label": self.label, "scale": if self.log { "log" } else { "linear" }, "reversed": self.reversed, "min": self.min, "max": self.max });
        if !self.names.is_empty() {
            map["names"] = json!(self.names);
        }
        map
    }
}

impl BoxedSample {
    fn json(&self) -> serde_json::Value {
        let mut map = json!({ "n": self.n });
        match &self.quartiles {
            Some(Quartiles { lower, median, upper, whiskers: (lo, hi), outliers }) => {
                map["quartiles"] = numbers(&[*lower, *median, *upper]);
                map["whiskers"] = numbers(&[*lo, *hi]);
                map["outliers"] = numbers(outliers);
            }
            None => map["points"] = numbers(&self.points),
        }
        map
    }
}

impl Layer {
    /// The series whose intervals are drawn so, if it is one.
    pub(super) fn spread(&self, spread: Spread) -> Option<&Series> {
        match self {
            Self::Series(series) if series.spread == spread && series.interval.is_some() => Some(series),
            _ => None,
        }
    }

    /// Its label and look, if it has a colour of its own.
    pub(super) fn labelled_look(&mut self) -> Option<(&str, &mut SeriesLook)> {
        match self {
            Self::Series(series) => Some((&series.label, &mut series.look)),
            Self::Bars(bars) => Some((&bars.label, &mut bars.look)),
            Self::Columns(columns) => Some((&columns.label, &mut columns.look)),
            _ => None,
        }
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Self::Series(s) => {
                let mut map = json!({
                    "kind": if s.line { "line" } else { "scatter" },
                    "label": s.label, "x": numbers(&s.x), "y": numbers(&s.y),
                });
                if let Some((lo, hi)) = &s.interval {
                    map["lo"] = numbers(lo);
                    map["hi"] = numbers(hi);
                    map["spread"] = json!(if s.spread == Spread::Band { "band" } else { "bars" });
                }
                if let Some(Doubtful { from, why }) = &s.doubtful {
                    map["doubtful"] = json!({ "from": from, "why": why });
                }
                map
            }
            Self::Bars(b) => {
                json!({ "kind": "histogram", "label": b.label, "edges": numbers(&b.edges), "heights": numbers(&b.heights) })
            }
            Self::Columns(c) => {
                let mut map = json!({ "kind": "bars", "label": c.label, "heights": numbers(&c.heights) });
                if let Some((lo, hi)) = &c.interval {
                    map["lo"] = numbers(lo);
                    map["hi"] = numbers(hi);
                }
                map
            }
            Self::Boxes(b) => {
                let samples: Vec<_> = b.samples.iter().map(BoxedSample::json).collect();
                json!({ "kind": "boxes", "samples": samples })
            }
            Self::Rule(r) => {
                json!({ "kind": "rule", "label": r.label, "axis": if r.horizontal { "y" } else { "x" }, "at": r.at })
            }
            Self::Shade(s) => {
                let rows: Vec<_> = s.holds.chunks(s.y.len().max(1)).map(|row| json!(row)).collect();
                json!({ "kind": "shade", "label": s.label, "x": numbers(&s.x), "y": numbers(&s.y), "holds": rows })
            }
            Self::HeatMap(h) => {
                let rows = |values: &[f64]| values.chunks(h.columns.max(1)).map(numbers).collect::<Vec<_>>();
                let mut map = json!({
                    "kind": "heatmap", "label": h.label, "values": rows(&h.values), "rows": h.row_names, "columns": h.column_names,
                });
                if let Some((lo, hi)) = &h.interval {
                    map["lo"] = rows(lo).into();
                    map["hi"] = rows(hi).into();
                }
                map
            }
            Self::Tiles(t) => {
                let images: Vec<_> = t
                    .images
                    .iter()
                    .map(|i| json!({ "width": i.width, "height": i.height, "sha256": Digest::of(&i.rgb).hex() }))
                    .collect();
                json!({ "kind": "images", "columns": t.columns, "captions": t.captions, "images": images })
            }
        }
    }

    fn details(&self) -> String {
        let range = |values: &[f64]| {
            let finite = || values.iter().copied().filter(|v| v.is_finite());
            let (lo, hi) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
            if lo > hi { "no finite value".into() } else { format!("{} to {}", number(lo), number(hi)) }
        };
        let named = |kind: &str, label: &str| {
            if label.is_empty() { kind.to_string() } else { format!("{kind} {:?}", label::plain(label)) }
        };
        match self {
            Self::Series(s) => {
                let kind = if s.line { "line" } else { "scatter" };
                let doubtful = match &s.doubtful {
                    Some(Doubtful { from, why }) => format!("; doubtful from point {from} on: {why}"),
                    None => String::new(),
                };
                let points = named(kind, &s.label);
                format!("{points}: {} points, x {}, y {}{doubtful}", s.x.len(), range(&s.x), range(&s.y))
            }
            Self::Bars(b) => {
                format!("{}: {} bins, {}", named("histogram", &b.label), b.heights.len(), range(&b.edges))
            }
            Self::Columns(c) => {
                format!("{}: {} bars, {}", named("bar chart", &c.label), c.heights.len(), range(&c.heights))
            }
            Self::Boxes(b) => {
                let values: Vec<f64> = b.samples.iter().flat_map(BoxedSample::shown).collect();
                let many =
                    if b.samples.len() == 1 { "1 sample".into() } else { format!("{} samples", b.samples.len()) };
                format!("box plot: {many}, {}", range(&values))
            }
            Self::Rule(r) => {
                format!("{}: {} = {}", named("rule", &r.label), if r.horizontal { "y" } else { "x" }, number(r.at))
            }
            Self::Shade(s) => {
                let cells = s.holds.iter().filter(|holds| **holds).count();
                format!("{}: {cells} of {} cells", named("shade", &s.label), s.holds.len())
            }
            Self::HeatMap(h) => {
                format!("{}: {} x {}, {}", named("heat map", &h.label), h.rows, h.columns, range(&h.values))
            }
            Self::Tiles(t) => format!("image sheet: {} images, {} in a row", t.images.len(), t.columns),
        }
    }
}

impl Object for Figure {
    fn kind(&self) -> &'static str {
        "Figure"
    }

    fn summary(&self) -> String {
        let title = Some(&self.title).filter(|t| !t.is_empty()).or(self.panels.first().map(|panel| &panel.title));
        let title = title.filter(|t| !t.is_empty()).map_or(String::new(), |title| format!(" {title:?}"));
        let parts: Vec<String> = self
            .kinds()
            .into_iter()
            .map(|(kind, n)| if n == 1 { format!("1 {kind}") } else { format!("{n} {kind}s") })
            .collect();
        let panels = if self.panels.len() > 1 { format!("{} panels, ", self.panels.len()) } else { String::new() };
        format!("figure{title}: {panels}{}{}", parts.join(", "), self.all_cautions().ending())
    }

    fn details(&self, _width: usize) -> String {
        let mut lines = vec![self.summary()];
        lines.extend(self.all_cautions().lines());
        for panel in &self.panels {
            let axis = |axis: &Axis, name: &str| {
                let label = if axis.label.is_empty() { name.into() } else { label::plain(&axis.label) };
                if axis.log { format!("{label} (log)") } else { label }
            };
            if !matches!(panel.layers.first(), Some(Layer::Tiles(_))) {
                lines.push(format!("  {} against {}", axis(&panel.y, "y"), axis(&panel.x, "x")));
            }
            lines.extend(panel.layers.iter().map(|layer| format!("  {}", layer.details())));
        }
        lines.join("\n")
    }

    fn fields(&self) -> &'static [&'static str] {
        &["title", "width", "height", "panels", "cautions"]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let (width, height) = self.dimensions();
        Ok(Some(match name {
            "title" => Value::Str(self.title.clone()),
            "width" => Value::Int(i64::from(width)),
            "height" => Value::Int(i64::from(height)),
            "panels" => Value::Int(self.panels.len() as i64),
            "cautions" => self.all_cautions().value(),
            _ => return Ok(None),
        }))
    }

    fn json(&self) -> serde_json::Value {
        let (width, height) = self.dimensions();
        let panels: Vec<_> = self
            .panels
            .iter()
            .map(|panel| {
                let layers: Vec<_> = panel.layers.iter().map(Layer::json).collect();
                json!({ "title": panel.title, "x": panel.x.json(), "y": panel.y.json(), "layers": layers })
            })
            .collect();
        let mut map = json!({
            "title": self.title, "width": width, "height": height, "columns": self.columns, "panels": panels,
        });
        let cautions = self.all_cautions();
        if !cautions.is_empty() {
            map["cautions"] = cautions.json();
        }
        map
    }

    fn digest(&self) -> crate::core::Digest {
        crate::core::Digest::of(self.json().to_string().as_bytes())
    }

    fn formats(&self) -> &'static [&'static str] {
        &["svg", "png", "pdf"]
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["svg", "png"]
    }

    fn write(&self, _cx: &Cx, path: &Path, ending: &str) -> Result<()> {
        let bytes = match ending {
            "svg" => self.svg()?.into_bytes(),
            "pdf" => self.pdf()?,
            _ => self.png()?,
        };
        std::fs::write(path, bytes).map_err(|e| Error::file(path, e))
    }
}
