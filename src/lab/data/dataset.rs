//! A data set: labelled images that stay on disk or as bytes until they are used.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tch::Device;

use super::alike_names::alike_names;
use super::latents::Latents;
use super::numbering::MAX_CLASSES;
use super::{Objects, Source};
use crate::core::{Cautions, Cx, Digest, Error, Result, Tensor, Value, bytes_of, on_device};
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

/// What was found where the images come from and is not among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub name: String,
    pub why: String,
}

/// How many different images a set holds: with each label, and whatever their labels.
struct Different {
    of_label: BTreeMap<i64, usize>,
    at_all: usize,
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

    /// The digest follows from what the set holds, not from how it was put together: `take(5).take(3)` is `take(3)`.
    fn identified(mut self) -> Self {
        let changes: Vec<String> = self.preprocessing.iter().map(Preprocessing::identity).collect();
        let kind = format!(
            "{} [{}] {}",
            self.edge.identity(),
            changes.join(", "),
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

    /// The same data with what was left out as it was read.
    pub(super) fn with_skipped(self, skipped: Vec<Skipped>) -> Self {
        Self { skipped: skipped.into(), ..self }
    }

    /// What could not be read where the images come from, or is there twice.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// What is to be said beside every result of these images.
    pub fn noticed(&self) -> Cautions {
        let views = [self.in_clusters(), self.overlapping()];
        let noticed = [self.incomplete(), self.copied()].into_iter().chain(views).chain([
            self.lying(),
            self.see_through(),
            self.foreign_colours(),
        ]);
        noticed.flatten().chain(self.departures()).chain(self.told()).collect()
    }

    /// What is to be said of how these images were read and which they are, whatever is made of them.
    pub fn noticed_in_reading(&self) -> Cautions {
        let noticed = [self.incomplete(), self.see_through(), self.foreign_colours()];
        noticed.into_iter().flatten().chain(self.departures()).chain(self.told()).collect()
    }

    /// The same data, with more to be said beside every result of it.
    pub fn with_noticed(self, noticed: Vec<String>) -> Self {
        Self { told: self.told.iter().cloned().chain(noticed).collect(), ..self }
    }

    /// The same data, of images that were kept by how a model answers: `why`.
    pub fn chosen(self, why: &str) -> Self {
        let told = format!(
            "images of {} were kept because {why}: accuracy, calibration and comparisons of models on them are not those of images that nobody chose",
            self.name
        );
        self.with_noticed(vec![told])
    }

    /// Notes labels that may be numbered from 1, the numbers 1 to K, all of them, of classes without names; and names that are nearly the same.
    pub fn told_of_labels(self) -> Self {
        let counts = self.counts();
        let alike = alike_names(&self.classes, &counts);
        let numbered = super::are_numbers(&self.classes) && counts.len() > 2;
        let from_one = numbered && counts[0] == 0 && counts[1..].iter().all(|n| *n > 0);
        Self { from_one, ..self }.with_noticed(alike.into_iter().collect())
    }

    fn numbered_from_one(&self) -> Option<String> {
        self.from_one.then(|| {
            format!(
                "labels of {} are 1 to {} and none is 0: they may be numbered from 1, and classes are from 0",
                self.name,
                self.classes.len() - 1
            )
        })
    }

    /// What a set that these images go into says of them.
    pub(super) fn told(&self) -> Vec<String> {
        self.told.iter().cloned().chain(self.numbered_from_one()).collect()
    }

    /// What could not be read.
    fn incomplete(&self) -> Option<String> {
        let first = self.skipped.first()?;
        let n = self.skipped.len();
        Some(format!("{}: {n} skipped as it was read, the first of them {}: {}", self.name, first.name, first.why))
    }

    /// A number that equal images have in common, as far as that is known without drawing or decoding them.
    pub(super) fn likeness(&self, row: usize) -> u64 {
        let index = self.rows[row];
        let known = self.source.likeness(index as usize);
        known.unwrap_or_else(|| Digest::of_parts(&[&self.of_source.0, &index.to_le_bytes()]).as_u64())
    }

    /// That number of every image, whatever is made of its pixels as it is read.
    pub fn likenesses(&self) -> Arc<[u64]> {
        let Ok(numbers) = self.likenesses_unless(&|| Ok::<_, Infallible>(()));
        numbers
    }

    /// The same, unless `stopped` has an error to say in between.
    fn likenesses_unless<E>(
        &self,
        stopped: &dyn Fn() -> std::result::Result<(), E>,
    ) -> std::result::Result<Arc<[u64]>, E> {
        /// Sets whose numbers are kept.
        const KEPT: usize = 8;
        const TOGETHER: usize = 256;
        static KNOWN: Mutex<VecDeque<(Digest, Arc<[u64]>)>> = Mutex::new(VecDeque::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, numbers)) = known.iter().find(|(digest, _)| *digest == self.digest) {
            return Ok(numbers.clone());
        }
        let likeness = |row: usize| {
            if row.is_multiple_of(TOGETHER) {
                stopped()?;
            }
            Ok(self.likeness(row))
        };
        let numbers = (0..self.len()).map(likeness).collect::<std::result::Result<Arc<[u64]>, E>>()?;
        known.truncate(KEPT - 1);
        known.push_front((self.digest, numbers.clone()));
        Ok(numbers)
    }

    pub(super) fn likeness_of_object(&self, row: usize) -> Option<u64> {
        self.source.likeness_of_object(self.rows[row] as usize)
    }

    /// Of images that are views of objects, those numbers of the objects, image by image.
    pub fn likenesses_of_objects(&self) -> impl Iterator<Item = Option<u64>> {
        (0..self.len()).map(|row| self.likeness_of_object(row))
    }

    pub(super) fn is_see_through(&self, row: usize) -> bool {
        self.source.is_see_through(self.rows[row] as usize)
    }

    pub(super) fn has_foreign_colours(&self, row: usize) -> bool {
        self.source.has_foreign_colours(self.rows[row] as usize)
    }

    /// The object from a file that the image in this row shows, where it shows one, whatever is made of its pixels as it is read.
    pub(super) fn object_from_file(&self, row: usize) -> Option<Arc<Mesh>> {
        self.source.object_from_file(self.rows[row] as usize)
    }

    pub(super) fn is_to_be_turned(&self, row: usize) -> bool {
        self.source.is_to_be_turned(self.rows[row] as usize)
    }

    /// How many pictures are read as they are stored though their files say that they are to be turned.
    pub(super) fn unturned(&self) -> usize {
        (0..self.len()).filter(|&row| self.is_to_be_turned(row)).count()
    }

    /// How many pictures are see-through somewhere.
    pub(super) fn seen_through(&self) -> usize {
        (0..self.len()).filter(|&row| self.is_see_through(row)).count()
    }

    fn see_through(&self) -> Option<String> {
        let count = self.seen_through();
        (count > 0).then(|| {
            format!(
                "{count} of the {} pictures of {} are see-through in parts (alpha), and colours that are hidden there are read as if they were not",
                self.len(),
                self.name
            )
        })
    }

    fn foreign_colours(&self) -> Option<String> {
        let count = (0..self.len()).filter(|&row| self.has_foreign_colours(row)).count();
        (count > 0).then(|| {
            format!(
                "{count} of the {} pictures of {} have a colour profile that is not sRGB, and their numbers are read as if they had none: people see other \
                 colours",
                self.len(),
                self.name
            )
        })
    }

    fn lying(&self) -> Option<String> {
        let unturned = self.unturned();
        (unturned > 0).then(|| {
            format!(
                "{unturned} of the {} pictures of {} are to be turned or mirrored before they are shown, as their files say (EXIF), and are read as \
                 they are stored",
                self.len(),
                self.name
            )
        })
    }

    /// What was noticed of the generator that drew the images, where one did.
    pub fn drawn_by(&self) -> Cautions {
        self.source.noticed()
    }

    /// How many different images there are of each label, and how many at all.
    fn different(&self) -> Arc<Different> {
        static KNOWN: Mutex<BTreeMap<Digest, Arc<Different>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let of = known.entry(self.digest).or_insert_with(|| {
            let mut images: Vec<(u64, i64)> =
                self.likenesses().iter().copied().zip(self.labels.iter().copied()).collect();
            images.sort_unstable();
            images.dedup();
            let mut of_label = BTreeMap::new();
            images.iter().for_each(|(_, label)| *of_label.entry(*label).or_insert(0) += 1);
            images.dedup_by_key(|(likeness, _)| *likeness);
            Arc::new(Different { of_label, at_all: images.len() })
        });
        of.clone()
    }

    /// Of every image the first row with the same pixels, its own where none comes before: pixels as they are read, and where all come of files
    /// or of one array as these are stored.
    pub fn first_alike(&self, cx: &Cx) -> Result<Vec<usize>> {
        const TOGETHER: usize = 256;
        let alike: Arc<[u64]> = if self.source.compares_stored() {
            self.likenesses_unless(&|| cx.check())?
        } else {
            let rows: Vec<usize> = (0..self.len()).collect();
            let mut alike = Vec::with_capacity(self.len());
            let task = cx.progress("images compared", Some(self.len() as u64));
            for some in rows.chunks(TOGETHER) {
                cx.check()?;
                let pixels = Vec::<f32>::try_from(&self.images(some, Device::Cpu)?.f_contiguous()?.f_reshape([-1])?)?;
                alike.extend(pixels.chunks(pixels.len() / some.len()).map(|image| {
                    let mut hasher = DefaultHasher::new();
                    // One zero for both.
                    image.iter().for_each(|x| hasher.write_u32((x + 0.0).to_bits()));
                    hasher.finish()
                }));
                task.advance(some.len() as u64);
            }
            alike.into()
        };
        let mut first = HashMap::new();
        Ok(alike.iter().enumerate().map(|(row, alike)| *first.entry(*alike).or_insert(row)).collect())
    }

    /// How many of the images are no copies of others.
    pub fn distinct(&self) -> usize {
        self.different().at_all
    }

    /// How many different images have this label.
    pub fn distinct_of(&self, label: i64) -> usize {
        self.different().of_label.get(&label).copied().unwrap_or(0)
    }

    /// What is to be said where many images are there several times. Where all are one image it stands for none.
    fn copied(&self) -> Option<String> {
        /// Fewer change no interval by much.
        const SHARE: f64 = 0.01;
        let different = self.different();
        // Of copies within a cluster its size tells.
        let copies = match self.clusters() {
            Some(clusters) => {
                let mut first = HashMap::new();
                let all = self.likenesses();
                all.iter()
                    .zip(clusters)
                    .filter(|(likeness, cluster)| first.entry(**likeness).or_insert(*cluster) != cluster)
                    .count()
            }
            None => self.len() - different.at_all,
        };
        (different.at_all > 1 && copies as f64 >= SHARE * self.len() as f64 && copies > 0).then(|| {
            let otherwise = match different.of_label.values().sum::<usize>() - different.at_all {
                0 => String::new(),
                n => format!(", {n} of them under another label"),
            };
            format!(
                "{copies} of the {} images of {} are copies of others{otherwise}: tests and intervals take all for independent of each other",
                self.len(),
                self.name
            )
        })
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
    pub(super) fn read(&self, rows: &[usize], stop: &AtomicBool) -> Result<Vec<f32>> {
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
            if stop.load(Ordering::Relaxed) {
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
        self.tensor(&self.read(rows, &AtomicBool::new(false))?, rows.len(), device)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Quiet;

    #[test]
    fn copies_are_looked_for_once_and_until_told_to_stop() -> Result<()> {
        let images = Tensor::from_slice(&[0u8, 255, 0, 128]).reshape([4, 1, 1, 1]);
        let set = super::super::from_tensor(&images, vec![0; 4], None, false)?;
        let cx = Cx::new(Box::new(Quiet));
        cx.stop_after(Some(0));
        assert!(set.first_alike(&cx).is_err_and(|error| error.is_interrupted()));
        let cx = Cx::new(Box::new(Quiet));
        assert_eq!(set.first_alike(&cx)?, [0, 1, 0, 3]);
        let polls = cx.polls();
        assert_eq!(set.first_alike(&cx)?, [0, 1, 0, 3]);
        assert_eq!(cx.polls(), polls, "the numbers are known");
        Ok(())
    }
}
