//! Searches that learn from losses, over changes of single pixels.

use tch::Kind;

use super::ball::{PixelBall, PixelChange, PixelGround};
use super::proposals::Proposing;
use super::propose::{Findings, find};
use super::transcript::Transcript;
use super::{Examination, rounds};
use crate::core::{Cx, Result, memory};

/// One row per image, aim and level: where the search found the largest loss.
pub(super) fn examine(cx: &Cx, plan: &Examination, search: &dyn Proposing<PixelBall>) -> Result<Transcript> {
    let pixels: usize = plan.data.shape().iter().product();
    let aims = plan.objective.aims_per_image(plan.model.classes().unwrap_or_default());
    let rows = plan.data.len() * aims * plan.levels.len().max(1);
    // Every row keeps its change: finding it again would take as long as finding it.
    memory::check_room(rows as u128 * pixels as u128 * 4, &format!("examine: the changes of {rows} rows"))?;
    let ground = PixelGround::of(plan.space.clone(), plan.data);
    let Findings { mut rows, points, mut outcome, .. } = find(cx, plan, &ground, search)?;
    let points: Vec<PixelChange> =
        points.into_iter().map(|point| point.unwrap_or_else(|| PixelChange::from([]))).collect();
    let mut measured = 0;
    for part in rows.chunks_mut(rounds::batch_of(cx, plan)) {
        if outcome.is_ok() {
            outcome = cx.check();
            if outcome.is_err() {
                break;
            }
        }
        measured += part.len();
        let ids: Vec<usize> = part.iter().map(|noted| noted.row.id as usize).collect();
        let own: Vec<&PixelChange> = part.iter().filter_map(|noted| points.get(noted.row.point.place()?)).collect();
        let sizes = ground.measured(&plan.data.images(&ids, cx.device())?, &own)?.f_to_kind(Kind::Float)?;
        let sizes: Vec<f32> = Vec::try_from(&sizes.f_to_device(tch::Device::Cpu)?)?;
        part.iter_mut().zip(sizes).for_each(|(noted, size)| noted.row.magnitude = size);
    }
    rows.truncate(measured);
    Transcript::of_changes(plan, ground, points, rows).answer(cx, outcome)
}
