//! Where activations of a generator can be changed, and how much they vary there over its samples.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tch::Kind;

use super::{Condition, Generator};
use crate::core::{Cx, Digest, Error, Result, Tensor, below_home, on_device};

/// A place between stages: the latent vectors, or what a stage gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// Stages before it: 0 is the latent vector.
    pub layer: usize,
    /// In front of the activation function that its stage ends in, where it ends in one.
    pub before_activation: bool,
}

/// Measured anew where that is quick; kept in a file where it took longer.
const QUICK: Duration = Duration::from_secs(10);

thread_local! {
    static KNOWN: RefCell<HashMap<Digest, Tensor>> = RefCell::default();
}

impl Generator {
    /// Whether the stage before this site ends in an activation function that it stands in front of.
    pub fn splits(&self, site: Site) -> Result<bool> {
        if site.layer == 0 || !site.before_activation {
            return Ok(false);
        }
        let (mut x, mut condition) = self.probe()?;
        for layer in 1..site.layer {
            x = self.stage(layer - 1, &x, &condition)?;
            condition = self.after(layer, &x, condition)?;
        }
        Ok(self.evaluating().before_activation(site.layer - 1, &x, &condition)?.is_some())
    }

    /// What arrives at a site, of the whole output of the stage before.
    pub fn arrive(&self, site: Site, x: &Tensor, condition: &Condition) -> Result<Tensor> {
        match site.layer.checked_sub(1) {
            None => Ok(x.shallow_clone()),
            Some(stage) if site.before_activation => self
                .evaluating()
                .before_activation(stage, x, condition)?
                .ok_or_else(|| Error::internal("a stage without an activation function")),
            Some(stage) => self.stage(stage, x, condition),
        }
    }

    /// The whole output of the stage before a site, of what is at the site.
    pub fn leave(&self, site: Site, x: Tensor) -> Result<Tensor> {
        match site.layer.checked_sub(1) {
            Some(stage) if site.before_activation => self.evaluating().activate(stage, &x),
            _ => Ok(x),
        }
    }

    /// Latent vector and condition of one image, all 0.
    fn probe(&self) -> Result<(Tensor, Condition)> {
        let latents = Tensor::f_zeros([1, self.latent()], (self.kind(), self.device()))?;
        let labels = Tensor::f_zeros([1], (Kind::Int64, self.device()))?;
        let condition = tch::no_grad(|| self.condition(&latents, Some(&labels)))?;
        Ok((latents, condition))
    }

    /// The precision that its weights are in.
    pub fn kind(&self) -> Kind {
        let mut kind = Kind::Float;
        self.network().visit(&mut |_, tensor, _| {
            if tensor.is_floating_point() {
                kind = tensor.kind();
            }
        });
        kind
    }

    /// The standard deviation of every number at each site, over so many samples with labels in turn: sigma_i of Dunn's thesis,
    /// Section 5.1.3. Of a dead neuron, which is the same in all of them, it is 0. Of a latent vector it is that of its distribution: 1, or
    /// what truncation leaves of it. Where latent vectors are those of images, it is measured as well, and on no more than there are.
    pub fn deviations(&self, cx: &Cx, sites: &[Site], samples: usize) -> Result<Vec<Tensor>> {
        let key = |site: &Site| {
            let Site { layer, before_activation } = site;
            let site = format!("Site {{ layer: {layer}, before_activation: {before_activation} }}");
            let about = format!("deviations 2 {site} {samples} {:?} {:?}", self.device(), self.kind());
            Digest::of_parts(&[&self.digest.0, about.as_bytes()])
        };
        let mut missing = vec![];
        for site in sites.iter().filter(|site| self.measured(site)) {
            let key = key(site);
            if KNOWN.with_borrow(|known| known.contains_key(&key)) {
                continue;
            }
            match file(&key).and_then(|path| read(&path, &key)) {
                Some(kept) => KNOWN.with_borrow_mut(|known| drop(known.insert(key, kept.to_device(self.device())))),
                None => missing.push(*site),
            }
        }
        if !missing.is_empty() {
            let began = Instant::now();
            let measured = tch::no_grad(|| self.measure(cx, &missing, samples))?;
            for (site, deviation) in missing.iter().zip(measured) {
                let key = key(site);
                if began.elapsed() > QUICK
                    && let Some(path) = file(&key)
                {
                    keep(&path, &key, &deviation);
                }
                KNOWN.with_borrow_mut(|known| known.insert(key, deviation));
            }
        }
        let one = |site: &Site| match self.measured(site) {
            false => {
                let of_prior = self.network().prior().deviation();
                let deviation = self.truncation().map_or(of_prior, |truncation| truncation * WITHIN_TWO);
                Ok(Tensor::f_full([self.latent()], deviation, (self.kind(), self.device()))?)
            }
            true => KNOWN
                .with_borrow(|known| known.get(&key(site)).map(Tensor::shallow_clone))
                .ok_or_else(|| Error::internal("deviations got lost")),
        };
        sites.iter().map(one).collect()
    }

    /// Whether its deviation is measured: of a latent vector it is known, unless it is that of an image.
    fn measured(&self, site: &Site) -> bool {
        site.layer > 0 || self.encoded().is_some()
    }

    fn measure(&self, cx: &Cx, sites: &[Site], samples: usize) -> Result<Vec<Tensor>> {
        let samples = self.encoded().map_or(samples, |encoded| samples.min(encoded.len()));
        let task = cx.progress("measuring activations", Some(samples as u64));
        let last = sites.iter().map(|site| site.layer).max().unwrap_or(0);
        // Count, mean and sum of squared differences from it, brought together batch by batch (Chan, Golub and LeVeque 1983).
        let mut moments: Vec<Option<(Tensor, Tensor)>> = sites.iter().map(|_| None).collect();
        let batch = self.batch_size(cx)?;
        for first in (0..samples).step_by(batch) {
            cx.check()?;
            let n = batch.min(samples - first);
            let latents = self.latents(SEED, first, n)?.f_to_kind(self.kind())?;
            let labels = (first..first + n).map(|i| i as i64 % self.classes().unwrap_or(1)).collect::<Vec<_>>();
            let labels = on_device(&Tensor::f_from_slice(&labels)?, self.device())?;
            let mut condition = self.condition(&latents, Some(&labels))?;
            let mut x = latents;
            for (_, kept) in sites.iter().zip(&mut moments).filter(|(site, _)| site.layer == 0) {
                merge(kept, first as f64, &x.f_to_kind(Kind::Double)?)?;
            }
            for layer in 1..=last {
                let mut after = None;
                for (site, kept) in sites.iter().zip(&mut moments).filter(|(site, _)| site.layer == layer) {
                    let here = self.arrive(*site, &x, &condition)?;
                    merge(kept, first as f64, &here.f_to_kind(Kind::Double)?)?;
                    after = Some(self.leave(*site, here)?);
                }
                x = match after {
                    Some(after) => after,
                    None => self.stage(layer - 1, &x, &condition)?,
                };
                condition = self.after(layer, &x, condition)?;
            }
            task.advance(n as u64);
        }
        let deviation = |kept: Option<(Tensor, Tensor)>| {
            let (mean, squares) = kept.ok_or_else(|| Error::internal("a site that no stage passes"))?;
            let deviation = squares.f_div_scalar(samples as f64)?.f_sqrt()?;
            // What differs by rounding alone does not vary.
            let still = deviation.f_le_tensor(&mean.f_abs()?.f_mul_scalar(rounding(self.kind()))?)?;
            Ok(deviation.f_masked_fill(&still, 0.0)?.f_to_kind(self.kind())?)
        };
        moments.into_iter().map(deviation).collect()
    }
}

/// The standard deviation of a standard normal distribution without what lies beyond two: sqrt(1 - 4 phi(2) / (2 Phi(2) - 1)).
const WITHIN_TWO: f64 = 0.879_625_661_034_2;

/// By which share equal sums can differ that were added up in another order.
fn rounding(kind: Kind) -> f64 {
    8.0 * if kind == Kind::Double { f64::EPSILON } else { f64::from(f32::EPSILON) }
}

/// The latent vectors that deviations are measured on.
const SEED: u64 = u64::from_be_bytes(*b"_sigmas_");

/// Takes a batch of numbers into mean and squares of `count` earlier ones.
fn merge(kept: &mut Option<(Tensor, Tensor)>, count: f64, batch: &Tensor) -> Result<()> {
    let n = batch.size()[0] as f64;
    let sum = |x: &Tensor| x.f_sum_dim_intlist([0i64].as_slice(), false, Kind::Double);
    let mean = sum(batch)?.f_div_scalar(n)?;
    let squares = sum(&batch.f_sub(&mean)?.f_square()?)?;
    *kept = Some(match kept.take() {
        None => (mean, squares),
        Some((before, others)) => {
            let apart = mean.f_sub(&before)?;
            let both = others.f_add(&squares)?.f_add(&apart.f_square()?.f_mul_scalar(count * n / (count + n))?)?;
            (before.f_add(&apart.f_mul_scalar(n / (count + n))?)?, both)
        }
    });
    Ok(())
}

/// The file that keeps deviations between runs.
fn file(key: &Digest) -> Option<PathBuf> {
    Some(below_home("XDG_CACHE_HOME", ".cache")?.join(format!("deviations-{}.safetensors", key.hex())))
}

/// The tensor of that file, and the one with the digest of key and tensor: a damaged file is measured anew.
const NAMES: [&str; 2] = ["deviations", "viva.sha256"];

fn seal(key: &Digest, deviations: &Tensor) -> Result<Tensor> {
    let digest = Digest::of_parts(&[&key.0, &Digest::of_tensor(deviations)?.0]);
    Ok(Tensor::f_from_slice(&digest.0)?)
}

fn read(path: &Path, key: &Digest) -> Option<Tensor> {
    let found = Tensor::read_safetensors(path.exists().then_some(path)?).ok()?;
    let [deviations, sealed] =
        NAMES.map(|wanted| found.iter().find(|(name, _)| name == wanted).map(|(_, tensor)| tensor));
    let deviations = deviations?;
    let whole = seal(key, deviations).ok()?.f_equal(sealed?).ok()?;
    whole.then(|| deviations.shallow_clone())
}

/// Only saves time, so what goes wrong is left alone.
fn keep(path: &Path, key: &Digest, deviations: &Tensor) {
    let Some(folder) = path.parent() else { return };
    let Ok(dense) = deviations.f_to_device(tch::Device::Cpu).and_then(|t| t.f_contiguous()) else { return };
    let Ok(sealed) = seal(key, &dense) else { return };
    let _ = std::fs::create_dir_all(folder);
    let Ok(part) = tempfile::NamedTempFile::new_in(folder) else { return };
    let tensors = [(NAMES[0], &dense), (NAMES[1], &sealed)];
    if Tensor::write_safetensors(&tensors, part.path()).is_ok() {
        let _ = part.persist(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_not_read() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("cache/deviations");
        let key = Digest::of(b"a site");
        let deviations = Tensor::from_slice(&[0.5f32, 2.25, 1.0]);
        assert!(read(&path, &key).is_none());
        keep(&path, &key, &deviations);
        assert!(read(&path, &key).expect("what was kept").equal(&deviations));
        assert!(read(&path, &Digest::of(b"another site")).is_none());
        let mut bytes = std::fs::read(&path).expect("a file");
        let at = bytes.windows(4).position(|four| four == 2.25f32.to_le_bytes()).expect("the number");
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).expect("written");
        assert!(read(&path, &key).is_none());
    }
}
