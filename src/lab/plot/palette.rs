//! Colours, markers and dashes that stay apart for colour-blind readers and in grey print.
//!
//! Series: Okabe and Ito, "Color Universal Design" (2008), without its yellow, which is too faint on white. Heat maps:
//! viridis (Smith and van der Walt, 2015), which is perceptually uniform and grows lighter with the value.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

pub const BLACK: Rgb = Rgb(0, 0, 0);
pub const WHITE: Rgb = Rgb(255, 255, 255);
/// Axes and text.
pub const INK: Rgb = Rgb(38, 38, 38);
/// Cautions.
pub const WARNING: Rgb = Rgb(158, 52, 0);
pub const GRID: Rgb = Rgb(226, 226, 226);
/// Cells of a heat map that hold no number.
pub const MISSING: Rgb = Rgb(205, 205, 205);

pub const SERIES: [Rgb; 7] = [
    Rgb(0, 114, 178),
    Rgb(213, 94, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(230, 159, 0),
    Rgb(86, 180, 233),
    Rgb(0, 0, 0),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Nabla,
    Cross,
    Plus,
}

pub const MARKERS: [Marker; 7] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Nabla, Marker::Cross, Marker::Plus];

/// Lengths of strokes and gaps in line widths; five against seven colours gives 35 pairs before one comes again.
pub const DASHES: [&[f64]; 5] = [&[], &[5.0, 2.5], &[1.2, 1.8], &[6.0, 2.0, 1.2, 2.0], &[9.0, 3.0]];

/// The look of the series at this place in its panel.
pub fn style(place: usize) -> (Rgb, Marker, &'static [f64]) {
    let marker = MARKERS[(place + place / SERIES.len()) % MARKERS.len()];
    (SERIES[place % SERIES.len()], marker, DASHES[place % DASHES.len()])
}

const VIRIDIS: [Rgb; 9] = [
    Rgb(68, 1, 84),
    Rgb(71, 45, 123),
    Rgb(59, 82, 139),
    Rgb(44, 114, 142),
    Rgb(33, 145, 140),
    Rgb(40, 174, 128),
    Rgb(94, 201, 98),
    Rgb(173, 220, 48),
    Rgb(253, 231, 37),
];

/// Blue by way of white to orange (after ColorBrewer's PuOr and RdBu): neither end is taken for the other by colour-blind readers.
const DIVERGING: [Rgb; 9] = [
    Rgb(5, 48, 97),
    Rgb(46, 121, 181),
    Rgb(124, 182, 215),
    Rgb(204, 226, 239),
    Rgb(247, 247, 247),
    Rgb(254, 219, 183),
    Rgb(244, 160, 85),
    Rgb(205, 97, 12),
    Rgb(127, 49, 0),
];

/// The colour of `t` in [0, 1], white at a half.
pub fn diverging(t: f64) -> Rgb {
    of_stops(&DIVERGING, t)
}

/// The colour of `t` in [0, 1]; of the nearer end outside, of the dark end for NaN.
pub fn viridis(t: f64) -> Rgb {
    of_stops(&VIRIDIS, t)
}

fn of_stops(stops: &[Rgb; 9], t: f64) -> Rgb {
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
    let place = t * (stops.len() - 1) as f64;
    let below = (place as usize).min(stops.len() - 2);
    let (a, b, part) = (stops[below], stops[below + 1], place - below as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

impl Rgb {
    /// How bright it looks, in [0, 1] (Rec. 709 weights on the stored values).
    pub fn lightness(self) -> f64 {
        (0.2126 * f64::from(self.0) + 0.7152 * f64::from(self.1) + 0.0722 * f64::from(self.2)) / 255.0
    }

    pub fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}
