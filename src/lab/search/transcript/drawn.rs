//! The images of a transcript, drawn anew.

use super::{Points, Transcript};
use crate::core::{Cx, Error, Result, Tensor};
use crate::search::replay::ReplayOutput;

/// Images are given as one tensor up to this many bytes.
const IMAGES_LIMIT: usize = 4 << 30;

impl Transcript {
    /// The images of all rows, `N x C x H x W`: as they stand, or where the search left them. They are read and
    /// changed anew, but for searches that keep the images that they came to.
    pub fn images(&self, cx: &Cx, after: bool) -> Result<Tensor> {
        let [c, h, w] = self.of.data.shape();
        if self.rows.is_empty() {
            return Err(Error::data("a transcript without rows has no images"));
        }
        if self.rows.len().saturating_mul(c * h * w * 4) > IMAGES_LIMIT {
            return Err(Error::data(format!("{} images of {c} x {h} x {w} are too many for one tensor", self.len()))
                .hint("filter the transcript first"));
        }
        if let (true, Points::Trajectory(_) | Points::Parts(_)) = (after, &self.of.points) {
            // In one go: each image's way is gone once for all of its rows.
            return self.of.points.draw(cx, &self.of.data, &self.rows);
        }
        let mut parts = Vec::new();
        for rows in self.rows.chunks(32) {
            cx.check()?;
            parts.push(match after {
                true => self.of.points.draw(cx, &self.of.data, rows)?,
                false => {
                    let ids: Vec<usize> = rows.iter().map(|row| row.id as usize).collect();
                    self.of.data.images(&ids, cx.device())?
                }
            });
        }
        Ok(Tensor::f_cat(&parts, 0)?)
    }

    /// The images of questions, each by its row and its place among that row's, drawn anew.
    pub fn question_images(&self, cx: &Cx, chosen: &[(usize, usize)]) -> Result<Tensor> {
        let (questions, asked) = self.questions()?;
        let Points::Settings { of, .. } = &self.of.points else {
            return Err(Error::internal("questions without settings"));
        };
        let width = questions.axes.len();
        let [c, h, w] = self.of.data.shape();
        if chosen.is_empty() || chosen.len().saturating_mul(c * h * w * 4) > IMAGES_LIMIT {
            return Err(Error::data(format!("{} images of questions make no tensor", chosen.len())));
        }
        let mut parts = Vec::new();
        for chosen in chosen.chunks(32) {
            cx.check()?;
            let ids: Vec<usize> = chosen.iter().map(|(row, _)| self.rows[*row].id as usize).collect();
            let settings: Vec<&[f64]> =
                chosen.iter().map(|(row, question)| &asked[*row].settings[question * width..][..width]).collect();
            parts.push(of.images(cx, &self.of.data, &ids, &settings)?);
        }
        Ok(Tensor::f_cat(&parts, 0)?)
    }

    /// The vector fields that deform the images of all rows, `N x H x W x 2` in pixels, the first component along columns, the
    /// second along rows. The search goes its way again.
    pub fn fields(&self, cx: &Cx) -> Result<Tensor> {
        match &self.of.points {
            _ if self.rows.is_empty() => Err(Error::data("a transcript without rows has no fields")),
            Points::Trajectory(replay) if replay.space.deform().is_some() => {
                replay.bring(cx, &self.of.data, &self.rows, ReplayOutput::Points)
            }
            _ => Err(Error::data(format!("{} over {} has no vector fields", self.of.search, self.of.space))
                .hint("examine over space::deform() with search::adef()")),
        }
    }
}
