//! Pictures as text: two pixels per character, one above the other, in 24-bit colour.

use crate::core::Result;
use crate::plot::{Figure, Picture};

use super::Paint;

/// Shades from dark to light for terminals without colours.
const SHADES: &[u8] = b" .:-=+*#%@";

/// A picture at most `columns` characters wide; it is never enlarged.
pub fn half_blocks(picture: &Picture, columns: usize, paint: Paint) -> String {
    let width = picture.width.min(columns.max(1));
    let height = (picture.height * width).div_ceil(picture.width).max(1);
    let small = picture.resized(width, height);
    let pixel = |x: usize, y: usize| {
        let at = 3 * (y * width + x);
        [small.rgb[at], small.rgb[at + 1], small.rgb[at + 2]]
    };
    let mut text = String::new();
    for y in (0..height).step_by(2) {
        let mut last = None;
        for x in 0..width {
            let upper = pixel(x, y);
            let lower = (y + 1 < height).then(|| pixel(x, y + 1));
            if !paint.enabled() {
                let light: u32 = upper.iter().map(|&v| u32::from(v)).sum();
                text.push(char::from(SHADES[(light as usize * (SHADES.len() - 1)) / (3 * 255)]));
                continue;
            }
            // Colours are said again only where they change.
            if last != Some((upper, lower)) {
                let [r, g, b] = upper;
                text += &match lower {
                    Some([lr, lg, lb]) => format!("\u{1b}[38;2;{r};{g};{b};48;2;{lr};{lg};{lb}m"),
                    None => format!("\u{1b}[0;38;2;{r};{g};{b}m"),
                };
                last = Some((upper, lower));
            }
            text.push('▀');
        }
        text += if paint.enabled() { "\u{1b}[0m\n" } else { "\n" };
    }
    text
}

/// A figure for a terminal of this many columns: its picture where colours are shown, and its data in words.
pub fn show_figure(figure: &Figure, columns: usize, paint: Paint) -> Result<String> {
    use crate::core::Object;
    let words = figure.details(columns);
    if !paint.enabled() {
        return Ok(words + "\n");
    }
    let (width, height) = figure.dimensions();
    let (rgb, width, height) = figure.render_rgb(width, height)?;
    let picture = Picture::new(width as usize, height as usize, rgb)?;
    Ok(format!("{}{words}\n", half_blocks(&picture, columns.min(160), paint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rows_of_pixels_make_one_row_of_text() {
        let picture =
            Picture::new(2, 3, vec![255, 0, 0, 255, 0, 0, 0, 0, 9, 0, 0, 9, 1, 2, 3, 1, 2, 3]).expect("18 bytes");
        let text = half_blocks(&picture, 80, Paint::new(true));
        assert_eq!(text, "\u{1b}[38;2;255;0;0;48;2;0;0;9m▀▀\u{1b}[0m\n\u{1b}[0;38;2;1;2;3m▀▀\u{1b}[0m\n");
        let plain = half_blocks(&picture, 1, Paint::new(false));
        assert!(!plain.contains('\u{1b}'));
        assert!(plain.lines().all(|line| line.chars().count() == 1));
    }
}
