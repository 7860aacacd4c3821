//! Figures drawn with characters: words stay words, lines are made of Braille dots, areas of half blocks. The ground stays the
//! terminal's own, so that the same drawing serves dark and light ones.

use super::style::Colours;
use crate::core::{Result, picture};
use crate::plot::{Anchor, Canvas, CanvasPoint, Face, Figure, Pen, Picture, Rect, Rgb, plain_label};

/// Units of the drawing across one character; a character is twice as high. Letters then are about as high as a line.
const CELL: f64 = 4.0;

/// Rows of characters of one row of panels.
const ROWS: usize = 26;

/// A drawing is at most this wide, for each panel in a row.
const WIDEST: usize = 100;

/// Bits of the dots of a Braille character, by row and column.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// From these greys up a colour is paper, below those ink: both are the terminal's own.
const PAPER: u8 = 215;
const INK: u8 = 110;

/// The letters from light to heavy for areas on terminals without colours.
const SHADES: [char; 4] = ['█', '▓', '▒', '░'];

#[derive(Clone, Copy, Default)]
struct Cell {
    sign: Option<char>,
    bold: bool,
    dots: u8,
    /// Of the dots or the sign; the terminal's own if absent.
    ink: Option<Rgb>,
    /// Upper and lower half.
    ground: [Option<Rgb>; 2],
}

struct Characters {
    columns: usize,
    cells: Vec<Cell>,
}

/// The figure in so many columns at most.
pub fn drawn(figure: &Figure, columns: usize, colours: Colours) -> Result<String> {
    let across = figure.columns.clamp(1, figure.panels.len().max(1));
    let columns = columns.min(WIDEST * across);
    let rows = ROWS * figure.panels.len().div_ceil(across).max(1);
    let mut canvas = Characters { columns, cells: vec![Cell::default(); columns * rows] };
    figure.draw_on(&mut canvas, columns as f64 * CELL, rows as f64 * 2.0 * CELL)?;
    Ok(canvas.text(colours))
}

fn grey(Rgb(r, g, b): Rgb) -> Option<u8> {
    let (lo, hi) = (r.min(g).min(b), r.max(g).max(b));
    (hi - lo < 12).then_some(lo)
}

/// A colour of its own, neither paper nor ink.
fn own(colour: Rgb) -> Option<Rgb> {
    if grey(colour).is_some_and(|v| !(INK..PAPER).contains(&v)) { None } else { Some(colour) }
}

impl Characters {
    fn rows(&self) -> usize {
        self.cells.len() / self.columns.max(1)
    }

    fn cell(&mut self, column: i64, row: i64) -> Option<&mut Cell> {
        let (column, row) = (usize::try_from(column).ok()?, usize::try_from(row).ok()?);
        if column >= self.columns { None } else { self.cells.get_mut(row * self.columns + column) }
    }

    fn dot(&mut self, (x, y): CanvasPoint, ink: Option<Rgb>) {
        let (fine_x, fine_y) = ((x * 2.0 / CELL).floor() as i64, (y * 2.0 / CELL).floor() as i64);
        if let Some(cell) = self.cell(fine_x.div_euclid(2), fine_y.div_euclid(4)) {
            cell.dots |= DOTS[fine_y.rem_euclid(4) as usize][fine_x.rem_euclid(2) as usize];
            // A coloured line stands before a frame.
            cell.ink = ink.or(cell.ink);
        }
    }

    /// Calls `paint` for the half cells whose middle lies in the rectangle.
    fn halves(&mut self, place: Rect, mut paint: impl FnMut(&mut Cell, usize, CanvasPoint)) {
        let range = |lo: f64, hi: f64, most: usize| {
            let first = (lo / CELL - 0.5).ceil().clamp(0.0, most as f64) as usize;
            first..((hi / CELL - 0.5).ceil().clamp(0.0, most as f64) as usize)
        };
        for y in range(place.y0, place.y1, self.rows() * 2) {
            for x in range(place.x0, place.x1, self.columns) {
                let middle = ((x as f64 + 0.5) * CELL, (y as f64 + 0.5) * CELL);
                paint(&mut self.cells[(y / 2) * self.columns + x], y % 2, middle);
            }
        }
    }

    fn text(&self, colours: Colours) -> String {
        let mut lines: Vec<String> = Vec::new();
        for row in self.cells.chunks(self.columns) {
            let mut line = String::new();
            let mut last = String::new();
            for cell in row {
                let (sign, look) = cell.look(colours);
                if look != last {
                    line += &if look.is_empty() { "\u{1b}[0m".into() } else { format!("\u{1b}[0;{look}m") };
                    last = look;
                }
                line.push(sign);
            }
            lines.push(if last.is_empty() { line.trim_end().into() } else { line + "\u{1b}[0m" });
        }
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

impl Cell {
    /// The character and the parameters of its escape.
    fn look(&self, colours: Colours) -> (char, String) {
        let [upper, lower] = self.ground;
        let sign = self.sign.or_else(|| char::from_u32(0x2800 + u32::from(self.dots)).filter(|_| self.dots != 0));
        let rgb = |Rgb(r, g, b): Rgb| [r, g, b];
        if colours == Colours::None {
            let shade = |Rgb(r, g, b): Rgb| SHADES[(usize::from(r) + usize::from(g) + usize::from(b)) * 4 / 766];
            return (sign.or_else(|| upper.or(lower).map(shade)).unwrap_or(' '), String::new());
        }
        let mut look: Vec<String> = Vec::new();
        if let Some(sign) = sign {
            if self.bold {
                look.push("1".into());
            }
            if let Some(ground) = upper.or(lower) {
                look.push(colours.of(48, rgb(ground)));
                // What stands on a colour can't have the terminal's own.
                let Rgb(r, g, b) = ground;
                let light = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
                let ink = if light > 128.0 { [0; 3] } else { [255; 3] };
                look.push(colours.of(38, self.ink.map_or(ink, rgb)));
            } else if let Some(ink) = self.ink {
                look.push(colours.of(38, rgb(ink)));
            }
            return (sign, look.join(";"));
        }
        match (upper, lower) {
            (None, None) => (' ', String::new()),
            (Some(upper), None) => ('▀', colours.of(38, rgb(upper))),
            (None, Some(lower)) => ('▄', colours.of(38, rgb(lower))),
            (Some(upper), Some(lower)) => {
                ('▀', format!("{};{}", colours.of(38, rgb(upper)), colours.of(48, rgb(lower))))
            }
        }
    }
}

impl Canvas for Characters {
    fn line(&mut self, points: &[CanvasPoint], pen: Pen) {
        // Grid lines would be as strong as the data.
        if grey(pen.colour).is_some_and(|v| v >= PAPER) {
            return;
        }
        let cycle: f64 = pen.dash.iter().sum::<f64>() * pen.width.max(1.0);
        let mut along = 0.0;
        for pair in points.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let length = (x1 - x0).hypot(y1 - y0);
            let steps = (length * 2.0 / CELL).ceil().clamp(1.0, 10_000.0) as usize;
            for i in 0..=steps {
                let t = i as f64 / steps as f64;
                let drawn = cycle <= 0.0 || {
                    let mut rest = (along + t * length).rem_euclid(cycle);
                    let mut on = true;
                    for part in pen.dash {
                        if rest < part * pen.width.max(1.0) {
                            break;
                        }
                        rest -= part * pen.width.max(1.0);
                        on = !on;
                    }
                    on
                };
                if drawn {
                    self.dot((x0 + t * (x1 - x0), y0 + t * (y1 - y0)), own(pen.colour));
                }
            }
            along += length;
        }
    }

    fn fill(&mut self, shape: &[CanvasPoint], colour: Rgb, alpha: f64) {
        let bound = |get: fn(&CanvasPoint) -> f64, pick: fn(f64, f64) -> f64, start: f64| {
            shape.iter().map(get).fold(start, pick)
        };
        let (x0, x1) = (bound(|p| p.0, f64::min, f64::INFINITY), bound(|p| p.0, f64::max, f64::NEG_INFINITY));
        let (y0, y1) = (bound(|p| p.1, f64::min, f64::INFINITY), bound(|p| p.1, f64::max, f64::NEG_INFINITY));
        let paper = grey(colour).is_some_and(|v| v >= PAPER);
        if (x1 - x0).max(y1 - y0) < 2.0 * CELL && !paper {
            // A marker.
            let (column, row) = (((x0 + x1) / 2.0 / CELL).floor() as i64, ((y0 + y1) / 4.0 / CELL).floor() as i64);
            if let Some(cell) = self.cell(column, row) {
                (cell.sign, cell.ink) = (Some('●'), own(colour));
            }
            return;
        }
        let inside = |(x, y): CanvasPoint| {
            let mut odd = false;
            for (i, &(ax, ay)) in shape.iter().enumerate() {
                let (bx, by) = shape[(i + 1) % shape.len()];
                odd ^= (ay > y) != (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax;
            }
            odd
        };
        self.halves(Rect::new(x0, y0, x1, y1), |cell, half, middle| {
            if !inside(middle) {
                return;
            }
            if paper {
                if alpha > 0.5 {
                    *cell = Cell::default();
                }
                return;
            }
            let under = cell.ground[half].unwrap_or(Rgb(128, 128, 128));
            let mix = |a: u8, b: u8| (f64::from(a) * alpha + f64::from(b) * (1.0 - alpha)).round() as u8;
            let Rgb(r, g, b) = colour;
            cell.ground[half] = Some(Rgb(mix(r, under.0), mix(g, under.1), mix(b, under.2)));
        });
    }

    fn text(&mut self, text: &str, (x, y): CanvasPoint, face: Face) {
        let text = &plain_label(text);
        let n = text.chars().count() as f64;
        let back = match face.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => n / 2.0,
            Anchor::End => n,
        };
        // The baseline is below the middle of the letters.
        let middle = face.size * 0.36;
        let places: Vec<(i64, i64)> = if face.upwards {
            // Letters that stand upright are read downwards.
            let column = ((x - middle) / CELL).floor() as i64;
            let row = (y / (2.0 * CELL) + back - n).round() as i64;
            (0..n as i64).map(|i| (column, row + i)).collect()
        } else {
            let row = ((y - middle) / (2.0 * CELL)).floor() as i64;
            let column = (x / CELL - back).round() as i64;
            (0..n as i64).map(|i| (column + i, row)).collect()
        };
        // Words that would stand in each other's way are left out.
        let taken = |canvas: &mut Self, column, row| {
            canvas.cell(column, row).is_none_or(|cell| cell.sign.is_some_and(|sign| sign != '●'))
        };
        if places.iter().any(|&(column, row)| taken(self, column, row)) {
            return;
        }
        for ((column, row), sign) in places.into_iter().zip(text.chars()) {
            if let Some(cell) = self.cell(column, row) {
                (cell.sign, cell.bold, cell.ink) = (Some(picture(sign)), face.bold, own(face.colour));
            }
        }
    }

    fn pixels(&self, place: Rect) -> Option<[usize; 2]> {
        Some([place.width(), place.height()].map(|side| (side / CELL).max(1.0) as usize))
    }

    fn image(&mut self, picture: &Picture, place: Rect) {
        let (w, h) = (picture.width as f64, picture.height as f64);
        self.halves(place, |cell, half, (x, y)| {
            let column = ((x - place.x0) / place.width() * w).clamp(0.0, w - 1.0) as usize;
            let row = ((y - place.y0) / place.height() * h).clamp(0.0, h - 1.0) as usize;
            let at = 3 * (row * picture.width + column);
            cell.ground[half] = Some(Rgb(picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Layer, Panel, Series};

    #[test]
    fn words_of_a_figure_stay_words() {
        let series = Series::line("loss", vec![1.0, 2.0, 3.0, 4.0], vec![3.0, 1.0, 2.0, 0.5]);
        let x = Axis { label: "epoch".into(), ..Axis::default() };
        let panel = Panel { x, layers: vec![Layer::Series(series)], ..Panel::default() };
        let figure = Figure::of(vec![panel], 1).titled("Learning");
        for columns in [80, 200] {
            let text = drawn(&figure, columns, Colours::None).expect("a drawing");
            assert!(text.contains("Learning") && text.contains("epoch") && !text.contains('\u{1b}'), "{text}");
            assert!(text.contains('●') && text.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= columns.min(100)));
        }
        assert!(drawn(&figure, 80, Colours::True).expect("a drawing").contains("38;2;0;114;178"));
    }
}
