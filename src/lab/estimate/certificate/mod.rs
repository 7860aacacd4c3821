//! What is certain of a smoothed classifier: Cohen, Rosenfeld and Kolter (ICML 2019), "Certified Adversarial Robustness via Randomized
//! Smoothing", procedure CERTIFY. g(x) is the class that f most likely answers to x with Gaussian noise; where more than half of the noise is
//! for one class, no change of x that is shorter than a radius moves g.

mod curve;
mod images;
mod result;

pub use curve::{Accuracy, Attack};
pub use images::CertifiedImages;
pub use result::FIELDS;

use std::collections::BTreeSet;

use super::population::Population;
use crate::core::{Cautions, Digest, Error, Object, Result};
use crate::maths::shares::{clopper_pearson_lower, wilson};
use crate::maths::smoothing;
use crate::model::{Model, Sampling, UNSTEADY, Votes};

/// What is said of certificates with several rows of one image.
const SEVERAL: &str =
    "several rows are of one image: intervals of shares, which take rows for independent, are too narrow";

/// How radii are found, and how sure they are.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub sampling: Sampling,
    /// A radius is too large with this probability at most.
    pub delta: f64,
    /// Whether that is the probability for any of the images, not for each.
    pub joint: bool,
}

impl Settings {
    /// The probability that the statement on one of so many images is wrong.
    pub fn delta_of_each(&self, images: usize) -> f64 {
        if self.joint { self.delta / images.max(1) as f64 } else { self.delta }
    }

    /// Refuses samples that could show nothing.
    pub fn check(&self, images: usize) -> Result<()> {
        let (delta, samples) = (self.delta_of_each(images), self.sampling.samples as u64);
        let fewest = smoothing::fewest_samples(delta);
        if samples >= fewest {
            return Ok(());
        }
        Err(Error::argument(format!(
            "robustness::certify: of {samples} samples nothing can be certified at a probability of {delta:?} for each image: even if all \
             agree, no more than half of the noise may be for their class"
        ))
        .hint(format!("`samples` of {fewest} is the least; the paper takes 100000, and radii grow with it")))
    }
}

/// What is known of the smoothed classifier at one image.
#[derive(Debug, Clone, Copy)]
pub struct CertifiedRow {
    pub id: u32,
    pub label: i64,
    /// How far the image is from the one that the data hold, in l2.
    pub moved: f64,
    /// The class that the choosing copies were for.
    pub votes: Votes,
    /// The lower end of its share of the noise.
    pub p: f64,
    /// No change shorter than this moves the smoothed classifier from the class; none where it abstains.
    pub radius: Option<f64>,
}

impl CertifiedRow {
    /// What the smoothed classifier answers, where that is certain.
    pub fn class(&self) -> Option<i64> {
        self.radius.map(|_| i64::from(self.votes.class))
    }

    /// Whether it certainly answers the label.
    pub fn right(&self) -> bool {
        self.class() == Some(self.label)
    }

    /// Whether it certainly answers another class.
    pub fn wrong(&self) -> bool {
        self.class().is_some_and(|class| class != self.label)
    }
}

/// Radii within which a smoothed classifier does not change its answers.
#[derive(Clone)]
pub struct Certificate {
    pub rows: Vec<CertifiedRow>,
    pub settings: Settings,
    /// The model that is smoothed.
    pub model: (String, Digest),
    /// Whether its digest does not tell it from others.
    pub opaque: bool,
    /// The images that the data hold.
    pub data: (String, Digest),
    /// What moved the images, where something did.
    pub moved_by: Option<String>,
    pub cautions: Cautions,
}

/// What to say of certificates side by side whose images are not the same.
pub fn different<'a>(certificates: impl Iterator<Item = &'a Certificate>) -> Option<String> {
    let of = |certificate: &Certificate| {
        let labels = certificate.rows.iter().map(|row| (row.id, row.label as i32)).collect();
        Population::of_images(labels, certificate.data.1)
    };
    Population::different(certificates.map(of).collect::<Vec<_>>().iter(), "certificates")
}

/// A share of images with Wilson's interval at 95%.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl Certificate {
    /// From the votes on images, one for each.
    pub fn new(model: &Model, images: &CertifiedImages, votes: Vec<Votes>, settings: Settings) -> Self {
        let Settings { sampling, .. } = settings;
        let delta = settings.delta_of_each(votes.len());
        let rows = images.rows.iter().zip(votes).map(|(&(id, label, moved), votes)| {
            let p = clopper_pearson_lower(votes.won, sampling.samples as u64, delta);
            CertifiedRow { id, label, moved, votes, p, radius: smoothing::radius(sampling.sigma, p) }
        });
        let mut found = Self {
            rows: rows.collect(),
            settings,
            model: (model.name.clone(), Object::digest(model)),
            opaque: model.opaque(),
            data: images.of.clone(),
            moved_by: images.moved_by.clone(),
            cautions: model.cautions(),
        };
        if found.cautions.iter().any(|caution| caution.contains(UNSTEADY)) {
            let shows = match (model.draws_for_all(), model.may_draw()) {
                (true, _) => {
                    "which it does not: copies asked about together share its draws, and these radii are not certified"
                }
                (_, true) => "of which it shows that it draws, and no more",
                (_, false) => "which it does not seem to do",
            };
            found.cautions.add(format!(
                "radii are right only if {} answers each noisy copy by itself and draws anew for it, {shows}",
                model.name
            ));
        }
        found.cautions.extend(&images.cautions);
        if found.images() < found.rows.len() {
            found.cautions.add(SEVERAL);
        }
        let read: Vec<(i64, i64)> = found.rows.iter().map(|row| (row.label, i64::from(row.votes.class))).collect();
        model.known_doubts(&images.set).for_each(|told| found.cautions.add(told));
        if let (None, Some(doubt)) = (&images.moved_by, model.doubted_numbers(&images.set, &read)) {
            found.cautions.add(doubt);
        }
        found
    }

    /// How many images of the data the rows are of.
    pub fn images(&self) -> usize {
        self.rows.iter().map(|row| row.id).collect::<BTreeSet<u32>>().len()
    }

    fn share(&self, of: impl Fn(&CertifiedRow) -> bool) -> Share {
        share(self.rows.iter().filter(|row| of(row)).count(), self.rows.len())
    }

    /// The share of images that the smoothed classifier certainly gets right.
    pub fn accuracy(&self) -> Share {
        self.share(CertifiedRow::right)
    }

    /// The share that it gets right whatever change shorter than `radius` is made of them.
    pub fn certified(&self, radius: f64) -> Share {
        self.share(|row| row.right() && row.radius.is_some_and(|own| own >= radius))
    }

    pub fn abstentions(&self) -> usize {
        self.rows.iter().filter(|row| row.radius.is_none()).count()
    }

    /// The mean over all images of the radius, 0 where the answer is wrong or none: the average certified radius of Zhai et al. (ICLR 2020).
    pub fn mean_radius(&self) -> f64 {
        let right = self.rows.iter().filter(|row| row.right()).filter_map(|row| row.radius);
        right.fold(0.0, |sum, radius| sum + radius) / self.rows.len() as f64
    }

    /// The largest radius that so many samples can show.
    pub fn largest_radius(&self) -> f64 {
        let Sampling { sigma, samples, .. } = self.settings.sampling;
        smoothing::largest_radius(sigma, samples as u64, self.settings.delta_of_each(self.rows.len()))
    }

    /// What all of it is about, which is not the model itself.
    pub fn classifier(&self) -> String {
        format!("{} smoothed by Gaussian noise of sigma {}", self.model.0, self.settings.sampling.sigma)
    }

    /// Whether both are of one smoothed classifier.
    pub fn same_classifier(&self, other: &Self) -> bool {
        self.model.1 == other.model.1 && self.settings.sampling.sigma == other.settings.sampling.sigma
    }
}

fn share(k: usize, n: usize) -> Share {
    let (lo, hi) = wilson(k as u64, n as u64);
    Share { value: k as f64 / n as f64, lo, hi }
}
