//! What a person at a terminal sees of a value: its long form, and pictures where the terminal can show them.

use std::cell::Cell;
use std::io::IsTerminal;

use super::graphics::GraphicsProtocol;
use super::picture::sheet;
use super::plot::drawn;
use super::style::Colours;
use super::{Paint, width};
use crate::core::{Result, Value, quoted, visible};
use crate::plot::{Figure, Layer, Picture, pictured};

/// Pixels of a character, where the terminal does not tell.
const CHARACTER: usize = 9;

/// The standard output.
pub struct Screen {
    terminal: bool,
    paint: Paint,
    colours: Colours,
    images: Cell<GraphicsProtocol>,
}

impl Screen {
    pub fn new() -> Self {
        let stream = std::io::stdout();
        let paint = Paint::of(&stream);
        let colours = if paint.enabled() { Colours::detect() } else { Colours::None };
        Self { terminal: stream.is_terminal(), paint, colours, images: Cell::new(GraphicsProtocol::detect()) }
    }

    pub fn paint(&self) -> Paint {
        self.paint
    }

    /// How pictures are shown now.
    pub fn images(&self) -> GraphicsProtocol {
        match self.images.get() {
            GraphicsProtocol::Off => GraphicsProtocol::Off,
            // Both protocols are escapes.
            _ if !self.paint.enabled() => GraphicsProtocol::Half,
            images => images,
        }
    }

    pub fn set_images(&self, images: GraphicsProtocol) {
        self.images.set(images);
    }

    /// How the value of a line is shown: as `shown`, with a string in quotes.
    pub fn answer(&self, value: &Value) -> String {
        match value {
            // A text of several lines, such as a page of documentation, is there to be read.
            Value::Str(text) if !text.trim_end().contains('\n') => visible(&quoted(text)).into_owned(),
            other => self.shown(other),
        }
    }

    /// The long form, with a picture of what has one.
    pub fn shown(&self, value: &Value) -> String {
        let columns = width();
        let text = value.details(columns);
        if !self.terminal || self.images() == GraphicsProtocol::Off {
            return text;
        }
        // A picture that can't be drawn is no reason to show nothing.
        match self.picture(value, columns) {
            Ok(Some(picture)) => format!("{picture}{text}"),
            _ => text,
        }
    }

    fn picture(&self, value: &Value, columns: usize) -> Result<Option<String>> {
        let drawn = pictured(value)?.into_iter().map(|shown| self.sheet(&shown.figure, shown.total, columns));
        drawn.collect::<Result<String>>().map(|text| Some(text).filter(|text| !text.is_empty()))
    }

    /// A figure; `total` says how many images there are if it is a sheet of the first ones.
    fn sheet(&self, figure: &Figure, total: Option<usize>, columns: usize) -> Result<String> {
        if self.images() == GraphicsProtocol::Half
            && let [panel] = &figure.panels[..]
            && let [Layer::Tiles(tiles)] = &panel.layers[..]
        {
            let title = if figure.title.is_empty() { String::new() } else { format!("{}\n", visible(&figure.title)) };
            return Ok(format!("{title}{}", sheet(tiles, total, columns, self.colours)));
        }
        if self.images() == GraphicsProtocol::Half {
            return drawn(figure, columns, self.colours);
        }
        let (width, height) = figure.dimensions();
        let (rgb, width, height) = figure.render_rgb(width, height)?;
        let picture = Picture::new(width as usize, height as usize, rgb)?;
        let too_wide = picture.width > columns * character_width();
        Ok(self.images().escape(&picture, too_wide.then_some(columns))?.unwrap_or_default())
    }
}

impl Default for Screen {
    fn default() -> Self {
        Self::new()
    }
}

/// Pixels across one character of the terminal.
fn character_width() -> usize {
    #[cfg(unix)]
    {
        // SAFETY: the call fills a structure of plain numbers, and is used only where it says that it has.
        let size = unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            (libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &mut size) == 0).then_some(size)
        };
        if let Some(size) = size.filter(|size| size.ws_xpixel > 0 && size.ws_col > 0) {
            return usize::from(size.ws_xpixel / size.ws_col).max(1);
        }
    }
    CHARACTER
}
