//! A data set: labelled images that stay on disk or as bytes until they are used.

mod copies;
mod noticed;

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tch::Device;

pub use self::noticed::Skipped;
use super::latents::Latents;
use super::numbering::MAX_CLASSES;
use super::{Objects, Source};
use crate::core::{Cx, Digest, Error, Result, Tensor, Value, bytes_of, on_device};
use crate::render::Mesh;

/// Floats that are read at once, at most: 2 GiB.
const LARGEST_READ: usize = 1 << 29;

/// What a translation meets at the border of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// The image is a torus: what leaves on one side enters on the other.
    Wrap,
    /// The canvas is this many pixels larger than the image on every side; translations move the crop window.
    Margin(usize),
    /// Nothing is known beyond the border.
    None,
}

impl Edge {
    /// How digests know it, which stays when it gets a better name.
    fn identity(self) -> String {
        match self {
            Self::Wrap => "Wrap".into(),
            Self::Margin(pixels) => format!("Margin({pixels})"),
            Self::None => "None".into(),
        }
    }

    pub fn name(self) -> String {
        match self {
            Self::Wrap => "wrap".into(),
            Self::Margin(n) => format!("margin({n})"),
            Self::None => "none".into(),
        }
    }
}

/// A change made to every image as it is read; part of the data set's identity.
#[derive(Clone, PartialEq)]
pub enum Preprocessing {
    /// NTSC weights 0.299, 0.587, 0.114.
    Grey,
    /// Subtracts the image's mean over all channels and pixels that models see.
    Centre,
    /// Subtracts the image's mean and divides by its standard deviation (at least 1/255, so that flat images stay
    /// finite).
    Standardise,
    /// Divides each pixel by a number of its own.
    Scale(PixelScale),
}

/// What each pixel of a canvas is divided by.
#[derive(Clone, PartialEq)]
pub struct PixelScale {
    divisors: Arc<[f32]>,
    digest: Digest,
}

impl Preprocessing {
    /// How digests know it, which stays when types get better names.
    fn identity(&self) -> String {
        match self {
            Self::Grey => "Grey".into(),
            Self::Centre => "Centre".into(),
            Self::Standardise => "Standardise".into(),
            Self::Scale(scale) => format!("Scale(PixelScale({}))", scale.digest.hex()),
        }
    }
}

/// Whose errors images were made or chosen for, which therefore say nothing against it.
#[derive(Clone, Copy, PartialEq)]
pub enum MisreadBy {
    Nobody,
    Model(Digest),
    /// Whom is not known, as of what a generator draws that was finetuned against a classifier.
    Somebody,
}

/// Labelled images that stay where they are until they are read; a cheap handle.
#[derive(Clone)]
pub struct Dataset {
    pub name: String,
    pub(super) source: Arc<dyn Source>,
    /// Which images of the source, in which order.
    pub(super) rows: Arc<[u32]>,
    /// One label per row.
    labels: Arc<[i64]>,
    classes: Arc<[String]>,
    edge: Edge,
    preprocessing: Vec<Preprocessing>,
    /// Whether the source's own pixels need not lie in [0, 1].
    any_range: bool,
    /// Whether labels are what searches go by, and not what is to be seen.
    arbitrary_labels: bool,
    misread_by: MisreadBy,
    /// Of every row a number that images which say much the same have in common, where that was said.
    clusters: Option<Arc<[u64]>>,
    /// Ends the sentence "classes are numbered", where that was decided by their names.
    numbered: Option<Arc<str>>,
    /// Changes of `space::` that are known not to keep label and density of these images, and why.
    pub(super) cautions: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// Those of these changes after which an image shows another label, or none.
    pub(super) relabelling: Vec<Cow<'static, str>>,
    skipped: Arc<[Skipped]>,
    /// What else was noticed where the images come from.
    told: Arc<[String]>,
    /// How many classes there were where images were cut from a set in the order of its classes.
    pub(super) cut_from: Option<usize>,
    /// Whether labels may be numbered from 1, as they were read.
    from_one: bool,
    of_source: Digest,
    pub(super) digest: Digest,
}

impl Dataset {
    /// A data set over a whole source. `digest` identifies the source's images.
    pub fn new(
        name: impl Into<String>,
        source: Arc<dyn Source>,
        labels: Vec<i64>,
        classes: Vec<String>,
        edge: Edge,
        digest: Digest,
    ) -> Result<Self> {
        let name = name.into();
        if source.is_empty() {
            return Err(Error::data(format!("{name}: no images")));
        }
        if source.len() > u32::MAX as usize {
            return Err(Error::data(format!("{name}: {} images are more than can be numbered", source.len())));
        }
        if source.len() != labels.len() {
            return Err(Error::data(format!("{name}: {} images but {} labels", source.len(), labels.len())));
        }
        check_labels(&name, &labels, classes.len())?;
        let [c, h, w] = source.shape();
        if c * h * w == 0 {
            return Err(Error::data(format!("{name}: images of {c} x {h} x {w} have no pixels")));
        }
        if let Edge::Margin(n) = edge
            && (2 * n >= h || 2 * n >= w)
        {
            return Err(Error::data(format!("{name}: a margin of {n} leaves nothing of {h} x {w} images")));
        }
        let rows = (0..source.len() as u32).collect();
        let set = Self {
            name,
            source,
            rows,
            labels: labels.into(),
            classes: classes.into(),
            edge,
            preprocessing: vec![],
            any_range: false,
            arbitrary_labels: false,
            misread_by: MisreadBy::Nobody,
            clusters: None,
            numbered: None,
            cautions: vec![],
            relabelling: vec![],
            skipped: Arc::new([]),
            told: Arc::new([]),
            cut_from: None,
            from_one: false,
            of_source: digest,
            digest,
        };
        Ok(set.identified())
    }

    /// As that of its source.
    pub(super) fn depth(&self) -> usize {
        self.source.depth()
    }

    /// The same images from another source of them.
    pub(super) fn with_source(self, change: impl FnOnce(Arc<dyn Source>) -> Arc<dyn Source>) -> Self {
        Self { source: change(self.source), ..self }
    }

    /// What the source's images were drawn of, unless they are changed as they are read.
    pub(super) fn source_latents(&self) -> Option<&Latents> {
        self.source.latents().filter(|_| self.preprocessing.is_empty())
    }

    /// The objects that the source's images show, unless they are changed as they are read.
    pub(super) fn source_objects(&self) -> Option<&Arc<dyn Objects>> {
        self.source.objects().filter(|_| self.preprocessing.is_empty())
    }

    /// Which images of the source these rows are.
    pub(super) fn source_rows(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().map(|&row| self.rows[row] as usize).collect()
    }

    /// What is made of the source's pixels as they are read.
    pub(crate) fn preparation(&self) -> String {
        self.preprocessing.iter().map(Preprocessing::identity).collect::<Vec<_>>().join(", ")
    }

    /// The digest follows from what the set holds, not from how it was put together: `take(5).take(3)` is `take(3)`.
    fn identified(mut self) -> Self {
        let kind = format!(
            "{} [{}] {}",
            self.edge.identity(),
            self.preparation(),
            self.classes.iter().map(|name| name.replace('\n', "\\n")).collect::<Vec<_>>().join("\n")
        );
        let (rows, labels) = (bytes_of(&self.rows), bytes_of(&self.labels));
        self.digest = Digest::of_parts(&[&self.of_source.0, &rows, &labels, kind.as_bytes()]);
        // Which images lie together, whatever their clusters are called.
        if let Some(clusters) = self.clusters.as_ref().and_then(|_| self.clusters()) {
            self.digest = Digest::of_parts(&[&self.digest.0, b"clusters", &bytes_of(&clusters)]);
        }
        self
    }

    /// The same images in these clusters.
    pub(super) fn of_clusters(self, clusters: Option<Vec<u64>>) -> Self {
        Self { clusters: clusters.map(Arc::from), ..self }.identified()
    }

    /// Of every image a number that those of its cluster have in common, where that was said.
    pub fn clusters_said(&self) -> Option<&[u64]> {
        self.clusters.as_deref()
    }

    /// The same images in another choice and order; `rows` index into this data set.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::data(format!("{}: no images left", self.name)));
        }
        self.check_rows(rows)?;
        let mut set = self.clone();
        set.rows = rows.iter().map(|&r| self.rows[r]).collect();
        set.labels = rows.iter().map(|&r| self.labels[r]).collect();
        set.clusters = self.clusters.as_ref().map(|clusters| rows.iter().map(|&r| clusters[r]).collect());
        Ok(set.identified())
    }

    /// The same images, of which models see all but so many pixels on every side, which translations bring in.
    pub fn with_margin(self, pixels: usize) -> Result<Self> {
        let [_, h, w] = self.source.shape();
        if 2 * pixels >= h.min(w) {
            return Err(Error::data(format!("{}: a margin of {pixels} leaves nothing of {h} x {w} images", self.name)));
        }
        let edge = if pixels > 0 { Edge::Margin(pixels) } else { Edge::None };
        Ok(Self { edge, ..self }.identified())
    }

    /// The same images with other labels, one per row; `classes` names them, and unnamed ones are called by their
    /// number.
    pub fn relabelled(&self, labels: Vec<i64>, classes: Option<Vec<String>>) -> Result<Self> {
        if labels.len() != self.len() {
            return Err(Error::data(format!("{}: {} images but {} labels", self.name, self.len(), labels.len())));
        }
        let wanted = labels.iter().max().map_or(0, |&label| label.max(-1).saturating_add(1)) as usize;
        if wanted > MAX_CLASSES {
            return Err(Error::data(format!("{}: label {} is too large", self.name, wanted - 1)));
        }
        let named = classes.is_some();
        let mut classes = classes.unwrap_or_else(|| self.classes.to_vec());
        if named && wanted > classes.len() {
            return Err(Error::data(format!(
                "{}: there is a label {}, and `classes` has {} names, for labels from 0",
                self.name,
                wanted - 1,
                classes.len()
            ))
            .hint("name every class, or leave `classes` out"));
        }
        classes.extend((classes.len()..wanted).map(|label| label.to_string()));
        check_labels(&self.name, &labels, classes.len())?;
        let mut set = self.clone();
        set.labels = labels.into();
        set.classes = classes.into();
        set.numbered = None;
        set.from_one = false;
        set.arbitrary_labels = false;
        set.misread_by = MisreadBy::Nobody;
        Ok(set.identified())
    }

    /// The same data with a word on how its classes got their numbers.
    pub(super) fn numbered(mut self, how: String) -> Self {
        self.numbered = Some(how.into());
        self
    }

    /// How classes got their numbers, where that was decided by their names.
    pub fn numbering(&self) -> Option<&str> {
        self.numbered.as_deref()
    }

    /// The same data with a word on why a change, such as `translate` or `flip`, does not keep its labels and density.
    pub fn with_caution(mut self, change: impl Into<Cow<'static, str>>, why: impl Into<Cow<'static, str>>) -> Self {
        self.cautions.push((change.into(), why.into()));
        self
    }

    /// The same of a change after which an image shows another label, or none.
    pub fn with_other_labels(
        mut self,
        change: impl Into<Cow<'static, str>>,
        why: impl Into<Cow<'static, str>>,
    ) -> Self {
        let change = change.into();
        self.relabelling.push(change.clone());
        self.with_caution(change, why)
    }

    /// Why labels do not survive a change of this name, where that is known.
    pub fn other_labels(&self, change: &str) -> Option<&str> {
        let known = self.relabelling.iter().any(|known| known == change);
        if known { self.caution(change) } else { None }
    }

    /// The object from a file that the image in this row shows, where it shows one, whatever is made of its pixels as it is read.
    pub(super) fn object_from_file(&self, row: usize) -> Option<Arc<Mesh>> {
        self.source.object_from_file(self.rows[row] as usize)
    }

    /// Why a change of this name does not keep labels and density, where that is known.
    pub fn caution(&self, change: &str) -> Option<&str> {
        self.cautions.iter().find(|(name, _)| *name == change).map(|(_, why)| &**why)
    }

    /// What image `row` was drawn to show, by name; empty where that is not known.
    pub fn attributes(&self, row: usize) -> Vec<(&'static str, Value)> {
        self.rows.get(row).map_or(vec![], |&index| self.source.attributes(index as usize))
    }

    /// The same data, whose pixels need not lie in [0, 1].
    pub(super) fn of_any_range(mut self) -> Self {
        self.any_range = true;
        self
    }

    /// The same data, whose labels say nothing of what is to be seen, as those of noise that a search begins with.
    pub fn of_arbitrary_labels(self, arbitrary: bool) -> Self {
        Self { arbitrary_labels: arbitrary, ..self }
    }

    /// Whether no model can be judged by its labels.
    pub fn has_arbitrary_labels(&self) -> bool {
        self.arbitrary_labels
    }

    /// The same data, made or chosen for errors.
    pub fn made_for(self, misread_by: MisreadBy) -> Self {
        Self { misread_by, ..self }
    }

    pub fn misread_by(&self) -> MisreadBy {
        self.misread_by
    }

    /// Whether pixels may leave [0, 1].
    pub fn leaves_unit_range(&self) -> bool {
        self.any_range || self.depends_on_whole_image()
    }

    /// Whether an image's pixels depend on all that models see of it, so that a moved crop is another image.
    pub fn depends_on_whole_image(&self) -> bool {
        self.preprocessing.iter().any(|change| *change != Preprocessing::Grey)
    }

    /// The same data, changed as it is read.
    pub fn with(&self, change: Preprocessing) -> Result<Self> {
        if change == Preprocessing::Grey {
            match self.canvas_shape()[0] {
                1 => return Ok(self.clone()),
                3 => {}
                c => {
                    return Err(Error::data(format!("{}: grey needs 3 channels, these images have {c}", self.name)));
                }
            }
        }
        let mut set = self.clone();
        set.preprocessing.push(change);
        Ok(set.identified())
    }

    /// The same data, each pixel divided by its standard deviation over the images of `reference`; pixels that are the same in all
    /// of them stay as they are.
    pub fn scaled(&self, cx: &Cx, reference: &Self) -> Result<Self> {
        // Less than rounding makes of a pixel that never changes.
        const CONSTANT: f64 = 1e-6;
        let shape = self.canvas_shape();
        if reference.canvas_shape() != shape || reference.edge != self.edge {
            return Err(Error::data(format!(
                "{} has images {:?} with edge {}, {} has {:?} with edge {}",
                self.name,
                shape,
                self.edge.name(),
                reference.name,
                reference.canvas_shape(),
                reference.edge.name()
            ))
            .hint("the deviations must be of the same pixels"));
        }
        if reference.preprocessing != self.preprocessing {
            return Err(Error::data(format!("{} and {} are not prepared in the same way", self.name, reference.name))
                .hint("apply grey(), centre() and the like to both before the deviations are taken"));
        }
        let task = cx.progress(&format!("deviations of {}", reference.name), Some(reference.len() as u64));
        let device = Device::Cpu;
        let [c, h, w] = shape.map(|side| side as i64);
        let zeros = || Tensor::f_zeros([c, h, w], (tch::Kind::Double, device));
        let (mut sum, mut squares) = (zeros()?, zeros()?);
        // Two passes, as the deviation may be small beside the mean.
        for pass in 0..2 {
            let mean = sum.f_div_scalar(reference.len() as f64)?;
            for part in reference.stream_of(cx, (0..reference.len()).collect(), 256) {
                cx.check()?;
                let pixels = on_device(&part?.canvases, device)?.f_to_kind(tch::Kind::Double)?;
                let total = |x: Tensor| x.f_sum_dim_intlist([0i64].as_slice(), false, tch::Kind::Double);
                if pass == 0 {
                    task.advance(pixels.size()[0] as u64);
                    sum = sum.f_add(&total(pixels)?)?;
                } else {
                    squares = squares.f_add(&total(pixels.f_sub(&mean)?.f_square()?)?)?;
                }
            }
        }
        let deviations = squares.f_div_scalar(reference.len() as f64)?.f_sqrt()?;
        let divisors = deviations.f_masked_fill(&deviations.f_lt(CONSTANT)?, 1.0)?.f_to_kind(tch::Kind::Float)?;
        let digest = Digest::of_tensor(&divisors)?;
        let divisors: Vec<f32> = Vec::try_from(&divisors.f_reshape([-1])?)?;
        let scaled = self.with(Preprocessing::Scale(PixelScale { divisors: divisors.into(), digest }))?;
        let why = "each pixel is divided by a number of its own";
        Ok(["translate", "flip", "turn"].into_iter().fold(scaled, |set, change| set.with_caution(change, why)))
    }

    /// The same data in grey.
    pub fn grey(&self) -> Result<Self> {
        self.with(Preprocessing::Grey)
    }

    fn check_rows(&self, rows: &[usize]) -> Result<()> {
        match rows.iter().find(|&&row| row >= self.len()) {
            Some(row) => Err(Error::argument(format!("{}: no image {row} among {}", self.name, self.len()))),
            None => Ok(()),
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn labels(&self) -> &[i64] {
        &self.labels
    }

    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    pub fn edge(&self) -> Edge {
        self.edge
    }

    /// `[C, H, W]` of what models see.
    pub fn shape(&self) -> [usize; 3] {
        let [c, h, w] = self.canvas_shape();
        match self.edge {
            Edge::Margin(n) => [c, h - 2 * n, w - 2 * n],
            _ => [c, h, w],
        }
    }

    /// `[C, H, W]` with the margin that translations may bring in.
    pub fn canvas_shape(&self) -> [usize; 3] {
        let [c, h, w] = self.source.shape();
        if self.preprocessing.contains(&Preprocessing::Grey) { [1, h, w] } else { [c, h, w] }
    }

    /// Reads the canvases of these rows as one flat `N x C x H x W` buffer; stops between images when told to. Safe
    /// to call from any thread; a panic of a decoder is an error.
    pub(super) fn read(&self, rows: &[usize], stops: &[&AtomicBool]) -> Result<Vec<f32>> {
        self.check_rows(rows)?;
        let wanted: usize = self.canvas_shape().iter().product();
        if wanted.saturating_mul(rows.len()) > LARGEST_READ {
            let [c, h, w] = self.canvas_shape();
            return Err(Error::data(format!(
                "{}: {} images of {c} x {h} x {w} are too large to hold at once",
                self.name,
                rows.len()
            ))
            .hint("load them smaller with `resize` or `crop`, or use a smaller `batch`"));
        }
        let mut all = vec![0f32; rows.len() * wanted];
        let mut scratch = Vec::new();
        for (&row, pixels) in rows.iter().zip(all.chunks_mut(wanted)) {
            if stops.iter().any(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Error::interrupted());
            }
            let index = self.rows[row] as usize;
            let work = AssertUnwindSafe(|| self.read_one(index, pixels, &mut scratch));
            std::panic::catch_unwind(work)
                .unwrap_or_else(|_| {
                    Err(Error::data("the decoder broke down")
                        .hint("the file may be damaged; decode it again elsewhere"))
                })
                .map_err(|error| error.during(&format!("{}: image {row}", self.name)))?;
        }
        Ok(all)
    }

    fn read_one(&self, index: usize, pixels: &mut [f32], scratch: &mut Vec<f32>) -> Result<()> {
        let mut changes = self.preprocessing.as_slice();
        if self.source.shape()[0] == self.canvas_shape()[0] {
            self.source.read(index, pixels)?;
        } else {
            scratch.resize(self.source.shape().iter().product(), 0.0);
            self.source.read(index, scratch)?;
            // What comes before the change to grey is made in colour.
            while let Some((change, rest)) = changes.split_first() {
                changes = rest;
                if *change == Preprocessing::Grey {
                    break;
                }
                self.shift(change, scratch);
            }
            grey(scratch, pixels);
        }
        for change in changes {
            self.shift(change, pixels);
        }
        Ok(())
    }

    /// Moves the mean of what models see to 0, and for `Standardise` its standard deviation to 1; or divides pixel by pixel.
    fn shift(&self, change: &Preprocessing, pixels: &mut [f32]) {
        if let Preprocessing::Scale(scale) = change {
            pixels.iter_mut().zip(scale.divisors.iter()).for_each(|(x, divisor)| *x /= divisor);
            return;
        }
        let [_, canvas_h, canvas_w] = self.canvas_shape();
        let [_, h, w] = self.shape();
        let margin = (canvas_h - h) / 2;
        let (mut sum, mut squares, mut count) = (0f64, 0f64, 0f64);
        for plane in pixels.chunks(canvas_h * canvas_w) {
            for row in plane.chunks(canvas_w).skip(margin).take(h) {
                for &x in &row[margin..margin + w] {
                    sum += x as f64;
                    squares += (x as f64).powi(2);
                    count += 1.0;
                }
            }
        }
        let mean = sum / count;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt();
        let scale = if *change == Preprocessing::Standardise { deviation.max(1.0 / 255.0) } else { 1.0 };
        pixels.iter_mut().for_each(|x| *x = ((*x as f64 - mean) / scale) as f32);
    }

    /// The canvases of these rows, `N x C x H x W` in [0, 1], on `device`.
    pub fn canvases(&self, rows: &[usize], device: Device) -> Result<Tensor> {
        self.tensor(&self.read(rows, &[])?, rows.len(), device)
    }

    pub(super) fn tensor(&self, pixels: &[f32], n: usize, device: Device) -> Result<Tensor> {
        let [c, h, w] = self.canvas_shape();
        let flat = Tensor::f_from_slice(pixels)?;
        on_device(&flat.f_reshape([n as i64, c as i64, h as i64, w as i64])?, device)
    }

    /// The images of these rows as models see them.
    pub fn images(&self, rows: &[usize], device: Device) -> Result<Tensor> {
        self.centre(&self.canvases(rows, device)?)
    }

    /// Cuts the margin off canvases.
    pub fn centre(&self, canvases: &Tensor) -> Result<Tensor> {
        let [_, h, w] = self.shape();
        match self.edge {
            Edge::Margin(n) => Ok(canvases.f_narrow(2, n as i64, h as i64)?.f_narrow(3, n as i64, w as i64)?),
            _ => Ok(canvases.shallow_clone()),
        }
    }

    /// The labels of these rows, int64.
    pub fn label_tensor(&self, rows: &[usize], device: Device) -> Result<Tensor> {
        self.check_rows(rows)?;
        let labels: Vec<i64> = rows.iter().map(|&row| self.labels[row]).collect();
        on_device(&Tensor::f_from_slice(&labels)?, device)
    }

    /// How many images each class has.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for &label in self.labels.iter() {
            counts[label as usize] += 1;
        }
        counts
    }

    /// The identity of the images that these are a choice of.
    pub fn source_digest(&self) -> Digest {
        self.of_source
    }

    /// Notes this data set among the inputs of the run.
    pub fn record(&self, cx: &Cx) {
        cx.record_input("data", &self.name, self.digest);
    }

    /// Notes this data set among the inputs of the run, with the file or folder that it was read from.
    pub fn record_from(&self, cx: &Cx, path: &std::path::Path) {
        cx.record_input_from("data", &self.name, self.digest, path);
    }
}

fn check_labels(name: &str, labels: &[i64], classes: usize) -> Result<()> {
    match labels.iter().enumerate().find(|(_, label)| **label < 0 || **label >= classes as i64) {
        Some((row, label)) => {
            let range = if classes == 0 {
                "where there are no classes".into()
            } else {
                format!("outside 0 to {}", classes - 1)
            };
            Err(Error::data(format!("{name}: image {row} has label {label}, {range}"))
                .hint("labels count from 0; give `classes` if there are more than the files name"))
        }
        None => Ok(()),
    }
}

fn grey(rgb: &[f32], out: &mut [f32]) {
    let plane = out.len();
    for (i, pixel) in out.iter_mut().enumerate() {
        *pixel = 0.299 * rgb[i] + 0.587 * rgb[plane + i] + 0.114 * rgb[2 * plane + i];
    }
}
