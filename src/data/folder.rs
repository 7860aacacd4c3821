//! Image folders: one folder per class, or a flat folder with a `classes.csv` or a `labels.json`. Files are decoded
//! when they are used, on whatever thread asks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fast_image_resize::PixelType;
use image::{DynamicImage, ImageReader};

use super::memory::{byte_to_float, numbered_classes, resize};
use super::window::{View, Window, resized_side};
use super::{Dataset, Source};
use crate::core::{Cx, Digest, Error, Result};

/// Up to this many files are hashed by content; of more, names and sizes count.
const HASHED: usize = 10_000;

/// What a folder says about its images.
#[derive(Default)]
struct Listing {
    /// Relative to the root.
    files: Vec<PathBuf>,
    labels: Vec<i64>,
    classes: Vec<String>,
}

struct Folder {
    root: PathBuf,
    files: Vec<PathBuf>,
    resize: Option<usize>,
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
    classes: Option<Vec<String>>,
    choose: &dyn Fn(usize) -> Option<Vec<usize>>,
) -> Result<Dataset> {
    let (root, mut listing) = list(folder)?;
    if listing.files.is_empty() {
        return Err(
            Error::file(folder, "no images").hint("wanted are .png, .jpg or .jpeg files in one folder per class")
        );
    }
    if let Some(rows) = choose(listing.files.len()) {
        listing.files = rows.iter().map(|&row| listing.files[row].clone()).collect();
        listing.labels = rows.iter().map(|&row| listing.labels[row]).collect();
    }
    let digest = digest(cx, &root, &listing.files)?;
    let (canvas, side) = sides(cx, &root, &listing.files, view)?;
    let edge = View::edge(canvas);
    let seen = format!("{:?} {canvas:?}", view.resize);
    let source = Folder { root, files: listing.files, resize: view.resize, canvas, side };
    let digest = Digest::of_parts(&[&digest.0, seen.as_bytes()]);
    Dataset::new(name, Arc::new(source), listing.labels, classes.unwrap_or(listing.classes), edge, digest)
}

fn digest(cx: &Cx, root: &Path, files: &[PathBuf]) -> Result<Digest> {
    let task = cx.progress("hashing images", Some(files.len() as u64));
    let mut text = String::new();
    for file in files {
        cx.check()?;
        task.advance(1);
        let path = root.join(file);
        // Reading a pipe may never end.
        if path.exists() && !path.is_file() {
            return Err(Error::file(&path, "not a file"));
        }
        let of_file = if files.len() <= HASHED {
            Digest::of_file(&path)?.hex()
        } else {
            std::fs::metadata(&path).map_err(|e| Error::file(&path, e))?.len().to_string()
        };
        text += &format!("{} {of_file}\n", file.display());
    }
    Ok(Digest::of(text.as_bytes()))
}

/// Crop and margin, where there is a crop.
type Canvas = Option<(usize, usize)>;

/// The canvas, and `[H, W]` of what will be read. The headers of all files are read where their sizes decide.
fn sides(cx: &Cx, root: &Path, files: &[PathBuf], view: &View) -> Result<(Canvas, [usize; 2])> {
    if let (Some(side), Some(_)) = (view.resize, view.crop.or(view.margin)) {
        let canvas = view.canvas(side)?;
        let whole = Window::centred(side, side, canvas);
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
    let window = Window::centred(height, width, canvas);
    Ok((canvas, [window.height, window.width]))
}

impl Folder {
    fn decode(&self, index: usize) -> Result<DynamicImage> {
        let path = self.root.join(&self.files[index]);
        let failed = |e: &dyn std::fmt::Display| Error::file(&path, format!("not an image that can be read: {e}"));
        let reader = ImageReader::open(&path).map_err(|e| Error::file(&path, e))?;
        let reader = reader.with_guessed_format().map_err(|e| failed(&e))?;
        reader.decode().map_err(|e| failed(&e))
    }
}

impl Source for Folder {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn shape(&self) -> [usize; 3] {
        [3, self.side[0], self.side[1]]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let image = self.decode(index)?.into_rgb8();
        let (mut width, mut height) = (image.width() as usize, image.height() as usize);
        let mut bytes = image.into_raw();
        if let Some(side) = self.resize {
            let (new_height, new_width) = resized_side(height, width, side);
            if (new_height, new_width) != (height, width) {
                bytes = resize(bytes, PixelType::U8x3, (width, height), (new_width, new_height))?;
                (width, height) = (new_width, new_height);
            }
        }
        let [h, w] = self.side;
        // The file may have been replaced since its header was read.
        if height < h || width < w || (self.canvas.is_none() && (height, width) != (h, w)) {
            return Err(Error::data(format!(
                "{}: {height} x {width} pixels, wanted {h} x {w}",
                self.files[index].display()
            )));
        }
        let window = Window::centred(height, width, self.canvas);
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

/// The folder that names are relative to, and what it lists.
fn list(folder: &Path) -> Result<(PathBuf, Listing)> {
    // Beside the folder of images counts too.
    for root in [folder, folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(folder)] {
        let table = root.join("classes.csv");
        if table.is_file() && (root == folder || folder.ends_with("images")) {
            return Ok((root.to_path_buf(), from_csv(&table)?));
        }
    }
    let labels = folder.join("labels.json");
    let listing = if labels.is_file() { from_json(&labels)? } else { by_folder(folder)? };
    Ok((folder.to_path_buf(), listing))
}

/// One folder per class, in alphabetical order; files too.
fn by_folder(folder: &Path) -> Result<Listing> {
    let mut listing = Listing::default();
    let entries = sorted(folder)?;
    for class in entries.iter().filter(|path| path.is_dir()) {
        let name = class.file_name().unwrap_or_default();
        let images = sorted(class)?.into_iter().filter(|path| is_image(path));
        let files: Vec<PathBuf> = images.filter_map(|path| Some(Path::new(name).join(path.file_name()?))).collect();
        if !files.is_empty() {
            listing.labels.extend(std::iter::repeat_n(listing.classes.len() as i64, files.len()));
            listing.classes.push(name.to_string_lossy().into_owned());
            listing.files.extend(files);
        }
    }
    let data = entries.iter().find(|path| {
        path.extension()
            .is_some_and(|ending| ["npz", "mat", "bin"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
    });
    if let Some(data) = data.filter(|_| listing.files.is_empty()) {
        return Err(Error::file(folder, "no images, but files of data").hint(format!("name one: {}", data.display())));
    }
    if listing.files.is_empty() && entries.iter().any(|path| is_image(path)) {
        return Err(Error::file(folder, "images without labels").hint(
            "put them in one folder per class, or add a classes.csv (index, name, file) or a labels.json ({\"file\": label})",
        ));
    }
    Ok(listing)
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::file(folder, e))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|e| Error::file(folder, e))?.path());
    }
    paths.retain(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')));
    paths.sort();
    Ok(paths)
}

fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    matches!(ending.as_str(), "png" | "jpg" | "jpeg")
}

/// A table with a column of class numbers, one of files (empty: the class has no image) and, if there is one, one of
/// names.
fn from_csv(path: &Path) -> Result<Listing> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::file(path, e))?;
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map(|(_, line)| cells(line)).unwrap_or_default();
    let column =
        |wanted: &[&str]| wanted.iter().find_map(|w| header.iter().position(|h| h.trim().eq_ignore_ascii_case(w)));
    let (Some(number), Some(file)) =
        (column(&["index", "label", "class"]), column(&["staged_file", "file", "filename", "path", "image"]))
    else {
        return Err(Error::file(path, format!("its columns are {}", header.join(", ")))
            .hint("wanted are a column `index` of class numbers from 0 and a column `file`; `name` is read too"));
    };
    let name = column(&["name", "class_name"]).or_else(|| header.iter().position(|h| h.starts_with("name")));
    let mut listing = Listing::default();
    let mut names: BTreeMap<i64, String> = BTreeMap::new();
    for (line, text) in lines {
        let row = cells(text);
        let wrong = |what: String| Error::file(path, format!("line {}: {what}", line + 1));
        let get = |column: usize| row.get(column).map(|cell| cell.trim()).unwrap_or_default();
        let label: i64 = get(number).parse().map_err(|_| wrong(format!("{:?} is no class number", get(number))))?;
        if !(0..super::dataset::MAX_CLASSES as i64).contains(&label) {
            return Err(wrong(format!("class number {label}; they count from 0")));
        }
        if let Some(name) = name.map(get).filter(|name| !name.is_empty()) {
            names.entry(label).or_insert_with(|| name.into());
        }
        names.entry(label).or_insert_with(|| label.to_string());
        if !get(file).is_empty() {
            listing.files.push(get(file).into());
            listing.labels.push(label);
        }
    }
    let n = names.keys().max().map_or(0, |&label| label + 1);
    listing.classes = (0..n).map(|label| names.remove(&label).unwrap_or_else(|| label.to_string())).collect();
    Ok(listing)
}

/// The cells of a line; quotes keep commas, and double quotes stand for one.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, cells.last_mut()) {
            ('"', Some(cell)) if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    cells
}

/// `{ "file": label }`, labels being class numbers or class names, which are numbered in alphabetical order.
fn from_json(path: &Path) -> Result<Listing> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::file(path, e))?;
    let map: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text)
        .map_err(|e| Error::file(path, e).hint("wanted is one object: { \"image.png\": 3, ... }"))?;
    let mut listing = Listing { files: map.keys().map(PathBuf::from).collect(), ..Listing::default() };
    let numbers: Option<Vec<i64>> = map.values().map(serde_json::Value::as_i64).collect();
    let names: Option<Vec<&str>> = map.values().map(serde_json::Value::as_str).collect();
    match (numbers, names) {
        (Some(labels), _) => {
            listing.classes = numbered_classes(&labels).map_err(|e| e.during(&path.display().to_string()))?;
            listing.labels = labels;
        }
        (_, Some(names)) => {
            let mut classes: Vec<&str> = names.clone();
            classes.sort_unstable();
            classes.dedup();
            listing.labels = names.iter().map(|name| classes.binary_search(name).unwrap_or_default() as i64).collect();
            listing.classes = classes.into_iter().map(String::from).collect();
        }
        _ => return Err(Error::file(path, "labels must be all class numbers or all class names")),
    }
    Ok(listing)
}
