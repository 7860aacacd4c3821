//! Generators whose latent vectors are those of images: decoders without a distribution to draw them from.

use std::path::Path;
use std::rc::Rc;

use rand::seq::SliceRandom;
use tch::{Device, Kind};

use super::Generator;
use crate::core::{Cx, Digest, Error, Object, Result, Tensor, on_device, random};
use crate::data::Dataset;
use crate::model::weights::{self, Contents};

/// The latent vectors of labelled images.
pub struct Encoded {
    /// `N x latent`, on the CPU.
    latents: Tensor,
    labels: Vec<i64>,
    classes: Vec<String>,
}

/// Part of the stream that puts images in an order.
const ORDER: u64 = 1 << 57;

impl Encoded {
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The names of the labels.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// How many have a label.
    pub fn count(&self, label: i64) -> usize {
        self.labels.iter().filter(|own| **own == label).count()
    }

    /// The images in the order that belongs to a seed.
    pub fn in_order(&self, seed: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.shuffle(&mut random(seed, ORDER));
        order
    }

    /// Those with a label, in that order.
    pub fn of_label(&self, seed: u64, label: i64) -> Vec<usize> {
        self.in_order(seed).into_iter().filter(|&i| self.labels[i] == label).collect()
    }

    fn part<'a>(&self, order: &'a [usize], first: usize, count: usize) -> Result<&'a [usize]> {
        first.checked_add(count).and_then(|end| order.get(first..end)).ok_or_else(|| {
            Error::argument(format!("{} images were encoded, so that no more can be drawn again", order.len()))
                .hint("ask for fewer, or encode more: g.encode(ds)")
        })
    }

    /// So many in an order, from the `first` on.
    pub fn latents(&self, order: &[usize], first: usize, count: usize) -> Result<Tensor> {
        let rows: Vec<i64> = self.part(order, first, count)?.iter().map(|&i| i as i64).collect();
        Ok(self.latents.f_index_select(0, &Tensor::f_from_slice(&rows)?)?)
    }

    /// Their labels.
    pub fn labels(&self, order: &[usize], first: usize, count: usize) -> Result<Vec<i64>> {
        Ok(self.part(order, first, count)?.iter().map(|&i| self.labels[i]).collect())
    }
}

impl Generator {
    /// What it draws again, where its latent vectors are those of images.
    pub fn encoded(&self) -> Option<&Encoded> {
        self.encoded.as_deref()
    }

    /// The same generator, whose latent vectors are those of these images.
    pub fn encode(&self, cx: &Cx, set: &Dataset) -> Result<Self> {
        let (wanted, shape) = (self.image_shape()?, set.shape().map(|n| n as i64));
        if wanted != shape {
            return Err(Error::data(format!("{} draws images {wanted:?}, {} has {shape:?}", self.name, set.name))
                .hint("load the data with `resize` and `crop`, or the generator with `shape`"));
        }
        if set.leaves_unit_range() {
            return Err(Error::data(format!("{} has pixels outside [0, 1], which generators draw in", set.name))
                .hint("take the images before centre(), standardise() or scale_pixels()"));
        }
        self.refuse_prior()?;
        set.record(cx);
        let task = cx.progress("encoding", Some(set.len() as u64));
        let mut latents = vec![];
        let batch = self.batch_size(cx)?;
        let rows: Vec<usize> = (0..set.len()).collect();
        for rows in rows.chunks(batch) {
            cx.check()?;
            let images = set.images(rows, self.device)?.f_to_kind(self.kind())?;
            let encoded = tch::no_grad(|| self.network.encode(&images))?.ok_or_else(|| {
                Error::model(format!(
                    "{} has no encoder, so that it can't say what it would draw an image of",
                    self.name
                ))
                .hint("load the whole autoencoder, encoder.* as well as decoder.*")
            })?;
            latents.push(on_device(&encoded, Device::Cpu)?);
            task.advance(rows.len() as u64);
        }
        if latents.is_empty() {
            return Err(Error::data(format!("{} has no images", set.name)));
        }
        let latents = Tensor::f_cat(&latents, 0)?;
        if !bool::try_from(latents.f_isfinite()?.f_all()?)? {
            return Err(Error::model(format!("{} encodes images as numbers that are not finite", self.name)));
        }
        self.drawing_again(Encoded { latents, labels: set.labels().to_vec(), classes: set.classes().to_vec() })
    }

    /// The same generator, whose latent vectors are those of a file: its tensor `latents`, `N x latent` or `N x C x H x W`, divided by
    /// `factor`, and its whole numbers `labels`, `N`, the places of `classes`.
    pub fn read_latents(&self, cx: &Cx, path: &Path, classes: Vec<String>, factor: f64) -> Result<Self> {
        self.refuse_prior()?;
        let Contents::Weights(mut tensors) = weights::read(cx, path)? else {
            return Err(Error::file(path, "TorchScript, where tensors are wanted"));
        };
        let mut take = |name: &str| {
            tensors.remove(name).ok_or_else(|| {
                Error::file(path, format!("no tensor `{name}`")).hint(
                    "in Python: safetensors.torch.save_file({\"latents\": z, \"labels\": y}, path), with one label per latent",
                )
            })
        };
        let (latents, labels) = (take("latents")?, take("labels")?);
        let (size, wanted) = (latents.size(), self.latent());
        let n = size.first().copied().unwrap_or(0);
        if n == 0 || size.len() < 2 || size[1..].iter().product::<i64>() != wanted {
            return Err(Error::file(
                path,
                format!("`latents` has the shape {size:?}, {} draws of {wanted} numbers an image", self.name),
            ));
        }
        let latents = latents.f_to_kind(Kind::Float)?.f_reshape([n, wanted])?.f_div_scalar(factor)?;
        if !bool::try_from(latents.f_isfinite()?.f_all()?)? {
            return Err(Error::file(path, "`latents` has numbers that are not finite"));
        }
        let whole = matches!(labels.kind(), Kind::Uint8 | Kind::Int8 | Kind::Int16 | Kind::Int | Kind::Int64);
        if !whole || labels.size() != [n] {
            let problem = format!("`labels` has the shape {:?} of {:?}", labels.size(), labels.kind());
            return Err(Error::file(path, problem).hint(format!("wanted are {n} whole numbers")));
        }
        let labels = Vec::<i64>::try_from(&labels.f_to_kind(Kind::Int64)?)?;
        let known = 0..classes.len() as i64;
        if let Some(bad) = labels.iter().find(|label| !known.contains(label)) {
            return Err(Error::file(path, format!("label {bad} is not among {} classes", classes.len()))
                .hint("`classes` are their names in the order of the labels, from 0"));
        }
        let drawing = self.drawing_again(Encoded { latents, labels, classes })?;
        cx.record_input_from("latents", &drawing.name, drawing.digest, path);
        Ok(drawing)
    }

    /// Refuses generators that know what to draw by themselves.
    fn refuse_prior(&self) -> Result<()> {
        if self.network.classes().is_some() || self.network.has_prior() {
            return Err(Error::model(format!(
                "{} draws of latent vectors with a distribution of their own",
                self.name
            ))
            .hint("decoders of latent diffusion are told what to draw by images; g.sample(..) draws here"));
        }
        Ok(())
    }

    fn drawing_again(&self, encoded: Encoded) -> Result<Self> {
        let Encoded { latents, labels, classes } = &encoded;
        let said = format!("{labels:?} {classes:?}");
        let digest = Digest::of_parts(&[b"encoded", &self.digest().0, &Digest::of_tensor(latents)?.0, said.as_bytes()]);
        Ok(Self { digest, encoded: Some(Rc::new(encoded)), ..self.clone() })
    }
}
