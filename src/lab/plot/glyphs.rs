//! The embedded font, with whose letters texts are measured.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef};

/// The embedded font, so that text needs no font of the system.
fn font(bold: bool) -> &'static FontRef<'static> {
    static FONTS: OnceLock<[FontRef<'static>; 2]> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        [dejavu::sans::regular(), dejavu::sans::bold()]
            .map(|bytes| FontRef::try_from_slice(bytes).expect("the embedded fonts are valid TrueType files"))
    });
    &fonts[usize::from(bold)]
}

fn units_per_em(bold: bool) -> f64 {
    f64::from(font(bold).units_per_em().unwrap_or(2048.0))
}

/// The width of letters, in ems.
pub fn glyphs_width(text: &str, bold: bool) -> f64 {
    let font = font(bold);
    let (mut units, mut previous) = (0.0, None);
    for glyph in text.chars().map(|sign| font.glyph_id(sign)) {
        units += previous.map_or(0.0, |previous| font.kern_unscaled(previous, glyph)) + font.h_advance_unscaled(glyph);
        previous = Some(glyph);
    }
    f64::from(units) / units_per_em(bold)
}

/// Whether the font has a letter, in both of its weights; what takes no ink counts as there.
pub fn has_glyph(sign: char) -> bool {
    let inked = !(sign.is_whitespace() || sign.is_control());
    !inked || [false, true].iter().all(|&bold| font(bold).glyph_id(sign).0 != 0)
}
