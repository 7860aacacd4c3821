//! Pixels and pages made of a figure's SVG.

use std::sync::{Arc, OnceLock};

use krilla::Document;
use krilla::page::PageSettings;
use krilla_svg::{SurfaceExt, SvgSettings};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use super::Picture;
use crate::core::{Error, Result};

/// Points of a page per pixel: 96 pixels to an inch.
const POINTS: f32 = 0.75;

/// The embedded fonts and no others, so that figures look alike on every machine.
fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let load = || {
        let mut fonts = Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.load_font_data(dejavu::sans::bold().to_vec());
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

fn tree(svg: &str) -> Result<Tree> {
    let options = Options { fontdb: fonts(), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|e| Error::internal(format!("the figure's own SVG: {e}")))
}

/// An SVG as pixels, on white.
pub fn pixels(svg: &str, width: u32, height: u32) -> Result<Picture> {
    let tree = tree(svg)?;
    let mut drawn = Pixmap::new(width, height).ok_or_else(|| Error::argument("a figure without pixels"))?;
    drawn.fill(Color::WHITE);
    let scale = Transform::from_scale(width as f32 / tree.size().width(), height as f32 / tree.size().height());
    resvg::render(&tree, scale, &mut drawn.as_mut());
    let rgb = drawn.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    Picture::new(width as usize, height as usize, rgb)
}

/// An SVG as a PDF file of one page, whose text is text and brings its font along.
pub fn page(svg: &str) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    let broken = || Error::internal("the figure's page");
    let [width, height] = [tree.size().width(), tree.size().height()].map(|pixels| pixels * POINTS);
    let mut document = Document::new();
    let mut page = document.start_page_with(PageSettings::from_wh(width, height).ok_or_else(broken)?);
    let mut surface = page.surface();
    let size = krilla::geom::Size::from_wh(width, height).ok_or_else(broken)?;
    surface.draw_svg(&tree, size, SvgSettings::default()).ok_or_else(broken)?;
    surface.finish();
    page.finish();
    document.finish().map_err(|e| Error::internal(format!("PDF: {e:?}")))
}
