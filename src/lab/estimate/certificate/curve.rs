//! Accuracy by the l2 radius of changes, as exact steps: what is certified from below, what attacks show from above.

use std::collections::BTreeMap;

use super::{Certificate, SEVERAL, Share, share};
use crate::core::{Cautions, Digest, Error, Object, Result};
use crate::search::Transcript;

/// Accuracy as it falls with the radius: at each place its value, twice where it falls.
pub struct Accuracy {
    pub radius: Vec<f64>,
    pub share: Vec<Share>,
}

impl Accuracy {
    /// `falls` are radii at which images fall, infinite of those that never do, of `images` in all.
    fn of_falls(mut falls: Vec<f64>, images: usize, until: f64) -> Self {
        falls.sort_by(f64::total_cmp);
        let standing = |radius: f64| falls.iter().filter(|fall| **fall > radius).count();
        let (mut found, mut left) = (Self { radius: vec![0.0], share: vec![] }, standing(0.0));
        found.share.push(share(left, images));
        let mut places: Vec<f64> = falls.iter().copied().filter(|fall| *fall > 0.0 && fall.is_finite()).collect();
        places.dedup();
        for place in places {
            found.radius.extend([place, place]);
            found.share.push(share(left, images));
            left = standing(place);
            found.share.push(share(left, images));
        }
        if found.radius.last().is_some_and(|last| *last < until) {
            found.radius.push(until);
            found.share.push(share(left, images));
        }
        found
    }
}

impl Certificate {
    /// The certified accuracy: a lower bound on that of the smoothed classifier against every change.
    pub fn steps(&self) -> Accuracy {
        let radius = |row: &super::CertifiedRow| row.radius.filter(|_| row.right()).unwrap_or(0.0);
        Accuracy::of_falls(self.rows.iter().map(radius).collect(), self.rows.len(), 0.0)
    }
}

/// What an attack came to.
pub enum Attack<'a> {
    /// The votes of a smoothed classifier on images that a search left.
    Votes(&'a Certificate),
    /// What a search said itself of the model that it attacked.
    Search(&'a Transcript),
}

impl Attack<'_> {
    fn data(&self) -> (&str, Digest) {
        match self {
            Self::Votes(votes) => (&votes.data.0, votes.data.1),
            Self::Search(transcript) => (&transcript.of.data.name, transcript.of.data.digest()),
        }
    }

    /// Which classifier is attacked.
    pub fn classifier(&self) -> String {
        match self {
            Self::Votes(votes) => votes.classifier(),
            Self::Search(transcript) => transcript.of.model.0.clone(),
        }
    }

    /// Whether the certificate is of the very classifier that fails here.
    pub fn is_on(&self, certificate: &Certificate) -> bool {
        matches!(self, Self::Votes(votes) if votes.same_classifier(certificate))
    }

    /// What must be said of its accuracy, which counts each image once.
    pub fn cautions(&self) -> Cautions {
        let all = match self {
            Self::Votes(votes) => &votes.cautions,
            Self::Search(transcript) => &transcript.of.cautions,
        };
        all.iter().filter(|caution| *caution != SEVERAL).collect()
    }

    /// Of each image that was tried, by its place in the data: the least l2 radius at which it fails, and the largest that was tried.
    fn failures(&self) -> Result<Vec<(u32, Option<f64>, f64)>> {
        match self {
            Self::Votes(votes) if votes.moved_by.is_none() => {
                Err(Error::argument("`attack` is a certificate of images that nobody moved")
                    .hint("robustness::certify(f, t, ..) of a transcript is of the images that its search left"))
            }
            Self::Votes(votes) => {
                Ok(votes.rows.iter().map(|row| (row.id, row.wrong().then_some(row.moved), row.moved)).collect())
            }
            Self::Search(transcript) if transcript.of.unit != "l2 radius" => Err(Error::argument(format!(
                "`attack` is over {}, whose changes are not measured in l2",
                transcript.of.space
            ))
            .hint("robustness::certify(f, t, ..) measures any change in l2, and says what the smoothed classifier answers to it")),
            Self::Search(transcript) => {
                transcript.check_predictions("plot::certified")?;
                let failure = |row: &crate::search::Row| match (row.wrong_before(), row.wrong_after()) {
                    (true, _) => Some(0.0),
                    (false, wrong) => wrong.then_some(f64::from(row.magnitude)),
                };
                Ok(transcript.rows.iter().map(|row| (row.id, failure(row), f64::from(row.magnitude))).collect())
            }
        }
    }

    /// The accuracy under attack on the images of a certificate: an upper bound on that of the classifier that is attacked. Images that
    /// were not attacked count as standing, and how many they are.
    pub fn accuracy(&self, certificate: &Certificate) -> Result<(Accuracy, usize)> {
        let (name, digest) = self.data();
        if digest != certificate.data.1 {
            return Err(Error::data(format!(
                "the certificate is of images of {}, the attack of {name}",
                certificate.data.0
            ))
            .hint("certify and attack one data set: `let few = ds.take(100)` for both"));
        }
        let known = self.is_on(certificate);
        // What is certainly wrong as it stands needs no attack.
        let standing = |row: &super::CertifiedRow| if known && row.wrong() { row.moved } else { f64::INFINITY };
        let mut falls: BTreeMap<u32, f64> = certificate.rows.iter().map(|row| (row.id, standing(row))).collect();
        let mut tried = BTreeMap::new();
        let mut until = 0.0f64;
        for (id, fails, moved) in self.failures()? {
            if let Some(fall) = falls.get_mut(&id) {
                *fall = fall.min(fails.unwrap_or(f64::INFINITY));
                tried.insert(id, ());
                until = until.max(moved);
            }
        }
        let images = falls.len();
        Ok((Accuracy::of_falls(falls.into_values().collect(), images, until), images - tried.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_fall_where_images_do() {
        let found = Accuracy::of_falls(vec![0.5, f64::INFINITY, 0.0, 0.5, 0.2], 5, 0.9);
        assert_eq!(found.radius, [0.0, 0.2, 0.2, 0.5, 0.5, 0.9]);
        let shares: Vec<f64> = found.share.iter().map(|share| share.value).collect();
        assert_eq!(shares, [0.8, 0.8, 0.6, 0.6, 0.2, 0.2]);
    }
}
