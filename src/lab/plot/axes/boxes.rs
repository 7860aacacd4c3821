//! Boxes with whiskers and points at the names of the x axis.

use std::collections::HashSet;

use super::Plot;
use crate::plot::canvas::{Canvas, CanvasPoint, Pen, Rect, clip_segment, disc};
use crate::plot::figure::{BoxedSample, Boxes, Layer, Panel};
use crate::plot::marker::{marker, series_width};
use crate::plot::palette::{INK, Marker, SERIES};

/// What stands below the names: how many values each sample has.
pub fn sizes(panel: &Panel) -> Vec<String> {
    let boxes = panel.layers.iter().find_map(|layer| if let Layer::Boxes(boxes) = layer { Some(boxes) } else { None });
    boxes.map_or(vec![], |boxes| boxes.samples.iter().map(|sample| format!("n = {}", sample.n)).collect())
}

/// The same behind a name.
pub fn beside(size: &str) -> String {
    format!(", {size}")
}

/// A sample laid out.
pub struct Boxed {
    middle: f64,
    half: f64,
    /// Places of the quartiles and of the ends of the whiskers, from below.
    ends: Option<[f64; 5]>,
    points: Vec<f64>,
}

impl Boxed {
    /// Lines so close together that what lies between them is covered.
    pub fn posts(&self) -> Vec<(CanvasPoint, CanvasPoint)> {
        let mut posts: Vec<_> = self.points.iter().map(|&y| ((self.middle, y), (self.middle, y))).collect();
        let Some([lo, lower, _, upper, hi]) = self.ends else { return posts };
        posts.push(((self.middle, lo), (self.middle, hi)));
        for i in 0..=8 {
            let x = self.middle + self.half * (f64::from(i) / 4.0 - 1.0);
            posts.push(((x, lower), (x, upper)));
        }
        posts
    }
}

impl Plot<'_> {
    pub(super) fn boxes(&self, boxes: &Boxes) -> Vec<Boxed> {
        let laid_out = |(i, sample): (usize, &BoxedSample)| {
            let (middle, left) = (self.x.at(i as f64)?, self.x.at(i as f64 - 0.3)?);
            let ends = sample.quartiles.as_ref().and_then(|q| {
                let ends = [q.whiskers.0, q.lower, q.median, q.upper, q.whiskers.1].map(|value| self.y.at(value));
                Some([ends[0]?, ends[1]?, ends[2]?, ends[3]?, ends[4]?])
            });
            let points = sample.points.iter().filter_map(|&value| self.y.at(value)).collect();
            Some(Boxed { middle, half: (middle - left).min(self.font * 3.0), ends, points })
        };
        boxes.samples.iter().enumerate().filter_map(laid_out).collect()
    }

    pub(super) fn draw_boxes(&self, canvas: &mut dyn Canvas) {
        for layer in &self.panel.layers {
            let Layer::Boxes(boxes) = layer else { continue };
            self.boxes(boxes).iter().for_each(|boxed| self.draw_boxed(canvas, boxed));
        }
    }

    fn draw_boxed(&self, canvas: &mut dyn Canvas, boxed: &Boxed) {
        let (frame, width, colour) = (self.frame, series_width(self.font), SERIES[0]);
        let (x0, x1) = (boxed.middle - boxed.half, boxed.middle + boxed.half);
        let mut line = |a: CanvasPoint, b: CanvasPoint, pen: Pen| {
            if let Some((a, b)) = clip_segment(a, b, frame) {
                canvas.line(&[a, b], pen);
            }
        };
        if let Some([lo, lower, median, upper, hi]) = boxed.ends {
            let (pen, cap) = (Pen::solid(width * 0.7, colour), boxed.half * 0.5);
            for (end, side) in [(lo, lower), (hi, upper)] {
                line((boxed.middle, side), (boxed.middle, end), pen);
                line((boxed.middle - cap, end), (boxed.middle + cap, end), pen);
            }
            for (a, b) in [((x0, lower), (x1, lower)), ((x0, upper), (x1, upper))] {
                line(a, b, pen);
            }
            for x in [x0, x1] {
                line((x, lower), (x, upper), pen);
            }
            let inside = |y: f64| y.clamp(frame.y0, frame.y1);
            let area = Rect::new(x0.max(frame.x0), inside(upper), x1.min(frame.x1), inside(lower));
            if area.height() > 0.0 {
                canvas.fill(&area.corners(), colour, 0.25);
            }
            if let Some((a, b)) = clip_segment((x0, median), (x1, median), frame) {
                canvas.line(&[a, b], Pen::solid(width * 1.3, INK));
            }
        }
        let mut seen = HashSet::new();
        for &y in boxed.points.iter().filter(|&&y| frame.holds((boxed.middle, y))) {
            // Markers on the same half pixel add bytes and nothing to see.
            if seen.insert((y * 2.0) as i64) {
                match boxed.ends {
                    // Many lie close together beyond a whisker: rings let each be seen.
                    Some(_) => {
                        let mut ring = disc((boxed.middle, y), (self.font * 0.2).min(boxed.half));
                        ring.push(ring[0]);
                        canvas.line(&ring, Pen::solid(width * 0.5, colour));
                    }
                    None => marker(canvas, Marker::Circle, (boxed.middle, y), self.font, colour),
                }
            }
        }
    }
}
