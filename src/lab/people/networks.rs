//! Networks against people: how well networks stand in for people who judge whether tests keep their labels.

use std::path::Path;

use tch::{Device, Kind};

use super::{PICTURES, PeopleTask, TaskAnswers};
use crate::core::{Cautions, Cx, Error, Result, Tensor};
use crate::data::{Dataset, from_tensor};
use crate::maths::shares::CountedShare;
use crate::model::{Inputs, Model};

/// The items of a task of which people say whether they keep their label, as networks see them.
pub struct JudgedImages {
    pub set: Dataset,
    /// Whether more than half of the judgements say what was intended.
    pub kept: Vec<bool>,
    /// Items that nobody judged who counts.
    pub unjudged: usize,
}

/// How often networks and people say the same.
#[derive(Debug, Clone)]
pub struct NetworksBesidePeople {
    pub people: Vec<bool>,
    pub networks: Vec<bool>,
    /// Of the tests that people say keep their label, those of which the networks do; of the others, those of which they do not.
    pub sensitivity: CountedShare,
    pub specificity: CountedShare,
    pub agreement: CountedShare,
    pub cautions: Cautions,
}

impl TaskAnswers {
    /// The images of the items that were judged, `channels` of them 1 or 3.
    pub fn judged_images(&self, channels: usize) -> Result<JudgedImages> {
        let text = &self.task.text;
        let Some(judgements) = &self.judgements else {
            return Err(Error::data("every worker fell to a rule: nobody's answers count"));
        };
        let (mut images, mut labels, mut kept) = (vec![], vec![], vec![]);
        for (number, id) in judgements.items.iter().enumerate() {
            let Some(item) = text.items.iter().find(|item| item.id == *id) else { continue };
            let Some(intended) = judgements.intended(number as u32) else {
                return Err(Error::argument(format!(
                    "a task of the kind {:?} does not say whether tests keep their labels",
                    text.kind.name()
                ))
                .hint("networks are set beside \"label\" and \"keeps_label\""));
            };
            let label = text.classes.iter().position(|class| Some(class) == item.about.get("label"));
            let said: Vec<u32> =
                judgements.rows.iter().filter(|row| row.item as usize == number).filter_map(|row| row.answer).collect();
            if said.is_empty() {
                continue;
            }
            let Some(label) = label else {
                return Err(Error::data(format!("item {id} has no class among those of the task")));
            };
            images.push(pixels(&self.task, &item.picture, channels)?);
            labels.push(label as i64);
            kept.push(2 * said.iter().filter(|answer| **answer == intended).count() > said.len());
        }
        if images.is_empty() {
            return Err(Error::data("no item was judged"));
        }
        let unjudged = text.items.len() - images.len();
        let set = from_tensor(&Tensor::f_cat(&images, 0)?, labels, Some(text.classes.clone()), false)?;
        Ok(JudgedImages { set, kept, unjudged })
    }
}

/// A picture as `1 x channels x H x W` in bytes.
fn pixels(task: &PeopleTask, name: &str, channels: usize) -> Result<Tensor> {
    let path = task.folder.join(Path::new(PICTURES)).join(format!("{name}.png"));
    let picture = crate::data::picture::read(&path)?.to_rgb8();
    let (width, height) = (i64::from(picture.width()), i64::from(picture.height()));
    let flat = Tensor::f_from_slice(picture.as_raw())?.f_reshape([1, height, width, 3])?.f_permute([0, 3, 1, 2])?;
    match channels {
        1 => Ok(flat.f_narrow(1, 0, 1)?),
        _ => Ok(flat),
    }
}

/// Whether more than half of the networks read an image as its label says.
pub fn networks_keep(cx: &Cx, judges: &[&Model], set: &Dataset) -> Result<Vec<bool>> {
    let mut votes = vec![0usize; set.len()];
    for judge in judges {
        judge.check_fits(cx, set)?;
        let answers = judge.predictions(cx, &Inputs::Data(set))?;
        for ((votes, answer), label) in votes.iter_mut().zip(answers).zip(set.labels()) {
            *votes += usize::from(answer == *label);
        }
    }
    Ok(votes.into_iter().map(|votes| 2 * votes > judges.len()).collect())
}

/// Both sides by side.
pub fn beside(images: &JudgedImages, networks: Vec<bool>, mut cautions: Cautions) -> NetworksBesidePeople {
    let count = |people: bool, network: bool| {
        images.kept.iter().zip(&networks).filter(|(own, other)| **own == people && **other == network).count()
    };
    let [both, neither] = [count(true, true), count(false, false)];
    let kept = images.kept.iter().filter(|kept| **kept).count();
    let n = images.kept.len();
    if kept == 0 || kept == n {
        let all = if kept == 0 { "no" } else { "every" };
        cautions.add(format!(
            "{all} test keeps its label in people's eyes: nothing is known of how networks judge the others"
        ));
    }
    NetworksBesidePeople {
        sensitivity: CountedShare::new(both, kept),
        specificity: CountedShare::new(neither, n - kept),
        agreement: CountedShare::new(both + neither, n),
        people: images.kept.clone(),
        networks,
        cautions,
    }
}

/// Bytes of these pictures are the same in all channels.
pub fn is_grey(images: &JudgedImages) -> Result<bool> {
    let all = images.set.images(&(0..images.set.len()).collect::<Vec<_>>(), Device::Cpu)?;
    let first = all.f_narrow(1, 0, 1)?;
    Ok(all.f_sub(&first)?.f_abs()?.f_max()?.f_to_kind(Kind::Double)?.f_double_value(&[])? == 0.0)
}
