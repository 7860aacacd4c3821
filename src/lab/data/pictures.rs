//! Pictures that are stored as such, in files or inside of one, and decoded when they are used, on whatever thread asks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contents::PictureContents;
use super::memory::{DARK, byte_to_float};
use super::resample::resize;
use super::window::{CropAndMargin, PixelWindow, View, resized_side};
use super::{Dataset, Source, picture};
use crate::core::{Cx, Digest, Error, Result, Value};

/// Where pictures are stored.
pub(super) trait PictureFiles: Send + Sync + 'static {
    fn len(&self) -> usize;

    /// Picture `index` as an error names it beside others.
    fn name(&self, index: usize) -> &Path;

    /// The same with all that it lies in.
    fn path(&self, index: usize) -> PathBuf;

    fn bytes(&self, index: usize) -> Result<Vec<u8>>;

    /// Width and height, from as little of it as tells.
    fn dimensions(&self, index: usize) -> Result<(u32, u32)>;
}

/// What pictures show.
pub(super) struct Labelled {
    /// One per picture.
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    /// Ends the sentence "classes are numbered".
    pub numbered: String,
    /// One per picture.
    pub contents: Vec<PictureContents>,
}

pub(super) struct Pictures<F> {
    files: F,
    contents: Vec<PictureContents>,
    view: View,
    /// The square that is seen and its margin; all of the image without it.
    canvas: Option<CropAndMargin>,
    /// `[H, W]` of what is read.
    side: [usize; 2],
}

impl<F: PictureFiles> Pictures<F> {
    /// The data set of these pictures, whose bytes have this digest.
    pub fn load(cx: &Cx, name: &str, files: F, of: Labelled, view: &View, digest: Digest) -> Result<Dataset> {
        let (canvas, side) = sides(cx, &files, view)?;
        check_bright(cx, &files)?;
        let digest = Digest::of_parts(&[&digest.0, view.seen(canvas).as_bytes()]);
        let source = Self { files, contents: of.contents, view: *view, canvas, side };
        let set = Dataset::new(name, Arc::new(source), of.labels, of.classes, View::edge(canvas), digest)?;
        Ok(set.numbered(of.numbered).told_of_labels())
    }
}

/// Refuses pictures of which none is brighter than an eighth of white, but all black: they are masks or levels of another scale. Where one is
/// brighter, no further one is looked at.
fn check_bright(cx: &Cx, files: &impl PictureFiles) -> Result<()> {
    let mut brightest = 0;
    for index in 0..files.len() {
        cx.check()?;
        let of_this = picture::decode(&files.path(index), &files.bytes(index)?)?.into_rgb8().into_raw();
        brightest = brightest.max(of_this.into_iter().max().unwrap_or(0));
        if brightest > DARK {
            return Ok(());
        }
    }
    if brightest == 0 {
        return Ok(());
    }
    let others = match files.len() {
        1 => String::new(),
        n => format!(" and of {} more", n - 1),
    };
    let first = files.name(0).display();
    Err(Error::data(format!("no pixel of {first}{others} is brighter than {brightest} of 255")).hint(format!(
        "such are masks, or levels of another scale: if {brightest} is white here, save them with 255 in its place; \
         `data::from` takes pixels that are that dark as floats"
    )))
}

/// The canvas, and `[H, W]` of what will be read. The headers of all files are read where their sizes decide.
fn sides(cx: &Cx, files: &impl PictureFiles, view: &View) -> Result<(Option<CropAndMargin>, [usize; 2])> {
    if let (Some(side), Some(_)) = (view.resize, view.crop) {
        let canvas = view.canvas(side, side)?;
        let whole = PixelWindow::centred(side, side, canvas);
        return Ok((canvas, [whole.height, whole.width]));
    }
    let task = cx.progress("reading sizes", Some(files.len() as u64));
    let mut first: Option<(&Path, (usize, usize))> = None;
    let mut short = usize::MAX;
    for index in 0..files.len() {
        cx.check()?;
        task.advance(1);
        let (file, (width, height)) = (files.name(index), files.dimensions(index)?);
        let size = match view.resize {
            Some(side) => resized_side(height as usize, width as usize, side),
            None => (height as usize, width as usize),
        };
        short = short.min(size.0).min(size.1);
        let (one, of_first) = *first.get_or_insert((file, size));
        if of_first != size && view.crop.is_none() {
            return Err(Error::data(format!(
                "images differ in size: {} has {} x {} pixels, {} has {} x {}",
                one.display(),
                of_first.0,
                of_first.1,
                file.display(),
                size.0,
                size.1
            ))
            .hint("give `resize` and `crop`, such as `resize: 256, crop: 224`"));
        }
    }
    let (height, width) = first.map_or((0, 0), |(_, size)| size);
    let canvas = match view.crop {
        Some(_) => view.canvas(short, short)?,
        None => view.canvas(height, width)?,
    };
    let window = PixelWindow::centred(height, width, canvas);
    Ok((canvas, [window.height, window.width]))
}

impl<F: PictureFiles> Source for Pictures<F> {
    fn len(&self) -> usize {
        self.files.len()
    }

    /// Tables about pictures name their files.
    fn attributes(&self, index: usize) -> Vec<(&'static str, Value)> {
        let parts = self.files.name(index).iter().map(|part| part.to_string_lossy());
        vec![("file", Value::Str(parts.collect::<Vec<_>>().join("/")))]
    }

    fn shape(&self) -> [usize; 3] {
        [3, self.side[0], self.side[1]]
    }

    fn reads_as_stored(&self) -> bool {
        self.view.resize.is_none()
    }

    fn compares_stored(&self) -> bool {
        true
    }

    fn likeness(&self, index: usize) -> Option<u64> {
        Some(self.contents[index].likeness)
    }

    fn is_see_through(&self, index: usize) -> bool {
        self.contents[index].see_through
    }

    fn has_foreign_colours(&self, index: usize) -> bool {
        self.contents[index].foreign_colours
    }

    fn is_to_be_turned(&self, index: usize) -> bool {
        self.contents[index].turned
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let image = picture::decode(&self.files.path(index), &self.files.bytes(index)?)?.into_rgb8();
        let (mut width, mut height) = (image.width() as usize, image.height() as usize);
        let mut bytes = image.into_raw();
        if let Some(side) = self.view.resize {
            let (new_height, new_width) = resized_side(height, width, side);
            bytes = resize::<u8, 3>(bytes, [height, width], [new_height, new_width], self.view.filter);
            (width, height) = (new_width, new_height);
        }
        let [h, w] = self.side;
        // The file may have been replaced since its header was read.
        if height < h || width < w || (self.canvas.is_none() && (height, width) != (h, w)) {
            return Err(Error::data(format!(
                "{}: {height} x {width} pixels, wanted {h} x {w}",
                self.files.name(index).display()
            )));
        }
        let window = PixelWindow::centred(height, width, self.canvas);
        let plane = h * w;
        for y in 0..h {
            let start = ((window.top + y) * width + window.left) * 3;
            for (x, pixel) in bytes[start..start + 3 * w].chunks_exact(3).enumerate() {
                for (channel, &byte) in pixel.iter().enumerate() {
                    pixels[channel * plane + y * w + x] = byte_to_float(byte);
                }
            }
        }
        Ok(())
    }
}
