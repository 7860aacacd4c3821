//! The canvas over plotters, for pixels and for SVG.
//!
//! plotters draws at whole coordinates. Pixels are therefore drawn several times larger and averaged, and SVG has
//! coordinates in tenths of a pixel.

use std::fmt::Write;
use std::sync::OnceLock;

use base64::{Engine, prelude::BASE64_STANDARD};
use plotters::coord::Shift;
use plotters::element::{BitMapElement, Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text};
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBAColor, RGBColor, ShapeStyle, TextStyle, register_font,
};

use super::Picture;
use super::canvas::{Anchor, Canvas, CanvasPoint, Face, Pen, Rect, height_of_em, letters};
use super::palette::Rgb;
use crate::core::{Error, Result};

/// The embedded font first, then fonts of nearly its width, since the layout was measured with it.
const FAMILY: &str = "DejaVu Sans, Bitstream Vera Sans, Verdana, Geneva, sans-serif";
/// Units of an SVG per pixel.
const TENTHS: u32 = 10;
/// How many times larger pixels are drawn, if that many fit in `MOST_PIXELS`.
const ENLARGED: u32 = 4;
const MOST_PIXELS: u64 = 1 << 26;

/// A drawing of this width and height in pixels.
pub fn raster(width: u32, height: u32, draw: impl FnOnce(&mut dyn Canvas)) -> Result<Picture> {
    let room = |factor: &u32| u64::from(width) * u64::from(height) * u64::from(factor * factor) <= MOST_PIXELS;
    let factor = (2..=ENLARGED).rev().find(room).unwrap_or(1);
    let (w, h) = ((width * factor) as usize, (height * factor) as usize);
    let mut large = Picture { width: w, height: h, rgb: vec![255; 3 * w * h] };
    let backend = BitMapBackend::with_buffer(&mut large.rgb, (width * factor, height * factor));
    let mut surface = PlotSurface::new(backend, factor, Medium::Pixels)?;
    draw(&mut surface);
    surface.finish()?;
    Ok(large.resized(width as usize, height as usize))
}

/// A drawing of this width and height in pixels as an SVG file. Text stays text, so that it can be searched and edited.
pub fn svg(width: u32, height: u32, draw: impl FnOnce(&mut dyn Canvas)) -> Result<String> {
    let (w, h) = (width * TENTHS, height * TENTHS);
    let mut drawn = String::new();
    let mut surface = PlotSurface::new(SVGBackend::with_string(&mut drawn, (w, h)), TENTHS, Medium::Vectors)?;
    draw(&mut surface);
    let images = surface.finish()?;
    let mut lines = drawn.lines();
    let size = format!("width=\"{w}\" height=\"{h}\"");
    let real = format!("width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\"");
    let head = lines.next().unwrap_or_default().replacen(&size, &real, 1);
    let linked = head.replacen("xmlns=", "xmlns:xlink=\"http://www.w3.org/1999/xlink\" xmlns=", 1);
    let mut file = format!("{linked}\n<rect width=\"{w}\" height=\"{h}\" fill=\"#FFFFFF\"/>\n{images}");
    // plotters puts text on a line of its own, which some readers show as spaces around it.
    let mut text = false;
    for line in lines {
        file += line;
        text = line.starts_with("<text") || (text && line != "</text>");
        if !text {
            file.push('\n');
        }
    }
    Ok(file)
}

#[derive(PartialEq)]
enum Medium {
    Pixels,
    Vectors,
}

/// A backend of plotters, drawn on in pixels of the figure.
struct PlotSurface<DB: DrawingBackend> {
    area: DrawingArea<DB, Shift>,
    factor: f64,
    medium: Medium,
    /// SVG elements; they lie under everything else, as in all figures that have images.
    images: String,
    outcome: Result<()>,
}

impl<DB: DrawingBackend> PlotSurface<DB> {
    fn new(backend: DB, factor: u32, medium: Medium) -> Result<Self> {
        static FONTS: OnceLock<bool> = OnceLock::new();
        let registered = FONTS.get_or_init(|| {
            register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular()).is_ok()
                && register_font(FAMILY, FontStyle::Bold, dejavu::sans::bold()).is_ok()
        });
        if !registered {
            return Err(Error::internal("the embedded font can't be read"));
        }
        let area = backend.into_drawing_area();
        Ok(Self { area, factor: f64::from(factor), medium, images: String::new(), outcome: Ok(()) })
    }

    /// The images of an SVG, or the first thing that went wrong.
    fn finish(self) -> Result<String> {
        self.outcome?;
        self.area.present().map_err(|e| Error::internal(format!("drawing: {e}")))?;
        Ok(self.images)
    }

    fn put<E>(&mut self, element: &E)
    where
        for<'e> &'e E: PointCollection<'e, (i32, i32)>,
        E: Drawable<DB>,
    {
        if let Err(e) = self.area.draw(element)
            && self.outcome.is_ok()
        {
            self.outcome = Err(Error::internal(format!("drawing: {e}")));
        }
    }

    /// A length in units of the backend, within what its arithmetic bears.
    fn units(&self, length: f64) -> i32 {
        (length * self.factor).round().clamp(-1e6, 1e6) as i32
    }

    fn at(&self, (x, y): CanvasPoint) -> (i32, i32) {
        (self.units(x), self.units(y))
    }
}

fn ink(colour: Rgb) -> RGBAColor {
    RGBColor(colour.0, colour.1, colour.2).to_rgba()
}

fn font(face: Face, size: f64) -> TextStyle<'static> {
    let style = if face.bold { FontStyle::Bold } else { FontStyle::Normal };
    let turn = if face.upwards { FontTransform::Rotate270 } else { FontTransform::None };
    let font = FontDesc::new(FontFamily::Name(FAMILY), size, style).transform(turn);
    TextStyle { font, color: ink(face.colour).to_backend_color(), pos: Pos::default() }
}

/// Cuts a line into strokes and gaps of these lengths; plotters has no pattern of more than one stroke.
fn dashes(points: &[CanvasPoint], pattern: &[f64]) -> Vec<Vec<CanvasPoint>> {
    let (Some(&first), Some(&start)) = (pattern.first(), points.first()) else { return vec![points.to_vec()] };
    let mut parts = vec![vec![start]];
    let (mut part, mut left, mut drawing) = (0, first, true);
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

impl<DB: DrawingBackend> Canvas for PlotSurface<DB> {
    fn line(&mut self, points: &[CanvasPoint], pen: Pen) {
        let width = self.units(pen.width).max(1) as u32;
        let style = ShapeStyle { color: ink(pen.colour), filled: false, stroke_width: width };
        let pattern: Vec<f64> = pen.dash.iter().map(|length| (length * pen.width).max(0.5)).collect();
        for part in dashes(points, &pattern) {
            let path: Vec<(i32, i32)> = part.iter().map(|&p| self.at(p)).collect();
            if self.medium == Medium::Vectors {
                self.put(&PathElement::new(path, style));
                continue;
            }
            // The outline that plotters makes of a whole path has spikes and holes where the path turns within its width.
            for pair in path.windows(2) {
                self.put(&PathElement::new(pair, style));
            }
            for &joint in path.iter().skip(1).rev().skip(1) {
                self.put(&Circle::new(joint, width / 2, style.filled()));
            }
        }
    }

    fn fill(&mut self, shape: &[CanvasPoint], colour: Rgb, alpha: f64) {
        let style = ink(colour).mix(alpha).filled();
        let corners: Vec<(i32, i32)> = shape.iter().map(|&p| self.at(p)).collect();
        match corners[..] {
            [a, b, c, d] if a.1 == b.1 && b.0 == c.0 && c.1 == d.1 && d.0 == a.0 => {
                self.put(&Rectangle::new([a, c], style));
            }
            _ => self.put(&Polygon::new(corners, style)),
        }
    }

    fn text(&mut self, text: &str, at: CanvasPoint, face: Face) {
        // XML holds neither control characters nor these two.
        let text: String = text
            .chars()
            .map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c })
            .collect();
        let em = face.size * self.factor;
        if self.medium == Medium::Vectors {
            // plotters writes 1 / 1.24 of the size, and puts the baseline 0.76 em below the top.
            let top = if face.upwards { (at.0 - 0.76 * face.size, at.1) } else { (at.0, at.1 - 0.76 * face.size) };
            let side = match face.anchor {
                Anchor::Start => HPos::Left,
                Anchor::Middle => HPos::Center,
                Anchor::End => HPos::Right,
            };
            let style = font(face, em * 1.24).pos(Pos::new(side, VPos::Top));
            self.put(&Text::new(text, self.at(top), style));
            return;
        }
        // plotters leaves out the space before each letter, so that letters are placed one by one. The size is even since
        // the baseline lies half of it, cut to a whole pixel, below the top.
        let size = (em * height_of_em(face.bold) / 2.0).round().max(1.0) * 2.0;
        let style = font(face, size);
        let (letters, width) = letters(&text, face.bold);
        let start = match face.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let base = (at.0 * self.factor, at.1 * self.factor);
        for letter in letters {
            let along = (start + letter.place) * em + (letter.bearing * em).floor();
            let (x, y) = if face.upwards {
                (base.0 - size / 2.0, base.1 - along)
            } else {
                (base.0 + along, base.1 - size / 2.0)
            };
            self.put(&Text::new(letter.sign.to_string(), (x.round() as i32, y.round() as i32), style.clone()));
        }
    }

    fn image(&mut self, picture: &Picture, place: Rect) {
        let ((x, y), (right, bottom)) = (self.at((place.x0, place.y0)), self.at((place.x1, place.y1)));
        let (w, h) = ((right - x).max(1) as u32, (bottom - y).max(1) as u32);
        if self.medium == Medium::Vectors {
            // A picture that can't be encoded has no pixels to show.
            let Ok(png) = picture.png() else { return };
            // Writing to a String can't fail.
            let _ = writeln!(
                self.images,
                "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" preserveAspectRatio=\"none\" \
                 style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,{}\"/>",
                BASE64_STANDARD.encode(png)
            );
            return;
        }
        // plotters takes no picture that reaches over the edge.
        let (width, height) = self.area.dim_in_pixel();
        if x < 0 || y < 0 || x as u32 + w > width || y as u32 + h > height {
            return;
        }
        let scaled = picture.resized(w as usize, h as usize);
        if let Some(element) = BitMapElement::with_ref((x, y), (w, h), &scaled.rgb) {
            self.put(&element);
        }
    }
}
