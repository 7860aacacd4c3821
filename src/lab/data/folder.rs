//! Image folders. Files are decoded when they are used, on whatever thread asks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::listing::list;
use super::memory::byte_to_float;
use super::numbering::Classes;
use super::resample::resize;
use super::window::{PixelWindow, View, resized_side};
use super::{Dataset, Source, contents, picture};
use crate::core::{Cx, Digest, Error, Result};

struct Folder {
    root: PathBuf,
    files: Vec<PathBuf>,
    view: View,
    /// The square that is seen and its margin; all of the image without it.
    canvas: Option<(usize, usize)>,
    /// `[H, W]` of what is read.
    side: [usize; 2],
}

/// The data set of a folder. Colours are kept (`3 x H x W`); grey images are given three equal channels.
pub(super) fn load(
    cx: &Cx,
    name: &str,
    folder: &Path,
    view: &View,
    classes: &Classes,
    choose: &dyn Fn(usize) -> Option<Vec<usize>>,
) -> Result<Dataset> {
    let (root, mut listing) = list(cx, folder, classes)?;
    if listing.files.is_empty() {
        return Err(
            Error::file(folder, "no images").hint("wanted are .png, .jpg, .jpeg or .gif files in one folder per class")
        );
    }
    if let Some(rows) = choose(listing.files.len()) {
        listing.files = rows.iter().map(|&row| listing.files[row].clone()).collect();
        listing.labels = rows.iter().map(|&row| listing.labels[row]).collect();
    }
    let digest = digest(cx, &root, &listing.files)?;
    let (canvas, side) = sides(cx, &root, &listing.files, view)?;
    let edge = View::edge(canvas);
    let digest = Digest::of_parts(&[&digest.0, view.seen(canvas).as_bytes()]);
    let source = Folder { root, files: listing.files, view: *view, canvas, side };
    let set = Dataset::new(name, Arc::new(source), listing.labels, listing.classes, edge, digest)?;
    Ok(set.numbered(listing.numbered))
}

fn digest(cx: &Cx, root: &Path, files: &[PathBuf]) -> Result<Digest> {
    let (digests, oldest) = contents::digests(cx, root, files)?;
    cx.record_hashed(root, oldest);
    let line = |(file, digest): (&PathBuf, &Digest)| format!("{} {}\n", file.display(), digest.hex());
    Ok(Digest::of(files.iter().zip(&digests).map(line).collect::<String>().as_bytes()))
}

/// Crop and margin, where there is a crop.
type CropAndMargin = Option<(usize, usize)>;

/// The canvas, and `[H, W]` of what will be read. The headers of all files are read where their sizes decide.
fn sides(cx: &Cx, root: &Path, files: &[PathBuf], view: &View) -> Result<(CropAndMargin, [usize; 2])> {
    if let (Some(side), Some(_)) = (view.resize, view.crop.or(view.margin)) {
        let canvas = view.canvas(side)?;
        let whole = PixelWindow::centred(side, side, canvas);
        return Ok((canvas, [whole.height, whole.width]));
    }
    let task = cx.progress("reading sizes", Some(files.len() as u64));
    let mut first: Option<(&Path, (usize, usize))> = None;
    let mut short = usize::MAX;
    for file in files {
        cx.check()?;
        task.advance(1);
        let path = root.join(file);
        let (width, height) = image::image_dimensions(&path).map_err(|e| Error::file(&path, e))?;
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
    let canvas = view.canvas(short)?;
    let (height, width) = first.map_or((0, 0), |(_, size)| size);
    let window = PixelWindow::centred(height, width, canvas);
    Ok((canvas, [window.height, window.width]))
}

impl Source for Folder {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn shape(&self) -> [usize; 3] {
        [3, self.side[0], self.side[1]]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let image = picture::read(&self.root.join(&self.files[index]))?.into_rgb8();
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
                self.files[index].display()
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
