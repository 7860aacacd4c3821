//! A data set: labelled images that stay on disk or as bytes until they are used.

use std::sync::Arc;

use tch::Device;

use crate::core::{Cx, Digest, Error, Object, Result, Tensor, Value};

/// Where images come from. Reading is called from worker threads, so a source holds paths and bytes, no tensors.
pub trait Source: Send + Sync {
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `[C, H, W]` of what `read` gives: the canvas, its margin included.
    fn shape(&self) -> [usize; 3];

    /// Writes image `index` as `C x H x W` floats in [0, 1].
    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()>;
}

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
    pub fn name(self) -> String {
        match self {
            Self::Wrap => "wrap".into(),
            Self::Margin(n) => format!("margin({n})"),
            Self::None => "none".into(),
        }
    }
}

/// A change made to every image as it is read; part of the data set's identity.
#[derive(Clone)]
pub enum Preprocessing {
    /// NTSC weights 0.299, 0.587, 0.114.
    Grey,
}

#[derive(Clone)]
pub struct Dataset {
    pub name: String,
    source: Arc<dyn Source>,
    /// Which images of the source, in which order.
    rows: Arc<[u32]>,
    /// One label per row.
    labels: Arc<[i64]>,
    classes: Arc<[String]>,
    edge: Edge,
    preprocessing: Vec<Preprocessing>,
    digest: Digest,
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
        if source.len() != labels.len() {
            return Err(Error::data(format!("{name}: {} images but {} labels", source.len(), labels.len())));
        }
        if let Some((row, label)) = labels.iter().enumerate().find(|(_, l)| **l < 0 || **l >= classes.len() as i64) {
            return Err(Error::data(format!(
                "{name}: image {row} has label {label}, outside 0 to {}",
                classes.len() as i64 - 1
            ))
            .hint("labels count from 0; give `classes` if there are more than the files name"));
        }
        if let Edge::Margin(n) = edge {
            let [_, h, w] = source.shape();
            if 2 * n >= h || 2 * n >= w {
                return Err(Error::data(format!("{name}: a margin of {n} leaves nothing of {h} x {w} images")));
            }
        }
        let rows = (0..source.len() as u32).collect();
        let mut set = Self {
            name,
            source,
            rows,
            labels: labels.into(),
            classes: classes.into(),
            edge,
            preprocessing: vec![],
            digest,
        };
        set.digest = set.identity(digest);
        Ok(set)
    }

    fn identity(&self, of_source: Digest) -> Digest {
        let mut bytes = of_source.0.to_vec();
        bytes.extend(self.rows.iter().flat_map(|row| row.to_le_bytes()));
        bytes.extend(self.labels.iter().flat_map(|label| label.to_le_bytes()));
        bytes.extend(format!("{:?} {}", self.edge, self.preprocessing.len()).bytes());
        Digest::of(&bytes)
    }

    /// The same images in another choice and order; `rows` index into this data set.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::data(format!("{}: no images left", self.name)));
        }
        let mut set = self.clone();
        set.rows = rows.iter().map(|&r| self.rows[r]).collect();
        set.labels = rows.iter().map(|&r| self.labels[r]).collect();
        set.digest = set.identity(self.digest);
        Ok(set)
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
        if self.preprocessing.iter().any(|p| matches!(p, Preprocessing::Grey)) { [1, h, w] } else { [c, h, w] }
    }

    /// Reads the canvases of these rows as one flat `N x C x H x W` buffer. Safe to call from any thread.
    pub(super) fn read(&self, rows: &[usize]) -> Result<Vec<f32>> {
        let stored: usize = self.source.shape().iter().product();
        let wanted: usize = self.canvas_shape().iter().product();
        let mut all = vec![0f32; rows.len() * wanted];
        let mut raw = vec![0f32; stored];
        for (&row, pixels) in rows.iter().zip(all.chunks_mut(wanted)) {
            let index = self.rows[row] as usize;
            if stored == wanted {
                self.source.read(index, pixels)?;
            } else {
                self.source.read(index, &mut raw)?;
                grey(&raw, pixels);
            }
            if let Some(bad) = pixels.iter().find(|x| !x.is_finite()) {
                return Err(Error::data(format!("{}: image {row} holds {bad}", self.name))
                    .hint("every pixel must be a finite number"));
            }
        }
        Ok(all)
    }

    /// The canvases of these rows, `N x C x H x W` in [0, 1], on `device`.
    pub fn canvases(&self, rows: &[usize], device: Device) -> Result<Tensor> {
        self.tensor(&self.read(rows)?, rows.len(), device)
    }

    pub(super) fn tensor(&self, pixels: &[f32], n: usize, device: Device) -> Result<Tensor> {
        let [c, h, w] = self.canvas_shape();
        let flat = Tensor::f_from_slice(pixels)?;
        Ok(flat.f_reshape([n as i64, c as i64, h as i64, w as i64])?.f_to_device(device)?)
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
        let labels: Vec<i64> = rows.iter().map(|&row| self.labels[row]).collect();
        Ok(Tensor::f_from_slice(&labels)?.f_to_device(device)?)
    }

    /// The same data in grey.
    pub fn grey(&self) -> Result<Self> {
        match self.canvas_shape()[0] {
            1 => Ok(self.clone()),
            3 => {
                let mut set = self.clone();
                set.preprocessing.push(Preprocessing::Grey);
                set.digest = set.identity(self.digest);
                Ok(set)
            }
            c => Err(Error::data(format!("{}: grey needs 3 channels, these images have {c}", self.name))),
        }
    }

    /// Notes this data set among the inputs of the run.
    pub fn record(&self, cx: &Cx) {
        cx.record_input(format!("data {}", self.name), self.digest);
    }
}

fn grey(rgb: &[f32], out: &mut [f32]) {
    let plane = out.len();
    for (i, pixel) in out.iter_mut().enumerate() {
        *pixel = 0.299 * rgb[i] + 0.587 * rgb[plane + i] + 0.114 * rgb[2 * plane + i];
    }
}

impl Object for Dataset {
    fn kind(&self) -> &'static str {
        "Dataset"
    }

    fn summary(&self) -> String {
        let [c, h, w] = self.shape();
        format!(
            "data {}: {} images {c} x {h} x {w}, {} classes, edge {}",
            self.name,
            self.len(),
            self.classes.len(),
            self.edge.name()
        )
    }

    fn fields(&self) -> &'static [&'static str] {
        &["name", "classes", "shape", "labels", "hash", "edge"]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "name" => Value::Str(self.name.clone()),
            "classes" => Value::Array(self.classes.iter().cloned().map(Value::Str).collect()),
            "shape" => Value::ints(self.shape().map(|d| d as i64)),
            "labels" => Value::tensor(Tensor::f_from_slice(&self.labels)?),
            "hash" => Value::Str(self.digest.short()),
            "edge" => Value::Str(self.edge.name()),
            _ => return Ok(None),
        }))
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "name": self.name, "images": self.len(), "shape": self.shape(), "classes": self.classes.len(),
            "edge": self.edge.name(), "hash": self.digest.hex(),
        })
    }

    fn digest(&self) -> Digest {
        self.digest
    }
}
