//! The canvas of pixels: exact area coverage, so that edges are smooth without drawing larger than needed.

use ab_glyph::{Font, PxScale, point};
use ab_glyph_rasterizer::{Rasterizer, point as corner};

use super::Picture;
use super::canvas::{Anchor, Canvas, Face, Pen, Point, Rect, font, glyphs};
use super::palette::Rgb;

pub struct Raster {
    pub picture: Picture,
}

impl Raster {
    /// A white canvas.
    pub fn new(width: usize, height: usize) -> Self {
        Self { picture: Picture { width, height, rgb: vec![255; 3 * width * height] } }
    }

    fn blend(&mut self, x: i64, y: i64, colour: Rgb, alpha: f64) {
        let (w, h) = (self.picture.width as i64, self.picture.height as i64);
        if x < 0 || y < 0 || x >= w || y >= h || alpha < 1.0 / 512.0 {
            return;
        }
        let at = 3 * (y * w + x) as usize;
        for (old, new) in self.picture.rgb[at..at + 3].iter_mut().zip([colour.0, colour.1, colour.2]) {
            *old = (f64::from(*old) + (f64::from(new) - f64::from(*old)) * alpha.min(1.0)).round() as u8;
        }
    }

    /// Fills the union of shapes that all turn the same way.
    fn cover(&mut self, shapes: &[Vec<Point>], colour: Rgb, alpha: f64) {
        let (w, h) = (self.picture.width as f64, self.picture.height as f64);
        let all = || shapes.iter().flatten();
        let bound = |value: fn(&Point) -> f64, limit: f64| {
            let lo = all().map(value).fold(f64::INFINITY, f64::min).floor().clamp(-2.0, limit);
            let hi = all().map(value).fold(f64::NEG_INFINITY, f64::max).ceil().clamp(-2.0, limit + 2.0);
            (lo, hi)
        };
        let ((x0, x1), (y0, y1)) = (bound(|p| p.0, w), bound(|p| p.1, h));
        if !(x1 > x0 && y1 > y0) {
            return;
        }
        let area = Rect::new(x0, y0, x1, y1);
        // A column to spare, since coverage spills into the next pixel.
        let mut raster = Rasterizer::new((x1 - x0) as usize + 2, (y1 - y0) as usize + 1);
        for shape in shapes {
            let shape = super::canvas::clip_polygon(shape, area);
            for (i, a) in shape.iter().enumerate() {
                let b = shape[(i + 1) % shape.len()];
                raster.draw_line(
                    corner((a.0 - x0) as f32, (a.1 - y0) as f32),
                    corner((b.0 - x0) as f32, (b.1 - y0) as f32),
                );
            }
        }
        raster.for_each_pixel_2d(|x, y, covered| {
            self.blend(x0 as i64 + i64::from(x), y0 as i64 + i64::from(y), colour, f64::from(covered.min(1.0)) * alpha);
        });
    }
}

/// A segment as a rectangle of the pen's width; turned as `disc` is.
fn stroke(a: Point, b: Point, width: f64) -> Option<Vec<Point>> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy);
    if !(length > 1e-9) {
        return None;
    }
    let (nx, ny) = (-dy / length * width / 2.0, dx / length * width / 2.0);
    Some(vec![(a.0 - nx, a.1 - ny), (b.0 - nx, b.1 - ny), (b.0 + nx, b.1 + ny), (a.0 + nx, a.1 + ny)])
}

pub fn disc(centre: Point, radius: f64) -> Vec<Point> {
    let sides = ((radius * 6.0) as usize).clamp(8, 64);
    (0..sides)
        .map(|i| {
            let angle = std::f64::consts::TAU * i as f64 / sides as f64;
            (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
        })
        .collect()
}

/// Cuts a line into its dashes; lengths in pixels.
fn dashes(points: &[Point], pattern: &[f64]) -> Vec<Vec<Point>> {
    let mut parts = vec![vec![points[0]]];
    let (mut part, mut left, mut drawing) = (0, pattern[0], true);
    for pair in points.windows(2) {
        let (mut a, b) = (pair[0], pair[1]);
        let mut length = (b.0 - a.0).hypot(b.1 - a.1);
        while length > left {
            let t = left / length;
            a = (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1));
            length -= left;
            if drawing && let Some(last) = parts.last_mut() {
                last.push(a);
            }
            drawing = !drawing;
            if drawing {
                parts.push(vec![a]);
            }
            part = (part + 1) % pattern.len();
            left = pattern[part];
        }
        left -= length;
        if drawing && let Some(last) = parts.last_mut() {
            last.push(b);
        }
    }
    parts
}

impl Canvas for Raster {
    fn line(&mut self, points: &[Point], pen: Pen) {
        if points.is_empty() {
            return;
        }
        let pattern: Vec<f64> = pen.dash.iter().map(|d| (d * pen.width).max(0.5)).collect();
        let parts = if pattern.is_empty() { vec![points.to_vec()] } else { dashes(points, &pattern) };
        for part in parts {
            let mut shapes: Vec<Vec<Point>> =
                part.windows(2).filter_map(|pair| stroke(pair[0], pair[1], pen.width)).collect();
            // Round joins; ends stay square.
            if part.len() > 2 {
                shapes.extend(part[1..part.len() - 1].iter().map(|&joint| disc(joint, pen.width / 2.0)));
            }
            self.cover(&shapes, pen.colour, 1.0);
        }
    }

    fn fill(&mut self, shape: &[Point], colour: Rgb, alpha: f64) {
        if shape.len() > 2 {
            self.cover(&[shape.to_vec()], colour, alpha);
        }
    }

    fn text(&mut self, text: &str, at: Point, face: Face) {
        let (all, width) = glyphs(text, face.bold);
        let font = font(face.bold);
        let scale = face.size * f64::from(font.height_unscaled() / font.units_per_em().unwrap_or(2048.0));
        let shift = match face.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width * face.size / 2.0,
            Anchor::End => -width * face.size,
        };
        // Upright text is placed to a fraction of a pixel; turned text is drawn lying and turned pixel by pixel.
        let (origin, base) = if face.upwards {
            ((shift, 0.0), (at.0.round() as i64, at.1.round() as i64))
        } else {
            ((at.0 + shift, at.1), (0, 0))
        };
        for (glyph, place) in all {
            let x = origin.0 + place * face.size;
            let glyph = glyph.with_scale_and_position(PxScale::from(scale as f32), point(x as f32, origin.1 as f32));
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            outline.draw(|dx, dy, covered| {
                let (px, py) = (corner.x as i64 + i64::from(dx), corner.y as i64 + i64::from(dy));
                let (px, py) = if face.upwards { (base.0 + py, base.1 - px - 1) } else { (px, py) };
                self.blend(px, py, face.colour, f64::from(covered));
            });
        }
    }

    fn image(&mut self, picture: &Picture, place: Rect) {
        let (x0, y0, x1, y1) = (place.x0.round(), place.y0.round(), place.x1.round(), place.y1.round());
        let scaled = picture.resized((x1 - x0).max(1.0) as usize, (y1 - y0).max(1.0) as usize);
        for (i, pixel) in scaled.rgb.chunks_exact(3).enumerate() {
            let (x, y) = (i % scaled.width, i / scaled.width);
            self.blend(x0 as i64 + x as i64, y0 as i64 + y as i64, Rgb(pixel[0], pixel[1], pixel[2]), 1.0);
        }
    }
}
