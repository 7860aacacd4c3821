//! The canvas over plotters' SVG: the one form in which figures are drawn. Pixels and pages are made of it (`rendering.rs`).
//!
//! plotters draws at whole coordinates, which are tenths of a pixel here.

use std::fmt::Write;

use base64::{Engine, prelude::BASE64_STANDARD};
use plotters::coord::Shift;
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text};
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBAColor, RGBColor, ShapeStyle, TextStyle,
};

use super::Picture;
use super::canvas::{Anchor, Canvas, CanvasPoint, Face, Pen, Rect};
use super::label;
use super::palette::Rgb;
use crate::core::{Error, Result};

/// The embedded font first, then fonts of nearly its width, since the layout was measured with it.
const FAMILY: &str = "DejaVu Sans, Bitstream Vera Sans, Verdana, Geneva, sans-serif";
/// Units of an SVG per pixel.
const TENTHS: u32 = 10;

/// A drawing of this width and height in pixels as an SVG file. Text stays text, so that it can be searched and edited.
pub fn svg(
    (width, height): (f64, f64),
    unit: Unit,
    pictures: Pictures,
    draw: impl FnOnce(&mut dyn Canvas),
) -> Result<String> {
    let [w, h] = [width, height].map(|side| (side * f64::from(TENTHS)).round() as u32);
    let mut drawn = String::new();
    let area = SVGBackend::with_string(&mut drawn, (w, h)).into_drawing_area();
    let mut surface = SvgSurface { area, pictures, images: String::new(), outcome: Ok(()) };
    draw(&mut surface);
    let images = surface.finish()?;
    let mut lines = drawn.lines();
    let size = format!("width=\"{w}\" height=\"{h}\"");
    let [width, height] = [width, height].map(|side| unit.length(side));
    let real = format!("width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\"");
    let head = lines.next().unwrap_or_default().replacen(&size, &real, 1);
    let linked = head.replacen("xmlns=", "xmlns:xlink=\"http://www.w3.org/1999/xlink\" xmlns=", 1);
    let mut file = format!("{linked}\n<rect width=\"{w}\" height=\"{h}\" fill=\"#FFFFFF\"/>\n{images}");
    // plotters puts text on a line of its own, which some readers show as spaces around it.
    let mut text = false;
    for line in lines {
        file += &match line.starts_with("<text") {
            true => on_its_baseline(line).unwrap_or_else(|| line.into()),
            false => line.into(),
        };
        text = line.starts_with("<text") || (text && line != "</text>");
        if !text {
            file.push('\n');
        }
    }
    Ok(file)
}

/// An element of text without `dy`, which readers give to the first letter alone: the last one that is seen of a text from right to left.
fn on_its_baseline(line: &str) -> Option<String> {
    let value = |name: &str| {
        let from = line.find(&format!(" {name}=\""))? + name.len() + 3;
        Some((from, from + line[from..].find('"')?))
    };
    let ((y, y_end), (dy, dy_end), (size, size_end)) = (value("y")?, value("dy")?, value("font-size")?);
    let down: f64 = line[dy..dy_end].strip_suffix("em")?.parse().ok()?;
    let (top, size): (f64, f64) = (line[y..y_end].parse().ok()?, line[size..size_end].parse().ok()?);
    let without = line[y_end + 1..].replacen(&format!(" dy=\"{}\"", &line[dy..dy_end]), "", 1);
    Some(format!("{}{}\"{without}", &line[..y], (top + down * size).round()))
}

/// What an SVG's size is given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Pixels,
    Millimetres,
}

/// Pixels of an SVG in a millimetre: 96 in an inch.
pub const MILLIMETRE: f64 = 96.0 / 25.4;

impl Unit {
    fn length(self, pixels: f64) -> String {
        match self {
            Self::Pixels => pixels.to_string(),
            Self::Millimetres => format!("{}mm", (pixels / MILLIMETRE * 100.0).round() / 100.0),
        }
    }
}

/// How pictures are kept in an SVG.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pictures {
    Whole,
    /// With no more pixels than their places, by means: of larger ones pixels that are made of the SVG would show some and leave out others.
    /// How many of the pixels that are made there are to one of the SVG's.
    Fitting(f64),
}

/// Drawn on in pixels of the figure.
struct SvgSurface<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    pictures: Pictures,
    /// SVG elements; they lie under everything else, as in all figures that have images.
    images: String,
    outcome: Result<()>,
}

impl<'a> SvgSurface<'a> {
    /// The images of an SVG, or the first thing that went wrong.
    fn finish(self) -> Result<String> {
        self.outcome?;
        self.area.present().map_err(|e| Error::internal(format!("drawing: {e}")))?;
        Ok(self.images)
    }

    fn letters(&mut self, text: String, (x, y): CanvasPoint, face: Face) {
        // plotters writes 1 / 1.24 of the size, and has the baseline 0.76 em below the top.
        let top = if face.upwards { (x - 0.76 * face.size, y) } else { (x, y - 0.76 * face.size) };
        let side = match face.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = font(face, face.size * f64::from(TENTHS) * 1.24).pos(Pos::new(side, VPos::Top));
        self.put(&Text::new(text, at(top), style));
    }

    fn put<E>(&mut self, element: &E)
    where
        for<'e> &'e E: PointCollection<'e, (i32, i32)>,
        E: Drawable<SVGBackend<'a>>,
    {
        if let Err(e) = self.area.draw(element)
            && self.outcome.is_ok()
        {
            self.outcome = Err(Error::internal(format!("drawing: {e}")));
        }
    }
}

/// A length in units of an SVG, within what plotters' arithmetic bears.
fn units(length: f64) -> i32 {
    (length * f64::from(TENTHS)).round().clamp(-1e6, 1e6) as i32
}

fn at((x, y): CanvasPoint) -> (i32, i32) {
    (units(x), units(y))
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

/// A stroke of more points is drawn in pieces, of so many points.
const LONGEST_STROKE: usize = 4000;
const PIECE: usize = 500;

impl Canvas for SvgSurface<'_> {
    fn line(&mut self, points: &[CanvasPoint], pen: Pen) {
        let style = ShapeStyle { color: ink(pen.colour), filled: false, stroke_width: units(pen.width).max(1) as u32 };
        let pattern: Vec<f64> = pen.dash.iter().map(|length| (length * pen.width).max(0.5)).collect();
        for part in dashes(points, &pattern) {
            let path: Vec<(i32, i32)> = part.iter().map(|&p| at(p)).collect();
            let mut rest = &path[..];
            // What fills a stroke that crosses itself takes longer with the square of its length.
            while rest.len() > LONGEST_STROKE {
                self.put(&PathElement::new(rest[..PIECE].to_vec(), style));
                rest = &rest[PIECE - 1..];
            }
            self.put(&PathElement::new(rest.to_vec(), style));
        }
    }

    fn fill(&mut self, shape: &[CanvasPoint], colour: Rgb, alpha: f64) {
        let style = ink(colour).mix(alpha).filled();
        let corners: Vec<(i32, i32)> = shape.iter().map(|&p| at(p)).collect();
        match corners[..] {
            [a, b, c, d] if a.1 == b.1 && b.0 == c.0 && c.1 == d.1 && d.0 == a.0 => {
                self.put(&Rectangle::new([a, c], style));
            }
            _ => self.put(&Polygon::new(corners, style)),
        }
    }

    fn disc(&mut self, centre: CanvasPoint, radius: f64, colour: Rgb) {
        self.put(&Circle::new(at(centre), units(radius).max(1), ink(colour).filled()));
    }

    fn text(&mut self, text: &str, place: CanvasPoint, face: Face) {
        // XML holds neither control characters nor these two.
        let text: String = text
            .chars()
            .map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c })
            .collect();
        let (pieces, width) = label::laid_out(&text, face.bold);
        let [piece] = &pieces[..] else {
            let start = match face.anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => -width / 2.0,
                Anchor::End => -width,
            };
            for piece in pieces {
                let (along, across) = ((start + piece.x) * face.size, piece.rise * face.size);
                let (x, y) = place;
                let place = if face.upwards { (x - across, y - along) } else { (x + along, y - across) };
                self.letters(piece.text, place, Face { size: face.size * piece.scale, anchor: Anchor::Start, ..face });
            }
            return;
        };
        self.letters(piece.text.clone(), place, face);
    }

    fn pixels(&self, place: Rect) -> Option<[usize; 2]> {
        let ((x, y), (right, bottom)) = (at((place.x0, place.y0)), at((place.x1, place.y1)));
        match self.pictures {
            Pictures::Whole => None,
            Pictures::Fitting(pixels) => Some(
                [right - x, bottom - y]
                    .map(|side| (f64::from(side.max(1)) * pixels / f64::from(TENTHS)).ceil() as usize),
            ),
        }
    }

    fn image(&mut self, picture: &Picture, place: Rect) {
        let ((x, y), (right, bottom)) = (at((place.x0, place.y0)), at((place.x1, place.y1)));
        let (w, h) = ((right - x).max(1), (bottom - y).max(1));
        let fitting = self.pixels(place).and_then(|[across, down]| {
            let fits = picture.width <= across && picture.height <= down;
            (!fits).then(|| picture.resized(picture.width.min(across), picture.height.min(down)))
        });
        // A picture that can't be encoded has no pixels to show.
        let Ok(png) = fitting.as_ref().unwrap_or(picture).png() else { return };
        // Writing to a String can't fail.
        let _ = writeln!(
            self.images,
            "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,{}\"/>",
            BASE64_STANDARD.encode(png)
        );
    }
}
