//! What a figure is drawn on: lines, filled shapes, text and images, in pixels from the upper left corner.

use std::collections::{BTreeSet, HashMap};

use super::Picture;
use super::label;
use super::palette::Rgb;

pub type CanvasPoint = (f64, f64);

/// A rectangle: left, top, right, bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    pub x0: f64,
    pub y0: f64,
    pub x1: f64,
    pub y1: f64,
}

impl Rect {
    pub fn new(x0: f64, y0: f64, x1: f64, y1: f64) -> Self {
        Self { x0, y0, x1, y1 }
    }

    pub fn width(&self) -> f64 {
        self.x1 - self.x0
    }

    pub fn height(&self) -> f64 {
        self.y1 - self.y0
    }

    pub fn holds(&self, (x, y): CanvasPoint) -> bool {
        // Half a pixel of grace, so that a point on the frame is inside.
        self.x0 - 0.5 <= x && x <= self.x1 + 0.5 && self.y0 - 0.5 <= y && y <= self.y1 + 0.5
    }

    pub fn corners(&self) -> [CanvasPoint; 4] {
        [(self.x0, self.y0), (self.x1, self.y0), (self.x1, self.y1), (self.x0, self.y1)]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy)]
pub struct Pen<'a> {
    pub width: f64,
    pub colour: Rgb,
    /// Strokes and gaps in line widths; empty for a whole line.
    pub dash: &'a [f64],
}

impl Pen<'_> {
    pub fn solid(width: f64, colour: Rgb) -> Self {
        Self { width, colour, dash: &[] }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Face {
    /// Height of the em square.
    pub size: f64,
    pub bold: bool,
    pub anchor: Anchor,
    /// Reads from bottom to top.
    pub upwards: bool,
    pub colour: Rgb,
}

pub trait Canvas {
    /// A line through the points.
    fn line(&mut self, points: &[CanvasPoint], pen: Pen);
    fn fill(&mut self, shape: &[CanvasPoint], colour: Rgb, alpha: f64);
    /// A filled circle.
    fn disc(&mut self, centre: CanvasPoint, radius: f64, colour: Rgb) {
        self.fill(&disc(centre, radius), colour, 1.0);
    }
    /// Text, which may hold mathematics (`label.rs`), with the anchor of its baseline at `at`.
    fn text(&mut self, text: &str, at: CanvasPoint, face: Face);
    /// A picture stretched over `place`; its pixels stay square-edged.
    fn image(&mut self, picture: &Picture, place: Rect);

    /// Pixels that a place has, across and down, where pixels are made of the drawing.
    fn pixels(&self, place: Rect) -> Option<[usize; 2]>;
}

/// Of a label, which may hold mathematics.
pub fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    label::laid_out(text, bold).1 * size
}

/// The text on as many lines as it needs to stay within `width`; a single long word stays whole.
pub fn wrapped(text: &str, size: f64, bold: bool, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in label::words(text) {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size, bold) <= width => *line += &format!(" {word}"),
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// The text cut to `width`, with an ellipsis where something is missing.
pub fn shortened(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size, false) <= width {
        return text.into();
    }
    let mut kept: Vec<char> = label::plain(text).chars().collect();
    while kept.pop().is_some() {
        let shown = format!("{}…", kept.iter().collect::<String>().trim_end());
        if text_width(&shown, size, false) <= width {
            return shown;
        }
    }
    String::new()
}

/// Names cut to `width`: those that would be the same where their ends are cut keep their ends, and lose what they have in the middle; those that
/// are the same even so have their number in front.
pub fn shortened_apart(names: &[String], size: f64, width: f64) -> Vec<String> {
    let mut cut: Vec<String> = names.iter().map(|name| shortened(name, size, width)).collect();
    let ways: [&dyn Fn(usize) -> String; 2] = [&|i| without_middle(&names[i], size, width), &|i| {
        shortened(&format!("{}: {}", i + 1, label::plain(&names[i])), size, width)
    }];
    for way in ways {
        let mut meant: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        for (shown, name) in cut.iter().zip(names) {
            meant.entry(shown).or_default().insert(name);
        }
        let twins: Vec<usize> = (0..names.len()).filter(|&i| meant[&cut[i][..]].len() > 1).collect();
        twins.into_iter().for_each(|i| cut[i] = way(i));
    }
    cut
}

/// The text cut to `width` where a remark stands at its end, as `name (40 images)` or `name: AUC 0.9 [0.8, 1]`: that is kept. Without one the
/// text as it is.
pub fn shortened_before_remark(text: &str, size: f64, width: f64) -> String {
    let remark = match text.chars().last() {
        Some(')') => text.rfind(" ("),
        Some(']') => text.rfind(": "),
        _ => None,
    };
    let Some(at) = remark.filter(|_| text_width(text, size, false) > width) else { return text.into() };
    let (name, remark) = (label::plain(&text[..at]), label::plain(&text[at..]));
    match shortened(&name, size, width - text_width(&remark, size, false)) {
        // No room for both.
        name if name.is_empty() => text.into(),
        name => name + &remark,
    }
}

/// The text cut to `width`: a third of what is kept is its beginning.
fn without_middle(text: &str, size: f64, width: f64) -> String {
    let all: Vec<char> = label::plain(text).chars().collect();
    for kept in (1..all.len()).rev() {
        let (first, last) = all.split_at(kept / 3);
        let shown: String = first.iter().chain(&['…']).chain(&last[last.len() - (kept - kept / 3)..]).collect();
        if text_width(&shown, size, false) <= width {
            return shown;
        }
    }
    String::new()
}

pub fn disc(centre: CanvasPoint, radius: f64) -> Vec<CanvasPoint> {
    let sides = ((radius * 6.0) as usize).clamp(8, 64);
    (0..sides)
        .map(|i| {
            let angle = std::f64::consts::TAU * i as f64 / sides as f64;
            (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
        })
        .collect()
}

/// The part of a segment inside `area` (Liang and Barsky, 1984).
pub fn clip_segment(a: CanvasPoint, b: CanvasPoint, area: Rect) -> Option<(CanvasPoint, CanvasPoint)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0f64, 1.0f64);
    // Scales round: a line along the frame is inside.
    let grace = 1e-6;
    for (p, q) in [(-dx, a.0 - area.x0), (dx, area.x1 - a.0), (-dy, a.1 - area.y0), (dy, area.y1 - a.1)] {
        let q = q + grace;
        if p == 0.0 {
            if q < 0.0 {
                return None;
            }
        } else if p < 0.0 {
            from = from.max(q / p);
        } else {
            to = to.min(q / p);
        }
    }
    // An end that is inside stays what it is, so that the next segment goes on from it.
    let start = if from > 0.0 { (a.0 + from * dx, a.1 + from * dy) } else { a };
    let end = if to < 1.0 { (a.0 + to * dx, a.1 + to * dy) } else { b };
    (from <= to).then_some((start, end))
}

/// The parts of a line inside `area`.
pub fn clip_line(points: &[CanvasPoint], area: Rect) -> Vec<Vec<CanvasPoint>> {
    let mut parts: Vec<Vec<CanvasPoint>> = Vec::new();
    for pair in points.windows(2) {
        let Some((a, b)) = clip_segment(pair[0], pair[1], area) else { continue };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&a) => part.push(b),
            _ => parts.push(vec![a, b]),
        }
    }
    parts
}

/// The part of a polygon inside `area` (Sutherland and Hodgman, 1974).
pub fn clip_polygon(points: &[CanvasPoint], area: Rect) -> Vec<CanvasPoint> {
    let mut shape = points.to_vec();
    for side in 0..4 {
        let depth = |p: CanvasPoint| match side {
            0 => p.0 - area.x0,
            1 => area.x1 - p.0,
            2 => p.1 - area.y0,
            _ => area.y1 - p.1,
        };
        let mut kept = Vec::with_capacity(shape.len() + 4);
        for (i, &here) in shape.iter().enumerate() {
            let last = shape[(i + shape.len() - 1) % shape.len()];
            let (d0, d1) = (depth(last), depth(here));
            if (d0 < 0.0) != (d1 < 0.0) {
                let t = d0 / (d0 - d1);
                kept.push((last.0 + t * (here.0 - last.0), last.1 + t * (here.1 - last.1)));
            }
            if d1 >= 0.0 {
                kept.push(here);
            }
        }
        shape = kept;
    }
    shape
}
