//! Whether the views that searches end with show anything of their objects.

use super::parts::Outcomes;
use super::{Row, Transcript};
use crate::core::Cx;
use crate::space::Render;

impl Transcript {
    /// In how many of the views where searches ended nothing of the object is to be seen.
    pub(super) fn unseen(&self, cx: &Cx) -> Option<String> {
        /// Views that are drawn together.
        const TOGETHER: usize = 256;
        let views: Vec<(&Row, (&Render, &[f64]))> =
            self.rows.iter().filter_map(|row| Some((row, self.view(row)?))).collect();
        let (mut unseen, mut wrong) = (0, 0);
        for some in views.chunks(TOGETHER) {
            if cx.check().is_err() {
                return Some("it was stopped before all views were looked at for their objects".into());
            }
            let ids: Vec<usize> = some.iter().map(|(row, _)| row.id as usize).collect();
            let settings: Vec<&[f64]> = some.iter().map(|(_, (_, setting))| *setting).collect();
            let (_, (space, _)) = some[0];
            let found = match space.unseen(&self.of.data, &ids, &settings) {
                Ok(found) => found,
                Err(error) => {
                    return Some(format!("whether views show their objects was not found out: {}", error.message));
                }
            };
            for (_, (row, _)) in found.iter().zip(some).filter(|(unseen, _)| **unseen) {
                unseen += 1;
                wrong += usize::from(row.wrong_after());
            }
        }
        let (all, model) = (views.len(), &self.of.model.0);
        (unseen > 0).then(|| {
            format!(
                "in {unseen} of the {all} worst views nothing of the object is to be seen, as it is out of the picture, hidden, or as bright as what is \
                 behind it: {model} reads {wrong} of them wrongly, though nobody could read them; narrower ranges keep it in sight"
            )
        })
    }
}
