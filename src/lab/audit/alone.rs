//! Each image in a batch of its own.

use super::Check;
use super::attack::Attacked;
use super::finding::{Finding, Verdict, images};
use crate::core::{Cx, Result};

pub struct Alone;

/// Images that are asked about one by one, at most.
const MOST: usize = 32;

/// The classes that the model answers to these rows, `size` of them at a time.
pub(super) fn answers(cx: &Cx, of: &Attacked, rows: &[usize], size: usize) -> Result<Vec<i64>> {
    let (model, data) = (of.attack.model, of.attack.data);
    let most = of.attack.batch.unwrap_or_else(|| crate::model::Model::batch_size(data.shape(), cx.device()));
    let mut all = vec![];
    for part in rows.chunks(size.clamp(1, most)) {
        cx.check()?;
        let images = data.images(part, cx.device())?;
        let classes = tch::no_grad(|| -> Result<_> { Ok(model.logits(&images)?.f_argmax(1, false)?) })?;
        all.extend(Vec::<i64>::try_from(&classes.f_to_device(tch::Device::Cpu)?)?);
    }
    Ok(all)
}

impl Check for Alone {
    fn name(&self) -> &'static str {
        "each in a batch of its own"
    }

    fn run(&self, cx: &Cx, of: &mut Attacked) -> Result<Finding> {
        let rows: Vec<usize> = (0..of.images().min(MOST)).collect();
        if rows.len() < 2 {
            return Ok(Finding::not_asked("there is one image alone"));
        }
        let (together, alone) = (answers(cx, of, &rows, rows.len())?, answers(cx, of, &rows, 1)?);
        let others = together.iter().zip(&alone).filter(|(a, b)| a != b).count();
        let verdict = if others == 0 { Verdict::Holds } else { Verdict::Fails };
        let says = match others {
            0 => "every answer is the same".into(),
            n => format!(
                "{} answered otherwise: what an image is answered depends on the others in its batch",
                images(n)
            ),
        };
        Ok(Finding::new(verdict, (others, rows.len()), says))
    }
}
