//! The images that a certificate is of: those of a data set, or those that a search left.

use tch::Kind;

use super::super::population::left_out;
use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Tensor, numbers_of};
use crate::data::{Dataset, from_tensor};
use crate::model::STANDS_IN;
use crate::search::Transcript;

/// Images, and what they are of.
pub struct CertifiedImages {
    pub set: Dataset,
    /// Place in the data, label, and l2 distance from the image there.
    pub rows: Vec<(u32, i64, f64)>,
    /// Name and digest of the data.
    pub of: (String, Digest),
    /// What moved them.
    pub moved_by: Option<String>,
    pub cautions: Cautions,
}

impl CertifiedImages {
    pub fn of_data(set: &Dataset) -> Self {
        let rows = set.labels().iter().enumerate().map(|(row, &label)| (row as u32, label, 0.0)).collect();
        Self {
            rows,
            of: (set.name.clone(), set.digest()),
            moved_by: None,
            cautions: prepared(set).into_iter().chain(set.noticed().iter().map(Into::into)).collect(),
            set: set.clone(),
        }
    }

    /// The images where the search left them, which are drawn anew.
    pub fn of_transcript(cx: &Cx, transcript: &Transcript) -> Result<Self> {
        if transcript.is_empty() {
            return Err(Error::data("a transcript without rows has no images to certify"));
        }
        let of = &transcript.of;
        let (before, after) = (transcript.images(cx, false)?, transcript.images(cx, true)?);
        let mut moved = vec![];
        for at in 0..before.size()[0] {
            let part = |images: &Tensor| images.f_narrow(0, at, 1)?.f_to_kind(Kind::Double);
            moved.push(part(&after)?.f_sub(&part(&before)?)?.f_square()?.f_sum(Kind::Double)?.f_sqrt()?);
        }
        let moved = numbers_of(&moved)?;
        let labels: Vec<i64> = transcript.rows.iter().map(|row| i64::from(row.label)).collect();
        // What the search's own model stands in for is what these images are shown to.
        let mut cautions: Cautions = of.cautions.iter().filter(|caution| !caution.contains(STANDS_IN)).collect();
        prepared(&of.data).into_iter().chain(left_out(transcript)).for_each(|caution| cautions.add(caution));
        let rows = transcript.rows.iter().zip(&labels).zip(moved).map(|((row, &label), moved)| (row.id, label, moved));
        Ok(Self {
            rows: rows.collect(),
            of: (of.data.name.clone(), of.data.digest()),
            moved_by: Some(format!("{} over {} on {}", of.search, of.space, of.model.0)),
            cautions,
            set: from_tensor(&after, labels, None, true)?,
        })
    }
}

/// What lengths are of, where they are not of plain pixels.
fn prepared(set: &Dataset) -> Option<String> {
    let any_range = || {
        format!(
            "images of {} need not lie in [0, 1]: sigma and radii are lengths of what the model is given, and the same change of the pixels before may be of \
             another length",
            set.name
        )
    };
    set.other_lengths("sigma and radii").or_else(|| set.leaves_unit_range().then(any_range))
}
