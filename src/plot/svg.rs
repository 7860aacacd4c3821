//! The canvas that writes SVG 1.1. Text stays text, so that it can be searched and edited.

use std::fmt::Write;

use super::Picture;
use super::canvas::{Anchor, Canvas, Face, Pen, Point, Rect};
use super::palette::Rgb;

/// The embedded font first, then fonts of nearly its width, since the layout was measured with it.
const FAMILY: &str = "'DejaVu Sans', 'Bitstream Vera Sans', Verdana, Geneva, sans-serif";

pub struct Svg {
    body: String,
}

impl Svg {
    pub fn new(width: usize, height: usize) -> Self {
        let body = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILY}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        Self { body }
    }

    pub fn finish(mut self) -> String {
        self.body += "</svg>\n";
        self.body
    }

    // Writing to a String can't fail.
    fn put(&mut self, text: std::fmt::Arguments) {
        let _ = self.body.write_fmt(text);
    }
}

/// Hundredths of a pixel are as fine as an eye or a printer needs.
fn coordinate(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

fn path(points: &[Point]) -> String {
    points.iter().map(|p| format!("{},{}", coordinate(p.0), coordinate(p.1))).collect::<Vec<_>>().join(" ")
}

/// Text as XML holds it; control characters, which it may not hold, become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().enumerate().fold(0u32, |word, (i, b)| word | u32::from(*b) << (16 - 8 * i));
        for digit in 0..4 {
            if digit <= chunk.len() {
                text.push(char::from(DIGITS[(word >> (18 - 6 * digit)) as usize & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

impl Canvas for Svg {
    fn line(&mut self, points: &[Point], pen: Pen) {
        let dash: Vec<String> = pen.dash.iter().map(|d| coordinate(d * pen.width)).collect();
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", dash.join(" ")) };
        self.put(format_args!(
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash} points=\"{}\"/>\n",
            pen.colour.hex(),
            coordinate(pen.width),
            path(points)
        ));
    }

    fn fill(&mut self, shape: &[Point], colour: Rgb, alpha: f64) {
        let opacity = if alpha < 1.0 { format!(" fill-opacity=\"{}\"", coordinate(alpha)) } else { String::new() };
        self.put(format_args!("<polygon fill=\"{}\"{opacity} points=\"{}\"/>\n", colour.hex(), path(shape)));
    }

    fn text(&mut self, text: &str, (x, y): Point, face: Face) {
        let (x, y) = (coordinate(x), coordinate(y));
        let anchor = match face.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let bold = if face.bold { " font-weight=\"bold\"" } else { "" };
        let turn = if face.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{bold}{anchor}{turn} fill=\"{}\">{}</text>\n",
            coordinate(face.size),
            face.colour.hex(),
            escaped(text)
        ));
    }

    fn image(&mut self, picture: &Picture, place: Rect) {
        // A picture that can't be encoded has no pixels to show.
        let Ok(png) = picture.png() else { return };
        self.put(format_args!(
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,{}\"/>\n",
            coordinate(place.x0),
            coordinate(place.y0),
            coordinate(place.width()),
            coordinate(place.height()),
            base64(&png)
        ));
    }
}
