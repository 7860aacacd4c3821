//! The marks at points and the width of lines, which panels and legends share.

use super::canvas::{Canvas, CanvasPoint, Rect};
use super::palette::{Marker, Rgb};

pub fn series_width(font: f64) -> f64 {
    (font * 0.1).max(1.2)
}

pub fn marker(canvas: &mut dyn Canvas, shape: Marker, (x, y): CanvasPoint, font: f64, colour: Rgb) {
    let r = font * 0.23;
    let polygon: Vec<CanvasPoint> = match shape {
        Marker::Circle => return canvas.disc((x, y), r, colour),
        Marker::Square => Rect::new(x - r * 0.88, y - r * 0.88, x + r * 0.88, y + r * 0.88).corners().to_vec(),
        Marker::Triangle => vec![(x, y - r * 1.2), (x + r * 1.1, y + r * 0.8), (x - r * 1.1, y + r * 0.8)],
        Marker::Nabla => vec![(x - r * 1.1, y - r * 0.8), (x + r * 1.1, y - r * 0.8), (x, y + r * 1.2)],
        Marker::Diamond => vec![(x, y - r * 1.3), (x + r * 1.1, y), (x, y + r * 1.3), (x - r * 1.1, y)],
        Marker::Cross | Marker::Plus => {
            // Twelve corners of a plus, turned by an eighth for a cross.
            let (a, b) = (r * 0.38, r * 1.2);
            let quarter = [(-a, -b), (a, -b), (a, -a)];
            let turn: f64 = if shape == Marker::Cross { std::f64::consts::FRAC_PI_4 } else { 0.0 };
            (0..4)
                .flat_map(|i| {
                    let (sin, cos) = (turn + f64::from(i) * std::f64::consts::FRAC_PI_2).sin_cos();
                    quarter.map(|(px, py)| (x + px * cos - py * sin, y + px * sin + py * cos))
                })
                .collect()
        }
    };
    canvas.fill(&polygon, colour, 1.0);
}
