//! Pictures as text: two pixels per character, one above the other, in as many colours as the terminal has; shades of
//! characters where it has none.

use crate::core::{columns_of, cut, visible};
use crate::plot::{Picture, Tiles};

use super::style::Colours;

/// Shades from dark to light for terminals without colours.
const SHADES: &[u8] = b" .:-=+*#%@";

/// Columns between two tiles of a sheet.
const GAP: usize = 2;

/// A tile of a sheet is at most this wide.
const WIDEST: usize = 48;

/// Rows of tiles that a sheet has at most.
const ROWS: usize = 2;

fn lines(picture: &Picture, colours: Colours) -> Vec<String> {
    let (width, height) = (picture.width, picture.height);
    let pixel = |x: usize, y: usize| {
        let at = 3 * (y * width + x);
        [picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]]
    };
    let mut lines = Vec::new();
    for y in (0..height).step_by(2) {
        let mut text = String::new();
        let mut last = None;
        for x in 0..width {
            let upper = pixel(x, y);
            let lower = (y + 1 < height).then(|| pixel(x, y + 1));
            if colours == Colours::None {
                let light: u32 = upper.iter().chain(lower.iter().flatten()).map(|&v| u32::from(v)).sum();
                let most = if lower.is_some() { 6 * 255 } else { 3 * 255 };
                text.push(char::from(SHADES[(light as usize * (SHADES.len() - 1)) / most]));
                continue;
            }
            // Colours are said again only where they change.
            if last != Some((upper, lower)) {
                text += &match lower {
                    Some(lower) => format!("\u{1b}[{};{}m", colours.of(38, upper), colours.of(48, lower)),
                    None => format!("\u{1b}[0;{}m", colours.of(38, upper)),
                };
                last = Some((upper, lower));
            }
            text.push('▀');
        }
        lines.push(if colours == Colours::None { text } else { text + "\u{1b}[0m" });
    }
    lines
}

/// Images side by side at a whole scale with their captions below, as many as fit in two rows. `total`: how many there are,
/// if these are only the first ones.
pub fn sheet(tiles: &Tiles, total: Option<usize>, columns: usize, colours: Colours) -> String {
    let Tiles { images, captions, columns: per_row, .. } = tiles;
    let Some(first) = images.first() else { return String::new() };
    // Small images keep every pixel; large ones lose whole ones.
    let shrink = first.width.div_ceil(WIDEST.min(columns));
    let grow = (16 / first.width.max(1)).max(1);
    let (width, height) = ((first.width * grow).div_ceil(shrink), (first.height * grow).div_ceil(shrink));
    let fit = ((columns + GAP) / (width + GAP)).clamp(1, *per_row.max(&1));
    let shown = images.len().min(ROWS * fit);
    let mut text = String::new();
    for start in (0..shown).step_by(fit) {
        let row = start..(start + fit).min(shown);
        let tiles: Vec<Vec<String>> =
            images[row.clone()].iter().map(|image| lines(&image.resized(width, height), colours)).collect();
        let gap = " ".repeat(GAP);
        for y in 0..tiles.iter().map(Vec::len).max().unwrap_or(0) {
            let parts: Vec<&str> = tiles.iter().map(|tile| tile.get(y).map_or("", String::as_str)).collect();
            text += &format!("{}\n", parts.join(&gap));
        }
        let caption = |i: usize| {
            let caption = cut(&visible(captions.get(i).map_or("", String::as_str)), width);
            let padding = " ".repeat(width - columns_of(&caption).min(width));
            format!("{caption}{padding}")
        };
        let line: String = row.map(caption).collect::<Vec<String>>().join(&gap);
        if !line.trim().is_empty() {
            text += &format!("{}\n", line.trim_end());
        }
    }
    let total = total.unwrap_or(images.len());
    if shown < total {
        text += &format!("the first {shown} of {total} images\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rows_of_pixels_make_one_row_of_text() {
        let picture =
            Picture::new(2, 3, vec![255, 0, 0, 255, 0, 0, 0, 0, 9, 0, 0, 9, 1, 2, 3, 1, 2, 3]).expect("18 bytes");
        let text = lines(&picture, Colours::True);
        assert_eq!(text, ["\u{1b}[38;2;255;0;0;48;2;0;0;9m▀▀\u{1b}[0m", "\u{1b}[0;38;2;1;2;3m▀▀\u{1b}[0m"]);
        let few = lines(&picture, Colours::Indexed);
        assert!(few[0].starts_with("\u{1b}[38;5;196;48;5;16m▀▀"), "{few:?}");
        let plain = lines(&picture, Colours::None);
        assert!(plain.iter().all(|line| line.len() == 2 && !line.contains('\u{1b}')), "{plain:?}");
    }

    #[test]
    fn a_sheet_keeps_every_pixel_of_small_images_and_names_them() {
        let image = Picture::new(28, 28, vec![200; 3 * 28 * 28]).expect("a picture");
        let captions: Vec<String> = (0..9).map(|i| format!("row {i}: seven")).collect();
        let tiles = Tiles { images: vec![image; 9], captions, arrows: vec![], columns: 99 };
        let text = sheet(&tiles, Some(70), 80, Colours::None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 * (14 + 1) + 1, "{text}");
        assert_eq!(lines[0].len(), 2 * 28 + GAP);
        assert!(lines[14].starts_with("row 0: seven") && lines[14].ends_with("row 1: seven"), "{text}");
        assert_eq!(lines[30], "the first 4 of 70 images");
    }
}
