//! The pictures of a task's items, as images that networks and figures see.

use std::collections::BTreeMap;

use super::{PICTURES, PeopleTask, TaskItem};
use crate::core::{Cx, Error, Result, Tensor, nearest};
use crate::data::{Dataset, from_tensor};

impl PeopleTask {
    /// The items of these ids.
    pub fn items(&self, ids: &[String]) -> Result<Vec<&TaskItem>> {
        let known: BTreeMap<&str, &TaskItem> = self.text.items.iter().map(|item| (item.id.as_str(), item)).collect();
        let item = |id: &String| {
            known.get(id.as_str()).copied().ok_or_else(|| {
                let near = nearest(id, known.keys().copied())
                    .map_or("`item` of Judgements.by_item names those that were judged".into(), |near| {
                        format!("did you mean {near:?}?")
                    });
                Error::argument(format!("the task has no item {id:?}")).hint(near)
            })
        };
        ids.iter().map(item).collect()
    }

    /// What these items show, or showed before they were changed, with the labels that they are to keep. Bytes are in one channel where all are
    /// grey, unless as many `channels`, 1 or 3, are wanted.
    pub fn images(&self, cx: &Cx, items: &[&TaskItem], originals: bool, channels: Option<usize>) -> Result<Dataset> {
        let (mut images, mut labels, mut grey): (Vec<Tensor>, _, _) = (vec![], vec![], true);
        for item in items {
            cx.check()?;
            let class = item.about.get("label");
            let Some(label) = self.text.classes.iter().position(|known| Some(known) == class) else {
                return Err(Error::data(format!("item {} has no class among those of the task", item.id)));
            };
            let name = if originals { item.original.as_ref() } else { Some(&item.picture) };
            let Some(name) = name else {
                return Err(Error::argument(format!(
                    "a task of the kind {:?} does not show what its images were before",
                    self.text.kind.name()
                )));
            };
            let path = self.folder.join(PICTURES).join(format!("{name}.png"));
            let picture = crate::data::picture::read(&path)?.to_rgb8();
            grey &= picture.pixels().all(|pixel| pixel.0[0] == pixel.0[1] && pixel.0[1] == pixel.0[2]);
            let (width, height) = (i64::from(picture.width()), i64::from(picture.height()));
            let flat = Tensor::f_from_slice(picture.as_raw())?;
            images.push(flat.f_reshape([1, height, width, 3])?.f_permute([0, 3, 1, 2])?);
            labels.push(label as i64);
        }
        if images.is_empty() {
            return Err(Error::argument("no item is named"));
        }
        if channels == Some(1) && !grey {
            return Err(Error::data("the networks want grey images, people saw colours")
                .hint("judge the images that networks see: ds.grey() before people::task"));
        }
        let all = Tensor::f_cat(&images, 0)?;
        let all = if channels.unwrap_or(if grey { 1 } else { 3 }) == 1 { all.f_narrow(1, 0, 1)? } else { all };
        from_tensor(&all.f_contiguous()?, labels, Some(self.text.classes.clone()), false)
    }
}
